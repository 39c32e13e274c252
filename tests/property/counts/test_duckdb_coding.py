"""DuckDB codes every cell as the Arrow coders do, for the types it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcausal.core.errors import SchemaError
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.columns import Categorical, Column, Numeric, canonical_value
from dpcausal.data.read import read
from dpcausal.data.schema import Schema

TEXTS = st.sampled_from(
    ["yes", " yes ", "no", "", " ", "1", "1.0", "0", "-0", "True", "true", "'", '"', "ä", "\tno\n", "x'y"]
)
LEVELS = st.lists(
    st.one_of(TEXTS, st.integers(-3, 3), st.booleans()),
    min_size=1,
    max_size=6,
    unique_by=lambda level: str(level),
)
MANY = st.just([f"level {i}" for i in range(20)] + list(range(20)))  # past the linear search
WIDE = st.just([-(2**63), 5, 2**63, 2**64 - 1])
SPARE = st.lists(st.one_of(TEXTS, st.integers(-3, 3)).map(str), max_size=4, unique_by=canonical_value)


@st.composite
def categorical(draw: st.DrawFn) -> Categorical:
    """Levels with aliases and codes for a missing value."""
    levels = draw(st.one_of(LEVELS, MANY, WIDE))
    taken = {canonical_value(str(level)) for level in levels}
    free = [text for text in draw(SPARE) if canonical_value(text) not in taken]
    cut = draw(st.integers(0, len(free)))
    aliases = {text: draw(st.sampled_from(levels)) for text in free[:cut] if text}
    return Categorical(
        levels, aliases=aliases, missing=free[cut:], other=draw(st.sampled_from([levels[0], levels[-1]]))
    )


CATEGORICAL = categorical()
NUMERIC = st.one_of(
    st.just(Numeric(0, 1)),
    st.just(Numeric(-2, 3, bins=[-1.5, 0, 0.1, 2], other=1)),
    st.just(Numeric(-4, 4, bins=[i / 10 for i in range(-39, 40)], other=0.05)),
    st.just(
        Numeric(-2, 2, bins=[-1.7, 0.5], other=2, missing=[0, 0.1, 127, -1.5, 2**53 + 1, 2.0**63, 1e308])
    ),
    st.just(Numeric(0, 5, bins=[1, 4], other=4.5, missing=[1, 3])),
)
INTEGERS = st.one_of(st.integers(-4, 4), st.sampled_from([-128, 127]))
CELLS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int8": (pa.int8(), INTEGERS),
    "int64": (pa.int64(), st.one_of(INTEGERS, st.sampled_from([-(2**63), 2**63 - 1]))),
    "uint64": (pa.uint64(), st.one_of(st.integers(0, 5), st.sampled_from([2**63, 2**64 - 1]))),
    "double": (
        pa.float64(),
        st.sampled_from(
            [0.0, -0.0, 1.0, 0.1, 2.5, -1.5, 3.0, 1e308, float("inf"), float("-inf"), float("nan")]
        ),
    ),
    "float": (pa.float32(), st.sampled_from([0.0, 1.0, 0.1, -1.5, 3.0, float("inf"), float("nan")])),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.one_of(TEXTS, st.just("level 3"))),
}


def refused(path: Path, schema: Schema) -> bool:
    """Return whether ``dc.read`` takes no such types: numbers or truth values where no level is one."""
    try:
        read(path, schema)
    except SchemaError:
        return True
    return False


@pytest.mark.parametrize("kind", CELLS)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_same_codes(kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    type_, values = CELLS[kind]
    rows = data.draw(st.integers(1, 8))
    declared: dict[str, Column] = {}
    cells: dict[str, pa.Array] = {}
    for name in ("a b", "c", 'quoted "d"', "e"):
        declared[name] = data.draw(CATEGORICAL if kind == "text" else st.one_of(CATEGORICAL, NUMERIC))
        column = data.draw(st.lists(st.one_of(st.none(), values), min_size=rows, max_size=rows))
        cells[name] = pa.array(column, type_)
    path = tmp_path_factory.mktemp("coding") / "cells.parquet"
    pq.write_table(pa.table(cells), path)
    schema, wanted = Schema(declared), [[name] for name in declared]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{path}')")
    if refused(path, schema):
        with pytest.raises(SchemaError):
            count_files(path, schema, threads=1)
        with pytest.raises(SchemaError):
            count_table(connection, "cells", schema, threads=1)
        return
    here, there = MemoryCounts(read(path, schema)), count_files(path, schema, threads=1)
    in_sql = count_table(connection, "cells", schema, threads=1)
    for one, other, another in zip(
        here.tables(wanted), there.tables(wanted), in_sql.tables(wanted), strict=True
    ):
        assert np.array_equal(one, other)
        assert np.array_equal(one, another)
