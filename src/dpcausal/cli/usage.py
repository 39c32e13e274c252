"""What a refused command line is told: what was wrong, what was given, the nearest that exists, what can be done."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from dpcausal.core.errors import BudgetError, did_you_mean


def budget_hint(error: BudgetError) -> str:
    """What can be done about a refusal.

    >>> budget_hint(BudgetError.of("budget", "epsilon", 0.5, 1.0, 0.0))
    '; nothing is left: a new budget is the decision of whoever is answerable for the data'
    """
    decision = "a new budget is the decision of whoever is answerable for the data"
    if error.left > 0:
        return f"; ask for at most {error.left:.6g} of {error.unit}; {decision}"
    return f"; nothing is left: {decision}"


_NO_NUMBER = re.compile(r"Invalid value for '(--[\w-]+)'.*(?:valid (?:number|integer|float)|not a valid)")


_NO_COMMAND = re.compile(r"No such command '(.*?)'\.")


def _no_number(message: str, words: list[str]) -> str | None:
    """The message with what was given, where a number was wanted; a comma gets a remark.

    >>> wanted = "Invalid value for '--epsilon': Input should be a valid number"
    >>> _no_number(wanted, ["test", "--epsilon", "0,5"])
    "--epsilon must be a number, not '0,5'; write it with a point and without separators: 0.5, 1000"
    """
    found = _NO_NUMBER.match(message)
    given = [value for name, value in pairwise(words) if found and name == found[1]]
    given += [word.partition("=")[2] for word in words if found and word.startswith(f"{found[1]}=")]
    if not found or not given:
        return None
    kind = "a whole number" if "integer" in message else "a number"
    comma = "; write it with a point and without separators: 0.5, 1000" if "," in given[-1] else ""
    return f"{found[1]} must be {kind}, not {given[-1]!r}{comma}"


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
    return _no_number(said, words) or f"{said}{_hint(said)}"
