"""What to hold fixed, by a graph: against the definition, and against all DAGs of a class."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.graphs import cpdag
from dpcausal.graphs.adjustment import (
    adjustment_sets,
    descendants,
    is_back_door,
    parent_sets,
    smallest_back_door,
)
from dpcausal.graphs.adjustment_pag import HiddenCausePossible, pag_adjustment
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.pag import PAG
from dpcausal.networks.network import Network, Variable


def random_dag(seed: int, size: int = 6) -> Graph:
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(size)]
    arrows = [(names[i], names[j]) for i, j in combinations(range(size), 2) if rng.random() < 0.4]
    return Graph(names, directed=arrows)


def random_law(dag: Graph, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    variables = []
    for name in dag.topological_order():
        parents = sorted(dag.parents(name))
        table = 0.1 + 0.8 * rng.random([2] * len(parents))
        variables.append(Variable(name, ["0", "1"], parents, np.stack([1 - table, table], axis=-1)))
    return Network("random", variables)


def effect_in(network: Network, x: str, y: str, given: tuple[str, ...]) -> float:
    joint = network.joint((*given, x, y)).reshape(-1, 2, 2)
    risk = joint[:, :, 1] / joint.sum(axis=2)
    return float(joint.sum(axis=(1, 2)) @ (risk[:, 1] - risk[:, 0]))


def test_every_valid_set_gives_the_effect_by_the_parents() -> None:
    compared = 0
    for seed in range(12):
        dag = random_dag(seed)
        network = random_law(dag, seed)
        for x in dag.nodes:
            for y in descendants(dag, x):
                truth = effect_in(network, x, y, tuple(sorted(dag.parents(x))))
                others = [name for name in dag.nodes if name not in (x, y)]
                for number in range(3):
                    for given in combinations(others, number):
                        if is_back_door(dag, x, y, given):
                            assert effect_in(network, x, y, given) == pytest.approx(truth, abs=1e-9)
                            compared += 1
    assert compared > 300


def test_the_smallest_set_is_valid_and_no_valid_set_is_smaller() -> None:
    sizes = {f"v{i}": 2 + i % 3 for i in range(6)}
    for seed in range(15):
        dag = random_dag(seed)
        for x in dag.nodes:
            for y in descendants(dag, x):
                found = smallest_back_door(dag, x, y, sizes)
                assert is_back_door(dag, x, y, found)
                cells = np.prod([sizes[name] for name in found])
                others = [name for name in dag.nodes if name not in (x, y)]
                for number in range(len(others) + 1):
                    for given in combinations(others, number):
                        smaller = np.prod([sizes[name] for name in given]) < cells
                        assert not (smaller and is_back_door(dag, x, y, given))


def members(graph: Graph) -> list[Graph]:
    """Every DAG of the class of a CPDAG."""
    plain = [tuple(sorted(pair)) for pair in graph.undirected]
    found = []
    for turned in product((False, True), repeat=len(plain)):
        arrows = [(b, a) if turn else (a, b) for (a, b), turn in zip(plain, turned, strict=True)]
        dag = Graph(graph.nodes, directed=[*graph.directed, *arrows])
        if dag.is_dag() and cpdag(dag) == graph:
            found.append(dag)
    return found


def test_possible_parents_are_those_of_the_dags_of_the_class() -> None:
    several = 0
    for seed in range(25):
        graph = cpdag(random_dag(seed, 5))
        dags = members(graph)
        for x in graph.nodes:
            wanted = {dag.parents(x) for dag in dags}
            assert set(parent_sets(graph, x)) == wanted
            several += len(wanted) > 1
    assert several > 10


def test_a_set_for_every_effect_that_the_graph_allows() -> None:
    chain = Graph(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    sizes = dict.fromkeys("abc", 2)
    assert adjustment_sets(chain, "b", "c", sizes) == [(), ("a",), None]
    collider = Graph(["a", "b", "c"], directed=[("a", "c"), ("b", "c")])
    assert adjustment_sets(collider, "a", "c", sizes) == [()]
    with pytest.raises(dc.InputError, match=r'"c" to "a".*no evidence'):
        adjustment_sets(collider, "c", "a", sizes)


def test_open_pairs_count_as_adjacent() -> None:
    star = Graph(["a", "b", "x"], undirected=[("a", "x"), ("b", "x")])
    assert frozenset("ab") not in parent_sets(star, "x")
    assert frozenset("ab") in parent_sets(star, "x", [frozenset("ab")])


def test_too_many_plain_edges_are_refused() -> None:
    names = ["x", *(f"v{i}" for i in range(13))]
    star = Graph(names, undirected=[("x", name) for name in names[1:]])
    with pytest.raises(dc.InputError, match="13 edges"):
        parent_sets(star, "x")


def test_a_pag_names_what_to_hold_fixed_or_the_hidden_cause() -> None:
    two = dict.fromkeys("uvwxyz", 2)
    # u and v make x -> y visible; w is a common cause that was seen
    edges = [("u", "o->", "x"), ("v", "o->", "x"), ("w", "o->", "x"), ("w", "->", "y"), ("x", "->", "y")]
    assert pag_adjustment(PAG([*"uvwxy"], edges), "x", "y", two) == ("w",)
    # where v is a cause of y, u alone shows it, and if u and y may be adjacent nothing does
    more = [*edges, ("v", "->", "y")]
    assert pag_adjustment(PAG([*"uvwxy"], more), "x", "y", two) == ("v", "w")
    with pytest.raises(HiddenCausePossible, match='"x" and "y"'):
        pag_adjustment(PAG([*"uvwxy"], more), "x", "y", two, possible=[frozenset("uy")])
    # a mediator is never held fixed, and an effect through an edge that may be a hidden cause is not told
    chain = [("u", "o->", "x"), ("z", "o->", "x"), ("x", "->", "v"), ("v", "->", "y")]
    assert pag_adjustment(PAG([*"uvxyz"], chain), "x", "y", two) == ()
    with pytest.raises(dc.InputError, match="no effect"):
        pag_adjustment(PAG([*"uvxyz"], chain), "y", "x", two)
    many = PAG(
        [f"n{i}" for i in range(14)], [(f"n{i}", "o-o", f"n{j}") for i, j in combinations(range(14), 2)]
    )
    with pytest.raises(dc.InputError, match="too many paths"):
        pag_adjustment(many, "n0", "n1", dict.fromkeys(many.nodes, 2))
