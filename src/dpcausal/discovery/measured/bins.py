"""Edges that a column which is held fixed only coarsely may have made.

A number is held fixed by its bins, and levels may be merged because of the noise. What two columns share through such a
column is then not taken out whole: within a bin it goes on, and with enough rows a test sees it as an edge between the
two. More rows make it worse.

**Which edges.** a - b, if some column z that is cut or merged is linked to both, may separate them, and a - b is the
weakest of the three: were the two independent given z, theirs would be the weakest dependence (data processing), so
that an edge which is not the weakest of its triangle has not come from z alone.

**What bins leave** of a number can be reckoned from the pairs (``stats/uncut.py``). Such an edge is asked about again
with the numbers in place of their bins, given sets of up to ``MAX_SET`` neighbours of either end with z among them.
Where the evidence given one of them is not enough for an edge, and a smaller than medium dependence would have
shown, bins explain the edge, and the pair is open: that the bins could have made it does not say that they did. The one
with the least evidence goes first, for it may have made others. An edge that stays is named all the same.

**Guarantee.** Released values and the schema alone: costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.discovery.measured.forward import MAX_NEAR, PlacePair, Rules
from dpcausal.discovery.search import CoarseEdges, Note
from dpcausal.planning.settings import MAX_SET
from dpcausal.stats.contrasts import Contrasts, Floats
from dpcausal.stats.uncut import Uncut

Made = dict[PlacePair, tuple[int, ...]]  # an edge, and the columns that may have made it


def coarse_columns(schema: Schema, merged: Collection[int] = ()) -> frozenset[int]:
    """Return the numbers of the columns that are held fixed by bins, or by groups of merged levels.

    >>> from dpcausal.data.columns import Categorical
    >>> sorted(coarse_columns(Schema({"sex": Categorical(["f", "m"]), "age": Numeric(0, 99, [50])})))
    [1]
    """
    cut = {j for j, column in enumerate(schema.values()) if isinstance(column, Numeric)}
    return frozenset(cut | {*merged})


def held_coarsely(
    near: Sequence[Collection[int]], strength: Floats, coarse: Collection[int], rules: Rules
) -> Made:
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
    found: Made = {}
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
) -> tuple[list[set[int]], Made]:
    """Return the neighbours without the edges that bins explain; and these, with the columns that were held fixed.

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
    uncut, near = Uncut(contrasts, cut), [set(others) for others in near]
    found: Made = {}
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
    """Sets of neighbours of either end, the strongest ones, that hold one of ``some`` at least."""
    seen = set()
    for one, other in (pair, pair[::-1]):
        able = [z for z in near[one] if z != other and rules.may_separate(z, *pair)]
        strongest = sorted(able, key=lambda z, one=one: (-strength[one, z], z))[:MAX_NEAR]  # type: ignore[misc]
        for size in range(1, min(rules.max_set, MAX_SET) + 1):
            for given in combinations(sorted(strongest), size):
                if given not in seen and not {*given}.isdisjoint(some):
                    seen.add(given)
                    yield given


def coarse_note(made: Made, explained: Made, columns: Sequence[str]) -> list[Note]:
    """Return the notes on edges that bins may have made, and on those that they explain; none where there are none."""

    def told(pairs: Made) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
        return tuple(
            (columns[x], columns[y], tuple(columns[z] for z in by)) for (x, y), by in sorted(pairs.items())
        )

    notes = (CoarseEdges("held-coarsely", told(made)), CoarseEdges("explained-by-bins", told(explained)))
    return [note for note in notes if note.edges]
