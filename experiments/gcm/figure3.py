"""GCM figure 3: power of CRT tests by the strength of dependence beta. n = 1000, s = 2, epsilon = 2, m = 19."""

from __future__ import annotations

from pathlib import Path

from gcm.design import Cell
from gcm.methods import CRT, PRIV_CRT, named
from gcm.ours import OURS_CRT, OURS_CRT_RANK, OURS_GCM, ours
from gcm.runs import finish, measure

TEXT = """Share of rejections by beta; n = 1,000, s = 2, epsilon = 2, 19 copies (*ours: crt*: its default of 199),
{reps} repetitions over {draws} draws of Z."""


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure3.png, .csv and .md in ``out``."""
    reps, draws = (60, 2) if quick else (500, 10)
    strengths = (0.0, 0.25, 0.5, 1.0, 1.5) if quick else (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5)
    cells = [Cell(f"d = {d}", beta, 1000, d, beta=beta) for d in (1, 5) for beta in strengths]
    tests = {**named(PRIV_CRT, CRT), **ours(OURS_CRT, OURS_CRT_RANK, OURS_GCM)}
    rates = measure(tests, cells, reps, draws, seed=303)
    text = TEXT.format(reps=reps, draws=draws)
    finish(out, 3, quick, "GCM figure 3: CRT by strength of dependence", text, rates, "beta")
