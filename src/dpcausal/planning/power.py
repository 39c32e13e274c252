"""Power of ``measured`` and ``moments`` for rows that nobody has seen yet, and the smallest dependence they find.

**Dependence** is w = sqrt(sum (p_ij - p_i q_j)^2/(p_i q_j)) within every conditioning cell: Cohen's w, sqrt(chi2/n).
For two levels each it is the correlation phi, in general sqrt(min(r, c) - 1) times Cramer's V; the mutual
information is about w^2/2 nats. It is alike in all conditioning cells (the pooled form does not see one that cancels)
and spread evenly over the (r-1)(c-1) directions it can take.

**Expected tables.** The expected tables of x, y and the columns given, at n rows, go through the test of
``stats/partial.py`` itself, with the noise that the budget allows: its form, at a dependence of w, is then the
noncentrality of its chi-squared law. So the plan has no formula of its own for noise and can't drift from the test. The
form grows with w^2; ``worth`` is the form at w = 1: the number of rows that would show as much if there were no noise.
The test learns the margins of the conditioning cells from noisy tables, and reckons with more variance where they are
small: so the margins get noise too, of ``NOISE_PATTERNS`` patterns that are always the same, and the mean over them is
taken.

**Power.** The form is X, noncentral chi-squared with d = (r-1)(c-1) degrees of freedom and noncentrality ``worth`` w^2,
whatever the noise, for joint tables and components alike: the test rejects where P(chi2_d > X) is at most the level.

**Evidence.** The forward search (``discovery/measured``) takes a pair whose evidence (``stats/contrasts.py``) passes
``enough`` (``acceptance_threshold`` in ``settings.py``). With the same variance W = 1/``worth`` in all entries the
evidence grows with the sum of their squares over W, X, and with nothing else: to ask for it is to ask X > x for a cut x
of its own. ``evidence_cut`` finds x, and P(chi2_d > x) is the level at which the search tests: small where there is
little information, since no prior size of an effect could then show.

**Assumed**: x, y and what is given are independent but for that, and the levels of a column equally common, or the
rarest has the stated ``share`` and the others the rest. **Where it fails**: conditioning cells smaller than their
noise. ``tests/statistical/test_plan.py`` compares predictions with simulation of the driver's own test.

**Moments.** Whether they are worth their noise (``moments_pay``): ``moments`` first measures how each number is spread
between its bounds, and takes normal scores. Where noise would hide the spread, numbers enter by their place between the
bounds. Then skewed columns and wide bounds leave little to see, and tables of bins (``measured``) show more. On random
linear models of 5 to 12 columns (normal, lognormal and cut ones; delta 1e-6) tables found the better skeletons up to
about n epsilon = 3,000, where the spread is hidden, and moments did from 5,000 on, where it is seen. ``moments_curve``
is its power in the best case. Columns of equal variance v around zero, rows no longer than their mean length d v: a
correlation then has noise of standard deviation s/(n v), s that of a moment, whatever v is. The test is of one degree
of freedom with variance 1/n + (s/(n v))^2 at the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.core.forecast import PowerCurve, chance_above
from dpcausal.core.neighbours import Neighbours
from dpcausal.planning.measurement_plan import PublicNumbers, mostly_numbers
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.contrasts import evidence_cut
from dpcausal.stats.moments import moment_sensitivity
from dpcausal.stats.partial import PartialTest, block_noise, partial_test, subsets
from dpcausal.stats.spread import ROUNDS, counts_sensitivity

Floats = NDArray[np.float64]
Variance = Callable[[tuple[int, ...]], float]
NOISE_PATTERNS = 12


def no_noise(sizes: tuple[int, ...]) -> float:
    """Return 0: the noise variance of exact tables."""
    return 0.0


def margin(size: int, share: float | None) -> Floats:
    """Return assumed proportions of a column's levels: equal, or with one of ``share``.

    >>> margin(3, 0.1).tolist()
    [0.1, 0.45, 0.45]
    """
    if share is None or size == 1 or share >= 1 / size:
        return np.full(size, 1 / size)
    return np.array([share, *[(1 - share) / (size - 1)] * (size - 1)])


def normals(start: int | NDArray[np.uint64], number: int) -> Floats:
    """Return fixed numbers that look like standard normal draws, the same for the same start.

    Of several starts, each has a row.

    >>> round(float(normals(0, 10_000).std()), 2)
    1.0
    """
    x: NDArray[np.uint64] = np.add.outer(np.uint64(start), np.arange(1, number + 1, dtype=np.uint64))
    x = x * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Floats = ndtri(((x >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52)
    return found


@lru_cache(maxsize=1 << 11)
def patterns(number: int, shape: tuple[int, ...]) -> Floats:
    """Return a fixed set of noise patterns of variance 1 for a component; callers must not change it."""
    starts = 1_000_003 * (97 * np.arange(NOISE_PATTERNS, dtype=np.uint64) + np.uint64(number))
    found = normals(starts, math.prod(shape)).reshape(NOISE_PATTERNS, *shape)
    for axis in range(1, found.ndim):  # ``interaction``, of all patterns at once
        found -= found.mean(axis=axis, keepdims=True)
    return found


def directions(p: Floats) -> Floats:
    """Return score vectors u over the levels: mean 0 and variance 1 under p, orthogonal to each other.

    >>> directions(np.array([0.5, 0.5])).round(3).tolist() in ([[1.0], [-1.0]], [[-1.0], [1.0]])
    True
    """
    root = np.sqrt(p)
    away = np.eye(len(p)) - np.outer(root, root)
    vectors = np.linalg.eigh(away @ np.diag(1 / p) @ away)[1]
    found: Floats = vectors[:, 1:] / root[:, None]
    return found


def kinds(size: int, share: float | None) -> list[tuple[int, int]]:
    """Return the kinds of score directions of a column, each as (direction, how many are like it).

    >>> kinds(4, None), kinds(4, 0.1), kinds(2, 0.1)
    ([(0, 3)], [(0, 2), (2, 1)], [(0, 1)])
    """
    if size == 2 or share is None or share >= 1 / size:
        return [(0, size - 1)]
    return [(0, size - 2), (size - 2, 1)]


@dataclass(frozen=True)
class Expected:
    """The tables of x, y and the columns given (numbers of levels); ``variance`` of the noise by component."""

    rows: float
    x: int
    y: int
    given: tuple[int, ...] = ()
    share: float | None = None
    variance: Variance = no_noise

    @cached_property
    def _margins(self) -> tuple[Floats, Floats]:
        """Expected tables of x and of y by the columns held fixed, one for each noise pattern."""
        sizes, s = (self.x, self.y, *self.given), tuple(range(2, len(self.given) + 2))
        blocks = np.ones(1)
        for size in self.given:
            blocks = np.multiply.outer(blocks, margin(size, self.share)).ravel()
        exact = [self.rows * np.outer(margin(sizes[end], self.share), blocks)[None] for end in (0, 1)]
        if self.variance is no_noise:
            return exact[0], exact[1]
        found = [np.zeros((NOISE_PATTERNS, sizes[end], *self.given)) for end in (0, 1)]
        parts = [columns for columns in subsets(len(sizes)) if not {0, 1} <= set(columns)]
        for i, part in enumerate(parts):
            levels = tuple(sizes[j] for j in part)
            noise = math.sqrt(self.variance(levels)) * patterns(i, levels)
            for end in (0, 1):
                if 1 - end not in part:  # spread evenly over the other columns, as in ``table_of``
                    shape = [sizes[j] if j in part else 1 for j in (end, *s)]
                    spread = math.prod(sizes[j] for j in (end, *s) if j not in part)
                    found[end] += noise.reshape(NOISE_PATTERNS, *shape) / spread
        x, y = (table.reshape(*table.shape[:2], -1) for table in found)
        return exact[0] + x, exact[1] + y

    @cached_property
    def _noise(self) -> tuple[Floats, Floats, Floats]:
        """Noise covariance over conditioning cells: of x, of y, and of cell sizes."""
        inner = [tuple(self.given[j] for j in places) for places in subsets(len(self.given))]
        x, y, s = (
            block_noise(self.given, tuple(self.variance((*end, *columns)) for columns in inner))
            for end in ((self.x,), (self.y,), ())
        )
        return x, y, s

    def _dependent(self, i: int, j: int) -> Floats:
        """Return the expected table of x and y with w = 1 in one direction of each."""
        p, q = margin(self.x, self.share), margin(self.y, self.share)
        found: Floats = np.outer(p, q) * (1 + np.outer(directions(p)[:, i], directions(q)[:, j]))
        return self.rows * found

    def _tests(self, i: int, j: int) -> list[PartialTest]:
        """Return the driver's own test of such a table, for each noise pattern."""
        xy, noise = self._dependent(i, j), (self.variance((self.x, self.y)), *self._noise)
        return [partial_test(xy, xs, ys, *noise) for xs, ys in zip(*self._margins, strict=True)]

    def informative(self, least: float) -> bool:
        """Return whether the driver would probably call independent columns independent."""
        found = [test.informative(least) for test in self._tests(0, 0)]
        return 2 * sum(found) > len(found)

    @property
    def dof(self) -> int:
        """Degrees of freedom."""
        return (self.x - 1) * (self.y - 1)

    @cached_property
    def worth(self) -> float:
        """The noncentrality per unit of w^2, averaged over directions.

        >>> loud = Expected(1000, 2, 2, (2,), None, lambda sizes: 250.0)
        >>> round(Expected(1000, 2, 2).worth, -2), round(loud.worth, -2)
        (1000.0, 500.0)
        """
        sizes = (self.x, self.y, *self.given)
        every = tuple(self.variance(tuple(sizes[j] for j in part)) for part in subsets(len(sizes)))
        key = (self.rows, sizes, self.share, every)
        if key not in _worths:
            if len(_worths) >= MAX_WORTHS:
                _worths.clear()
            total = 0.0
            for (i, times), (j, more) in product(kinds(self.x, self.share), kinds(self.y, self.share)):
                forms = [test.form for test in self._tests(i, j)]
                total += times * more * sum(forms) / len(forms)
            _worths[key] = total / self.dof
        return _worths[key]


MAX_WORTHS = 1 << 14
_worths: dict[tuple[object, ...], float] = {}  # by sizes and variances: orders and budgets often share tables


def power_of_evidence(table: Expected, w: float, enough: float) -> float:
    """Return the chance that the evidence for a dependence w exceeds ``enough``.

    >>> [round(power_of_evidence(Expected(rows, 2, 2), 0.1, 1.0), 2) for rows in (1000, 20)]
    [0.79, 0.02]
    """
    cut = evidence_cut(enough, float(table.dof), table.worth)
    return chance_above(cut, float(table.dof), table.worth * w * w)


def power_of(table: Expected, w: float, level: float) -> float:
    """Return the chance that the test rejects at ``level`` if the dependence is w.

    >>> round(power_of(Expected(1000, 2, 2), 0.0886, 0.05), 2)
    0.8
    """
    return chance_above(float(chdtri(table.dof, level)), float(table.dof), table.worth * w * w)


# of the budget, for the spread of numeric columns; without a delta
SPREAD_SHARE, PURE_SPREAD_SHARE = 0.1, 0.2
MAX_SPREAD_NOISE = 0.02  # of the rows: with more noise on a count the spread is not measured


def spread_share(rho: float) -> float:
    """Return the share of the budget that is spent on quantiles of numeric columns."""
    return SPREAD_SHARE if rho > 0 else PURE_SPREAD_SHARE


def spread_noise(columns: int, rho: float, epsilon: float, neighbours: Neighbours) -> float:
    """Return the noise sd of a count when quantiles of so many numeric columns are measured: public."""
    each = spread_share(rho) / (max(columns, 1) * ROUNDS)
    if rho > 0:
        return counts_sensitivity(neighbours, norm=2) / math.sqrt(2 * each * rho)
    return math.sqrt(2.0) * counts_sensitivity(neighbours) / (each * epsilon)


def spread_is_seen(
    columns: int, rows: int | None, rho: float, epsilon: float, neighbours: Neighbours
) -> bool:
    """Return whether measuring the quantiles of numeric columns is worth its cost; ``rows`` None: not public."""
    noise = spread_noise(columns, rho, epsilon, neighbours)
    return columns > 0 and noise <= MAX_SPREAD_NOISE * (ASSUMED_ROWS if rows is None else rows)


def moments_pay(
    columns: Sequence[str],
    numeric: Collection[str],
    rows: int | None,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
) -> bool:
    """Return whether ``auto`` chooses ``moments``: mostly numbers, with noise small enough.

    >>> names = [f"v{i}" for i in range(8)]
    >>> [moments_pay(names, names, rows, 1.0, 1e-6, Neighbours.REPLACE_ONE) for rows in (3_000, 6_000)]
    [False, True]
    """
    rho = Filter(epsilon, delta).rho if delta else 0.0
    return mostly_numbers(columns, numeric) and spread_is_seen(len(numeric), rows, rho, epsilon, neighbours)


def moments_curve(public: PublicNumbers, level: float) -> PowerCurve:
    """Return the power curve of ``moments`` for a correlation, an upper bound.

    >>> curve = moments_curve(PublicNumbers.of_sizes((2,) * 10, 1000, 1.0, 1e-6, Neighbours.REPLACE_ONE), 0.05)
    >>> round(curve(0.1), 2), round(curve(0.3), 2)
    (0.34, 1.0)
    """
    rows, total, length = public.rows_or_one, public.total, math.sqrt(len(public.columns))
    features = sum(1 if column.number else column.size - 1 for column in public.columns)
    moved = moment_sensitivity(public.neighbours, length / 2, length)
    noise = moved / math.sqrt(2 * total.rho) if total.rho > 0 else moved * (1 + features) / total.epsilon
    variance = 1.0 / rows + (math.sqrt(0.5) * noise / rows) ** 2
    cut = float(chdtri(1.0, level))
    return lambda w: chance_above(cut, 1.0, w * w / variance)
