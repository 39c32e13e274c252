"""A Manhattan-style picture of released SNPs: place along the genome, and how clear each one is.

Only SNPs in the result are drawn, at their public positions: -log10 of the private p-value where there is one, else
a row of hits. Nothing stands for the SNPs that were not released.
"""

from __future__ import annotations

import math
from pathlib import Path

from dpcausal.core.errors import InputError
from dpcausal.gwas.result import Screening

ORDER = {**{str(c): c for c in range(1, 23)}, "X": 23, "Y": 24, "XY": 25, "MT": 26, "M": 26}

NAMES = [*(str(c) for c in range(1, 23)), "X", "Y", "XY", "MT", "other"]


def place(chromosome: str, position: int) -> float:
    """Chromosome number and how far along it, 250 million bases being all of it.

    >>> place("chr2", 125_000_000)
    2.5
    """
    plain = chromosome.upper().removeprefix("CHR")
    return ORDER.get(plain, len(NAMES)) + min(position / 250e6, 0.999)


def draw_hits(result: Screening, path: Path) -> None:
    """Write the picture as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # late: takes a second
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    private = all(hit.pvalue is not None for hit in result.hits)
    for hit in result.hits:
        x = place(hit.variant.chromosome, hit.variant.position)
        y = -math.log10(max(hit.pvalue, 1e-30)) if private and hit.pvalue is not None else 1.0
        colour = "#b2182b" if hit.rejected else "#bbbbbb"
        axes.plot([x, x], [0, y], color=colour, lw=1)
        axes.plot(x, y, "o", color=colour, ms=5)
        if hit.rejected:
            axes.annotate(
                hit.variant.name, (x, y), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=7
            )
    if private and result.hits:
        axes.axhline(-math.log10(result.level), color="#555555", lw=0.8, ls="--")
        axes.set_ylabel("-log10 P_DP (family-wise)")
    else:
        axes.set_yticks([])
        axes.set_ylabel("hit")
    axes.set_ylim(bottom=0)
    axes.margins(y=0.15)
    last = max([23, *(int(place(hit.variant.chromosome, 0)) for hit in result.hits)])
    axes.set_xlim(1, last + 1)
    axes.set_xticks([c + 0.5 for c in range(1, last + 1)], NAMES[:last], fontsize=7)
    axes.set_xlabel("chromosome")
    epsilon = result.privacy.epsilon
    told = "not private" if epsilon is None or not result.privacy.private else f"epsilon {epsilon:g}"
    axes.set_title(f"Released SNPs only ({result.method}, {told}, level {result.level:g})", fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(f"can't write {path.name}: {error.strerror or error}") from None
