"""NOT PRIVATE: unit circle with sparse vector, or with the exponential mechanism, as printed, for ``variant="paper"``.

Our copy of [1] is its appendix: Algorithms 2 to 4, the sensitivity (appendix G) and the proofs. Algorithm 1 (one test)
is taken as its steps inside Algorithms 3 and 4: ||V|| with Laplace noise of scale Delta/epsilon, against the
ceil((m + 1)(1 - level))-th *smallest* of m values simulated without effect (the text says largest, which would reject
nearly always).

**Why real studies are refused.** Both algorithms simulate their thresholds at the margins of every table, which they
take to be public. In a study those are allele frequencies of its own people. Besides, in Algorithm 3 the noise of the
threshold stands on both sides of the comparison and cancels: what is left is a Laplace test of scale 4 s1 Delta/epsilon
each, which costs epsilon/(4 s1), so s2 epsilon/(4 s1) in all, more than epsilon where s2 > 4 s1. The unit is one value
of a row, here one allele, and noise is a float plus a float.

Studies stand in rows of arrays, the tests of one in columns, so that experiments run many at once.

Reference: [1] Kakizaki, Fukuchi & Sakuma 2017, appendices G, I and J.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from dpcausal.citests.unit_circle import SIMULATED, simulated_cuts
from dpcausal.core import entropy
from dpcausal.core.entropy import Generator
from dpcausal.core.statement import FoundSnps, NotPrivate, PrivacyStatement
from dpcausal.core.variants import refuse_real_rows
from dpcausal.gwas.cohort import GenotypeCounts
from dpcausal.gwas.plan import FIXED_LABELS, ScreenPlan
from dpcausal.gwas.result import Hit, Screening
from dpcausal.gwas.statistics import allele_distance
from dpcausal.stats.published import circle_bound
from dpcausal.stats.unit_circle import unit_circle

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Reading = Literal["letter", "printed", "level", "repaired"]


class Tables(NamedTuple):
    """c11 and c10 of every study (rows) and test (columns), for groups of n1 and n0."""

    c11: Integers
    c10: Integers
    n1: int
    n0: int

    def values(self, tau: float) -> NDArray[np.float64]:
        """Return the unit circle statistic ||V|| of every table at the chi-squared threshold ``tau``."""
        return unit_circle(self.c11, self.c10, self.n1, self.n0, tau)

    def scores(self, tau: float) -> NDArray[np.float64]:
        """Return Johnson & Shmatikov's score of every table: how many values must change to flip its test."""
        flat = allele_distance(self.c11.ravel(), self.c10.ravel(), self.n1, self.n0, tau)
        return flat.reshape(self.c11.shape)


def one_test(tables: Tables, epsilon: float, level: float, rng: Generator) -> Flags:
    """Return, for every table, whether Algorithm 1 rejects."""
    c11, c10, n1, n0 = tables
    tau = float(chdtri(1, level))
    cut = simulated_cuts(n1, n0, c11 + c10, tau, 1 / epsilon, level, rng)
    value = tables.values(tau)
    return np.asarray(value + rng.laplace(0, float(circle_bound(n1, n0, tau)) / epsilon, value.shape) > cut)


def with_svt(
    tables: Tables, epsilon: float, level: float, s1: int, rng: Generator, reading: Reading = "printed"
) -> Flags:
    """Return which tests Algorithm 3 rejects, up to the s1-th rejection.

    ``printed``: line 11's quantile of the level itself, read as the k-th smallest; ``letter``: the k-th largest. Both,
    and ``level``, take the threshold noise rho of the comparison off the simulated values, and add it on the other side
    again: it cancels. ``level`` has the quantile of level/s2, which family-wise control needs; ``repaired`` that, and
    another rho for every simulated value.
    """
    c11, c10, n1, n0 = tables
    reps, tests = c11.shape
    tau = float(chdtri(1, level / tests))
    delta = float(circle_bound(n1, n0, tau))
    rho_scale, query_scale = 2 * s1 / epsilon, 4 * s1 / epsilon
    cut = simulated_cuts(
        n1, n0, c11 + c10, tau, query_scale, level if reading in ("letter", "printed") else level / tests, rng,
        rho=rho_scale if reading == "repaired" else 0.0, values=2 * SIMULATED + 1, largest=reading == "letter",
    )  # fmt: skip
    value = tables.values(tau)
    noisy = value + rng.laplace(0, query_scale * delta, value.shape)
    rho, count = rng.laplace(0, rho_scale * delta, (reps,)), np.zeros(reps, int)
    rejected = np.zeros(value.shape, bool)
    for k in range(tests):
        above = noisy[:, k] - (rho if reading == "repaired" else 0.0) > cut[:, k]
        rejected[:, k] = above & (count < s1)
        rho = np.where(rejected[:, k], rng.laplace(0, rho_scale * delta, (reps,)), rho)
        count += rejected[:, k]
    return rejected


def chosen_by_em(tables: Tables, epsilon: float, level: float, s1: int, rng: Generator) -> Integers:
    """Return the s1 tests that Algorithm 4 chooses in each study, in the order chosen."""
    score = tables.scores(float(chdtri(1, level / tables.c11.shape[1])))
    # drawing again until it is another one is the same as the largest of score plus Gumbel noise, one after the other
    keys = epsilon / (2 * s1) * score / 2 + rng.gumbel(size=score.shape)
    return np.argsort(-keys, axis=1)[:, :s1]


def with_em(tables: Tables, epsilon: float, level: float, s1: int, rng: Generator) -> Flags:
    """Return which tests Algorithm 4 rejects: s1 are chosen, each is tested at level/K."""
    chosen = chosen_by_em(tables, epsilon, level, s1, rng)
    rejected = one_test(tables, epsilon / (2 * s1), level / tables.c11.shape[1], rng)
    flags = np.zeros(rejected.shape, bool)
    np.put_along_axis(flags, chosen, np.take_along_axis(rejected, chosen, 1), 1)
    return flags


def screen_as_printed(plan: ScreenPlan, counts: GenotypeCounts) -> Screening:
    """Screen by the paper's Algorithm 3 (``svt``) or 4 (``em``): not private, refused unless a seed is set."""
    refuse_real_rows("gwas")
    c11, c10 = (np.asarray(column, np.int64)[None, : plan.answers] for column in counts.alleles())
    tables, rng = Tables(c11, c10, 2 * plan.cases, 2 * plan.controls), entropy.public_generator()
    terms = plan.epsilon, plan.level, plan.hits, rng
    if plan.method == "svt":
        named = np.flatnonzero(with_svt(tables, *terms)[0])
        full = len(named) == plan.hits
        asked = int(named[-1]) + 1 if full else plan.answers
        rejected = np.ones(len(named), bool)
    else:
        named, asked, full = chosen_by_em(tables, *terms)[0], plan.snps, False
        few = Tables(c11[:, named], c10[:, named], tables.n1, tables.n0)
        rejected = one_test(few, plan.epsilon / (2 * plan.hits), plan.level / plan.snps, rng)[0]
    hits = [
        Hit(counts.public_variant(i), None, None, bool(found))
        for i, found in zip(named.tolist(), rejected, strict=True)
    ]
    found = FoundSnps("snps-above-cut" if plan.method == "svt" else "chosen-snps", "circle")
    statement = PrivacyStatement.none(released=[found], neighbours=FIXED_LABELS, why=NotPrivate.PRINTED)
    return Screening(tuple(hits), plan.method, "circle", plan.snps, asked, full, plan.level, statement)
