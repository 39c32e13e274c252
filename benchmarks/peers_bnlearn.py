"""PC without privacy beside bnlearn's ``pc.stable``: which edges differ, why, and CPU seconds.

    python benchmarks/peers_bnlearn.py [--level 0.01] [--rows 1000000]

Needs R with the package bnlearn (R finds it by R_LIBS). The data are bnlearn's own ``alarm``, 20,000 rows, and ours of
asia. For each edge that one skeleton has and the other has not: the set that took it away, with the G statistic, the
degrees of freedom and the p-value by both counts. bnlearn's ``mi`` counts (r - 1)(c - 1) for every stratum, with or
without rows; its ``mi-adf``, and ours, count (rows with cases - 1)(columns with cases - 1) of each stratum. A larger
number of degrees of freedom gives a larger p-value, so ``mi`` takes edges away that the others keep.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.discover import discover
from dpcausal.stats.chi2 import likelihood_ratio

Skeleton = frozenset[frozenset[str]]
TESTS = ("mi", "mi-adf")  # of bnlearn: its default, and with adjusted degrees of freedom

ALARM = (
    'suppressMessages(library(bnlearn)); data(alarm); write.csv(alarm, "{csv}", row.names=FALSE, quote=FALSE)'
)
LEARN = """
suppressMessages(library(bnlearn))
rows <- read.csv("{csv}", stringsAsFactors=TRUE, colClasses="factor")
invisible(pc.stable(rows, test="mi", alpha={level}, undirected=TRUE, debug=TRUE))
for (test in c("mi", "mi-adf")) {{
  spent <- system.time(found <- pc.stable(rows, test=test, alpha={level}, undirected=TRUE))
  cat("seconds", test, sum(spent[c("user.self", "sys.self")]), "\\n")
  for (i in seq_len(nrow(arcs(found)))) cat("edge", test, arcs(found)[i, ], "\\n")
}}
cat("version", as.character(packageVersion("bnlearn")), "\\n")
"""


def by_r(script: str) -> list[list[str]]:
    """Run a script; return its lines as words."""
    done = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"R failed: {done.stderr.strip().splitlines()[-1:]}")
    return [line.split() for line in done.stdout.splitlines()]


class Theirs(NamedTuple):
    """What bnlearn found: skeletons and CPU seconds by test, its version, and the sets by which ``mi`` took edges."""

    skeletons: dict[str, Skeleton]
    seconds: dict[str, float]
    version: str
    separating: dict[frozenset[str], tuple[str, ...]]


def theirs(path: Path, level: float) -> Theirs:
    """Run ``pc.stable``."""
    lines = by_r(LEARN.format(csv=path, level=level))
    found = {
        test: frozenset(frozenset(line[2:4]) for line in lines if line[:2] == ["edge", test])
        for test in TESTS
    }
    seconds = {line[1]: float(line[2]) for line in lines if line[0] == "seconds"}
    separating = {}
    for line in lines:  # > node VLNG is independent from VTUB given ECO2 MINV VALV (p-value: 1).
        if line[:2] == [">", "node"] and line[3:6] == ["is", "independent", "from"]:
            given = line[8 : line.index("(p-value:")] if "given" in line else []
            separating[frozenset((line[2], line[6]))] = tuple(given)
    return Theirs(found, seconds, next(line[1] for line in lines if line[0] == "version"), separating)


def ours(data: dc.Dataset, level: float) -> tuple[Skeleton, float]:
    """Our skeleton by G, and CPU seconds, counting included."""
    best, found = float("inf"), None
    for _ in range(4):  # the first compiles
        start = time.process_time()
        counts = MemoryCounts(data, threads=1)
        found = discover(counts, epsilon=None, method="pc", test="g", level=level).graph
        best = min(best, time.process_time() - start)
    assert found is not None
    return frozenset(found.skeleton), best


def of_rows(path: Path) -> dc.Dataset:
    """The rows of a file, every column with the levels that it has."""
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = list(csv.reader(file))
    columns = dict(zip(heads, map(list, zip(*rows, strict=True)), strict=True))
    schema = dc.Schema({name: dc.Categorical(sorted(set(values))) for name, values in columns.items()})
    return dc.read(columns, schema)


def why(counts: MemoryCounts, x: str, y: str, given: tuple[str, ...]) -> list[str]:
    """G of x and y given this set, with the degrees of freedom of ``mi`` and of strata with rows, and p by each."""
    schema = counts.schema
    table = counts.table((*given, x, y)).reshape(-1, schema[x].size, schema[y].size)
    found = likelihood_ratio(table)
    full = (schema[x].size - 1) * (schema[y].size - 1) * table.shape[0]
    by_mi = f"{chi2.sf(found.statistic, full):.3g}"
    words = [f"{x} - {y}", ", ".join(given), f"{found.statistic:.1f}", f"{full}", by_mi]
    return [*words, f"{found.dof:g}", f"{found.pvalue:.3g}"]


def compared(path: Path, data: dc.Dataset, level: float) -> tuple[Skeleton, Theirs]:
    """Print edges and CPU seconds; return our skeleton and what bnlearn found."""
    other = theirs(path, level)
    skeletons, seconds, _, _ = other
    mine, own = ours(data, level)
    print("| | edges | beside ours | CPU s | times ours |\n|---|---|---|---|---|")
    print(f"| dpcausal, G | {len(mine)} | | {own:.3g} | |")
    for test, found in skeletons.items():
        same = "the same" if found == mine else f"{len(mine - found)} fewer, {len(found - mine)} more"
        ratio = f"{seconds[test] / own:.3g}"
        print(f"| bnlearn, {test} | {len(found)} | {same} | {seconds[test]:.3g} | {ratio} |")
    return mine, other


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of asia; 0 leaves it out")
    asked = parser.parse_args()
    if not shutil.which("Rscript") or by_r('cat(requireNamespace("bnlearn", quietly=TRUE))')[-1] != ["TRUE"]:
        print("bnlearn is not here, left out: needs R with the package bnlearn")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.csv"
        by_r(ALARM.format(csv=path))
        data = of_rows(path)
        print(f"alarm, {data.n:,} rows that come with bnlearn, level {asked.level:g}\n")
        mine, other = compared(path, data, asked.level)
        print(f"\nbnlearn {other.version}. Edges that dpcausal keeps and mi does not\n")
        heads = ("edge", "given", "G", "degrees of freedom, mi", "p", "degrees of freedom, ours", "p")
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        counts = MemoryCounts(data)
        for edge in sorted(mine - other.skeletons["mi"], key=sorted):
            print("| " + " | ".join(why(counts, *sorted(edge), other.separating[edge])) + " |")
        if asked.rows:
            data = dc.networks.load("asia").sample(asked.rows, seed=1)
            path = Path(folder) / "asia.csv"
            codes = np.column_stack([data.codes[name] for name in data.schema])
            np.savetxt(path, codes, fmt="%d", delimiter=",", header=",".join(data.schema), comments="")
            print(f"\nasia, {asked.rows:,} rows\n")
            compared(path, data, asked.level)


if __name__ == "__main__":
    main()
