"""What the console shows of a result: edges with their confidence, what marks mean, and counts that agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

import dpcausal as dc
from dpcausal.discovery.discover import DRIVERS
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.method_words import METHODS, method_words
from dpcausal.discovery.result import AGAIN, LEGEND, DiscoveryResult
from dpcausal.networks import clinic

NAMES = ["a", "b", "long_name"]


@pytest.fixture(scope="module")
def result() -> DiscoveryResult:
    """A graph made by hand in the shell of a real result."""
    found = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=1.0)
    graph = dc.Graph(NAMES, directed=[("a", "b")], undirected=[("b", "long_name")])
    return replace(found, graph=graph, untested=frozenset(), conflicts=frozenset(), confidence=None)


def test_without_confidence_there_are_edges_and_a_legend(result: DiscoveryResult) -> None:
    assert result.edge_lines() == ["  a -> b", "  b - long_name", LEGEND]
    assert replace(result, graph=dc.Graph(NAMES)).edge_lines() == []


def test_confidence_stands_beside_each_edge_and_is_explained(result: DiscoveryResult) -> None:
    sure = replace(result, confidence={frozenset("ab"): 1.0, frozenset(("b", "long_name")): 0.45})
    wanted = ["  a -> b         100%", "  b - long_name   45%", LEGEND, AGAIN]
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
    assert set(METHODS) == set(DRIVERS)
    for method, words in METHODS.items():
        told = replace(result, method=method, why="as asked").summary().splitlines()[0]
        assert told.endswith(f"(method {method}, as asked: {words})")
    assert method_words("measured", "chosen because x") == "method measured, chosen because x"


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
    assert found.notes[0].startswith(
        f"Measured with Gaussian noise: {rows}tables of 55 sets of columns (10 single, 45 pairs); "
    )
    charged = len(found.privacy.events)
    assert f"Charged {charged} times" in found.summary()
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
        assert ("a direction shown there is unsure" in found.summary()) == bool(arrows)
        seen.add(bool(arrows))
    assert seen == {True, False}
    with dc.testing.seeded(3):
        told = dc.discover(data, epsilon=0.01, method="measured", required=[("smoke", "lung")])
    assert ("smoke", "lung") in told.graph.directed
    assert ("smoke", "lung") not in told.unsure_arrows
