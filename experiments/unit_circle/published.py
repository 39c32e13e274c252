"""AS PUBLISHED, for comparison only: the unit circle mechanisms of Kakizaki, Fukuchi & Sakuma 2017, many at once.

Our copy of the paper is its appendix: Algorithms 2 to 4, the sensitivity (appendix G) and the proofs. Algorithm 1 (one
test) is taken as its steps inside Algorithms 3 and 4: ||V|| with Laplace noise of scale Delta/epsilon, against the
ceil((m + 1)(1 - alpha))-th *smallest* of m values simulated without effect (the text says largest, which would reject
nearly always). N1 and N0 rows with labels; margins are public; one row's value is the unit. Noise is float plus float.

Data sets stand in rows of arrays, the K tests of one in columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dpcausal.gwas.statistics import allele_distance
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
    n = n1 + n0
    return 2 * math.sqrt(((n0**2 + n1**2) * n + 2 * tau * n0 * n1) / (tau * n0 * n1 * n * n))


def chi2_noise(tables: Tables) -> float:
    """Sensitivity of chi-squared itself (Theorem 3's baseline), labels fixed."""
    n1, n0 = tables.n1, tables.n0
    return tables.n**2 / (n0 * n1) * (1 - 1 / (max(n0, n1) + 1))


def threshold(tables: Tables, tau: float, noise: Floats, level: float, rng: np.random.Generator) -> Floats:
    """The Monte-Carlo quantile of every test: ``noise`` (m draws, shared) on ||V|| of tables without effect.

    Tables keep the labels and the test's own share of values, M1/N, which is taken to be public.
    """
    share = (tables.c11 + tables.c10) / tables.n
    place = math.ceil((len(noise) + 1) * (1 - level)) - 1  # the (m + 1)(1 - level)-th smallest
    found = np.empty(share.shape)
    for column in range(share.shape[1]):
        p = share[:, column, None]
        c11 = rng.binomial(tables.n1, p, (len(p), len(noise)))
        c10 = rng.binomial(tables.n0, p, (len(p), len(noise)))
        values = unit_circle(c11, c10, tables.n1, tables.n0, tau) + rng.permutation(noise)
        found[:, column] = np.partition(values, place, axis=1)[:, place]
    return found


def one_test(tables: Tables, epsilon: float, level: float, rng: np.random.Generator) -> Flags:
    """Algorithm 1 on every table."""
    tau = float(chdtri(1, level))
    scale = published_sensitivity(tables.n1, tables.n0, tau) / epsilon
    cut = threshold(tables, tau, rng.laplace(0, scale, SIMULATED), level, rng)
    value = unit_circle(tables.c11, tables.c10, tables.n1, tables.n0, tau)
    return np.asarray(value + rng.laplace(0, scale, value.shape) > cut)


def chi2_test(tables: Tables, epsilon: float, level: float, rng: np.random.Generator) -> Flags:
    """Output perturbation of chi-squared; the quantile of its null law with noise, chi-squared(1) plus Laplace."""
    scale = chi2_noise(tables) / epsilon
    null = rng.chisquare(1, 200_000) + rng.laplace(0, scale, 200_000)
    value = tables.chi2
    return np.asarray(value + rng.laplace(0, scale, value.shape) > np.quantile(null, 1 - level))


def with_svt(
    tables: Tables, epsilon: float, level: float, s1: int, rng: np.random.Generator, *, fresh: bool
) -> Flags:
    """Algorithm 3, s2 = all tests: which are rejected before the s1-th rejection, that one included.

    As printed (not ``fresh``) the simulated values have the threshold noise rho of the comparison itself taken off, and
    rho is added on the other side again: it cancels, and nothing is left of the noise that the guarantee rests on.
    ``fresh`` draws another rho for every simulated value. The level is level/s2 in both, as family-wise control needs;
    the printed quantile is that of the level itself.
    """
    reps, tests = tables.c11.shape
    tau = float(chdtri(1, level / tests))
    delta = published_sensitivity(tables.n1, tables.n0, tau)
    rho_scale, query_scale = 2 * s1 * delta / epsilon, 4 * s1 * delta / epsilon
    noise = rng.laplace(0, query_scale, 2 * SIMULATED + 1)
    if fresh:
        noise = noise - rng.laplace(0, rho_scale, noise.shape)
    cut = threshold(tables, tau, noise, level / tests, rng)
    value = unit_circle(tables.c11, tables.c10, tables.n1, tables.n0, tau)
    noisy = value + rng.laplace(0, query_scale, value.shape)
    rho, count = rng.laplace(0, rho_scale, reps), np.zeros(reps, int)
    rejected = np.zeros(value.shape, bool)
    for k in range(tests):
        above = noisy[:, k] - (rho if fresh else 0.0) > cut[:, k]
        rejected[:, k] = above & (count < s1)
        rho = np.where(rejected[:, k], rng.laplace(0, rho_scale, reps), rho)
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
