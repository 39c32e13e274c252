"""Priv-PC, table 2: CPU time (all threads), secure noise, 100,000 rows, counting apart.

The paper: 64 to 532 s for EM-PC, 1.2 to 10 s for SVT-PC, 2 to 16 s for Priv-PC, 5 to 19 s without subsampling.
"""

from __future__ import annotations

import csv
import statistics
import time
from pathlib import Path

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.discover import discover
from priv_pc.runs import DELTA, LEVEL, ROWS, show

NETWORKS = ("earthquake", "cancer", "asia", "survey")
WAYS = {
    "em-pc": {"method": "em-pc"},
    "svt-pc": {"method": "svt-pc"},
    "priv-pc, subsample": {"method": "priv-pc", "subsample": "optimal"},
    "priv-pc": {"method": "priv-pc"},
    "curate": {"method": "curate"},
}
PAPER = {
    "earthquake": ("176.04", "3.38", "6.62", "11.01", ""),
    "cancer": ("64.62", "2.94", "6.09", "10.83", ""),
    "asia": ("531.80", "10.06", "16.19", "19.40", ""),
    "survey": ("68.13", "1.21", "2.13", "5.12", ""),
}


def measured(network: str, repeats: int, epsilon: float = 1.0) -> list[float]:
    """CPU milliseconds: counting (the first table of all columns), then the median of each way."""
    data = dc.networks.load(network).sample(ROWS, seed=1)
    MemoryCounts(data).table(list(data.schema)[:3])  # compiles
    start = time.process_time()
    counts = MemoryCounts(data)
    counts.table(list(data.schema)[:3])
    times = [1e3 * (time.process_time() - start)]
    for way in WAYS.values():
        runs = []
        for _ in range(repeats + 1):  # the first warms up
            start = time.process_time()
            discover(counts, epsilon=epsilon, delta=DELTA, level=LEVEL, **way)  # type: ignore[arg-type]
            runs.append(1e3 * (time.process_time() - start))
        times.append(statistics.median(runs[1:]))
    return times


def main(quick: bool, out: Path) -> None:
    """Measure and print; priv-pc-table2.csv in ``out``."""
    repeats = 5 if quick else 30
    rows = [[network, *measured(network, repeats)] for network in NETWORKS]
    columns = ["network", "counting", *WAYS]
    show(
        "CPU milliseconds, total epsilon 1",
        columns,
        [[str(row[0]), *(f"{ms:.1f}" for ms in row[1:])] for row in rows],
    )
    show("Seconds in the paper", ["network", "", *WAYS], [[name, "", *PAPER[name]] for name in NETWORKS])
    with (out / "priv-pc-table2.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([[row[0], *(f"{ms:.2f}" for ms in row[1:])] for row in rows])
