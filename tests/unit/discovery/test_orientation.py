"""Graphs that no DAG stands for: found, said, and settled where the method is ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.result import replaced as replace
from dpcausal.discovery.result_of_search import (
    _conflict_note,
    _marked_by_chance,
    _orient_by_chance,
    _orient_cpdag,
)
from dpcausal.discovery.search import Conflicts, SearchOutcome, SharedMissing, Skeleton, complete_skeleton
from dpcausal.graphs import Graph, extend
from dpcausal.graphs.equivalence import consistent
from dpcausal.graphs.pag import PAG
from dpcausal.present.notes import note_words

pytestmark = pytest.mark.usefixtures("few_repeats")


def odd() -> Graph:
    """Arrows into both ends of a plain edge: either direction makes a new collider."""
    return Graph(["a", "b", "c", "d"], directed=[("a", "b"), ("d", "c")], undirected=[("b", "c")])


def test_a_contradiction_is_found_and_only_settled_if_asked_for() -> None:
    graph, where = consistent(odd(), [], settle=False)
    assert graph == odd()
    assert where
    assert frozenset("bc") in where
    settled, same = consistent(odd(), [], settle=True)
    assert same == where
    assert settled.skeleton == odd().skeleton
    extend(settled)  # does not raise: a class that has members
    notes = [_conflict_note(where, Knowledge(), "abcd", settled, latent=False) for settled in (True, False)]
    assert notes[0] is not None
    assert notes[1] is not None
    assert "contradict" in note_words(notes[0])
    assert ["no graph fits" in note_words(note) for note in notes if note is not None] == [False, True]
    assert _conflict_note(frozenset(), Knowledge(), "abcd", settled=True, latent=False) is None
    declared = Knowledge.of(list("abcd"), required=[("b", "c")])
    against = _conflict_note([frozenset("bc"), frozenset("cd")], declared, "abcd", settled=True, latent=False)
    assert against is not None
    assert (against.pairs, against.declared) == ((("c", "d"),), (("b", "c"),))
    assert all(pair in note_words(against) for pair in ("c - d", "b - c"))


def test_an_open_pair_makes_no_collider_and_no_contradiction() -> None:
    """A driver that calls a pair open: the edge goes, and no arrow rests on the pair being absent."""
    columns = ("a", "b", "c", "d")
    skeleton = Skeleton(columns, {"a": {"c", "b"}, "b": {"c", "a"}, "c": {"a", "b", "d"}, "d": {"c"}})
    skeleton.separating = {frozenset("ad"): ("c",), frozenset("bd"): ("c",)}
    ab = frozenset("ab")
    found = SearchOutcome(skeleton, (), open=frozenset([ab]))
    graph, conflicts = _orient_cpdag(found, Knowledge(), frozenset([ab]), settle=True)
    assert graph == Graph(columns, undirected=[("a", "c"), ("b", "c"), ("c", "d")])
    assert not conflicts
    skeleton.adjacent["a"].discard("b")
    skeleton.adjacent["b"].discard("a")
    skeleton.separating[ab] = ()
    assert _orient_cpdag(found, Knowledge(), frozenset([ab]), settle=True)[0] == graph
    absent, _ = _orient_cpdag(found, Knowledge(), frozenset(), settle=True)
    assert absent.directed == {("a", "c"), ("b", "c"), ("c", "d")}


def test_what_was_left_out_beforehand_is_no_evidence_on_directions() -> None:
    """a - c is forbidden and never asked about: that a -> b is known does not say that b -> c."""
    columns = ("a", "b", "c")
    known = Knowledge.of(columns, forbidden=[{"a", "c"}], tiers=[["a"], ["b"]])
    found, asked = complete_skeleton(columns, known), frozenset()
    graph, conflicts = _orient_cpdag(SearchOutcome(found, ()), known, asked, settle=True)
    assert graph == Graph(columns, directed=[("a", "b")], undirected=[("b", "c")])
    assert not conflicts


def test_required_arrows_stay() -> None:
    square = Graph(
        ["a", "b", "c", "d"], directed=[("d", "a")], undirected=[("a", "b"), ("b", "c"), ("c", "d")]
    )
    settled, where = consistent(square, [("d", "a")], settle=True)
    assert where
    assert ("d", "a") in settled.directed
    extend(settled)


@pytest.mark.thin(4)
@pytest.mark.parametrize("seeds", [range(4), range(12)], ids=["few", "all"])
def test_methods_of_papers_say_where_answers_contradict(seeds: range) -> None:
    """4 or 12 runs on sachs with 3,000 rows: where there is no contradiction the graph has members."""
    network = dc.networks.load("sachs")
    for seed in seeds:
        data = network.sample(3_000, seed=seed)
        with dc.testing.seeded(seed):
            result = dc.discover(data, epsilon=3.0, delta=1e-6, method="priv-pc")
        assert any(isinstance(note, Conflicts) for note in result.notes) == bool(result.conflicts)
        assert len(result.to_dict()["conflicts"]) == len(result.conflicts)
        if not result.conflicts:
            extend(result.graph, result.open)


@pytest.mark.parametrize("level", [0.6, 0.8, 1.0])
def test_arrows_are_those_that_are_likely_enough(level: float) -> None:
    """Every edge has two chances that sum to at most 1; an arrow is drawn from the level on, and none on a cycle."""
    data = dc.networks.load("sachs").sample(10_000, seed=1)
    with dc.testing.seeded(1):
        result = dc.discover(data, epsilon=3.0, delta=1e-6, direction_level=level, confidence=0)
    edges = result.graph.skeleton
    assert {frozenset(arrow) for arrow in result.direction} == edges
    assert all(result.direction[a, b] + result.direction[b, a] <= 1.0 + 1e-9 for a, b in result.direction)
    assert result.graph.directed <= {arrow for arrow, chance in result.direction.items() if chance >= level}
    assert result.graph.is_dag or result.graph.topological_order()
    assert not result.conflicts
    assert (level == 1.0) or result.graph.directed


def test_a_circle_of_likely_arrows_loses_the_least_likely() -> None:
    columns = ("a", "b", "c")
    found = complete_skeleton(columns, Knowledge())
    chances = {("a", "b"): 0.9, ("b", "c"): 0.85, ("c", "a"): 0.95}
    graph = _orient_by_chance(SearchOutcome(found, (), direction=chances), Knowledge(), frozenset(), 0.8)
    assert graph == Graph(columns, [("a", "b"), ("c", "a")], [("b", "c")])


def test_a_declared_direction_needs_no_chance() -> None:
    columns = ("a", "b")
    known = Knowledge.of(columns, tiers=[["b"], ["a"]])
    outcome = SearchOutcome(
        complete_skeleton(columns, known), (), direction={("a", "b"): 0.0, ("b", "a"): 0.5}
    )
    assert _orient_by_chance(outcome, known, frozenset(), 0.8) == Graph(columns, [("b", "a")])


def marked(level: float, **heads: tuple[float, float]) -> PAG:
    """The graph of edges named by their columns, with the chances of a head at the first and at the second."""
    columns = tuple(sorted({name for pair in heads for name in pair}))
    chances = {}
    for (a, b), (at_a, at_b) in heads.items():
        chances[b, a], chances[a, b] = at_a, at_b
    none = Skeleton(columns, {name: set() for name in columns})
    return _marked_by_chance(SearchOutcome(none, (), latent=True, marks=chances), frozenset(), level)


def test_marks_are_those_that_are_likely_enough() -> None:
    found = marked(0.8, ab=(0.1, 0.95), bc=(0.79, 0.99), cd=(0.5, 0.81), de=(0.79, 0.79))
    assert found == PAG(
        list("abcde"), [("a", "->", "b"), ("b", "o->", "c"), ("c", "o->", "d"), ("d", "o-o", "e")]
    )


def test_two_heads_need_a_chance_of_their_own() -> None:
    """An edge has a head at one end at least, so that both have what is left: .85 + .9 - 1."""
    assert marked(0.8, ab=(0.85, 0.9)) == PAG(["a", "b"], [("a", "o->", "b")])
    assert marked(0.8, ab=(0.89, 0.9)) == PAG(["a", "b"], [("a", "o->", "b")])
    assert marked(0.75, ab=(0.85, 0.9)) == PAG(["a", "b"], [("a", "<->", "b")])
    assert marked(0.8, ab=(0.9, 0.91)) == PAG(["a", "b"], [("a", "<->", "b")])


def test_of_a_cycle_of_likely_arrows_the_least_likely_has_no_tail() -> None:
    around = {"ab": (0.1, 1.0), "bc": (0.1, 1.0), "cd": (0.1, 1.0), "de": (0.15, 1.0), "ea": (0.1, 1.0)}
    assert marked(0.8, **around).partly_directed == {("d", "e")}


def test_a_report_is_a_page(tmp_path: Path) -> None:
    result = dc.discover(dc.networks.load("asia").sample(500, seed=1), epsilon=None, method="pc")
    with pytest.raises(dc.InputError, match=r"ends in .html, not \".pdf\".*result.plot\(\"fig.pdf\"\)"):
        result.report(tmp_path / "fig.pdf")
    assert not (tmp_path / "fig.pdf").exists()


def test_edges_between_columns_with_levels_for_missing_values_are_named() -> None:
    """By the schema alone, and only where an edge was found."""
    rng = np.random.default_rng(1)
    gone = rng.random(2_000) < 0.3
    rows = {
        name: np.where(gone, word, rng.choice(["no", "yes"], 2_000))
        for name, word in (("a", "missing"), ("b", "refused"), ("c", "maybe"))
    }
    levels = {"a": ["no", "yes", "missing"], "b": ["no", "yes", "refused"], "c": ["no", "yes", "maybe"]}
    data = dc.read(rows, dc.Schema({name: dc.Categorical(known) for name, known in levels.items()}))
    result = dc.discover(data, epsilon=None, method="pc", max_order=0)
    (note,) = [note for note in result.notes if isinstance(note, SharedMissing)]
    assert note.pairs == (("a", "b"),)
    assert "values are missing in the same rows: a - b" in note_words(note)
    assert note_words(note) in result.summary(full=True)
    apart = dc.discover(data, epsilon=None, method="pc", forbidden=[{"a", "b"}])
    assert not any(isinstance(note, SharedMissing) for note in apart.notes)


def test_what_is_no_edge_has_no_direction_to_doubt() -> None:
    """A graph of other columns in the shell of a result, as callers make it with ``replace``, is shown as it is."""
    data = dc.networks.load("asia").sample(500, seed=1)
    result = dc.discover(data, epsilon=None, method="pc")
    torn = replace(result, conflicts=result.graph.skeleton)
    assert torn.contradicted == result.graph.skeleton != frozenset()
    other = replace(torn, graph=dc.Graph(["a", "b"], directed=[("a", "b")]))
    assert other.contradicted == frozenset()
    assert other.shown.directed == {("a", "b")}
