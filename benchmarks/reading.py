"""How fast files are read: processor seconds of ``dc.read``, by the kind of file. Run it before and after a change.

    python benchmarks/reading.py [--rows 1000000] [--repeats 5]

Six categorical and four numeric columns. Each figure is the best of the repeats: the others measure what else the
machine was doing. The Latin-1 file has decimal commas too, both declared; versions that can't read it leave it out.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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


def write_german(table: pa.Table, path: Path) -> None:
    """Semicolons, decimal commas, and a level that is not ASCII."""
    text = {name: table[name].cast(pa.string()) for name in table.column_names}
    for name in text:
        text[name] = pc.replace_substring(text[name], ".", ",") if name[0] == "v" else text[name]
        text[name] = pc.replace_substring(text[name], "mild", "mäßig")
    lines = io.BytesIO()
    options = pyarrow.csv.WriteOptions(delimiter=";", quoting_style="none")
    pyarrow.csv.write_csv(pa.table(text), lines, options)
    path.write_bytes(lines.getvalue().decode().encode("latin-1"))


WRITERS = {"rows.csv": write_csv, "rows.parquet": pq.write_table, "latin1.csv": write_german}


def schema_of(name: str) -> dc.Schema | None:
    """Return the schema of a file; None where this version can't declare how it is written."""
    if not name.startswith("latin1"):
        return SCHEMA
    if not hasattr(SCHEMA, "with_format"):
        return None
    german = {n: dc.Categorical(["none", "mäßig", "severe"]) if n[0] == "c" else c for n, c in SCHEMA.items()}
    return dc.Schema(german).with_format(encoding="latin-1", separator=";", decimal=",")


def best_seconds(path: Path, schema: dc.Schema, repeats: int) -> float:
    """Return the least time that reading took."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        dc.read(path, schema)
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    table = made(asked.rows)
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            path, schema = Path(folder) / name, schema_of(name)
            if schema is None:
                continue
            write(table, path)
            dc.read(path, schema)  # once to warm up
            seconds = best_seconds(path, schema, asked.repeats)
            print(f"{name:<14} {seconds:7.3f} s  {asked.rows / seconds / 1e6:6.2f} million rows a second")


if __name__ == "__main__":
    main()
