"""Graphs to and from GraphML.

Written as a directed graph where a plain edge is two arcs, one each way, because many readers (networkx among
them) refuse a file that mixes directed and undirected edges. Every arc says ``kind`` = ``directed`` or
``undirected``; on request also ``untested`` and ``conflict`` (true or false; a conflict is about the direction) and,
where known, ``confidence``. The node id is the name itself. Reading also takes files that do mix, by
``directed="false"`` on the edge or ``edgedefault="undirected"`` on the graph.

Reference: Brandes, Eiglsperger, Lerner, GraphML Primer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from xml.etree import ElementTree

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def to_graphml(
    graph: Graph,
    untested: Collection[frozenset[str]] | None = None,
    confidence: Mapping[frozenset[str], float] | None = None,
    conflicts: Collection[frozenset[str]] | None = None,
) -> str:
    """The GraphML text, with its XML declaration; every arc says whether its edge is in ``untested``, ``conflicts``.

    >>> g = Graph(["lung cancer", "x-ray"], directed=[("lung cancer", "x-ray")])
    >>> from_graphml(to_graphml(g)) == g
    True
    """
    root = ElementTree.Element("graphml", xmlns=_NAMESPACE)
    keys = {"kind": "string"}
    if untested is not None:
        keys["untested"] = "boolean"
    if conflicts is not None:
        keys["conflict"] = "boolean"
    if confidence:
        keys["confidence"] = "double"
    for key, kind in keys.items():
        ElementTree.SubElement(root, "key", {"id": key, "for": "edge", "attr.name": key, "attr.type": kind})
    body = ElementTree.SubElement(root, "graph", edgedefault="directed")
    for name in graph.nodes:
        ElementTree.SubElement(body, "node", id=name)
    for a, b, arrow in graph.edges():
        pair = frozenset((a, b))
        told = {"kind": "directed" if arrow else "undirected"}
        if untested is not None:
            told["untested"] = "true" if pair in untested else "false"
        if conflicts is not None:
            told["conflict"] = "true" if pair in conflicts else "false"
        if confidence and pair in confidence:
            told["confidence"] = repr(float(confidence[pair]))
        for tail, head in [(a, b)] if arrow else [(a, b), (b, a)]:
            edge = ElementTree.SubElement(body, "edge", source=tail, target=head)
            for key, text in told.items():
                ElementTree.SubElement(edge, "data", key=key).text = text
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def from_graphml(text: str | bytes) -> Graph:
    """The first graph of a GraphML text; node ids become names.

    Arcs both ways make a plain edge. ``InputError`` when the text is not XML, has a document type (entities
    are not read), has no graph, or the graph is not one (``Graph`` says why).
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
    for edge in body.iterfind("{*}edge"):
        tail, head = edge.get("source", ""), edge.get("target", "")
        arcs.add((tail, head))
        if edge.get("directed", "true" if by_default == "directed" else "false") == "false":
            arcs.add((head, tail))
    return Graph(
        [node.get("id", "") for node in body.iterfind("{*}node")],
        directed=[(a, b) for a, b in arcs if (b, a) not in arcs or a == b],
        undirected=[(a, b) for a, b in arcs if (b, a) in arcs and a != b],
    )
