"""A skeleton built from strong evidence outwards, where PC would take away from all pairs.

PC starts with every edge and asks until a test lets it go; where tests can tell little, little goes. Here an edge needs
evidence (``stats/contrasts.py``):

1. **Forest.** Pairs whose evidence passes ``enough``, the strongest first, as long as they join two parts.
2. **More edges.** Of the other pairs with enough evidence the one with most is taken, if no set separates it: sets are
   of neighbours of either end that lie on a path to the other, for only what is on a path can explain a dependence.
   A set separates where the evidence given it is not enough.
3. **Fewer edges.** Edges that a set separates now go, the weakest first, one at a time.

Pairs then have one of three states. *Found*: an edge. *Absent*: the Bayes factor without a condition, or given the set
that separates the pair, is below 1, and a dependence of w = ``absent`` would have been found in four runs of five, by
the released margins and the noise of this pair. *Open*: the rest. Were "not found" enough, "absent" would be said most
often of pairs that look linked: what looks promising is measured again, and only what is measured well can be absent.

How much is ``enough`` is said in ``planning/settings.py``.

**Cost** at most ``MAX_NEAR`` neighbours of an end and ``MAX_SET`` columns a set.

**Edges that bins may have made.** A number is held fixed by its bins, and levels may be merged because of the noise.
What two columns share through such a column is then not taken out whole: within a bin it goes on, and with enough rows
a test sees it as an edge between the two. More rows make it worse. Which edges: a - b, if some column z that is cut or
merged is linked to both, may separate them, and a - b is the weakest of the three: were the two independent given z,
theirs would be the weakest dependence (data processing), so that an edge which is not the weakest of its triangle has
not come from z alone.

What bins leave of a number can be reckoned from the pairs (``stats/uncut.py``). Such an edge is asked about again
with the numbers in place of their bins, given sets of up to ``MAX_SET`` neighbours of either end with z among them.
Where the evidence given one of them is not enough for an edge, and a dependence of w = ``absent`` would have shown,
bins explain the edge, and the pair is open: that the bins could have made it does not say that they did. The one with
the least evidence goes first, for it may have made others. An edge that stays is named all the same.

**Guarantee.** Released values and the schema alone: costs nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

import numpy as np

from dpcausal.core.forecast import MEDIUM
from dpcausal.data.columns import Numeric, has_order, missing_place
from dpcausal.data.schema import Schema
from dpcausal.discovery.evidence import Evidence, found_again, repeats_for
from dpcausal.discovery.knowledge import Pair, named, places_of
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.search import CoarseEdges, Note, Task
from dpcausal.planning.settings import MAX_SET
from dpcausal.stats.contrasts import Contrasts, Floats, Question, all_pairs
from dpcausal.stats.uncut import Uncut

MAX_NEAR = 8  # neighbours of an end that sets are made of, the strongest first

WORK = 60_000  # questions that repeats may ask in all, about; so many entries of a matrix are worth one:
ENTRIES_A_QUESTION = 50

PlacePair = tuple[int, int]
Given = tuple[int, ...]
Ends = tuple[Given, Given]


@dataclass(frozen=True)
class Rules:
    """What the search may do, columns by their numbers."""

    acceptance_threshold: float  # evidence that makes an edge; with less an edge is removed
    absent: float  # the w that must be detectable for a pair to be absent
    required: frozenset[PlacePair] = frozenset()
    forbidden: frozenset[PlacePair] = frozenset()
    # whether the first column may be in a set that separates the other two
    may_separate: Callable[[int, int, int], bool] = field(default=lambda z, x, y: True)
    max_set: int = MAX_SET

    def within(self, columns: Sequence[int]) -> Rules:
        """Return the same rules for a subset of columns, renumbered in the order listed."""
        place = {j: k for k, j in enumerate(columns)}

        def there(pairs: frozenset[PlacePair]) -> frozenset[PlacePair]:
            inner = [sorted((place[a], place[b])) for a, b in pairs if a in place and b in place]
            return frozenset((a, b) for a, b in inner)

        def may_separate(z: int, x: int, y: int) -> bool:
            return self.may_separate(columns[z], columns[x], columns[y])

        return replace(
            self, required=there(self.required), forbidden=there(self.forbidden), may_separate=may_separate
        )


@dataclass
class Forward:
    """The search on one set of contrasts; ``run`` fills ``near``, ``separate`` what separates the other pairs."""

    contrasts: Contrasts
    rules: Rules
    near: list[set[int]] = field(default_factory=list)
    separating: dict[PlacePair, Given] = field(default_factory=dict)  # of pairs without an edge: the best set
    asked: dict[int, int] = field(default_factory=dict)
    _evidence: dict[tuple[int, int, Given], float | None] = field(default_factory=dict)
    _ahead: dict[tuple[int, int, Given], float | None] = field(default_factory=dict)  # not asked yet
    # of the graph as it is: neighbours of both ends of a pair that sets are made of, and the blocks
    _ends_now: dict[PlacePair, Ends] = field(default_factory=dict)
    _blocks_now: Blocks | None = None
    _sets_of: dict[Ends, list[Given]] = field(default_factory=dict)
    _weakest_of: dict[PlacePair, tuple[Ends, float, Given]] = field(
        default_factory=dict
    )  # and of which neighbours

    def run(self) -> Forward:
        """Search forward for edges, changing this object, and return it."""
        d = len(self.contrasts.columns)
        rules, evidence, strength = self.rules, self.contrasts.pair_evidence, self.contrasts.strength
        self.near, part = [set() for _ in range(d)], np.arange(d)
        self.asked[0] = math.comb(d, 2)
        enough = np.argwhere(np.triu(evidence > rules.acceptance_threshold, 1)).tolist()
        candidates = [
            (x, y) for x, y in enough if (x, y) not in rules.required and (x, y) not in rules.forbidden
        ]
        strongest = sorted(candidates, key=lambda pair: (-strength[pair], pair))
        for x, y in (*sorted(rules.required), *strongest):
            if part[x] != part[y] or (x, y) in rules.required:
                self._add_edge((x, y))
                part[part == part[y]] = part[x]
        waiting = [(-float(evidence[x, y]), x, y) for x, y in candidates if y not in self.near[x]]
        self._compute_ahead(self._questions((x, y) for _, x, y in waiting))
        heapify(waiting)  # the most evidence first
        while waiting:
            minus_evidence, x, y = heappop(waiting)
            least, _ = self.weakest(x, y)
            if least >= -minus_evidence - 1e-9:
                self._add_edge((x, y))
            elif least > rules.acceptance_threshold:
                heappush(waiting, (-least, x, y))
        self._compute_ahead(self._questions(pair for pair in self.edges() if pair not in rules.required))
        while True:
            weak = [(self.weakest(*pair)[0], pair) for pair in self.edges() if pair not in rules.required]
            weak = [one for one in weak if one[0] <= rules.acceptance_threshold]
            if not weak:
                break
            self._remove_edge(min(weak)[1])
        return self

    def separate(self) -> Forward:
        """Find the separating set of every pair without an edge; return this object."""
        enough, evidence = self.rules.acceptance_threshold, self.contrasts.pair_evidence
        for pair in all_pairs(len(self.near)):
            if pair[1] not in self.near[pair[0]] and pair not in self.rules.forbidden:
                self.separating[pair] = self.weakest(*pair)[1] if evidence[pair] > enough else ()
        return self

    def edges(self) -> list[PlacePair]:
        """Return the edges found, ascending."""
        return [(x, y) for x in range(len(self.near)) for y in sorted(self.near[x]) if x < y]

    def open_pairs(self) -> list[PlacePair]:
        """Return the pairs without an edge that no sufficiently powerful test calls absent."""
        return sorted(pair for pair, given in self.separating.items() if not self.says_absent(pair, given))

    def given_up_to(self) -> dict[PlacePair, int]:
        """Return, for edges with unanswered sets, the largest size of which all sets were answered."""
        found: dict[PlacePair, int] = {}
        for x, y in self.edges():
            if (x, y) in self.rules.required:
                continue
            for given in self._sets(x, y):
                if self.detectable((x, y), given) > MEDIUM:
                    found[x, y] = len(given) - 1
                    break
        return found

    def weakest(self, x: int, y: int) -> tuple[float, Given]:
        """Return the smallest evidence for an edge of x and y over all sets that may separate them, and its set."""
        ends = self._ends(x, y)
        known = self._weakest_of.get((x, y))
        if known is not None and known[0] == ends:
            return known[1:]
        best: Given = ()
        least = float(self.contrasts.pair_evidence[x, y])
        sets = self._sets(x, y)
        self._compute_ahead((x, y, given) for given in sets)
        for given in sets:
            found = self.evidence(x, y, given)
            if found is not None and found < least:
                least, best = found, given
        self._weakest_of[x, y] = (ends, least, best)
        return least, best

    def evidence_by_pair(
        self, columns: Sequence[str], separating: Mapping[Pair, tuple[str, ...]]
    ) -> dict[Pair, Evidence]:
        """Return the evidence about each pair: given its separating set, else the smallest.

        ``columns`` names the columns of the search, and ``separating`` has the sets that separate pairs. A pair that a
        set separates which was not asked about here is left out, and one that was not measured. Nothing is computed, so
        no question is counted.
        """
        measured = self.contrasts.measured
        asked: dict[PlacePair, dict[Given, float]] = {
            pair: {(): float(self.contrasts.pair_evidence[pair])}
            for pair in all_pairs(len(columns))
            if measured is None or measured[pair]
        }
        for (x, y, given), value in self._evidence.items():
            if value is not None and (min(x, y), max(x, y)) in asked:
                asked[min(x, y), max(x, y)][given] = value
        found: dict[Pair, Evidence] = {}
        place = {name: j for j, name in enumerate(columns)}
        for (x, y), values in asked.items():
            pair = frozenset((columns[x], columns[y]))
            by = separating.get(pair)
            given = min(values, key=lambda one, values=values: (values[one], one))  # type: ignore[misc]
            if by is not None:
                given = tuple(sorted(place.get(name, -1) for name in by))
            if given in values and math.isfinite(values[given]):
                names = tuple(columns[z] for z in given) if by is None else by
                found[pair] = Evidence(names, log10_bayes=values[given] / math.log(10))
        return found

    @property
    def answers(self) -> Mapping[tuple[int, int, Given], float | None]:
        """The evidence of every question with some column held fixed; None for one without an answer."""
        return self._evidence

    def evidence(self, x: int, y: int, given: Given) -> float | None:
        """Return the evidence that x and y depend on each other given these columns, cached; None: no answer."""
        key = (x, y, given)
        if key not in self._evidence:
            known = key in self._ahead
            self._evidence[key] = self._ahead[key] if known else self.contrasts.evidence(x, y, given)
            self.asked[len(given)] = self.asked.get(len(given), 0) + 1
        return self._evidence[key]

    def _questions(self, pairs: Iterable[PlacePair]) -> Iterator[Question]:
        """Yield every question about these pairs that may separate them in the present graph."""
        return ((x, y, given) for x, y in pairs for given in self._sets(x, y))

    def _compute_ahead(self, questions: Iterable[Question]) -> None:
        """Compute and cache the evidence of many questions at once, which is faster than one by one."""
        new = [one for one in questions if one not in self._evidence and one not in self._ahead]
        if new:
            self._ahead.update(zip(new, self.contrasts.evidences(new), strict=True))

    def says_absent(self, pair: PlacePair, given: Given) -> bool:
        """Return whether a pair is absent given these: the evidence is against a link, and has the power."""
        evidence = self.evidence(*pair, given) if given else float(self.contrasts.pair_evidence[pair])
        return evidence is not None and evidence < 0.0 and self.detectable(pair, given) <= self.rules.absent

    def detectable(self, pair: PlacePair, given: Given) -> float:
        """Return the dependence w that would be found given these in 80% of runs (``Contrasts.detectable``)."""
        return self.contrasts.detectable(*pair, given, self.rules.acceptance_threshold)

    def _sets(self, x: int, y: int) -> list[Given]:
        """Return the candidate separating sets of x and y, the smallest first; callers must not change the list."""
        ends = self._ends(x, y)
        if ends not in self._sets_of:
            found: dict[Given, None] = {}
            for near in ends:
                for size in range(1, min(self.rules.max_set, len(near)) + 1):
                    found.update(dict.fromkeys(combinations(near, size)))
            self._sets_of[ends] = sorted(found, key=lambda given: (len(given), given))
        return self._sets_of[ends]

    def _ends(self, x: int, y: int) -> Ends:
        """Return the neighbours of x and of y that lie on a path to the other: the strongest few of each."""
        if (x, y) not in self._ends_now:
            self._ends_now[x, y] = self._on_paths(x, y), self._on_paths(y, x)
        return self._ends_now[x, y]

    def _on_paths(self, one: int, other: int) -> Given:
        """Return the neighbours of ``one`` on paths to ``other`` that may separate the two.

        Of many, those with the largest contrast to ``one``.
        """
        if self._blocks_now is None:
            self._blocks_now = Blocks.of(self.near)
        x, y = min(one, other), max(one, other)
        free = [z for z in self._blocks_now.on_paths(one, other) if self.rules.may_separate(z, x, y)]
        if len(free) > MAX_NEAR:
            free = sorted(free, key=lambda z: (-self.contrasts.strength[one, z], z))[:MAX_NEAR]
        return tuple(sorted(free))

    def _add_edge(self, pair: PlacePair) -> None:
        """Add an edge between two columns."""
        self.near[pair[0]].add(pair[1])
        self.near[pair[1]].add(pair[0])
        self._forget_graph()

    def _remove_edge(self, pair: PlacePair) -> None:
        """Remove the edge between two columns."""
        self.near[pair[0]].discard(pair[1])
        self.near[pair[1]].discard(pair[0])
        self._forget_graph()

    def _forget_graph(self) -> None:
        """Drop what was cached for the graph as it was before an edge was added or removed."""
        self._ends_now.clear()
        self._blocks_now = None


@dataclass(frozen=True)
class Blocks:
    """The blocks (biconnected components) of a graph, by a depth-first search (Tarjan 1972).

    Attributes
    ----------
    near : list of sets
        The neighbours of every node.
    of_edge : dict
        The number of the block of every edge, in both directions.
    place, last, root : lists of int
        Of every node: when it was reached, the last place that was reached through it, where its search began.
    before : list of int
        Of every node the one from which it was reached; -1 for a root.
    after : list of lists
        Of every node those that were reached from it, in order.
    """

    near: Sequence[Collection[int]]
    of_edge: dict[PlacePair, int]
    place: list[int]
    last: list[int]
    root: list[int]
    before: list[int]
    after: list[list[int]]

    @classmethod
    def of(cls, near: Sequence[Collection[int]]) -> Blocks:
        """Return the blocks of the graph with these neighbours.

        >>> found = Blocks.of([{1, 2}, {0, 2}, {0, 1, 3}, {2}]).of_edge
        >>> found[0, 1] == found[2, 1] == found[0, 2] != found[3, 2]
        True
        """
        d = len(near)
        made = cls(near, {}, [-1] * d, [0] * d, [0] * d, [-1] * d, [[] for _ in range(d)])
        low, reached = [0] * d, 0
        for root in range(d):
            if made.place[root] >= 0:
                continue
            edges: list[PlacePair] = []
            low[root] = made.place[root] = reached
            made.root[root] = root
            reached += 1
            work = [(root, iter(near[root]))]
            while work:
                here, rest = work[-1]
                for z in rest:
                    if made.place[z] < 0:
                        low[z] = made.place[z] = reached
                        reached += 1
                        made.root[z], made.before[z] = root, here
                        made.after[here].append(z)
                        edges.append((here, z))
                        work.append((z, iter(near[z])))
                        break
                    if z != made.before[here] and made.place[z] < made.place[here]:
                        edges.append((here, z))
                        low[here] = min(low[here], made.place[z])
                else:
                    work.pop()
                    made.last[here] = reached - 1
                    before = made.before[here]
                    if before < 0:
                        continue
                    low[before] = min(low[before], low[here])
                    if low[here] >= made.place[before]:
                        made._close((before, here), edges)
        return made

    def _close(self, first: PlacePair, edges: list[PlacePair]) -> None:
        """Make a block of the last edges, back to the ``first`` of it, and take them off."""
        number = len(self.of_edge)  # of no other block
        while True:
            a, b = edges.pop()
            self.of_edge[a, b] = self.of_edge[b, a] = number
            if (a, b) == first:
                return

    def on_paths(self, one: int, other: int) -> list[int]:
        """Return the neighbours of ``one`` that lie on a path to ``other``, without ``other`` itself.

        >>> graph = Blocks.of([{1, 2}, {0, 2}, {0, 1, 3}, {2, 4}, {3}, set()])
        >>> graph.on_paths(0, 4), graph.on_paths(2, 4), graph.on_paths(0, 1), graph.on_paths(4, 5)
        ([1, 2], [3], [2], [])
        """
        if self.root[one] != self.root[other]:
            return []
        if self.place[one] < self.place[other] <= self.last[one]:
            towards = bisect_right(self.after[one], self.place[other], key=self.place.__getitem__) - 1
            step = self.after[one][towards]
        else:
            step = self.before[one]
        block = self.of_edge[one, step]
        return [z for z in self.near[one] if z != other and self.of_edge[one, z] == block]


def rules_for(task: Task, enough: float, absent: float) -> Rules:
    """Return the rules of the forward search: thresholds of evidence, and background knowledge."""
    names = task.columns

    def may_separate(z: int, x: int, y: int) -> bool:
        return task.known.may_separate(names[z], names[x], names[y])

    return Rules(
        enough,
        absent,
        required=frozenset(places_of(names, task.known.required)),
        forbidden=frozenset(places_of(names, task.known.forbidden)),
        may_separate=may_separate,
        max_set=MAX_SET if task.max_order is None else min(task.max_order, MAX_SET),
    )


def repeats_of(forward: Forward, asked: int | None) -> int:
    """Return the number of repeats of this search: as asked for, or as many as are quick."""
    each = sum(number for order, number in forward.asked.items() if order)
    return repeats_for(asked, WORK, each + forward.contrasts.covariance.size // ENTRIES_A_QUESTION + 1)


def again_by_pairs(
    task: Task,
    forward: Forward,
    columns: Sequence[str],
    edges: Collection[Pair],
    repeats: int,
    generator: Any,
    kept: Callable[[], Floats],
) -> dict[Pair, float]:
    """Return the share of repeated searches, on samples with new noise, that find each edge again.

    ``kept`` gives for a repeat what other groups of levels keep of correlations.
    """

    def once() -> list[Pair]:
        replicate = forward.contrasts.posterior_replicate(generator, kept())
        return named(columns, Forward(replicate, forward.rules).run().edges())

    return found_again(task.stage, edges, repeats, once)


CoarseCauses = dict[PlacePair, tuple[int, ...]]  # an edge, and the columns that may have made it


def coarse_columns(schema: Schema, merged: Collection[int] = ()) -> frozenset[int]:
    """Return the numbers of columns that are held fixed only by bins, or by groups of merged levels.

    >>> from dpcausal.data.columns import Categorical
    >>> sorted(coarse_columns(Schema({"sex": Categorical(["f", "m"]), "age": Numeric(0, 99, [50])})))
    [1]
    """
    cut = {j for j, column in enumerate(schema.values()) if isinstance(column, Numeric)}
    return frozenset(cut | {*merged})


def held_coarsely(
    near: Sequence[Collection[int]], strength: Floats, coarse: Collection[int], rules: Rules
) -> CoarseCauses:
    """Return the edges that columns held fixed coarsely may have made.

    Parameters
    ----------
    near
        Neighbours of every column.
    strength
        (d, d) array of the strength of every pair.
    coarse
        Columns that are held fixed coarsely.
    rules
        Required edges are not doubted; a column that may not separate a pair has not made its edge.

    >>> import numpy as np
    >>> strength = np.array([[0, 9, 8], [9, 0, 1], [8, 1, 0]])
    >>> held_coarsely([{1, 2}, {0, 2}, {0, 1}], strength, {0}, Rules(1.0, 5.0))
    {(1, 2): (0,)}
    >>> held_coarsely([{1, 2}, {0, 2}, {0, 1}], strength, {1}, Rules(1.0, 5.0))
    {}
    """
    found: CoarseCauses = {}
    for x in range(len(near)):
        for y in sorted(near[x]):
            if x > y or (x, y) in rules.required:
                continue
            made = tuple(
                z
                for z in sorted({*near[x]} & {*near[y]} & {*coarse})
                if strength[x, y] < min(strength[x, z], strength[y, z]) and rules.may_separate(z, x, y)
            )
            if made:
                found[x, y] = made
    return found


def explained_by_bins(
    near: Sequence[set[int]], contrasts: Contrasts, cut: Collection[int], rules: Rules
) -> tuple[list[set[int]], CoarseCauses]:
    """Return the neighbours without edges that bins explain; and those edges, with the columns responsible.

    Parameters
    ----------
    near
        Neighbours of every column.
    contrasts
        What was released about pairs.
    cut
        Columns that are numbers known by their bins.
    rules
        As for ``held_coarsely``.
    """
    near, found = [set(others) for others in near], CoarseCauses()
    if not cut:
        return near, found
    uncut = Uncut(contrasts, cut, rules.absent)
    while True:
        made = held_coarsely(near, contrasts.strength, cut, rules)
        asked = [
            (answer.evidence, pair, given)
            for pair, by in made.items()
            for given in _sets_with(near, contrasts.strength, pair, by, rules)
            if (answer := uncut.ask(*pair, given)) is not None
            and answer.evidence <= rules.acceptance_threshold
            and answer.would_show >= rules.acceptance_threshold
        ]
        if not asked:
            return near, found
        _, (x, y), given = min(asked)
        near[x].discard(y)
        near[y].discard(x)
        found[x, y] = given


def _sets_with(
    near: Sequence[set[int]], strength: Floats, pair: PlacePair, some: Collection[int], rules: Rules
) -> Iterator[tuple[int, ...]]:
    """Yield sets of the strongest neighbours of either end that contain one of ``some``."""
    seen = set()
    for one, other in (pair, pair[::-1]):
        able = [z for z in near[one] if z != other and rules.may_separate(z, *pair)]
        strongest = sorted(able, key=lambda z, one=one: (-strength[one, z], z))[:MAX_NEAR]  # type: ignore[misc]
        for size in range(1, min(rules.max_set, MAX_SET) + 1):
            for given in combinations(sorted(strongest), size):
                if given not in seen and not {*given}.isdisjoint(some):
                    seen.add(given)
                    yield given


def coarse_note(made: CoarseCauses, explained: CoarseCauses, columns: Sequence[str]) -> list[Note]:
    """Return the notes on edges that coarse bins may have made, and on those that they explain."""

    def by_name(pairs: CoarseCauses) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        return tuple(
            (columns[x], columns[y], tuple(columns[z] for z in by)) for (x, y), by in sorted(pairs.items())
        )

    notes = (
        CoarseEdges("held-coarsely", by_name(made)),
        CoarseEdges("explained-by-bins", by_name(explained)),
    )
    return [note for note in notes if note.edges]


@dataclass(frozen=True)
class Scope:
    """What a search goes by; columns are numbered as listed in ``columns``."""

    task: Task
    measured: Measurements
    places: tuple[int, ...]  # of the columns in the schema
    columns: tuple[str, ...]
    contrasts: Contrasts = field(repr=False)
    rules: Rules
    coarse: frozenset[int]  # held fixed by bins, or by groups of merged levels
    cut: frozenset[int]  # those with an order and no level for missing values: numbers known by their bins

    @classmethod
    def of(cls, task: Task, measured: Measurements) -> Scope:
        """Return the columns that the search is about: all, or the target first and those near it."""
        places = measured.near or tuple(range(len(task.columns)))
        declared = list(task.counts.schema.values())
        coarse = coarse_columns(task.counts.schema, measured.groups)
        cut = {j for j in coarse if has_order(declared[j]) and missing_place(declared[j]) is None}
        return cls(
            task,
            measured,
            places,
            tuple(task.columns[j] for j in places),
            measured.contrasts(measured.near or None),
            rules_for(task, measured.plan.enough(task.level), measured.plan.settings.absent).within(places),
            frozenset(k for k, j in enumerate(places) if j in coarse),
            frozenset(k for k, j in enumerate(places) if j in cut),
        )

    @property
    def target(self) -> str | None:
        """The one column that is asked about; None where all are."""
        return self.columns[0] if self.measured.near else None
