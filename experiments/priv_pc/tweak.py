"""Priv-PC's tweak t of the threshold beside the shifts that ``priv-pc`` uses instead: F1 and open pairs, in a figure.

100,000 rows, delta 1e-6, replace-one, level .001. t is in scales of the sieve's noise; the paper gives no value.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dpcausal as dc
from dpcausal.discovery.discover import discover
from dpcausal.graphs.metrics import skeleton_scores
from priv_pc.runs import DELTA, FIRST_SEED, LEVEL, ROWS, counts, finish, half_width, table

NETWORKS = ("earthquake", "cancer", "asia", "survey")
TWEAKS = (None, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
EPSILONS = (1.0, 3.0, 10.0)


class Mean(NamedTuple):
    """Mean skeleton F1, half of its 95% interval, and the mean number of open pairs."""

    network: str
    epsilon: float
    tweak: float | None
    f1: float
    half: float
    open_pairs: float


def mean_f1(network: str, tweak: float | None, epsilon: float, seeds: int) -> Mean:
    """Run ``seeds`` samples."""
    truth, scores, open_pairs = dc.networks.load(network).dag, [], []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        with dc.testing.seeded(1000 + seed):
            found = discover(
                counts(network, seed),
                epsilon=epsilon,
                delta=DELTA,
                method="priv-pc",
                level=LEVEL,
                tweak=tweak,
            )
        scores.append(skeleton_scores(truth, found.graph).f1)
        open_pairs.append(len(found.open))
    return Mean(
        network, epsilon, tweak, float(np.mean(scores)), half_width(scores), float(np.mean(open_pairs))
    )


def draw(found: Sequence[Mean], path: Path) -> None:
    """One panel a network: F1 by t, one colour an epsilon; the dashed line is what the shifts reach."""
    count = len(NETWORKS)
    figure, ((*axes,),) = plt.subplots(1, count, figsize=(3.2 * count, 3.4), sharey=True, squeeze=False)
    for axis, network in zip(axes, NETWORKS, strict=True):
        for colour, epsilon in zip(plt.cm.tab10.colors, EPSILONS, strict=False):
            mine = [one for one in found if (one.network, one.epsilon) == (network, epsilon)]
            tweaked = [one for one in mine if one.tweak is not None]
            at, f1 = [one.tweak for one in tweaked], np.array([one.f1 for one in tweaked])
            half = np.array([one.half for one in tweaked])
            axis.plot(at, f1, "o-", color=colour, markersize=3, label=f"tweak t, epsilon {epsilon:g}")
            axis.fill_between(at, f1 - half, np.minimum(f1 + half, 1), color=colour, alpha=0.1, linewidth=0)
            for one in mine:
                if one.tweak is None:
                    axis.axhline(one.f1, color=colour, linestyle="--", label=f"shifts, epsilon {epsilon:g}")
        axis.set(title=network, xlabel="t, in scales of the noise", ylim=(0, 1.03))
        axis.set_xscale("symlog", linthresh=0.5)
        axis.set_xlim(-0.1, 9)
        axis.set_xticks([0, 0.5, 1, 2, 4, 8], ["0", ".5", "1", "2", "4", "8"])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F1 of the skeleton")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def page(name: str, seeds: int, found: Sequence[Mean]) -> list[str]:
    """All numbers as a page."""
    heads = ["network", "epsilon", *("shifts" if t is None else f"t = {t:g}" for t in TWEAKS)]
    by_key = {(one.network, one.epsilon, one.tweak): one for one in found}
    rows = []
    for network in NETWORKS:
        for epsilon in EPSILONS:
            ones = [by_key[network, epsilon, tweak] for tweak in TWEAKS]
            told = [f"{one.f1:.2f} ({one.open_pairs:.1f})" for one in ones]
            rows.append([network, f"{epsilon:g}", *told])
    return [
        "# Priv-PC: the tweak of the threshold",
        "",
        f"Skeleton F1 (open pairs) of `priv-pc` with the paper's tweak t, and with the shifts that replace it; {seeds} "
        f"seeds, n = {ROWS:,}, delta = {DELTA:g}, replace-one, level {LEVEL:g}. t is in scales of the sieve's noise. "
        "Dashed: the shifts. Bands are 95% intervals. Made by `dpcausal reproduce priv-pc-tweak"
        f"{' --quick' if 'quick' in name else ''}`.",
        "",
        f"![F1 by tweak]({name}.png)",
        "",
        *table(heads, rows),
    ]


def main(quick: bool, out: Path) -> None:
    """Run and print; priv-pc-tweak.png, .csv and .md in ``out``."""
    seeds = 3 if quick else 20
    name = "priv-pc-tweak-quick" if quick else "priv-pc-tweak"
    found = [
        mean_f1(network, tweak, epsilon, seeds)
        for network in NETWORKS
        for epsilon in EPSILONS
        for tweak in TWEAKS
    ]
    draw(found, out / f"{name}.png")
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["network", "epsilon", "tweak", "f1", "half", "open"])
        writer.writerows(
            [
                m.network,
                m.epsilon,
                "" if m.tweak is None else m.tweak,
                f"{m.f1:.4f}",
                f"{m.half:.4f}",
                m.open_pairs,
            ]
            for m in found
        )
    finish(out, name, page(name, seeds, found))
