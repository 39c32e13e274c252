"""The noisy null law against quadrature, its limits, and the level of the rule."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfc, erfcx, ndtr
from scipy.stats import norm

from dpcausal.core.errors import InputError
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight
from dpcausal.stats.noisy_normal import laplace_tail, normal_pvalue


def by_quadrature(t: float, v: float, b: float) -> float:
    """2 P(N(0, v) + Lap(b) >= t), integrating over the Laplace part."""
    s = math.sqrt(v)

    def upper(u: float) -> float:
        return (norm.sf((t - u) / s) + norm.sf((t + u) / s)) * math.exp(-u / b) / (2 * b)

    points = sorted(
        {min(max(t + j * s, 0.0), 60 * b) for j in (-8, -4, -2, -1, 0, 1, 2, 4, 8)} | {0.0, b, 5 * b, 60 * b}
    )
    parts = [quad(upper, lo, hi, epsabs=1e-14, epsrel=1e-13)[0] for lo, hi in pairwise(points)]
    return 2 * sum(parts)


@pytest.mark.thin(4)
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("v", [1e-3, 0.3, 1.0, 20.0, 500.0])
@pytest.mark.parametrize("b", [0.05, 1.0, 7.0])
def test_closed_form_agrees_with_quadrature(t: float, v: float, b: float) -> None:
    assert laplace_tail(t, v, b) == pytest.approx(by_quadrature(t, v, b), abs=1e-10)


def by_other_functions(t: float, variance: float, b: float) -> float:
    """The same formula with the normal distribution function in place of erfc where the first erfcx would overflow."""
    s = math.sqrt(max(variance, 1e-200))
    with np.errstate(over="ignore", under="ignore"):
        z, a = np.float64(t) / s, s / b
        density = np.exp(-z * z / 2)
        if a >= z:
            first = density * erfcx((a - z) / math.sqrt(2)) / 2
        else:
            first = np.exp(min(a * a / 2 - t / b, 0.0)) * ndtr(z - a)
        tail = erfc(z / math.sqrt(2)) - density * erfcx((a + z) / math.sqrt(2)) / 2
    return float(np.clip(tail + first, 0.0, 1.0))


def test_all_sizes_of_numbers() -> None:
    rng = np.random.default_rng(1)
    for t, v, b in 10.0 ** rng.uniform([-4, -6, -3], [5, 8, 3], (2000, 3)):
        for variance in (v, 0.0, -v):
            assert laplace_tail(-t, variance, b) == pytest.approx(
                by_other_functions(t, variance, b), rel=1e-12
            )


def test_limits() -> None:
    assert laplace_tail(3.0, 0.0, 2.0) == pytest.approx(math.exp(-1.5), rel=1e-12)
    assert laplace_tail(3.0, -7.0, 2.0) == pytest.approx(math.exp(-1.5), rel=1e-12)
    assert laplace_tail(3.0, 4.0, 1e-9) == pytest.approx(normal_pvalue(3.0, 4.0), rel=1e-6)
    assert normal_pvalue(3.0, 4.0) == pytest.approx(2 * norm.sf(1.5), rel=1e-12)
    assert normal_pvalue(0.0, 0.0) == normal_pvalue(1.0, 0.0) == 1.0


def test_far_tails_stay_finite_and_ordered() -> None:
    for v in (0.0, 1e-30, 1.0, 1e8):
        p = [laplace_tail(t, v, 1e-3) for t in (0.0, 1.0, 10.0, 100.0, 1e4, 1e8)]
        assert all(0 <= value <= 1 for value in p)
        assert p[0] == pytest.approx(1.0)
        assert p == sorted(p, reverse=True)
    assert laplace_tail(700.0, 1e-12, 1.0) == pytest.approx(math.exp(-700.0), rel=1e-9)


def test_scale_must_be_a_number() -> None:
    for scale in (-1.0, 0.0, math.nan, math.inf):
        with pytest.raises(InputError):
            laplace_tail(1.0, 1.0, scale)


def level_of_rule(v: float, theta: float, level: float) -> float:
    """P(p <= level) when V~ = V + Lap(theta), K~ = N(0, V) + Lap(1): exact up to quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    edges = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0]
    total = 0.0
    for sign in (-1.0, 1.0):
        cuts = sorted(
            {*edges, *([v / theta] if sign < 0 and 0 < v / theta < 30 else [])}
        )  # kink where V~ = 0
        for lo, hi in pairwise(cuts):
            u = (lo + hi) / 2 + (hi - lo) / 2 * nodes
            for x, w in zip(u, weights * (hi - lo) / 2, strict=True):
                noisy = v + sign * theta * x

                def excess(c: float, noisy: float = noisy) -> float:
                    return laplace_tail(c, noisy, 1.0) - level

                critical = brentq(excess, 0.0, 60.0 + 10 * math.sqrt(max(noisy, 0.0)))
                total += w * math.exp(-x) / 2 * laplace_tail(critical, v, 1.0)
    return total


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0, 2.0, 3.0, 8.0])
def test_level_is_kept_when_the_variance_gets_enough(ratio: float) -> None:
    """``ratio`` = V/b_V; theta = .8 is the worst that ``kendall_weight`` allows."""
    assert 0.042 <= level_of_rule(0.8 * ratio, 0.8, 0.05) <= 0.056
    assert 0.008 <= level_of_rule(0.8 * ratio, 0.8, 0.01) <= 0.012


def test_level_is_lost_when_the_variance_gets_too_little() -> None:
    assert level_of_rule(8.0, 4.0, 0.05) > 0.075


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("shape", [(2, 2, 1), (2, 2, 64), (2, 3, 4), (3, 3, 1), (5, 5, 8)])
def test_weight_keeps_the_noise_on_the_variance_small(relation: str, shape: tuple[int, int, int]) -> None:
    for epsilon in (0.01, 0.1, 0.5, 1.0, 2.0, 10.0):
        weight = kendall_weight(relation, *shape, epsilon)
        scale = kendall_joint_sensitivity(relation, *shape, weight) / epsilon
        assert scale / weight <= 0.8 * scale**2 * (1 + 1e-12)
