"""What the console shows of a result: edges with their confidence, what marks mean, and counts that agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import dpcausal as dc
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.discovery.search import MethodReason, MethodReasonKind
from dpcausal.networks import clinic
from dpcausal.present.discovery import (
    PLAIN,
    again_words,
    legend,
    method_words,
    missing_words,
    note_words,
    tiers_words,
)

NAMES = ["a", "b", "long_name"]
LEGEND = (
    "->: the same direction in every graph that fits the answers; a wrong answer can turn it round. "
    "-: direction not decided by the data."
)


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    graph = dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "long_name")])
    return replace(found, graph=graph, untested=frozenset(), conflicts=frozenset(), confidence=None)


AB, BL = frozenset("ab"), frozenset(("b", "long_name"))


def test_without_confidence_there_are_edges_and_a_legend(result: DiscoveryResult) -> None:
    assert result.edge_lines() == ["  a -> b", "  b - long_name", LEGEND]
    none = ["  a (no edge)", "  b (no edge)", "  long_name (no edge)"]
    assert replace(result, graph=dc.Graph(NAMES)).edge_lines() == none
    plain = replace(result, graph=dc.Graph(NAMES, undirected=[("b", "long_name")]))
    assert plain.edge_lines() == [
        "  b - long_name",
        "  a (no edge)",
        PLAIN,
    ]  # no word of arrows that are not there


def test_confidence_stands_beside_each_edge_and_is_explained(result: DiscoveryResult) -> None:
    sure = replace(result, confidence={frozenset("ab"): 1.0, frozenset(("b", "long_name")): 0.45})
    wanted = ["  a -> b         100%", "  b - long_name   45%", LEGEND, again_words(sure)]
    assert sure.edge_lines() == wanted
    assert "\n".join(wanted) in sure.summary()
    assert sure.to_dict()["confidence"][0] == {"pair": ["a", "b"], "found_again": 1.0}


def test_a_required_edge_has_no_confidence(result: DiscoveryResult) -> None:
    known = Knowledge.of(NAMES, required=[("a", "b")])
    sure = replace(
        result, confidence={frozenset("ab"): 1.0, frozenset(("b", "long_name")): 0.45}, known=known
    )
    assert sure.edge_lines()[:2] == ["  a -> b", "  b - long_name   45%"]
    assert replace(sure, confidence={frozenset("ab"): 1.0}).edge_lines()[:1] == ["  a -> b"]


def test_every_method_is_explained(result: DiscoveryResult) -> None:
    asked = MethodReason(MethodReasonKind.AS_ASKED)
    for name, method in METHODS.items():
        told = replace(result, method=name, reason=asked).summary().splitlines()[0]
        assert told.endswith(f"(method {name}, as asked: {method.description})")
    assert method_words("measured", "chosen because x").startswith(
        "method measured, chosen because x: tables"
    )


def test_printing_shows_edges_one_per_line(result: DiscoveryResult) -> None:
    assert str(result) == result.summary()
    assert str(dc.Graph([*NAMES, "d"], directed=[("a", "b")], undirected=[("b", "long_name")])) == (
        "a -> b\nb - long_name\nd (no edge)"
    )


@pytest.mark.parametrize(
    ("relation", "rows"), [("replace-one", ""), ("add-remove", "the number of rows and ")]
)
def test_measured_tables_are_counted_once(relation: str, rows: str) -> None:
    """Ten columns and 45 pairs are always measured; the number of rows is no table of columns."""
    data = clinic.sample(200, seed=1)
    found = dc.discover(data, epsilon=1.0, delta=1e-6, method="measured", max_order=1, neighbours=relation)
    measured = note_words(found.notes[0])
    assert measured.startswith(
        f"Measured with Gaussian noise: {rows}tables of 55 sets of columns (10 single, 45 pairs); "
    )
    charged = len(found.privacy.events)
    assert f"Cost: {charged} noisy steps, together not more than this epsilon and delta. " in found.summary()
    held = "200 rows" if not rows else ""
    assert ("; it holds " in measured) == bool(held)  # the number of rows is public only there
    assert charged == len(found.privacy.released) == (2 if relation == "replace-one" else 3)


def test_a_direction_on_an_edge_that_was_not_tested_is_called_unsure() -> None:
    data = dc.networks.load("asia").sample(2000, seed=3)
    seen = set()
    for seed, epsilon in ((1, 0.2), (2, 0.2), (3, 0.01)):
        with dc.testing.seeded(seed):
            found = dc.discover(data, epsilon=epsilon, method="measured")
        assert found.untested
        arrows = {arrow for arrow in found.graph.directed if frozenset(arrow) in found.untested}
        assert found.unsure_arrows == arrows
        shown = arrows & found.drawn.directed
        assert not {frozenset(arrow) for arrow in shown} & found.unknown_directions
        assert ("a direction shown there is unsure" in found.summary()) == bool(shown)
        assert json.loads(found.to_json())["unsure_arrows"] == sorted(map(list, arrows))
        seen.add(bool(arrows))
    assert seen == {True, False}
    with dc.testing.seeded(3):
        told = dc.discover(data, epsilon=0.01, method="measured", required=[("smoke", "lung")])
    assert ("smoke", "lung") in told.graph.directed
    assert ("smoke", "lung") not in told.unsure_arrows


def test_an_edge_about_which_nothing_was_answered_has_no_arrow(result: DiscoveryResult) -> None:
    names = list("abcd")
    graph = dc.Graph(names, directed=[("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")])
    left = {"untested": frozenset([AB, frozenset("bc")]), "answered": frozenset([AB])}
    some = replace(result, graph=graph, **left)
    assert some.edge_lines()[:4] == ["  a -> b", "  a -> c", "  a -> d", "  b - c   direction not known"]
    assert some.unsure_arrows == {("a", "b"), ("b", "c")}
    assert some.graph == graph  # which keeps what the algorithm gave
    told = replace(some, known=Knowledge.of(names, tiers=[["b"], ["c"]]))
    assert ("b", "c") in told.drawn.directed  # declared: known whatever was tested


def test_where_nothing_was_decided_no_arrow_is_shown(result: DiscoveryResult) -> None:
    graph = dc.Graph(NAMES, directed=[("a", "b"), ("b", "long_name"), ("a", "long_name")])
    nothing = replace(result, graph=graph, untested=graph.skeleton, answered=graph.skeleton)
    assert "->" not in "\n".join(nothing.edge_lines())
    assert nothing.summary().count("direction not known") == 4
    assert "same direction" not in nothing.summary()


def test_a_search_tells_which_edges_were_answered() -> None:
    """Noise of scale 10^5: a dependence is found by chance in 5% of questions; of the rest none is answered."""
    data = dc.networks.load("asia").sample(2000, seed=3)
    with dc.testing.seeded(3):
        found = dc.discover(data, epsilon=0.0001, method="measured")
    assert len(found.answered) < 15
    assert not found.drawn.directed
    exact = dc.discover(data, epsilon=None, method="pc")
    assert exact.answered == exact.graph.skeleton


def test_a_missing_edge_is_no_independence(result: DiscoveryResult) -> None:
    assert "no evidence for it was found at this budget, not that there is no dependence" in result.summary()
    assert "A single test (dpcausal test)" in missing_words(result)
    full = replace(
        result, graph=dc.Graph(NAMES, undirected=[("a", "b"), ("b", "long_name"), ("a", "long_name")])
    )
    assert missing_words(full) == ""
    forbidden = Knowledge.of(NAMES, forbidden=[{"a", "long_name"}])
    assert missing_words(replace(result, known=forbidden)) == ""  # the other two are there
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "with this many rows" in missing_words(exact)
    assert "dpcausal test" not in exact.summary()


def test_arrows_without_an_order_of_time_are_told_to_be_unsure(result: DiscoveryResult) -> None:
    assert tiers_words(result) in result.summary()
    assert tiers_words(result).startswith("No order of time was declared: arrows rest on noisy answers alone")
    for quiet in (
        replace(result, graph=dc.Graph(NAMES, undirected=[("a", "b")])),
        replace(result, known=Knowledge.of(NAMES, tiers=[["a"], ["b"]])),
        replace(result, known=Knowledge.of(NAMES, required=[("a", "b")])),
    ):
        assert tiers_words(quiet) == ""


def test_the_legend_claims_no_more_than_the_method_does(result: DiscoveryResult) -> None:
    odd = replace(result, conflicts=frozenset([AB]))
    assert "nearest to the answers" in legend(replace(odd, settled=True))[0]
    (told,) = legend(replace(odd, settled=False))
    assert "no graph has all these directions" in told
    assert "same direction" not in told


def test_repeats_are_counted_and_a_weak_edge_called_a_hint(result: DiscoveryResult) -> None:
    sure = replace(result, confidence={AB: 1.0, BL: 0.45}, repeats=20)
    assert "in how many of 20 repeats" in sure.summary()
    assert "Below about 50%: treat the edge as a hint." in sure.summary()
    assert sure.to_dict()["confidence_repeats"] == 20
    found = dc.discover(
        dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0, method="measured", confidence=3
    )
    assert found.repeats == 3


def test_pairs_stand_in_the_order_of_columns(result: DiscoveryResult) -> None:
    names = ["z", "b", "a"]
    graph = dc.Graph(names, undirected=[("b", "z"), ("a", "z")])
    open_edge = replace(result, graph=graph, untested=frozenset([frozenset("za")]))
    assert "  z - a" in open_edge.summary()
    assert "Not fully tested, kept: z - a" in open_edge.summary()


def test_what_is_given_out_is_told_apart_from_what_was_computed(result: DiscoveryResult) -> None:
    said = result.summary()
    assert "Computed from the rows, with noise, and covered by the promise: " in said
    assert said.splitlines()[-1].startswith("Given out: the graph and these words")
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    assert "Given out" not in exact.summary()
