"""Charge first, then draw; nothing is drawn when the charge is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy import noise
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import Event, event_from_dict
from dpcausal.privacy.mechanisms import (
    INTEGERS,
    Exponential,
    ExponentialMedian,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    SieveAndExamine,
    SmoothMedian,
    SpanningTree,
    SparseVector,
    TopK,
    begin,
    release,
)
from dpcausal.testing import seeded

EVERY = [
    (Laplace(sensitivity=2.0, epsilon=0.3), 5.0),
    (Laplace(sensitivity=2.0, epsilon=0.3, size=3, grid=INTEGERS), [1, 2, 3]),
    (Gaussian(sensitivity=2.0, rho=0.3), 5.0),
    (Gaussian(sensitivity=2.0, rho=0.3, size=300), np.zeros(300)),
    (Exponential(sensitivity=1.0, epsilon=0.7), [1, 2, 3]),
    (PermuteAndFlip(sensitivity=1.0, epsilon=0.7), [1, 2, 3]),
    (NoisyMax(sensitivity=1.0, epsilon=0.7), [1, 2, 3]),
    (TopK(sensitivity=1.0, epsilon=0.7, count=2), [1, 2, 3]),
    (TopK(sensitivity=1.0, rho=0.7, count=2), [1, 2, 3]),
    (SpanningTree(sensitivity=1.0, rho=0.7, nodes=3), [1, 2, 3]),
    (ExponentialMedian(lower=0.0, upper=1.0, epsilon=0.7), [0.1, 0.2, 0.9]),
    (SmoothMedian(lower=0.0, upper=1.0, epsilon=0.7, delta=1e-6), [0.1, 0.2, 0.9]),
    (SmoothMedian(lower=0.0, upper=1.0, epsilon=0.7, delta=1e-6, noise="gaussian"), [0.1, 0.2, 0.9]),
    (SmoothMedian(lower=0.0, upper=1.0, epsilon=0.7, noise="cauchy"), [0.1, 0.2, 0.9]),
]


class Refuses:
    def charge(self, event: Event) -> None:
        raise BudgetError("no")


class Records:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def charge(self, event: Event) -> None:
        self.events.append(event)


@pytest.mark.parametrize(("mechanism", "value"), EVERY)
def test_refused_charge_draws_nothing(
    mechanism: Laplace, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(*_: object) -> None:
        raise AssertionError("noise was drawn")

    for name in ("_draw", "categorical", "categorical_steps", "bernoulli_exp_many", "discrete_cauchy"):
        monkeypatch.setattr(noise, name, drawn)
    with pytest.raises(BudgetError):
        release(mechanism, Refuses(), "x", value)
    with pytest.raises(AssertionError, match="drawn"):  # the same value does draw when it is paid for
        release(mechanism, Records(), "x", value)


@pytest.mark.parametrize(("mechanism", "value"), EVERY)
def test_event_is_public_data_and_never_dearer_than_asked(mechanism: Laplace, value: float) -> None:
    budget = Records()
    with seeded(1):
        out = release(mechanism, budget, "x", value)
    (event,) = budget.events
    assert out is not None
    assert event.label == "x"
    assert event_from_dict(event.to_dict()) == event
    asked_rho, asked = getattr(mechanism, "rho", None), getattr(mechanism, "epsilon", None)
    assert event.rho <= asked_rho if asked_rho is not None else event.epsilon <= asked


def test_a_real_budget_stops_releases() -> None:
    budget = Budget(1.0)
    mechanism = Laplace(sensitivity=1.0, epsilon=0.5)
    for _ in range(2):
        release(mechanism, budget, "x", 3.0)
    with pytest.raises(BudgetError):
        release(mechanism, budget, "x", 3.0)
    with pytest.raises(BudgetError):
        begin(SparseVector(sensitivity=1.0, epsilon=0.5), budget, "svt", 0.0)


def test_begin_charges_once_for_the_session() -> None:
    budget = Records()
    with seeded(2):
        session = begin(
            SieveAndExamine(sensitivity=1.0, epsilon_sieve=0.5, rho_examine=0.1), budget, "s", 0.0
        )
        session.ask(-100.0, lambda: -100.0)
    assert [event.rho for event in budget.events] == [pytest.approx(0.125 + 0.1)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Laplace(sensitivity=0.0, epsilon=1.0),
        lambda: Laplace(sensitivity=1.0, epsilon=-1.0),
        lambda: Laplace(sensitivity=1.0, epsilon=1.0, size=0),
        lambda: Gaussian(sensitivity=1.0, rho=float("nan")),
        lambda: SparseVector(sensitivity=1.0, epsilon=1.0, positives=0),
        lambda: SparseVector(sensitivity=1.0, epsilon=1.0, noise="normal"),  # type: ignore[arg-type]
        lambda: TopK(sensitivity=1.0, count=2),
        lambda: TopK(sensitivity=1.0, count=2, epsilon=1.0, rho=1.0),
        lambda: ExponentialMedian(lower=1.0, upper=0.0, epsilon=1.0),
        lambda: ExponentialMedian(lower=0.0, upper=float("inf"), epsilon=1.0),
        lambda: SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0),
        lambda: SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, delta=1e-6, noise="cauchy"),
        lambda: SmoothMedian(lower=0.0, upper=1.0, epsilon=1e-9, delta=1e-6),
        lambda: SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0),
        lambda: SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, rho_examine=1.0, hits=2),
        lambda: SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1.0, subsample=5),
        lambda: SieveAndExamine(
            sensitivity=1.0,
            epsilon_sieve=1.0,
            epsilon_examine=1.0,
            subsample=5,
            rows=10,
            sieve_sensitivity=2.0,
            neighbours=Neighbours.ADD_REMOVE,
        ),
    ],
)
def test_bad_public_parameters_are_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(("mechanism", "value"), EVERY)
def test_no_value_in_the_data_raises(mechanism: Laplace, value: float) -> None:
    """NaN and infinities go where the grid says; an error would be a release."""
    odd = np.asarray(value, dtype=np.float64).copy()
    with seeded(4), np.errstate(all="raise"):
        for bad in (np.nan, np.inf, -np.inf, 1e308):
            odd[...] = bad
            assert mechanism.sample(odd) is not None


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
def test_short_arrays_are_rounded_like_long_ones(kind: type) -> None:
    """Arrays of up to 32 numbers take a faster way to the same draws."""
    values = (np.arange(-8, 8) * 0.375).astype(kind).reshape(2, 8)
    short = Laplace(sensitivity=1.0, epsilon=1.0, size=16)
    with seeded(3):
        fast = short.sample(values)
    with seeded(3):
        plain = short.sample(values.tolist())  # a list is rounded as a whole
    assert fast.shape == values.shape
    assert (fast == plain).all()
    with pytest.raises(InputError, match="takes 16 values"):
        short.sample(np.zeros(3))
