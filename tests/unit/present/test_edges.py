"""What is said of edges when directions were declared beforehand: never that the data found them."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.present.edges import EdgeNotes
from dpcausal.present.page import render

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
