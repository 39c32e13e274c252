"""Graphs with hidden causes in words and pictures: every mark is said, drawn and written."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.cli.app import app
from dpcausal.discovery.search import Conflicts, HiddenCauses
from dpcausal.graphs.pag import PAG, Mark, marks_text
from dpcausal.present import hidden
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.files import file_texts
from dpcausal.present.plots import plot_graph
from dpcausal.present.svg import svg

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
def result() -> dc.DiscoveryResult:
    return found()


def test_every_kind_of_edge_has_words_and_a_sign() -> None:
    kinds = {min(marks_text(a, b), marks_text(b, a)) for a in Mark for b in Mark}
    told = {
        marks
        for graph in [PAG(["a", "b"], [("a", kind, "b")]) for kind in kinds]
        for _, marks, _ in graph.marked_edges()
    }
    assert told == set(hidden.SENTENCES) == set(hidden.REMARKS) == set(hidden.SIGNS)
    assert set(hidden.KEYS) == told - {"-", "-o"}  # those need rows that were selected


def test_a_doctor_reads_that_a_hidden_common_cause_is_possible(result: dc.DiscoveryResult) -> None:
    assert result.graph.marks("x", "y") == "<->"
    text = str(result)
    assert "a o-> x" in text
    assert "a hidden common cause is possible" in text
    assert "a hidden common cause; neither causes the other" in text
    marks = EdgeNotes.of(result)
    assert marks.sentence("x", "y", False).startswith(
        "x and y have a hidden common cause, and neither causes the other"
    )
    assert "if no common cause is hidden" not in marks.sentence("a", "x", False)
    assert any(isinstance(note, HiddenCauses) for note in result.notes)


def test_the_summary_in_full_says_what_the_marks_mean(result: dc.DiscoveryResult) -> None:
    text = result.summary(full=True)
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
    assert hidden.node_words(ONE, "b") == "b: a ∘→ b; b ↔ c; b → e"
    assert hidden.node_words(PAG(["a"]), "a") == "a: no edges"


def test_the_plot_has_a_ring_for_every_circle() -> None:
    axes = plot_graph(ONE)
    rings = [
        line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() == "white"
    ]
    assert len(rings) == sum(mark.count("o") for _, mark, _ in ONE.marked_edges())


def test_the_page_draws_and_explains_it(result: dc.DiscoveryResult, tmp_path: Path) -> None:
    text = Path(result.report(tmp_path / "report.html")).read_text(encoding="utf-8")
    assert 'marker-start="url(#graph-ring)"' in text
    assert "a hidden common cause is possible" in text
    assert "causal sufficiency" not in text
    assert "↔" in text
    assert "hidden common cause" in result._repr_html_()


def test_every_file_keeps_the_marks(result: dc.DiscoveryResult) -> None:
    texts = file_texts(result)
    assert dc.Graph.from_json(texts["graph.json"]) == result.graph
    assert dc.Graph.from_graphml(texts["graph.graphml"]) == result.graph
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
    assert hidden.counted_kinds(graph, [kept[0]]) == ["1 as cause and effect"]
    assert hidden.counted_kinds(graph, kept) == []
    assert set(hidden.HINT_REMARKS) == set(hidden.REMARKS)
    assert set(hidden.HINT_SENTENCES) == set(hidden.SENTENCES)
