"""How fast files are read: rows a second of ``dc.read``, by the kind of file. Run it before and after a change.

    python benchmarks/reading.py [--rows 1000000] [--repeats 5]

Six categorical and four numeric columns. Each figure is the best of the repeats: the others measure what else the
machine was doing. Kinds whose reader is an extra that is not installed are left out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import dpcausal as dc

LEVELS = ["none", "mild", "severe"]
SCHEMA = dc.Schema(
    {f"c{i}": dc.Categorical(LEVELS) for i in range(6)} | {f"v{i}": dc.Numeric(0, 200) for i in range(4)}
)


def made(rows: int) -> pa.Table:
    """Return the table that every file holds."""
    rng = np.random.default_rng(1)
    words = {f"c{i}": np.array(LEVELS)[rng.integers(0, 3, rows)] for i in range(6)}
    return pa.table(words | {f"v{i}": rng.normal(100, 20, rows).round(1) for i in range(4)})


def write_csv(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(table, path)


WRITERS = {".csv": write_csv, ".parquet": pq.write_table}


def best_seconds(path: Path, schema: dc.Schema, repeats: int) -> float:
    """Return the least time that reading took."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        dc.read(path, schema)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    table = made(asked.rows)
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in WRITERS.items():
            path = Path(folder) / f"rows{suffix}"
            write(table, path)
            dc.read(path, SCHEMA)  # once to warm up
            seconds = best_seconds(path, SCHEMA, asked.repeats)
            print(f"{suffix:<10} {seconds:7.3f} s  {asked.rows / seconds / 1e6:6.2f} million rows a second")


if __name__ == "__main__":
    main()
