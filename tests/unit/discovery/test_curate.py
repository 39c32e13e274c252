"""CURATE: the plan, the charge of every test, margins and the coin."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dpcausal import testing
from dpcausal.discovery import curate
from dpcausal.discovery.curate import NoisyTests, cost_now, even_scale, expected_tests, most_tests, run
from dpcausal.discovery.knowledge import Knowledge
from dpcausal.discovery.search import CostsOfTests, Query, drive, pc_search
from dpcausal.present.notes import note_words


@pytest.mark.parametrize("gaussian", [True, False])
def test_the_plan_fits_and_favours_the_present(gaussian: bool) -> None:
    tests = [28.0, 70.0, 8.0, 8.0]
    for left in (1e-4, 0.02, 3.0):
        effect = 4 * even_scale(tests, left, gaussian)
        cost = cost_now(tests, left, effect, gaussian)
        assert left / sum(tests) * (1 - 1e-9) <= cost <= left / tests[0]


def test_the_plan_is_free_of_units() -> None:
    tests = [28.0, 70.0, 8.0]
    shares = [cost_now(tests, left, 4 * even_scale(tests, left, False), False) / left for left in (0.01, 7.0)]
    assert shares[0] == pytest.approx(shares[1])


def test_expected_tests_end_with_the_last_order() -> None:
    assert expected_tests(0, 10, 10, 5, 0) == [10.0]
    assert len(expected_tests(1, 10, 10, 5, 9)) == 4
    assert all(count >= 1 for count in expected_tests(3, 1, 1, 40, 5))


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_test_is_charged_kept_or_not(task: Any, delta: float) -> None:
    given = task("cancer", 20.0, delta)
    tests = NoisyTests(given, (0.1, 0.1))
    batch = [Query("Pollution", "Smoker", ()), Query("Smoker", "Cancer", ())]
    with testing.seeded(4):
        assert tests(batch) == [True, False]
    assert len(given.budget.events) == 2


def test_later_orders_use_what_is_left(task: Any) -> None:
    given = task("cancer", 5.0, 1e-6)
    with testing.seeded(4):
        found = run(given)
    assert isinstance(found.notes[0], CostsOfTests)
    assert found.notes[0].unit == "rho"
    assert 1 in dict(found.notes[0].costs)
    assert note_words(found.notes[0]).startswith("Cost of a test (rho), by number of columns given: ")
    assert sum(e.rho for e in given.budget.events) <= given.budget.total.rho * (1 + 1e-11)


def test_between_wide_margins_a_real_coin_decides(task: Any) -> None:
    """Margins of 9 scales around a weak score: both answers come up; all one way has probability 2^-39."""
    given = task("cancer", 1.0, rows=50)
    tests = NoisyTests(given, (9.0, 9.0))
    with testing.seeded(1):
        replies = []
        for _ in range(40):
            replies += tests([Query("Pollution", "Smoker", ("Cancer",))]) or []
    assert {True, False} <= set(replies)


def test_most_tests_is_what_a_search_without_deletions_asks() -> None:
    columns = list("abcdef")
    known = Knowledge.of(
        columns, required=[("a", "b")], forbidden=[frozenset("cd")], tiers=[["a"], ["b", "c"]]
    )
    asked: Counter[int] = Counter()

    def keep(batch: list[Query]) -> list[bool]:
        asked.update(len(question.given) for question in batch)
        return [False] * len(batch)

    found = drive(pc_search(columns, known), keep)
    assert asked == {order: most_tests(order, found, known) for order in asked}
    assert len(asked) == 5


def test_no_order_runs_out_half_way(task: Any) -> None:
    """A pure budget on asia: every edge left was asked about at orders 0 and 1."""
    for seed in range(3):
        with testing.seeded(seed):
            found = run(task("asia", 1.0))
        assert {0, 1} <= set(found.skeleton.asked)


def test_margins_as_shares_of_the_threshold(task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """``margins_of="threshold"``: T(1 - beta_1) to T(1 + beta_2), T the shift, is where a coin decides, and no more."""
    tests = NoisyTests(task("cancer", 20.0, 0.0), (0.5, 0.25), of_threshold=True)
    shares = np.array([0.26, 0.24, -0.49, -0.51])
    coins: list[bool] = []

    def coin() -> bool:
        coins.append(True)
        return True

    monkeypatch.setattr(tests.scorer, "scores", lambda batch, shift, least: shares * shift)
    monkeypatch.setattr(curate, "release", lambda mechanism, budget, label, value: value)
    monkeypatch.setattr(curate.noise, "coin", coin)
    asked = [Query("Pollution", "Smoker", ("Cancer",))] * 4
    assert tests(asked) == [True, True, True, False]
    assert len(coins) == 2
