"""Bounds on errors of private tests: simulation stays within them, and near where they claim to be near."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from dpcausal.core.errors import InputError
from dpcausal.stats.chi2 import chi2_sensitivity
from dpcausal.stats.gcm_fit import gcm_pvalue, gcm_statistic
from dpcausal.stats.published import missed_by_chi2, missed_by_circle, noisy_gcm_power, type_two_error
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity

TAU, N1, N0 = 3.841, 400, 600


def chi2_of(c11: np.ndarray, c10: np.ndarray) -> np.ndarray:
    n, m = N1 + N0, c11 + c10
    return n * (N0 * c11 - N1 * c10) ** 2 / (m * (n - m) * N1 * N0)


@pytest.mark.parametrize(("signal", "scale"), [(0.0, 3.0), (0.1, 1.0), (0.3, 3.0), (0.5, 0.2)])
def test_power_of_noisy_products_is_as_theorem_2_3_says(signal: float, scale: float) -> None:
    """True residuals of correlation ``signal``: 1,500 data sets, a share is off by more than .06 with P < 1e-5."""
    rng = np.random.default_rng(1)
    n, rejected = 600, 0
    for _ in range(1500):
        x = rng.normal(size=n)
        y = signal * x + np.sqrt(1 - signal**2) * rng.normal(size=n)
        products = x * y + rng.laplace(0, scale, n)
        rejected += gcm_pvalue(gcm_statistic(products)) <= 0.05
    spread = np.sqrt(1 + signal**2)  # of a product of two normals
    assert rejected / 1500 == pytest.approx(noisy_gcm_power(n, signal, spread, scale), abs=0.06)


def tables(share: float, effect: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.binomial(N1, share + effect, 20_000), rng.binomial(N0, share - effect, 20_000)


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("gap", [2.0, 10.0])
def test_noise_misses_no_more_than_theorems_3_and_7_say(share: float, gap: float) -> None:
    """20,000 noisy tables: a share is above its expectation by more than .016 with P < 1e-5."""
    rng = np.random.default_rng(3)
    c11, c10 = tables(share, 0.05)
    found = chi2_of(c11, c10)
    beyond = found > TAU + gap
    n, epsilon = N1 + N0, 0.5
    assert np.count_nonzero(beyond) > 2000
    delta = chi2_sensitivity(N0, N1)
    noisy = found + rng.laplace(0, delta / epsilon, found.shape)
    assert np.mean(noisy[beyond] <= TAU) <= missed_by_chi2(gap, epsilon, delta) + 0.016
    delta = unit_circle_sensitivity(N1, N0, TAU)
    noisy = unit_circle(c11, c10, N1, N0, TAU) + rng.laplace(0, delta / epsilon, found.shape)
    positives = c11 + c10
    bound = np.mean([missed_by_circle(gap, epsilon, delta, TAU, int(m), n) for m in positives[beyond]])
    assert np.mean(noisy[beyond] <= 1.0) <= bound + 0.016


def test_the_bounds_are_attained_at_their_gap() -> None:
    """A table with chi-squared of tau + gamma exactly is missed that often: P(Lap <= -d) = exp(-d)/2."""
    m, n, gap, epsilon = 400, 1000, 6.0, 0.4
    delta = unit_circle_sensitivity(N1, N0, TAU)
    length = np.sqrt(((2 * m - n) / n) ** 2 + (4 * m * (n - m) / n**2) * (TAU + gap) / TAU)
    exact = 0.5 * np.exp(-(length - 1) * epsilon / delta)
    assert missed_by_circle(gap, epsilon, delta, TAU, m, n) == pytest.approx(exact)


def test_type_two_errors_are_within_theorem_2() -> None:
    rng = np.random.default_rng(4)
    c11, c10 = tables(0.4, 0.04)
    found, epsilon = chi2_of(c11, c10), 2.0
    delta = chi2_sensitivity(N0, N1)
    errs = np.mean(found + rng.laplace(0, delta / epsilon, found.shape) <= TAU)
    for gap in (0.5, 2.0, 6.0):
        below = float(np.mean(found <= TAU + gap))
        assert errs <= type_two_error(missed_by_chi2(gap, epsilon, delta), below) + 0.016
    assert type_two_error(0.7, 0.7) == 1.0


def test_no_signal_is_the_level_and_bad_numbers_are_refused() -> None:
    assert noisy_gcm_power(50, 0.0, 0.0, 1.0, 0.01) == pytest.approx(0.01)
    assert noisy_gcm_power(10**9, 0.1, 1.0, 1.0) == 1.0
    assert float(ndtr(0.0)) == 0.5
    for wrong in ((0, 1.0, 1.0, 1.0), (5, 1.0, 0.0, 0.0), (5, 1.0, -1.0, 1.0)):
        with pytest.raises(InputError):
            noisy_gcm_power(*wrong)
    for gap, epsilon, delta in ((-1.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0)):
        with pytest.raises(InputError):
            missed_by_chi2(gap, epsilon, delta)
    with pytest.raises(InputError):
        missed_by_circle(1.0, 1.0, 1.0, 3.84, 11, 10)
