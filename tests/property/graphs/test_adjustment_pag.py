"""What to hold fixed where causes may be hidden, against every graph that a PAG stands for."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcausal.core.errors import InputError
from dpcausal.discovery.fci import fci_search
from dpcausal.discovery.search import drive
from dpcausal.graphs.adjustment import descendants
from dpcausal.graphs.adjustment_pag import HiddenCausePossible, pag_adjustment, pag_back_door
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.hidden import orient_pag
from dpcausal.graphs.pag import PAG, Mark
from dpcausal.graphs.separation import d_separated

Model = frozenset[tuple[frozenset[str], frozenset[str]]]  # (pair, set): separated


def listing() -> Any:
    """The module that lists all graphs with hidden causes."""
    spec = importlib.util.spec_from_file_location("mags", Path(__file__).with_name("mags.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAGS = listing()


def valid(dag: Graph, x: str, y: str, given: tuple[str, ...]) -> bool:
    """The adjustment criterion in a DAG (Shpitser, VanderWeele & Robins 2010)."""
    between = {name for name in descendants(dag, x) if name == y or y in descendants(dag, name)}
    forbidden = between.union(*(descendants(dag, name) for name in between))
    if forbidden & set(given):
        return False
    arrows = [arrow for arrow in dag.directed if not (arrow[0] == x and arrow[1] in between)]
    return d_separated(Graph(dag.nodes, arrows), x, y, given)


def model_of(dag: Graph, seen: list[str]) -> Model:
    """Every separation among the columns seen."""
    return frozenset(
        (frozenset((x, y)), frozenset(given))
        for x, y in combinations(seen, 2)
        for given in MAGS.subsets(tuple(name for name in seen if name not in (x, y)))
        if d_separated(dag, x, y, given)
    )


def dags_of(marks: dict[tuple[str, str], Mark], seen: list[str], model: Model) -> Iterator[Graph]:
    """A DAG with a hidden node for every <->, and each with one more hidden cause that no separation betrays."""
    nodes = list(seen)
    arrows = [(a, b) for (a, b), mark in marks.items() if mark is Mark.ARROW and marks[b, a] is Mark.TAIL]
    for i, (a, b) in enumerate(pair for pair in combinations(seen, 2) if pair in marks):
        if marks[a, b] is marks[b, a] is Mark.ARROW:
            nodes.append(f"hidden {i}")
            arrows += [(nodes[-1], a), (nodes[-1], b)]
    yield Graph(nodes, arrows)
    for a, b in arrows:
        if a in seen:
            more = Graph([*nodes, "one more"], [*arrows, ("one more", a), ("one more", b)])
            if model_of(more, seen) == model:
                yield more


def found_pag(dag: Graph, seen: list[str]) -> PAG:
    """What FCI finds where every answer is the truth."""
    skeleton = drive(fci_search(seen), lambda batch: [d_separated(dag, q.x, q.y, q.given) for q in batch])
    return orient_pag(Graph(seen, undirected=skeleton.edges), skeleton.separating)[0]


def drawn(seed: int) -> tuple[Graph, list[str]]:
    """A random graph with a hidden node, and the others.

    u and v are causes of x in most of the graphs, which shows that x causes y; w and a hidden node come as they may.
    """
    draw = np.random.default_rng(seed)
    likely = {("u", "x"): 0.9, ("v", "x"): 0.9, ("x", "y"): 0.9}
    seen = ["u", "v", "w", "x", "y"]
    if draw.random() < 0.5:
        seen = ["u", "v", "x", "w", "y"]
    arrows = [pair for pair in combinations(seen, 2) if draw.random() < likely.get(pair, 0.15)]
    hidden = [("h", str(name)) for name in draw.choice(seen, 2, replace=False)]
    dag = Graph(["h", *seen], [*arrows, *(hidden if draw.random() < 0.5 else [])])
    return dag, seen


def members_of(dag: Graph, seen: list[str]) -> list[Graph]:
    """Graphs with hidden causes that the PAG stands for."""
    model = model_of(dag, seen)
    apart = {pair for pair, _ in model}
    pairs = [pair for pair in combinations(seen, 2) if frozenset(pair) not in apart]
    return [one for marks in MAGS.of_model(tuple(seen), pairs, model) for one in dags_of(marks, seen, model)]


def compared(seed: int) -> tuple[int, int]:
    """How many effects of a random graph are known, and how many are not; each is checked."""
    dag, seen = drawn(seed)
    members = members_of(dag, seen)
    known = refused = 0
    for x, y in permutations(seen, 2):
        try:
            given = pag_adjustment(found_pag(dag, seen), x, y, dict.fromkeys(seen, 2))
        except HiddenCausePossible:
            refused += 1
            others = tuple(name for name in seen if name not in (x, y))
            assert not any(all(valid(one, x, y, given) for one in members) for given in MAGS.subsets(others))
        except InputError:
            assert not any(y in descendants(one, x) for one in members)
        else:
            known += 1
            assert all(valid(one, x, y, given) for one in [dag, *members])
    return known, refused


def test_a_set_is_valid_in_every_graph_of_the_class_and_a_refusal_means_that_none_is() -> None:
    total = np.sum([compared(seed) for seed in (3, 8, 9)], axis=0)
    assert total[0] >= 4
    assert total[1] >= 15


def checked(seed: int) -> tuple[int, int, int]:
    """How many sets leave a path open, may, and do not, of all that hold nothing x may change; each is checked."""
    dag, seen = drawn(seed)
    members = [dag, *members_of(dag, seen)]
    pag = found_pag(dag, seen)
    sure = may = closed = 0
    for x, y in permutations(seen, 2):
        changed = {name for one in members for name in descendants(one, x)}
        if y not in changed:
            continue
        others = tuple(name for name in seen if name not in {x, y, *changed})
        for given in MAGS.subsets(others):
            found = pag_back_door(pag, x, y, given, dict.fromkeys(seen, 2))
            if found is None:
                closed += 1
                assert all(valid(one, x, y, given) for one in members)
            elif found.sure:
                sure += 1
                assert not any(valid(one, x, y, given) for one in members)
            else:
                may += 1
                assert not all(valid(one, x, y, given) for one in members)
    return sure, may, closed


def test_a_set_that_is_named_leaves_a_path_open_in_every_graph_in_some_or_in_none() -> None:
    assert min(np.sum([checked(seed) for seed in range(2, 8)], axis=0)) >= 4


@pytest.mark.slow
def test_many_more_graphs() -> None:
    assert min(np.sum([checked(seed) for seed in range(20, 150)], axis=0)) >= 40
    total = np.sum([compared(seed) for seed in range(10, 150)], axis=0)
    assert total[0] >= 80
    assert total[1] >= 300
