"""Persons as the unit on every engine: the rows that files and frames give, whatever the type of the id."""

from __future__ import annotations

import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.counts.protocol import entries_of, tables_of_entries
from engine_tables import Loader

pytestmark = pytest.mark.filterwarnings("ignore::dpcausal.ColumnsIgnored")
SCHEMA = dc.Schema(smoke=dc.Categorical(["no", "yes"]), age=dc.Numeric(0, 110, bins=[15, 25, 35, 45, 55]))
AGES = pa.array([10.0, 20.0, 30.0, 40.0, 50.0, 45.0, 60.0, 70.0], pa.float64())
SMOKE = ["no", "yes", "no", "yes", "no", "no", "yes", "yes"]
VISITS = pa.array([1, 3, 2, None, 10, 4, 9, 1], pa.int32())
IDS = {
    "text": pa.array(["p1", " P1", "p\u00a01\u2009", "2", "02", "2.0", "3", ""]),
    "integer": pa.array([1, 1, 1, 2, 2, 2, 3, None], pa.int64()),
    "float": pa.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, None], pa.float64()),
}


ORDERS = {"integer": VISITS, "text": pa.array(["1", "3", "2", "NA", "10", "4", "9", "1"])}


@pytest.mark.parametrize(("kind", "order"), [*((kind, "integer") for kind in IDS), ("text", "text")])
@pytest.mark.parametrize("limit", [None, 0])
def test_an_engine_takes_the_rows_that_a_frame_gives(
    load: Loader, kind: str, order: str, limit: int | None
) -> None:
    table = pa.table({"pid": IDS[kind], "smoke": SMOKE, "age": AGES, "visit": ORDERS[order]})
    given = {"unit": "pid", "order_by": "visit"}
    there, here = (
        dc.connect(load.put(table), SCHEMA, memory_limit=limit, **given),
        dc.read(table, SCHEMA, **given),
    )
    assert there.n == here.n == 3
    assert there.table(["age"]).tolist() == [0, 1, 0, 0, 1, 1]
    assert sorted(here.values["age"].tolist()) == [20, 50, 60]


def test_chance_and_several_rows(load: Loader) -> None:
    table = pa.table({"pid": IDS["text"], "smoke": SMOKE, "age": AGES})
    counts = dc.connect(load.put(table), SCHEMA, unit="pid", rows_per_unit=3, memory_limit=0)
    assert (counts.n, entries_of(counts)) == (3, 3)
    assert counts.table(["age"]).sum() == 3
    assert tables_of_entries(counts, [["age"]])[0].tolist() == [1, 1, 1, 1, 2, 3]
