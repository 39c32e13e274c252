"""Arguments of a wrong type: one clear InputError from every public function, before anything is charged."""

from __future__ import annotations

from typing import Any

import pytest

import dpcausal as dc

DATA = dc.networks.load("asia").sample(200, seed=1)

DISCOVER: list[tuple[dict[str, Any], str]] = [
    ({"method": 3}, "method must be text, not 3"),
    ({"method": None}, "method must be text"),
    ({"max_order": "2"}, "max_order must be a whole number, zero or above, not '2'"),
    ({"max_order": 1.5}, "max_order must be a whole number"),
    ({"max_order": True}, "max_order must be a whole number"),
    ({"neighbours": 3}, "replace-one or add-remove, not '3'"),
    ({"level": "x"}, "level must lie strictly between 0 and 1"),
    ({"tiers": 3}, "tiers must be a list of lists of columns, not 3"),
    ({"tiers": [None]}, "each of tiers must be a list of columns, not None"),
    ({"tiers": "smoke"}, "tiers must be a list"),
    ({"confidence": "x"}, "confidence must be a whole number"),
    ({"required": None}, "required must be a list of pairs of columns, not None"),
    ({"required": [3]}, "required must hold pairs of two columns, not 3"),
    ({"forbidden": "ab"}, "forbidden must be a list of pairs of columns, not the string 'ab'"),
    ({"epsilon": "1"}, "epsilon must be a number"),
    ({"delta": None}, "delta must be a number"),
    ({"ledger": 3, "dataset": "cohort"}, "ledger must be an address"),
    ({"ledger": b"postgresql://u:s3cret@h/db", "dataset": "cohort"}, "file.db, not bytes"),
]
TEST: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("smoke", 5), {}, "the name of a column must be text, not 5"),
    ((None, "smoke"), {}, "the name of a column must be text, not None"),
    (("smoke", ["lung", 5]), {}, "the name of a column must be text, not 5"),
    (("smoke", [["lung"]]), {}, "the name of a column must be text, not ['lung']"),
    (("smoke", {"lung": 1}), {}, "the name of a column must be text"),
    (("smoke", []), {}, "y names no column"),
    (("smoke", "lung", 5), {}, "given must be a list of columns, not 5"),
    (("smoke", "lung", None), {}, "given must be a list of columns, not None"),
    (("smoke", "lung", "bronc,xray"), {}, "given must be a list of columns"),
    (("smoke", "lung", [["bronc"]]), {}, "the name of a column must be text"),
    (("smoke", "lung"), {"method": 3}, "method must be text, not 3"),
    (("smoke", "lung"), {"method": ["kendall"]}, "method must be text"),
    (("smoke", "lung"), {"neighbours": "ADD"}, "replace-one or add-remove, not 'ADD'"),
    (("smoke", "lung"), {"level": "x"}, "level must lie"),
    (("smoke", "lung"), {"ledger": 3, "dataset": "d"}, "ledger must be an address"),
]


@pytest.mark.parametrize(("wrong", "said"), DISCOVER)
def test_discover(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(dc.InputError) as caught:
        dc.discover(DATA, **{"epsilon": 1.0, **wrong})
    assert said in str(caught.value)


@pytest.mark.parametrize(("names", "wrong", "said"), TEST)
def test_ci_test(names: tuple[Any, ...], wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(dc.InputError) as caught:
        dc.ci_test(DATA, *names, **{"epsilon": 1.0, **wrong})
    assert said in str(caught.value)


def test_plan_and_schema() -> None:
    with pytest.raises(dc.InputError, match="max_order must be a whole number"):
        dc.plan(DATA.schema, 100, 1.0, max_order="2")  # type: ignore[arg-type]
    with pytest.raises(dc.InputError, match="not from 3"):
        dc.plan(3, 100, 1.0)  # type: ignore[arg-type]


def test_what_is_right_stays_right() -> None:
    given = iter(["bronc"])
    found = dc.ci_test(DATA, "smoke", "lung", given, epsilon=None)  # type: ignore[arg-type]
    assert found.given == ("bronc",)
    alone = dc.ci_test(DATA, "smoke", ["lung"], ["bronc"], epsilon=None)
    assert (alone.y, alone.pvalue, alone.method) == ("lung", found.pvalue, found.method)
    assert dc.discover(DATA, epsilon=1.0, max_order=0, tiers=(("smoke",), {"lung"})).graph.nodes


NAMES: list[Any] = [
    "smok",
    "",
    3,
    None,
    True,
    b"smoke",
    float("nan"),
    ["smoke"],
    ("smoke",),
    {"smoke"},
    [[1]],
]
SCHEMA = DATA.schema
BY_NAME: dict[str, Any] = {
    "target": lambda name: dc.discover(DATA, epsilon=1.0, target=name),
    "tiers": lambda name: dc.discover(DATA, epsilon=1.0, tiers=[["smoke"], [name]]),
    "required": lambda name: dc.discover(DATA, epsilon=1.0, required=[("lung", name)]),
    "forbidden": lambda name: dc.discover(DATA, epsilon=1.0, forbidden=[("lung", name)]),
    "y": lambda name: dc.ci_test(DATA, "lung", name if name != ["smoke"] else [name], epsilon=1.0),
    "given": lambda name: dc.ci_test(DATA, "lung", "bronc", [name], epsilon=1.0),
    "treatment": lambda name: dc.effect(DATA, name, "lung", epsilon=1.0),
    "adjust": lambda name: dc.effect(DATA, "bronc", "lung", adjust=[name], epsilon=1.0),
    "pair": lambda name: dc.plan(SCHEMA, 1000, 1.0, pair=("lung", name)),
    "plan's target": lambda name: dc.plan(SCHEMA, 1000, 1.0, target=[] if name is None else name),
    "select": lambda name: SCHEMA.select([name]),
    "draft": lambda name: dc.Schema.draft({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, columns=[name]),
    "sizes": lambda name: DATA.sizes([name]),
}


@pytest.mark.parametrize("place", BY_NAME)
def test_no_name_of_a_column_crashes(place: str) -> None:
    for name in NAMES:
        if (place, name) in (("target", None), ("y", ("smoke",))):
            continue  # no target; one column in a tuple
        with pytest.raises(dc.InputError) as caught:
            BY_NAME[place](name)
        assert "\n" not in str(caught.value)
        assert name != "smok" or '"smoke"' in str(caught.value)  # did you mean


@pytest.mark.parametrize("wrong", [3, None, "smoke", b"smoke", 0.5])
def test_columns_are_a_list(wrong: Any) -> None:
    with pytest.raises(dc.InputError, match="must be a list of columns"):
        SCHEMA.select(wrong)
    with pytest.raises(dc.InputError, match="must be a list of columns"):
        dc.Schema.draft({"smoke": ["no", "yes"]}, columns=wrong if wrong is not None else 7)
