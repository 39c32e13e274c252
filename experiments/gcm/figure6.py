"""GCM figure 6: one data set and what is fitted to it. n = 1000, s = 2, d = 1, beta = 0."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from gcm.design import Z_BOUND, Cell, Values, draw, draw_z
from gcm.published import LAMBDA, Fits, products_bound, ridge
from gcm.runs import show, wrapped

TEXT = """The paper's figure shows a close fit. That is the fit of ridge 10 (sklearn's alpha), not of the lambda =
10 that it analyses, which is a ridge of 5 n and fits nothing. With ridge 10, lambda is 20/n = .02, and
Lemma B.6 asks for noise of scale {asked:,.0f}/epsilon where {used:.1f}/epsilon is used. Bins follow
E[X|Z] with noise, and residuals from bin means have hardly any bias. n = 1,000, s = 2, d = 1, beta = 0, X
scaled to [-1, 1]. One data set is drawn; the numbers are over {draws}. *slope*: of the fit on E[X|Z] (1
is right, 0 is no fit). *bias*: squared distance of the mean fit from E[X|Z], over the mean square of
E[X|Z]; this is what shifts a GCM test. *error*: the same for single fits, noise included."""

BINS = 62  # n/16, equal widths


def binned(z: Values, x: Values) -> Values:
    """Means of x in equal bins of Z, column by column."""
    code = np.clip(((z[:, 0] + Z_BOUND) / (2 * Z_BOUND) * BINS).astype(int), 0, BINS - 1)
    sizes = np.maximum(np.bincount(code, minlength=BINS), 1)
    sums = np.zeros((BINS, x.shape[1]))
    np.add.at(sums, code, x)
    return np.asarray((sums / sizes[:, None])[code], np.float64)


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files gcm_figure6.png and .md in ``out``."""
    name = "gcm_figure6" + ("_quick" if quick else "")
    draws, n = (20 if quick else 100), 1000
    rows = []
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
    for axis, shape in zip(axes, ("printed", "envelope"), strict=True):
        rng = np.random.default_rng(606)
        cell = Cell("", 0, n, shape=shape)
        batch = draw(cell, draw_z(n, 1, rng), draws, rng)
        fits, order = Fits(batch.z), np.argsort(batch.z[:, 0])
        target = (batch.mean / batch.bound_x)[:, None]
        axis.plot(batch.z[:, 0], batch.unit_x[:, 0], ".", color="lightgrey", markersize=3, label="X")
        axis.plot(batch.z[order, 0], target[order, 0], color="black", label="E[X|Z]")
        for label, fitted in {
            "ridge 10 (as pictured)": batch.unit_x - fits.residuals(batch.unit_x, LAMBDA),
            "ridge 5 n (lambda = 10, as analysed)": batch.unit_x
            - fits.residuals(batch.unit_x, ridge(n, "analysed")),
            f"{BINS} public bins": binned(batch.z, batch.unit_x),
        }.items():
            axis.plot(batch.z[order, 0], fitted[order, 0], label=label, linewidth=1.2)
            size = (target**2).mean()
            slope = (fitted * target).mean() / size
            bias = ((fitted.mean(1, keepdims=True) - target) ** 2).mean() / size
            error = ((fitted - target) ** 2).mean() / size
            rows.append(f"| {shape} | {label} | {slope:.2f} | {bias:.2f} | {error:.2f} |")
        axis.set(title=f"{shape}, s = 2", xlabel="Z")
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("X, scaled")
    axes[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(out / f"{name}.png", dpi=130)
    plt.close(figure)
    title = "GCM figure 6: what is fitted"
    text = TEXT.format(draws=draws, asked=products_bound(20 / n), used=products_bound(LAMBDA))
    table = ["| design | fit | slope | bias | error |", "|---|---|---|---|---|", *rows]
    lines = [f"# {title}", "", wrapped(text), "", f"![{title}]({name}.png)", "", *table, ""]
    (out / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    show(lines)
