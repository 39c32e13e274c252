"""Which way edges point: the chance of each direction, from a posterior over whole graphs.

From columns and pairs (``stats/order_posterior.py``): parents of a column are among those that it depends on most,
whether or not the search found an edge there, so that no direction rests on an edge that was missed. An edge to a
column with more neighbours, of which it has not the strongest eight as candidates, has no direction. Effects of a set
that are no sums over its columns, bins and merged levels leave a dependence of about a ``misfit``, whatever the number
of rows. So rows count as if sampling alone were off by as much (a coarsened posterior, Miller & Dunson 2019): scores of
graphs then stay as comparable as without it, which noise in every correlation would not leave them. Scores that are a
little wrong still prefer one graph by far, and with other rows and other noise would prefer another: so the posterior
is averaged over replicates of the released correlations, each with another sample and other noise (a bagged posterior,
Huggins & Miller 2023). Of a pair that was not measured nothing is known, so neither may be a parent of the other. A
parent costs, besides what an edge needs, the logarithm of the number of candidates that it is one of: superfluous
edges, each unlikely by itself, are many together, and would turn arrows round. From one joint
table (``measured/whole_graphs.py``): the graphs that the search visits at the end. Their score prefers a direction even
within a class of graphs that imply the same independences, so the class is counted: an edge that has no direction there
counts half for each. Near the end the search hardly leaves the graph it is at and says nearly all of it for certain, so
a fifth of each chance is that from pairs: of two scores that disagree neither is certain.

Where common causes may be hidden every end of an edge has the chance of a head (``stats/mark_posterior.py``). What
heads that meet at b are worth, for a and c that are separated and adjacent to b, comes from the least evidence of
dependence over sets without b, E, and over sets with b, E': were b a collider some set without it would separate a and
c, else some set with it, and if the pair is adjacent after all no set does. So the weight is (exp(-E) + r) / (exp(-E')
+ r), where r are the odds of an edge beforehand. Pairs that are open, or of which a link that matters could be missed,
count for nothing.

**Guarantee.** Post-processing of released values; draws follow from them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import released_generator
from dpcausal.discovery.knowledge import Pair, places_of
from dpcausal.discovery.search import Task
from dpcausal.graphs.equivalence import cpdag
from dpcausal.graphs.graph import Graph
from dpcausal.stats.contrasts import Contrasts
from dpcausal.stats.joint_graphs import Parents
from dpcausal.stats.mark_posterior import Triple, mark_chances
from dpcausal.stats.order_posterior import direction_chances, local_scores

MAX_CANDIDATES = 8  # neighbours of a column that may be its parents: found ones first, then the strongest
MAX_ORDER, MAX_SETS = 3, 200  # of the sets that a pair is asked about with and without what is between
REPLICATES = 8  # of the released correlations, over which a posterior is averaged
MARK_MISFIT = (
    0.5  # part of the misfit: a pair is compared with itself; set on random networks and linear models
)

OF_GRAPHS = 0.8  # part of a chance that whole graphs decide, where they were scored; set on random networks

PlacePair = tuple[int, int]
Given = tuple[int, ...]
Directions = Mapping[
    tuple[int, int], float
]  # the chance that an edge points from the first column to the second


def directions_of_edges(
    columns: Sequence[str],
    contrasts: Contrasts,
    edges: Collection[Pair],
    allowed: NDArray[np.bool_],
    *,
    cost: float,
    misfit: float,
    visited: Sequence[Parents] = (),
) -> dict[tuple[str, str], float]:
    """Return the probability of each direction of every edge, by the names of its columns.

    By pairs (``directions_by_pairs``) and, where whole graphs were ``visited``, by these, too.
    """
    places = places_of(columns, edges)
    chances = directions_by_pairs(contrasts, places, allowed, cost, misfit)
    if visited:
        chances = directions_by_both(directions_by_graphs(visited, places), chances)
    return {(columns[a], columns[b]): chance for (a, b), chance in chances.items()}


def directions_by_pairs(
    contrasts: Contrasts,
    edges: Collection[PlacePair],
    allowed: NDArray[np.bool_],
    cost: float,
    misfit: float,
) -> Directions:
    """Return the probability of each direction of every edge, from pairs that were separated or not.

    ``allowed[p, v]`` is whether an arrow from p to v may be; ``cost`` is the evidence that an edge needs; correlations
    are known to within ``misfit``.
    """
    measured = contrasts.measured
    found, columns = set(edges), range(len(contrasts.columns))
    candidates = []
    for v in columns:
        ranked = sorted(
            (z for z in columns if z != v and allowed[z, v] and (measured is None or measured[z, v])),
            key=lambda z, v=v: ((min(v, z), max(v, z)) not in found, -contrasts.strength[v, z], z),  # type: ignore[misc]
        )
        candidates.append(ranked[:MAX_CANDIDATES])
    # an edge that could be scored in one direction only is scored in none: that would speak for this one
    unweighed = [
        (a, b)
        for x, y in edges
        for a, b in ((x, y), (y, x))
        if any(allowed[p, v] and p not in candidates[v] for p, v in ((x, y), (y, x)))
    ]
    candidates = [[z for z in listed if (z, v) not in unweighed] for v, listed in enumerate(candidates)]
    generator = released_generator(contrasts.covariance)
    rows = 1.0 / (1.0 / contrasts.rows + misfit**2)
    chances = np.zeros((len(columns), len(columns)))
    for _ in range(REPLICATES):
        blurred = replace(contrasts.resampled(generator), rows=rows)
        local = local_scores(blurred.dependences, candidates, cost + math.log(MAX_CANDIDATES))
        chances += direction_chances(local, generator) / REPLICATES
    chance = {(a, b): float(chances[a, b]) for x, y in edges for a, b in ((x, y), (y, x))}
    return chance | dict.fromkeys(unweighed, 0.5)


def allowed_arrows(task: Task) -> NDArray[np.bool_]:
    """Return a (d, d) mask: whether background knowledge allows an arrow from the first column to the second."""
    place = {name: j for j, name in enumerate(task.columns)}
    allowed = np.ones((len(place), len(place)), np.bool_)
    for a, b in places_of(task.columns, task.known.forbidden):
        allowed[a, b] = allowed[b, a] = False
    for tail, head in task.known.arrows:
        allowed[place[head], place[tail]] = False
    return allowed


def with_misfit(contrasts: Contrasts, misfit: float) -> Contrasts:
    """Return the contrasts with an added variance: correlations are known to within ``misfit`` at best."""
    noise = contrasts.noise + misfit**2
    for place in contrasts.places:
        noise[np.ix_(place, place)] = contrasts.noise[np.ix_(place, place)]
    return replace(contrasts, noise=noise)


def marks_by_pairs(
    task: Task,
    contrasts: Contrasts,
    found: Collection[Pair],
    separating: Mapping[Pair, Collection[str]],
    *,
    cost: float,
    absent: float,
    misfit: float,
) -> dict[tuple[str, str], float]:
    """Return the probability of an arrowhead at both ends of every edge, if hidden causes are allowed.

    ``separating`` has what separates pairs that are neither edges nor open. ``cost`` is the evidence that an edge
    needs, ``absent`` the w that must be detectable in a pair that is separated, and correlations are known to within
    ``misfit``.
    """
    columns, place = task.columns, {name: j for j, name in enumerate(task.columns)}

    def places(names: Iterable[str]) -> Given:
        return tuple(sorted(place[name] for name in names))

    edges = places_of(columns, found)
    number = {edge: i for i, edge in enumerate(edges)}
    near: list[set[int]] = [set() for _ in columns]
    for x, y in edges:
        near[x].add(y)
        near[y].add(x)
    blurred = with_misfit(contrasts, MARK_MISFIT * misfit)
    triples = []
    for pair, given in separating.items():
        a, c = places(pair)
        first, middles = places(given), near[a] & near[c]
        if not middles or contrasts.detectable(a, c, first, cost) > absent:
            continue
        for b, weight in _collider_weights(blurred, (a, c), first, near, cost).items():
            one, other = (number[min(b, end), max(b, end)] for end in (a, c))
            triples.append(Triple(one, other, b, weight))
    may, causes = allowed_arrows(task), {(place[a], place[b]) for a, b in task.known.causes}
    allowed = np.array(
        [(may[x, y], may[y, x], not causes & {(x, y), (y, x)}) for x, y in edges], np.bool_
    ).reshape(-1, 3)
    chances = mark_chances(edges, triples, allowed, len(columns), released_generator(contrasts.covariance))
    heads = {}
    for (x, y), (at_x, at_y) in zip(edges, chances.tolist(), strict=True):
        heads[columns[x], columns[y]], heads[columns[y], columns[x]] = at_y, at_x
    return heads


def _collider_weights(
    contrasts: Contrasts, pair: PlacePair, first: Given, near: Sequence[Collection[int]], cost: float
) -> dict[int, float]:
    """Return the log weight of a collider at each common neighbour of a pair that ``first`` separated.

    It is large where sets without the neighbour separate the pair better than sets with it. Sets are of neighbours of
    either end (``near``: of every column); ``cost`` is the evidence that an edge needs.
    """
    a, c = pair
    middles = sorted(set(near[a]) & set(near[c]))
    sets = {tuple(sorted({*first} ^ {b})) for b in middles}
    for some in (near[a], near[c]):
        for order in range(min(len(some), MAX_ORDER) + 1):
            sets.update(combinations(sorted(some), order))
    listed = [first, *sorted(sets - {first}, key=lambda given: (len(given), given))[:MAX_SETS]]
    known = {given: contrasts.evidence(a, c, given) for given in listed if not given}
    some_given = [given for given in listed if given]
    known |= zip(some_given, contrasts.evidences([(a, c, given) for given in some_given]), strict=True)
    answers = [(given, evidence) for given, evidence in known.items() if evidence is not None]

    def separated(evidence: list[float]) -> float:
        return float(np.logaddexp(-min(evidence), -cost))  # evidence of many levels can be far below 0

    found = {}
    for b in middles:
        outside = [evidence for given, evidence in answers if b not in given]
        inside = [evidence for given, evidence in answers if b in given]
        if outside and inside:
            found[b] = separated(outside) - separated(inside)
    return found


def directions_by_both(by_graphs: Directions, by_pairs: Directions) -> Directions:
    """Return the directions by whole graphs, with weight ``OF_GRAPHS``, mixed with those by pairs.

    >>> found = directions_by_both({(0, 1): 1.0, (1, 0): 0.0}, {(0, 1): 0.5, (1, 0): 0.5})
    >>> round(found[0, 1], 3), round(found[1, 0], 3)
    (0.9, 0.1)
    """
    return {
        arrow: OF_GRAPHS * chance + (1.0 - OF_GRAPHS) * by_pairs[arrow] for arrow, chance in by_graphs.items()
    }


def directions_by_graphs(visited: Sequence[Parents], edges: Iterable[PlacePair]) -> Directions:
    """Return the share of visited graphs whose equivalence class has each direction of every edge.

    An edge that the class leaves undirected counts half for either.

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
