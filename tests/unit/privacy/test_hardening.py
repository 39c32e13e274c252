"""What an adversarial review broke once and must not break again."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.rank import KendallTest
from dpcausal.citests.session import Session
from dpcausal.counts.memory import MemoryCounts
from dpcausal.privacy import coins, noise, samplers
from dpcausal.privacy.accounting.composition import exact, fits, optimal
from dpcausal.privacy.accounting.losses import LossLaw, epsilon_of_sum
from dpcausal.privacy.accounting.pld import FixedPlan
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import LaplaceEvent, PureEvent
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import Grid
from dpcausal.privacy.mechanisms.selection import Exponential, NoisyMax, TopK
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveAndExamine
from dpcausal.privacy.mechanisms.sparse_vector import HaltedError, SparseVector


def test_threads_get_no_more_positives_than_were_paid_for() -> None:
    svt = SparseVector(sensitivity=1.0, epsilon=100.0, positives=1)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            session, given = svt.start(0.0), []

            def ask(session=session, given=given) -> None:  # type: ignore[no-untyped-def]
                try:
                    while True:
                        given.append(session.ask(1000.0))
                except HaltedError:
                    pass

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sum(given) == 1
            assert session.halted
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("delta", [1e-5, 1e-9])
def test_numerical_composition_is_never_below_the_exact_one(delta: float) -> None:
    event = PureEvent(label="", neighbours="add-remove", mechanism="any", cost=0.01)
    plan = FixedPlan((event,) * 1000)
    assert plan.compare(delta)["pld"] >= optimal(0.01, 1000, delta) * (1 - 1e-9)


def test_numerical_composition_is_refused_where_its_own_error_counts() -> None:
    one = LossLaw(np.array([0.01, -0.01]), 1 / (1 + np.exp([-0.01, 0.01])))
    assert epsilon_of_sum([replace(one, count=10_000)], 1e-12) < 8
    assert epsilon_of_sum([replace(one, count=10**12)], 1e-12) == float("inf")


@pytest.mark.parametrize("delta", [1e-12, 1e-30])
def test_numerical_composition_of_many_events_is_exact_at_small_deltas(delta: float) -> None:
    """What an error of the convolution would drown: a shift by 1 of this noise is randomised response."""
    event = LaplaceEvent(label="", neighbours="add-remove", sensitivity=1, scale=100)
    truth = optimal(0.01, 10_000, delta)
    assert truth <= FixedPlan((event,) * 10_000).compare(delta)["pld"] <= truth + 1e-6


@pytest.mark.parametrize("digits", [28, 56, 112])
@pytest.mark.parametrize("gamma", [Fraction(1, 3), Fraction(22, 7), Fraction(100, 3)])
def test_bounds_of_exponentials_hold_in_any_decimal_context(digits: int, gamma: Fraction) -> None:
    with localcontext(prec=400):
        truth = (Decimal(-gamma.numerator) / Decimal(gamma.denominator)).exp().scaleb(digits)
    with localcontext(prec=2):
        (low,), (high,) = coins.weight_bounds([1], [gamma], digits)
    assert low <= truth <= high
    assert high - low <= 10


def test_totals_do_not_depend_on_the_decimal_context() -> None:
    with localcontext(prec=2, rounding="ROUND_UP"):
        assert not fits(exact(1.09), exact(1.0))
        assert fits(exact(1.0), exact(1.0))


def test_a_seeded_block_entered_during_a_draw_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    scale, real = 2.0**40, samplers.draw
    budget = Budget(1.0)
    with dc.testing.seeded(7):
        predictable = samplers.draw("laplace", scale)

    def late(kind: str, scale: float) -> int:
        with dc.testing.seeded(7):  # another thread, between the choice of the sampler and the draw
            return real(kind, scale)

    monkeypatch.setattr(samplers, "draw", late)
    assert noise.discrete_laplace(scale) == predictable
    monkeypatch.undo()
    assert not budget.statement(released=()).private  # so what was drawn is stamped,
    assert predictable not in [noise.discrete_laplace(scale) for _ in range(16)]  # and nothing of it is left


def test_monotone_scores_on_a_coarse_grid_count_one_step_more() -> None:
    for on, reach in ((Grid(0.25), 6.0), (Grid(0.25, exact=True), 4.0)):
        assert Exponential(sensitivity=1.0, epsilon=1.0, monotone=True, grid=on).reach == reach
    rough = SparseVector(sensitivity=1.0, epsilon=1.0, monotone=True, grid=Grid(0.25))
    fine = SparseVector(sensitivity=1.0, epsilon=1.0, monotone=True, grid=Grid(0.25, exact=True))
    assert rough.scales.query / fine.scales.query == pytest.approx(6 / 4)


def test_a_session_without_a_budget_is_refused() -> None:
    counts = MemoryCounts(dc.networks.load("cancer").sample(100, seed=1))
    with pytest.raises(dc.InputError, match="both"):
        Session(counts, KendallTest(), level=0.05, epsilon=1.0)


def test_noise_that_can_not_be_drawn_is_refused_before_any_charge() -> None:
    with pytest.raises(dc.InputError, match="noise scale"):
        Laplace(sensitivity=1.0, epsilon=1e-14)
    with pytest.raises(dc.InputError, match="noise scale"):
        SparseVector(sensitivity=1.0, epsilon=1e-14)
    with pytest.raises(dc.InputError, match="noise scale"):
        NoisyMax(sensitivity=1.0, epsilon=1e-14)
    with pytest.raises(dc.InputError, match="noise scale"):
        SieveAndExamine(sensitivity=1.0, epsilon_sieve=1e-14, epsilon_examine=1.0)
    with pytest.raises(dc.InputError, match="noise scale"):
        SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1e-14)
    with pytest.raises(dc.InputError, match="sensitivity"):
        TopK(sensitivity=float("nan"), epsilon=1.0, count=2)


def test_a_round_draws_its_rows_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    real = noise.permutation
    monkeypatch.setattr(noise, "permutation", lambda n: drawn.append(n) or real(n))
    sieve = SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=0.5, epsilon_examine=0.5, rows=100, subsample=10, sieve_sensitivity=1.0
    )
    session = sieve.start(0.0)
    session.ask(-1e9, lambda: 0.0)
    assert drawn == []
    rows = session.subsample
    assert rows is not None
    assert session.subsample is rows
    assert (drawn, len(set(rows.tolist()))) == ([100], 10)


def test_the_rows_of_a_secret_subsample_are_not_printed() -> None:
    sieve = SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=0.5, epsilon_examine=0.5, rows=100, subsample=10, sieve_sensitivity=1.0
    )
    assert "array" not in repr(sieve.start(0.0))


def test_unit_circle_claims_only_fixed_labels(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from dpcausal.privacy.ledger import Ledger

    data = dc.networks.load("asia").sample(1000, seed=1)
    found = dc.ci_test(data, "smoke", "bronc", epsilon=1.0, method="unit-circle")
    assert found.privacy.neighbours is dc.Neighbours.FIXED_LABELS
    assert "same public labels" in found.privacy.summary()
    with pytest.raises(dc.InputError, match="replace-one or add-remove"):
        dc.ci_test(data, "smoke", "bronc", epsilon=1.0, method="kendall", neighbours="fixed-labels")
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    Ledger.open(url, create=True).create("cohort", 10.0)
    with pytest.raises(dc.DpcausalError, match="fixed-labels"):
        dc.ci_test(data, "smoke", "bronc", epsilon=1.0, method="unit-circle", ledger=url, dataset="cohort")
    assert Ledger.open(url).show()[0].spent_epsilon == 0


def test_text_that_is_no_text_is_other() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": pandas.Series(["a", "\ud800", "b"], dtype=pandas.StringDtype("python"))})
    schema = dc.Schema(x=dc.Categorical(["a", "b"]))
    assert dc.read(frame, schema).codes["x"].tolist() == [0, 0, 1]


def test_a_median_of_broken_pvalues_warns_of_nothing() -> None:
    from dpcausal.stats.aggregate import median_scores

    with np.errstate(all="raise"):
        assert np.isfinite(median_scores([0.5, float("nan"), float("inf")])).all()
