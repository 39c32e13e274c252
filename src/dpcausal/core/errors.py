"""Every error a user can cause, each with the exit code the command line gives it, and the names it proposes.

The message is one line that says what is wrong and where. It never holds a value read from a row:
an error that depends on a row would itself be a release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

LISTED = 12  # names that a message lists where none is near
SHARED = 4  # letters that one name must have to be found within another
SIMILAR = 0.65  # least ratio of difflib from which on two names are near
A_LITTLE = 0.6  # the same where no name begins like this one or holds it


class DpcausalError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is what the command line returns."""

    exit_code = 2


class InputError(DpcausalError, ValueError):
    """A file, argument or option that can't be used as given."""


class SchemaError(InputError):
    """A schema that contradicts itself, or doesn't fit the columns of a file."""


class EngineError(InputError):
    """An engine that holds the rows and did not answer as it should: lost, or its table changed in between.

    The message is one line of ours; what the engine said is dropped, since it may name a cell.

    >>> str(EngineError("PostgreSQL stopped answering").with_charge(charged=True))
    'PostgreSQL stopped answering; the release was charged and stays charged, and nothing of it left'
    """

    def with_charge(self, *, charged: bool) -> EngineError:
        """Return this error with the statement whether the release was charged."""
        what = "the release was charged and stays charged, and nothing of it left"
        return type(self)(f"{self}; {what if charged else 'nothing was charged'}")


class LedgerError(DpcausalError):
    """A ledger that can't be opened, read or trusted."""


class BudgetError(DpcausalError):
    """A charge that the budget does not allow; nothing was charged and nothing released.

    Parameters
    ----------
    message : str
        One line that says what was asked, spent and left.
    unit : str, default "epsilon"
        What the amounts are of: "epsilon", "rho" or "delta".
    asked, spent, left : float, default 0.0
        The amounts; they are attributes of the same names.

    Examples
    --------
    >>> BudgetError("the budget does not allow it", asked=1.0, left=0.5).left
    0.5
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
        """Return the error with amounts and advice in its usual line.

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
    """Return a hint that names the nearest known name, or an empty string.

    Nearest by ``difflib``, without regard to case; else the only known name that begins with this one, holds it or is
    held by it; else one that is a little like it.

    >>> did_you_mean("smokes", ["smoke", "age"]), did_you_mean("AGE", ["smoke", "age"])
    (' (did you mean "smoke"?)', ' (did you mean "age"?)')
    >>> did_you_mean("gess", ["test", "gwas"]), did_you_mean("replace", ["replace-one", "add-remove"])
    ('', ' (did you mean "replace-one"?)')
    >>> did_you_mean("smoke", ["smoking", "age"]), did_you_mean("pressure", ["blood_pressure", "age"])
    (' (did you mean "smoking"?)', ' (did you mean "blood_pressure"?)')
    """
    names = {other.lower(): other for other in known}
    asked = name.lower()
    found = (
        get_close_matches(asked, names, n=1, cutoff=SIMILAR)
        or [other for other in names if len(asked) > 1 and other.startswith(asked)]
        or [
            other
            for other in names
            if min(len(asked), len(other)) >= SHARED and (asked in other or other in asked)
        ]
        or get_close_matches(asked, names, n=1, cutoff=A_LITTLE)
    )
    return f' (did you mean "{names[found[0]]}"?)' if len(found) == 1 else ""


def did_you_mean_column(name: str, columns: Iterable[str]) -> str:
    """Return a hint that names the nearest column; where none is near, the columns there are.

    >>> did_you_mean_column("weight", ["smoking", "age"])
    '; there are smoking, age'
    """
    names = list(columns)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return did_you_mean(name, names) or f"; there are {', '.join(names[:LISTED])}{more}"


def no_columns(names: Iterable[str], columns: Iterable[str], where: str = " in the schema") -> str:
    """Return the error message for unknown columns, each with a hint at a similar name.

    >>> no_columns(["wight"], ["weight", "age"])
    'no column "wight" in the schema (did you mean "weight"?)'
    >>> no_columns(["wight", "agee"], ["weight", "age"])
    'no columns "wight" (did you mean "weight"?), "agee" (did you mean "age"?) in the schema'
    >>> no_columns(["wight", "dose"], ["weight", "age"], "")
    'no columns "wight" (did you mean "weight"?), "dose"; there are weight, age'
    """
    lacking, known = list(dict.fromkeys(names)), list(columns)
    if len(lacking) == 1:
        return f'no column "{lacking[0]}"{where}{did_you_mean_column(lacking[0], known)}'
    hints = {name: did_you_mean(name, known) for name in lacking}
    listed = ", ".join(f'"{name}"{hint}' for name, hint in hints.items())
    unlike = next((name for name, hint in hints.items() if not hint), None)
    return f"no columns {listed}{where}{'' if unlike is None else did_you_mean_column(unlike, known)}"


class BeforeCharge(UserWarning):
    """What should be read before a budget is charged; it rests on public numbers and on ledgers, never on rows."""


class OtherNames:
    """Base of results: an attribute of another name raises an ``AttributeError`` that names the right one.

    ``_other_names`` has what to write for each such name. A class whose results differ overrides ``_instead_of``, which
    may look at what was released.

    >>> class Answer(OtherNames):
    ...     _other_names = {"p": "result.pvalue"}
    >>> Answer().p
    Traceback (most recent call last):
    AttributeError: 'Answer' object has no attribute 'p': write result.pvalue
    """

    _other_names: ClassVar[Mapping[str, str]] = {}

    def _instead_of(self, name: str) -> str | None:
        """Return the advice for an attribute that has another name here; None where there is none."""
        return f"write {self._other_names[name]}" if name in self._other_names else None

    if not TYPE_CHECKING:  # type checkers go on complaining about names that do not exist

        def __getattr__(self, name: str) -> Any:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            instead = None if name.startswith("_") else self._instead_of(name)
            if instead is not None:
                raise AttributeError(f"{text}: {instead}")
            raise AttributeError(text, name=name, obj=self)  # Python proposes similar names


def spellings(*groups: tuple[str, str]) -> dict[str, str]:
    """Return the table of other names of attributes, for ``_other_names``.

    Each group holds names, with spaces between them, and what to write instead.

    >>> spellings(("p p_value", "result.pvalue"))
    {'p': 'result.pvalue', 'p_value': 'result.pvalue'}
    """
    return {name: instead for names, instead in groups for name in names.split()}
