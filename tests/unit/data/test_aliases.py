"""Aliases and codes for a missing value: what may be declared, and the same answer on every route."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.core.errors import SchemaError
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.read import coded_chunks, open_checked

SCHEMA = dc.Schema.from_toml_string("""
[columns.smoke]
type = "categorical"
levels = ["no", "yes", "unknown"]
other = "unknown"
aliases = { Yes = "yes", Y = "yes", "1" = "yes", "0" = "no", N = "no" }
missing = ["NA", "", "-9"]
[columns.age]
type = "numeric"
lower = 0
upper = 110
bins = [18, 40, 65]
other = 50
missing = [999, -9, 99.9]
""")
SMOKE = ["Yes", "Y", "yes ", " N\t", "no", "1", "1.0", "true", "0", "NA", "", "-9", "-9.0", "y", None]
CODES = [1, 1, 1, 0, 0, 1, 1, 1, 0, 2, 2, 2, 2, 2, 2]
AGE = [
    "17",
    "999",
    "999.0",
    " 999 ",
    "9.99e2",
    "-9",
    "99.9",
    "99",
    "998",
    "-8",
    "n/a",
    "",
    "40",
    "1000",
    None,
]
VALUES = [17, 50, 50, 50, 50, 50, 50, 99, 110, 0, 50, 50, 40, 110, 50]
TEXTS = {"smoke": SMOKE, "age": AGE}
TABLE = pa.table(TEXTS)


def a_csv(folder: Path, newline: str = "\n") -> Path:
    lines = ["smoke,age", *(f'"{a or ""}","{b or ""}"' for a, b in zip(SMOKE, AGE, strict=True))]
    path = folder / "t.csv"
    path.write_bytes((newline.join(lines) + newline).encode())
    return path


def a_ragged_csv(folder: Path) -> Path:
    """The same with a quote inside a cell and a field too many: Arrow gives such a block up."""
    path = a_csv(folder)
    path.write_text(path.read_text().replace('"17"\n', '17,a "quote"\n'))
    return path


def written(name: str, write: Callable[..., None]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(TABLE, folder / name)
        return folder / name

    return make


ROUTES: dict[str, Callable[[Path], Any]] = {
    "csv": a_csv,
    "csv, CRLF": lambda folder: a_csv(folder, "\r\n"),
    "csv, ragged": a_ragged_csv,
    "parquet": written("t.parquet", pq.write_table),
    "arrow": written("t.arrow", feather.write_feather),
    "arrow table": lambda _: TABLE,
    "dictionaries": lambda _: pa.table({n: TABLE[n].combine_chunks().dictionary_encode() for n in TEXTS}),
    "lists": lambda _: TEXTS,
    "numpy": lambda _: {name: np.array(cells, dtype=object) for name, cells in TEXTS.items()},
    "pandas": lambda _: pd.DataFrame(TEXTS),
    "pandas categories": lambda _: pd.DataFrame(TEXTS).astype("category"),
    "polars": lambda _: pl.DataFrame(TEXTS),
    "polars, lazy": lambda _: pl.LazyFrame(TEXTS),
}


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_reads_the_same(route: str, tmp_path: Path) -> None:
    data = dc.read(ROUTES[route](tmp_path), SCHEMA)
    assert data.codes["smoke"].tolist() == CODES
    assert data.values["age"].tolist() == VALUES


@pytest.mark.parametrize("route", ROUTES)
def test_streams_and_counts_agree(route: str, tmp_path: Path) -> None:
    source = ROUTES[route](tmp_path)
    parts = list(coded_chunks(open_checked(source, SCHEMA), SCHEMA, list(SCHEMA), rows=4))
    assert np.concatenate([part["smoke"].codes for part in parts]).tolist() == CODES
    if isinstance(source, str | Path):
        assert count_files(source, SCHEMA).table(["smoke"]).tolist() == [3, 6, 6]


TYPED: dict[str, tuple[Any, list[int], list[float]]] = {
    "integers": (pa.array([1, 0, 999, -9, 17, None]), [1, 0, 2, 2, 2, 2], [1, 0, 50, 50, 17, 50]),
    "small integers": (pa.array([1, 0, -9], pa.int8()), [1, 0, 2], [1, 0, 50]),
    "doubles": (pa.array([1.0, -9.0, 999.0, 99.9, float("nan")]), [1, 2, 2, 2, 2], [1, 50, 50, 50, 50]),
    "floats": (pa.array([1.0, -9.0, 99.9, 99.5], pa.float32()), [1, 2, 2, 2], [1, 50, 50, 99.5]),
    "doubles, one and NaN": (pa.array([1.0, float("nan")]), [1, 2], [1, 50]),
    "booleans": (pa.array([True, False, None]), [1, 0, 2], [1, 0, 50]),
}


@pytest.mark.parametrize("kind", TYPED)
def test_typed_cells_and_duckdb(kind: str, tmp_path: Path) -> None:
    cells, codes, values = TYPED[kind]
    table = pa.table({"smoke": cells, "age": cells})
    data = dc.read(table, SCHEMA)
    assert data.codes["smoke"].tolist() == codes
    assert data.values["age"].tolist() == values
    pq.write_table(table, tmp_path / "t.parquet")
    there = count_files(tmp_path / "t.parquet", SCHEMA, threads=1)
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{tmp_path / 't.parquet'}')")
    in_sql = count_table(connection, "cells", SCHEMA, threads=1)
    for name, size in (("smoke", 3), ("age", 4)):
        expected = np.bincount(data.codes[name], minlength=size).tolist()
        assert there.table([name]).tolist() == in_sql.table([name]).tolist() == expected


def test_half_floats_and_decimals() -> None:
    halves = pa.array(np.array([99.9, 999, 17], np.float16))
    decimals = pa.array(["99.90", "999.00", "17.00"]).cast(pa.decimal128(6, 2))
    for cells in (halves, decimals, halves.cast(pa.float32()).dictionary_encode()):
        found = dc.read({"age": cells}, SCHEMA.select(["age"])).values["age"].tolist()
        assert found[1:] == [50, 17]
    assert dc.read({"age": halves}, SCHEMA.select(["age"])).values["age"][0] == 50
    assert dc.read({"age": decimals}, SCHEMA.select(["age"])).values["age"][0] == 50


def test_text_in_duckdb(tmp_path: Path) -> None:
    pq.write_table(TABLE.select(["smoke"]), tmp_path / "t.parquet")
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{tmp_path / 't.parquet'}')")
    for found in (
        count_files(tmp_path / "t.parquet", SCHEMA.select(["smoke"])),
        count_table(connection, "cells", SCHEMA.select(["smoke"])),
    ):
        assert found.table(["smoke"]).tolist() == [3, 6, 6]


def test_estimators_map_too() -> None:
    """The only trace of a in b is an alias: read otherwise, a is constant and nothing depends on it."""
    aliased = dc.Categorical([1, 0], aliases={"2": 0}, missing=["9"], other=1)
    b = dc.Numeric(0, 10, [5], other=0, missing=[999])
    rows = np.array([[1, 999], [2, 8], [9, 1], [2, 9]] * 100)
    for frame in (rows, pd.DataFrame(rows, columns=["a", "b"])):
        assert dc.PC(dc.Schema(a=aliased, b=b)).fit(frame).skeleton_ == {frozenset("ab")}
        assert dc.PC(dc.Schema(a=dc.Categorical([1, 0]), b=b)).fit(frame).skeleton_ == set()


LEVELS = '[columns.a]\ntype = "categorical"\nlevels = ["no", "yes", 1]\n'
NUMBERS = '[columns.n]\ntype = "numeric"\nlower = 0\nupper = 1\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LEVELS + 'aliases = { Y = "yess" }', "4: .*'Y' means 'yess', which is not a level .did you mean \"yes\""),
        (LEVELS + 'aliases = { yes = "no" }', "4: .*aliases: 'yes' is a level itself"),
        (LEVELS + 'aliases = { " yes" = "no" }', "4: .*' yes' means 'no', but reads as 'yes'"),
        (LEVELS + 'aliases = { "1.0" = "no" }', "4: .*'1.0' means 'no', but reads as '1'"),
        (LEVELS + 'aliases = { "2" = "no", "2.0" = "yes" }', "4: .*'2.0' means 'yes', but reads as 'no'"),
        (LEVELS + 'aliases = { "" = "no" }', "4: .*an empty text is a missing cell, which becomes other"),
        (LEVELS + 'aliases = ["Y"]', r"4: .*aliases must be a table such as \{ Yes = \"yes\" \}, not \['Y'\]"),
        (LEVELS + "aliases = { Y = 1.5 }", r"4: .*aliases \(every level\) must be text, integers or booleans"),
        (LEVELS + '[columns.a.aliases]\nY = "yess"', "4: .*'Y' means 'yess'"),
        (LEVELS + 'missing = ["NA", "yes"]', "4: .*missing holds 'yes', which is a level"),
        (LEVELS + 'missing = ["1.0"]', "4: .*missing holds '1.0', which is '1' otherwise written, which is a level"),
        (LEVELS + 'aliases = { Y = "yes" }\nmissing = ["Y"]', "5: .*missing holds 'Y', which is an alias"),
        (LEVELS + 'missing = "NA"', "4: .*missing must be a list, not 'NA'"),
        (LEVELS + "missing = [9.5]", r"4: .*missing \(every code\) must be text, integers or booleans, not 9.5"),
        (LEVELS + "missing = { NA = 1 }", "4: .*missing must be a list, not "),
        (NUMBERS + "missing = 999", "5: .*missing must be a list, not 999"),
        (NUMBERS + 'missing = ["1,5"]', "5: .*missing holds '1,5': write a number without quotes"),
        (NUMBERS + 'missing = ["inf"]', "5: .*missing holds 'inf': write a number without quotes"),
        (NUMBERS + "missing = [nan]", r"5: .*missing \(every code\) must be a finite number, not nan"),
        (NUMBERS + "missing = [true]", r"5: .*missing \(every code\) must be a number, not True"),
        (NUMBERS + "aliases = { a = 1 }", '5: .*"aliases" belongs to categorical columns'),
        (LEVELS + 'alias = { Y = "yes" }', '4: .*unknown key "alias" .did you mean "aliases"'),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(SchemaError, match="schema:" + words) as caught:
        dc.Schema.from_toml_string(text)
    assert "\n" not in str(caught.value)


def test_what_may_be_declared() -> None:
    column = dc.Categorical(
        [False, True, 3], aliases={"Y": True, "7": "False", "3.0": 3}, missing=["NA", 9, "NA"]
    )
    assert column.aliases == {"Y": True, "7": False, "3.0": 3}
    assert column.missing == ("NA", 9)
    assert column == dc.Categorical(
        [False, True, 3], aliases={"3.0": 3, "7": False, "Y": 1 == 1}, missing=["NA", "9"]
    )
    assert column != dc.Categorical([False, True, 3])
    assert hash(column) != hash(dc.Categorical([False, True, 3], missing=["NA"]))
    assert eval(repr(column), {"Categorical": dc.Categorical}) == column  # noqa: S307
    with pytest.raises(TypeError):
        column.aliases["N"] = False  # type: ignore[index]
    assert dc.Numeric(0, 1, missing=[999, -9, 999.0]).missing == (999.0, -9.0)
    assert dc.Numeric(0, 1, missing=[0.5]) != dc.Numeric(0, 1)
    with pytest.raises(SchemaError, match="given twice"):
        dc.Categorical(["a"], aliases={1: "a", "1": "a"})  # type: ignore[dict-item]


def test_an_alias_wins_over_what_a_level_only_suggests() -> None:
    """1 is also true unless something else is declared to be."""
    column = dc.Categorical(["0", "1"], aliases={"true": "0"})
    data = dc.read({"x": ["true", "TRUE", "1", "1.0", "false"]}, dc.Schema(x=column))
    assert data.codes["x"].tolist() == [0, 0, 1, 1, 0]
    assert dc.read({"x": pa.array([True])}, dc.Schema(x=column)).codes["x"].tolist() == [0]


def test_a_schema_with_aliases_is_written_and_read_back() -> None:
    text = SCHEMA.to_toml()
    assert 'aliases = { Yes = "yes", Y = "yes", 1 = "yes", 0 = "no", N = "no" }' in text
    assert "missing = [999, -9, 99.9]" in text
    assert dc.Schema.from_toml_string(text) == SCHEMA
    assert "aliases" not in dc.Schema(a=dc.Categorical(["x"])).to_toml()
