"""Edges that a number cut into few bins may have made are named, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.coarse import coarse_columns, held_coarsely
from dpcausal.discovery.forward import Rules
from dpcausal.discovery.search import NoteKind
from dpcausal.present.discovery import note_words
from dpcausal.present.edges import EdgeNotes

FEW = Rules(1.0, 0.5)
STRENGTH = np.array([[0.0, 9.0, 8.0], [9.0, 0.0, 1.0], [8.0, 1.0, 0.0]])
ALL = [{1, 2}, {0, 2}, {0, 1}]


def confounded(cuts: list[float], rows: int = 20_000) -> dc.Dataset:
    """x <- z -> y, where z is a number with these cuts; nothing links x and y."""
    rng = np.random.default_rng(17)
    z = rng.uniform(0.0, 1.0, rows)
    x, y = (rng.uniform(0.0, 1.0, rows) < 0.1 + 0.8 * z for _ in range(2))
    number = dc.Numeric(0.0, 1.0, cuts)
    schema = dc.Schema({"x": dc.Categorical([0, 1]), "y": dc.Categorical([0, 1]), "z": number})
    codes = {"x": x.astype(np.uint8), "y": y.astype(np.uint8), "z": np.digitize(z, cuts).astype(np.uint8)}
    return dc.Dataset(schema, rows, codes)


def found(data: dc.Dataset, **options: object) -> dc.DiscoveryResult:
    with dc.testing.seeded(1):
        return dc.discover(data, epsilon=3.0, delta=1e-6, method="measured", confidence=0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{}, {"target": "x"}, {"latent": True}])
def test_the_edge_that_two_bins_make_is_found_and_said_to_be_one(options: dict[str, object]) -> None:
    result = found(confounded([0.5]), **options)
    assert frozenset("xy") in result.graph.skeleton
    (note,) = [note for note in result.notes if note.is_a(NoteKind.HELD_COARSELY)]
    assert [(a, b, list(by)) for a, b, by in note["edges"]] == [("x", "y", ["z"])]
    words = "may come from z, held fixed only by groups of values"
    notes = EdgeNotes.of(result)
    assert words in notes.short("x", "y", False)
    assert words in notes.sentence("x", "y", False)
    assert words not in notes.short("x", "z", False)
    assert "x - y (z)" in note_words(note)


def test_with_fine_bins_there_is_no_edge_and_nothing_to_say() -> None:
    result = found(confounded(np.linspace(0, 1, 13)[1:-1].tolist()))
    assert frozenset("xy") not in result.graph.skeleton
    assert not any(note.is_a(NoteKind.HELD_COARSELY) for note in result.notes)


def test_an_edge_that_is_not_the_weakest_of_its_triangle_is_not_doubted() -> None:
    assert held_coarsely(ALL, STRENGTH, {0, 1, 2}, FEW) == {(1, 2): (0,)}


def test_required_edges_and_columns_that_may_not_separate_are_left_alone() -> None:
    required = Rules(1.0, 0.5, required=frozenset({(1, 2)}))
    assert held_coarsely(ALL, STRENGTH, {0}, required) == {}
    later = Rules(1.0, 0.5, may_separate=lambda z, x, y: z != 0)
    assert held_coarsely(ALL, STRENGTH, {0}, later) == {}


def test_merged_levels_count_as_coarse() -> None:
    schema = dc.Schema({"a": dc.Categorical(["u", "v", "w"]), "b": dc.Numeric(0, 9, [3])})
    assert coarse_columns(schema) == {1}
    assert coarse_columns(schema, {0: (0, 1, 1)}) == {0, 1}
