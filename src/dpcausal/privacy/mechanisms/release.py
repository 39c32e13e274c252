"""Charge, then draw: the one order in which noise leaves the package.

``release`` and ``begin`` hand the event to the budget first. If that raises, no noise was drawn; if the
process dies in between, the charge stands.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeVar

from dpcausal.core.errors import InputError
from dpcausal.privacy.events import Event

Value = TypeVar("Value", contravariant=True)
Released = TypeVar("Released", covariant=True)
Session = TypeVar("Session", covariant=True)


class Charger(Protocol):
    """Anything that takes charges: a budget, a filter, a ledger. Raises ``BudgetError`` when it refuses."""

    def charge(self, event: Event, /) -> Any:
        """Record ``event``, or raise and record nothing."""


class Mechanism(Protocol[Value, Released]):
    """A frozen value with an event (what it costs) and a sample (the effect)."""

    def event(self, label: str) -> Event:
        """What a release costs, as data."""

    def sample(self, value: Value) -> Released:
        """One noisy answer."""


class Interactive(Protocol[Session]):
    """A mechanism that answers several questions for one charge."""

    def event(self, label: str) -> Event:
        """What the whole session costs, as data."""

    def start(self, threshold: float) -> Session:
        """A fresh session."""


def release(mechanism: Mechanism[Value, Released], budget: Charger, label: str, value: Value) -> Released:
    """Charge ``budget`` for one release of ``value`` through ``mechanism``, then draw it."""
    budget.charge(mechanism.event(label))
    return mechanism.sample(value)


def begin(mechanism: Interactive[Session], budget: Charger, label: str, threshold: float) -> Session:
    """Charge ``budget`` for a whole session of ``mechanism``, then start it."""
    budget.charge(mechanism.event(label))
    return mechanism.start(threshold)


def checked_positive(**numbers: float) -> None:
    """Refuse a public parameter that is not a finite number above zero."""
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a finite number above zero, not {value!r}")


def checked_size(size: int, name: str = "size") -> None:
    """Refuse a public count that is not an integer above zero."""
    if size != int(size) or size < 1:
        raise InputError(f"{name} must be an integer above zero, not {size!r}")
