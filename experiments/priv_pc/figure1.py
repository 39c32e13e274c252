"""Priv-PC, figure 1: F1 against the total privacy budget, for every private driver.

Against the true graph, 100,000 rows, delta 1e-6, replace-one, level .001, the paper's 21 budgets from 1 to 100 and two
smaller ones, 5 seeds as there (7 budgets and 2 seeds with ``quick``): mean and 95% interval. What the paper compares is
beside it as published (grey; **not private**, at the total it claims for delta 1e-3): Priv-PC with and without
subsampling, SVT-PC, EM-PC, and SG, the subsampled Gaussian with the moments accountant. All of it is in the tables.
Last comes what the paper's statistic converges to without any noise.
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
    FIRST_SEED,
    LEVEL,
    NETWORKS,
    REFERENCE,
    ROWS,
    Point,
    counts,
    finish,
    point,
    run,
    save,
)

LEVELS = (0.05, 0.01, 0.001)  # of the comparison with the reference: its own level is not known
GRID = tuple(round(float(e), 2) for e in np.logspace(0, 2, 21))  # the paper: 21 budgets from 1 to 100
STEPS = tuple(
    np.logspace(math.log10(0.03), math.log10(8.0), 21).tolist()
)  # epsilon of a round or choice, as published
NOISES = tuple(np.logspace(math.log10(20.0), math.log10(0.3), 21).tolist())  # noise over sensitivity, of SG
FEW_SEEDS = 5  # from here on an interval is shown
PRINTED = ("priv-pc", "svt-pc", "em-pc")
CAUTION = (
    "Its totals are by its own sums, which are too small, at delta = 1e-3; ours hold, at delta = 1e-6. The level of "
    "the figures, .001, and the drivers' constants (shift, least information, share) were chosen on these networks "
    "with other seeds, after .05 and .01 had been tried; the table shows all three levels, so the choice can be judged."
)
AS_PUBLISHED = "Priv-PC as published (not private)"
ON_ALL_ROWS = "Priv-PC as published, no subsample (not private)"
SVT, EM, SG = (f"{name} as published (not private)" for name in ("SVT-PC", "EM-PC", "SG"))
STYLES: dict[str, Any] = {
    AS_PUBLISHED: "--",
    ON_ALL_ROWS: ":",
    SVT: "-.",
    EM: (0, (1, 1)),
    SG: (0, (5, 1, 1, 1, 1, 1)),
}
GREYS = {AS_PUBLISHED: "black", SVT: "dimgrey", EM: "darkgrey", SG: "silver"}
STOPS = (0.05, 0.1, 0.35)  # thresholds of the statistics without noise


def _all_rows(epsilon: float, n: int) -> int:
    return n


def as_published(label: str, network: str, seed: int, step: float) -> tuple[Any, float]:
    """One run: the skeleton, and the total that the paper's sums claim."""
    rng, given = np.random.default_rng(2000 + seed), counts(network, seed)
    if label == SVT:
        return published.svt_pc(given, step, rng)
    if label == EM:
        return published.em_pc(given, step, rng)
    if label == SG:
        return published.sg_pc(given, step, rng)
    size = optimal_subsample if label == AS_PUBLISHED else _all_rows
    with dc.testing.seeded(3000 + seed):  # of the subsample
        return published.priv_pc(given, step, rng, size)


def published_points(network: str, seeds: int, label: str, quick: bool) -> list[Point]:
    """Mean F1 at the mean of the totals that are claimed, for every step."""
    points = []
    for step in (NOISES if label == SG else STEPS)[:: 3 if quick else 1]:
        runs = [as_published(label, network, seed, step) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
        total = float(np.mean([total for _, total in runs]))
        points.append(point(network, label, total, [published.graph_of(skeleton) for skeleton, _ in runs]))
    return points


def stops(network: str, seeds: int) -> list[tuple[str, str, float, float, str]]:
    """Without noise: network, statistic, threshold, mean F1, and the true edges that always go."""
    truth, found = dc.networks.load(network).dag, []
    for statistic in published.STATISTICS:
        for threshold in STOPS:
            graphs = [
                published.graph_of(published.without_noise(counts(network, seed), statistic, threshold))
                for seed in range(FIRST_SEED, FIRST_SEED + seeds)
            ]
            lost = frozenset.intersection(*(truth.skeleton - graph.skeleton for graph in graphs))
            words = ", ".join(sorted(" - ".join(sorted(pair)) for pair in lost))
            f1 = point(network, statistic, math.inf, graphs).skeleton
            found.append((network, statistic, threshold, f1, words))
    return found


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
                style = {"linestyle": STYLES.get(method, "--"), "color": GREYS.get(method, "grey")}
            (drawn,) = axis.plot(x, y, label=method, **style)
            if method in DRIVERS and line[0].seeds >= FEW_SEEDS:
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
    figure.tight_layout(rect=(0, 0.2, 1, 1))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files priv-pc-figure1*.png, .csv and .md in ``out``."""
    seeds = 2 if quick else 5
    budgets = (0.1, 0.3, 1.0, 3.16, 10.0, 31.62, 100.0) if quick else (0.1, 0.3, *GRID)
    name = "priv-pc-figure1-quick" if quick else "priv-pc-figure1"
    points: list[Point] = []
    for network in NETWORKS:
        points += [run(network, driver, epsilon, seeds) for driver in DRIVERS for epsilon in budgets]
        if network != "sachs":
            points += [p for label in STYLES for p in published_points(network, seeds, label, quick)]
    classical = [run(network, "pc", None, seeds) for network in NETWORKS]
    save(out / f"{name}.csv", [*points, *classical])
    ours = [p for p in points if p.method in DRIVERS]
    theirs = [p for p in points if p.method not in DRIVERS]
    for value in ("skeleton", "cpdag"):
        draw(points, classical, value, out / f"{name}-{value}.png")
    compared = against_reference(seeds) if not quick else []
    without = [line for network in NETWORKS[:4] for line in stops(network, seeds)]
    finish(out, name, page(name, seeds, budgets, ours, theirs, classical, compared, without))


def by_budget(points: Sequence[Point], budgets: Sequence[float], value: str) -> list[str]:
    """A table a network: a line a budget, a column a method."""
    at = {(p.network, p.method, p.epsilon): p for p in points}
    lines = ["| network | total epsilon | " + " | ".join(DRIVERS) + " |", "|---|---|" + "---|" * len(DRIVERS)]
    for network in dict.fromkeys(p.network for p in points):
        for epsilon in budgets:
            cells = [at[network, driver, epsilon] for driver in DRIVERS]
            told = [mean_words(p, value) for p in cells]
            lines.append(f"| {network} | {epsilon:g} | " + " | ".join(told) + " |")
    return lines


def mean_words(p: Point, value: str) -> str:
    """The mean, with half of its interval where there are seeds enough for one."""
    half = f" ±{getattr(p, value + '_half'):.2f}" if p.seeds >= FEW_SEEDS else ""
    return f"{getattr(p, value):.2f}{half}"


def claims(points: Sequence[Point]) -> list[str]:
    """What was published: a line for each method and step, at the total that it claims."""
    lines = ["| network | method | total it claims | skeleton F1 | CPDAG F1 |", "|---|---|---|---|---|"]
    for p in points:
        method = p.method.replace(" (not private)", "")
        lines.append(
            f"| {p.network} | {method} | {p.epsilon:.2f} | {mean_words(p, 'skeleton')} | {p.cpdag:.2f} |"
        )
    return lines


def rankings(ours: Sequence[Point], theirs: Sequence[Point]) -> list[str]:
    """How often one method is above another on the same network: ours by budget, the published at like totals."""
    lines = ["| pair | above | equal (within .005) | below |", "|---|---|---|---|"]
    sets = [("corrected, every budget of the grid", ours, dict(zip(PRINTED, PRINTED, strict=True)))]
    labels = {"priv-pc": ON_ALL_ROWS, "svt-pc": SVT, "em-pc": EM}
    sets.append(("as published, at the totals Priv-PC claims", theirs, labels))
    for words, points, names in sets:
        curve = {
            key: sorted((p.epsilon, p.skeleton) for p in group)
            for key, group in groupby(
                sorted(points, key=lambda p: (p.network, p.method)), key=lambda p: (p.network, p.method)
            )
        }
        for one, other in (("priv-pc", "svt-pc"), ("priv-pc", "em-pc"), ("svt-pc", "em-pc")):
            score = [0, 0, 0]
            for network in dict.fromkeys(p.network for p in points):
                first, second = curve[network, names[one]], curve[network, names[other]]
                for epsilon, f1 in first:
                    if epsilon >= 1:
                        gap = f1 - float(np.interp(epsilon, *zip(*second, strict=True)))
                        score[0 if gap > 0.005 else 2 if gap < -0.005 else 1] += 1
            lines.append(f"| {one} over {other}, {words} | {score[0]} | {score[1]} | {score[2]} |")
    return lines


def page(
    name: str,
    seeds: int,
    budgets: Sequence[float],
    ours: Sequence[Point],
    theirs: Sequence[Point],
    classical: Sequence[Point],
    compared: Sequence[Compared],
    without: Sequence[tuple[str, str, float, float, str]],
) -> list[str]:
    """All tables as a page."""
    lines = [
        "# Private drivers against the true graph",
        "",
        f"F1 against the true graph by total epsilon; n = {ROWS:,}, delta = {DELTA:g}, replace-one, level {LEVEL:g}, "
        f"{seeds} seeds, mean{' ± half of the 95% interval' if seeds >= FEW_SEEDS else ''}. Open pairs are no edges. "
        f"Made by `dpcausal reproduce priv-pc-figure1{' --quick' if 'quick' in name else ''}`.",
        "",
        f"![skeleton]({name}-skeleton.png)",
        "",
        "## Skeleton",
        "",
        *by_budget(ours, budgets, "skeleton"),
        "",
        f"![CPDAG]({name}-cpdag.png)",
        "",
        "## CPDAG",
        "",
        *by_budget(ours, budgets, "cpdag"),
        "",
        "## PC without privacy (G test)",
        "",
        "| network | skeleton | CPDAG |",
        "|---|---|---|",
        *(f"| {p.network} | {p.skeleton:.2f} | {p.cpdag:.2f} |" for p in classical if math.isinf(p.epsilon)),
        "",
        "## As published (not private)",
        "",
        "At the totals that the papers' sums claim for delta = 1e-3, which are too small.",
        "",
        *claims(theirs),
        "",
        "## Who is above whom",
        "",
        "Skeleton F1 at totals of 1 and more, counted over networks and budgets.",
        "",
        *rankings(ours, theirs),
        "",
        "## What the statistics converge to",
        "",
        "PC with each statistic and no noise: an edge goes where the p-value is above the threshold.",
        "",
        "| network | statistic | threshold | F1 | true edges that always go |",
        "|---|---|---|---|---|",
        *(
            f"| {n} | {statistic} | {t:g} | {f1:.2f} | {lost or 'none'} |"
            for n, statistic, t, f1, lost in without
        ),
    ]
    if compared:
        heads = ["network", "epsilon", "reference", "level", *DRIVERS]
        lines += ["", "## At the budgets of the reference implementation of Priv-PC", "", CAUTION, ""]
        lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        for network, epsilon, f1, level, ps in compared:
            cells = [network, f"{epsilon:g}", f"{f1:.2f}", f"{level:g}", *(f"{p.skeleton:.3f}" for p in ps)]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    raise SystemExit("run it with: dpcausal reproduce priv-pc-figure1 [--quick]")
