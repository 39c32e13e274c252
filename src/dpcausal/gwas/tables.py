"""Genotype counts made elsewhere: plink's .model tables, or a pair of plink2 .gcount tables.

So counting can run by chromosome where the genotypes are, and only counts travel. Group sizes are given, since they
are public and a table with missing calls does not tell them: what a SNP lacks of them is counted by the rules of
``cohort.py`` for missing calls. Several files are read one after the other.

- ``.model`` (plink --model, rows GENO): CHR SNP A1 A2 TEST AFF UNAFF, counts hom1/het/hom2.
- ``.gcount`` (plink2 --geno-counts), one of cases and one of controls, the same SNPs: allele 1 is ALT. Where the two
  name a SNP's alleles the other way round, the counts of controls are turned.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Counts (hom1, het, hom2) of each SNP, with what lacks of ``people`` added by the rule.

    >>> with_missing(np.array([[1, 2, 3]]), 10, "het").tolist()
    [[1, 6, 3]]
    """
    filled = counts.copy()
    filled[:, PLACES[missing]] += people - counts.sum(axis=1)
    return filled


def checked(
    entries: Sequence[Entry], cases: int, controls: int, missing: MissingRule, allele_order: AlleleOrder
) -> GenotypeCounts:
    """Counts of (hom1, het, hom2) x (case, control) within the public group sizes."""
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


def whole(word: str, where: str) -> int:
    """A count."""
    if not word.isdigit():
        raise InputError(f"{where}: a count that is not a whole number")
    return int(word)


def columns_of(header: list[str], names: Sequence[str], path: Path) -> list[int]:
    """Places of the named columns."""
    places = {name.lstrip("#"): i for i, name in enumerate(header)}
    lacking = [name for name in names if name not in places]
    if lacking:
        raise InputError(f"{path.name} has no column {lacking[0]}")
    return [places[name] for name in names]


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
    entries: list[Entry] = []
    for path in paths:
        lines = read_lines(path)
        if not lines:
            raise InputError(f"{path.name} is empty")
        c, s, a1, a2, test, aff, unaff = columns_of(
            lines[0], ("CHR", "SNP", "A1", "A2", "TEST", "AFF", "UNAFF"), path
        )
        for number, fields in enumerate(lines[1:], 2):
            if len(fields) <= max(c, s, a1, a2, test, aff, unaff):
                raise InputError(f"{path.name}, line {number}: too few columns")
            if fields[test] != "GENO":
                continue
            words = [*fields[aff].split("/"), *fields[unaff].split("/")]
            if len(words) != 6:
                raise InputError(f"{path.name}, line {number}: AFF and UNAFF must hold three counts each")
            numbers = tuple(whole(word, f"{path.name}, line {number}") for word in words)
            entries.append((Variant(fields[c], fields[s], 0, fields[a1], fields[a2]), numbers))
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
    """Return counts from .gcount files of plink2, of cases and of controls, SNP by SNP the same.

    Parameters
    ----------
    case_paths, control_paths : sequence of Path
        The files of each group, one after the other.
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
        If a file can't be read as such, or the SNPs differ, or there are more people than that; or ``missing`` needs a
        public order.

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


def gcount_lines(path: Path) -> list[Entry]:
    """SNP and (hom1, het, hom2) of every line."""
    lines = read_lines(path)
    if not lines:
        raise InputError(f"{path.name} is empty")
    names = ("CHROM", "ID", "REF", "ALT", "HOM_REF_CT", "HET_REF_ALT_CTS", "TWO_ALT_GENO_CTS")
    c, s, ref, alt, hom2, het, hom1 = columns_of(lines[0], names, path)
    found: list[Entry] = []
    for number, fields in enumerate(lines[1:], 2):
        if len(fields) != len(lines[0]):
            raise InputError(f"{path.name}, line {number}: not as many columns as the header")
        where = f"{path.name}, line {number}"
        counts = tuple(whole(fields[place], where) for place in (hom1, het, hom2))
        found.append((Variant(fields[c], fields[s], 0, fields[alt], fields[ref]), counts))
    return found
