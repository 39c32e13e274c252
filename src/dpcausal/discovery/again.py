"""The search once more, on what a discovery released: free, with other background knowledge.

Nothing is charged, no noise is drawn and no row is read: there is no budget, and where counts would be there is only a
schema (``NoRows``). ``measured`` and ``moments`` search as they did the first time; only their first step, which
measures, is replaced by what ``kept.py`` holds.

**Adaptive rounds.** Where larger tables paid, the first search had them measured for its own questions, order by order.
The tables are given to the second search in that sequence: those of one round when a question of that order lacks one.
So an unchanged search gets the same answers, and a changed one only what is there. What was not measured stays
unanswered.

**Guarantee.** Post-processing: no row and no budget is there to be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from dpcausal.data.schema import Schema
from dpcausal.discovery import measured, moments
from dpcausal.discovery.components import Components, NoisyTables
from dpcausal.discovery.kept import KeptMoments, KeptTables
from dpcausal.discovery.measurer import Measurer
from dpcausal.discovery.repeats import checked_repeats
from dpcausal.discovery.search import SearchOutcome, Task
from dpcausal.discovery.target import search_target
from dpcausal.planning.measurement import MeasurementPlan
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


@dataclass
class _Again(Measurer):
    """Answers from tables that are there; larger ones are handed out round by round, as they were measured."""

    whole: Components = field(default_factory=lambda: Components(()))
    later: list[list[Columns]] = field(default_factory=list)

    def _measure_for(self, places: list[tuple[int, int, Columns]]) -> None:
        lacking = [place for place in places if not self.too_many(place[2]) and self.tables.missing(*place)]
        order = max((len(place[2]) for place in lacking), default=0)
        assert isinstance(self.tables, Components)
        while lacking and self.later and (made_for := _order(self.later[0])) <= order:
            for one in self.later.pop(0):
                _hand_over(self.whole, self.tables, one)
            self._tests.clear()
            if made_for == order:
                break
        self.skipped += sum(bool(self.tables.missing(*place)) for place in lacking)


def _order(sets: Sequence[Columns]) -> int:
    """How many columns were given in the questions that these tables were measured for: all but one of the largest."""
    return max(map(len, sets)) - 1


def _hand_over(whole: Components, tables: Components, one: Columns) -> None:
    """Put one component where the search finds it, digit by digit as it was."""
    tables.values[one], tables.variances[one] = whole.values[one], whole.variances[one]
    tables._against.clear()


def _measurer(task: Task, kept: KeptTables) -> _Again:
    """What ``measured`` holds when it has measured what comes first."""
    tables: NoisyTables = kept.tables
    groups = kept.groups(task.counts.schema)
    place = {name: j for j, name in enumerate(task.columns)}
    found = _Again(
        task,
        MeasurementPlan(not isinstance(tables, Components), kept.gaussian, 0.0),
        tables,
        kept.rows,
        kept.larger,
        {place[name]: kept.merged.get(name, tuple(range(number))) for name, number in groups.items()},
    )
    if isinstance(tables, Components):
        found.whole, found.later = tables, kept.rounds()
        found.tables = Components(tables.sizes)
        found.tables.rounds, found.tables.regrouped = tables.rounds, tables.regrouped
        for one in tables.values:
            if len(one) <= 2:
                _hand_over(tables, found.tables, one)
    return found


def search_kept(
    task: Task,
    values: KeptTables | KeptMoments,
    *,
    target: str | None,
    latent: bool,
    stable: bool,
    confidence: int | None,
) -> SearchOutcome:
    """Search what was released; ``task`` has neither rows nor a budget, and the options are those of the method."""
    if isinstance(values, KeptMoments):
        schema, matrix = task.counts.schema, values.matrix.copy()
        held = moments.Moments(schema, values.harmonics, matrix, values.rows, values.noise)
        repeats = checked_repeats(confidence)
        return moments.search_moments(task, held, values.harmonics, values.spreads, repeats, stable, latent)
    measurer = _measurer(task, values)
    if target is not None:
        columns = [task.columns.index(name) for name in (target, *values.near)]
        for one in measurer.whole.values:
            assert isinstance(measurer.tables, Components)
            _hand_over(measurer.whole, measurer.tables, one)
        return search_target(task, target, checked_repeats(confidence), measurer, columns)
    return measured.search_measured(task, measurer, checked_repeats(confidence), latent=latent)
