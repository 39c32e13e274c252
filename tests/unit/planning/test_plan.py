"""``dc.plan``: consistent with itself, with words and JSON, and clear about bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.present.planning import as_table, number, plan_legend

YES_NO = dc.Categorical(["no", "yes"])
SMALL = dc.Schema(dict.fromkeys("abcde", YES_NO))
LARGE = dc.Schema({f"c{i}": dc.Numeric(0, 1) for i in range(20)})


def test_small_domains_are_measured_as_a_whole() -> None:
    found = dc.plan(SMALL, 100_000, 1.0, 1e-6)
    assert found.design.joint
    assert [order.order for order in found.orders] == [0, 1, 2, 3]
    assert found.testable_orders == (0, 1, 2, 3)
    for order in found.orders:
        assert order.smallest_exact <= order.smallest < 1.05 * order.smallest_exact
        assert (order.smallest_changing is None) == (order.order == 0)
        assert order.noise_share < 0.05


def test_every_number_stands_under_its_head() -> None:
    uneven = dc.Schema({**dict(SMALL), "f": dc.Categorical(["a", "b", "c"])})
    for schema in (SMALL, uneven, LARGE):
        found = dc.plan(schema, 10_000, 0.5, 1e-6, max_order=1)
        table = as_table(found, full=True)
        columns = {
            str(column.header).replace("\n", " ").strip(): list(column.cells) for column in table.columns
        }
        order = found.orders[1]
        assert columns["smallest w"][1] == number(order.smallest)
        assert columns["w without noise"][1] == number(order.smallest_exact)
        assert columns["epsilon for w = 0.1"][1] == number(order.epsilon_enough)
        assert ("w in the largest table" in columns) == (schema is uneven)
        assert ("w if its direction changes" in columns) == found.design.joint
        if found.design.joint:
            assert columns["w if its direction changes"] == ["", number(order.smallest_changing)]


def test_large_domains_by_components() -> None:
    found = dc.plan(LARGE, 10_000, 1.0, 1e-6)
    assert not found.design.joint
    assert len(found.orders) == 5
    smallest = [order.smallest for order in found.orders]
    assert smallest == sorted(smallest)
    assert all(order.smallest_changing is None for order in found.orders)
    assert found.orders[2].interactions is not None


def test_too_little_for_anything() -> None:
    found = dc.plan(LARGE, 200, 0.01, 1e-6)
    assert found.testable_orders == ()
    assert found.epsilon_enough is None  # 200 rows do not show w = .1 at any price
    text = str(found)
    assert "cannot be tested" in text
    assert "No epsilon is enough" in text


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
    assert worst(level=0.1) < usual < worst(level=0.01)
    assert worst(power=0.5) < usual < worst(power=0.95)
    assert worst(neighbours="add-remove") < usual < worst(share=0.1)


def test_columns_with_one_level_do_not_count() -> None:
    constant = dc.Schema({**dict(SMALL), "z": dc.Categorical(["only"])})
    assert dc.plan(constant, 1000, 1.0).orders == dc.plan(SMALL, 1000, 1.0).orders


def test_json_and_words_say_the_same(tmp_path: Path) -> None:
    SMALL.write(tmp_path / "schema.toml")
    found = dc.plan(tmp_path / "schema.toml", 5000, 0.2, neighbours="add-remove", effect=0.3)
    told = json.loads(found.to_json())
    assert told["neighbours"] == "add-remove"
    assert [row["smallest"] for row in told["orders"]] == [order.smallest for order in found.orders]
    text = found.summary()
    assert max(map(len, text.splitlines())) <= 110
    assert "about 5,000 rows" in text
    for order in found.orders:
        row = next(line for line in text.splitlines() if line.split()[:2] == [str(order.order), "yes"])
        assert number(order.smallest) in row.split()
        assert number(order.epsilon_enough) in row.split()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        (
            {"epsilon": 1.0},
            "Epsilon 1 is enough to find a dependence of w = 0.1 in 80% of cases at every order",
        ),
        ({"epsilon": 0.01}, "Epsilon 0.01 is not enough to find a dependence of w = 0.1 in 80% of cases"),
        (
            {"rows": 50},
            "No epsilon is enough to find a dependence of w = 0.1 at order 0: 50 rows show no less than",
        ),
    ],
)
def test_the_first_line_is_the_answer(asked: dict[str, Any], first: str) -> None:
    found = dc.plan(**{"schema": SMALL, "rows": 10_000, "epsilon": 1.0, **asked})
    line = found.summary(1000).splitlines()[0]
    assert line.startswith(first)
    if found.epsilon_enough is not None:
        assert number(found.epsilon_enough) in line


def test_the_first_line_names_the_orders_that_fail() -> None:
    needed = [order.epsilon_enough for order in dc.plan(SMALL, 20_000, 1.0, share=0.05).orders]
    assert all(value is not None for value in needed)
    values = sorted(value for value in needed if value is not None)
    between = (values[0] + values[-1]) / 2
    found = dc.plan(SMALL, 20_000, between, share=0.05)
    line = found.summary(1000).splitlines()[0]
    for order in found.orders:
        if order.epsilon_enough is not None and order.epsilon_enough > between:
            assert f"given {order.order or 'none'}: no, {number(order.epsilon_enough)} would do" in line
    assert ": yes" in line
    nowhere = dc.plan(SMALL, 20_000, values[0] / 2, share=0.05).summary(1000).splitlines()[0]
    assert "at any order below: it takes " in nowhere
    assert all(f"{number(value)} (given " in nowhere for value in values)


def test_every_column_of_the_table_has_a_line_below_it() -> None:
    for schema in (SMALL, dc.Schema({**dict(SMALL), "z": dc.Categorical(["a", "b", "c"])})):
        found = dc.plan(schema, 20_000, 0.1)
        for full in (False, True):
            table = as_table(found, full=full)
            heads = [" ".join(str(column.header).split()) for column in table.columns]
            lines = plan_legend(found, full)
            assert [line.partition(f"{head}:")[1] for head, line in zip(heads, lines, strict=True)] == [
                f"{head}:" for head in heads
            ]
            assert any("up to sqrt(k - 1) for k levels" in line for line in lines)
            assert full or len(heads) <= 6


def test_the_columns_compared_are_named_and_can_be_chosen() -> None:
    schema = dc.Schema(
        {**dict(SMALL), "age": dc.Numeric(0, 100, list(range(10, 100, 10))), "z": dc.Numeric(0, 1)}
    )
    found = dc.plan(schema, 20_000, 1.0, 1e-6, max_order=1)
    assert found.named(found.orders[0].largest) == ["age", "z"]
    told = json.loads(found.to_json())["orders"][0]
    assert f"{' x '.join(sorted(told['places']))}" in str(found)
    chosen = dc.plan(schema, 20_000, 1.0, 1e-6, max_order=1, pair=("a", "age"))
    assert [set(chosen.named(order.places[:2])) for order in chosen.orders] == [{"a", "age"}] * 2
    assert (chosen.orders[0].x, chosen.orders[0].y) == (10, 2)
    assert chosen.orders[0].smallest > found.orders[0].smallest
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
    assert found.coarser == tuple(
        order.smallest for order in dc.plan(coarse, 20_000, 1.0, 1e-6, max_order=1).orders
    )
    assert "With 4 bins for every number that has more" in found.summary(1000)
    assert found.coarser[0] < found.orders[0].smallest
    assert dc.plan(coarse, 20_000, 1.0, 1e-6, max_order=1).coarser is None
    assert (
        "Without a delta the noise" in dc.plan(fine, 20_000, 1.0, max_order=1).summary(1000).splitlines()[1]
    )
    assert "Without a delta" not in str(found)
    assert "Without a delta" not in str(dc.plan(SMALL, 20_000, 1.0))


def test_an_order_without_a_curve_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[str] = []
    real = Axes.plot

    def plot(self: Axes, *arguments: Any, **options: Any) -> Any:
        labels.append(str(options.get("label")))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Axes, "plot", plot)
    monkeypatch.setattr("dpcausal.present.plots.smallest", lambda design, order, aim: 0.5 if order else 2.0)
    found = dc.plan(SMALL, 20_000, 0.1)
    found.draw(tmp_path / "plan.png")
    curves = [label for label in labels if label.startswith("order")]
    assert curves == [
        "order 0: no w up to 1 is found",
        *(f"order {order.order}" for order in found.orders[1:]),
    ]


def test_it_says_where_another_method_would_be_taken() -> None:
    numbers = dc.Schema(a=dc.Numeric(0, 1), b=dc.Numeric(0, 1), c=YES_NO)
    assert "discover then takes the method moments" in dc.plan(numbers, 1000, 1.0).summary()
    assert "moments" not in dc.plan(SMALL, 1000, 1.0).summary()


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


@pytest.mark.parametrize("width", [200, 110, 80, 60, 30])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    schema = dc.Schema({**dict(SMALL), "z": dc.Categorical(["a", "b", "c"])})
    found = dc.plan(schema, 50_000, 0.5)
    text = found.summary(width, full=True)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    table = as_table(found, full=True)
    for column in table.columns:
        for cell in column.cells:
            assert str(cell) in text
    assert (text.count("──\n") == 1) == (width >= 200)  # one table, or several one below the other
