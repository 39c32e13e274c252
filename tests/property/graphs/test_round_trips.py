"""Whatever the names, a graph that leaves in a format comes back equal."""

from __future__ import annotations

from io import BytesIO
from itertools import combinations

import networkx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.graphs import Graph

ALLOWED = st.characters(
    exclude_categories=["Cs", "Cc"], include_characters="\t\n\r\x7f\x85", exclude_characters="\ufffe\uffff"
)
NAMES = st.one_of(
    st.text(ALLOWED, min_size=1, max_size=8), st.text(' ;,%"\\<>&-|20\u2028\u00a0', min_size=1, max_size=4)
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    directed, undirected = [], []
    for a, b in combinations(names, 2):
        mark = draw(st.sampled_from(["", "", "->", "<-", "-"]))
        if mark == "-":
            undirected.append((a, b))
        elif mark:
            directed.append((a, b) if mark == "->" else (b, a))
    return Graph(names, directed, undirected)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_every_format_brings_the_graph_back(graph: Graph) -> None:
    for back in (
        Graph.from_json(graph.to_json()),
        Graph.from_graphml(graph.to_graphml()),
        Graph.from_tetrad(graph.to_tetrad()),
        Graph.from_networkx(graph.to_networkx()),
        Graph.from_networkx(networkx.read_graphml(BytesIO(graph.to_graphml().encode()))),
    ):
        assert back == graph
        assert back.nodes == graph.nodes


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_dot_has_one_statement_per_node_and_edge(graph: Graph) -> None:
    text = graph.to_dot()
    tokens, inside, previous = 0, False, ""
    for c in text:  # count the quoted names as Graphviz's scanner does
        if c == '"' and previous != "\\":
            inside = not inside
            tokens += inside
        previous = "" if previous == "\\" else c
    assert not inside
    assert tokens == len(graph.nodes) + 2 * len(graph.skeleton)
