"""NOT PRIVATE: Priv-PC, SVT-PC, EM-PC and the subsampled Gaussian (SG) as published, for comparison only.

The sensitivity 9/2/sqrt(n) of the conditional tau does not hold, line 15 of Algorithm 2 lacks a factor sqrt(n/m), the
threshold is refreshed only when the examination passes, and the total is added up after the fact (a number of hits that
depends on the data). ``claimed`` is the total by the paper's own sums; the real loss is larger.

What the paper leaves open is taken from its reference code [4]: the score is the one-sided p-value of the weighted z,
an edge goes where that is above .10, the tweak is .02, and strata of at most two rows or of one level are skipped.

EM-PC [2]: at every order and node a number of edges to delete, then so many edges, by the exponential mechanism; the
utility of a question is how many rows must change until its test turns, taken for 1-sensitive. The greedy count of [2]
is replaced by K minus its threshold, in rows, which it approximates; the set that separates an edge is taken without
noise.

SG: every test on a fresh Poisson subsample of one row in 20, Gaussian noise on its p-value, and the moments accountant
of [3] over all tests that were asked. [1] says no more of it than that.

**Why asia does not reach 1.** ``without_noise`` runs PC with the statistics and no noise at all. tau-a shrinks with
ties: on two columns of shares p and q its z is 3 sqrt(p(1-p)q(1-q)) times what it should be, .03 for asia and tub (1%
each), so that this true edge always goes. With ties in the variance, or tau-b, it stays. Two other edges, either - xray
and either - dysp, hang on what is done where nothing can be tested, since tub and lung determine either. "Independent"
takes both away: 5 of 8 edges, .77. The reference code computes 0/0 there, NaN, which is neither below nor above the
threshold, so it keeps both: 7 of 8 edges, .93.

References: [1] Wang, Pang & Song 2020, Algorithms 2 and 5, section 4.2; [2] Xu, Yuan & Wu 2017; [3] Abadi et al. 2016
and Mironov, Talwar & Zhang 2019, eq. for integer orders; [4] ``pc.py``, ``indep_test.py`` and ``eval.py`` of [1]'s
code at 0fb6104.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, ndtri

from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Answer, Answers, Query, Skeleton, complete_skeleton, drive, pc_search
from dpcausal.graphs.equivalence import orient
from dpcausal.graphs.graph import Graph
from dpcausal.stats.kendall import concordance, kendall, kendall_margin
from dpcausal.stats.published import weighted_kendall

THRESHOLD, TWEAK = 0.10, 0.02  # of the reference code
ADVANCED_DELTA = 1e-3


def pvalue(counts: MemoryCounts, question: Query) -> float:
    """One-sided p-value of the weighted conditional tau as in the reference code, NaN where nothing can be tested."""
    return table_pvalue(counts.table((*question.given, question.x, question.y)))


def table_pvalue(table: np.ndarray) -> float:
    """The same of a table whose last axes are x and y."""
    blocks = table.reshape(-1, *table.shape[-2:])
    live = testable(blocks)
    if not live.any():
        return math.nan
    numerator, weight = weighted_kendall(blocks[live])
    return float(ndtr(-abs(numerator) / math.sqrt(weight)))


def testable(blocks: np.ndarray) -> np.ndarray:
    """Which strata have more than two rows, and more than one level of x and of y."""
    levels = [(blocks.sum(axis=axis) > 0).sum(axis=1) for axis in (1, 2)]
    return np.asarray((blocks.sum(axis=(1, 2)) > 2) & (levels[0] > 1) & (levels[1] > 1))


def printed_pvalue(counts: MemoryCounts, question: Query) -> float:
    """Two-sided p-value of the weighted conditional tau over all strata, 1 where it is undefined."""
    table = counts.table((*question.given, question.x, question.y))
    numerator, weight = weighted_kendall(table.reshape(-1, *table.shape[-2:]))
    return float(2 * ndtr(-abs(numerator) / math.sqrt(weight))) if weight > 0 else 1.0


def sensitivity(n: int) -> float:
    """The paper's 9/2/sqrt(n), through the slope of the one-sided p-value. Too small."""
    return 4.5 / math.sqrt(n) / math.sqrt(2 * math.pi)


def advanced(epsilon: float, hits: int, delta: float = ADVANCED_DELTA) -> float:
    """sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1), or the plain sum if that is less."""
    together = math.sqrt(2 * hits * math.log(1 / delta)) * epsilon + hits * epsilon * math.expm1(epsilon)
    return min(together, hits * epsilon)


def priv_pc(
    counts: MemoryCounts, epsilon: float, rng: np.random.Generator, optimal: Callable[[float, int], int]
) -> tuple[Skeleton, float]:
    """Algorithm 2 with ``epsilon`` a round: the skeleton and the claimed total."""
    n, delta = counts.n, sensitivity(counts.n)
    m = optimal(epsilon / 2, n)
    prime = math.log1p(n / m * math.expm1(epsilon / 2))
    wide = math.sqrt(n / m) * delta
    state = {"rows": counts.subsample(m) if m < n else counts, "hits": 0}
    level = THRESHOLD - TWEAK + rng.laplace(0, 2 * wide / prime)

    def answer(batch: list[Query]) -> Answers:
        nonlocal level
        answers: list[Answer] = []
        for question in batch:
            above = pvalue(state["rows"], question) + rng.laplace(0, 4 * wide / prime) >= level  # line 11
            if not above:  # or NaN
                answers.append(False)
                continue
            state["hits"] += 1
            gone = pvalue(counts, question) + rng.laplace(0, 2 * wide / epsilon) >= THRESHOLD  # line 12
            if gone:
                state["rows"] = counts.subsample(m) if m < n else counts
                level = THRESHOLD - TWEAK + rng.laplace(0, 2 * delta / prime)  # line 15
            answers.append(bool(gone))
        return answers

    skeleton = drive(pc_search(tuple(counts.schema)), answer)
    return skeleton, advanced(epsilon, state["hits"])


def svt_pc(counts: MemoryCounts, epsilon: float, rng: np.random.Generator) -> tuple[Skeleton, float]:
    """Algorithm 5 with a fresh threshold at every deletion: the skeleton and the claimed total."""
    delta = sensitivity(counts.n)
    level, hits = THRESHOLD + rng.laplace(0, 2 * delta / epsilon), 0

    def answer(batch: list[Query]) -> Answers:
        nonlocal level, hits
        answers: list[Answer] = []
        for question in batch:
            gone = pvalue(counts, question) + rng.laplace(0, 4 * delta / epsilon) >= level
            if gone:
                hits += 1
                level = THRESHOLD + rng.laplace(0, 2 * delta / epsilon)
            answers.append(bool(gone))
        return answers

    skeleton = drive(pc_search(tuple(counts.schema)), answer)
    return skeleton, advanced(epsilon, hits)


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


def sg_pc(counts: MemoryCounts, noise: float, rng: np.random.Generator) -> tuple[Skeleton, float]:
    """PC by subsampled Gaussian tests with this noise multiplier: the skeleton and the claimed total."""
    scale, tests = noise * sensitivity(round(counts.n * ROWS_DRAWN)), 0

    def answer(batch: list[Query]) -> Answers:
        nonlocal tests
        tests += len(batch)
        drawn = [rng.binomial(counts.table((*q.given, q.x, q.y)), ROWS_DRAWN) for q in batch]
        values = [table_pvalue(table) + rng.normal(0, scale) for table in drawn]
        return [bool(value >= THRESHOLD) for value in values]

    skeleton = drive(pc_search(tuple(counts.schema)), answer)
    return skeleton, moments_epsilon(noise, tests)


def em_pc(counts: MemoryCounts, epsilon: float, rng: np.random.Generator) -> tuple[Skeleton, float]:
    """EM-PC with ``epsilon`` a choice: the skeleton and the claimed total."""
    columns, choices = tuple(counts.schema), 0
    found = complete_skeleton(columns, Knowledge())

    def pick(utility: np.ndarray) -> int:
        nonlocal choices
        choices += 1
        weight = np.exp(epsilon / 2 * (utility - utility.max()))
        return int(rng.choice(len(utility), p=weight / weight.sum()))

    for order in range(len(columns) - 1):
        asked = 0
        for x in columns:
            near = sorted(found.adjacent[x])
            sets = {y: list(combinations([z for z in near if z != y], order)) for y in near}
            sets = {y: given for y, given in sets.items() if given}
            if not sets:
                continue
            asked += 1
            scored = {y: [(-flips(counts, Query(x, y, given)), given) for given in sets[y]] for y in sets}
            best = {y: max(entries) for y, entries in scored.items()}
            falling = np.sort([score for score, _ in best.values()])[::-1]
            upper, lower = np.concatenate([[1e9], falling]), np.concatenate([falling, [-1e9]])
            left = list(best)
            for _ in range(pick(np.minimum(upper, -lower))):
                y = left.pop(pick(np.array([best[y][0] for y in left])))
                found.remove(Query(x, y, best[y][1]))
        if not asked:
            break
    return found, advanced(epsilon, choices)


def flips(counts: MemoryCounts, question: Query, level: float = 0.05) -> float:
    """About how many rows must change until the test at ``level`` turns; below 0 where it says independent."""
    table = counts.table((*question.given, question.x, question.y))
    return kendall_margin(table.reshape(-1, *table.shape[-2:]), float(-ndtri(level / 2)), 1.0)


def tau_b_pvalue(counts: MemoryCounts, question: Query) -> float:
    """p-value of the paper's z with tau-b in every stratum, as scipy computes it; strata of one level are skipped."""
    table = counts.table((*question.given, question.x, question.y))
    blocks = table.reshape(-1, *table.shape[-2:])
    n = blocks.sum(axis=(1, 2)).astype(float)
    pairs = [(n**2 - (blocks.sum(axis=axis).astype(float) ** 2).sum(axis=1)) / 2 for axis in (1, 2)]
    live = (n > 2) & (pairs[0] > 0) & (pairs[1] > 0)
    tau = concordance(blocks)[live] / np.sqrt(pairs[0][live] * pairs[1][live])
    weight = 9 * n[live] * (n[live] - 1) / (2 * (2 * n[live] + 5))
    return float(2 * ndtr(-abs(weight @ tau) / math.sqrt(weight.sum()))) if live.any() else 1.0


def tied_pvalue(counts: MemoryCounts, question: Query) -> float:
    """p-value of blocked Kendall with ties in its variance."""
    table = counts.table((*question.given, question.x, question.y))
    value, variance = kendall(table.reshape(-1, *table.shape[-2:]))
    return float(2 * ndtr(-abs(value) / math.sqrt(variance))) if variance > 0 else 1.0


STATISTICS: dict[str, Callable[[MemoryCounts, Query], float]] = {
    "tau-a, as the paper defines it": printed_pvalue,
    "tau-a, as the reference code tests it": pvalue,
    "tau-b, as scipy computes it": tau_b_pvalue,
    "tau-a with ties in its variance": tied_pvalue,
}


def without_noise(counts: MemoryCounts, statistic: str, threshold: float) -> Skeleton:
    """PC by one of ``STATISTICS``, no noise: what any private version of it converges to."""
    value = STATISTICS[statistic]
    return drive(
        pc_search(tuple(counts.schema)), lambda batch: [value(counts, q) >= threshold for q in batch]
    )


def graph_of(skeleton: Skeleton) -> Graph:
    """The CPDAG of a skeleton with its separating sets."""
    return orient(Graph(skeleton.columns, undirected=skeleton.edges), skeleton.separating, frozenset())
