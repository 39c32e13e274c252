"""GCM figure 1: level by the complexity s of the regression functions. n = 10,000, epsilon = 2, beta = 0."""

from __future__ import annotations

from pathlib import Path

from gcm.design import Cell
from gcm.methods import KENDALL, PRIV_CRT, PRIV_GCM, TOT, named
from gcm.ours import OURS_CRT, OURS_GCM, ours
from gcm.runs import finish, measure

TEXT = """Share of rejections under the null (beta = 0) by s. It should be .05. n = 10,000, epsilon = 2, {reps}
repetitions over {draws} draws of Z. *printed*: f_s(z) = exp(-s²/2) sin(sz), as the paper prints it, which
is nearly zero from s = 4 on. *envelope*: exp(-z²/2) sin(sz), which gets harder as s grows."""


def cells(quick: bool) -> list[Cell]:
    """Points of the figure."""
    complexities = (1, 2, 8, 32) if quick else (1, 2, 4, 8, 16, 32)
    return [
        Cell(f"{shape}, d = {d}", s, 10_000, d, s=s, shape=shape)
        for shape in ("printed", "envelope")
        for d in (1, 5)
        for s in complexities
    ]


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure1.png, .csv and .md in ``out``."""
    reps, draws = (40, 1) if quick else (500, 5)
    tests = {**named(PRIV_GCM, PRIV_CRT, KENDALL, TOT), **ours(OURS_GCM, OURS_CRT)}
    rates = measure(tests, cells(quick), reps, draws, seed=101)
    text = TEXT.format(reps=reps, draws=draws)
    finish(out, 1, quick, "GCM figure 1: level by complexity", text, rates, "s", log=2)
