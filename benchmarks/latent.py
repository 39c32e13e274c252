"""Hidden common causes: agreement with causal-learn's FCI where every answer is the truth, and marks found under noise.

    python benchmarks/latent.py exact  [--graphs 100]     # needs causal-learn (benchmarks/requirements.txt)
    python benchmarks/latent.py tiers  [--graphs 100]     # needs causal-learn
    python benchmarks/latent.py marks  [--networks 20]

**exact.** Random DAGs over 8 seen and 3 hidden columns; every hidden one has at least two children. Both searches ask
the same d-separation oracle, without bounds. Where two graphs differ, the truth decides: two columns are adjacent
where no set of seen columns separates them (all sets are tried), and a tail or head is right where the DAG has, or has
not, a directed path. A graph that has a right mark more is the better one; a wrong mark is a defect.

**tiers.** The same with an order of time for half of the columns, given to both.

**marks.** Random networks of 8 seen and 2 hidden columns with 2 or 3 levels, sampled; hidden columns are dropped. F1
counts the ends of edges with their marks (tail, head, circle) against the PAG of the truth. ``exact counts`` is
``method="pc"`` without privacy. Constants of the search were set on networks of other seeds (``--seed 1000`` and
above).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import time
from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import dpcausal as dc
from dpcausal.discovery.fci import fci_search
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Query, drive
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.graphs.separation import d_separated

ROWS = (10_000, 100_000)
SEEN, HIDDEN, PARENTS = 8, 3, 1.4


def random_dag(draw: np.random.Generator, seen: int, hidden: int) -> tuple[Graph, list[str]]:
    """A DAG and the names that are seen; hidden columns have two or more children and no parents."""
    names = [f"x{i}" for i in range(seen)]
    order = list(draw.permutation(names))
    chance = PARENTS * 2 / (seen - 1) / 1.4
    arrows = [(a, b) for a, b in combinations(order, 2) if draw.random() < chance]
    for i in range(hidden):
        children = draw.choice(names, int(draw.integers(2, 4)), replace=False)
        arrows += [(f"h{i}", str(child)) for child in children]
    return Graph([*names, *(f"h{i}" for i in range(hidden))], arrows), names


def ours(dag: Graph, seen: list[str], known: Knowledge | None = None) -> tuple[PAG, int]:
    """Our graph where every answer is the truth, and how many questions it took."""
    asked = 0

    def answer(batch: list[Query]) -> list[bool]:
        nonlocal asked
        asked += len(batch)
        return [d_separated(dag, question.x, question.y, question.given) for question in batch]

    known = known or Knowledge()
    skeleton = drive(fci_search(seen, known), answer)
    graph = Graph(seen, undirected=skeleton.edges)
    return orient_pag(graph, skeleton.separating, heads=known.arrows)[0], asked


def theirs(dag: Graph, seen: list[str], tiers: list[list[str]] | None = None) -> PAG:
    """causal-learn's graph with the same oracle."""
    import networkx
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

    place = {name: i for i, name in enumerate([*seen, *(n for n in dag.nodes if n not in seen)])}
    truth = networkx.DiGraph([(place[a], place[b]) for a, b in dag.directed])
    truth.add_nodes_from(place.values())
    known = None
    if tiers:
        known = BackgroundKnowledge()
        for i, tier in enumerate(tiers):
            for name in tier:
                known.add_node_to_tier(GraphNode(name), i)
    blank = np.random.default_rng(0).normal(size=(100, len(seen)))
    with contextlib.redirect_stdout(io.StringIO()):
        found, _ = fci(
            blank,
            "d_separation",
            0.05,
            true_dag=truth,
            show_progress=False,
            node_names=list(seen),
            background_knowledge=known,
        )
    marks = {"TAIL": Mark.TAIL, "ARROW": Mark.ARROW, "CIRCLE": Mark.CIRCLE}
    ends: dict[tuple[str, str], Mark] = {}
    for edge in found.get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends[b, a], ends[a, b] = marks[edge.get_endpoint1().name], marks[edge.get_endpoint2().name]
    return PAG.of_marks(seen, ends)


def ends_of(graph: PAG) -> dict[tuple[str, str], Mark]:
    """Every end with its mark."""
    return {(a, b): graph.mark(a, b) for pair in graph.skeleton for a, b in (tuple(pair), tuple(pair)[::-1])}


def adjacent(dag: Graph, seen: list[str]) -> frozenset[frozenset[str]]:
    """Pairs of seen columns that no set of seen columns separates."""

    def sets(x: str, y: str) -> Iterator[tuple[str, ...]]:
        others = [z for z in seen if z not in (x, y)]
        return chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))

    return frozenset(
        frozenset((x, y))
        for x, y in combinations(seen, 2)
        if not any(d_separated(dag, x, y, given) for given in sets(x, y))
    )


def judged(dag: Graph, seen: list[str], graph: PAG) -> tuple[bool, int, int]:
    """(whether the skeleton is right, wrong tails and heads, right ones)."""
    causes = {name: dag.ancestors([name]) for name in seen}
    wrong = right = 0
    for (a, b), mark in ends_of(graph).items():
        if mark is not Mark.CIRCLE:
            is_right = (b in causes[a]) == (mark is Mark.TAIL)
            right, wrong = right + is_right, wrong + (not is_right)
    return graph.skeleton == adjacent(dag, seen), wrong, right


def exact(graphs: int, seed: int, *, with_tiers: bool) -> None:
    """Print how often both give the same graph, and who is right where not."""
    draw = np.random.default_rng(seed)
    same, needs, sound, sound_same = 0, 0, 0, 0
    ours_total, theirs_total = np.zeros(4, int), np.zeros(4, int)
    began = time.process_time()
    failed = 0
    for _ in range(graphs):
        dag, seen = random_dag(draw, SEEN, HIDDEN)
        tiers, known = None, None
        if with_tiers:
            order = [name for name in dag.topological_order() if name in seen]
            early, late = order[: SEEN // 4], order[-SEEN // 4 :]
            tiers, known = [early, late], Knowledge.of(seen, tiers=[early, late])
        mine, _ = ours(dag, seen, known)
        try:
            other = theirs(dag, seen, tiers)
        except Exception as error:  # a rival that stops is counted
            failed += 1
            print(f"  causal-learn stopped: {type(error).__name__}: {error}")
            continue
        same += mine == other
        needs += mine.skeleton != other.skeleton
        for graph, total in ((mine, ours_total), (other, theirs_total)):
            skeleton_right, wrong, right = judged(dag, seen, graph)
            total += (not skeleton_right, wrong, wrong > 0, right)
        if not wrong:  # of causal-learn's, judged last
            sound, sound_same = sound + 1, sound_same + (mine == other)
    told = " with tiers" if with_tiers else ""
    print(
        f"{graphs} random DAGs{told}, {SEEN} columns seen, {HIDDEN} hidden, d-separation for answers, seed {seed}"
    )
    print(
        f"same graph, every mark: {same} of {graphs - failed}; skeletons that differ: {needs}; stopped: {failed}"
    )
    print(f"of the {sound} graphs in which causal-learn has no wrong mark: same graph {sound_same}")
    for name, total in (("dpcausal", ours_total), ("causal-learn", theirs_total)):
        print(
            f"{name:<13} skeletons wrong {total[0]}, wrong tails or heads {total[1]} (in {total[2]} graphs), "
            f"right ones {total[3]}"
        )
    print(f"{time.process_time() - began:.0f} CPU s")


def random_network(
    draw: np.random.Generator, seen: int, hidden: int
) -> tuple[dc.networks.Network, list[str]]:
    """Tables whose rows differ: the most likely level of a row moves with its parents."""
    dag, names = random_dag(draw, seen, hidden)
    sizes = {name: int(draw.integers(2, 4)) for name in dag.nodes}
    variables = []
    for name in dag.topological_order():
        parents = sorted(dag.parents(name))
        shape = (*(sizes[parent] for parent in parents), sizes[name])
        table = draw.dirichlet(np.ones(sizes[name]) * 0.6, size=shape[:-1])
        table = 0.9 * table + 0.1 / sizes[name]
        levels = tuple(f"l{i}" for i in range(sizes[name]))
        variables.append(dc.networks.Variable(name, levels, parents, table))
    return dc.networks.Network("random", variables), names


def f1(truth: PAG, found: PAG) -> tuple[float, float]:
    """(of ends with their marks, of edges)."""

    def score(one: Any, two: Any) -> float:
        return 2 * len(one & two) / (len(one) + len(two)) if one or two else 1.0

    return score(set(ends_of(truth).items()), set(ends_of(found).items())), score(
        truth.skeleton, found.skeleton
    )


def marks(networks: int, seed: int) -> None:
    """Print F1 of marks and edges, and how many tails and heads are right."""
    draw = np.random.default_rng(seed)
    cases = []
    for _ in range(networks):
        network, seen = random_network(draw, SEEN, 2)
        dag = Graph([one.name for one in network], [(p, one.name) for one in network for p in one.parents])
        cases.append((network, dag, seen, ours(dag, seen)[0], int(draw.integers(2**31))))
    print(
        f"{networks} random networks, {SEEN} columns seen, 2 hidden; mean F1 of marks, of edges; tails and heads right"
    )
    print(
        f"{'rows':>8} {'budget':<14} {'marks':>6} {'edges':>6} {'heads, tails claimed':>21} {'right':>6} {'open':>6}"
    )
    for rows in ROWS:
        for told, how in (
            ("epsilon 1", {"epsilon": 1.0, "delta": 1e-6}),
            ("epsilon 3", {"epsilon": 3.0, "delta": 1e-6}),
            ("exact counts", {"epsilon": None, "method": "pc"}),
        ):
            scores, claims, right, left = [], 0, 0, 0
            for network, dag, seen, truth, sampled in cases:
                data = network.sample(rows, seed=sampled)
                data = columns_of(data, seen)
                with dc.testing.seeded(sampled):
                    result = dc.discover(data, latent=True, level=0.01, anyway=True, **how)
                assert isinstance(result.graph, PAG)
                scores.append(f1(truth, result.graph))
                _, wrong, good = judged(dag, seen, result.graph)
                claims, right, left = claims + wrong + good, right + good, left + len(result.open)
            both = np.mean(scores, axis=0)
            share = f"{right / claims:.2f}" if claims else "-"
            print(
                f"{rows:>8,} {told:<14} {both[0]:>6.2f} {both[1]:>6.2f} {claims:>21} {share:>6} {left:>6}",
                flush=True,
            )


def columns_of(data: dc.Dataset, names: list[str]) -> dc.Dataset:
    """The same rows with these columns only."""
    schema = dc.Schema({name: data.schema[name] for name in names})
    return dc.Dataset(schema, data.n, {name: data.codes[name] for name in names})


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("exact", "tiers", "marks"))
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--networks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.part == "marks":
        marks(given.networks, given.seed)
    else:
        exact(given.graphs, given.seed, with_tiers=given.part == "tiers")


if __name__ == "__main__":
    main()
