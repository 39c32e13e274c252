"""Sieve-and-examine: rounds end at hits, examine looks only at hits, subsamples are fresh."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from dpcausal.audit.exact import sieve_law
from dpcausal.privacy.mechanisms import INTEGERS, HaltedError, SieveAndExamine
from dpcausal.privacy.mechanisms.sieve_and_examine import unamplified
from dpcausal.testing import seeded


def test_examines_only_at_a_hit_and_ends_even_if_it_fails() -> None:
    looked: list[str] = []

    def look(name: str, value: float) -> float:
        looked.append(name)
        return value

    with seeded(3):
        session = SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1.0).start(0.0)
        assert not session.ask(-1e6, lambda: look("low", -1e6))
        assert looked == []
        assert not session.ask(1e6, lambda: look("false hit", -1e6))
        assert looked == ["false hit"]
        assert session.halted
        with pytest.raises(HaltedError):
            session.ask(1e6, lambda: look("late", 1e6))
    assert looked == ["false hit"]


def test_tweak_lowers_the_sieve_only() -> None:
    with seeded(3):
        session = SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1.0, tweak=1e6).start(
            0.0
        )
        assert not session.ask(-1e5, lambda: -1e5)
        assert session.halted


def test_subsample_is_fresh_and_uniform() -> None:
    mechanism = SieveAndExamine(
        sensitivity=1.0, epsilon_sieve=0.5, epsilon_examine=0.5, rows=10, subsample=3, sieve_sensitivity=2.0
    )
    assert mechanism.sieve.epsilon == pytest.approx(math.log(1 + 10 / 3 * math.expm1(0.5)))
    with seeded(5):
        drawn = [mechanism.start(0.0).subsample for _ in range(3000)]
    counts = np.bincount(np.concatenate([d for d in drawn if d is not None]), minlength=10)
    assert {len(set(d.tolist())) for d in drawn if d is not None} == {3}
    assert counts.sum() == 9000
    expected = 900.0  # drawing without replacement shrinks the statistic by 7/9
    assert chi2.sf(((counts - expected) ** 2 / expected).sum() * 9 / 7, 9) > 1e-6


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 3.0])
@pytest.mark.parametrize(("rows", "subsample"), [(20, 1), (1000, 999)])
def test_amplification_never_exceeds_the_claim(epsilon: float, rows: int, subsample: int) -> None:
    inner = unamplified(epsilon, rows, subsample)
    outer = math.log1p(subsample / rows * math.expm1(inner))
    assert epsilon * (1 - 1e-9) < outer <= epsilon


def test_the_shipped_round_has_its_exact_law() -> None:
    """20,000 rounds against the law that the exact checks use, at failure probability 1e-6."""
    mechanism = SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1.0, grid=INTEGERS)
    queries = [(0, 1), (2, -1)]

    def run() -> object:
        session = mechanism.start(0.0)
        for i, (sieved, full) in enumerate(queries):
            passed = session.ask(sieved, lambda full=full: full)  # type: ignore[misc]
            if session.halted:
                return i, "pass" if passed else "fail"
        return "end"

    with seeded(8):
        seen = Counter(run() for _ in range(20_000))
    shift = mechanism.sieve.centre
    law = sieve_law(
        [(q - shift, f) for q, f in queries], "geometric", mechanism.sieve.scales, mechanism.examine.steps[1]
    )
    assert sum(law.values()) == pytest.approx(1)
    statistic = sum((seen[o] - 20_000 * p) ** 2 / (20_000 * p) for o, p in law.items())
    assert chi2.sf(statistic, len(law) - 1) > 1e-6
