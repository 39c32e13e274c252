"""Graphs as Graphviz text. Written only: Graphviz text is for drawing, JSON and GraphML are for keeping."""

from __future__ import annotations

from collections.abc import Collection

from dpcausal.graphs.graph import Graph


def to_dot(
    graph: Graph,
    untested: Collection[frozenset[str]] = (),
    conflicts: Collection[frozenset[str]] = (),
) -> str:
    r"""A ``digraph`` with every name quoted; a plain edge is an arc without a head, one in ``untested`` is dotted.

    One in ``conflicts`` has a question mark: answers contradict each other about its direction.

    Inside the quotes a quote and a backslash get a backslash before them, so any name is safe. Two names stay
    two nodes.

    >>> print(to_dot(Graph(["a", 'say "b"'], undirected=[("a", 'say "b"')])), end="")
    digraph {
      "a";
      "say \"b\"";
      "a" -> "say \"b\"" [dir=none];
    }
    """
    lines = [f"  {_quoted(name)};" for name in graph.nodes]
    for a, b, arrow in graph.edges():
        marks, told = [] if arrow else ["dir=none"], []
        if frozenset((a, b)) in untested:
            marks.append("style=dotted")
            told.append("not fully tested")
        if frozenset((a, b)) in conflicts:
            marks += ['label="?"', "conflict=true"]
            told.append("answers contradict each other about its direction")
        marks += [f'tooltip="{"; ".join(told)}"'] if told else []
        lines.append(f"  {_quoted(a)} -> {_quoted(b)}{_listed(marks)};")
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _listed(marks: list[str]) -> str:
    return f" [{', '.join(marks)}]" if marks else ""


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
