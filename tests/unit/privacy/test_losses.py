"""The sum of privacy losses: never less than the truth, hardly more, and its error bound holds and is not in vain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpcausal.privacy.accounting import losses
from dpcausal.privacy.accounting.losses import LossLaw, convolved, epsilon_of_sum, on_grid
from dpcausal.privacy.accounting.pld import _gaussian, _laplace, _response

mp.dps = 60


def response(epsilon: float, count: int, delta: float = 0.0) -> LossLaw:
    law = _response(epsilon, delta)
    return LossLaw(law.losses, law.masses, law.infinite, count)


def delta_of_responses(epsilon: float, count: int, at: float) -> Any:
    """delta of randomised responses at ``at``, in 60 digits: a binomial number of losses is positive."""
    each = mp.mpf(epsilon)
    p = 1 / (1 + mp.exp(-each))
    found = mp.mpf(0)
    for k in range(count + 1):
        loss = (2 * k - count) * each
        if loss > at:
            found += mp.binomial(count, k) * p**k * (1 - p) ** (count - k) * -mp.expm1(mp.mpf(at) - loss)
    return found


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-10, 1e-20, 1e-40])
@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 50), (0.01, 1000), (1.0, 7), (0.037, 211)])
def test_responses_are_never_less_than_the_truth_and_hardly_more(
    epsilon: float, count: int, delta: float
) -> None:
    found = epsilon_of_sum([response(epsilon, count)], delta)
    assert delta_of_responses(epsilon, count, found) <= delta
    less = min(found, epsilon * count) * (1 - 1e-4) - 1e-4
    assert less <= 0 or delta_of_responses(epsilon, count, less) > delta


def exact_delta(laws: list[LossLaw], at: float) -> Any:
    """delta of a sum of a few atoms by enumeration, in 60 digits."""
    sums = {mp.mpf(0): mp.mpf(1)}
    for law in laws:
        for _ in range(law.count):
            atoms = [
                (mp.mpf(float(x)), mp.mpf(float(m))) for x, m in zip(law.losses, law.masses, strict=True)
            ]
            new: dict[Any, Any] = {}
            for loss, mass in sums.items():
                for x, m in atoms:
                    new[loss + x] = new.get(loss + x, mp.mpf(0)) + mass * m
            sums = new
    return mp.fsum(mass * -mp.expm1(mp.mpf(at) - loss) for loss, mass in sums.items() if loss > at)


MIXED = {
    "laplace": [LossLaw(_laplace(3, 4.0).losses, _laplace(3, 4.0).masses, 0.0, 4)],
    "laplace and response": [_laplace(2, 3.0), response(0.4, 3), response(0.05, 2)],
    "gaussian": [_gaussian(1.5)],
    "gaussian and laplace": [_gaussian(1.2), _laplace(1, 2.0)],
    "large and small": [response(6.0, 1), response(1e-3, 3)],
}


@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-15])
@pytest.mark.parametrize("name", MIXED)
def test_sums_of_different_laws(name: str, delta: float) -> None:
    found = epsilon_of_sum(MIXED[name], delta)
    assert math.isfinite(found)
    assert exact_delta(MIXED[name], found) <= delta
    most = sum(law.count * float(law.losses.max()) for law in MIXED[name])
    less = min(found, most) * (1 - 1e-3) - 1e-3
    assert less <= 0 or exact_delta(MIXED[name], less) > delta


def test_infinite_losses_are_taken_off_delta() -> None:
    one = epsilon_of_sum([response(0.1, 20, 1e-8)], 1e-6)
    assert one > epsilon_of_sum([response(0.1, 20)], 1e-6)
    assert epsilon_of_sum([response(0.1, 20, 1e-7)], 1e-6) == math.inf


def test_no_loss_at_all() -> None:
    assert epsilon_of_sum([LossLaw(np.zeros(1), np.ones(1))], 1e-6) == 0.0


# --- the bound on the error of the convolution ---


def long_convolution(values: list[np.ndarray]) -> np.ndarray:
    """Circular, term by term in long doubles: no term is negative, so its relative error is size x 2^-63 at most."""
    size = len(values[0])
    found = np.zeros(size, np.longdouble)
    found[0] = 1
    for one in values:
        whole = np.convolve(found, one.astype(np.longdouble))
        found = whole[:size].copy()
        found[: len(whole) - size] += whole[size:]
    return found


@pytest.mark.parametrize("size", [8, 64, 1024])
@pytest.mark.parametrize("shape", ["random", "one", "two", "geometric"])
def test_the_error_of_the_convolution_is_within_its_bound(size: int, shape: str) -> None:
    rng = np.random.default_rng(size)
    values = {
        "random": rng.random(size),
        "one": np.eye(size)[size // 3],
        "two": np.eye(size)[1] + np.eye(size)[size // 2],
        "geometric": 0.5 ** np.arange(size),
    }[shape]
    other = np.eye(size)[0] + 0.3 * np.eye(size)[size - 1]
    values, other = values / values.sum(), other / other.sum()
    found, bound = convolved([(values, 3), (other, 2)])
    error = float(np.abs(found - long_convolution([values, values, values, other, other])).sum())
    assert error <= bound <= 1e-10
    assert error > 0 or shape == "one"  # there is an error to bound


@pytest.mark.parametrize("count", [1, 100, 10_000])
def test_the_bound_is_small_against_the_whole_mass(count: int) -> None:
    values = np.zeros(1 << 17)
    values[:200] = 1 / 200
    assert convolved([(values, count)])[1] <= 1e-9 * max(count / 100, 1)


def test_a_convolution_of_too_many_is_not_trusted() -> None:
    values = np.full(4, 0.25)
    values[0] += 1e-3  # not a law: its powers grow
    assert convolved([(values, 10_000)])[1] == math.inf


def test_what_the_convolution_may_miss_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = epsilon_of_sum([response(0.1, 50)], 1e-6)

    def coarse(tilted: Any) -> tuple[Any, float]:
        return convolved(tilted)[0], 1e-2

    monkeypatch.setattr(losses, "convolved", coarse)
    assert epsilon_of_sum([response(0.1, 50)], 1e-6) > plain + 1e-4


# --- atoms on a grid ---


def divergence(xs: Any, masses: Any, at: float) -> float:
    return math.fsum(m * -math.expm1(at - x) for x, m in zip(xs, masses, strict=True) if x > at)


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(1e-3, 1)), min_size=1, max_size=5),
    st.floats(1e-3, 1.0),
    st.floats(-4, 4),
)
@settings(deadline=None, max_examples=60)
def test_a_grid_dominates_the_law_and_keeps_both_masses(
    atoms: list[tuple[float, float]], step: float, at: float
) -> None:
    law = LossLaw(*(np.array(column) for column in zip(*atoms, strict=True)))
    split = on_grid(law, step)
    assert float(split.masses.sum()) == pytest.approx(float(law.masses.sum()), rel=1e-12)
    other = float((split.masses * np.exp(-split.losses)).sum())
    assert other == pytest.approx(float((law.masses * np.exp(-law.losses)).sum()), rel=1e-9)
    before = divergence(law.losses, law.masses, at)
    assert divergence(split.losses, split.masses, at) >= before * (1 - 1e-9) - 1e-13


@pytest.mark.parametrize("law", [_laplace(3, 4.0), _gaussian(2.5), _response(0.3, 0.0)])
def test_a_law_is_symmetric_and_a_probability_under_both(law: LossLaw) -> None:
    assert float(law.masses.sum()) == pytest.approx(1.0, rel=1e-12)
    assert float((law.masses * np.exp(-law.losses)).sum()) == pytest.approx(1.0, rel=1e-12)
    turned = LossLaw(-law.losses, law.masses * np.exp(-law.losses))  # the other order of the pair
    for at in (-0.5, 0.0, 0.1, 0.3):
        one, two = (divergence(each.losses, each.masses, at) for each in (law, turned))
        assert one == pytest.approx(two, rel=1e-9, abs=1e-13)
