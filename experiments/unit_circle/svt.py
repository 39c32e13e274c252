"""Unit circle with the sparse vector technique: Algorithm 3 to the letter, as printed and repaired, beside ours."""

from __future__ import annotations

from pathlib import Path

from dpcausal.gwas.printed import Reading, with_svt
from unit_circle.several import HEADS, LEVEL, SIGNALS, Screening, ours, table
from unit_circle.tables import finish

TEXT = """Ten tests, two of them with a chi-squared near 30, up to two rejections (s1 = 2, s2 = 10), family-wise level
.05, {reps} repetitions; one row is the unit. *To the letter*: line 11's ceil((m + 1)(1 - level))-th largest of m
simulated values. *As printed*: the same with smallest in place of largest, at the level itself; the family-wise error
of ten nulls is then far above it. In both the threshold noise stands on both sides of the comparison and cancels: what
is lost is s2 epsilon/(4 s1), here 1.25 epsilon, and no more than epsilon where s2 <= 4 s1. *Level/s2*: the quantile
that family-wise control needs. *Repaired*: that, and threshold noise drawn afresh for the simulated values. *Ours*: one
threshold draw for both rejections, one-sided geometric noise, the tight sensitivity, cuts from the exact null law."""
READINGS: dict[str, Reading] = {
    "Algorithm 3 to the letter (k-th largest)": "letter",
    "Algorithm 3 as printed (k-th smallest)": "printed",
    "Algorithm 3, level/s2": "level",
    "Algorithm 3, repaired": "repaired",
}


def published(reading: Reading) -> Screening:
    """Algorithm 3."""
    return lambda tables, epsilon, rng: with_svt(tables, epsilon, LEVEL, SIGNALS, rng, reading)


def main(quick: bool, out: Path) -> None:
    """Compute and print; files unit-circle-svt.md and .csv in ``out``."""
    reps = 40 if quick else 300
    methods = {
        **{name: published(reading) for name, reading in READINGS.items()},
        "ours: svt, circle": ours("svt", "circle"),
        "ours: svt, distance": ours("svt", "distance"),
    }
    rows = table(methods, reps, seed=3)
    title = "Unit circle with sparse vector"
    finish(out, "unit-circle-svt", quick, title, TEXT.format(reps=reps), HEADS, rows)
