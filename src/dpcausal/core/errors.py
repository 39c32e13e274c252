"""Every error a user can cause, each with the exit code the command line gives it.

The message is one line that says what is wrong and where. It never holds a value read from a row:
an error that depends on a row would itself be a release (``theory.md``, section 0).
"""

from __future__ import annotations

from collections.abc import Iterable


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
    def of(cls, where: str, unit: str, asked: float, spent: float, left: float) -> BudgetError:
        """The error with its usual line.

        >>> str(BudgetError.of("budget", "epsilon", 0.5, 0.8, 0.2))
        'the budget does not allow it: asked epsilon 0.5, spent 0.8, left 0.2'
        """
        line = f"the {where} does not allow it: asked {unit} {asked:.6g}, spent {spent:.6g}, left {left:.6g}"
        return cls(line, unit=unit, asked=asked, spent=spent, left=left)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the nearest known name, or an empty string.

    Nearest by edits (a letter more, less or other, or two swapped; not counting case), at most one in three letters
    (of two, one); else the only name that begins like this.

    >>> did_you_mean("smokes", ["smoke", "age"]), did_you_mean("AGE", ["smoke", "age"])
    (' (did you mean "smoke"?)', ' (did you mean "age"?)')
    >>> did_you_mean("gess", ["test", "gwas"]), did_you_mean("replace", ["replace-one", "add-remove"])
    ('', ' (did you mean "replace-one"?)')
    """
    names = list(known)
    asked = name.lower()
    near = [(edits(asked, other.lower()), i) for i, other in enumerate(names)]
    letters = [max(len(name), len(other)) for other in names]
    close = min(
        ((far, i) for far, i in near if far < letters[i] and far <= max(letters[i] // 3, 1)), default=None
    )
    begins = [i for i, other in enumerate(names) if len(name) > 1 and other.lower().startswith(asked)]
    found = close[1] if close is not None else begins[0] if len(begins) == 1 else None
    return "" if found is None else f' (did you mean "{names[found]}"?)'


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
