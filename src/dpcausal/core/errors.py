"""Every error a user can cause, each with the exit code the command line gives it.

The message is one line that says what is wrong and where. It never holds a value read from a row:
an error that depends on a row would itself be a release (``theory.md``, section 0).
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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

    >>> did_you_mean("smokes", ["smoke", "age"])
    ' (did you mean "smoke"?)'
    >>> did_you_mean("zzz", ["smoke", "age"])
    ''
    """
    near = get_close_matches(name, list(known), n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""
