"""Which allele a file calls allele 1 follows the study (plink 1.9 puts the rarer one first): no release may show it.

The neighbour of these tests is one control whose genotype makes the other allele the rarer one, so that plink 1.9
writes the SNP's two alleles the other way round.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpcausal import testing
from dpcausal.cli.app import run
from dpcausal.core.errors import InputError
from dpcausal.core.statement import Known
from dpcausal.gwas.cohort import Cohort, GenotypeCounts, Variant
from dpcausal.gwas.screen import screen
from dpcausal.gwas.statistics import Name, Statistic
from dpcausal.gwas.tables import read_frequencies, read_gcount, read_model

PEOPLE, CASES, LOST = 2000, 1000, 100
MISSING = -1
TAU = 8.5
NAMES: tuple[Name, ...] = ("distance", "circle", "chi2")
CASE = np.arange(PEOPLE) < CASES


def study_at_a_tie() -> np.ndarray:
    """Copies of A of every person at one SNP: A and G are equally frequent among the calls.

    Cases have 950 A of 2,000; controls 950 of the 1,800 alleles that were called, and 100 calls are missing.
    """
    copies = np.ones(PEOPLE, np.int64)
    copies[:50] = 0
    copies[CASES : CASES + 50] = 2
    copies[-LOST:] = MISSING
    return copies


def neighbours() -> tuple[np.ndarray, np.ndarray]:
    """Two studies that differ in one control: A is the rarer allele in the first, G in the second."""
    first, second = study_at_a_tie(), study_at_a_tie()
    first[CASES + 60] = 0
    second[CASES + 60] = 2
    return first, second


def write(prefix: Path, snps: list[np.ndarray], case: np.ndarray, *, rarer_first: bool = True) -> Path:
    """PLINK files of copies of A a person, the alleles in plink 1.9's order (or A first)."""
    rows, lines = [], []
    for i, copies in enumerate(snps):
        called = copies[copies != MISSING]
        flipped = rarer_first and called.sum() > called.size
        one = np.where(copies == MISSING, MISSING, 2 - copies) if flipped else copies
        bits = np.select([one == 2, one == 1, one == 0], [0, 2, 3], 1).astype(np.uint8)
        bits = np.pad(bits, (0, -len(bits) % 4)).reshape(-1, 4)
        rows.append((bits << np.array([0, 2, 4, 6], np.uint8)).sum(axis=1).astype(np.uint8).tobytes())
        first, second = ("G", "A") if flipped else ("A", "G")
        lines.append(f"1\tsnp{i}\t0\t{i + 1}\t{first}\t{second}\n")
    Path(f"{prefix}.bed").write_bytes(b"\x6c\x1b\x01" + b"".join(rows))
    Path(f"{prefix}.bim").write_text("".join(lines))
    Path(f"{prefix}.fam").write_text("".join(f"f p{i} 0 0 1 {1 + int(c)}\n" for i, c in enumerate(case)))
    return prefix


def scores(counts: GenotypeCounts, name: Name) -> np.ndarray:
    return Statistic(name, 2 * counts.cases, 2 * counts.controls, TAU)(*counts.alleles())


def test_the_neighbours_are_written_in_other_orders(tmp_path: Path) -> None:
    orders = []
    for i, copies in enumerate(neighbours()):
        opened = Cohort.open(write(tmp_path / f"s{i}", [copies], CASE))
        orders.append(opened.variants[0].allele1)
    assert orders == ["A", "G"]


@pytest.mark.parametrize("name", NAMES)
def test_one_control_who_turns_the_order_moves_no_score_by_more_than_its_sensitivity(
    tmp_path: Path, name: Name
) -> None:
    """With missing calls as allele 2 the distance went from -90.8 to +108.8 here, where 2 is proved."""
    before, after = (
        scores(Cohort.open(write(tmp_path / f"s{i}", [copies], CASE)).count(), name)[0]
        for i, copies in enumerate(neighbours())
    )
    bound = Statistic(name, 2 * CASES, 2 * (PEOPLE - CASES), TAU).sensitivity
    assert abs(after - before) <= bound * (1 + 1e-12)


def test_missing_calls_as_allele_2_need_an_order_that_is_public(tmp_path: Path) -> None:
    """What is refused is what breaks: where the order follows the study, the score leaps by a hundred alleles."""
    found = []
    for i, copies in enumerate(neighbours()):
        opened = Cohort.open(write(tmp_path / f"s{i}", [copies], CASE))
        for rule in ("reference", "allele1"):
            with pytest.raises(InputError, match="public order") as caught:
                opened.count(missing=rule)  # type: ignore[arg-type]
            assert "\n" not in str(caught.value)
        found.append(scores(opened.count(missing="reference", allele_order="public"), "distance")[0])
    assert abs(found[1] - found[0]) > 190  # a false declaration: the guarantee is the user's word here


def test_with_a_public_order_one_control_moves_the_score_by_two(tmp_path: Path) -> None:
    before, after = (
        scores(
            Cohort.open(write(tmp_path / f"s{i}", [copies], CASE, rarer_first=False)).count(
                missing="reference", allele_order="public"
            ),
            "distance",
        )[0]
        for i, copies in enumerate(neighbours())
    )
    assert abs(after - before) <= 2.0 * (1 + 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n1", "n0"), [(10, 10), (7, 12), (2000, 2000), (1998, 40_000), (10**7, 3 * 10**7)])
def test_every_statistic_is_the_same_double_for_either_allele(name: Name, n1: int, n0: int) -> None:
    rng = np.random.default_rng(n1)
    a = rng.integers(0, n1 + 1, 4000)
    near = np.rint(a * (n0 / n1) + rng.normal(0, 1 + n0**0.5, a.size)).astype(np.int64)
    b = np.where(rng.random(a.size) < 0.5, rng.integers(0, n0 + 1, a.size), np.clip(near, 0, n0))
    for tau in (0.06, 3.84, 29.7):
        score = Statistic(name, n1, n0, tau)
        assert np.array_equal(score(a, b), score(n1 - a, n0 - b))


def planted(seed: int) -> list[np.ndarray]:
    """Copies of A at 12 SNPs, some of them associated; where seed differs, so does which allele is the rarer one."""
    rng = np.random.default_rng(seed)
    rates = [np.where(CASE & (i % 4 == 0), 0.75, 0.5 if i % 3 else 0.3) for i in range(12)]
    snps = [rng.binomial(2, rate) for rate in rates]
    for copies in snps:
        copies[rng.integers(0, PEOPLE, 40)] = MISSING
    return snps


@pytest.mark.parametrize("method", ["svt", "em"])
def test_the_same_study_with_its_alleles_in_another_order_gives_the_same_release(
    tmp_path: Path, method: str
) -> None:
    told = []
    for i, rarer_first in enumerate((True, False)):
        counts = Cohort.open(write(tmp_path / f"s{i}", planted(5), CASE, rarer_first=rarer_first)).count()
        with testing.seeded(3):
            found = screen(counts, 30.0, method=method, max_hits=4)  # type: ignore[arg-type]
        told.append((found.to_tsv(), found.to_json(), str(found), repr(found.hits)))
    orders = [Path(f"{tmp_path}/s{i}.bim").read_text() for i in (0, 1)]
    assert orders[0] != orders[1]
    assert "snp" in told[0][0]
    assert told[0] == told[1]


def test_a_release_names_alleles_only_where_their_order_is_public(tmp_path: Path) -> None:
    opened = Cohort.open(write(tmp_path / "s", planted(5), CASE))
    for order, expected in (("study", {("NA", "NA")}), ("public", {("A", "G"), ("G", "A")})):
        found = screen(opened.count(allele_order=order), 50.0, method="em", max_hits=12)  # type: ignore[arg-type]
        assert {(hit.variant.allele1, hit.variant.allele2) for hit in found.hits} == expected
        assert (Known("allele-order") in found.privacy.public) == (order == "public")


def test_the_command_refuses_and_takes_the_declaration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = str(write(tmp_path / "s", planted(5), CASE))
    words = ["gwas", prefix, "--epsilon", "30", "--out", str(tmp_path / "out"), "--missing", "reference"]
    assert run(words) == 2
    seen = capsys.readouterr()
    assert "public order" in seen.err
    assert seen.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert run([*words, "--allele-order", "public"]) == 0
    assert "allele-order" in (tmp_path / "out" / "privacy.json").read_text()
    assert run([*words[:-1], "het", "--allele-order", "mine"]) == 2
    assert "allele_order" in capsys.readouterr().err


def model(path: Path, case: str, control: str) -> Path:
    path.write_text(f"CHR SNP A1 A2 TEST AFF UNAFF\n1 rs1 A G GENO {case} {control}\n")
    return path


def test_tables_of_counts_follow_the_same_rule(tmp_path: Path) -> None:
    path = model(tmp_path / "x.model", "1/2/3", "4/3/2")
    assert read_model([path], 10, 10).table.tolist() == [[1, 6, 4, 4]]
    with pytest.raises(InputError, match="public order"):
        read_model([path], 10, 10, missing="reference")
    named = read_model([path], 10, 10, missing="reference", allele_order="public")
    assert named.table.tolist() == [[1, 2, 4, 3]]
    first = read_model([path], 10, 10, missing="allele1", allele_order="public")
    assert first.table.tolist() == [[5, 2, 5, 3]]


def gcount(path: Path, ref: str, alt: str, numbers: str) -> Path:
    head = "#CHROM ID REF ALT HOM_REF_CT HET_REF_ALT_CTS TWO_ALT_GENO_CTS\n"
    path.write_text(f"{head}1 rs1 {ref} {alt} {numbers}\n")
    return path


def test_groups_that_were_counted_in_other_orders_are_put_in_one(tmp_path: Path) -> None:
    """Cases and controls split before plink ordered each by its own rarer allele; one has no carrier of G."""
    case = gcount(tmp_path / "case", "G", "A", "3 2 1")
    for i, (ref, alt, numbers) in enumerate((("G", "A", "4 2 0"), ("A", "G", "0 2 4"))):
        control = gcount(tmp_path / f"control{i}", ref, alt, numbers)
        assert read_gcount([case], [control], 6, 6).table.tolist() == [[1, 2, 0, 2]]
    for ref, alt, numbers in (("A", ".", "6 0 0"), (".", "A", "0 0 6"), ("A", "0", "6 0 0")):
        control = gcount(tmp_path / "control", ref, alt, numbers)
        assert read_gcount([case], [control], 6, 6).table.tolist() == [[1, 2, 6, 0]]
    with pytest.raises(InputError, match="rs1"):
        read_gcount([case], [gcount(tmp_path / "control", "C", "T", "4 2 0")], 6, 6)


def one_snp(one: str, two: str, order: str = "study") -> GenotypeCounts:
    variant = Variant("1", "rs1", 1, one, two)
    return GenotypeCounts(np.zeros((1, 4), np.int32), 5, 5, [variant], np.arange(1), allele_order=order)


def test_frequencies_of_a_panel_follow_neither_the_order_of_alleles_nor_who_carries_them(
    tmp_path: Path,
) -> None:
    """A panel that knows A and G only: nobody carries T (a 0 in the file), or one person does."""
    panel = tmp_path / "panel.frq"
    panel.write_text("CHR SNP A1 A2 MAF NCHROBS\n1 rs1 A G 0.7 1000\n")
    for one, two in (("A", "G"), ("G", "A"), ("0", "A"), ("0", "G"), ("0", "0"), ("T", "A"), ("0", "T")):
        assert read_frequencies(panel, one_snp(one, two)).tolist() == [1.0 - 0.7]


def test_a_panel_with_other_alleles_is_refused_where_their_letters_are_public(tmp_path: Path) -> None:
    panel = tmp_path / "panel.frq"
    panel.write_text("CHR SNP A1 A2 MAF NCHROBS\n1 rs1 A G 0.7 1000\n")
    assert read_frequencies(panel, one_snp("G", "A", "public")).tolist() == [1.0 - 0.7]
    with pytest.raises(InputError, match="rs1"):
        read_frequencies(panel, one_snp("A", "T", "public"))
