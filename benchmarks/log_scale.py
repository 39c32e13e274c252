"""What ``scale = "log"`` on a skewed given column does: level and power of a test, and graphs.

    python benchmarks/log_scale.py [--sets 100] [--rows 2000]

z is lognormal(1, 1.2) between the bounds 0.01 and 500. Level: x and y are log z with noise, so they are independent
given z; a test rejects at 5%. Power: y also has 0.1 x. ``strata=40`` cuts z into 40 strata of equal width between
its bounds, which costs nothing and is where the scale matters most; ``auto`` takes strata of about equal counts, cut
where noisy counts say; ``gcm`` regresses on z. Graphs: x <- z -> y, x -> w, by ``moments``: found of 3 true edges, and
false ones. Data and noise are seeded: results repeat.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import dpcausal as dc

SCALES = ("linear", "log")
TESTS: dict[str, dict[str, Any]] = {
    "`kendall`, 40 strata of equal width": {"method": "kendall", "strata": 40},
    "`auto` (strata of equal counts)": {"method": "auto"},
    "`gcm`": {"method": "gcm"},
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


def rejected(name: str, rows: int, effect: float, scale: str, epsilon: float, sets: int) -> float:
    """Return the share of data sets in which a test rejects."""
    found = []
    for seed in range(sets):
        with dc.testing.seeded(seed):
            test = dc.ci_test(
                made(rows, seed, effect, scale), "x", "y", ["z"], epsilon=epsilon, **TESTS[name]
            )
        found.append(not test.independent)
    return float(np.mean(found))


def edges(rows: int, scale: str, epsilon: float, sets: int) -> tuple[float, float]:
    """Return the mean numbers of true and of false edges that ``moments`` finds."""
    found = []
    for seed in range(sets):
        data = made(rows, seed, 0.0, scale)
        with dc.testing.seeded(seed):
            graph = dc.discover(data, epsilon=epsilon, delta=1e-6, method="moments", anyway=True).graph
        found.append((len(graph.skeleton & TRUE), len(graph.skeleton - TRUE)))
    true, false = np.mean(found, axis=0)
    return float(true), float(false)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    asked = parser.parse_args()
    print(
        f"{asked.rows:,} rows, epsilon {asked.epsilon:g}, {asked.sets} data sets: shares of rejections at .05\n"
    )
    print("| | level, linear | level, log | power, linear | power, log |\n|---|---|---|---|---|")
    for name in TESTS:
        shares = [
            rejected(name, asked.rows, effect, scale, asked.epsilon, asked.sets)
            for effect in (0.0, 0.1)
            for scale in SCALES
        ]
        print(f"| {name} |", *(f"{share:.2f} |" for share in shares), flush=True)
    graphs = asked.sets // 5
    print(
        f"\ngraphs by moments, delta 1e-6, {graphs} data sets: mean edges found of 3 true ones, and false\n\n"
        "| | true edges, linear | log | false edges, linear | log |\n|---|---|---|---|---|"
    )
    true, false = zip(*(edges(asked.rows, scale, asked.epsilon, graphs) for scale in SCALES), strict=True)
    print("| `moments` |", *(f"{mean:.1f} |" for mean in (*true, *false)))


if __name__ == "__main__":
    main()
