"""Draw the tables whose reference values ``make_references.R`` computes.

    python tests/references/make_tables.py && Rscript tests/references/make_references.R

Writes ``tables.json`` beside itself: {"ranks": [...], "chi2_g": [...]}, each table as nested lists (k, r, c).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SHAPES = [(2, 2), (2, 3), (3, 2), (3, 3), (2, 5), (4, 3), (5, 5)]


def draw(rng: np.random.Generator, k: int, r: int, c: int, mean: float) -> list[list[list[int]]]:
    """Poisson counts around a mildly dependent table; every block has two rows and no constant margin."""
    while True:
        cells = rng.gamma(1.5, 1.0, size=(k, r, c)) * mean
        table = rng.poisson(cells)
        if (table.sum(axis=2) > 0).all() and (table.sum(axis=1) > 0).all():
            return table.tolist()


def tables(seed: int) -> dict[str, list[list[list[list[int]]]]]:
    """120 binary and 120 larger sets of blocks for rank tests, 120 for chi-squared and G."""
    rng = np.random.default_rng(seed)
    means = [2.0, 4.0, 8.0, 60.0]
    binary = [draw(rng, int(rng.integers(1, 9)), 2, 2, means[i % 4]) for i in range(120)]
    larger = [draw(rng, int(rng.integers(1, 4)), *SHAPES[1:][i % 6], means[i % 3]) for i in range(120)]
    chi2_g = [
        draw(rng, 1 if i < 60 else int(rng.integers(2, 6)), *SHAPES[i % 7], means[i % 4]) for i in range(120)
    ]
    return {"ranks": binary + larger, "chi2_g": chi2_g}


if __name__ == "__main__":
    (HERE / "tables.json").write_text(json.dumps(tables(20_240_611), separators=(",", ":")))
