"""Rejection rates by cell of a figure: tests by name, repetitions that share Z, tables and pictures."""

from __future__ import annotations

import csv
import math
import textwrap
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy.special import betaincinv

from gcm import fast, published, rivals
from gcm.design import Batch, Cell, Values, draw, draw_z


@dataclass
class Scene:
    """One batch with all that its tests share: Z's regressions, clusters, and the random numbers of the noise."""

    batch: Batch
    points: Points
    rng: np.random.Generator
    seed: int


@dataclass
class Points:
    """What is computed once for a draw of Z."""

    z: Values
    seed: int
    deals: dict[float, fast.Deal] = field(default_factory=dict)

    @cached_property
    def fits(self) -> published.Fits:
        """Regressions on all rows."""
        return published.Fits(self.z)

    @cached_property
    def parts(self) -> list[published.Fits]:
        """Regressions on ten parts."""
        return rivals.part_fits(self.z)

    def deal(self, epsilon: float) -> fast.Deal:
        """Our parts at this budget."""
        if epsilon not in self.deals:
            self.deals[epsilon] = fast.Deal(fast.unit_z(self.z), epsilon, self.seed)
        return self.deals[epsilon]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """k-means clusters."""
        return rivals.clusters(self.z, self.seed)


Test = Callable[[Scene], published.Flags]


@dataclass(frozen=True)
class Rate:
    """How often a test rejected."""

    panel: str
    method: str
    at: float
    rejected: int
    reps: int

    @property
    def rate(self) -> float:
        """The share."""
        return self.rejected / self.reps

    @property
    def interval(self) -> tuple[float, float]:
        """95% Clopper-Pearson."""
        k, m = self.rejected, self.reps
        low = 0.0 if k == 0 else float(betaincinv(k, m - k + 1, 0.025))
        return low, 1.0 if k == m else float(betaincinv(k + 1, m - k, 0.975))


def measure(tests: dict[str, Test], cells: Sequence[Cell], reps: int, draws: int, seed: int) -> list[Rate]:
    """Rates of every test in every cell: ``draws`` draws of Z, ``reps`` repetitions in all.

    Cells of the same n and d share Z and what is computed from it. Random numbers depend on the cell, the draw and
    the test's name: what one test says does not depend on which others are asked.
    """
    counts: dict[tuple[Cell, str], int] = {}
    total = math.ceil(reps / draws) * draws
    for (n, d), group in groupby(sorted(cells, key=lambda c: (c.n, c.d)), key=lambda c: (c.n, c.d)):
        same = list(group)
        for k in range(draws):
            points = Points(draw_z(n, d, np.random.default_rng([seed, n, d, k])), seed + k)
            for i, cell in enumerate(same):
                rng = np.random.default_rng([seed, n, d, k, i])
                batch = draw(cell, points.z, total // draws, rng)
                for name, test in tests.items():
                    own = np.random.default_rng([seed, n, d, k, i, zlib.crc32(name.encode())])
                    scene = Scene(batch, points, own, zlib.crc32(repr((seed, n, d, k, i, name)).encode()))
                    counts[cell, name] = counts.get((cell, name), 0) + int(np.sum(test(scene)))
    return [Rate(cell.panel, name, cell.at, counts[cell, name], total) for cell in cells for name in tests]


def markdown(rates: Sequence[Rate], axis: str) -> list[str]:
    """A table: one row per panel and method, one column per point of the axis."""
    ats = sorted({r.at for r in rates})
    by_key = {(r.panel, r.method, r.at): r for r in rates}
    lines = [f"| {axis}: | | " + " | ".join(f"{a:g}" for a in ats) + " |", "|---|---|" + "---|" * len(ats)]
    for panel, method in dict.fromkeys((r.panel, r.method) for r in rates):
        cells = [by_key.get((panel, method, a)) for a in ats]
        lines.append(
            f"| {panel} | {method} | " + " | ".join(f"{r.rate:.3f}" if r else "" for r in cells) + " |"
        )
    return lines


def style(method: str) -> dict[str, Any]:
    """Ours solid, the published dashed, the classical dotted."""
    if method.startswith("ours"):
        return {"marker": "o", "markersize": 3.5, "linewidth": 1.8}
    if "no privacy" in method:
        return {"linestyle": ":", "color": "black" if "5 n" not in method else "silver"}
    return {"linestyle": "--", "marker": "x", "markersize": 3.5, "linewidth": 1.1}


def picture(rates: Sequence[Rate], axis: str, path: Path, *, log: int = 0, columns: int = 2) -> None:
    """One panel a plot, bands are 95% intervals, the line at .05 is the level."""
    panels = list(dict.fromkeys(r.panel for r in rates))
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.6 * columns, 3.1 * rows + 0.9), squeeze=False)
    colours = dict(zip(dict.fromkeys(r.method for r in rates), plt.cm.tab10.colors * 2, strict=False))
    for spare in axes.flat[len(panels) :]:
        spare.axis("off")
    for plot, panel in zip(axes.flat, panels, strict=False):
        for method in dict.fromkeys(r.method for r in rates if r.panel == panel):
            line = sorted((r for r in rates if r.panel == panel and r.method == method), key=lambda r: r.at)
            x = [r.at for r in line]
            look = {"color": colours[method], **style(method)}
            plot.plot(x, [r.rate for r in line], label=method, **look)
            low, high = zip(*(r.interval for r in line), strict=True)
            plot.fill_between(x, low, high, color=look["color"], alpha=0.1, linewidth=0)
        plot.axhline(0.05, color="grey", linewidth=0.6)
        plot.set(title=panel, xlabel=axis, ylim=(-0.02, 1.04))
        plot.title.set_fontsize(10)
        if log:
            plot.set_xscale("log", base=log)
        plot.grid(alpha=0.25)
    for plot in axes[:, 0]:
        plot.set_ylabel("share rejected")
    handles = {
        label: h for plot in axes.flat for h, label in zip(*plot.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=2, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.03 + 0.2 * math.ceil(len(handles) / 2) / (3.1 * rows + 0.9), 1, 1))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def save(path: Path, rates: Iterable[Rate]) -> None:
    """Write rates as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["panel", "method", "at", "rejected", "reps"])
        writer.writerows([r.panel, r.method, f"{r.at:g}", r.rejected, r.reps] for r in rates)


def finish(
    out: Path, number: int, quick: bool, title: str, text: str, rates: Sequence[Rate], axis: str, **look: Any
) -> None:
    """Print the table; write picture, CSV and page of a figure of the paper."""
    finish_named(out, f"gcm_figure{number}", quick, title, text, rates, axis, **look)


def finish_named(
    out: Path, stem: str, quick: bool, title: str, text: str, rates: Sequence[Rate], axis: str, **look: Any
) -> None:
    """Print the table; write picture, CSV and page."""
    name = stem + ("_quick" if quick else "")
    picture(rates, axis, out / f"{name}.png", **look)
    save(out / f"{name}.csv", rates)
    lines = [f"# {title}", "", wrapped(text), "", f"![{title}]({name}.png)", "", *markdown(rates, axis), ""]
    (out / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    show(lines)


def wrapped(text: str) -> str:
    """Lines of a page."""
    return textwrap.fill(" ".join(text.split()), 116, break_long_words=False, break_on_hyphens=False)


def show(lines: Sequence[str]) -> None:
    """Print Markdown as it is."""
    Console(width=300, soft_wrap=True).print("\n".join(lines), markup=False, highlight=False)
