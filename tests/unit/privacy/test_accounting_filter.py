"""The stop rule: what it allows, and that a run it allows really is (epsilon, delta)-DP in a case we can enumerate."""

from __future__ import annotations

import math
from itertools import product

import pytest

from dpcausal.core.errors import InputError
from dpcausal.privacy.accounting.composition import Filter, PartOfTotal, Spent, check_total
from dpcausal.privacy.accounting.conversion import rho_for
from dpcausal.privacy.events import ApproximateEvent, BoundedRangeEvent, GaussianEvent, PureEvent

COMMON = {"label": "x", "neighbours": "replace-one"}


def pure(epsilon: float) -> PureEvent:
    return PureEvent(**COMMON, mechanism="m", cost=epsilon)


def test_pure_filter_stops_at_the_sum() -> None:
    total = Filter(1.0)
    assert total.rho == 0
    assert total.allows(Spent().plus([pure(0.1)] * 10))
    assert not total.allows(Spent().plus([pure(0.1)] * 11))
    assert not total.allows(Spent().plus([GaussianEvent(**COMMON, sensitivity=1, sigma=1e9)]))


@pytest.mark.parametrize("share", [0.1, 0.5, 1 / 3])
def test_two_rounds_go_by_the_same_sum_and_add_up_to_the_total(share: float) -> None:
    gaussian = GaussianEvent(**COMMON, sensitivity=1, sigma=10.0)
    for total, event, unit in (
        (Filter(10.0), pure(0.001), "epsilon"),
        (Filter(10.0, 1e-6), gaussian, "rho"),
    ):
        rounds = [total.part(PartOfTotal(number, share)) for number in (1, 2)]
        most = []
        for one in rounds:
            cost, limit = getattr(event, unit), getattr(one, unit)
            number = round(limit / cost * (1 + 1e-14) - 0.5)  # so many fit
            assert one.allows(Spent().plus([event] * number))
            assert not one.allows(Spent().plus([event] * (number + 1)))
            most.append(number)
        assert total.allows(Spent().plus([event] * sum(most)))
    # half of epsilon and then half of rho would be more than the total
    first, second = (Filter(10.0, 1e-6).part(PartOfTotal(number, 0.5)) for number in (1, 2))
    assert not first.allows(Spent().plus([pure(5.0)]))
    assert second.allows(Spent().plus([gaussian] * 100))
    assert not first.allows(Spent().plus([ApproximateEvent(**COMMON, mechanism="m", cost=0.1, slack=1e-9)]))
    with pytest.raises(InputError):
        Filter(1.0, 1e-6, 1e-7).part(PartOfTotal(1, 0.5))


def test_either_sum_is_enough() -> None:
    total = Filter(1.0, 1e-6)
    assert total.rho == rho_for(1.0, 1e-6)
    assert total.allows(Spent().plus([pure(1.0)]))  # rho 0.5 is far over, epsilon fits
    many = Spent().plus([pure(0.01)] * 400)  # epsilon 4 is far over, rho 0.02 fits
    assert total.allows(many)
    assert not total.allows(many.plus([pure(0.5)]))
    ranged = BoundedRangeEvent(**COMMON, mechanism="m", cost=0.01)
    assert total.allows(Spent().plus([ranged] * 1600))


def test_events_with_delta_need_the_reserve() -> None:
    event = ApproximateEvent(**COMMON, mechanism="m", cost=0.1, slack=1e-7)
    assert not Filter(1.0, 1e-6).allows(Spent().plus([event]))
    with_reserve = Filter(1.0, 1e-6, reserve=5e-7)
    assert with_reserve.allows(Spent().plus([event] * 5))
    assert not with_reserve.allows(Spent().plus([event] * 6))
    assert with_reserve.rho == rho_for(1.0, 5e-7)
    assert Filter(1.0, 1e-6, reserve=1e-6).rho == 0


def test_readings_name_their_sum_and_stay_within_the_total() -> None:
    total = Filter(1.0, 1e-6)
    assert total.reading(Spent()) == (0.0, 0.0, "epsilon")
    assert total.reading(Spent().plus([pure(0.25)])) == (0.25, 0.0, "epsilon")
    gaussian = GaussianEvent(**COMMON, sensitivity=1, sigma=1 / math.sqrt(2 * total.rho))
    reading = total.reading(Spent().plus([gaussian]))
    assert reading.by == "rho"
    assert reading.delta == 1e-6
    assert 0.999999 < reading.epsilon <= 1.0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, True, "1", None])
def test_bad_epsilon(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon"):
        check_total(epsilon, 0.0)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, None])
def test_bad_delta(delta: float) -> None:
    with pytest.raises(InputError, match="delta"):
        check_total(1.0, delta)


@pytest.mark.parametrize("reserve", [-1e-9, 2e-6, math.nan])
def test_bad_reserve(reserve: float) -> None:
    with pytest.raises(InputError, match="reserve"):
        Filter(1.0, 1e-6, reserve)


def worst_delta(total: Filter, costs: tuple[float, ...], steps: int) -> float:
    """delta at the total's epsilon for an analyst who picks the next coin by what fell so far, by enumeration.

    Each question is a randomised response of some cost. The analyst below escalates after answers that point to the
    first data set (the choice that hurts most) and saves after the others.
    """
    rest = 0.0
    for answers in product((1, 0), repeat=steps):
        spent, up, down, lead, counted = Spent(), 1.0, 1.0, 0, True
        for answer in answers:
            cost = costs[min(max(lead, 0), len(costs) - 1)]
            after = spent.plus([pure(cost)])
            if not total.allows(after):
                if answer == 0:  # a run that stopped is counted once, under the all-ones continuation
                    counted = False
                    break
                continue
            p = math.exp(cost) / (1 + math.exp(cost))
            up, down = (up * p, down * (1 - p)) if answer else (up * (1 - p), down * p)
            spent, lead = after, lead + (1 if answer else -1)
        if counted:
            rest += max(0.0, up - math.exp(total.epsilon) * down)
    return rest


@pytest.mark.thin(3)
@pytest.mark.parametrize("costs", [(0.3, 0.3), (0.2, 0.4, 0.8), (0.8, 0.4, 0.2)])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (1.5, 0.01), (0.7, 0.2)])
def test_adaptive_runs_keep_the_guarantee(costs: tuple[float, ...], epsilon: float, delta: float) -> None:
    assert worst_delta(Filter(epsilon, delta), costs, steps=12) <= delta


def test_the_enumeration_would_catch_a_broken_filter() -> None:
    """The same analyst against a filter with a total three times too large."""
    broken = Filter(3.0, 0.05)
    lenient = type("Lenient", (), {"allows": staticmethod(broken.allows), "epsilon": 1.0})()
    assert worst_delta(lenient, (0.2, 0.4, 0.8), steps=12) > 0.05
