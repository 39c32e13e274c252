"""The budgeted floor of allele counts: its risk, what it is charged, and what it brings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpcausal.core.errors import InputError
from dpcausal.core.statement import Composition, FloorReleased, Noisy
from dpcausal.gwas.null_law import NullLaw
from dpcausal.gwas.plan import FIXED_LABELS, z_needed
from dpcausal.gwas.screen import Screen, screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.statistics import floor_of
from dpcausal.privacy.accounting.pld import compose
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms import INTEGERS, Laplace
from dpcausal.testing import seeded

COUNTS = Simulation(people=4000, snps=60, causal=2, odds_ratio=2.5, seed=2).counts()


@pytest.mark.parametrize("epsilon", [0.01, 0.15, 1.0, 4.0])
@pytest.mark.parametrize("risk", [0.0025, 0.05])
def test_the_floor_is_too_high_with_no_more_than_the_risk(epsilon: float, risk: float) -> None:
    noise = Laplace(sensitivity=2.0, epsilon=epsilon, grid=INTEGERS)
    m, n = 40_000, 200_000
    a = math.exp(-epsilon / 2.0)
    taken = m - floor_of(float(m), noise, risk, n)
    above = a ** (taken + 1) / (1 + a)  # P(L > taken)
    assert above <= risk
    assert a ** (taken - 1) / (1 + a) > risk  # one copy less would not do, but for rounding up
    assert floor_of(-5.0, noise, risk, n) == 0
    assert floor_of(1e9, noise, risk, n) == n // 2


@pytest.mark.parametrize("method", ["svt", "em"])
def test_it_is_charged_first_and_stands_in_the_statement(method: str) -> None:
    found = screen(COUNTS, 20.0, method=method, freq_share=0.1, max_hits=3)  # type: ignore[arg-type]
    privacy = found.privacy
    assert privacy.epsilon is not None
    assert (
        privacy.epsilon == 20.0
    )  # the total: later parts follow from the floor, so their sum promises nothing
    assert privacy.composition is Composition.FILTER_EPSILON
    with pytest.raises(InputError, match="fixed beforehand"):
        compose([privacy], delta=1e-6)
    assert privacy.events[0]["label"] == "gwas: rarest allele"
    assert privacy.events[0]["sensitivity"] / privacy.events[0]["scale"] == pytest.approx(2.0)
    assert privacy.released[-1] == Noisy("frequency-floor")
    assert FloorReleased(0.1) in privacy.public
    told = privacy.to_dict()
    assert "rarest allele" in str(told["released"])
    assert "bought for 0.1 of epsilon" in str(told["public"])
    assert {hit.variant.name for hit in found.rejected} == {"snp16", "snp46"}


def test_it_lowers_what_is_needed_where_groups_are_uneven() -> None:
    """There rare alleles have heavy tails, and the worst case pays for alleles the study does not hold."""
    counts = Simulation(people=50_000, snps=20_000, case_share=0.1, seed=1).counts()
    plan = Screen(
        snps=20_000, cases=5000, controls=45_000, epsilon=0.3, method="em", max_hits=1, freq_share=0.03
    )
    with seeded(1):
        bought = plan._with_released_floor(*counts.alleles(), Budget(0.3, neighbours=FIXED_LABELS))
    copies = np.sum(counts.alleles(), axis=0)
    assert 0 < bought.least <= min(copies.min(), 100_000 - copies.max())
    assert bought.level < plan.level
    assert bought.epsilon < 0.97 * 0.3
    same = NullLaw(10_000, 90_000, 0.05)  # the SNPs by which both are judged
    z = []
    for each in (plan, bought):
        score, cut, _ = each._passing(each.design.tau, each.design.share, each.law.lower)
        z.append(z_needed(score, same, cut))
    assert z[1] < 0.95 * z[0]


@pytest.mark.thin(2)
@pytest.mark.parametrize("method", ["svt", "em"])
def test_family_wise_error(method: str) -> None:
    """60 studies of rare alleles without effect at level .2: more false ones than this once in 10^4 at exactly .2."""
    plan = Screen(
        snps=40, cases=100, controls=300, epsilon=2.0, level=0.2, method=method, max_hits=3, freq_share=0.2
    )  # type: ignore[arg-type]
    study = {"people": 400, "snps": 40, "case_share": 0.25, "maf": (0.01, 0.1)}
    with seeded(3):
        false = sum(bool(plan.run(Simulation(seed=seed, **study).counts()).rejected) for seed in range(60))  # type: ignore[arg-type]
    assert false <= binom.isf(1e-4, 60, 0.2)


def test_what_does_not_go_together() -> None:
    with pytest.raises(InputError, match="leave out maf"):
        screen(COUNTS, 1.0, freq_share=0.1, maf=0.05)
    with pytest.raises(InputError, match="budgeted"):
        screen(COUNTS, 1.0, freq_share=0.1, frequencies=np.full(60, 0.3))
    with pytest.raises(InputError, match="share of epsilon"):
        screen(COUNTS, 1.0, freq_share=1.0)
