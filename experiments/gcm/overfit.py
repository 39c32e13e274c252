"""Section 2 of Kalemaj et al.: where the regression overfits, noise keeps the level that the classical GCM loses.

The paper says so and runs nothing. Here z is one column, the fit a Gaussian kernel whose bandwidth shrinks as 1/n with
next to no ridge, so that it nearly goes through every point for every n.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpcausal.stats.published import products_bound
from gcm.design import Cell, draw, draw_z
from gcm.published import LAMBDA, LEVEL, Fits, gcm_pvalues, products
from priv_pc.runs import finish, table

SIZES, WIDTHS, RIDGE, EPSILON = (100, 300, 1000), (10.0, 3.0), 0.01, 2.0


def rates(n: int, width: float, reps: int, draws: int) -> tuple[float, float, float]:
    """Return the share of nulls rejected without noise and with it, and the mean |residual product|."""
    rng = np.random.default_rng([17, n, int(10 * width)])
    plain = noisy = 0
    left = []
    for _ in range(draws):
        batch = draw(Cell("", 0, n, epsilon=EPSILON, shape="envelope"), draw_z(n, 1, rng), reps // draws, rng)
        rows = products(batch, Fits(batch.z, width / n), RIDGE)
        left.append(float(np.abs(rows).mean()))
        plain += int((gcm_pvalues(rows) <= LEVEL).sum())
        noise = rng.laplace(0, products_bound(LAMBDA) / EPSILON, rows.shape)
        noisy += int((gcm_pvalues(rows + noise) <= LEVEL).sum())
    return plain / reps, noisy / reps, float(np.mean(left))


def main(quick: bool, out: Path) -> None:
    """Compute and print; gcm-overfit.md in ``out``."""
    reps, draws, name = (200, 10, "gcm-overfit-quick") if quick else (2000, 40, "gcm-overfit")
    rows = []
    for width in WIDTHS:
        for n in SIZES:
            plain, noisy, left = rates(n, width, reps, draws)
            rows.append([f"{width:g}/n", f"{n:,}", f"{plain:.3f}", f"{noisy:.3f}", f"{left:.4f}"])
    heads = [
        "bandwidth",
        "n",
        "GCM, no privacy",
        "with the noise of PrivGCM, lambda = 10",
        "mean abs. product",
    ]
    lines = [
        "# GCM where the regression overfits",
        "",
        f"Share of true nulls rejected at level .05; one column z, f(z) = exp(-z^2/2) sin(2z), Gaussian kernel with a "
        f"bandwidth of so much over n and sklearn's alpha {RIDGE:g}, epsilon {EPSILON:g}, {reps:,} data sets over "
        f"{draws} draws of z. The noise is that of Algorithm 1 for lambda = 10, too little to be private for a small "
        f"ridge: with the noise that it needs, still less shows. Made by `dpcausal reproduce gcm-overfit"
        f"{' --quick' if quick else ''}`.",
        "",
        *table(heads, rows),
    ]
    finish(out, name, lines)
