"""Tables of plink: genotype counts made elsewhere, and public allele frequencies.

**Counts** (.model, or a pair of plink2 .gcount tables). Counting can run by chromosome where the genotypes are, and
only counts travel. Group sizes are given, since they are public and a table with missing calls does not tell them: what
a SNP lacks of them is counted by the rules of ``cohort.py`` for missing calls. Several files may be given.

- ``.model`` (plink --model, rows GENO): CHR SNP A1 A2 TEST AFF UNAFF, counts hom1/het/hom2.
- ``.gcount`` (plink2 --geno-counts), one of cases and one of controls, the same SNPs: allele 1 is ALT. Where the two
  name a SNP's alleles the other way round, the counts of controls are turned.

**Frequencies** of a reference panel (plink's .frq or plink2's .afreq), matched by SNP name. The frequency is that of
the panel's rarer allele, whichever allele the .bim file counts: cuts are the same for both, so the order of the .bim
file does not enter. A SNP the panel does not know, or with other alleles, is an error: a public list should cover what
is screened. "0" and "." in a .bim file stand for an allele nobody in the study carries; they agree with any, so that no
error tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.gwas.cohort import (
    AlleleOrder,
    GenotypeCounts,
    MissingRule,
    Variant,
    check_missing_rule,
    read_lines,
    swapped,
)

Counted = NDArray[np.int64]
Entry = tuple[Variant, tuple[int, ...]]  # SNP, (hom1, het, hom2), of one group or of cases and controls
PLACES = {"allele1": 0, "het": 1, "reference": 2}  # of (hom1, het, hom2): what a missing call counts as


@proved("cohort.proof.md")
def with_missing(counts: Counted, people: int, missing: str) -> Counted:
    """Return the counts (hom1, het, hom2) of each SNP with missing calls counted by the rule.

    >>> with_missing(np.array([[1, 2, 3]]), 10, "het").tolist()
    [[1, 6, 3]]
    """
    filled = counts.copy()
    filled[:, PLACES[missing]] += people - counts.sum(axis=1)
    return filled


def checked(
    entries: Sequence[Entry], cases: int, controls: int, missing: MissingRule, allele_order: AlleleOrder
) -> GenotypeCounts:
    """Return genotype counts from entries, refused if they do not fit the public group sizes."""
    check_missing_rule(missing, allele_order)
    if cases < 1 or controls < 1:
        raise InputError("give the public numbers of cases and controls (people), both at least 1")
    if not entries:
        raise InputError("the tables of counts hold no SNP")
    full = np.array([row for _, row in entries], np.int64)
    if (
        (full < 0).any()
        or (full[:, :3].sum(axis=1) > cases).any()
        or (full[:, 3:].sum(axis=1) > controls).any()
    ):
        raise InputError("a table of counts holds more people than the given numbers of cases and controls")
    groups = with_missing(full[:, :3], cases, missing), with_missing(full[:, 3:], controls, missing)
    table = np.column_stack([group[:, :2] for group in groups]).astype(np.int32)
    variants = [v for v, _ in entries]
    return GenotypeCounts(table, cases, controls, variants, np.arange(len(entries)), missing, allele_order)


def rows_of(path: Path, *names: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the named columns of every row of a table, with "file:line" for errors."""
    lines = read_lines(path)
    if not lines:
        raise InputError(f"{path.name} is empty")
    places = {name.lstrip("#"): i for i, name in enumerate(lines[0])}
    for name in names:
        if name not in places:
            raise InputError(f"{path.name} has no column {name}")
    for number, fields in enumerate(lines[1:], 2):
        where = f"{path.name}, line {number}"
        if len(fields) != len(lines[0]):
            raise InputError(f"{where}: not as many columns as the header")
        yield where, [fields[places[name]] for name in names]


def whole_numbers(words: Sequence[str], where: str) -> tuple[int, ...]:
    """Parse words as counts; ``where`` is for the error."""
    if not all(word.isdigit() for word in words):
        raise InputError(f"{where}: a count that is not a whole number")
    return tuple(map(int, words))


def read_model(
    paths: Sequence[Path],
    cases: int,
    controls: int,
    *,
    missing: MissingRule = "het",
    allele_order: AlleleOrder = "study",
) -> GenotypeCounts:
    """Return counts from one or more .model files of plink.

    Parameters
    ----------
    paths : sequence of Path
        The files, one after the other.
    cases, controls : int
        The public numbers of people.
    missing, allele_order : str, default "het" and "study"
        As in ``Cohort.count``.

    Returns
    -------
    GenotypeCounts

    Raises
    ------
    InputError
        If a file can't be read as such, or holds more people than that; or ``missing`` needs a public order.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.model"
    ...     _ = path.write_text("CHR SNP A1 A2 TEST AFF UNAFF\\n1 rs1 A G GENO 1/2/3 0/2/4\\n")
    ...     read_model([path], cases=6, controls=6).table.tolist()
    [[1, 2, 0, 2]]
    """
    names = ("CHR", "SNP", "A1", "A2", "TEST", "AFF", "UNAFF")
    entries: list[Entry] = []
    for path in paths:
        for where, (chromosome, snp, allele1, allele2, test, cases_text, controls_text) in rows_of(
            path, *names
        ):
            if test != "GENO":
                continue
            words = [*cases_text.split("/"), *controls_text.split("/")]
            if len(words) != 6:
                raise InputError(f"{where}: AFF and UNAFF must hold three counts each")
            variant = Variant(chromosome, snp, 0, allele1, allele2)
            entries.append((variant, whole_numbers(words, where)))
    return checked(entries, cases, controls, missing, allele_order)


def read_gcount(
    case_paths: Sequence[Path],
    control_paths: Sequence[Path],
    cases: int,
    controls: int,
    *,
    missing: MissingRule = "het",
    allele_order: AlleleOrder = "study",
) -> GenotypeCounts:
    """Read .gcount files of plink2, of cases and of controls, which must list the same SNPs.

    Parameters
    ----------
    case_paths, control_paths : sequence of Path
        The files of each group, one after the other.
    cases, controls, missing, allele_order
        As in ``read_model``.

    Returns
    -------
    GenotypeCounts

    Raises
    ------
    InputError
        As ``read_model``, and if the SNPs differ.

    Examples
    --------
    >>> import tempfile
    >>> head = "#CHROM ID REF ALT HOM_REF_CT HET_REF_ALT_CTS TWO_ALT_GENO_CTS\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     case, control = Path(folder) / "case.gcount", Path(folder) / "control.gcount"
    ...     _ = case.write_text(head + "1 rs1 G A 3 2 1\\n"), control.write_text(head + "1 rs1 G A 4 2 0\\n")
    ...     read_gcount([case], [control], cases=6, controls=6).table.tolist()
    [[1, 2, 0, 2]]
    """
    case, control = (
        [entry for path in paths for entry in gcount_lines(path)] for paths in (case_paths, control_paths)
    )
    if [v[:3] for v, _ in case] != [v[:3] for v, _ in control]:
        raise InputError("the .gcount files of cases and of controls do not list the same SNPs")
    both: list[Entry] = []
    for (v, ours), (w, theirs) in zip(case, control, strict=True):
        turned = swapped((v.allele1, v.allele2), (w.allele1, w.allele2))
        if turned is None:
            raise InputError(f"the .gcount files of cases and of controls have other alleles of {v.name}")
        both.append((v, (*ours, *(theirs[::-1] if turned else theirs))))
    return checked(both, cases, controls, missing, allele_order)


def gcount_lines(path: Path) -> Iterator[Entry]:
    """Yield the SNP and (hom1, het, hom2) of every line of a .gcount file."""
    names = ("CHROM", "ID", "REF", "ALT", "TWO_ALT_GENO_CTS", "HET_REF_ALT_CTS", "HOM_REF_CT")
    for where, (chromosome, snp, reference, alternate, *counts) in rows_of(path, *names):
        yield Variant(chromosome, snp, 0, alternate, reference), whole_numbers(counts, where)


def read_frequencies(path: Path, counts: GenotypeCounts) -> NDArray[np.float64]:
    """Return the public frequency of the panel's rarer allele for each SNP of ``counts``.

    **Guarantee.** Frequencies and errors depend on the panel and on what a release may name of the SNPs
    (``GenotypeCounts.public_variant``). Letters of alleles that follow the study are not looked at: plink writes 0 for
    an allele that nobody carries, so that a panel which knows other alleles would tell whether somebody carries one.

    Parameters
    ----------
    path : Path
        A .frq file of plink or an .afreq file of plink2, of a reference panel.
    counts : GenotypeCounts
        The SNPs; the genotypes are not looked at.

    Returns
    -------
    array of float
        One frequency per SNP.

    Raises
    ------
    InputError
        If the file can't be read as such, or does not know a SNP, or its alleles where their order is public.

    Examples
    --------
    >>> import tempfile
    >>> from dpcausal.gwas import Simulation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     panel = Path(folder) / "panel.frq"
    ...     _ = panel.write_text("CHR SNP A1 A2 MAF NCHROBS\\n1 snp1 A G 0.25 1000\\n")
    ...     read_frequencies(panel, Simulation(people=10, snps=1).counts()).tolist()
    [0.25]
    """
    header = {word.lstrip("#") for word in next(iter(read_lines(path)), [])}
    known = [("SNP", "A1", "A2", "MAF"), ("ID", "ALT", "REF", "ALT_FREQS")]
    names = next((wanted for wanted in known if header.issuperset(wanted)), None)
    if names is None:
        raise InputError(
            f"{path.name} is not a table of frequencies: no columns SNP A1 A2 MAF or ID ALT REF ALT_FREQS"
        )
    panel: dict[str, tuple[str, str, float]] = {}
    for where, (snp, counted, other, share) in rows_of(path, *names):
        try:
            panel[snp] = (counted, other, float(share))
        except ValueError:
            raise InputError(f"{where}: no frequency") from None
    out = np.empty(len(counts))
    letters_public = counts.allele_order == "public"
    for i in range(len(counts)):
        v = counts.public_variant(i)
        if v.name not in panel:
            raise InputError(f"{path.name} has no frequency for {v.name}")
        one, two, frequency = panel[v.name]
        if letters_public and swapped((one, two), (v.allele1, v.allele2)) is None:
            raise InputError(f"{path.name} has no frequency for the alleles of {v.name}")
        out[i] = min(frequency, 1.0 - frequency)
    if not ((out >= 0) & (out <= 1)).all():
        raise InputError(f"{path.name}: a frequency outside 0 to 1")
    return out
