"""CPU seconds (user and system) of the commands on a small file, warm: the smallest of several runs.

    python benchmarks/commands.py            # the table
    python benchmarks/commands.py --runs 3   # fewer runs

Warm: every command is run once before, so that its files are in the cache and nothing is compiled (Python may keep its
bytecode, even where PYTHONDONTWRITEBYTECODE is set). The smallest, because a busy machine takes longer for any of them.
The small file has 2,000 made-up patients and the ten columns of ``demo/schema.toml``; the wide schema has 67 columns.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = 2000
WIDE = 67
FILE = "patients.csv --schema schema.toml"
BUDGET = "--epsilon 1 --delta 1e-6"
COMMANDS = {  # name -> (call, seconds that it should stay below)
    "--help": ("--help", 1.0),
    "schema": ("schema patients.csv", 3.0),
    "plan": (f"plan --schema schema.toml --rows {ROWS} {BUDGET}", 3.0),
    "test": (f"test {FILE} --x smoking --y diabetes --epsilon 1", 3.0),
    "test --given age": (f"test {FILE} --x smoking --y diabetes --given age --epsilon 1", 3.0),
    "discover": (f"discover {FILE} {BUDGET} --out out", 3.0),
    "discover --help": ("discover --help", 3.0),
    "test --help": ("test --help", 3.0),
    f"plan, {WIDE} columns": (f"plan --schema wide.toml --rows 5000 {BUDGET}", 5.0),
}


def prepare(folder: Path) -> None:
    """Write the small file, its schema and the wide schema."""
    import pyarrow as pa
    import pyarrow.csv

    from dpcausal.networks import clinic

    pa.csv.write_csv(pa.table(clinic.patients(ROWS, seed=1)), folder / "patients.csv")
    demo = Path(__file__).parents[1] / "demo" / "schema.toml"
    (folder / "schema.toml").write_text(demo.read_text())
    columns = []
    for i in range(WIDE):
        kind = (
            'type = "numeric"\nlower = 0\nupper = 100'
            if i % 3 == 0
            else 'type = "categorical"\nlevels = [' + ", ".join(f'"{j}"' for j in range(2 + i % 5)) + "]"
        )
        columns.append(f"[columns.c{i}]\n{kind}\n")
    (folder / "wide.toml").write_text("\n".join(columns))


def cpu_seconds(call: str, folder: Path) -> float:
    """Return user and system seconds of one run of a command."""
    return python_seconds(folder, "from dpcausal.cli.start import main; main()", *shlex.split(call))


def python_seconds(folder: Path, *code: str) -> float:
    """Return user and system seconds of one run of Python code."""
    words = [sys.executable, "-c", *code]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        prepare(folder)
        print(f"{'command':<20}{'CPU s':>8}{'aim':>8}")
        for name, (call, aim) in COMMANDS.items():
            cpu_seconds(call, folder)
            found = min(cpu_seconds(call, folder) for _ in range(runs))
            print(f"{name:<20}{found:>8.2f}{aim:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
