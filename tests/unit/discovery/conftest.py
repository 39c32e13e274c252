"""Tasks on small samples, for tests of drivers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpcausal import networks
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery import evidence
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Task
from dpcausal.privacy.budget import Budget

TaskMaker = Callable[..., Task]
NO_REPEATS_SEEN = {"test_moments", "test_one_level"}  # files whose tests never look at what repeats tell


@pytest.fixture(autouse=True)
def few_repeats(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three repeats of a search instead of up to a hundred where no test looks at them: half of the time went there."""
    if request.path.stem in NO_REPEATS_SEEN:
        monkeypatch.setattr(evidence, "REPEATS", 3)
        monkeypatch.setattr(evidence, "MIN_REPEATS", 3)


@pytest.fixture
def task() -> TaskMaker:
    """``task(network, epsilon, delta, ...)``: 100,000 rows unless told otherwise."""

    def make(
        network: str = "survey",
        epsilon: float = 30.0,
        delta: float = 0.0,
        *,
        rows: int = 100_000,
        level: float = 0.001,
        max_order: int | None = None,
        neighbours: Neighbours = Neighbours.REPLACE_ONE,
        known: Knowledge | None = None,
    ) -> Task:
        counts = MemoryCounts(networks.load(network).sample(rows, seed=5))
        budget = Budget(epsilon, delta, neighbours=neighbours)
        return Task(counts, known or Knowledge(), level, max_order, neighbours, budget)

    return make
