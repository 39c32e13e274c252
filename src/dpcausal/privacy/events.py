"""What a mechanism did, as immutable data: the only thing accounting and the ledger ever see.

An event is emitted before its noise is drawn, holds only public parameters, and its meaning never changes.
Each knows three upper bounds on its own cost: pure ``epsilon`` (``inf`` where there is none), ``delta`` that
goes with it, and ``rho`` (zero-concentrated, ``inf`` where there is none).

References: [1] Bun & Steinke 2016 (zCDP); [2] Cesar & Rogers 2021 (bounded range);
[3] Canonne, Kamath & Steinke 2020 (discrete Gaussian).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved


def _positive(name: str, value: float) -> None:
    """Refuse anything but a finite number above zero."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above zero, not {value!r}")


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events: what for (``label``) and under which neighbouring relation."""

    kind: ClassVar[str] = "abstract"
    label: str
    neighbours: Neighbours

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))

    @property
    def epsilon(self) -> float:
        """Smallest epsilon that this event is known to satisfy together with ``delta``."""
        raise AttributeError(f"{type(self).__name__} states no epsilon")

    @property
    def delta(self) -> float:
        """The delta that goes with ``epsilon``; 0 for pure events."""
        return 0.0

    @property
    def rho(self) -> float:
        """Cost in zero-concentrated DP; epsilon^2/2 for a pure event ([1] Prop. 1.4)."""
        return self.epsilon**2 / 2 if self.delta == 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; ``event_from_dict`` reads it back."""
        return {"kind": self.kind, **asdict(self), "neighbours": self.neighbours.value}


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class PureEvent(Event):
    """Any epsilon-DP mechanism, by name."""

    kind: ClassVar[str] = "pure"
    mechanism: str
    cost: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("epsilon", self.cost)

    @property
    def epsilon(self) -> float:
        """The stated epsilon."""
        return self.cost


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class BoundedRangeEvent(PureEvent):
    """An epsilon-bounded-range mechanism (exponential, Gumbel top-k): rho = epsilon^2/8 ([2] Lemma 3.4)."""

    kind: ClassVar[str] = "bounded-range"

    @property
    def rho(self) -> float:
        """epsilon^2/8, the rho of an epsilon-bounded-range mechanism."""
        return self.cost**2 / 8


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class LaplaceEvent(Event):
    """Discrete Laplace noise of integer grid scale ``scale`` on values of l1 sensitivity ``sensitivity``."""

    kind: ClassVar[str] = "laplace"
    sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("sensitivity", self.sensitivity)
        _positive("scale", self.scale)

    @property
    def epsilon(self) -> float:
        """The pure epsilon: sensitivity/scale."""
        return self.sensitivity / self.scale


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class GaussianEvent(Event):
    """Discrete Gaussian noise of standard deviation parameter ``sigma``, l2 sensitivity ``sensitivity``."""

    kind: ClassVar[str] = "gaussian"
    sensitivity: float
    sigma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("sensitivity", self.sensitivity)
        _positive("sigma", self.sigma)

    @property
    def epsilon(self) -> float:
        """Infinite: there is no pure epsilon."""
        return math.inf

    @property
    def rho(self) -> float:
        """The rho of Gaussian noise: (sensitivity/sigma)^2/2."""
        return (self.sensitivity / self.sigma) ** 2 / 2  # [3] Thm 4


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class ConcentratedEvent(Event):
    """Any rho-zCDP mechanism, by name."""

    kind: ClassVar[str] = "zcdp"
    mechanism: str
    cost: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("rho", self.cost)

    @property
    def epsilon(self) -> float:
        """Infinite: there is no pure epsilon."""
        return math.inf

    @property
    def rho(self) -> float:
        """The stated rho."""
        return self.cost


@proved("events.proof.md")
@dataclass(frozen=True, kw_only=True)
class ApproximateEvent(Event):
    """Any (epsilon, delta)-DP mechanism with delta > 0, by name."""

    kind: ClassVar[str] = "approximate"
    mechanism: str
    cost: float
    slack: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive("epsilon", self.cost)
        if not 0 < self.slack < 1:
            raise InputError(f"delta must lie strictly between 0 and 1, not {self.slack!r}")

    @property
    def epsilon(self) -> float:
        """The stated epsilon."""
        return self.cost

    @property
    def delta(self) -> float:
        """The stated delta."""
        return self.slack


KINDS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        PureEvent,
        BoundedRangeEvent,
        LaplaceEvent,
        GaussianEvent,
        ConcentratedEvent,
        ApproximateEvent,
    )
}


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Return the event that ``to_dict`` wrote.

    >>> event = LaplaceEvent(label="count", neighbours="add-remove", sensitivity=1, scale=10)
    >>> event_from_dict(event.to_dict()) == event, event.epsilon
    (True, 0.1)
    """
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind not in KINDS:
        raise InputError(f"unknown kind of event {kind!r}: written by a newer version?")
    try:
        return KINDS[kind](**fields)
    except TypeError as error:
        raise InputError(f"an event of kind {kind!r} that can't be read: {error}") from None
