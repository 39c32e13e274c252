"""No value of any stored type ends a query: it gets a code of its own row, and the other rows keep theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from engine_tables import Loader

NUMBERS = [
    dc.Numeric(-10, 10, bins=[0, 0.5, 5], other=-10),
    dc.Numeric(0.5, 8, bins=[1, 5], scale="log", other=1, missing=[9]),
    dc.Categorical(["x", 1, 7, "0.5"]),
    dc.Categorical([0, 1, 2, 3, 4, 5, 6, 7]),
]
TIMES = [dc.Categorical(["x", "2020-01-01", "2020-01-01 12:30:00"])]
ZONED = [dc.Categorical(["x", "2020-01-01Z", "2020-01-01 12:30:00Z"])]
TEXTS = [dc.Categorical(["x", "no", " yes"])]
TRUTH = [dc.Categorical([False, True]), dc.Numeric(0, 1, bins=[0.5])]
USUAL = ["1", "7", "3", None]
Case = tuple[list[str | None], list[str], Sequence[dc.Categorical | dc.Numeric]]

far = str(2**127 - 1)
times = ["infinity", "-infinity", "0001-01-01", "9999-12-31"]
DUCKDB: dict[str, Case] = {
    "HUGEINT": (USUAL, [far, f"-{far}", str(10**38), str(10**38 - 1), str(-(10**38))], NUMBERS),
    "UBIGINT": (USUAL, [str(2**64 - 1), str(2**63)], NUMBERS),
    "BIGINT": (USUAL, [str(2**63 - 1), str(-(2**63))], NUMBERS),
    "TINYINT": (USUAL, ["127", "-128"], NUMBERS),
    "DECIMAL(38,0)": (USUAL, ["9" * 38, "-" + "9" * 38], NUMBERS),
    "DECIMAL(38,38)": (["0.5", "0.25"], ["0." + "9" * 38, "-0." + "9" * 38, "0." + "0" * 37 + "1"], NUMBERS),
    "DECIMAL(4,1)": (["0.5", *USUAL], ["999.9", "-999.9"], NUMBERS),
    "DOUBLE": (["0.5", *USUAL], ["inf", "-inf", "nan", "1e308", "5e-324", "-0.0"], NUMBERS),
    "FLOAT": (["0.5", *USUAL], ["inf", "-inf", "nan", "3e38", "1e-45", "-0.0"], NUMBERS),
    "BOOLEAN": (["true", "false"], [], TRUTH),
    "VARCHAR": (
        ["no", "yes", None],
        ["", "\x01", "'", '"', "%s", "\ufeffno", "no\u00a0", "x" * 70_000],
        TEXTS,
    ),
    "DATE": (["2020-01-01", None], times, TIMES),
    "TIMESTAMP": (["2020-01-01 12:30:00", None], [*times, "294247-01-10 04:00:54.775806"], TIMES),
    "TIMESTAMP_S": (["2020-01-01 12:30:00"], [*times, "290308-12-21 19:59:59"], TIMES),
    "TIMESTAMP_MS": (["2020-01-01 12:30:00"], times, TIMES),
    "TIMESTAMP_NS": (["2020-01-01 12:30:00"], ["infinity", "1677-09-22", "2262-04-11"], TIMES),
    "TIMESTAMPTZ": (["2020-01-01 12:30:00+00"], times, ZONED),
}
POSTGRES: dict[str, Case] = {
    "bigint": (USUAL, [str(2**63 - 1), str(-(2**63))], NUMBERS),
    "smallint": (USUAL, ["32767", "-32768"], NUMBERS),
    "double precision": (["0.5", *USUAL], ["inf", "-inf", "nan", "1e308", "5e-324", "-0.0"], NUMBERS),
    "real": (["0.5", *USUAL], ["inf", "-inf", "nan", "3e38", "1e-45", "-0.0"], NUMBERS),
    "numeric": (["0.5", *USUAL], ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400"], NUMBERS),
    "numeric(400,350)": (["0.5", *USUAL], ["NaN", "9" * 50, "-" + "9" * 50, "1e-350"], NUMBERS),
    "numeric(1000,1000)": (["0.5", "0.25"], ["NaN", "1e-1000", "-0." + "9" * 1000], NUMBERS),
    "numeric(1000,0)": (USUAL, ["NaN", "9" * 1000, "-" + "9" * 1000], NUMBERS),
    "numeric(4,1)": (["0.5", *USUAL], ["NaN", "999.9", "-999.9"], NUMBERS),
    "boolean": (["true", "false"], [], TRUTH),
    "text": (["no", "yes", None], ["", "\x01", "'", '"', "%s", "\ufeffno", "no\u00a0", "x" * 70_000], TEXTS),
    "date": (["2020-01-01", None], ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31"], TIMES),
    "timestamp": (["2020-01-01 12:30:00"], ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31"], TIMES),
    "timestamptz": (["2020-01-01 12:30:00+00"], ["infinity", "4713-01-01 BC", "294276-12-31"], ZONED),
}


@pytest.mark.parametrize(
    ("engine", "kind"),
    [*(("duckdb", kind) for kind in DUCKDB), *(("postgres", kind) for kind in POSTGRES)],
)
def test_no_value_ends_a_query(load_on: Callable[[str], Loader], engine: str, kind: str) -> None:
    usual, nasty, columns = (DUCKDB if engine == "duckdb" else POSTGRES)[kind]
    load = load_on(engine)
    cells = [*usual, *nasty]
    rows = pa.table({"x": pa.array(cells, pa.string()), "row": pa.array(range(len(cells)), pa.int32())})
    whole, few = load.put(rows, {"x": kind}), load.put(rows.slice(0, len(usual)), {"x": kind})
    for column in columns:
        schema = dc.Schema(x=column, row=dc.Categorical(range(len(cells))))
        for limit in (None, 0):
            table = dc.connect(whole, schema, memory_limit=limit).table(["row", "x"])
            assert (table.sum(axis=1) == 1).all()
            before = dc.connect(few, schema, memory_limit=limit).table(["row", "x"])
            assert np.array_equal(table[: len(usual)], before[: len(usual)])
        if isinstance(column, dc.Numeric):
            place, weight = dc.connect(whole, schema.select(["x"])).place_counts("x")
            assert int(weight.sum()) == len(cells)
            assert len(place) <= len(cells)


def test_whole_numbers_of_any_size_are_levels_of_hugeint(load_on: Callable[[str], Loader]) -> None:
    """Each is compared by all of its digits."""
    cells = [10**38, 10**38 - 1, 10**37 + 1, 10**37, -(10**30), 0, 12]
    source = load_on("duckdb").put(pa.table({"x": list(map(str, cells))}), {"x": "HUGEINT"})
    column = dc.Categorical(["x", "-0", str(10**37 + 1), "-1e30", "12.5", "12.0"])
    assert dc.connect(source, dc.Schema(x=column)).table(["x"]).tolist() == [3, 1, 1, 1, 0, 1]


@pytest.mark.parametrize(
    "name", ["a%b", "100%", "%s", "%(x)s", "a%%b", '"%"', "a'b", "a;b", "a\\b", "{x}", ":x"]
)
@pytest.mark.parametrize("kind", ["string", "int32"])
def test_marks_in_names_of_columns(load: Loader, name: str, kind: str) -> None:
    """A per cent sign is one for a driver that fills in values."""
    cells = pa.array(["no", "yes", "yes"]) if kind == "string" else pa.array([0, 1, 1], pa.int32())
    table = pa.table({name: cells})
    schema = dc.Schema({name: dc.Categorical(["no", "yes"] if kind == "string" else [0, 1])})
    expected = MemoryCounts(dc.read(table, schema)).table([name]).tolist()
    counts = dc.connect(load.put(table), schema)
    assert counts.table([name]).tolist() == expected == [1, 2]
    assert load.name != "postgres" or (counts.table_bytes or 0) > 0
