"""Put an Arrow table on an engine, for tests and benchmarks: DuckDB, PostgreSQL, Spark."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

POSTGRES_TYPES: list[tuple[Callable[[pa.DataType], bool], str]] = [
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "smallint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_uint8, "smallint"),
    (pa.types.is_uint16, "integer"),
    (pa.types.is_float32, "real"),
    (pa.types.is_float64, "double precision"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_string, "text"),
]


@dataclass
class Loader:
    """Puts tables on one engine.

    Attributes
    ----------
    name : str
        Of the engine.
    put : callable
        Takes an Arrow table, and types by column where they differ from the usual; returns the Ibis table.
    backend : object
        Ibis' connection.
    close : callable
        Ends it.
    space : str
        The schema that holds the tables, where there are several.
    """

    name: str
    put: Callable[..., Any]
    backend: Any
    close: Callable[[], None] = field(default=lambda: None)
    space: str = ""


def quoted(name: str) -> str:
    """Return an identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def duckdb_loader() -> Loader:
    """DuckDB through Ibis, in memory."""
    import ibis

    backend = ibis.duckdb.connect()
    number = itertools.count()

    def put(table: pa.Table, types: dict[str, str] | None = None) -> Any:
        name = f"t{next(number)}"
        backend.con.register("arrow_rows", table)
        described = backend.con.execute("DESCRIBE SELECT * FROM arrow_rows").fetchall()
        columns = ", ".join(f"{quoted(c)} {(types or {}).get(c, kind)}" for c, kind, *_ in described)
        backend.con.execute(f"CREATE TABLE {name} ({columns})")
        backend.con.execute(f"INSERT INTO {name} SELECT * FROM arrow_rows")
        backend.con.unregister("arrow_rows")
        return backend.table(name)

    return Loader("duckdb", put, backend, backend.disconnect)


def postgres_type(type_: pa.DataType) -> str:
    """Return the usual type of PostgreSQL for an Arrow type."""
    if pa.types.is_decimal(type_):
        return f"numeric({type_.precision}, {type_.scale})"
    return next(name for check, name in POSTGRES_TYPES if check(type_))


def postgres_loader(url: str) -> Loader:
    """PostgreSQL at a URL; tables go to a schema of their own, dropped at the end."""
    import ibis
    import psycopg

    space = f"engine_tests_{os.getpid()}"
    writer = psycopg.connect(url, autocommit=True)
    writer.execute(f"DROP SCHEMA IF EXISTS {space} CASCADE")
    writer.execute(f"CREATE SCHEMA {space}")
    backend = ibis.connect(url)
    number = itertools.count()

    def put(table: pa.Table, types: dict[str, str] | None = None) -> Any:
        name = f"t{next(number)}"
        columns = ", ".join(
            f"{quoted(c)} {(types or {}).get(c) or postgres_type(table.schema.field(c).type)}".replace(
                "%", "%%"
            )
            for c in table.column_names
        ).replace("%%", "%")
        cursor = writer.cursor()
        cursor.execute(f"CREATE TABLE {space}.{name} ({columns})".encode())
        with cursor.copy(f"COPY {space}.{name} FROM STDIN") as copy:
            for row in zip(*(table[c].to_pylist() for c in table.column_names), strict=True):
                copy.write_row(row)
        return backend.table(name, database=space)

    def close() -> None:
        writer.execute(f"DROP SCHEMA IF EXISTS {space} CASCADE")
        writer.close()
        backend.disconnect()

    return Loader("postgres", put, backend, close, space)


def spark_loader(folder: Path, master: str = "spark://local[2]") -> Loader:
    """Spark on this machine; tables are Parquet files in ``folder``."""
    from dpcausal.counts.connect import _spark

    backend = _spark(master)
    number = itertools.count()

    def put(table: pa.Table, types: dict[str, str] | None = None) -> Any:
        name = f"t{next(number)}"
        pq.write_table(table, folder / f"{name}.parquet")
        if not types:
            return backend.read_parquet(str(folder / f"{name}.parquet"), table_name=name)
        frame = backend._session.read.parquet(str(folder / f"{name}.parquet"))
        for column, type_ in types.items():
            frame = frame.withColumn(column, frame[f"`{column}`"].cast(type_))
        frame.createOrReplaceTempView(name)
        return backend.table(name)

    return Loader("spark", put, backend, backend._session.stop)
