"""Errors of drafts that real files showed, each on rows of the same shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.data import findings as found
from dpcausal.data.draft import DraftedColumn, draft
from dpcausal.data.name_hints import follow_up_columns
from dpcausal.data.relations import PAIRS


def drafted(rows: dict[str, Any], name: str) -> DraftedColumn:
    """The draft of one column."""
    return next(one for one in draft(rows).columns if one.name == name)


def test_other_is_a_middle_value_of_years() -> None:
    rng = np.random.default_rng(0)
    years = np.clip(rng.normal(1984, 6, 1400).round(), 1960, 1994).astype(int)
    column = drafted({"dxyr": years, "hgb": rng.normal(13, 2, 1400)}, "dxyr").column
    assert isinstance(column, dc.Numeric)
    assert abs((column.other or 0) - np.median(years)) <= 1
    assert column.lower < (column.other or 0) < column.upper


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_other_lies_between_the_bounds_on_any_scale(scale: float) -> None:
    rng = np.random.default_rng(1)
    values = scale * (100 + rng.normal(0, 1, 500))
    column = drafted({"x": values}, "x").column
    assert isinstance(column, dc.Numeric)
    assert column.lower < (column.other or 0) < column.upper
    assert abs((column.other or 0) - np.median(values)) <= 0.1 * (column.upper - column.lower)


def test_rows_missing_together_are_counted_of_those_that_were_seen() -> None:
    n = PAIRS.max_rows + 5_000
    rng = np.random.default_rng(2)
    late = np.arange(n) >= n - 8_000
    lacking = late | (rng.random(n) < 0.05)
    rows = {
        "a": np.where(lacking, np.nan, rng.normal(size=n)),
        "b": np.where(lacking, np.nan, rng.normal(size=n)),
        "c": rng.normal(size=n),
    }
    (note,) = [one for one in draft(rows).notes if isinstance(one, found.MissingTogether)]
    assert note.seen == PAIRS.max_rows
    assert note.rows == int(lacking[: PAIRS.max_rows].sum())
    few = {name: values[:5_000] for name, values in rows.items()}
    (note,) = [one for one in draft(few).notes if isinstance(one, found.MissingTogether)]
    assert (note.rows, note.seen) == (int(lacking[:5_000].sum()), None)


def test_a_matched_set_is_not_a_person() -> None:
    rng = np.random.default_rng(3)
    n = 2_000
    rows = {
        "id": rng.permutation(n) + 1,
        "case_id": np.repeat(np.arange(n // 5) + 10, 5),
        "age": rng.integers(20, 80, n),
    }
    (note,) = [one for one in draft(rows).notes if isinstance(one, found.RepeatedIdentifier)]
    assert (note.column, note.unique) == ("case_id", "id")
    del rows["id"]
    (note,) = [one for one in draft(rows).notes if isinstance(one, found.RepeatedIdentifier)]
    assert (note.column, note.unique) == ("case_id", None)


def test_a_body_mass_index_follows_from_weight_and_height() -> None:
    rng = np.random.default_rng(4)
    n = 3_000
    weight, height = rng.normal(85, 20, n).clip(35), rng.normal(169, 10, n).clip(120)
    bmi = weight / (height / 100) ** 2 * np.exp(rng.normal(0, 0.005, n))  # not of the same day
    bmi[:20] = rng.normal(30, 5, 20).clip(15)  # slips of the pen
    weight[rng.random(n) < 0.2] = np.nan
    rows = {"weight": weight.round(1), "height": height.round(), "bmi": bmi.round(2)}
    notes = drafted(rows, "bmi").notes
    assert found.Determined("bmi", ("weight", "height"), found.Relation.PRODUCT) in notes
    rows["bmi"] = rng.permutation(rows["bmi"])
    assert not any(isinstance(note, found.Determined) for note in drafted(rows, "bmi").notes)


BIT, TIME = dc.Categorical([0, 1]), dc.Numeric(0, 9)


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        (
            {"ptime": TIME, "pstat": BIT, "futime": TIME, "death": BIT},
            [("ptime", "pstat"), ("futime", "death")],
        ),
        ({"time": TIME, "status": BIT}, [("time", "status")]),
        ({"futime": TIME, "status": dc.Categorical([0, 1, 2])}, [("futime", "status")]),
        (
            {
                "os_months": TIME,
                "os_event": BIT,
                "pfsdays": TIME,
                "pfs_status": BIT,
                "fu_yrs": TIME,
                "dead": BIT,
            },
            [("os_months", "os_event"), ("pfsdays", "pfs_status"), ("fu_yrs", "dead")],
        ),
        (
            {"died": BIT, "relapse": BIT, "time_to_relapse": TIME, "survival_weeks": TIME},
            [("time_to_relapse", "relapse"), ("survival_weeks", "died")],
        ),
        ({"time": TIME, "sex": BIT}, []),
        ({"survey_day": TIME, "status": BIT}, []),
        ({"lifetime_dose": TIME, "status": BIT}, []),
        ({"status": BIT, "age": TIME}, []),
    ],
)
def test_pairs_of_time_and_status_are_found_by_their_names(
    columns: dict[str, Any], pairs: list[tuple[str, str]]
) -> None:
    assert follow_up_columns(columns) == pairs


def test_every_pair_of_time_and_status_is_noted() -> None:
    rng = np.random.default_rng(5)
    rows = {
        "ptime": rng.integers(1, 400, 500),
        "pstat": rng.integers(0, 2, 500),
        "futime": rng.integers(1, 400, 500),
        "death": rng.integers(0, 2, 500),
    }
    assert found.TimeToEvent("pstat") in drafted(rows, "ptime").notes
    assert found.TimeToEvent("death") in drafted(rows, "futime").notes


def test_no_bound_is_advised_from_rows() -> None:
    rng = np.random.default_rng(6)
    rows = {"creat": np.append(rng.normal(1.2, 0.3, 900).clip(0.4), 22.0)}
    kinds = {type(note).__name__ for note in drafted(rows, "creat").notes}
    assert kinds <= {"UnevenBins", "QuantileBins", "Skewed"}


def test_years_as_levels_are_in_order() -> None:
    rng = np.random.default_rng(7)
    column = drafted({"year": rng.integers(1990, 1998, 400)}, "year").column
    assert isinstance(column, dc.Categorical)
    assert column.ordered
    grade = drafted({"site": rng.integers(1, 8, 400)}, "site").column
    assert isinstance(grade, dc.Categorical)
    assert not grade.ordered


def test_a_graph_says_what_a_time_and_a_status_mean() -> None:
    from dpcausal.discovery.search import FollowUpColumns

    rng = np.random.default_rng(8)
    rows = {
        "futime": rng.uniform(0, 9, 800),
        "death": rng.integers(0, 2, 800),
        "sex": rng.integers(0, 2, 800),
    }
    schema = dc.Schema(futime=TIME, death=BIT, sex=BIT)
    noted = [
        note.pairs
        for columns in (["futime", "death", "sex"], ["death", "sex"])
        for note in dc.discover(dc.read(rows, schema[columns]), epsilon=1.0, anyway=True, confidence=0).notes
        if isinstance(note, FollowUpColumns)
    ]
    assert noted == [(("futime", "death"),)]
