"""What ``scale = "log"`` on a skewed given column does: level and power of a test, and graphs.

    python benchmarks/log_scale.py [--sets 100] [--rows 2000]

z is lognormal(1, 1.2) between the bounds 0.01 and 500. Level: x and y are log z with noise, so they are independent
given z; a test rejects at 5%. Power: y also has 0.1 x. ``strata=40`` cuts z into 40 strata of equal width between
its bounds, which costs nothing and is where the scale matters most; ``auto`` takes strata of about equal counts, cut
where noisy counts say; ``gcm`` regresses on z. Graphs: x <- z -> y, x -> w, by ``moments``: found of 3 true edges, and
false ones.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import dpcausal as dc

SCALES = ("linear", "log")
TESTS: dict[str, dict[str, Any]] = {
    "kendall strata=40": {"method": "kendall", "strata": 40},
    "auto": {"method": "auto"},
    "gcm": {"method": "gcm"},
}
TRUE = {frozenset("xz"), frozenset("yz"), frozenset("xw")}


def made(rows: int, seed: int, effect: float, scale: str) -> dc.Dataset:
    """Return one data set; the same rows for either scale."""
    rng = np.random.default_rng([seed, rows])
    z = rng.lognormal(1, 1.2, rows)
    x = np.log(z) + rng.normal(size=rows)
    y = np.log(z) + rng.normal(size=rows) + effect * x
    w = x + rng.normal(size=rows)
    wide = dc.Numeric(-8, 12)
    schema = dc.Schema(x=wide, y=wide, z=dc.Numeric(0.01, 500, scale=scale), w=wide)
    return dc.read({"x": x, "y": y, "z": z, "w": w}, schema)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--tests", nargs="*", default=list(TESTS), choices=list(TESTS))
    parser.add_argument("--epsilon", type=float, default=1.0)
    asked = parser.parse_args()
    print(
        f"{asked.rows:,} rows, epsilon {asked.epsilon:g}, {asked.sets} data sets: shares of rejections at .05"
    )
    print(f"{'test':<20}{'scale':<10}{'level':>8}{'power':>8}")
    for name in asked.tests:
        options = TESTS[name]
        for scale in SCALES:
            shares = []
            for effect in (0.0, 0.1):
                found = (
                    dc.ci_test(
                        made(asked.rows, seed, effect, scale),
                        "x",
                        "y",
                        ["z"],
                        epsilon=asked.epsilon,
                        **options,
                    )
                    for seed in range(asked.sets)
                )
                shares.append(np.mean([not test.independent for test in found]))
            print(f"{name:<20}{scale:<10}{shares[0]:>8.2f}{shares[1]:>8.2f}", flush=True)
    print(
        f"graphs by moments, delta 1e-6, {asked.sets // 5} data sets: mean edges found of 3 true ones, and false"
    )
    for scale in SCALES:
        true, false = [], []
        for seed in range(asked.sets // 5):
            data = made(asked.rows, seed, 0.0, scale)
            graph = dc.discover(data, epsilon=asked.epsilon, delta=1e-6, method="moments", anyway=True).graph
            true.append(len(graph.skeleton & TRUE))
            false.append(len(graph.skeleton - TRUE))
        print(f"{'moments':<20}{scale:<10}{np.mean(true):>8.2f}{np.mean(false):>8.2f}", flush=True)


if __name__ == "__main__":
    main()
