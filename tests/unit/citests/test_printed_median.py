"""chi2 and g as Algorithm 6 prints them: refused for rows that are protected, stamped, and to the letter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.adapters import PrivateOracle
from dpcausal.citests.chi2 import Chi2, printed_median
from dpcausal.core.statement import NotPrivate
from dpcausal.stats.chi2 import pearson

DATA = dc.networks.load("asia").sample(3000, seed=1)
ASK: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "variant": "paper"}


class Tape:
    """A generator that draws one scale, and writes down of which law."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, float]] = []

    def laplace(self, centre: float, scale: float) -> float:
        self.drawn.append(("laplace", scale))
        return centre + scale

    def normal(self, centre: float, scale: float) -> float:
        self.drawn.append(("gaussian", scale))
        return centre + scale


def definition_10(values: list[float], epsilon: float) -> float:
    """Definition 10 by loops, 0 and 1 beyond the first and the last of the values."""
    x, n = sorted(values), len(values)

    def at(place: int) -> float:
        return 0.0 if place < 1 else 1.0 if place > n else x[place - 1]

    m = (n + 1) // 2
    return max(
        math.exp(-k * epsilon) * (at(m + t) - at(m + t - k - 1)) for k in range(n + 1) for t in range(k + 2)
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_noise_is_that_of_definition_10(noise: Any, epsilon: float) -> None:
    values = np.random.default_rng(5).random(9).round(3).tolist()
    tape, delta = Tape(), 1e-5
    found = printed_median(values, noise, epsilon, delta, tape)  # type: ignore[arg-type]
    alpha = epsilon / 2 if noise == "laplace" else epsilon / math.sqrt(math.log(1 / delta))
    ((law, scale),) = tape.drawn
    assert law == noise
    assert scale == pytest.approx(definition_10(values, epsilon) / alpha, rel=1e-5)
    assert found == pytest.approx(sorted(values)[4] + scale, abs=1e-5)


@pytest.mark.parametrize("method", ["chi2", "g"])
def test_real_rows_are_refused(method: Any) -> None:
    with pytest.raises(dc.InputError, match="not private"):
        dc.ci_test(DATA, "smoke", "lung", method=method, **ASK)
    with pytest.raises(dc.InputError, match="not private"):
        dc.discover(DATA, method="tests", test=method, **ASK)
    with pytest.raises(dc.InputError, match="delta of its own"):
        PrivateOracle(DATA, epsilon=1.0, questions=2, method=method, variant="paper")


@pytest.mark.parametrize("median", ["laplace", "gaussian"])
@pytest.mark.parametrize("method", ["chi2", "g"])
def test_a_seeded_run_is_stamped(method: Any, median: str) -> None:
    ask = {**ASK, "method": method, "median": median}
    with dc.testing.seeded(1):
        found = dc.ci_test(DATA, "smoke", "lung", **ask)
        other = dc.ci_test(DATA, "asia", "smoke", **ask)
    assert found.privacy.not_private is NotPrivate.PRINTED
    assert (found.privacy.private, found.privacy.epsilon, found.privacy.events) == (False, None, ())
    assert (found.independent, other.independent) == (False, True)
    assert (found.pvalue, other.pvalue) == (None, None)  # a noisy median is none
    with dc.testing.seeded(1):
        assert dc.ci_test(DATA, "smoke", "lung", **ask).statistic == found.statistic


def test_without_privacy_it_is_the_classical_test() -> None:
    found = dc.ci_test(DATA, "smoke", "lung", method="chi2", variant="paper", epsilon=None)
    assert found.pvalue == dc.ci_test(DATA, "smoke", "lung", method="chi2", epsilon=None).pvalue
    assert found.privacy.not_private is NotPrivate.NOT_ASKED


def test_a_search_by_it_is_stamped() -> None:
    with dc.testing.seeded(1):
        found = dc.discover(DATA, method="tests", test="g", max_order=0, parts=3, **ASK)
    assert found.privacy.not_private is NotPrivate.PRINTED
    assert found.privacy.epsilon is None


def test_the_median_is_of_the_papers_p_values() -> None:
    """With noise of scale about 1e-9 the released value is the median of the p-values of parts by the chi-squared law:
    here of parts in which all rows are the same table, so that every way to deal them gives the same p-values."""
    schema = dc.Schema(x=dc.Categorical(["0", "1"]), y=dc.Categorical(["0", "1"]))
    data = dc.read({"x": ["0", "1"] * 60, "y": ["0", "0"] * 60}, schema)
    with dc.testing.seeded(2):
        found = dc.ci_test(data, "x", "y", method="chi2", parts=3, epsilon=40.0, delta=1e-6, variant="paper")
    assert pearson([[[20, 0], [20, 0]]]).pvalue == 1.0
    assert found.statistic == pytest.approx(1.0, abs=1e-6)


def test_what_the_paper_does_not_have_is_refused() -> None:
    for more in ({"median": "cauchy"}, {"trim": 0.2}):
        with pytest.raises(dc.InputError, match="and no trim"):
            Chi2(variant="paper", **more)  # type: ignore[arg-type]
    with dc.testing.seeded(1), pytest.raises(dc.InputError, match="needs a delta"):
        dc.ci_test(DATA, "smoke", "lung", method="g", **{**ASK, "delta": 0.0})
    with pytest.raises(dc.InputError, match="variant must be ours or paper"):
        Chi2(variant="print")  # type: ignore[arg-type]
