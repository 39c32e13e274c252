"""Where the budget went: steps, their unit, and bars that never sum to more than was promised."""

from __future__ import annotations

from collections.abc import Callable

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import PrivacyStatement
from dpcausal.present.spending import Step, chart, rows, steps, unit_words
from dpcausal.privacy.events import ApproximateEvent, Event, GaussianEvent, PureEvent

Made = Callable[..., PrivacyStatement]


def pure(label: str, cost: float) -> PureEvent:
    return PureEvent(label=label, neighbours=Neighbours.REPLACE_ONE, mechanism="m", cost=cost)


def test_steps_sum_events_by_label_in_the_order_charged(statement_of: Made) -> None:
    events: list[Event] = [pure("b", 0.25), *(pure(f"a: {i}", 0.03125) for i in range(20))]
    assert steps(statement_of(events)) == [Step("b", 1, 0.25, "epsilon"), Step("a", 20, 0.625, "epsilon")]
    assert [step.label for step in steps(statement_of(events[:3]))] == ["b", "a: 0", "a: 1"]


def test_bars_never_sum_to_more_than_was_promised(statement_of: Made) -> None:
    """Small charges that fit by rho alone: sums of their epsilon are no cost of this release."""
    many: list[Event] = [pure("a", 0.125)] * 20  # 2.5 in epsilon, of 1; 20/128 in rho
    assert steps(statement_of(many, "approximate")) == [Step("a", 20, 20 / 128, "rho")]


def test_steps_have_the_unit_that_every_event_has(statement_of: Made) -> None:
    one = Neighbours.REPLACE_ONE
    gauss = GaussianEvent(label="g", neighbours=one, sensitivity=1.0, sigma=2.0)
    both = steps(statement_of([pure("p", 0.5), gauss], "zCDP"))
    assert [(step.unit, step.cost) for step in both] == [("rho", 0.125), ("rho", 0.125)]
    odd = ApproximateEvent(label="o", neighbours=one, mechanism="m", cost=0.1, slack=1e-6)
    assert {step.unit for step in steps(statement_of([gauss, odd]))} == {"events"}
    assert 'class="bar"' in chart(both)
    assert chart([]) == ""


def test_bars_have_shares_and_rho_is_explained() -> None:
    parts = [Step("one", 1, 0.125, "rho"), Step("two", 3, 0.375, "rho")]
    drawing = chart(parts)
    assert ">25%</text>" in drawing
    assert "<title>two (3 times): rho 0.375 (75%)</title>" in drawing
    assert unit_words(parts).startswith(
        "Shares are those of rho, the unit in which these steps add up (zCDP);"
    )
    assert "rho" not in unit_words([Step("one", 1, 1.0, "epsilon")])
    assert "%" not in chart([Step("one", 2, 2.0, "events")])
    assert unit_words([Step("one", 1, 1.0, "events")]) == unit_words([]) == ""
    assert unit_words([Step("one", 2, 2.0, "events")]) == "A bar sums the steps of one kind."
    assert "(" not in chart([Step("free", 1, 0.0, "rho")])


def test_a_cost_that_an_event_has_not_is_an_empty_cell(statement_of: Made) -> None:
    gauss = GaussianEvent(label="g", neighbours=Neighbours.REPLACE_ONE, sensitivity=1.0, sigma=2.0)
    (row,) = rows(statement_of([gauss], "zCDP").events)
    assert (row["epsilon"], row["rho"]) == ("", "0.125")
