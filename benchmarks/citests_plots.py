"""Figures of level and power from the file of results: ``citests_level.png`` and ``citests_power.png``."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from citests_designs import EFFECT, Setting
from citests_grid import BLOCKS, EPSILONS, HIGH, LOW, MAIN, RELATIONS, SIZES, Results, side_grid

COLOURS = {"kendall": "#0072b2", "spearman": "#d55e00", "measured": "#009e73"}
SHADES = dict(zip(BLOCKS, ("#9ecae1", "#4292c6", "#2171b5", "#08306b"), strict=True))


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def level_figure(results: Results, where: Path) -> None:
    """Every level of the grid: a point per setting, the band a level should stay in."""
    figure, panels = plt.subplots(2, 3, figsize=(10, 5.6), sharex=True, sharey=True, layout="constrained")
    rng = np.random.default_rng(0)
    for row, relation in enumerate(RELATIONS):
        for column, method in enumerate(MAIN):
            axes: Axes = panels[row, column]
            axes.axhspan(LOW, HIGH, color="#eeeeee", zorder=0)
            axes.axhline(0.05, color="#888888", linewidth=0.8)
            for k in BLOCKS:
                for design, marker in (("balanced", "o"), ("rare", "^")):
                    grid = [Setting(method, design, relation, n, k, e) for n in SIZES for e in EPSILONS]
                    x = [math.log2(s.epsilon / 0.1) + 0.35 * (rng.random() - 0.5) for s in grid]
                    label = f"k = {k}" if design == "balanced" else None
                    y = [results.rate(s) for s in grid]
                    axes.scatter(x, y, s=13, marker=marker, color=SHADES[k], label=label, linewidths=0)
            side = [s for s in side_grid(0.0, quick=False) if (s.method, s.relation) == (method, relation)]
            x = [math.log2(s.epsilon / 0.1) + 0.35 * (rng.random() - 0.5) for s in side]
            y = [results.rate(s) for s in side]
            axes.scatter(x, y, s=16, marker="x", color="#cc3311", linewidths=0.9, label="other designs")
            axes.set_title(f"{method}, {relation}", fontsize=10)
            axes.set_xticks([math.log2(e / 0.1) for e in EPSILONS], [f"{e:g}" for e in EPSILONS])
            axes.set_ylim(0, 0.12)
            _bare(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("rejected at level .05")
    for axes in panels[1]:
        axes.set_xlabel("epsilon")
    panels[0, 0].legend(fontsize=7, frameon=False, ncols=2, loc="upper left")
    figure.suptitle(
        "Level: x and y independent given z; every n, k and epsilon; circles balanced, triangles rare levels",
        fontsize=10,
    )
    figure.savefig(where, dpi=110)
    plt.close(figure)


def power_figure(results: Results, where: Path) -> None:
    """Power against epsilon at n = 1,000 and 5,000 for the same noncentrality."""
    shown = [("balanced", 1000), ("balanced", 5000), ("rare", 5000)]
    figure, panels = plt.subplots(3, 3, figsize=(10, 8), sharex=True, sharey=True, layout="constrained")
    for row, (design, n) in enumerate(shown):
        for column, k in enumerate((1, 8, 64)):
            axes: Axes = panels[row, column]
            for method, colour in COLOURS.items():
                for relation, style in zip(RELATIONS, ("-", ":"), strict=True):
                    grid = [Setting(method, design, relation, n, k, e, EFFECT) for e in EPSILONS]
                    y = [results.rate(s) for s in grid]
                    label = f"{method}, {relation}"
                    axes.plot(EPSILONS, y, style, marker="o", markersize=3, color=colour, label=label)
            plain = results.classical(Setting("kendall", design, "replace-one", n, k, 1.0, EFFECT))
            axes.axhline(
                plain, color="#888888", linewidth=0.8, linestyle="--", label="kendall without privacy"
            )
            axes.set_xscale("log")
            axes.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
            axes.minorticks_off()
            axes.set_title(f"{design}, n = {n:,}, k = {k}", fontsize=10)
            axes.set_ylim(0, 1.03)
            _bare(axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("power")
    for axes in panels[2]:
        axes.set_xlabel("epsilon")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=8, frameon=False, ncols=4, loc="outside lower center")
    figure.suptitle(f"Power at level .05: correlation {EFFECT}/sqrt(n) in every block", fontsize=10)
    figure.savefig(where, dpi=110)
    plt.close(figure)


def draw_plots(results: Results, folder: Path) -> None:
    """Both figures into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    level_figure(results, folder / "citests_level.png")
    power_figure(results, folder / "citests_power.png")
    print(f"figures in {folder}")
