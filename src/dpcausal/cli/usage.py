"""The help page of a command, and the message of a refused command line.

A refusal says what was wrong, what was given, the nearest that exists, and what can be done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from dpcausal.core.errors import InputError, did_you_mean

# in help, before all others
FIRST: tuple[str, ...] = (
    "data",
    "x",
    "y",
    "given",
    "treatment",
    "outcome",
    "adjust",
    "schema",
    "epsilon",
    "delta",
    "tiers",
    "target",
)
FIRST += ("method", "ledger", "dataset", "out", "columns")
# the others in panels of their own, on a page with many: where the rows are, what is printed, and the rest
PANELS = {
    "Rows": (
        "unit",
        "rows_per_unit",
        "order_by",
        "codes",
        "code",
        "people",
        "source",
        "table",
        "desk",
        "explain",
        "encoding",
        "sheet",
    ),
    "More on the question and the method": (),
    "Output": ("show_open", "full", "as_json", "methods", "help"),
}
MANY_OPTIONS = 16


def panel_of(name: str) -> str | None:
    """Return in which panel of a help page an option stands; None for the first one.

    >>> panel_of("epsilon"), panel_of("sheet"), panel_of("max_order")
    (None, 'Rows', 'More on the question and the method')
    """
    if name in FIRST:
        return None
    return next((panel for panel, names in PANELS.items() if name in names), list(PANELS)[1])


def method_named(words: Sequence[str]) -> str | None:
    """Return the value of --method among the words of a command line that is not parsed yet.

    >>> method_named(["--method", "pc"]), method_named(["--method=pc", "--help"]), method_named(["--help"])
    ('pc', 'pc', None)
    """
    for i, word in enumerate(words):
        if word == "--method" and i + 1 < len(words):
            return words[i + 1]
        if word.startswith("--method="):
            return word.partition("=")[2]
    return None


_TYPED: list[str] = []  # the words of the command that runs


def typed_command() -> list[str]:
    """Return the words of the command that runs, as they were typed."""
    return ["dpcausal", *_TYPED]


class Command(TyperCommand):
    """A command that refuses a repeated option, where it takes one value, and shows options in panels."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page, the options that most people need first and the others in panels."""
        places = [*FIRST, *(name for names in PANELS.values() for name in names)]
        panels: list[str | None] = [None, *PANELS]

        def rank(one: Any) -> tuple[int, int]:
            return panels.index(panel_of(one.name)), places.index(one.name) if one.name in places else len(
                places
            )

        self.params.sort(key=rank)
        if len(self.params) >= MANY_OPTIONS:
            for one in self.params:
                if panel_of(one.name) is not None:
                    one.rich_help_panel = panel_of(one.name)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command; refuse a repeated option."""
        ctx.meta["words"] = list(args)
        _TYPED[:] = [str(ctx.info_name), *args]
        for option in self.params:
            names = [name for name in option.opts if name.startswith("--")]
            if getattr(option, "multiple", False) or getattr(option, "is_flag", False):
                continue
            count = sum(word.partition("=")[0] in names for word in args)
            if count > 1:
                raise InputError(f"{names[0]} is given {count} times, and takes one value: give it once")
        return super().parse_args(ctx, args)


_NO_NUMBER = re.compile(r"Invalid value for '(--[\w-]+)'.*(?:valid (?:number|integer|float)|not a valid)")
_NO_COMMAND = re.compile(r"No such command '(.*?)'\.")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.*)\)")
_TAKES = {  # option -> what to do about a word too many after it
    "--given": "--given takes columns with commas and no blanks: --given {commas}",
    "--pair": "--pair takes two columns with a comma and no blanks: --pair {commas}",
    "--tiers": "--tiers takes one text in quotes, commas within a tier and semicolons between: --tiers 'a,b;c'",
    "--required": "repeat --required for every edge",
    "--forbidden": "repeat --forbidden for every edge",
    "--x": "--x takes one column; a name that holds blanks goes in quotes, and further columns to --given a,b",
    "--y": "--y takes one column; a name that holds blanks goes in quotes, and further columns to --given a,b",
}


def _no_number(message: str, words: list[str]) -> str | None:
    """Return the message for a word that is no number, with advice on commas; None for another fault.

    >>> wanted = "Invalid value for '--epsilon': Input should be a valid number"
    >>> _no_number(wanted, ["test", "--epsilon", "0,5"])
    "--epsilon must be a number, not '0,5'; write it with a point and without separators: 0.5, 1000"
    >>> _no_number(wanted.replace("number", "integer").replace("epsilon", "rows"), ["plan", "--rows", "8,000"])
    "--rows must be a whole number, not '8,000'; write it without separators: 8000"
    """
    found = _NO_NUMBER.match(message)
    given = [value for name, value in pairwise(words) if found and name == found[1]]
    given += [word.partition("=")[2] for word in words if found and word.startswith(f"{found[1]}=")]
    if not found or not given:
        return None
    whole = "integer" in message
    digits = re.sub("[,._' ]", "", given[-1])
    remark = ""
    if whole and digits.isdecimal() and re.fullmatch(r"\d{1,3}([,._' ]\d{3})+", given[-1]):
        remark = f"; write it without separators: {digits}"
    elif not whole and "," in given[-1]:
        remark = "; write it with a point and without separators: 0.5, 1000"
    return f"{found[1]} must be {'a whole number' if whole else 'a number'}, not {given[-1]!r}{remark}"


def _too_many(message: str, words: list[str]) -> str | None:
    """Return the message for a word too many, with what the option before it takes; None for another fault.

    >>> _too_many("Got unexpected extra argument(s) (sex)", ["test", "p.csv", "--given", "age", "sex"])
    'Got unexpected extra argument (sex); --given takes columns with commas and no blanks: --given age,sex'
    """
    found = _EXTRA.match(message)
    if not found:
        return None
    last = found[1].split()[-1] if found[1].split() else ""
    at = max((i for i, word in enumerate(words) if word == last), default=len(words))
    start = max((i for i in range(at) if words[i].startswith("--")), default=0)
    option, _, inside = words[start].partition("=")
    values = [*([inside] if inside else []), *words[start + 1 : at + 1]]
    if option not in _TAKES:
        return None
    commas = ",".join(name for value in values for name in value.split(",") if name)
    plural = "s" if len(found[1].split()) > 1 else ""
    return f"Got unexpected extra argument{plural} ({found[1]}); {_TAKES[option].format(commas=commas)}"


def _hint(message: str) -> str:
    """Return advice on a usage error where a command helps.

    >>> _hint("Missing option '--schema'.")
    ' Draft one with: dpcausal schema FILE > schema.toml'
    """
    lacks_schema = message.startswith("Missing option '--schema'")
    return " Draft one with: dpcausal schema FILE > schema.toml" if lacks_schema else ""


def _with_nearest(error: Any) -> str:
    """Return the message of a usage error; for an unknown command or option, with the nearest name."""
    message: str = error.format_message()
    command = error.ctx.command if getattr(error, "ctx", None) is not None else None
    if type(error).__name__ == "NoSuchOption" and command is not None:
        options = [
            name.lstrip("-") for option in command.params for name in option.opts if name.startswith("--")
        ]
        hint = did_you_mean(error.option_name.lstrip("-"), options).replace('"', '"--', 1)
        return f"No such option: {error.option_name}{hint}"
    if (found := _NO_COMMAND.match(message)) and command is not None:
        hint = did_you_mean(found[1], command.commands)
        return f"No such command {found[1]!r}{hint or '; there are ' + ', '.join(command.commands)}"
    return message


def usage_words(error: Any, words: list[str]) -> str:
    """Return one line for a usage error of the command line ``words``."""
    message = _with_nearest(error)
    return _no_number(message, words) or _too_many(message, words) or f"{message}{_hint(message)}"
