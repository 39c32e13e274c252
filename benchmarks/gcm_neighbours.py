"""Search for neighbours that move the statistics of gcm as far as they can, for ``gcm.py`` and the property tests.

Kernel ridge: two families of data sets, hill-climbed through the shipped regression.
- *groups*: rows in a few groups with the same (x, y, z), z on a line; sizes, places and values move.
- *star*: every row in a direction of its own at distance r from the centre, where the replaced row arrives. For a
  gaussian kernel that is k = c between centre and row, c^2 between rows: the configuration that makes ||w|| largest.

Bins: one or two bins of a few rows, values anywhere and at the corners, hill-climbed; and one pair made by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.stats.gcm_bins import binned_moments

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Rows (z, x, y) of which the first is replaced by ``other``."""

    z: Vector  # n x d
    x: Vector
    y: Vector
    other: tuple[Vector, float, float]

    def both(self) -> tuple[tuple[Vector, Vector, Vector], tuple[Vector, Vector, Vector]]:
        z, x, y = self.z.copy(), self.x.copy(), self.y.copy()
        z[0], x[0], y[0] = self.other
        return (self.z, self.x, self.y), (z, x, y)


def products(z: Vector, x: Vector, y: Vector, strength: float) -> Vector:
    """R by the shipped regression, gaussian kernel of bandwidth one."""
    left = ridge_residuals(z, np.column_stack([x, y]), Kernel(1.0), penalty_of(strength, len(x)))
    return np.asarray(left[:, 0] * left[:, 1])


def moved(pair: Pair, strength: float) -> dict[str, float]:
    """By how much each released quantity changes."""
    old, new = pair.both()
    r, s = products(*old, strength), products(*new, strength)
    return {
        "products": float(np.abs(r - s).sum()),
        "sum": abs(float(r.sum() - s.sum())),
        "squares": abs(float(r @ r - s @ s)),
    }


def star(n: int, c: float, x: float, signs: tuple[float, float, float, float]) -> Pair:
    """n - 1 rows (x, x) around the centre with k = c to it and c^2 to each other; one more row somewhere."""
    radius = np.sqrt(-2.0 * np.log(c))
    z = np.zeros((n, n))
    z[np.arange(1, n), np.arange(1, n)] = radius
    z[0, 0] = 50.0 if signs[0] == signs[2] else 0.0
    other = np.zeros(n)
    return Pair(
        z,
        np.r_[signs[0], np.full(n - 1, x)],
        np.r_[signs[1], np.full(n - 1, x)],
        (other, signs[2], signs[3]),
    )


def groups(n: int, rng: np.random.Generator) -> Pair:
    """A random pair of the first family."""
    size = int(rng.integers(1, 5))
    label = rng.integers(0, size, n)
    z = rng.normal(0, 3, size)[label][:, None]
    x, y = rng.choice([-1.0, 1.0], size)[label], rng.choice([-1.0, 1.0], size)[label]
    x[0], y[0] = rng.choice([-1.0, 1.0], 2)
    return Pair(z, x, y, (np.array([rng.normal(0, 3)]), *rng.choice([-1.0, 1.0], 2)))


def nudged(pair: Pair, rng: np.random.Generator) -> Pair:
    """A neighbour in the search: one group, or the replaced row, changes place or value."""
    z, x, y = pair.z.copy(), pair.x.copy(), pair.y.copy()
    kind = rng.integers(0, 4)
    same = np.flatnonzero(np.all(z == z[rng.integers(0, len(z))], axis=1))
    if kind == 0:
        z[same] += rng.normal(0, rng.choice([0.05, 0.5]), z.shape[1])
    elif kind == 1:
        x[same] = np.clip(x[same] + rng.normal(0, 0.5), -1, 1)
    elif kind == 2:
        y[same] = np.clip(y[same] + rng.normal(0, 0.5), -1, 1)
    else:
        place, u, v = pair.other
        step = place + rng.normal(0, 0.3, len(place))
        return replace(pair, other=(step, rng.choice([u, -1.0, 1.0]), rng.choice([v, -1.0, 1.0])))
    return Pair(z, x, y, pair.other)


def climb(
    start: Pair, gain: Callable[[Pair], float], steps: int, rng: np.random.Generator
) -> tuple[float, Pair]:
    """Keep every nudge that does not lose."""
    best, value = start, gain(start)
    for _ in range(steps):
        tried = nudged(best, rng)
        found = gain(tried)
        if found >= value:
            best, value = tried, found
    return value, best


def largest(what: str, n: int, strength: float, seed: int, starts: int = 4, steps: int = 60) -> float:
    """The largest change of ``what`` found for n rows and lambda = ``strength``."""
    rng = np.random.default_rng(seed)

    def gain(pair: Pair) -> float:
        return moved(pair, strength)[what]

    found = 0.0
    half = strength / 2
    for c in {min(np.sqrt(half), 0.99), min(np.sqrt(half / 3), 0.9), 0.5, 0.9, 0.999}:
        for x in (-1.0, 1.0):
            for signs in (
                (1.0, 1.0, 1.0, 1.0),
                (1.0, -1.0, 1.0, 1.0),
                (1.0, 1.0, -1.0, 1.0),
                (0.0, 0.0, 1.0, 1.0),
            ):
                found = max(found, gain(star(n, float(c), x, signs)))
    for _ in range(starts):
        found = max(found, climb(groups(n, rng), gain, steps, rng)[0])
    return found


def largest_bins(what: int, relation: str, seed: int, steps: int = 3000) -> float:
    """The largest change of M (what = 0) or V (1) found in one or two bins, by the shipped code."""
    rng = np.random.default_rng(seed)

    def value(rows: NDArray[np.float64]) -> float:
        return binned_moments(rows[:, 0], rows[:, 1], rows[:, 2].astype(np.int64))[what]

    def gain(
        rows: NDArray[np.float64],
    ) -> float:  # the last row goes, and under replace-one the one before comes
        less = rows[:-2] if relation == "replace-one" else rows[:-1]
        if relation == "add-remove":
            return abs(value(rows) - value(less))
        return abs(value(np.vstack([less, rows[-1:]])) - value(np.vstack([less, rows[-2:-1]])))

    corners = [[0.0, 0.0, 0.0]] * 20 + [[0.0, 1.0, 1.0]] * 20 + [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    found = gain(
        np.array(corners)
    )  # two full bins: one loses its only stranger, the other gets one of the other kind
    for _ in range(12):
        n = int(rng.choice([2, 3, 4, 5, 8, 20]))
        rows = np.column_stack([rng.random((n + 1, 2)), rng.integers(0, 2, n + 1)])
        best = gain(rows)
        for _ in range(steps // 12):
            tried = rows.copy()
            i, j = rng.integers(0, n + 1), rng.integers(0, 3)
            corner = rng.random() < 0.5
            tried[i, j] = (
                rng.integers(0, 2) if j == 2 or corner else np.clip(tried[i, j] + rng.normal(0, 0.1), 0, 1)
            )
            if (now := gain(tried)) >= best:
                rows, best = tried, now
        found = max(found, best)
    return found
