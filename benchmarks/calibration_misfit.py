"""How far sets reckoned from pairs are wrong, law by law: what ``misfit`` of the settings stands for.

    python benchmarks/calibration_misfit.py

Without noise. A column given its two or three parents is independent of every column that it does not cause, but the
regression on features of single parents leaves what is no sum over them. Printed: how many such pairs there are, the
root mean square of an entry of their partial correlations less what sampling adds, the same of columns that are linked
to a parent, and the largest of a pair.
"""

from __future__ import annotations

import math

import networkx as nx
import numpy as np

import calibration

LAWS = ("sachs", "levels", "dozen", "few", "wide", "yesno", "numbers", "gates", "codes", "asia", "survey")
ROWS, FIRST, GRAPHS = 30_000, 900, 3


def features(codes: np.ndarray, size: int) -> np.ndarray:
    """Features of a column: mean 0, variance 1, uncorrelated."""
    shares = np.bincount(codes, minlength=size) / len(codes)
    centred = [(codes == k) - shares[k] for k in range(size) if shares[k] > 0][1:]
    if not centred:
        return np.zeros((len(codes), 0))
    turned, values, _ = np.linalg.svd(np.stack(centred, axis=1), full_matrices=False)
    return np.asarray(turned[:, values > 1e-6 * values[0]] * math.sqrt(len(codes)))


def left(of: np.ndarray, given: np.ndarray) -> np.ndarray:
    """What a regression leaves, in standard deviations."""
    rest = of - given @ np.linalg.lstsq(given, of, rcond=None)[0]
    return np.asarray(rest / np.maximum(rest.std(axis=0), 0.05))


def squares_of(law: str, seed: int) -> list[tuple[bool, float]]:
    """Of every pair, whether it is linked to a parent, and the mean square of an entry."""
    data, truth = calibration.makers()[law](seed, ROWS)
    graph = nx.DiGraph()
    graph.add_nodes_from(truth.nodes)
    graph.add_edges_from(truth.directed)
    columns = {name: features(data.codes[name], data.schema[name].size) for name in truth.nodes}
    found = []
    for v in truth.nodes:
        parents = list(graph.predecessors(v))
        if not 2 <= len(parents) <= 3:
            continue
        given = np.column_stack([columns[name] for name in parents])
        later = nx.descendants(graph, v)
        for u in truth.nodes:
            if u == v or u in parents or u in later or not columns[u].shape[1] * columns[v].shape[1]:
                continue
            entries = left(columns[v], given).T @ left(columns[u], given) / ROWS
            near = any(graph.has_edge(p, u) or graph.has_edge(u, p) for p in parents)
            found.append((near, float((entries**2).mean()) - 1 / ROWS))
    return found


def main() -> None:
    print("| law | pairs | misfit | pairs near a parent | misfit | largest |")
    print("|---|---:|---:|---:|---:|---:|")
    for law in LAWS:
        some = [
            one
            for seed in range(1 if law in calibration.NETWORKS else GRAPHS)
            for one in squares_of(law, FIRST + seed)
        ]
        near = [square for linked, square in some if linked]
        cells = [math.sqrt(max(float(np.mean(one)), 0.0)) for one in ([square for _, square in some], near)]
        most = math.sqrt(max(square for _, square in some))
        print(
            f"| {law} | {len(some)} | {cells[0]:.3f} | {len(near)} | {cells[1]:.3f} | {most:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
