"""Level and power of the test on measured tables, by simulation with fixed seeds.

A rate over B draws of a true level p <= .065 exceeds .065 + 4 sqrt(.065 .935/B) with probability below 4e-5; the
grid has fewer than 100 rates, so a correct test fails by chance with probability below .005, at one fixed seed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.stats.measured import GAUSSIAN, LAPLACE, measured_test, minors


def tables(rng: np.random.Generator, n: int, k: int, px: float, py: float, phi: float = 0.0) -> np.ndarray:
    cell = np.outer([px, 1 - px], [py, 1 - py])
    shift = phi * math.sqrt(px * (1 - px) * py * (1 - py))
    cell = cell + np.array([[shift, -shift], [-shift, shift]])
    return rng.multinomial(n, np.tile(cell.ravel(), k) / k).reshape(k, 2, 2)


def rate(
    seed: int, draws: int, n: int, k: int, epsilon: float, relation: str, noise: str,
    margins: tuple[float, float] = (0.5, 0.5), phi: float = 0.0, form: str = "combined",
) -> float:  # fmt: skip
    rng = np.random.default_rng(seed)
    twice = 2.0 if relation == "replace-one" else 1.0
    hits = 0
    for _ in range(draws):
        counts = tables(rng, n, k, *margins, phi)
        if noise == "laplace":
            variance, drawn = 2 * (twice / epsilon) ** 2, rng.laplace(0, twice / epsilon, counts.shape)
        else:
            variance, drawn = twice / epsilon**2, rng.normal(0, math.sqrt(twice) / epsilon, counts.shape)
        found = measured_test(
            counts + drawn, variance, kurtosis=LAPLACE if noise == "laplace" else GAUSSIAN,
            n=n if relation == "replace-one" else None, form=form,  # type: ignore[arg-type]
        )  # fmt: skip
        hits += found.pvalue < 0.05
    return hits / draws


@pytest.mark.thin(3)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("k", [1, 8, 64])
def test_level_is_kept(k: int, relation: str, noise: str) -> None:
    draws = 400
    rates = [
        rate(k + i, draws, n, k, epsilon, relation, noise, margins)
        for i, (n, epsilon, margins) in enumerate(
            [
                (500, 0.5, (0.5, 0.5)),
                (1000, 1.0, (0.1, 0.1)),
                (5000, 0.1, (0.5, 0.5)),
                (20000, 2.0, (0.1, 0.3)),
            ]
        )
    ]
    assert max(rates) <= 0.065 + 4 * math.sqrt(0.065 * 0.935 / draws)
    assert 0.03 <= np.mean(rates) <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("margins", [(0.5, 0.5), (0.1, 0.1)])
def test_level_on_the_whole_grid(margins: tuple[float, float], relation: str, noise: str) -> None:
    draws = 1000
    rates = [
        rate(k * n, draws, n, k, epsilon, relation, noise, margins)
        for k in (1, 4, 8, 64)
        for n in (500, 1000, 5000, 20000)
        for epsilon in (0.1, 0.5, 1.0, 2.0)
    ]
    assert max(rates) <= 0.065 + 4 * math.sqrt(0.065 * 0.935 / draws)
    assert 0.04 <= np.mean(rates) <= 0.055


def test_forgetting_the_noise_is_caught() -> None:
    """The same simulation with a variance of zero, or 30% too small, rejects too often."""
    rng = np.random.default_rng(3)
    ignored = understated = 0
    for _ in range(400):
        noisy = tables(rng, 1000, 8, 0.5, 0.5) + rng.laplace(0, 4.0, (8, 2, 2))
        ignored += measured_test(noisy, 0.0, n=1000).pvalue < 0.05
        understated += measured_test(noisy, 0.7 * 32.0, n=1000).pvalue < 0.05
    assert ignored / 400 > 0.15
    assert understated / 400 > 0.065


def test_power_close_to_the_test_without_noise() -> None:
    # n = 1000, k = 64, epsilon = 1 replace-one, phi = .25: .9 or more was measured; 4 standard errors below
    assert rate(1, 300, 1000, 64, 1.0, "replace-one", "laplace", phi=0.25) > 0.9 - 4 * math.sqrt(0.09 / 300)
    assert rate(2, 300, 1000, 1, 0.5, "replace-one", "laplace", phi=0.12) > 0.9 - 4 * math.sqrt(0.09 / 300)


def test_contrasts_have_mean_zero_under_any_noise() -> None:
    """Mean of N T - R C' over draws, skewed noise included: the proof needs only mean zero and independence."""
    rng = np.random.default_rng(12)
    draws = 200_000
    cell = np.outer([0.2, 0.8], [0.3, 0.5, 0.2][:2] / np.sum([0.3, 0.5]))
    counts = rng.multinomial(12, cell.ravel(), draws).reshape(draws, 2, 2).astype(float)
    noisy = counts + rng.exponential(3.0, counts.shape) - 3.0
    rows, columns, totals = noisy.sum(2), noisy.sum(1), noisy.sum((1, 2))
    out = np.empty_like(noisy)
    minors(noisy, rows, columns, totals, out)
    error = out.std(axis=0) / math.sqrt(draws)
    assert (np.abs(out.mean(axis=0)) < 5 * error).all()  # by chance below 3e-6
