"""Every error a user can cause, each with the exit code the command line gives it.

The message is one line that says what is wrong and where. It never holds a value read from a row:
an error that depends on a row would itself be a release (``theory.md``, section 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

LISTED = 12  # names that a message lists where none is near
SHARED = 4  # letters that two names must begin with in common to be near


class DpcausalError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is what the command line returns."""

    exit_code = 2


class InputError(DpcausalError, ValueError):
    """A file, argument or option that can't be used as given."""


class SchemaError(InputError):
    """A schema that contradicts itself, or doesn't fit the columns of a file."""


class LedgerError(DpcausalError):
    """A ledger that can't be opened, read or trusted."""


class BudgetError(DpcausalError):
    """A charge that the budget does not allow; nothing was charged and nothing released.

    ``asked``, ``spent`` and ``left`` are amounts of ``unit`` ("epsilon", "rho" or "delta").
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        unit: str = "epsilon",
        asked: float = 0.0,
        spent: float = 0.0,
        left: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.unit, self.asked, self.spent, self.left = unit, asked, spent, left

    @classmethod
    def of(
        cls, where: str, unit: str, asked: float, spent: float, left: float, advice: str = ""
    ) -> BudgetError:
        """The error with its usual line, and what can be done about it.

        >>> str(BudgetError.of("budget", "epsilon", 0.5, 0.8, 0.2))
        'the budget does not allow it: asked epsilon 0.5, spent 0.8, left 0.2; ask for at most 0.2 of epsilon'
        >>> str(BudgetError.of("budget of data set 'd'", "delta", 1e-6, 1e-5, 0.0, "open another"))
        "the budget of data set 'd' does not allow it: asked delta 1e-06, spent 1e-05, left 0; open another"
        """
        line = f"the {where} does not allow it: asked {unit} {asked:.6g}, spent {spent:.6g}, left {left:.6g}"
        least = f"ask for at most {left:.6g} of {unit}" if left > 0 and math.isfinite(asked) else ""
        return cls(
            "; ".join(filter(None, (line, least, advice))), unit=unit, asked=asked, spent=spent, left=left
        )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the nearest known name, or an empty string.

    Nearest by edits (a letter more, less or other, or two swapped; not counting case), at most one in three letters
    (of two, one); else the only name that begins like this, or holds it, or is held by it, or shares a beginning of
    four letters and more than half of the shorter.

    >>> did_you_mean("smokes", ["smoke", "age"]), did_you_mean("AGE", ["smoke", "age"])
    (' (did you mean "smoke"?)', ' (did you mean "age"?)')
    >>> did_you_mean("gess", ["test", "gwas"]), did_you_mean("replace", ["replace-one", "add-remove"])
    ('', ' (did you mean "replace-one"?)')
    >>> did_you_mean("smoke", ["smoking", "age"]), did_you_mean("pressure", ["blood_pressure", "age"])
    (' (did you mean "smoking"?)', ' (did you mean "blood_pressure"?)')
    """
    names = list(known)
    found = _nearest(name.lower(), [other.lower() for other in names])
    return "" if found is None else f' (did you mean "{names[found]}"?)'


def did_you_mean_column(name: str, columns: Iterable[str]) -> str:
    """The same for a column; where none is near, the columns there are, the first twelve of many.

    >>> did_you_mean_column("weight", ["smoking", "age"])
    '; there are smoking, age'
    """
    names = list(columns)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return did_you_mean(name, names) or f"; there are {', '.join(names[:LISTED])}{more}"


def _nearest(asked: str, names: list[str]) -> int | None:
    close = [
        (far, i)
        for i, other in enumerate(names)
        for far in [edits(asked, other)]
        if far < max(len(asked), len(other)) and far <= max(max(len(asked), len(other)) // 3, 1)
    ]
    if close:
        return min(close)[1]
    long = len(asked) >= SHARED
    for near in (
        [i for i, other in enumerate(names) if len(asked) > 1 and other.startswith(asked)],
        [i for i, other in enumerate(names) if long and asked in other],
        [i for i, other in enumerate(names) if len(other) >= SHARED and other in asked],
        [i for i, other in enumerate(names) if _begin_alike(asked, other)],
    ):
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _begin_alike(a: str, b: str) -> bool:
    shared = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return shared >= SHARED and 2 * shared > min(len(a), len(b))


def edits(a: str, b: str) -> int:
    """How many letters must be added, dropped, exchanged or swapped with the next to make ``b`` of ``a``.

    Optimal string alignment: no part is edited twice. O(len(a) len(b)).

    >>> edits("gwass", "gwas"), edits("tets", "test"), edits("kitten", "sitting")
    (1, 1, 3)
    """
    before, last, row = [0] * (len(b) + 1), [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, last, row = last, row, [i, *[0] * len(b)]
        for j, y in enumerate(b, 1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], before[j - 2] + 1)
    return row[-1]
