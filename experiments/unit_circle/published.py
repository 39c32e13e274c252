"""AS PUBLISHED, for comparison only: the unit circle mechanisms of Kakizaki, Fukuchi & Sakuma 2017, many at once.

Our copy of the paper is its appendix: Algorithms 2 to 4, the sensitivity (appendix G) and the proofs. Algorithm 1 (one
test) is taken as its steps inside Algorithms 3 and 4: ||V|| with Laplace noise of scale Delta/epsilon, against the
ceil((m + 1)(1 - alpha))-th *smallest* of m values simulated without effect (the text says largest, which would reject
nearly always). Tables are simulated over all four cells, as line 7 of Algorithm 3 says, so that the sizes of groups and
the sensitivity differ by table. N1 and N0 rows with labels; margins are public; one row's value is the unit. Noise is
float plus float.

Data sets stand in rows of arrays, the K tests of one in columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dpcausal.gwas.statistics import allele_distance
from dpcausal.stats.published import circle_bound
from dpcausal.stats.unit_circle import unit_circle

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SIMULATED = 999  # m


@dataclass(frozen=True)
class Tables:
    """c11 and c10 of every data set (rows) and test (columns), for groups of n1 and n0."""

    c11: Counts
    c10: Counts
    n1: int
    n0: int

    @property
    def n(self) -> int:
        """Rows of one data set."""
        return self.n1 + self.n0

    @property
    def chi2(self) -> Floats:
        """Chi-squared, 0 where a margin is empty."""
        m = self.c11 + self.c10
        spread = (m * (self.n - m)).astype(float) * self.n1 * self.n0
        link = self.n * (self.n0 * self.c11.astype(float) - self.n1 * self.c10.astype(float)) ** 2
        return np.divide(link, spread, out=np.zeros_like(link), where=spread > 0)


def drawn(rng: np.random.Generator, reps: int, n: int, shares: Floats, effects: Floats) -> Tables:
    """``reps`` data sets of two groups of n/2, with the value in shares + effects and shares - effects of them."""
    half = n // 2
    c11 = rng.binomial(half, shares + effects, (reps, len(shares)))
    return Tables(c11, rng.binomial(half, shares - effects, (reps, len(shares))), half, half)


def published_sensitivity(n1: int, n0: int, tau: float) -> float:
    """Appendix G: 2 sqrt(((N0^2 + N1^2) N + 2 tau N0 N1)/(tau N0 N1 N^2))."""
    return float(circle_bound(n1, n0, tau))


def chi2_noise(tables: Tables) -> float:
    """Sensitivity of chi-squared itself (Theorem 3's baseline), labels fixed."""
    n1, n0 = tables.n1, tables.n0
    return tables.n**2 / (n0 * n1) * (1 - 1 / (max(n0, n1) + 1))


def threshold(
    tables: Tables,
    tau: float,
    scale: float,
    level: float,
    rng: np.random.Generator,
    *,
    rho: float = 0.0,
    values: int = SIMULATED,
    largest: bool = False,
) -> Floats:
    """The Monte-Carlo quantile of every test: the ceil((m + 1)(1 - level))-th smallest of ``values`` noisy ||V||.

    Tables without effect are drawn over the four cells at the test's own share of values, M1/N, which is taken to be
    public; ``scale`` is of the Laplace noise in units of each table's sensitivity. With ``rho`` another Laplace noise,
    of that scale in the same units, is taken off each value. ``largest``: the text to the letter.
    """
    share, n1 = (tables.c11 + tables.c10) / tables.n, tables.n1 / tables.n
    place = math.ceil((values + 1) * (1 - level)) - 1
    place = values - 1 - place if largest else place
    found = np.empty(share.shape)
    for column in range(share.shape[1]):
        p = share[:, column]
        cells = np.stack([n1 * p, n1 * (1 - p), (1 - n1) * p, (1 - n1) * (1 - p)], -1)
        c11, c1, c10, c0 = np.moveaxis(rng.multinomial(tables.n, cells[:, None], (len(p), values)), -1, 0)
        groups = np.maximum(c11 + c1, 1), np.maximum(c10 + c0, 1)
        moved = circle_bound(*groups, tau)
        noisy = unit_circle(c11, c10, *groups, tau) + rng.laplace(0, scale * moved)  # type: ignore[arg-type]
        if rho:
            noisy -= rng.laplace(0, rho * moved)
        found[:, column] = np.partition(noisy, place, axis=1)[:, place]
    return found


def one_test(tables: Tables, epsilon: float, level: float, rng: np.random.Generator) -> Flags:
    """Algorithm 1 on every table."""
    tau = float(chdtri(1, level))
    scale = published_sensitivity(tables.n1, tables.n0, tau) / epsilon
    cut = threshold(tables, tau, 1 / epsilon, level, rng)
    value = unit_circle(tables.c11, tables.c10, tables.n1, tables.n0, tau)
    return np.asarray(value + rng.laplace(0, scale, value.shape) > cut)


def chi2_test(tables: Tables, epsilon: float, level: float, rng: np.random.Generator) -> Flags:
    """Output perturbation of chi-squared; the quantile of its null law with noise, chi-squared(1) plus Laplace."""
    scale = chi2_noise(tables) / epsilon
    null = rng.chisquare(1, 200_000) + rng.laplace(0, scale, 200_000)
    value = tables.chi2
    return np.asarray(value + rng.laplace(0, scale, value.shape) > np.quantile(null, 1 - level))


Reading = Literal["letter", "printed", "level", "repaired"]


def with_svt(
    tables: Tables, epsilon: float, level: float, s1: int, rng: np.random.Generator, reading: Reading
) -> Flags:
    """Algorithm 3, s2 = all tests: which are rejected before the s1-th rejection, that one included.

    ``printed``: line 11's quantile of the level itself, read as the k-th smallest; ``letter``: the k-th largest. Both,
    and ``level``, take the threshold noise rho of the comparison off the simulated values, and add it on the other side
    again: it cancels. What is left is a Laplace test of scale 4 s1 Delta/epsilon each, which costs epsilon/(4 s1): in
    all s2 epsilon/(4 s1), more than epsilon where s2 > 4 s1. ``level`` has the quantile of level/s2, which family-wise
    control needs; ``repaired`` that, and another rho for every simulated value.
    """
    reps, tests = tables.c11.shape
    tau = float(chdtri(1, level / tests))
    delta = published_sensitivity(tables.n1, tables.n0, tau)
    rho_scale, query_scale = 2 * s1 / epsilon, 4 * s1 / epsilon
    cut = threshold(
        tables, tau, query_scale, level if reading in ("letter", "printed") else level / tests, rng,
        rho=rho_scale if reading == "repaired" else 0.0, values=2 * SIMULATED + 1, largest=reading == "letter",
    )  # fmt: skip
    value = unit_circle(tables.c11, tables.c10, tables.n1, tables.n0, tau)
    noisy = value + rng.laplace(0, query_scale * delta, value.shape)
    rho, count = rng.laplace(0, rho_scale * delta, reps), np.zeros(reps, int)
    rejected = np.zeros(value.shape, bool)
    for k in range(tests):
        above = noisy[:, k] - (rho if reading == "repaired" else 0.0) > cut[:, k]
        rejected[:, k] = above & (count < s1)
        rho = np.where(rejected[:, k], rng.laplace(0, rho_scale * delta, reps), rho)
        count += rejected[:, k]
    return rejected


def with_em(tables: Tables, epsilon: float, level: float, s1: int, rng: np.random.Generator) -> Flags:
    """Algorithm 4: s1 tests by the exponential mechanism, each tested at level/K; epsilon/(2 s1) for each step.

    The score is Johnson & Shmatikov's: how many rows must change to flip the test, of sensitivity 1.
    """
    reps, tests = tables.c11.shape
    tau = float(chdtri(1, level / tests))
    each = epsilon / (2 * s1)
    score = allele_distance(tables.c11.ravel(), tables.c10.ravel(), tables.n1, tables.n0, tau).reshape(
        reps, tests
    )
    # drawing again until it is another one is the same as the largest of score plus Gumbel noise, one after the other
    keys = each * score / 2 + rng.gumbel(size=score.shape)
    chosen = np.argsort(-keys, axis=1)[:, :s1]
    rejected = one_test(tables, each, level / tests, rng)
    flags = np.zeros(rejected.shape, bool)
    np.put_along_axis(flags, chosen, np.take_along_axis(rejected, chosen, 1), 1)
    return flags
