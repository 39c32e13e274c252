"""Composition and conversion against known numbers, and the direction of every rounding."""

from __future__ import annotations

import math

import pytest

from dpcausal.core.errors import InputError
from dpcausal.privacy.accounting.composition import (
    ZERO,
    add,
    advanced,
    basic,
    concentrated,
    exact,
    fits,
    left_of,
    optimal,
    optimal_delta,
)
from dpcausal.privacy.accounting.conversion import delta_for, epsilon_classic, epsilon_for, rho_for
from dpcausal.privacy.accounting.pld import FixedPlan
from dpcausal.privacy.events import (
    ApproximateEvent,
    BoundedRangeEvent,
    ConcentratedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
)

COMMON = {"label": "x", "neighbours": "replace-one"}
LAPLACE = LaplaceEvent(**COMMON, sensitivity=1, scale=100)


def test_a_thousand_laplace_of_one_hundredth() -> None:
    """The table every method is known by: 10 basic, 1.763 advanced, 1.712 zCDP, 1.363 PLD, to 1%."""
    plan = FixedPlan((LAPLACE,) * 1000)
    assert basic(plan.events)[0] == pytest.approx(10, rel=1e-12)
    assert advanced(0.01, 1000, 1e-6) == pytest.approx(1.763, rel=1e-3)
    assert epsilon_classic(1000 * LAPLACE.rho, 1e-6) == pytest.approx(1.712, rel=1e-3)
    assert plan.compare(1e-6)["pld"] == pytest.approx(1.363, rel=0.01)
    assert optimal(0.01, 1000, 1e-6) == pytest.approx(1.363, rel=0.01)
    assert plan.compare(1e-6)["zcdp"] < 1.712  # the tight conversion
    assert plan.epsilon(1e-6) == min(plan.compare(1e-6).values())


def test_basic_sums_both_parts() -> None:
    events = [ApproximateEvent(**COMMON, mechanism="m", cost=0.1, slack=1e-7)] * 3
    assert basic(events) == (0.3, 3e-7)
    assert basic([GaussianEvent(**COMMON, sensitivity=1, sigma=1)])[0] == math.inf


def test_concentrated_takes_the_events_own_delta_off_first() -> None:
    events = [ApproximateEvent(**COMMON, mechanism="m", cost=0.1, slack=4e-7)] * 2
    assert concentrated(events, 1e-6) == epsilon_for(2 * 0.1**2 / 2, 1e-6 - 8e-7)
    assert concentrated(events, 7e-7) == math.inf


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 10.0, 60.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.1, 0.9])
def test_rho_for_is_safe_and_tight(epsilon: float, delta: float) -> None:
    rho = rho_for(epsilon, delta)
    assert delta_for(rho, epsilon) <= delta
    assert delta_for(rho * (1 + 1e-6), epsilon) > delta
    assert epsilon_for(rho, delta) == pytest.approx(epsilon, rel=1e-6)
    assert epsilon_for(rho, delta) <= epsilon_classic(rho, delta) * (1 + 1e-12)


def test_delta_for_holds_for_the_gaussian() -> None:
    """The Gaussian mechanism is exactly rho-zCDP and its delta is known: the bound must lie above, not far."""
    for rho in (0.01, 0.1, 1.0):
        mu = math.sqrt(2 * rho)
        for epsilon in (0.5, 1.0, 3.0):
            tail = [0.5 * math.erfc(x / math.sqrt(2)) for x in (epsilon / mu - mu / 2, epsilon / mu + mu / 2)]
            true = tail[0] - math.exp(epsilon) * tail[1]
            assert true <= delta_for(rho, epsilon)
            if true > 1e-250:
                assert delta_for(rho, epsilon) < 40 * true


def test_conversion_edge_cases() -> None:
    assert epsilon_for(0.0, 1e-6) == 0.0
    assert epsilon_for(0.1, 0.0) == math.inf
    assert rho_for(1.0, 0.0) == 0.0
    assert delta_for(1e6, 0.5) == 1.0
    for bad in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError):
            delta_for(bad, 1.0)
        with pytest.raises(InputError):
            rho_for(bad, 1e-6)
    for bad in (-1e-9, 1.0, math.nan):
        with pytest.raises(InputError):
            epsilon_for(0.1, bad)
        with pytest.raises(InputError):
            rho_for(1.0, bad)


def test_optimal_composition_by_hand() -> None:
    """Two coins of epsilon: delta(0) is the total variation between the two products."""
    epsilon = 0.7
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert optimal_delta(epsilon, 2, 0.0) == pytest.approx(p**2 - (1 - p) ** 2, rel=1e-8)
    assert optimal_delta(epsilon, 2, 2 * epsilon) == 0.0
    assert optimal_delta(epsilon, 1, 0.0) == pytest.approx(2 * p - 1, rel=1e-8)


@pytest.mark.parametrize("arguments", [(0.0, 10, 1e-6), (math.nan, 10, 1e-6), (0.1, 0, 1e-6), (0.1, 10, 0.0)])
def test_homogeneous_composition_refuses_nonsense(arguments: tuple[float, int, float]) -> None:
    with pytest.raises(InputError):
        advanced(*arguments)
    with pytest.raises(InputError):
        optimal(*arguments)


def test_plan_of_pure_events_is_optimal_composition() -> None:
    events = (PureEvent(**COMMON, mechanism="m", cost=0.1),) * 50
    assert FixedPlan(events).compare(1e-6)["pld"] == pytest.approx(optimal(0.1, 50, 1e-6), rel=0.01)
    assert FixedPlan(events).compare(1e-6)["pld"] >= optimal(0.1, 50, 1e-6) * (1 - 1e-6)


def test_plan_of_unit_gaussians_beats_zcdp() -> None:
    events = (GaussianEvent(**COMMON, sensitivity=1, sigma=20.0),) * 10
    found = FixedPlan(events).compare(1e-6)
    mu = math.sqrt(10) / 20
    tail = [
        0.5 * math.erfc(x / math.sqrt(2)) for x in (found["pld"] / mu - mu / 2, found["pld"] / mu + mu / 2)
    ]
    assert tail[0] - math.exp(found["pld"]) * tail[1] == pytest.approx(
        1e-6, rel=0.05
    )  # the continuous Gaussian
    assert found["pld"] < found["zcdp"] < 1.2 * found["pld"]


MIXED: list[Event] = [
    LAPLACE,
    LaplaceEvent(**COMMON, sensitivity=2.5, scale=50),
    GaussianEvent(**COMMON, sensitivity=math.sqrt(2), sigma=30),
    ConcentratedEvent(**COMMON, mechanism="m", cost=1e-4),
    BoundedRangeEvent(**COMMON, mechanism="m", cost=0.05),
    ApproximateEvent(**COMMON, mechanism="m", cost=0.05, slack=1e-8),
]


def test_plan_of_everything_is_finite_and_no_better_than_its_parts() -> None:
    whole = FixedPlan(tuple(MIXED)).compare(1e-6)
    assert whole["basic"] == math.inf
    assert math.isfinite(whole["pld"])
    for part in MIXED:
        assert FixedPlan((part,)).epsilon(1e-6) <= whole["pld"]


def test_plan_at_tiny_or_no_delta_uses_closed_formulas() -> None:
    assert FixedPlan((LAPLACE,) * 10).epsilon(0.0) == pytest.approx(0.1)
    assert FixedPlan((LAPLACE,) * 10).compare(1e-61)["pld"] == math.inf


def test_plan_as_one_event() -> None:
    event = FixedPlan((LAPLACE,) * 100).event(1e-6, "all tables")
    assert (event.delta, event.label) == (1e-6, "all tables")
    assert event.epsilon == FixedPlan((LAPLACE,) * 100).epsilon(1e-6)


def test_bad_plans() -> None:
    with pytest.raises(InputError, match="at least one"):
        FixedPlan(())
    with pytest.raises(InputError, match="neighbouring"):
        FixedPlan((LAPLACE, LaplaceEvent(label="x", neighbours="add-remove", sensitivity=1, scale=1)))
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(InputError, match="delta"):
            FixedPlan((LAPLACE,)).epsilon(bad)


def test_exact_sums() -> None:
    total = ZERO
    for _ in range(10):
        total = add(total, exact(0.1))
    assert total == 1
    assert add(exact(1e300), exact(5e-324)) > exact(1e300)
    assert not add(exact(math.inf), exact(1.0)).is_finite()
    assert left_of(exact(math.inf), exact(1.0)) == left_of(exact(2.0), exact(1.0)) == 0


def test_the_slack_is_a_trillionth_and_no_more() -> None:
    assert fits(exact("1.000000000001"), exact(1.0))
    assert not fits(exact("1.0000000000011"), exact(1.0))
    eleventh = ZERO
    for _ in range(11):
        eleventh = add(eleventh, exact(1 / 11))
    assert eleventh > 1  # a caller's own rounding,
    assert fits(eleventh, exact(1.0))  # allowed
    assert not fits(exact(5e-324), ZERO)


@pytest.mark.parametrize("bad", [-0.1, math.nan, "abc", "-1", "nan"])
def test_costs_that_are_no_costs(bad: float | str) -> None:
    with pytest.raises(InputError):
        exact(bad)
