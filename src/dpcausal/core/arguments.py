"""Checks of arguments that every public function shares; one clear line when they fail."""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Iterable, Mapping
from numbers import Integral
from textwrap import fill, indent
from typing import Any, ParamSpec, TypeVar

from dpcausal.core.errors import InputError, SchemaError, did_you_mean, did_you_mean_column, no_columns
from dpcausal.core.spelling import spelled, worded


class _Required:
    """The default of an argument that must be given: its absence is then an error of ours."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()
NO_FORECAST = "a forecast says what noise will do: it needs an epsilon"

P = ParamSpec("P")
R = TypeVar("R")


def refuses_schema(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of a data set to refuse a schema, columns or a forecast, and say what to write instead.

    >>> @refuses_schema
    ... def discover(data): ...
    >>> discover("rows", schema="schema.toml")
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: discover takes rows that were read by a schema: data = dc.read(df, schema), \
then dc.discover(data, ...)
    """

    @functools.wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> R:
        name = function.__name__
        if "schema" in named or any(hasattr(one, "from_toml") for one in arguments):
            way = f"data = dc.read(df, schema), then dc.{name}(data, ...)"
            raise InputError(f"{name} takes rows that were read by a schema: {way}")
        if "columns" in named:
            way = f"data = dc.read(df, schema.select(columns)), then dc.{name}(data, ...)"
            raise InputError(f"{name} uses the columns of its data: {way}")
        if "forecast" in named:
            what = {"effect": "dc.forecast_effect", "ci_test": "dc.forecast_ci_test"}.get(name, "dc.plan")
            raise InputError(f"{name} takes no forecast: {what} says for nothing what to expect")
        return function(*arguments, **named)

    return checked


LEAST_LEVEL = 1e-12


def checked_level(level: object, name: str = "level") -> float:
    """Return the level; refuse anything but a number strictly between 0 and 1.

    >>> checked_level(0.05)
    0.05
    >>> checked_level(5)
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: level must lie strictly between 0 and 1, not 5
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {level!r}")
    if not LEAST_LEVEL <= level <= 1 - LEAST_LEVEL:  # a slip of the pen, and beyond what laws are computed to
        raise InputError(f"{name} must be at least {LEAST_LEVEL:g} away from 0 and 1, not {level!r}")
    return float(level)


def checked_part(part: object, name: str, most: float = 1.0) -> float:
    """Return the number; refuse anything but one above 0 and at most ``most``.

    >>> checked_part(0.5, "share", 0.5)
    0.5
    """
    if isinstance(part, bool) or not isinstance(part, int | float) or not 0 < part <= most:
        raise InputError(f"{name} must be above 0 and at most {most:g}, not {part!r}")
    return float(part)


LEAST_STRENGTH, MOST_STRENGTH = 1e-6, 1e9


def checked_strength(strength: object) -> float:
    """Return the strength lambda of a ridge regression; refuse it outside 1e-6 to 1e9.

    Below, rounding could decide whether a matrix can be factorised.
    """
    number = strength if isinstance(strength, int | float) and not isinstance(strength, bool) else 0.0
    if not LEAST_STRENGTH <= number <= MOST_STRENGTH:
        raise InputError(f"lambda must lie within {LEAST_STRENGTH:g} and {MOST_STRENGTH:g}, not {strength!r}")
    return float(number)


def checked_count(number: object, name: str) -> int:
    """Return the number; refuse anything but a whole number, zero or above."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
        raise InputError(f"{name} must be a whole number, zero or above, not {number!r}")
    return int(number)


def checked_name(name: object, what: str) -> str:
    """Return the name; refuse anything but a text. ``what`` names the argument in the error."""
    if not isinstance(name, str):
        raise InputError(f"{what} must be text, not {name!r}")
    return name


def checked_column(name: object, known: Iterable[str], what: str = "") -> str:
    """Return the name; refuse one that is not a declared column. ``what`` names the argument in the error.

    >>> checked_column("wight", ["weight", "age"], "target")
    Traceback (most recent call last):
    dpcausal.core.errors.SchemaError: target: no column "wight" in the schema (did you mean "weight"?)
    """
    names, of = list(known), f"{what}: " if what else ""
    if not isinstance(name, str):
        raise InputError(f"{of}the name of a column must be text, not {name!r}")
    if name not in names:
        raise SchemaError(f'{of}no column "{name}" in the schema{did_you_mean_column(name, names)}')
    return name


def checked_all_columns(names: Iterable[object], known: Iterable[str], what: str = "") -> list[str]:
    """Return the names, or refuse them with an error that lists every one that is no declared column.

    ``what`` names the argument in the error.

    >>> checked_all_columns(["wight", "age", "agee"], ["weight", "age"])
    Traceback (most recent call last):
    dpcausal.core.errors.SchemaError: no columns "wight" (did you mean "weight"?), "agee" (did you mean "age"?) in the \
schema
    """
    asked, columns = list(names), list(known)
    lacking = [name for name in asked if isinstance(name, str) and name not in columns]
    if len(lacking) > 1:
        raise SchemaError(f"{what}: " * bool(what) + no_columns(lacking, columns))
    return [checked_column(name, columns, what) for name in asked]


def checked_list(values: object, name: str, of: str) -> list[Any]:
    """Return the entries of a list, a tuple, a set or the like; refuse a text and None."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = "the string " if isinstance(values, str) else ""
        raise InputError(f"{name} must be a list of {of}, not {kind}{values!r}")
    return list(values)


def column_names(values: object, name: str, known: Container[str]) -> list[Any]:
    """Return the entries of a list of columns; a text that is the name of one column is a list of that one.

    >>> column_names("age", "given", ["age", "sex"]), column_names(("age", "sex"), "given", ["age", "sex"])
    (['age'], ['age', 'sex'])
    """
    return [values] if isinstance(values, str) and values in known else checked_list(values, name, "columns")


def checked_ledger(ledger: object) -> None:
    """Refuse anything but an address or an opened ledger; the error does not show it: it may hold a password."""
    if not (ledger is None or isinstance(ledger, str) or hasattr(ledger, "charge")):
        raise InputError(f"ledger must be an address such as sqlite:///file.db, not {type(ledger).__name__}")


def described_options(choices: Mapping[str, tuple[str, Mapping[str, tuple[Any, str]]]]) -> str:
    """Return paragraphs of a docstring that describe choices and their options.

    ``choices`` maps a name to its description and options, each option to its default and meaning.

    >>> print(described_options({"pc": ("the PC algorithm", {"size": (2, "largest set")})}))
        ``pc``: the PC algorithm.
    <BLANKLINE>
        - ``size=2``: largest set.
    """
    paragraphs = []
    for name, (description, options) in choices.items():
        lines = [f"- ``{option}={default!r}``: {line}." for option, (default, line) in options.items()]
        listed = ["\n".join(fill(line, 112, subsequent_indent="  ") for line in lines)] if lines else []
        paragraphs += [fill(f"``{name}``: {description}.", 112), *listed]
    return indent("\n\n".join(paragraphs), "    ")


def refuse_unknown(what: str, options: Iterable[str], own: Iterable[str], shared: Iterable[str]) -> None:
    """Refuse an option that ``what`` does not take, with the nearest of its own and the shared ones.

    >>> refuse_unknown("kendall", ["eps"], [], ["epsilon", "delta"])
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: kendall has no option 'eps' (did you mean "epsilon"?); it has none
    """
    known = list(own)
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            hint = did_you_mean(option, known) or did_you_mean(option, shared)
            raise InputError(f"{what} has no option {option!r}{hint}; {has}")


def refuse_missing_epsilon(epsilon: object, what: str, options: Iterable[str], classical: str = "") -> None:
    """Refuse a call without an epsilon; an option that may have been meant is named, and the ``classical`` call."""
    if epsilon is not REQUIRED:
        return
    meant = [option for option in options if "epsilon" in did_you_mean(option, ["epsilon"])]
    hint = f", and there is no {meant[0]!r} (did you mean epsilon?)" if meant else ""
    without = f"; {classical} gives the classical answer, which is not private" if classical else ""
    raise InputError(
        f"{what} needs an epsilon{hint}: what the release may cost, smaller is safer, and "
        f"{spelled('--epsilon 0.5', 'epsilon=0.5')} is a start (half of a budget of 1){without}"
    )


def refuse_charge_without_epsilon(delta: float, ledger: object) -> None:
    """Refuse a delta or a ledger for an answer without privacy, to which nothing is charged."""
    if delta or ledger is not None:
        raise InputError(
            worded(
                "an answer without privacy (--no-privacy, --method pc) charges nothing: it goes with no --delta and "
                "no --ledger",
                "epsilon=None means no privacy: it goes with no delta and no ledger",
                "a desk gives no answer without privacy",
            )
        )


SMALLEST_PVALUE = 1e-300  # a smaller one is stated as this: no p-value is 0


def stated_pvalue(pvalue: float) -> float:
    """Return a p-value as it is stated in results: never 0, at least the smallest that is shown."""
    return max(float(pvalue), SMALLEST_PVALUE)
