"""A plan in words, as a table and as a picture: the same numbers, none cut, every column explained."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

import dpcausal as dc
from dpcausal.present.planning import columns, plan_legend
from dpcausal.present.text import digits

Golden = Callable[[str, str], None]

YES_NO = dc.Categorical(["no", "yes"])
EVEN = "For equally common levels, as in the table: "
SMALL = dc.Schema(dict.fromkeys("abcde", YES_NO))
LARGE = dc.Schema({f"c{i}": dc.Numeric(0, 1) for i in range(20)})


MERGED = dc.Schema(
    {
        **{f"c{i}": YES_NO for i in range(7)},
        "site": dc.Categorical([f"s{i}" for i in range(9)]),
        "arm": dc.Categorical(list("abcdef")),
    }
)
UNEVEN = dc.Schema(
    {
        **dict(SMALL),
        **{f"n{i}": dc.Numeric(0, 1, [0.2, 0.4, 0.6, 0.8], missing_level=True) for i in range(4)},
        "one": dc.Categorical(["x"]),
    }
)
PLANS: dict[str, dict[str, Any]] = {
    "enough": {"rows": 10_000, "epsilon": 1.0},
    "in part": {"rows": 10_000, "epsilon": 0.02},
    "not even strong ones": {"rows": 10_000, "epsilon": 0.002},
    "few rows": {"rows": 50, "epsilon": 5.0},
    "a dependence of one's own": {"rows": 10_000, "epsilon": 0.01, "effect": 0.2},
    "no epsilon is enough": {"rows": 50, "epsilon": 1.0, "effect": 0.2},
    "rare levels": {"rows": 500, "epsilon": 1.0, "share": 0.05},
    "merged levels": {"schema": MERGED, "rows": 5000, "epsilon": 0.1, "delta": 1e-6},
    "uneven columns": {"schema": UNEVEN, "rows": 4483, "epsilon": 1.0, "delta": 1e-6},
}


def test_golden_plans(golden: Golden) -> None:
    """Whole plans as they are printed; what is in them is asserted below."""
    texts = {name: dc.plan(**{"schema": SMALL, **asked}).summary(1000) for name, asked in PLANS.items()}
    golden("plans", "".join(f"=== {name}\n{text}\n" for name, text in texts.items()))


def test_every_number_stands_under_its_head() -> None:
    uneven = dc.Schema({**dict(SMALL), "f": dc.Categorical(["a", "b", "c"])})
    for schema in (SMALL, uneven, LARGE):
        found = dc.plan(schema, 10_000, 0.5, 1e-6, max_order=1)
        shown = {" ".join(column.head.split()): column.cells for column in columns(found, full=True)}
        order = found.orders[1]
        assert shown["smallest w that is found"][1] == digits(order.smallest)
        assert shown["w without noise"][1] == digits(order.smallest_exact)
        assert shown["epsilon for w = 0.1"][1] == digits(order.epsilon_enough)


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
        row = next(line for line in text.splitlines() if line.split()[:2] == [str(order.order), "absent"])
        assert digits(order.smallest) in row.split()
        assert digits(order.epsilon_enough) in row.split()


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({"epsilon": 1.0}, "Yes: epsilon 1 "),
        ({"epsilon": 0.02}, "In part for strong and medium dependence, no for weak: epsilon 0.02 "),
        ({"epsilon": 0.002}, "No, not even "),
        ({"rows": 50, "epsilon": 5.0}, "Yes for strong dependence, "),
        ({"epsilon": 0.01, "effect": 0.2}, "No: epsilon 0.01 "),
        ({"rows": 50, "effect": 0.2}, "No: epsilon 1 does not find w = 0.2 "),
    ],
)
def test_the_first_line_is_the_answer(asked: dict[str, Any], first: str) -> None:
    found = dc.plan(**{"schema": SMALL, "rows": 10_000, "epsilon": 1.0, **asked})
    lines = found.summary(1000).splitlines()
    line = lines[1].removeprefix(EVEN) if lines[1].startswith(EVEN) else lines[0]
    assert line.startswith(first)
    if found.epsilon_enough is not None:
        assert digits(found.epsilon_enough) in line


def test_the_first_line_names_the_orders_that_fail() -> None:
    needed = [order.epsilon_enough for order in dc.plan(SMALL, 20_000, 1.0, share=0.05).orders]
    assert all(value is not None for value in needed)
    values = sorted(value for value in needed if value is not None)
    between = (values[0] + values[-1]) / 2
    found = dc.plan(SMALL, 20_000, between, share=0.05)
    line = found.summary(1000).splitlines()[0]
    for order in found.orders:
        needed = order.epsilon_enough
        assert needed is not None
        assert f"{digits(needed)} (given " in line
    assert line.startswith("In part: ")
    assert f" {between:g} " in line
    orders = re.findall(r"\(given ([^)]+)\)", line)
    assert len(orders) == len(dict.fromkeys(orders)) <= len(found.orders)
    nowhere = dc.plan(SMALL, 20_000, values[0] / 2, share=0.05).summary(1000).splitlines()[0]
    assert "no for weak: " in nowhere
    assert all(f"{digits(value)} (given " in nowhere for value in values)
    asked = dc.plan(SMALL, 20_000, between, share=0.05, effect=0.09).summary(1000).splitlines()[0]
    assert asked.startswith(("In part: ", "No: "))  # another than a weak one: yes or no for that one


def test_what_is_found_and_what_it_takes_do_not_contradict_each_other() -> None:
    """An order of which w = .1 is said to be found is not one of which that takes a larger epsilon."""
    for epsilon in (0.02, 0.05, 0.1, 0.315, 0.5, 1.0, 3.0):
        found = dc.plan(SMALL, 20_000, epsilon, share=0.05)
        line = found.summary(1000).splitlines()[0]
        if not line.startswith("Yes for strong, medium and weak"):
            continue
        up_to = re.search(r"given (?:up to )?(\w+)", line)
        assert up_to is not None
        last = 0 if up_to[1] == "none" else int(up_to[1])
        for order in found.orders[: last + 1]:
            assert order.epsilon_enough is not None
            assert order.epsilon_enough <= 1.1 * epsilon  # two digits, rounded up


def test_merged_levels_are_announced() -> None:
    schema = MERGED
    found = dc.plan(schema, 5000, 0.1, 1e-6)
    assert not found.measurement.tree  # which would merge fewer
    for full in (False, True):
        text = found.summary(1000, full=full)
        assert "of site and arm" in text
        assert "ordered = true" in text
    order = dc.Schema({**dict(schema), "site": dc.Numeric(0, 9, list(range(1, 9))), "arm": YES_NO})
    ordered = dc.plan(order, 5000, 0.1, 1e-6).summary(1000)
    assert "Levels of site will" in ordered
    assert "ordered = true" not in ordered  # it has an order
    missing = dc.Schema({**dict(order), "site": dc.Numeric(0, 9, list(range(1, 9)), missing_level=True)})
    assert "missing values" in dc.plan(missing, 5000, 0.1, 1e-6).summary(1000)
    assert "will be merged" not in dc.plan(SMALL, 5000, 0.1, 1e-6).summary(1000)
    own = dc.Schema({**{f"c{i}": YES_NO for i in range(10)}, "seen": dc.Categorical(["a", "b", "unknown"])})
    assert set(dc.plan(own, 5000, 0.1, 1e-6).measurement.levels) == {2}
    assert not dc.plan(own, 5000, 0.1, 1e-6).measurement.merged  # a missing level stays apart
    assert "will be merged" not in dc.plan(own, 5000, 0.1, 1e-6).summary(1000)


def test_columns_with_one_level_are_named_and_not_counted() -> None:
    found = dc.plan(dc.Schema({**dict(SMALL), "one": dc.Categorical(["x"])}), 5000, 1.0)
    assert re.search(r"5 columns \([^)]*: one\)", found.summary(1000))


def test_every_column_of_the_table_has_a_line_below_it() -> None:
    for schema in (SMALL, dc.Schema({**dict(SMALL), "z": dc.Categorical(["a", "b", "c"])})):
        found = dc.plan(schema, 20_000, 0.1)
        for full in (False, True):
            heads = [" ".join(column.head.split()) for column in columns(found, full=full)]
            lines = plan_legend(found, full=full)
            assert [line.partition(f"{head}:")[1] for head, line in zip(heads, lines, strict=True)] == [
                f"{head}:" for head in heads
            ]
            assert any("sqrt(k - 1)" in line for line in lines)
            assert full or len(heads) <= 6


def test_an_order_without_a_curve_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[str] = []
    real = Axes.plot

    def plot(self: Axes, *arguments: Any, **options: Any) -> Any:
        labels.append(str(options.get("label")))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Axes, "plot", plot)
    monkeypatch.setattr(
        "dpcausal.present.plots.least_found", lambda plan, places, aim: 0.5 if len(places) > 2 else 2.0
    )
    found = dc.plan(SMALL, 20_000, 0.1)
    found.draw(tmp_path / "plan.png")
    curves = [label for label in labels if label.startswith("order")]
    assert curves[0].startswith("order 0: ")
    assert curves[1:] == [f"order {order.order}" for order in found.orders[1:]]


def test_it_says_where_another_method_would_be_taken() -> None:
    numbers = dc.Schema(a=dc.Numeric(0, 1), b=dc.Numeric(0, 1), c=YES_NO)
    assert "method moments" in dc.plan(numbers, 20_000, 1.0).summary(full=True)
    assert "method moments" not in dc.plan(numbers, 1000, 1.0).summary(full=True)
    assert "moments" not in dc.plan(SMALL, 1000, 1.0).summary()


@pytest.mark.parametrize("width", [200, 110, 80, 60, 30])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    schema = dc.Schema({**dict(SMALL), "z": dc.Categorical(["a", "b", "c"])})
    found = dc.plan(schema, 50_000, 0.5)
    text = found.summary(width, full=True)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    for column in columns(found, full=True):
        for cell in column.cells:
            assert cell in text
    assert (text.count("──\n") == 1) == (width >= 80)  # one table, or several one below the other


def test_what_will_be_measured_is_said_in_one_line(golden: Golden) -> None:
    many = dc.Schema({f"c{i}": dc.Categorical(["a", "b", "c"]) for i in range(20)})
    fewer = dc.Schema({f"c{i}": dc.Categorical(["a", "b", "c"], ordered=True) for i in range(18)})
    few = many.select(["c0", "c1", "c2"])
    asked: dict[str, Callable[[], dc.Plan]] = {
        "rounds": lambda: dc.plan(fewer, 1_500, 1.0, 1e-6, max_order=2),
        "tree": lambda: dc.plan(many, 1_500, 1.0, 1e-6, max_order=2),
        "larger tables": lambda: dc.plan(many, 1_000_000, 1.0, 1e-6, max_order=2),
        "joint": lambda: dc.plan(few, 10_000, 1.0),
    }
    designs = {name: make().to_dict()["design_words"] for name, make in asked.items()}
    golden("designs", "".join(f"=== {name}\n{words}\n" for name, words in designs.items()))
    noise = {name: "Laplace" if name == "joint" else "Gaussian" for name in designs}
    assert all(noise[name] in words for name, words in designs.items())
    numbers = {"rounds": "45", "tree": "19", "larger tables": "240", "joint": "27"}
    assert all(numbers[name] in words for name, words in designs.items())


def test_the_first_and_the_last_words_do_not_contradict_each_other() -> None:
    """Some orders are within reach and some are not, and columns differ: every line says what it is about."""
    found = dc.plan(UNEVEN, 4483, 1.0, 1e-6)
    text = found.summary(1000)
    first = text.splitlines()[0]
    assert "not always" not in text
    assert first.startswith("Yes ")
    x, y = sorted(found.named(found.orders[0].places[:2]))
    assert f"Between {x} and {y}, " in text
    assert ('"stay open": ' in text) == (len(found.testable_orders) < len(found.orders))
    assert "5%" in dc.plan(SMALL, 500, 1.0, share=0.05).summary(1000)


def test_fewer_columns_are_proposed_with_their_number_and_bins_only_where_they_help() -> None:
    many = dc.Schema({f"c{i}": dc.Categorical(["a", "b", "c", "d"]) for i in range(40)})
    found = dc.plan(many, 1000, 1.0, 1e-6, max_order=0)
    assert found.fewer is not None
    assert found.chances[0].medium < 0.8
    assert f"among {found.fewer} " in found.summary(1000)
    assert not found.orders[0].testable
    some = dc.plan(many.select(list(many)[: found.fewer]), 1000, 1.0, 1e-6, max_order=0)
    assert some.chances[0].medium >= 0.8
    assert some.orders[0].testable
    assert some.fewer is None
    assert "Fewer columns" not in some.summary(1000)
    own = dc.Schema({f"c{i}": dc.Numeric(0, 10, missing_level=True) for i in range(6)})  # four bins, and one
    assert dc.plan(own, 2000, 1.0, 1e-6, max_order=0).coarser is None


def test_the_first_lines_say_that_pairs_stay_open_and_what_a_rare_outcome_changes() -> None:
    """A plan that says yes and a run that leaves nearly every pair open would not be of one mind."""
    found = dc.plan(SMALL, 10_000, 0.02)
    assert not found.orders[0].testable
    rare, line, *_ = found.summary(1000).splitlines()
    assert line.startswith(EVEN)
    assert "stay open" in line
    assert found.with_rare_levels is not None
    assert not found.with_rare_levels.testable
    least = found.with_rare_levels.smallest
    assert rare.startswith("In part for strong dependence, no for medium and weak: ")
    assert all(part in rare for part in ("(share=0.2)", f"w = {digits(least)} or more", "stay open"))
    asked = dc.plan(SMALL, 10_000, 0.02, share=0.2)
    assert digits(asked.orders[0].smallest) == digits(least)
    assert "equally common" not in asked.summary(1000)
    chances = asked.chances[0]
    assert found.rare_power[:3] == (chances.weak, chances.medium, chances.strong)
    told = found.to_dict()["with_rare_levels"]
    assert told == {"share": 0.2, "smallest": least, "testable": False}
    assert asked.to_dict()["with_rare_levels"] is None
    enough = dc.plan(SMALL, 10_000, 1.0)
    assert enough.orders[0].testable
    assert "will stay open" not in enough.summary(1000).splitlines()[0]


SURVEY = {2: 4, 4: 2, 5: 2}  # columns by number of levels, as in a survey


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({}, "In part for strong dependence, no for medium and weak: where "),
        ({"epsilon": 2.0}, "In part for strong and medium dependence, no for weak: where "),
        ({"effect": 0.3}, "No: where "),
        ({"epsilon": 0.1}, "No, not even "),  # no for any levels
        ({"share": 0.2}, "In part for strong dependence, no for medium and weak: epsilon 0.5 "),
    ],
)
def test_the_first_line_answers_for_levels_as_uneven_as_they_mostly_are(
    asked: dict[str, Any], first: str
) -> None:
    """Equally common levels promise what a run does not keep: 18 of 28 pairs stayed open where the plan said yes."""
    sizes = [size for size, count in SURVEY.items() for _ in range(count)]
    schema = dc.Schema({f"c{i}": dc.Categorical([str(k) for k in range(n)]) for i, n in enumerate(sizes)})
    found = dc.plan(schema, **{"rows": 1629, "epsilon": 0.5, "delta": 1e-6, "max_order": 1, **asked})
    lines = found.summary(1000).splitlines()
    assert lines[0].startswith(first)
    leads = "as is common" in lines[0]
    assert lines[1].startswith(EVEN) == leads
    assert any("Where the rarest level " in line for line in lines) == leads
    if leads:
        assert found.with_rare_levels is not None
        least = found.with_rare_levels.smallest
        assert f"w = {digits(least)} or more" in lines[0]
        assert f"w = {digits(found.orders[0].smallest)} or more" in lines[1]


def test_what_is_shown_as_a_medium_dependence_is_called_one() -> None:
    """No line says no for medium ones and that w = 0.3 is found."""
    for rows in range(60, 140, 2):
        line = dc.plan(SMALL, rows, 5.0, max_order=0).summary(1000).splitlines()[0]
        lost = "no for medium" in line or "not medium" in line
        assert not (lost and "w = 0.3 or more" in line), line
        weak = "no for weak" in line or "not weak" in line
        assert not (weak and "w = 0.1 or more" in line), line
