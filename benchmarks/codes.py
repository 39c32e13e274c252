"""Links among rare codes: ``codes`` beside ``measured``, false edges, and time.

    python benchmarks/codes.py power --columns 100 --rows 20000 [--runs 4] [--methods codes measured]
    python benchmarks/codes.py null --columns 100 --rows 20000 [--runs 10] [--epsilon 1] [--frailty 0.8] [--clusters 2]

Random graphs with about one edge a column, prevalences from 1 to 8% (log-uniform), log odds ratios from 1 to 2.5.
``null`` has no edges: every one found is false, but with a frailty, which is dependence: there a link that is
*negative* would be the cap's. With clusters, codes of one come together, and links between them and others are false.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

import numpy as np

import dpcausal as dc
from dpcausal.data.codes import CodeTable

CLUSTER = 10  # codes of a cluster


def prevalences(columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return prevalences from 1 to 8%, log-uniform."""
    return np.exp(rng.uniform(np.log(0.01), np.log(0.08), columns))


def linked(columns: int, rows: int, edges: int, rng: np.random.Generator) -> tuple[np.ndarray, set]:
    """Return rows of zeros and ones of a random graph, and its edges."""
    order, share = rng.permutation(columns), prevalences(columns, rng)
    pairs = [(order[i], order[j]) for i in range(columns) for j in range(i + 1, columns)]
    parents: dict[int, list] = {j: [] for j in range(columns)}
    for k in rng.choice(len(pairs), edges, replace=False):
        parents[pairs[k][1]].append((pairs[k][0], rng.uniform(1.0, 2.5)))
    ones = np.zeros((rows, columns), np.uint8)
    for j in order:
        effect = sum((by * ones[:, a] for a, by in parents[j]), np.zeros(rows))
        low, high = -15.0, 5.0
        for _ in range(40):
            middle = (low + high) / 2
            above = (1 / (1 + np.exp(-(middle + effect)))).mean() > share[j]
            low, high = (low, middle) if above else (middle, high)
        ones[:, j] = rng.random(rows) < 1 / (1 + np.exp(-(high + effect)))
    return ones, {frozenset((int(a), int(b))) for b in parents for a, _ in parents[b]}


def unlinked(columns: int, rows: int, frailty: float, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of independent codes; with a frailty of this log standard deviation; with clusters of codes."""
    by = np.exp(frailty * rng.standard_normal(rows) - frailty**2 / 2)[:, None]
    ones = rng.random((rows, columns)) < np.minimum(prevalences(columns, rng) * by, 0.9)
    for one in range(clusters):
        here = slice(CLUSTER * one, CLUSTER * (one + 1))
        ones[:, here] |= (rng.random((rows, 1)) < 0.04) & (rng.random((rows, CLUSTER)) < 0.5)
    return ones.astype(np.uint8)


def table(ones: np.ndarray) -> CodeTable:
    """Return the rows as ``dc.read_codes`` would."""
    names = [f"c{j:03}" for j in range(ones.shape[1])]
    schema = dc.Schema(dict.fromkeys(names, dc.Categorical(["no", "yes"])))
    columns = {name: np.ascontiguousarray(ones[:, j]) for j, name in enumerate(names)}
    return CodeTable(schema, len(ones), columns, {}, None, tuple(names))


def run(ones: np.ndarray, method: str, asked: argparse.Namespace, seed: int) -> tuple:
    """Return the result of a discovery, its edges by number, and its CPU seconds."""
    data, start = table(ones), time.process_time()
    with dc.testing.seeded(seed):
        found = dc.discover(
            data,
            epsilon=asked.epsilon,
            delta=asked.delta,
            method=method,
            neighbours=asked.neighbours,
            confidence=None if asked.confidence else 0,
            anyway=True,
        )
    edges = {frozenset(int(name[1:]) for name in pair) for pair in found.graph.skeleton}
    return found, edges, time.process_time() - start


def power(asked: argparse.Namespace) -> None:
    """Print true and false edges, how often intervals hold the true w, and CPU seconds."""
    for method in asked.methods:
        kept = []
        for seed in range(asked.first, asked.first + asked.runs):
            rng = np.random.default_rng([34, asked.columns, seed])
            ones, truth = linked(asked.columns, asked.rows, round(1.02 * asked.columns), rng)
            found, edges, seconds = run(ones, method, asked, seed)
            kept.append([len(edges & truth), len(edges - truth), seconds, *coverage(found, ones)])
            out(
                method=method, columns=asked.columns, rows=asked.rows, run=seed, found=kept[-1][0],
                false=kept[-1][1], of=len(truth), seconds=round(seconds, 1), covered=kept[-1][3:],
            )  # fmt: skip
        means = np.array(kept, float)
        out(
            method=method, columns=asked.columns, mean_found=means[:, 0].mean(), mean_false=means[:, 1].mean(),
            covered=means[:, 3].sum() / max(means[:, 4].sum(), 1), mean_seconds=round(means[:, 2].mean(), 1),
            gib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        )  # fmt: skip


def coverage(found: dc.DiscoveryResult, ones: np.ndarray) -> tuple[int, int]:
    """Return how many intervals of links found hold the correlation of all rows, and how many there are."""
    held, strengths = 0, getattr(found, "strength", {})
    for pair, link in strengths.items():
        a, b = (int(name[1:]) for name in pair)
        held += bool(link.low <= abs(np.corrcoef(ones[:, a], ones[:, b])[0, 1]) <= link.high)
    return held, len(strengths)


def null(asked: argparse.Namespace) -> None:
    """Print false edges: all, or the negative ones and those between clusters and others."""
    totals = []
    for seed in range(asked.first, asked.first + asked.runs):
        rng = np.random.default_rng([35, asked.columns, seed])
        ones = unlinked(asked.columns, asked.rows, asked.frailty, asked.clusters, rng)
        found, edges, seconds = run(ones, "codes", asked, seed)

        def cluster(j: int) -> int:
            return j // CLUSTER if j < CLUSTER * asked.clusters else -1 - j

        false = [pair for pair in edges if len({cluster(j) for j in pair}) == 2]
        negative = [pair for pair in edges if _negative(found, pair)]
        totals.append((len(false), len(negative), len(found.open)))
        out(run=seed, edges=len(edges), false=len(false), negative=len(negative), seconds=round(seconds, 1))
    means = np.mean(totals, axis=0).tolist()
    out(frailty=asked.frailty, clusters=asked.clusters, epsilon=asked.epsilon, mean_false=means[0],
        mean_negative=means[1], runs_with_false=float(np.mean([one[0] > 0 for one in totals])))  # fmt: skip


def _negative(found: dc.DiscoveryResult, pair: frozenset[int]) -> bool:
    link = getattr(found, "strength", {}).get(frozenset(f"c{j:03}" for j in pair))
    return link is not None and link.sign < 0


def out(**figures: object) -> None:
    """Print one line."""
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["power", "null"])
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--neighbours", default="replace-one")
    parser.add_argument("--frailty", type=float, default=0.0)
    parser.add_argument("--clusters", type=int, default=0)
    parser.add_argument("--methods", nargs="+", default=["codes", "measured"])
    parser.add_argument("--confidence", action="store_true")
    asked = parser.parse_args()
    {"power": power, "null": null}[asked.what](asked)


if __name__ == "__main__":
    main()
