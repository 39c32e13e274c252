"""Skeleton F1 on random graphs of 10 numeric columns against epsilon, private methods and PC without privacy.

    python benchmarks/continuous_discovery.py [--graphs 10] [--rows 10000 100000] [--out results.jsonl] [--figure DIR]
        [--kinds linear nonlinear] [--only METHOD ...]

Random graphs with two edges a column on average; every column is a sum over its parents, plus standard normal noise,
then divided by its own standard deviation. ``linear``: weights of size .5 to 1. ``nonlinear``: each parent through
tanh(2x), 1.2 sin(1.5 x) or (x^2 - 1)/1.4, with the same weights. Bounds are -4 to 4, bins for tables cut at -.67, 0,
.67, delta 1e-6, level .01. Runs are kept in ``--out``, one line each, and are not repeated. Noise is seeded: results
repeat."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc

COLUMNS = 10
DEGREE = 2.0
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
LEVEL = 0.01
KINDS = ["linear", "nonlinear"]
METHODS: dict[str, dict[str, Any]] = {
    "moments": {"method": "moments", "confidence": 0},
    "moments, linear": {"method": "moments", "harmonics": 0, "confidence": 0},
    "measured (bins)": {"method": "measured", "confidence": 0},
    "priv-pc (values)": {"method": "priv-pc"},
    "svt-pc (values)": {"method": "svt-pc"},
    "tests (kendall)": {"method": "tests", "test": "kendall"},
}
FREE: dict[str, dict[str, Any]] = {
    "pc, moments": {"method": "pc", "test": "moments"},
    "pc, linear": {"method": "pc", "test": "moments", "harmonics": 0},
    "pc, G on bins": {"method": "pc", "test": "g"},
}
SLOW = {
    "priv-pc (values)",
    "svt-pc (values)",
    "tests (kendall)",
}  # O(n log n) a question: up to this many rows only
MOST_ROWS_SLOW = 10_000


def network(kind: str, n: int, seed: int) -> tuple[dc.Dataset, set[frozenset[str]]]:
    """A data set and the edges it was made from."""
    rng = np.random.default_rng([seed, n, kind == "linear"])
    order, x, edges = rng.permutation(COLUMNS), np.zeros((n, COLUMNS)), set()
    for place, j in enumerate(order):
        total = np.zeros(n)
        for i in order[:place]:
            if rng.random() >= DEGREE / (COLUMNS - 1):
                continue
            edges.add(frozenset((f"c{i}", f"c{j}")))
            weight, v = rng.uniform(0.5, 1.0) * rng.choice([-1, 1]), x[:, i]
            shapes = (np.tanh(2 * v), 1.2 * np.sin(1.5 * v), (v * v - 1) / 1.4)
            total += weight * (v if kind == "linear" else shapes[rng.integers(3)])
        column = total + rng.normal(size=n)
        x[:, j] = column / np.sqrt(1 + total.var())
    schema = dc.Schema({f"c{i}": dc.Numeric(-4, 4, bins=[-0.67, 0.0, 0.67]) for i in range(COLUMNS)})
    return dc.read({f"c{i}": x[:, i] for i in range(COLUMNS)}, schema), edges


def wanted(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Every run that was asked for, graphs outermost so that a stopped benchmark is even."""
    for n in asked.rows:
        for seed in range(asked.graphs):
            for kind in asked.kinds:
                for name in [name for name in FREE if name in asked.only]:
                    yield {"kind": kind, "n": n, "seed": seed, "name": name, "epsilon": None}
                for name in [name for name in METHODS if name in asked.only]:
                    if name in SLOW and n > MOST_ROWS_SLOW:
                        continue
                    for epsilon in EPSILONS:
                        yield {"kind": kind, "n": n, "seed": seed, "name": name, "epsilon": epsilon}


def measure(run: dict[str, Any], data: dc.Dataset, edges: set[frozenset[str]]) -> dict[str, Any]:
    """One discovery."""
    options = dict((FREE if run["epsilon"] is None else METHODS)[run["name"]])
    started = time.perf_counter()
    with dc.testing.seeded(run["seed"] * 1000 + round(10 * (run["epsilon"] or 0))):
        found = dc.discover(
            data,
            epsilon=run["epsilon"],
            delta=0.0 if run["epsilon"] is None else 1e-6,
            level=LEVEL,
            max_order=4,
            anyway=True,  # small budgets are part of the figure
            **options,
        )
    skeleton = found.graph.skeleton
    hit = len(skeleton & edges)
    return {
        **run,
        "f1": 2 * hit / max(len(skeleton) + len(edges), 1),
        "seconds": round(time.perf_counter() - started, 3),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """Runs that are done."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(runs: list[dict[str, Any]]) -> list[str]:
    """Mean F1 by kind, rows, method and epsilon, as Markdown."""
    lines = []
    for kind, n in sorted({(run["kind"], run["n"]) for run in runs}):
        mine = [run for run in runs if (run["kind"], run["n"]) == (kind, n)]
        graphs = len({run["seed"] for run in mine})
        lines += [f"{kind}, n = {n:,}, {graphs} graphs", ""]
        lines += ["| method | " + " | ".join(f"epsilon {e:g}" for e in EPSILONS) + " |"]
        lines += ["|---" * (len(EPSILONS) + 1) + "|"]
        for name in [*METHODS, *FREE]:
            cells = []
            for epsilon in EPSILONS if name in METHODS else (None,):
                values = [r["f1"] for r in mine if r["name"] == name and r["epsilon"] == epsilon]
                cells.append(f"{statistics.mean(values):.2f}" if values else "")
            if not any(cells):
                continue
            row = cells if name in METHODS else [f"{cells[0]} (no privacy)"] + [""] * (len(EPSILONS) - 1)
            lines.append(f"| {name} | " + " | ".join(row) + " |")
        lines.append("")
    return lines


def figure(runs: list[dict[str, Any]], folder: Path) -> Path:
    """Mean F1 against epsilon, one panel per kind and number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = sorted({(run["kind"], run["n"]) for run in runs})
    grid, axes = plt.subplots(1, len(panels), figsize=(4 * len(panels), 3.6), sharey=True, squeeze=False)
    for axis, (kind, n) in zip(axes[0], panels, strict=True):
        mine = [run for run in runs if (run["kind"], run["n"]) == (kind, n)]
        for i, name in enumerate(METHODS):
            points = [
                (e, statistics.mean(values))
                for e in EPSILONS
                if (values := [r["f1"] for r in mine if r["name"] == name and r["epsilon"] == e])
            ]
            if points:
                axis.plot(*zip(*points, strict=True), marker="o", color=f"C{i}", label=name)
        for i, name in enumerate(FREE):
            values = [r["f1"] for r in mine if r["name"] == name]
            if values:
                style = ("-", "--", ":")[i]
                axis.axhline(statistics.mean(values), color="black", lw=1, ls=style, label=name)
        axis.set(xscale="log", xlabel="epsilon (delta 1e-6)", title=f"{kind}, n = {n:,}", ylim=(0, 1.02))
    axes[0][0].set_ylabel("mean skeleton F1")
    axes[0][0].legend(fontsize=7, loc="lower right")
    grid.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "continuous_discovery.png"
    grid.savefig(path, dpi=110)
    return path


def main() -> None:
    """Run what is missing, print the table, draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--out", type=Path, default=Path("continuous_discovery.jsonl"))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--only", nargs="+", choices=[*METHODS, *FREE], default=[*METHODS, *FREE])
    parser.add_argument("--print-only", action="store_true", help="only what --out holds")
    arguments = parser.parse_args()
    runs = read(arguments.out)
    done = {(r["kind"], r["n"], r["seed"], r["name"], r["epsilon"]) for r in runs}
    at, made = None, None
    for run in () if arguments.print_only else wanted(arguments):
        if (run["kind"], run["n"], run["seed"], run["name"], run["epsilon"]) in done:
            continue
        if at != (run["kind"], run["n"], run["seed"]) or made is None:
            at, made = (run["kind"], run["n"], run["seed"]), network(run["kind"], run["n"], run["seed"])
        runs.append(measure(run, *made))
        with arguments.out.open("a") as file:
            file.write(json.dumps(runs[-1]) + "\n")
    print("\n".join(table(runs)))
    if arguments.figure:
        print(figure(runs, arguments.figure))


if __name__ == "__main__":
    main()
