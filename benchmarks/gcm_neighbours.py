"""Search for neighbours that move the statistics of gcm as far as they can, for ``gcm.py`` and the property tests.

Kernel ridge: three families of data sets, hill-climbed through the shipped regression.
- *groups*: rows in a few groups with the same (x, y, z), z on a line; sizes, places and values move.
- *star*: every row in a direction of its own at distance r from the centre, where the replaced row arrives. For a
  gaussian kernel that is k = c between centre and row, c^2 between rows: the configuration that makes ||w|| largest.

- *planes*: feature vectors given as they are (``feature_residuals`` takes any map of norm at most one): rows lean a
  little into two directions and else have one each of their own; the replaced row lies in the plane of the two. The
  extremal pairs of the proof are of this kind, with feature vectors that point against each other.

Bins: one or two bins of a few rows, values anywhere and at the corners, hill-climbed; and one pair made by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpcausal.regression.features import feature_residuals
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.stats.gcm_bins import binned_moments
from dpcausal.stats.gcm_ridge import fit_objective

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Rows (z, x, y) of which the first is replaced by ``other``."""

    z: Vector  # n x d
    x: Vector
    y: Vector
    other: tuple[Vector, float, float]
    plain: bool = False  # z are feature vectors, not points for a gaussian kernel of bandwidth one

    def both(self) -> tuple[tuple[Vector, Vector, Vector], tuple[Vector, Vector, Vector]]:
        z, x, y = self.z.copy(), self.x.copy(), self.y.copy()
        z[0], x[0], y[0] = self.other
        return (self.z, self.x, self.y), (z, x, y)


class Plain:
    """Rows that are their own feature vectors."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, z: Vector, out: Vector | None = None) -> Vector:
        if out is None:
            return z
        out[:, : self.size] = z
        return out


def residuals(z: Vector, x: Vector, y: Vector, strength: float, plain: bool = False) -> Vector:
    """r of x and of y (n x 2) by the shipped regression."""
    targets, penalty = np.column_stack([x, y]), penalty_of(strength, len(x))
    if plain:
        return feature_residuals(z, targets, Plain(z.shape[1]), penalty)  # type: ignore[arg-type]
    return ridge_residuals(z, targets, Kernel(1.0), penalty)


def moved(pair: Pair, strength: float) -> dict[str, float]:
    """By how much each released quantity, and the score of the private choice, changes."""
    left = [(rows, residuals(*rows, strength, pair.plain)) for rows in pair.both()]
    r, s = (residual.prod(axis=1) for _, residual in left)
    fits = [fit_objective(np.column_stack([x, y]), residual) for (_, x, y), residual in left]
    return {
        "fit": abs(fits[0] - fits[1]),
        "products": float(np.abs(r - s).sum()),
        "sum": abs(float(r.sum() - s.sum())),
        "squares": abs(float(r @ r - s @ s)),
    }


@dataclass(frozen=True)
class Plane:
    """A pair of the third family: how far rows lean, which share has its values turned, where the replaced row is."""

    lean: tuple[float, float]  # squares, at most one together
    turned: float
    angles: tuple[float, float]  # of the replaced row before and after
    values: tuple[float, float, float, float]  # x, y before and after
    together: bool  # x and y follow the same direction, else one each

    def pair(self, n: int) -> Pair:
        """The rows."""
        i = np.arange(n)
        one, two = np.where(i % 2, 1.0, -1.0), np.where(i // 2 % 2, 1.0, -1.0)
        z = np.zeros((n, n + 2))
        z[:, 0], z[:, 1] = np.sqrt(self.lean[0]) * one, np.sqrt(self.lean[1]) * two
        z[i, i + 2] = np.sqrt(max(1.0 - sum(self.lean), 0.0))
        x, y = one.copy(), (one if self.together else two).copy()
        last = i >= n * (1.0 - self.turned)
        x[last], y[last] = -x[last], -y[last]
        place = np.zeros((2, n + 2))
        for row, angle in zip(place, self.angles, strict=True):
            row[:2] = np.cos(angle), np.sin(angle)
        z[0], x[0], y[0] = place[0], self.values[0], self.values[1]
        z *= 1.0 - 2.0**-40  # norms at most one
        return Pair(z, x, y, (place[1] * (1.0 - 2.0**-40), self.values[2], self.values[3]), plain=True)

    def nudged(self, rng: np.random.Generator) -> Plane:
        """One number changed."""
        kind = rng.integers(0, 4)
        if kind == 0:
            lean = np.clip(np.array(self.lean) * np.exp(rng.normal(0, 0.3, 2)), 1e-6, 1.0)
            lean /= max(lean.sum(), 1.0)
            return replace(self, lean=(float(lean[0]), float(lean[1])))
        if kind == 1:
            return replace(self, turned=float(np.clip(self.turned + rng.normal(0, 0.1), 0, 0.5)))
        if kind == 2:
            first, second = np.array(self.angles) + rng.normal(0, rng.choice([0.1, 1.0]), 2)
            return replace(self, angles=(float(first), float(second)))
        values = np.where(rng.random(4) < 0.3, rng.choice([-1.0, 0.0, 1.0], 4), self.values)
        return replace(self, values=tuple(values.tolist()))


def right_angles(strength: float) -> Plane:
    """The pair at which the bound on sum R is nearly attained."""
    lean = min(strength / 2 * (17**0.5 - 3) / 2, 0.5)
    return Plane((lean, lean), 0.0, (-np.pi / 4, 5 * np.pi / 4), (-1.0, 1.0, 1.0, 1.0), together=False)


def largest_plane(
    what: str, n: int, strength: float, rng: np.random.Generator, starts: int, steps: int
) -> float:
    """The largest change found in the third family."""
    found = 0.0
    lean = min(strength / 2, 0.9)
    first = [
        right_angles(strength),
        Plane((lean, 1e-6), 0.0, (np.pi / 2, np.pi), (0.0, 0.0, 1.0, 1.0), together=True),
        Plane((lean, 1e-6), 0.1, (0.0, np.pi), (1.0, 1.0, 1.0, 1.0), together=True),
    ]
    for start in range(max(starts, 1)):
        best = first[start % 3]
        value = moved(best.pair(n), strength)[what]
        for _ in range(steps):
            tried = best.nudged(rng)
            now = moved(tried.pair(n), strength)[what]
            if now >= value:
                best, value = tried, now
        found = max(found, value)
    return found


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

    found = gain(right_angles(strength).pair(n))
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
    return max(found, largest_plane(what, n, strength, rng, starts, steps))


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
