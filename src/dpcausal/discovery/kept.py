"""Noisy values that a search was made on, as plain data and back: tables, or moments of features (``release.py``).

Everything here left through a mechanism. Numbers survive the file digit by digit, so that a search on what was read
back gives the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.data.schema import Schema
from dpcausal.discovery.components import GROUPINGS, Components, JointTable, NoisyTables
from dpcausal.stats.components import Columns
from dpcausal.stats.contrasts import Round


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
    merged : mapping of str to tuple of int
        Of columns with fewer groups than levels, the group of every level: it follows from released counts. Files of
        earlier versions do not say.
    """

    tables: NoisyTables
    rows: float
    gaussian: bool
    larger: bool = False
    near: tuple[str, ...] = ()
    merged: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def groups(self, schema: Schema) -> dict[str, int]:
        """Return the columns with fewer groups than levels, and how many groups."""
        return {
            name: size
            for (name, column), size in zip(schema.items(), self.tables.sizes, strict=True)
            if size < column.size
        }

    def rounds(self) -> list[list[Columns]]:
        """Return the tables of three and more columns, round by round of measurement.

        Those of one round are neighbours in the order of measurement and have noise of one variance. Where the table of
        all columns was measured there are none.
        """
        if not isinstance(self.tables, Components):
            return []
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
            **(
                {"groups": {name: list(groups) for name, groups in self.merged.items()}}
                if self.merged
                else {}
            ),
            "rows": self.rows,
            **shared,
            "rounds": [[value for value in one if value is not None] for one in self.tables.rounds],
            "regrouped": {names[j]: kept.tolist() for j, kept in self.tables.regrouped.items()},
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
            tables.rounds = tuple(
                Round(int(pairs), float(by), *map(float, choice))
                for pairs, by, *choice in data.get("rounds", ())
            )
            tables.regrouped = {
                place[name]: np.asarray(kept, np.float64) for name, kept in data.get("regrouped", {}).items()
            }
            if any(len(kept) != GROUPINGS for kept in tables.regrouped.values()):
                raise ValueError("other groups of levels than there are draws of")
            for one in data["components"]:
                columns = tuple(place[name] for name in one["columns"])
                # as it was: ``add`` would centre it once more, and change last digits
                tables.values[columns] = np.asarray(one["values"], np.float64).reshape(one["shape"])
                tables.variances[columns] = float(one["variance"])
        if len(tables.sizes) != len(schema):
            raise ValueError("tables over other columns than the schema has")
        merged = {name: tuple(map(int, groups)) for name, groups in data.get("groups", {}).items()}
        if any(len(groups) != schema[name].size for name, groups in merged.items()):
            raise ValueError("groups of other levels than the schema has")
        return cls(
            tables,
            float(data["rows"]),
            bool(data["gaussian"]),
            bool(data["larger"]),
            tuple(data["near"]),
            merged,
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
