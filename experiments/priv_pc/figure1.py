"""Priv-PC, figure 1: F1 against the total privacy budget, for every private driver.

Against the true graph, 100,000 rows, delta 1e-6, replace-one, level .001, 20 seeds (5 with ``quick``): mean and 95%
interval. Priv-PC as published is drawn too, with and without subsampling (grey; **not private**, at the total it claims
for delta 1e-3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.planning.sieve import optimal_subsample
from priv_pc import published
from priv_pc.runs import (
    DELTA,
    DRIVERS,
    EPSILONS,
    FIRST_SEED,
    LEVEL,
    NETWORKS,
    REFERENCE,
    ROWS,
    Point,
    counts,
    markdown,
    point,
    run,
    save,
    show,
)

LEVELS = (0.05, 0.01, 0.001)  # of the comparison with the reference: its own level is not known
ROUNDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # epsilon of a round, as published
CAUTION = (
    "Its totals are by its own sums, which are too small, at delta = 1e-3; ours hold, at delta = 1e-6. The level of "
    "the figures, .001, and the drivers' constants (shift, least information, share) were chosen on these networks "
    "with other seeds, after .05 and .01 had been tried; the table shows all three levels, so the choice can be judged."
)
AS_PUBLISHED = "Priv-PC as published (not private)"
ON_ALL_ROWS = "Priv-PC as published, no subsample (not private)"
STYLES = {AS_PUBLISHED: "--", ON_ALL_ROWS: ":"}


def _all_rows(epsilon: float, n: int) -> int:
    return n


def published_points(network: str, seeds: int, label: str) -> list[Point]:
    """The published Priv-PC: mean F1 at the mean of the totals it claims."""
    size = optimal_subsample if label == AS_PUBLISHED else _all_rows
    points = []
    for epsilon in ROUNDS:
        graphs, totals = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            rng = np.random.default_rng(2000 + seed)
            with dc.testing.seeded(3000 + seed):  # of the subsample
                skeleton, total = published.priv_pc(counts(network, seed), epsilon, rng, size)
            graphs.append(published.graph_of(skeleton))
            totals.append(total)
        points.append(point(network, label, float(np.mean(totals)), graphs))
    return points


Compared = tuple[str, float, float, float, list[Point]]  # network, epsilon, reference F1, level, ours


def against_reference(seeds: int) -> list[Compared]:
    """Every driver at the budgets of the reference implementation, at every level of ``LEVELS``."""
    return [
        (network, epsilon, f1, level, [run(network, d, epsilon, seeds, level=level) for d in DRIVERS])
        for network, marks in REFERENCE.items()
        for epsilon, f1 in marks
        for level in LEVELS
    ]


def draw(
    points: Sequence[Point],
    classical: Sequence[Point],
    value: str,
    path: Path,
    marks: bool = True,
) -> None:
    """One panel a network."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    networks = list(dict.fromkeys(p.network for p in points))
    figure, axes = plt.subplots(
        1, len(networks), figsize=(3.4 * len(networks), 3.6), sharey=True, squeeze=False
    )
    for axis, network in zip(axes[0], networks, strict=True):
        mine = [p for p in points if p.network == network]
        for method, group in groupby(mine, key=lambda p: p.method):
            line = list(group)
            x, y = [p.epsilon for p in line], np.array([getattr(p, value) for p in line])
            half = np.array([getattr(p, f"{value}_half") for p in line])
            style: dict[str, Any] = {"marker": "o", "markersize": 3}
            if method not in DRIVERS:
                style = {"linestyle": STYLES.get(method, "--"), "color": "grey"}
            (drawn,) = axis.plot(x, y, label=method, **style)
            axis.fill_between(
                x, y - half, np.minimum(y + half, 1), color=drawn.get_color(), alpha=0.15, linewidth=0
            )
        for p in classical:
            if p.network == network:
                axis.axhline(
                    getattr(p, value), color="black", linewidth=0.8, linestyle=":", label="PC, no privacy"
                )
        if marks and value == "skeleton" and network in REFERENCE:
            axis.plot(
                *zip(*REFERENCE[network], strict=True), "kx", label="reference implementation, own sums"
            )
        axis.set(xscale="log", title=network, xlabel="total epsilon", ylim=(0, 1.03), xlim=(0.08, 130))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel(f"F1 of the {'skeleton' if value == 'skeleton' else 'CPDAG'}")
    handles = {
        label: h for axis in axes[0] for h, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files priv-pc-figure1*.png, .csv and .md in ``out``."""
    seeds = 5 if quick else 20
    name = "priv-pc-figure1-quick" if quick else "priv-pc-figure1"
    points: list[Point] = []
    for network in NETWORKS:
        points += [run(network, driver, epsilon, seeds) for driver in DRIVERS for epsilon in EPSILONS]
        if network != "sachs":
            points += [p for label in STYLES for p in published_points(network, seeds, label)]
    classical = [run(network, "pc", None, seeds) for network in NETWORKS]
    save(out / f"{name}.csv", [*points, *classical])
    ours = [p for p in points if p.method in DRIVERS]
    for title, value, half in (("Skeleton", "skeleton", "skeleton_half"), ("CPDAG", "cpdag", "cpdag_half")):
        draw(points, classical, value, out / f"{name}-{value}.png")
        rows = [
            [network, method, *(f"{getattr(p, value):.2f} ±{getattr(p, half):.2f}" for p in group)]
            for (network, method), group in groupby(ours, key=lambda p: (p.network, p.method))
        ]
        rows += [[p.network, "pc (no privacy)", f"{getattr(p, value):.2f}"] for p in classical]
        show(f"{title}: F1 by total epsilon, {seeds} seeds", ["network", "method", *map(str, EPSILONS)], rows)
    compared = against_reference(seeds)
    show(
        f"Skeleton F1 at the reference's budgets (ours: true accounting, delta {DELTA:g})",
        ["network", "epsilon", "reference", "level", *DRIVERS],
        [
            [n, f"{e:g}", f"{f1:.2f}", f"{a:g}", *(f"{p.skeleton:.3f}" for p in ps)]
            for n, e, f1, a, ps in compared
        ],
    )
    write_markdown(out / f"{name}.md", name, seeds, ours, classical, compared)


def write_markdown(
    path: Path,
    name: str,
    seeds: int,
    ours: Sequence[Point],
    classical: Sequence[Point],
    compared: Sequence[Compared],
) -> None:
    """The same tables as a page."""
    intro = (
        f"F1 against the true graph by total epsilon; n = {ROWS:,}, delta = {DELTA:g}, replace-one, level {LEVEL:g}, "
        f"{seeds} seeds, mean ± half of the 95% interval. Made by `dpcausal reproduce priv-pc-figure1`."
    )
    lines = [
        "# Private drivers against the true graph",
        "",
        intro,
        "",
        f"![skeleton]({name}-skeleton.png)",
        "",
    ]
    lines += ["## Skeleton", ""]
    lines += markdown(ours, EPSILONS, lambda p: f"{p.skeleton:.2f} ±{p.skeleton_half:.2f}")
    lines += ["", f"![CPDAG]({name}-cpdag.png)", "", "## CPDAG", ""]
    lines += markdown(ours, EPSILONS, lambda p: f"{p.cpdag:.2f} ±{p.cpdag_half:.2f}")
    lines += ["", "## PC without privacy (G test)", "", "| network | skeleton | CPDAG |", "|---|---|---|"]
    lines += [
        f"| {p.network} | {p.skeleton:.2f} | {p.cpdag:.2f} |" for p in classical if math.isinf(p.epsilon)
    ]
    lines += ["", "## At the budgets of the reference implementation of Priv-PC", "", CAUTION, ""]
    heads = ["network", "epsilon", "reference", "level", *DRIVERS]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for network, epsilon, f1, level, ps in compared:
        cells = [network, f"{epsilon:g}", f"{f1:.2f}", f"{level:g}", *(f"{p.skeleton:.3f}" for p in ps)]
        lines.append("| " + " | ".join(cells) + " |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit("run it with: dpcausal reproduce priv-pc-figure1 [--quick]")
