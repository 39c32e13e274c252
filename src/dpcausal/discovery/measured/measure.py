"""Execute a plan: charge, draw noise, and return what was released as one value.

``measure`` executes a ``MeasurementPlan`` (``planning/measurement_plan.py``): one joint table, or single columns and
pairs, promising pairs again in rounds, with levels merged, or the pairs of a tree alone, or those with a target.
``measure_larger`` measures tables of three and more columns that the search asks for. Nothing but released values
decides what is measured, and a mechanism where exact counts do (``_tree``). ``tables_to_dict`` writes what was released
digit by digit, so that a search on what was read back gives the same answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from dpcausal.core.entropy import released_generator
from dpcausal.core.proofs import proved
from dpcausal.core.statement import MeasuredPairs, MeasuredTables, Noisy, Released
from dpcausal.counts.protocol import entries_of, tables_of_entries
from dpcausal.data.columns import Column, has_order, missing_place
from dpcausal.data.schema import Schema
from dpcausal.discovery.measured.tables import Components, JointTable, NoisyTables, Site, TablesOfSites
from dpcausal.discovery.search import Task
from dpcausal.planning.measurement_plan import (
    MeasurementPlan,
    components_mechanism,
    joint_mechanism,
    merged_levels,
    noise_variance,
    retained_by_groups,
)
from dpcausal.privacy.mechanisms.base import INTEGERS, release
from dpcausal.privacy.mechanisms.selection import SpanningTree
from dpcausal.stats.components import Columns, Floats, interaction
from dpcausal.stats.contrasts import Contrasts, Round, all_pairs
from dpcausal.stats.measured import GAUSSIAN, LAPLACE
from dpcausal.stats.pair_distance import distance_sensitivity, if_independent, pair_distance

SPENT = 1.0 - 1e-12  # of a share: shares that add up to one never pass the total by rounding
GROUPINGS = 100  # draws of other groups of levels
Groups = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Measurements:
    """What was released, and what a search must know of how."""

    plan: MeasurementPlan
    schema: Schema
    tables: NoisyTables
    rows: float = 1.0  # public, or released; at least 1
    groups: Groups = field(default_factory=dict)  # the group of every level of columns with levels merged
    # of these columns: what groups drawn anew would keep of a correlation
    regrouped: Mapping[int, Floats] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()  # how the pairs were measured; empty: all at once
    near: tuple[int, ...] = ()  # with a target: it, and the columns that were measured with it a second time
    released: tuple[Released, ...] = ()  # for the privacy statement

    @property
    def components(self) -> Components:
        """The measured components; none where a joint table was measured."""
        return self.tables if isinstance(self.tables, Components) else Components(self.tables.sizes)

    @property
    def groups_by_name(self) -> dict[str, tuple[int, ...]]:
        """The group of every level, for columns whose levels were merged."""
        names = list(self.schema)
        return {names[j]: groups for j, groups in sorted(self.groups.items())}

    def pair_variance(self) -> float:
        """Return the noise variance in the table of a pair: the median of measured pairs."""
        pairs = [self.tables.variance(pair) for pair in all_pairs(len(self.tables.sizes))]
        return float(np.median([one for one in pairs if one > 0.0] or [0.0]))

    def contrasts(self, columns: Sequence[int] | None = None) -> Contrasts:
        """Return the covariances of features of these columns (None: all), for the forward search."""
        listed = range(len(self.tables.sizes)) if columns is None else columns
        found = self.tables.contrasts(self.rows, columns)
        return replace(
            found, rounds=self.rounds if columns is None else (), kept=self.retained_dependence(listed)
        )

    def retained_dependence(self, columns: Sequence[int]) -> Floats | None:
        """Return the share of squared dependence that each column retains after merging; None: unmerged."""
        if not self.groups:
            return None
        declared = list(self.schema.values())
        return np.array(
            [retained_share(declared[j], self.groups[j]) if j in self.groups else 1.0 for j in columns]
        )

    def retained_by_other_groups(self, generator: Any, columns: Sequence[int]) -> Floats:
        """Return the share of a correlation that another random grouping of levels would retain."""
        turns = generator.integers(GROUPINGS, size=len(columns))
        return np.array(
            [
                self.regrouped[j][turn] if j in self.regrouped else 1.0
                for j, turn in zip(columns, turns, strict=True)
            ]
        )


@proved("measure.proof.md")
def measure(task: Task) -> Measurements:
    """Execute the measurement plan of a task and return what was released.

    Where the number of rows is protected it is measured first, and the plan is completed with what was released.
    """
    plan, d = task.measurement_plan(), len(task.columns)
    if plan.joint:
        return _joint(task, plan)
    start = Components([column.size for column in task.counts.schema.values()])
    now = _rows(task, Measurements(plan, task.counts.schema, start))
    now = _merge_levels(task, replace(now, plan=plan.for_rows(now.rows)))
    shares = now.plan.shares
    now, _ = _components(task, now, [(j,) for j in range(d)], shares.singles, "single columns")
    if not now.plan.pairs:
        return now
    if now.plan.tree:
        return _tree(task, now)
    if plan.public.target is not None:
        return _around_target(task, now, plan.public.target)
    now, variance = _components(task, now, now.plan.pairs, shares.pairs, "pairs of columns")
    rounds = [Round(len(now.plan.pairs), variance)]
    for turn, share in enumerate(shares.again):
        chosen = _most_evidence(now.contrasts().pair_evidence, now.plan.again_count)
        now, variance = _components(task, now, chosen, share, f"promising pairs, round {turn + 1}")
        rounds.append(Round(len(chosen), variance))
    return replace(now, rounds=tuple(rounds))


@proved("measure.proof.md")
def measure_larger(
    task: Task, now: Measurements, sets: Sequence[Columns], share: float, label: str
) -> Measurements:
    """Measure components of three and more columns with this share of the budget."""
    return _components(task, now, sets, share, label)[0]


@proved("measure.proof.md")
def _joint(task: Task, plan: MeasurementPlan) -> Measurements:
    """Measure one table over all columns with the whole budget."""
    budget, sizes = task.private_budget(), plan.public.sizes
    total = budget.total.rho if plan.gaussian else budget.total.epsilon
    entries = entries_of(task.counts)
    mechanism = joint_mechanism(
        math.prod(sizes), total, task.neighbours, gaussian=plan.gaussian, whole=entries == 1
    )
    noisy = release(
        mechanism, budget, "joint table", tables_of_entries(task.counts, [task.columns])[0] / entries
    )
    kurtosis = GAUSSIAN if plan.gaussian else LAPLACE
    joint = JointTable(np.asarray(noisy), noise_variance(mechanism), kurtosis)
    rows = max(float(joint.table(())) if task.n is None else float(task.n), 1.0)
    released = (Noisy("joint-table"),)
    return Measurements(plan.for_rows(rows), task.counts.schema, joint, rows, released=released)


@proved("measure.proof.md")
def _components(
    task: Task, now: Measurements, sets: Sequence[Columns], share: float, label: str
) -> tuple[Measurements, float]:
    """Release components with this share of the budget, levels merged into groups; return also their noise variance."""
    budget, tables, gaussian = task.private_budget(), now.components, now.plan.gaussian
    total = budget.total.rho if gaussian else budget.total.epsilon
    mechanism = components_mechanism(
        sets, tables.sizes, share * SPENT * total, task.neighbours, gaussian=gaussian
    )
    entries = entries_of(task.counts)
    exact = [interaction(part) / entries for part in _margins(task, now.groups, sets, entries)]
    noisy = release(mechanism, budget, label, np.concatenate([part.ravel() for part in exact]))
    ends = np.cumsum([part.size for part in exact])[:-1]
    parts = [one.reshape(part.shape) for one, part in zip(np.split(noisy, ends), exact, strict=True)]
    variance = noise_variance(mechanism)
    released = MeasuredTables(label, sd=math.sqrt(variance))
    measured = tables.with_measured(zip(sets, parts, strict=True), variance)
    return replace(now, tables=measured, released=(*now.released, released)), variance


@proved("measure.proof.md")
def _margins(task: Task, groups: Groups, sets: Sequence[Columns], entries: int = 1) -> list[Any]:
    """Return the exact margins of merged tables, in whole numbers. Not private: for a mechanism."""
    counts, columns = task.counts, task.columns
    if not sets[0]:
        return [np.asarray(counts.n * entries)]
    found = []
    count = counts.tables if entries == 1 else partial(tables_of_entries, counts)
    for one, margin in zip(sets, count([tuple(columns[j] for j in one) for one in sets]), strict=True):
        merged = np.asarray(margin)
        for axis, column in enumerate(one):
            if column in groups:
                group = np.asarray(groups[column])
                ends = np.zeros(
                    (*merged.shape[:axis], max(group) + 1, *merged.shape[axis + 1 :]), merged.dtype
                )
                np.add.at(np.moveaxis(ends, axis, 0), group, np.moveaxis(merged, axis, 0))
                merged = ends
        found.append(merged)
    return found


@proved("measure.proof.md")
def _rows(task: Task, now: Measurements) -> Measurements:
    """Return the measurements with the number of rows: public, else measured now."""
    if task.n is None:
        now, _ = _components(task, now, [()], now.plan.shares.rows, "number of rows")
    else:
        now = replace(now, tables=now.components.with_measured([((), np.array(float(task.n)))], 0.0))
    return replace(now, rows=max(float(now.tables.table(())), 1.0))


@proved("measure.proof.md")
def _merge_levels(task: Task, now: Measurements) -> Measurements:
    """Merge levels of columns with too many, by released counts of how common they are.

    Unless the plan says which: then nothing is measured.
    """
    plan, columns = now.plan, list(now.schema.values())
    many = [j for j, size in enumerate(plan.sizes) if size < columns[j].size]
    if not many:
        return now
    before = now.components
    if plan.groups:
        tables = Components(plan.sizes, before.values, before.variances)  # the number of rows
        return replace(now, tables=tables, groups=dict(plan.groups))
    now, _ = _components(task, now, [(j,) for j in many], plan.shares.levels, "how common levels are")
    counted, groups, regrouped = now.components, dict[int, tuple[int, ...]](), dict[int, Floats]()
    for j in many:
        counts = counted.values[j,] + now.rows / columns[j].size

        def grouped(counts: Floats, j: int = j) -> tuple[int, ...]:
            return merged_levels(
                counts.tolist(),
                plan.levels[j],
                ordered=has_order(columns[j]),
                apart=missing_place(columns[j]),
            )

        groups[j] = grouped(counts)
        regrouped[j] = retained_by_other_groups(counts, counted.variances[j,], now.rows, grouped)
    sizes = [max(groups[j]) + 1 if j in groups else size for j, size in enumerate(before.sizes)]
    tables = Components(sizes, before.values, before.variances)  # the number of rows
    return replace(now, tables=tables, groups=groups, regrouped=regrouped)


@proved("measure.proof.md")
def _tree(task: Task, now: Measurements) -> Measurements:
    """Choose by the exponential mechanism pairs that join all columns in a tree, and measure these alone.

    Pairs are scored by how far their exact counts are from independence, so that the choice must be private.

    How far is said of exact counts, so the choice is a mechanism's.
    """
    budget, tables, pairs = task.private_budget(), now.components, all_pairs(len(now.tables.sizes))
    mechanism = SpanningTree(
        sensitivity=distance_sensitivity(task.neighbours),
        nodes=len(tables.sizes),
        rho=now.plan.shares.choice * SPENT * budget.total.rho,
        neighbours=task.neighbours,
        grid=INTEGERS,
    )
    singles = [tables.table((j,)) for j in range(len(tables.sizes))]
    independent = [if_independent(singles[i], singles[j], now.rows) for i, j in pairs]
    scores = [
        pair_distance(margin, expected)
        for margin, expected in zip(_margins(task, now.groups, pairs), independent, strict=True)
    ]
    chosen = sorted(release(mechanism, budget, "which pairs are measured", scores))
    released = MeasuredPairs(number=len(chosen), of=len(pairs))
    now = replace(now, released=(*now.released, released))
    now, variance = _components(task, now, chosen, now.plan.shares.pairs, "chosen pairs of columns")
    return replace(
        now, rounds=(Round(len(chosen), variance, mechanism.round.reach / mechanism.round.epsilon),)
    )


@proved("measure.proof.md")
def _around_target(task: Task, now: Measurements, target: int) -> Measurements:
    """Measure pairs with the target, then pairs among the target and the most promising columns."""
    d, shares = len(task.columns), now.plan.shares
    pairs: list[Columns] = [(min(j, target), max(j, target)) for j in range(d) if j != target]
    now, variance = _components(task, now, pairs, shares.pairs, "pairs with the target")
    evidence = now.contrasts().pair_evidence[target]
    others = sorted((j for j in range(d) if j != target), key=lambda j: (-evidence[j], j))
    near = (target, *others[: now.plan.settings.near_target])
    again = [pair for pair in pairs if set(pair) <= set(near)] + list(combinations(sorted(near[1:]), 2))
    label = "promising columns, with the target and each other"
    now, _ = _components(task, now, again, shares.again[0], label)
    return replace(now, near=near, rounds=(Round(len(pairs), variance),))


def _most_evidence(evidence: Floats, number: int) -> list[Columns]:
    """Return the ``number`` pairs with the most evidence, ascending."""
    return sorted(sorted(all_pairs(len(evidence)), key=lambda pair: (-evidence[pair], pair))[:number])


def retained_by_other_groups(
    counts: Floats, noise: float, rows: float, grouped: Callable[[Floats], tuple[int, ...]]
) -> Floats:
    """Return the share of a correlation that groups of levels drawn anew would retain, draw by draw.

    Another sample with other noise may group levels otherwise. What was released has sampling error and noise, and so
    has what another run releases: the variance counts twice. The root of the mean squared canonical correlation of the
    two groupings is kept, if levels of a group do not differ otherwise; 1 for the same groups. From released counts.

    >>> def two(counts):
    ...     return tuple((counts > 400).astype(int).tolist())
    >>> float(retained_by_other_groups(np.array([200.0, 700.0, 100.0]), 25.0, 1000.0, two).min())
    1.0
    >>> bool(retained_by_other_groups(np.array([401.0, 400.0, 199.0]), 25.0, 1000.0, two).mean() < 0.9)
    True
    """
    part = np.clip(counts / max(rows, 1.0), 1e-3, 1.0)
    spread = np.sqrt(2.0 * (noise + rows * part * (1.0 - part)))
    drawn = counts + spread * released_generator(counts).standard_normal((GROUPINGS, len(counts)))
    now = list(grouped(counts))
    first = np.eye(max(now) + 1)[now]
    weights = part / part.sum()
    kept = []
    for one in drawn:
        groups = list(grouped(one))
        both = (first * weights[:, None]).T @ np.eye(max(groups) + 1)[groups]
        square = (both**2 / np.outer(both.sum(axis=1), both.sum(axis=0))).sum() - 1.0
        kept.append(round(math.sqrt(min(max(square / (first.shape[1] - 1), 0.0), 1.0)), 4))
    return np.array(kept)


def retained_share(column: Column, groups: Sequence[int]) -> float:
    """Return the share of squared dependence that a column retains with its levels merged to these groups.

    >>> from dpcausal.data.columns import Numeric
    >>> retained_share(Numeric(0, 9, [2, 4, 6]), (0, 0, 1, 1))
    0.8
    """
    return retained_by_groups(groups, ordered=has_order(column), apart=missing_place(column))


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
        found = _components_from_dict(data, schema, plan)
    if len(found.tables.sizes) != len(schema):
        raise ValueError("tables over other columns than the schema has")
    return found


def _components_from_dict(data: Mapping[str, Any], schema: Schema, plan: MeasurementPlan) -> Measurements:
    """Return the components that ``tables_to_dict`` wrote, with groups and rounds."""
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
    """Return the measured rounds of choices that a release stores."""
    return tuple(Round(int(pairs), float(by), *map(float, more)) for pairs, by, *more in data["rounds"])
