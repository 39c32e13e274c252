"""Plots: what is on the axes, not how it looks."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot
from matplotlib.patches import ArrowStyle, FancyArrowPatch, FancyBboxPatch

import dpcausal as dc
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.planning.plan import Plan
from dpcausal.present.figures import svg
from dpcausal.present.plots import plot_budget, plot_graph, plot_power
from dpcausal.present.statement import steps
from dpcausal.present.tables import EdgeNotes


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    return dc.discover(data, epsilon=1.0, delta=1e-6, method="priv-pc", level=0.01)


@pytest.fixture(autouse=True)
def closed() -> object:
    yield
    pyplot.close("all")


def test_a_graph_has_a_box_a_node_and_a_line_an_edge() -> None:
    graph = dc.Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("c", "b")], undirected=[("c", "d")])
    axes = plot_graph(graph)
    assert sum(isinstance(patch, FancyBboxPatch) for patch in axes.patches) == 4
    drawn = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(drawn) == 3
    assert sorted(patch.get_linestyle() == "-" for patch in drawn) == [False, True, True]
    assert {text.get_text() for text in axes.texts} == {"a", "b", "c", "d"}


def test_open_pairs_are_drawn_only_where_asked_for(result: DiscoveryResult) -> None:
    graph = dc.Graph(["a", "b", "c", "d"], directed=[("a", "b")])
    left = replace(result, graph=graph, open=frozenset([frozenset("cd"), frozenset("ac")]), given_up_to={})
    counts = {}
    for shown in (False, True):
        axes = left.plot(open=shown)
        drawn = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
        faint = [patch for patch in drawn if (patch.get_alpha() or 1) < 1]
        assert all(isinstance(patch.get_arrowstyle(), ArrowStyle.Curve) for patch in faint)
        assert all(patch.get_linestyle() != "-" for patch in faint)
        counts[shown] = len(drawn), len(faint)
        assert len(axes.texts) == 4
    assert counts == {False: (1, 0), True: (3, 2)}


def test_an_arrow_ends_at_its_effect_even_in_a_cycle() -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c"), ("c", "a")])
    axes = plot_graph(graph)
    at = {text.get_text(): text.get_position() for text in axes.texts}
    ends = set()
    for patch in axes.patches:
        if isinstance(patch, FancyArrowPatch):
            path = patch._path_original
            nearest = [
                min(at, key=lambda n: abs(at[n][0] - p[0]) + abs(at[n][1] - p[1]))
                for p in path.vertices[[0, -1]]
            ]
            ends.add(tuple(nearest))
    assert ends == set(graph.directed)


def test_lines_beside_the_boxes_are_within_the_axes() -> None:
    names = [f"column{i}" for i in range(8)]
    axes = plot_graph(dc.Graph(names, undirected=[(a, b) for a in names for b in names if a < b]))
    arrows = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == 28
    for arrow in arrows:
        xs = arrow.get_path().vertices[:, 0]
        assert axes.get_xlim()[0] < xs.min() <= xs.max() < axes.get_xlim()[1]
    pyplot.close(axes.figure)


def test_result_and_statement_draw_themselves_on_given_axes(result: DiscoveryResult) -> None:
    _, (left, right) = pyplot.subplots(1, 2)
    assert result.plot(left) is left
    assert result.privacy.plot(right) is right
    assert len(left.texts) == 5
    assert right.get_xlabel() in ("epsilon", "rho")
    picture = BytesIO()
    left.figure.savefig(picture, format="png")
    assert picture.getvalue().startswith(b"\x89PNG")


def test_bars_are_the_costs(result: DiscoveryResult) -> None:
    axes = plot_budget(result.privacy)
    assert [bar.get_width() for bar in axes.patches] == [step.cost for step in steps(result.privacy)]


def test_nothing_charged_is_said() -> None:
    axes = plot_budget(
        dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc").privacy
    )
    assert [text.get_text() for text in axes.texts] == ["nothing was charged"]


@pytest.mark.parametrize("ax", [pyplot, 0, ()])
def test_what_is_no_axes_is_one_line(result: DiscoveryResult, ax: object) -> None:
    yes_no = dc.Categorical(["no", "yes"])
    plan = dc.plan(dc.Schema(a=yes_no, b=yes_no), rows=1000, epsilon=1.0)
    open_before = pyplot.get_fignums()
    for draw in (result.plot, result.plot_budget, result.privacy.plot, plan.plot):
        with pytest.raises(dc.InputError, match="ax must be axes of matplotlib") as caught:
            draw(ax)
        assert "\n" not in str(caught.value)
    assert pyplot.get_fignums() == open_before


@pytest.mark.parametrize("name", ["fig.tiff", "budget", Path("fig.gif")])
def test_a_name_with_another_ending_is_told_which_endings_there_are(
    result: DiscoveryResult, name: str | Path
) -> None:
    open_before = pyplot.get_fignums()
    for draw in (result.plot, result.plot_budget, planned().plot):
        with pytest.raises(dc.InputError) as caught:
            draw(name)
        said = f"can't draw to {name}: the name of a picture ends in .pdf, .png, .svg, .eps, .jpg"
        assert str(caught.value) == said
    assert pyplot.get_fignums() == open_before


@pytest.mark.parametrize("name", ["graph.pdf", "graph.png", "graph.svg"])
def test_a_picture_is_written_where_a_file_is_named(
    result: DiscoveryResult, tmp_path: Path, name: str
) -> None:
    begins = {"graph.pdf": b"%PDF", "graph.png": b"\x89PNG", "graph.svg": b"<?xml"}
    open_before = pyplot.get_fignums()
    axes = result.plot(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins[name])
    assert axes.texts
    result.plot_budget(str(tmp_path / name))
    with pytest.raises(dc.InputError, match="can't write"):
        result.plot(str(tmp_path / "none" / name))
    assert pyplot.get_fignums() == open_before


def test_matplotlib_is_loaded_late() -> None:
    code = "import sys, dpcausal.present.plots, dpcausal.present.display; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def planned() -> Plan:
    yes_no = dc.Categorical(["no", "yes"])
    return dc.plan(dc.Schema(a=yes_no, b=yes_no, c=yes_no, d=yes_no), rows=5000, epsilon=1.0)


def test_a_plan_draws_itself_on_given_axes_or_new_ones() -> None:
    _, ax = pyplot.subplots()
    assert planned().plot(ax) is ax
    labels = [line.get_label() for line in ax.lines]
    assert labels == [line.get_label() for line in planned().plot().lines]
    assert {f"order {order}" for order in planned().testable_orders} <= set(labels)
    pyplot.close("all")


def test_power_rises_from_the_level_or_below_and_passes_the_plans_own_number() -> None:
    plan = planned()
    axes = plot_power(plan)
    curves = [line for line in axes.lines if str(line.get_label()).startswith("order")]
    assert len(curves) == len(plan.testable_orders)
    for line, order in zip(curves, (o for o in plan.orders if o.testable), strict=True):
        w, power = line.get_data()
        assert (
            0 <= power[0] <= plan.aim.level + 0.02
        )  # the search asks for more evidence than a test of that level
        assert all(a <= b + 1e-9 for a, b in pairwise(power))
        beyond = [p for size, p in zip(w, power, strict=True) if size >= order.smallest]
        assert all(p >= plan.aim.power - 0.01 for p in beyond)


def test_a_figure_for_a_paper_goes_without_title_and_boxes_and_shows_labels(
    result: DiscoveryResult, tmp_path: Path
) -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b")])
    label = "systolic blood pressure at the first visit"
    some = replace(result, graph=graph, open=frozenset(), given_up_to={}, labels={"a": label, "c": "age"})
    plain = some.plot()
    assert plain.get_title(loc="left").startswith("Causal graph")
    assert {text.get_text() for text in plain.texts} == {"a", "b", "c"}
    keys = [text.get_text() for text in plain.get_legend().get_texts()]
    assert "no edge of this column was found" in keys  # c, a solid box
    bare = some.plot(title=False, alone=False, labels=True)
    assert not any(bare.get_title(loc=loc) for loc in ("left", "center", "right"))
    assert {text.get_text() for text in bare.texts} == {"systolic blood pressure at\nthe first visit", "b"}
    assert "no edge of this column was found" not in [t.get_text() for t in bare.get_legend().get_texts()]
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None)
    assert exact.plot(title=False).get_title().startswith("NOT PRIVATE: ")
    some.plot(tmp_path / "figure.png", title=False, alone=False)
    assert pyplot.imread(tmp_path / "figure.png").shape[1] >= 1200


def test_the_head_of_a_weak_hint_is_smaller_and_paler(result: DiscoveryResult) -> None:
    graph = dc.Graph(["a", "b", "c"], directed=[("a", "b"), ("b", "c")])
    sure, weak = frozenset("ab"), frozenset("bc")
    some = replace(result, graph=graph, open=frozenset(), given_up_to={}, confidence={sure: 1.0, weak: 0.2})
    heads = [patch for patch in some.plot().patches if isinstance(patch, FancyArrowPatch)]
    sizes = {patch.get_mutation_scale(): patch.get_alpha() or 1.0 for patch in heads}
    assert len(sizes) == 2
    assert sizes[min(sizes)] < sizes[max(sizes)] == 1.0
    drawing = svg(some.shown, EdgeNotes.of(some))
    assert drawing.count("url(#graph-head-weak)") == drawing.count("url(#graph-head)") == 1
