"""Sparse vector: halts, can't be copied, costs what it says, and fits its exact law."""

from __future__ import annotations

import copy
import os
import pickle
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from dpcausal.audit.exact import sparse_vector_law
from dpcausal.core.errors import BudgetError
from dpcausal.privacy.mechanisms import INTEGERS, HaltedError, SparseVector
from dpcausal.privacy.mechanisms.base import Grid
from dpcausal.privacy.mechanisms.sparse_vector import sparse_vector_cost
from dpcausal.testing import seeded


def test_halts_after_the_last_positive() -> None:
    session = SparseVector(sensitivity=1.0, epsilon=1.0, positives=2).start(0.0)
    assert not session.halted
    answers = [session.ask(1e6), session.ask(-1e6), session.ask(1e6)]
    assert answers == [True, False, True]
    assert session.halted
    with pytest.raises(HaltedError):
        session.ask(-1e6)
    assert issubclass(HaltedError, BudgetError)


def test_a_session_is_never_copied() -> None:
    session = SparseVector(sensitivity=1.0, epsilon=1.0).start(0.0)
    for steal in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            steal(session)
    pid = os.fork()
    if pid == 0:
        try:
            session.ask(0.0)
        except HaltedError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("positives", [1, 5, 20])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_split_is_optimal_and_within_epsilon(positives: int, monotone: bool) -> None:
    on = Grid(2.0**-12, exact=True)
    svt = SparseVector(sensitivity=1.0, epsilon=0.9, positives=positives, monotone=monotone, grid=on)
    cost = sparse_vector_cost(svt.on.sensitivity(1.0), svt.scales, positives, monotone)
    assert Fraction(0.9) * (1 - Fraction(1, 10**12)) < cost <= Fraction(0.9)
    factor = positives if monotone else 2 * positives
    spread = svt.scales.threshold**2 + svt.scales.query**2
    for share in (0.97, 1.03):  # any other split of the same cost has more variance
        first = 0.9 / (1 + factor ** (2 / 3)) * share
        delta = svt.on.sensitivity(1.0)
        assert (delta / first) ** 2 + (factor * delta / (0.9 - first)) ** 2 > spread


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_the_shipped_session_has_its_exact_law(noise: str) -> None:
    """20,000 sessions against the law that the exact checks use, at failure probability 1e-6."""
    svt = SparseVector(sensitivity=1.0, epsilon=1.0, positives=2, noise=noise, grid=INTEGERS)  # type: ignore[arg-type]
    queries = (1, -2, 4)
    with seeded(6):
        seen = Counter(run(svt, queries) for _ in range(20_000))
    law = sparse_vector_law([q - svt.centre for q in queries], noise, svt.scales, 2)
    assert sum(law.values()) == pytest.approx(1)
    assert set(seen) <= set(law)
    statistic = sum((seen[o] - 20_000 * p) ** 2 / (20_000 * p) for o, p in law.items())
    assert chi2.sf(statistic, len(law) - 1) > 1e-6
    off = svt.scales._replace(query=0.7 * svt.scales.query)
    wrong = sparse_vector_law([q - svt.centre for q in queries], noise, off, 2)
    assert (
        chi2.sf(sum((seen[o] - 20_000 * p) ** 2 / (20_000 * p) for o, p in wrong.items()), len(law) - 1)
        < 1e-6
    )


def run(svt: SparseVector, queries: tuple[int, ...]) -> tuple[bool, ...]:
    session = svt.start(0.0)
    answers: list[bool] = []
    for query in queries:
        answers.append(session.ask(query))
        if session.halted:
            break
    return tuple(answers)


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("monotone", [False, True])
def test_a_value_at_the_threshold_is_an_even_coin(noise: str, monotone: bool) -> None:
    svt = SparseVector(sensitivity=1.0, epsilon=1.0, positives=3, noise=noise, monotone=monotone)  # type: ignore[arg-type]
    (above,) = (p for o, p in sparse_vector_law([-svt.centre], noise, svt.scales).items() if o == (True,))
    assert above == pytest.approx(0.5, abs=0.001)


def test_first_above_asks_in_turn() -> None:
    with seeded(4):
        session = SparseVector(sensitivity=1.0, epsilon=1.0, positives=2).start(0.0)
        assert session.first_above([-1e6] * 5000) is None
        assert session.first_above([-1e6] * 4500 + [1e6] * 2) == 4500
        assert session.remaining == 1
        assert session.first_above([]) is None
        assert session.first_above([1e6]) == 0
    with pytest.raises(HaltedError):
        session.first_above([0.0])


def test_first_above_has_the_law_of_single_questions() -> None:
    svt = SparseVector(sensitivity=1.0, epsilon=1.0, grid=INTEGERS)
    queries = (-3, 0, 2)
    with seeded(12):
        seen = Counter(svt.start(0.0).first_above(queries) for _ in range(6_000))
    law = sparse_vector_law([q - svt.centre for q in queries], "geometric", svt.scales)
    expected = {None if not any(o) else len(o) - 1: 6_000 * p for o, p in law.items()}  # type: ignore[arg-type]
    assert chi2.sf(sum((seen[o] - e) ** 2 / e for o, e in expected.items()), 3) > 1e-6


def test_thresholds_between_grid_points() -> None:
    """A count of 10 is below 10.3, one of 11 is above, whatever the rounding (no noise to speak of here)."""
    svt = SparseVector(sensitivity=1.0, epsilon=2000.0, grid=INTEGERS)
    with seeded(1):
        assert not svt.start(10.3).ask(10)
        assert svt.start(10.3).ask(11)
