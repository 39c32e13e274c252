"""How clearly a dependence shows: classical without noise, less with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcausal.core.forecast import smallest_found
from dpcausal.planning.power import (
    NOISE_PATTERNS,
    Expected,
    directions,
    margin,
    normals,
    patterns,
    power_of,
    power_of_evidence,
)
from dpcausal.stats.components import interaction


def loud(variance: float) -> Expected:
    return Expected(10_000, 2, 3, (2, 3), None, lambda columns: variance)


@pytest.mark.parametrize("share", [None, 0.1, 0.01])
@pytest.mark.parametrize("shape", [(2, 2, ()), (3, 4, ()), (2, 2, (2, 2)), (3, 3, (3,)), (4, 2, (2, 5))])
def test_without_noise_every_row_counts(shape: tuple[int, int, tuple[int, ...]], share: float | None) -> None:
    """w = sqrt(chi2/n), so the noncentrality per w^2 is n, up to the test's floor under variances."""
    x, y, given = shape
    assert Expected(1e6, x, y, given, share).worth == pytest.approx(1e6, rel=2e-3)


def test_noise_takes_away() -> None:
    worth = [loud(variance).worth for variance in (0.0, 10.0, 1e3, 1e5)]
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] < worth[0] / 10


def test_one_pair_by_hand() -> None:
    """Two binary columns: M has variance n/16 + s2/4 in its one entry, and a dependence w moves it by n w/4."""
    n, s2 = 5000.0, 700.0
    table = Expected(n, 2, 2, (), None, lambda columns: s2 if len(columns) == 2 else 0.0)
    assert table.worth == pytest.approx((n / 4) ** 2 / (n / 16 + s2 / 4), rel=1e-3)


def test_directions_are_orthonormal_under_the_margin() -> None:
    p = margin(4, 0.03)
    u = directions(p)
    assert p.sum() == pytest.approx(1.0)
    assert u.T @ np.diag(p) @ u == pytest.approx(np.eye(3))
    assert p @ u == pytest.approx(np.zeros(3))


def test_patterns_never_change() -> None:
    """A plan made twice is the same plan."""
    assert normals(5, 3).tolist() == normals(5, 3).tolist()
    assert loud(50.0).worth == loud(50.0).worth
    draws = normals(0, 100_000)
    assert abs(draws.mean()) < 0.02  # 6 standard errors
    assert abs((draws**4).mean() - 3) < 0.2


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (4, 2, 3)])
def test_patterns_are_components(shape: tuple[int, ...]) -> None:
    """Each is the interaction of draws of its own; those of another component are others."""
    draws = [normals(1_000_003 * (97 * draw + 2), math.prod(shape)) for draw in range(NOISE_PATTERNS)]
    assert patterns(2, shape) == pytest.approx(np.array([interaction(one.reshape(shape)) for one in draws]))
    assert len({float(one.ravel()[0]) for one in (*patterns(2, shape), *patterns(3, shape))}) == 24


@pytest.mark.parametrize("rows", [1e3, 1e6])
def test_the_smallest_dependence_found_inverts_power(rows: float) -> None:
    for table in (loud(100.0), Expected(rows, 2, 2, (2, 2), 0.1, lambda columns: 40.0)):
        w = smallest_found(lambda w, table=table: power_of(table, w, 0.01), 0.9)  # type: ignore[misc]
        assert power_of(table, w, 0.01) == pytest.approx(0.9, abs=1e-4)
        w = smallest_found(lambda w, table=table: power_of_evidence(table, w, 1.0), 0.9)  # type: ignore[misc]
        assert power_of_evidence(table, w, 1.0) == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize("level", [0.01, 0.05])
def test_without_dependence_the_power_is_the_level(level: float) -> None:
    assert power_of(loud(100.0), 0.0, level) == pytest.approx(level)
