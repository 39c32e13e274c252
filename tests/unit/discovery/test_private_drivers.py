"""What every private driver keeps to: the total, the charge before the answer, untested edges, no peeking."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcausal import networks, testing
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import MemoryCounts
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.discover import METHODS, discover
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import Task

PRIVATE = ("svt-pc", "priv-pc", "em-pc", "curate")


def run_of(method: str) -> Any:
    return METHODS[method].run


@pytest.mark.parametrize("method", PRIVATE)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_large_budget_finds_the_truth(task: Any, method: str, delta: float, neighbours: Neighbours) -> None:
    """epsilon 100: noise of a few rows, dependences of hundreds; fails with probability below 1e-6."""
    given = task("survey", 100.0, delta, neighbours=neighbours)
    with testing.seeded(1):
        found = run_of(method)(given)
    assert found.skeleton.edges == networks.load("survey").dag.skeleton
    assert given.budget.events
    assert given.budget.spent_epsilon() <= 100.0


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The least epsilon of rho-zCDP at delta over orders of Renyi divergence, by brute force.

    References: Canonne, Kamath & Steinke 2020, Prop. 12, at tau(a) = a rho.
    """
    orders = 1 + np.logspace(-4, 6, 40_000)
    return float((orders * rho + np.log(1 / (orders * delta)) / (orders - 1) + np.log1p(-1 / orders)).min())


@pytest.mark.parametrize("method", PRIVATE)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_total_is_never_passed(task: Any, method: str, epsilon: float, delta: float) -> None:
    """By sums, or by a conversion that is not the package's own."""
    for seed in range(3):
        given = task("asia", epsilon, delta, rows=2000)
        with testing.seeded(seed):
            found = run_of(method)(given)
        events = given.budget.events
        spent = math.fsum(event.epsilon for event in events)
        if delta:
            spent = min(spent, epsilon_of_rho(math.fsum(event.rho for event in events), delta))
        assert 0 < spent <= epsilon * (1 + 1e-4)
        untested = found.skeleton.unanswered_from.keys() & found.skeleton.edges
        if method in ("svt-pc", "em-pc"):  # the others leave a pair untested of which no dependence shows
            assert found.skeleton.complete == (not untested)


@pytest.mark.parametrize("method", PRIVATE)
def test_every_answer_was_paid_for(task: Any, method: str) -> None:
    """Deletions never outnumber what the charged events cover."""
    given = task("asia", 3.0, 1e-6)
    with testing.seeded(4):
        found = run_of(method)(given)
    deleted = len(found.skeleton.separating)
    events = given.budget.events
    match method:
        case "svt-pc" | "priv-pc":
            assert deleted <= (28 if len(events) == 1 else len(events))
        case "em-pc":
            assert deleted == sum(e.label == "which" for e in events)
        case "curate":
            assert sum(found.skeleton.asked.values()) <= len(events)  # one event a test, kept edges too


@pytest.mark.parametrize("method", PRIVATE)
def test_no_budget_is_refused(task: Any, method: str) -> None:
    given = task()
    free = Task(given.counts, given.known, given.level, given.max_order, given.neighbours, None)
    with pytest.raises(InputError, match="give it an epsilon"):
        run_of(method)(free)


@pytest.mark.parametrize("method", PRIVATE)
def test_knowledge_is_kept_and_not_charged_for(task: Any, method: str) -> None:
    columns = tuple(networks.load("survey").schema)
    known = Knowledge.of(columns, required=[("A", "T")], forbidden=[frozenset(("A", "E"))])
    with testing.seeded(2):
        edges = run_of(method)(task("survey", 100.0, known=known)).skeleton.edges
    assert frozenset(("A", "T")) in edges
    assert frozenset(("A", "E")) not in edges


@pytest.mark.parametrize("method", PRIVATE)
def test_max_order_zero_asks_no_conditional_question(task: Any, method: str) -> None:
    with testing.seeded(2):
        found = run_of(method)(task("cancer", 10.0, max_order=0))
    assert set(found.skeleton.asked) == {0}
    assert all(given == () for given in found.skeleton.separating.values())


@pytest.mark.parametrize("method", PRIVATE)
def test_strange_data_are_no_error(method: str) -> None:
    """No rows, one row, a constant column, a column with one level: every answer is an answer."""
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Categorical(["x"]), "c": Categorical(["x", "y", "z"])}
    )
    for rows in (0, 1, 50):
        codes = {name: np.zeros(rows, np.uint8) for name in schema}
        counts = MemoryCounts(Dataset(schema, rows, codes))
        for delta in (0.0, 1e-6):
            result = discover(counts, epsilon=1.0, delta=delta, method=method)
            assert result.privacy.private
            assert result.privacy.epsilon == 1.0


@pytest.mark.parametrize("method", PRIVATE)
def test_a_constant_column_leaves_its_pairs_open_and_a_single_level_does_not(method: str) -> None:
    """Without information nothing can be concluded; one declared level is publicly independent."""
    schema = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["x", "y"]), "c": Categorical(["only"])})
    rng = np.random.default_rng(0)
    codes = {
        "a": rng.integers(0, 2, 50_000).astype(np.uint8),
        "b": np.zeros(50_000, np.uint8),
        "c": np.zeros(50_000, np.uint8),
    }
    counts = MemoryCounts(Dataset(schema, 50_000, codes))
    with testing.seeded(0):
        found = [discover(counts, epsilon=20.0, method=method) for _ in range(20)]
    assert (
        sum(frozenset("ab") in one.open for one in found) >= 13
    )  # deleted with .1 at most, shown with .05 at most
    edges = [one.graph.skeleton for one in found]
    assert sum(frozenset("ab") in one for one in edges) <= 5  # .05 each: fails with probability 3e-4
    assert sum(bool(one & {frozenset("ac"), frozenset("bc")}) for one in edges) <= 6


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("svt-pc", {"positives": 0}),
        ("priv-pc", {"hits": 0}),
        ("priv-pc", {"share": 1.0}),
        ("priv-pc", {"subsample": 0}),
        ("priv-pc", {"subsample": "best"}),
        ("em-pc", {"orders": 0}),
        ("curate", {"margins": (-1.0, 0.1)}),
    ],
)
def test_bad_options_are_one_line(task: Any, method: str, options: dict[str, Any]) -> None:
    given = task("survey", 1.0)
    with pytest.raises(InputError) as caught:
        run_of(method)(given, **options)
    assert "\n" not in str(caught.value)
    assert not given.budget.events
