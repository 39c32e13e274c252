"""Counts made elsewhere give the same value as counting here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.tables import read_gcount, read_model

BAD = [
    ("TEST", "KIND", "no column TEST"),
    ("GENO", "X", "no SNP"),
    ("/", ",", "three counts"),
    ("/", "/x", "whole number"),
]
COUNTS = Simulation(people=50, snps=6, seed=1).counts()


def write_model(path: Path) -> Path:
    lines = ["CHR SNP A1 A2 TEST AFF UNAFF CHISQ DF P"]
    for i, (case, control) in enumerate(COUNTS.genotypes().tolist()):
        v = COUNTS.variant(i)
        words = ["/".join(map(str, row)) for row in (case, control)]
        lines.append(f"{v.chromosome} {v.name} A G GENO {words[0]} {words[1]} 1 2 .5")
        lines.append(f"{v.chromosome} {v.name} A G TREND 1/2 3/4 1 1 .5")
    path.write_text("\n".join(lines) + "\n")
    return path


def write_gcount(path: Path, group: int) -> Path:
    names = "#CHROM ID REF ALT HOM_REF_CT HET_REF_ALT_CTS TWO_ALT_GENO_CTS HAP_REF_CT HAP_ALT_CTS MISSING_CT"
    lines = [names.replace(" ", "\t")]
    for i, table in enumerate(COUNTS.genotypes().tolist()):
        hom1, het, hom2 = table[group]
        lines.append(f"1\t{COUNTS.variant(i).name}\tG\tA\t{hom2}\t{het}\t{hom1}\t0\t0\t0")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_model(tmp_path: Path) -> None:
    found = read_model([write_model(tmp_path / "x.model")], 25, 25)
    assert np.array_equal(found.table, COUNTS.table)
    assert found.variant(2).name == "snp3"
    assert np.array_equal(
        read_model([tmp_path / "x.model"], 30, 25).genotypes()[:, 0, 1], COUNTS.genotypes()[:, 0, 1] + 5
    )


def test_gcount(tmp_path: Path) -> None:
    one, two = write_gcount(tmp_path / "a.gcount", 0), write_gcount(tmp_path / "b.gcount", 1)
    assert np.array_equal(read_gcount([one], [two], 25, 25).table, COUNTS.table)
    two.write_text(two.read_text().replace("snp2", "snp9"))
    with pytest.raises(InputError, match="same SNPs"):
        read_gcount([one], [two], 25, 25)


@pytest.mark.parametrize(("old", "new", "told"), BAD)
def test_bad_tables(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = write_model(tmp_path / "x.model")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=told):
        read_model([path], 25, 25)


def test_more_people_than_public(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more people"):
        read_model([write_model(tmp_path / "x.model")], 20, 25)
