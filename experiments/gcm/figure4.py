"""GCM figure 4: level and power of CRT tests by n. s = 2, epsilon = 2, m = 19, beta in {0, .5, 1.5}, d = 1."""

from __future__ import annotations

from pathlib import Path

from gcm.design import Cell
from gcm.methods import CRT, PRIV_CRT, named
from gcm.ours import OURS_CRT, OURS_CRT_RANK, ours
from gcm.runs import Rate, finish, measure

TEXT = """Share of rejections by n; d = 1, s = 2, epsilon = 2, 19 copies (*ours: crt*: its default of 199), {reps}
repetitions ({draws} draws of Z, {large} at n = 10,000)."""


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure4.png, .csv and .md in ``out``."""
    reps, draws, large = (60, 2, 1) if quick else (500, 10, 5)
    sizes = (100, 300, 1000, 3000) if quick else (100, 300, 1000, 3000, 10_000)
    tests = {**named(PRIV_CRT, CRT), **ours(OURS_CRT, OURS_CRT_RANK)}
    rates: list[Rate] = []
    for n in sizes:
        cells = [Cell(f"beta = {beta:g}", n, n, beta=beta) for beta in (0.0, 0.5, 1.5)]
        rates += measure(tests, cells, reps, large if n > 3000 else draws, seed=404)
    rates.sort(key=lambda r: (r.panel, list(tests).index(r.method), r.at))
    text = TEXT.format(reps=reps, draws=draws, large=large)
    finish(out, 4, quick, "GCM figure 4: CRT by number of rows", text, rates, "n", log=10, columns=3)
