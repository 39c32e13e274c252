"""Noisy values that a search was made on, as plain data and back: tables, or moments of features (``release.py``).

Everything here left through a mechanism. Numbers survive the file digit by digit, so that a search on what was read
back gives the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.data.schema import Schema
from dpcausal.discovery.measured.measure import GROUPINGS, Measurements
from dpcausal.discovery.measured.tables import Components, JointTable, Site, TablesOfSites
from dpcausal.planning.measurement_plan import MeasurementPlan
from dpcausal.stats.contrasts import Round


def tables_to_dict(measured: Measurements) -> dict[str, Any]:
    """Return measurements as plain data."""
    names, tables = list(measured.schema), measured.tables
    shared = {"rows": measured.rows, "plan": measured.plan.to_dict()}
    if isinstance(tables, JointTable):
        return {
            "form": "joint",
            "shape": list(tables.joint.shape),
            "variance": tables.cell_variance,
            "kurtosis": tables.kurtosis,
            **shared,
            "cells": tables.joint.ravel().tolist(),
        }
    rounds = [[value for value in one if value is not None] for one in measured.rounds]
    if isinstance(tables, TablesOfSites):
        return {
            "form": "sites",
            "sizes": list(tables.sizes),
            **shared,
            "rounds": rounds,
            "sites": [
                {
                    "name": site.name,
                    "rows": site.rows,
                    "components": _components_to_list(site.components, names),
                }
                for site in tables.sites
            ],
        }
    assert isinstance(tables, Components)
    return {
        "form": "components",
        "sizes": list(tables.sizes),
        **shared,
        "groups": {names[j]: list(groups) for j, groups in measured.groups.items()},
        "near": [names[j] for j in measured.near[1:]],
        "rounds": rounds,
        "regrouped": {names[j]: draws.tolist() for j, draws in measured.regrouped.items()},
        "components": _components_to_list(tables, names),
    }


def _components_to_list(tables: Components, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return components as plain data, in the order in which they were measured."""
    return [
        {
            "columns": [names[j] for j in one],
            "shape": list(value.shape),
            "variance": tables.variances[one],
            "values": value.ravel().tolist(),
        }
        for one, value in tables.values.items()
    ]


def _components_from_list(
    data: Sequence[Mapping[str, Any]], sizes: Sequence[int], place: Mapping[str, int]
) -> Components:
    """Return the components that ``_components_to_list`` wrote."""
    values, variances = {}, {}
    for one in data:
        columns = tuple(place[name] for name in one["columns"])
        values[columns] = np.asarray(one["values"], np.float64).reshape(one["shape"])
        variances[columns] = float(one["variance"])
    return Components([int(size) for size in sizes], values, variances)


def tables_from_dict(data: Mapping[str, Any], schema: Schema) -> Measurements:
    """Return the measurements that ``tables_to_dict`` wrote."""
    plan = MeasurementPlan.from_dict(data["plan"])
    if data["form"] == "joint":
        cells = np.asarray(data["cells"])
        if cells.dtype.kind not in "if":
            raise ValueError("cells that are no numbers")
        joint = JointTable(cells.reshape(data["shape"]), float(data["variance"]), float(data["kurtosis"]))
        found = Measurements(plan, schema, joint, float(data["rows"]))
    elif data["form"] == "sites":
        place = {name: j for j, name in enumerate(schema)}
        sites = [
            Site(
                str(one["name"]),
                _components_from_list(one["components"], data["sizes"], place),
                float(one["rows"]),
            )
            for one in data["sites"]
        ]
        tables = TablesOfSites([int(size) for size in data["sizes"]], sites)
        found = Measurements(plan, schema, tables, float(data["rows"]), rounds=_rounds(data))
    else:
        found = _components(data, schema, plan)
    if len(found.tables.sizes) != len(schema):
        raise ValueError("tables over other columns than the schema has")
    return found


def _components(data: Mapping[str, Any], schema: Schema, plan: MeasurementPlan) -> Measurements:
    """Return the components that ``tables_to_dict`` wrote, with the groups of levels and rounds they come from."""
    place = {name: j for j, name in enumerate(schema)}
    tables = _components_from_list(data["components"], data["sizes"], place)
    regrouped = {place[name]: np.asarray(draws, np.float64) for name, draws in data["regrouped"].items()}
    if any(len(draws) != GROUPINGS for draws in regrouped.values()):
        raise ValueError("other groups of levels than there are draws of")
    groups = {}
    for name, found in data["groups"].items():
        if len(found) != schema[name].size:
            raise ValueError("groups of other levels than the schema has")
        groups[place[name]] = tuple(map(int, found))
    target = () if plan.public.target is None else (plan.public.target,)
    near = (*target, *(place[name] for name in data["near"])) if target else ()
    return Measurements(plan, schema, tables, float(data["rows"]), groups, regrouped, _rounds(data), near)


def _rounds(data: Mapping[str, Any]) -> tuple[Round, ...]:
    return tuple(Round(int(pairs), float(by), *map(float, more)) for pairs, by, *more in data["rounds"])


@dataclass(frozen=True, eq=False)
class NoisyMoments:
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

    def to_dict(self) -> dict[str, Any]:
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
    def from_dict(cls, data: Mapping[str, Any]) -> NoisyMoments:
        """Return the moments that ``to_dict`` wrote."""
        size = int(data["size"])
        matrix = np.zeros((size, size))
        rows, columns = np.triu_indices(size)
        matrix[rows, columns] = matrix[columns, rows] = np.asarray(data["matrix"], np.float64)
        return cls(
            int(data["harmonics"]), matrix, float(data["rows"]), float(data["noise"]), tuple(data["spreads"])
        )
