"""kendall and spearman as Definitions 5 to 8 print them: refused for rows that are protected, stamped, with the noise
that theorems 6 to 9 claim."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.adapters import PrivateOracle
from dpcausal.citests import rank
from dpcausal.citests.rank import KendallTest, SpearmanTest
from dpcausal.cli.app import run
from dpcausal.core.statement import NotPrivate
from dpcausal.stats.published import in_rows, printed_kendall, printed_spearman
from dpcausal.stats.value_ranks import ranked

DATA = dc.networks.load("asia").sample(3000, seed=1)
NAMES = ("kendall", "spearman")
NUMBERS = dc.Schema(x=dc.Numeric(0, 1), y=dc.Numeric(0, 1), z=dc.Numeric(0, 1))
ASK: dict[str, Any] = {"epsilon": 1.0, "variant": "paper"}


def numbers(n: int = 200) -> dc.Dataset:
    rng = np.random.default_rng(4)
    x, noise, z = rng.random((3, n))
    return dc.read({"x": x, "y": 0.5 * x + 0.5 * noise, "z": z}, NUMBERS)


class Tape:
    """A generator that adds half of the scale, and writes the scales down."""

    def __init__(self) -> None:
        self.scales: list[float] = []

    def laplace(self, centre: float, scale: float) -> float:
        self.scales.append(scale)
        return centre + scale / 2


@pytest.mark.parametrize("method", NAMES)
def test_real_rows_are_refused(method: Any) -> None:
    for data, asked in ((DATA, ("smoke", "lung", ["asia"])), (numbers(), ("x", "y", ["z"]))):
        with pytest.raises(dc.InputError, match="not private"):
            dc.ci_test(data, *asked, method=method, **ASK)
        with pytest.raises(dc.InputError, match="not private"):
            dc.discover(data, method="tests", test=method, **ASK)
    with dc.testing.seeded(1), pytest.raises(dc.InputError, match="takes private tests"):
        PrivateOracle(DATA, epsilon=1.0, questions=2, method=method, variant="paper")


@pytest.mark.parametrize("given", [[], ["asia"]])
@pytest.mark.parametrize("method", NAMES)
def test_a_seeded_run_is_stamped(method: Any, given: list[str]) -> None:
    with dc.testing.seeded(1):
        found = dc.ci_test(DATA, "smoke", "lung", given, method=method, **ASK)
    assert found.privacy.not_private is NotPrivate.PRINTED
    assert (found.privacy.private, found.privacy.epsilon, found.privacy.events) == (False, None, ())
    assert (found.pvalue, found.direction, found.tau) == (
        None,
        None,
        None,
    )  # an absolute value, and a threshold
    with dc.testing.seeded(1):
        assert dc.ci_test(DATA, "smoke", "lung", given, method=method, **ASK).statistic == found.statistic


def test_a_search_by_it_is_stamped() -> None:
    with dc.testing.seeded(1):
        found = dc.discover(DATA, method="tests", test="kendall", max_order=0, **ASK)
    assert found.privacy.not_private is NotPrivate.PRINTED
    assert found.privacy.epsilon is None


@pytest.mark.parametrize(
    ("method", "given", "claimed"),
    [
        ("kendall", [], 2 / 2999),  # theorem 6
        ("kendall", ["asia", "smoke"], 4.5 / math.sqrt(2999)),  # theorem 7
        ("spearman", [], 30 / 3000),  # theorem 8
        ("spearman", ["asia", "smoke"], 31 * math.sqrt(4 / 2996)),  # theorem 9
    ],
)
def test_the_noise_is_what_the_theorems_claim(
    monkeypatch: pytest.MonkeyPatch, method: Any, given: list[str], claimed: float
) -> None:
    tape = Tape()
    monkeypatch.setattr(rank, "public_generator", lambda: tape)
    ask: dict[str, Any] = {"method": method, "variant": "paper"}
    plain = dc.ci_test(DATA, "lung", "bronc", given, epsilon=None, **ask)
    with dc.testing.seeded(1):
        noisy = dc.ci_test(DATA, "lung", "bronc", given, epsilon=0.5, **ask)
    assert tape.scales == [pytest.approx(claimed / 0.5)]
    assert noisy.statistic == pytest.approx(plain.statistic + claimed)


@pytest.mark.parametrize("given", [[], ["z"]])
def test_numbers_are_taken_as_they_are_and_z_by_its_bins(given: list[str]) -> None:
    data = numbers()
    block = data.codes["z"].astype(np.int64) if given else np.zeros(data.n, np.int64)
    counts = in_rows(ranked(data.values["x"]), ranked(data.values["y"]), block)
    for method, printed in (("kendall", printed_kendall), ("spearman", printed_spearman)):
        for epsilon in (None, 1e6):  # noise of scale 5e-6 at most
            with dc.testing.seeded(1):
                found = dc.ci_test(data, "x", "y", given, method=method, epsilon=epsilon, variant="paper")
            assert found.statistic == pytest.approx(printed(counts, 4 if given else 1).value, abs=2e-4)
            assert not found.independent


def test_without_privacy_it_is_the_normal_test_of_the_printed_value() -> None:
    """Independent even columns: tau .75 by its ties, 3/4 sqrt(w) standard deviations, so it is called dependent."""
    schema = dc.Schema(x=dc.Categorical(["0", "1"]), y=dc.Categorical(["0", "1"]))
    data = dc.read({"x": ["0", "1"] * 50, "y": ["0", "0", "1", "1"] * 25}, schema)
    found = dc.ci_test(data, "x", "y", method="kendall", variant="paper", epsilon=None)
    assert found.statistic == pytest.approx(0.7474747)
    z = 0.7474747 * math.sqrt(9 * 100 * 99 / 410)
    assert found.pvalue == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-4)
    assert not found.independent
    assert dc.ci_test(data, "x", "y", method="kendall", epsilon=None).independent
    assert found.privacy.not_private is NotPrivate.NOT_ASKED


def test_what_can_not_be_run_is_one_line() -> None:
    with pytest.raises(dc.InputError, match="variant must be ours or paper"):
        KendallTest(variant="print")  # type: ignore[arg-type]
    assert SpearmanTest(variant="paper").strata == "schema"
    few = dc.read({"x": [0.1, 0.2, 0.3], "y": [0.1, 0.3, 0.2], "z": [0.1, 0.2, 0.9]}, NUMBERS)
    with dc.testing.seeded(1), pytest.raises(dc.InputError, match="more rows than cells"):
        dc.ci_test(few, "x", "y", ["z"], method="spearman", anyway=True, **ASK)


def test_the_command_refuses_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50)
    (tmp_path / "schema.toml").write_text(
        "".join(f'[columns.{name}]\ntype = "categorical"\nlevels = ["0", "1"]\n' for name in "ab")
    )
    words = [
        "test",
        str(tmp_path / "rows.csv"),
        "--schema",
        str(tmp_path / "schema.toml"),
        "--x",
        "a",
        "--y",
        "b",
    ]
    for method in NAMES:
        assert run([*words, "--method", method, "--epsilon", "1", "--option", "variant=paper"]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert "as printed and not private" in told.err
        assert len(told.err.strip().splitlines()) == 1
