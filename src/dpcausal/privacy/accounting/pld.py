"""Numerical composition of a plan fixed in advance, by privacy loss distributions.

**Formula.** delta(epsilon) = E[max(0, 1 - e^(epsilon - L))] where L is the sum of the events' privacy losses;
the law of L is convolved numerically (``losses.py``). Losses are rounded on the pessimistic side, and what the
convolution may err by is proved and counted.

**Guarantee** only for a ``FixedPlan``: all events, with all their parameters, chosen before the first answer is
seen. Choosing the next noise or the number of answers from earlier answers makes this number wrong; use the
filter there.

Which distribution stands for which event (``pld.proof.md``):

    laplace, integer l1 sensitivity      discrete Laplace: one dimension dominates every vector shift
    gaussian, l2 sensitivity 1           discrete Gaussian: only one coordinate can move, so it is exact
    pure, approximate, other laplace     randomised response that fails with probability delta ([1] Thm 3.1)
    zcdp, bounded-range, other gaussian  no single distribution: sum of rho, with its own share of delta

``bounded-range`` events are tried both ways. The answer is the least of all valid bounds.

**Cost** about 0.1 s for 1,000 equal events, some seconds for 300 different ones.
**Edge cases**: below a delta of 1e-60 only the closed formulas are used.

References: [1] Kairouz, Oh & Viswanath 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import ONE_ROW, Composition, FloorReleased, PrivacyStatement
from dpcausal.privacy.accounting.composition import ZERO, add, basic, concentrated, exact
from dpcausal.privacy.accounting.losses import LossLaw, epsilon_of_sum
from dpcausal.privacy.events import (
    ApproximateEvent,
    BoundedRangeEvent,
    ConcentratedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    event_from_dict,
)

SMALLEST_DELTA = 1e-60
_SHARES = (0.5, 0.1, 0.9)  # of delta for the sum of rho, where a plan needs both bounds
_LARGEST_SIGMA = 20_000.0  # beyond, the table of outcomes is too long and zCDP as tight
_LARGEST_SHIFT = 1_000_000  # the same; a Laplace release is then taken for any other of its epsilon


@proved("pld.proof.md")
@dataclass(frozen=True)
class FixedPlan:
    """Events fixed in advance, to be charged together or not at all.

    >>> laplace = LaplaceEvent(label="count", neighbours="add-remove", sensitivity=1, scale=100)
    >>> plan = FixedPlan((laplace,) * 1000)
    >>> {name: round(epsilon, 2) for name, epsilon in plan.compare(1e-6).items()}
    {'basic': 10.0, 'zcdp': 1.47, 'pld': 1.37}
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))
        if not self.events:
            raise InputError("a plan needs at least one event")
        if len({event.neighbours for event in self.events}) > 1:
            raise InputError("all events of a plan must have the same neighbouring relation")

    def compare(self, delta: float) -> dict[str, float]:
        """Return epsilon at ``delta`` by each accounting method; ``inf`` where a method gives none."""
        _check_delta(delta)
        sum_epsilon, sum_delta = basic(self.events)
        return {
            "basic": sum_epsilon if sum_delta <= delta else math.inf,
            "zcdp": concentrated(self.events, delta),
            "pld": _numerical(self.events, delta) if delta >= SMALLEST_DELTA else math.inf,
        }

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon that any of the methods proves at ``delta``."""
        return min(self.compare(delta).values())

    def event(self, delta: float, label: str) -> ApproximateEvent:
        """Return the whole plan as one (epsilon, delta) event, for a budget that reserves ``delta``."""
        return ApproximateEvent(
            label=label,
            neighbours=self.events[0].neighbours,
            mechanism=f"plan of {len(self.events)} events, numerical composition",
            cost=self.epsilon(delta),
            slack=delta,
        )


def _check_delta(delta: object) -> None:
    """Refuse a delta outside [0, 1)."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InputError(f"delta must be zero or more and below 1, not {delta!r}")


def _has_distribution(event: Event) -> bool:
    """Return whether a single pair of laws is known to dominate ``event``."""
    if isinstance(event, GaussianEvent):
        return event.sensitivity == 1 and event.sigma <= _LARGEST_SIGMA
    return not isinstance(event, ConcentratedEvent)


@proved("pld.proof.md")
def _distribution_of(event: Event) -> LossLaw | None:
    """Return the privacy loss distribution of a pair that dominates ``event``; None if there is none."""
    if not _has_distribution(event):
        return None
    if (
        isinstance(event, LaplaceEvent)
        and event.sensitivity == int(event.sensitivity)
        and 1 <= event.sensitivity <= _LARGEST_SHIFT
    ):
        shift, scale = int(event.sensitivity), event.scale
        return _laplace(shift, scale)
    if isinstance(event, GaussianEvent):
        return _gaussian(event.sigma)
    return _response(event.epsilon, event.delta)


@proved("pld.proof.md")
def _laplace(shift: int, scale: float) -> LossLaw:
    """Return the loss distribution of discrete Laplace noise on an integer that moves by ``shift``.

    >>> law = _laplace(2, 5.0)
    >>> law.losses.tolist(), round(float(law.masses.sum()), 12)
    ([0.4, 0.0, -0.4], 1.0)
    """
    a = math.exp(-1 / scale)
    x = np.arange(shift + 1)
    masses = -math.expm1(-1 / scale) / (1 + a) * np.exp(-x / scale)
    masses[0] = 1 / (1 + a)
    masses[-1] = math.exp(-shift / scale) / (1 + a)
    return LossLaw((shift - 2 * x) / scale, masses)


@proved("pld.proof.md")
def _gaussian(sigma: float) -> LossLaw:
    """Return the loss distribution of discrete Gaussian noise on an integer that moves by 1."""
    most = math.ceil(39 * sigma) + 1  # beyond, less mass than ``UNDERFLOW``
    z = np.arange(-most, most + 1)
    masses = np.exp(-((z / sigma) ** 2) / 2)
    return LossLaw((1 - 2 * z) / (2 * sigma**2), masses / masses.sum())


@proved("pld.proof.md")
def _response(epsilon: float, delta: float) -> LossLaw:
    """Return the loss distribution of (epsilon, delta) randomised response.

    >>> law = _response(0.1, 0.0)
    >>> round(float((law.masses * (law.losses > 0)).sum()), 6)
    0.524979
    """
    losses = np.array([epsilon, -epsilon])
    return LossLaw(losses, (1 - delta) / (1 + np.exp(-losses)), delta)


@proved("pld.proof.md")
def _composed(events: Sequence[Event], delta: float) -> float:
    """Return the epsilon at ``delta`` of events that all have a loss distribution."""
    groups: dict[tuple[tuple[str, Any], ...], list[Event]] = {}
    for event in events:
        groups.setdefault(_parameters(event), []).append(event)
    laws = []
    for group in groups.values():
        law = _distribution_of(group[0])
        if law is None or not np.isfinite(law.losses).all():
            return math.inf
        laws.append(replace(law, count=len(group)))
    return epsilon_of_sum(laws, delta)


def _parameters(event: Event) -> tuple[tuple[str, Any], ...]:
    """Return what determines an event's distribution: its kind and parameters, without the label."""
    return tuple(sorted((name, value) for name, value in event.to_dict().items() if name != "label"))


@proved("pld.proof.md")
def _numerical(events: Sequence[Event], delta: float) -> float:
    """Return the best epsilon at ``delta``: loss distributions where they exist, rho for the rest."""
    without = [event for event in events if not _has_distribution(event)]
    ranged: list[Event] = [event for event in events if isinstance(event, BoundedRangeEvent)]
    best = math.inf
    for summed in [without, without + ranged] if ranged else [without]:
        kept = set(map(id, summed))
        numerical = [event for event in events if id(event) not in kept]
        if not numerical:
            best = min(best, concentrated(summed, delta))
        elif not summed:
            best = min(best, _composed(numerical, delta))
        else:
            for share in _SHARES:
                by_rho = concentrated(summed, share * delta)
                best = min(best, by_rho + _composed(numerical, (1 - share) * delta))
    return best


@proved("pld.proof.md")
def compose(releases: Iterable[PrivacyStatement | Event], *, delta: float) -> float:
    """Return the epsilon at ``delta`` of several releases from the same rows together.

    **Guarantee**: all releases together are (epsilon, delta)-DP for the epsilon returned, provided that every one of
    them was fixed before the first answer was seen: which releases, how many, and what each may cost. Whether one
    was asked for because of another's answer can't be checked here; use a ledger, or the sums, where it was. Privacy
    loss distributions are composed numerically, on the safe side; the answer is never more than the plain sum.

    Parameters
    ----------
    releases : iterable of PrivacyStatement or Event
        The statements of the releases (``result.privacy``, or ``PrivacyStatement.from_json``), or events of
        ``dpcausal.privacy.events`` for releases that are still planned. All must be for the same neighbours and protect
        the same unit.
    delta : float
        The probability, from 0 to below 1, with which the guarantee may fail. 0 allows only the sum of epsilons.

    Returns
    -------
    float
        Epsilon, without a unit, as in ``discover(epsilon=...)``; 0 where nothing was charged.

    Raises
    ------
    InputError
        If there is no release, one is not private or was charged step by step as answers came in, neighbours or units
        differ, or no epsilon holds at this ``delta``.

    Examples
    --------
    Sixteen tests that were all decided on beforehand:

    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(5_000, seed=1)
    >>> pairs = [(x, y) for x in ("smoke", "lung", "bronc", "dysp") for y in ("tub", "asia", "xray", "either")]
    >>> tests = [dc.ci_test(data, x, y, method="kendall", epsilon=0.1) for x, y in pairs]
    >>> statements = [test.privacy for test in tests]
    >>> round(dc.compose(statements, delta=0.0), 3), round(dc.compose(statements, delta=1e-5), 2)
    (1.6, 1.39)
    """
    given = list(releases)
    if not given:
        raise InputError("compose needs at least one release")
    _check_delta(delta)
    events: list[Event] = []
    units = set()
    sum_epsilon, sum_delta = ZERO, ZERO
    for release in given:
        if isinstance(release, PrivacyStatement):
            events += _fixed_events(release)
        elif isinstance(release, Event):
            events.append(release)
        else:
            raise InputError(f"compose takes privacy statements and events, not {type(release).__name__}")
        units.add((release.neighbours, release.unit if isinstance(release, PrivacyStatement) else ONE_ROW))
        sum_epsilon = add(sum_epsilon, exact(release.epsilon or 0.0))
        sum_delta = add(sum_delta, exact(release.delta or 0.0))
    if len(units) > 1:
        raise InputError("only releases for the same neighbours and the same unit can be composed")
    if not events:
        return 0.0
    sums = float(sum_epsilon) if sum_delta <= exact(delta) else math.inf
    epsilon = min(sums, FixedPlan(tuple(events)).epsilon(delta))
    if not math.isfinite(epsilon):
        raise InputError(f"no epsilon holds at delta {delta:g}: give a larger delta")
    return epsilon


@proved("pld.proof.md")
def _fixed_events(statement: PrivacyStatement) -> list[Event]:
    """Return the events of a statement whose costs were fixed beforehand; refuse others.

    Of a single event that is everything. Of several the costs were fixed, but the grid of a later one may follow an
    earlier answer (as in the ``moments`` method): of these only the costs are used. Raises ``InputError`` if the
    statement is not private, or its costs were chosen as answers came in.
    """
    if not statement.private:
        raise InputError("a release that is not private can't be composed: its statement says so")
    if statement.composition not in (Composition.FIXED_EPSILON, Composition.FIXED_RHO):
        raise InputError(
            "a release whose costs were not all fixed beforehand can't be composed: add up epsilon and delta instead"
        )
    if any(isinstance(fact, FloorReleased) for fact in statement.public):
        raise InputError(
            "a screening planned from a floor that it released can't be composed: add up epsilon and delta instead"
        )
    events = [event_from_dict(event) for event in statement.events]
    return events if len(events) < 2 else [_cost_alone(event) for event in events]


def _cost_alone(event: Event) -> Event:
    """Return an event with the same cost but without the grid that it was drawn on."""
    if isinstance(event, LaplaceEvent):
        return PureEvent(
            label=event.label, neighbours=event.neighbours, mechanism="laplace", cost=event.epsilon
        )
    if isinstance(event, GaussianEvent):
        return ConcentratedEvent(
            label=event.label, neighbours=event.neighbours, mechanism="gaussian", cost=event.rho
        )
    return event
