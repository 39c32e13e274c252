"""What a refused command line is told: what was wrong, what was given, the nearest that exists, what can be done."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from dpcausal.core.errors import did_you_mean

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
    """The message with what was given, where a number was wanted; a comma gets a remark.

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
    """The message for a word too many, with what the option before it takes.

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
    """What to do about a usage error, where a command of ours helps.

    >>> _hint("Missing option '--schema'.")
    ' Draft one with: dpcausal schema FILE > schema.toml'
    """
    lacks_schema = message.startswith("Missing option '--schema'")
    return " Draft one with: dpcausal schema FILE > schema.toml" if lacks_schema else ""


def _with_nearest(error: Any) -> str:
    """The message of a usage error; for a command or an option that is not there, with the nearest that is."""
    said: str = error.format_message()
    command = error.ctx.command if getattr(error, "ctx", None) is not None else None
    if type(error).__name__ == "NoSuchOption" and command is not None:
        options = [
            name.lstrip("-") for option in command.params for name in option.opts if name.startswith("--")
        ]
        hint = did_you_mean(error.option_name.lstrip("-"), options).replace('"', '"--', 1)
        return f"No such option: {error.option_name}{hint}"
    if (found := _NO_COMMAND.match(said)) and command is not None:
        hint = did_you_mean(found[1], command.commands)
        return f"No such command {found[1]!r}{hint or '; there are ' + ', '.join(command.commands)}"
    return said


def usage_words(error: Any, words: list[str]) -> str:
    """One line for a usage error of the command line ``words``."""
    said = _with_nearest(error)
    return _no_number(said, words) or _too_many(said, words) or f"{said}{_hint(said)}"
