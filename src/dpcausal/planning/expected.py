"""The tables that one test will see, for rows that nobody has seen yet, and how clearly a dependence shows in them.

The expected tables of x, y and the columns given, at n rows, go through the test of ``stats/partial.py`` itself, with
the noise that the budget allows: its form, at a dependence of w, is then the noncentrality of its chi-squared law. So
the plan has no formula of its own for noise and can't drift from the test. The form grows with w^2; ``worth`` is the
form at w = 1: the number of rows that would show as much if there were no noise. The test learns the margins of the
conditioning cells from noisy tables, and reckons with more variance where they are small: so the margins get noise
too, of ``DRAWS`` patterns that are always the same, and the mean over them is taken.

**Dependence** is w = sqrt(sum (p_ij - p_i q_j)^2/(p_i q_j)) within every conditioning cell: Cohen's w, sqrt(chi2/n).
For two levels each it is the correlation phi, in general sqrt(min(r, c) - 1) times Cramer's V; the mutual
information is about w^2/2 nats. It is alike in all conditioning cells (this form does not see one that cancels) and
spread evenly over the (r-1)(c-1) directions it can take.

**Assumed**: x, y and what is given are independent but for that, and the levels of a column equally common, or the
rarest has the stated ``share`` and the others the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.stats.components import interaction, table_of
from dpcausal.stats.partial import PartialTest, block_noise, partial_test, subsets

Floats = NDArray[np.float64]
Variance = Callable[[tuple[int, ...]], float]
DRAWS = 12


def silence(sizes: tuple[int, ...]) -> float:
    """No noise."""
    return 0.0


def margin(size: int, share: float | None) -> Floats:
    """Assumed proportions of the levels of a column.

    >>> margin(3, 0.1).tolist()
    [0.1, 0.45, 0.45]
    """
    if share is None or size == 1 or share >= 1 / size:
        return np.full(size, 1 / size)
    return np.array([share, *[(1 - share) / (size - 1)] * (size - 1)])


def normals(start: int, number: int) -> Floats:
    """Numbers that look like normal draws and are always the same: quantiles at splitmix64's sequence.

    >>> round(float(normals(0, 10_000).std()), 2)
    1.0
    """
    x = np.arange(start + 1, start + number + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Floats = ndtri(((x >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52)
    return found


@lru_cache(maxsize=1 << 14)
def pattern(number: int, shape: tuple[int, ...]) -> Floats:
    """Noise of variance 1 in every direction of a component."""
    return interaction(normals(1_000_003 * number, math.prod(shape)).reshape(shape))


def directions(p: Floats) -> Floats:
    """Columns u of mean 0 and variance 1 under p, orthogonal under p.

    >>> directions(np.array([0.5, 0.5])).round(3).tolist() in ([[1.0], [-1.0]], [[-1.0], [1.0]])
    True
    """
    root = np.sqrt(p)
    away = np.eye(len(p)) - np.outer(root, root)
    vectors = np.linalg.eigh(away @ np.diag(1 / p) @ away)[1]
    found: Floats = vectors[:, 1:] / root[:, None]
    return found


def kinds(size: int, share: float | None) -> list[tuple[int, int]]:
    """(a direction of ``directions``, how many are like it): those among common levels, and the one to the rarest.

    >>> kinds(4, None), kinds(4, 0.1), kinds(2, 0.1)
    ([(0, 3)], [(0, 2), (2, 1)], [(0, 1)])
    """
    if size == 2 or share is None or share >= 1 / size:
        return [(0, size - 1)]
    return [(0, size - 2), (size - 2, 1)]


@dataclass(frozen=True)
class Expected:
    """The tables of x, y and the columns given (numbers of levels); ``variance`` of the noise by component.

    ``whole``: the table of all of them together is measured too (a joint table).
    """

    rows: float
    x: int
    y: int
    given: tuple[int, ...] = ()
    share: float | None = None
    variance: Variance = silence
    whole: bool = False

    @property
    def widest(self) -> tuple[int, ...]:
        """Columns of the largest table that the test needs: x and y, or x and all that is given."""
        return (self.x, *self.given) if len(self.given) > 1 else (self.x, *(self.given or (self.y,)))

    @property
    def count(self) -> float:
        """Mean count of a cell of that table."""
        return self.rows / math.prod(self.widest)

    @property
    def noise_variance(self) -> float:
        """Of a cell of that table: the sum over its components, each spread over the other columns."""
        total = 0.0
        for inner in subsets(len(self.widest)):
            part = [1 - 1 / r if j in inner else 1 / r**2 for j, r in enumerate(self.widest)]
            total += self.variance(tuple(self.widest[j] for j in inner)) * math.prod(part)
        return total

    @cached_property
    def _margins(self) -> list[tuple[Floats, Floats]]:
        """Expected tables of x and of y against what is given, with every pattern of noise."""
        sizes, s = (self.x, self.y, *self.given), tuple(range(2, len(self.given) + 2))
        blocks = np.ones(1)
        for size in self.given:
            blocks = np.multiply.outer(blocks, margin(size, self.share)).ravel()
        exact = [self.rows * np.outer(margin(sizes[end], self.share), blocks) for end in (0, 1)]
        if self.variance is silence:
            return [(exact[0], exact[1])]
        components = [columns for columns in subsets(len(sizes)) if not {0, 1} <= set(columns)]
        spread = {one: math.sqrt(self.variance(tuple(sizes[j] for j in one))) for one in components}
        found = []
        for draw in range(DRAWS):
            noise = {
                one: spread[one] * pattern(97 * draw + i, tuple(sizes[j] for j in one))
                for i, one in enumerate(components)
            }
            x, y = (table_of(noise, (end, *s), sizes).reshape(sizes[end], -1) for end in (0, 1))
            found.append((exact[0] + x, exact[1] + y))
        return found

    @cached_property
    def _noise(self) -> tuple[Floats, Floats, Floats]:
        """Covariance over conditioning cells of the noise of x, of y, and of their sizes."""
        inner = [tuple(self.given[j] for j in places) for places in subsets(len(self.given))]
        x, y, s = (
            block_noise(self.given, tuple(self.variance((*end, *columns)) for columns in inner))
            for end in ((self.x,), (self.y,), ())
        )
        return x, y, s

    def tests(self, direction: tuple[int, int] | None = None) -> list[PartialTest]:
        """The test of the expected tables, for every pattern: w = 1 in one direction, or independence."""
        p, q = margin(self.x, self.share), margin(self.y, self.share)
        xy = np.outer(p, q)
        if direction is not None:
            xy = xy * (1 + np.outer(directions(p)[:, direction[0]], directions(q)[:, direction[1]]))
        seen = self.variance((self.x, self.y))
        return [partial_test(self.rows * xy, xs, ys, seen, *self._noise) for xs, ys in self._margins]

    def informative(self, least: float) -> bool:
        """Whether the driver would more often than not call independent columns independent, by its own rule."""
        tests = self.tests()
        return 2 * sum(test.informative(least) for test in tests) > len(tests)

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return (self.x - 1) * (self.y - 1)

    @cached_property
    def worth(self) -> float:
        """Noncentrality per unit of w^2, the mean over directions.

        >>> loud = Expected(1000, 2, 2, (2,), None, lambda sizes: 250.0)
        >>> round(Expected(1000, 2, 2).worth, -2), round(loud.worth, -2)
        (1000.0, 500.0)
        """
        total = 0.0
        for (i, times), (j, more) in product(kinds(self.x, self.share), kinds(self.y, self.share)):
            total += times * more * float(np.mean([test.form for test in self.tests((i, j))]))
        return total / self.dof
