"""Graphs with a mark at each end: what may be one, and that every format keeps the marks."""

from __future__ import annotations

import json
from itertools import combinations, product

import networkx
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph
from dpcausal.graphs.pag import PAG, Mark, marks_of, marks_text

NODES = ["age", "lung cancer", 'say "x"', "d"]
EDGES = [
    ("age", "->", "lung cancer"),
    ("lung cancer", "<->", 'say "x"'),
    ("d", "o->", "age"),
    ('say "x"', "o-o", "d"),
]
ONE = PAG(NODES, EDGES)


def every_pag() -> list[PAG]:
    """All graphs on three nodes."""
    ends = [None, *product(Mark, Mark)]
    pairs = list(combinations("abc", 2))
    return [
        PAG(list("abc"), [(a, marks_text(*end), b) for (a, b), end in zip(pairs, kinds, strict=True) if end])
        for kinds in product(ends, repeat=3)
    ]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("->", (Mark.TAIL, Mark.ARROW)),
        ("-->", (Mark.TAIL, Mark.ARROW)),
        ("<-", (Mark.ARROW, Mark.TAIL)),
        ("<->", (Mark.ARROW, Mark.ARROW)),
        ("o->", (Mark.CIRCLE, Mark.ARROW)),
        ("<-o", (Mark.ARROW, Mark.CIRCLE)),
        ("o-o", (Mark.CIRCLE, Mark.CIRCLE)),
        ("o--", (Mark.CIRCLE, Mark.TAIL)),
        ("-", (Mark.TAIL, Mark.TAIL)),
        ("--", (Mark.TAIL, Mark.TAIL)),
        ("---", (Mark.TAIL, Mark.TAIL)),
    ],
)
def test_marks_are_read_as_they_look(text: str, marks: tuple[Mark, Mark]) -> None:
    assert marks_of(text) == marks


@pytest.mark.parametrize("text", ["", ">", "->>", "o>", "<", "oo", "@->", None, 3, "----"])
def test_what_is_no_mark_is_one_line(text: object) -> None:
    with pytest.raises(InputError, match="PAG"):
        marks_of(text)


def test_what_each_edge_says() -> None:
    assert ONE.mark("d", "age") is Mark.ARROW
    assert ONE.mark("age", "d") is Mark.CIRCLE
    assert ONE.directed == {("age", "lung cancer")}
    assert ONE.partly_directed == {("d", "age")}
    assert ONE.bidirected == {frozenset({"lung cancer", 'say "x"'})}
    assert ONE.circles == {frozenset({"d", 'say "x"'})}
    assert len(ONE.skeleton) == 4
    assert ONE.undirected == ONE.skeleton - {frozenset({"age", "lung cancer"})}
    assert "d o-> age" in str(ONE).splitlines()


def test_a_pag_is_no_graph_without_marks() -> None:
    plain = Graph(NODES, directed=ONE.directed, undirected=ONE.undirected)
    assert plain != ONE
    assert not PAG.__eq__(ONE, plain)
    turned = [(b, marks_text(*marks_of(marks)[::-1]), a) for a, marks, b in EDGES]
    assert PAG(reversed(NODES), turned) == ONE
    assert len({ONE, PAG(NODES, EDGES), plain}) == 2


@pytest.mark.parametrize("through", ["json", "graphml", "networkx", "tetrad"])
def test_every_format_keeps_every_mark(through: str) -> None:
    for graph in [ONE, *every_pag()[:: 7 if through == "graphml" else 1]]:
        written = getattr(graph, f"to_{through}")()
        assert getattr(PAG, f"from_{through}")(written) == graph
        marked = {marks for _, marks, _ in graph.marked_edges()} - {"->", "-"}
        if through != "tetrad" or marked:  # a text of Tetrad's does not say which kind of graph it is
            assert getattr(dc.Graph, f"from_{through}")(written) == graph


def test_a_reader_that_knows_no_marks_finds_less_and_never_more() -> None:
    found = json.loads(ONE.to_json())
    assert found["directed"] == [["age", "lung cancer"]]
    assert len(found["undirected"]) == 3
    plain = networkx.DiGraph(ONE.to_networkx().edges)
    assert Graph.from_networkx(plain).directed == ONE.directed


def test_circles_are_drawn_by_graphviz() -> None:
    assert '"d" -> "age" [dir=both, arrowtail=odot, arrowhead=normal];' in ONE.to_dot()
    assert '"age" -> "lung cancer";' in ONE.to_dot()


def test_a_text_without_marks_is_no_pag() -> None:
    graph = Graph(["a", "b"], undirected=[("a", "b")])
    for through in ("json", "graphml", "networkx"):
        with pytest.raises(InputError, match="with Graph"):
            getattr(PAG, f"from_{through}")(getattr(graph, f"to_{through}")())


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "->", "c")],
        [("a", "->", "a")],
        [("a", "->", "b"), ("b", "->", "a")],
        [("a", "b")],
        ["a->b"],
    ],
)
def test_what_is_no_edge_is_one_line(edges: list[tuple[str, ...]]) -> None:
    with pytest.raises(InputError):
        PAG(["a", "b"], edges)


def test_no_edge_has_no_mark() -> None:
    with pytest.raises(InputError, match='no edge between "age" and'):
        ONE.mark("age", 'say "x"')
