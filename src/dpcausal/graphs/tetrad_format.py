"""Graphs to and from the text format of Tetrad (and causal-learn, py-tetrad).

    Graph Nodes:
    a;b;c

    Graph Edges:
    1. a --> b
    2. b --- c

Tetrad splits an edge at blanks, so blanks, ``;``, ``,`` and ``%`` inside a name are written as percent codes
(``lung cancer`` is ``lung%20cancer``): Tetrad itself can then read the file. Reading turns the codes back.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph

_EDGE = re.compile(r"\d+\.")


def to_tetrad(graph: Graph) -> str:
    """The text, edges numbered from 1.

    >>> print(to_tetrad(Graph(["a", "lung cancer"], directed=[("a", "lung cancer")])), end="")
    Graph Nodes:
    a;lung%20cancer
    <BLANKLINE>
    Graph Edges:
    1. a --> lung%20cancer
    """
    lines = ["Graph Nodes:", ";".join(_coded(name) for name in graph.nodes), "", "Graph Edges:"]
    for i, (a, b, arrow) in enumerate(graph.edges(), start=1):
        lines.append(f"{i}. {_coded(a)} {'-->' if arrow else '---'} {_coded(b)}")
    return "\n".join(lines) + "\n"


def from_tetrad(text: str) -> Graph:
    """The graph in a text of Tetrad's; other sections (attributes, probabilities) are passed over.

    Reads ``-->``, ``<--`` and ``---``. An edge with a circle or two heads (``o->``, ``<->``) belongs to other
    kinds of graph and raises ``InputError``, as does any line that is not an edge.
    """
    nodes: list[str] = []
    directed: list[tuple[str, str]] = []
    undirected: list[tuple[str, str]] = []
    section: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line.endswith(":") and " " in line and not _EDGE.match(line):
            section = line
        elif not line:
            section = None if directed or undirected or section != "Graph Edges:" else section
        elif section == "Graph Nodes:":
            nodes += [_decoded(name) for name in re.split("[;,]", line)]
        elif section == "Graph Edges:":
            tail, mark, head = _parts(line, number)
            if mark == "---":
                undirected.append((tail, head))
            else:
                directed.append((tail, head) if mark == "-->" else (head, tail))
    if "Graph Nodes:" not in text:
        raise InputError('no "Graph Nodes:" in the Tetrad text')
    return Graph(nodes, directed, undirected)


def _parts(line: str, number: int) -> tuple[str, str, str]:
    words = line.split()
    if len(words) < 4 or not _EDGE.fullmatch(words[0]):
        raise InputError(f'line {number} of the Tetrad text is not an edge such as "1. a --> b"')
    if words[2] not in ("-->", "<--", "---"):
        raise InputError(f'line {number} of the Tetrad text: edge mark "{words[2]}" is not -->, <-- or ---')
    return _decoded(words[1]), words[2], _decoded(words[3])


def _coded(name: str) -> str:
    return "".join(quote(c, safe="") if c.isspace() or c in ";,%" else c for c in name)


def _decoded(name: str) -> str:
    try:
        return unquote(name.strip(), errors="strict")
    except UnicodeDecodeError:
        return name.strip()
