"""Numerical composition of a plan fixed in advance, by privacy loss distributions.

**Formula.** delta(epsilon) = E[max(0, 1 - e^(epsilon - L))] where L is the sum of the events' privacy losses;
the law of L is convolved numerically (dp-accounting). Losses are rounded on the pessimistic side; the
convolution itself (FFT) is not, so ``CONVOLUTION_ERROR`` per event is taken off delta first.

**Guarantee** only for a ``FixedPlan``: all events, with all their parameters, chosen before the first answer is
seen. Choosing the next noise or the number of answers from earlier answers makes this number wrong; use the
filter there.

Which distribution stands for which event (``pld.proof.md``):

    laplace, integer l1 sensitivity      discrete Laplace: one dimension dominates every vector shift
    gaussian, l2 sensitivity 1           discrete Gaussian: only one coordinate can move, so it is exact
    pure, approximate, other laplace     randomised response that fails with probability delta ([1] Thm 3.1)
    zcdp, bounded-range, other gaussian  no single distribution: sum of rho, with its own share of delta

``bounded-range`` events are tried both ways. The answer is the least of all valid bounds.

**Cost** about 0.1 s for 1,000 equal events, 1 s for 300 different ones; the first call imports
dp-accounting (3 s).
**Edge cases**: where delta is not well above the convolution's own error, only the closed formulas are used.

References: [1] Kairouz, Oh & Viswanath 2015; [2] Doroshenko et al. 2022 (connect the dots).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import ONE_ROW, Composition, PrivacyStatement, PublicKind
from dpcausal.privacy.accounting.composition import ZERO, add, basic, concentrated, exact
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

SMALLEST_DELTA = 1e-12
CONVOLUTION_ERROR = 1e-15  # of delta, per event; 30 times what comparison with exact decimals showed
_SHARES = (0.5, 0.1, 0.9)  # of delta for the sum of rho, where a plan needs both bounds
_LARGEST_SIGMA = 20_000.0  # beyond, the table of outcomes is too long and zCDP as tight


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
        """epsilon at ``delta`` by each method; ``inf`` where a method can't say."""
        _check_delta(delta)
        sum_epsilon, sum_delta = basic(self.events)
        return {
            "basic": sum_epsilon if sum_delta <= delta else math.inf,
            "zcdp": concentrated(self.events, delta),
            "pld": _numerical(self.events, delta) if delta >= SMALLEST_DELTA else math.inf,
        }

    def epsilon(self, delta: float) -> float:
        """Least epsilon that any of the methods proves at ``delta``."""
        return min(self.compare(delta).values())

    def event(self, delta: float, label: str) -> ApproximateEvent:
        """The whole plan as one (epsilon, delta) event, for a budget that has ``delta`` in reserve."""
        return ApproximateEvent(
            label=label,
            neighbours=self.events[0].neighbours,
            mechanism=f"plan of {len(self.events)} events, numerical composition",
            cost=self.epsilon(delta),
            slack=delta,
        )


def _check_delta(delta: object) -> None:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InputError(f"delta must be zero or more and below 1, not {delta!r}")


@proved("pld.proof.md")
def _distribution_of(event: Event) -> Callable[[float], Any] | None:
    """The constructor, given a grid, of a distribution that dominates ``event``; None if there is none."""
    from dp_accounting.pld import privacy_loss_distribution as library

    if isinstance(event, LaplaceEvent) and event.sensitivity == int(event.sensitivity):
        shift, scale = int(event.sensitivity), event.scale
        return lambda grid: library.from_discrete_laplace_mechanism(
            1 / scale, shift, value_discretization_interval=grid, use_connect_dots=True
        )
    if isinstance(event, GaussianEvent) and event.sensitivity == 1 and event.sigma <= _LARGEST_SIGMA:
        sigma = event.sigma
        return lambda grid: library.from_discrete_gaussian_mechanism(
            sigma, 1, value_discretization_interval=grid, use_connect_dots=True
        )
    if isinstance(event, GaussianEvent | ConcentratedEvent):
        return None
    epsilon, delta = event.epsilon, event.delta
    return lambda grid: library.PrivacyLossDistribution.create_from_rounded_probability(
        _response(epsilon, delta, grid), delta, grid
    )


@proved("pld.proof.md")
def _response(epsilon: float, delta: float, grid: float) -> dict[int, float]:
    """Masses of randomised response on multiples of ``grid``, each split between its two neighbours.

    A loss x with mass p becomes losses a <= x <= b with p_a + p_b = p and p_a e^-a + p_b e^-b = p e^-x:
    a spread that keeps both masses, hence dominates ([2], connect the dots).
    """
    masses: dict[int, float] = {}
    for loss in (epsilon, -epsilon):
        mass = (1 - delta) / (1 + math.exp(-loss))
        below = math.floor(loss / grid)
        share = math.expm1(-(loss - below * grid)) / math.expm1(-grid)  # of the upper neighbour
        share = min(1.0, max(0.0, share))
        masses[below] = masses.get(below, 0.0) + mass * (1 - share)
        masses[below + 1] = masses.get(below + 1, 0.0) + mass * share
    return masses


@proved("pld.proof.md")
def _composed(events: Sequence[Event], delta: float) -> float:
    """epsilon at ``delta`` for events that all have a distribution."""
    losses = [event.epsilon if math.isfinite(event.epsilon) else math.sqrt(2 * event.rho) for event in events]
    width = min(math.fsum(losses), 40 * math.sqrt(math.fsum(loss**2 for loss in losses)) + max(losses))
    grid = max(min(1e-4, min(losses) / 20), width / 1e6)
    groups: dict[tuple[tuple[str, Any], ...], list[Event]] = {}
    for event in events:
        groups.setdefault(_parameters(event), []).append(event)
    total: Any = None
    for group in groups.values():
        constructor = _distribution_of(group[0])
        if constructor is None:
            return math.inf
        part = constructor(grid).self_compose(len(group))
        total = part if total is None else total.compose(part)
    allowance = CONVOLUTION_ERROR * len(events)
    if delta < 4 * allowance:
        return math.inf
    return float(total.get_epsilon_for_delta(delta - allowance))


def _parameters(event: Event) -> tuple[tuple[str, Any], ...]:
    """What decides an event's distribution: its kind and everything but its label."""
    return tuple(sorted((name, value) for name, value in event.to_dict().items() if name != "label"))


@proved("pld.proof.md")
def _numerical(events: Sequence[Event], delta: float) -> float:
    """Best epsilon at ``delta`` with distributions where there are any and the sum of rho for the rest."""
    without = [event for event in events if _distribution_of(event) is None]
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
    """Return what several releases from the same rows cost together: epsilon at ``delta``.

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
    """Return the events of a statement as far as they were fixed beforehand.

    Of a single event that is everything. Of several the costs were fixed, but the grid of a later one may follow an
    earlier answer (as in the ``moments`` method): of these the costs alone are kept.

    Raises
    ------
    InputError
        If the statement is not private, or its costs were chosen as answers came in.
    """
    if not statement.private:
        raise InputError("a release that is not private can't be composed: its statement says so")
    if statement.composition not in (Composition.FIXED_EPSILON, Composition.FIXED_RHO):
        raise InputError(
            "a release whose costs were not all fixed beforehand can't be composed: add up epsilon and delta instead"
        )
    if any(fact.is_a(PublicKind.FLOOR_RELEASED) for fact in statement.public):
        raise InputError(
            "a screening planned from a floor that it released can't be composed: add up epsilon and delta instead"
        )
    events = [event_from_dict(event) for event in statement.events]
    return events if len(events) < 2 else [_cost_alone(event) for event in events]


def _cost_alone(event: Event) -> Event:
    """Return an event that promises the same cost whatever grid it was drawn on."""
    if isinstance(event, LaplaceEvent):
        return PureEvent(
            label=event.label, neighbours=event.neighbours, mechanism="laplace", cost=event.epsilon
        )
    if isinstance(event, GaussianEvent):
        return ConcentratedEvent(
            label=event.label, neighbours=event.neighbours, mechanism="gaussian", cost=event.rho
        )
    return event
