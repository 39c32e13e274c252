"""Graphs as JSON.

    {"format": "dpcausal-graph", "version": 1, "nodes": ["a", "b", "c"],
     "directed": [["a", "b"]], "undirected": [["b", "c"]]}

Lists come in the order of the nodes, so equal graphs with equal node order give equal text. Reading refuses
anything else with one ``InputError``; unknown extra keys are ignored, so later versions may add some, and a discovery
adds what must be known of its edges (``discovery/result_files.py``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpcausal.core.errors import InputError
from dpcausal.graphs.graph import Graph

FORMAT = "dpcausal-graph"
VERSION = 1


def to_json(graph: Graph, more: Mapping[str, Any] | None = None) -> str:
    """One JSON object on one line, in plain ASCII; ``more`` are further keys, after the graph's own.

    >>> to_json(Graph(["a", "b", "c"], directed=[("b", "a")], undirected=[("b", "c")]))[43:]
    '"nodes": ["a", "b", "c"], "directed": [["b", "a"]], "undirected": [["b", "c"]]}'
    """
    edges = list(graph.edges())
    own = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": list(graph.nodes),
        "directed": [[a, b] for a, b, arrow in edges if arrow],
        "undirected": [[a, b] for a, b, arrow in edges if not arrow],
    }
    return json.dumps({**own, **(more or {}), **own}, allow_nan=False)


def from_json(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> Graph:
    """The graph in a JSON text, an already parsed object, or the file at a ``Path``.

    ``format`` and ``version`` may be left out by hand-written files; ``nodes`` may not.

    >>> from_json('{"nodes": ["a", "b"], "directed": [["a", "b"]]}')
    Graph(a -> b)
    """
    found = _parse(source)
    if not isinstance(found, Mapping):
        raise InputError("a graph in JSON must be an object with nodes, directed and undirected")
    if found.get("format", FORMAT) != FORMAT or found.get("version", VERSION) != VERSION:
        raise InputError(
            f'not a graph this version reads: need "format": "{FORMAT}" and "version": {VERSION}'
        )
    if "nodes" not in found:
        raise InputError('a graph in JSON needs "nodes"')
    for key in ("nodes", "directed", "undirected"):
        if not isinstance(found.get(key, []), list):
            raise InputError(f'"{key}" of a graph in JSON must be a list')
    return Graph(found["nodes"], found.get("directed", []), found.get("undirected", []))


def _parse(source: str | bytes | Mapping[str, Any] | os.PathLike[str]) -> Any:
    if isinstance(source, Mapping):
        return source
    try:
        text = Path(source).read_bytes() if isinstance(source, os.PathLike) else source
        return json.loads(text)
    except OSError as error:
        raise InputError(f"can't read the graph: {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from None
