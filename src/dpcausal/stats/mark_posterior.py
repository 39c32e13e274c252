"""Chances of the marks of edges where common causes may be hidden: a posterior over ancestral graphs of one skeleton.

Every edge is one of ``a -> b``, ``b -> a`` and ``a <-> b`` (neither causes the other). An arrow says that its tail is a
cause, directly or through others, so arrows make no cycle, and no ``<->`` links a column to one of its causes.

**Score.** Beforehand ``<->`` has a chance of ``HIDDEN``, each arrow half of the rest. For a, c that are not adjacent
and b adjacent to both, what was released is ``weight`` times as likely if heads meet at b as if not (logarithms are
handed in). All rules of FCI but that of discriminating paths follow from these triples and from what may not be, and a
mark gets what all triples say together, however weak each is.

**Sampling.** One edge at a time is drawn given the others (Gibbs), from edges that are all ``<->``, hot at first,
several times.

**Guarantee.** Post-processing: weights come from released values, and draws are handed in. **Cost** O(edges^2) a sweep.
**Where it fails**: the skeleton is taken as found.

References: Richardson & Spirtes 2002 (ancestral graphs); Zhang 2008 (the rules).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.compiled import jit

Floats = NDArray[np.float64]

HIDDEN = 0.2  # chance beforehand that neither end of an edge causes the other
CHAINS, SWEEPS = 4, 800  # starts, and draws of every edge from each; the second half counts
HEAT = 6.0  # temperature at the start; 1 from a quarter of the sweeps on
FORWARD, BACKWARD, BOTH = 0, 1, 2  # a -> b, b -> a and a <-> b of an edge (a, b)


class Triple(NamedTuple):
    """Two edges, by number, that meet at a column, and the logarithm of what heads of both there are worth."""

    one: int
    other: int
    middle: int
    weight: float


def mark_chances(
    edges: Sequence[tuple[int, int]],
    triples: Sequence[Triple],
    allowed: NDArray[np.bool_],
    columns: int,
    generator: Any,
) -> Floats:
    """Return the posterior probability of an arrowhead at both ends of each edge: (edges, 2).

    ``allowed`` is an (edges, 3) array: whether each edge (a, b) may be a -> b, b -> a and a <-> b. ``generator`` has
    ``random``.

    >>> every = np.ones((2, 3), np.bool_)
    >>> found = mark_chances([(0, 2), (1, 2)], [Triple(0, 1, 2, 5.0)], every, 3, np.random.default_rng(1))
    >>> bool(found[:, 1].min() > 0.9), bool(abs(found[0, 0] - 1 / 3) < 0.1)
    (True, True)
    """
    ends = np.array(edges, np.int64).reshape(-1, 2)
    prior = np.log(np.where(allowed, [(1.0 - HIDDEN) / 2, (1.0 - HIDDEN) / 2, HIDDEN], 0.0) + 1e-300)
    meeting = np.array([one[:3] for one in triples], np.int64).reshape(-1, 3)
    weights = np.array([one.weight for one in triples], np.float64)
    counts = np.zeros((len(ends), 3))
    for _ in range(CHAINS):
        # without arrows nothing contradicts itself
        state = np.where(allowed[:, BOTH], BOTH, np.argmax(allowed, axis=1))
        draws = generator.random((SWEEPS, len(ends)))
        _sample_marks(ends, columns, allowed, prior, meeting, weights, state, draws, counts)
    heads = np.stack((counts[:, BACKWARD], counts[:, FORWARD]), axis=1) + counts[:, [BOTH]]
    return np.asarray(heads / (CHAINS * (SWEEPS - SWEEPS // 2)))


@jit(error_model="numpy")
def _reach(start: Any, ends: Any, state: Any, without: Any, back: Any, found: Any) -> None:
    """Mark in ``found`` the columns that directed paths lead to from ``start`` (or, with ``back``, come from)."""
    found[:] = False
    found[start] = True
    more = True
    while more:
        more = False
        for e in range(ends.shape[0]):
            if e == without or state[e] == BOTH:
                continue
            along = (state[e] == FORWARD) != back
            tail, head = (ends[e, 0], ends[e, 1]) if along else (ends[e, 1], ends[e, 0])
            if found[tail] and not found[head]:
                found[head] = more = True


@jit(error_model="numpy")
def _has_head(ends: Any, state: Any, edge: Any, column: Any) -> Any:
    """Return whether an edge has a head at one of its columns."""
    return state[edge] == BOTH or ends[edge, 1 - state[edge]] == column


@jit(error_model="numpy")
def _sample_marks(
    ends: Any,
    columns: Any,
    allowed: Any,
    prior: Any,
    meeting: Any,
    weights: Any,
    state: Any,
    draws: Any,
    counts: Any,
) -> None:
    """Run one Markov chain over edge kinds from ``state``; add to ``counts`` how often each kind occurs."""
    below, above = np.empty((2, columns), np.bool_), np.empty((2, columns), np.bool_)
    logs, may = np.empty(3), np.empty(3, np.bool_)
    sweeps = draws.shape[0]
    for sweep in range(sweeps):
        heat = max(1.0, HEAT * (1.0 - 4.0 * sweep / sweeps))
        for e in range(ends.shape[0]):
            for k in range(2):
                _reach(ends[e, k], ends, state, e, False, below[k])
                _reach(ends[e, k], ends, state, e, True, above[k])
            may[FORWARD] = allowed[e, FORWARD] and not below[1, ends[e, 0]]
            may[BACKWARD] = allowed[e, BACKWARD] and not below[0, ends[e, 1]]
            may[BOTH] = allowed[e, BOTH] and not below[1, ends[e, 0]] and not below[0, ends[e, 1]]
            for f in range(ends.shape[0]):  # no cause of a column may be linked to it by <->
                if f != e and state[f] == BOTH:
                    x, y = ends[f, 0], ends[f, 1]
                    for k in range(2):
                        if (above[k, x] and below[1 - k, y]) or (above[k, y] and below[1 - k, x]):
                            may[k] = False
            logs[:] = prior[e]
            for i in range(meeting.shape[0]):
                if meeting[i, 0] == e or meeting[i, 1] == e:
                    other = meeting[i, 1] if meeting[i, 0] == e else meeting[i, 0]
                    if _has_head(ends, state, other, meeting[i, 2]):
                        logs[BOTH] += weights[i]
                        logs[FORWARD if ends[e, 1] == meeting[i, 2] else BACKWARD] += weights[i]
            top = -np.inf
            for k in range(3):
                if may[k]:
                    top = max(top, logs[k])
            if top == -np.inf:
                continue
            total = 0.0
            for k in range(3):
                logs[k] = np.exp((logs[k] - top) / heat) if may[k] else 0.0
                total += logs[k]
            left, k = draws[sweep, e] * total - logs[0], 0
            while left >= 0.0 and k < 2:
                k += 1
                left -= logs[k]
            state[e] = k
        if sweep >= sweeps // 2:
            for e in range(ends.shape[0]):
                counts[e, state[e]] += 1.0
