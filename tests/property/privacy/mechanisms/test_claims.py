"""Attack every mechanism's claim: searched neighbours never pass it, and noise 30% too small is caught."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.audit import exact
from dpcausal.privacy.mechanisms import (
    INTEGERS,
    Exponential,
    ExponentialMedian,
    Gaussian,
    Grid,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    SieveAndExamine,
    SmoothMedian,
    SparseVector,
    TopK,
)
from dpcausal.privacy.mechanisms.median import rung, smooth_sensitivity

ROUNDING = 1e-9  # relative, of the exact computation in float64
epsilons = st.floats(0.05, 4.0)
sensitivities = st.integers(1, 3)
FEW = settings(max_examples=25, deadline=None)


def within(loss: float, claim: float) -> bool:
    return loss <= claim * (1 + ROUNDING)


@FEW
@given(epsilons, st.integers(1, 40))
def test_laplace(epsilon: float, sensitivity: int) -> None:
    mechanism = Laplace(sensitivity=float(sensitivity), epsilon=epsilon, grid=INTEGERS)
    assert within(exact.worst_laplace(mechanism), epsilon)
    assert exact.worst_laplace(mechanism) == pytest.approx(epsilon, rel=1e-6)
    cheat = Laplace(
        sensitivity=float(sensitivity), epsilon=epsilon / 0.7, grid=INTEGERS
    )  # noise 30% too small
    assert not within(exact.worst_laplace(cheat), epsilon)


@FEW
@given(st.floats(0.01, 3.0), st.integers(1, 40))
def test_gaussian(rho: float, sensitivity: int) -> None:
    mechanism = Gaussian(sensitivity=float(sensitivity), rho=rho, grid=INTEGERS)
    worst = exact.worst_rho(*mechanism.steps)
    assert within(worst, rho)
    _, sigma = mechanism.steps
    assert not within(exact.worst_rho(sensitivity, 0.7 * sigma), rho)


@FEW
@given(epsilons, st.integers(1, 2), st.booleans(), st.sampled_from(["geometric", "laplace"]), sensitivities)
def test_sparse_vector(epsilon: float, positives: int, monotone: bool, noise: str, sensitivity: int) -> None:
    svt = SparseVector(
        sensitivity=float(sensitivity),
        epsilon=epsilon,
        positives=positives,
        monotone=monotone,
        noise=noise,  # type: ignore[arg-type]
        grid=INTEGERS,
    )
    worst = exact.worst_sparse_vector(noise, svt.scales, positives, sensitivity, monotone, (-sensitivity, 0))
    assert within(worst, epsilon)
    small = type(svt.scales)(*(0.7 * scale for scale in svt.scales))
    assert not within(exact.far_attack(noise, small, positives, sensitivity, monotone), epsilon)


@FEW
@given(epsilons, st.lists(st.integers(-6, 6), min_size=2, max_size=4), st.data())
def test_sparse_vector_on_any_stream(epsilon: float, queries: list[int], data: st.DataObject) -> None:
    svt = SparseVector(sensitivity=1.0, epsilon=epsilon, positives=2, grid=INTEGERS)
    shift = data.draw(st.lists(st.integers(-1, 1), min_size=len(queries), max_size=len(queries)))
    here = exact.sparse_vector_law(queries, "geometric", svt.scales, 2)
    there = exact.sparse_vector_law(
        [q + d for q, d in zip(queries, shift, strict=True)], "geometric", svt.scales, 2
    )
    assert within(exact.worst_loss(here, there), epsilon)


@FEW
@given(epsilons, st.floats(0.2, 0.8))
def test_sieve_and_examine(epsilon: float, share: float) -> None:
    mechanism = SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=share * epsilon, epsilon_examine=(1 - share) * epsilon, grid=INTEGERS
    )
    scales, examine = mechanism.sieve.scales, mechanism.examine.steps[1]
    claim = mechanism.event("x").epsilon
    assert within(exact.worst_sieve("geometric", scales, examine), claim)
    small = type(scales)(*(0.7 * scale for scale in scales))
    assert not within(exact.worst_sieve("geometric", small, 0.7 * examine), claim)


@FEW
@given(epsilons, st.integers(2, 30))
def test_subsampled_sieve(epsilon: float, ratio: int) -> None:
    """The row is in the subsample with probability 1/ratio; the other rows' subsample looks like the neighbour."""
    mechanism = SieveAndExamine(
        sensitivity=1.0,
        epsilon_sieve=epsilon,
        epsilon_examine=1.0,
        rows=ratio,
        subsample=1,
        sieve_sensitivity=1.0,
        grid=INTEGERS,
    )
    scales, worst = mechanism.sieve.scales, 0.0
    for queries in product((-1, 0), repeat=2):
        without = exact.sparse_vector_law(queries, "geometric", scales)
        for shift in product((-1, 0, 1), repeat=2):
            moved = [q + d for q, d in zip(queries, shift, strict=True)]
            inside = exact.sparse_vector_law(moved, "geometric", scales)
            worst = max(worst, exact.worst_loss(exact.mixture(without, inside, 1 / ratio), without))
    assert within(worst, epsilon)
    assert worst > 0.9 * epsilon


@FEW
@given(epsilons, st.booleans(), sensitivities)
def test_selection(epsilon: float, monotone: bool, sensitivity: int) -> None:
    common = {"sensitivity": float(sensitivity), "monotone": monotone, "grid": INTEGERS}
    largest, small = (NoisyMax(epsilon=e, **common) for e in (epsilon, epsilon / 0.7))  # type: ignore[arg-type]
    assert within(
        exact.worst_selection(lambda s: exact.noisy_max_law(s, largest.scale), sensitivity, monotone), epsilon
    )
    assert not within(
        exact.worst_selection(lambda s: exact.noisy_max_law(s, small.scale), sensitivity, monotone), epsilon
    )
    for kind, flip in ((PermuteAndFlip, True), (Exponential, False)):
        right, wrong = (kind(epsilon=e, **common) for e in (epsilon, epsilon / 0.7))  # type: ignore[arg-type]
        claim = right.event("x").epsilon
        assert within(
            exact.worst_selection(lambda s: exact.choice_law(right, s, flip), sensitivity, monotone),  # noqa: B023
            claim,
        )
        assert not within(
            exact.worst_selection(lambda s: exact.choice_law(wrong, s, flip), sensitivity, monotone),  # noqa: B023
            claim,
        )


@settings(max_examples=4, deadline=None)
@given(epsilons)
def test_top_k(epsilon: float) -> None:
    mechanism = TopK(sensitivity=1.0, count=2, epsilon=epsilon, grid=INTEGERS)
    assert within(exact.worst_top_k(mechanism.round, 2), epsilon)
    cheat = TopK(sensitivity=1.0, count=2, epsilon=epsilon / 0.7, grid=INTEGERS)
    assert not within(exact.worst_top_k(cheat.round, 2), epsilon)


@FEW
@given(epsilons, st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(0, 60))
def test_median(epsilon: float, points: list[int], other: int) -> None:
    mechanism = ExponentialMedian(lower=0.0, upper=60.0, epsilon=epsilon, cells=60)
    here, there = (exact.median_law(mechanism, data, range(61)) for data in (points, [other, *points[1:]]))
    assert within(exact.worst_loss(here, there), epsilon)


def test_median_with_noise_too_small_is_caught() -> None:
    cheat = ExponentialMedian(lower=0.0, upper=1.0, epsilon=1 / 0.7, cells=10**9)
    assert exact.worst_median(cheat, (0, 10, 10**9), 5) > 1.4


@FEW
@given(
    st.floats(0.2, 1.0),
    st.sampled_from(["laplace", "gaussian", "cauchy"]),
    st.lists(st.integers(0, 40), min_size=3, max_size=3),
    st.integers(0, 40),
)
def test_smooth_median(epsilon: float, noise: str, points: list[int], other: int) -> None:
    delta = None if noise == "cauchy" else 1e-4
    mechanism = SmoothMedian(lower=0.0, upper=40.0, epsilon=epsilon, delta=delta, noise=noise, cells=40)  # type: ignore[arg-type]
    here, there = (np.sort(np.array(values)) for values in (points, [other, *points[1:]]))
    laws = [(int(values[1]), mechanism.scale(values)) for values in (here, there)]
    real = exact.scaled_delta(mechanism.noise, *laws, epsilon)
    assert real <= (delta or 1e-13)


@FEW
@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=9).filter(lambda x: len(x) % 2 == 1),
    st.integers(0, 10**6),
    st.floats(0.01, 0.5),
)
def test_scales_of_neighbours_are_at_most_one_rung_apart(points: list[int], other: int, beta: float) -> None:
    here, there = np.sort(np.array(points)), np.sort(np.array([other, *points[1:]]))
    s, t = (smooth_sensitivity(x, 10**6, beta) for x in (here, there))
    assert abs(math.log(s / t)) <= beta * (1 + 1e-12)
    moved = abs(int(here[here.size // 2]) - int(there[there.size // 2]))
    assert moved <= min(s, t) * (1 + 1e-12)
    ladder = beta * (1 + 2.0**-20)
    assert abs(math.log(rung(s, ladder) / rung(t, ladder))) <= ladder * (1 + 1e-9)


def test_smooth_median_with_the_wrong_beta_is_caught() -> None:
    """beta = epsilon (the paper's e^(-k epsilon)): scales a factor e apart; the real delta is far above 1e-6."""
    assert exact.scaled_delta("laplace", (0, 100.0), (0, 100.0 * math.e), 1.0) > 1e-2
    paper = math.exp(math.log(1e6) / 2)
    assert exact.scaled_delta("laplace", (0, 100.0), (0, 100.0 * paper), 1.0) > 0.97


@FEW
@given(
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
    st.floats(-1.0, 1.0),
    st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)),
)
def test_grid_sensitivity(
    sensitivity: float, value: float, share: float, errors: tuple[float, float]
) -> None:
    grid = Grid.fitting(sensitivity)
    first = value + errors[0] * grid.step
    second = value + share * sensitivity + errors[1] * grid.step
    moved = abs(int(grid.to_integers(first)) - int(grid.to_integers(second)))
    assert moved <= grid.sensitivity(sensitivity)


@FEW
@given(st.integers(1, 30), st.floats(0.01, 10.0), st.integers(0, 2**32 - 1))
def test_grid_sensitivity_of_vectors(size: int, sensitivity: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for norm in (1, 2):
        grid = Grid.fitting(sensitivity, size, norm)
        direction = rng.normal(size=size)
        change = sensitivity * direction / np.linalg.norm(direction, norm)
        values = rng.normal(size=size) * 100
        moved = grid.to_integers(values + change) - grid.to_integers(values)
        assert np.linalg.norm(moved, norm) <= grid.sensitivity(sensitivity, size, norm)
