"""gcm's statistics: values by hand, agreement with plain formulas, edge cases, the public plan."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.gcm_bins import SCALE, binned_moments, binned_sensitivity, binned_weight
from dpcausal.stats.gcm_fit import block_residuals, classical_gcm, gcm_pvalue, gcm_statistic
from dpcausal.stats.gcm_parts import (
    STEPS,
    PartPlan,
    cut_moments,
    cut_scores,
    part_plan,
    part_pvalue,
    part_score,
)

ONE = PartPlan(1, 1, 1.0, 0.5, 320)


def score(x: np.ndarray, y: np.ndarray, z: np.ndarray, discrete: tuple[int, ...] = ()) -> float:
    """t of one part."""
    return part_score(x, y, z, discrete, ONE)[0]


def test_statistic_is_the_root_n_mean_over_the_standard_deviation() -> None:
    r = np.random.default_rng(0).normal(0.3, 1, 50)
    assert gcm_statistic(r) == pytest.approx(math.sqrt(50) * r.mean() / r.std())
    assert gcm_statistic(np.zeros(5)) == 0.0
    assert gcm_statistic(np.empty(0)) == 0.0
    assert gcm_pvalue(1.959963984540054) == pytest.approx(0.05)


def test_classical_statistic_is_standard_normal_under_the_null() -> None:
    """A rough fit uses up degrees of freedom; the variance must know. 200 draws: bounds of four standard errors."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        z = rng.normal(size=(120, 2))
        f = np.sin(2 * z[:, 0]) + z[:, 1]
        found.append(classical_gcm(f + rng.normal(size=120), f + rng.normal(size=120), z)[0])
    assert abs(np.mean(found)) < 0.28
    assert np.std(found) == pytest.approx(1.0, abs=0.2)


def test_blocks_add_up() -> None:
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=1500), rng.normal(size=1500), rng.normal(size=(1500, 1))
    total = variance = 0.0
    for k in (0, 1):
        part_x, part_y = x[k::2] - x[k::2].mean(), y[k::2] - y[k::2].mean()
        residuals, _, own = block_residuals(part_x, part_y, z[k::2], ())
        products = residuals.prod(axis=1)
        total, variance = total + products.sum(), variance + products @ products / own
    assert classical_gcm(x, y, z)[0] == pytest.approx(total / math.sqrt(variance))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 30])
@pytest.mark.parametrize("d", [0, 1, 3])
def test_nothing_fails_on_odd_rows(n: int, d: int) -> None:
    z = np.zeros((n, d))
    constant, ramp = np.ones(n), np.arange(float(n))
    for x, y in ((constant, constant), (constant, ramp), (ramp, ramp)):
        for deals in (1, 2):
            t, own = part_score(x, y, z, (), PartPlan(1, deals, 1.0, 0.5, 320))
            assert math.isfinite(t)
            assert 0 < own <= 1
        statistic, pvalue = classical_gcm(x, y, z)
        assert math.isfinite(statistic)
        assert 0 <= pvalue <= 1
    assert score(constant, ramp, z) == 0.0
    assert binned_moments(constant, ramp, np.zeros(n, np.int64))[0] == 0.0


def test_part_score_sees_dependence_and_takes_z_out() -> None:
    rng = np.random.default_rng(2)
    z = rng.normal(size=(1000, 1))
    noise = rng.normal(size=(3, 1000))
    x = 3 * z[:, 0] ** 2 + noise[0]
    assert score(x, 3 * z[:, 0] ** 2 + noise[0] + noise[1], z) > 10
    assert abs(score(x, -3 * z[:, 0] ** 2 + noise[2], z)) < 4  # four standard deviations
    assert score(x, -3 * z[:, 0] ** 2 + noise[2], z[:, :0]) < -10
    codes = np.floor(2 * z)  # a z of levels is matched, not measured
    assert abs(score(codes[:, 0] ** 2 + noise[0], -(codes[:, 0] ** 2) + noise[2], codes, (0,))) < 4


def test_scale_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    x, y, z = rng.normal(size=100), rng.normal(size=100), rng.normal(size=(100, 2))
    assert score(1e9 * x + 5, 1e-9 * y, 1e6 * z) == pytest.approx(score(x, y, z), rel=1e-6)


def test_cut_scores_by_hand() -> None:
    plan = PartPlan(3, 1, 2.0, 0.5, 320)
    assert cut_scores([], plan) == (0, 0)
    assert cut_scores([(9.0, 0.5), (-9.0, 0.5), (1.0, 0.5)], plan) == (STEPS // 2, STEPS + STEPS // 8)
    many = PartPlan(2, 10**9, 1.0, 0.5, 320)  # r(own) = own + (1 - own)/2
    half = math.sqrt(0.75 / 1.0)
    assert cut_scores([(1.0, 1.0), (1.0, 0.5)], many) == (round(half * STEPS) + STEPS, STEPS)
    assert cut_scores([(1.0, float("nan")), (float("inf"), 0.5)], many) == (STEPS, STEPS // 2)


def test_moments_of_a_cut_normal() -> None:
    grid = np.linspace(-12, 12, 2_400_001)
    density = np.exp(-grid * grid / 2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])
    for clip in (0.5, 1.0, 3.0):
        cut = np.clip(grid / clip, -1, 1)
        assert cut_moments(clip) == pytest.approx((density @ cut**2, density @ cut**4), rel=1e-6)


def test_the_variance_of_the_null_law_is_raised_only_by_clear_evidence() -> None:
    plan = part_plan(1000, 1, 2.0)
    scale = 2 * STEPS * plan.deals / 2.0
    unit = STEPS * plan.deals
    usual = plan.parts * cut_moments(plan.clip)[0] * unit / 2
    assert part_pvalue(5.0 * unit, 0.0, plan, scale) == part_pvalue(5.0 * unit, 1.2 * usual, plan, scale)
    assert part_pvalue(5.0 * unit, 4.0 * usual, plan, scale) > 1.5 * part_pvalue(5.0 * unit, 0.0, plan, scale)
    assert part_pvalue(0.0, usual, plan, scale) == 1.0


def test_binned_moments_by_hand_and_against_pairs() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, SCALE + 1, (2, 40)) / SCALE
    bins = rng.integers(-3, 3, 40)
    covariance = variance = 0.0
    for b in np.unique(bins):
        u, v = x[bins == b], y[bins == b]
        n = len(u)
        covariance += sum((u[i] - u[j]) * (v[i] - v[j]) for i in range(n) for j in range(i)) / n
        variance += u.var() * n * v.var() * n / (n - 1) if n > 1 else 0.0
    assert list(binned_moments(x, y, bins)) == pytest.approx([covariance, variance])


def test_binned_variance_is_that_of_random_pairing() -> None:
    rng = np.random.default_rng(6)
    x, y, bins = rng.random(12), rng.random(12), np.repeat([0, 1], 6)
    drawn = []
    for _ in range(4000):
        order = np.concatenate([rng.permutation(6), 6 + rng.permutation(6)])
        drawn.append(binned_moments(x, y[order], bins)[0])
    assert np.var(drawn) == pytest.approx(
        binned_moments(x, y, bins)[1], rel=0.12
    )  # about five standard errors
    assert binned_moments(np.array([-5.0, 9.0]), np.array([0.0, 1.0]), np.zeros(2, np.int64))[0] == 0.5


@pytest.mark.parametrize("relation", [Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_variances_get_noise_of_the_promised_size(relation: Neighbours, epsilon: float) -> None:
    w = binned_weight(relation, epsilon)
    b = binned_sensitivity(relation, w) / epsilon
    assert b / w == pytest.approx(0.8 * b**2)


def test_fixed_labels_are_refused() -> None:
    with pytest.raises(InputError, match="replace-one"):
        binned_sensitivity(Neighbours.FIXED_LABELS, 1.0)


def test_plan_keeps_fits_within_their_sizes() -> None:
    for n in (1, 50, 1000, 30_000, 1_000_000):
        for d in (0, 1, 5):
            for epsilon in (0.05, 1.0, 10.0):
                plan = part_plan(n, d, epsilon)
                assert plan.parts >= 1
                assert plan.parts == 1 or n / plan.parts >= 24 + 7 * d
                assert n / plan.parts <= plan.max_rows
                assert 1.0 <= plan.clip <= 3.0
                assert plan.floor == (0.5 if d else 1.0)
    assert part_plan(10_000, 1, 2.0, level=1e-6).parts > part_plan(10_000, 1, 2.0).parts
    assert part_plan(10_000, 2, 2.0, numeric=False).floor == 1.0
    assert [part_plan(n, 1, 2.0).deals for n in (2_000, 5_000, 20_000, 20_001)] == [8, 4, 2, 1]
