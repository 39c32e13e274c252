"""Graphs as Graphviz text. Written only: Graphviz text is for drawing, JSON and GraphML are for keeping."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpcausal.graphs.graph import Graph


def to_dot(
    graph: Graph,
    untested: Collection[frozenset[str]] = (),
    conflicts: Collection[frozenset[str]] = (),
    confidence: Mapping[frozenset[str], float] | None = None,
) -> str:
    r"""A ``digraph`` with every name quoted; a plain edge is an arc without a head, one in ``untested`` is dotted.

    One in ``conflicts`` has a question mark: answers contradict each other about its direction. One in ``confidence``
    has its per cent beside it, and is thinner where that is below 80.

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
        label = []
        if confidence and frozenset((a, b)) in confidence:
            part = confidence[frozenset((a, b))]
            marks += [
                f"confidence={part:.4g}",
                f"penwidth={2 if part >= 0.8 else 1 if part >= 0.5 else 0.5:g}",
            ]
            label.append(f"{part:.0%}")
            told.append(f"edge found again in {part:.0%} of repeats")
        if frozenset((a, b)) in conflicts:
            marks.append("conflict=true")
            label.append("?")
            told.append("answers contradict each other about its direction")
        marks += [f'label="{" ".join(label)}"'] if label else []
        marks += [f'tooltip="{"; ".join(told)}"'] if told else []
        lines.append(f"  {_quoted(a)} -> {_quoted(b)}{_listed(marks)};")
    return "\n".join(["digraph {", *lines, "}"]) + "\n"


def _listed(marks: list[str]) -> str:
    return f" [{', '.join(marks)}]" if marks else ""


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
