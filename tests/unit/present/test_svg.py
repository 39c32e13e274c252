"""The drawing: every box and edge, told in words when pointed at."""

from __future__ import annotations

import dpcausal as dc
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.svg import svg


def test_drawing_has_every_node_and_edge_in_words() -> None:
    graph = dc.Graph(["a<b", "c", "d"], directed=[("a<b", "c")], undirected=[("c", "d")])
    drawing = svg(graph, EdgeNotes(untested=[frozenset(("c", "d"))]))
    assert "a&lt;b → c in every graph that fits the answers, if no common cause is hidden" in drawing
    assert "direction not decided by the data; not fully tested" in drawing
    assert drawing.count('class="node"') == 3
    assert drawing.count('class="line"') == 2
    assert drawing.count("marker-end") == 1
    assert "found again" not in drawing


def test_hovering_tells_the_confidence_apart_from_the_direction() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    drawing = svg(graph, EdgeNotes(confidence={frozenset(("a", "b")): 0.987}))
    assert (
        "<title>a → b in every graph that fits the answers, if no common cause is hidden; edge found again in 99% of "
        "repeats (says nothing about its direction)</title>"
    ) in drawing
    assert drawing.count("found again") == 2  # the title and the label of one edge, not of the other
    assert "confidence" not in drawing


def test_an_arrow_laid_upward_keeps_its_head() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")])
    drawing = svg(graph)
    assert drawing.count("marker-end") == 2
    assert drawing.count("marker-start") == 1
