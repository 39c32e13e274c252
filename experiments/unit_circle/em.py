"""Unit circle with the exponential mechanism: Algorithm 4 as printed, beside ours."""

from __future__ import annotations

from pathlib import Path

from dpcausal.gwas.printed import with_em
from unit_circle.several import HEADS, LEVEL, SIGNALS, ours, table
from unit_circle.tables import finish

TEXT = """Ten tests, two of them with a chi-squared near 30, two are chosen and tested (s1 = 2), family-wise level .05,
{reps} repetitions; one row is the unit. *As printed*: chosen by Johnson and Shmatikov's score with half of
epsilon, tested by the circle at level/10 with the other half. *Ours*: chosen by permute-and-flip on the
statistic that is tested, with the share of epsilon that public numbers say is best, and cuts from the exact
null law."""


def main(quick: bool, out: Path) -> None:
    """Compute and print; files unit-circle-em.md and .csv in ``out``."""
    reps = 40 if quick else 300
    methods = {
        "Algorithm 4 as printed": lambda tables, epsilon, rng: with_em(tables, epsilon, LEVEL, SIGNALS, rng),
        "ours: em, circle": ours("em", "circle"),
        "ours: em, distance": ours("em", "distance"),
    }
    rows = table(methods, reps, seed=4)
    title = "Unit circle with the exponential mechanism"
    finish(out, "unit-circle-em", quick, title, TEXT.format(reps=reps), HEADS, rows)
