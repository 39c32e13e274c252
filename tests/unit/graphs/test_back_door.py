"""Whether named columns leave a back-door path open by a graph: examples, and all DAGs of many classes."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations, permutations, product

import numpy as np
import pytest

from dpcausal.graphs import cpdag
from dpcausal.graphs.adjustment import OpenBackDoor, descendants, open_back_door
from dpcausal.graphs.adjustment_pag import pag_back_door
from dpcausal.graphs.graph import Graph, Pair
from dpcausal.graphs.pag import PAG
from dpcausal.graphs.separation import d_separated

TWO = dict.fromkeys("abcmuvwxyz", 2)


def left_open(edges: str, given: str = "", possible: Collection[Pair] = ()) -> OpenBackDoor | None:
    """Of x on y, in a graph with edges as ``z>x`` or ``z-x``."""
    arrows = [(edge[0], edge[2]) for edge in edges.split() if edge[1] == ">"]
    plain = [(edge[0], edge[2]) for edge in edges.split() if edge[1] == "-"]
    nodes = sorted({name for edge in edges.split() for name in (edge[0], edge[2])})
    return open_back_door(Graph(nodes, arrows, plain), "x", "y", tuple(given), TWO, possible)


def test_a_fork_is_open_until_its_middle_is_held_fixed() -> None:
    found = left_open("z>x z>y x>y")
    assert found == OpenBackDoor(True, ("z",), (), (((("z", "->", "x")), ("z", "->", "y")),))
    assert left_open("z>x z>y x>y", "z") is None
    two = left_open("a>x a>y b>x b>y x>y", "a")
    assert two is not None
    assert (two.sure, two.hold) == (True, ("b",))
    both = left_open("a>x a>y b>x b>y x>y")
    assert both is not None
    assert both.hold == ("a", "b")
    assert both.paths == ((("a", "->", "x"), ("a", "->", "y")), (("b", "->", "x"), ("b", "->", "y")))
    far = left_open("a>x b>a b>y x>y")
    assert far is not None
    assert far.hold == ("a",)
    assert far.paths == ((("a", "->", "x"), ("b", "->", "a"), ("b", "->", "y")),)


def test_causes_of_one_end_mediators_and_the_outcome_first_are_no_back_door() -> None:
    for edges in ("z>x x>y", "z>y x>y", "x>m m>y", "x>m m>y x>y", "y>x", "y>a a>x"):
        assert left_open(edges) is None, edges
    found = left_open("y>x z>x z>y")  # the arrow may be wrong, and z is a common cause all the same
    assert found is not None
    assert found.hold == ("z",)


def test_an_m_structure_is_open_only_where_its_collider_is_held_fixed() -> None:
    edges = "u>x u>m v>m v>y x>y"
    assert left_open(edges) is None
    found = left_open(edges, "m")
    assert found is not None
    assert (found.sure, found.hold, found.leave) == (True, ("u",), ("m",))
    assert found.paths == ((("u", "->", "x"), ("u", "->", "m"), ("v", "->", "m"), ("v", "->", "y")),)
    assert left_open(edges, "mu") is None


def test_edges_without_a_direction_may_leave_a_path_open() -> None:
    triangle = left_open("x-z y-z x-y")
    assert triangle is not None
    assert (triangle.sure, triangle.hold) == (False, ("z",))
    assert triangle.paths == ((("x", "-", "z"), ("z", "-", "y")),)
    inner = left_open("a>x a-b b>y x>y c>x c>y")  # whichever way a - b points
    assert inner is not None
    assert (inner.sure, inner.hold) == (True, ("a", "c"))
    assert left_open("z-x x>y u>y") is None
    # an arrow into x that is no neighbour of z turns z - x: z -> x would be one more collider
    assert left_open("a>x z-x z>y x>y") is None
    open_pair = left_open("a>x z-x z>y x>y", possible=[frozenset("az")])
    assert open_pair is not None
    assert not open_pair.sure


def test_very_many_edges_without_a_direction_are_no_error_and_nothing_is_sure_of_them() -> None:
    names = [f"v{i}" for i in range(14)]
    arrows = [("v0", "y"), ("z", "x"), ("z", "y"), ("x", "y")]
    graph = Graph(["x", "y", "z", *names], arrows, [("x", name) for name in names])
    found = open_back_door(graph, "x", "y", [], dict.fromkeys(graph.nodes, 2))
    assert found is not None
    assert not found.sure
    assert "z" in found.hold


def test_a_cycle_says_nothing() -> None:
    assert left_open("z>x z>y x>y y>a a>z") is None


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


def is_open(dag: Graph, x: str, y: str, given: tuple[str, ...]) -> bool:
    return not d_separated(Graph(dag.nodes, [edge for edge in dag.directed if edge[0] != x]), x, y, given)


def test_against_every_dag_of_a_class() -> None:
    rng = np.random.default_rng(1)
    seen = {"sure": 0, "may": 0, "closed": 0}
    for _ in range(12):
        arrows = [pair for pair in combinations("abcde", 2) if rng.random() < 0.5]
        graph = cpdag(Graph([*"abcde"], arrows))
        dags = members(graph)
        for x, y in permutations(graph.nodes, 2):
            if x in descendants(graph, y):
                continue
            others = [name for name in graph.nodes if name not in (x, y)]
            asked = [dag for dag in dags if y not in dag.parents(x)] or dags
            for given in [one for number in range(3) for one in combinations(others, number)]:
                found = open_back_door(graph, x, y, given, dict.fromkeys(graph.nodes, 2))
                opened = [is_open(dag, x, y, given) for dag in asked]
                assert (found is not None) == any(opened)
                kind = "closed"
                if found is not None:
                    assert found.sure == all(opened)
                    held = (*given, *found.hold)
                    needed = [dag for dag, one in zip(asked, opened, strict=True) if one]
                    assert found.hold
                    assert not any(is_open(dag, x, y, held) for dag in needed)
                    assert len(found.paths) == len(found.hold)
                    kind = "sure" if found.sure else "may"
                seen[kind] += 1
    assert min(seen.values()) > 40


def pag_open(edges: list[tuple[str, str, str]], given: str = "") -> OpenBackDoor | None:
    nodes = sorted({name for a, _, b in edges for name in (a, b)})
    return pag_back_door(PAG(nodes, edges), "x", "y", tuple(given), TWO)


def test_a_pag_says_what_is_open_what_may_be_and_what_no_column_closes() -> None:
    # u makes x -> y visible; w is a common cause
    visible = [("u", "o->", "x"), ("x", "->", "y")]
    seen = [*visible, ("w", "o->", "x"), ("w", "->", "y")]
    found = pag_open(seen)
    assert found == OpenBackDoor(True, ("w",), (), ((("w", "o->", "x"), ("w", "->", "y")),))
    assert pag_open(seen, "w") is None
    assert pag_open(visible) is None
    # the middle may be a collider, and the edge of x may point to it
    assert pag_open([*visible, ("w", "o->", "x"), ("w", "o->", "y")]) == OpenBackDoor(
        False, ("w",), (), ((("w", "o->", "x"), ("w", "o->", "y")),)
    )
    assert pag_open([("x", "o-o", "w"), ("w", "->", "y")]) == OpenBackDoor(
        False, ("w",), (), ((("x", "o-o", "w"), ("w", "->", "y")),)
    )
    # hidden: certainly, or possibly
    assert pag_open([("x", "<->", "y")]) == OpenBackDoor(True, (), (), ((("x", "<->", "y"),),))
    assert pag_open([("x", "o->", "y")]) == OpenBackDoor(False, (), (), ((("x", "o->", "y"),),))
    # a mediator and an M-structure are closed, and a collider that is held fixed opens
    assert pag_open([("u", "o->", "x"), ("x", "->", "m"), ("m", "->", "y")]) is None
    collider = [*visible, ("a", "o->", "x"), ("a", "o->", "m"), ("b", "o->", "m"), ("b", "o->", "y")]
    assert pag_open(collider) is None
    opened = pag_open(collider, "m")
    assert opened is not None
    assert (opened.sure, opened.hold, opened.leave) == (True, ("a",), ("m",))


@pytest.mark.parametrize("edges", [[("y", "->", "x")], [("y", "->", "a"), ("a", "->", "x")]])
def test_a_pag_in_which_the_outcome_comes_first(edges: list[tuple[str, str, str]]) -> None:
    assert pag_open(edges) is None


def test_a_pag_with_too_many_paths_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [("u", "o->", "x"), ("x", "->", "y"), ("w", "o->", "x"), ("w", "->", "y")]
    assert pag_open(seen) is not None
    monkeypatch.setattr("dpcausal.graphs.adjustment_pag.MAX_STEPS", 1)
    assert pag_open(seen) is None
