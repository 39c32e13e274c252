"""Private medians: exact law, constants, smoothness, edges."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from dpcausal.audit.exact import median_law
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms import ExponentialMedian, SmoothMedian
from dpcausal.privacy.mechanisms.median import (
    LOWEST_RUNG,
    Range,
    admissible,
    median_runs,
    rung,
    smooth_sensitivity,
)
from dpcausal.testing import seeded


def test_runs_cover_the_range_and_say_the_distance() -> None:
    points = np.array([0, 2, 2, 7, 10])
    seen = {}
    for first, width, twice in median_runs(points, 10):
        seen.update(dict.fromkeys(range(first, first + width), twice))
    assert sorted(seen) == list(range(11))
    for r, twice in seen.items():
        below, upto = int((points < r).sum()), int((points <= r).sum())
        assert twice == max(0, 2 * below - 5, 5 - 2 * upto)


def test_the_shipped_median_has_its_exact_law() -> None:
    mechanism = ExponentialMedian(lower=0.0, upper=10.0, epsilon=1.0, cells=10)
    points = [1, 4, 4, 6, 9]
    with seeded(2):
        seen = Counter(round(mechanism.sample(points)) for _ in range(3000))
    law = median_law(mechanism, points, range(11))
    assert sum(law.values()) == pytest.approx(1)
    assert chi2.sf(sum((seen[r] - 3000 * p) ** 2 / (3000 * p) for r, p in law.items()), 10) > 1e-6  # type: ignore[index]


def test_it_finds_the_median() -> None:
    values = np.linspace(0.3, 0.5, 1001)
    with seeded(4):
        for mechanism in (
            ExponentialMedian(lower=0.0, upper=1.0, epsilon=1.0),
            SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, delta=1e-6),
            SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy"),
        ):
            assert abs(np.median([mechanism.sample(values) for _ in range(9)]) - 0.4) < 0.02


def test_constants_of_the_theory() -> None:
    tail = math.log(2e6)
    assert admissible("laplace", 1.0, 1e-6) == pytest.approx((0.5, 1 / (2 * tail)))
    assert admissible("gaussian", 1.0, 1e-6) == pytest.approx(
        (1 / (5 * math.sqrt(2 * tail)), 1 / (4 * (1 + tail)))
    )
    assert sum(admissible("cauchy", 1.0, None)) == 1.0
    for kind, epsilon, delta in product(("laplace", "gaussian"), (0.01, 0.3, 1.0), (1e-12, 1e-6, 0.1, 0.4)):
        assert admissible(kind, epsilon, delta).alpha > 0  # proved for all epsilon up to 1
    with pytest.raises(InputError, match="no proof"):
        admissible("gaussian", 40.0, 0.4)


def local_sensitivity(x: tuple[int, ...], values: range) -> int:
    middle = len(x) // 2
    return max(
        abs(sorted(x)[middle] - sorted((*x[:i], other, *x[i + 1 :]))[middle])
        for i in range(len(x))
        for other in values
    )


def test_smooth_sensitivity_is_what_the_definition_says() -> None:
    """max over all data sets y of e^(-beta d(x, y)) LS(y), by brute force on 3 values in 0..5."""
    values, beta = range(6), 0.4
    everything = list(product(values, repeat=3))
    local = {y: local_sensitivity(y, values) for y in everything}
    for x in [(0, 0, 0), (1, 2, 5), (2, 2, 3), (0, 5, 5), (3, 3, 3)]:
        brute = max(
            math.exp(-beta * min(sum(a != b for a, b in zip(x, z, strict=True)) for z in set(permuted(y))))
            * local[y]
            for y in everything
        )
        assert smooth_sensitivity(np.sort(np.array(x)), 5, beta) == pytest.approx(brute)


def permuted(y: tuple[int, ...]) -> list[tuple[int, ...]]:
    a, b, c = y
    return [(a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)]


def test_ladder_rungs() -> None:
    assert rung(0.0, 0.1) == LOWEST_RUNG == rung(16.0, 0.1)
    for target in (16.0001, 100.0, 1e9):
        found = rung(target, 0.1)
        assert target <= found < target * math.exp(0.1) * (1 + 1e-12)


def test_edges() -> None:
    with pytest.raises(InputError, match="odd"):
        SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, delta=1e-6).sample([0.1, 0.2])
    with pytest.raises(InputError, match="at least one"):
        ExponentialMedian(lower=0.0, upper=1.0, epsilon=1.0).sample([])
    assert Range(0.0, 1.0, 4).to_points([math.nan, -5.0, 0.5, math.inf]).tolist() == [0, 0, 2, 4]
    assert Range(2.0, 4.0, 4).to_value(9) == 4.0
