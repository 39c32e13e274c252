"""NOT PRIVATE: what figures compare with: PC without noise by several statistics, SG, and another utility of EM-PC.

**SG**: every test on a fresh Poisson subsample of one row in 20, Gaussian noise on its p-value, and the moments
accountant of [1] over all tests that were asked. The paper says no more of it than that.

**Why asia does not reach 1.** ``without_noise`` runs PC with the statistics and no noise at all. tau-a shrinks with
ties: on two columns of shares p and q its z is 3 sqrt(p(1-p)q(1-q)) times what it should be, .03 for asia and tub (1%
each), so that this true edge always goes. With ties in the variance, or tau-b, it stays. Two other edges, either - xray
and either - dysp, hang on what is done where nothing can be tested, since tub and lung determine either. "Independent"
takes both away: 5 of 8 edges, .77. The reference code computes 0/0 there, NaN, which is neither below nor above the
threshold, so it keeps both: 7 of 8 edges, .93.

**Another utility of EM-PC**: ``flips_ties``, K with ties in its variance.

References: [1] Abadi et al. 2016 and Mironov, Talwar & Zhang 2019, eq. for integer orders.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, ndtri

from dpcausal.core.entropy import Generator
from dpcausal.counts.protocol import Counts
from dpcausal.discovery.printed import (
    ADVANCED_DELTA,
    THRESHOLD,
    Printed,
    blocks_of,
    printed_pvalue,
    pvalue,
    sensitivity,
    table_pvalue,
)
from dpcausal.discovery.search import Answers, Query, Skeleton, drive, pc_search
from dpcausal.graphs.equivalence import orient
from dpcausal.graphs.graph import Graph
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.kendall import concordance, kendall, kendall_margin
from dpcausal.stats.published import in_tables, printed_tau_z


def all_rows(epsilon: float, n: int) -> int:
    """Return n: no subsample."""
    del epsilon
    return n


ROWS_DRAWN = 0.05  # of SG
ORDERS = np.concatenate([np.arange(2, 64), [80, 128, 256, 512]])


def moments_epsilon(
    noise: float, tests: int, share: float = ROWS_DRAWN, delta: float = ADVANCED_DELTA
) -> float:
    """Epsilon of ``tests`` Poisson-subsampled Gaussian mechanisms by the moments accountant, integer orders."""
    best = math.inf
    for a in ORDERS.tolist():
        k = np.arange(a + 1)
        log = gammaln(a + 1) - gammaln(k + 1) - gammaln(a - k + 1)
        log += (a - k) * math.log1p(-share) + k * math.log(share) + (k * k - k) / (2 * noise**2)
        best = min(best, (tests * float(logsumexp(log)) + math.log(1 / delta)) / (a - 1))
    return best


def sg_pc(counts: Counts, noise: float, rng: Generator, *, stable: bool = False) -> Printed:
    """Run PC by subsampled Gaussian tests with this noise multiplier."""
    scale, tests = noise * sensitivity(round(counts.n * ROWS_DRAWN)), 0

    def answer(batch: list[Query]) -> Answers:
        nonlocal tests
        tests += len(batch)
        drawn = [rng.binomial(counts.table((*q.given, q.x, q.y)), ROWS_DRAWN) for q in batch]
        values = [table_pvalue(table) + rng.normal(0, scale) for table in drawn]
        return [bool(value >= THRESHOLD) for value in values]

    skeleton = drive(pc_search(tuple(counts.schema), stable=stable), answer)
    return Printed(skeleton, moments_epsilon(noise, tests), tests)


def flips_ties(blocks: Blocks, level: float = 0.05) -> float:
    """Return the same for K with ties in its variance, at ``level``."""
    return kendall_margin(blocks, float(-ndtri(level / 2)), 1.0)


def definition_pvalue(counts: Counts, question: Query) -> float:
    """Two-sided p-value of Definition 6 as printed: ties discordant, |tau| in every block."""
    return float(2 * ndtr(-printed_tau_z(in_tables(blocks_of(counts, question)))))


def tau_b_pvalue(counts: Counts, question: Query) -> float:
    """p-value of the paper's z with tau-b in every stratum, as scipy computes it; strata of one level are skipped."""
    table = counts.table((*question.given, question.x, question.y))
    blocks = table.reshape(-1, *table.shape[-2:])
    n = blocks.sum(axis=(1, 2)).astype(float)
    pairs = [(n**2 - (blocks.sum(axis=axis).astype(float) ** 2).sum(axis=1)) / 2 for axis in (1, 2)]
    live = (n > 2) & (pairs[0] > 0) & (pairs[1] > 0)
    tau = concordance(blocks)[live] / np.sqrt(pairs[0][live] * pairs[1][live])
    weight = 9 * n[live] * (n[live] - 1) / (2 * (2 * n[live] + 5))
    return float(2 * ndtr(-abs(weight @ tau) / math.sqrt(weight.sum()))) if live.any() else 1.0


def tied_pvalue(counts: Counts, question: Query) -> float:
    """p-value of blocked Kendall with ties in its variance."""
    table = counts.table((*question.given, question.x, question.y))
    value, variance = kendall(table.reshape(-1, *table.shape[-2:]))
    return float(2 * ndtr(-abs(value) / math.sqrt(variance))) if variance > 0 else 1.0


STATISTICS: dict[str, Callable[[Counts, Query], float]] = {
    "Definition 6 as printed": definition_pvalue,
    "tau-a, two-sided, 1 where nothing can be tested": printed_pvalue,
    "tau-a, as the reference code tests it": pvalue,
    "tau-b, as scipy computes it": tau_b_pvalue,
    "tau-a with ties in its variance": tied_pvalue,
}


def without_noise(counts: Counts, statistic: str, threshold: float) -> Skeleton:
    """PC by one of ``STATISTICS``, no noise: what any private version of it converges to."""
    value = STATISTICS[statistic]
    search = pc_search(tuple(counts.schema), stable=False)
    return drive(search, lambda batch: [value(counts, q) >= threshold for q in batch])


def graph_of(skeleton: Skeleton) -> Graph:
    """The CPDAG of a skeleton with its separating sets."""
    return orient(Graph(skeleton.columns, undirected=skeleton.edges), skeleton.separating, frozenset())
