"""How many bins a number should have: edges found by ``measured`` with coarse and fine cut points.

    python benchmarks/bins.py [--sets 4] [--rows 8000 50000 200000]

Random graphs, another one for each data set and the same ones for every number of rows: four columns are numbers, the
others yes or no. A column follows the sum of its parents' effects, of size .2 to .8 each, and standard normal noise.
``smooth``: 9 columns, two edges a column on average, and a number acts through itself, tanh or its square. ``bands``:
10 columns, one edge a column, and a number acts by three bands whose ends are not the cut points. Cut points are
round numbers at equal distances, as a draft sets them (``data/draft.py``), asked for 3, 5 and 8 of them. epsilon 1,
delta 1e-6, level .01, replace-one. Data and noise are seeded: results repeat.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

import dpcausal as dc
from dpcausal.data.cut_points import cut_points, public_bounds
from dpcausal.data.draft import RULES

NUMBERS = 4
DESIGNS = {"smooth": (9, 2.0), "bands": (10, 1.0)}  # columns, edges a column
CUTS = (3, 5, 8)
Floats = NDArray[np.float64]
Edges = set[frozenset[str]]


def acts(kind: str, parent: Floats, number: bool, rng: np.random.Generator) -> Floats:
    """Return what a parent does to a child, with variance near 1."""
    if not number:
        return 2 * parent - 1
    if kind == "bands":
        ends = np.quantile(parent, np.sort(rng.uniform(0.15, 0.85, 2)))
        return np.array([-1.2, 0.0, 1.2])[rng.permutation(3)][np.digitize(parent, ends)]
    return (parent, 1.3 * np.tanh(2 * parent), (parent**2 - 1) / 1.4)[rng.integers(3)]


def sample(kind: str, rows: int, seed: int) -> tuple[dict[str, Floats], list[str], Edges]:
    """Return the columns of a data set, which of them are numbers, and the edges of its graph."""
    rng, noise = np.random.default_rng([seed, kind == "bands"]), np.random.default_rng([seed, rows])
    columns, degree = DESIGNS[kind]
    names = [f"c{i}" for i in range(columns)]
    numeric = [str(name) for name in rng.choice(names, NUMBERS, replace=False)]
    values, edges = dict[str, Floats](), Edges()
    for j, name in enumerate(names):
        total = noise.normal(size=rows)
        for parent in names[:j]:
            if rng.random() < 2 * degree / (columns - 1):
                edges.add(frozenset((parent, name)))
                size = rng.uniform(0.2, 0.8) * rng.choice([-1, 1])
                total += size * acts(kind, values[parent], parent in numeric, rng)
        total = (total - total.mean()) / total.std()
        values[name] = total if name in numeric else (total > rng.uniform(-0.7, 0.7)).astype(float)
    return values, numeric, edges


def declared(values: dict[str, Floats], numeric: list[str], cuts: int) -> dc.Schema:
    """Return a schema with about so many cut points for each number."""
    columns: dict[str, dc.Numeric | dc.Categorical] = {}
    for name, column in values.items():
        if name in numeric:
            low, high = (float(end) for end in np.quantile(column, RULES.central_quantiles))
            bounds = public_bounds(float(column.min()), float(column.max()))
            columns[name] = dc.Numeric(*bounds, bins=cut_points(low, high, False, cuts))
        else:
            columns[name] = dc.Categorical([0, 1])
    return dc.Schema(columns)


def found(kind: str, rows: int, cuts: int, seed: int) -> tuple[int, int, int, float]:
    """Return true edges found, all true ones, false ones, and the mean number of bins."""
    values, numeric, edges = sample(kind, rows, seed)
    schema = declared(values, numeric, cuts)
    data = dc.read(
        {name: cells if name in numeric else cells.astype(int) for name, cells in values.items()}, schema
    )
    with dc.testing.seeded(seed):
        result = dc.discover(
            data, epsilon=1.0, delta=1e-6, level=0.01, method="measured", confidence=0, anyway=True
        )
    skeleton = result.graph.skeleton
    return (
        len(skeleton & edges),
        len(edges),
        len(skeleton - edges),
        float(np.mean([schema[name].size for name in numeric])),
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="+", default=[8_000, 50_000, 200_000])
    asked = parser.parse_args()
    print("| data | rows | true edges |", *(f"{cuts + 1} bins asked |" for cuts in CUTS))
    print("|---|---|---|" + "---|" * len(CUTS))
    for kind in DESIGNS:
        sizes = []
        for rows in asked.rows:
            cells, edges = [], 0.0
            for cuts in CUTS:
                true, edges, false, size = np.mean(
                    [found(kind, rows, cuts, seed) for seed in range(asked.sets)], axis=0
                )
                cells.append(f"{true:.1f}, {false:.1f} |")
                sizes.append((cuts, float(size)))
            print(f"| {kind} | {rows:,} | {edges:.1f} |", *cells, flush=True)
        for cuts in CUTS:
            got = [size for asked_for, size in sizes if asked_for == cuts]
            print(f"{kind}: {cuts + 1} bins asked for, {min(got):.1f} to {max(got):.1f} got on average")


if __name__ == "__main__":
    main()
