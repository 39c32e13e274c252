"""Genotype counts from .bed bytes against a plain loop; every bad file is one clear line."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.gwas.cohort import Cohort, PhenotypesIgnored
from dpcausal.gwas.simulate import Simulation

CODE = {0: 0, 1: None, 2: 1, 3: 2}  # bits -> hom1, missing, het, hom2


def plain_counts(prefix: Path, case: np.ndarray, control: np.ndarray, missing: int) -> np.ndarray:
    """The same by one person at a time."""
    people = len(case)
    stride = (people + 3) // 4
    body = Path(f"{prefix}.bed").read_bytes()[3:]
    tables = []
    for start in range(0, len(body), stride):
        table = np.zeros((2, 3), int)
        for j in range(people):
            kind = CODE[body[start + j // 4] >> 2 * (j % 4) & 3]
            kind = missing if kind is None else kind
            if case[j]:
                table[0, kind] += 1
            elif control[j]:
                table[1, kind] += 1
        tables.append(table)
    return np.array(tables)


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    prefix = tmp_path / "c"
    Simulation(people=37, snps=25, causal=2, missing=0.1, seed=3).write(prefix)
    return prefix


@pytest.mark.parametrize(("rule", "kind"), [("reference", 2), ("het", 1), ("allele1", 0)])
@pytest.mark.parametrize("people", [2, 5, 37, 64, 65, 130])
def test_counts_are_those_of_a_plain_loop(tmp_path: Path, people: int, rule: str, kind: int) -> None:
    prefix = tmp_path / "c"
    Simulation(people=people, snps=30, missing=0.15, seed=people).write(prefix)
    opened = Cohort.open(prefix)
    found = opened.count(missing=rule, allele_order="public", threads=2)  # type: ignore[arg-type]
    expected = plain_counts(prefix, opened.people.case, opened.people.control, kind)
    assert np.array_equal(found.genotypes(), expected)
    a, b = found.alleles()
    assert np.array_equal(np.stack([a, b], 1), 2 * expected[:, :, 0] + expected[:, :, 1])


def test_filters(cohort: Path, tmp_path: Path) -> None:
    keep, extract = tmp_path / "keep", tmp_path / "extract"
    keep.write_text("".join(f"f{i} p{i}\n" for i in range(1, 21)))
    extract.write_text("snp3\nsnp25\nnone\n")
    opened = Cohort.open(cohort, keep=keep, extract=extract)
    found = opened.count()
    assert [found.variant(i).name for i in range(len(found))] == ["snp3", "snp25"]
    assert found.cases + found.controls == 20
    assert np.array_equal(
        found.genotypes(), plain_counts(cohort, opened.people.case, opened.people.control, 1)[[2, 24]]
    )
    assert len(Cohort.open(cohort, chromosomes="1-2,chr4").rows) == 6


def test_phenotype_file_and_coding(cohort: Path, tmp_path: Path) -> None:
    pheno = tmp_path / "pheno"
    lines = "".join(f"f{i} p{i} x {i % 2}\n" for i in range(1, 31)) + "f31 p31 x NA\n"
    pheno.write_text("FID IID other case\n" + lines)
    people = Cohort.open(cohort, phenotype_file=pheno, phenotype_column=2, coding="01").people
    assert (people.cases, people.controls) == (15, 15)


NO_CODE = ["ill", "3.7", "3", "-1", "1e400", "nan1", "inf", '"2"', "2,0", "\u0662\u0663", "two"]


@pytest.mark.parametrize("word", NO_CODE)
def test_a_phenotype_that_is_no_code_takes_out_one_person_and_nobody_else(cohort: Path, word: str) -> None:
    before = Cohort.open(cohort).people
    rewrite(cohort, ".fam", lambda b: b[: b.rindex(b" ") + 1] + word.encode() + b"\n")
    with pytest.warns(PhenotypesIgnored, match=f"1 of {len(before.names)} people"):
        opened = Cohort.open(cohort)
    people = opened.people
    assert not (people.case | people.control)[-1]
    assert np.array_equal(people.case[:-1], before.case[:-1])
    assert np.array_equal(people.control[:-1], before.control[:-1])
    found = opened.count()
    assert (found.cases, found.controls) == (people.cases, people.controls)
    assert np.array_equal(found.genotypes(), plain_counts(cohort, people.case, people.control, 1))


@pytest.mark.parametrize("word", ["-9", "NA", "0", "."])
def test_a_missing_phenotype_is_no_warning(cohort: Path, word: str) -> None:
    rewrite(cohort, ".fam", lambda b: b[: b.rindex(b" ") + 1] + word.encode() + b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        people = Cohort.open(cohort).people
    assert not (people.case | people.control)[-1]


@pytest.mark.parametrize("line", ["f3 p3", "f3 p3 x", "f3", "f3 p3 x ill"])
def test_a_line_without_a_phenotype_takes_out_one_person(cohort: Path, tmp_path: Path, line: str) -> None:
    pheno = tmp_path / "pheno"
    lines = [f"f{i} p{i} x {1 + i % 2}" for i in range(1, 31)]
    pheno.write_text("\n".join(lines))
    before = Cohort.open(cohort, phenotype_file=pheno, phenotype_column=2).people
    pheno.write_text("\n".join([*lines[:2], line, *lines[3:]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhenotypesIgnored)
        people = Cohort.open(cohort, phenotype_file=pheno, phenotype_column=2).people
    assert (people.case | people.control).sum() == (before.case | before.control).sum() - 1
    assert not (people.case | people.control)[2]


def rewrite(prefix: Path, end: str, change: object) -> None:
    path = Path(f"{prefix}{end}")
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]


BAD = {
    "truncated": (".bed", lambda b: b[:-4], "truncated"),
    "too long": (".bed", lambda b: b + b"\0", "too long"),
    "empty bed": (".bed", lambda b: b"", "not a PLINK 1 .bed"),
    "magic": (".bed", lambda b: b"PK" + b[2:], "not a PLINK 1 .bed"),
    "individual-major": (".bed", lambda b: b[:2] + b"\0" + b[3:], "person by person"),
    "fewer snps": (".bim", lambda b: b"\n".join(b.split(b"\n")[:-2]) + b"\n", "does not belong"),
    "more people": (".fam", lambda b: b + b"".join(b"f p%d 0 0 1 1\n" % i for i in range(9)), "does not belong"),
    "fam columns": (".fam", lambda b: b.replace(b"f3 p3 0", b"f3 p3"), "line 3: 5 columns"),
    "bim columns": (".bim", lambda b: b.replace(b"snp2\t0\t", b"snp2\t"), "line 2: 5 columns"),
    "bim position": (".bim", lambda b: b.replace(b"\t10000\t", b"\tten\t", 1), "line 1: the position is not a whole"),
    "bim empty field": (".bim", lambda b: b.replace(b"\tA\tG", b"\t\tG", 1), "line 1: 5 columns"),
    "bim shifted": (".bim", lambda b: b.replace(b"snp2\t0\t", b"snp2\t").replace(b"snp3\t", b"snp3\t\t"), "line 2: 5"),
    "bim 1e5": (".bim", lambda b: b.replace(b"\t10000\t", b"\t1e5\t", 1), "line 1: the position is not a whole"),
    "one class": (".fam", lambda b: b"".join(line[:-1] + b"1\n" for line in b.splitlines()), "class only (controls)"),
    "all missing": (".fam", lambda b: b"".join(line[:-1] + b"-9\n" for line in b.splitlines()), "no person"),
    "words": (".fam", lambda b: b"".join(line[:-1] + b"ill\n" for line in b.splitlines()), "only case/control"),
    "quantitative": (".fam", lambda b: b"".join(line[:-1] + b"3.7\n" for line in b.splitlines()), "coded 1 (control)"),
    "empty fam": (".fam", lambda b: b"", "empty"),
    "empty bim": (".bim", lambda b: b"", "empty"),
    "binary fam": (".fam", lambda b: b"\xff\xfe" + b, "not a text file"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files(cohort: Path, name: str) -> None:
    end, change, told = BAD[name]
    rewrite(cohort, end, change)
    with pytest.raises(InputError) as caught:
        Cohort.open(cohort)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bim_by_blanks_and_with_carriage_returns(cohort: Path) -> None:
    before = [Cohort.open(cohort).variants[i] for i in (0, 24)]
    for old, new in ((b"\t", b" "), (b"\n", b"\r\n")):
        rewrite(cohort, ".bim", lambda b, old=old, new=new: b.replace(old, new))
        assert [Cohort.open(cohort).variants[i] for i in (0, 24)] == before


def test_nothing_left(cohort: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"c\.bim"):
        Cohort.open(cohort, chromosomes="99")
    nobody = tmp_path / "nobody"
    nobody.write_text("x y\n")
    with pytest.raises(InputError, match="no person"):
        Cohort.open(cohort, keep=nobody)
    with pytest.raises(InputError, match=r"nothing\.bed"):
        Cohort.open(tmp_path / "nothing")


def test_progress_reaches_the_end(cohort: Path) -> None:
    done: list[int] = []
    Cohort.open(cohort).count(tick=done.append)
    assert sum(done) == 25
