"""Random spellings, aliases and codes for a missing value: every route gives the same codes, and a draft fits."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.check import check
from dpcausal.data.columns import Categorical, Numeric, canonical_value
from dpcausal.data.draft import draft
from dpcausal.data.read import DraftSchema, read
from dpcausal.data.schema import Schema
from dpcausal.present.schema import draft_toml

WORDS = [
    "yes", "Yes", "YES", "Y", "y", "no", "No", "N", "1", "1.0", "0", "-0", "-9", "-9.0", "999", "999.0", "99", "NA",
    "n/a", ".", "?", "true", "TRUE", "False", "a b", "A  b", "\u00e9", "\u00c9", "\u00df", "ss", 'q"q', "x,y",
    "2.5", "1e3", "1000", "01", "+1", "-09",
]  # fmt: skip
CELLS = st.one_of(
    st.sampled_from(WORDS), st.sampled_from(WORDS).map(lambda word: f" {word}\t"), st.just(""), st.just(" ")
)
NUMBERS = st.one_of(CELLS, st.sampled_from([-9, 0, 5, 17, 99, 100, 999, 2.5, 99.9, 1e9]).map(repr))


@st.composite
def spelled(draw: st.DrawFn) -> Categorical:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=14, unique_by=canonical_value))
    first, second = sorted((draw(st.integers(1, len(words) - 1)), draw(st.integers(1, len(words)))))
    levels = words[:first]
    aliases = {word: draw(st.sampled_from(levels)) for word in words[first:second]}
    return Categorical(levels, other=draw(st.sampled_from(levels)), aliases=aliases, missing=words[second:])


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    column=spelled(), gone=st.lists(st.sampled_from([-9, 0, 5, 99.9, 999, 1e9]), max_size=3), data=st.data()
)
def test_every_route_reads_the_same(
    column: Categorical, gone: list[float], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    schema = Schema(a=column, n=Numeric(0, 100, [5, 50], other=55, missing=gone))
    rows = data.draw(st.lists(st.tuples(CELLS, NUMBERS), min_size=1, max_size=30))
    cells = {"a": [a for a, _ in rows], "n": [n for _, n in rows]}
    folder: Path = tmp_path_factory.mktemp("routes")
    table = pa.table(cells)
    with (folder / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("a", "n"), *rows])
    pq.write_table(table, folder / "t.parquet")
    feather.write_feather(table, folder / "t.arrow")
    frames = [table, pd.DataFrame(cells), pd.DataFrame(cells).astype("category"), pl.DataFrame(cells)]
    expected = read(cells, schema)
    for source in (folder / "t.csv", folder / "t.parquet", folder / "t.arrow", *frames):
        found = read(source, schema)
        for name in schema:
            assert found.codes[name].tolist() == expected.codes[name].tolist()
        assert found.values["n"].tolist() == expected.values["n"].tolist()
    here = MemoryCounts(expected).table(["a"])
    there = count_files(folder / "t.parquet", schema.select(["a"]), threads=1).table(["a"])
    assert here.tolist() == there.tolist()
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{folder / 't.parquet'}')")
    in_sql = count_table(connection, "cells", schema.select(["a"]), threads=1).table(["a"])
    assert here.tolist() == in_sql.tolist()
    looked = check(cells, schema).columns
    texts = [cell.strip() for cell in cells["a"]]
    assert looked[0].coded_missing >= sum(text in column.missing for text in texts)
    assert looked[0].rows - looked[0].missing - looked[0].not_a_level == sum(
        code != column.other_code or means(column, text)
        for code, text in zip(expected.codes["a"], texts, strict=True)
    )


def means(column: Categorical, text: str) -> bool:
    """Whether a text that got the code of ``other`` means that level: with another ``other`` the code stays."""
    if column.size == 1:
        apart = Categorical(
            [*column.levels, "\0"], other="\0", aliases=column.aliases, missing=column.missing
        )
    else:
        another = next(level for level in column.levels if level != column.other)
        apart = Categorical(column.levels, other=another, aliases=column.aliases, missing=column.missing)
    return int(read({"a": [text]}, Schema(a=apart)).codes["a"][0]) == column.other_code


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.lists(st.one_of(CELLS, st.text(max_size=3)), min_size=1, max_size=40),
        st.lists(st.from_regex(r"[+-]?0?[0-9]{1,2}(\.0|e0)?", fullmatch=True), min_size=1, max_size=9),
    )
)
def test_a_draft_loads_and_declares_every_text(cells: list[str]) -> None:
    text = draft_toml(draft({"x": cells, "y": ["a"] * len(cells)}))
    schema = Schema.from_toml_string(text)
    if "x" not in schema:
        return
    (column,) = check({"x": cells}, schema.select(["x"])).columns
    assert column.not_a_level <= sum(
        text.lower().strip("+- ") == "inf" for text in cells
    )  # inf is no whole number
    with pytest.warns(DraftSchema):
        assert read({"x": cells}, schema.select(["x"])).n == len(cells)
