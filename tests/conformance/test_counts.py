"""Every counting backend gives the same tables, on random schemas and at the edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.core.progress import Tick
from dpcausal.counts import covering
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Counts
from dpcausal.counts.rows import COSTS
from dpcausal.counts.stream import count_files, count_table
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

Make = Callable[[Dataset, Path], Counts]


def parquet_of(data: Dataset, folder: Path) -> Path:
    path = folder / "data.parquet"
    pq.write_table(pa.table(dict(data.codes)), path, row_group_size=max(1, data.n // 3))
    return path


def memory(data: Dataset, folder: Path) -> Counts:
    return MemoryCounts(data, threads=2)


def streamed(data: Dataset, folder: Path) -> Counts:
    return count_files(parquet_of(data, folder), data.schema, threads=2)


def scanned(data: Dataset, folder: Path) -> Counts:
    counts = count_files(parquet_of(data, folder), data.schema, threads=2)
    counts._too_large = True
    return counts


BACKENDS: dict[str, Make] = {"memory": memory, "stream": streamed, "scan": scanned}


def dataset(sizes: Sequence[int], n: int, seed: int, used: float = 1.0) -> Dataset:
    """n rows over columns of these sizes; with ``used`` < 1 the upper levels stay empty."""
    rng = np.random.default_rng(seed)
    schema = Schema({f"c{i}": Categorical(list(range(size))) for i, size in enumerate(sizes)})
    codes = {
        f"c{i}": rng.integers(0, max(1, int(size * used)), n).astype(np.uint8 if size <= 256 else np.uint16)
        for i, size in enumerate(sizes)
    }
    return Dataset(schema, n, codes)


def reference(data: Dataset, columns: Sequence[str]) -> NDArray[np.int64]:
    """Counted one row at a time by numpy: the definition."""
    table = np.zeros(data.sizes(columns), np.int64)
    if not columns:
        return np.array(data.n)
    np.add.at(table, tuple(data.codes[name] for name in columns), 1)
    return table


@pytest.fixture(params=BACKENDS)
def make(request: pytest.FixtureRequest) -> Make:
    return BACKENDS[request.param]


@pytest.mark.thin(2)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    sizes=st.lists(st.one_of(st.integers(1, 5), st.integers(250, 300)), min_size=1, max_size=7),
    n=st.integers(1, 300),
    seed=st.integers(0, 2**32 - 1),
    used=st.sampled_from([1.0, 0.5]),
)
def test_random_schemas_agree(
    make: Make, tmp_path_factory: pytest.TempPathFactory, sizes: list[int], n: int, seed: int, used: float
) -> None:
    data = dataset(sizes, n, seed, used)
    counts = make(data, tmp_path_factory.mktemp("counts"))
    rng = np.random.default_rng(seed)
    requests = [
        [str(name) for name in rng.permutation(data.columns)[: rng.integers(0, min(3, len(sizes)) + 1)]]
        for _ in range(8)
    ]
    for columns, table in zip(requests, counts.tables(requests), strict=True):
        assert table.dtype == np.int64
        assert np.array_equal(table, reference(data, columns))
        assert np.array_equal(counts.table(columns), table)
    assert counts.n == n


@pytest.mark.parametrize("n", [1, 63, 64, 65, 5000])
def test_one_column_and_word_borders(make: Make, tmp_path: Path, n: int) -> None:
    data = dataset([3], n, seed=n)
    assert np.array_equal(make(data, tmp_path).table(["c0"]), reference(data, ["c0"]))


@pytest.mark.thin(2)
def test_most_levels(make: Make, tmp_path: Path) -> None:
    data = dataset([65_535, 3], 2000, seed=1)
    counts = make(data, tmp_path)
    for columns in (["c0"], ["c1", "c0"]):
        assert np.array_equal(counts.table(columns), reference(data, columns))


def test_more_than_64_bits_a_row(tmp_path: Path) -> None:
    data = dataset([4] * 40, 500, seed=2)
    for name in BACKENDS:
        counts = BACKENDS[name](data, tmp_path)
        assert np.array_equal(counts.table(["c39", "c0", "c20"]), reference(data, ["c39", "c0", "c20"]))


@pytest.mark.parametrize(("sizes", "row_bytes"), [([200, 200, 200], 51), ([4] * 40, 40)])
def test_rows_are_scanned_where_memory_does_not_suffice(
    tmp_path: Path, sizes: list[int], row_bytes: int
) -> None:
    """Distinct rows, or all where a row is wider than a key: one byte less than they take, and none is held."""
    data = dataset(sizes, 3000, seed=3)
    path, distinct = parquet_of(data, tmp_path), len(np.unique(np.stack(list(data.codes.values())), axis=1).T)
    for spare, held in ((0, True), (1, False)):
        counts = count_files(path, data.schema, threads=1, memory_limit=distinct * row_bytes - spare)
        assert np.array_equal(counts.table(["c0", "c2"]), reference(data, ["c0", "c2"]))
        assert (counts._local is not None) == held
        drawn = counts.subsample(70).tables([["c0"], ["c1"]])
        assert [int(table.sum()) for table in drawn] == [70, 70]


@pytest.mark.parametrize("of", ["file", "table"])
def test_progress_is_the_same_whether_rows_repeat_or_not(of: str, tmp_path: Path) -> None:
    """They are held or counted in passes, by how many are distinct: the bar shows one pass either way."""
    seen = []
    for used in (0.02, 1.0):
        data = dataset([200, 200, 200], 3000, seed=3, used=used)
        path = parquet_of(data, tmp_path)
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE cells AS SELECT * FROM read_parquet('{path}')")
        options = {"threads": 1, "memory_limit": 1500 * 51}
        counts = (
            count_files(path, data.schema, **options)
            if of == "file"
            else count_table(connection, "cells", data.schema, **options)
        )
        stages: list[tuple[str, float | None]] = []
        done: list[float] = []

        @contextmanager
        def stage(
            what: str, total: float | None, stages: Any = stages, done: list[float] = done
        ) -> Iterator[Tick]:
            stages.append((what, total))
            yield done.append

        counts.stage = stage
        for columns in (["c0", "c2"], ["c1"]):
            assert np.array_equal(counts.table(columns), reference(data, columns))
            stages.append(("answered", None))
        assert (counts._local is None) == (used == 1.0)
        counts.subsample(7)
        assert sum(done) == pytest.approx(1.0)
        seen.append((stages, done))
    assert seen[0] == seen[1]
    assert [what for what, _ in seen[0][0][1:]] == ["answered", "answered"]


@pytest.mark.parametrize("m", [0, 1, 37, 400])
def test_subsample_is_a_part_of_the_whole(make: Make, tmp_path: Path, m: int) -> None:
    data = dataset([2, 3, 4], 400, seed=4)
    counts = make(data, tmp_path)
    part = counts.subsample(m)
    whole, drawn = counts.table(["c0", "c1", "c2"]), part.table(["c0", "c1", "c2"])
    assert part.n == m == drawn.sum()
    assert (drawn <= whole).all()
    assert m < 400 or np.array_equal(drawn, whole)


@pytest.mark.thin(2)
def test_bad_requests_are_one_line(make: Make, tmp_path: Path) -> None:
    counts = make(dataset([2, 60_000, 60_000], 10, seed=5), tmp_path)
    for columns, words in (
        (["c9"], 'no column "c9"'),
        (["c0", "c0"], "twice"),
        (["c1", "c2"], "declared cells"),
        ("c0", "list of names"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            counts.table(columns)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="without replacement"):
        counts.subsample(11)
    assert counts.tables([]) == []


def test_repr_shows_no_count_but_n(make: Make, tmp_path: Path) -> None:
    one = make(dataset([2, 3], 50, seed=6), tmp_path)
    again = make(dataset([2, 3], 50, seed=7), tmp_path)
    assert repr(one) == repr(again)


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("sizes", [(2, 3, 4, 2, 2, 5, 3, 2, 2, 2, 3, 4, 2, 2, 2, 2), (2, 3, 4, 2, 2, 5)])
def test_every_way_through_memory_agrees(
    monkeypatch: pytest.MonkeyPatch, margin: float, sizes: Sequence[int]
) -> None:
    """Rows as they are and distinct ones, each with covering tables and without."""
    monkeypatch.setattr(covering, "COSTS", replace(COSTS, margin=margin))
    data = dataset(sizes, 20_001, seed=8)
    counts = MemoryCounts(data, threads=2)
    rng = np.random.default_rng(8)
    for size in (1, 2, 3, 5, 3, 2):
        requests = [[str(name) for name in rng.permutation(data.columns)[:size]] for _ in range(40)]
        for columns, table in zip(requests, counts.tables(requests), strict=True):
            assert np.array_equal(table, reference(data, columns))
        assert np.array_equal(counts.table(requests[0]), reference(data, requests[0]))


def test_bad_input(tmp_path: Path) -> None:
    data = dataset([2, 3], 5, seed=9)
    path = parquet_of(data, tmp_path)
    with pytest.raises(SchemaError, match=r'no column "c_1" \(did you mean'):
        count_files(path, Schema(c_1=Categorical([0, 1])))
    with pytest.raises(InputError, match=r"none\.parquet"):
        count_files(tmp_path / "none.parquet", data.schema)
    with pytest.raises(InputError, match="no such table"):
        count_table(duckdb.connect(), "none", data.schema)
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"c0": [[1], [2]], "c1": [0, 1]}), nested)
    with pytest.raises(SchemaError, match=r'"c0" of nested\.parquet'):
        count_files(nested, data.schema)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE nested AS SELECT [1] AS c0, 1 AS c1")
    with pytest.raises(InputError, match='"c0" is stored as'):
        count_table(connection, "nested", data.schema)
    empty = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"c0": pa.array([], pa.int8()), "c1": pa.array([], pa.int8())}), empty)
    with pytest.raises(InputError, match="no rows"):
        count_files(empty, data.schema)


def test_a_file_damaged_half_way_is_one_line(tmp_path: Path) -> None:
    data = dataset([2, 3], 5000, seed=9)
    path = parquet_of(data, tmp_path)
    body = bytearray(path.read_bytes())
    body[4 : len(body) // 2] = bytes(len(body) // 2 - 4)
    path.write_bytes(body)
    for scan_only in (True, False):
        counts = count_files(path, data.schema)
        counts._too_large = scan_only
        with pytest.raises(InputError, match=r"data\.parquet is damaged") as caught:
            counts.table(["c0"])
        assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_is_other_everywhere(tmp_path: Path) -> None:
    """DuckDB refuses such a cell and names it; neither may show."""
    path = tmp_path / "cells.parquet"
    cells = pa.array([b"no", b"SECRET\xff", b"yes", b"no"], pa.binary())
    pq.write_table(pa.table({"x": cells.view(pa.string()), "y": [0, 1, 1, 0]}), path)
    schema = Schema(x=Categorical(["no", "yes"]), y=Categorical([0, 1]))
    for scan_only in (True, False):
        counts = count_files(path, schema)
        counts._too_large = scan_only
        assert counts.table(["x", "y"]).tolist() == [[2, 1], [0, 1]]
    assert count_files(path, schema).subsample(4).table(["x"]).tolist() == [3, 1]


def test_a_view_that_fails_says_nothing_of_its_cells() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE VIEW v AS SELECT CAST(c AS INTEGER) AS x FROM (VALUES ('1'), ('SECRETVALUE')) t(c)"
    )
    counts = count_table(connection, "v", Schema(x=Categorical([0, 1])))
    with pytest.raises(InputError) as caught:
        counts.table(["x"])
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
