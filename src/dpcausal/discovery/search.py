"""The PC search: asks whether x and y are independent given a set, and never holds data.

``pc_search`` is a generator: it yields a batch of questions and is sent one answer each, ``True`` (independent: the
edge goes, and the set that separated its ends is kept), ``False`` (dependent), or ``None`` (not tested: the edge
stays and the result says so). Sending ``None`` for a whole batch ends the search: what was not asked stays in the
graph as untested. What it asks depends on the columns, what is known beforehand and the answers, nothing else,
so it can't leak; and it is deterministic.

- *stable* (default): the neighbours that sets are drawn from are those at the start of an order, so the skeleton
  does not depend on the order of columns [2]. Edges of one order are asked about side by side; each stops at its
  first separating set.
- *original*: one question at a time, neighbours change as edges go [1].

Sets are drawn from the neighbours of either end; each unordered question is asked once.

References: [1] Spirtes, Glymour & Scheines 2000, section 5.4.2; [2] Colombo & Maathuis 2014, Algorithm 4.1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import NamedTuple

from dpcausal.discovery.knowledge import Knowledge, Pair


class Query(NamedTuple):
    """Is x independent of y given the set? x comes before y, and given is sorted, in the order of columns."""

    x: str
    y: str
    given: tuple[str, ...]


Answer = bool | None
Answers = Sequence[Answer] | None


@dataclass
class Skeleton:
    """What a search found: edges, the set that separated every other pair, and what was left untested."""

    columns: tuple[str, ...]
    adjacent: dict[str, set[str]]
    separating: dict[Pair, tuple[str, ...]] = field(default_factory=dict)
    asked: dict[int, int] = field(default_factory=dict)  # questions by order
    untested: set[Pair] = field(default_factory=set)  # edges kept though some question was not answered
    answered: set[Pair] = field(default_factory=set)  # pairs about which some question was
    complete: bool = True  # False: ended before every order was done

    @property
    def edges(self) -> frozenset[Pair]:
        """Unordered pairs still adjacent."""
        return frozenset(frozenset((x, y)) for x in self.columns for y in self.adjacent[x])

    def remove(self, question: Query) -> None:
        """Take an edge out and remember why."""
        self.adjacent[question.x].discard(question.y)
        self.adjacent[question.y].discard(question.x)
        self.separating[frozenset((question.x, question.y))] = question.given


def start(columns: Sequence[str], known: Knowledge) -> Skeleton:
    """The complete graph without the edges that are known not to be there."""
    adjacent = {
        x: {y for y in columns if y != x and frozenset((x, y)) not in known.left_out} for x in columns
    }
    return Skeleton(tuple(columns), adjacent)


def sets_for(
    x: str, y: str, order: int, adjacent: dict[str, set[str]], columns: Sequence[str], known: Knowledge
) -> Iterator[tuple[str, ...]]:
    """Candidate separating sets of size ``order``: subsets of the neighbours of x, then new ones of y."""
    near_x, near_y = (
        [z for z in columns if z in adjacent[end] and z not in (x, y) and known.may_separate(z, x, y)]
        for end in (x, y)
    )
    yield from combinations(near_x, order)
    inside = set(near_x)
    for given in combinations(near_y, order):
        if not inside.issuperset(given):
            yield given


def pc_search(
    columns: Sequence[str],
    known: Knowledge | None = None,
    *,
    max_order: int | None = None,
    stable: bool = True,
    ahead: int = 1,
) -> Generator[list[Query], Answers, Skeleton]:
    """Search for the skeleton over ``columns``; drive it with ``send``.

    ``ahead`` > 1 asks up to that many sets of an edge at once, for drivers to whom questions are free: answers past the
    first ``True`` are not used, so the result is the same.

    >>> search = pc_search(["a", "b"])
    >>> next(search)
    [Question(x='a', y='b', given=())]
    >>> try: search.send([True])
    ... except StopIteration as stop: print(stop.value.edges, list(stop.value.separating.values()))
    frozenset() [()]
    """
    known = known or Knowledge()
    found = start(columns, known)
    most = len(columns) - 2 if max_order is None else min(max_order, len(columns) - 2)
    for order in range(most + 1):
        pairs = [
            (x, y)
            for x, y in combinations(columns, 2)
            if y in found.adjacent[x] and frozenset((x, y)) not in known.kept
        ]
        if stable:
            done = yield from _order_side_by_side(found, pairs, order, known, ahead)
        else:
            done = yield from _order_one_by_one(found, pairs, order, known)
        if done is None:
            found.complete = False
            break
        if not done:  # no edge had enough neighbours
            break
    return found


def _order_side_by_side(
    found: Skeleton, pairs: list[tuple[str, str]], order: int, known: Knowledge, ahead: int
) -> Generator[list[Query], Answers, int | None]:
    """One order of stable PC: every live edge asks its next sets in each round. Questions asked, None if ended."""
    snapshot = {x: set(near) for x, near in found.adjacent.items()}
    waiting = {pair: sets_for(*pair, order, snapshot, found.columns, known) for pair in pairs}
    total = 0
    while waiting:
        batch: list[Query] = []
        for pair in list(waiting):
            sets = list(islice(waiting[pair], ahead))
            batch += [Query(*pair, given) for given in sets]
            if len(sets) < ahead:
                del waiting[pair]
        if not batch:
            break
        answers = yield batch
        if answers is None:
            found.untested |= {frozenset((q.x, q.y)) for q in batch} | {frozenset(pair) for pair in waiting}
            return None
        total += len(batch)
        for question, answer in zip(batch, answers, strict=True):
            pair = (question.x, question.y)
            if answer is None:
                found.untested.add(frozenset(pair))
                continue
            found.answered.add(frozenset(pair))
            if answer and question.y in found.adjacent[question.x]:
                found.remove(question)
                waiting.pop(pair, None)
    if total:
        found.asked[order] = total
    found.untested &= found.edges
    return total


def _order_one_by_one(
    found: Skeleton, pairs: list[tuple[str, str]], order: int, known: Knowledge
) -> Generator[list[Query], Answers, int | None]:
    """One order of the original PC: an edge at a time, neighbours as they are now."""
    total = 0
    for x, y in pairs:
        for given in sets_for(x, y, order, found.adjacent, found.columns, known):
            answers = yield [Query(x, y, given)]
            if answers is None:
                rest = pairs[pairs.index((x, y)) :]
                found.untested |= {frozenset(pair) for pair in rest}
                return None
            total += 1
            found.asked[order] = total
            if answers[0] is None:
                found.untested.add(frozenset((x, y)))
                continue
            found.answered.add(frozenset((x, y)))
            if answers[0]:
                found.remove(Query(x, y, given))
                break
    found.untested &= found.edges
    return total
