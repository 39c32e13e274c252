"""Screening, seen from outside, with a neighbour who turns the order of a SNP's alleles.

plink 1.9 puts the study's rarer allele first, so one person decides which allele a file calls allele 1. Files are
written like that here (``calls.py`` does it for every screening of the catalogue), and what enters the mechanisms may
not move by more than what was charged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import calls
import numpy as np
import pytest
from capture import Diverged, Exceeded, compared, record

from dpcausal.gwas import Cohort, screen

PEOPLE, CASES = 2000, 1000
LOST = 100


def neighbours() -> list[dict[str, Any]]:
    """Copies of A at one SNP: as many A as G among the calls but for one control; 100 controls have no call."""
    found = []
    for control in (0, 2):
        copies = np.ones((PEOPLE, 1), np.int64)
        copies[:50] = 0
        copies[CASES : CASES + 50] = 2
        copies[CASES + 60] = control
        copies[-LOST:] = calls.MISSING
        found.append({"genotypes": copies, "case": np.arange(PEOPLE) < CASES})
    return found


def folders(tmp_path: Path) -> list[Path]:
    made = []
    for i, columns in enumerate(neighbours()):
        folder = tmp_path / f"study{i}"
        folder.mkdir()
        made.append(calls.build("bed", columns, folder))
    return made


@pytest.mark.parametrize("method", ["svt", "em"])
@pytest.mark.parametrize("statistic", ["distance", "circle", "chi2"])
def test_a_person_who_turns_the_order_is_paid_for(tmp_path: Path, method: str, statistic: str) -> None:
    def call(folder: Path, **more: Any) -> Any:
        counts = Cohort.open(folder / "study").count(**more)
        return screen(counts, 3.0, method=method, statistic=statistic, max_hits=1)  # type: ignore[arg-type]

    one, two = folders(tmp_path)
    orders = [(folder / "study.bim").read_text().split()[4] for folder in (one, two)]
    assert orders == ["A", "G"]
    tape = record(call, one)
    assert compared(tape, record(call, two, replay=tape), "fixed-labels")

    def declared_wrongly(folder: Path) -> Any:
        return call(folder, missing="reference", allele_order="public")

    tape = record(
        declared_wrongly, one
    )  # the check is awake: this is what is refused without the declaration
    with pytest.raises((Exceeded, Diverged)):
        compared(tape, record(declared_wrongly, two, replay=tape), "fixed-labels")
