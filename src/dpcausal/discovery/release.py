"""What a discovery released, as a file that can be searched again at no cost (``release.json``).

``measured`` searches noisy tables and ``moments`` noisy moments. Both left through a mechanism and were paid for, so
that whatever is computed from them is post-processing: the privacy statement of the discovery covers it, and no row is
read again. ``result.release`` holds them; ``save`` writes them, ``load_release`` reads them back, and ``discover`` (in
``again.py``) repeats the search on them with other background knowledge.

**The file** is one JSON object, one entry a line:

- ``private`` (and ``why_not_private``), as in the privacy statement: a seeded run is not private, and says so first;
- ``format``, and ``id``: the first 16 digits of the SHA-256 of ``method``, ``schema``, ``neighbours``, ``rows`` and
  ``values``, so that a damaged file is noticed;
- ``method``; ``schema``, the declared columns as a schema file; ``neighbours``; ``rows``, None where it is protected;
- ``values``: what was released. ``form`` is ``joint`` (one table: ``shape``, ``cells``, ``variance`` of the noise in a
  cell, ``kurtosis``), ``components`` (``sizes`` of the columns as they were measured, ``merged``, the columns with
  fewer groups than levels, ``rows``, and a list ``components``: ``columns``, ``shape``, ``values``, ``variance``, in
  the order in which they were measured), or ``moments`` (``harmonics``, ``spreads``, ``size``, the upper triangle of
  the ``matrix``, ``rows``, ``noise``);
- ``search`` and ``declared``: the options and the background knowledge of the search;
- ``budget``: epsilon and delta that were asked for, and the epsilon that the plan counted with;
- ``reason``: why the method was taken; ``privacy``: the privacy statement.

**Guarantee.** Nothing else enters: a ``Release`` is made from what mechanisms gave out, the schema and the options. It
never holds rows or counts.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import PrivacyStatement
from dpcausal.data.schema import Schema
from dpcausal.discovery.components import Components, JointTable, NoisyTables
from dpcausal.discovery.effect_after import ReleasedTables
from dpcausal.discovery.knowledge import Edge, Knowledge
from dpcausal.discovery.search import MethodReason, SearchOutcome
from dpcausal.planning.measurement import larger_pay, plan_for, schedule_for
from dpcausal.stats.components import Columns

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

FORMAT = 1
FILE = "release.json"
CONTENT = ("method", "schema", "neighbours", "rows", "values")  # what the id is made of


class Total(Protocol):
    """What a search may spend: the stop rule of its budget."""

    @property
    def epsilon(self) -> float:
        """Of pure steps."""
        ...

    @property
    def rho(self) -> float:
        """Of Gaussian steps; 0 where there may be none."""
        ...


@dataclass(frozen=True, eq=False)
class KeptTables:
    """Noisy tables, and what of their measurement a search must know.

    Attributes
    ----------
    tables : NoisyTables
        As released.
    rows : float
        Public, or released.
    gaussian : bool
        Which noise.
    larger : bool
        Whether tables of three and more columns are asked for.
    near : tuple of str
        With a target, the columns that were measured with it a second time.
    """

    tables: NoisyTables
    rows: float
    gaussian: bool
    larger: bool = False
    near: tuple[str, ...] = ()

    def groups(self, schema: Schema) -> dict[str, int]:
        """Return the columns with fewer groups than levels, and how many groups."""
        return {
            name: size
            for (name, column), size in zip(schema.items(), self.tables.sizes, strict=True)
            if size < column.size
        }

    def rounds(self) -> list[list[Columns]]:
        """Return the tables of three and more columns, round by round of measurement.

        Those of one round are neighbours in the order of measurement and have noise of one variance.
        """
        assert isinstance(self.tables, Components)
        larger = [(one, self.tables.variances[one]) for one in self.tables.values if len(one) > 2]
        return [[one for one, _ in found] for _, found in groupby(larger, key=lambda item: item[1])]

    def to_dict(self, schema: Schema) -> dict[str, Any]:
        """Return plain data."""
        names = list(schema)
        shared = {"gaussian": self.gaussian, "larger": self.larger, "near": list(self.near)}
        if isinstance(self.tables, JointTable):
            joint = self.tables
            return {
                "form": "joint",
                "shape": list(joint.joint.shape),
                "variance": joint.cell_variance,
                "kurtosis": joint.kurtosis,
                "rows": self.rows,
                **shared,
                "cells": joint.joint.ravel().tolist(),
            }
        assert isinstance(self.tables, Components)
        return {
            "form": "components",
            "sizes": list(self.tables.sizes),
            "merged": self.groups(schema),
            "rows": self.rows,
            **shared,
            "components": [
                {
                    "columns": [names[j] for j in one],
                    "shape": list(value.shape),
                    "variance": self.tables.variances[one],
                    "values": value.ravel().tolist(),
                }
                for one, value in self.tables.values.items()
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], schema: Schema, rows: int | None) -> KeptTables:
        """Return the tables that ``to_dict`` wrote; ``rows`` is their number where it is public."""
        tables: NoisyTables
        if data["form"] == "joint":
            cells = np.asarray(data["cells"])
            if cells.dtype.kind not in "if":
                raise ValueError("cells that are no numbers")
            joint = cells.reshape(data["shape"])
            tables = JointTable(joint, float(data["variance"]), float(data["kurtosis"]), rows)
        else:
            place = {name: j for j, name in enumerate(schema)}
            tables = Components([int(size) for size in data["sizes"]])
            for one in data["components"]:
                columns = tuple(place[name] for name in one["columns"])
                # as it was: ``add`` would centre it once more, and change last digits
                tables.values[columns] = np.asarray(one["values"], np.float64).reshape(one["shape"])
                tables.variances[columns] = float(one["variance"])
        if len(tables.sizes) != len(schema):
            raise ValueError("tables over other columns than the schema has")
        return cls(
            tables, float(data["rows"]), bool(data["gaussian"]), bool(data["larger"]), tuple(data["near"])
        )


@dataclass(frozen=True, eq=False)
class KeptMoments:
    """Noisy moments of features.

    Attributes
    ----------
    harmonics : int
        Pairs of cosine and sine that stand for a numeric column.
    matrix : array
        The moments, with noise.
    rows : float
        Public, or released.
    noise : float
        Standard deviation of the noise in an entry off the diagonal.
    spreads : tuple of str
        Columns whose spread was measured first.
    """

    harmonics: int
    matrix: NDArray[np.float64]
    rows: float
    noise: float
    spreads: tuple[str, ...] = ()

    def to_dict(self, schema: Schema) -> dict[str, Any]:
        """Return plain data."""
        return {
            "form": "moments",
            "harmonics": self.harmonics,
            "spreads": list(self.spreads),
            "rows": self.rows,
            "noise": self.noise,
            "size": len(self.matrix),
            "matrix": self.matrix[np.triu_indices(len(self.matrix))].tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> KeptMoments:
        """Return the moments that ``to_dict`` wrote."""
        size = int(data["size"])
        matrix = np.zeros((size, size))
        rows, columns = np.triu_indices(size)
        matrix[rows, columns] = matrix[columns, rows] = np.asarray(data["matrix"], np.float64)
        return cls(
            int(data["harmonics"]), matrix, float(data["rows"]), float(data["noise"]), tuple(data["spreads"])
        )


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
    values : KeptTables or KeptMoments
        The noisy values.
    planned_epsilon, delta : float
        The budget that the plan of the search counts with.
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
    values: KeptTables | KeptMoments
    reason: MethodReason
    planned_epsilon: float
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
        from dpcausal.discovery.again import search_again

        return search_again(
            self,
            tiers=tiers,
            required=required,
            forbidden=forbidden,
            max_order=max_order,
            latent=latent,
            level=level,
            confidence=confidence,
            progress=progress,
        )

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
            "budget": {**self.privacy.asked, "delta": self.delta, "planned_epsilon": self.planned_epsilon},
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
            "values": self.values.to_dict(self.schema),
        }


def _id(content: Mapping[str, Any]) -> str:
    """The first digits of the hash of ``content``, which is the same before and after it was written."""
    text = json.dumps({name: content[name] for name in CONTENT}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
            *sorted([min(pair), "--", max(pair)] for pair in known.kept - arrows),
        ],
        "forbidden": [
            *sorted([b, "->", a] for a, b in backward),
            *sorted([min(pair), "--", max(pair)] for pair in known.left_out),
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
    total: Total,
    planned_epsilon: float,
    delta: float,
    max_order: int | None,
    options: Mapping[str, Any],
) -> Release | None:
    """Return what a search released, or None where its method gives out decisions only.

    ``total`` is what the search might spend, ``planned_epsilon`` what its plan counts with, and ``options`` those of
    the method.
    """
    values = found.kept
    if values is None and isinstance(found.tables, ReleasedTables):
        values = _kept_tables(found.tables, total, result.privacy.neighbours, result.rows)
    if values is None:
        return None
    return Release(
        method=result.method,
        schema=schema,
        privacy=result.privacy,
        rows=result.rows,
        known=result.known,
        values=values,
        reason=result.reason,
        planned_epsilon=planned_epsilon,
        delta=delta,
        level=result.level,
        max_order=max_order,
        latent=found.latent,
        target=options.get("target"),
        confidence=options.get("confidence"),
        stable=options.get("stable", True),
    )


def _kept_tables(
    released: ReleasedTables, total: Total, neighbours: Neighbours, rows: int | None
) -> KeptTables:
    """Tables of a whole graph; whether larger ones pay follows from public and released numbers, as in ``start``."""
    declared = [column.size for column in released.schema.values()]
    plan = plan_for(declared, total.epsilon, total.rho, neighbours)
    if isinstance(released.tables, JointTable):
        counted = float(released.tables.table(())) if rows is None else float(rows)
        larger = larger_pay(plan.pair_variance, declared, max(counted, 1.0))
    else:
        counted, sizes = released.rows, released.tables.sizes
        amount = total.rho if plan.gaussian else total.epsilon
        larger = schedule_for(sizes, counted, 1.0, amount, neighbours, gaussian=plan.gaussian).larger
    return KeptTables(released.tables, counted, plan.gaussian, larger)


def load_release(path: str | os.PathLike[str]) -> Release:
    """Read what a discovery released, to search it again (``.discover``) at no cost.

    Parameters
    ----------
    path : str or PathLike
        A ``release.json``, or the directory that ``dpcausal discover --out`` wrote it to.

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
    numbers = [float(budget["planned_epsilon"]), float(budget["delta"]), float(search["level"])]
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a budget or a level that is no number")
    return Release(
        method=str(data["method"]),
        schema=schema,
        privacy=PrivacyStatement.from_json(json.dumps(data["privacy"])),
        rows=rows,
        known=Knowledge.of(tuple(schema), **declared_arguments(data["declared"])),
        values=KeptMoments.from_dict(values)
        if values["form"] == "moments"
        else KeptTables.from_dict(values, schema, rows),
        reason=MethodReason.from_dict(data["reason"]),
        planned_epsilon=numbers[0],
        delta=numbers[1],
        level=numbers[2],
        max_order=search["max_order"],
        latent=bool(search["latent"]),
        target=search["target"],
        confidence=search["confidence"],
        stable=bool(search["stable"]),
    )
