"""Unit circle, one test: power and level by N. Cells .26/.24 (an effect of .02 either way), epsilon .1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpcausal.gwas.printed import Tables, one_test
from dpcausal.gwas.screen import single_test
from dpcausal.testing import seeded
from unit_circle.published import chi2_test, drawn
from unit_circle.tables import finish

EPSILON, LEVEL, EFFECT = 0.1, 0.05, 0.02
TEXT = """Share of rejections of one test by the number of rows N; two groups of N/2, the value in .52 and .48 of them
(*power*) or in half of both (*level*); epsilon .1, level .05, {reps} repetitions; one row is the unit and margins are
public. *Published*: Algorithm 1 with the sensitivity of appendix G and {m} simulated values. *Ours*: the tight
sensitivity and the exact null law (`gwas/screen.py`, unit allele)."""


def ours(tables: Tables) -> float:
    """Share of rejections of ``single_test``."""
    found = 0
    for c11, c10 in zip(tables.c11[:, 0].tolist(), tables.c10[:, 0].tolist(), strict=True):
        test = single_test(c11, c10, tables.n1, tables.n0, EPSILON, margin=c11 + c10, unit="allele")
        found += test.rejected
    return found / len(tables.c11)


def main(quick: bool, out: Path) -> None:
    """Compute and print; files unit-circle-single.md and .csv in ``out``."""
    reps = 200 if quick else 1000
    rows = []
    for n in (1024, 2048, 4096, 8192, 16384):
        cells = [f"{n:,}"]
        for effect in (EFFECT, 0.0):
            rng = np.random.default_rng([4, n, int(effect > 0)])
            tables = drawn(rng, reps, n, np.array([0.5]), np.array([effect]))
            with seeded(n):
                mine = ours(tables)
            shares = (
                chi2_test(tables, EPSILON, LEVEL, rng).mean(),
                one_test(tables, EPSILON, LEVEL, rng).mean(),
                mine,
            )
            cells += [f"{share:.3f}" for share in shares]
        rows.append(cells)
    heads = [
        "N",
        *(
            f"{name}, {what}"
            for what in ("power", "level")
            for name in ("chi-squared with noise", "circle as published", "ours")
        ),
    ]
    text = TEXT.format(reps=reps, m=999)
    finish(out, "unit-circle-single", quick, "Unit circle: one test", text, heads, rows)
