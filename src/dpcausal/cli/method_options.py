"""``--method NAME`` and ``--option NAME=VALUE``: methods and tests with their options, in help and on the command line.

What an option takes is its type in Python, so that nothing is listed twice: ``int | None`` takes a whole number or
none, ``tuple[float, float]`` two numbers with a comma, ``Literal["a", "b"]`` one of these words. A value is converted
before a file is read; what else must hold of it the method checks itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from dpcausal.cli.usage import Command, method_named
from dpcausal.core.arguments import refuse_unknown
from dpcausal.core.errors import InputError

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the method (--method NAME --help lists them); repeat it for more.",
    ),
]


def _alternatives(hint: Any) -> list[Any]:
    """Return the alternative types of a type annotation; each word of a ``Literal`` is one.

    >>> _alternatives(Literal["a word of its own"] | int | None)
    ['a word of its own', <class 'int'>, <class 'NoneType'>]
    """
    origin = get_origin(hint)
    if origin is Annotated:
        return _alternatives(get_args(hint)[0])
    if origin in (Union, UnionType):
        return [one for part in get_args(hint) for one in _alternatives(part)]
    if origin is Literal:
        return list(get_args(hint))
    return [hint]


def _number(text: str) -> float | None:
    """Return the finite number that a text spells; None if it spells none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _several(text: str, hint: Any) -> tuple[Any, ...] | None:
    """Parse texts with commas between them as a type of tuple or list; return None where they do not fit."""
    inside = get_args(hint) or (str,)
    parts = [part.strip() for part in text.split(",")]
    if get_origin(hint) is tuple and Ellipsis not in inside and len(parts) != len(inside):
        return None
    kinds = inside if len(inside) == len(parts) and Ellipsis not in inside else [inside[0]] * len(parts)
    found = [_converted(part, kind) for part, kind in zip(parts, kinds, strict=True)]
    return None if None in found else tuple(value for one in found if one is not None for value in one)


def _converted(text: str, hint: Any) -> tuple[Any] | None:
    """Parse a text by the first alternative of a type that fits; return (value,), or None where none fits."""
    kinds = _alternatives(hint)
    if NoneType in kinds and text.lower() == "none":
        return (None,)
    if text in kinds:
        return (text,)
    if bool in kinds and text.lower() in ("true", "false"):
        return (text.lower() == "true",)
    if int in kinds and text.lstrip("+-").isdecimal():
        return (int(text),)
    number = _number(text)
    if float in kinds and number is not None:
        return (number,)
    for kind in kinds:
        if _is_sequence(kind):
            several = _several(text, kind)
            if several is not None:
                return (several,)
    return (text,) if str in kinds else None


def _is_sequence(kind: Any) -> bool:
    """Return whether a type annotation is that of a sequence."""
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def takes(hint: Any) -> str:
    """Describe the values that an option of this type takes.

    >>> takes(int | None), takes(tuple[float, float]), takes(Literal["values", "table"])
    ('a whole number or none', '2 numbers with a comma', 'values or table')
    """
    words = []
    for kind in _alternatives(hint):
        if kind is NoneType:
            continue
        if isinstance(kind, str):
            words.append(kind)
        elif _is_sequence(kind):
            inside = get_args(kind)
            count = "" if Ellipsis in inside or get_origin(kind) is not tuple else f"{len(inside)} "
            words.append(
                f"{count}{'numbers' if inside and inside[0] in (int, float) else 'words'} with a comma"
            )
        else:
            plain = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
            words.append(plain.get(kind, "a Python object"))
    if NoneType in _alternatives(hint):
        words.append("none")
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def parse_options(texts: Sequence[str] | None, hints: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` options of ``what``, whose types are ``hints``; refuse one that does not fit.

    >>> parse_options(["hits=20", "margins=0.5, 1"], {"hits": int | None, "margins": tuple[float, float]}, "x")
    {'hits': 20, 'margins': (0.5, 1.0)}
    """
    found: dict[str, Any] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.replace("-", "_")
        if not equals or not name:
            raise InputError(f"--option takes NAME=VALUE, not {text!r}")
        refuse_unknown(what, [name], hints, [])
        if name in found:
            raise InputError(f"--option {name} was given twice: {found[name]!r} and {value!r}")
        one = _converted(value, hints[name])
        if one is None:
            raise InputError(f"--option {name} takes {takes(hints[name])}, not {value!r}")
        found[name] = one[0]
    return found


def types_of(method: str, texts: Sequence[str] | None) -> dict[str, Any]:
    """Return the types of the options of a method of discovery, and of the test that it asks.

    ``auto`` takes what one of the methods takes that it may choose; the method refuses what is not its own.
    """
    from dpcausal.citests.registry import TESTS, class_named
    from dpcausal.discovery.discover import METHODS, method_named

    if method == "auto":
        return {**METHODS["measured"].option_types, **METHODS["moments"].option_types}
    chosen = method_named(method)
    found = chosen.option_types
    if not chosen.passes_options:
        return found
    named = [
        text.partition("=")[2].strip() for text in texts or [] if text.partition("=")[0].strip() == "test"
    ]
    inner = (
        [class_named(named[-1])] if named and named[-1] not in ("auto", "moments") else list(TESTS.values())
    )
    for test in inner:
        found = {**_types_of_fields(test), **found}
    return found


def _types_of_fields(test: Any) -> dict[str, Any]:
    """Return the types of the options of a class of tests."""
    hints = get_type_hints(test, include_extras=True)
    return {option.name: hints[option.name] for option in test.options()}


def types_of_test(method: str) -> dict[str, Any]:
    """Return the types of the options of a test; of ``auto``, those of every test that it may choose."""
    from dpcausal.citests.gcm import Gcm
    from dpcausal.citests.measured import Measured
    from dpcausal.citests.rank import KendallTest
    from dpcausal.citests.registry import class_named

    found: dict[str, Any] = {}
    for test in (Measured, Gcm, KendallTest) if method == "auto" else (class_named(method),):
        found |= _types_of_fields(test)
    if "test" in found:  # a test of parts: by its name
        found["test"] = str
    return found


def default_word(value: Any) -> str:
    """Return a default value as it is written after ``--option NAME=``.

    >>> default_word((0.1, 0.1)), default_word(True), default_word(None)
    ('0.1,0.1', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(default_word, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Choice:
    """A value of --method: its description, and (name, default, description, type) of each option."""

    does: str
    options: tuple[tuple[str, Any, str, Any], ...] = ()

    def paragraph(self, name: str) -> str:
        """Return the help of a method: its description, then a line for each option.

        >>> print(Choice("asks", (("hits", None, "most pairs to look at twice", int | None),)).paragraph("x"))
        x: asks
          hits=none: most pairs to look at twice (a whole number or none)
        """
        lines = [
            f"  {option}={default_word(default) or 'none'}: {line} ({takes(hint)})"
            for option, default, line, hint in self.options
        ]
        return "\n".join([f"{name}: {self.does}", *lines])


Choices = Callable[[], dict[str, Choice]]


class MethodsCommand(Command):
    """A command whose help lists all methods, and after --method NAME the options of that one."""

    choices: Choices
    page: Callable[[], str]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page of a command that has methods."""
        self.help = self.page()
        super().format_help(ctx, formatter)
        name, known = method_named(ctx.meta.get("words", ())), self.choices()
        if name in known:
            typer.echo(f"--option takes, for {known[name].paragraph(name)}")


def help_methods(choices: Choices) -> Any:
    """Return the option --help-methods, which prints every method with its options and exits."""

    def listed(value: bool) -> None:
        if value:
            typer.echo("\n\n".join(one.paragraph(name) for name, one in choices().items()))
            raise typer.Exit

    return typer.Option(
        "--help-methods", help="List the methods with their options.", is_eager=True, callback=listed
    )
