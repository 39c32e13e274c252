"""One row of each person on an engine: DuckDB through Ibis here, PostgreSQL and Spark in ``tests/engines``."""

from __future__ import annotations

from typing import Any

import ibis
import pytest
from scipy import stats

import dpcausal as dc
from dpcausal.counts.protocol import entries_of, tables_of_entries

pytestmark = pytest.mark.filterwarnings("ignore::dpcausal.ColumnsIgnored")
SCHEMA = dc.Schema(smoke=dc.Categorical(["no", "yes"]), age=dc.Numeric(0, 110, bins=[15, 25, 35, 45, 55]))
ROWS = """
    SELECT * FROM (VALUES
        ('p1', 'no', 10.0, 1), (' P1', 'yes', 20.0, 3), ('p 1', 'no', 30.0, 2),
        ('2', 'yes', 40.0, NULL), ('02', 'no', 50.0, 10), ('2.0', 'no', 45.0, 4), ('3', 'yes', 60.0, 9),
        ('', 'yes', 70.0, 1), ('NA', 'no', 80.0, 2), (NULL, 'yes', 90.0, 3)
    ) AS t(pid, smoke, age, visit)
"""


def table_of(sql: str) -> Any:
    backend = ibis.duckdb.connect()
    backend.raw_sql(f"CREATE TABLE visits AS {sql}")
    return backend.table("visits")


@pytest.fixture(scope="module")
def visits() -> Any:
    return table_of(ROWS)


@pytest.mark.parametrize(("order_by", "ages"), [("age", [0, 0, 1, 0, 1, 1]), ("visit", [0, 1, 0, 0, 1, 1])])
def test_the_row_that_the_order_says_is_taken(visits: Any, order_by: str, ages: list[int]) -> None:
    """A missing value comes last."""
    counts = dc.connect(visits, SCHEMA, unit="pid", order_by=order_by)
    assert counts.n == 3
    assert counts.table(["age"]).tolist() == ages


def test_texts_are_ordered_as_in_memory() -> None:
    """Missing ones last, then numbers by value, then other texts by their bytes: NA of R, and 10 after 9."""
    rows = {
        "pid": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4],
        "visit": ["9", "10", "NA", "x", "y", "7", "", " n/a ", "-1", "B", "a"],
        "age": [10.0, 20.0, 30.0, 20.0, 30.0, 40.0, 30.0, 40.0, 50.0, 10.0, 60.0],
        "smoke": ["no"] * 11,
    }
    here = dc.read(rows, SCHEMA, unit="pid", order_by="visit")
    assert sorted(here.values["age"].tolist()) == [20, 30, 50, 60]
    values = ", ".join(map(str, zip(*rows.values(), strict=True)))
    table = table_of(f"SELECT * FROM (VALUES {values}) AS t({', '.join(rows)})")
    counts = dc.connect(table, SCHEMA, unit="pid", order_by="visit")
    assert counts.table(["age"]).tolist() == [0, 1, 1, 0, 1, 1]


def test_all_queries_see_the_same_rows(visits: Any) -> None:
    """With no memory for rows every table is a query of its own; margins must agree, else the run is refused."""
    for _ in range(5):
        counts = dc.connect(visits, SCHEMA, unit="pid", memory_limit=1)
        both, age, smoke = counts.table(["smoke", "age"]), counts.table(["age"]), counts.table(["smoke"])
        assert both.sum() == counts.n == 3
        assert both.sum(0).tolist() == age.tolist()
        assert both.sum(1).tolist() == smoke.tolist()


def test_a_connection_that_is_made_anew_sees_the_same_rows(visits: Any) -> None:
    """The table is opened again after a lost connection: under another key other rows of a person would be used."""
    counts = dc.connect(visits, SCHEMA, unit="pid", memory_limit=1)
    first = counts.run(lambda table: table.order_by("age"))
    for _ in range(5):
        counts._table = None
        again = counts.run(lambda table: table.order_by("age"))
        assert again["age"].tolist() == first["age"].tolist()


def test_chance_gives_every_row_the_same_share_also_where_rows_are_alike() -> None:
    """Three rows of one content and one of another: drawn in a quarter of persons; failure probability 1e-6."""
    table = table_of(
        "SELECT range // 4 AS pid, if(range % 4 = 0, 'yes', 'no') AS smoke, 10.0 AS age FROM range(8000)"
    )
    with dc.testing.seeded(3):
        drawn = dc.connect(table, SCHEMA, unit="pid").table(["smoke"])
    assert drawn.sum() == 2000
    assert stats.binomtest(int(drawn[1]), 2000, 0.25).pvalue > 1e-6


def test_every_person_has_as_many_entries(visits: Any) -> None:
    counts = dc.connect(visits, SCHEMA, unit="pid", rows_per_unit=3)
    (table,) = tables_of_entries(counts, [["age"]])
    assert (counts.n, entries_of(counts)) == (3, 3)
    assert table.tolist() == [1, 1, 1, 1, 2, 3]  # the one row of 3 fills all its entries


@pytest.mark.parametrize(
    "bad", [{"unit": "nobody"}, {"unit": "pid", "order_by": "first"}, {"unit": "pid", "order_by": "when"}]
)
def test_a_unit_that_can_not_be_is_refused(visits: Any, bad: dict[str, Any]) -> None:
    with pytest.raises(dc.InputError):
        dc.connect(visits, SCHEMA, **bad)


def test_a_column_named_like_an_id_is_spoken_of(visits: Any) -> None:
    with pytest.warns(dc.UnitNotDeclared, match="pid"):
        dc.connect(visits, SCHEMA)
