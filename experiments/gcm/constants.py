"""Lemmas B.6 and C.1 beside our bounds: what one row can move, by lambda, and how much of a signal the fit keeps."""

from __future__ import annotations

from pathlib import Path

from dpcausal.stats.crt import crt_sensitivity
from dpcausal.stats.gcm_ridge import products_sensitivity, sum_sensitivity
from dpcausal.stats.published import crt_bound, products_bound
from priv_pc.runs import finish, table

STRENGTHS = (10.0, 2.0, 1.0, 0.1)
HEADS = [
    "lambda",
    "Lemma B.6: products",
    "ours: products",
    "times too large",
    "ours: their sum",
    "Lemma C.1: T",
    "ours: T",
    "share of a signal that the fit keeps, at most",
]


def row(strength: float) -> list[float]:
    """The numbers of a row, without its lambda."""
    printed, ours = products_bound(strength), products_sensitivity(strength)
    crt = crt_sensitivity("replace-one", "kernel", strength)
    together = sum_sensitivity(strength)
    return [printed, ours, printed / ours, together, crt_bound(strength), crt, 1 / (1 + strength / 2)]


def main(quick: bool, out: Path) -> None:
    """Compute and print; gcm-constants.md in ``out``. Nothing is drawn, so there is no quicker way."""
    rows = [[f"{strength:g}", *(f"{number:.2f}" for number in row(strength))] for strength in STRENGTHS]
    lines = [
        "# The constants of PrivGCM and PrivCRT",
        "",
        "What one row that is replaced can move, for x and y in [-1, 1]: the vector of residual products (l1), their "
        "sum, and T of the CRT, by the lambda of kernel ridge regression. The lemmas are safe; ours have "
        "[proofs](../proofs/stats_gcm_ridge.md). The eigenvalues of a kernel of norm one, over n, are at most 1, so a "
        "fit keeps at most 1/(1 + lambda/2) of a signal. Made by `dpcausal reproduce gcm-constants`.",
        "",
        *table(HEADS, rows),
    ]
    finish(out, "gcm-constants-quick" if quick else "gcm-constants", lines)
