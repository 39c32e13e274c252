"""Theorems 3 and 7: how often noise hides a significant table, simulated and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import chdtri

from dpcausal.gwas.statistics import allelic_chi2
from dpcausal.stats.chi2 import chi2_sensitivity
from dpcausal.stats.published import circle_bound, missed_by_chi2, missed_by_circle
from unit_circle.published import drawn
from unit_circle.tables import finish

TEXT = """How often noise hides a table whose chi-squared is above tau + gamma (tau = 3.84), simulated, and the bounds
of Theorems 3 (chi-squared with noise) and 7 (unit circle, with the sensitivity of appendix G); N = 2,000, two groups of
1,000, an effect of .04 (.025 at share .1), epsilon .2, {reps} tables. *Share*: how common the value is. Both
hold."""


def main(quick: bool, out: Path) -> None:
    """Compute and print; files unit-circle-bounds.md and .csv in ``out``."""
    reps, epsilon, tau = (20_000 if quick else 400_000), 0.2, float(chdtri(1, 0.05))
    rows = []
    for share in (0.5, 0.1):
        rng = np.random.default_rng([7, int(100 * share)])
        tables = drawn(rng, reps, 2000, np.array([share]), np.array([0.04 if share == 0.5 else 0.025]))
        chi2, length = allelic_chi2(*tables)[:, 0], tables.values(tau)[:, 0]
        positives = (tables.c11 + tables.c10)[:, 0]
        of_chi2, of_circle = chi2_sensitivity(1000, 1000), float(circle_bound(1000, 1000, tau))
        missed_chi2 = chi2 + rng.laplace(0, of_chi2 / epsilon, reps) <= tau
        missed_circle = length + rng.laplace(0, of_circle / epsilon, reps) <= 1.0
        for gap in (0.0, 2.0, 5.0, 10.0):
            beyond = chi2 > tau + gap
            bound = np.mean(
                [
                    missed_by_circle(gap, epsilon, of_circle, tau, int(m), 2000)
                    for m in positives[beyond][:5000]
                ]
            )
            numbers = (
                missed_chi2[beyond].mean(),
                missed_by_chi2(gap, epsilon, of_chi2),
                missed_circle[beyond].mean(),
                float(bound),
            )
            rows.append([f"{share:g}", f"{gap:g}", *(f"{x:.3f}" for x in numbers)])
    heads = ["share", "gamma", "chi-squared: simulated", "Theorem 3", "circle: simulated", "Theorem 7"]
    text = TEXT.format(reps=f"{reps:,}")
    finish(out, "unit-circle-bounds", quick, "Unit circle: the bounds on errors", text, heads, rows)
