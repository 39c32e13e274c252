"""Who is a case: people and phenotypes from a .fam file, or a phenotype file beside it.

Six columns (family, person, father, mother, sex, phenotype), split at blanks. Phenotype: 1 control, 2 case (0 and 1
with ``coding="01"``); -9, NA and, in 1/2 coding, 0 are missing: such people are in neither group. Group membership is
*public* in everything the gwas room promises, so errors about it may speak; nothing here sees a genotype.

A phenotype file has family, person and phenotype (``column`` counts from 1 after the two ids; a first line that
begins with FID is a header). People it does not name are in neither group.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError

Coding = Literal["12", "01"]
Person = tuple[str, str]
MISSING = {"-9", "-9.0", "NA", "na", "nan", "NaN", "."}


@dataclass(frozen=True)
class People:
    """Everyone in file order; ``case`` and ``control`` mark the two groups (public)."""

    names: list[Person]
    case: NDArray[np.bool_]
    control: NDArray[np.bool_]

    @property
    def cases(self) -> int:
        """N1, people."""
        return int(self.case.sum())

    @property
    def controls(self) -> int:
        """N0, people."""
        return int(self.control.sum())


def read_lines(path: Path) -> list[list[str]]:
    """Fields of every line that is not empty."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {path.name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not a text file") from None
    return [fields for line in text.splitlines() if (fields := line.split())]


def group_of(word: str, coding: Coding, where: str) -> int:
    """2 case, 1 control, 0 neither.

    >>> group_of("2", "12", "here"), group_of("0", "12", "here"), group_of("0", "01", "here")
    (2, 0, 1)
    """
    if word in MISSING:
        return 0
    try:
        number = float(word)
    except ValueError:
        raise InputError(f"{where}: the phenotype is not a number") from None
    value = number + 1 if coding == "01" else number
    if value not in (0.0, 1.0, 2.0):
        told = "0 (control), 1 (case)" if coding == "01" else "1 (control), 2 (case), 0 or -9 (missing)"
        raise InputError(f"{where}: the phenotype must be {told}: only case/control phenotypes are handled")
    return int(value)


def phenotypes(path: Path, column: int, coding: Coding) -> dict[Person, int]:
    """Group by person from a phenotype file."""
    found: dict[Person, int] = {}
    for number, fields in enumerate(read_lines(path), 1):
        if number == 1 and fields[0].upper() in ("FID", "#FID"):
            continue
        if column < 1 or len(fields) < 2 + column:
            raise InputError(f"{path.name}, line {number}: no phenotype column {column}")
        found[fields[0], fields[1]] = group_of(fields[1 + column], coding, f"{path.name}, line {number}")
    return found


def read_people(
    fam: Path,
    *,
    phenotype_file: Path | None = None,
    phenotype_column: int = 1,
    coding: Coding = "12",
    keep: Path | None = None,
) -> People:
    """Everyone in ``fam`` with groups; only people listed in ``keep`` (family, person) are in one."""
    lines = read_lines(fam)
    if not lines:
        raise InputError(f"{fam.name} is empty")
    for number, fields in enumerate(lines, 1):
        if len(fields) != 6:
            raise InputError(f"{fam.name}, line {number}: {len(fields)} columns where a .fam file has 6")
    names = [(fields[0], fields[1]) for fields in lines]
    if phenotype_file is None:
        groups = [group_of(f[5], coding, f"{fam.name}, line {i}") for i, f in enumerate(lines, 1)]
    else:
        told = phenotypes(phenotype_file, phenotype_column, coding)
        groups = [told.get(name, 0) for name in names]
    if keep is not None:
        kept = {(f[0], f[1]) for f in read_lines(keep) if len(f) > 1}
        groups = [g if name in kept else 0 for g, name in zip(groups, names, strict=True)]
    group = np.array(groups)
    people = People(names, group == 2, group == 1)
    source = (phenotype_file or fam).name
    if people.cases + people.controls == 0:
        raise InputError(f"no person with a phenotype in {source} is left after filtering")
    if min(people.cases, people.controls) == 0:
        only = "controls" if people.cases == 0 else "cases"
        raise InputError(
            f"the phenotype in {source} has one class only ({only}): both cases and controls are needed"
        )
    return people
