"""CPU seconds of ``discover(method="measured")`` as a user calls it, confidence included: 8 to 100 columns.

Rows of random networks: every column has as many levels and up to two parents among the three columns before it. Ten
yes/no columns are the most of which whole graphs are scored on a joint table.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.discovery.discover import discover

RESULTS = Path(__file__).parent / "results" / "hospital_time.json"
LIMITS = {
    (10, 2): 5,
    (8, 3): 5,
    (20, 3): 5,
    (50, 3): 20,
    (100, 3): 60,
}  # columns, levels -> CPU seconds, at most
ROWS = (1, 1_000, 20_000)
BUDGETS = ((0.3, 0.0), (1.0, 0.0), (1.0, 1e-6), (3.0, 1e-6))


def chained(columns: int, levels: int, n: int) -> dc.Dataset:
    """Rows of a random network."""
    rng = np.random.default_rng(columns)
    codes: dict[str, Any] = {}
    for i in range(columns):
        parents = sorted(set(rng.integers(max(i - 3, 0), i, 2).tolist())) if i else []
        cell = np.zeros(n, np.int64)
        for parent in parents:
            cell = cell * levels + codes[f"c{parent}"]
        law = rng.dirichlet(np.ones(levels), levels ** len(parents)).cumsum(axis=1)
        codes[f"c{i}"] = (rng.random(n)[:, None] > law[cell][:, :-1]).sum(axis=1).astype(np.uint8)
    return dc.Dataset(dc.Schema({name: dc.Categorical(list(range(levels))) for name in codes}), n, codes)


def load() -> dict[str, list[float]]:
    """columns|levels|rows|neighbours|epsilon|delta -> [CPU s, CPU s without confidence, memory so far in MiB]."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def run() -> None:
    """Measure what the file lacks."""
    held = load()
    measured(chained(4, 2, 100), "replace-one", 1.0, 1e-6)  # compiles
    for d, levels in LIMITS:
        for n in ROWS:
            data = chained(d, levels, n)
            for neighbours in ("replace-one", "add-remove"):
                for epsilon, delta in BUDGETS:
                    key = f"{d}|{levels}|{n}|{neighbours}|{epsilon}|{delta}"
                    if key not in held:
                        held[key] = measured(data, neighbours, epsilon, delta)
            lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in held.items())
            RESULTS.write_text(f"{{{lines}}}\n")
            print(f"{d} columns of {levels} levels, {n:,} rows: done", flush=True)


def measured(data: Any, neighbours: Any, epsilon: float, delta: float) -> list[float]:
    """One call with its defaults and one without confidence."""
    seconds = []
    for options in ({}, {"confidence": 0}):
        begin = time.process_time()
        with dc.testing.seeded(0), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            discover(
                data,
                epsilon=epsilon,
                delta=delta,
                neighbours=neighbours,
                method="measured",
                anyway=True,
                **options,
            )
        seconds.append(round(time.process_time() - begin, 3))
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return [*seconds, round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)]


def table() -> list[str]:
    """Markdown: the most over relations and budgets."""
    lines = [
        "| columns | levels | rows | CPU s, most | without confidence | memory of the process, MiB | limit, CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    held = load()
    for (d, levels), limit in LIMITS.items():
        for n in ROWS:
            values = [value for key, value in held.items() if key.startswith(f"{d}|{levels}|{n}|")]
            if values:
                most = np.max(values, axis=0)
                lines.append(
                    f"| {d} | {levels} | {n:,} | {most[0]:.1f} | {most[1]:.1f} | {most[2]:.0f} | {limit} |"
                )
    return lines
