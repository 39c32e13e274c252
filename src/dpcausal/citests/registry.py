"""Tests by name, with their options, and the choice that ``auto`` makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpcausal.citests.method import Method
from dpcausal.citests.question import Question
from dpcausal.citests.rank import KENDALL, SPEARMAN
from dpcausal.core.errors import InputError, did_you_mean


def _plain(method: Method) -> Callable[..., Method]:
    return lambda: method


MAKERS: dict[str, Callable[..., Method]] = {
    "kendall": _plain(KENDALL),
    "spearman": _plain(SPEARMAN),
}


def method_named(name: str, options: dict[str, Any]) -> Method:
    """The test of that name with these options."""
    if name not in MAKERS:
        known = ", ".join(["auto", *MAKERS])
        raise InputError(f"no test is called {name!r}{did_you_mean(name, MAKERS)}; there are {known}")
    try:
        return MAKERS[name](**options)
    except TypeError:
        raise InputError(f"{name} takes no option {', '.join(options)}") from None


def choose(question: Question, epsilon: float | None) -> tuple[str, str]:
    """(name, reason) from the schema and the budget alone.

    Ordered levels: kendall, whose noise does not grow with the number of conditioning cells and which looks in the
    one direction that ordered data usually depend in. Otherwise a test that needs no order.
    """
    if question.ordered:
        return "kendall", "chosen because the levels are ordered (or two), where it has the most power"
    if epsilon is None:
        return "g", "chosen because the levels have no order"
    return "measured", "chosen because the levels have no order"
