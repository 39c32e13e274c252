"""Compress a Parquet file larger than memory to distinct rows in one pass, beside DuckDB's own GROUP BY.

    python benchmarks/bigger_than_memory.py [--rows 100000000] [--file big.parquet]

Makes the file if it is not there (20 columns of 2 to 4 levels from a chain with memory), then runs each way in a
process of its own with the same two threads and reports seconds, CPU seconds and the largest resident memory. The
ways are taken in turn, ``--repeat`` times, and the best of each is reported; file pages are warm for all.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LEVELS = (2, 3, 2, 4, 2, 3, 2, 2, 4, 2, 3, 2, 2, 3, 4, 2, 2, 3, 2, 2)
NAMES = tuple(f"c{i:02d}" for i in range(len(LEVELS)))
WAYS = ("dpcausal", "DuckDB GROUP BY 20 columns")


def generate(path: Path, rows: int, chunk: int = 1 << 22) -> None:
    """Rows of a chain: each column copies its predecessor (cut to its levels) nine times out of ten."""
    rng = np.random.default_rng(20)
    schema = pa.schema([(name, pa.uint8()) for name in NAMES])
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, chunk):
            n = min(chunk, rows - start)
            columns, last = [], rng.integers(0, 2, n, dtype=np.uint8)
            for size in LEVELS:
                fresh = rng.integers(0, size, n, dtype=np.uint8)
                keep = rng.random(n, dtype=np.float32) < 0.9
                last = np.where(keep, np.minimum(last, size - 1), fresh).astype(np.uint8)
                columns.append(last)
            writer.write_table(pa.table(columns, schema=schema))


def run(way: str, path: str) -> dict[str, float]:
    """One way, measured in this process."""
    import dpcausal as dc

    schema = dc.Schema({n: dc.Categorical(list(range(k))) for n, k in zip(NAMES, LEVELS, strict=True)})
    if way == WAYS[0]:
        from dpcausal.counts.stream import count_files

        warm = Path(path).with_suffix(".warm.parquet")  # compile outside the measured time
        pq.write_table(pq.ParquetFile(path).read_row_group(0).slice(0, 100_000), warm)
        count_files(warm, schema)
        warm.unlink()
        before = time.perf_counter(), time.process_time()
        counts = count_files(path, schema)
        counts.table(NAMES[:1])  # distinct rows are in memory from then on
    else:
        import duckdb

        connection = duckdb.connect(config={"threads": 2})
        names = ", ".join(NAMES)
        before = time.perf_counter(), time.process_time()
        found = connection.execute(
            f"SELECT {names}, count(*) AS w FROM read_parquet('{path}') GROUP BY {names}"
        ).fetchnumpy()
        seconds = time.perf_counter() - before[0], time.process_time() - before[1]
        first = int(found["w"][found["c00"] == 0].sum())
        return {"seconds": seconds[0], "cpu": seconds[1], "first": first, "mib": _peak()}
    seconds = time.perf_counter() - before[0], time.process_time() - before[1]
    first = int(counts.table(["c00"])[0])
    return {"seconds": seconds[0], "cpu": seconds[1], "first": first, "mib": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--file", type=Path, default=None)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(run(options.way, str(options.file))))
        return
    path = options.file or Path(tempfile.gettempdir()) / f"dpcausal_big_{options.rows}.parquet"
    if not path.exists():
        print(f"generating {options.rows:,} x {len(LEVELS)} ...", flush=True)
        generate(path, options.rows)
    print(
        f"{options.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB of Parquet; best of {options.repeat} in turn"
    )
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(options.repeat):
        for way in WAYS:
            command = [sys.executable, __file__, "--file", str(path), "--way", way]
            results[way].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    rival = min(r["seconds"] for r in results[WAYS[1]])
    print(f"{'way':30} {'seconds':>8} {'CPU s':>8} {'peak MiB':>9} {'against GROUP BY':>17}")
    for way, found in results.items():
        best = min(found, key=lambda r: r["seconds"])
        print(
            f"{way:30} {best['seconds']:8.2f} {best['cpu']:8.2f} {best['mib']:9.0f} {best['seconds'] / rival:17.2f}"
        )
    assert len({r["first"] for found in results.values() for r in found}) == 1, "the ways disagree"


if __name__ == "__main__":
    main()
