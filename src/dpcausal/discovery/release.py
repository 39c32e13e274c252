"""What a discovery released, as a file that can be searched again at no cost (``release.json``).

``measured`` searches noisy tables, ``moments`` noisy moments and ``codes`` noisy co-occurrences. All left through a
mechanism and were paid for, so that whatever is computed from them is post-processing: the privacy statement of the
discovery covers it, and no row is read again. ``result.release`` holds them; ``save`` writes them, ``load_release``
reads them back, and ``discover`` repeats the search on them with other background knowledge.

**The search on a release.** Nothing is charged, no noise is drawn and no row is read: there is no budget, and where
counts would be there is only a schema (``NoRows``). They search as they did the first time, and what was released
replaces their first step, which measures. Where larger tables paid, the first search had them
measured for its own questions, order by order. The second search gets them in that sequence: those of one round when a
question of that order lacks one. So an unchanged search gets the same answers, and a changed one only what is there.
What was not measured remains unanswered.

**The file** is one JSON object, one entry a line:

- ``private`` (and ``why_not_private``), as in the privacy statement: a seeded run is not private, and says so first;
- ``format``, and ``id``: the first 16 digits of the SHA-256 of ``method``, ``schema``, ``neighbours``, ``rows`` and
  ``values``, so that a damaged file is noticed;
- ``method``; ``schema``, the declared columns as a schema file; ``neighbours``; ``rows``, None where it is protected;
- ``values``: what was released. ``form`` is ``joint`` (one table: ``shape``, ``cells``, ``variance`` of the noise in a
  cell, ``kurtosis``), ``components`` (``sizes`` of the columns as they were measured, ``groups``, the group of every
  level of columns with levels merged, and a list ``components``: ``columns``, ``shape``, ``values``, ``variance``, in
  the order in which they were measured), ``sites`` (for each its ``name``, ``rows`` and ``components``),
  ``codes`` (``sizes``, ``singles`` and the upper triangle of ``pairs`` with their ``variance``, the pairs of columns
  measured ``again``), or ``moments`` (``harmonics``, ``spreads``, ``size``, the upper triangle of the ``matrix``,
  ``noise``).
  All have ``rows``, and tables the ``plan`` that was executed;
- ``search`` and ``declared``: the options and the background knowledge of the search;
- ``budget``: epsilon and delta that were asked for;
- ``reason``: why the method was taken; ``privacy``: the privacy statement.

**Guarantee.** Nothing else enters: a ``Release`` is made from what mechanisms gave out, the schema and the options. It
never holds rows or counts.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np

from dpcausal.core.arguments import checked_count, checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.facts import content_id
from dpcausal.core.json_files import check_kind, read_json, refuse_damaged, save_text
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import PrivacyStatement, SearchedAgain
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Level
from dpcausal.data.schema import Schema
from dpcausal.discovery import moments
from dpcausal.discovery.codes import method as codes
from dpcausal.discovery.codes.measure import CodeMeasurements
from dpcausal.discovery.evidence import checked_repeats
from dpcausal.discovery.fci import checked_latent
from dpcausal.discovery.knowledge import Edge, Knowledge, declarations, declared_arguments, without_constants
from dpcausal.discovery.measured import method as measured
from dpcausal.discovery.measured.larger import LargerTables, Obtain, Place
from dpcausal.discovery.measured.measure import Measurements, tables_from_dict, tables_to_dict
from dpcausal.discovery.measured.method import search_measured
from dpcausal.discovery.measured.tables import Components, TablesOfSites
from dpcausal.discovery.result import (
    DIRECTION_LEVEL,
    DiscoveryResult,
    Reusable,
    Terms,
    checked_direction_level,
)
from dpcausal.discovery.result_of_search import result_of_search, without_delta
from dpcausal.discovery.search import MethodReason, SearchOutcome, Task
from dpcausal.effects.request import EffectPopulation
from dpcausal.effects.result import EffectResult
from dpcausal.stats.components import Columns

METHODS = {
    driver.METHOD.name: driver.METHOD for driver in (measured, moments, codes)
}  # whose releases can be searched
FORMAT = 1
FILE = "release.json"
CONTENT = ("method", "schema", "neighbours", "rows", "values")  # what the id is made of
SEARCH = ("level", "max_order", "latent", "target", "confidence", "stable")  # options of the search


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """What a discovery released: noisy tables or moments, which can be searched again at no cost.

    ``result.release`` of ``measured``, ``moments`` and ``codes``; other methods release decisions only and have none.
    It holds nothing that the privacy statement does not cover.

    Attributes
    ----------
    method : str
        ``measured``, ``moments`` or ``codes``.
    schema : Schema
        The declared columns.
    privacy : PrivacyStatement
        What the release cost. Whatever is computed from it costs nothing more.
    rows : int or None
        The number of rows where it is public.
    known : Knowledge
        What was declared.
    known_before : Knowledge or None
        What had been declared before anything was released, where this search was told other things after it.
    level, max_order, latent, target, confidence, stable
        Options of the search, as for ``dc.discover``.
    values : Measurements, Moments or CodeMeasurements
        The noisy values.
    delta : float
        As asked for.
    reason : MethodReason
        Why the method was taken.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("cancer").sample(50_000, seed=1)
    >>> release = dc.discover(data, epsilon=2.0, delta=1e-6).release
    >>> later = release.discover(tiers=[["Pollution", "Smoker"], ["Cancer"], ["Xray", "Dyspnoea"]])
    >>> ("Cancer", "Xray") in later.graph.directed, later.privacy.epsilon == release.privacy.epsilon
    (True, True)
    """

    method: str
    schema: Schema
    privacy: PrivacyStatement
    rows: int | None
    known: Knowledge
    values: Measurements | moments.Moments | CodeMeasurements
    reason: MethodReason
    delta: float
    level: float
    max_order: int | None = None
    latent: bool = False
    target: str | None = None
    confidence: int | None = None
    stable: bool = True
    known_before: Knowledge | None = None

    def __repr__(self) -> str:
        stamp = "" if self.privacy.private else ", private=False"
        return f"Release({self.id}, method={self.method!r}, {len(self.schema)} columns{stamp})"

    @property
    def id(self) -> str:
        """The name of the release, made from what was released."""
        return _id(self._content())

    def discover(
        self,
        *,
        tiers: Sequence[Collection[str]] | None = None,
        required: Iterable[Edge] | None = None,
        forbidden: Iterable[Edge] | None = None,
        max_order: int | None = None,
        latent: bool | None = None,
        level: float | None = None,
        direction_level: float | None = None,
        confidence: int | None = None,
        progress: bool = False,
    ) -> DiscoveryResult:
        """Search what was released again, with other background knowledge. It costs nothing, and no row is read.

        Only tables that were measured are used: a question that needs another has no answer, and its pair can remain
        open. With nothing changed the graph is the same; confidence is drawn anew.

        Parameters
        ----------
        tiers, required, forbidden
            Background knowledge, as for ``dc.discover``. None is what was declared before, an empty list drops it.
        max_order, latent, level, confidence
            As for ``dc.discover``; None is as before.
        direction_level : float or None, default None
            As for ``dc.discover``; None is 0.8.
        progress : bool, default False
            Show progress bars on standard error.

        Returns
        -------
        DiscoveryResult
            Its privacy statement is that of the release, and says that the graph was computed from it.

        Raises
        ------
        InputError
            If an argument can't be used as given.
        """
        schema, method = self.schema, METHODS[self.method]
        if latent and "latent" not in method.options:
            raise InputError(f"hidden causes can't be looked for in what {self.method} released: pairs alone")
        known, first = _updated_knowledge(self, tiers, required, forbidden), self.known_before or self.known
        searched = replace(
            self,
            known=known,
            known_before=None if known == first else first,
            level=self.level if level is None else checked_level(level),
            max_order=self.max_order if max_order is None else checked_count(max_order, "max_order"),
            latent=checked_latent(self.latent if latent is None else latent, self.target),
            confidence=self.confidence if confidence is None else checked_repeats(confidence),
            privacy=statement_of_search(self),
        )
        asking = without_constants(schema, searched.known, self.method, method.tables_only)
        no_rows = cast("Counts", NoRows(schema, self.rows or 0))
        with np.errstate(all="ignore"), stages(progress) as stage:
            relation = self.privacy.neighbours
            task = Task(no_rows, asking, searched.level, searched.max_order, relation, None, None, stage)
            found = search_released(task, searched)
        plan = None
        # of sites it is that of one, and says nothing of what all together could find
        if isinstance(self.values, Measurements) and not isinstance(self.values.tables, TablesOfSites):
            plan = self.values.plan
        terms = Terms(
            method=self.method,
            reason=self.reason,
            level=searched.level,
            direction_level=checked_direction_level(
                DIRECTION_LEVEL if direction_level is None else direction_level
            ),
            known=searched.known,
            known_before=searched.known_before,
            rows=self.rows,
        )
        return result_of_search(
            found,
            method,
            terms,
            asking,
            schema,
            searched.privacy,
            Reusable(release=searched),
            plan=plan,
            no_delta=None if plan is None else without_delta(plan.public),
        )

    def effect(
        self,
        treatment: str,
        outcome: str,
        *,
        adjust: Iterable[str] | None = None,
        estimand: str = "auto",
        compare: Sequence[Level] | None = None,
        event: Level | None = None,
        population: EffectPopulation = "auto",
        level: float = 0.95,
        anyway: bool = False,
    ) -> EffectResult:
        """Estimate the effect of one column on another from what was released. It costs nothing, and no row is read.

        The same as ``release.discover().effect(...)``, the free answer. The tables also chose the graph, so that the
        interval may be too short; the answer says so.

        Parameters
        ----------
        treatment, outcome, adjust, estimand, compare, event, population, level
            As for ``result.effect``.
        anyway : bool, default False
            Go on where nothing could be said, or the graph warns.

        Raises
        ------
        InputError
            If what was released does not hold the columns, or is about one column (``target``).

        Examples
        --------
        >>> import dpcausal as dc
        >>> data = dc.networks.load("cancer").sample(50_000, seed=1)
        >>> release = dc.discover(data, epsilon=2.0, delta=1e-6).release
        >>> found = release.effect("Smoker", "Cancer", adjust=[])
        >>> found.estimand, found.privacy.epsilon == release.privacy.epsilon
        ('risk difference', True)
        """
        if self.target is not None:
            paid = spelled(
                "dpcausal effect FILE --schema SCHEMA --epsilon E", "dc.effect(data, ..., epsilon=0.5)"
            )
            raise InputError(
                f"this release is about {self.target} alone, so what to hold fixed is not known: {paid} measures a "
                "table for it"
            )
        return self.discover().effect(  # with repeats: weak hints decide what is reported
            treatment,
            outcome,
            adjust=adjust,
            estimand=estimand,
            compare=compare,
            event=event,
            population=population,
            level=level,
            anyway=anyway,
        )

    def report(self, path: str | os.PathLike[str], *, open: bool = False) -> str:  # noqa: A002
        """Write the page of the same search on what was released, and return its path. It costs nothing.

        The same as ``release.discover().report(path)``.

        Parameters
        ----------
        path : str or PathLike
            The file.
        open : bool, default False
            Whether open pairs are shown when the page is opened.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        return self.discover().report(path, open=open)

    def with_privacy(self, statement: PrivacyStatement) -> Release:
        """Return the same release with another statement, which also tells of effects that were paid for later."""
        return replace(self, privacy=statement)

    def to_json(self) -> str:
        """Return the text of ``release.json``."""
        content = self._content()
        stamp = {"private": self.privacy.private}
        why = {} if self.privacy.private else {"why_not_private": self.privacy.why_not_private}
        data = {
            **stamp,
            **why,
            "format": FORMAT,
            "id": _id(content),
            **content,
            "search": {name: getattr(self, name) for name in SEARCH},
            "declared": declarations(self.known),
            **({} if self.known_before is None else {"declared_before": declarations(self.known_before)}),
            "budget": {**self.privacy.asked, "delta": self.delta},
            "reason": self.reason.to_dict(),
            "privacy": self.privacy.to_dict(),
        }
        lines = [
            f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
            for name, value in data.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n}"

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the release to a file that ``dc.load_release`` reads, and return its path.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        return save_text(path, self.to_json() + "\n")

    def _content(self) -> dict[str, Any]:
        """Return the content that the release's id is computed from."""
        return {
            "method": self.method,
            "schema": self.schema.to_toml(),
            "neighbours": str(self.privacy.neighbours),
            "rows": self.rows,
            "values": tables_to_dict(self.values)
            if isinstance(self.values, Measurements)
            else self.values.to_dict(),
        }


def _id(content: Mapping[str, Any]) -> str:
    """Return the id of a release from its content."""
    return content_id({name: content[name] for name in CONTENT})


def _updated_knowledge(
    release: Release,
    tiers: Sequence[Collection[str]] | None,
    required: Iterable[Edge] | None,
    forbidden: Iterable[Edge] | None,
) -> Knowledge:
    """Return the release's background knowledge with the parts that are declared anew replaced."""
    given = {"tiers": tiers, "required": required, "forbidden": forbidden}
    if all(value is None for value in given.values()):
        return release.known
    before = declared_arguments(declarations(release.known))
    now: dict[str, Any] = {name: before[name] if value is None else value for name, value in given.items()}
    return Knowledge.of(tuple(release.schema), **now)


def statement_of_search(release: Release) -> PrivacyStatement:
    """Return the statement of the release, with the fact that a graph was computed from it at no cost."""
    fact = SearchedAgain(release.id)
    before = release.privacy
    return before if fact in before.released else replace(before, released=(*before.released, fact))


def release_of(
    found: SearchOutcome,
    terms: Terms,
    statement: PrivacyStatement,
    schema: Schema,
    delta: float,
    max_order: int | None,
    options: Mapping[str, Any],
) -> Release | None:
    """Return what a search released, or None where its method gives out decisions only.

    ``options`` are those of the method.
    """
    if found.values is None:
        return None
    return Release(
        method=terms.method,
        schema=schema,
        privacy=statement,
        rows=terms.rows,
        known=terms.known,
        values=found.values,
        reason=terms.reason,
        delta=delta,
        level=terms.level,
        max_order=max_order,
        latent=found.latent,
        target=options.get("target"),
        confidence=options.get("confidence"),
        stable=options.get("stable", True),
    )


@dataclass(frozen=True)
class NoRows:
    """The schema and the public number of rows in place of counts: a search on a release has nothing to count."""

    schema: Schema
    n: int


def search_released(task: Task, release: Release) -> SearchOutcome:
    """Search what was released; ``task`` has neither rows nor a budget."""
    repeats, values, latent = checked_repeats(release.confidence), release.values, release.latent
    if isinstance(values, moments.Moments):
        return moments.search_moments(task, values, repeats, release.stable, latent)
    if isinstance(values, CodeMeasurements):
        return codes.search_codes(task, values, repeats)
    whole = values.tables
    if not isinstance(whole, Components):
        return search_measured(task, values, repeats, latent=latent, obtain=lambda larger, _: larger.now)
    first = values
    if not values.near:
        first = replace(values, tables=whole.only(one for one in whole.values if len(one) < 3))
    found = search_measured(task, first, repeats, latent=latent, obtain=obtain_released(whole))
    return replace(found, values=values)


def obtain_released(whole: Components) -> Obtain:
    """Return a function that gives a search larger tables from released ones, in the rounds measured."""
    later = larger_rounds(whole)

    def obtain(larger: LargerTables, lacking: list[Place]) -> Measurements:
        order = max(len(given) for _, _, given in lacking)
        have = list(larger.now.components.values)
        while later and (made_for := max(map(len, later[0])) - 1) <= order:
            have += later.pop(0)
            if made_for == order:
                break
        return replace(larger.now, tables=whole.only(have))

    return obtain


def larger_rounds(tables: Components) -> list[list[Columns]]:
    """Return the tables of three and more columns, round by round of measurement.

    Those of one round are neighbours in the order of measurement and have noise of one variance.
    """
    larger = [(one, tables.variances[one]) for one in tables.values if len(one) > 2]
    return [[one for one, _ in found] for _, found in groupby(larger, key=lambda item: item[1])]


def load_release(path: str | os.PathLike[str]) -> Release:
    """Read what a discovery released, to search it again (``.discover``) at no cost.

    Parameters
    ----------
    path : str or PathLike
        A ``release.json``, or the directory that ``dpcausal discover --out`` wrote it to.

    Returns
    -------
    Release
        What was released, with its privacy statement.

    Raises
    ------
    InputError
        If there is no such file, or it is damaged or was written by a newer version.

    Examples
    --------
    >>> import dpcausal as dc, tempfile, pathlib
    >>> result = dc.discover(dc.networks.load("cancer").sample(50_000, seed=1), epsilon=2.0, delta=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = result.release.save(pathlib.Path(folder) / "release.json")
    ...     again = dc.load_release(folder).discover()
    >>> again.graph == result.graph
    True
    """
    file = Path(path)
    if file.is_dir():
        file = file / FILE
        if not file.exists():
            raise InputError(
                f"no {FILE} in {str(path)!r}: discover writes one with the methods measured, moments and codes, since "
                "this version; other methods release decisions, which can't be searched again"
            )
    name, data = str(file), read_json(file, "release")
    check_kind(
        data,
        name,
        "release",
        has=["values", "id"],
        newest=FORMAT,
        written_by=f"dpcausal discover, as {FILE},",
    )
    with refuse_damaged(name):
        if _id(data) != data["id"]:
            raise ValueError("its id is not that of its contents")
        return _release_from(data)


def _release_from(data: Mapping[str, Any]) -> Release:
    """Return the release that ``to_json`` wrote, from plain data whose id was checked."""
    schema = Schema.from_toml_string(data["schema"])
    search, budget, values = data["search"], data["budget"], data["values"]
    rows = None if data["rows"] is None else int(data["rows"])
    delta, level = float(budget["delta"]), float(search["level"])
    if not (math.isfinite(delta) and math.isfinite(level)):
        raise ValueError("a budget or a level that is no number")
    if data["method"] not in METHODS:
        raise ValueError(f"a release of {data['method']!r} can't be searched")
    privacy = PrivacyStatement.from_json(json.dumps(data["privacy"]))
    if Neighbours.parse(data["neighbours"], labels=False) is not privacy.neighbours:
        raise ValueError("its statement is for other neighbours")
    before = data.get("declared_before")
    return Release(
        method=data["method"],
        schema=schema,
        privacy=privacy,
        rows=rows,
        known=Knowledge.of(tuple(schema), **declared_arguments(data["declared"])),
        values=_values_from(values, schema),
        reason=MethodReason.from_dict(data["reason"]),
        delta=delta,
        level=level,
        max_order=search["max_order"],
        latent=bool(search["latent"]),
        target=search["target"],
        confidence=search["confidence"],
        stable=bool(search["stable"]),
        known_before=None if before is None else Knowledge.of(tuple(schema), **declared_arguments(before)),
    )


def _values_from(
    data: Mapping[str, Any], schema: Schema
) -> Measurements | moments.Moments | CodeMeasurements:
    """Return the released values from plain data, in the class of their method."""
    match data["form"]:
        case "moments":
            return moments.Moments.from_dict(data, schema)
        case "codes":
            return CodeMeasurements.from_dict(data, schema)
    return tables_from_dict(data, schema)
