"""Is "found again in 80%" right? Every edge that a run finds is looked for in a second sample with other noise.

    python benchmarks/confidence.py [--graphs 40] [--repeats 40]
    python benchmarks/confidence.py --real FOLDER [--runs 24]     # archives of real data: see hospital_real.py

Random graphs of nine columns: networks of unordered levels (Dirichlet tables), and linear models of which a third of
the columns is cut into yes and no, a third is skewed, and all numbers are cut into four bins. ``many levels`` has
fourteen unordered columns of two to six levels, ``many columns`` has 28 of two to four levels: a tree of pairs is
measured where noise asks for it. 1,500 and 4,000 rows, epsilon 1, delta 1e-6. The first run says how often it expects
to find each of its edges again; the second run, on new rows of the same law, finds it or not. Where the two columns of
numbers agree, the per cent mean what they say.

**Real data**: each set is released many times, with the same rows or with other rows of the same set, and always other
noise. What one run says of an edge is held against the share of all the other runs that find it. *Within 15* is the
share of edges for which the two differ by at most 15 points.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dpcausal as dc
import hospital_real
from dpcausal.networks.network import Network, Variable
from effects import random_network

COLUMNS, DEGREE, ROWS = 9, 2.5, (1_500, 4_000)
CLASSES = (0.0, 0.5, 0.8, 0.95, 1.01)  # as the words say them (present/tables.py)
Edges = set[frozenset[str]]


def levels(seed: int, rows: int) -> tuple[list[dc.Dataset], Edges]:
    """Two samples of a network of unordered levels, and its edges."""
    network = random_network(seed)
    edges = {frozenset((parent, name)) for name in network.order for parent in network[name].parents}
    return [network.sample(rows, seed=2 * seed + which) for which in (0, 1)], edges


def many_levels(seed: int, rows: int, columns: int = 14, most: int = 6) -> tuple[list[dc.Dataset], Edges]:
    """Two samples of so many unordered columns of two levels to the most, and the edges."""
    rng, variables = np.random.default_rng([seed, columns]), list[Variable]()
    for i in range(columns):
        size = int(rng.integers(2, most + 1))
        count = min(i, int(rng.choice(4, p=(0.15, 0.4, 0.3, 0.15))))
        parents = sorted(rng.choice(i, count, replace=False).tolist()) if count else []
        shape = [variables[j].size for j in parents] or None
        table = 0.98 * rng.dirichlet(np.full(size, rng.choice([0.4, 1.0, 2.0])), size=shape) + 0.02 / size
        variables.append(
            Variable(f"v{i}", [str(k) for k in range(size)], [variables[j].name for j in parents], table)
        )
    network = Network(f"many levels {seed}", variables)
    edges = {frozenset((parent, one.name)) for one in variables for parent in one.parents}
    return [network.sample(rows, seed=2 * seed + which) for which in (0, 1)], edges


def numbers(seed: int, rows: int) -> tuple[list[dc.Dataset], Edges]:
    """Two samples of a linear model with skewed and cut columns, and its edges."""
    rng = np.random.default_rng([seed, rows])
    effects = np.triu(rng.random((COLUMNS, COLUMNS)) < DEGREE / (COLUMNS - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.1, 0.6, effects.shape)
    values = np.zeros((2 * rows, COLUMNS))
    for j in range(COLUMNS):
        values[:, j] = values @ effects[:, j] + rng.normal(size=2 * rows)
        values[:, j] /= values[:, j].std()
    kinds = rng.integers(3, size=COLUMNS)
    columns: dict[str, list[str] | list[float]] = {}
    declared: dict[str, dc.Categorical | dc.Numeric] = {}
    for j, kind in enumerate(kinds.tolist()):
        name, value = f"v{j}", values[:, j]
        if kind == 0:
            columns[name] = np.where(value > rng.normal(0, 0.7), "yes", "no").tolist()
            declared[name] = dc.Categorical(["no", "yes"])
        elif kind == 1:
            columns[name], declared[name] = np.exp(value).tolist(), dc.Numeric(0, 20, bins=[1, 2, 4])
        else:
            columns[name], declared[name] = value.tolist(), dc.Numeric(-4, 4, bins=[-1, 0, 1])
    schema = dc.Schema(declared)
    halves = [
        dc.read({name: cells[part] for name, cells in columns.items()}, schema)
        for part in (slice(rows), slice(rows, None))
    ]
    edges = {frozenset((f"v{i}", f"v{j}")) for i, j in zip(*np.nonzero(effects), strict=True)}
    return halves, edges


KINDS: dict[str, Callable[[int, int], tuple[list[dc.Dataset], Edges]]] = {
    "levels": levels,
    "numbers": numbers,
    "many levels": many_levels,
    "many columns": lambda seed, rows: many_levels(seed, rows, columns=28, most=4),
}


def edges_found(kind: str, seed: int, rows: int, repeats: int) -> list[tuple[float, bool, bool]]:
    """Each edge of the first run: its confidence, whether the second finds it, and whether it is true."""
    (one, other), true = KINDS[kind](seed, rows)
    with dc.testing.seeded(2 * seed):
        first = dc.discover(one, epsilon=1.0, delta=1e-6, method="measured", confidence=repeats, anyway=True)
    with dc.testing.seeded(2 * seed + 1):
        second = dc.discover(other, epsilon=1.0, delta=1e-6, method="measured", confidence=0, anyway=True)
    again = second.graph.skeleton
    return [(share, edge in again, edge in true) for edge, share in (first.confidence or {}).items()]


REAL = (  # data set, rows (None: all, the same ones in every run), epsilon
    ("NHEFS", None, 1.0),
    ("NHEFS", None, 3.0),
    ("flchain", 2_000, 1.0),
    ("flchain", None, 0.3),
    ("flchain", None, 1.0),
    ("CPS", 3_000, 1.0),
    ("CPS", None, 0.3),
    ("CPS", None, 1.0),
)
REAL_CLASSES = (0.0, 0.2, 0.5, 0.8, 0.95, 1.01)


def real_edges(data: dc.Dataset, rows: int | None, epsilon: float, runs: int) -> list[tuple[float, float]]:
    """Each edge of every run: how often it is said to be found again, and the share of other runs that find it."""
    found = []
    for seed in range(runs):
        at = np.random.default_rng(seed).permutation(data.n)[:rows]
        part = dc.Dataset(data.schema, len(at), {name: data.codes[name][at] for name in data.columns})
        with dc.testing.seeded(seed):
            result = dc.discover(part, epsilon=epsilon, delta=1e-6, method="measured", anyway=True)
        found.append(result.confidence or {})
    return [
        (share, (sum(edge in one for one in found) - 1) / (runs - 1))
        for said in found
        for edge, share in said.items()
    ]


def real(folder: Path, runs: int) -> None:
    """Print what is said and what is so on real data, by what is said."""
    print("| data | rows | epsilon | said | edges | mean of what was said | found again | within 15 |")
    print("|---|---|---|---|---|---|---|---|")
    every: list[tuple[float, float]] = []
    for name, rows, epsilon in (*REAL, ("all", None, 0.0)):
        if name != "all":
            data = hospital_real.read(folder, name)
            found = real_edges(data, rows, epsilon, runs)
            every += found
            where = (
                f"{name} | {f'{data.n:,}, the same' if rows is None else f'{rows:,}, others'} | {epsilon:g}"
            )
        else:
            found, where = every, "all | | "
        for low, high in itertools.pairwise(REAL_CLASSES):
            part = np.array([one for one in found if low <= one[0] < high])
            if len(part):
                (said, again), near = part.mean(axis=0), np.abs(part[:, 0] - part[:, 1]) <= 0.15
                print(
                    f"| {where} | {low:.0%} to {min(high, 1):.0%} | {len(part)} | {said:.2f} | {again:.2f} "
                    f"| {near.mean():.2f} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--real", type=Path, help="folder with archives of real data")
    parser.add_argument("--runs", type=int, default=24)
    asked = parser.parse_args()
    if asked.real is not None:
        real(asked.real, asked.runs)
        return
    print(
        "| columns | rows | said | edges | mean of what was said | found again | true |\n|---|---|---|---|---|---|---|"
    )
    for kind in KINDS:
        for rows in ROWS:
            found = [
                one for seed in range(asked.graphs) for one in edges_found(kind, seed, rows, asked.repeats)
            ]
            for low, high in [*itertools.pairwise(CLASSES), (CLASSES[0], CLASSES[-1])]:
                part = np.array([one for one in found if low <= one[0] < high], dtype=float)
                if len(part):
                    said, again, true = part.mean(axis=0)
                    label = "all" if high - low > 1 else f"{low:.0%} to {min(high, 1):.0%}"
                    print(
                        f"| {kind} | {rows:,} | {label} | {len(part)} | {said:.2f} | {again:.2f} | {true:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
