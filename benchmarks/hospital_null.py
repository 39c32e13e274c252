"""False edges where no column depends on another: ``measured`` everywhere, rivals at a few settings.

Columns have 2 to 5 levels, some rare (down to 1% of the rows), drawn anew for every graph. A graph of d columns has
d(d-1)/2 pairs; at level .05 a twentieth of them may be found by chance.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpcausal as dc
from dpcausal.discovery.discover import discover

RESULTS = Path(__file__).parent / "results" / "hospital_null.json"
COLUMNS = (8, 12, 20)
ROWS = (500, 1_000, 3_000, 10_000, 20_000)
EPSILONS = (0.3, 1.0, 3.0)
RELATIONS = ("replace-one", "add-remove")
RIVALS = ("priv-pc", "svt-pc", "em-pc", "curate", "tests")
RIVAL_ROWS = (1_000, 10_000)  # 8 columns, replace-one, epsilon 1
RIVAL_SEEDS = 20
LEVEL, DELTA = 0.05, 1e-6


class Null(NamedTuple):
    """One setting."""

    method: str
    columns: int
    n: int
    neighbours: str
    epsilon: float

    @property
    def key(self) -> str:
        """As in the file."""
        return "|".join(str(part) for part in self)


def independent(columns: int, n: int, seed: int) -> dc.Dataset:
    """Rows whose columns are drawn one by one."""
    rng = np.random.default_rng([seed, columns, n])
    sizes = rng.choice([2, 3, 4, 5], columns, p=[0.4, 0.3, 0.2, 0.1])
    schema, codes = {}, {}
    for i, size in enumerate(sizes):
        law = np.maximum(rng.dirichlet(np.ones(size)), 0.01)
        name = f"c{i}"
        schema[name] = dc.Categorical(list(range(size)))
        codes[name] = rng.choice(size, n, p=law / law.sum()).astype(np.uint8)
    return dc.Dataset(dc.Schema(schema), n, codes)


def points() -> list[Null]:
    """All settings."""
    ours = [Null("measured", d, n, r, e) for d in COLUMNS for r in RELATIONS for n in ROWS for e in EPSILONS]
    return ours + [Null(m, COLUMNS[0], n, "replace-one", 1.0) for m in RIVALS for n in RIVAL_ROWS]


def load() -> dict[str, dict[str, list[int]]]:
    """Key -> seed -> [edges found, pairs open]."""
    return dict(json.loads(RESULTS.read_text())["runs"]) if RESULTS.exists() else {}


def save(runs: dict[str, Any]) -> None:
    """One point a line."""
    lines = ",\n".join(f'"{key}": {json.dumps(runs[key])}' for key in sorted(runs))
    about = "method|columns|rows|neighbours|epsilon -> {seed: [edges found, pairs open]}"
    RESULTS.write_text(f'{{"about": "{about}",\n"runs": {{\n{lines}\n}}}}\n')


def run(seeds: int, minutes: float = math.inf) -> None:
    """Fill in what is missing."""
    runs, start = load(), time.monotonic()
    for seed in range(seeds):
        for d in COLUMNS:
            for n in ROWS:
                todo = [
                    p
                    for p in points()
                    if (p.columns, p.n) == (d, n)
                    and str(seed) not in runs.get(p.key, {})
                    and (p.method == "measured" or seed < RIVAL_SEEDS)
                ]
                if time.monotonic() - start > 60 * minutes:
                    return
                data = independent(d, n, seed) if todo else None
                for point in todo:
                    with dc.testing.seeded(seed):
                        found = discover(
                            data,
                            epsilon=point.epsilon,
                            delta=DELTA,
                            neighbours=point.neighbours,
                            method=point.method,
                            level=LEVEL,
                            anyway=True,
                            **({"confidence": 0} if point.method == "measured" else {}),
                        )
                    runs.setdefault(point.key, {})[str(seed)] = [len(found.graph.skeleton), len(found.open)]
        save(runs)
        print(f"{time.monotonic() - start:6.0f} s: {seed + 1} graphs a setting", flush=True)


def table() -> list[str]:
    """Markdown: false edges a graph, share of pairs found, graphs with any, open pairs."""
    lines = [
        "| method | columns | relation | rows | epsilon | false edges per graph | share of pairs found "
        "| graphs with one | pairs open | graphs |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    runs = load()
    for point in points():
        if point.key not in runs:
            continue
        values = np.array(list(runs[point.key].values()), float)
        pairs = point.columns * (point.columns - 1) / 2
        edges = values[:, 0]
        error = edges.std(ddof=1) / math.sqrt(len(edges)) if len(edges) > 1 else math.nan
        lines.append(
            f"| {point.method} | {point.columns} | {point.neighbours} | {point.n:,} | {point.epsilon:g} | "
            f"{edges.mean():.2f} ± {error:.2f} | {edges.mean() / pairs:.4f} | {(edges > 0).mean():.2f} | "
            f"{values[:, 1].mean() / pairs:.0%} | {len(edges)} |"
        )
    return lines


def worst() -> str:
    """The largest share of pairs found at any setting, and the mean over all, beside the level."""
    runs = load()
    share = {
        point: np.mean([edges for edges, _ in runs[point.key].values()])
        / (point.columns * (point.columns - 1) / 2)
        for point in points()
        if point.key in runs and point.method == "measured"
    }
    if not share:
        return "nothing was run"
    point = max(share, key=lambda one: share[one])
    return (
        f"Share of pairs that `measured` finds where none depends: mean {np.mean(list(share.values())):.4f}, largest "
        f"{share[point]:.4f} ({point.columns} columns, {point.n:,} rows, {point.neighbours}, epsilon "
        f"{point.epsilon:g}); the level is {LEVEL:g}."
    )
