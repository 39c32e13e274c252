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
    """A charge that the budget does not allow; nothing was charged and nothing released."""

    exit_code = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint naming the nearest known name, or an empty string.

    >>> did_you_mean("smokes", ["smoke", "age"])
    ' (did you mean "smoke"?)'
    >>> did_you_mean("zzz", ["smoke", "age"])
    ''
    """
    near = get_close_matches(name, list(known), n=1)
    return f' (did you mean "{near[0]}"?)' if near else ""
