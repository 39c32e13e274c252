"""Computed null laws against exact enumeration, and the family-wise level against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, hypergeom

from dpcausal.core.errors import InputError
from dpcausal.gwas.null_law import NullLaw
from dpcausal.gwas.screen import Screen, screen, single_test
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.statistics import Statistic, allelic_chi2
from dpcausal.testing import seeded


def exact_tail(cut: float, n1: int, n0: int, m: int) -> float:
    a = np.arange(max(0, m - n0), min(n1, m) + 1)
    return float(hypergeom.pmf(a, n1 + n0, n1, m)[allelic_chi2(a, m - a, n1, n0) >= cut].sum())


@pytest.mark.parametrize(("n1", "n0"), [(60, 60), (20, 100), (200, 50)])
@pytest.mark.parametrize("cut", [3.84, 10.0, 20.0, 29.7])
def test_chi2_tail_bounds_every_margin(n1: int, n0: int, cut: float) -> None:
    worst = max(exact_tail(cut, n1, n0, m) for m in range(1, n1 + n0))
    bound = NullLaw(n1, n0).chi2_tail(cut)
    assert worst <= bound * (1 + 1e-9)
    assert bound <= 12 * worst + 1e-300  # a bound, and not an empty one


def test_large_studies_resolve_genome_wide_levels() -> None:
    law = NullLaw(100_000, 100_000, 0.05)
    for level in (5e-8, 2.5e-10):
        tau = law.chi2_cut(level)
        assert law.chi2_tail(tau) <= level
        assert chi2.isf(level, 1) <= tau < chi2.isf(level, 1) * 1.02


@pytest.mark.parametrize("name", ["distance", "circle", "chi2"])
def test_noisy_cut_has_its_level(name: str) -> None:
    """At each margin of the grid, against the whole hypergeometric law."""
    n1, n0, up, down, level = 300, 200, 7.0, 4.0, 5e-8
    law = NullLaw(n1, n0, 0.05)
    score = Statistic(name, n1, n0, 20.0)  # type: ignore[arg-type]
    cuts = law.noisy_cuts(score, level, up, down)
    for m, cut in list(zip(law.margins().astype(int).tolist(), cuts, strict=True))[::7]:
        a = np.arange(max(0, m - n0), min(n1, m) + 1)
        gap = cut - score(a, m - a)
        share = up / (up + down)
        tail = np.where(
            gap >= 0,
            share * np.exp(-np.maximum(gap, 0) / up),
            1 - (1 - share) * np.exp(np.minimum(gap, 0) / down),
        )
        assert hypergeom.pmf(a, n1 + n0, n1, m) @ tail == pytest.approx(level, rel=0.02)


def test_per_snp_cuts_cover_the_margins_a_frequency_allows() -> None:
    law = NullLaw(2000, 2000)
    cuts = law.margins() ** 0.5
    found = law.per_snp(cuts, np.array([0.0, 0.1, 0.5, 1.0]))
    n, p = 4000, 0.1
    top = n * p + 6 * math.sqrt(n * p * (1 - p))
    assert found[1] >= top**0.5
    assert found[3] == cuts[-1]
    assert (found <= cuts.max()).all()


@pytest.mark.thin(3)
@pytest.mark.parametrize("method", ["svt", "em"])
@pytest.mark.parametrize("name", ["distance", "circle", "chi2"])
def test_family_wise_error_without_signal(method: str, name: str) -> None:
    """200 studies without effect at level .2: more than 62 with a false hit happens once in 10^4 at exactly .2."""
    false = 0
    plan = Screen(
        snps=50,
        cases=200,
        controls=200,
        epsilon=2.0,
        level=0.2,
        method=method,
        statistic=name,
        max_hits=3,  # type: ignore[arg-type]
    )
    with seeded(3):
        for seed in range(200):
            false += bool(plan.run(Simulation(people=400, snps=50, seed=seed).counts()).rejected)
    assert false <= 62


def test_single_test_has_its_level_and_power() -> None:
    """The paper's setting: .26/.24, epsilon .1, one row the unit, M1 public; .58 at 4,096 and .91 at 8,192 there."""
    generator = np.random.default_rng(5)
    for n, least in ((4096, 0.58), (8192, 0.91)):
        rejected = {"signal": 0, "none": 0}
        with seeded(n):
            for name, shift in (("signal", 0.02), ("none", 0.0)):
                for _ in range(200):
                    a, b = generator.binomial(n // 2, 0.5 + shift), generator.binomial(n // 2, 0.5 - shift)
                    found = single_test(a, b, n // 2, n // 2, 0.1, margin=int(a + b), unit="allele")
                    rejected[name] += found.rejected
        assert rejected["signal"] / 200 >= least - 0.08  # 2.5 standard deviations of 200 studies
        assert rejected["none"] <= 24  # P(more | .05) < 1e-4


def test_public_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="minor allele frequency"):
        NullLaw(10, 10, 0.7)
    counts = Simulation(people=100, snps=3).counts()
    with pytest.raises(InputError, match="one number"):
        screen(counts, 1.0, frequencies=[0.1])
    with pytest.raises(InputError, match="another number"):
        Screen(snps=4, cases=50, controls=50, epsilon=1.0).run(counts)
    with pytest.raises(InputError, match="public margin"):
        single_test(1, 1, 10, 10, 1.0, margin=30)
