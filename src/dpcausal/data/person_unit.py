"""What a schema declares of the unit of privacy, where that is a person with several rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpcausal.core.spelling import spelled
from dpcausal.data.columns import require
from dpcausal.data.name_hints import is_identifier_name

FIRST, LAST = "first", "last"  # of ``order_by``: by the place in the file
MAX_ROWS = 1000  # of a person


@dataclass(frozen=True)
class PersonUnit:
    """Which column tells whose a row is, and which rows of a person are used. All of it is public.

    Parameters
    ----------
    column : str
        The column with the id of a person. It is no column of the analysis.
    rows : int, default 1
        How many rows of a person are used at most. Every person weighs the same, whatever their number.
    order_by : str, optional
        Which: ``"first"`` or ``"last"`` in the file, or those with the largest values of a column of this name. Unless
        given, and among equal values, they are drawn by chance.
    records : bool, default False
        Whether rows are records, of which all of a person's make one entry: ``dc.read_codes`` declares that.

    Raises
    ------
    SchemaError
        If an entry can't be used.

    Examples
    --------
    >>> PersonUnit("pid", order_by="visit")
    PersonUnit(column='pid', rows=1, order_by='visit', records=False)
    """

    column: str
    rows: int = 1
    order_by: str | None = None
    records: bool = False

    def __post_init__(self) -> None:
        given: dict[str, Any] = {"column": self.column, "order_by": self.order_by}
        for entry, value in given.items():
            named = (isinstance(value, str) and value) or (entry != "column" and value is None)
            require(named, entry, f"{entry} must be the name of a column, not {value!r}")
        rows: Any = self.rows
        fits = isinstance(rows, int) and not isinstance(rows, bool) and 1 <= rows <= MAX_ROWS
        require(fits, "rows", f"rows of a unit must be a whole number, 1 to {MAX_ROWS}, not {rows!r}")
        other = self.order_by != self.column
        require(other, "order_by", f'order_by can\'t be the column of the id, "{self.column}"')

    @property
    def by_place(self) -> bool:
        """Whether a person's rows are chosen by their place in the file: the first or the last."""
        return self.order_by in (FIRST, LAST)

    def columns(self) -> list[str]:
        """Return the columns that must be read to choose rows: the id, and the one that orders."""
        return [self.column] if self.order_by is None or self.by_place else [self.column, self.order_by]


class UnitNotDeclared(UserWarning):
    """The data has a column that is named like the id of a person, and the unit of privacy is a row."""


def warn_of_ids(names: Iterable[str], unit: PersonUnit | None, label: str, stacklevel: int) -> None:
    """Warn of a column that is named like an id where no unit is declared; names are public."""
    found = next((name for name in names if is_identifier_name(name)), None)
    if unit is None and found is not None:
        how = spelled(f"--unit {found}", f"unit={found!r}")
        message = (
            f'{label} has a column "{found}": where a person has several rows, {how} protects persons, and counts '
            "each of them once"
        )
        warnings.warn(message, UnitNotDeclared, stacklevel=stacklevel + 1)
