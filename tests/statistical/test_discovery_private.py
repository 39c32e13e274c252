"""The private drivers do what they are for: at the reference's budgets they find more than the reference does.

Samples and noise are seeded, so a run is repeatable. The four points against the reference have means over 20 other
seeds of .99, 1.0, 1.0 and .91 or more (``docs/figures/priv-pc-figure1.md``), far above the bounds; the chance that an
unlucky change of seeds fails a correct driver has not been computed for the others.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dpcausal import networks, testing
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.discover import discover
from dpcausal.graphs.metrics import skeleton_scores

SEEDS = 8
DRIVERS = ("priv-pc", "svt-pc", "em-pc", "curate")


@cache
def counts(network: str, seed: int) -> MemoryCounts:
    return MemoryCounts(networks.load(network).sample(100_000, seed=500 + seed))


def mean_f1(network: str, method: str, epsilon: float, delta: float = 1e-6) -> float:
    scores = []
    for seed in range(SEEDS):
        with testing.seeded(seed):
            found = discover(counts(network, seed), epsilon=epsilon, delta=delta, method=method, level=0.001)
        scores.append(skeleton_scores(networks.load(network).dag, found.graph).f1)
    return float(np.mean(scores))


@pytest.mark.thin(4)
@pytest.mark.parametrize("method", DRIVERS)
@pytest.mark.parametrize(
    ("network", "epsilon", "reference"),
    [("earthquake", 7.0, 0.91), ("cancer", 7.1, 0.80), ("survey", 1.8, 0.61), ("asia", 2.8, 0.58)],
)
def test_above_the_reference(network: str, method: str, epsilon: float, reference: float) -> None:
    assert mean_f1(network, method, epsilon) > reference


@pytest.mark.parametrize("method", DRIVERS)
def test_pure_privacy_works_too(method: str) -> None:
    assert mean_f1("survey", method, 3.0, delta=0.0) > 0.9


@pytest.mark.parametrize("method", DRIVERS)
def test_more_budget_is_better(method: str) -> None:
    assert mean_f1("survey", method, 10.0) > mean_f1("survey", method, 0.05) + 0.1


def test_information_saves_deterministic_relations() -> None:
    """either = lung or tub: given both, xray says nothing about either, and the edge must stay."""
    edges = [
        discover(
            counts("asia", seed), epsilon=100.0, delta=1e-6, method="priv-pc", level=0.001
        ).graph.skeleton
        for seed in range(SEEDS)
    ]
    kept = [frozenset(pair) in found for found in edges for pair in (("either", "xray"), ("either", "dysp"))]
    assert np.mean(kept) > 0.85
