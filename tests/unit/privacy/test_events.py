"""Events: what each costs, and that they survive a trip through JSON."""

from __future__ import annotations

import json
import math

import pytest

from dpcausal.core.errors import InputError
from dpcausal.privacy.events import (
    KINDS,
    ApproximateEvent,
    BoundedRangeEvent,
    ConcentratedEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PureEvent,
    event_from_dict,
)

COMMON = {"label": "x", "neighbours": "replace-one"}
EXAMPLES: list[Event] = [
    PureEvent(**COMMON, mechanism="exponential", cost=0.5),
    BoundedRangeEvent(**COMMON, mechanism="gumbel", cost=0.4),
    LaplaceEvent(**COMMON, sensitivity=2, scale=10.0),
    GaussianEvent(**COMMON, sensitivity=1, sigma=5.0),
    ConcentratedEvent(**COMMON, mechanism="sum", cost=0.01),
    ApproximateEvent(**COMMON, mechanism="smooth", cost=0.3, slack=1e-7),
]


def test_every_kind_has_an_example() -> None:
    assert {event.kind for event in EXAMPLES} == set(KINDS)


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.kind)
def test_json_round_trip(event: Event) -> None:
    assert event_from_dict(json.loads(json.dumps(event.to_dict()))) == event


def test_costs() -> None:
    costs = {event.kind: (event.epsilon, event.delta, event.rho) for event in EXAMPLES}
    assert costs["pure"] == (0.5, 0.0, 0.125)
    assert costs["bounded-range"] == pytest.approx((0.4, 0.0, 0.02))
    assert costs["laplace"] == pytest.approx((0.2, 0.0, 0.02))
    assert costs["gaussian"] == pytest.approx((math.inf, 0.0, 0.02))
    assert costs["zcdp"] == (math.inf, 0.0, 0.01)
    assert costs["approximate"] == (0.3, 1e-7, math.inf)


def test_events_are_immutable() -> None:
    with pytest.raises(AttributeError):
        EXAMPLES[0].label = "y"  # type: ignore[misc]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, -math.inf])
def test_bad_parameters_are_refused(bad: float) -> None:
    with pytest.raises(InputError):
        PureEvent(**COMMON, mechanism="m", cost=bad)
    with pytest.raises(InputError):
        LaplaceEvent(**COMMON, sensitivity=1, scale=bad)
    with pytest.raises(InputError):
        GaussianEvent(**COMMON, sensitivity=bad, sigma=1)
    with pytest.raises(InputError):
        ConcentratedEvent(**COMMON, mechanism="m", cost=bad)
    with pytest.raises(InputError):
        ApproximateEvent(**COMMON, mechanism="m", cost=bad, slack=1e-6)


@pytest.mark.parametrize("bad", [0, -1e-9, 1, 2, math.nan])
def test_bad_delta_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="delta"):
        ApproximateEvent(**COMMON, mechanism="m", cost=1, slack=bad)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "quantum", **COMMON},
        {**COMMON},
        {"kind": "pure", **COMMON},
        {"kind": "pure", **COMMON, "mechanism": "m", "cost": 1.0, "colour": "red"},
        {"kind": "pure", "label": "x", "neighbours": "cousins", "mechanism": "m", "cost": 1.0},
    ],
)
def test_unreadable_events_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(InputError):
        event_from_dict(data)
