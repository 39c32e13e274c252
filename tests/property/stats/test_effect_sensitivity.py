"""Sensitivities of what an effect releases: all neighbours of a row, on the shipped functions, against the bounds."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.question import effect_question
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.table import exact_cells, planned_tables
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.budget import Allowance
from dpcausal.privacy.mechanisms.additive import Gaussian
from dpcausal.stats.double_residual import UNITS as SUM_UNITS
from dpcausal.stats.double_residual import Fit, row_parts, sums_sensitivity
from dpcausal.stats.split_cells import UNITS, split_sensitivity

SCHEMA = dc.Schema(
    t=dc.Categorical([0, 1, 2], ordered=True),
    z=dc.Categorical([0, 1]),
    y=dc.Numeric(0.0, 1.0),
    b=dc.Categorical([0, 1]),
    g=dc.Categorical([0, 1, 2], ordered=True),  # counted level by level
    h=dc.Categorical([0, 1, 2, 3], ordered=True),  # rows are split
)
ROWS = [
    {"t": t, "z": z, "y": y, "b": b, "g": g, "h": g + b}
    for t, z, y, b, g in product((0, 1, 2), (0, 1), (0.0, 0.3, 0.5, 1.0), (0, 1), (0, 1, 2))
]


def released(rows: list[dict[str, float]], outcome: str, columns: tuple[str, ...] = ("z",)) -> np.ndarray:
    """What enters the mechanism, in rows, through the shipped counting."""
    data = dc.read({name: [row[name] for row in rows] for name in SCHEMA}, SCHEMA)
    question = effect_question(SCHEMA, EffectRequest("t", outcome, compare=(0, 2)), ["z"])
    cells, others, spread = exact_cells(data, question, columns)
    assert question.by_levels == (outcome in "bg")
    scale = 1 if question.by_levels else UNITS
    parts = [cells.ravel(), others, *([] if question.by_levels else [spread])]
    return np.concatenate(parts) / scale


@pytest.mark.parametrize(
    ("outcome", "columns"), [("b", ("z",)), ("y", ("z",)), ("g", ("z",)), ("h", ("z",)), ("b", ())]
)
def test_no_neighbour_passes_the_sensitivity_of_a_table_and_some_come_near(
    outcome: str, columns: tuple[str, ...]
) -> None:
    """Without columns it is the margin of a table of many strata."""
    base = ROWS[:3]
    before = released(base, outcome, columns)
    single = {i: released([*base, row], outcome, columns) - before for i, row in enumerate(ROWS[::5])}
    worst = {}
    for norm in (1, 2):
        size = {i: float(np.linalg.norm(moved, norm)) for i, moved in single.items()}
        worst["add-remove", norm] = max(size.values())
        worst["replace-one", norm] = max(
            float(np.linalg.norm(one - other, norm)) for one in single.values() for other in single.values()
        )
    for (relation, norm), largest in worst.items():
        bound = split_sensitivity(Neighbours.parse(relation), spread=outcome in "yh", norm=norm)
        assert largest <= bound * (1 + 1e-12), (relation, norm)
        assert largest > 0.7 * bound * 1.2, (relation, norm)  # so that a constant 30% too small is passed


LACKING = dc.Schema(
    t=dc.Categorical([0, 1]),
    z=dc.Categorical([0, 1]),
    y=dc.Numeric(0.0, 1.0, [0.5], other=0.5, missing_level=True),
    b=dc.Categorical([0, 1, "unknown"], other="unknown"),
)


@pytest.mark.parametrize(("outcome", "event"), [("b", "1"), ("y", None), ("y", ">= 0.5")])
def test_rows_with_a_missing_outcome_add_to_one_cell(outcome: str, event: str | None) -> None:
    question = effect_question(LACKING, EffectRequest("t", outcome, event=event), ["z"])
    rows = list(product((0, 1), (0, 1), (0.0, 0.3, 1.0, None), (0, 1, None)))

    def cells(chosen: list[tuple[object, ...]]) -> np.ndarray:
        columns = dict(zip(LACKING, zip(*chosen, strict=True), strict=True))
        parts = exact_cells(dc.read(columns, LACKING), question, ["z"])
        scale = 1 if question.by_levels else UNITS
        return np.concatenate([part.ravel() for part in parts]) / scale

    before = cells(rows[:3])
    moved = [cells([*rows[:3], row]) - before for row in rows]
    bound = split_sensitivity(Neighbours.ADD_REMOVE, spread=not question.by_levels)
    assert max(float(np.abs(one).sum()) for one in moved) <= bound
    bound = split_sensitivity(Neighbours.REPLACE_ONE, spread=not question.by_levels)
    assert max(float(np.abs(one - other).sum()) for one in moved for other in moved) <= bound
    missing = [one for one, row in zip(moved, rows, strict=True) if row[2 if outcome == "y" else 3] is None]
    assert {tuple(one[:8]) for one in missing} == {(0.0,) * 8}  # no arm has them
    assert {float(one[8:10].sum()) for one in missing} == {1.0}


MANY = dc.Schema(t=dc.Categorical([0, 1]), y=dc.Categorical([0, 1]), z=dc.Categorical(list(range(12))))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("relation", list(Neighbours)[:2])
def test_a_table_and_its_margin_together_cost_what_is_allowed(relation: Neighbours, delta: float) -> None:
    """All pairs of rows: losses of both tables add up, by epsilon or by rho, to the allowance and nearly reach it."""
    question = effect_question(MANY, EffectRequest("t", "y"), ["z"])
    total = Filter(1.0, delta)
    tables = planned_tables(MANY, question, [("z",)], Allowance(total.epsilon, total.rho), relation)
    assert [table.columns for table in tables] == [(), ("z",)]
    assert len({type(table.mechanism) for table in tables}) == 1
    rows = list(product((0, 1), (0, 1), range(12)))

    def cells(chosen: list[tuple[int, ...]]) -> list[np.ndarray]:
        data = dc.read(dict(zip(MANY, zip(*chosen, strict=True), strict=True)), MANY)
        return [exact_cells(data, question, table.columns)[0].ravel() for table in tables]

    base = cells(rows[:3])
    moved = [[one - two for one, two in zip(cells([*rows[:3], row]), base, strict=True)] for row in rows]
    gaussian = isinstance(tables[0].mechanism, Gaussian)
    others = moved if relation is Neighbours.REPLACE_ONE else [[np.zeros_like(one) for one in base]]
    losses = []
    for one, other in product(moved, others):
        loss = 0.0
        for table, a, b in zip(tables, one, other, strict=True):
            if isinstance(table.mechanism, Gaussian):
                loss += float(np.sum((a - b) ** 2)) / (2 * table.variance)
            else:
                loss += float(np.abs(a - b).sum()) * table.mechanism.epsilon / table.mechanism.sensitivity
        losses.append(loss)
    allowed = total.rho if gaussian else total.epsilon
    assert 0.95 * allowed < max(losses) <= allowed * (1 + 1e-6)


WIDE = dc.Schema({name: dc.Categorical([0, 1] if name in "ty" else list(range(12))) for name in "tyabcdef"})


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("sets", [1, 3, 6])
def test_a_margin_and_tables_of_several_sets_fit_the_total(sets: int, delta: float, epsilon: float) -> None:
    total = Filter(epsilon, delta)
    question = effect_question(WIDE, EffectRequest("t", "y"), ["a"])
    for whole in (Allowance(epsilon, total.rho), Allowance(math.sqrt(2 * total.rho), total.rho)):
        if whole.epsilon == 0:
            continue
        tables = planned_tables(WIDE, question, list("abcdef")[:sets], whole, Neighbours.REPLACE_ONE)
        assert tables[0].columns == ()
        costs = [
            one.mechanism.rho if isinstance(one.mechanism, Gaussian) else one.mechanism.epsilon**2 / 2
            for one in tables
        ]
        if any(one.needs_delta for one in tables):
            assert sum(costs) <= whole.rho
        else:
            assert sum(math.sqrt(2 * one) for one in costs) <= whole.epsilon


def test_no_neighbour_passes_the_sensitivity_of_the_sums_and_some_come_near() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        room, cut = rng.uniform(1.0, 1.5), rng.uniform(0.05, 3.0)
        fit = Fit(rng.normal(size=3), rng.normal(size=3), float(room), float(cut), 0.0, 0.0, 0.0, 0.0)
        z = rng.uniform(-2, 2, (300, 2))
        a, y = rng.choice([-0.5, 0.5], 300), rng.uniform(-1, 1, 300)
        parts = row_parts(z, a, y, fit).T / SUM_UNITS
        for relation, moves in (
            (Neighbours.ADD_REMOVE, parts),
            (Neighbours.REPLACE_ONE, (parts[:, None] - parts[None]).reshape(-1, 3)),
        ):
            for norm in (1, 2):
                assert np.linalg.norm(moves, norm, axis=1).max() <= sums_sensitivity(relation, norm) * (
                    1 + 1e-12
                )
    far = Fit(np.array([0.0, 9.0, 0.0]), np.zeros(3), 1.5, 0.05, 0.0, 0.0, 0.0, 0.0)
    z = np.array([[1.0, 0.0], [-1.0, 0.0]])
    ends = row_parts(z, np.zeros(2), np.ones(2), far).T / SUM_UNITS
    moved = ends[0] - ends[1]
    assert np.abs(moved).sum() >= 0.75 * sums_sensitivity(Neighbours.REPLACE_ONE)
    assert np.linalg.norm(moved) >= 0.9 * sums_sensitivity(Neighbours.REPLACE_ONE, norm=2)


def test_units_are_whole_numbers_and_rows_add_up() -> None:
    rng = np.random.default_rng(2)
    rows = [
        {
            "t": int(rng.integers(3)),
            "z": int(rng.integers(2)),
            "y": float(rng.random()),
            "b": 0,
            "g": 1,
            "h": 1,
        }
        for _ in range(50)
    ]
    found = released(rows, "y")
    assert math.isclose(found[:-1].sum(), 50.0)  # cells and rows of no arm
    assert np.array_equal(found * UNITS, np.rint(found * UNITS))
