"""GCM figure 7: level and power by epsilon. n = 10,000, s = 2, m = 19, d = 1."""

from __future__ import annotations

from pathlib import Path

from gcm.design import Cell
from gcm.methods import PRIV_CRT, PRIV_GCM, named
from gcm.ours import OURS_CRT, OURS_CRT_RANK, OURS_GCM, ours
from gcm.runs import finish, measure

TEXT = """Share of rejections by epsilon; n = {n:,}, d = 1, s = 2, 19 copies (*ours: crt*: its default of 199), {reps}
repetitions over {draws} draws of Z."""


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure7.png, .csv and .md in ``out``."""
    reps, draws, n = (40, 1, 4000) if quick else (500, 5, 10_000)
    budgets = (0.125, 0.5, 2.0, 8.0) if quick else (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
    cells = [
        Cell(f"beta = {beta:g}", epsilon, n, beta=beta, epsilon=epsilon)
        for beta in (0.0, 0.1, 0.5, 1.5)
        for epsilon in budgets
    ]
    tests = {**named(PRIV_GCM, PRIV_CRT), **ours(OURS_GCM, OURS_CRT, OURS_CRT_RANK)}
    rates = measure(tests, cells, reps, draws, seed=707)
    text = TEXT.format(n=n, reps=reps, draws=draws)
    finish(out, 7, quick, "GCM figure 7: level and power by epsilon", text, rates, "epsilon", log=2)
