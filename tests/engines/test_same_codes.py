"""Every engine gives the codes of memory, cell for cell: random ugly tables, and the traps by name."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from engine_tables import Loader
from ugly_tables import ugly_table

RANDOM_TABLES = {"duckdb": 8, "postgres": 40, "spark": 8}


def same(load: Loader, table: pa.Table, schema: dc.Schema, types: dict[str, str] | None = None) -> None:
    """The table of every column, and of all where it is small, is the one of memory, both ways."""
    source = load.put(table, types)
    expected = MemoryCounts(dc.read(table, schema))
    for limit in (None, 0):
        counts = dc.connect(source, schema, memory_limit=limit)
        assert counts.n == table.num_rows
        requests = [[name] for name in schema]
        for (name,), found in zip(requests, counts.tables(requests), strict=True):
            assert found.tolist() == expected.table([name]).tolist(), (name, schema[name])
        names = list(schema)[:3]
        assert np.array_equal(counts.table(names), expected.table(names))


@pytest.mark.parametrize("part", range(4))
def test_random_ugly_tables(load: Loader, part: int) -> None:
    for seed in range(part, RANDOM_TABLES[load.name], 4):
        table, schema = ugly_table(seed)
        if refused(table, schema):
            with pytest.raises(dc.SchemaError, match="but no level is"):
                dc.connect(load.put(table), schema)
        else:
            same(load, table, schema)


def refused(table: pa.Table, schema: dc.Schema) -> bool:
    """Return whether memory takes no such types: numbers or truth values where no level is one."""
    try:
        dc.read(table, schema)
    except dc.SchemaError:
        return True
    return False


def one(load: Loader, cells: list[Any], type_: pa.DataType, column: Any, stored: str | None = None) -> None:
    table = pa.table({"x": pa.array(cells, type_)})
    same(load, table, dc.Schema(x=column), None if stored is None else {"x": stored})


def test_trailing_and_leading_blanks(load: Loader) -> None:
    cells = ["no", "no ", "no  ", " no", "\tno", "no\n", "no\x0b", "no\u00a0", "n o", "", " ", None]
    one(load, cells, pa.string(), dc.Categorical(["x", "no"]))
    one(load, cells, pa.string(), dc.Categorical(["x", "no", "no "]))
    one(load, cells, pa.string(), dc.Categorical(["x", " ", "no\u00a0"]))


def test_case_is_not_folded(load: Loader) -> None:
    cells = ["yes", "Yes", "YES", "ß", "ss", "SS", "é", "e\u0301", "I", "ı", "İ"]
    one(load, cells, pa.string(), dc.Categorical(["x", "yes", "ss", "é", "I"]))
    one(load, cells, pa.string(), dc.Categorical(["YES", "Yes", "e\u0301", "İ"], other="Yes"))


def test_names_of_columns_keep_their_case(load: Loader) -> None:
    table = pa.table({"Smoke": ["no", "yes"], "lung": ["yes", "yes"]})
    same(load, table, dc.Schema(Smoke=dc.Categorical(["no", "yes"]), lung=dc.Categorical(["no", "yes"])))
    if load.name != "spark":  # Spark takes names for equal whatever their case
        with pytest.raises(dc.SchemaError, match='no column "smoke"'):
            dc.connect(load.put(table), dc.Schema(smoke=dc.Categorical(["no", "yes"])))


def test_empty_text_is_not_null(load: Loader) -> None:
    one(load, ["", None, "x", " "], pa.string(), dc.Categorical(["x", ""], other="x"))


def test_nan_and_minus_zero(load: Loader) -> None:
    cells = [float("nan"), -0.0, 0.0, 1.0, None, float("inf"), -float("inf"), 5e-324]
    for type_ in (pa.float64(), pa.float32()):
        one(load, cells, type_, dc.Numeric(-1, 1, bins=[0, 0.5], other=0.75))
        one(load, cells, type_, dc.Numeric(-1, 1, bins=[0, 0.5], other=-1, missing=[0, 1]))
        one(load, cells, type_, dc.Categorical(["x", 0, 1]))


def test_floats_are_read_exactly(load: Loader) -> None:
    cells = [0.1, 0.1 + 2**-56, 0.1 - 2**-56, 0.3, 0.1 + 0.2, 1e-300, 1e300, 2.5, np.nextafter(5, 0), 5.0]
    one(load, cells, pa.float64(), dc.Numeric(0, 10, bins=[1e-300, 0.1, 0.3, 0.30000000000000004, 5]))
    one(load, cells, pa.float64(), dc.Categorical(["x", "0.1", "0.3", "5"]))
    single = [float(np.float32(x)) for x in (0.1, 0.3, 16777216.0, 2.5)]
    one(load, single, pa.float32(), dc.Categorical(["x", "0.1", "0.3", 16777217]))
    one(load, single, pa.float32(), dc.Numeric(0, 1, bins=[0.1, 0.3], missing=[0.1]))


def test_integers_at_the_ends_of_their_types(load: Loader) -> None:
    for type_, bits in ((pa.int8(), 8), (pa.int16(), 16), (pa.int32(), 32), (pa.int64(), 64)):
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        cells = [low, low + 1, -1, 0, 1, high - 1, high, None]
        one(load, cells, type_, dc.Categorical([low, high, 0]))
        one(load, cells, type_, dc.Categorical([high - 2, high - 1, high, "none"], other="none"))
        one(load, cells, type_, dc.Categorical([low, low + 1, low + 2]))
        one(load, cells, type_, dc.Categorical([2**63 - 1, -(2**63), 300, 2**63]))
        one(load, cells, type_, dc.Numeric(-1e18, 1e18, bins=[-1, 0, 0.5, 2**53 + 2]))


def test_a_key_of_63_bits_does_not_overflow(load: Loader) -> None:
    """Nine columns of 128 levels fill 63 bits; the last level of each is the largest key."""
    names = [f"c{i}" for i in range(10)]
    table = pa.table({name: pa.array([127, 0, 127, 1], pa.int32()) for name in names})
    same(load, table, dc.Schema({name: dc.Categorical(list(range(128))) for name in names}))


def test_decimals(load: Loader) -> None:
    cells = [Decimal(x) for x in ("0.10", "0.09", "5.00", "4.99", "-1.50", "999.00")]
    one(load, [*cells, None], pa.decimal128(9, 2), dc.Numeric(0, 10, bins=[0.1, 5], missing=[999]))
    one(load, [*cells, None], pa.decimal128(9, 2), dc.Categorical(["x", "0.1", "-1.5", 5, "0.095"]))


def test_decimals_that_round_to_a_cut_point(load: Loader) -> None:
    """0.09999999999999999999 is nearest to the float 0.1; division of integers gives another float in some engines."""
    cells = [
        Decimal(x)
        for x in ("0.09999999999999999999", "0.09999999999999999000", "0.1", "4.99999999999999999999")
    ]
    one(load, cells, pa.decimal128(38, 20), dc.Numeric(0, 10, bins=[0.1, 5]))


def test_dates_and_times(load: Loader) -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(1582, 10, 10), datetime.date(1969, 12, 31), None]
    one(load, days, pa.date32(), dc.Categorical(["x", "2020-01-01", "1582-10-10"]))
    one(load, days, pa.date32(), dc.Categorical(["x", "2020-01-01 00:00:00", "1969-12-31T00:00:00.000"]))
    times = [
        datetime.datetime(2020, 1, 1),
        datetime.datetime(2020, 1, 1, 0, 0, 0, 1),
        datetime.datetime(1969, 12, 31, 23),
    ]
    one(load, [*times, None], pa.timestamp("us"), dc.Categorical(["x", "2020-01-01", "1969-12-31 23:00:00"]))
    one(load, [*times, None], pa.timestamp("us"), dc.Categorical(["x", "2020-01-01 00:00:00.000001"]))


def test_times_with_a_zone_are_instants(load: Loader) -> None:
    """Whatever zone a session has: noon in UTC is the level that says so, and text without a Z is none of them."""
    if load.name == "postgres":
        with load.backend.con.cursor() as cursor:
            cursor.execute("SET TIME ZONE 'America/New_York'")
        load.backend.con.commit()
    utc = datetime.UTC
    times = [
        datetime.datetime(2020, 1, 1, tzinfo=utc),
        datetime.datetime(2020, 1, 1, 12, 0, 0, 1, tzinfo=utc),
        datetime.datetime(1969, 12, 31, 23, tzinfo=utc),
        datetime.datetime(2019, 12, 31, 19, tzinfo=utc),
        None,
    ]
    stored = {"postgres": "timestamptz"}.get(load.name)
    for levels in (
        ["x", "2020-01-01Z", "1969-12-31 23:00:00Z"],
        ["x", "2020-01-01T00:00:00.000Z", "2020-01-01 12:00:00.000001Z", "2020-01-01"],
    ):
        one(load, times, pa.timestamp("us", "UTC"), dc.Categorical(levels, other="x"), stored)
    table = pa.table({"x": pa.array(times, pa.timestamp("us", "UTC"))})
    source = load.put(table, None if stored is None else {"x": stored})
    with pytest.raises(dc.InputError, match="write levels in UTC with a final Z"):
        dc.connect(source, dc.Schema(x=dc.Categorical(["x", "2020-01-01"])))


def test_numbers_as_text(load: Loader) -> None:
    """A text that is the number of a level means it; no text makes a cast fail, whatever follows its digits."""
    cells = [
        "1", "01", "+1", "1.", "1.00", " 1 ", "1e0", "10E-1", ".1e1", "true", "2.5", "02.50", "2.5e+00", "1e+05", "-3",
        "-03.0", "-0", "0.00", ".0", "1\n", "1\u2028", "1\u0085", "1\u00a0", "x1", "1x", "1 1", "1-1", "--1", "1e",
        "e1", ".", "+", "-", "", " ", "1e999", "1e99", "1e-99", "9" * 400, "0" * 30 + "1", "0" * 20 + "1",
        "1." + "0" * 30, "0x1", "1_0", "1,0", "nan", "inf", "Infinity", "1d", "1f", "\u0661", "9007199254740993",
        "09007199254740992", None,
    ]  # fmt: skip
    for levels in (
        ["x", 1, "2.50", "100000", -3],
        ["x", "01", "2.5", "0"],
        ["1.0", "x", "1"],
        ["x", "1e99", "1e-99", "0.0"],
        [2**53, "x"],
        [True, False],
    ):
        one(load, cells, pa.string(), dc.Categorical(levels))
    one(
        load,
        cells,
        pa.string(),
        dc.Categorical(["x", "y", 1], aliases={"2.50": "y"}, missing=["-3", "0"], other="y"),
    )


def test_booleans(load: Loader) -> None:
    for column in (
        dc.Categorical([True, False]),
        dc.Categorical([0, 1]),
        dc.Categorical(["x", "TRUE"]),
        dc.Numeric(0, 1),
    ):
        one(load, [True, False, None, True], pa.bool_(), column)


def test_many_levels(load: Loader) -> None:
    cells = list(range(0, 2500, 7))
    one(load, cells, pa.int32(), dc.Categorical(list(range(2000))))
    texts = [f"icd {i}" for i in range(0, 300, 3)]
    one(load, texts, pa.string(), dc.Categorical([f"icd {i}" for i in range(150)]))


def test_types_that_can_not_be_coded_are_refused(load: Loader) -> None:
    table = pa.table({"x": pa.array([[1], [2]]), "t": ["1", "x"]})
    if load.name == "postgres":
        table = table.drop_columns(["x"])
    source = load.put(table)
    if load.name != "postgres":
        with pytest.raises(dc.InputError, match=r'"x" of the table .*array'):
            dc.connect(source, dc.Schema(x=dc.Categorical([1, 2])))
    with pytest.raises(dc.InputError, match=r'"t" of the table .*text .*numeric'):
        dc.connect(source, dc.Schema(t=dc.Numeric(0, 1)))
    with pytest.raises(dc.SchemaError, match=r'has no column "tt" \(did you mean "t"'):
        dc.connect(source, dc.Schema(tt=dc.Numeric(0, 1)))


def test_too_many_spellings_are_refused_and_nothing_is_charged(load: Loader, tmp_path: Path) -> None:
    """By the schema alone, with what to do; the same schema goes through ``dc.read``."""
    rows = pa.table({"icd": ["code 1", "code 2"], "x": ["no", "yes"]})
    column = dc.Categorical([f"code {i}" for i in range(4097)])
    schema = dc.Schema(icd=column, x=dc.Categorical(["no", "yes"]))
    ledger = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    ledger.create("cohort", 5.0, 1e-5)
    with pytest.raises(dc.InputError, match=r"fewer levels") as caught:
        dc.ci_test(
            dc.connect(load.put(rows), schema), "icd", "x", epsilon=1.0, ledger=ledger, dataset="cohort"
        )
    assert "\n" not in str(caught.value)
    assert len(ledger.log("cohort")) == 1  # the entry that opened it
    assert dc.read(rows, schema).codes["icd"].tolist() == [1, 2]


# ---- collations: what an engine takes for equal


def test_collations_of_duckdb(load_on: Callable[[str], Loader]) -> None:
    load = load_on("duckdb")
    for collation in ("NOCASE", "NOACCENT", "NOCASE.NOACCENT"):
        cells = ["yes", "Yes", "é", "e", "E", None, "YES "]
        one(load, cells, pa.string(), dc.Categorical(["x", "yes", "e"]), f"VARCHAR COLLATE {collation}")
        numbers = ["1", "01", "1E1", "1e1", "x", "1.0", None]
        one(load, numbers, pa.string(), dc.Categorical(["x", 1, 10]), f"VARCHAR COLLATE {collation}")


def test_collations_of_postgres(load_on: Callable[[str], Loader]) -> None:
    """Neither a collation that ignores case and accents nor the blanks of char(n) changes a code."""
    load = load_on("postgres")
    with load.backend.con.cursor() as cursor:
        cursor.execute(
            f"CREATE COLLATION IF NOT EXISTS {load.space}.loose "
            "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
        )
    cells = ["yes", "Yes", "é", "e", "E", None, "YES "]
    one(load, cells, pa.string(), dc.Categorical(["x", "yes", "e"]), f"text COLLATE {load.space}.loose")
    numbers = ["1", "01", "x", "1.0", "\u2460", None]
    one(load, numbers, pa.string(), dc.Categorical(["x", 1]), f"text COLLATE {load.space}.loose")
    one(load, cells, pa.string(), dc.Categorical(["x", "yes", "e"]), 'text COLLATE "C"')
    one(load, ["no", "no ", "yes", " no", None], pa.string(), dc.Categorical(["x", "no", "yes"]), "char(5)")
    one(
        load, ["no", "no ", "yes", " no", None], pa.string(), dc.Categorical(["x", "no", "yes"]), "varchar(5)"
    )


def test_an_enumeration_of_postgres_harms_no_other_column(load_on: Callable[[str], Loader]) -> None:
    """It has no collation to ask for: a table with one could not be opened. Declared, it is one line."""
    load = load_on("postgres")
    mood = f"mood_{load.space}"  # in a schema that is searched: else Ibis knows no such type
    with load.backend.con.cursor() as cursor:
        cursor.execute(f"CREATE TYPE public.{mood} AS ENUM ('sad', 'glad')")
    table = pa.table({"x": ["no", "yes", "no"], "m": ["sad", "glad", "sad"]})
    source = load.put(table, {"m": mood})
    try:
        yes_no = dc.Categorical(["no", "yes"])
        assert dc.connect(source, dc.Schema(x=yes_no)).table(["x"]).tolist() == [2, 1]
        with pytest.raises((dc.InputError, dc.EngineError), match=r"view"):
            dc.connect(source, dc.Schema(m=dc.Categorical(["low", "glad"]))).table(["m"])
    finally:
        with load.backend.con.cursor() as cursor:
            cursor.execute(f"DROP TYPE public.{mood} CASCADE")


def test_numbers_of_postgres_that_no_float_holds(load_on: Callable[[str], Loader]) -> None:
    load = load_on("postgres")
    cells = ["1e400", "-1e400", "1e-400", "NaN", "0.1", None, "5", "Infinity", "0.09999999999999999999999"]
    source = load.put(pa.table({"x": pa.array(cells, pa.string())}), {"x": "numeric"})
    schema = dc.Schema(x=dc.Numeric(-10, 10, bins=[0, 0.1, 5], other=-10))
    found = dc.connect(source, schema).table(["x"]).tolist()
    # -10: -1e400, NaN, missing; 0: 1e-400; .1: 0.1 and what rounds to it; 5: 1e400, infinity, 5
    assert found == [3, 1, 2, 3]
    levels = dc.Schema(x=dc.Categorical(["x", "0.10", 5]))
    assert dc.connect(source, levels).table(["x"]).tolist() == [7, 1, 1]


def test_collations_of_spark(load_on: Callable[[str], Loader]) -> None:
    load = load_on("spark")
    cells = ["yes", "Yes", "é", "e", "E", None, "YES "]
    one(load, cells, pa.string(), dc.Categorical(["x", "yes", "e"]), "string collate UTF8_LCASE")
