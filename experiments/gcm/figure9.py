"""GCM figure 9: how the p-values of the private CRT are distributed. n = 1000, s = 2, epsilon = 2, m = 19, d = 1."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from gcm.design import Cell, Values, draw, draw_z
from gcm.ours import OURS_CRT_RANK, crt_pvalues
from gcm.published import crt_statistics, priv_crt_pvalues
from gcm.runs import Points, Scene, show, wrapped

EDGES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
THEIRS = "PrivCRT as published (λ = 10)"

TEXT = """Share of p-values at most t; n = 1,000, d = 1, s = 2, epsilon = 2, 19 copies, {reps} repetitions over
{draws} draws of Z. Under the null (beta = 0) it should be t."""


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure9.png and .md in ``out``."""
    name = "gcm_figure9" + ("_quick" if quick else "")
    reps, draws = (100, 2) if quick else (500, 10)
    strengths = (0.0, 0.5, 1.5)
    found: dict[tuple[float, str], list[Values]] = {}
    for beta in strengths:
        for k in range(draws):
            points = Points(draw_z(1000, 1, np.random.default_rng([909, k])), k)
            rng = np.random.default_rng([909, k, int(10 * beta)])
            batch = draw(Cell("", 0, 1000, beta=beta), points.z, reps // draws, rng)
            theirs = priv_crt_pvalues(crt_statistics(batch, points.fits, rng), 2.0, rng)
            found.setdefault((beta, THEIRS), []).append(theirs)
            mine = crt_pvalues(Scene(batch, points, rng, 9090 + 100 * k + int(10 * beta)))
            found.setdefault((beta, OURS_CRT_RANK), []).append(mine)
    figure, axes = plt.subplots(2, 3, figsize=(11, 5.4), sharex=True, sharey=True)
    rows = []
    for i, method in enumerate((THEIRS, OURS_CRT_RANK)):
        for j, beta in enumerate(strengths):
            p = np.concatenate(found[beta, method])
            axes[i, j].hist(
                p, bins=np.arange(0.025, 1.05, 0.05), weights=np.full(len(p), 1 / len(p)), rwidth=0.9
            )
            axes[i, j].axhline(0.05, color="grey", linewidth=0.6)
            axes[i, j].set_title(f"{method}, beta = {beta:g}", fontsize=9)
            shares = " | ".join(f"{np.mean(p <= t + 1e-9):.3f}" for t in EDGES)
            rows.append(f"| beta = {beta:g} | {method} | {shares} |")
    for axis in axes[-1]:
        axis.set_xlabel("p-value")
    figure.tight_layout()
    figure.savefig(out / f"{name}.png", dpi=130)
    plt.close(figure)
    title = "GCM figure 9: p-values of the CRT"
    heads = ["| t: | | " + " | ".join(f"{t:g}" for t in EDGES) + " |", "|---|---|" + "---|" * len(EDGES)]
    text = TEXT.format(reps=reps, draws=draws)
    lines = [f"# {title}", "", wrapped(text), "", f"![{title}]({name}.png)", "", *heads, *sorted(rows), ""]
    (out / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    show(lines)
