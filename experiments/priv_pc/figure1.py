"""Priv-PC, figure 1: F1 against the total privacy budget, for every private driver.

Against the true graph, 100,000 rows, delta 1e-6, replace-one, level .001, the paper's 21 budgets from 1 to 100 and two
smaller ones, 5 seeds as there (7 budgets and 2 seeds with ``quick``): mean and 95% interval. What the paper compares is
beside it (grey; **not private**, at the total it claims for delta 1e-3): Priv-PC as printed, without subsample, and
without the factor sqrt(n/m) in line 12; SVT-PC; EM-PC in two readings; and SG, the subsampled Gaussian with the moments
accountant. All of it is in the tables. Last comes what statistics converge to without any noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.discovery import printed
from priv_pc import compared
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
    table,
)

LEVELS = (0.05, 0.01, 0.001)  # of the comparison with the reference: its own level is not known
GRID = tuple(round(float(e), 2) for e in np.logspace(0, 2, 21))  # the paper: 21 budgets from 1 to 100
STEPS = tuple(
    np.logspace(math.log10(0.03), math.log10(8.0), 21).tolist()
)  # epsilon of a round or choice, as published
NOISES = tuple(np.logspace(math.log10(20.0), math.log10(0.3), 21).tolist())  # noise over sensitivity, of SG
FEW_SEEDS = 5  # from here on an interval is shown
CAUTION = (
    "Its totals are by its own sums, which are too small, at delta = 1e-3; ours hold, at delta = 1e-6. The level of "
    "the figures, .001, and the drivers' constants (shift, least information, share) were chosen on these networks "
    "with other seeds, after .05 and .01 had been tried; the table shows all three levels, so the choice can be judged."
)
OTHER = " (not private)"
PRIV_PC, ON_ALL_ROWS, LINE_12 = (
    name + OTHER
    for name in ("Priv-PC as printed", "Priv-PC, no subsample", "Priv-PC, line 12 without sqrt(n/m)")
)
SVT, EM, EM_TIES, SG = (
    name + OTHER
    for name in ("SVT-PC as described", "EM-PC by tau-a", "EM-PC by K with ties", "SG as described")
)
STYLES: dict[str, Any] = {
    PRIV_PC: "--",
    ON_ALL_ROWS: ":",
    LINE_12: (0, (3, 1, 1, 1)),
    SVT: "-.",
    EM: (0, (1, 1)),
    EM_TIES: (0, (1, 3)),
    SG: (0, (5, 1, 1, 1, 1, 1)),
}
GREYS = {
    PRIV_PC: "black",
    LINE_12: "black",
    SVT: "dimgrey",
    EM: "darkgrey",
    EM_TIES: "darkgrey",
    SG: "silver",
}
RANKED = ((1.0, 10.0), (10.0, 20.0), (20.0, math.inf))  # totals
STOPS = (0.05, 0.1, 0.35)  # thresholds of the statistics without noise


def as_published(label: str, network: str, seed: int, step: float, stable: bool = False) -> printed.Printed:
    """One run of what the paper compares; ``stable`` is not what it prints, and for EM-PC nothing else."""
    rng, given = np.random.default_rng(2000 + seed), counts(network, seed)
    if label == SVT:
        return printed.svt_pc(given, step, rng, stable=stable)
    if label in (EM, EM_TIES):
        return printed.em_pc(given, step, rng, compared.flips_ties if label == EM_TIES else None)
    if label == SG:
        return compared.sg_pc(given, step, rng, stable=stable)
    size = compared.all_rows if label == ON_ALL_ROWS else printed.optimal_subsample
    with dc.testing.seeded(3000 + seed):  # of the subsample
        return printed.priv_pc(given, step, rng, size, wide_examine=label != LINE_12, stable=stable)


def published_points(network: str, seeds: int, label: str, quick: bool, stable: bool = False) -> list[Point]:
    """Mean F1 at the mean of the totals that are claimed, for every step."""
    points = []
    for step in (NOISES if label == SG else STEPS)[:: 3 if quick else 1]:
        every = range(FIRST_SEED, FIRST_SEED + seeds)
        runs = [as_published(label, network, seed, step, stable) for seed in every]
        total = float(np.mean([run.claimed for run in runs]))
        points.append(point(network, label, total, [compared.graph_of(run.skeleton) for run in runs]))
    return points


def stops(network: str, seeds: int) -> list[tuple[str, str, float, float, str]]:
    """Without noise: network, statistic, threshold, mean F1, and the true edges that always go."""
    truth, found = dc.networks.load(network).dag, []
    for statistic in compared.STATISTICS:
        for threshold in STOPS:
            graphs = [
                compared.graph_of(compared.without_noise(counts(network, seed), statistic, threshold))
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


PAIRS = (
    (PRIV_PC, SVT),
    (PRIV_PC, EM),
    (PRIV_PC, EM_TIES),
    (LINE_12, SVT),
    (LINE_12, EM),
    (LINE_12, EM_TIES),
    (ON_ALL_ROWS, SVT),
    (ON_ALL_ROWS, EM),
    (SVT, EM),
)
OURS = (("priv-pc", "svt-pc"), ("priv-pc", "em-pc"), ("svt-pc", "em-pc"))


def rankings(points: Sequence[Point], pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """How often the first of a pair is above, level with and below the second, for totals in each range of ``RANKED``.

    On the same network, at the totals of the first; of the second the line between its points is taken.
    """
    curve: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for p in points:
        curve.setdefault((p.network, p.method), []).append((p.epsilon, p.skeleton))
    rows = []
    for one, other in pairs:
        score = {span: [0, 0, 0] for span in RANKED}
        for network in dict.fromkeys(p.network for p in points):
            second = sorted(curve[network, other])
            for epsilon, f1 in curve[network, one]:
                span = next((span for span in RANKED if span[0] <= epsilon < span[1]), None)
                if span is not None:
                    gap = f1 - float(np.interp(epsilon, *zip(*second, strict=True)))
                    score[span][0 if gap > 0.005 else 2 if gap < -0.005 else 1] += 1
        every = [sum(score[span][i] for span in RANKED) for i in range(3)]
        told = [" / ".join(map(str, numbers)) for numbers in (*score.values(), every)]
        rows.append([f"{one} over {other}".replace(OTHER, ""), *told])
    return rows


RANKED_HEADS = ["above / equal (within .005) / below", "totals 1 to 10", "10 to 20", "20 and more", "all"]


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
        "At the totals that the papers' sums claim for delta = 1e-3, which are too small. Every search is the one that "
        "the paper prints: an edge at a time, neighbours as they are now.",
        "",
        *claims(theirs),
        "",
        "## Who is above whom",
        "",
        "Skeleton F1 at totals of 1 and more, counted over networks and totals of the first method, by the total. What "
        "the paper compares, at the totals that its sums claim; not private:",
        "",
        *table(RANKED_HEADS, rankings(theirs, PAIRS)),
        "",
        "Ours, with constants that hold, and totals that are guaranteed:",
        "",
        *table(RANKED_HEADS, rankings(ours, OURS)),
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
