"""Level of the default gcm where its assumptions are strained: 1,000 data sets a line, 20 draws of z, epsilon 2.

    python benchmarks/gcm_robust.py [--rows 1000] [--draws 20]

x = f + e, y = -f + g with f(z) = exp(-s^2/2) sin(s z_1) (s = 2), z ~ N(0, 4 I_d). Errors e, g: normal; exponential
(skewed); normal with standard deviation exp(.3 z_1) in both columns. "lumps": half of the rows have z = 0. "codes": z
cut into three values, declared as numbers. Scores by ``experiments/gcm/fast.py``, which is tested against the package.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from gcm import design, fast

Values = NDArray[np.float64]
EPSILON, REPS = 2.0, 50
KINDS = ("normal", "exponential", "unequal", "lumps", "codes")


def points(kind: str, n: int, d: int, rng: np.random.Generator) -> Values:
    """z."""
    z = design.draw_z(n, d, rng)
    if kind == "lumps":
        z[rng.random(n) < 0.5] = 0.0
    return np.digitize(z, [-1.0, 1.0]).astype(np.float64) if kind == "codes" else z


def errors(kind: str, z: Values, rng: np.random.Generator) -> Values:
    """Of one column, ``REPS`` data sets."""
    shape = (len(z), REPS)
    if kind == "exponential":
        return rng.exponential(size=shape) - 1
    spread = np.exp(0.3 * z[:, :1]) if kind == "unequal" else 1.0
    return np.asarray(spread * rng.normal(size=shape))


def pvalues(kind: str, n: int, d: int, draws: int) -> Values:
    """Of all data sets."""
    found = []
    for k in range(draws):
        rng = np.random.default_rng([n, d, k, KINDS.index(kind)])
        z = points(kind, n, d, rng)
        mean = design.mean_of_x(z, 2.0, "printed")[:, None]
        deal = fast.Deal(fast.unit_z(z), EPSILON, k)
        scores = deal.scores(mean + errors(kind, z, rng), -mean + errors(kind, z, rng))
        found.append(fast.released_pvalues(scores, deal.plan, EPSILON, rng))
    return np.concatenate(found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=20)
    args = parser.parse_args()
    print(
        f"| n = {args.rows:,}, {args.draws * REPS:,} data sets | d | p <= .05 | p <= .01 |\n|---|---|---|---|"
    )
    for kind in KINDS:
        for d in (1, 5):
            p = pvalues(kind, args.rows, d, args.draws)
            print(f"| {kind} | {d} | {np.mean(p <= 0.05):.3f} | {np.mean(p <= 0.01):.3f} |", flush=True)


if __name__ == "__main__":
    main()
