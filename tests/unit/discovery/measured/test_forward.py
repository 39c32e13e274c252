"""The forward search on hand-made evidence: forest, further edges, what is explained, three states."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from dpcausal.discovery.measured.forward import Blocks, Forward, Rules
from dpcausal.planning.settings import SETTINGS, acceptance_threshold
from dpcausal.stats.contrasts import Contrasts, Features


def gaussian(correlations: np.ndarray, rows: float, noise: float = 0.0) -> Contrasts:
    """Two-level columns with these correlations; ``noise``: variance in each entry."""
    columns = [Features.of(np.array([rows / 2, rows / 2]), rows, 0.0)] * len(correlations)
    spread = np.full(correlations.shape, noise)
    np.fill_diagonal(spread, 0.0)
    return Contrasts(columns, rows, correlations.astype(float), spread)


def chain(weight: float = 0.6) -> np.ndarray:
    """a - b - c - d, each correlation the product along the path."""
    place = np.arange(4)
    return np.asarray(weight ** np.abs(place[:, None] - place[None, :]))


def usual(columns: int) -> Rules:
    """The rules of so many columns at the usual level."""
    enough = acceptance_threshold(columns, 0.05)
    return Rules(enough, SETTINGS.absent)


RULES = usual(4)


def test_a_chain_is_found_and_the_rest_is_explained() -> None:
    found = Forward(gaussian(chain(), 5000.0), RULES).run().separate()
    assert found.edges() == [(0, 1), (1, 2), (2, 3)]
    assert found.separating[0, 2] == (1,)
    assert found.open_pairs() == []


def test_a_triangle_keeps_its_third_edge() -> None:
    correlations = chain()
    correlations[0, 2] = correlations[2, 0] = 0.6  # .36 would be explained
    assert (0, 2) in Forward(gaussian(correlations, 5000.0), RULES).run().edges()


def test_parents_of_one_child_stay_apart() -> None:
    correlations = np.array([[1, 0.5, 0.0], [0.5, 1, 0.5], [0.0, 0.5, 1]])
    found = Forward(gaussian(correlations, 5000.0), usual(3)).run().separate()
    assert found.edges() == [(0, 1), (1, 2)]
    assert found.separating[0, 2] == ()


def test_near_copies_do_not_take_each_other_away() -> None:
    """x depends on z; z' is nearly z: one of the edges to x stays, whatever the noise."""
    correlations = np.array([[1, 0.88, 0.70], [0.88, 1, 0.64], [0.70, 0.64, 1]])
    found = Forward(gaussian(correlations, 2000.0, noise=0.001), usual(3)).run()
    assert (0, 1) in found.edges()
    assert len([pair for pair in found.edges() if 2 in pair]) == 1


@pytest.mark.parametrize(
    ("rows", "noise", "state"), [(5000.0, 0.0, []), (5000.0, 0.1, [(0, 1)]), (5.0, 0.0, [(0, 1)])]
)
def test_no_evidence_is_absent_only_where_some_could_have_shown(
    rows: float, noise: float, state: list[tuple[int, int]]
) -> None:
    found = Forward(gaussian(np.eye(2), rows, noise), usual(2)).run().separate()
    assert found.edges() == []
    assert found.open_pairs() == state


def test_what_is_known_is_kept_and_forbidden() -> None:
    rules = Rules(1.0, 0.2, required=frozenset({(0, 3)}), forbidden=frozenset({(0, 1)}))
    found = Forward(gaussian(chain(), 5000.0), rules).run().separate()
    assert (0, 3) in found.edges()
    assert (0, 1) not in found.edges()
    assert (0, 1) not in found.separating


def test_what_may_not_separate_does_not() -> None:
    rules = Rules(1.0, 0.2, may_separate=lambda z, x, y: z != 1)
    assert (0, 2) in Forward(gaussian(chain(), 5000.0), rules).run().edges()


def test_rules_for_some_columns_are_numbered_anew() -> None:
    rules = Rules(1.0, 0.2, required=frozenset({(1, 3)}), may_separate=lambda z, x, y: z != 2).within(
        [3, 1, 2]
    )
    assert rules.required == {(0, 1)}
    assert rules.may_separate(2, 0, 1) is False


def test_near_copies_keep_what_nothing_separates() -> None:
    """Given the copy there is no answer: both edges to the third column stay."""
    copies = np.array([[1.0, 0.97, 0.5], [0.97, 1.0, 0.48], [0.5, 0.48, 1.0]])
    found = Forward(gaussian(copies, 2000.0, noise=0.001), usual(3)).run()
    assert found.evidence(1, 2, (0,)) is None
    assert found.edges() == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(("least", "stays"), [(0.9, True), (1.1, False)])
def test_an_edge_goes_where_its_evidence_given_a_set_is_not_enough(least: float, stays: bool) -> None:
    """Neither half of it nor any other part: ``enough`` alone decides whether an edge comes and whether it goes."""
    correlations = chain()
    correlations[0, 2] = correlations[2, 0] = 0.43  # .36 would be explained
    contrasts = gaussian(correlations, 500.0)
    given = contrasts.evidence(0, 2, (1,))
    assert given is not None
    assert given > 0.5
    found = Forward(contrasts, Rules(least * given, 5.0)).run()
    assert ((0, 2) in found.edges()) is stays


def test_questions_asked_together_have_the_answers_of_each_alone() -> None:
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(8, 40)) + rng.normal(size=40)
    contrasts = gaussian(np.asarray(np.corrcoef(draws)), 300.0, noise=0.001)
    found = Forward(contrasts, usual(8)).run().separate()
    assert len(found.answers) > 50
    assert any(pair not in found.edges() for pair in found.separating)
    for (x, y, given), answer in found.answers.items():
        alone = contrasts.evidence(x, y, given)
        assert answer == (None if alone is None else pytest.approx(alone, rel=1e-9, abs=1e-9))
    now = Forward(contrasts, usual(8), near=list(found.near))
    for x, y in found.edges():  # as the graph is now, and not as it was
        assert found._sets(x, y) == now._sets(x, y)


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_on_paths_are_those_that_reach_the_other_end_without_the_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(14, int(rng.integers(4, 26)), seed=seed)
    blocks = Blocks.of([set(graph[node]) for node in graph])
    for one in graph:
        rest = graph.subgraph(set(graph) - {one})
        for other in set(graph) - {one}:
            reached = nx.node_connected_component(rest, other) & set(graph[one]) - {other}
            assert sorted(blocks.on_paths(one, other)) == sorted(reached)
