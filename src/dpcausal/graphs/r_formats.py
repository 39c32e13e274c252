"""Graphs for packages of R: dagitty, bnlearn, pcalg and caugi.

As in ``formats.py``, writers take anything with ``nodes`` and ``marked_edges()``, and readers return the arguments of a
graph.

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
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from dpcausal.core.errors import InputError
from dpcausal.graphs.formats import PAG, GraphParts, MarkedParts, MixedGraph, parsed_json, three_letters

_DAGITTY = {"->": "->", "-": "--", "<->": "<->", "o->": "@->", "o-o": "@-@", "-o": "--@"}


def to_dagitty(graph: MixedGraph, remark: str | None = None) -> str:
    """Return the text that dagitty reads; ``remark`` is a line about the whole graph.

    >>> from dpcausal.graphs.graph import Graph
    >>> print(to_dagitty(Graph(["a", "lung cancer"], undirected=[("a", "lung cancer")])), end="")
    pdag {
    "a"
    "lung cancer"
    "a" -- "lung cancer"
    }
    """
    nodes = [_quoted(name) for name in graph.nodes]
    edges = [f"{_quoted(a)} {_DAGITTY[marks]} {_quoted(b)}" for a, marks, b in graph.marked_edges()]
    told = [] if remark is None else [f"remark={_quoted(remark)}"]
    return "\n".join([f"{graph.kind} {{", *told, *nodes, *edges, "}"]) + "\n"


def _quoted(name: str) -> str:
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
_MARKS = {"@->": "o->", "<-@": "<-o", "@-@": "o-o", "--@": "-o", "@--": "o-", "--": "-"}
_KINDS = ("dag", "pdag", "pag", "mag", "digraph")


def from_dagitty(text: str) -> GraphParts | MarkedParts:
    """Read dagitty's text: ``pag`` and ``mag``, or any edge with a circle or two heads, make it a PAG.

    >>> from_dagitty('dag { a -> { b "c d" } b -- e [pos="1,2"] }')
    GraphParts(nodes=['a', 'b', 'c d', 'e'], directed=[('a', 'b'), ('a', 'c d')], undirected=[('b', 'e')])
    >>> from_dagitty("pag { a @-> b }")
    MarkedParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')])
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
    edges: list[tuple[str, str, str]] = []
    rest = _statements(words, nodes, edges)
    if rest:
        raise InputError(f"a graph of dagitty's ends with its closing brace, but {rest[0][1]!r} follows")
    if kind in ("pag", "mag") or any("o" in marks or marks == "<->" for _, marks, _ in edges):
        return MarkedParts(list(nodes), edges)
    return GraphParts(
        list(nodes),
        [(a, b) if marks == "->" else (b, a) for a, marks, b in edges if marks != "-"],
        [(a, b) for a, marks, b in edges if marks == "-"],
    )


Token = tuple[str, str]  # what it is, and its text


def _tokens(text: str) -> list[Token]:
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


def _statements(
    words: list[Token],
    nodes: dict[str, None],
    edges: list[tuple[str, str, str]],
) -> list[Token]:
    """Read ``{ ... }``, nodes and edges into the lists; return the words after it."""
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
            marks = _MARKS.get(words[0][1], words[0][1])
            after, words = _ends(words[1:], nodes, edges)
            edges += [(a, marks, b) for a in before for b in after]
            before = after
    if not words:
        raise InputError("a graph of dagitty's lacks its closing brace")
    return words[1:]


def _ends(
    words: list[Token], nodes: dict[str, None], edges: list[tuple[str, str, str]]
) -> tuple[list[str], list[Token]]:
    """Read a node or a group in braces; return its nodes and the words after it, attributes passed over."""
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
            f"a graph of dagitty's has a node where {words[0][1] if words else 'its end'!r} stands"
        )
    if words and words[0] == ("sign", "["):
        close = words.index(("sign", "]")) if ("sign", "]") in words else None
        if close is None:
            raise InputError("a graph of dagitty's has attributes that do not end with ]")
        words = words[close + 1 :]
    return ends, words


def _unquoted(kind: str, word: str) -> str:
    """The name: quotes off, percent codes of ours back."""
    if kind == "word":
        return word
    plain = word[1:-1].replace('\\"', '"')
    return re.sub(r"%(?:[01][0-9A-F]|5C|7F|25)", lambda code: unquote(code.group()), plain)


def to_arcs(graph: MixedGraph) -> str:
    r"""Return the arcs as comma-separated values, for bnlearn.

    >>> from dpcausal.graphs.graph import Graph
    >>> to_arcs(Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")]))
    'from,to\na,b\nb,c\nc,b\n'
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    pag = graph.kind == PAG
    rows.writerow(["from", "to", "marks"] if pag else ["from", "to"])
    for a, marks, b in graph.marked_edges():
        rows.writerow([a, b, marks] if pag else [a, b])
        if marks != "->":
            rows.writerow([b, a, marks[::-1].translate(_TURNED)] if pag else [b, a])
    return text.getvalue()


_TURNED = str.maketrans("<>", "><")


def from_arcs(text: str, nodes: Sequence[str] | None = None) -> GraphParts:
    r"""Read a table of arcs; ``nodes`` names the nodes, else those with an arc are taken in order.

    >>> from_arcs("from,to\na,b\nb,c\nc,b\n")
    GraphParts(nodes=['a', 'b', 'c'], directed=[('a', 'b')], undirected=[('b', 'c')])
    """
    lines = [line for line in csv.reader(io.StringIO(text)) if line]
    if not lines or lines[0][:2] != ["from", "to"]:
        raise InputError('a table of arcs begins with the columns "from" and "to"')
    if any(len(line) < 2 for line in lines):
        raise InputError("a table of arcs has two columns in every row")
    arcs = list(dict.fromkeys((line[0], line[1]) for line in lines[1:]))
    named = list(nodes) if nodes is not None else list(dict.fromkeys(name for arc in arcs for name in arc))
    both = {arc for arc in arcs if arc[::-1] in arcs}
    plain = [arc for i, arc in enumerate(arcs) if arc in both and arc[::-1] not in arcs[:i]]
    return GraphParts(named, [arc for arc in arcs if arc not in both], plain)


_AT_LEFT = {"<": 2, "o": 1, "-": 3}
_AT_RIGHT = {">": 2, "o": 1, "-": 3}


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
            told = three_letters(marks)
            matrix[j][i], matrix[i][j] = _AT_LEFT[told[0]], _AT_RIGHT[told[2]]
        else:
            matrix[j][i], matrix[i][j] = 1, int(marks == "-")
    return matrix


def from_pcalg(matrix: Any, nodes: Sequence[str]) -> GraphParts | MarkedParts:
    """Read pcalg's adjacency matrix: entries above 1 make it that of a PAG.

    >>> from_pcalg([[0, 0], [1, 0]], ["a", "b"])
    GraphParts(nodes=['a', 'b'], directed=[('a', 'b')], undirected=[])
    >>> from_pcalg([[0, 2], [1, 0]], ["a", "b"])
    MarkedParts(nodes=['a', 'b'], edges=[('a', 'o->', 'b')])
    """
    names = list(nodes)
    rows = [[_whole(entry) for entry in row] for row in matrix]
    if len(rows) != len(names) or any(len(row) != len(names) for row in rows):
        raise InputError(f"an adjacency matrix of {len(names)} nodes has as many rows and columns")
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names)) if rows[i][j] or rows[j][i]]
    if any(entry > 1 for row in rows for entry in row):
        left, right = {2: "<", 1: "o", 3: "-"}, {2: ">", 1: "o", 3: "-"}
        if any(not rows[i][j] or not rows[j][i] for i, j in pairs):
            raise InputError("an adjacency matrix of a PAG has a mark at both ends of every edge")
        return MarkedParts(
            names, [(names[i], f"{left[rows[j][i]]}-{right[rows[i][j]]}", names[j]) for i, j in pairs]
        )
    both = [(i, j) for i, j in pairs if rows[i][j] and rows[j][i]]
    arrows = [(i, j) if rows[j][i] else (j, i) for i, j in pairs if (i, j) not in both]
    return GraphParts(
        names, [(names[i], names[j]) for i, j in arrows], [(names[i], names[j]) for i, j in both]
    )


def _whole(entry: Any) -> int:
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
    edges = [{"from": a, "to": b, "edge": three_letters(marks)} for a, marks, b in graph.marked_edges()]
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


def from_caugi(text: str | bytes | Mapping[str, Any]) -> GraphParts | MarkedParts:
    """Read caugi's JSON: edges with circles or two heads, or the class UNKNOWN, make it a PAG."""
    found = parsed_json(text)
    graph = found.get("graph") if isinstance(found, Mapping) else None
    if not isinstance(graph, Mapping) or found.get("format") != "caugi":
        raise InputError('not a graph of caugi\'s: need "format": "caugi" and "graph"')
    nodes, edges = graph.get("nodes", []), graph.get("edges", [])
    if not _all_edges(edges):
        raise InputError("an edge of caugi's has from, to and edge")
    told = [(edge["from"], edge["edge"], edge["to"]) for edge in edges]
    if graph.get("class") == "UNKNOWN" or any(marks not in ("-->", "---") for _, marks, _ in told):
        return MarkedParts(nodes, told)
    return GraphParts(
        nodes,
        [(a, b) for a, marks, b in told if marks == "-->"],
        [(a, b) for a, marks, b in told if marks == "---"],
    )


def _all_edges(edges: Collection[Any]) -> bool:
    return isinstance(edges, list) and all(
        isinstance(edge, Mapping) and {"from", "to", "edge"} <= edge.keys() for edge in edges
    )
