"""NOT PRIVATE: Priv-PC, SVT-PC, EM-PC and CURATE as their papers have them, for ``variant="paper"`` and figures.

``discover(..., variant="paper")`` runs them under ``dpcausal.testing.seeded`` alone: the sensitivity 9/2/sqrt(n) of the
conditional tau does not hold, the threshold is refreshed only when the examination passes, and the total is added up
after the fact, from a number of hits that depends on the rows. ``claimed`` is the total by a paper's own sums; the real
loss is larger. Noise is a float plus a float.

**Priv-PC** [1, Algorithm 2], line by line: the sieve on m rows with scales 2 and 4 sqrt(n/m) Delta/eps' (lines 5 and
11), the examination on all rows with 2 sqrt(n/m) Delta/eps (line 12), and the threshold after a deletion with
2 Delta/eps' (line 15). Line 12 needs no sqrt(n/m), since all rows are seen: Algorithm 1, line 9 has none;
``wide_examine=False`` leaves it out. The search is that of Algorithm 3: an edge at a time, neighbours as they are now
(``stable=True`` is another one, which does not depend on the order of columns).

**The score.** Definitions 5 and 6 count ties as discordant and take |tau| in every block
(``stats/published.py``): on two levels nearly every pair is tied, so independent columns score .75 sqrt(W), and no
edge is ever deleted. The paper's figures can't have been made so. Its reference code [3] takes the one-sided p-value of
the weighted z with signed tau-a; an edge goes where that is above .10, the tweak is .02, and strata of at most two rows
or of one level are skipped. That is what runs here (``pvalue``).

**EM-PC** [2]: at every order and node a number of edges to delete, then so many edges, by the exponential mechanism;
the utility of a question is how many rows must change until its test turns, taken for 1-sensitive. We have [2] through
[1] only. The greedy count is replaced by what it approximates: ``flips_tau_a``, the score of the other two over
the sensitivity that they assume. The set that separates an edge is taken without noise.

**CURATE** [4]: Lemma 1's rule, with a fair coin between the margins; our copy is its appendix, so what a test of an
order may cost, the sensitivity .3627/sqrt(n) and the margin are those of its public code, whose coin always says keep
(``coin=False``). The threshold is .35: of .05, .2, .35 and .5 it does well on four small networks (six seeds each,
none of them used in the figures).

References: [1] Wang, Pang & Song 2020, Algorithms 2, 3 and 5, section 4.2; [2] Xu, Yuan & Wu 2017; [3] ``pc.py``,
``indep_test.py`` and ``eval.py`` of [1]'s code at 0fb6104; [4] CURATE, appendix, and its public code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpcausal.core import entropy
from dpcausal.core.entropy import Generator
from dpcausal.core.errors import InputError
from dpcausal.core.statement import SearchAnswers
from dpcausal.core.variants import refuse_real_rows
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Counts
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import (
    Answer,
    Answers,
    AsPrinted,
    PaperName,
    Query,
    SearchOutcome,
    Skeleton,
    Task,
    complete_skeleton,
    drive,
    pc_search,
)
from dpcausal.planning.sieve import optimal_subsample
from dpcausal.stats.blocks import Blocks
from dpcausal.stats.published import weighted_kendall

THRESHOLD, TWEAK = 0.10, 0.02  # of the reference code
ADVANCED_DELTA = 1e-3
Size = Callable[[float, int], int]
Flips = Callable[[Blocks], float]


class Printed(NamedTuple):
    """What an algorithm as printed found: the skeleton, the total that its paper claims, and what was paid for."""

    skeleton: Skeleton
    claimed: float
    rounds: int


def pvalue(counts: Counts, question: Query) -> float:
    """Return the one-sided p-value of the weighted conditional tau, as the reference code; NaN if untestable."""
    return table_pvalue(counts.table((*question.given, question.x, question.y)))


def table_pvalue(table: Blocks) -> float:
    """Return the one-sided p-value of ``pvalue`` for a table whose last axes are x and y."""
    blocks = table.reshape(-1, *table.shape[-2:])
    live = testable_blocks(blocks)
    if not live.any():
        return math.nan
    numerator, weight = weighted_kendall(blocks[live])
    return float(ndtr(-abs(numerator) / math.sqrt(weight)))


def testable_blocks(blocks: Blocks) -> NDArray[np.bool_]:
    """Return a mask of the strata that can be tested: over two rows, and over one level of x and of y."""
    levels = [(blocks.sum(axis=axis) > 0).sum(axis=1) for axis in (1, 2)]
    return np.asarray((blocks.sum(axis=(1, 2)) > 2) & (levels[0] > 1) & (levels[1] > 1))


def printed_pvalue(counts: Counts, question: Query) -> float:
    """Return the two-sided p-value of the weighted conditional tau over all strata; 1 if undefined."""
    table = counts.table((*question.given, question.x, question.y))
    numerator, weight = weighted_kendall(table.reshape(-1, *table.shape[-2:]))
    return float(2 * ndtr(-abs(numerator) / math.sqrt(weight))) if weight > 0 else 1.0


def sensitivity(n: int) -> float:
    """Return the sensitivity that the paper states, 9/2/sqrt(n) times a slope. It is too small."""
    return 4.5 / math.sqrt(n) / math.sqrt(2 * math.pi)


def advanced(epsilon: float, hits: int, delta: float = ADVANCED_DELTA) -> float:
    """Return the total epsilon of ``hits`` answers by advanced composition, or their plain sum if less.

    sqrt(2 k ln(1/delta)) epsilon + k epsilon (e^epsilon - 1).
    """
    together = math.sqrt(2 * hits * math.log(1 / delta)) * epsilon + hits * epsilon * math.expm1(epsilon)
    return min(together, hits * epsilon)


def priv_pc(
    counts: MemoryCounts,
    epsilon: float,
    rng: Generator,
    size: Size = optimal_subsample,
    *,
    wide_examine: bool = True,
    stable: bool = False,
) -> Printed:
    """Run Priv-PC as printed (Algorithm 2) with ``epsilon`` for each sieve-and-examine. Not private."""
    n, delta = counts.n, sensitivity(counts.n)
    m = size(epsilon / 2, n)
    prime = math.log1p(n / m * math.expm1(epsilon / 2))
    wide = math.sqrt(n / m) * delta
    examine = 2 * (wide if wide_examine else delta) / epsilon
    rows, hits = counts.subsample(m) if m < n else counts, 0
    level = THRESHOLD - TWEAK + rng.laplace(0, 2 * wide / prime)  # line 5

    def answer(batch: list[Query]) -> Answers:
        nonlocal level, rows, hits
        answers: list[Answer] = []
        for question in batch:
            above = pvalue(rows, question) + rng.laplace(0, 4 * wide / prime) >= level  # line 11
            if not above:  # or NaN
                answers.append(False)
                continue
            hits += 1
            gone = pvalue(counts, question) + rng.laplace(0, examine) >= THRESHOLD  # line 12
            if gone:
                rows = counts.subsample(m) if m < n else counts  # line 14
                level = THRESHOLD - TWEAK + rng.laplace(0, 2 * delta / prime)  # line 15
            answers.append(bool(gone))
        return answers

    skeleton = drive(pc_search(tuple(counts.schema), stable=stable), answer)
    return Printed(skeleton, advanced(epsilon, hits), hits)


def svt_pc(counts: Counts, epsilon: float, rng: Generator, *, stable: bool = False) -> Printed:
    """Run SVT-PC as printed (Algorithm 5), with a fresh threshold after every deletion. Not private."""
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

    skeleton = drive(pc_search(tuple(counts.schema), stable=stable), answer)
    return Printed(skeleton, advanced(epsilon, hits), hits)


def em_pc(counts: Counts, epsilon: float, rng: Generator, flips: Flips | None = None) -> Printed:
    """Run EM-PC as printed, with ``epsilon`` for each choice by the utility ``flips``. Not private."""
    rows_to_turn = flips or flips_tau_a
    columns, choices = tuple(counts.schema), 0
    found = complete_skeleton(columns, Knowledge())

    def pick(utility: NDArray[np.float64]) -> int:
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
            scored = {
                y: [(-rows_to_turn(blocks_of(counts, Query(x, y, given))), given) for given in sets[y]]
                for y in sets
            }
            best = {y: max(entries) for y, entries in scored.items()}
            falling = np.sort([score for score, _ in best.values()])[::-1]
            upper, lower = np.concatenate([[1e9], falling]), np.concatenate([falling, [-1e9]])
            left = list(best)
            for _ in range(pick(np.minimum(upper, -lower))):
                y = left.pop(pick(np.array([best[y][0] for y in left])))
                found.remove(Query(x, y, best[y][1]))
        if not asked:
            break
    return Printed(found, advanced(epsilon, choices), choices)


def blocks_of(counts: Counts, question: Query) -> Blocks:
    """Return the table of x and y in every block of the given columns."""
    table = counts.table((*question.given, question.x, question.y))
    return table.reshape(-1, *table.shape[-2:])


def flips_tau_a(blocks: Blocks) -> float:
    """Return the utility of EM-PC by tau-a: about how many rows must change until the decision turns.

    It is z less its threshold over the 9/2/sqrt(n) by which one row is said to move it; without a stratum that can be
    tested nothing turns, and the answer is that of the reference code, dependent.
    """
    live, n = testable_blocks(blocks), int(blocks.sum())
    if not live.any():
        return float(n)
    numerator, weight = weighted_kendall(blocks[live])
    return (abs(numerator) / math.sqrt(weight) + float(ndtri(THRESHOLD))) * math.sqrt(n) / 4.5


CURATE_THRESHOLD, CURATE_BETA, CURATE_ORDERS = 0.35, 0.1, 4
CURATE_SENSITIVITY = 0.3627  # over sqrt(n), of the public code


def curate(
    counts: Counts,
    total: float,
    rng: Generator,
    cost: Callable[[list[float], float, float, bool], float],
    *,
    coin: bool = True,
    stable: bool = False,
) -> Printed:
    """Run CURATE as printed at a total epsilon; without ``coin`` an edge between the margins remains. Not private.

    ``cost`` plans what a test of an order may cost: ``cost_now`` of ``discovery/curate.py``.
    """
    columns = tuple(counts.schema)
    moved = CURATE_SENSITIVITY / math.sqrt(counts.n)
    order, epsilon, left = -1, 0.0, total
    deletions: list[float] = []
    low, high = (CURATE_THRESHOLD * (1 + side * CURATE_BETA) for side in (-1, 1))

    def answer(batch: list[Query]) -> Answers:
        nonlocal order, epsilon, left
        if len(batch[0].given) > order:
            order = len(batch[0].given)
            tests = curate_tests(order, math.comb(len(columns), 2) - len(deletions), len(columns))
            effect = CURATE_THRESHOLD * CURATE_BETA / moved
            epsilon = cost(tests, max(left, 1e-3 * total), effect, False)
            left -= epsilon * tests[0]
        answers: list[Answer] = []
        for question in batch:
            noisy = printed_pvalue(counts, question) + rng.laplace(0, moved / epsilon)
            gone = bool(noisy > high or (coin and noisy >= low and rng.random() < 0.5))
            if gone:
                deletions.append(epsilon)
            answers.append(gone)
        return answers

    skeleton = drive(pc_search(columns, stable=stable), answer)
    mean = float(np.mean(deletions)) if deletions else 0.0
    return Printed(skeleton, advanced(mean, len(deletions)), len(deletions))


def curate_tests(order: int, edges: int, columns: int) -> list[float]:
    """Return how many tests CURATE plans for each order to come: (edges left) C(d-2, i)."""
    last = min(columns - 2, order + CURATE_ORDERS - 1)
    return [float(edges * math.comb(columns - 2, i)) for i in range(order, last + 1)]


def run_printed(
    name: PaperName, task: Task, algorithm: Callable[[MemoryCounts, float, Generator], Printed]
) -> SearchOutcome:
    """Run a method as its paper prints it: not private, and refused unless a seed is set.

    ``epsilon`` is the paper's: of a round (priv-pc), a deletion (svt-pc), a choice (em-pc), or the total (curate).
    """
    refuse_real_rows(name)
    if not isinstance(task.counts, MemoryCounts):
        raise InputError("variant='paper' counts rows in memory: bring them with dc.read")
    if task.known != Knowledge() or task.max_order is not None:
        raise InputError(
            "variant='paper' knows no background knowledge and no max_order: the papers have none"
        )
    epsilon = task.private_budget().total.epsilon
    found = algorithm(task.counts, epsilon, entropy.public_generator())
    note = AsPrinted(name, epsilon, found.rounds, found.claimed, ADVANCED_DELTA)
    return SearchOutcome(found.skeleton, (SearchAnswers("independences"),), notes=(note,), printed=True)
