"""Do the constants of `measured` hold on graphs that they were not chosen on?

    python benchmarks/fresh_graphs.py [--graphs 24] [--first 5000000] [--kinds levels wide numbers weak]

Each constant that was chosen by looking at data is set back, one at a time, and both searches run on the same rows with
the same noise: without trends of ordered columns (``TREND``), without the rule for large sets (``EXPLAINED``), and with
"absent" said where a medium dependence would be found two times in three (``SHOWN`` 1). Graphs are drawn from seeds
that no constant was set on. The table has the mean for the constants as they are and, for each set back, how much is
lost by that, with the standard error of the difference, graph by graph.

Kinds: ``levels`` has six to nine unordered columns (Dirichlet tables); ``wide`` fifteen; ``numbers`` nine columns of a
linear model, cut, skewed and binned; ``weak`` ten binned columns with weak linear effects. Epsilon 1 and 3, delta 1e-6.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np

import confidence
import dpcausal as dc
from dpcausal.discovery import forward, measurer
from dpcausal.graphs import cpdag_scores, skeleton_scores
from dpcausal.networks.network import Network, Variable
from dpcausal.stats import contrasts
from effects import random_network

ROWS, EPSILONS, DELTA = (1_000, 3_000, 10_000), (1.0, 3.0), 1e-6
SCORES = ("skeleton F1", "CPDAG F1", "false edges", "true edges called absent", "open pairs")
Made = tuple[dc.Dataset, dc.Graph]


def of_network(network: Network, rows: int, seed: int) -> Made:
    """Rows of a network, and its graph."""
    return network.sample(rows, seed=seed), network.dag


def levels(seed: int, rows: int) -> Made:
    """Six to nine unordered columns."""
    return of_network(random_network(seed), rows, seed)


def wide(seed: int, rows: int) -> Made:
    """Fifteen unordered columns of two to four levels, at most three parents each."""
    rng = np.random.default_rng([seed, 15])
    names = [f"v{i:02}" for i in range(15)]
    variables: list[Variable] = []
    for i, name in enumerate(names):
        size, count = int(rng.integers(2, 5)), min(i, int(rng.choice(4, p=(0.15, 0.4, 0.3, 0.15))))
        parents = sorted(rng.choice(i, count, replace=False).tolist()) if count else []
        shape = [variables[j].size for j in parents]
        table = rng.dirichlet(np.full(size, rng.choice([0.4, 1.0, 2.0])), size=shape or None)
        table = 0.98 * table + 0.02 / size
        variables.append(Variable(name, [str(k) for k in range(size)], [names[j] for j in parents], table))
    return of_network(Network(f"wide {seed}", variables), rows, seed)


def numbers(seed: int, rows: int) -> Made:
    """Nine columns of a linear model: a third cut into yes and no, a third skewed."""
    (data, _), edges = confidence.numbers(seed, rows)
    return data, dag(data, edges)


def weak(seed: int, rows: int) -> Made:
    """Ten binned columns with effects of .08 to .3."""
    rng, d = np.random.default_rng([seed, rows, 10]), 10
    effects = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.08, 0.3, effects.shape)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
    names = [f"v{j}" for j in range(d)]
    schema = dc.Schema({name: dc.Numeric(-4, 4, bins=[-1, 0, 1]) for name in names})
    data = dc.read({name: values[:, j].tolist() for j, name in enumerate(names)}, schema)
    edges = {frozenset((names[i], names[j])) for i, j in zip(*np.nonzero(effects), strict=True)}
    return data, dag(data, edges)


def dag(data: dc.Dataset, edges: confidence.Edges) -> dc.Graph:
    """Arrows from the column with the smaller number to the other, as the linear models are drawn."""
    order = {name: j for j, name in enumerate(data.columns)}
    return dc.Graph(
        list(data.columns), directed=[tuple(sorted(edge, key=order.__getitem__)) for edge in edges]
    )


KINDS: dict[str, Callable[[int, int], Made]] = {
    "levels": levels,
    "wide": wide,
    "numbers": numbers,
    "weak": weak,
}


@contextmanager
def as_is() -> Iterator[None]:
    """Constants as they are."""
    yield


@contextmanager
def no_trends() -> Iterator[None]:
    """Trends weigh nothing."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(contrasts, "_LOG_WHOLE", math.log(2.0)))
        stack.enter_context(patch.object(contrasts, "_LOG_TREND", -700.0))
        yield


@contextmanager
def large_sets_separate() -> Iterator[None]:
    """Any informative test given three columns separates."""
    with patch.object(measurer, "EXPLAINED", -math.inf):
        yield


@contextmanager
def absent_sooner() -> Iterator[None]:
    """Absent where a medium dependence would be found two times in three."""
    with patch.object(forward, "SHOWN", 1.0):
        yield


SET_BACK = {
    "no trends": no_trends,
    "large sets separate": large_sets_separate,
    "absent sooner": absent_sooner,
}


def scores(data: dc.Dataset, truth: dc.Graph, epsilon: float, seed: int) -> list[float]:
    """One run."""
    with dc.testing.seeded(seed):
        found = dc.discover(data, epsilon=epsilon, delta=DELTA, method="measured", confidence=0, anyway=True)
    skeleton, true = found.graph.skeleton, truth.skeleton
    opened = {frozenset(pair) for pair in found.open}
    absent = true - skeleton - opened
    return [
        skeleton_scores(truth, found.graph).f1,
        cpdag_scores(truth, found.graph).f1,
        float(len(skeleton - true)),
        float(len(absent)),
        float(len(opened)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=24)
    parser.add_argument("--first", type=int, default=5_000_000, help="seed of the first graph")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--rows", nargs="+", type=int, default=[*ROWS])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[*EPSILONS])
    asked = parser.parse_args()
    print(
        f"| kind | rows | epsilon | setting | {' | '.join(SCORES)} |\n|---|---|---|---|{'---|' * len(SCORES)}"
    )
    for kind, rows, epsilon in itertools.product(asked.kinds, asked.rows, asked.epsilons):
        ways = {"as it is": as_is, **SET_BACK}
        if kind in ("levels", "wide"):
            del ways["no trends"]  # no column has an order
        found: dict[str, list[list[float]]] = {way: [] for way in ways}
        for seed in range(asked.first, asked.first + asked.graphs):
            data, truth = KINDS[kind](seed, rows)
            for way, setting in ways.items():
                with setting():
                    found[way].append(scores(data, truth, epsilon, seed))
        for way, made in found.items():
            values = np.array(made) - (0.0 if way == "as it is" else np.array(found["as it is"]))
            error = (
                values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else values[0] * 0.0
            )
            sign = "" if way == "as it is" else "+"
            cells = " | ".join(
                f"{one:{sign}.3f} ({by:.3f})" for one, by in zip(values.mean(axis=0), error, strict=True)
            )
            print(f"| {kind} | {rows:,} | {epsilon:g} | {way} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
