"""Data sets without genotypes for Algorithms 1, 3 and 4 (``dpcausal.gwas.printed``), and the baseline of Theorem 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcausal.gwas.printed import Flags, Tables
from dpcausal.gwas.statistics import allelic_chi2
from dpcausal.stats.chi2 import chi2_sensitivity

Floats = NDArray[np.float64]


def drawn(rng: np.random.Generator, reps: int, n: int, shares: Floats, effects: Floats) -> Tables:
    """``reps`` data sets of two groups of n/2, with the value in shares + effects and shares - effects of them."""
    half = n // 2
    c11 = rng.binomial(half, shares + effects, (reps, len(shares)))
    return Tables(c11, rng.binomial(half, shares - effects, (reps, len(shares))), half, half)


def chi2_test(tables: Tables, epsilon: float, level: float, rng: np.random.Generator) -> Flags:
    """Output perturbation of chi-squared; the quantile of its null law with noise, chi-squared(1) plus Laplace."""
    scale = chi2_sensitivity(tables.n0, tables.n1) / epsilon
    null = rng.chisquare(1, 200_000) + rng.laplace(0, scale, 200_000)
    value = allelic_chi2(*tables)
    return np.asarray(value + rng.laplace(0, scale, value.shape) > np.quantile(null, 1 - level))
