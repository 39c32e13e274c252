"""Counting on engines beside memory and beside the engines' own GROUP BY.

    python benchmarks/engines.py same [--tables 200]        codes of random ugly tables, engine by engine
    python benchmarks/engines.py cost [--rows 1000000 10000000] [--columns 20] [--ways ...] [--folder DIR]

``same`` compares tables of every column, and of the first three together, of random schemas with ugly cells: memory,
stream, DuckDB (a file, a table of a database by its own coder, SQL through Ibis), PostgreSQL (where
``DPCAUSAL_TEST_POSTGRES`` holds a URL) and Spark (where Java is there). It prints how many tables were compared and how
many differ. What memory refuses by types must be refused by every engine.

``cost`` runs ``discover`` from end to end, and the bare GROUP BY of the same engine over the same columns, each in a
process of its own, and prints seconds, CPU seconds (those of the JVM included, its start not) and the largest resident
memory. What is compiled is compiled before, on a few rows. ``confidence=0``: repeats cost the same for any number of
rows.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Counts
from engine_tables import Loader, duckdb_loader, postgres_loader, spark_loader
from ugly_tables import ugly_table

WAYS = ("memory", "duckdb", "duckdb GROUP BY", "spark", "spark GROUP BY")
LEVELS = (2, 3, 2, 4, 2, 3, 2, 2, 4, 2, 3, 2, 2, 3, 4, 2, 2, 3, 2, 2)


def has_spark() -> bool:
    """Return whether Spark can run here."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return False
    return shutil.which("java") is not None


# ---- the same codes


def compared(counts: Counts, expected: Counts) -> bool:
    """Return whether the tables of every column, and of the first three together, are the same."""
    names = list(counts.schema)
    requests = [*([name] for name in names), names[:3]]
    found = zip(counts.tables(requests), expected.tables(requests), strict=True)
    return counts.n == expected.n and all(np.array_equal(a, b) for a, b in found)


def in_database(rows: pa.Table, schema: dc.Schema) -> Counts | None:
    """Return a table of a DuckDB database, with the columns that its coder takes; None where it takes none."""
    import duckdb

    from dpcausal.counts.sql import DuckDBCounts, coding_expression

    connection = duckdb.connect()
    connection.register("arrow_rows", rows)
    connection.execute("CREATE TABLE visits AS SELECT * FROM arrow_rows")
    kept = []
    for name, kind, *_ in connection.execute("DESCRIBE visits").fetchall():
        if name in schema:
            with contextlib.suppress(dc.InputError):
                coding_expression(name, str(kind), schema[name])
                kept.append(name)
    return DuckDBCounts("visits", schema.select(kept), connection=connection) if kept else None


def same(tables: int, spark_tables: int) -> None:
    """Compare every engine with memory, and print how often they differ."""
    from dpcausal.counts.stream import stream

    folder = Path(tempfile.mkdtemp())
    loaders: dict[str, Loader] = {"DuckDB through Ibis": duckdb_loader()}
    if url := os.environ.get("DPCAUSAL_TEST_POSTGRES"):
        loaders["PostgreSQL"] = postgres_loader(url)
    if spark_tables and has_spark():
        loaders["Spark"] = spark_loader(folder)
    done: dict[str, list[bool]] = {}
    refused = compared_tables = 0
    for seed in itertools.count():
        if compared_tables == tables:
            break
        rows, schema = ugly_table(seed)
        path = folder / "rows.parquet"
        pq.write_table(rows, path)
        try:
            expected = MemoryCounts(dc.read(rows, schema))
        except dc.SchemaError:  # by types alone: numbers where no level is one
            refused += 1
            for loader in loaders.values():
                with contextlib.suppress(dc.SchemaError):
                    dc.connect(loader.put(rows), schema)
                    raise SystemExit(f"{loader.name} takes a table that memory refuses") from None
            continue
        compared_tables += 1
        ways: dict[str, Callable[[], Any]] = {
            "stream": lambda path=path, schema=schema: stream(path, schema),  # type: ignore[misc]
            "DuckDB, a file": lambda path=path, schema=schema: dc.connect(path, schema),  # type: ignore[misc]
            "DuckDB, a table": lambda rows=rows, schema=schema: in_database(rows, schema),  # type: ignore[misc]
        }
        for name, loader in loaders.items():
            if name != "Spark" or compared_tables <= spark_tables:
                ways[name] = lambda loader=loader, rows=rows, schema=schema: dc.connect(
                    loader.put(rows), schema
                )  # type: ignore[misc]
        for name, make in ways.items():
            if (made := make()) is not None:
                done.setdefault(name, []).append(compared(made, expected))
    print(f"{refused} tables were refused by their types, everywhere")
    print(f"{'engine':22} {'tables':>7} {'differ':>7}")
    for name, results in done.items():
        print(f"{name:22} {len(results):7} {results.count(False):7}")
    for loader in loaders.values():
        loader.close()
    if not all(map(all, done.values())):
        raise SystemExit("an engine gives other codes than memory")


# ---- cost


def generate(path: Path, rows: int, columns: int, chunk: int = 1 << 21) -> None:
    """Rows of a chain: each column copies its predecessor (cut to its levels) nine times out of ten."""
    rng = np.random.default_rng(20)
    levels = [LEVELS[i % len(LEVELS)] for i in range(columns)]
    schema = pa.schema([(f"c{i:02d}", pa.int8()) for i in range(columns)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, chunk):
            n = min(chunk, rows - start)
            made, last = [], rng.integers(0, 2, n, dtype=np.int8)
            for size in levels:
                fresh = rng.integers(0, size, n, dtype=np.int8)
                last = np.where(rng.random(n, dtype=np.float32) < 0.9, np.minimum(last, size - 1), fresh)
                made.append(pa.array(last.astype(np.int8)))
            writer.write_table(pa.table(made, schema=schema))


def schema_of(path: Path) -> dc.Schema:
    """Return the schema of a generated file."""
    names = pq.read_schema(path).names
    return dc.Schema(
        {name: dc.Categorical(list(range(LEVELS[i % len(LEVELS)]))) for i, name in enumerate(names)}
    )


def process_figures(pid: int) -> tuple[float, float]:
    """Return the CPU seconds of another process, and its largest resident memory in MiB."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    peak = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return (int(fields[11]) + int(fields[12])) / ticks, int(peak.split()[1]) / 1024


def measure(way: str, path: Path, warm: Path, workers: int) -> dict[str, float]:
    """Run one way in this process."""
    schema = schema_of(path)
    engine, _, bare = way.partition(" ")
    jvm: int | None = None
    backend: Any = None
    if engine == "spark":
        from dpcausal.counts.connect import _spark

        backend = _spark(f"spark://local[{workers}]")
        jvm = backend._session.sparkContext._gateway.proc.pid

    def source(file: Path) -> Any:
        if engine == "memory":
            return dc.read(file, schema)
        if engine == "duckdb":
            return dc.connect(file, schema, memory_limit=700_000_000)
        return dc.connect(backend.read_parquet(str(file)), schema)

    def run(file: Path) -> int:
        if not bare:
            found = dc.discover(
                source(file), epsilon=1.0, delta=1e-9, method="measured", confidence=0, anyway=True
            )
            return len(found.graph.skeleton)
        names = list(schema)
        if engine == "duckdb":
            import duckdb

            connection = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
            listed = ", ".join(names)
            query = f"SELECT {listed}, count(*) AS w FROM read_parquet('{file}') GROUP BY {listed}"
            return len(connection.execute(query).fetchnumpy()["w"])
        return int(backend._session.read.parquet(str(file)).groupBy(*names).count().toArrow().num_rows)

    def figures() -> tuple[float, float]:
        cpu, _ = process_figures(jvm) if jvm else (0.0, 0.0)
        return time.perf_counter(), time.process_time() + cpu

    run(warm)
    before = figures()
    answer = run(path)
    after = figures()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + (
        process_figures(jvm)[1] if jvm else 0.0
    )
    return {"seconds": after[0] - before[0], "cpu": after[1] - before[1], "mib": peak, "answer": answer}


def cost(
    rows: list[int], columns: list[int], ways: list[str], folder: Path, memory_rows: int, workers: int
) -> None:
    """Measure every way for every size, and print what it costs beside the engine's own GROUP BY."""
    folder.mkdir(parents=True, exist_ok=True)
    warm_rows = 20_000
    head = f"{'rows':>12} {'columns':>7}  {'way':18} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9} {'to GROUP BY':>12}"
    print(head, flush=True)
    for wide in columns:
        warm = folder / f"warm_{wide}.parquet"
        generate(warm, warm_rows, wide)
        for n in rows:
            path = folder / f"rows_{n}_{wide}.parquet"
            if not path.exists():
                generate(path.with_suffix(".tmp"), n, wide)
                path.with_suffix(".tmp").rename(path)
            found: dict[str, dict[str, float]] = {}
            for way in ways:
                if way == "memory" and n > memory_rows:
                    continue
                one = ["one", way, str(path), str(warm), "--workers", str(workers)]
                done = subprocess.run(
                    [sys.executable, __file__, *one], check=True, capture_output=True, text=True
                )
                found[way] = json.loads(done.stdout.splitlines()[-1])
            for way, figure in found.items():
                bare = found.get(f"{way.partition(' ')[0]} GROUP BY")
                ratio = f"{figure['cpu'] / bare['cpu']:12.2f}" if bare else " " * 12
                print(
                    f"{n:12,} {wide:7}  {way:18} {figure['seconds']:8.1f} {figure['cpu']:8.1f} "
                    f"{figure['mib']:9.0f} {ratio}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    codes = parts.add_parser("same")
    codes.add_argument("--tables", type=int, default=200)
    codes.add_argument("--spark-tables", type=int, default=200)
    costs = parts.add_parser("cost")
    costs.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    costs.add_argument("--columns", type=int, nargs="+", default=[20])
    costs.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    costs.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "dpcausal_engines")
    costs.add_argument("--memory-rows", type=int, default=100_000_000)
    costs.add_argument("--workers", type=int, default=2)
    one = parts.add_parser("one")
    one.add_argument("way", choices=WAYS)
    one.add_argument("path", type=Path)
    one.add_argument("warm", type=Path)
    one.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.part == "same":
        same(options.tables, options.spark_tables)
    elif options.part == "cost":
        cost(
            options.rows, options.columns, options.ways, options.folder, options.memory_rows, options.workers
        )
    else:
        print(json.dumps(measure(options.way, options.path, options.warm, options.workers)))


if __name__ == "__main__":
    main()
