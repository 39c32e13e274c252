"""The files for other programs keep the caveats of a result."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO

import networkx
import pytest

import dpcausal as dc
from dpcausal.core.statement import Limit, LimitKind
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.present.files import file_texts, graph_json
from dpcausal.present.statement import limit_words

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    return replace(
        found,
        graph=dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "c")]),
        known=Knowledge.of(NAMES, tiers=[["a"], ["b"]]),
        untested=frozenset([frozenset("bc")]),
        conflicts=frozenset(),
        complete=True,
        confidence={frozenset("ab"): 0.5},
    )


def test_json_has_the_caveats_and_is_read_as_the_same_graph(result: DiscoveryResult) -> None:
    files = file_texts(result)
    found = json.loads(files["graph.json"])
    assert dc.Graph.from_json(files["graph.json"]) == result.graph
    assert found["untested"] == [["b", "c"]]
    assert found["unsure_arrows"] == []
    assert "not that there is no dependence" in found["missing_edges"]
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
    privacy = replace(result.privacy, limits=(*result.privacy.limits, Limit(LimitKind.DRAFT_SCHEMA)))
    assert json.loads(graph_json(replace(result, privacy=privacy)))["caveats"] == [
        limit_words(Limit(LimitKind.DRAFT_SCHEMA))
    ]


def test_dot_and_graphml_mark_contradicted_directions(result: DiscoveryResult) -> None:
    files = file_texts(replace(result, conflicts=frozenset([frozenset("bc")])))
    assert [line for line in files["graph.dot"].splitlines() if "?" in line] == [
        '  "b" -> "c" [dir=none, style=dotted, conflict=true, label="?", '
        'tooltip="not fully tested; answers contradict each other about its direction"];'
    ]
    theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
    assert {(a, b): data["conflict"] for a, b, data in theirs.edges(data=True)} == {
        ("a", "b"): False,
        ("b", "c"): True,
        ("c", "b"): True,
    }
    assert dc.Graph.from_graphml(files["graph.graphml"]) == result.graph


def test_dot_and_graphml_mark_what_is_untested(result: DiscoveryResult) -> None:
    files = file_texts(result)
    assert [line for line in files["graph.dot"].splitlines() if "dotted" in line] == [
        '  "b" -> "c" [dir=none, style=dotted, tooltip="not fully tested"];'
    ]
    theirs = networkx.read_graphml(BytesIO(files["graph.graphml"].encode()))
    assert {edge: data["untested"] for *edge, data in theirs.edges(data=True) for edge in [tuple(edge)]} == {
        ("a", "b"): False,
        ("b", "c"): True,
        ("c", "b"): True,
    }
    assert theirs.edges["a", "b"]["confidence"] == 0.5


def test_dot_shows_confidence(result: DiscoveryResult) -> None:
    lines = file_texts(result)["graph.dot"].splitlines()
    assert [line for line in lines if "confidence" in line] == [
        '  "a" -> "b" [confidence=0.5, penwidth=1, label="50%", tooltip="edge found again in 50% of repeats"];'
    ]
    kept = replace(result, known=Knowledge.of(NAMES, required=[("a", "b")]))
    assert "confidence" not in file_texts(kept)["graph.dot"]


def test_an_arrow_about_which_nothing_was_answered_is_kept_as_unsure(result: DiscoveryResult) -> None:
    graph = dc.Graph(NAMES, directed=[("a", "b"), ("b", "c")])
    files = file_texts(replace(result, graph=graph, answered=frozenset()))
    assert dc.Graph.from_json(files["graph.json"]) == graph
    assert json.loads(files["graph.json"])["unsure_arrows"] == [["b", "c"]]
    assert '"b" -> "c" [dir=none, style=dotted' in files["graph.dot"]
