"""Which way edges point: the chance of each direction, from a posterior over whole graphs.

From columns and pairs (``stats/order_posterior.py``): parents of a column are among those that it depends on most,
whether or not the search found an edge there, so that no direction rests on an edge that was missed. Correlations are
taken as known to within a ``misfit``, whatever the number of rows: effects of a set that are no sums over its columns,
bins and merged levels leave so much of a dependence. From one joint table (``measured/whole_graphs.py``): the graphs
that the search visits at the end. Their score prefers a direction even within a class of graphs that imply the same
independences, so the class is counted: an edge that has no direction there counts half for each.

**Guarantee.** Post-processing of released values; draws follow from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import released_generator
from dpcausal.discovery.search import Task
from dpcausal.graphs.equivalence import cpdag
from dpcausal.graphs.graph import Graph
from dpcausal.stats.contrasts import Contrasts
from dpcausal.stats.joint_graphs import Parents
from dpcausal.stats.order_posterior import direction_chances, local_scores

MAX_CANDIDATES = 8  # neighbours of a column that may be its parents: found ones first, then the strongest

PlacePair = tuple[int, int]
Directions = Mapping[
    tuple[int, int], float
]  # the chance that an edge points from the first column to the second


def directions_by_pairs(
    contrasts: Contrasts,
    edges: Collection[PlacePair],
    allowed: NDArray[np.bool_],
    cost: float,
    misfit: float,
) -> Directions:
    """Return the chance of each direction of every edge.

    ``allowed[p, v]`` is whether an arrow from p to v may be; ``cost`` is the evidence that an edge needs; correlations
    are known to within ``misfit``.
    """
    blurred = with_misfit(contrasts, misfit)
    known: dict[tuple[int, int, tuple[int, ...]], float | None] = {}

    def evidence(x: int, y: int, given: tuple[int, ...]) -> float | None:
        if (x, y, given) not in known:
            known[x, y, given] = blurred.evidence(x, y, given)
        return known[x, y, given]

    found, columns = set(edges), range(len(contrasts.columns))
    candidates = []
    for v in columns:
        ranked = sorted(
            (z for z in columns if z != v and allowed[z, v]),
            key=lambda z, v=v: ((min(v, z), max(v, z)) not in found, -blurred.strength[v, z], z),  # type: ignore[misc]
        )
        candidates.append(ranked[:MAX_CANDIDATES])
    chances = direction_chances(
        local_scores(evidence, candidates, cost), released_generator(contrasts.covariance)
    )
    return {(a, b): float(chances[a, b]) for x, y in edges for a, b in ((x, y), (y, x))}


def allowed_arrows(task: Task) -> NDArray[np.bool_]:
    """Return a (d, d) array: whether an arrow from the first column to the second may be, by what was declared."""
    place = {name: j for j, name in enumerate(task.columns)}
    allowed = np.ones((len(place), len(place)), np.bool_)
    for pair in task.known.forbidden:
        a, b = (place[name] for name in pair)
        allowed[a, b] = allowed[b, a] = False
    for tail, head in task.known.arrows:
        allowed[place[head], place[tail]] = False
    return allowed


def with_misfit(contrasts: Contrasts, misfit: float) -> Contrasts:
    """Return the contrasts with correlations that are known to within ``misfit`` at best."""
    noise = contrasts.noise + misfit**2
    for place in contrasts.places:
        noise[np.ix_(place, place)] = contrasts.noise[np.ix_(place, place)]
    return replace(contrasts, noise=noise)


def directions_by_graphs(visited: Sequence[Parents], edges: Iterable[PlacePair]) -> Directions:
    """Return the part of the visited graphs whose class has each direction of every edge; half where it has neither.

    >>> found = directions_by_graphs([((2,), (2,), ()), ((), (), (0, 1))], [(0, 2), (1, 2)])
    >>> found[0, 2], found[2, 0]
    (0.75, 0.25)
    """
    counts: dict[tuple[int, int], float] = {}
    classes: dict[Parents, Graph] = {}
    for parents in visited:
        if parents not in classes:
            names = [str(v) for v in range(len(parents))]
            arrows = [(str(p), str(v)) for v, listed in enumerate(parents) for p in listed]
            classes[parents] = cpdag(Graph(names, directed=arrows))
        graph = classes[parents]
        for a, b in graph.directed:
            counts[int(a), int(b)] = counts.get((int(a), int(b)), 0.0) + 1.0
        for pair in graph.undirected:
            one, other = sorted(int(name) for name in pair)
            for arrow in ((one, other), (other, one)):
                counts[arrow] = counts.get(arrow, 0.0) + 0.5
    total = max(len(visited), 1)
    return {arrow: counts.get(arrow, 0.0) / total for x, y in edges for arrow in ((x, y), (y, x))}
