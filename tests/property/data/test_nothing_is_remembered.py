"""What a reader keeps of one chunk, one file or one question must not change how the next is read.

Each thing that remembers is asked twice over: one that has seen other cells before, and a fresh one.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import dpcausal as dc
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.coding import coder_of
from dpcausal.data.persons import ChosenRows
from dpcausal.data.sources import ColumnSource

LEVELS = dc.Categorical(["-1", "1", "2", "255", "2020-01-31", "no", "yes"], other="no")
NUMBERS = dc.Numeric(-5.0, 300.0, bins=[0.0, 2.0], missing=[255], missing_level=True)
DAY = datetime.date(2020, 1, 31)
TYPES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-1, 1, 2, None],
    pa.uint8(): [255, 1, 2, None],
    pa.int64(): [-1, 255, 2, None],
    pa.uint64(): [2**64 - 1, 255, None],
    pa.float32(): [1.0, -1.0, 255.0, None],
    pa.float64(): [1.0, 2.5, 255.0, None],
    pa.bool_(): [True, False, None],
    pa.string(): ["yes", " 1", "255", "?", None],
    pa.large_string(): ["no", "2.0", "-1", None],
    pa.binary(): [b"yes", b"\xff", b"1", None],
    pa.decimal128(5, 2): [Decimal("1.00"), Decimal("2.50"), None],
    pa.date32(): [DAY, DAY.replace(day=1), None],
    pa.timestamp("us"): [datetime.datetime(2020, 1, 31), None],
    pa.dictionary(pa.int8(), pa.string()): ["yes", "1", None],
    pa.dictionary(pa.int32(), pa.int16()): [1, 255, None],
}


# types that a reader could take for each other: most chunks are of the same few
KIN = [
    [pa.int8(), pa.uint8()],
    [pa.int64(), pa.uint64()],
    [pa.dictionary(pa.int8(), pa.string())],
    list(TYPES),
]


@st.composite
def chunks_of_kin(draw: st.DrawFn) -> list[pa.Array]:
    """A few chunks."""
    types = draw(st.sampled_from(KIN))
    return [draw(arrays(types)) for _ in range(draw(st.integers(2, 5)))]


@st.composite
def arrays(draw: st.DrawFn, types: list[pa.DataType]) -> pa.Array:
    """A chunk of some type, perhaps a slice, with cells in any order; a dictionary may be any of as many words."""
    type_ = draw(st.sampled_from(types))
    cells = draw(st.lists(st.sampled_from(TYPES[type_]), min_size=1, max_size=6))
    if pa.types.is_dictionary(type_) and pa.types.is_string(type_.value_type):
        words = draw(st.permutations(["yes", "no", "1", "2", "255"]))[:3]
        places = draw(st.lists(st.sampled_from([0, 1, 2, None]), min_size=1, max_size=6))
        found = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(words))
    else:
        found = pa.array(cells, type_)
    return found.slice(draw(st.integers(0, len(found) - 1)))


@pytest.mark.parametrize("column", [LEVELS, NUMBERS], ids=["levels", "numbers"])
@settings(max_examples=300, deadline=None)
@given(chunks=chunks_of_kin())
def test_a_coder_codes_a_chunk_like_a_fresh_one(column: Any, chunks: list[pa.Array]) -> None:
    """Of any type after any other. What is missing is missing, however it is stored."""
    coder = coder_of(column)
    for chunk in chunks:
        seen, fresh = coder.code(chunk).codes, coder_of(column).code(chunk).codes
        plain = coder_of(column).code(chunk.filter(pc.is_valid(chunk))).codes
        assert seen.tolist() == fresh.tolist()
        there = chunk.is_valid().to_numpy(zero_copy_only=False)
        assert fresh[there].tolist() == plain.tolist()
        gone = coder_of(column).code(pa.nulls(1, pa.string())).codes[0]
        assert (fresh[~there] == gone).all()


@pytest.mark.parametrize("column", [LEVELS, NUMBERS], ids=["levels", "numbers"])
def test_a_coder_codes_any_type_after_any_other(column: Any) -> None:
    wrong = []
    for first, before in TYPES.items():
        for second, cells in TYPES.items():
            coder = coder_of(column)
            coder.code(pa.array(before, first))
            chunk = pa.array(cells, second)
            if coder.code(chunk).codes.tolist() != coder_of(column).code(chunk).codes.tolist():
                wrong.append((str(first), str(second)))
    assert not wrong


@settings(max_examples=100, deadline=None)
@given(
    times=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    size=st.integers(1, 9),
)
def test_chosen_rows_are_the_same_in_batches_of_any_size(times: list[int], size: int) -> None:
    cells = pa.chunked_array([pa.array(range(len(times)))])
    wanted = [i for i, often in enumerate(times) for _ in range(often)]
    chosen = ChosenRows(ColumnSource("rows", ["x"], [cells]), np.array(times))
    found = [one for chunk in chosen.chunks(["x"], size) for one in chunk["x"].to_pylist()]
    assert found == wanted


def test_codes_declared_before_are_forgotten() -> None:
    records = {"pid": [1, 2, 3, 3], "code": ["I10", "E11.9", "E10.1", "N18"]}

    def ones(*codes: str) -> dict[str, int]:
        found = dc.read_codes(records, codes, unit="pid", code="code", people=4)
        return {name: int(found.codes[name].sum()) for name in codes}

    for codes, counted in ((["I10", "E11*"], [1, 1]), (["E1*", "I10"], [2, 1]), (["N18", "E11.9"], [1, 1])):
        assert ones(*codes) == dict(zip(codes, counted, strict=True))


BINNED = dc.Schema(x=dc.Numeric(0.0, 10.0, bins=[5.0]), a=dc.Categorical(["n", "y"]))


def stored(folder: Path, kind: str, rows: int, schema: dc.Schema = BINNED) -> Any:
    """The same rows in a file that is read in chunks, or in a table of DuckDB."""
    cells = pa.table({"x": [float(i % 11) for i in range(rows)], "a": ["ny"[i % 2] for i in range(rows)]})
    if kind == "table":
        connection = duckdb.connect(str(folder / "rows.duckdb"))
        connection.register("cells", cells)
        connection.execute("CREATE OR REPLACE TABLE patients AS SELECT * FROM cells")
        return count_table(connection, "patients", schema)
    parquet.write_table(cells, folder / "rows.parquet")
    return count_files(folder / "rows.parquet", schema)


@pytest.mark.parametrize("kind", ["file", "table"])
def test_counts_that_answered_before_are_cut_anew_like_fresh_ones(kind: str, tmp_path: Path) -> None:
    names = [["x"], ["x", "a"]]
    used, fresh = stored(tmp_path, kind, 110), stored(tmp_path, kind, 110)
    used.tables(names)
    used.place_counts("x")
    for bins in ((2.0, 7.0), (5.0,), (1.0, 2.0, 3.0)):
        one, other = (counts.with_bins("x", bins).tables(names) for counts in (used, fresh))
        assert [table.tolist() for table in one] == [table.tolist() for table in other]
        fresh = stored(tmp_path, kind, 110)


@pytest.mark.parametrize("rows", [3, 4711])
def test_a_source_that_changed_is_refused_in_words_without_a_number(rows: int, tmp_path: Path) -> None:
    """How many rows there are now may be protected: an error must not tell it."""

    def told(ask: Callable[[], object]) -> str:
        with pytest.raises(dc.DpcausalError) as error:
            ask()
        assert error.value.__cause__ is None
        return re.sub(r"rows\.\w+", "", str(error.value))

    counts = stored(tmp_path, "file", 50)
    counts._n = 50  # as the file said before
    stored(tmp_path, "file", rows)
    assert not re.search(r"\d", told(lambda: counts.tables([["x", "a"]])))
    cells = pa.chunked_array([pa.array(range(rows))])
    chosen = ChosenRows(ColumnSource("rows.x", ["x"], [cells]), np.ones(50, np.int64))
    assert not re.search(r"\d", told(lambda: list(chosen.chunks(["x"]))))
