"""One request for every door: checked once, planned from public numbers, and answered by one path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.effects.asked import asked_of_data
from dpcausal.effects.plan import EffectPlan, allowed_by, plan_effect
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import FreshNoise, RestsOn

BIT = dc.Categorical(["no", "yes"])
SCHEMA = dc.Schema(x=BIT, y=BIT, z=dc.Categorical(["a", "b", "c"]), weight=dc.Numeric(0, 100))


def rows(n: int, seed: int) -> dc.Dataset:
    """Rows without any effect."""
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(0, SCHEMA[name].size, n) for name in "xyz"}
    cells = {name: np.array(SCHEMA[name].printed)[codes[name]] for name in "xyz"}
    return dc.read({**cells, "weight": rng.uniform(0, 100, n)}, SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": 0.05},
        {"level": 1.0},
        {"level": "0.95"},
        {"method": "other"},
        {"neighbours": "other"},
        {"neighbours": dc.Neighbours.FIXED_LABELS},
        {"ledger": 3},
    ],
    ids=str,
)
def test_what_no_schema_could_allow_is_refused_when_a_request_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(dc.InputError):
        EffectRequest("x", "y", **wrong)


@pytest.mark.parametrize("method", ["table", "regression"])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_plan_is_the_same_for_all_rows_of_a_schema(method: Any, neighbours: Any) -> None:
    request = EffectRequest("x", "weight", adjust=["z"], method=method, neighbours=neighbours)

    def plan(data: dc.Dataset, epsilon: float) -> EffectPlan:
        asked = asked_of_data(data, request)
        return plan_effect(data, asked, allowed_by(epsilon, 1e-6), 500, may_drop_delta=True)

    first, other = rows(500, 1), dc.read({"x": ["no"], "y": ["no"], "z": ["a"], "weight": [0.0]}, SCHEMA)
    assert plan(first, 1.0) == plan(other, 1.0)
    assert plan(first, 1.0).releases != plan(first, 0.5).releases  # else nothing was compared


def test_fresh_rows_after_a_discovery_are_measured_as_without_one() -> None:
    data = rows(2_000, 2)
    graph = dc.Graph(list(SCHEMA), directed=[("z", "x"), ("z", "y"), ("x", "y")])
    result = dc.discover(data, epsilon=None, method="pc", required=sorted(graph.directed))
    given: dict[str, Any] = {"adjust": ["z"], "epsilon": 1.0, "delta": 1e-6, "level": 0.9}
    with dc.testing.seeded(3):
        alone = dc.effect(data, "x", "y", graph=result.graph, **given)
    with dc.testing.seeded(3):
        after = result.effect("x", "y", data=data, **given)
    assert alone.estimate == after.estimate
    assert alone.interval == after.interval
    assert alone.privacy.events == after.privacy.events
    assert RestsOn("graph-checks") in alone.notes
    assert FreshNoise("fresh-noise") in after.notes
