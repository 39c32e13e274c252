"""The smooth sensitivity of a trimmed sum: by its definition, smooth, and never below what one value can do."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from dpcausal import testing
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms import SmoothTrimmedMean
from dpcausal.privacy.mechanisms.median import smooth_sensitivity
from dpcausal.privacy.mechanisms.trimmed_mean import trimmed_sensitivity

CELLS, N = 4, 5
SETS = [np.array(points) for points in combinations_with_replacement(range(CELLS + 1), N)]


def trimmed(points: np.ndarray, trim: int) -> int:
    return int(np.sort(points)[trim : N - trim].sum())


def neighbours(points: np.ndarray) -> list[np.ndarray]:
    """All sets with one value changed."""
    found = {
        tuple(sorted([*points[:i], new, *points[i + 1 :]])) for i in range(N) for new in range(CELLS + 1)
    }
    return [np.array(one) for one in found]


@pytest.mark.parametrize("trim", [0, 1, 2])
@pytest.mark.parametrize("beta", [0.05, 0.3, 1.0])
def test_it_covers_every_change_and_is_smooth(trim: int, beta: float) -> None:
    """Every set of five values in 0..4; a constant 30% too small is passed by some change."""
    most = 0.0
    for points in SETS:
        spread = trimmed_sensitivity(points, CELLS, trim, beta)
        for other in neighbours(points):
            assert spread <= math.exp(beta) * trimmed_sensitivity(other, CELLS, trim, beta) * (1 + 1e-12)
            moved = abs(trimmed(points, trim) - trimmed(other, trim))
            assert moved <= spread
            most = max(most, moved / spread)
    assert most > 0.75


def test_half_trimmed_is_the_median() -> None:
    for points in SETS:
        assert trimmed_sensitivity(points, CELLS, 2, 0.2) == smooth_sensitivity(points, CELLS, 0.2)


@pytest.mark.parametrize(("noise", "delta"), [("cauchy", None), ("laplace", 1e-6), ("gaussian", 1e-6)])
def test_the_noise_has_the_scale_of_the_proof(noise: Any, delta: float | None) -> None:
    values = np.concatenate([np.linspace(0.45, 0.55, 399), [0.0, 1.0]])
    mean = SmoothTrimmedMean(lower=0.0, upper=1.0, epsilon=1.0, delta=delta, noise=noise, trim=120)
    alpha, beta = mean.admissible
    points = np.rint(np.sort(values) * mean.cells).astype(np.int64)
    wanted = trimmed_sensitivity(points, mean.cells, 120, beta) / alpha
    assert wanted <= mean.scale(points) <= wanted * math.exp(beta) * 1.001
    with testing.seeded(3):
        drawn = [mean.sample(values) for _ in range(40)]
    assert abs(np.median(drawn) - 0.5) < 0.05  # scales below .02: fails with probability below 1e-6
    assert mean.scale(points) / (161 * mean.cells) < 0.02
    assert mean.event("x").epsilon == 1.0
    assert mean.event("x").delta == (delta or 0.0)


def test_what_can_not_be_trimmed_is_refused() -> None:
    with pytest.raises(InputError, match="trim must"):
        SmoothTrimmedMean(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy", trim=-1)
    with pytest.raises(InputError, match="4 values"):
        SmoothTrimmedMean(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy", trim=2).sample(
            [0.1, 0.2, 0.3, 0.4]
        )
