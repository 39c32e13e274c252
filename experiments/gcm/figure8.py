"""GCM figure 8: the number m of copies. n = 1000, s = 2, epsilon = 2, d = 1."""

from __future__ import annotations

from pathlib import Path

from gcm.design import Cell
from gcm.methods import CRT, PRIV_CRT, named
from gcm.ours import OURS_CRT, OURS_CRT_RANK, ours
from gcm.runs import finish, measure

TEXT = """Share of rejections by the number of copies m; n = 1,000, d = 1, s = 2, epsilon = 2, {reps} repetitions over
{draws} draws of Z."""


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure8.png, .csv and .md in ``out``."""
    reps, draws = (60, 2) if quick else (500, 10)
    copies = (19, 99, 399) if quick else (19, 39, 99, 199, 399)
    cells = [
        Cell(f"beta = {beta:g}", m, 1000, beta=beta, copies=m) for beta in (0.0, 0.5, 1.5) for m in copies
    ]
    tests = {**named(PRIV_CRT, CRT), **ours(OURS_CRT, OURS_CRT_RANK)}
    rates = measure(tests, cells, reps, draws, seed=808)
    text = TEXT.format(reps=reps, draws=draws)
    finish(out, 8, quick, "GCM figure 8: number of copies", text, rates, "copies m", log=2, columns=3)
