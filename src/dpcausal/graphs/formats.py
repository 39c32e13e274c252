"""Graphs as text for other programs: JSON, Graphviz, GraphML, Tetrad, and networkx objects.

Functions that write take anything with ``nodes`` and ``edges()``; functions that read return ``GraphParts``, from which
``Graph`` is made. So this file needs to know nothing about ``Graph``. Reading refuses what is not a graph of arrows
and plain edges with one ``InputError``.

**JSON** (read and written)::

    {"format": "dpcausal-graph", "version": 1, "nodes": ["a", "b", "c"],
     "directed": [["a", "b"]], "undirected": [["b", "c"]]}

Lists come in the order of the nodes, so equal graphs with equal node order give equal text. Extra keys are ignored when
reading: later versions may add some, and a discovery adds what must be known about its edges.

**Graphviz** is written only: its text is for drawing; JSON and GraphML are for keeping.

**GraphML** is a directed graph in which a plain edge is two arcs, one each way, because many readers (networkx among
them) refuse a file that mixes directed and undirected edges. Every arc has ``kind``: ``directed`` or ``undirected``; an
open pair, which may be an edge or not, is two arcs of kind ``open`` and no edge when it is read.
The node id is the name. Reading also takes files that do mix, by ``directed="false"`` on the edge or
``edgedefault="undirected"`` on the graph.

**Tetrad** (also causal-learn, py-tetrad) splits an edge at blanks, so blanks, ``;``, ``,`` and ``%`` inside a name are
written as percent codes (``lung cancer`` is ``lung%20cancer``); reading turns them back::

    Graph Nodes:
    a;b;c

    Graph Edges:
    1. a --> b
    2. b --- c

**networkx**: a plain edge becomes two arcs, one each way, which is how networkx users write a CPDAG. Reading looks at
the arcs only: both ways means a plain edge, and so does any edge of an undirected networkx graph.

**Graphs with hidden causes** (``PAG``) have a mark at each end of an edge. Their JSON has ``"kind": "pag"`` and,
besides the lists above, ``"marks": [["a", "o->", "b"]]`` with every edge. A reader that knows no marks finds the sure
arrows under ``directed`` and all other edges under ``undirected``: less than is known, never more. In GraphML and
networkx an edge other than an arrow is two arcs, and every arc has ``marks``, read from its source to its target.
Graphviz draws circles (``odot``), and Tetrad's text has its own ``o->``, ``o-o`` and ``<->``.

Reference: Brandes, Eiglsperger, Lerner, GraphML Primer.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote, unquote
from xml.etree import ElementTree

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    import networkx

JSON_FORMAT = "dpcausal-graph"
JSON_VERSION = 1
PAG = "pag"

EdgeAttributes = Mapping[frozenset[str], Mapping[str, Any]]


class MixedGraph(Protocol):
    """What the writers need of a graph."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""
        ...

    @property
    def kind(self) -> str:
        """``pag`` where edges have circles and two heads, else ``pdag``."""
        ...

    def edges(self) -> Iterator[tuple[str, str, bool]]:
        """Every edge once as ``(a, b, is_arrow)``."""
        ...

    def marked_edges(self) -> Iterator[tuple[str, str, str]]:
        """Every edge once as ``(a, marks, b)``, the marks ``->`` or ``-``, and in a PAG others."""
        ...


class GraphParts(NamedTuple):
    """What the readers found: the arguments of ``Graph``."""

    nodes: Iterable[Any]
    directed: Collection[Any]
    undirected: Collection[Any]


class MarkedParts(NamedTuple):
    """What the readers found in the text of a PAG: its arguments."""

    nodes: Iterable[Any]
    edges: Collection[Any]


def to_json(graph: MixedGraph, more: Mapping[str, Any] | None = None) -> str:
    """Return one JSON object on one line, in plain ASCII; ``more`` holds further keys, after the graph's own.

    >>> from dpcausal.graphs.graph import Graph
    >>> to_json(Graph(["a", "b", "c"], directed=[("b", "a")], undirected=[("b", "c")]))[43:]
    '"nodes": ["a", "b", "c"], "directed": [["b", "a"]], "undirected": [["b", "c"]]}'
    """
    edges = list(graph.edges())
    own: dict[str, Any] = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "nodes": list(graph.nodes),
        "directed": [[a, b] for a, b, arrow in edges if arrow],
        "undirected": [[a, b] for a, b, arrow in edges if not arrow],
    }
    if graph.kind == PAG:
        own |= {"kind": PAG, "marks": [list(edge) for edge in graph.marked_edges()]}
    return json.dumps({**own, **(more or {}), **own}, allow_nan=False)


def from_json(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> GraphParts | MarkedParts:
    """Read a JSON text, an already parsed object, or the file at a ``Path``.

    ``format`` and ``version`` may be left out by hand-written files; ``nodes`` may not.

    >>> from_json('{"nodes": ["a", "b"], "directed": [["a", "b"]]}')
    GraphParts(nodes=['a', 'b'], directed=[['a', 'b']], undirected=[])
    """
    found = parsed_json(source)
    if not isinstance(found, Mapping):
        raise InputError("a graph in JSON must be an object with nodes, directed and undirected")
    if found.get("format", JSON_FORMAT) != JSON_FORMAT or found.get("version", JSON_VERSION) != JSON_VERSION:
        raise InputError(
            f'not a graph this version reads: need "format": "{JSON_FORMAT}" and "version": {JSON_VERSION}'
        )
    if "nodes" not in found:
        raise InputError('a graph in JSON needs "nodes"')
    for key in ("nodes", "directed", "undirected", "marks"):
        if not isinstance(found.get(key, []), list):
            raise InputError(f'"{key}" of a graph in JSON must be a list')
    if found.get("kind") == PAG:
        return MarkedParts(found["nodes"], found.get("marks", []))
    return GraphParts(found["nodes"], found.get("directed", []), found.get("undirected", []))


def parsed_json(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> Any:
    """Return what a JSON text, or the file at a ``Path``, holds; ``InputError`` where it is none."""
    if isinstance(source, Mapping):
        return source
    try:
        text = Path(source).read_bytes() if isinstance(source, os.PathLike) else source
        return json.loads(text)
    except OSError as error:
        raise InputError(f"can't read the graph {str(source)!r}: {error.strerror or error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from None


OPEN_IN_DOT = {
    "dir": "none",
    "style": "dashed",
    "color": "gray70",
    "penwidth": "0.7",
    "constraint": "false",
    "state": "open",
}
OPEN = "open"


def to_dot(
    graph: MixedGraph,
    attributes: EdgeAttributes | None = None,
    *,
    remark: str | None = None,
    possible: Iterable[Collection[str]] = (),
) -> str:
    r"""Return Graphviz text: a ``digraph`` with every name quoted; a plain edge is an arc without a head.

    Parameters
    ----------
    graph
        The graph to write.
    attributes
        Further Graphviz attributes by unordered pair, such as ``style`` or ``label``. Values are written as they are;
        texts that may hold anything must be quoted by ``dot_quoted``.
    remark
        One line about the whole graph: a comment at the top, and drawn above it.
    possible
        Open pairs: dashed and grey, without a head.

    Notes
    -----
    Inside the quotes a quote and a backslash get a backslash before them, so any name is safe, and two names stay two
    nodes.

    >>> from dpcausal.graphs.graph import Graph
    >>> print(to_dot(Graph(["a", 'say "b"'], undirected=[("a", 'say "b"')])), end="")
    digraph {
      "a";
      "say \"b\"";
      "a" -> "say \"b\"" [dir=none];
    }
    """
    told = "" if remark is None else " ".join(remark.split())
    lines = [f"  label={dot_quoted(told)};", "  labelloc=t;"] if told else []
    lines += [f"  {dot_quoted(name)};" for name in graph.nodes]
    drawn: list[tuple[str, str, Mapping[str, Any]]] = [
        (a, b, _dot_ends(marks)) for a, marks, b in graph.marked_edges()
    ]
    drawn += [(a, b, OPEN_IN_DOT) for a, b in possible]
    for a, b, own in drawn:
        marks = {**own, **(attributes or {}).get(frozenset((a, b)), {})}
        listed = ", ".join(f"{key}={value}" for key, value in marks.items())
        lines.append(f"  {dot_quoted(a)} -> {dot_quoted(b)}" + (f" [{listed}]" if listed else "") + ";")
    return "\n".join([*([f"// {told}"] if told else []), "digraph {", *lines, "}"]) + "\n"


def _dot_ends(marks: str) -> dict[str, str]:
    """How Graphviz draws the ends of an edge.

    >>> _dot_ends("->"), _dot_ends("-"), _dot_ends("o->")
    ({}, {'dir': 'none'}, {'dir': 'both', 'arrowtail': 'odot', 'arrowhead': 'normal'})
    """
    if marks in ("->", "-"):
        return {} if marks == "->" else {"dir": "none"}
    shapes = {"<": "normal", ">": "normal", "o": "odot", "-": "none"}
    return {"dir": "both", "arrowtail": shapes[marks[0]], "arrowhead": shapes[marks[-1]]}


def dot_quoted(text: str) -> str:
    """Return ``text`` in quotes, safe for Graphviz."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def to_graphml(
    graph: MixedGraph,
    attributes: EdgeAttributes | None = None,
    *,
    more: Mapping[str, Any] | None = None,
    possible: Iterable[Collection[str]] = (),
) -> str:
    """Return GraphML text with its XML declaration.

    Parameters
    ----------
    graph
        The graph to write.
    attributes
        Further values (texts, numbers, booleans) by unordered pair; every arc of the pair gets them.
    more
        Further values of the whole graph, by name.
    possible
        Open pairs: arcs of kind ``open``, one each way.

    >>> from dpcausal.graphs.graph import Graph
    >>> g = Graph(["lung cancer", "x-ray"], directed=[("lung cancer", "x-ray")])
    >>> Graph(*from_graphml(to_graphml(g))) == g
    True
    """
    arcs = {(a, b): {**own, **(attributes or {}).get(frozenset((a, b)), {})} for a, b, own in _arcs(graph)}
    for a, b in possible:
        arcs |= {(a, b): {"kind": OPEN}, (b, a): {"kind": OPEN}}
    of_graph = {**({"graph": PAG} if graph.kind == PAG else {}), **(more or {})}
    root = ElementTree.Element("graphml", _GRAPHML)
    keys = [*_graphml_keys("edge", arcs.values()), *_graphml_keys("graph", [of_graph])]
    root.extend(ElementTree.Element("key", key) for key in keys)
    body = ElementTree.SubElement(root, "graph", edgedefault="directed")
    body.extend(ElementTree.Element("node", id=name) for name in graph.nodes)
    for (a, b), values in arcs.items():
        _add_values(ElementTree.SubElement(body, "edge", source=a, target=b), values)
    _add_values(body, of_graph)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="us-ascii").decode()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_GRAPHML = {
    "xmlns": _NAMESPACE,
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:schemaLocation": f"{_NAMESPACE} {_NAMESPACE}/1.0/graphml.xsd",
}
_GRAPHML_TYPES = {bool: "boolean", int: "long", float: "double"}


def _graphml_keys(where: str, found: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The attributes of a ``key`` for every name of a value; one of several types is a text."""
    types: dict[str, set[type]] = {}
    for values in found:
        for name, value in values.items():
            types.setdefault(name, set()).add(type(value))
    return [
        {
            "id": name,
            "for": where,
            "attr.name": name,
            "attr.type": _GRAPHML_TYPES.get(next(iter(kinds)), "string") if len(kinds) == 1 else "string",
        }
        for name, kinds in types.items()
    ]


def _add_values(to: ElementTree.Element, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        ElementTree.SubElement(to, "data", key=name).text = text


def from_graphml(text: str | bytes) -> GraphParts | MarkedParts:
    """Read the first graph of a GraphML text; node ids become names.

    Arcs both ways make a plain edge; arcs of kind ``open`` make none. ``InputError`` when the text is not XML, has a
    document type (entities are not read) or has no graph.
    """
    start = text[:4096] if isinstance(text, str) else text[:4096].decode("latin-1")
    if "<!DOCTYPE" in start:
        raise InputError("GraphML with a document type is not read")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"not XML: {error}") from None
    body = root.find("{*}graph")
    if body is None:
        raise InputError("no <graph> in the GraphML text")
    by_default = body.get("edgedefault", "directed")
    arcs: set[tuple[str, str]] = set()
    marked: list[tuple[str, str, str]] = []
    keys = {key.get("id"): key.get("attr.name") for key in root.iterfind("{*}key")}
    for edge in body.iterfind("{*}edge"):
        told = {keys.get(data.get("key")): data.text or "" for data in edge.iterfind("{*}data")}
        if told.get("kind") == OPEN:
            continue
        tail, head = edge.get("source", ""), edge.get("target", "")
        if "marks" in told:
            marked.append((tail, told["marks"], head))
        arcs.add((tail, head))
        if edge.get("directed", "true" if by_default == "directed" else "false") == "false":
            arcs.add((head, tail))
    nodes = [node.get("id", "") for node in body.iterfind("{*}node")]
    of_graph = {keys.get(data.get("key")): data.text for data in body.iterfind("{*}data")}
    return MarkedParts(nodes, marked) if of_graph.get("graph") == PAG else _from_arcs(nodes, arcs)


def to_tetrad(graph: MixedGraph) -> str:
    """Return Tetrad's text, edges numbered from 1.

    >>> from dpcausal.graphs.graph import Graph
    >>> print(to_tetrad(Graph(["a", "lung cancer"], directed=[("a", "lung cancer")])), end="")
    Graph Nodes:
    a;lung%20cancer
    <BLANKLINE>
    Graph Edges:
    1. a --> lung%20cancer
    """
    lines = ["Graph Nodes:", ";".join(_coded(name) for name in graph.nodes), "", "Graph Edges:"]
    for i, (a, marks, b) in enumerate(graph.marked_edges(), start=1):
        lines.append(f"{i}. {_coded(a)} {three_letters(marks)} {_coded(b)}")
    return "\n".join(lines) + "\n"


def three_letters(marks: str) -> str:
    """Marks as Tetrad writes them, in three letters.

    >>> three_letters("->"), three_letters("-"), three_letters("o->"), three_letters("o-")
    ('-->', '---', 'o->', 'o--')
    """
    return {"->": "-->", "-": "---", "o-": "o--", "-o": "--o"}.get(marks, marks)


_EDGE_NUMBER = re.compile(r"\d+\.")


def from_tetrad(text: str) -> GraphParts:
    """Read a text of Tetrad's; other sections (attributes, probabilities) are passed over.

    Reads ``-->``, ``<--`` and ``---``. An edge with a circle or two heads (``o->``, ``<->``) belongs to a PAG and
    raises ``InputError``, as does any line that is not an edge.
    """
    nodes, edges = marks_from_tetrad(text, ("-->", "<--", "---"))
    return GraphParts(
        nodes,
        [(a, b) if marks == "-->" else (b, a) for a, marks, b in edges if marks != "---"],
        [(a, b) for a, marks, b in edges if marks == "---"],
    )


TETRAD_MARKS = ("-->", "<--", "---", "<->", "o->", "<-o", "o-o", "o--", "--o")


def marks_from_tetrad(text: str, allowed: tuple[str, ...] = TETRAD_MARKS) -> MarkedParts:
    """Read a text of Tetrad's with marks at both ends of an edge.

    >>> marks_from_tetrad("Graph Nodes:\\na;b\\n\\nGraph Edges:\\n1. a o-> b\\n")
    MarkedParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')])
    """
    nodes: list[str] = []
    edges: list[tuple[str, str, str]] = []
    section: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line.endswith(":") and " " in line and not _EDGE_NUMBER.match(line):
            section = line
        elif not line:
            section = None if edges or section != "Graph Edges:" else section
        elif section == "Graph Nodes:":
            nodes += [_decoded(name) for name in re.split("[;,]", line)]
        elif section == "Graph Edges:":
            edges.append(_tetrad_edge(line, number, allowed))
    if "Graph Nodes:" not in text:
        raise InputError('no "Graph Nodes:" in the Tetrad text')
    return MarkedParts(nodes, edges)


def _tetrad_edge(line: str, number: int, allowed: tuple[str, ...]) -> tuple[str, str, str]:
    words = line.split()
    if len(words) < 4 or not _EDGE_NUMBER.fullmatch(words[0]):
        raise InputError(f'line {number} of the Tetrad text is not an edge such as "1. a --> b"')
    if words[2] not in allowed:
        known = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        raise InputError(f'line {number} of the Tetrad text: edge mark "{words[2]}" is not {known}')
    return _decoded(words[1]), words[2], _decoded(words[3])


def _coded(name: str) -> str:
    return "".join(quote(c, safe="") if c.isspace() or c in ";,%" else c for c in name)


def _decoded(name: str) -> str:
    try:
        return unquote(name.strip(), errors="strict")
    except UnicodeDecodeError:
        return name.strip()


def to_networkx(graph: MixedGraph) -> networkx.DiGraph:
    """Return a ``networkx.DiGraph`` with the same nodes in the same order; every arc has ``kind``.

    >>> from dpcausal.graphs.graph import Graph
    >>> g = Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    >>> sorted(to_networkx(g).edges)
    [('a', 'b'), ('b', 'c'), ('c', 'b')]
    """
    import networkx

    made = networkx.DiGraph()
    made.add_nodes_from(graph.nodes)
    made.add_edges_from(_arcs(graph))
    if graph.kind == PAG:
        made.graph["graph"] = PAG
    return made


def _arcs(graph: MixedGraph) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every arc with its values: an edge other than an arrow is two, one each way."""
    for a, marks, b in graph.marked_edges():
        turned = marks[::-1].translate(_TURNED)
        for tail, read, head in ((a, marks, b), (b, turned, a))[: 1 if marks == "->" else 2]:
            yield tail, head, {"kind": _KINDS[marks], **({"marks": read} if graph.kind == PAG else {})}


_KINDS = {
    "->": "directed",
    "-": "undirected",
    "<->": "bidirected",
    "o->": "partly directed",
    "o-o": "circles",
    "-o": "partly undirected",
}
_TURNED = str.maketrans("<>", "><")


def from_networkx(graph: networkx.Graph) -> GraphParts | MarkedParts:
    """Read a networkx graph, directed or not; parallel edges of a multigraph count once, arcs of kind ``open`` not.

    >>> import networkx
    >>> from dpcausal.graphs.graph import Graph
    >>> Graph(*from_networkx(networkx.DiGraph([("a", "b"), ("b", "c"), ("c", "b")])))
    Graph(a -> b, b - c)
    """
    if graph.graph.get("graph") == PAG:
        return MarkedParts(
            graph.nodes,
            [(a, told.get("marks"), b) for a, b, told in graph.edges(data=True) if "marks" in told],
        )
    arcs = {(a, b) for a, b, kind in graph.edges(data="kind") if kind != OPEN}
    if not graph.is_directed():
        return GraphParts(graph.nodes, [], list(arcs))
    return _from_arcs(graph.nodes, arcs)


def _from_arcs(nodes: Iterable[Any], arcs: set[tuple[Any, Any]]) -> GraphParts:
    """Arcs both ways are a plain edge; a loop stays an arc, for ``Graph`` to refuse."""
    return GraphParts(
        nodes,
        [(a, b) for a, b in arcs if (b, a) not in arcs or a == b],
        [(a, b) for a, b in arcs if (b, a) in arcs and a != b],
    )
