"""Whole graphs scored on one joint table, joined with what pairs show.

``forward.py`` sees pairs. Where one joint table was measured, whole graphs are scored on it
(``stats/joint_graphs.py``): that tells apart columns that are nearly the same, and finds what only several columns
together show. Edges cost less between columns whose pair stands out by itself, so that a graph is not made of what was
never seen:

1. **Best graph** by annealing from what the forward search found, an edge for ``edge_cost_seen`` where the pair has
   enough evidence and for ``edge_cost_unseen`` elsewhere (``planning/settings.py``; for more at a stricter level).
2. **What it leaves unexplained.** Where noise is large, an edge may be too weak for the score and yet have passed the
   test of its pair at the level. Edges of the forward search whose ends the best graph does not connect are kept, the
   strongest first. Those whose ends it connects are explained by a path, and go.

An edge that goes leaves a pair that the parents of one end separate: absent if a test given them says so
(``forward.py``), else open. An edge that comes was found given all other columns.

**Confidence.** Each repeat takes one of the graphs that the search visits at the end, as often as their scores say,
draws its proportions from what is known of them, then a sample and noise, and does all of this again. To save time it
anneals from the graph that was drawn, which a longer search would reach if nothing better were there.

**Guarantee.** Post-processing of one released table; draws follow from it, and numbers of steps from declared sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcausal.core.entropy import released_generator
from dpcausal.discovery.directions import allowed_arrows
from dpcausal.discovery.evidence import Evidence, repeats_for
from dpcausal.discovery.knowledge import Pair, places_of
from dpcausal.discovery.measured.forward import Forward, PlacePair, Rules
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import JointTable
from dpcausal.discovery.search import Task
from dpcausal.planning.settings import MeasuredSettings, evidence_by_chance
from dpcausal.stats.contrasts import Contrasts, Floats
from dpcausal.stats.joint_graphs import (
    HEAT,
    MAX_LOGITS,
    MAX_PARENTS,
    MIN_SCORED,
    JointGraphs,
    Parents,
    steps_for,
)

REPEATED_STEPS = 0.05  # part of the steps that a repeat takes
REPEAT_WORK = 130_000_000  # cells times squared features times steps of all repeats together
VISITED = 100  # graphs that repeats are drawn from


@dataclass(frozen=True)
class Wanted:
    """What a graph may and must have: arrows by (tail, head), edges that must be."""

    allowed: Any
    required: Any
    seen: float  # what an edge costs where its pair has enough evidence,
    unseen: float  # and elsewhere

    @classmethod
    def of(cls, task: Task, settings: MeasuredSettings) -> Wanted:
        """Return the constraints and thresholds on whole graphs, from background knowledge and the level."""
        known, columns = task.known, task.columns
        required = np.zeros((len(columns),) * 2, np.bool_)
        for a, b in places_of(columns, known.required):
            required[a, b] = required[b, a] = True
        dearer = evidence_by_chance(min(task.level, 0.05)) - evidence_by_chance(0.05)
        seen, unseen = settings.edge_cost_seen + dearer, settings.edge_cost_unseen + dearer
        return cls(allowed_arrows(task), required, seen, unseen)


@dataclass(frozen=True)
class WholeGraphs:
    """The search on one joint table."""

    graphs: JointGraphs
    wanted: Wanted
    rules: Rules
    steps: int
    level: float

    @classmethod
    def of(cls, task: Task, measured: Measurements, forward: Forward) -> WholeGraphs | None:
        """Return the scorer of whole graphs; None without a noisy joint table, or if it is too large."""
        tables = measured.tables
        if (
            not isinstance(tables, JointTable)
            or tables.cell_variance <= 0.0
            or len(tables.sizes) < MIN_SCORED
        ):
            return None
        steps = steps_for(tables.sizes)
        if not steps:
            return None
        graphs = JointGraphs.of(tables.joint, tables.cell_variance, tables.kurtosis, measured.rows)
        return cls(graphs, Wanted.of(task, measured.plan.settings), forward.rules, steps, task.level)

    def best(self, contrasts: Contrasts, edges: Sequence[PlacePair]) -> WholeGraphsFound | None:
        """Return the best whole graph near the edges of a skeleton; its random draws follow from released values."""
        return self.run(contrasts, edges, released_generator(self.graphs.table), keep=VISITED)

    def run(
        self,
        contrasts: Contrasts,
        edges: Sequence[PlacePair],
        generator: Any,
        truth: Parents | None = None,
        keep: int = 0,
    ) -> WholeGraphsFound | None:
        """Search whole graphs from these edges; return the best, None if no graph meets the constraints.

        ``edges`` are those of the forward search. ``truth`` is what a repeat was drawn from, where its search starts.
        ``keep`` is the number of visited graphs that are returned.
        """
        start = self._start(edges, contrasts.strength) if truth is None else truth
        if start is None:
            return None
        seen = contrasts.pair_evidence > self.rules.acceptance_threshold
        cost = np.where(seen, self.wanted.seen, self.wanted.unseen)
        steps = self.steps if truth is None else round(REPEATED_STEPS * self.steps)
        best, visited = self.graphs.search(
            cost,
            self.wanted.allowed,
            self.wanted.required,
            start,
            generator.random((steps, 5)),
            heat=HEAT if truth is None else 1.0,
            keep=keep,
        )
        chosen = {(min(v, p), max(v, p)) for v, parents in enumerate(best) for p in parents}
        joined = set(chosen)
        for pair in sorted(set(edges) - chosen, key=lambda pair: (-contrasts.strength[pair], pair)):
            if pair[1] not in _reached(pair[0], joined) or self._rejects(best, pair):
                joined.add(pair)
        return WholeGraphsFound(best, frozenset(chosen), frozenset(joined), visited)

    def _rejects(self, parents: Parents, pair: PlacePair) -> bool:
        """Return whether the graph without this edge is rejected at the level, in its better direction."""
        for tail, head in (pair, pair[::-1]):
            new = [*parents]
            new[head] = tuple(sorted((*parents[head], tail)))
            fits = self.wanted.allowed[tail, head] and self._fits(new, head)
            if fits and self.graphs.test(parents, tail, head) < self.level:
                return True
        return False

    def evidence(self, found: WholeGraphsFound, columns: Sequence[str]) -> dict[Pair, Evidence]:
        """Return the Bayes factor of each edge of the best graph against the graph without it.

        Held fixed are the other parents of the head of an edge.
        """
        whole, evidence = self.graphs.score(found.parents), {}
        for x, y in found.chosen:
            without = tuple(
                tuple(p for p in parents if {v, p} != {x, y}) for v, parents in enumerate(found.parents)
            )
            head, tail = (x, y) if y in found.parents[x] else (y, x)
            given = tuple(columns[z] for z in found.parents[head] if z != tail)
            log = (whole - self.graphs.score(without)) / math.log(10)
            evidence[frozenset((columns[x], columns[y]))] = Evidence(given, log10_bayes=log)
        return evidence

    def repeats(self, asked: int | None) -> int:
        """Return how many repeats there are: as asked for, or as many as are quickly done."""
        features = sum(size - 1 for size in self.graphs.sizes)
        each = self.graphs.table.size * features**2 * round(REPEATED_STEPS * self.steps)
        return repeats_for(asked, REPEAT_WORK, each)

    def replicates(self, visited: Sequence[Parents], generator: Any) -> Iterator[frozenset[PlacePair]]:
        """Yield, without end, the edges found on another sample with new noise."""
        while True:
            truth = visited[int(generator.integers(len(visited)))]
            graphs = self.graphs.replicate(truth, generator)
            table = JointTable(graphs.table.reshape(graphs.sizes), graphs.noise, graphs.kurtosis)
            contrasts = table.contrasts(graphs.rows)
            edges = Forward(contrasts, self.rules).run().edges()
            other = replace(self, graphs=graphs)
            found = other.run(contrasts, edges, generator, truth)
            yield frozenset(edges) if found is None else found.edges

    def _start(self, edges: Sequence[PlacePair], strength: Floats) -> Parents | None:
        """Return the graph at which a search starts: required edges, then the strongest ones that are allowed."""
        d = len(self.graphs.sizes)
        required = [(x, y) for x in range(d) for y in range(x + 1, d) if self.wanted.required[x, y]]
        parents: list[tuple[int, ...]] = [() for _ in range(d)]
        wanted = sorted(set(edges) - set(required), key=lambda pair: (-strength[pair], pair))
        for x, y in (*required, *wanted):
            for tail, head in ((x, y), (y, x)):
                new = [*parents]
                new[head] = tuple(sorted((*parents[head], tail)))
                if self.wanted.allowed[tail, head] and self._fits(new, head):
                    parents = new
                    break
            else:
                if self.wanted.required[x, y]:
                    return None
        return tuple(parents)

    def _fits(self, parents: Sequence[tuple[int, ...]], head: int) -> bool:
        """Return whether a graph is acyclic and ``head`` has not too many parents."""
        sizes = self.graphs.sizes
        logits = (sizes[head] - 1) * math.prod(sizes[p] for p in parents[head])
        if len(parents[head]) > MAX_PARENTS or logits > MAX_LOGITS:
            return False
        return head not in ancestors(parents, head)


@dataclass(frozen=True)
class WholeGraphsFound:
    """What the search on a joint table found.

    Attributes
    ----------
    parents : tuple
        Of the best graph, by column.
    chosen, edges : frozenset of pairs
        Its edges, and these with what it leaves unexplained.
    visited : list
        Graphs that the search visited at the end.
    """

    parents: Parents
    chosen: frozenset[PlacePair]
    edges: frozenset[PlacePair]
    visited: list[Parents]

    def separating(self, x: int, y: int) -> tuple[int, ...]:
        """Return a separating set of two columns in the best graph: parents of a non-ancestor."""
        of_x = x not in ancestors(self.parents, y)
        return tuple(z for z in self.parents[x if of_x else y] if z not in (x, y))


def ancestors(parents: Sequence[tuple[int, ...]], column: int) -> set[int]:
    """Return the ancestors of a column; the column itself is one if it lies on a cycle."""
    seen: set[int] = set()
    ahead = list(parents[column])
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead.extend(parents[one])
    return seen


def _reached(start: int, edges: set[PlacePair]) -> set[int]:
    """Return the columns that a path of edges from ``start`` reaches."""
    seen, ahead = {start}, [start]
    while ahead:
        one = ahead.pop()
        for pair in edges:
            if one in pair:
                other = pair[0] if pair[1] == one else pair[1]
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
    return seen
