"""The search once more, on what a discovery released: free, with other background knowledge.

Nothing is charged, no noise is drawn and no row is read: there is no budget, and where counts would be there is only a
schema (``NoRows``). ``measured`` and ``moments`` search as they did the first time; only their first step, which
measures, is replaced by what was released (``released_values.py``).

**Adaptive rounds.** Where larger tables paid, the first search had them measured for its own questions, order by order.
The tables are given to the second search in that sequence: those of one round when a question of that order lacks one.
So an unchanged search gets the same answers, and a changed one only what is there. What was not measured stays
unanswered.

**Guarantee.** Post-processing: no row and no budget is there to be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from dpcausal.data.schema import Schema
from dpcausal.discovery import moments
from dpcausal.discovery.measured.larger import LargerTables, Obtain, Place
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.method import search_measured
from dpcausal.discovery.measured.tables import Components
from dpcausal.discovery.released_values import NoisyMoments, larger_rounds
from dpcausal.discovery.repeats import checked_repeats
from dpcausal.discovery.search import SearchOutcome, Task
from dpcausal.stats.components import Columns


@dataclass(frozen=True)
class NoRows:
    """Stands where counts are in a first search: the schema and the public number of rows, and nothing to count."""

    schema: Schema
    n: int

    def table(self, columns: Sequence[str]) -> NoReturn:
        raise AssertionError("a search on a release counts nothing")

    def tables(self, requests: Sequence[Sequence[str]]) -> NoReturn:
        raise AssertionError("a search on a release counts nothing")

    def subsample(self, m: int, source: Any = None) -> NoReturn:
        raise AssertionError("a search on a release draws no rows")


def hand_over(whole: Components) -> Obtain:
    """Return how larger tables are obtained: from those released, round by round, as they were measured."""
    later = larger_rounds(whole)

    def obtain(larger: LargerTables, lacking: list[Place]) -> Measurements:
        order = max(len(given) for _, _, given in lacking)
        have = list(larger.now.components.values)
        while later and (made_for := _order(later[0])) <= order:
            have += later.pop(0)
            if made_for == order:
                break
        return replace(larger.now, tables=whole.only(have))

    return obtain


def _order(sets: Sequence[Columns]) -> int:
    """How many columns were given in the questions that these tables were measured for: all but one of the largest."""
    return max(map(len, sets)) - 1


def search_released(
    task: Task,
    values: Measurements | NoisyMoments,
    *,
    latent: bool,
    stable: bool,
    confidence: int | None,
) -> SearchOutcome:
    """Search what was released; ``task`` has neither rows nor a budget, and the options are those of the method."""
    repeats = checked_repeats(confidence)
    if isinstance(values, NoisyMoments):
        schema, matrix = task.counts.schema, values.matrix.copy()
        held = moments.Moments(schema, values.harmonics, matrix, values.rows, values.noise)
        return moments.search_moments(task, held, values.harmonics, values.spreads, repeats, stable, latent)
    if not isinstance(values.tables, Components):
        return search_measured(task, values, repeats, latent=latent, obtain=_nothing)
    whole = values.tables
    first = (
        values
        if values.near
        else replace(values, tables=whole.only(one for one in whole.values if len(one) < 3))
    )
    found = search_measured(task, first, repeats, latent=latent, obtain=hand_over(whole))
    return replace(found, values=values)


def _nothing(larger: LargerTables, lacking: list[Place]) -> Measurements:
    """A joint table lacks nothing."""
    return larger.now
