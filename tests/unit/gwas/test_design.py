"""Public choices of a plan: they never cost level, and bring power where noise is large."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpcausal.core.errors import InputError
from dpcausal.gwas.null_law import NullLaw
from dpcausal.gwas.plan import table_at, typical_margins, value_to_be_chosen, z_needed
from dpcausal.gwas.screen import Screen, screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.statistics import Statistic, allelic_chi2
from dpcausal.privacy.mechanisms import TopK
from dpcausal.testing import seeded

COUNTS = Simulation(people=4000, snps=60, causal=2, odds_ratio=2.5, seed=2).counts()


def test_tables_of_a_given_chi_squared() -> None:
    law = NullLaw(3000, 9000, 0.1)
    c11, c10 = table_at(law, typical_margins(law), math.sqrt(20.0))
    assert allelic_chi2(c11, c10, 3000, 9000) == pytest.approx(20.0)


@pytest.mark.parametrize(("epsilon", "hits", "gain"), [(1.0, 5, 0.85), (3.0, 10, 0.85), (100.0, 1, 1.001)])
def test_the_threshold_chosen_is_no_worse_than_the_quantile(epsilon: float, hits: int, gain: float) -> None:
    plan = Screen(snps=200_000, cases=2500, controls=2500, epsilon=epsilon, max_hits=hits, maf=0.05)
    lower = plan.law.lower
    chosen, at_quantile = (
        z_needed(score, plan.law, cut)
        for score, cut, _ in (plan._passing(tau, 0.5, lower) for tau in (plan.design.tau, plan.top))
    )
    assert chosen <= gain * at_quantile
    assert (
        chosen >= math.sqrt(plan.law.chi2_cut(plan.level / plan.snps)) * 0.98
    )  # no test finds less than this


def test_a_value_to_be_chosen_is_chosen_half_the_time() -> None:
    """One SNP of that value among 2,000 without effect, 200 draws: between 1/4 and 3/4 of them."""
    law, snps, top, scale = NullLaw(2000, 2000, 0.1), 2000, 20.0, 8.0
    score = Statistic("distance", 2000, 2000, 5.0, False)
    generator = np.random.default_rng(3)
    margins = generator.choice(typical_margins(law), snps).astype(int)
    a = generator.hypergeometric(2000, 2000, margins)
    values = score(a, margins - a)
    values = np.append(values, value_to_be_chosen(score, law, snps, top, scale))
    choice = TopK(sensitivity=1.0, count=1, epsilon=2.0 / scale)
    with seeded(4):
        chosen = sum(choice.sample(values)[0] == snps for _ in range(200))
    assert 50 <= chosen <= 150


@pytest.mark.parametrize("method", ["svt", "em"])
def test_rare_alleles_and_uneven_groups_keep_the_level(method: str) -> None:
    """100 studies without effect at level .2, nothing public: more false ones than this once in 10^4 at exactly .2."""
    plan = Screen(snps=40, cases=80, controls=320, epsilon=3.0, level=0.2, method=method, max_hits=3)  # type: ignore[arg-type]
    study = {"people": 400, "snps": 40, "case_share": 0.2, "maf": (0.002, 0.03)}
    with seeded(3):
        false = sum(bool(plan.run(Simulation(seed=seed, **study).counts()).rejected) for seed in range(100))  # type: ignore[arg-type]
    assert false <= binom.isf(1e-4, 100, 0.2)


def test_fewer_answers_lower_the_cut_and_end_there() -> None:
    """The paper's s2: level/s2 each, and the SNPs behind are not asked."""
    plans = [
        Screen(snps=60, cases=2000, controls=2000, epsilon=1.0, max_hits=2, max_answers=s) for s in (20, 0)
    ]
    assert plans[0].sieve_cuts().max() < plans[1].sieve_cuts().max()
    found = screen(COUNTS, 30.0, max_hits=5, max_answers=20)
    assert [hit.variant.name for hit in found.hits] == ["snp16"]
    assert found.asked == 20
    assert "20 of 60 SNPs" in found.summary()
    assert screen(COUNTS, 30.0, max_hits=1, max_answers=20).full
    assert screen(COUNTS, 30.0, max_answers=600).asked == 60


def test_answers_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="answers"):
        screen(COUNTS, 1.0, max_hits=5, max_answers=4)
    with pytest.raises(InputError, match="is for svt"):
        screen(COUNTS, 1.0, method="em", max_answers=20)
    with pytest.raises(InputError, match="negative"):
        screen(COUNTS, 1.0, max_answers=-1)
    with pytest.raises(InputError, match="share"):
        screen(COUNTS, 1.0, method="em", share=1.5)
