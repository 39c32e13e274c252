"""``dc.plan``: consistent with itself, and clear about bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.core.forecast import Power
from dpcausal.planning.forecast import best_curve, curve_at
from dpcausal.planning.power import moments_curve

YES_NO = dc.Categorical(["no", "yes"])
SMALL = dc.Schema(dict.fromkeys("abcde", YES_NO))
LARGE = dc.Schema({f"c{i}": dc.Numeric(0, 1) for i in range(20)})


def test_small_domains_are_measured_as_a_whole() -> None:
    found = dc.plan(SMALL, 100_000, 1.0, 1e-6)
    assert found.measurement.joint
    assert [order.order for order in found.orders] == [0, 1, 2, 3]
    assert found.testable_orders == (0, 1, 2, 3)
    for order in found.orders:
        assert order.smallest_exact <= order.smallest < 1.05 * order.smallest_exact


def test_large_domains_by_components() -> None:
    found = dc.plan(LARGE, 10_000, 1.0, 1e-6)
    assert not found.measurement.joint
    assert len(found.orders) == 5
    smallest = [order.smallest for order in found.orders]
    assert smallest == sorted(smallest)
    assert not found.measurement.larger  # noise takes it all for pairs
    assert found.testable_orders == (0, 1, 2)
    assert dc.plan(LARGE, 1_000_000, 1.0, 1e-6, max_order=2).measurement.larger


def test_too_little_for_anything() -> None:
    found = dc.plan(LARGE, 200, 0.01, 1e-6)
    assert found.testable_orders == ()
    assert found.epsilon_enough is None  # 200 rows do not show w = .1 at any price
    text = found.summary(full=True)
    assert text.startswith("No, not even ")
    assert "No epsilon " in " ".join(text.split())
    levels = dc.Schema({f"c{i}": dc.Categorical(list("abcd")) for i in range(20)})
    assert "No epsilon " in dc.plan(levels, 200, 0.01, 1e-6, effect=0.11).summary(1000)


@pytest.mark.thin(2)
@pytest.mark.parametrize("schema", [SMALL, LARGE])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_the_epsilon_that_is_enough_is(schema: dc.Schema, neighbours: str) -> None:
    """With it the effect is found at every order, with a tenth less it is not."""
    asked: dict[str, Any] = {"neighbours": neighbours, "effect": 0.08, "max_order": 2}
    enough = dc.plan(schema, 50_000, 1.0, 1e-6, **asked).epsilon_enough
    assert enough is not None
    then = dc.plan(schema, 50_000, enough, 1e-6, **asked)
    assert max(order.smallest for order in then.orders) <= 0.0801
    assert then.testable_orders == (0, 1, 2)
    less = dc.plan(schema, 50_000, 0.9 * enough, 1e-6, **asked)
    assert max(order.smallest for order in less.orders) > 0.08 or less.testable_orders != (0, 1, 2)


def test_more_of_everything_shows_more() -> None:
    def worst(rows: int = 10_000, epsilon: float = 0.1, level: float = 0.05, **more: Any) -> float:
        found = dc.plan(SMALL, rows, epsilon, level=level, max_order=1, **more)
        return max(order.smallest for order in found.orders)

    usual = worst()
    assert worst(rows=20_000) < usual < worst(epsilon=0.05)
    assert worst(level=0.1) <= usual < worst(level=0.01)
    assert worst(power=0.5) < usual < worst(power=0.95)
    assert worst(neighbours="add-remove") < usual < worst(share=0.1)


def test_columns_with_one_level_do_not_count() -> None:
    constant = dc.Schema({**dict(SMALL), "z": dc.Categorical(["only"])})
    assert dc.plan(constant, 1000, 1.0).orders == dc.plan(SMALL, 1000, 1.0).orders


def test_the_columns_compared_are_named_and_can_be_chosen() -> None:
    schema = dc.Schema(
        {**dict(SMALL), "age": dc.Numeric(0, 100, list(range(10, 100, 10))), "z": dc.Numeric(0, 1)}
    )
    found = dc.plan(schema, 20_000, 1.0, 1e-6, max_order=1)
    told = json.loads(found.to_json())["orders"][0]
    assert f"{' x '.join(sorted(told['places']))}" in str(found)
    chosen = dc.plan(schema, 20_000, 1.0, 1e-6, max_order=1, pair=("a", "age"))
    assert [set(chosen.named(order.places[:2])) for order in chosen.orders] == [{"a", "age"}] * 2
    assert chosen.orders[0].levels == (chosen.measurement.sizes[5], 2)
    assert chosen.orders[0].smallest > found.orders[0].smallest
    fewer = dc.plan(schema, 5_000, 1.0, 1e-6, max_order=1, pair=("a", "age"))
    assert 2 < fewer.orders[0].levels[0] == fewer.measurement.sizes[5] < 10  # ten bins, merged
    for wrong, said in (
        (("a", "a"), "two different"),
        (("a", "agee"), "did you mean"),
        ("ab", "two different"),
    ):
        with pytest.raises(InputError, match=said):
            dc.plan(schema, 20_000, 1.0, pair=wrong)  # type: ignore[arg-type]


def test_coarser_bins_and_a_delta_are_proposed_where_they_show_more() -> None:
    fine = dc.Schema({f"c{i}": dc.Numeric(0, 10, list(range(1, 10))) for i in range(8)})
    coarse = dc.Schema({f"c{i}": dc.Numeric(0, 10) for i in range(8)})
    found = dc.plan(fine, 20_000, 1.0, 1e-6, max_order=1)
    assert found.coarser == dc.plan(coarse, 20_000, 1.0, 1e-6, max_order=1).orders[0].smallest
    assert "With 4 bins " in found.summary(1000)
    assert found.coarser < found.orders[0].smallest
    assert dc.plan(coarse, 20_000, 1.0, 1e-6, max_order=1).coarser is None
    assert "Without a delta" in dc.plan(fine, 20_000, 1.0, max_order=1).summary(1000).splitlines()[1]
    assert "Without a delta" not in str(found)
    assert "Without a delta" not in str(dc.plan(SMALL, 20_000, 1.0))


def test_a_target_is_planned_for_with_less_noise() -> None:
    schema = dc.Schema(
        {**{f"c{i}": YES_NO for i in range(14)}, "age": dc.Numeric(0, 100, list(range(10, 100, 10)))}
    )
    graph, target = (dc.plan(schema, 5000, 1.0, 1e-6, target=name) for name in (None, "age"))
    assert [order.order for order in target.orders] == [0, 1, 2]
    assert all("age" in target.named(order.places[:2]) for order in target.orders)
    assert target.orders[0].smallest < dc.plan(schema, 5000, 1.0, 1e-6, pair=("age", "c1")).orders[0].smallest
    assert target.epsilon_enough is not None
    text = target.summary(1000, full=True)
    assert all("dependence of age" in line for line in text.splitlines()[:2])
    assert "14 pairs with age" in text
    assert json.loads(target.to_json())["target"] == "age"
    assert [chance.way for chance in target.chances] == ["target"]
    assert [chance.way for chance in graph.chances] == ["graph"]
    for wrong, said in (("agee", "did you mean"), (3, "must be text"), ([], "must be text")):
        with pytest.raises(InputError, match=said):
            dc.plan(schema, 2000, 1.0, target=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="pair must name the target"):
        dc.plan(schema, 2000, 1.0, target="age", pair=("c1", "c2"))


def test_chances_are_those_of_the_look() -> None:
    found = dc.plan(LARGE, 2000, 1.0, 1e-6, effect=0.3, max_order=0)
    graph, moments = found.chances
    assert moments.way == "moments"
    curve = moments_curve(found.measurement.public, 0.05)
    assert moments.power == Power.of(curve, 0.3)
    best = Power.of(best_curve(found.measurement, 0.05))
    assert graph.power is not None
    chances = graph.power[:3]
    assert chances < best[:3]  # a refusal is sure that nothing shows; a plan counts what groups keep
    places = found.orders[0].places
    assert found.measurement.retained(*places[:2]) == pytest.approx(0.8)  # four bins, two groups
    curve = curve_at(found.measurement, places, found.aim, at_best=True)
    kept = [curve(w) for w in (0.08, 0.24, 0.4)]
    assert chances == pytest.approx(tuple(kept))
    for chance in found.chances:
        assert chance.power is not None
        assert chance.power.weak < chance.power.medium == chance.power.asked <= chance.power.strong
    line = dc.plan(LARGE, 40_000, 1.0, 1e-6, effect=0.3, max_order=0).summary(1000).splitlines()[0]
    assert line.startswith("Yes: epsilon 1 ")
    assert all(part in line for part in ("correlation of 0.3", "by moments"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": 0}, "rows"),
        ({"rows": 1.5}, "rows"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"level": 5}, "level"),
        ({"power": 0.01}, "power"),
        ({"effect": 0}, "effect"),
        ({"share": 0.7}, "share"),
        ({"max_order": -1}, "max_order"),
        ({"neighbours": "cousins"}, "neighbours"),
        ({"neighbours": "fixed-labels"}, "neighbours"),
        ({"schema": dc.Schema(a=YES_NO)}, "two columns"),
        ({"schema": dc.Schema(a=YES_NO, b=dc.Categorical(["x"]))}, "two columns"),
        ({"schema": LARGE, "max_order": 9}, "max_order"),
    ],
)
def test_bad_input_is_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        dc.plan(**{"schema": SMALL, "rows": 1000, "epsilon": 1.0, **wrong})
    assert "\n" not in str(caught.value)


def test_orders_with_more_cells_than_can_be_planned_are_left_out_unless_asked_for() -> None:
    many = dc.Schema({f"c{i}": dc.Numeric(0, 9, bins=list(range(1, 9))) for i in range(8)})  # 9 levels each
    assert len(dc.plan(many, 5_000, 1.0, 1e-6).orders) == 4  # 9^4 is too many
    with pytest.raises(
        dc.InputError, match=r"with 4 columns held fixed .* 6,561 combinations .* max_order=3"
    ):
        dc.plan(many, 5_000, 1.0, 1e-6, max_order=4)
