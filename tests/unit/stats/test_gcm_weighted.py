"""The weighted score: level, what it finds that the plain one can't, features and odd rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.stats.gcm_parts import (
    PartPlan,
    block_score,
    cut_scores,
    cut_sensitivity,
    part_pvalue,
    part_score,
    weight_features,
    weighted_score,
)


def drawn(rng: np.random.Generator, m: int, effect: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dependence that is positive for z > 0 and negative below."""
    z = rng.normal(size=(m, 1))
    f, (e, g) = np.sin(1.5 * z[:, 0]), rng.normal(size=(2, m))
    return f + e, -f + g + effect * np.sign(z[:, 0]) * e, z


def test_standard_normal_under_the_null_and_positive_where_the_sign_changes() -> None:
    """100 blocks of 160 rows: a mean has standard error .1, a standard deviation .07; bounds of four of them."""
    rng = np.random.default_rng(1)
    null = [weighted_score(*drawn(rng, 160, 0.0), ())[0] for _ in range(100)]
    assert abs(np.mean(null)) < 0.4
    assert np.std(null) == pytest.approx(1.0, abs=0.28)
    turned = [drawn(rng, 160, 0.5) for _ in range(50)]
    assert np.mean([weighted_score(*rows, ())[0] for rows in turned]) > 1.3
    assert abs(np.mean([block_score(*rows, ())[0] for rows in turned])) < 0.6


def test_codes_are_weights_too() -> None:
    rng = np.random.default_rng(2)
    found = []
    for _ in range(30):
        z = rng.integers(0, 2, (200, 1)) * 1.0
        x, g = rng.normal(size=(2, 200))
        found.append(weighted_score(x, (2 * z[:, 0] - 1) * 0.5 * x + g, z, (0,))[0])
    assert np.mean(found) > 2


def test_features_by_hand() -> None:
    z, base = np.array([[3.0, 1.0], [0.0, 5.0]]), np.array([[1.0, 1.0], [2.0, 1.0], [9.0, 4.0], [9.5, 1.0]])
    found = weight_features(z, base, (1,))
    assert np.allclose(found, [[1, 0, -1, 1, 0], [1, -1, 1, 0, 0]])


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7, 40])
@pytest.mark.parametrize("d", [0, 2])
def test_nothing_fails_on_odd_rows(n: int, d: int) -> None:
    z, ramp = np.zeros((n, d)), np.arange(float(n))
    plan = PartPlan(1, 1, 1.0, 1.0, 1440)
    for x, y in ((np.ones(n), ramp), (ramp, ramp), (np.ones(n), np.ones(n))):
        t, own = part_score(x, y, z, (), plan, weighted_score)
        assert math.isfinite(t)
        assert own == 1.0


def test_one_row_can_turn_a_part_around() -> None:
    """The bound of the plain score is needed here too."""
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=60), rng.normal(size=60), rng.random((60, 1))
    plan, found = PartPlan(1, 1, 1.0, 1.0, 1440), []
    for sign in (1.0, -1.0):
        x[1], y[1] = 1e6, sign * 1e6
        found.append(cut_scores([part_score(x, y, z, (), plan, weighted_score)], plan)[0])
    assert abs(found[0] - found[1]) == cut_sensitivity()


def test_one_sided_pvalues() -> None:
    plan = PartPlan(14, 1, 1.0, 1.0, 720)
    both = part_pvalue(900.0, 0.0, plan, 256.0)
    assert part_pvalue(900.0, 0.0, plan, 256.0, one_sided=True) == both / 2
    assert part_pvalue(-900.0, 0.0, plan, 256.0, one_sided=True) == 1 - both / 2


@pytest.mark.slow
def test_the_test_itself() -> None:
    """10 runs at n = 3,000, epsilon 2: independent ones reject at most 4 times (probability 6e-5 of more)."""
    schema = dc.Schema(x=dc.Numeric(-6, 6), y=dc.Numeric(-6, 6), z=dc.Numeric(-5, 5))
    rejected = {0.0: 0, 0.6: 0}
    with dc.testing.seeded(4):
        for effect in rejected:
            for k in range(10):
                x, y, z = drawn(np.random.default_rng([k, int(10 * effect)]), 3000, effect)
                data = dc.read({"x": x, "y": y, "z": z[:, 0]}, schema)
                test = dc.ci_test(data, "x", "y", ["z"], method="gcm", variant="weighted", epsilon=2.0)
                rejected[effect] += not test.independent
    assert rejected[0.0] <= 4
    assert rejected[0.6] >= 8
    assert dc.ci_test(data, "x", "y", ["z"], method="gcm", variant="weighted", epsilon=None).pvalue < 1e-6
    assert dc.ci_test(data, "x", "y", ["z"], method="gcm", epsilon=None).pvalue > 1e-6
