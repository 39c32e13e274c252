"""Columns that others determine are found in drafts and checks, and unrelated ones are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.data.check import check
from dpcausal.data.draft import draft
from dpcausal.data.findings import Determined, Relation
from dpcausal.data.relations import determined_columns
from dpcausal.present.schema import draft_toml

ROWS = 600


def numbers(seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """Return three numbers, two of them correlated, and some cells missing."""
    rng = np.random.default_rng(seed)
    before = np.round(rng.normal(70, 12, ROWS), 1)
    after = np.round(before + rng.normal(2, 5, ROWS), 1)
    height = np.round(rng.normal(1.7, 0.1, ROWS), 2)
    before[rng.random(ROWS) < 0.05] = np.nan
    return {"before": before, "after": after, "height": height}


def test_differences_units_ratios_and_cuts_of_numbers_are_found() -> None:
    given = numbers(1)
    after, height = given["after"], given["height"]
    total = given["before"] + after
    made = {
        "gain": after - given["before"],
        "inches": np.round(height / 0.0254, 1),
        "bmi": np.round(after / height**2, 1),
    }
    levels = {
        "heavy": (after > 80).astype(np.int64),
        "third": np.digitize(np.nan_to_num(total), [130, 150]),
        "gained": (made["gain"] > 2).astype(np.int64),
    }
    found = determined_columns(given | made, levels)
    assert found == [
        Determined("gain", ("before", "after"), Relation.LINEAR),
        Determined("inches", ("height",), Relation.LINEAR),
        Determined("bmi", ("after", "height"), Relation.PRODUCT),
        Determined("heavy", ("after",), Relation.CUTS),
        Determined("third", ("before", "after"), Relation.CUTS_OF_SUM),
        Determined("gained", ("gain",), Relation.CUTS),
    ]
    without = determined_columns(given, {"gained": levels["gained"]})
    assert without == [Determined("gained", ("before", "after"), Relation.CUTS_OF_DIFFERENCE)]


@pytest.mark.parametrize("order", [("kg", "cm", "bmi"), ("bmi", "cm", "kg"), ("bmi", "kg", "cm")])
def test_rounding_to_whole_numbers_hides_no_body_mass_index(order: tuple[str, ...]) -> None:
    rng = np.random.default_rng(4)
    cm = np.round(rng.normal(170, 10, ROWS))
    kg = np.round(rng.normal(25, 4, ROWS) * (cm / 100) ** 2)
    given = {"kg": kg, "cm": cm, "bmi": np.round(kg / (cm / 100) ** 2)}
    *others, last = order
    found = determined_columns({name: given[name] for name in order}, {})
    assert found == [Determined(last, tuple(others), Relation.PRODUCT)]


def test_whole_numbers_that_are_alike_are_not_taken_for_one() -> None:
    """A pressure measured twice, in whole numbers, and a change that others explain but for a tenth of it."""
    rng = np.random.default_rng(6)
    first = np.round(rng.normal(130, 20, ROWS))
    again = np.round(first + rng.normal(0, 2, ROWS))
    change = np.round(first - again + rng.normal(0, 0.7, ROWS))
    assert determined_columns({"first": first, "again": again, "change": change}, {}) == []


def test_levels_that_follow_from_one_or_two_others_are_found() -> None:
    rng = np.random.default_rng(2)
    state, drinks, smokes = rng.integers(0, 9, ROWS), rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS)
    levels = {
        "state": state,
        "region": state // 3,
        "drinks": drinks,
        "smokes": smokes,
        "either": ((drinks > 0) | (smokes > 1)).astype(np.int64),
        "abstains": 1 - drinks,
    }
    assert determined_columns({}, levels) == [
        Determined("region", ("state",), Relation.LEVELS),
        Determined("abstains", ("drinks",), Relation.LEVELS),
        Determined("either", ("drinks", "smokes"), Relation.LEVELS),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_strong_dependence_is_not_determinism(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = numbers(seed)
    chance = rng.random(ROWS)
    levels = {
        "sick": (rng.random(ROWS) < 1 / (1 + np.exp(75 - given["after"]))).astype(np.int64),
        "rare": (chance < 0.01).astype(np.int64),
        "often": (chance < 0.5).astype(np.int64) ^ (rng.random(ROWS) < 0.05),
        "half": (chance < 0.5).astype(np.int64),
        "constant": np.zeros(ROWS, np.int64),
        "wide": rng.integers(0, 300, ROWS),
    }
    given |= {"near": given["after"] + rng.normal(0, 0.5, ROWS), "same": np.full(ROWS, 3.0)}
    assert determined_columns(given, levels) == []
    assert determined_columns({name: values[:30] for name, values in given.items()}, {}) == []


def test_drafts_and_checks_say_so() -> None:
    given = numbers(3)
    rows = given | {
        "gain": given["after"] - given["before"],
        "group": np.digitize(given["after"], [60, 70, 80]).astype(str),
    }
    text = draft_toml(draft(rows))
    assert "# follows from before and after" in text
    assert "# follows from cut points on after" in text
    schema = dc.Schema.from_toml_string(text)
    found = check(rows, schema)
    assert Determined("group", ("after",), Relation.CUTS) in found.notes_of(Determined)
    assert found.to_dict()["determined"][0] == {
        "column": "gain",
        "by": ("before", "after"),
        "relation": "linear",
    }
    assert not check(rows, schema.select(["before", "height", "group"])).notes_of(Determined)


def test_a_wide_file_keeps_the_remarks_of_a_small_one() -> None:
    """Hardly any row has a value of every column: each relation counts in the rows that have its own columns."""
    rng = np.random.default_rng(4)
    given = {f"n{i}": np.round(rng.normal(50, 10, ROWS), 1) for i in range(24)}
    levels = {f"over{i}": (given[f"n{i}"] > 50).astype(np.int64) for i in range(20)}
    levels |= {f"coin{i}": rng.integers(0, 2, ROWS) for i in range(20)}
    for values in given.values():
        values[rng.random(ROWS) < 0.2] = np.nan
    for i in range(20):  # a level says that the number is missing
        levels[f"over{i}"][np.isnan(given[f"n{i}"])] = 2
    assert (~np.isnan(np.stack([*given.values()]))).all(axis=0).sum() < 10
    found = determined_columns(given, levels)
    assert found == [Determined(f"over{i}", (f"n{i}",), Relation.CUTS) for i in range(20)]
    few = {name: given[name] for name in ("n0", "n1")}
    assert determined_columns(few, {"over0": levels["over0"]}) == found[:1]
