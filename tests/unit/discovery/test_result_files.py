"""The files for other programs keep the caveats of a result."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO

import networkx
import pytest

import dpcausal as dc
from dpcausal.core.statement import UncheckedDraft
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.result import replaced as replace
from dpcausal.graphs.pag import PAG
from dpcausal.present.files import file_texts, graph_json, without_hints
from dpcausal.present.statement import fact_words
from dpcausal.present.tables import edge_rows

NAMES = ["a", "b", "c"]


def note_of(result: DiscoveryResult, edge: str) -> str:
    """The remark on an edge, as every text has it."""
    return next(row.note for row in edge_rows(result) if row.edge == edge)


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    return replace(
        found,
        graph=dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "c")]),
        known=Knowledge.of(NAMES, tiers=[["a"], ["b"]]),
        open=frozenset([frozenset("ac")]),
        given_up_to={frozenset("bc"): 1},
        conflicts=frozenset(),
        complete=True,
        confidence={frozenset("ab"): 0.5},
        repeats=None,
    )


def test_json_has_the_caveats_and_is_read_as_the_same_graph(result: DiscoveryResult) -> None:
    files = file_texts(result)
    found = json.loads(files["graph.json"])
    assert dc.Graph.from_json(files["graph.json"]) == result.graph
    assert found["open"] == [["a", "c"]]
    assert found["given_up_to"] == [{"pair": ["b", "c"], "columns": 1}]
    assert found["unsure_arrows"] == []
    assert found["missing_edges"] == ""  # the one pair without an edge is open
    assert found["facts"]["pairs"] == {"found": 2, "hints": 0, "absent": 0, "open": 1}
    assert found["confidence_repeats"] is None
    assert found["confidence"] == [{"pair": ["a", "b"], "found_again": 0.5}]
    assert found["declared"] == {"tiers": [["a"], ["b"]]}
    assert (found["complete"], found["conflicts"]) == (True, [])
    assert json.loads(files[found["privacy"]])["epsilon"] == 1.0


def test_keys_without_something_to_say_are_left_out(result: DiscoveryResult) -> None:
    found = json.loads(graph_json(replace(result, confidence=None)))
    assert "confidence" not in found
    assert "privacy" not in found


def test_caveats_of_the_release_stand_beside_the_graph(result: DiscoveryResult) -> None:
    assert "caveats" not in json.loads(graph_json(result))
    privacy = replace(result.privacy, limits=(*result.privacy.limits, UncheckedDraft()))
    assert json.loads(graph_json(replace(result, privacy=privacy)))["caveats"] == [
        fact_words(UncheckedDraft())
    ]


def test_contradicted_arrows_leave_without_a_direction(result: DiscoveryResult) -> None:
    torn = dc.Graph(NAMES, directed=[("a", "b"), ("c", "b")])
    odd = replace(
        result,
        graph=torn,
        conflicts=frozenset(torn.skeleton),
        open=frozenset(),
        given_up_to={},
        confidence=None,
    )
    plain = dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "c")])  # a -> b was declared by tiers
    assert (odd.shown, odd.contradicted) == (plain, {frozenset("bc")})
    files = file_texts(odd)
    assert '"b" -- "c"' in files["graph.dagitty"]
    assert files["arcs.csv"] == "from,to\na,b\nb,c\nc,b\n"
    assert dc.Graph.from_graphml(files["graph.graphml"]) == plain
    assert '"b" -> "c" [dir=none, conflict=true' in files["graph.dot"]
    assert (
        files["graph.svg"].count("marker-end") + files["graph.svg"].count("marker-start") == 2
    )  # a -> b, its key
    assert "plain conflict" in files["graph.svg"]
    assert odd.edges() == ["a -> b", "b - c"]
    found = json.loads(files["graph.json"])
    assert dc.Graph.from_json(found) == torn  # the nearest graph, with what is contradicted beside it
    assert found["conflicts"] == odd.to_dict()["conflicts"] == [["b", "c"]]
    heads = [patch for patch in odd.plot().patches if "->" in str(getattr(patch, "get_arrowstyle", str)())]
    assert len(heads) <= 1


def test_every_pair_is_in_one_table_and_hints_are_named_for_r(result: DiscoveryResult) -> None:
    known = Knowledge.of(NAMES, tiers=[["a"], ["b", "c"]])
    graph = dc.Graph(NAMES, directed=[("a", "b"), ("c", "b")])
    found = replace(
        result,
        graph=graph,
        known=known,
        open=frozenset([frozenset("ac")]),
        given_up_to={frozenset("bc"): 1},
        conflicts=frozenset(),
        confidence={frozenset("ab"): 0.9, frozenset("bc"): 0.2},
    )
    files = file_texts(found)
    rows = list(csv.DictReader(StringIO(files["pairs.csv"])))
    states = {(row["a"], row["b"]): (row["state"], row["direction"], row["found_again"]) for row in rows}
    assert states == {
        ("a", "b"): ("found", "declared", "0.90"),
        ("a", "c"): ("open", "", ""),
        ("c", "b"): ("hint", "data", "0.20"),
    }
    assert files["arcs.csv"] == "from,to\na,b\n"  # bnlearn's form has no room to say what a hint is
    assert (
        'remark="left out: weak hints (found again in less than half of the repeats): b - c"'
        in files["graph.dagitty"]
    )
    firm = dc.Graph(NAMES, directed=[("a", "b")])
    assert dc.Graph.from_dagitty(files["graph.dagitty"]) == firm
    assert dc.Graph.from_graphml(files["graph.graphml"]) == firm
    assert '"c" -> "b"' not in files["graph.dot"]
    assert dc.Graph.from_json(files["graph.json"]) == graph
    told = json.loads(files["graph.json"])
    assert told["hints"] == [["b", "c"]]
    assert [told["facts"]["pairs"][kind] for kind in ("found", "hints")] == [len(firm.skeleton), 1]
    assert told["found"] == {"directed": [["a", "b"]], "undirected": []}
    mixed = PAG(NAMES, [("a", "o->", "b"), ("c", "<->", "b")])
    assert list(without_hints(replace(found, graph=mixed)).marked_edges()) == [("a", "o->", "b")]
    (arrow,) = [line for line in files["graph.dot"].splitlines() if "arrowhead=empty" in line]
    assert '"a" -> "b"' in arrow
    theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
    assert {(a, b): data["declared"] for a, b, data in theirs.edges(data=True)} == {
        ("a", "b"): True,
    }


def test_dot_and_graphml_mark_contradicted_directions(result: DiscoveryResult) -> None:
    torn = replace(result, conflicts=frozenset([frozenset("bc")]))
    files = file_texts(torn)
    assert [line for line in files["graph.dot"].splitlines() if "?" in line] == [
        f'  "b" -> "c" [dir=none, given_up_to=1, conflict=true, label="?", tooltip="{note_of(torn, "b - c")}"];'
    ]
    theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
    assert {(a, b): data["conflict"] for a, b, data in theirs.edges(data=True)} == {
        ("a", "b"): False,
        ("b", "c"): True,
        ("c", "b"): True,
    }
    assert dc.Graph.from_graphml(files["graph.graphml"]) == result.graph


def test_dot_and_graphml_say_up_to_how_many_columns_were_asked_about(result: DiscoveryResult) -> None:
    files = file_texts(result)
    assert [line for line in files["graph.dot"].splitlines() if "given" in line] == [
        f'  "b" -> "c" [dir=none, given_up_to=1, tooltip="{note_of(result, "b - c")}"];'
    ]
    theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
    assert {(a, b): data.get("given_up_to") for a, b, data in theirs.edges(data=True)} == {
        ("a", "b"): None,
        ("b", "c"): 1,
        ("c", "b"): 1,
    }
    assert theirs.edges["a", "b"]["confidence"] == 0.5


def test_open_pairs_are_drawn_only_where_asked_for_and_never_read_as_edges(result: DiscoveryResult) -> None:
    hidden, shown = file_texts(result), file_texts(result, open=True)
    assert hidden["graph.json"] == shown["graph.json"]
    added = set(shown["graph.dot"].splitlines()) - set(hidden["graph.dot"].splitlines())
    assert added == {
        '  "a" -> "c" [dir=none, style=dashed, color=gray70, penwidth=0.7, constraint=false, state=open, '
        'tooltip="a and c: open, could not be decided; there may be an edge or not"];'
    }
    arcs = {}
    for name, files in (("hidden", hidden), ("shown", shown)):
        theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
        arcs[name] = {(a, b): data for a, b, data in theirs.edges(data=True)}
        assert dc.Graph.from_graphml(files["graph.graphml"]) == result.graph
        assert dc.Graph.from_networkx(theirs) == result.graph
    assert {arc: data for arc, data in arcs["shown"].items() if arc not in arcs["hidden"]} == {
        ("a", "c"): {"kind": "open"},
        ("c", "a"): {"kind": "open"},
    }


def test_dot_shows_confidence(result: DiscoveryResult) -> None:
    lines = file_texts(result)["graph.dot"].splitlines()
    assert [line for line in lines if "confidence" in line] == [
        '  "a" -> "b" [confidence=0.5, penwidth=1, arrowhead=empty, label="perhaps", '
        f'tooltip="{note_of(result, "a -> b")}; edge found again: perhaps"];'
    ]
    kept = replace(result, known=Knowledge.of(NAMES, required=[("a", "b")]))
    assert "confidence" not in file_texts(kept)["graph.dot"]


def test_an_arrow_on_an_edge_that_was_not_asked_about_in_full_is_kept_as_unsure(
    result: DiscoveryResult,
) -> None:
    graph = dc.Graph(NAMES, directed=[("a", "b"), ("b", "c")])
    files = file_texts(replace(result, graph=graph))
    assert dc.Graph.from_json(files["graph.json"]) == graph
    assert json.loads(files["graph.json"])["unsure_arrows"] == [["b", "c"]]
    assert '"b" -> "c" [given_up_to=1' in files["graph.dot"]
