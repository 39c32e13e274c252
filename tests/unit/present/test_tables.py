"""What is said of edges and pairs, the same wherever it is shown; and of graphs with hidden causes."""

from __future__ import annotations

import csv
import re
from html import unescape
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.cli.app import app
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.search import Conflicts, HiddenCauses
from dpcausal.graphs.pag import PAG, Mark, marks_text
from dpcausal.present import tables
from dpcausal.present.figures import svg
from dpcausal.present.files import file_texts
from dpcausal.present.graph_words import arrows_mean, declared_words
from dpcausal.present.page import render
from dpcausal.present.plots import plot_graph
from dpcausal.present.tables import MARKS, EdgeFact, EdgeNotes, absent_rows, edge_rows, pair_rows

NAMES = ["a", "b", "c", "d"]
AB, CD = frozenset("ab"), frozenset("cd")


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result: a -> b by tiers, b -> c by the data, c - d required."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    return replace(
        found,
        graph=dc.Graph(NAMES, directed=[("a", "b"), ("b", "c")], undirected=[("c", "d")]),
        known=Knowledge.of(NAMES, required=[{"c", "d"}], tiers=[["a"], ["b"]]),
        open=frozenset(),
        given_up_to={},
        conflicts=frozenset(),
        confidence={AB: 1.0, CD: 1.0},
        repeats=None,
        held=None,
    )


def remarks(page: str) -> dict[str, str]:
    """The remark in every row of the table of edges, by its names."""
    rows = re.findall(
        r'<tr data-from="(\w)" data-to="(\w)">.*<td>(?:<details class="evidence"><summary>)?([^<]+)<', page
    )
    return {a + b: remark for a, b, remark in rows}


def facts(result: DiscoveryResult) -> dict[str, set[EdgeFact]]:
    """What must be known of each edge, by its names."""
    return {row.a + row.b: {*row.facts} for row in edge_rows(result)}


def test_the_table_has_what_was_declared(result: DiscoveryResult) -> None:
    assert facts(result) == {
        "ab": {EdgeFact.DIRECTION_DECLARED},
        "bc": set(),
        "cd": {EdgeFact.EDGE_DECLARED, EdgeFact.UNDECIDED},
    }
    notes = EdgeNotes.of(result)
    assert remarks(render(result)) == {
        row.a + row.b: notes.remark(row.a, row.b, row.arrow) for row in edge_rows(result)
    }


def test_hovering_shows_the_same_remark_and_a_required_edge_has_no_confidence(
    result: DiscoveryResult,
) -> None:
    titles = re.findall(r"<title>(.*?)</title>", unescape(render(result)))
    notes = EdgeNotes.of(result)
    assert {*notes.confidence} == {AB}
    for row in edge_rows(result):
        sentence = notes.sentence(row.a, row.b, row.arrow)
        assert sentence in titles
        assert notes.remark(row.a, row.b, row.arrow) in sentence
        assert ("found again" in sentence) == (frozenset((row.a, row.b)) == AB)


def test_what_was_declared_is_near_the_top(result: DiscoveryResult) -> None:
    page = render(result)
    line = declared_words(result.known)
    assert "a, then b; required c - d" in line
    assert page.index(f'<li id="declared">{line}</li>') < page.index('class="fold"')
    bare = replace(result, known=Knowledge())
    assert 'id="declared"' not in render(bare)
    assert facts(bare)["ab"] == set()


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"required": [("a", "b")]}, {EdgeFact.EDGE_DECLARED, EdgeFact.DIRECTION_DECLARED}),
        ({"forbidden": [("b", "a")]}, {EdgeFact.DIRECTION_DECLARED}),
        ({"tiers": [["a"], ["b"]]}, {EdgeFact.DIRECTION_DECLARED}),
        ({"tiers": [["a", "b"], ["c"]]}, set()),
    ],
)
def test_each_way_to_declare_a_direction(known: dict[str, list[object]], expected: set[EdgeFact]) -> None:
    assert {*EdgeNotes(known=Knowledge.of(NAMES, **known)).facts("a", "b", True)} == expected  # type: ignore[arg-type]


def test_edges_not_asked_about_in_full_and_contradicted_ones() -> None:
    known = Knowledge.of(NAMES, tiers=[["a"], ["b"]])
    marks = EdgeNotes(given_up_to={AB: 2, CD: 1}, known=known, conflicts=[AB, frozenset("bc")])
    assert {*marks.facts("a", "b", True)} == {EdgeFact.DIRECTION_DECLARED, EdgeFact.TESTED_UP_TO}
    assert {*marks.facts("c", "d", False)} == {EdgeFact.UNDECIDED, EdgeFact.TESTED_UP_TO}
    assert "up to 2 columns" in marks.sentence("a", "b", True)
    assert "up to 1 column " in marks.sentence("c", "d", False)
    assert {*marks.facts("b", "c", True)} == {EdgeFact.CONTRADICTED}
    assert marks.sentence("b", "c", True).startswith("b — c: ")  # no direction is shown
    hint = EdgeNotes(confidence={AB: 0.49, CD: 0.5})
    assert {*hint.facts("a", "b", False)} == {EdgeFact.UNDECIDED, EdgeFact.HINT}
    assert {*hint.facts("c", "d", False)} == {EdgeFact.UNDECIDED}
    assert {*hint.facts("a", "b", True)} == {EdgeFact.HINT}  # an arrow on a hint is not called decided
    partial = EdgeNotes({AB: 0.4}, marks={("a", "b"): "o->"})
    assert {*partial.facts("a", "b", True)} == {EdgeFact.HINT}
    loose = EdgeNotes(given_up_to={AB: 0}, nothing_held=[AB, CD])
    assert {*loose.facts("a", "b", True)} == {EdgeFact.NOTHING_HELD}
    assert {*loose.facts("c", "d", False)} == {EdgeFact.UNDECIDED, EdgeFact.NOTHING_HELD}


def test_a_discovery_with_tiers_marks_the_declared_direction() -> None:
    """At this size Smoker - Cancer is found with probability near 1, and its direction comes from the tiers alone."""
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    found = dc.discover(data, epsilon=None, method="pc", tiers=[["Smoker"], ["Cancer"]])
    assert ("Smoker", "Cancer") in found.graph.directed
    (row,) = (row for row in edge_rows(found) if (row.a, row.b) == ("Smoker", "Cancer"))
    assert {*row.facts} == {EdgeFact.DIRECTION_DECLARED}


def test_a_declared_arrow_without_an_edge_had_no_say(result: DiscoveryResult) -> None:
    other = replace(result, known=Knowledge.of(NAMES, tiers=[["a"], ["d"]]))
    assert declared_words(other.known) in render(other)
    assert facts(other) == {"ab": set(), "bc": set(), "cd": {EdgeFact.UNDECIDED}}
    assert "declared" not in arrows_mean(other).lower()
    assert "declared" in arrows_mean(result).lower()


ONE = PAG(
    list("abcde"),
    [("a", "o->", "b"), ("b", "<->", "c"), ("c", "o-o", "d"), ("b", "->", "e")],
)


def found() -> dc.DiscoveryResult:
    """A result with ``x <-> y`` and two edges ``o->``, from made-up rows."""
    draw = np.random.default_rng(1)
    a, b, h = draw.integers(0, 2, (3, 8_000))
    yes = {"a": a, "x": a | h, "y": b | h, "b": b}
    levels = dc.Categorical(["no", "yes"])
    rows = {name: [levels.levels[i] for i in code] for name, code in yes.items()}
    data = dc.read(rows, dc.Schema(dict.fromkeys("axyb", levels)))
    return dc.discover(data, epsilon=None, method="pc", latent=True, level=0.01)


@pytest.fixture(scope="module")
def hidden() -> dc.DiscoveryResult:
    return found()


def test_every_kind_of_edge_has_words_and_a_sign() -> None:
    kinds = {min(marks_text(a, b), marks_text(b, a)) for a in Mark for b in Mark}
    told = {
        marks
        for graph in [PAG(["a", "b"], [("a", kind, "b")]) for kind in kinds]
        for _, marks, _ in graph.marked_edges()
    }
    assert told == set(MARKS)
    assert set(tables.SELECTED) == {"-", "-o"}  # those need rows that were selected


def test_a_doctor_reads_that_a_hidden_common_cause_is_possible(hidden: dc.DiscoveryResult) -> None:
    assert hidden.graph.marks("x", "y") == "<->"
    text, full = str(hidden), hidden.summary(full=True)
    assert "a o-> x" in text
    for marks in ("o->", "<->"):
        assert all(part in text and part in full for part in MARKS[marks][1].split("; "))
    assert MARKS["<->"][1] in EdgeNotes.of(hidden).sentence("x", "y", False)
    assert any(isinstance(note, HiddenCauses) for note in hidden.notes)


def test_the_drawing_has_a_circle_or_a_head_at_each_end() -> None:
    drawn = ElementTree.fromstring(svg(ONE).replace("&nbsp;", " "))
    ends = {}
    for group in drawn.iter():
        if "edge" in group.get("class", "").split():
            line = next(path for path in group if path.get("class") == "line")
            pair = (group.get("data-upper"), group.get("data-lower"))
            ends[pair] = (line.get("marker-start"), line.get("marker-end"))
    assert len(ends) == 4
    shapes = {Mark.ARROW: "url(#graph-head)", Mark.CIRCLE: "url(#graph-ring)", Mark.TAIL: None}
    for (upper, lower), (start, end) in ends.items():
        assert upper is not None
        assert lower is not None
        assert (start, end) == (shapes[ONE.mark(lower, upper)], shapes[ONE.mark(upper, lower)])


def test_nodes_say_their_edges() -> None:
    assert tables.node_words(ONE, "b") == "b: a ∘→ b; b ↔ c; b → e"
    assert tables.node_words(PAG(["a"]), "a") == "a: no edges"
    assert tables.node_words(dc.Graph(["a", "b"], directed=[("a", "b")]), "b") == "b: a → b"


def test_the_plot_has_a_ring_for_every_circle() -> None:
    axes = plot_graph(ONE)
    rings = [
        line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"
    ]
    assert len(rings) == sum(mark.count("o") for _, mark, _ in ONE.marked_edges())


def test_the_page_draws_and_explains_it(hidden: dc.DiscoveryResult, tmp_path: Path) -> None:
    text = Path(hidden.report(tmp_path / "report.html")).read_text(encoding="utf-8")
    assert 'marker-start="url(#graph-ring)"' in text
    assert MARKS["o->"][1] in text
    assert "causal sufficiency" not in text
    assert "↔" in text
    assert MARKS["<->"][1] in hidden._repr_html_()


def test_every_file_keeps_the_marks(hidden: dc.DiscoveryResult) -> None:
    texts = file_texts(hidden)
    assert dc.Graph.from_json(texts["graph.json"]) == hidden.graph
    assert dc.Graph.from_graphml(texts["graph.graphml"]) == hidden.graph
    assert "arrowtail=odot" in texts["graph.dot"]
    assert texts["graph.dagitty"].startswith("pag {")
    assert '"a" @-> "x"' in texts["graph.dagitty"]


def test_contradictions_leave_circles_in_words() -> None:
    note = Conflicts(pairs=(("a", "b"),), declared=(), settled=False, circles=True)
    marks = EdgeNotes(conflicts=[frozenset("ab")], marks={("a", "b"): "o-o"})
    assert {*marks.facts("a", "b", False)} == {EdgeFact.CONTRADICTED}
    assert note.circles


def command(folder: Path, *more: str) -> Result:
    """Run ``discover`` on a small file."""
    draw = np.random.default_rng(2)
    rows = draw.integers(0, 2, (400, 3))
    (folder / "d.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    levels = dc.Categorical(["0", "1"])
    (folder / "s.toml").write_text(dc.Schema(a=levels, b=levels, c=levels).to_toml())
    words = [
        "discover",
        str(folder / "d.csv"),
        "--schema",
        str(folder / "s.toml"),
        "--out",
        str(folder / "out"),
    ]
    return CliRunner().invoke(app, [*words, *more])


def test_the_command_takes_latent_and_writes_every_file(tmp_path: Path) -> None:
    ran = command(tmp_path, "--epsilon", "1", "--delta", "1e-6", "--latent", "--anyway")
    assert ran.exit_code == 0, ran.output
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"graph.dagitty", "arcs.csv", "registry.yaml", "graph.svg", "report.html", "privacy.json"} <= names
    assert (tmp_path / "out" / "graph.dagitty").read_text().startswith("pag {")
    assert (tmp_path / "out" / "arcs.csv").read_text().startswith("from,to,marks")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "--latent" in page
    assert "latent=True" in page


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (("--method", "svt-pc"), "latent goes with measured, moments and pc"),
        (("--target", "a"), "leave latent or target out"),
    ],
)
def test_what_does_not_go_with_latent_is_one_line(tmp_path: Path, more: tuple[str, ...], line: str) -> None:
    ran = command(tmp_path, "--epsilon", "1", "--latent", "--anyway", *more)
    assert ran.exit_code != 0
    assert line in f"{ran.output}{ran.exception}"
    assert not (tmp_path / "out").exists()


def test_a_weak_hint_is_not_said_to_have_a_hidden_cause() -> None:
    graph = PAG(["a", "b", "c"], [("a", "<->", "b"), ("b", "->", "c")])
    kept = frozenset("ab"), frozenset("bc")
    for part, expected in ((0.9, EdgeFact.MARKED), (0.2, EdgeFact.HINT)):
        marks = EdgeNotes(
            confidence=dict.fromkeys(kept, part), marks={(a, b): m for a, m, b in graph.marked_edges()}
        )
        assert {*marks.facts("a", "b", True)} == {*marks.facts("b", "c", True)} == {expected}
        assert (MARKS["<->"][1] in marks.sentence("a", "b", True)) == (expected is EdgeFact.MARKED)
    (only,) = tables.counted_kinds(graph, [kept[0]])
    assert only.startswith("1 → (")
    assert tables.counted_kinds(graph, kept) == []


def test_terminal_report_and_file_show_the_same_rows(result: DiscoveryResult) -> None:
    rows = edge_rows(result)
    assert [row.edge for row in rows] == result.edges()
    said = result.edge_lines()
    assert [row.edge for row, line in zip(rows, said[1:], strict=False) if row.edge in line] == result.edges()
    written = {
        frozenset((row["a"], row["b"])): row
        for row in csv.DictReader(StringIO(file_texts(result)["pairs.csv"]))
    }
    assert len(written) == len(pair_rows(result)) == len(result.states)
    for row in pair_rows(result):
        cells = written[frozenset((row.a, row.b))]
        assert (cells["state"], cells["marks"], cells["note"]) == (row.state, row.marks, row.note)
    assert set(remarks(render(result))) == {row.a + row.b for row in rows}


def test_a_pair_declared_to_have_no_edge_is_told_apart(result: DiscoveryResult) -> None:
    pair = frozenset("ad")
    apart = replace(result, known=Knowledge.of(NAMES, forbidden=[pair]))
    (row,) = (row for row in pair_rows(apart) if {row.a, row.b} == pair)
    assert (row.state, row.declared, row.held_fixed, row.least) == ("absent", True, None, None)
    assert row in absent_rows(apart)
    assert pair in apart.absent
    assert pair in apart.declared_absent
    assert pair not in apart.not_shown
