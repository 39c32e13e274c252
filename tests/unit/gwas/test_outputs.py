"""What leaves: only released SNPs and only public or noisy fields; frequencies are matched by allele."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.core.statement import FrequenciesKnown, FrequencyFloor, PrivacyStatement
from dpcausal.gwas.screen import Screen, screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.tables import read_frequencies
from dpcausal.present.gwas import summary
from dpcausal.present.plots import draw_hits, place
from dpcausal.testing import seeded

COUNTS = Simulation(people=4000, snps=40, causal=2, odds_ratio=2.5, seed=2).counts()


def test_table_holds_released_snps_only() -> None:
    found = screen(COUNTS, 30.0, method="em", max_hits=3)
    rows = found.to_tsv().splitlines()
    assert rows[0].split("\t") == ["CHR", "SNP", "BP", "A1", "A2", "STAT_DP", "P_DP", "DECISION"]
    assert len(rows) == 4
    raw = {str(x) for x in np.concatenate(COUNTS.alleles()).tolist()}
    assert not any(row.split("\t")[5] in raw for row in rows[1:])


def test_sparse_vector_stops_at_the_last_hit_paid_for() -> None:
    found = screen(COUNTS, 30.0, max_hits=1)
    assert [hit.variant.name for hit in found.hits] == ["snp11"]
    assert found.asked == 11
    assert "stopped after 11 of 40" in found.summary()


@pytest.mark.parametrize(
    ("unit", "changed"), [("person", "one person's genotypes"), ("allele", "one allele at each")]
)
def test_the_answer_comes_first_and_one_line_says_what_is_promised(unit: str, changed: str) -> None:
    found = screen(COUNTS, 2.0, max_hits=1, unit=unit, max_answers=1)  # type: ignore[arg-type]
    answer, stopped, privacy, ledger = found.summary().splitlines()
    assert answer.startswith(("No SNP", "1 SNP associated"))
    assert stopped.startswith("stopped after 1 of 40")
    assert f"changing {changed}" in privacy
    assert privacy.startswith("Privacy: epsilon 2, delta 0")
    assert "case, is public" in privacy
    assert ledger.startswith("Ledger: none")
    assert len(summary(found, full=True).splitlines()) > 6


def test_epsilon_is_spent_and_never_passed() -> None:
    for method in ("svt", "em"):
        for hits in (1, 3, 7, 40):
            found = screen(COUNTS, 0.7, method=method, max_hits=hits)  # type: ignore[arg-type]
            assert found.privacy.epsilon is not None
            assert 0.7 * (1 - 1e-9) <= found.privacy.epsilon <= 0.7
            assert found.privacy.neighbours == "fixed-labels"


def test_seeded_runs_repeat_and_say_so() -> None:
    def run() -> tuple[str, bool]:
        with seeded(5):
            found = screen(COUNTS, 1.0, method="em", max_hits=4)
        return found.to_tsv(), found.privacy.private

    assert run() == run()
    assert run()[1] is False


def test_what_is_public_stands_in_the_statement() -> None:
    for known, fact, said in (
        ({}, FrequenciesKnown("no-frequencies"), "nothing about allele frequencies"),
        ({"maf": 0.05}, FrequencyFloor(0.05), "below 0.05"),
        ({"frequencies": np.full(40, 0.3)}, FrequenciesKnown("frequencies"), "reference panel"),
    ):
        privacy = screen(COUNTS, 1.0, **known).privacy  # type: ignore[arg-type]
        assert fact in privacy.public
        assert said in str(privacy.to_dict()["public"])
        assert PrivacyStatement.from_json(privacy.to_json()) == privacy


def test_a_panel_is_for_svt() -> None:
    with pytest.raises(InputError, match="for svt"):
        screen(COUNTS, 1.0, method="em", frequencies=np.full(40, 0.3))


def test_public_frequencies_lower_the_cuts() -> None:
    def largest(**known: float) -> float:
        plan = Screen(snps=40, cases=2000, controls=2000, epsilon=1.0, **known)  # type: ignore[arg-type]
        return float(plan.sieve_cuts().max())

    assert largest(maf=0.05) < largest()


def test_pvalues_fall_with_the_released_value() -> None:
    for epsilon in (0.5, 50.0):
        plan = Screen(snps=40, cases=2000, controls=2000, epsilon=epsilon, method="em", max_hits=2)
        values = plan.pvalues(np.array([-500.0, 0.0, 100.0, 1000.0, 1e5]))
        assert values[0] == 1.0
        assert values == sorted(values, reverse=True)
        assert 0.0 < values[-1] < 0.05


def test_frequencies(tmp_path: Path) -> None:
    path = tmp_path / "x.frq"
    lines = (
        ["CHR SNP A1 A2 MAF NCHROBS"]
        + [f"1 snp{i} A G 0.25 100" for i in range(1, 40)]
        + ["1 snp40 G A 0.25 100"]
    )
    path.write_text("\n".join(lines))
    found = read_frequencies(path, COUNTS)
    assert found[:39].tolist() == [0.25] * 39
    assert found[39] == 0.25  # of the rarer allele of the panel, whichever is first
    path.write_text("\n".join(lines[:-1]))
    with pytest.raises(InputError, match="snp40"):
        read_frequencies(path, COUNTS)
    path.write_text("a b\n")
    with pytest.raises(InputError, match="table of frequencies"):
        read_frequencies(path, COUNTS)
    path.write_text(lines[0] + "\n1 snp1 A G much 3\n")
    with pytest.raises(InputError, match="line 2"):
        read_frequencies(path, COUNTS)


def test_picture(tmp_path: Path) -> None:
    for method in ("svt", "em"):
        draw_hits(screen(COUNTS, 30.0, method=method), tmp_path / f"{method}.png")  # type: ignore[arg-type]
        assert (tmp_path / f"{method}.png").stat().st_size > 5000
    draw_hits(screen(COUNTS, 1e-6), tmp_path / "none.png")
    assert (tmp_path / "none.png").exists()


def test_every_chromosome_has_its_place() -> None:
    assert [int(place(name, 10**9)) for name in ("1", "chrX", "y", "MT", "scaffold7")] == [1, 23, 24, 26, 27]
