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
from dpcausal.present.page import render
from dpcausal.present.plots import plot_graph
from dpcausal.present.tables import EdgeNotes, absent_rows, edge_rows, pair_rows

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
    rows = re.findall(r'<tr data-from="(\w)" data-to="(\w)">.*<summary>([^<]*)</summary>', page)
    return {a + b: remark for a, b, remark in rows}


def test_the_table_says_what_was_declared(result: DiscoveryResult) -> None:
    assert remarks(render(result)) == {
        "ab": "direction as you declared",
        "bc": "direction decided",
        "cd": "edge as you declared; direction not decided",
    }


def test_hovering_says_it_too_and_a_required_edge_has_no_confidence(result: DiscoveryResult) -> None:
    titles = re.findall(r"<title>(.*?)</title>", unescape(render(result)))
    again = "; edge found again in 95% or more of repeats (whichever way it points)"
    assert f"a → b, direction as you declared{again}" in titles
    assert (
        "b → c in every graph that fits the test results and agrees with what you declared, if no common cause is "
        "hidden" in titles
    )
    assert "c and d are linked, edge as you declared; direction not decided by the data" in titles


def test_what_was_declared_stands_near_the_top(result: DiscoveryResult) -> None:
    page = render(result)
    line = '<p id="declared">You declared: in order of time a, then b; required c - d.</p>'
    assert page.index(line) < page.index("<figure>")
    assert "direction as you declared, not from the data" in page
    bare = render(replace(result, known=Knowledge()))
    assert "you declared" not in bare.lower()
    assert remarks(bare)["ab"] == "direction decided"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"required": [("a", "b")]}, "edge as you declared; direction as you declared"),
        ({"forbidden": [("b", "a")]}, "direction as you declared"),
        ({"tiers": [["a"], ["b"]]}, "direction as you declared"),
        ({"tiers": [["a", "b"], ["c"]]}, "direction decided"),
    ],
)
def test_each_way_to_declare_a_direction(known: dict[str, list[object]], said: str) -> None:
    assert EdgeNotes(known=Knowledge.of(NAMES, **known)).remark("a", "b", True) == said  # type: ignore[arg-type]


def test_edges_not_asked_about_in_full_and_contradicted_ones() -> None:
    known = Knowledge.of(NAMES, tiers=[["a"], ["b"]])
    marks = EdgeNotes(given_up_to={AB: 2, CD: 1}, known=known, conflicts=[AB, frozenset("bc")])
    assert (
        marks.remark("a", "b", True)
        == "direction as you declared; only tested with up to 2 columns held fixed"
    )
    assert (
        marks.remark("c", "d", False) == "direction not decided; only tested with up to 1 column held fixed"
    )
    assert marks.sentence("c", "d", False) == (
        "c and d are linked, direction not decided by the data; only tested with up to 1 column held fixed: more could "
        "not be"
    )
    hint = EdgeNotes(confidence={AB: 0.49, CD: 0.5})
    assert hint.remark("a", "b", False) == "direction not decided; a weak hint"
    assert hint.remark("c", "d", False) == "direction not decided"
    again = "; edge found again in less than 50% of repeats (whichever way it points)"
    assert hint.sentence("a", "b", True) == f"a → b, a weak hint{again}"
    assert hint.sentence("a", "b", False).startswith(
        "a and b may be linked, direction not decided by the data"
    )
    tiers = Knowledge.of(NAMES, tiers=[["c"], ["d"]])
    assert "in every graph" not in EdgeNotes({AB: 0.4}, tiers).sentence("a", "b", True)
    partial = EdgeNotes({AB: 0.4}, marks={("a", "b"): "o->"}).sentence("a", "b", True)
    assert "a weak hint" in partial
    assert "in every graph" not in partial
    loose = EdgeNotes(given_up_to={AB: 0}, nothing_held=[AB, CD])
    assert loose.remark("a", "b", True) == "nothing was held fixed"
    assert loose.sentence("c", "d", False) == (
        "c and d are linked, direction not decided by the data; nothing was held fixed, so a third column may "
        "explain it"
    )
    assert marks.remark("b", "c", True) == "direction contradicted"
    assert (
        marks.sentence("b", "c", True)
        == "b and c are linked, test results contradict each other about the direction"
    )


def test_a_discovery_with_tiers_says_so() -> None:
    """At this size Smoker - Cancer is found with probability near 1, and its direction comes from the tiers alone."""
    data = dc.networks.load("cancer").sample(20_000, seed=1)
    found = dc.discover(data, epsilon=None, method="pc", tiers=[["Smoker"], ["Cancer"]])
    assert ("Smoker", "Cancer") in found.graph.directed
    assert "<title>Smoker → Cancer, direction as you declared</title>" in render(found)


def test_a_declared_arrow_without_an_edge_had_no_say(result: DiscoveryResult) -> None:
    page = render(replace(result, known=Knowledge.of(NAMES, tiers=[["a"], ["d"]])))
    assert "You declared: in order of time a, then d." in page
    assert set(remarks(page).values()) == {
        "direction decided",
        "direction not decided",
    }
    assert "agrees with what you declared" not in page


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
    assert told == set(tables.MARK_SENTENCES) == set(tables.MARK_REMARKS) == set(tables.SIGNS)
    assert set(tables.MARK_KEYS) == told - {"-", "-o"}  # those need rows that were selected


def test_a_doctor_reads_that_a_hidden_common_cause_is_possible(hidden: dc.DiscoveryResult) -> None:
    assert hidden.graph.marks("x", "y") == "<->"
    text = str(hidden)
    assert "a o-> x" in text
    assert "a hidden common cause is possible" in text
    assert "a hidden common cause; neither causes the other" in text
    marks = EdgeNotes.of(hidden)
    assert marks.sentence("x", "y", False).startswith(
        "x and y have a hidden common cause, and neither causes the other"
    )
    assert "if no common cause is hidden" not in marks.sentence("a", "x", False)
    assert any(isinstance(note, HiddenCauses) for note in hidden.notes)


def test_the_summary_in_full_says_what_the_marks_mean(hidden: dc.DiscoveryResult) -> None:
    text = hidden.summary(full=True)
    assert "<->: a hidden common cause; neither causes the other." in text
    assert "Common causes may be hidden" in text


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
    assert tables.marked_node_words(ONE, "b") == "b: a ∘→ b; b ↔ c; b → e"
    assert tables.marked_node_words(PAG(["a"]), "a") == "a: no edges"


def test_the_plot_has_a_ring_for_every_circle() -> None:
    axes = plot_graph(ONE)
    rings = [
        line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"
    ]
    assert len(rings) == sum(mark.count("o") for _, mark, _ in ONE.marked_edges())


def test_the_page_draws_and_explains_it(hidden: dc.DiscoveryResult, tmp_path: Path) -> None:
    text = Path(hidden.report(tmp_path / "report.html")).read_text(encoding="utf-8")
    assert 'marker-start="url(#graph-ring)"' in text
    assert "a hidden common cause is possible" in text
    assert "causal sufficiency" not in text
    assert "↔" in text
    assert "hidden common cause" in hidden._repr_html_()


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
    assert "contradict" in marks.sentence("a", "b", False)
    assert "contradict" in marks.remark("a", "b", False)
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
    for part, firm in ((0.9, True), (0.2, False)):
        marks = EdgeNotes(
            confidence=dict.fromkeys(kept, part), marks={(a, b): m for a, m, b in graph.marked_edges()}
        )
        said = " ".join(
            words
            for a, b in (("a", "b"), ("b", "c"))
            for words in (marks.sentence(a, b, True), marks.short(a, b, True))
        )
        assert ("neither causes the other" in said) == firm
        assert ("b is a cause of c" in said) == firm
        assert ("perhaps a hidden common cause; a weak hint" in said) != firm
        assert ("b may be a cause of c, a weak hint" in said) != firm
    assert tables.counted_kinds(graph, [kept[0]]) == ["1 as cause and effect"]
    assert tables.counted_kinds(graph, kept) == []
    assert set(tables.HINT_REMARKS) == set(tables.MARK_REMARKS)
    assert set(tables.HINT_SENTENCES) == set(tables.MARK_SENTENCES)


def test_terminal_report_and_file_show_the_same_rows(result: DiscoveryResult) -> None:
    rows = edge_rows(result)
    assert [row.edge for row in rows] == result.edges()
    said = result.edge_lines()
    assert [row.edge for row, line in zip(rows, said, strict=False) if row.edge in line] == result.edges()
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
