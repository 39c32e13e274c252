"""The layered layout: arrows point down, boxes don't touch, and no line passes through a box."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

import dpcausal as dc
from dpcausal.present.figures import HEIGHT, MARGIN, Line, box_width, lines, row, svg
from dpcausal.present.layout import Layout, chains, crossings, downward, layers, layout, ordered_rows


def random_graph(seed: int, *, cyclic: bool = False) -> dc.Graph:
    """Up to 14 nodes with arrows, plain edges, lone nodes and (if asked) cycles."""
    rng = random.Random(seed)
    names = [f"n{i}" * rng.randint(1, 6) for i in range(rng.randint(2, 14))]
    share = rng.choice([0.1, 0.25, 0.5])
    arrows, plain = [], []
    for a, b in combinations(names, 2):
        if rng.random() < share:
            (plain if rng.random() < 0.3 else arrows).append(
                (b, a) if cyclic and rng.random() < 0.5 else (a, b)
            )
    rng.shuffle(names)
    return dc.Graph(names, directed=arrows, undirected=plain)


def placed(graph: dc.Graph) -> tuple[Layout, dict[str, float], list[Line]]:
    width = {name: box_width(name) for name in graph.nodes}
    found = layout(graph, width)
    return found, width, lines(found, width)


def curve(line: Line, steps: int = 12) -> list[tuple[float, float]]:
    """Points along the drawn line."""
    points = []
    for i, ((ax, ay), (bx, by)) in enumerate(zip(line.points, line.points[1:], strict=False)):
        half = (ay + by) / 2
        for k in range(steps + 1):
            t = k / steps
            if i % 2:
                points.append((ax + t * (bx - ax), ay + t * (by - ay)))
            else:
                w = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                points.append(
                    (ax * (w[0] + w[1]) + bx * (w[2] + w[3]), ay * w[0] + half * (w[1] + w[2]) + by * w[3])
                )
    return points


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_no_line_passes_through_a_box_and_no_boxes_touch(seed: int, cyclic: bool) -> None:
    graph = random_graph(seed, cyclic=cyclic)
    found, width, drawn = placed(graph)
    assert len(drawn) == len(graph.skeleton)
    for a, b in combinations(graph.nodes, 2):
        if found.layer[a] == found.layer[b]:
            assert abs(found.x[a] - found.x[b]) > (width[a] + width[b]) / 2
    for line in drawn:
        for x, y in curve(line):
            for name in graph.nodes:
                inside = (
                    abs(x - found.x[name]) < width[name] / 2 and abs(y - row(found.layer[name])) < HEIGHT / 2
                )
                assert not inside, (line.upper, line.lower, name)


@pytest.mark.parametrize("seed", range(20))
def test_arrows_point_down_where_there_is_no_cycle(seed: int) -> None:
    graph = random_graph(seed)
    depth = layers(graph)
    assert all(depth[a] < depth[b] for a, b in graph.directed)
    assert {frozenset(edge) for edge in downward(graph)} == set(graph.skeleton)
    assert min(depth.values()) == 0


@pytest.mark.parametrize("seed", range(20))
def test_tiers_stand_in_the_order_of_time(seed: int) -> None:
    """Every second column has a tier; names of random graphs are in an order that arrows respect."""
    graph = random_graph(seed)
    order = graph.topological_order()
    tier = {name: i // 3 for i, name in enumerate(order) if i % 2 and graph.adjacent(name)}
    depth = layers(graph, tier)
    assert all(depth[a] < depth[b] for a in tier for b in tier if tier[a] < tier[b])
    assert all(depth[a] < depth[b] for a, b in graph.directed)
    assert all(depth[a] != depth[b] for a, b in graph.undirected)


@pytest.mark.parametrize("names", [["a", "free", "b"], ["b", "free", "a"]])
def test_arrows_that_lead_back_in_time_by_a_free_column_are_drawn_all_the_same(names: list[str]) -> None:
    graph = dc.Graph(names, directed=[("b", "free"), ("free", "a")])
    found = layout(graph, dict.fromkeys(names, 60.0), {"a": 0, "b": 1})
    assert {frozenset(edge) for edge in found.ways} == graph.skeleton
    assert all(found.layer[upper] < found.layer[lower] for upper, lower in found.ways)


def test_the_order_takes_crossings_away() -> None:
    """Four parents in reversed order above four children: 6 crossings become none."""
    edges = [(f"p{i}", f"c{3 - i}") for i in range(4)]
    nodes = [*(f"p{i}" for i in range(4)), *(f"c{i}" for i in range(4))]
    depth = {node: int(node[0] == "c") for node in nodes}
    down = {a: [b] for a, b in edges}
    assert crossings([nodes[:4], nodes[4:]], down) == 6
    assert crossings(ordered_rows(nodes, depth, chains(edges, depth)), down) == 0


def test_lone_nodes_stand_below_in_short_rows() -> None:
    graph = dc.Graph(["a", "b", *(f"lone{i}" for i in range(15))], directed=[("a", "b")])
    depth = layers(graph)
    assert sorted(depth[f"lone{i}"] for i in range(15)) == [2] * 6 + [3] * 6 + [4] * 3
    arrows = [
        ("age", "flc"),
        ("age", "creatinine"),
        ("age", "death"),
        ("sex", "creatinine"),
        ("creatinine", "flc"),
    ]
    cohort = dc.Graph(
        ["age", "sex", "flc", "creatinine", "mgus", "death"],
        directed=[*arrows, ("creatinine", "death")],
        undirected=[("age", "sex")],
    )
    x = placed(cohort)[0].x  # and below the others, not far to their left
    assert (
        min(x[name] for name in x if name != "mgus")
        <= x["mgus"]
        <= max(x[name] for name in x if name != "mgus")
    )


def test_a_long_line_runs_beside_the_box_between() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("a", "c")])
    found, width, _ = placed(graph)
    ((x, layer),) = found.ways["a", "c"]
    assert layer == 1
    assert abs(x - found.x["b"]) > width["b"] / 2


def test_a_straight_line_would_pass_through_the_box_between() -> None:
    """The check of points inside boxes has teeth: without way points the same line fails it."""
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("a", "c")])
    found, width, drawn = placed(graph)
    (line,) = [line for line in drawn if (line.upper, line.lower) == ("a", "c")]
    straight = Line("a", "c", ((found.x["b"], line.points[0][1]), (found.x["b"], line.points[-1][1])))
    hit = [
        abs(x - found.x["b"]) < width["b"] / 2 and abs(y - row(1)) < HEIGHT / 2 for x, y in curve(straight)
    ]
    assert any(hit)
    assert not any(
        abs(x - found.x["b"]) < width["b"] / 2 and abs(y - row(1)) < HEIGHT / 2 for x, y in curve(line)
    )


def test_the_same_graph_is_drawn_the_same_way() -> None:
    graph = random_graph(7)
    again = dc.Graph(graph.nodes, directed=graph.directed, undirected=graph.undirected)
    assert placed(graph)[2] == placed(again)[2]


def outside(graph: dc.Graph) -> float:
    """How far a box or a line reaches beyond the picture's frame less half its margin; at most 0 where none does."""
    drawing = svg(graph)
    left, top, wide, high = map(float, re.findall(r'<svg [^>]*viewBox="([^"]+)"', drawing)[0].split())
    found, width, drawn = placed(graph)
    points = [(x + MARGIN, y + MARGIN) for line in drawn for x, y in curve(line)]
    for name in graph.nodes:
        x, y = found.x[name] + MARGIN, row(found.layer[name]) + MARGIN
        points += [(x - width[name] / 2, y - HEIGHT / 2), (x + width[name] / 2, y + HEIGHT / 2)]
    room = MARGIN / 2
    return max(
        max(left + room - x, x - left - wide + room, top + room - y, y - top - high + room) for x, y in points
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_frame_holds_every_box_and_line(seed: int) -> None:
    assert outside(random_graph(seed, cyclic=seed % 2 == 0)) <= 0


@pytest.mark.parametrize("many", [3, 8, 14])
def test_the_frame_holds_the_lines_of_a_graph_of_all_pairs(many: int) -> None:
    """Lines run beside the boxes there: with 8 columns far to the right of the last box."""
    names = [f"column{i}" for i in range(many)]
    for kind in ("directed", "undirected"):
        graph = dc.Graph(names, **{kind: list(combinations(names, 2))})
        assert outside(graph) <= 0
    found, width, drawn = placed(graph)
    boxes = max(found.x[name] + width[name] / 2 for name in names)
    beyond = max(x for line in drawn for x, _ in line.points) > boxes + MARGIN
    assert beyond == (many >= 8)  # the check has teeth


def test_an_empty_graph_has_a_frame() -> None:
    assert 'viewBox="0 0 48 48"' in svg(dc.Graph([]))
