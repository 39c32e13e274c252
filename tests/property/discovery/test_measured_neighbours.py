"""What ``measured`` hands to its mechanisms, on the shipped path: neighbours searched, distance against sensitivity.

Data sets of ``n`` rows that differ in one row are measured, and the vectors caught on their way into ``release``. Rows
to exchange are searched among those that differ in any subset of columns; the worst for all pairs differ in about half.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.measured import measure
from dpcausal.discovery.measured.tables import Components
from dpcausal.discovery.search import Task
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.privacy.mechanisms.additive import Gaussian

SIZES = (2, 2, 3, 2, 4, 2, 3, 2, 2, 3, 2)
ROWS = 200


def caught(
    codes: np.ndarray,  # type: ignore[type-arg]
    relation: dc.Neighbours,
    delta: float,
    monkeypatch: pytest.MonkeyPatch,
    released: list[np.ndarray],  # type: ignore[type-arg]
) -> list[tuple[Any, np.ndarray]]:  # type: ignore[type-arg]
    """(mechanism, exact vector) of every release of the first stage, and of triples measured beside it.

    What is released is kept in ``released`` the first time and given out again the second: what comes later may follow
    from it, and must be the same for both.
    """
    schema = dc.Schema({f"c{i}": dc.Categorical(list(range(r))) for i, r in enumerate(SIZES)})
    columns = {name: np.ascontiguousarray(codes[:, i]) for i, name in enumerate(schema)}
    counts = MemoryCounts(dc.Dataset(schema, len(codes), columns))
    seen: list[tuple[Any, np.ndarray]] = []  # type: ignore[type-arg]
    told = list(released)

    def catch(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        seen.append((mechanism, np.asarray(value, dtype=float)))
        budget.charge(mechanism.event(label))
        if len(told) < len(seen):
            released.append(np.asarray(value, dtype=float))
        return released[len(seen) - 1]

    monkeypatch.setattr(measure, "release", catch)

    def task() -> Task:
        rows = counts.n if relation is dc.Neighbours.REPLACE_ONE else None
        plan = plan_measurement(PublicNumbers.of_schema(schema, rows, 1.0, delta, relation))
        budget = dc.Budget(1.0, delta, neighbours=relation)
        return Task(counts, Knowledge(), 0.05, None, relation, budget, plan=plan)

    found = measure.measure(task())
    bare = replace(found, tables=Components(found.tables.sizes))
    measure.measure_larger(task(), bare, [(0, 1, 2), (2, 4, 6), (3, 5, 7, 8)], 0.2, "interactions")
    return seen


def worst(relation: dc.Neighbours, delta: float, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Largest distance over sensitivity of each release, over searched neighbours."""
    rng = np.random.default_rng(4)
    base = np.column_stack([rng.integers(0, r, ROWS) for r in SIZES]).astype(np.uint8)
    released: list[np.ndarray] = []  # type: ignore[type-arg]
    first = caught(base, relation, delta, monkeypatch, released)
    largest = [0.0] * len(first)
    for trial in range(120):
        if relation is dc.Neighbours.ADD_REMOVE:
            other = np.vstack([base, rng.integers(0, SIZES, len(SIZES)).astype(np.uint8)])
        else:
            other = base.copy()
            chosen = rng.permutation(len(SIZES))[: 1 + trial % len(SIZES)]
            shift = 1 + rng.integers(0, 100, len(chosen)) % (np.array(SIZES)[chosen] - 1)
            other[0, chosen] = (base[0, chosen] + shift) % np.array(SIZES)[chosen]
        second = caught(other, relation, delta, monkeypatch, released)
        for i, ((mechanism, a), (_, b)) in enumerate(zip(first, second, strict=True)):
            norm = 2 if isinstance(mechanism, Gaussian) else 1
            distance = float(np.linalg.norm((a - b).ravel(), norm))
            largest[i] = max(largest[i], distance / mechanism.sensitivity)
    return largest


@pytest.mark.thin(2)
@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("relation", [dc.Neighbours.REPLACE_ONE, dc.Neighbours.ADD_REMOVE])
def test_no_neighbour_moves_more_than_the_sensitivity(
    relation: dc.Neighbours, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "dpcausal.planning.measurement_plan.MAX_JOINT_CELLS", 1
    )  # components, whatever is better
    ratios = worst(relation, delta, monkeypatch)
    # levels merged, columns, pairs, two rounds, triples; and the number of rows
    assert len(ratios) == 6 + (relation is dc.Neighbours.ADD_REMOVE)
    assert max(ratios) <= 1.0
    assert min(ratios) > 0.7  # a constant 30% too small is caught, for every release
