"""The extremes of every type that DuckDB codes: right codes, no error, other rows as they were."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.counts.stream import count_table
from dpcausal.data.columns import Categorical, Column, Numeric
from dpcausal.data.schema import Schema

BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
RANGES = {kind: (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for kind, b in BITS.items()} | {
    f"U{kind}": (0, 2**b - 1) for kind, b in BITS.items()
}
LEVELS: dict[str, list[int | str]] = {
    "from below zero": [-1, 0, 1],
    "from zero": [0, 1],
    "from above": [3, 4, 5],
    "apart": [-(2**63), -5, 9, 2**63, 2**64 - 1],
    "lowest": [-(2**63), 1 - 2**63],
    "highest": [2**64 - 2, 2**64 - 1],
    "many": list(range(-100, 100, 3)),
    "many, apart": [-(2**63), *range(-9, 200, 3), 2**64 - 1],
    "backwards": [1, 0, -1],
    "none of them": [7],
}
NUMERICS = [
    Numeric(-1, 1, bins=[0, 0.5], other=0.25, missing=[2**63, -128]),
    Numeric(-4, 4, bins=[i / 10 for i in range(-39, 40)], other=-4),
]


def coded(kind: str, cells: list[str], columns: list[Column]) -> list[list[int]]:
    """The code of every cell under every column, by both ways of counting: packed keys and grouping sets."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE cells (x {kind}, place INTEGER)")
    for place, cell in enumerate(cells):
        connection.execute(f"INSERT INTO cells VALUES (CAST({cell} AS {kind}), {place})")
    names = [f"c{i}" for i in range(len(columns))]
    connection.execute(
        f"CREATE TABLE wide AS SELECT place, {', '.join(f'x AS {name}' for name in names)} FROM cells"
    )
    schema = Schema({"place": Categorical(range(len(cells))), **dict(zip(names, columns, strict=True))})
    results = []
    for scan in (False, True):
        found = count_table(connection, "wide", schema, threads=1)
        found._too_large = scan
        tables = found.tables([["place", name] for name in names])
        assert all((table.sum(axis=1) == 1).all() for table in tables)
        results.append([table.argmax(axis=1).tolist() for table in tables])
    assert results[0] == results[1]
    return results[0]


@pytest.mark.parametrize("kind", RANGES)
def test_every_integer_at_its_extremes(kind: str) -> None:
    low, high = RANGES[kind]
    wanted = {
        low,
        low + 1,
        -1,
        0,
        1,
        3,
        high - 1,
        high,
        2**63,
        2**64 - 1,
        2**64,
        2**127 - 1,
        2**127,
        2**127 + 5,
    }
    values: list[int | None] = [None, *sorted(v for v in wanted if low <= v <= high)]
    categorical = [Categorical(levels, other=levels[-1]) for levels in LEVELS.values()]
    columns: list[Column] = [*categorical, *NUMERICS]
    found = coded(kind, ["NULL" if value is None else f"'{value}'" for value in values], columns)
    for column, codes in zip(categorical, found, strict=False):
        places = {level: place for place, level in enumerate(column.levels)}
        assert codes == [places.get(value, column.other_code) for value in values]  # type: ignore[arg-type]
    for numeric, codes in zip(NUMERICS, found[len(categorical) :], strict=True):
        assert codes == [_bin(numeric, value) for value in values]


def _bin(column: Numeric, value: float | None) -> int:
    assert column.bins is not None
    assert column.other is not None
    if value is None or value != value or float(value) in {float(code) for code in column.missing}:
        value = column.other
    return sum(cut <= min(max(float(value), column.lower), column.upper) for cut in column.bins)


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_every_float_at_its_extremes(kind: str) -> None:
    top = float(np.finfo(np.float32 if kind == "FLOAT" else np.float64).max)
    values = [None, 0.0, -0.0, 1.0, 5e-324, top, -top, float("inf"), float("-inf"), float("nan")]
    cells = ["NULL" if value is None else f"'{value!r}'" for value in values]
    columns: list[Column] = [Categorical([-1, 0, 1], other=-1), Categorical(list(range(-1, 60))), *NUMERICS]
    first, second, *numeric = coded(kind, cells, columns)
    tiny = 1 if kind == "FLOAT" else 0  # 5e-324 is 0 as a float32
    assert first == [0, 1, 1, 2, tiny, 0, 0, 0, 0, 0]
    other = columns[1].other_code  # type: ignore[union-attr]
    assert second == [other, 1, 1, 2, 1 if tiny else other] + [other] * 5
    assert numeric == [[_bin(column, value) for value in values] for column in NUMERICS]


@pytest.mark.parametrize(
    ("kind", "cell"),
    [
        ("INTERVAL", "'1 day'"),
        ("BLOB", "'\\xAA'"),
        ("UUID", "uuid()"),
        ("BIT", "'101'"),
        ("INTEGER[]", "[1]"),
    ],
)
def test_other_types_are_refused_by_their_type_whatever_they_hold(kind: str, cell: str) -> None:
    said: set[str] = set()
    for value in (cell, "NULL"):
        for column in (Categorical(["a", "b"]), NUMERICS[0]):
            with pytest.raises(InputError, match="store it otherwise") as caught:
                coded(kind, [value, "NULL"], [column])
            said.add(str(caught.value))
    assert len(said) == 1  # one line, whatever the cells


def test_what_sql_does_not_code_is_coded_as_it_passes_by() -> None:
    """No cell of these types is an error, however far out it is."""
    far = ["'infinity'", "'-infinity'", "NULL", "'2020-01-01'"]
    day = Categorical(["x", "2020-01-01"])
    zoned = Categorical(["x", "2020-01-01Z"])
    for kind in ("TIMESTAMP", "DATE"):
        assert coded(kind, far, [day]) == [[0, 0, 0, 1]]
    assert coded("TIMESTAMPTZ", [*far[:3], "'2020-01-01 00:00:00+00'"], [zoned, day]) == [
        [0, 0, 0, 1],
        [0, 0, 0, 0],
    ]
    largest = [str(10**38 - 1), str(Decimal(-1)), "NULL", "7"]
    assert coded("DECIMAL(38,0)", largest, [Categorical(["x", 7]), Numeric(0, 10, bins=[5], other=5)]) == [
        [0, 0, 0, 1],
        [1, 0, 1, 1],
    ]
    with pytest.raises(InputError, match="declared numeric"):
        coded("DATE", far, [Numeric(0, 1)])


def test_text_of_any_kind_is_coded() -> None:
    cells: list[Any] = [
        "''",
        "'a'",
        "' a '",
        "chr(0)",
        "chr(65279) || 'a'",
        "repeat('x', 100000)",
        "NULL",
        "'-1'",
    ]
    (codes,) = coded("VARCHAR", cells, [Categorical(["a", "b", -1], other="b")])
    assert codes == [1, 0, 0, 1, 1, 1, 1, 2]
