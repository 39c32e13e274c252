"""Laws that accounting must keep for all inputs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcausal.core.errors import BudgetError
from dpcausal.privacy.accounting.composition import ZERO, Filter, Spent, add, exact, fits
from dpcausal.privacy.accounting.conversion import delta_for, epsilon_for, rho_for
from dpcausal.privacy.accounting.pld import FixedPlan
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import ApproximateEvent, LaplaceEvent, PureEvent

costs = st.floats(min_value=1e-12, max_value=100.0)
totals = st.floats(min_value=1e-6, max_value=100.0)
deltas = st.floats(min_value=1e-200, max_value=0.99)


@given(st.lists(costs, max_size=30))
def test_sums_do_not_depend_on_order_and_are_exact(values: list[float]) -> None:
    forth, back = ZERO, ZERO
    for value in values:
        forth = add(forth, exact(value))
    for value in reversed(values):
        back = add(back, exact(value))
    assert forth == back
    assert Fraction(forth) == sum((Fraction(repr(value)) for value in values), Fraction(0))


@given(costs, st.lists(costs, min_size=1, max_size=40))
def test_no_total_is_passed_by_more_than_the_slack(total: float, values: list[float]) -> None:
    """Charging whatever fits never brings the true sum of floats over total (1 + 1e-12), plus the floats' last bit."""
    spent, true = ZERO, Fraction(0)
    for value in values:
        after = add(spent, exact(value))
        if fits(after, exact(total)):
            spent, true = after, true + Fraction(value)
    assert true <= Fraction(total) * (1 + Fraction(1, 10**12)) * (1 + Fraction(1, 2**52))


@given(costs, st.integers(min_value=1, max_value=1000))
def test_equal_shares_always_fit(total: float, count: int) -> None:
    spent = ZERO
    for _ in range(count):
        spent = add(spent, exact(total / count))
    assert fits(spent, exact(total))


@given(costs, deltas)
@example(1.0000000000000002e-12, 0.24542253946002943)
@example(5.96e-8, 0.75)
@example(1e-9, 0.9765625)
@settings(deadline=None)
def test_conversions_invert_each_other_on_the_safe_side(epsilon: float, delta: float) -> None:
    rho = rho_for(epsilon, delta)
    assert delta_for(rho, epsilon) <= delta
    if rho > 0:
        found = epsilon_for(rho, delta)
        # no larger than need be; where doubles of delta can't resolve epsilon, all of delta must be used up
        assert found <= epsilon * (1 + 1e-9) or delta * (1 - 1e-12) <= delta_for(rho, found) <= delta
        assert rho_for(found, delta) >= rho * (1 - 1e-9)


@given(st.floats(min_value=1e-9, max_value=50.0), costs)
def test_delta_falls_with_epsilon_and_grows_with_rho(rho: float, epsilon: float) -> None:
    assert delta_for(rho, epsilon) <= delta_for(rho, epsilon / 2) * (1 + 1e-9)
    assert delta_for(rho, epsilon) <= delta_for(2 * rho, epsilon) * (1 + 1e-9)


@given(totals, deltas, st.lists(costs, max_size=20))
@settings(deadline=None)
def test_readings_stay_within_the_total(epsilon: float, delta: float, values: list[float]) -> None:
    total, spent = Filter(epsilon, delta), Spent()
    for value in values:
        event = PureEvent(label="x", neighbours="add-remove", mechanism="m", cost=value)
        if total.allows(spent.plus([event])):
            spent = spent.plus([event])
    reading = total.reading(spent)
    assert 0 <= reading.epsilon <= epsilon
    assert 0 <= reading.delta <= delta
    if spent.epsilon > exact(epsilon) and not fits(spent.epsilon, exact(epsilon)):
        assert fits(spent.rho, exact(total.rho))


def hockey_stick(scale: float, shifts: tuple[int, ...], epsilon: float) -> float:
    """delta at ``epsilon`` of discrete Laplace noise on coordinates that move by ``shifts``, by enumeration."""
    a = math.exp(-1 / scale)
    losses: dict[int, float] = {0: 1.0}  # 2 (sum of x) - (sum of shifts) -> mass under P, in units of 1/scale
    for shift in shifts:
        masses = [1 / (1 + a), *((1 - a) / (1 + a) * a**x for x in range(1, shift)), a**shift / (1 + a)]
        new: dict[int, float] = {}
        for (loss, mass), (x, here) in product(losses.items(), enumerate(masses)):
            new[loss + shift - 2 * x] = new.get(loss + shift - 2 * x, 0.0) + mass * here
        losses = new
    return math.fsum(mass * max(0.0, -math.expm1(epsilon - loss / scale)) for loss, mass in losses.items())


@given(
    st.floats(min_value=0.3, max_value=30.0),
    st.lists(st.integers(min_value=1, max_value=6), min_size=2, max_size=4),
    st.floats(min_value=0.0, max_value=1.0),
)
def test_one_dimension_dominates_every_laplace_vector(scale: float, shifts: list[int], share: float) -> None:
    """``pld.proof.md``: a vector that moves by D in l1 is no easier to tell apart than one number that moves by D."""
    epsilon = share * sum(shifts) / scale
    together = hockey_stick(scale, (sum(shifts),), epsilon)
    assert hockey_stick(scale, tuple(shifts), epsilon) <= together * (1 + 1e-9) + 1e-15


def test_the_search_would_catch_a_smaller_dimension() -> None:
    """With one unit of shift less the domination fails, so the property above can fail."""
    assert hockey_stick(5.0, (2, 2), 0.5) > hockey_stick(5.0, (3,), 0.5)


@pytest.mark.parametrize("shift", [1, 3])
def test_the_library_agrees_with_enumeration(shift: int) -> None:
    from dp_accounting.pld import privacy_loss_distribution as library

    scale = 4.0
    numerical = library.from_discrete_laplace_mechanism(
        1 / scale, shift, value_discretization_interval=1e-4, use_connect_dots=True
    )
    for epsilon in (0.0, 0.1, 0.3 * shift / scale, 0.9 * shift / scale):
        true = hockey_stick(scale, (shift,), epsilon)
        assert true * (1 - 1e-9) <= numerical.get_delta_for_epsilon(epsilon) <= true * 1.001 + 1e-12
    event = LaplaceEvent(label="x", neighbours="add-remove", sensitivity=shift, scale=scale)
    ours = FixedPlan((event,) * 40).compare(1e-6)["pld"]
    assert ours == pytest.approx(numerical.self_compose(40).get_epsilon_for_delta(1e-6), rel=1e-5)


@given(totals, deltas, costs)
def test_a_total_without_a_delta_allows_no_event_with_one(total: float, delta: float, cost: float) -> None:
    """However small the delta and its epsilon: by rho, too, since there is none without a delta."""
    assert not Filter(total).allows(Spent(epsilon=exact(min(cost, total)), delta=exact(delta)))
    budget = Budget(total)
    with pytest.raises(BudgetError):
        budget.charge(
            ApproximateEvent(
                label="median", neighbours="replace-one", mechanism="m", cost=min(cost, total), slack=delta
            )
        )
    assert budget.events == ()
