"""Hill climbing by BIC, without privacy: a second ceiling beside PC-stable for ``hospital.py``.

From the empty graph, the move (an arrow added, taken away or turned round) that raises BIC most is made until none
does.
BIC of a family: log likelihood of the child given its parents, less (levels - 1) * configurations of the parents *
log(n)/2. Rows are compressed to distinct ones first; families are scored once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcausal.data.dataset import Dataset
from dpcausal.graphs import Graph, cpdag

MAX_PARENTS = 5
GAIN = 1e-9  # what a move must gain: ties of equivalent graphs end there

Rows = tuple[Any, Any]  # distinct rows of codes (a column a line), and how often each occurs


def compressed(data: Dataset) -> Rows:
    """Distinct rows and their counts."""
    table = np.stack([np.asarray(data.codes[name], np.int64) for name in data.columns], axis=1)
    rows, counts = np.unique(table, axis=0, return_counts=True)
    return rows.T.copy(), counts.astype(float)


def resampled(rows: Rows, rng: Any) -> Rows:
    """As many rows drawn again with replacement."""
    codes, counts = rows
    n = int(counts.sum())
    again = rng.multinomial(n, counts / n)
    return codes[:, again > 0], again[again > 0].astype(float)


class Family:
    """BIC of a child given its parents, remembered."""

    def __init__(self, rows: Rows, sizes: list[int]) -> None:
        self.codes, self.counts = rows
        self.sizes = sizes
        self.penalty = 0.5 * math.log(max(self.counts.sum(), 2.0))
        self._kept: dict[tuple[int, frozenset[int]], float] = {}

    def score(self, child: int, parents: frozenset[int]) -> float:
        """Log likelihood less the penalty."""
        key = (child, parents)
        if key not in self._kept:
            cell = np.zeros(self.codes.shape[1], np.int64)
            configurations = 1
            for parent in sorted(parents):
                cell = cell * self.sizes[parent] + self.codes[parent]
                configurations *= self.sizes[parent]
            if configurations > 1 << 16:  # few are met
                cell = np.unique(cell, return_inverse=True)[1]
            size = self.sizes[child]
            table = np.bincount(cell * size + self.codes[child], self.counts)
            table = np.pad(table, (0, -len(table) % size)).reshape(-1, size)
            total = table.sum(axis=1)
            fit = (table[table > 0] * np.log(table[table > 0])).sum()
            fit -= (total[total > 0] * np.log(total[total > 0])).sum()
            self._kept[key] = float(fit) - self.penalty * (size - 1) * configurations
        return self._kept[key]


def climb(rows: Rows, sizes: list[int]) -> list[frozenset[int]]:
    """Return the parents of each column where no single move raises BIC.

    >>> import numpy as np
    >>> x = np.random.default_rng(0).integers(0, 2, (3, 2000)); x[1] = x[0] ^ (x[2] & x[1] & 1)
    >>> parents = climb((x, np.ones(2000)), [2, 2, 2])
    >>> any(0 in p for p in parents) or bool(parents[0])
    True
    """
    family, d = Family(rows, sizes), len(sizes)
    parents: list[frozenset[int]] = [frozenset()] * d
    gains: dict[tuple[int, int], float] = {}  # of taking the arrow in, or out where it is there
    stale = set(range(d))
    while True:
        for child in stale:
            base = family.score(child, parents[child])
            for tail in range(d):
                if tail != child:
                    room = tail in parents[child] or len(parents[child]) < MAX_PARENTS
                    gains[tail, child] = (
                        family.score(child, parents[child] ^ {tail}) - base if room else -math.inf
                    )
        best: tuple[float, tuple[tuple[int, int], ...]] = (GAIN, ())
        for (tail, child), gain in gains.items():
            if tail in parents[child]:
                turned = gain + gains[child, tail]
                if turned > best[0] and not _leads(parents, tail, child, without=True):
                    best = turned, ((tail, child), (child, tail))
                if gain > best[0]:
                    best = gain, ((tail, child),)
            elif gain > best[0] and child not in parents[tail] and not _leads(parents, child, tail):
                best = gain, ((tail, child),)
        if not best[1]:
            return parents
        stale = set()
        for tail, child in best[1]:
            parents[child] = parents[child] ^ {tail}
            stale.add(child)


def _leads(parents: list[frozenset[int]], start: int, end: int, *, without: bool = False) -> bool:
    """Whether arrows lead from ``start`` to ``end`` (``without`` the arrow between the two)."""
    ahead, seen = [end], {end}
    while ahead:
        at = ahead.pop()
        for parent in parents[at]:
            if parent == start and not (without and at == end):
                return True
            if parent not in seen and parent != start:
                seen.add(parent)
                ahead.append(parent)
    return False


def climbed(data: Dataset) -> Graph:
    """The class (CPDAG) of the graph that hill climbing ends with."""
    sizes = data.sizes(data.columns)
    return as_class(data.columns, climb(compressed(data), list(sizes)))


def as_class(columns: tuple[str, ...], parents: list[frozenset[int]]) -> Graph:
    """The CPDAG of a DAG given by its parents."""
    arrows = [(columns[tail], columns[child]) for child, some in enumerate(parents) for tail in some]
    return cpdag(Graph(columns, arrows))
