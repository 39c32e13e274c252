"""CURATE against the other private drivers: F1 by total epsilon.

Against the true graph, 100,000 rows, delta 1e-6, replace-one, level .001, 20 seeds (5 with ``quick``). CURATE as
its public code has it, and by Lemma 1's fair coin, is drawn dashed: **not private**, at the total it asks for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpcausal.discovery import printed
from dpcausal.discovery.curate import cost_now
from priv_pc import compared
from priv_pc.figure1 import draw
from priv_pc.runs import DRIVERS, EPSILONS, FIRST_SEED, Point, counts, finish, markdown, point, run, save

NETWORKS = ("earthquake", "cancer", "asia", "survey")
AS_PUBLISHED = {
    "CURATE, public code (not private)": False,
    "CURATE, coin of Lemma 1 (not private)": True,
}


def published_points(network: str, seeds: int) -> list[Point]:
    """The published CURATE at the totals of the figure, with both coins."""
    points = []
    for label, coin in AS_PUBLISHED.items():
        for epsilon in EPSILONS:
            graphs = []
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                rng = np.random.default_rng(4000 + seed)
                found = printed.curate(counts(network, seed), epsilon, rng, cost_now, coin=coin)
                graphs.append(compared.graph_of(found.skeleton))
            points.append(point(network, label, epsilon, graphs))
    return points


def main(quick: bool, out: Path) -> None:
    """Compute, print, draw; files curate-comparison*.png, .csv and .md in ``out``."""
    seeds = 5 if quick else 20
    name = "curate-comparison-quick" if quick else "curate-comparison"
    points: list[Point] = []
    for network in NETWORKS:
        points += [run(network, driver, epsilon, seeds) for driver in DRIVERS for epsilon in EPSILONS]
        points += published_points(network, seeds)
    save(out / f"{name}.csv", points)
    draw(points, [], "skeleton", out / f"{name}.png", marks=False)
    lines = [
        "# CURATE against the other private drivers",
        "",
        f"Skeleton F1 by total epsilon, {seeds} seeds, mean ± half of the 95% interval. Made by `dpcausal reproduce "
        f"curate-comparison{' --quick' if quick else ''}`.",
        "",
    ]
    lines += [f"![skeleton]({name}.png)", ""]
    lines += markdown(points, EPSILONS, lambda p: f"{p.skeleton:.2f} ±{p.skeleton_half:.2f}")
    finish(out, name, lines)
