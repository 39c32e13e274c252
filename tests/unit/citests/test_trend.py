"""Direction and size read off the released statistic: against tau-a by hand, and no word where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.result import Trend
from dpcausal.present.citest import way_words

SCHEMA = dc.Schema(
    x=dc.Numeric(-5, 5), y=dc.Numeric(-9, 9), a=dc.Categorical([0, 1]), b=dc.Categorical(["no", "yes"])
)
N = 4000


@pytest.fixture(scope="module")
def rows() -> dc.Dataset:
    rng = np.random.default_rng(3)
    x, a = rng.normal(size=N), rng.integers(0, 2, N)
    b = np.where(rng.random(N) < np.where(a == 1, 0.2, 0.6), "yes", "no")
    return dc.read({"x": x, "y": -0.6 * x + a + rng.normal(size=N), "a": a, "b": b}, SCHEMA)


def tau_a(x: np.ndarray, y: np.ndarray) -> float:
    signs = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
    return float(signs.sum()) / (len(x) * (len(x) - 1))


def test_the_size_is_the_mean_tau_of_the_cells(rows: dc.Dataset) -> None:
    found = dc.ci_test(rows, "x", "y", ["a"], method="kendall", epsilon=None)
    cells = [rows.codes["a"] == level for level in (0, 1)]
    mean = sum(tau_a(rows.values["x"][c], rows.values["y"][c]) * (c.sum() - 1) for c in cells) / N
    assert found.tau == pytest.approx(mean, abs=1e-9)
    assert found.direction is not None
    assert (found.direction.rises, found.direction.given) == (False, ("a",))
    assert f" {-mean:.0%} " in found.trend


def test_privately(rows: dc.Dataset) -> None:
    with dc.testing.seeded(1):
        found = dc.ci_test(rows, "a", "b", epsilon=1.0)
    # noise on K: scale 4 or less at epsilon 1, so 2 K/n is off by more than .02 with probability exp(-10) at most
    assert found.tau == pytest.approx(
        tau_a(rows.codes["a"].astype(float), rows.codes["b"].astype(float)), abs=0.02
    )
    assert found.direction is not None
    assert not found.direction.rises
    assert f"; {way_words(found.direction)}.\n" in found.summary()
    assert found.trend in found.summary(full=True)
    assert found.to_dict()["trend"] == found.trend


def test_numbers_and_levels_are_told_each_in_its_own_words(rows: dc.Dataset) -> None:
    def told(x: str, y: str) -> Trend:
        found = dc.ci_test(rows, x, y, method="kendall", epsilon=None).direction
        assert found is not None
        return found

    one, other = told("y", "a"), told("a", "y")
    assert (one.rises, other.rises, told("y", "b").rises) == (True, True, False)
    assert way_words(one).startswith("a = 1 ")  # in the order asked
    assert way_words(other).endswith(" a = 1")
    three = dc.Schema(x=dc.Numeric(-5, 5), c=dc.Categorical(["low", "mid", "high"], ordered=True))
    cut = np.digitize(rows.values["x"], [-0.5, 0.5])
    data = dc.read({"x": rows.values["x"], "c": np.array(["high", "mid", "low"])[cut]}, three)
    found = dc.ci_test(data, "x", "c", method="kendall", epsilon=None)
    assert found.direction is not None
    assert (found.direction.rises, found.direction.y_levels) == (False, ("low", "mid", "high"))
    assert "(in the order declared)" in found.trend


@pytest.mark.parametrize(("options", "words"), [({}, "y falls as x rises"), ({"variant": "weighted"}, "")])
def test_gcm_has_a_direction_and_its_weighted_variant_none(
    rows: dc.Dataset, options: dict[str, str], words: str
) -> None:
    with dc.testing.seeded(2):
        found = dc.ci_test(rows, "x", "y", method="gcm", epsilon=8.0, **options)
    assert found.independent is False
    assert found.trend.startswith(words)
    assert bool(found.trend) == bool(words)
    assert found.tau is None


def test_no_word_without_evidence_and_no_size_where_rows_are_not_counted(rows: dc.Dataset) -> None:
    rng = np.random.default_rng(4)
    noise = dc.read({"x": rng.normal(size=200), "y": rng.normal(size=200)}, SCHEMA.select(["x", "y"]))
    with dc.testing.seeded(3):
        nothing = dc.ci_test(noise, "x", "y", epsilon=0.01, anyway=True)
        uncounted = dc.ci_test(rows, "x", "y", method="kendall", epsilon=1.0, neighbours="add-remove")
        unsigned = dc.ci_test(rows, "a", "b", method="measured", epsilon=1.0)
    assert nothing.independent
    assert nothing.trend == ""
    assert uncounted.trend == "y falls as x rises."
    assert uncounted.tau is None
    assert (unsigned.independent, unsigned.trend, unsigned.tau) == (False, "", None)
