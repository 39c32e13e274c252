"""Directed graphs scored on a released joint table, with its noise in the score.

Pairs say little where two columns are nearly the same, and much of what a joint table has is lost when it is summed to
pairs: of three thousand rows in 256 cells most cells are empty, and what is known to be empty has no noise to hide in.
A graph says how the proportions of all cells hang together, and so which cells can be filled.

**Score.** Given a directed acyclic graph, column v has a distribution for each combination of levels of its parents,
with logits eta against its most common level. A cell with proportion p(eta) holds n p rows on average; what is released
has sampling variance about n p and noise of known variance s^2:

    log L = - 1/2 sum over cells of [ (y - n p)^2 / (n p + s^2) + log(n p + s^2) ].

The logits have a normal prior around those of the column as a whole, with standard deviation ``SPREAD``. The score is
the logarithm of the marginal likelihood by Laplace's method,

    log L + log prior at its maximum  -  1/2 log det (I + SPREAD^2 F),   F Fisher's information,

with s^2 at least ``LEAST_VARIANCE``: a row where the graph expects a hundredth of one is rare, and not ten standard
deviations away. So parameters which the noise hides cost nothing and gain nothing, and others cost about half
the logarithm of what is known of them (BIC's price, where there is no noise).

**Search.** Simulated annealing over graphs: an edge is added, removed or turned round, one of its ends is moved, or two
columns change their places, which is what tells nearly equal columns apart. Edges cost what the caller says. The best
graph that was seen is returned.

**Guarantee.** Post-processing of a released table; draws are handed in. **Where it fails**: at most ``MAX_PARENTS``
parents and ``MAX_LOGITS`` logits a column; noise is taken as normal (a cell is a sum of many rows and one draw).

**Cost** O(cells (sum of (r - 1))^2) an evaluation and step of Fisher scoring; numbers of steps follow from sizes.

References: Friedman 1998 (scores where counts are not seen); Tierney & Kadane 1986 (Laplace's method); Madigan & York
1995 (moves between graphs).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from dpcausal.core.compiled import jit
from dpcausal.stats.contrasts import Floats

SPREAD = 4.0  # standard deviation of a logit around that of the column as a whole
MAX_PARENTS = 3
MAX_LOGITS = 48  # of one column, for all combinations of levels of its parents
PULL = (
    8.0  # rows with the proportions of the whole column that the first guess of a distribution is mixed with
)
LEAST_VARIANCE = (
    1.0  # of noise in the score: with less, a normal distribution is wrong for cells with few rows
)
SCORING_STEPS = 10
CLOSE = 0.02  # gain of a step of Fisher scoring that ends it
HALVINGS = 4
SLOTS = 8192  # scores kept by graph
HEAT, HOT = (
    4.0,
    0.3,
)  # temperature at the start (1: as scores say), and the part of the steps until it has fallen to 1
WORK = 130_000_000  # cells times squared features times steps of a search
STEPS, MIN_STEPS = 8000, 1000
MAX_CELLS = 4096
MIN_SCORED = 3  # columns: two have nothing to hold fixed
SWAPS, MOVES = 0.12, 0.3  # part of the steps that swap two columns, and up to which an end is moved

Ints = NDArray[np.int64]


def steps_for(sizes: Sequence[int]) -> int:
    """Return the number of annealing steps for columns of these sizes; 0 if their joint table is too large.

    >>> steps_for([2] * 8), steps_for([2] * 11), steps_for([4] * 6)
    (7934, 0, 0)
    """
    cells, features = math.prod(sizes), sum(size - 1 for size in sizes)
    steps = WORK // max(cells * features**2, 1)
    return min(steps, STEPS) if steps >= MIN_STEPS and cells <= MAX_CELLS else 0


def nearest_counts(tables: Floats, totals: Floats | float) -> Floats:
    """Return the nearest non-negative tables with these totals.

    Parameters
    ----------
    tables
        (..., cells) array.
    totals
        (...) array, or one number; above 0.

    >>> nearest_counts(np.array([5.0, 3.0, -2.0]), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    falling = -np.sort(-tables, axis=-1)
    excess = (np.cumsum(falling, axis=-1) - np.expand_dims(totals, -1)) / np.arange(1, tables.shape[-1] + 1)
    last = np.maximum((falling > excess).sum(axis=-1, keepdims=True) - 1, 0)
    return np.asarray(np.maximum(tables - np.take_along_axis(excess, last, axis=-1), 0.0))


@jit(error_model="numpy")
def _configure(parents: Any, place: Any, sizes: Any, out: Any) -> Any:
    """Write the number of the parents' level combination of every cell into ``out``; return how many there are."""
    number = 1
    for i in range(place.shape[1]):
        out[i] = 0
    for p in range(place.shape[0]):
        if (parents >> p) & 1:
            number *= sizes[p]
            for i in range(place.shape[1]):
                out[i] = out[i] * sizes[p] + place[p, i]
    return number


@jit(error_model="numpy")
def _combinations(parents: Any, sizes: Any) -> Any:
    """Return the number of level combinations of these parents."""
    number = 1
    for p in range(sizes.shape[0]):
        if (parents >> p) & 1:
            number *= sizes[p]
    return number


@jit(error_model="numpy")
def _set_parents(v: Any, parents: Any, graphs: Any, config: Any, combos: Any, logits: Any) -> None:
    """Set the parents of column v, with starting logits from smoothed proportions."""
    place, sizes, refs, near = graphs.place, graphs.sizes, graphs.refs, graphs.near
    combos[v] = _configure(parents, place, sizes, config[v])
    r = sizes[v]
    whole, table = np.zeros(r), np.zeros((combos[v], r))
    for i in range(place.shape[1]):
        whole[place[v, i]] += near[i]
        table[config[v, i], place[v, i]] += near[i]
    total = 0.0
    for k in range(r):
        whole[k] += 0.5
        total += whole[k]
    for j in range(combos[v]):
        at = 0
        base = np.log(table[j, refs[v]] + PULL * whole[refs[v]] / total)
        for k in range(r):
            if k != refs[v]:
                logits[v, j * (r - 1) + at] = np.log(table[j, k] + PULL * whole[k] / total) - base
                at += 1


@jit(error_model="numpy")
def _factor(matrix: Any, unit: Any, ridge: Any, out: Any) -> None:
    """Write Cholesky's factor of a matrix over ``unit``, with ``ridge`` on its diagonal."""
    for a in range(matrix.shape[0]):
        for b in range(a + 1):
            total = matrix[a, b] / unit + (ridge if a == b else 0.0)
            for k in range(b):
                total -= out[a, k] * out[b, k]
            out[a, b] = np.sqrt(max(total, 1e-10)) if a == b else total / out[b, b]


@jit(error_model="numpy")
def _distribute(logits: Any, ref: Any, chance: Any) -> None:
    """Write the distribution with these logits (relative to level ``ref``) into ``chance``."""
    top = 0.0
    for k in range(logits.shape[0]):
        top = max(top, logits[k])
    total = np.exp(-top)
    for k in range(logits.shape[0]):
        total += np.exp(logits[k] - top)
    chance[ref] = np.exp(-top) / total
    for k in range(logits.shape[0]):
        chance[k if k < ref else k + 1] = np.exp(logits[k] - top) / total


@jit(error_model="numpy")
def _score(graphs: Any, config: Any, combos: Any, logits: Any, chance: Any) -> Any:
    """Fit the logits in place by Fisher scoring; return the logarithms of the marginal and of the largest likelihood.

    ``config`` (d, cells) and ``combos`` (d,) say the graph, ``logits`` (d, MAX_LOGITS) where to start and, after it,
    the fit; ``chance`` (d, MAX_LOGITS + 1, levels) is filled with the fitted distributions.
    """
    y, rows, variance = graphs.table, graphs.rows, max(graphs.noise, LEAST_VARIANCE)
    place, sizes, refs, middle = graphs.place, graphs.sizes, graphs.refs, graphs.middle
    prior = 1.0 / SPREAD**2
    d, cells = place.shape
    starts = np.zeros(d + 1, np.int64)
    wide = 0
    for v in range(d):
        starts[v + 1] = starts[v] + combos[v] * (sizes[v] - 1)
        wide += sizes[v] - 1
    size = starts[d]
    mean, gradient, step = np.empty(cells), np.empty(size), np.zeros(size)
    now, tried, centre = np.empty(size), np.empty(size), np.empty(size)
    information, factor = np.empty((size, size)), np.empty((size, size))
    touched, value = np.empty(wide, np.int64), np.empty(wide)
    for v in range(d):
        r = sizes[v]
        for j in range(combos[v]):
            for k in range(r - 1):
                at = starts[v] + j * (r - 1) + k
                now[at] = logits[v, j * (r - 1) + k]
                centre[at] = middle[v, k]
    best = -np.inf
    for turn in range(SCORING_STEPS + 1):
        part = 1.0
        found = -np.inf
        for _ in range(HALVINGS + 1):
            for p in range(size):
                tried[p] = now[p] + part * step[p]
            for v in range(d):
                r = sizes[v]
                for j in range(combos[v]):
                    base = starts[v] + j * (r - 1)
                    _distribute(tried[base : base + r - 1], refs[v], chance[v, j])
            found = 0.0
            for i in range(cells):
                m = rows
                for v in range(d):
                    m *= chance[v, config[v, i], place[v, i]]
                mean[i] = m
                wider = m + variance
                off = y[i] - m
                found -= 0.5 * (off * off / wider + np.log(wider))
            for p in range(size):
                found -= 0.5 * prior * (tried[p] - centre[p]) ** 2
            if turn == 0 or found > best:
                break
            part *= 0.5
        gain = found - best
        if turn > 0 and gain <= 0.0:
            break
        for p in range(size):
            now[p] = tried[p]
        best = found
        for a in range(size):
            gradient[a] = -prior * (now[a] - centre[a])
            for b in range(size):
                information[a, b] = 0.0
        for i in range(cells):
            m = mean[i]
            weight = 1.0 / (m + variance)
            off = y[i] - m
            slope = m * (off * weight + 0.5 * (off * off * weight * weight - weight))
            bend = m * m * (weight + 0.5 * weight * weight)
            at = 0
            for v in range(d):
                r, j = sizes[v], config[v, i]
                base, k = starts[v] + j * (r - 1), 0
                for level in range(r):
                    if level != refs[v]:
                        touched[at] = base + k
                        value[at] = (1.0 if place[v, i] == level else 0.0) - chance[v, j, level]
                        at += 1
                        k += 1
            for a in range(wide):
                gradient[touched[a]] += slope * value[a]
            if bend > 1e-12:
                for a in range(wide):
                    for b in range(a + 1):
                        information[touched[a], touched[b]] += bend * value[a] * value[b]
        if turn == SCORING_STEPS or (turn > 0 and gain < CLOSE):
            break
        _factor(information, 1.0, prior, factor)
        for a in range(size):
            total = gradient[a]
            for k in range(a):
                total -= factor[a, k] * step[k]
            step[a] = total / factor[a, a]
        for a in range(size - 1, -1, -1):
            total = step[a]
            for k in range(a + 1, size):
                total -= factor[k, a] * step[k]
            step[a] = total / factor[a, a]
    _factor(information, prior, 1.0, factor)
    price = 0.0
    for a in range(size):
        price += np.log(factor[a, a])
    for v in range(d):
        for k in range(combos[v] * (sizes[v] - 1)):
            logits[v, k] = now[starts[v] + k]
    return best - price, best


@jit(error_model="numpy")
def _has_cycle(parents: Any) -> Any:
    """Return whether a directed graph has a cycle."""
    d = parents.shape[0]
    left = (1 << d) - 1
    while left:
        freed = 0
        for v in range(d):
            if (left >> v) & 1 and not parents[v] & left:
                freed |= 1 << v
        if not freed:
            return True
        left &= ~freed
    return False


@jit(error_model="numpy")
def _may_be(parents: Any, sizes: Any, allowed: Any, required: Any) -> Any:
    """Return whether a graph meets the constraints: acyclic, allowed arrows, required edges, few parents."""
    d = parents.shape[0]
    for v in range(d):
        number = 0
        for p in range(d):
            if (parents[v] >> p) & 1:
                number += 1
                if not allowed[p, v]:
                    return False
            elif required[p, v] and not (parents[p] >> v) & 1:
                return False
        if number > MAX_PARENTS or _combinations(parents[v], sizes) * (sizes[v] - 1) > MAX_LOGITS:
            return False
    return not _has_cycle(parents)


@jit(error_model="numpy")
def _propose(now: Any, draws: Any, out: Any) -> Any:
    """Write a random neighbouring graph into ``out``; return whether it differs."""
    d = now.shape[0]
    for v in range(d):
        out[v] = now[v]
    a = min(int(draws[1] * d), d - 1)
    b = min(int(draws[2] * (d - 1)), d - 2)
    b += 1 if b >= a else 0
    if draws[0] < SWAPS:
        for v in range(d):
            w = b if v == a else (a if v == b else v)
            mask = now[v]
            in_a, in_b = (mask >> a) & 1, (mask >> b) & 1
            mask &= ~((1 << a) | (1 << b))
            out[w] = mask | (in_a << b) | (in_b << a)
    elif draws[0] < MOVES:
        edges = 0
        for v in range(d):
            for p in range(d):
                edges += (now[v] >> p) & 1
        if edges == 0 or d < 3:
            return False
        wanted = min(int(draws[1] * edges), edges - 1)
        for v in range(d):
            for p in range(d):
                if (now[v] >> p) & 1:
                    if wanted == 0:
                        other = min(int(draws[2] * d), d - 1)
                        if other in (v, p):
                            return False
                        out[v] &= ~(1 << p)
                        if draws[3] < 0.5:
                            if (now[v] >> other) & 1 or (now[other] >> v) & 1:
                                return False
                            out[v] |= 1 << other
                        else:
                            if (now[other] >> p) & 1 or (now[p] >> other) & 1:
                                return False
                            out[other] |= 1 << p
                        return True
                    wanted -= 1
    elif (now[b] >> a) & 1:
        out[b] &= ~(1 << a)
        if draws[3] < 0.5:
            out[a] |= 1 << b
    elif (now[a] >> b) & 1:
        return False
    else:
        out[b] |= 1 << a
    differs = False
    for v in range(d):
        differs = differs or out[v] != now[v]
    return differs


@jit(error_model="numpy")
def _cost_of(parents: Any, cost: Any) -> Any:
    """Return the total cost of the edges of a graph."""
    total = 0.0
    for v in range(parents.shape[0]):
        for p in range(parents.shape[0]):
            if (parents[v] >> p) & 1:
                total += cost[p, v]
    return total


@jit(error_model="numpy")
def anneal(
    graphs: Any, allowed: Any, required: Any, cost: Any, start: Any, draws: Any, heat: Any, visited: Any
) -> Any:
    """Return the best graph found by simulated annealing from ``start``, and its score less costs.

    Parameters
    ----------
    graphs
        A ``JointGraphs``.
    allowed, required, cost
        (d, d): whether an arrow from p to v may be, whether the edge must be, what it costs.
    start, draws
        (d,) parents as bits, and (steps, 5) uniform numbers.
    heat
        Temperature at the start.
    visited
        (kept, d): filled with graphs of the last steps, evenly spaced.
    """
    place, sizes = graphs.place, graphs.sizes
    d, cells = place.shape
    steps, kept = draws.shape[0], visited.shape[0]
    most = 0
    for v in range(d):
        most = max(most, sizes[v])
    now, new = start.copy(), start.copy()
    config, new_config = np.zeros((d, cells), np.int64), np.zeros((d, cells), np.int64)
    combos, new_combos = np.ones(d, np.int64), np.ones(d, np.int64)
    logits, new_logits = np.zeros((d, MAX_LOGITS)), np.zeros((d, MAX_LOGITS))
    chance = np.zeros((d, MAX_LOGITS + 1, most))
    keys, scores = np.zeros(SLOTS, np.uint64), np.zeros(SLOTS)
    for v in range(d):
        _set_parents(v, now[v], graphs, config, combos, logits)
    score, _ = _score(graphs, config, combos, logits, chance)
    score -= _cost_of(now, cost)
    best, top = now.copy(), score
    taken = 0
    for t in range(steps):
        warm = max(1.0, heat * (1.0 - t / (HOT * steps)))
        if _propose(now, draws[t], new) and _may_be(new, sizes, allowed, required):
            key = np.uint64(1469598103934665603)
            for v in range(d):
                key = (key ^ np.uint64(new[v] + 1)) * np.uint64(1099511628211)
            slot = int(key % np.uint64(SLOTS))
            price = _cost_of(new, cost)
            known = keys[slot] == key
            found = scores[slot] - price
            bar = score + warm * np.log(max(draws[t, 4], 1e-300))
            if not known or found > bar:
                for v in range(d):
                    if new[v] == now[v]:
                        new_combos[v] = combos[v]
                        new_config[v] = config[v]
                        new_logits[v] = logits[v]
                    else:
                        _set_parents(v, new[v], graphs, new_config, new_combos, new_logits)
                marginal, _ = _score(graphs, new_config, new_combos, new_logits, chance)
                if not known:
                    keys[slot], scores[slot] = key, marginal
                    found = marginal - price
                if found > bar:
                    score = found
                    for v in range(d):
                        now[v], combos[v] = new[v], new_combos[v]
                        config[v], logits[v] = new_config[v], new_logits[v]
                    if score > top:
                        top = score
                        best[:] = now
        if kept and t >= steps - (kept - taken) * (steps // (2 * kept)) and taken < kept:
            visited[taken] = now
            taken += 1
    return best, top


Parents = tuple[tuple[int, ...], ...]


class JointGraphs(NamedTuple):
    """A released joint table, and what graphs are scored with; kernels take it as it is.

    Attributes
    ----------
    table, near : (cells,) arrays
        As released, and the nearest without negative cells.
    sizes : (d,) array
        Levels of each column.
    noise, kurtosis : float
        Variance and excess kurtosis of the noise in a cell.
    rows : float
        Their number, at least 1.
    place : (d, cells) array
        Levels of every cell.
    refs, middle : (d,) and (d, levels) arrays
        Most common level of each column, and the logits of its other levels.
    """

    table: Floats
    near: Floats
    sizes: Ints
    noise: float
    kurtosis: float
    rows: float
    place: Ints
    refs: Ints
    middle: Floats

    @classmethod
    def of(cls, joint: Floats, noise: float, kurtosis: float, rows: float) -> JointGraphs:
        """Return the scorer of graphs for a released joint table, one axis a column."""
        table = np.ascontiguousarray(joint, dtype=np.float64).ravel()
        place = np.indices(joint.shape).reshape(joint.ndim, -1)
        near = nearest_counts(table, rows)
        refs = np.zeros(joint.ndim, np.int64)
        middle = np.zeros((joint.ndim, max(joint.shape)))
        for v, size in enumerate(joint.shape):
            counts = np.bincount(place[v], near, size) + 0.5
            refs[v] = counts.argmax()
            logits = np.log(counts / counts[refs[v]])
            middle[v, : size - 1] = np.delete(logits, refs[v])
        sizes = np.array(joint.shape, dtype=np.int64)
        return cls(table, near, sizes, float(noise), float(kurtosis), float(rows), place, refs, middle)

    @property
    def variance(self) -> float:
        """The noise variance of a cell, as the score uses it."""
        return max(self.noise, LEAST_VARIANCE)

    def search(
        self,
        cost: Floats,
        allowed: NDArray[np.bool_],
        required: NDArray[np.bool_],
        start: Parents,
        draws: Floats,
        *,
        heat: float = HEAT,
        keep: int = 0,
    ) -> tuple[Parents, list[Parents]]:
        """Return the best graph found by annealing, and ``keep`` of the graphs visited at the end."""
        visited = np.zeros((keep, len(self.sizes)), np.int64)
        best, _ = anneal(self, allowed, required, cost, _masks(start), draws, heat, visited)
        return _listed(best), [_listed(one) for one in visited]

    def score(self, parents: Parents) -> float:
        """Return the logarithm of the marginal likelihood of a graph."""
        return self._fit(parents)[0]

    def test(self, parents: Parents, tail: int, head: int) -> float:
        """Return the p-value of adding the arrow ``tail`` -> ``head`` to a graph without it.

        Twice the logarithm of the ratio of likelihoods, with as many degrees of freedom as there are new logits. The
        prior holds back those that noise hides, so the p-value is rather too large than too small.
        """
        with_it = tuple(
            tuple(sorted((*one, tail))) if v == head else tuple(one) for v, one in enumerate(parents)
        )
        smaller, larger = self._fit(parents), self._fit(with_it)
        added = int((larger[2][head] - smaller[2][head]) * (self.sizes[head] - 1))
        return float(chdtrc(added, max(2.0 * (larger[5] - smaller[5]), 0.0)))

    def _fit(self, parents: Parents) -> tuple[float, Ints, Ints, Floats, Floats, float]:
        """Return score, parent combinations of cells and their numbers, logits, distributions, likelihood."""
        d, cells = self.place.shape
        config, combos = np.zeros((d, cells), np.int64), np.ones(d, np.int64)
        logits, chance = np.zeros((d, MAX_LOGITS)), np.zeros((d, MAX_LOGITS + 1, int(self.sizes.max())))
        for v, mask in enumerate(_masks(parents)):
            _set_parents(v, mask, self, config, combos, logits)
        score, likelihood = _score(self, config, combos, logits, chance)
        return float(score), config, combos, logits, chance, float(likelihood)

    def replicate(self, parents: Parents, generator: Any) -> JointGraphs:
        """Return the scorer for another sample with new noise, simulated from this graph.

        Its logits are drawn from what is known of them: normal, around the fit, by the information in the table.
        """
        _, config, combos, logits, chance, _ = self._fit(parents)
        d, cells = self.place.shape
        columns, where = [], []
        mean = np.full(cells, self.rows)
        for v in range(d):
            mean *= chance[v, config[v], self.place[v]]
            levels = [k for k in range(self.sizes[v]) if k != self.refs[v]]
            for j in range(combos[v]):
                inside = config[v] == j
                for at, level in enumerate(levels):
                    columns.append(inside * ((self.place[v] == level) - chance[v, j, level]))
                    where.append((v, j * len(levels) + at))
        slopes = np.array(columns) * mean
        weight = 1.0 / (mean + self.variance)
        known = (slopes * (weight + 0.5 * weight**2)) @ slopes.T + np.eye(len(where)) / SPREAD**2
        factor = np.linalg.cholesky(known)
        shift = np.linalg.solve(factor.T, generator.standard_normal(len(where)))
        drawn = logits.copy()
        for (v, at), one in zip(where, shift, strict=True):
            drawn[v, at] += one
        law = np.ones(cells)
        for v in range(d):
            r = self.sizes[v]
            others = drawn[v, : combos[v] * (r - 1)].reshape(combos[v], r - 1)
            whole = np.insert(others, self.refs[v], 0.0, axis=1)
            whole = np.exp(whole - whole.max(axis=1, keepdims=True))
            whole /= whole.sum(axis=1, keepdims=True)
            law *= whole[config[v], self.place[v]]
        counts = generator.multinomial(max(round(self.rows), 1), law / law.sum()).astype(np.float64)
        draw = generator.laplace if self.kurtosis > 0.0 else generator.normal  # for simulations alone
        scale = math.sqrt(self.noise / 2.0 if self.kurtosis > 0.0 else self.noise)
        table = (counts + draw(0.0, scale, cells)).reshape(self.sizes)
        return JointGraphs.of(table, self.noise, self.kurtosis, self.rows)


def _masks(parents: Parents) -> Ints:
    """Return parent sets as bit masks."""
    return np.array([sum(1 << p for p in one) for one in parents], dtype=np.int64)


def _listed(masks: Sequence[int] | Ints) -> Parents:
    """Return bit masks as parent sets."""
    return tuple(tuple(p for p in range(len(masks)) if int(mask) >> p & 1) for mask in masks)
