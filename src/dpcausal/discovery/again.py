"""The search once more, on what a discovery released: free, with other background knowledge.

Nothing is charged, no noise is drawn and no row is read: there is no budget, and where counts would be there is only a
schema (``_NoRows``). ``measured`` and ``moments`` search as they did the first time; only their first step, which
measures, is replaced by what ``release.py`` kept.

**Adaptive rounds.** Where larger tables paid, the first search had them measured for its own questions, order by order.
The tables are given to the second search in that sequence: those of one round when a question of that order lacks one.
So an unchanged search gets the same answers, and a changed one only what is there. What was not measured stays
unanswered.

**Guarantee.** Post-processing: the statement is that of the release, with the fact that this graph came from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, NoReturn, cast

import numpy as np

from dpcausal.core.arguments import checked_count, checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.statement import PrivacyStatement, Released, ReleasedKind
from dpcausal.counts.protocol import Counts
from dpcausal.data.schema import Schema
from dpcausal.discovery import measured, moments
from dpcausal.discovery.components import Components, NoisyTables
from dpcausal.discovery.discover import METHODS, checked_latent, result_of_search, with_columns_within_reach
from dpcausal.discovery.knowledge import Edge, Knowledge, without_constants
from dpcausal.discovery.measurer import Measurer
from dpcausal.discovery.release import KeptMoments, KeptTables, Release, declarations, declared_arguments
from dpcausal.discovery.repeats import checked_repeats
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import Note, NoteKind, SearchOutcome, Task
from dpcausal.discovery.target import search_target
from dpcausal.planning.designs import reach
from dpcausal.planning.measurement import NOTABLE_GAIN, MeasurementPlan, noise_without_delta
from dpcausal.stats.components import Columns


@dataclass(frozen=True)
class _NoRows:
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
        {place[name]: tuple(range(number)) for name, number in groups.items()},  # how many, not which
    )
    if isinstance(tables, Components):
        found.whole, found.later = tables, kept.rounds()
        found.tables = Components(tables.sizes)
        for one in tables.values:
            if len(one) <= 2:
                _hand_over(tables, found.tables, one)
    return found


def _measured_on(measurer: Measurer) -> Callable[..., SearchOutcome]:
    """``measured.run`` with ``measurer`` in the place of what ``start`` would measure; its own code, so no second one.

    A function that is called by its name can only be replaced where the name is looked up: in the scope of ``run``.
    """
    run = measured.run
    assert isinstance(run, FunctionType)
    assert "start" in run.__code__.co_names
    scope = {**run.__globals__, "start": lambda task: measurer}
    found = FunctionType(run.__code__, scope, run.__name__, run.__defaults__, run.__closure__)
    found.__kwdefaults__ = run.__kwdefaults__
    return cast("Callable[..., SearchOutcome]", found)


def _search(task: Task, release: Release, latent: bool, confidence: int | None) -> SearchOutcome:
    values = release.values
    if isinstance(values, KeptMoments):
        held = moments.Moments(
            release.schema, values.harmonics, values.matrix.copy(), values.rows, values.noise
        )
        repeats = checked_repeats(confidence)
        return moments.search_moments(
            task, held, values.harmonics, values.spreads, repeats, release.stable, latent
        )
    measurer = _measurer(task, values)
    if release.target is not None:
        columns = [task.columns.index(name) for name in (release.target, *values.near)]
        for one in measurer.whole.values:
            assert isinstance(measurer.tables, Components)
            _hand_over(measurer.whole, measurer.tables, one)
        return search_target(task, release.target, checked_repeats(confidence), measurer, columns)
    return _measured_on(measurer)(task, confidence=confidence, latent=latent)


def _knowledge(
    release: Release,
    tiers: Sequence[Collection[str]] | None,
    required: Iterable[Edge] | None,
    forbidden: Iterable[Edge] | None,
) -> Knowledge:
    """What was declared, with what is declared now in its place."""
    given = {"tiers": tiers, "required": required, "forbidden": forbidden}
    if all(value is None for value in given.values()):
        return release.known
    before = declared_arguments(declarations(release.known))
    now: dict[str, Any] = {name: before[name] if value is None else value for name, value in given.items()}
    return Knowledge.of(tuple(release.schema), **now)


def again_statement(release: Release) -> PrivacyStatement:
    """Return the statement of the release, with the fact that a graph was computed from it at no cost."""
    fact = Released(ReleasedKind.SEARCHED_AGAIN, release=release.id)
    before = release.privacy
    return before if fact in before.released else replace(before, released=(*before.released, fact))


def search_again(
    release: Release,
    *,
    tiers: Sequence[Collection[str]] | None = None,
    required: Iterable[Edge] | None = None,
    forbidden: Iterable[Edge] | None = None,
    max_order: int | None = None,
    latent: bool | None = None,
    level: float | None = None,
    confidence: int | None = None,
    progress: bool = False,
) -> DiscoveryResult:
    """Search what was released once more; see ``Release.discover``."""
    schema, relation = release.schema, release.privacy.neighbours
    if release.method not in METHODS or relation is Neighbours.FIXED_LABELS:
        raise InputError(
            f"a release of {release.method!r} can't be searched again: written by a newer version?"
        )
    chosen = METHODS[release.method]
    level = release.level if level is None else checked_level(level)
    max_order = release.max_order if max_order is None else checked_count(max_order, "max_order")
    confidence = release.confidence if confidence is None else checked_repeats(confidence)
    latent = release.latent if latent is None else latent
    latent = bool(checked_latent({"latent": latent, "target": release.target}, chosen).get("latent"))
    known = _knowledge(release, tiers, required, forbidden)
    asking = without_constants(schema, known, release.method, chosen.tables_only)
    no_rows = cast("Counts", _NoRows(schema, release.rows or 0))
    with np.errstate(all="ignore"), stages(progress) as stage:
        task = Task(no_rows, asking, level, max_order, relation, None, None, stage)
        found = _search(task, release, latent, confidence)
    sizes = [column.size for column in schema.values()]
    no_delta, expected = None, None
    if release.method == "measured":
        gain = 1.0 if release.delta else noise_without_delta(sizes, release.planned_epsilon, relation)
        no_delta = Note(NoteKind.NO_DELTA, times=gain) if gain >= NOTABLE_GAIN else None
        if release.rows:
            place = None if release.target is None else list(schema).index(release.target)
            expected = reach(
                sizes, release.rows, release.planned_epsilon, release.delta, relation, level, place
            )
    statement = again_statement(release)
    result = result_of_search(
        found,
        chosen,
        release.reason,
        known,
        asking,
        schema,
        level,
        statement,
        rows=release.rows,
        no_delta=no_delta,
        expected=expected,
    )
    result = with_columns_within_reach(result, sizes, release.planned_epsilon, release.delta)
    searched = replace(
        release,
        known=known,
        level=level,
        max_order=max_order,
        latent=latent,
        confidence=confidence,
        privacy=statement,
    )
    return replace(result, release=searched)
