"""Private choice of lambda and bandwidth for gcm's ``moments``: how often the best is taken, and level and power.

    python benchmarks/gcm_selection.py [--runs 200]

The design of ``private_gcm.py``, d = 1, epsilon = 2: "bump" and "lines" for the choice of four bandwidths; "lines" (z
moves both columns, beta = 0) for the level, "printed" (s = 1, beta = .5) for power. Noise is seeded.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.gcm_ridge import RidgeChoice, scores
from dpcausal.citests.regression_columns import columns_of
from dpcausal.citests.session import Session
from dpcausal.core.neighbours import Neighbours
from private_gcm import Free, design

EPSILON = 2.0
LISTS = (0.01, 0.05, 0.2, 1.0)
OPTIONS: dict[str, dict[str, Any]] = {
    "default bandwidth": {},
    "a chosen one": {"select": True},
    "chosen lambda of four": {"select": True, "lambdas": LISTS, "bandwidth": 0.3},
}


def taken(n: int, form: str, s: float, runs: int) -> int:
    """How often the bandwidth with the best score is chosen."""
    choice, found = RidgeChoice((1.0,)), 0
    for k in range(runs):
        data = design(np.random.default_rng([k, n]), n, 1, s, 0.0, form)
        columns = columns_of(Question.of(data.schema, "x", "y", ["z0"]), data)
        terms = TestSettings(EPSILON, 0.0, 0.05, Neighbours.REPLACE_ONE, n)
        ridge, _ = choice.choose(columns, terms, Free(), "", per_row=False)
        candidates = choice.candidates(1)
        best = candidates[int(np.argmax(scores(columns, candidates, [0.0] * len(candidates))))]
        found += ridge.bandwidth == best.bandwidth
    return found


def rejected(n: int, form: str, s: float, beta: float, runs: int, options: dict[str, Any]) -> float:
    """Share of rejections at .05."""
    found = 0
    for k in range(runs):
        data = design(np.random.default_rng([k, n, 1, int(10 * s)]), n, 1, s, beta, form)
        session = Session(data, Gcm(variant="moments", **options), level=0.05, epsilon=EPSILON, budget=Free())
        found += not session.ask("x", "y", ["z0"]).independent
    return found / runs


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    with dc.testing.seeded(7):
        print("| n | z acts by a | best bandwidth of four taken |\n|---|---|---|")
        for n, count in ((1000, runs // 5), (10_000, runs // 10)):
            for form, s in (("bump", 2.0), ("lines", 0.0)):
                print(f"| {n:,} | {form} | {taken(n, form, s, count)} of {count} |", flush=True)
        print("\n| n = 1,000, lambda 1 | rejected, null (lines) | rejected, beta = .5 |\n|---|---|---|")
        for name, options in OPTIONS.items():
            null = rejected(1000, "lines", 0.0, 0.0, runs, options)
            power = rejected(1000, "printed", 1.0, 0.5, runs, options)
            print(f"| {name} | {null:.2f} | {power:.2f} |", flush=True)


if __name__ == "__main__":
    main()
