"""Graphs as text for other programs, and as networkx objects.

Writers take anything with ``nodes``, ``kind`` and ``marked_edges()``; readers return ``GraphParts``, from which
``Graph`` and ``PAG`` are made. So this file needs to know nothing about them. What is no graph is one ``InputError``.
``SPELLINGS`` has every edge as each program writes it.

**JSON** (read and written)::

    {"format": "dpcausal-graph", "version": 1, "nodes": ["a", "b", "c"],
     "directed": [["a", "b"]], "undirected": [["b", "c"]]}

Lists come in the order of the nodes, so equal graphs with equal node order give equal text. Extra keys are ignored when
reading: a discovery adds what must be known about its edges. A PAG has ``"kind": "pag"`` and, besides these lists,
``"marks": [["a", "o->", "b"]]`` with every edge. A reader that knows no marks finds the sure arrows under ``directed``
and all other edges under ``undirected``: less than is known, never more.

**Graphviz** is written only: its text is for drawing.

**GraphML** and **networkx** have directed graphs in which a plain edge is two arcs, one each way, because many readers
refuse a file that mixes directed and undirected edges. Every arc has ``kind``; an open pair, which may be an edge or
not, is two arcs of kind ``open`` and no edge when it is read. Of a PAG every edge other than an arrow is two arcs, and
every arc has ``marks``, read from its source to its target. Reading also takes GraphML that mixes, by
``directed="false"`` on the edge or ``edgedefault="undirected"`` on the graph, and undirected networkx graphs.

**Tetrad** (also causal-learn, py-tetrad) splits an edge at blanks, so blanks, ``;``, ``,`` and ``%`` inside a name are
written as percent codes (``lung cancer`` is ``lung%20cancer``); reading turns them back::

    Graph Nodes:
    a;b;c

    Graph Edges:
    1. a --> b
    2. b --- c

**dagitty**: ``pdag { ... }`` with ``->`` and ``--``, or ``pag { ... }`` with ``@->`` and ``@-@`` for circles. Names
are in quotes. Its grammar can't hold control characters or a backslash, which are written as percent codes. Reading
takes dagitty's own files, too: names without quotes, chains (``a -> b <- c``), groups (``{a b} -> c``), attributes in
brackets (passed over), comments, and ``dag`` and ``mag`` besides ``pdag`` and ``pag``.

**bnlearn**: a table of arcs with the columns ``from`` and ``to``; an edge without a direction has a row each way, as in
``bnlearn::arcs<-``. bnlearn has no edges with circles or two heads: of a PAG every edge other than ``a -> b`` has a row
each way, and a third column, ``marks``, says what it is.

**pcalg**: a square matrix in the order of the nodes. For a CPDAG (``amat.cpdag``) entry [a, b] is 1 where the edge
between a and b has no tail at a: a -> b is [a, b] = 0, [b, a] = 1, and a plain edge is 1 both ways. For a PAG
(``amat.pag``) entry [a, b] is the mark at b: 0 no edge, 1 circle, 2 arrowhead, 3 tail.

**caugi**: JSON by its schema ``caugi-v1``, class ``PDAG``; that schema has no class for a PAG, which is ``UNKNOWN``.

Reference: Brandes, Eiglsperger, Lerner, GraphML Primer.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
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
MarkedEdge = tuple[str, str, str]  # (a, marks, b), the marks read from a to b


class MixedGraph(Protocol):
    """What the writers need of a graph."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""
        ...

    @property
    def kind(self) -> str:
        """The kind of graph: ``pag`` where edges have circles or two heads, else ``pdag``."""
        ...

    def marked_edges(self) -> Iterator[MarkedEdge]:
        """Return every edge once as ``(a, marks, b)``, the marks ``->`` or ``-``, and in a PAG others."""
        ...


class GraphParts(NamedTuple):
    """A parsed graph: nodes, edges as ``(a, marks, b)``, and whether it is a PAG (None: not declared)."""

    nodes: Iterable[Any]
    edges: Collection[tuple[Any, Any, Any]]
    pag: bool | None = False


class Spelling(NamedTuple):
    """An edge as each program writes it."""

    tetrad: str  # and caugi
    dagitty: str
    kind: str  # in GraphML and networkx


SPELLINGS = {
    "->": Spelling("-->", "->", "directed"),
    "-": Spelling("---", "--", "undirected"),
    "<->": Spelling("<->", "<->", "bidirected"),
    "o->": Spelling("o->", "@->", "partly directed"),
    "o-o": Spelling("o-o", "@-@", "circles"),
    "-o": Spelling("--o", "--@", "partly undirected"),
}


def turned(marks: str) -> str:
    """Return the marks of an edge read from its other end.

    >>> turned("o->"), turned("-->")
    ('<-o', '<--')
    """
    return marks[::-1].translate(_TURNED)


_TURNED = str.maketrans("<>", "><")
_FROM_TETRAD = {row.tetrad: marks for marks, row in SPELLINGS.items()}
_FROM_TETRAD |= {turned(text): turned(marks) for text, marks in _FROM_TETRAD.items()}
_FROM_DAGITTY = {row.dagitty: marks for marks, row in SPELLINGS.items()}
_FROM_DAGITTY |= {turned(text): turned(marks) for text, marks in _FROM_DAGITTY.items()}


def to_json(graph: MixedGraph, more: Mapping[str, Any] | None = None) -> str:
    """Return the graph as one JSON object on one ASCII line; ``more`` holds further keys.

    >>> from dpcausal.graphs.graph import Graph
    >>> to_json(Graph(["a", "b", "c"], directed=[("b", "a")], undirected=[("b", "c")]))[43:]
    '"nodes": ["a", "b", "c"], "directed": [["b", "a"]], "undirected": [["b", "c"]]}'
    """
    edges = list(graph.marked_edges())
    own: dict[str, Any] = {
        "format": JSON_FORMAT,
        "version": JSON_VERSION,
        "nodes": list(graph.nodes),
        "directed": [[a, b] for a, marks, b in edges if marks == "->"],
        "undirected": [[a, b] for a, marks, b in edges if marks != "->"],
    }
    if graph.kind == PAG:
        own |= {"kind": PAG, "marks": [list(edge) for edge in edges]}
    return json.dumps({**own, **(more or {}), **own}, allow_nan=False)


def from_json(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> GraphParts:
    """Return the parts of a graph from a JSON text, a parsed object, or the file at a ``Path``.

    ``format`` and ``version`` may be left out by hand-written files; ``nodes`` may not.

    >>> from_json('{"nodes": ["a", "b"], "directed": [["a", "b"]]}')
    GraphParts(nodes=['a', 'b'], edges=[('a', '->', 'b')], pag=False)
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
        return GraphParts(found["nodes"], found.get("marks", []), pag=True)
    edges = []
    for key, marks in (("directed", "->"), ("undirected", "-")):
        for pair in found.get(key, []):
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise InputError(f'"{key}" of a graph in JSON must be a list of pairs, and holds {pair!r}')
            edges.append((pair[0], marks, pair[1]))
    return GraphParts(found["nodes"], edges)


def parsed_json(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> Any:
    """Return the parsed content of a JSON text or of the file at a ``Path``; refuse anything else."""
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
    r"""Return the graph as Graphviz text: a ``digraph`` in which an undirected edge is an arc without a head.

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
    title = "" if remark is None else " ".join(remark.split())
    lines = [f"  label={dot_quoted(title)};", "  labelloc=t;"] if title else []
    lines += [f"  {dot_quoted(name)};" for name in graph.nodes]
    drawn: list[tuple[str, str, Mapping[str, Any]]] = [
        (a, b, _dot_ends(marks)) for a, marks, b in graph.marked_edges()
    ]
    drawn += [(a, b, OPEN_IN_DOT) for a, b in possible]
    for a, b, own in drawn:
        marks = {**own, **(attributes or {}).get(frozenset((a, b)), {})}
        listed = ", ".join(f"{key}={value}" for key, value in marks.items())
        lines.append(f"  {dot_quoted(a)} -> {dot_quoted(b)}" + (f" [{listed}]" if listed else "") + ";")
    return "\n".join([*([f"// {title}"] if title else []), "digraph {", *lines, "}"]) + "\n"


def _dot_ends(marks: str) -> dict[str, str]:
    """Return the Graphviz attributes that draw the ends of an edge.

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

    ``attributes`` are further values of every arc of a pair, ``more`` those of the graph, and ``possible`` open pairs,
    which are arcs of kind ``open``, one each way.

    >>> from dpcausal.graphs.graph import Graph
    >>> g = Graph(["lung cancer", "x-ray"], directed=[("lung cancer", "x-ray")])
    >>> Graph.from_graphml(to_graphml(g)) == g
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
    """Return the GraphML ``key`` declarations for the attributes found; mixed types become text."""
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
    """Add values to a GraphML element as ``data`` children."""
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        ElementTree.SubElement(to, "data", key=name).text = text


def from_graphml(text: str | bytes) -> GraphParts:
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
    marked: list[MarkedEdge] = []
    keys = {key.get("id"): key.get("attr.name") for key in root.iterfind("{*}key")}
    for edge in body.iterfind("{*}edge"):
        values = {keys.get(data.get("key")): data.text or "" for data in edge.iterfind("{*}data")}
        if values.get("kind") == OPEN:
            continue
        tail, head = edge.get("source", ""), edge.get("target", "")
        if "marks" in values:
            marked.append((tail, values["marks"], head))
        arcs.add((tail, head))
        if edge.get("directed", "true" if by_default == "directed" else "false") == "false":
            arcs.add((head, tail))
    nodes = [node.get("id", "") for node in body.iterfind("{*}node")]
    of_graph = {keys.get(data.get("key")): data.text for data in body.iterfind("{*}data")}
    if of_graph.get("graph") == PAG:
        return GraphParts(nodes, marked, pag=True)
    return GraphParts(nodes, _edges_of_arcs(arcs))


def to_tetrad(graph: MixedGraph) -> str:
    """Return the graph in Tetrad's text format.

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
        lines.append(f"{i}. {_coded(a)} {SPELLINGS[marks].tetrad} {_coded(b)}")
    return "\n".join(lines) + "\n"


_EDGE_NUMBER = re.compile(r"\d+\.")


def from_tetrad(text: str) -> GraphParts:
    """Parse the text format of Tetrad, which does not declare PAGs; other sections are skipped.

    >>> from_tetrad("Graph Nodes:\\na;b\\n\\nGraph Edges:\\n1. a o-> b\\n")
    GraphParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')], pag=None)
    """
    nodes: list[str] = []
    edges: list[MarkedEdge] = []
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
            edges.append(_tetrad_edge(line, number))
    if "Graph Nodes:" not in text:
        raise InputError('no "Graph Nodes:" in the Tetrad text')
    return GraphParts(nodes, edges, pag=None)


def _tetrad_edge(line: str, number: int) -> MarkedEdge:
    """Return the edge in a line of Tetrad's text."""
    words = line.split()
    if len(words) < 4 or not _EDGE_NUMBER.fullmatch(words[0]):
        raise InputError(f'line {number} of the Tetrad text is not an edge such as "1. a --> b"')
    if words[2] not in _FROM_TETRAD:
        raise InputError(
            f'line {number} of the Tetrad text: "{words[2]}" is none of {", ".join(_FROM_TETRAD)}'
        )
    return _decoded(words[1]), _FROM_TETRAD[words[2]], _decoded(words[3])


def _coded(name: str) -> str:
    """Return a name with characters that Tetrad can't hold as percent codes."""
    return "".join(quote(c, safe="") if c.isspace() or c in ";,%" else c for c in name)


def _decoded(name: str) -> str:
    """Return the name that ``_coded`` encoded."""
    try:
        return unquote(name.strip(), errors="strict")
    except UnicodeDecodeError:
        return name.strip()


def to_networkx(graph: MixedGraph) -> networkx.DiGraph:
    """Return the graph as a ``networkx.DiGraph`` with nodes in order; every arc has a ``kind``.

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
    """Yield the arcs of a graph with their attributes; an edge that is not an arrow gives an arc each way."""
    for a, marks, b in graph.marked_edges():
        for tail, read, head in ((a, marks, b), (b, turned(marks), a))[: 1 if marks == "->" else 2]:
            yield (
                tail,
                head,
                {"kind": SPELLINGS[marks].kind, **({"marks": read} if graph.kind == PAG else {})},
            )


def from_networkx(graph: networkx.Graph) -> GraphParts:
    """Read a networkx graph, directed or not; parallel edges of a multigraph count once, arcs of kind ``open`` not.

    >>> import networkx
    >>> from_networkx(networkx.DiGraph([("a", "b")])).edges
    [('a', '->', 'b')]
    """
    if graph.graph.get("graph") == PAG:
        marked = [(a, values["marks"], b) for a, b, values in graph.edges(data=True) if "marks" in values]
        return GraphParts(graph.nodes, marked, pag=True)
    arcs = {(a, b) for a, b, kind in graph.edges(data="kind") if kind != OPEN}
    if not graph.is_directed():
        return GraphParts(graph.nodes, [(a, "-", b) for a, b in arcs])
    return GraphParts(graph.nodes, _edges_of_arcs(arcs))


def _edges_of_arcs(arcs: Collection[tuple[Any, Any]]) -> list[tuple[Any, str, Any]]:
    """Return the edges that arcs stand for: two opposite arcs are one undirected edge."""
    return [(a, "-" if a != b and (b, a) in arcs else "->", b) for a, b in arcs]


def to_dagitty(graph: MixedGraph, remark: str | None = None) -> str:
    """Return the graph in dagitty's text format; ``remark`` is a comment on the whole graph.

    >>> from dpcausal.graphs.graph import Graph
    >>> print(to_dagitty(Graph(["a", "lung cancer"], undirected=[("a", "lung cancer")])), end="")
    pdag {
    "a"
    "lung cancer"
    "a" -- "lung cancer"
    }
    """
    nodes = [_quoted(name) for name in graph.nodes]
    edges = [f"{_quoted(a)} {SPELLINGS[marks].dagitty} {_quoted(b)}" for a, marks, b in graph.marked_edges()]
    title = [] if remark is None else [f"remark={_quoted(remark)}"]
    return "\n".join([f"{graph.kind} {{", *title, *nodes, *edges, "}"]) + "\n"


def _quoted(name: str) -> str:
    """Return a name in quotes for dagitty, with percent codes where needed."""
    # a percent sign that would be read as a code is coded itself
    named = re.sub(r"%(?=[01][0-9A-F]|5C|7F|25)", "%25", name)
    coded = "".join(quote(c, safe="") if c < " " or c in "\\\x7f" else c for c in named)
    escaped = coded.replace('"', '\\"')
    return f'"{escaped}"'


_TOKEN = re.compile(
    r"""\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/|(?P<quoted>"(?:\\.|[^"\\])*")|(?P<edge>@-@|@->|<-@|@--|--@|<->|->|<-|--)"""
    r"|(?P<sign>[{}\[\];,=])|(?P<word>[^\s{}\[\];,=\"@<>-]+(?:-(?![->@])[^\s{}\[\];,=\"@<>-]+)*)",
    re.DOTALL,
)
_KINDS = ("dag", "pdag", "pag", "mag", "digraph")


def from_dagitty(text: str) -> GraphParts:
    """Parse the text format of dagitty; ``pag`` and ``mag`` declare a PAG.

    >>> from_dagitty('dag { a -> { b "c d" } b -- e [pos="1,2"] }')
    GraphParts(nodes=['a', 'b', 'c d', 'e'], edges=[('a', '->', 'b'), ('a', '->', 'c d'), ('b', '-', 'e')], pag=None)
    >>> from_dagitty("pag { a @-> b }")
    GraphParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')], pag=True)
    """
    words = _tokens(text)
    kind = words.pop(0)[1] if words and words[0][0] == "word" else ""
    if kind not in _KINDS:
        raise InputError(
            f"a graph of dagitty's begins with one of {', '.join(_KINDS)}, not {kind or text[:20]!r}"
        )
    if words and words[0][0] in ("word", "quoted"):
        words.pop(0)  # the name of the graph
    nodes: dict[str, None] = {}
    edges: list[MarkedEdge] = []
    rest = _statements(words, nodes, edges)
    if rest:
        raise InputError(f"a graph of dagitty's ends with its closing brace, but {rest[0][1]!r} follows")
    return GraphParts(list(nodes), edges, pag=True if kind in ("pag", "mag") else None)


Token = tuple[str, str]  # what it is, and its text


def _tokens(text: str) -> list[Token]:
    """Return the tokens of dagitty text, without blanks and comments."""
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            line = text.count("\n", 0, place) + 1
            raise InputError(
                f"line {line} of a graph of dagitty's: {text[place : place + 10]!r} can't be read"
            )
        place = match.end()
        if match.lastgroup is not None:
            found.append((match.lastgroup, match.group()))
    return found


def _statements(words: list[Token], nodes: dict[str, None], edges: list[MarkedEdge]) -> list[Token]:
    """Read a block ``{ ... }`` of dagitty text into the lists; return the remaining tokens."""
    if not words or words[0] != ("sign", "{"):
        raise InputError("a graph of dagitty's has its nodes and edges in braces")
    words = words[1:]
    while words and words[0] != ("sign", "}"):
        if words[0] in (("sign", ";"), ("sign", ",")):
            words = words[1:]
            continue
        if words[0][0] == "word" and words[1:2] == [("sign", "=")]:  # an attribute of the graph
            words = words[3:]
            continue
        before, words = _ends(words, nodes, edges)
        while words and words[0][0] == "edge":
            marks = _FROM_DAGITTY[words[0][1]]
            after, words = _ends(words[1:], nodes, edges)
            edges += [(a, marks, b) for a in before for b in after]
            before = after
    if not words:
        raise InputError("a graph of dagitty's lacks its closing brace")
    return words[1:]


def _ends(
    words: list[Token], nodes: dict[str, None], edges: list[MarkedEdge]
) -> tuple[list[str], list[Token]]:
    """Read a node, or a group in braces, of dagitty text; return its nodes and the remaining tokens."""
    if words and words[0] == ("sign", "{"):
        group: dict[str, None] = {}
        words = _statements(words, group, edges)
        nodes.update(group)
        ends = list(group)
    elif words and words[0][0] in ("word", "quoted"):
        ends = [_unquoted(*words[0])]
        nodes.update(dict.fromkeys(ends))
        words = words[1:]
    else:
        raise InputError(
            f"a graph of dagitty's needs a node instead of {words[0][1] if words else 'its end'!r}"
        )
    if words and words[0] == ("sign", "["):
        close = words.index(("sign", "]")) if ("sign", "]") in words else None
        if close is None:
            raise InputError("a graph of dagitty's has attributes that do not end with ]")
        words = words[close + 1 :]
    return ends, words


def _unquoted(kind: str, word: str) -> str:
    """Return the name in a dagitty token (``kind``: quoted or bare), without quotes and percent codes."""
    if kind == "word":
        return word
    plain = word[1:-1].replace('\\"', '"')
    return re.sub(r"%(?:[01][0-9A-F]|5C|7F|25)", lambda code: unquote(code.group()), plain)


def to_arcs(graph: MixedGraph, chances: Mapping[tuple[str, str], float] | None = None) -> str:
    r"""Return the arcs as comma-separated values, for bnlearn; ``chances`` add a column of probabilities.

    ``chances`` are a further column: of each arc, ``chance``; of a PAG ``head``, that of a head at ``to``.

    >>> from dpcausal.graphs.graph import Graph
    >>> to_arcs(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    'from,to\na,b\nb,c\nc,b\n'
    >>> to_arcs(Graph(["a", "b"], directed=[("a", "b")]), {("a", "b"): 0.93, ("b", "a"): 0.07})
    'from,to,chance\na,b,0.93\n'
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    pag = graph.kind == PAG
    rows.writerow(
        ["from", "to", *(["marks"] if pag else []), *(["head" if pag else "chance"] if chances else [])]
    )

    def write(a: str, marks: str, b: str) -> None:
        chance = [f"{chances[a, b]:.2f}" if (a, b) in chances else ""] if chances else []
        rows.writerow([a, b, *([marks] if pag else []), *chance])

    for a, marks, b in graph.marked_edges():
        write(a, marks, b)
        if marks != "->":
            write(b, turned(marks), a)
    return text.getvalue()


def from_arcs(text: str, nodes: Sequence[str] | None = None) -> GraphParts:
    r"""Parse a table of arcs; ``nodes`` names the nodes, by default those with an arc, in order.

    >>> from_arcs("from,to\na,b\nb,c\nc,b\n").edges
    [('a', '->', 'b'), ('b', '-', 'c'), ('c', '-', 'b')]
    """
    lines = [line for line in csv.reader(io.StringIO(text)) if line]
    if not lines or lines[0][:2] != ["from", "to"]:
        raise InputError('a table of arcs begins with the columns "from" and "to"')
    if any(len(line) < 2 for line in lines):
        raise InputError("a table of arcs has two columns in every row")
    arcs = dict.fromkeys((line[0], line[1]) for line in lines[1:])
    named = list(nodes) if nodes is not None else list(dict.fromkeys(name for arc in arcs for name in arc))
    return GraphParts(named, _edges_of_arcs(arcs.keys()))


_PCALG = {"o": 1, ">": 2, "-": 3}  # the mark at the end of an edge, in the matrix of a PAG


def to_pcalg(graph: MixedGraph) -> list[list[int]]:
    """Return pcalg's adjacency matrix, rows and columns in the order of the nodes.

    >>> from dpcausal.graphs.graph import Graph
    >>> to_pcalg(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    [[0, 0, 0], [1, 0, 1], [0, 1, 0]]
    """
    place = {name: i for i, name in enumerate(graph.nodes)}
    matrix = [[0] * len(place) for _ in place]
    for a, marks, b in graph.marked_edges():
        i, j = place[a], place[b]
        if graph.kind == PAG:
            matrix[i][j], matrix[j][i] = _PCALG[marks[-1]], _PCALG[turned(marks)[-1]]
        else:
            matrix[j][i], matrix[i][j] = 1, int(marks == "-")
    return matrix


def from_pcalg(matrix: Any, nodes: Sequence[str]) -> GraphParts:
    """Read pcalg's adjacency matrix: entries above 1 make it that of a PAG.

    >>> from_pcalg([[0, 0], [1, 0]], ["a", "b"])
    GraphParts(nodes=['a', 'b'], edges=[('a', '->', 'b')], pag=False)
    >>> from_pcalg([[0, 2], [1, 0]], ["a", "b"])
    GraphParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')], pag=True)
    """
    names = list(nodes)
    rows = [[_whole(entry) for entry in row] for row in matrix]
    if len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        raise InputError(f"an adjacency matrix of {len(names)} nodes has as many rows and columns")
    pag = any(entry > 1 for row in rows for entry in row)
    edges = []
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        at_a, at_b = rows[j][i], rows[i][j]
        if pag and bool(at_a) != bool(at_b):
            raise InputError("an adjacency matrix of a PAG has a mark at both ends of every edge")
        if pag and at_a:
            edges.append((a, f"{' o<-'[at_a]}-{' o>-'[at_b]}", b))
        elif at_a or at_b:
            edges.append((a, "-" if at_a and at_b else "->" if at_a else "<-", b))
    return GraphParts(names, edges, pag)


def _whole(entry: Any) -> int:
    """Return an entry of a matrix as a whole number from 0 to 3; refuse anything else."""
    try:
        number = int(entry)
    except (TypeError, ValueError):
        raise InputError(f"an adjacency matrix of pcalg's holds 0, 1, 2 and 3, not {entry!r}") from None
    if number != entry or not 0 <= number <= 3:
        raise InputError(f"an adjacency matrix of pcalg's holds 0, 1, 2 and 3, not {entry!r}")
    return number


CAUGI = "https://caugi.org/schemas/caugi-v1.schema.json"


def to_caugi(graph: MixedGraph) -> str:
    """Return the JSON text that ``caugi::read_caugi`` reads.

    >>> from dpcausal.graphs.graph import Graph
    >>> json.loads(to_caugi(Graph(["a", "b"], directed=[("a", "b")])))["graph"]["edges"]
    [{'from': 'a', 'to': 'b', 'edge': '-->'}]
    """
    edges = [{"from": a, "to": b, "edge": SPELLINGS[marks].tetrad} for a, marks, b in graph.marked_edges()]
    return json.dumps(
        {
            "$schema": CAUGI,
            "format": "caugi",
            "version": "1.0.0",
            "graph": {
                "class": "UNKNOWN" if graph.kind == PAG else "PDAG",
                "nodes": list(graph.nodes),
                "edges": edges,
            },
        },
        indent=2,
    )


def from_caugi(text: str | bytes | Mapping[str, Any]) -> GraphParts:
    """Parse the JSON of caugi; the class UNKNOWN declares a PAG."""
    found = parsed_json(text)
    graph = found.get("graph") if isinstance(found, Mapping) else None
    if not isinstance(graph, Mapping) or found.get("format") != "caugi":
        raise InputError('not a graph of caugi\'s: need "format": "caugi" and "graph"')
    nodes, listed = graph.get("nodes", []), graph.get("edges", [])
    if not isinstance(listed, list):
        raise InputError("the edges of caugi's are a list")
    edges = []
    for edge in listed:
        marks = _FROM_TETRAD.get(str(edge.get("edge"))) if isinstance(edge, Mapping) else None
        if marks is None or not {"from", "to"} <= edge.keys():
            raise InputError(f"an edge of caugi's has from, to and edge (one of {', '.join(_FROM_TETRAD)})")
        edges.append((edge["from"], marks, edge["to"]))
    return GraphParts(nodes, edges, pag=True if graph.get("class") == "UNKNOWN" else None)
