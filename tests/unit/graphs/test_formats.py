from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from io import BytesIO
from pathlib import Path

import networkx
import pytest

from dpcausal.core.errors import InputError
from dpcausal.graphs import Graph
from dpcausal.graphs.formats import dot_quoted, to_dot, to_graphml, to_json

ODD = [
    'say "hi"',
    "lung cancer",
    "x;y,z",
    "100%",
    "Größe ≤ 3",
    "a\\b\\",
    "<&>'",
    "tab\tline\nend\rhere",
    "-->",
]
GRAPH = Graph(
    ODD,
    directed=[(ODD[0], ODD[1]), (ODD[2], ODD[1]), (ODD[8], ODD[7])],
    undirected=[(ODD[3], ODD[4]), (ODD[5], ODD[6])],
)


def test_json_keeps_odd_names_and_the_order_of_nodes() -> None:
    back = Graph.from_json(GRAPH.to_json())
    assert back == GRAPH
    assert back.nodes == GRAPH.nodes
    assert Graph.from_json(GRAPH.to_json().encode()) == GRAPH
    assert Graph.from_json(json.loads(GRAPH.to_json())) == GRAPH


def test_json_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(GRAPH.to_json())
    assert Graph.from_json(path) == GRAPH
    with pytest.raises(InputError, match=r"none\.json"):
        Graph.from_json(tmp_path / "none.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        b"\xff\xfe\x00",
        '{"nodes": 3}',
        '{"nodes": "ab"}',
        '{"nodes": ["a"], "directed": {"a": "a"}}',
        '{"nodes": ["a"], "directed": [["a"]]}',
        '{"nodes": ["a"], "directed": [["a", "b"]]}',
        '{"nodes": ["a"], "directed": [["a", null]]}',
        '{"nodes": [["a"]]}',
        '{"nodes": ["a", "a"]}',
        '{"nodes": ["a", "b"], "undirected": [[["a"], "b"]]}',
        '{"nodes": ["a"], "version": 99}',
        '{"nodes": ["a"], "format": "other"}',
        "[" * 100_000,
    ],
)
def test_bad_json_is_one_clear_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_json(text)
    assert "\n" not in str(caught.value)


def test_networkx_has_both_arcs_for_a_plain_edge() -> None:
    made = GRAPH.to_networkx()
    assert list(made.nodes) == ODD
    assert made.has_edge(ODD[3], ODD[4])
    assert made.has_edge(ODD[4], ODD[3])
    assert made.edges[ODD[0], ODD[1]]["kind"] == "directed"
    assert not made.has_edge(ODD[1], ODD[0])
    assert Graph.from_networkx(made) == GRAPH


def test_networkx_undirected_and_multigraphs() -> None:
    assert Graph.from_networkx(networkx.Graph([("a", "b")])) == Graph(["a", "b"], undirected=[("a", "b")])
    doubled = networkx.MultiDiGraph([("a", "b"), ("a", "b")])
    assert Graph.from_networkx(doubled) == Graph(["a", "b"], directed=[("a", "b")])
    with pytest.raises(InputError):
        Graph.from_networkx(networkx.path_graph(3))
    with pytest.raises(InputError, match="itself"):
        Graph.from_networkx(networkx.DiGraph([("a", "a")]))


def test_graphml_survives_and_networkx_reads_it() -> None:
    text = GRAPH.to_graphml()
    back = Graph.from_graphml(text)
    assert back == GRAPH
    assert back.nodes == GRAPH.nodes
    assert Graph.from_graphml(text.encode()) == GRAPH
    theirs = networkx.read_graphml(BytesIO(text.encode()))
    assert Graph.from_networkx(theirs) == GRAPH


def test_graphml_written_by_networkx_is_read() -> None:
    text = "\n".join(networkx.generate_graphml(GRAPH.to_networkx()))
    assert Graph.from_graphml(text) == GRAPH


def test_graphml_that_mixes_directed_and_undirected_edges() -> None:
    text = """<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
      <edge source="a" target="b" directed="true"/><edge source="c" target="b"/></graph></graphml>"""
    assert Graph.from_graphml(text) == Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<graphml>",
        "<graphml/>",
        '<!DOCTYPE x [<!ENTITY a "b">]><graphml><graph/></graphml>',
        "<graphml><graph><node/></graph></graphml>",
        '<graphml><graph><node id="a"/><edge source="a"/></graph></graphml>',
        '<graphml><graph><node id="a"/><edge source="a" target="a"/></graph></graphml>',
        b'<?xml version="1.0" encoding="nonsense"?><graphml/>',
    ],
)
def test_bad_graphml_is_one_clear_error(text: str | bytes) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_graphml(text)
    assert "\n" not in str(caught.value)


def test_tetrad_survives_and_has_no_blank_inside_a_name() -> None:
    text = GRAPH.to_tetrad()
    assert Graph.from_tetrad(text) == GRAPH
    edges = text.split("Graph Edges:\n")[1].splitlines()
    assert [len(line.split()) for line in edges] == [4] * 5


def test_tetrad_text_as_tetrad_writes_it() -> None:
    text = """Graph Nodes:
X1,X2,X3

Graph Edges:
1. X1 --> X2 dd nl
2. X2 <-- X3

Graph Attributes:
Score: -1234.5

Ambiguous triples:
"""
    assert Graph.from_tetrad(text) == Graph(["X1", "X2", "X3"], directed=[("X1", "X2"), ("X3", "X2")])
    assert Graph.from_tetrad(text.replace("\n", "\r\n")) == Graph.from_tetrad(text)


def test_tetrad_graph_without_edges_or_nodes() -> None:
    for graph in (Graph([]), Graph(["a"])):
        assert Graph.from_tetrad(graph.to_tetrad()) == graph


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ("1. a x-> b", 'line 5 of the Tetrad text: "x->"'),
        ("a --> b", "line 5"),
        ("1. a --> z", '"z"'),
    ],
)
def test_bad_tetrad_is_one_clear_error(edge: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Graph.from_tetrad(f"Graph Nodes:\na;b\n\nGraph Edges:\n{edge}\n")
    assert message in str(caught.value)


def test_tetrad_without_nodes_is_refused() -> None:
    with pytest.raises(InputError, match="Graph Nodes:"):
        Graph.from_tetrad("hello")


def test_dot_quotes_every_name() -> None:
    graph = Graph(["a", 'q"', "back\\"], directed=[("a", 'q"')], undirected=[("a", "back\\")])
    assert graph.to_dot().splitlines() == [
        "digraph {",
        '  "a";',
        r'  "q\"";',
        r'  "back\\";',
        r'  "a" -> "q\"";',
        r'  "a" -> "back\\" [dir=none];',
        "}",
    ]


def test_graphml_is_well_formed_xml() -> None:
    root = ElementTree.fromstring(GRAPH.to_graphml())
    assert len(root.findall(".//{*}edge")) == 3 + 2 * 2


def test_more_keys_in_json_are_written_and_ignored_when_read() -> None:
    text = to_json(GRAPH, {"untested": [["a", "b"]], "nodes": ["not mine"]})
    found = json.loads(text)
    assert found["untested"] == [["a", "b"]]
    assert list(found)[:5] == ["format", "version", "nodes", "directed", "undirected"]
    assert Graph.from_json(text) == GRAPH  # a graph's own keys can't be written over


def test_attributes_of_edges_are_written_in_dot() -> None:
    graph = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    marks = {"style": "dotted", "tooltip": dot_quoted('so "said"')}
    lines = to_dot(graph, {frozenset("ab"): marks, frozenset("bc"): marks}).splitlines()
    assert lines[4:6] == [
        r'  "a" -> "b" [style=dotted, tooltip="so \"said\""];',
        r'  "b" -> "c" [dir=none, style=dotted, tooltip="so \"said\""];',
    ]
    assert to_dot(graph, {frozenset("ab"): marks}).count("dotted") == 1
    assert to_dot(graph) == graph.to_dot()


def test_graphml_gives_attributes_of_edges_to_networkx() -> None:
    graph = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    marks = {frozenset("ab"): {"untested": False, "confidence": 0.25}, frozenset("bc"): {"untested": True}}
    text = to_graphml(graph, marks)
    theirs = networkx.read_graphml(BytesIO(text.encode()))
    assert theirs.edges["a", "b"] == {"kind": "directed", "untested": False, "confidence": 0.25}
    assert theirs.edges["b", "c"] == theirs.edges["c", "b"] == {"kind": "undirected", "untested": True}
    assert Graph.from_graphml(text) == graph
    assert "untested" not in graph.to_graphml()
