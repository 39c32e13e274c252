"""Time of the private drivers after counting: 100,000 rows, secure noise, the median of repeated runs.

python benchmarks/discovery_private.py [--repeats 30]
"""

from __future__ import annotations

import argparse
import statistics
import time

import dpcausal as dc
from dpcausal.counts.memory import counts_of
from dpcausal.discovery.discover import discover

NETWORKS = ("asia", "earthquake", "cancer", "survey", "sachs")
METHODS = ("priv-pc", "svt-pc", "em-pc", "curate")
GOAL_MS = 20.0  # of priv-pc on the four small networks


def milliseconds(data: dc.Dataset, method: str, repeats: int, epsilon: float = 1.0) -> float:
    """Median over runs; the first run, which counts and warms up, is left out."""
    counts = counts_of(data)
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        discover(counts, epsilon=epsilon, delta=1e-6, method=method, level=0.01)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[1:])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    arguments = parser.parse_args()
    print(f"{'network':12}" + "".join(f"{method:>12}" for method in METHODS) + "   (ms, epsilon 1)")
    for name in NETWORKS:
        data = dc.networks.load(name).sample(100_000, seed=1)
        row = [milliseconds(data, method, arguments.repeats) for method in METHODS]
        print(f"{name:12}" + "".join(f"{ms:12.1f}" for ms in row))
    print(f"goal: priv-pc at most {GOAL_MS:g} ms on asia, earthquake, cancer, survey")


if __name__ == "__main__":
    main()
