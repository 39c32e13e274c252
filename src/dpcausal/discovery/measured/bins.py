"""Edges that a column which is held fixed only coarsely may have made.

A number is held fixed by its bins, and levels may be merged because of the noise. What two columns share through such a
column is then not taken out whole: within a bin it goes on, and with enough rows a test sees it as an edge between the
two. More rows make it worse.

**Which edges.** a - b, if some column z that is cut or merged is linked to both, may separate them, and a - b is the
weakest of the three: were the two independent given z, theirs would be the weakest dependence (data processing), so
that an edge which is not the weakest of its triangle has not come from z alone.

Such an edge is named. It stays, for that bins could have made it does not say that they did.

**Guarantee.** Released values and the schema alone: costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dpcausal.data.columns import Numeric
from dpcausal.data.schema import Schema
from dpcausal.discovery.measured.forward import PlacePair, Rules
from dpcausal.discovery.search import CoarseEdges, Note
from dpcausal.stats.contrasts import Floats

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


def coarse_note(made: Made, columns: Sequence[str]) -> list[Note]:
    """Return the note on edges that bins may have made; none where there are none."""
    told = tuple(
        (columns[x], columns[y], tuple(columns[z] for z in by)) for (x, y), by in sorted(made.items())
    )
    return [CoarseEdges("held-coarsely", told)] if told else []
