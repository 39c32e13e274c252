"""What a discovery released, as a file that can be searched again at no cost (``release.json``).

``measured`` searches noisy tables and ``moments`` noisy moments. Both left through a mechanism and were paid for, so
that whatever is computed from them is post-processing: the privacy statement of the discovery covers it, and no row is
read again. ``result.release`` holds them; ``save`` writes them, ``load_release`` reads them back, and ``discover``
repeats the search on them (``again.py``) with other background knowledge.

**The file** is one JSON object, one entry a line:

- ``private`` (and ``why_not_private``), as in the privacy statement: a seeded run is not private, and says so first;
- ``format``, and ``id``: the first 16 digits of the SHA-256 of ``method``, ``schema``, ``neighbours``, ``rows`` and
  ``values``, so that a damaged file is noticed;
- ``method``; ``schema``, the declared columns as a schema file; ``neighbours``; ``rows``, None where it is protected;
- ``values``: what was released. ``form`` is ``joint`` (one table: ``shape``, ``cells``, ``variance`` of the noise in a
  cell, ``kurtosis``), ``components`` (``sizes`` of the columns as they were measured, ``groups``, the group of every
  level of columns with levels merged, and a list ``components``: ``columns``, ``shape``, ``values``, ``variance``, in
  the order in which they were measured), or ``moments`` (``harmonics``, ``spreads``, ``size``, the upper triangle of
  the ``matrix``, ``noise``). All have ``rows``, and tables the ``plan`` that was executed;
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
from pathlib import Path
from typing import Any, cast

import numpy as np

from dpcausal.core.arguments import checked_count, checked_level
from dpcausal.core.content_id import content_id
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import stages
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import PrivacyStatement, SearchedAgain
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Level
from dpcausal.data.schema import Schema
from dpcausal.discovery import moments
from dpcausal.discovery.again import NoRows, search_released
from dpcausal.discovery.fci import NO_TARGET
from dpcausal.discovery.knowledge import Edge, Knowledge, without_constants
from dpcausal.discovery.measured import method as measured
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.released_values import NoisyMoments, tables_from_dict, tables_to_dict
from dpcausal.discovery.repeats import checked_repeats
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result_of_search import result_of_search, with_columns_within_reach
from dpcausal.discovery.search import MethodReason, SearchOutcome, Task, WithoutDelta
from dpcausal.effects.result import EffectResult
from dpcausal.planning.forecast import NOTABLE_GAIN, noise_without_delta, reach
from dpcausal.planning.measurement_plan import PublicNumbers

METHODS = {
    driver.METHOD.name: driver.METHOD for driver in (measured, moments)
}  # whose releases can be searched
FORMAT = 1
FILE = "release.json"
CONTENT = ("method", "schema", "neighbours", "rows", "values")  # what the id is made of


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """What a discovery released: noisy tables or moments, which can be searched again at no cost.

    ``result.release`` of ``measured`` and ``moments``; other methods release decisions only and have none. It holds
    nothing that the privacy statement does not cover.

    Attributes
    ----------
    method : str
        ``measured`` or ``moments``.
    schema : Schema
        The declared columns.
    privacy : PrivacyStatement
        What the release cost. Whatever is computed from it costs nothing more.
    rows : int or None
        The number of rows where it is public.
    known : Knowledge
        What was declared beforehand.
    level, max_order, latent, target, confidence, stable
        Options of the search, as for ``dc.discover``.
    values : Measurements or NoisyMoments
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
    values: Measurements | NoisyMoments
    reason: MethodReason
    delta: float
    level: float
    max_order: int | None = None
    latent: bool = False
    target: str | None = None
    confidence: int | None = None
    stable: bool = True

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
        confidence: int | None = None,
        progress: bool = False,
    ) -> DiscoveryResult:
        """Search what was released again, with other background knowledge. It costs nothing, and no row is read.

        Only tables that were measured are used: a question that needs another has no answer, and its pair can stay
        open. With nothing changed the graph is the same; confidence is drawn anew.

        Parameters
        ----------
        tiers, required, forbidden
            Background knowledge, as for ``dc.discover``. None keeps what was declared, an empty list drops it.
        max_order, latent, level, confidence
            As for ``dc.discover``; None is as before.
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
        schema, relation = self.schema, self.privacy.neighbours
        if self.method not in METHODS or relation is Neighbours.FIXED_LABELS:
            raise InputError(
                f"a release of {self.method!r} can't be searched again: written by a newer version?"
            )
        chosen = METHODS[self.method]
        level = self.level if level is None else checked_level(level)
        max_order = self.max_order if max_order is None else checked_count(max_order, "max_order")
        confidence = self.confidence if confidence is None else checked_repeats(confidence)
        latent = self.latent if latent is None else latent
        if not isinstance(latent, bool):
            raise InputError(f"latent must be True or False, not {latent!r}")
        if latent and self.target is not None:
            raise InputError(NO_TARGET)
        known = _knowledge(self, tiers, required, forbidden)
        asking = without_constants(schema, known, self.method, chosen.tables_only)
        no_rows = cast("Counts", NoRows(schema, self.rows or 0))
        with np.errstate(all="ignore"), stages(progress) as stage:
            task = Task(no_rows, asking, level, max_order, relation, None, None, stage)
            found = search_released(
                task, self.values, latent=latent, stable=self.stable, confidence=confidence
            )
        no_delta, expected = None, None
        if isinstance(self.values, Measurements):
            gain = noise_without_delta(self.values.plan.public)
            no_delta = WithoutDelta(gain) if gain >= NOTABLE_GAIN else None
            expected = reach(self.values.plan, level) if self.rows else None
        statement = again_statement(self)
        result = result_of_search(
            found,
            chosen,
            self.reason,
            known,
            asking,
            schema,
            level,
            statement,
            rows=self.rows,
            no_delta=no_delta,
            expected=expected,
        )
        result = with_columns_within_reach(result)
        searched = replace(
            self,
            known=known,
            level=level,
            max_order=max_order,
            latent=latent,
            confidence=confidence,
            privacy=statement,
        )
        return replace(result, release=searched)

    def effect(
        self,
        treatment: str,
        outcome: str,
        *,
        adjust: Iterable[str] | None = None,
        estimand: str = "auto",
        compare: Sequence[Level] | None = None,
        event: Level | None = None,
        level: float = 0.95,
        anyway: bool = False,
    ) -> EffectResult:
        """Estimate the effect of one column on another from what was released. It costs nothing, and no row is read.

        The same as ``release.discover().effect(...)``, the free answer. The tables also chose the graph, so that the
        interval may be too short; the answer says so.

        Parameters
        ----------
        treatment, outcome, adjust, estimand, compare, event, level
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
        return self.discover().effect(  # with repeats: what is a weak hint decides what is said
            treatment,
            outcome,
            adjust=adjust,
            estimand=estimand,
            compare=compare,
            event=event,
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
            "search": {
                "level": self.level,
                "max_order": self.max_order,
                "latent": self.latent,
                "target": self.target,
                "confidence": self.confidence,
                "stable": self.stable,
            },
            "declared": declarations(self.known),
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
        try:
            Path(path).write_text(self.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"can't write {str(path)!r}: {error.strerror or error}") from None
        return str(path)

    def _content(self) -> dict[str, Any]:
        """What the id is made of."""
        return {
            "method": self.method,
            "schema": self.schema.to_toml(),
            "neighbours": str(self.privacy.neighbours),
            "rows": self.rows,
            "values": self.values.to_dict()
            if isinstance(self.values, NoisyMoments)
            else tables_to_dict(self.values),
        }


def _id(content: Mapping[str, Any]) -> str:
    """The id of what was released."""
    return content_id({name: content[name] for name in CONTENT})


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
    fact = SearchedAgain(release.id)
    before = release.privacy
    return before if fact in before.released else replace(before, released=(*before.released, fact))


def declarations(known: Knowledge) -> dict[str, Any]:
    """Return background knowledge as arguments of ``Knowledge.of``, in plain data: an edge is a list of three.

    >>> known = Knowledge.of(["a", "b", "c", "d"], required=[("b", "c")], forbidden=[("c", "d")], tiers=[["a"], ["b"]])
    >>> declarations(known)
    {'tiers': [['a'], ['b']], 'required': [['b', '->', 'c']], 'forbidden': [['c', '->', 'd']]}
    >>> Knowledge.of(["a", "b", "c", "d"], **declared_arguments(declarations(known))) == known
    True
    """
    places = sorted(set(known.tier.values()))
    arrows = {frozenset(arrow) for arrow in known.causes}
    by_tier = {
        (a, b)
        for a, b in known.arrows
        if a in known.tier and b in known.tier and known.tier[a] < known.tier[b]
    }
    backward = known.arrows - by_tier - known.causes
    return {
        "tiers": [[name for name, place in known.tier.items() if place == one] for one in places],
        "required": [
            *sorted([a, "->", b] for a, b in known.causes),
            *sorted([min(pair), "--", max(pair)] for pair in known.required - arrows),
        ],
        "forbidden": [
            *sorted([b, "->", a] for a, b in backward),
            *sorted([min(pair), "--", max(pair)] for pair in known.forbidden),
        ],
    }


def declared_arguments(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that ``declarations`` wrote."""

    def edges(kind: str) -> list[Edge]:
        return [(a, b) if mark == "->" else frozenset((a, b)) for a, mark, b in data[kind]]

    return {"tiers": data["tiers"], "required": edges("required"), "forbidden": edges("forbidden")}


def release_of(
    result: DiscoveryResult,
    found: SearchOutcome,
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
        method=result.method,
        schema=schema,
        privacy=result.privacy,
        rows=result.rows,
        known=result.known,
        values=found.values,
        reason=result.reason,
        delta=delta,
        level=result.level,
        max_order=max_order,
        latent=found.latent,
        target=options.get("target"),
        confidence=options.get("confidence"),
        stable=options.get("stable", True),
    )


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
                f"no {FILE} in {str(path)!r}: discover writes one with the methods measured and moments, since this "
                "version; other methods release decisions, which can't be searched again"
            )
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {str(file)!r}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{str(file)!r} is no release: not text in UTF-8") from None
    return _parse(text, str(file))


def _parse(text: str, name: str) -> Release:
    """The release in ``text``; ``name`` is the file, for errors."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{name!r} is damaged, or no release: not JSON{where}") from None
    if not isinstance(data, dict) or "values" not in data or "id" not in data:
        raise InputError(f"{name!r} is no release: dpcausal discover writes one as {FILE}")
    if isinstance(data.get("format"), int) and data["format"] > FORMAT:
        raise InputError(f"{name!r} is a release of format {data['format']}: written by a newer version")
    try:
        if _id(data) != data["id"]:
            raise ValueError("its id is not that of its contents")
        return _release(data)
    except (DpcausalError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        told = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{name!r} is damaged: {told}") from None


def _release(data: Mapping[str, Any]) -> Release:
    schema = Schema.from_toml_string(data["schema"])
    search, budget, values = data["search"], data["budget"], data["values"]
    rows = None if data["rows"] is None else int(data["rows"])
    delta, level = float(budget["delta"]), float(search["level"])
    if not (math.isfinite(delta) and math.isfinite(level)):
        raise ValueError("a budget or a level that is no number")
    relation = Neighbours.parse(data["neighbours"])
    asked = float(budget.get("planned_epsilon", budget["epsilon"]))
    before = PublicNumbers.of_schema(schema, rows, asked, delta, relation, search["target"])
    return Release(
        method=_method(data["method"]),
        schema=schema,
        privacy=PrivacyStatement.from_json(json.dumps(data["privacy"])),
        rows=rows,
        known=Knowledge.of(tuple(schema), **declared_arguments(data["declared"])),
        values=NoisyMoments.from_dict(values)
        if values["form"] == "moments"
        else tables_from_dict(values, schema, before),
        reason=MethodReason.from_dict(data["reason"]),
        delta=delta,
        level=level,
        max_order=search["max_order"],
        latent=bool(search["latent"]),
        target=search["target"],
        confidence=search["confidence"],
        stable=bool(search["stable"]),
    )


def _method(name: object) -> str:
    if name not in METHODS:
        raise ValueError(f"a release of {name!r} can't be searched")
    return str(name)
