"""Error bounds: exact formulas agree with simulation, the papers' do not hold or do, as told."""

from __future__ import annotations

import numpy as np
import pytest

from dpcausal.planning.sieve import (
    claimed_type_one,
    claimed_type_two,
    margin_error,
    margin_error_bound,
    type_one_error,
    type_two_error,
)

RUNS = 100_000
OFF = 5 * np.sqrt(0.25 / RUNS)  # five standard deviations at most: fails with probability below 1e-6


def filtered(alpha: float, tweak: float, epsilon: float, rng: np.random.Generator) -> float:
    """Algorithm 1 with threshold noise by eps', Delta = 1."""
    prime = epsilon / 2
    sieve = alpha + rng.laplace(0, 4 / prime, RUNS) >= -tweak + rng.laplace(0, 2 / prime, RUNS)
    return float(1 - np.mean(sieve & (alpha + rng.laplace(0, 2 / epsilon, RUNS) >= 0)))


@pytest.mark.parametrize(("alpha", "tweak"), [(1.0, 20.0), (2.0, 0.0), (0.5, 3.0)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_errors_of_sieve_and_examine_are_exact(alpha: float, tweak: float, epsilon: float) -> None:
    rng = np.random.default_rng(3)
    assert abs(filtered(alpha, tweak, epsilon, rng) - type_one_error(alpha, tweak, epsilon)) < OFF
    assert abs(1 - filtered(-alpha, tweak, epsilon, rng) - type_two_error(alpha, tweak, epsilon)) < OFF


def test_theorems_2_4_and_5_of_the_paper_do_not_hold() -> None:
    rng = np.random.default_rng(4)
    assert filtered(1.0, 20.0, 1.0, rng) > claimed_type_one(1.0, 20.0, 1.0) + OFF
    assert 1 - filtered(-2.0, 0.0, 1.0, rng) > claimed_type_two(2.0, 0.0, 1.0) + OFF


@pytest.mark.parametrize("value", [0.3, 0.8, 0.99, 1.01, 1.4, 3.0])
@pytest.mark.parametrize("margins", [(0.1, 0.1), (0.5, 0.2), (1.0, 2.0)])
@pytest.mark.parametrize("scale", [0.05, 0.5, 4.0])
def test_lemma_1_of_curate_holds(value: float, margins: tuple[float, float], scale: float) -> None:
    rng = np.random.default_rng(5)
    noisy = value + rng.laplace(0, scale, RUNS)
    deleted = noisy > 1 + margins[1]
    deleted |= ~deleted & (noisy >= 1 - margins[0]) & (rng.random(RUNS) < 0.5)
    wrong = float(np.mean(deleted != (value > 1)))
    assert abs(wrong - margin_error(value, 1.0, margins, scale)) < OFF
    assert wrong <= margin_error_bound(value, 1.0, margins, scale) + OFF
    assert margin_error(value, 1.0, margins, scale) <= margin_error_bound(value, 1.0, margins, scale) + 1e-12
