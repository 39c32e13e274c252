"""The drawing: every box and edge, told in words when pointed at."""

from __future__ import annotations

from html import escape

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.present.figures import HEIGHT, open_lines, row, svg
from dpcausal.present.layout import layout
from dpcausal.present.tables import OPEN_MEANS, EdgeNotes, share_words


def test_drawing_has_every_node_and_edge_in_words() -> None:
    graph = dc.Graph(["a<b", "c", "d"], directed=[("a<b", "c")], undirected=[("c", "d")])
    notes = EdgeNotes(given_up_to={frozenset(("c", "d")): 1})
    drawing = svg(graph, notes)
    for sentence in (notes.sentence("a<b", "c", True), notes.sentence("c", "d", False)):
        assert f"<title>{escape(sentence)}</title>" in drawing
    assert drawing.count('class="node"') == 3
    assert drawing.count('class="line"') == 2
    assert drawing.count("marker-end") == 1
    assert "found again" not in drawing


def test_declared_arrows_and_undecided_columns_are_drawn_apart() -> None:
    graph = dc.Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("c", "b")])
    known = Knowledge.of(graph.nodes, tiers=[["a"], ["b", "c"]])
    drawing = svg(graph, EdgeNotes(known=known, undecided=["d"]))
    assert drawing.count("url(#graph-told)") == 1
    assert drawing.count("url(#graph-head)") == 1
    assert drawing.count('class="node undecided" data-name="d"') == 1
    assert "<title>d: nothing could be decided" in drawing


def test_hovering_tells_the_confidence_apart_from_the_direction() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")], undirected=[("b", "c")])
    drawing = svg(graph, EdgeNotes(confidence={frozenset(("a", "b")): 0.987}))
    assert f"{share_words(0.987)}</title>" in drawing
    assert drawing.count("found again") == 2  # the title and the label of one edge, not of the other
    assert "confidence" not in drawing


def test_an_arrow_laid_upward_keeps_its_head() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")])
    drawing = svg(graph)
    assert drawing.count("marker-end") == 2
    assert drawing.count("marker-start") == 1


def test_open_pairs_are_faint_lines_that_move_nothing() -> None:
    """Same boxes and edges as without them; no head, no per cent, and words that claim nothing."""
    graph = dc.Graph(["a", "b", "c", "d<"], directed=[("a", "b")], undirected=[("b", "c")])
    possible = [frozenset(("a", "c")), frozenset(("d<", "a"))]
    bare, shown = svg(graph), svg(graph, possible=possible)
    kept = [line for line in shown.splitlines() if 'class="edge open"' not in line]
    assert kept == bare.replace('<svg id="graph"', '<svg id="graph" class="show-open"').splitlines()
    lines = [line for line in shown.splitlines() if 'class="edge open"' in line]
    assert len(lines) == 2
    for line in lines:
        assert "marker" not in line
        assert "%" not in line
        assert "→" not in line
        assert OPEN_MEANS in line
    assert "a and d&lt;: open" in shown
    hidden = svg(graph, possible=possible, shown=False)
    assert 'class="show-open"' not in hidden
    assert hidden.count('class="edge open"') == 2


def test_open_pairs_within_a_layer_hang_below_the_boxes() -> None:
    names = ["a", "b", "c"]
    width = dict.fromkeys(names, 60.0)
    places = layout(dc.Graph(names), width)
    (line,) = open_lines(places, names, [frozenset(("a", "c"))])
    low = row(places.layer["a"]) + HEIGHT / 2
    assert line.points[0] == (places.x["a"], low)
    assert line.points[-1] == (places.x["c"], low)
    assert all(y > low for _, y in line.points[1:-1])
    assert [x for x, _ in line.points] == sorted(x for x, _ in line.points)
