"""Chances of the directions of edges: a posterior over directed graphs, by sampling orders of the columns.

One separating set decides badly which way an edge points, even without noise. Here every directed acyclic graph has a
score made of all evidence about pairs, and a direction is as likely as the graphs that have it.

**Score.** Let F(S) be the logarithm of the Bayes factor of "the columns S depend on each other in any way" against
"they do not" (``Contrasts.dependences``). It has no direction. A column v with parents P adds F(P + v) - F(P), less a
cost for each parent. Graphs that imply the same independences so have the same score.

**Sampling** (Friedman & Koller 2003). An order of the columns allows v the parents that come before it; the score of an
order is the sum over graphs that it allows, which is a product over columns. Orders are sampled by swapping two columns
(Metropolis), from a random start, hot at first; a graph is drawn for each of the orders that are kept. All
orders are equally likely beforehand, so graphs that more orders allow are too: of a star without colliders most edges
point outwards, as they must, for one at most points inwards.

**Guarantee.** Post-processing: evidence comes from released values, and draws are handed in. **Cost** O(2^c) a column
and step, c candidates at most. **Where it fails**: parents are among candidates only.

References: Friedman & Koller 2003 (orders); Heckerman, Geiger & Chickering 1995 (equivalent graphs, equal scores).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit

Floats = NDArray[np.float64]
DependenceOf = Callable[[tuple[int, ...]], Floats]  # of every subset of columns, by its bits

STEPS, KEPT = 6000, 150  # swaps of a chain, and the graphs that it draws
HEAT = 8.0  # temperature at the start; 1 from the middle of the swaps on
NEIGHBOURING = 0.5  # part of the swaps that are of neighbours in the order


@dataclass(frozen=True)
class LocalScores:
    """Scores of every column with every set of candidate parents.

    Attributes
    ----------
    candidates : (d, c) array
        Columns that may be parents of each; -1 where there are fewer.
    scores : (d, 2^c) array
        By the set of candidates, as bits; minus infinity for sets of more candidates than a column has.
    """

    candidates: NDArray[np.int64]
    scores: Floats


def local_scores(dependence: DependenceOf, candidates: Sequence[Sequence[int]], cost: float) -> LocalScores:
    """Return the score of each column with every set of candidate parents.

    ``dependence`` returns the evidence F for dependence among each subset of some columns, by its bits.

    >>> pair = np.array([0.0, 0.0, 0.0, 5.0])  # of no column, the first, the second, both
    >>> local_scores(lambda columns: pair, [[1], [0]], 1.0).scores.tolist()
    [[0.0, 4.0], [0.0, 4.0]]
    """
    wide = max((len(one) for one in candidates), default=0)
    scores = np.full((len(candidates), 1 << wide), -np.inf)
    places = np.full((len(candidates), wide), -1, np.int64)
    for v, listed in enumerate(candidates):
        places[v, : len(listed)] = listed
        parents = np.arange(1 << len(listed))
        found = dependence((*listed, v))
        scores[v, parents] = (
            found[parents | 1 << len(listed)] - found[parents] - cost * np.bitwise_count(parents)
        )
    return LocalScores(places, scores)


def direction_chances(local: LocalScores, generator: Any) -> Floats:
    """Return a (d, d) array of posterior probabilities that the first column is a parent of the second, by one chain.

    ``generator`` has ``random``.

    >>> no = -np.inf  # 2 has 0 or 1 or, far better, both as parents
    >>> scores = np.array([[0.0, 8.0, no, no], [0.0, 8.0, no, no], [0.0, 8.0, 8.0, 27.0]])
    >>> chance = direction_chances(LocalScores(np.array([[2, -1], [2, -1], [0, 1]]), scores), np.random.default_rng(1))
    >>> bool(chance[0, 2] > 0.95), bool(chance[1, 2] > 0.95)
    (True, True)
    """
    d = len(local.candidates)
    counts, order = np.zeros((d, d)), np.argsort(generator.random(d))
    swaps, draws = generator.random((STEPS, 4)), generator.random((KEPT, d))
    _sample_orders(local.scores, local.candidates, order, swaps, draws, counts)
    return counts / KEPT


@jit(error_model="numpy")
def _before(v: Any, candidates: Any, place: Any) -> Any:
    """Return, as a bit mask, the candidate parents of v that precede it in the order given by ``place``."""
    found = 0
    for i in range(candidates.shape[1]):
        other = candidates[v, i]
        if other >= 0 and place[other] < place[v]:
            found |= 1 << i
    return found


@jit(error_model="numpy")
def _log_sum(scores: Any, allowed: Any) -> Any:
    """Return the log of the summed exp(score) over the parent sets within the mask ``allowed``."""
    top = -np.inf
    for one in range(scores.shape[0]):
        if one & ~allowed == 0:
            top = max(top, scores[one])
    total = 0.0
    for one in range(scores.shape[0]):
        if one & ~allowed == 0:
            total += np.exp(scores[one] - top)
    return top + np.log(total)


@jit(error_model="numpy")
def _draw_parents(scores: Any, allowed: Any, log_sum: Any, draw: Any) -> Any:
    """Return a parent set within the mask ``allowed``, drawn with probability by its score."""
    total, last = 0.0, 0
    for one in range(scores.shape[0]):
        if one & ~allowed == 0 and scores[one] > -np.inf:
            total += np.exp(scores[one] - log_sum)
            last = one
            if total >= draw:
                break
    return last


@jit(error_model="numpy")
def _sample_orders(scores: Any, candidates: Any, order: Any, swaps: Any, draws: Any, counts: Any) -> None:
    """Run one Markov chain over orders from ``order``; add the edges of the graphs it draws to ``counts``."""
    d, steps = candidates.shape[0], swaps.shape[0]
    place, now, then = np.empty(d, np.int64), np.empty(d), np.empty(d)
    for i in range(d):
        place[order[i]] = i
    for v in range(d):
        now[v] = _log_sum(scores[v], _before(v, candidates, place))
    warm, kept = steps // 2, 0
    every = max((steps - warm) // draws.shape[0], 1)
    for step in range(steps):
        i = min(int(swaps[step, 0] * d), d - 1)
        j = min(int(swaps[step, 1] * d), d - 1)
        if swaps[step, 2] < NEIGHBOURING:
            j = i + 1 if i + 1 < d else i - 1
        if i != j and j >= 0:
            a, b = order[i], order[j]
            order[i], order[j], place[a], place[b] = b, a, j, i
            gain = 0.0
            for k in range(min(i, j), max(i, j) + 1):
                v = order[k]
                then[v] = _log_sum(scores[v], _before(v, candidates, place))
                gain += then[v] - now[v]
            heat = max(1.0, HEAT * (1.0 - step / warm)) if step < warm else 1.0
            if np.log(swaps[step, 3]) < gain / heat:
                for k in range(min(i, j), max(i, j) + 1):
                    now[order[k]] = then[order[k]]
            else:
                order[i], order[j], place[a], place[b] = a, b, i, j
        if step >= warm and (step - warm) % every == 0 and kept < draws.shape[0]:
            for v in range(d):
                chosen = _draw_parents(scores[v], _before(v, candidates, place), now[v], draws[kept, v])
                for k in range(candidates.shape[1]):
                    if (chosen >> k) & 1:
                        counts[candidates[v, k], v] += 1.0
            kept += 1
