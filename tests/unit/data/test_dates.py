"""Dates: declared bounds, cut points of the calendar, and one meaning in files, frames and engines."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import dpcausal as dc
from dpcausal.effects.levels import level_names

DAYS = ["2018-12-31", "2019-01-01", "2020-02-29", "2031-05-05", "1999-01-01", None]
CODES = [0, 1, 2, 3, 0, 1]  # by years from 2018 to 2021; the last two are clamped, and become other
SEEN = dc.Date("2018-01-01", "2021-12-31", "years", other="2019-06-30")
SCHEMA = dc.Schema(seen=SEEN)


def days(texts: list[str | None]) -> list[datetime.date | None]:
    """Texts as dates."""
    return [None if text is None else datetime.date.fromisoformat(text) for text in texts]


def frames() -> dict[str, Any]:
    """The same dates as columns of every kind."""
    found = days(DAYS)
    times = [None if day is None else datetime.datetime.combine(day, datetime.time(23, 59)) for day in found]
    return {
        "texts": {"seen": DAYS},
        "texts with a time": {"seen": [None if day is None else f"{day}T23:59:00" for day in DAYS]},
        "dates": {"seen": found},
        "datetimes": {"seen": times},
        "pandas": pd.DataFrame({"seen": pd.to_datetime(pd.Series(times))}),
        "polars": pl.DataFrame({"seen": found}),
        "arrow date64": pa.table({"seen": pa.array(found, pa.date64())}),
        "arrow zone": pa.table({"seen": pa.array(times, pa.timestamp("ns", "UTC"))}),
        "arrow dictionary": pa.table({"seen": pa.array(DAYS).dictionary_encode()}),
    }


@pytest.mark.parametrize("name", frames())
def test_a_date_is_coded_by_its_day(name: str) -> None:
    data = dc.read(frames()[name], SCHEMA)
    assert data.codes["seen"].tolist() == CODES
    assert data.values["seen"].max() == SEEN.upper
    assert data.values["seen"].min() == SEEN.lower


def test_files_and_engines_give_the_codes_of_frames(tmp_path: Path) -> None:
    import ibis

    table = pa.table({"seen": days(DAYS), "at": pa.array(days(DAYS), pa.date32()).cast(pa.timestamp("us"))})
    parquet.write_table(table, tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text("seen\n" + "\n".join(day or "" for day in DAYS) + "\n")
    backend = ibis.duckdb.connect()
    backend.con.execute(f"CREATE TABLE rows_ AS SELECT * FROM read_parquet('{tmp_path / 'rows.parquet'}')")
    backend.con.execute("INSERT INTO rows_ VALUES ('infinity', 'infinity'), ('-infinity', '-infinity')")
    for file in ("rows.parquet", "rows.csv"):
        assert dc.read(tmp_path / file, SCHEMA).codes["seen"].tolist() == CODES
        assert (
            dc.connect(tmp_path / file, SCHEMA).table(["seen"]).tolist()
            == np.bincount(CODES, minlength=4).tolist()
        )
    both = dc.connect(backend.table("rows_"), dc.Schema(seen=SEEN, at=SEEN))
    infinite = [*CODES, 3, 0]
    assert both.table(["seen"]).tolist() == np.bincount(infinite, minlength=4).tolist()
    assert both.table(["seen", "at"]).trace() == len(infinite)


@pytest.mark.parametrize(
    ("format_", "texts"),
    [("%d/%m/%Y", ["03/04/2019", "13/04/2019"]), ("%m/%d/%Y", ["04/03/2019", "04/13/2019"])],
)
def test_day_first_and_month_first_are_declared(format_: str, texts: list[str]) -> None:
    schema = dc.Schema(seen=dc.Date("2019-01-01", "2019-12-31", "quarters", format=format_))
    expected = [days([text])[0] for text in ("2019-04-03", "2019-04-13")]
    found = dc.read({"seen": texts}, schema)
    assert found.values["seen"].tolist() == dc.read({"seen": expected}, schema).values["seen"].tolist()
    assert found.codes["seen"].tolist() == [1, 1]


def test_a_format_is_never_guessed_from_rows() -> None:
    schema = dc.Schema(
        seen=dc.Date("2019-01-01", "2019-12-31", "quarters", format="%d/%m/%Y", other="2019-12-31")
    )
    # the second text is a date only with the month first, and an ISO date is none either
    assert dc.read({"seen": ["03/04/2019", "04/13/2019", "2019-04-03", "soon"]}, schema).codes[
        "seen"
    ].tolist() == [
        1,
        3,
        3,
        3,
    ]


def test_missing_dates_and_texts_become_other_or_their_own_bin() -> None:
    column = dc.Date("2018-01-01", "2021-12-31", "years", missing=["1900-01-01", "n.k."], missing_level=True)
    data = dc.read({"seen": ["1900-01-01", "n.k.", "1900-01-02", None]}, dc.Schema(seen=column))
    assert data.codes["seen"].tolist() == [4, 4, 0, 4]


def test_whole_numbers_need_a_format() -> None:
    table = pa.table({"seen": pa.array([20190403, 20211231, 20191399])})
    with pytest.raises(dc.SchemaError, match="format"):
        dc.read(table, SCHEMA)
    digits = dc.Schema(seen=dc.Date("2018-01-01", "2021-12-31", "years", format="%Y%m%d"))
    assert dc.read(table, digits).codes["seen"].tolist() == [1, 3, 0]


@pytest.mark.parametrize("type_", [pa.float64(), pa.bool_(), pa.time32("s")])
def test_other_types_are_refused(type_: pa.DataType) -> None:
    cells = pa.array([1, 0]).cast(pa.int32()).cast(type_)
    with pytest.raises(dc.SchemaError, match="date"):
        dc.read(pa.table({"seen": cells}), SCHEMA)


def test_a_cell_is_read_by_itself() -> None:
    texts = ["31/01/2019", "04/13/2020", "13/04/2020", "", "x", "99/99/9999", "1/2/2019", "\u0661/2/2019"]
    schema = dc.Schema(seen=dc.Date("2018-01-01", "2021-12-31", "quarters", format="%d/%m/%Y"))
    for some in (texts, texts[::-1], texts[1:2] * 3):
        alone = [dc.read({"seen": [text]}, schema).values["seen"][0] for text in some]
        assert dc.read({"seen": some}, schema).values["seen"].tolist() == alone


@pytest.mark.parametrize(
    "column",
    [
        SEEN,
        dc.Date(
            "2018-02-03", "2021-12-31", ["2019-05-05"], format="%d.%m.%Y", missing=["1900-01-01", "n.k."]
        ),
        dc.Date("2018-01-01", "2018-12-31", "quarters", missing_level=True, label="first visit"),
        dc.Date("2018-01-01", "2018-12-31"),
    ],
)
def test_a_schema_file_keeps_it(column: dc.Date) -> None:
    schema = dc.Schema(seen=column)
    found = dc.Schema.from_toml_string(schema.to_toml())
    assert found == schema
    assert found["seen"].label == column.label


def test_a_schema_file_declares_it() -> None:
    text = """[columns.seen]
type = "date"
lower = 2018-01-01
upper = "2021-12-31"
cuts = "years"
other = "2019-06-30"
"""
    assert dc.Schema.from_toml_string(text)["seen"] == SEEN
    for wrong in ('cuts = "weeks"', "bins = [1]", 'format = "%d/%m"', 'scale = "log"'):
        with pytest.raises(dc.SchemaError):
            dc.Schema.from_toml_string(text.replace('cuts = "years"', wrong))


@pytest.mark.parametrize(
    "given",
    [
        {"lower": "2020-02-30"},
        {"lower": "2022-01-01"},
        {"bins": ["2017-01-01"]},
        {"other": "2030-01-01"},
        {"format": "%d/%m/%q"},
        {"bins": 3},
    ],
)
def test_declarations_that_contradict_themselves_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(dc.SchemaError):
        dc.Date(**{"lower": "2018-01-01", "upper": "2021-12-31", **given})


def test_bins_are_called_by_their_dates() -> None:
    assert level_names(SEEN) == (
        "below 2019-01-01",
        "2019-01-01 to 2020-01-01",
        "2020-01-01 to 2021-01-01",
        "2021-01-01 or more",
    )


def test_what_becomes_of_rows_is_counted() -> None:
    found = dc.check({"seen": [*DAYS, "soon"]}, SCHEMA)
    (column,) = found.columns
    assert (column.missing, column.below, column.above) == (1, 1, 1)


def test_a_date_takes_part_in_tests_and_effects() -> None:
    rng = np.random.default_rng(0)
    day = np.datetime64("2018-01-01") + rng.integers(0, 1400, 3000)
    late = day > np.datetime64("2020-01-01")
    y = np.where(rng.random(3000) < 0.2 + 0.5 * late, "yes", "no")
    schema = dc.Schema(seen=SEEN, y=dc.Categorical(["no", "yes"]))
    data = dc.read({"seen": day, "y": y}, schema)
    assert dc.ci_test(data, "seen", "y", method="measured", epsilon=1.0).independent is False
    assert dc.effect(data, "seen", "y", adjust=[], epsilon=1.0).interval[0] > 0.2
