"""The SQL for engines that are not on this machine: compiled, and compared with files that a person has read.

``DPCAUSAL_WRITE_GOLDEN=1 pytest tests/engines/test_dialects.py`` writes the files anew; read the difference.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.counts.engine import EngineCounts, EngineTable
from dpcausal.counts.expressions import DIALECTS, code_expression
from dpcausal.counts.feature_queries import FeatureQueries, one_by_one
from dpcausal.counts.feature_sums import BLOCKS, Cells, shortening

ibis = pytest.importorskip("ibis")

FOLDER = Path(__file__).with_name("golden")
STORED = {
    "smoke": "string",
    "age": "float64",
    "dose": "float32",
    "ward": "int16",
    "paid": "decimal(9, 2)",
    "born": "date",
    "seen": "timestamp(6)",
    "sent": "timestamp('UTC', 6)",
    "dead": "boolean",
}
SCHEMA = dc.Schema(
    smoke=dc.Categorical(["no", "yes"], aliases={"Y": "yes"}, missing=["refused"]),
    age=dc.Numeric(0, 110, bins=[18, 40, 65], missing=[999]),
    dose=dc.Categorical(["none", "0.1", "2.5"]),
    ward=dc.Categorical([1, 2, 3, 4, "none"], other="none"),
    paid=dc.Numeric(0, 1000, bins=[0.1, 99.95]),
    born=dc.Categorical(["before", "2020-01-01"]),
    seen=dc.Categorical(["never", "2020-01-01 12:30:00"]),
    sent=dc.Categorical(["never", "2020-01-01 12:30:00.000001Z"]),
    dead=dc.Categorical(["no", "yes"], aliases={"true": "yes", "false": "no"}),
)
GOLDEN = ("bigquery", "snowflake", "trino", "postgres")


def compiled(dialect: str) -> str:
    """Return the queries for a table of every stored type."""
    table = ibis.table(STORED, name="patients")
    source = EngineTable(dialect, "patients", DIALECTS[dialect], lambda: table)
    counts = EngineCounts(source, SCHEMA)
    parts = (counts.count_query(table), counts.distinct_query(table), counts.cover_query(table, [0, 1]))
    return "\n\n".join(f"{ibis.to_sql(part, dialect=dialect)};" for part in parts) + "\n"


def compiled_features(dialect: str) -> str:
    """Return queries of moments: places on a log scale; lengths and sums of two cells of a number, and of levels."""
    table = ibis.table({"age": "float64", "dose": "float32", "smoke": "string"}, name="patients")
    dose = dc.Numeric(0.5, 400, scale="log")
    schema = dc.Schema(age=SCHEMA["age"], dose=dose, smoke=SCHEMA["smoke"])
    writer = FeatureQueries(
        table,
        {"smoke": code_expression(table.smoke, "smoke", schema["smoke"], DIALECTS[dialect], "patients")},
        {"age": schema["age"], "dose": dose},
        DIALECTS[dialect],
        "patients",
    )
    halves = np.arange(BLOCKS) * 2 // BLOCKS
    number = Cells(np.array([[-512], [512]]), halves, np.ones(BLOCKS, np.int64))
    columns = {"age": number, "smoke": Cells(np.array([[0], [512]]))}
    with one_by_one():
        parts = [
            writer.places("dose"),
            writer.lengths(columns, np.array([262144, 524288])),
            writer.sums(columns, shortening(1.5), writer.in_parts(columns)[0]),
        ]
        return "\n\n".join(f"{ibis.to_sql(part, dialect=dialect)};" for part in parts) + "\n"


@pytest.mark.parametrize("dialect", GOLDEN)
@pytest.mark.parametrize("what", ["codes", "features"])
def test_the_sql_is_the_one_that_was_read(dialect: str, what: str) -> None:
    path = FOLDER / f"{dialect}{'' if what == 'codes' else '_features'}.sql"
    found = compiled(dialect) if what == "codes" else compiled_features(dialect)
    if os.environ.get("DPCAUSAL_WRITE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        path.write_bytes(found.encode())
    assert found == path.read_bytes().decode()


@pytest.mark.parametrize("dialect", GOLDEN)
def test_every_code_is_a_64_bit_number_before_it_is_multiplied(dialect: str) -> None:
    """A literal is 32-bit for an engine: without the cast a key of many columns would overflow."""
    word = {"bigquery": "INT64", "postgres": "BIGINT", "snowflake": "BIGINT", "trino": "BIGINT"}[dialect]
    query = compiled(dialect).split(";")[1]
    assert query.count(f"AS {word})") >= len(STORED)


def test_texts_are_compared_by_bytes_where_a_collation_may_hide() -> None:
    for dialect, function in (("bigquery", "TO_HEX("), ("snowflake", "HEX_ENCODE(")):
        assert function in compiled(dialect)
    assert "HEX" not in compiled("trino")
    assert "HEX" not in compiled("postgres")


def test_a_collated_column_of_postgres_is_compared_by_bytes() -> None:
    table = ibis.table({"smoke": "string"}, name="patients")
    dialect = replace(DIALECTS["postgres"], collated=frozenset({"smoke"}))
    counts = EngineCounts(
        EngineTable("PostgreSQL", "patients", dialect, lambda: table), SCHEMA.select(["smoke"])
    )
    assert "ENCODE(CONVERT_TO(" in ibis.to_sql(counts.distinct_query(table), dialect="postgres")
