r"""What is each number of `measured` worth on graphs that it was not chosen on?

    python benchmarks/fresh_graphs.py [--graphs 24] [--first 5000000] [--kinds levels wide ...] [--ways "no rounds" ...]
    python benchmarks/fresh_graphs.py --out ablation.jsonl ...   # kept run by run: stop and resume
    python benchmarks/fresh_graphs.py --summary ablation.jsonl   # what is kept there

Each setting of ``planning/settings.py`` is left out or set to the plain value that it would have without tuning, one at
a time, and both searches run on the same rows with the same noise. Graphs are drawn from seeds that no number was set
on. Printed is first a line for each change: what it loses on average over cells, and in how many of them more than two
standard errors. Then, cell by cell, the mean for the settings as they are and, for each change, what is lost by it,
with the standard error of the difference, graph by graph.

Kinds: ``levels`` has six to nine unordered columns (Dirichlet tables); ``wide`` fifteen; ``numbers`` nine columns of a
linear model, cut, skewed and binned; ``weak`` ten binned columns with weak linear effects; ``few`` four to eight
unordered columns of two to six levels; ``gates`` six to eight yes/no columns, many of them rare and some the "or" of
two others; ``yesno`` sixteen yes/no columns; ``many`` thirty unordered columns of two to four levels;
``mixed`` thirty of a linear model, half of them numbers in four bins, half of four levels without an order; ``dozen``
twelve unordered columns of two to four levels; ``codes`` twelve of a linear model with three levels without an order;
``thirds`` ten numbers of a linear model in three bins, ``eighths`` in eight; ``bends`` ten numbers in five bins that
depend on each other by lines, squares, sines and steps; ``hubs`` twenty-four unordered columns that mostly follow one
of a few of 9 to 16 levels; ``causes`` yes/no columns of which six to fourteen cause one outcome; ``linear`` five to
twelve columns, most of them numbers without bins, by ``method="auto"`` and, for comparison, by tables and by moments.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import confidence
import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.discover import NoDelta
from dpcausal.graphs import cpdag_scores, skeleton_scores
from dpcausal.networks.network import Network, Variable
from dpcausal.planning.measurement_plan import PublicNumbers, plan_measurement
from dpcausal.planning.plan import ExecutablePlan
from dpcausal.planning.settings import SETTINGS, MeasuredSettings
from effects import random_network

CELLS = ((1_000, 1.0), (5_000, 1.0), (5_000, 3.0), (30_000, 3.0))  # rows and epsilon
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


def hubs(seed: int, rows: int) -> Made:
    """Twenty-four unordered columns: one to three of 9 to 16 levels, and columns that mostly follow one of these."""
    rng = np.random.default_rng([seed, 24])
    names, hub_count = [f"v{i:02}" for i in range(24)], int(rng.integers(1, 4))
    variables: list[Variable] = []
    for i, name in enumerate(names):
        hub = i < hub_count
        size = int(rng.integers(9, 17)) if hub else int(rng.integers(2, 7))
        parents: list[int] = []
        if not hub:
            few = min(i, int(rng.integers(0, 3)))
            follows = rng.random() < 0.7
            parents = (
                [int(rng.integers(hub_count))]
                if follows
                else sorted(rng.choice(i, few, replace=False).tolist())
            )
        shape = [variables[j].size for j in parents]
        table = rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 2.0])), size=shape or None)
        if parents:
            sharp = rng.choice([0.0, 0.3, 0.7])
            table = (1.0 - sharp) * table + sharp * np.eye(size)[rng.integers(size, size=shape)]
        table = 0.98 * table + 0.02 / size
        levels_of = [str(k) for k in range(size)]
        variables.append(Variable(name, levels_of, [names[j] for j in parents], table))
    return of_network(Network(f"hubs {seed}", variables), rows, seed)


def causes(seed: int, rows: int) -> Made:
    """One yes/no outcome with 6 to 14 independent yes/no causes, and four columns with two of these as causes."""
    rng, drawn = np.random.default_rng([seed, 14]), np.random.default_rng([seed, rows, 14])
    count = int(rng.integers(6, 15))
    prevalence = rng.uniform(0.2, 0.6, count)
    names = [f"c{i:02}" for i in range(count)]
    values = drawn.random((rows, count)) < prevalence
    columns, edges = dict(zip(names, values.T, strict=True)), set()
    for name, number in (("y", count), ("e0", 2), ("e1", 2), ("e2", 2), ("e3", 2)):
        chosen = rng.choice(count, number, replace=False)
        effects = rng.choice([-1, 1], number) * rng.uniform(0.5, 1.1, number)
        logits = (values[:, chosen] - prevalence[chosen]) @ effects - 0.5
        columns[name] = drawn.random(rows) < 1.0 / (1.0 + np.exp(-logits))
        edges |= {(names[i], name) for i in chosen}
    schema = dc.Schema({name: dc.Categorical([0, 1]) for name in columns})
    data = dc.read({name: one.astype(int).tolist() for name, one in columns.items()}, schema)
    return data, dc.Graph(list(columns), directed=sorted(edges))


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


def standard_linear(rng: np.random.Generator, rows: int, d: int) -> tuple[Floats, Floats]:
    """Columns of a linear model with standard deviation 1, and the effects between them."""
    effects = np.triu(rng.random((d, d)) < 2.5 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.3, 0.9, effects.shape)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
        values[:, j] /= values[:, j].std()
    return values, effects


def thirds(seed: int, rows: int) -> Made:
    """Ten numbers of a linear model, in three bins."""
    values, effects = standard_linear(np.random.default_rng([seed, rows, 33]), rows, 10)
    return in_bins(values, [-0.5, 0.5], effects)


def eighths(seed: int, rows: int) -> Made:
    """Ten numbers of a linear model, in eight bins."""
    values, effects = standard_linear(np.random.default_rng([seed, rows, 38]), rows, 10)
    return in_bins(values, [-1.2, -0.7, -0.3, 0.0, 0.3, 0.7, 1.2], effects)


def yesno(seed: int, rows: int) -> Made:
    """Sixteen yes/no columns."""
    rng = np.random.default_rng([seed, 39])
    return of_network(of_tables(f"yesno {seed}", rng, [f"v{i:02}" for i in range(16)], 2), rows, seed)


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
    "eighths": eighths,
    "bends": bends,
    "yesno": yesno,
    "hubs": hubs,
    "causes": causes,
}
ORDERED = ("numbers", "weak", "mixed", "thirds", "eighths", "bends")
ONE_TABLE = ("levels", "few", "gates")  # small enough for one joint table
TREES = ("many", "mixed", "dozen", "codes", "wide", "yesno")
# what each way changes, and the kinds where it can change something (empty: all)
WAYS: dict[str, tuple[dict[str, float], tuple[str, ...]]] = {
    "no rounds": ({"rounds_again": 0}, ()),
    "one round": ({"rounds_again": 1}, ()),
    "twice the pairs again": ({"again_per_column": 5.0}, ()),
    "never merge": (
        {"levels_unordered": 1e6, "levels_ordered": 1e6, "levels_of_numbers": 1e6, "levels_in_tree": 1e6},
        (),
    ),
    "merge as unordered": (
        {"levels_ordered": SETTINGS.levels_unordered, "levels_of_numbers": SETTINGS.levels_unordered},
        ORDERED,
    ),
    "levels in a tree as elsewhere": ({"levels_in_tree": SETTINGS.levels_unordered}, TREES),
    "larger tables only below sampling": ({"larger_small": 0.0}, ()),
    "no tree": ({"tree_columns": 10**6}, TREES),
    "a tree of few levels too": ({"tree_levels": 0.0}, TREES),
    "a tree from 20 columns": ({"tree_columns": 20}, TREES),
    "a tenth for singles": ({"share_singles": 0.1}, ()),
    "a quarter for singles": ({"share_singles": 0.25}, ()),
    "level alone": ({"neighbours": 1e6}, ()),
}


def executed(data: dc.Dataset, epsilon: float, delta: float, settings: MeasuredSettings) -> ExecutablePlan:
    """The plan with these settings."""
    public = PublicNumbers.of_schema(data.schema, data.n, epsilon, delta, Neighbours.REPLACE_ONE)
    return ExecutablePlan(data.schema, plan_measurement(public, settings), 0.05)


def scores(
    data: dc.Dataset,
    truth: dc.Graph,
    epsilon: float,
    delta: float,
    seed: int,
    settings: MeasuredSettings | str,
) -> list[float]:
    """One run, by ``measured`` with these settings or by the method named."""
    more = {"confidence": 0, "anyway": True}
    if isinstance(settings, str):
        more |= {"epsilon": epsilon, "delta": delta, "method": settings}
    else:
        more |= {"plan": executed(data, epsilon, delta, settings)}
    with dc.testing.seeded(seed), warnings.catch_warnings():
        warnings.simplefilter("ignore", NoDelta)
        found = dc.discover(data, **more)
    skeleton, true = found.graph.skeleton, truth.skeleton
    opened = {frozenset(pair) for pair in found.open}
    return [
        skeleton_scores(truth, found.graph).f1,
        cpdag_scores(truth, found.graph).f1,
        float(len(skeleton - true)),
        float(len(true - skeleton - opened)),
        float(len(opened)),
    ]


def ways_of(kind: str, asked: list[str] | None) -> dict[str, MeasuredSettings | str]:
    """What is run on graphs of this kind."""
    if kind == "linear":
        return {"as it is": "auto", "tables always": "measured", "moments always": "moments"}
    found: dict[str, MeasuredSettings | str] = {"as it is": SETTINGS}
    for way, (changes, kinds) in WAYS.items():
        if (not kinds or kind in kinds) and (not asked or way in asked):
            found[way] = replace(SETTINGS, **changes)
    return found


Key = tuple[str, int, float, str]


def run(asked: argparse.Namespace) -> dict[Key, dict[int, list[float]]]:
    """All runs, those kept in ``--out`` first."""
    found: dict[Key, dict[int, list[float]]] = collections.defaultdict(dict)
    kept = Path(asked.out) if asked.out else None
    if kept is not None and kept.exists():
        for line in kept.read_text().splitlines():
            *key, seed, values = json.loads(line)
            found[key[0], key[1], key[2], key[3]][seed] = values
    cells = [(rows, epsilon) for rows in asked.rows for epsilon in asked.epsilons] if asked.rows else CELLS
    for seed, (rows, epsilon), kind in itertools.product(
        range(asked.first, asked.first + asked.graphs), cells, asked.kinds
    ):
        ways = ways_of(kind, asked.ways)
        missing = [way for way in ways if seed not in found[kind, rows, epsilon, way]]
        if not missing:
            continue
        data, truth = KINDS[kind](seed, rows)
        for way in missing:
            values = scores(data, truth, epsilon, asked.delta, seed, ways[way])
            found[kind, rows, epsilon, way][seed] = values
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps([kind, rows, epsilon, way, seed, values]) + "\n")
    return found


def differences(found: dict[Key, dict[int, list[float]]], key: Key) -> Floats:
    """Of a way to the settings as they are, graph by graph."""
    kind, rows, epsilon, _ = key
    whole = found[kind, rows, epsilon, "as it is"]
    return np.array(
        [np.subtract(values, whole[seed]) for seed, values in found[key].items() if seed in whole]
    )


def spread(values: Floats) -> Floats:
    """Standard errors of the means."""
    return (
        values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else np.zeros(values.shape[1])
    )


def table(found: dict[Key, dict[int, list[float]]]) -> None:
    """Print a line for every cell and way."""
    print(f"| kind | rows | epsilon | setting | graphs | {' | '.join(SCORES)} |")
    print("|---|---|---|---|---|" + "---|" * len(SCORES))
    for key, runs in found.items():
        plain = key[3] == "as it is"
        values = np.array(list(runs.values())) if plain else differences(found, key)
        cells = " | ".join(
            f"{one:{'' if plain else '+'}.3f} ({by:.3f})"
            for one, by in zip(values.mean(axis=0), spread(values), strict=True)
        )
        print(f"| {key[0]} | {key[1]:,} | {key[2]:g} | {key[3]} | {len(values)} | {cells} |")


def summary(found: dict[Key, dict[int, list[float]]]) -> None:
    """Print a line for every way: what is lost on average, and in how many cells more than two standard errors."""
    ways = dict.fromkeys(key[3] for key in found if key[3] != "as it is")
    print(
        "| setting | cells | graphs | changed | lose in F1 | lose in CPDAG F1 | " + " | ".join(SCORES) + " |"
    )
    print("|---|---|---|---|---|---|" + "---|" * len(SCORES))
    for way in ways:
        cells = [differences(found, key) for key in found if key[3] == way]
        means = np.array([values.mean(axis=0) for values in cells])
        lost = [(values.mean(axis=0) < -2 * spread(values)) & (values.mean(axis=0) < 0) for values in cells]
        of_cells = np.array(lost).sum(axis=0)
        changed = sum(bool((values != 0).any()) for values in cells)
        graphs = sum(map(len, cells)) / len(cells)
        row = " | ".join(f"{one:+.4f}" for one in means.mean(axis=0))
        print(f"| {way} | {len(cells)} | {graphs:.0f} | {changed} | {of_cells[0]} | {of_cells[1]} | {row} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=24)
    parser.add_argument("--first", type=int, default=5_000_000, help="seed of the first graph")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS])
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--epsilons", nargs="+", type=float, default=[1.0, 3.0])
    parser.add_argument("--ways", nargs="+", choices=[*WAYS, "none"], help="change these alone")
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--out", help="file of runs, one a line; what it holds is not run again")
    parser.add_argument("--summary", metavar="FILE", help="run nothing: print what this file of runs says")
    asked = parser.parse_args()
    if asked.summary:
        asked.out, asked.graphs = asked.summary, 0
    found = run(asked)
    summary(found)
    print()
    table(found)


if __name__ == "__main__":
    main()
