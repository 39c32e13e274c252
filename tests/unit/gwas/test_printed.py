"""Algorithms 3 and 4 of the unit circle as printed: refused for a study, stamped, and what they are said to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcausal.cli.app import run
from dpcausal.core.errors import InputError
from dpcausal.core.statement import FoundSnps, NotPrivate
from dpcausal.gwas import printed
from dpcausal.gwas.screen import screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.testing import seeded

STUDY = Simulation(people=4000, snps=40, causal=2, odds_ratio=2.5, seed=2)
COUNTS = STUDY.counts()
METHODS = ("svt", "em")


@pytest.mark.parametrize("method", METHODS)
def test_real_studies_are_refused(method: Any) -> None:
    with pytest.raises(InputError, match="not private"):
        screen(COUNTS, 1.0, method=method, variant="paper")


@pytest.mark.parametrize("method", METHODS)
def test_a_seeded_run_is_stamped_and_finds_what_was_planted(method: Any) -> None:
    def found() -> Any:
        with seeded(1):
            return screen(COUNTS, 50.0, method=method, max_hits=8, variant="paper")

    one = found()
    assert one.privacy.not_private is NotPrivate.PRINTED
    assert (one.privacy.private, one.privacy.epsilon, one.statistic) == (False, None, "circle")
    assert one.privacy.released == (
        FoundSnps("snps-above-cut" if method == "svt" else "chosen-snps", "circle"),
    )
    # not alone: the level of Algorithm 3 as printed is that of one test, so that some of 38 nulls are rejected with it
    assert {hit.variant.name for hit in one.rejected} >= {f"snp{i + 1}" for i in STUDY.causal_rows()}
    assert all((hit.statistic, hit.pvalue) == (None, None) for hit in one.hits)  # decisions alone
    assert found().to_tsv() == one.to_tsv()


def test_s1_and_s2_are_the_hits_and_the_answers() -> None:
    with seeded(1):
        one = screen(COUNTS, 50.0, max_hits=1, variant="paper")
        few = screen(COUNTS, 50.0, max_hits=5, max_answers=5, variant="paper")
        chosen = screen(COUNTS, 0.01, method="em", max_hits=4, variant="paper")
    assert (one.full, len(one.hits)) == (True, 1)
    assert one.hits[0].variant.name == f"snp{one.asked}"
    assert (few.full, few.asked) == (False, 5)
    assert len({hit.variant.name for hit in chosen.hits}) == 4


@pytest.mark.parametrize(
    "more",
    [
        {"statistic": "circle"},
        {"unit": "allele"},
        {"maf": 0.1},
        {"freq_share": 0.1},
        {"frequencies": np.full(40, 0.3)},
        {"method": "em", "share": 0.5},
        {"ledger": "sqlite:///x.db", "dataset": "x"},
    ],
)
def test_what_the_paper_does_not_have_is_refused(more: Any) -> None:
    with seeded(1), pytest.raises(InputError, match="leave out the rest"):
        screen(COUNTS, 1.0, variant="paper", **more)
    with pytest.raises(InputError, match="ours or paper"):
        screen(COUNTS, 1.0, variant="print")  # type: ignore[arg-type]


def test_without_noise_algorithm_3_is_a_test_at_the_level_and_algorithm_4_at_the_level_over_all() -> None:
    """Epsilon 1e9: 100 nulls of 10 tests each. Rejections by Algorithm 3 as printed, all s1 = 10, follow
    Binomial(1,000, .05), within 19 to 90 up to P < 1e-6; by its repair at .005, at most 20."""
    rng = np.random.default_rng(3)
    c11, c10 = rng.binomial(1000, 0.5, (2, 100, 10))
    tables = printed.Tables(c11, c10, 1000, 1000)
    assert 19 <= printed.with_svt(tables, 1e9, 0.05, 10, rng).sum() <= 90
    assert printed.with_svt(tables, 1e9, 0.05, 10, rng, "level").sum() <= 20
    assert printed.with_em(tables, 1e9, 0.05, 10, rng).sum() <= 20


def test_the_command_line_refuses_before_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["gwas", str(tmp_path / "nothing"), "--epsilon", "1", "--out", str(tmp_path / "out")]
    assert run([*words, "--variant", "paper"]) == 2
    assert "not private" in capsys.readouterr().err
    assert run([*words, "--variant", "printed"]) == 2
    assert "ours or paper" in capsys.readouterr().err
