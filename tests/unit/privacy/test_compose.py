"""``dc.compose``: several releases that were fixed beforehand cost less together than their sums, and never more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.core.statement import Composition, FloorReleased, WholeUnit
from dpcausal.privacy.accounting.composition import optimal
from dpcausal.privacy.accounting.pld import FixedPlan
from dpcausal.privacy.events import Event, GaussianEvent, LaplaceEvent, PureEvent, event_from_dict

DATA = dc.networks.load("cancer").sample(2000, seed=1)
LAPLACE = LaplaceEvent(label="count", neighbours="replace-one", sensitivity=1, scale=10)
GAUSS = GaussianEvent(label="table", neighbours="replace-one", sensitivity=2.0, sigma=20.0)
PURE = PureEvent(label="choice", neighbours="replace-one", mechanism="exponential", cost=0.1)


def statement(*events: Event, epsilon: float = 1.0, delta: float = 0.0, adaptive: bool = False) -> Any:
    budget = dc.Budget(epsilon, delta)
    budget.charge(*events)
    return budget.statement(released=[], adaptive=adaptive)


def test_tests_that_were_planned_together_cost_less_than_their_sum() -> None:
    columns = DATA.columns
    tests = [
        dc.ci_test(DATA, x, y, method="kendall", epsilon=0.1) for x in columns for y in columns if x < y
    ] * 3
    together = dc.compose([test.privacy for test in tests], delta=1e-5)
    events = tuple(event_from_dict(test.privacy.events[0]) for test in tests)
    assert together == FixedPlan(events).epsilon(1e-5) < 0.95 * 30 * 0.1
    assert together <= optimal(0.1, 30, 1e-5) * (
        1 + 1e-3
    )  # Laplace noise tells less than randomised response
    assert dc.compose([test.privacy for test in tests], delta=0.0) == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-6, 1e-3, 0.5])
def test_never_more_than_the_sums(delta: float) -> None:
    for releases in (
        [statement(LAPLACE), statement(PURE)],
        [statement(LAPLACE, PURE), PURE],
        [statement(PURE, PURE), LAPLACE, LAPLACE],
    ):
        sums = sum(release.epsilon for release in releases)
        assert 0 <= dc.compose(releases, delta=delta) <= sums * (1 + 1e-12)


def test_sums_of_statements_with_a_delta_are_a_bound_too() -> None:
    private = [statement(GAUSS, epsilon=1.0, delta=1e-6) for _ in range(4)]
    assert {one.composition for one in private} == {Composition.FIXED_RHO}
    sums = sum(one.epsilon for one in private)
    assert dc.compose(private, delta=4e-6) < sums
    assert dc.compose(private[:1], delta=1e-6) == pytest.approx(private[0].epsilon, rel=1e-9)
    with pytest.raises(dc.InputError, match="no epsilon"):
        dc.compose(private, delta=0.0)


def test_of_several_events_in_one_release_only_the_costs_count() -> None:
    """A later grid may follow an earlier answer, so a Laplace event is then any event of its epsilon."""
    both = LaplaceEvent(label="b", neighbours="replace-one", sensitivity=50, scale=100)
    pure = PureEvent(label="b", neighbours="replace-one", mechanism="laplace", cost=0.5)
    found = dc.compose([statement(both, both), statement(both, both)], delta=0.05)
    assert found == pytest.approx(dc.compose([pure] * 4, delta=0.05), rel=1e-12)
    assert found > 1.05 * dc.compose([both] * 4, delta=0.05)
    table = statement(GAUSS, GAUSS, epsilon=2.0, delta=1e-6)
    assert dc.compose([table], delta=1e-6) == pytest.approx(table.epsilon, rel=1e-9)


def test_a_release_counts_with_its_own_sensitivity() -> None:
    """1,000 counts of sensitivity 10 at scale 1,000 (.01 each): about 1.363 together, a hundredth of that with 1."""
    count = LaplaceEvent(label="count", neighbours="replace-one", sensitivity=10, scale=1000)
    assert dc.compose([count] * 1000, delta=1e-6) == pytest.approx(1.363, abs=0.001)


def test_nothing_charged_costs_nothing() -> None:
    assert dc.compose([dc.Budget(1.0).statement(released=[])], delta=0.0) == 0.0


GWAS = FloorReleased(0.1)
REFUSED: list[tuple[str, Any, str]] = [
    ("none", [], "at least one release"),
    ("other", [1.0], "takes privacy statements and events, not float"),
    ("not private", [dc.Budget.none().statement(released=[])], "not private"),
    ("adaptive", [statement(PURE, adaptive=True)], "not all fixed beforehand"),
    ("floor", [replace(statement(PURE), public=(GWAS,))], "planned from a floor"),
    (
        "neighbours",
        [PURE, PureEvent(label="a", neighbours="add-remove", mechanism="m", cost=1.0)],
        "same neighbours and the same unit",
    ),
    (
        "unit",
        [PURE, replace(statement(PURE), unit=WholeUnit("allele"))],
        "same neighbours and the same unit",
    ),
]


@pytest.mark.parametrize(("releases", "words"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_cannot_be_composed_is_one_line(releases: Any, words: str) -> None:
    with pytest.raises(dc.InputError, match=words) as caught:
        dc.compose(releases, delta=1e-6)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, float("nan"), "0", True, None])
def test_delta_is_checked(delta: Any) -> None:
    with pytest.raises(dc.InputError, match="delta must"):
        dc.compose([PURE], delta=delta)


def test_seeded_releases_are_not_composed() -> None:
    with dc.testing.seeded(1):
        test = dc.ci_test(DATA, "Smoker", "Cancer", method="kendall", epsilon=0.1)
    with pytest.raises(dc.InputError, match="not private"):
        dc.compose([test.privacy], delta=1e-6)
