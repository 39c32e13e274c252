"""Whole graphs on one joint table, through the public call: what is gained, kept to, and free to compute again."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.discovery.measured.whole_graphs import WholeGraphs, WholeGraphsFound, ancestors
from dpcausal.graphs import skeleton_scores
from dpcausal.planning.settings import SETTINGS

pytestmark = pytest.mark.usefixtures("few_repeats")


def asia(rows: int, seed: int) -> dc.Dataset:
    return dc.networks.load("asia").sample(rows, seed=seed)


def found(data: dc.Dataset, seed: int, **more: object) -> dc.DiscoveryResult:
    with dc.testing.seeded(seed):
        return dc.discover(
            data, epsilon=1.0, delta=1e-6, method="measured", **{"confidence": 0, "anyway": True, **more}
        )


@pytest.mark.slow
def test_more_is_found_than_by_pairs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """asia, 3,000 rows, epsilon 1, 12 samples: the mean skeleton F1 gains .08 or so; below .02 once in a thousand."""
    whole = [found(asia(3000, seed), seed) for seed in range(12)]
    monkeypatch.setattr(WholeGraphs, "of", lambda *_: None)
    pairs = [found(asia(3000, seed), seed) for seed in range(12)]
    truth = dc.networks.load("asia").dag
    gain = [
        skeleton_scores(truth, a.graph).f1 - skeleton_scores(truth, b.graph).f1
        for a, b in zip(whole, pairs, strict=True)
    ]
    assert np.mean(gain) > 0.02


def test_columns_that_depend_on_nothing() -> None:
    """Seven yes/no columns, 20 samples, epsilon 1: at most a twentieth of the 420 pairs, and 3 s.e. more."""
    edges = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        codes = {f"c{i}": (rng.random(1500) < rng.uniform(0.02, 0.5)).astype(np.uint8) for i in range(7)}
        schema = dc.Schema({name: dc.Categorical([0, 1]) for name in codes})
        edges += len(found(dc.Dataset(schema, 1500, codes), seed).graph.skeleton)
    assert edges <= 420 * 0.05 + 3 * math.sqrt(420 * 0.05 * 0.95)


def test_it_is_computed_from_the_release_alone() -> None:
    """The same graph, confidence and evidence whenever it is computed again, without rows."""
    result = found(asia(3000, 3), 3, confidence=8)
    again = result.release.discover(confidence=8)
    assert again.graph == result.graph
    assert again.open == result.open
    assert again.confidence == result.confidence
    assert again.privacy.epsilon == result.privacy.epsilon


def test_what_is_known_beforehand_is_kept_to() -> None:
    order = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    result = found(
        asia(3000, 4),
        4,
        tiers=order,
        required=[("asia", "tub"), {"smoke", "xray"}],
        forbidden=[{"lung", "either"}],
    )
    tier = {name: place for place, names in enumerate(order) for name in names}
    assert all(tier[a] <= tier[b] for a, b in result.graph.directed)
    assert ("asia", "tub") in result.graph.directed
    assert frozenset(("smoke", "xray")) in result.graph.skeleton
    assert frozenset(("lung", "either")) not in result.graph.skeleton


def test_more_is_required_than_graphs_may_have() -> None:
    """Seven parents are more than a scored graph has: pairs decide, and what is required is there."""
    names = list(dc.networks.load("asia").schema)
    required = [(name, "dysp") for name in names if name != "dysp"]
    result = found(asia(3000, 5), 5, required=required)
    assert {frozenset(arrow) for arrow in required} <= result.graph.skeleton


def test_a_stricter_level_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = []
    inner = WholeGraphs.of

    def caught(*about: object) -> WholeGraphs | None:
        search = inner(*about)  # type: ignore[arg-type]
        assert search is not None
        prices.append((search.wanted.seen, search.wanted.unseen))
        return search

    monkeypatch.setattr(WholeGraphs, "of", caught)
    for level in (0.05, 0.001):
        found(asia(1000, 6), 6, level=level)
    assert prices[0] == (SETTINGS.edge_cost_seen, SETTINGS.edge_cost_unseen)
    assert all(strict > usual for usual, strict in zip(*prices, strict=True))


@pytest.mark.parametrize("more", [{"latent": True}, {"target": "dysp"}])
def test_hidden_causes_and_targets_are_not_scored(
    more: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(WholeGraphs, "best", never)
    found(asia(3000, 7), 7, **more)


def test_evidence_of_an_edge_is_its_bayes_factor() -> None:
    """Strong edges have much; every found edge of the best graph has a finite number."""
    result = found(asia(10_000, 8), 8)
    strong = result.evidence[frozenset(("lung", "either"))]
    assert strong.log10_bayes is not None
    assert strong.log10_bayes > 10


def test_parents_separate_what_is_not_adjacent() -> None:
    """In x -> y -> z and w -> y: parents of the end that is no ancestor of the other."""
    whole = WholeGraphsFound(((), (0, 3), (1,), ()), frozenset({(0, 1), (1, 3), (1, 2)}), frozenset(), [])
    assert whole.separating(0, 2) == (1,)
    assert whole.separating(2, 3) == (1,)
    assert whole.separating(0, 3) == ()
    assert ancestors(whole.parents, 2) == {0, 1, 3}


def test_pairs_that_lose_their_edge_are_absent_or_open() -> None:
    """Every pair has one of three states, whatever the best graph does."""
    for seed in range(4):
        result = found(asia(2000, seed), seed)
        names = list(result.graph.nodes)
        pairs = {frozenset(pair) for pair in combinations(names, 2)}
        edges, unsaid, absent = (
            set(map(frozenset, some)) for some in (result.graph.skeleton, result.open, result.absent)
        )
        assert edges | unsaid | absent == pairs
        assert not edges & unsaid
        assert not edges & absent
        assert not unsaid & absent
