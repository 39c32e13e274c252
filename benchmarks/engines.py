"""Counting on engines beside memory and beside the engines' own GROUP BY.

    python benchmarks/engines.py same [--tables 200]        codes of random ugly tables, engine by engine
    python benchmarks/engines.py cost [--rows 1000000 10000000] [--columns 20] [--ways ...] [--cluster 1] [--out FILE]
    python benchmarks/engines.py paper FILE... [--rows 1000000000 10000000000] [--cores 100]
    python benchmarks/engines.py tables                     the tables of docs/engines.md, from benchmarks/results

``same`` compares tables of every column, and of the first three together, of random schemas with ugly cells: memory,
a file, a table of a DuckDB database, DuckDB through Ibis, PostgreSQL (where
``DPCAUSAL_TEST_POSTGRES`` holds a URL) and Spark (where Java is there). It prints how many tables were compared and how
many differ. What memory refuses by types must be refused by every engine. Ten tables stand side by side in one, so that
an engine codes and counts them in one query.

``cost`` runs ``discover`` from end to end, and the bare GROUP BY of the same engine over the same columns, each in a
process of its own, smaller tables first, and prints seconds, CPU seconds (those of the JVM included, its start not) and
the largest resident memory so far. What is compiled is compiled before, on a few rows. ``confidence=0``: repeats cost
the same for any number of rows. Spark runs within this machine, or with ``--cluster N`` as a master with N workers of
one core each; it also tells the bytes that it read and shuffled. With ``--out FILE`` the figures are kept.

``paper`` takes those figures and says what larger tables would cost: bytes scanned and shuffled, CPU seconds, the rows
that travel, each from its slope between the two largest sizes measured, and which part would take longest on a cluster.
``tables`` prints what was kept of such runs.
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
from collections.abc import Callable, Iterator
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

REFUSED = 10  # tables that must be refused, on every engine
RESULTS = Path(__file__).parent / "results" / "engines.json"
NAMES = {"memory": "memory", "duckdb": "DuckDB", "spark": "Spark"}
WAYS = ("memory", "duckdb", "duckdb GROUP BY", "spark", "spark GROUP BY")
CLUSTER = "--conf spark.executor.memory=700m --conf spark.sql.shuffle.partitions=8 pyspark-shell"
NETWORK = 1e9  # bytes a second that pass between machines, or to the one that asked
KEY_BYTES = 16  # of a distinct row that travels: its key and its count
LEVELS = (2, 3, 2, 4, 2, 3, 2, 2, 4, 2, 3, 2, 2, 3, 4, 2, 2, 3, 2, 2)


def has_spark() -> bool:
    """Return whether Spark can run here."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return False
    return shutil.which("java") is not None


# ---- the same codes


def compared(counts: Counts, expected: Counts, parts: list[list[str]]) -> list[bool]:
    """Return for each list of columns whether the tables of every one, and of three together, are the same."""
    requests: list[list[str]] = []
    owner = []
    for i, names in enumerate(parts):
        held = [name for name in names if name in counts.schema]
        asked = [*([name] for name in held), held[:3]]
        requests += asked
        owner += [i] * len(asked)
    same_tables = map(np.array_equal, counts.tables(requests), expected.tables(requests))
    found = [counts.n == expected.n] * len(parts)
    for i, equal in zip(owner, same_tables, strict=True):
        found[i] = found[i] and bool(equal)
    return found


def in_database(rows: pa.Table, schema: dc.Schema) -> Counts:
    """Return a table of a DuckDB database."""
    import duckdb

    from dpcausal.counts.stream import count_table

    connection = duckdb.connect()
    connection.register("arrow_rows", rows)
    connection.execute("CREATE TABLE visits AS SELECT * FROM arrow_rows")
    return count_table(connection, "visits", schema)


def ugly_tables(count: int, refused_by: list[Loader]) -> Iterator[tuple[pa.Table, dc.Schema]]:
    """Yield random tables that memory takes; the others must be refused on every engine, which is checked."""
    taken = refused = 0
    for seed in itertools.count():
        if taken == count:
            break
        rows, schema = ugly_table(seed)
        try:
            dc.read(rows, schema)
        except dc.SchemaError:  # by types alone: numbers where no level is one
            refused += 1
            for loader in refused_by if refused <= REFUSED else ():
                with contextlib.suppress(dc.SchemaError):
                    dc.connect(loader.put(rows), schema)
                    raise SystemExit(f"{loader.name} takes a table that memory refuses") from None
            continue
        taken += 1
        yield rows, schema
    print(
        f"{refused} more were refused by their types in memory, the first {min(refused, REFUSED)} on every engine"
    )


def side_by_side(some: list[tuple[pa.Table, dc.Schema]]) -> tuple[pa.Table, dc.Schema, list[list[str]]]:
    """Return several tables as one, their schemas as one, and the columns that belong together."""
    columns: dict[str, Any] = {}
    declared: dict[str, Any] = {}
    parts = []
    for i, (rows, schema) in enumerate(some):
        parts.append([f"{i} {name}" for name in schema])
        columns |= {f"{i} {name}": rows[name] for name in schema}
        declared |= {f"{i} {name}": column for name, column in schema.items()}
    return pa.table(columns), dc.Schema(declared), parts


def same(tables: int, spark_tables: int, together: int) -> None:
    """Compare every engine with memory, and print how often they differ."""
    folder = Path(tempfile.mkdtemp())
    loaders: dict[str, Loader] = {"DuckDB through Ibis": duckdb_loader()}
    if url := os.environ.get("DPCAUSAL_TEST_POSTGRES"):
        loaders["PostgreSQL"] = postgres_loader(url)
    if spark_tables and has_spark():
        loaders["Spark"] = spark_loader(folder)
    done: dict[str, list[bool]] = {}
    ugly = ugly_tables(tables, list(loaders.values()))
    while some := list(itertools.islice(ugly, together)):
        rows, schema, parts = side_by_side(some)
        path = folder / "rows.parquet"
        pq.write_table(rows, path)
        expected = MemoryCounts(dc.read(rows, schema))
        ways: dict[str, Any] = {
            "a file": dc.connect(path, schema),
            "a table of DuckDB": in_database(rows, schema),
        }
        for name, loader in loaders.items():
            if name != "Spark" or len(done.get(name, ())) < spark_tables:
                ways[name] = dc.connect(loader.put(rows), schema)
        for name, counts in ways.items():
            if counts is not None:
                done.setdefault(name, []).extend(compared(counts, expected, parts))
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


def group_cpu(leader: int) -> float:
    """Return the CPU seconds of a process and of all that it started, which are in its group."""
    total, ticks = 0, os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == leader:
                total += int(fields[11]) + int(fields[12])
    return total / ticks


def spark_bytes(backend: Any) -> tuple[int, int]:
    """Return the bytes that Spark has read and shuffled so far."""
    context = backend._session.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    gateway, store = context._gateway, context._jsc.sc().statusStore()
    none = gateway.jvm.java.util.ArrayList()
    stages = store.stageList(none, False, False, gateway.new_array(gateway.jvm.double, 0), none)
    listed = [stages.apply(i) for i in range(stages.size())]
    return sum(s.inputBytes() for s in listed), sum(s.shuffleWriteBytes() for s in listed)


@contextlib.contextmanager
def spark(workers: int, cluster_workers: int) -> Iterator[tuple[Any, Callable[[], float]]]:
    """Yield Spark, and what tells the CPU seconds of all its processes but this one."""
    from dpcausal.counts.connect import _spark

    if not cluster_workers:
        backend = _spark(f"spark://local[{workers}]")
        jvm = backend._session.sparkContext._gateway.proc.pid
        yield backend, lambda: process_figures(jvm)[0]
        return
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "engines"))
    from cluster import cluster

    os.environ["PYSPARK_SUBMIT_ARGS"] = CLUSTER
    with cluster(cluster_workers) as (url, processes):
        backend = _spark(url)
        jvm = backend._session.sparkContext._gateway.proc.pid
        yield backend, lambda: process_figures(jvm)[0] + sum(group_cpu(p.pid) for p in processes)
        backend._session.stop()


def measure(way: str, paths: list[Path], workers: int, cluster_workers: int) -> Iterator[dict[str, float]]:
    """Run one way in this process, on one file after the other."""
    engine, _, bare = way.partition(" ")

    def source(file: Path, schema: dc.Schema, backend: Any) -> Any:
        if engine == "memory":
            return dc.read(file, schema)
        if engine == "duckdb":
            return dc.connect(file, schema, memory_limit=700_000_000)
        return dc.connect(backend.read_parquet(str(file)), schema)

    def run(file: Path, backend: Any) -> int:
        schema = schema_of(file)
        if not bare:
            data = source(file, schema, backend)
            found = dc.discover(data, epsilon=1.0, delta=1e-9, method="measured", confidence=0, anyway=True)
            return len(found.graph.skeleton)
        names = list(schema)
        if engine == "duckdb":
            import duckdb

            connection = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
            listed = ", ".join(names)
            query = f"SELECT {listed}, count(*) AS w FROM read_parquet('{file}') GROUP BY {listed}"
            return len(connection.execute(query).fetchnumpy()["w"])
        return int(backend._session.read.parquet(str(file)).groupBy(*names).count().toArrow().num_rows)

    def once(path: Path, backend: Any, others: Callable[[], float]) -> dict[str, float]:
        def figures() -> tuple[float, float, int, int]:
            moved = spark_bytes(backend) if backend else (0, 0)
            return time.perf_counter(), time.process_time() + others(), *moved

        run(warm_file(path), backend)
        before = figures()
        answer = run(path, backend)
        seconds, cpu, scanned, shuffled = (b - a for a, b in zip(before, figures(), strict=True))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if backend:
            peak += process_figures(backend._session.sparkContext._gateway.proc.pid)[1]
        found = {"seconds": seconds, "cpu": cpu, "mib": peak, "answer": answer}
        return found | {"scanned": scanned, "shuffled": shuffled, "bytes": path.stat().st_size}

    if engine != "spark":
        yield from (once(path, None, lambda: 0.0) for path in paths)
        return
    with spark(workers, cluster_workers) as (backend, others):
        yield from (once(path, backend, others) for path in paths)


def warm_file(path: Path) -> Path:
    """Return the file of few rows that has the columns of this one."""
    return path.with_name(f"warm_{path.stem.rpartition('_')[2]}.parquet")


def cost(options: argparse.Namespace) -> None:
    """Measure every way for every size, and print what it costs beside the engine's own GROUP BY."""
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [(n, wide) for wide in options.columns for n in sorted(options.rows)]
    for n, wide in sizes:
        path = folder / f"rows_{n}_{wide}.parquet"
        generate(warm_file(path), 20_000, wide)
        if not path.exists():
            generate(path.with_suffix(".tmp"), n, wide)
            path.with_suffix(".tmp").rename(path)
    print(
        f"{'rows':>12} {'columns':>7}  {'way':18} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9} {'to GROUP BY':>12} "
        f"{'read MB':>9} {'shuffled MB':>12}",
        flush=True,
    )
    kept: list[dict[str, Any]] = []
    for way in sorted(options.ways, key=lambda way: "GROUP BY" not in way):
        asked = [one for one in sizes if way != "memory" or one[0] <= options.memory_rows]
        files = [str(folder / f"rows_{n}_{wide}.parquet") for n, wide in asked]
        spark_options = ["--workers", str(options.workers), "--cluster", str(options.cluster)]
        command = [sys.executable, __file__, "one", way, *files, *spark_options]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as running:
            assert running.stdout is not None
            told = (line for line in running.stdout if line.startswith("{"))
            for (n, wide), figures in zip(asked, told, strict=True):
                kept.append({"rows": n, "columns": wide, "way": way, **json.loads(figures)})
                tell(kept)
                if options.out:
                    options.out.write_text(json.dumps(kept, indent=1))
        if running.returncode:
            raise SystemExit(f"{way} failed")


def tell(kept: list[dict[str, Any]]) -> None:
    """Print the last figures, beside those of the engine's own GROUP BY."""
    one = kept[-1]
    bare_way = f"{one['way'].partition(' ')[0]} GROUP BY"
    bare = [x for x in kept if (x["way"], x["rows"], x["columns"]) == (bare_way, one["rows"], one["columns"])]
    ratio = f"{one['cpu'] / bare[0]['cpu']:12.2f}" if bare else " " * 12
    print(
        f"{one['rows']:12,} {one['columns']:7}  {one['way']:18} {one['seconds']:8.1f} {one['cpu']:8.1f} "
        f"{one['mib']:9.0f} {ratio} {one['scanned'] / 1e6:9.1f} {one['shuffled'] / 1e6:12.2f}",
        flush=True,
    )


# ---- on paper


def line(small: dict[str, float], large: dict[str, float], what: str) -> Callable[[float], float]:
    """Return the straight line through what was measured at two numbers of rows."""
    slope = (large[what] - small[what]) / (large["rows"] - small["rows"])
    if slope <= 0:
        raise SystemExit(f"{what} did not grow up to {large['rows']:,} rows: measure larger tables")
    return lambda rows: large[what] + slope * (rows - large["rows"])


def paper(kept: list[dict[str, Any]], sizes: list[int], cores: int) -> None:
    """Print what larger tables would cost on Spark, from the two largest sizes that were measured."""
    wide = 20
    by_way: dict[str, list[dict[str, float]]] = {}
    for figure in sorted(kept, key=lambda one: one["rows"]):
        if figure["columns"] == wide:
            by_way.setdefault(figure["way"], []).append(figure)
    small, large = by_way["spark"][-2:]
    groups = by_way["spark GROUP BY"][-2:]
    cpu, scanned, shuffled = (line(small, large, what) for what in ("cpu", "bytes", "shuffled"))
    distinct = line(groups[0], groups[1], "answer")
    cells = float(np.prod([LEVELS[i % len(LEVELS)] for i in range(wide)]))
    print(
        "| rows | scanned, GB | CPU s | shuffled, GB | distinct rows | reading and coding, s | shuffle, s | longest |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---|")
    for alike in (True, False):
        for n in sizes:
            moved = shuffled(n) if alike else float(n) * KEY_BYTES
            back = min(distinct(n) if alike else float(n), cells)
            parts = {
                "reading and coding": cpu(n) / cores,
                "`GROUP BY`": moved / NETWORK,
                "distinct rows on their way here": back * KEY_BYTES / NETWORK,
            }
            reading, moving, _ = parts.values()
            print(
                f"| {n:,}{'' if alike else ', no two alike'} | {scanned(n) / 1e9:.1f} | {cpu(n):,.0f} | "
                f"{moved / 1e9:.2f} | {back:,.0f}{'' if alike else ' at most'} | {reading:.1f} | {moving:.2f} | "
                f"{max(parts, key=lambda part: parts[part])} |"
            )


# ---- the page


def tables() -> None:
    """Print the tables of ``docs/engines.md`` from what was kept."""
    kept = json.loads(RESULTS.read_text())
    for part in ("sizes", "columns"):
        print(
            "| rows | columns | engine | `GROUP BY`, CPU s | `discover`, CPU s | ratio | peak memory, MiB |"
        )
        print("|---:|---:|---|---:|---:|---:|---:|")
        of = {(one["way"], one["rows"], one["columns"]): one for one in kept[part]}
        for (way, rows, wide), one in of.items():
            if "GROUP BY" in way:
                continue
            bare = of.get((f"{way} GROUP BY", rows, wide))
            beside = f"{bare['cpu']:.1f} | {one['cpu']:.1f} | {one['cpu'] / bare['cpu']:.2f}" if bare else (
                f" | {one['cpu']:.1f} | "
            )  # fmt: skip
            print(f"| {rows:,} | {wide} | {NAMES[way]} | {beside} | {one['mib']:.0f} |")
        print()
    print("| rows | one worker, s | two workers, s | CPU s of one | CPU s of two | read, MB | shuffled, MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for one, two in zip(kept["one worker"], kept["two workers"], strict=True):
        print(
            f"| {one['rows']:,} | {one['seconds']:.1f} | {two['seconds']:.1f} | {one['cpu']:.1f} | {two['cpu']:.1f} | "
            f"{one['scanned'] / 1e6:.1f} | {one['shuffled'] / 1e6:.2f} |"
        )
    print()
    paper(kept["sizes"], [1_000_000_000, 10_000_000_000], 100)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(dest="part", required=True)
    codes = parts.add_parser("same")
    codes.add_argument("--tables", type=int, default=200)
    codes.add_argument("--spark-tables", type=int, default=200)
    codes.add_argument("--together", type=int, default=10, help="tables side by side in one query")
    costs = parts.add_parser("cost")
    costs.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    costs.add_argument("--columns", type=int, nargs="+", default=[20])
    costs.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    costs.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "dpcausal_engines")
    costs.add_argument("--memory-rows", type=int, default=100_000_000)
    costs.add_argument("--workers", type=int, default=2, help="cores of Spark within this machine")
    costs.add_argument("--cluster", type=int, default=0, help="workers of a standalone cluster instead")
    costs.add_argument("--out", type=Path, help="keep the figures, for paper")
    parts.add_parser("tables")
    papers = parts.add_parser("paper")
    papers.add_argument("figures", type=Path, nargs="+")
    papers.add_argument("--rows", type=int, nargs="+", default=[1_000_000_000, 10_000_000_000])
    papers.add_argument("--cores", type=int, default=100)
    one = parts.add_parser("one")
    one.add_argument("way", choices=WAYS)
    one.add_argument("paths", type=Path, nargs="+")
    one.add_argument("--workers", type=int, default=2)
    one.add_argument("--cluster", type=int, default=0)
    options = parser.parse_args()
    if options.part == "same":
        same(options.tables, options.spark_tables, options.together)
    elif options.part == "cost":
        cost(options)
    elif options.part == "paper":
        kept = [figure for file in options.figures for figure in json.loads(file.read_text())]
        paper(kept, options.rows, options.cores)
    elif options.part == "tables":
        tables()
    else:
        for figures in measure(options.way, options.paths, options.workers, options.cluster):
            print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
