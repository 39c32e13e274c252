r"""Do the constants of `measured` hold on graphs that they were not chosen on?

    python benchmarks/fresh_graphs.py [--graphs 24] [--first 5000000] [--kinds levels wide ...] [--delta 0]
    python benchmarks/fresh_graphs.py --kinds gates few levels --ways "pairs alone"     # only this is set back
    python benchmarks/fresh_graphs.py --kinds mixed dozen codes many --epsilons .3 1 3
    python benchmarks/fresh_graphs.py --kinds wide numbers weak --epsilons .3 1 --ways "never bolder"
    python benchmarks/fresh_graphs.py --kinds numbers thirds bends --rows 1000 3000 10000 20000 \
        --ways "bins as they are"

Each constant that was chosen by looking at data is set back, one at a time, and both searches run on the same rows with
the same noise: without trends of ordered columns (``TREND``), without the rule for large sets (``EXPLAINED``), with
"absent" said where a medium dependence would be found two times in three (``SHOWN`` 1), and with joint tables wherever
a pair has at most twice the noise (``MAX_JOINT_RATIO``), with joint tables taken as they are released, impossible
noise included (``stats/joint_contrasts.py``), without scoring whole graphs on them, nor taking them more often for
that (``stats/joint_graphs.py``), without asking for less evidence where little can be seen
(``planning/enough.py``), and with edges that the bins of a number explain (``discovery/coarse.py``). Graphs are drawn
from seeds that no constant was set on. The table has the mean for the constants as they are and, for each set back, how
much is lost by that, with the standard error of the difference, graph by graph.

Kinds: ``levels`` has six to nine unordered columns (Dirichlet tables); ``wide`` fifteen; ``numbers`` nine columns of a
linear model, cut, skewed and binned; ``weak`` ten binned columns with weak linear effects; ``few`` four to eight
unordered columns of two to six levels; ``gates`` six to eight yes/no columns, many of them rare and some the "or" of
two others. ``linear`` has five to twelve columns, most of them numbers without bins, and asks for ``method="auto"``:
set back are its choices, ``moments`` for all or tables for all. ``many`` has thirty unordered columns of two to four
levels, ``mixed`` thirty of a linear model, half of them numbers in four bins, half of four levels without an order,
``dozen`` twelve unordered columns of two to four levels, ``codes`` twelve of a linear model with three levels without
an order: set back is the choice of a tree (``tree_pays``); they run where they are asked for. So do ``thirds``, ten
numbers of a linear model in three bins, and ``bends``, ten numbers in five bins that depend on each other by lines,
squares, sines and steps: set back is what bins explain. Epsilon 1 and 3.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import confidence
import dpcausal as dc
from dpcausal.discovery import components, forward, joint_search, measured, measurer
from dpcausal.discovery import discover as discover_module
from dpcausal.discovery.discover import NoDelta
from dpcausal.graphs import cpdag_scores, skeleton_scores
from dpcausal.networks.network import Network, Variable
from dpcausal.planning import enough, measurement
from dpcausal.stats import contrasts
from effects import random_network

ROWS, EPSILONS = (1_000, 3_000, 10_000), (1.0, 3.0)
SCORES = ("skeleton F1", "CPDAG F1", "false edges", "true edges called absent", "open pairs")
Made = tuple[dc.Dataset, dc.Graph]
Floats = NDArray[np.float64]


def of_network(network: Network, rows: int, seed: int) -> Made:
    """Rows of a network, and its graph."""
    return network.sample(rows, seed=seed), network.dag


def levels(seed: int, rows: int) -> Made:
    """Six to nine unordered columns."""
    return of_network(random_network(seed), rows, seed)


def of_tables(name: str, rng: np.random.Generator, columns: list[str], most: int) -> Network:
    """Unordered columns of two to ``most`` levels, at most three parents each, with Dirichlet tables."""
    variables: list[Variable] = []
    for i, column in enumerate(columns):
        size, count = int(rng.integers(2, most + 1)), min(i, int(rng.choice(4, p=(0.15, 0.4, 0.3, 0.15))))
        parents = sorted(rng.choice(i, count, replace=False).tolist()) if count else []
        shape = [variables[j].size for j in parents]
        table = rng.dirichlet(np.full(size, rng.choice([0.4, 1.0, 2.0])), size=shape or None)
        table = 0.98 * table + 0.02 / size
        levels_of = [str(k) for k in range(size)]
        variables.append(Variable(column, levels_of, [columns[j] for j in parents], table))
    return Network(name, variables)


def wide(seed: int, rows: int) -> Made:
    """Fifteen unordered columns of two to four levels."""
    rng = np.random.default_rng([seed, 15])
    return of_network(of_tables(f"wide {seed}", rng, [f"v{i:02}" for i in range(15)], 4), rows, seed)


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
    return in_bins(values, [-1.0, 0.0, 1.0], effects)


def few(seed: int, rows: int) -> Made:
    """Four to eight unordered columns of two to six levels."""
    rng = np.random.default_rng([seed, 8])
    columns = [f"v{i}" for i in range(int(rng.integers(4, 9)))]
    most = int(rng.integers(2, 7))
    return of_network(of_tables(f"few {seed}", rng, columns, most), rows, seed)


def gates(seed: int, rows: int) -> Made:
    """Six to eight yes/no columns: causes raise the chance of their effects one by one, or an effect is their "or"."""
    rng = np.random.default_rng([seed, 77])
    columns = [f"v{i}" for i in range(int(rng.integers(6, 9)))]
    variables: list[Variable] = []
    for i, column in enumerate(columns):
        gate = i >= 2 and rng.random() < 0.3
        count = 2 if gate else min(i, int(rng.choice(3, p=(0.3, 0.45, 0.25))))
        parents = sorted(rng.choice(i, count, replace=False).tolist()) if count else []
        base, effects = float(np.exp(rng.uniform(np.log(0.01), np.log(0.5)))), rng.uniform(0.2, 0.9, count)
        table = np.empty((2,) * count + (2,))
        for levels_of in np.ndindex(*table.shape[:-1]):
            none = 1.0 - base
            for effect, present in zip(effects, levels_of, strict=True):
                none *= 1.0 - effect if present else 1.0
            chance = float(any(levels_of)) if gate else 1.0 - none
            table[levels_of] = (1.0 - chance, chance)
        variables.append(Variable(column, ["no", "yes"], [columns[j] for j in parents], table))
    return of_network(Network(f"gates {seed}", variables), rows, seed)


def linear(seed: int, rows: int) -> Made:
    """Five to twelve columns of a linear model: normal numbers, lognormal ones, and some cut into yes and no."""
    rng = np.random.default_rng([seed, rows, 12])
    d = int(rng.integers(5, 13))
    effects = np.triu(rng.random((d, d)) < 2.2 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.2, 0.8, effects.shape)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
    values /= np.sqrt((values**2).mean(axis=0))
    columns: dict[str, list[float]] = {}
    kinds: dict[str, dc.Numeric | dc.Categorical] = {}
    for j in range(d):
        name, kind = f"v{j}", "normal" if j < d // 2 + 1 else str(rng.choice(["normal", "skewed", "cut"]))
        column = {"normal": values[:, j], "skewed": np.exp(values[:, j]), "cut": values[:, j] > 0.6}[kind]
        kinds[name] = (
            dc.Categorical([0, 1])
            if kind == "cut"
            else dc.Numeric(-4, 4)
            if kind == "normal"
            else dc.Numeric(0, 60)
        )
        columns[name] = column.astype(int).tolist() if kind == "cut" else column.tolist()
    data = dc.read(columns, dc.Schema(kinds))
    edges = {frozenset((f"v{i}", f"v{j}")) for i, j in zip(*np.nonzero(effects), strict=True)}
    return data, dag(data, edges)


def many(seed: int, rows: int) -> Made:
    """Thirty unordered columns of two to four levels."""
    rng = np.random.default_rng([seed, 30])
    return of_network(of_tables(f"many {seed}", rng, [f"v{i:02}" for i in range(30)], 4), rows, seed)


def mixed(seed: int, rows: int) -> Made:
    """Thirty columns of a linear model: quarters of every other one have an order, those of the rest have none."""
    rng, d = np.random.default_rng([seed, rows, 31]), 30
    effects = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.3, 0.9, effects.shape)
    values = np.zeros((rows, d))
    columns: dict[str, list[float] | list[str]] = {}
    kinds: dict[str, dc.Numeric | dc.Categorical] = {}
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
        values[:, j] /= values[:, j].std()
        name = f"v{j:02}"
        if j % 2:
            columns[name], kinds[name] = values[:, j].tolist(), dc.Numeric(-4, 4, bins=[-0.7, 0, 0.7])
        else:
            letters = rng.permutation(list("abcd"))
            columns[name] = letters[np.searchsorted([-0.7, 0.0, 0.7], values[:, j])].tolist()
            kinds[name] = dc.Categorical(list("abcd"))
    data = dc.read(columns, dc.Schema(kinds))
    names = list(kinds)
    return data, dag(
        data, {frozenset((names[i], names[j])) for i, j in zip(*np.nonzero(effects), strict=True)}
    )


def dozen(seed: int, rows: int) -> Made:
    """Twelve unordered columns of two to four levels."""
    rng = np.random.default_rng([seed, 12])
    return of_network(of_tables(f"dozen {seed}", rng, [f"v{i:02}" for i in range(12)], 4), rows, seed)


def codes(seed: int, rows: int) -> Made:
    """Twelve columns of a linear model, thirds of each as codes without an order."""
    rng, d = np.random.default_rng([seed, rows, 13]), 12
    effects = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.3, 0.9, effects.shape)
    values = np.zeros((rows, d))
    columns: dict[str, list[str]] = {}
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
        letters = rng.permutation(list("abc"))
        thirds = np.quantile(values[:, j], [1 / 3, 2 / 3])
        columns[f"v{j:02}"] = letters[np.searchsorted(thirds, values[:, j])].tolist()
    names = list(columns)
    data = dc.read(columns, dc.Schema(dict.fromkeys(names, dc.Categorical(list("abc")))))
    return data, dag(
        data, {frozenset((names[i], names[j])) for i, j in zip(*np.nonzero(effects), strict=True)}
    )


def thirds(seed: int, rows: int) -> Made:
    """Ten numbers of a linear model, in three bins."""
    rng, d = np.random.default_rng([seed, rows, 33]), 10
    effects = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.3, 0.9, effects.shape)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
        values[:, j] /= values[:, j].std()
    return in_bins(values, [-0.5, 0.5], effects)


def bends(seed: int, rows: int) -> Made:
    """Ten numbers in five bins, sums of functions of others and noise."""
    rng, d = np.random.default_rng([seed, rows, 34]), 10
    shapes: list[Callable[[Floats], Floats]] = [
        lambda t: t,
        np.square,
        lambda t: np.sin(2 * t),
        lambda t: np.tanh(3 * t),
    ]
    linked = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = rng.normal(size=rows)
        for i in np.flatnonzero(linked[:, j]):
            part = shapes[rng.integers(len(shapes))](values[:, i])
            values[:, j] += (
                rng.choice([-1, 1]) * rng.uniform(0.5, 1.0) * (part - part.mean()) / max(part.std(), 1e-9)
            )
        values[:, j] = (values[:, j] - values[:, j].mean()) / values[:, j].std()
    return in_bins(values, [-1.0, -0.3, 0.3, 1.0], linked)


def in_bins(values: Floats, cuts: list[float], linked: Floats) -> Made:
    """Numbers with these cuts, and the graph of what is linked."""
    names = [f"v{j}" for j in range(values.shape[1])]
    schema = dc.Schema({name: dc.Numeric(-4, 4, bins=cuts) for name in names})
    data = dc.read({name: values[:, j].tolist() for j, name in enumerate(names)}, schema)
    return data, dag(
        data, {frozenset((names[i], names[j])) for i, j in zip(*np.nonzero(linked), strict=True)}
    )


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
    "few": few,
    "gates": gates,
    "linear": linear,
    "many": many,
    "mixed": mixed,
    "dozen": dozen,
    "codes": codes,
    "thirds": thirds,
    "bends": bends,
}
OF_TREES = ("many", "mixed", "dozen", "codes")
OF_BINS = ("thirds", "bends")


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


@contextmanager
def joint_sooner() -> Iterator[None]:
    """One joint table wherever a pair has at most twice the noise that a first look at components has."""
    with ExitStack() as stack:
        for name in ("MAX_JOINT_RATIO", "MAX_JOINT_RATIO_PURE", "MAX_SCORED_RATIO"):
            stack.enter_context(patch.object(measurement, name, 2.0))
        yield


@contextmanager
def joint_as_released() -> Iterator[None]:
    """Joint tables keep the noise that no counts could have."""
    with patch.object(components, "can_be_cleared", lambda sizes: False):
        yield


@contextmanager
def pairs_alone() -> Iterator[None]:
    """No whole graph is scored on a joint table."""
    with ExitStack() as stack:
        for module in (joint_search, measurement):
            stack.enter_context(patch.object(module, "steps_for", lambda sizes: 0))
        yield


@contextmanager
def no_tree() -> Iterator[None]:
    """Every pair is measured, however many there are."""
    with patch.object(measurer, "tree_pays", lambda *given, **more: False):
        yield


@contextmanager
def never_bolder() -> Iterator[None]:
    """An edge must be likelier than none, however little can be seen."""
    with patch.object(enough, "HALF_AS_LIKELY", 0.0):
        yield


@contextmanager
def bins_as_they_are() -> Iterator[None]:
    """What bins explain stays an edge."""
    with patch.object(measured, "explained_by_bins", lambda *given: {}):
        yield


@contextmanager
def moments_always() -> Iterator[None]:
    """``auto`` takes moments wherever most columns hold numbers."""
    with patch.object(discover_module, "moments_pay", lambda *given: True):
        yield


@contextmanager
def tables_always() -> Iterator[None]:
    """``auto`` takes tables."""
    with patch.object(discover_module, "moments_pay", lambda *given: False):
        yield


CHOICES = {"moments always": moments_always, "tables always": tables_always}
SET_BACK = {
    "no trends": no_trends,
    "large sets separate": large_sets_separate,
    "absent sooner": absent_sooner,
    "joint sooner": joint_sooner,
    "joint as released": joint_as_released,
    "pairs alone": pairs_alone,
    "never bolder": never_bolder,
    "bins as they are": bins_as_they_are,
}


def ways_of(kind: str) -> dict[str, Callable[[], AbstractContextManager[None]]]:
    """What is set back on graphs of this kind: what can change something there."""
    if kind == "linear":
        return {"as it is": as_is, **CHOICES}
    if kind in OF_TREES:
        return {"as it is": as_is, "no tree": no_tree}
    if kind in OF_BINS:
        return {"as it is": as_is, "bins as they are": bins_as_they_are}
    ways = {"as it is": as_is, **SET_BACK}
    if kind in ("levels", "wide", "few", "gates"):
        del ways["no trends"], ways["bins as they are"]  # no column has an order
    if kind in ("wide", "weak", "numbers"):
        del ways["joint as released"], ways["pairs alone"]  # more cells than one has
    if kind in ("few", "gates"):
        del ways["never bolder"]  # too few columns for odds to count
    if kind in ("wide", "weak"):
        del ways["joint sooner"]  # more cells than a joint table may have
    return ways


def scores(
    data: dc.Dataset, truth: dc.Graph, epsilon: float, delta: float, method: str, seed: int
) -> list[float]:
    """One run."""
    with dc.testing.seeded(seed), warnings.catch_warnings():
        warnings.simplefilter("ignore", NoDelta)
        found = dc.discover(data, epsilon=epsilon, delta=delta, method=method, confidence=0, anyway=True)
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
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=[*KINDS],
        default=[kind for kind in KINDS if kind not in (*OF_TREES, *OF_BINS)],
    )
    parser.add_argument("--rows", nargs="+", type=int, default=[*ROWS])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[*EPSILONS])
    parser.add_argument("--ways", nargs="+", choices=[*SET_BACK], help="set back these alone")
    parser.add_argument("--delta", type=float, default=1e-6)
    asked = parser.parse_args()
    print(
        f"| kind | rows | epsilon | setting | {' | '.join(SCORES)} |\n|---|---|---|---|{'---|' * len(SCORES)}"
    )
    for kind, rows, epsilon in itertools.product(asked.kinds, asked.rows, asked.epsilons):
        ways, method = ways_of(kind), "auto" if kind == "linear" else "measured"
        if asked.ways:
            ways = {way: setting for way, setting in ways.items() if way in ("as it is", *asked.ways)}
        found: dict[str, list[list[float]]] = {way: [] for way in ways}
        for seed in range(asked.first, asked.first + asked.graphs):
            data, truth = KINDS[kind](seed, rows)
            for way, setting in ways.items():
                with setting():
                    found[way].append(scores(data, truth, epsilon, asked.delta, method, seed))
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
