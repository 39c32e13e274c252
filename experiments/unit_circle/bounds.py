"""Theorems 2, 3 and 7: how often noise hides a significant table, and how often a test errs, simulated and bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import chdtri

from dpcausal.gwas.statistics import allelic_chi2
from dpcausal.stats.chi2 import chi2_sensitivity
from dpcausal.stats.published import circle_bound, missed_by_chi2, missed_by_circle, type_two_error
from unit_circle.published import drawn
from unit_circle.tables import finish

TEXT = """How often noise hides a table whose chi-squared is above tau + gamma (tau = 3.84), simulated, and the bounds
of Theorems 3 (chi-squared with noise) and 7 (unit circle, with the sensitivity of appendix G); N = 2,000, two groups of
1,000, an effect of .04 (.025 at share .1), epsilon .2, {reps} tables. *Share*: how common the value is. *Type II*: how
often a test accepts any table, and the bound of Theorem 2: that of Theorem 3 or 7 and the share of tables with
chi-squared up to tau + gamma, added. {verdict}"""


def main(quick: bool, out: Path) -> None:
    """Compute and print; files unit-circle-bounds.md and .csv in ``out``."""
    reps, epsilon, tau = (20_000 if quick else 400_000), 0.2, float(chdtri(1, 0.05))
    rows, within = [], []
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
            below = 1 - beyond.mean()
            for missed, most in ((missed_chi2, numbers[1]), (missed_circle, numbers[3])):
                numbers += missed.mean(), type_two_error(most, below)
            within += [one <= most for one, most in zip(numbers[::2], numbers[1::2], strict=True)]
            rows.append([f"{share:g}", f"{gap:g}", *(f"{x:.3f}" for x in numbers)])
    heads = ["share", "gamma", "chi-squared: simulated", "Theorem 3", "circle: simulated", "Theorem 7"]
    heads += ["chi-squared: type II", "Theorem 2 with 3", "circle: type II", "Theorem 2 with 7"]
    text = TEXT.format(reps=f"{reps:,}", verdict="All hold." if all(within) else "Not all hold.")
    finish(out, "unit-circle-bounds", quick, "Unit circle: the bounds on errors", text, heads, rows)
