"""Moments where the rows are: the integers of memory, bit for bit, and so the graph of memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcausal as dc
from dpcausal.citests.quantiles import exact_spread
from dpcausal.counts import engine
from dpcausal.counts.engine import EngineCounts
from dpcausal.counts.feature_sums import BatchRows, FeatureRows, shortening, span_starts
from dpcausal.discovery.moments import explained, feature_cells
from engine_tables import Loader

SCHEMA = dc.Schema(
    x=dc.Numeric(-8, 10, other=1.5),
    z=dc.Numeric(0, 500),
    k=dc.Categorical(["p", "q", "r"]),
    y=dc.Numeric(-800, 1e3, missing=[7]),
    w=dc.Numeric(-10, 12),
    u=dc.Numeric(0, 500, scale="log"),
    v=dc.Numeric(0.5, 400, scale="log", missing=[3], missing_level=True),
)


def rows(n: int = 3000, seed: int = 1) -> pa.Table:
    """x <- z -> y, x -> w, k by itself; with every cell that a number may be, and places where cells meet."""
    rng = np.random.default_rng(seed)
    z = rng.lognormal(1, 1.2, n)
    x = np.log(z) + rng.normal(size=n)
    w = x + rng.normal(size=n)
    ugly = [np.nan, np.inf, -np.inf, -0.0, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 10.0, -8.0, 1.0]
    x[: len(ugly)] = ugly
    z[: len(ugly)] = ugly
    edges = np.arange(400) * (500 / 2**18)  # of places
    z[100:500], z[500:900] = edges, np.nextafter(edges, -1)
    y = np.float32(100) * (np.log(np.clip(z, 1e-9, 1e9)) + rng.normal(size=n)).astype(np.float32)
    y[:3] = [7, np.nan, 2**30]
    u, v = rng.lognormal(1, 2, n), rng.lognormal(1, 2, n).astype(np.float32)
    u[: len(ugly)] = ugly
    for cells, (lower, upper) in ((u, (0.0, 500.0)), (v, (0.5, 400.0))):
        meet = np.array(span_starts(lower, upper), cells.dtype)  # where spans meet
        cells[100:165], cells[400:465] = meet, np.nextafter(meet, cells.dtype.type(-1))
        cells[700:900] = lower + np.arange(200) * (meet[1] - meet[0]) / 2**12  # places of the first span
    v[:3] = [3, np.nan, 2**30]
    k = rng.choice(["p", "q", "r", "?"], n)
    absent = rng.random(n) < 0.02
    numbers = {"x": pa.array(x, mask=absent), "z": z, "y": pa.array(y, pa.float32()), "w": w, "u": u, "v": v}
    return pa.table({**numbers, "k": k})


def same(there: FeatureRows, here: FeatureRows, harmonics: int) -> None:
    """Compare everything that a release is made of."""
    spreads = {}
    for name in ("x", "z", "y", "u", "v"):
        places, counts = there.place_counts(name)
        order = np.argsort(places)
        expected = here.place_counts(name)
        assert np.array_equal(places[order], expected[0])
        assert np.array_equal(counts[order], expected[1])
        spreads[name] = exact_spread(here, name)
    columns = feature_cells(SCHEMA, harmonics, spreads)  # w by its bounds
    limits = np.geomspace(1e4, 1e7, 9).astype(np.int64)
    assert np.array_equal(there.length_counts(columns, limits), here.length_counts(columns, limits))
    for reach in (1.7, 0.01) if harmonics else (20.0, 1.7):
        found, expected_sums = (side.feature_sums(columns, shortening(reach)) for side in (there, here))
        assert found.rows == expected_sums.rows
        assert np.array_equal(found.first, expected_sums.first)
        assert np.array_equal(found.second, expected_sums.second)
        assert np.abs(found.second).max() > 0


def test_integers_from_an_engine_are_those_of_memory(load: Loader) -> None:
    table = rows()
    there = dc.connect(load.put(table), SCHEMA)
    assert isinstance(there, EngineCounts)
    same(there, BatchRows.of(dc.read(table, SCHEMA)), int(load.name != "spark"))  # Spark compiles for long


def test_integers_from_a_file_and_a_database_are_those_of_memory(tmp_path: Path) -> None:
    import duckdb

    table = rows(5000)
    here = BatchRows.of(dc.read(table, SCHEMA))
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=777)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as database:
        database.register("t", table)
        database.execute("CREATE TABLE visits AS SELECT * FROM t")
    for source, name in (
        (str(tmp_path / "rows.parquet"), None),
        (f"duckdb:///{tmp_path}/rows.duckdb", "visits"),
    ):
        there = dc.connect(source, SCHEMA, name)
        assert isinstance(there, FeatureRows)
        same(there, here, 3)


def test_a_row_without_any_feature_is_a_row_like_others(load: Loader) -> None:
    """The first level of every column: all features are 0, and a division by the row's length was an error."""
    schema = dc.Schema(a=dc.Categorical(["no", "yes"]), b=dc.Categorical([0, 1, 2]))
    table = pa.table({"a": ["no", "yes", "no", None], "b": [0, 2, 1, 7]})
    columns = feature_cells(schema, 0)
    here, there = BatchRows.of(dc.read(table, schema)), dc.connect(load.put(table), schema)
    assert isinstance(there, FeatureRows)
    for reach in (20.0, 0.01):
        found, expected = (side.feature_sums(columns, shortening(reach)) for side in (there, here))
        assert found.rows == expected.rows == 4
        assert np.array_equal(found.second, expected.second)


def test_sums_do_not_depend_on_the_order_of_rows() -> None:
    table = rows(70_000)
    columns, short = feature_cells(SCHEMA, 3), shortening(2.0)
    turned = table.take(np.random.default_rng(2).permutation(len(table)))
    one, two = (BatchRows.of(dc.read(t, SCHEMA)).feature_sums(columns, short) for t in (table, turned))
    assert np.array_equal(one.second, two.second)
    assert np.array_equal(one.first, two.first)


def test_a_graph_by_moments_is_that_of_memory_and_auto_takes_it(load: Loader) -> None:
    table = rows()
    options = {"epsilon": 8.0, "delta": 1e-6, "confidence": 0, "harmonics": 0}
    with dc.testing.seeded(1):
        here = dc.discover(dc.read(table, SCHEMA), **options)
    with dc.testing.seeded(1):
        there = dc.discover(dc.connect(load.put(table), SCHEMA), **options)
    assert there.method == here.method == "moments"
    assert there.graph == here.graph
    assert there.privacy.events == here.privacy.events
    assert there.notes == here.notes
    assert frozenset("xw") in there.graph.skeleton


def test_explain_shows_what_a_graph_by_moments_sends(
    load_on: Callable[[str], Loader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many queries; those that no release comes before, letter for letter."""
    import ibis

    sent: list[str] = []
    fetch = engine.fetch
    monkeypatch.setattr(engine, "fetch", lambda asked: sent.append(str(ibis.to_sql(asked))) or fetch(asked))
    schema = SCHEMA.select(["x", "k", "w", "u"])
    data = dc.connect(load_on("duckdb").put(rows()), schema)
    words = explained(data, 0)
    assert sent == []
    dc.discover(data, epsilon=8.0, delta=1e-6, confidence=0, harmonics=0)
    assert len(sent) == words.count(";") == 1 + 3 + 1 + 1
    assert all(f"{query};" in words for query in sent[:4])
    assert "how u is spread" in words


def test_what_needs_numbers_side_by_side_is_refused_before_a_charge(load: Loader) -> None:
    data = dc.connect(load.put(rows(1000)), SCHEMA)
    with pytest.raises(dc.InputError, match=r"dc\.read") as caught:
        dc.ci_test(data, "x", "y", ["z"], epsilon=1.0, method="gcm")
    assert "\n" not in str(caught.value)
