"""Edges that the bins of a number explain are open, and others that they may have made are named, one by one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.measured import forward
from dpcausal.discovery.measured.forward import Rules, coarse_columns, explained_by_bins, held_coarsely
from dpcausal.discovery.result import OpenBecause, OpenWhy
from dpcausal.discovery.search import CoarseEdges
from dpcausal.present.graph_words import why_open_words
from dpcausal.present.notes import note_words
from dpcausal.present.tables import WHY_OPEN, EdgeFact, EdgeNotes

FEW = Rules(1.0, 5.0)
STRENGTH = np.array([[0.0, 9.0, 8.0], [9.0, 0.0, 1.0], [8.0, 1.0, 0.0]])
ALL = [{1, 2}, {0, 2}, {0, 1}]


def confounded(cuts: list[float], rows: int = 20_000, link: float = 0.0) -> dc.Dataset:
    """x <- z -> y, where z is a number with these cuts; ``link`` is how much y depends on x."""
    rng = np.random.default_rng(17)
    z = rng.uniform(0.0, 1.0, rows)
    x = rng.uniform(0.0, 1.0, rows) < 0.1 + 0.8 * z
    y = rng.uniform(0.0, 1.0, rows) < 0.1 + (0.8 - link) * z + link * x
    number = dc.Numeric(0.0, 1.0, cuts)
    schema = dc.Schema({"x": dc.Categorical([0, 1]), "y": dc.Categorical([0, 1]), "z": number})
    codes = {"x": x.astype(np.uint8), "y": y.astype(np.uint8), "z": np.digitize(z, cuts).astype(np.uint8)}
    return dc.Dataset(schema, rows, codes)


def found(data: dc.Dataset, **options: object) -> dc.DiscoveryResult:
    with dc.testing.seeded(1):
        return dc.discover(data, epsilon=3.0, delta=1e-6, method="measured", confidence=0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{}, {"target": "x"}, {"latent": True}])
@pytest.mark.parametrize("cuts", [[0.5], [0.3, 0.7]])
def test_an_edge_that_bins_explain_is_open(cuts: list[float], options: dict[str, object]) -> None:
    result = found(confounded(cuts), **options)
    pair = frozenset("xy")
    assert pair not in result.graph.skeleton
    assert pair in result.open
    assert pair not in result.absent
    (note,) = [
        note for note in result.notes if isinstance(note, CoarseEdges) and note.what == "explained-by-bins"
    ]
    assert [(a, b, list(by)) for a, b, by in note.edges] == [("x", "y", ["z"])]
    assert "x - y (z)" in note_words(note)
    assert result.why_open(pair) == OpenWhy((OpenBecause.BINS_LEAVE,), ("z",))
    assert WHY_OPEN[OpenBecause.BINS_LEAVE] in why_open_words(result)
    assert not any(isinstance(note, CoarseEdges) and note.what == "held-coarsely" for note in result.notes)


def test_the_edge_is_there_without_that_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above sees what it is there for."""
    monkeypatch.setattr("dpcausal.discovery.measured.method.explained_by_bins", lambda near, *_: (near, {}))
    assert frozenset("xy") in found(confounded([0.3, 0.7])).graph.skeleton


@pytest.mark.parametrize("options", [{}, {"target": "x"}, {"latent": True}])
def test_an_edge_that_bins_do_not_explain_is_found_and_said_to_be_in_doubt(
    options: dict[str, object],
) -> None:
    result = found(confounded([0.5], link=0.2), **options)
    assert frozenset("xy") in result.graph.skeleton
    (note,) = [
        note for note in result.notes if isinstance(note, CoarseEdges) and note.what == "held-coarsely"
    ]
    assert [(a, b, list(by)) for a, b, by in note.edges] == [("x", "y", ["z"])]
    notes = EdgeNotes.of(result)
    words = notes.facts("x", "y", False)[EdgeFact.HELD_COARSELY]
    assert " z," in words
    assert words in notes.sentence("x", "y", False)
    assert EdgeFact.HELD_COARSELY not in notes.facts("x", "z", False)
    assert "x - y (z)" in note_words(note)


def test_with_fine_bins_there_is_no_edge_and_nothing_to_say() -> None:
    result = found(confounded(np.linspace(0, 1, 13)[1:-1].tolist()))
    assert frozenset("xy") not in result.graph.skeleton
    assert not any(isinstance(note, CoarseEdges) and note.what == "held-coarsely" for note in result.notes)


def test_an_edge_that_is_not_the_weakest_of_its_triangle_is_not_doubted() -> None:
    assert held_coarsely(ALL, STRENGTH, {0, 1, 2}, FEW) == {(1, 2): (0,)}


class Told:
    """Says of every set that holds column 0 that it explains the edge, with this evidence."""

    def __init__(self, evidence: float, would_show: float) -> None:
        self.evidence, self.would_show = evidence, would_show

    def __call__(self, contrasts: object, cut: set[int], effect: float) -> Told:
        self.cut, self.effect = cut, effect
        return self

    def ask(self, x: int, y: int, given: tuple[int, ...]) -> Told | None:
        assert 0 in given
        return self if given == (0,) else None


@pytest.mark.parametrize(
    ("evidence", "would_show", "explained"), [(0.9, 5.0, True), (1.1, 5.0, False), (0.9, 0.9, False)]
)
def test_an_edge_goes_where_little_is_left_and_a_dependence_would_have_shown(
    monkeypatch: pytest.MonkeyPatch, evidence: float, would_show: float, explained: bool
) -> None:
    monkeypatch.setattr(forward, "Uncut", told := Told(evidence, would_show))
    contrasts = SimpleNamespace(strength=STRENGTH)
    near, gone = explained_by_bins(ALL, contrasts, {0}, FEW)  # type: ignore[arg-type]
    assert told.cut == {0}
    assert told.effect == FEW.absent
    assert gone == ({(1, 2): (0,)} if explained else {})
    assert near == ([{1, 2}, {0}, {0}] if explained else ALL)


def test_required_edges_and_columns_that_may_not_separate_are_left_alone() -> None:
    required = Rules(1.0, 5.0, required=frozenset({(1, 2)}))
    assert held_coarsely(ALL, STRENGTH, {0}, required) == {}
    later = Rules(1.0, 5.0, may_separate=lambda z, x, y: z != 0)
    assert held_coarsely(ALL, STRENGTH, {0}, later) == {}


def test_merged_levels_count_as_coarse() -> None:
    schema = dc.Schema({"a": dc.Categorical(["u", "v", "w"]), "b": dc.Numeric(0, 9, [3])})
    assert coarse_columns(schema) == {1}
    assert coarse_columns(schema, {0}) == {0, 1}
