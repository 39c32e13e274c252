"""How good the forecast of an interval's width is (``effects/forecast.py``), on random networks of our own.

    python benchmarks/effects_forecast.py [--networks 12] [--seeds 3]

For four effects of each network (``effects.py``), with every number of rows and epsilon below: the median width of
``--seeds`` answers over the forecast. Printed is how often that lies within a factor of 2 and of 3, and how often an
effect is refused: *said something all the same* counts those of the refused whose median width is below half of that
from which on an interval says nothing; *let through* those not refused although the median width is beyond it.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import dpcausal as dc
from effects import as_rows, ordered, pairs_of, random_network

ROWS, EPSILONS = (300, 1_000, 10_000), (0.03, 0.1, 0.3, 1.0)


def ratios(networks: int, seeds: int) -> dict[tuple[int, float], list[tuple[float, bool, float]]]:
    """(median width over forecast, refused, median width over what says nothing) by rows and epsilon."""
    found: dict[tuple[int, float], list[tuple[float, bool, float]]] = {}
    for number in range(networks):
        network = random_network(number)
        schema, pairs = ordered(network), pairs_of(network)
        chosen = [pairs[i] for i in np.random.default_rng(number).permutation(len(pairs))[:4]]
        for n in ROWS:
            data = as_rows(network, schema, n, number)
            for epsilon in EPSILONS:
                for pair in chosen:
                    given: dict[str, Any] = {"adjust": pair.adjust, "epsilon": epsilon}
                    ahead = dc.forecast_effect(data, pair.treatment, pair.outcome, **given)
                    widths = []
                    for seed in range(seeds):
                        with dc.testing.seeded(seed):
                            one = dc.effect(data, pair.treatment, pair.outcome, **given, anyway=True)
                        widths.append(one.interval[1] - one.interval[0])
                    width = float(np.median(widths))
                    entry = (width / ahead.width, ahead.says_nothing, width / ahead.most)
                    found.setdefault((n, epsilon), []).append(entry)
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    print(
        "| rows | epsilon | effects | within 2 | within 3 | refused | said something all the same | let through |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for (n, epsilon), entries in ratios(asked.networks, asked.seeds).items():
        ratio = np.array([entry[0] for entry in entries])
        refused = np.array([entry[1] for entry in entries])
        wide = np.array([entry[2] for entry in entries])
        within = [float(((ratio < k) & (ratio > 1 / k)).mean()) for k in (2, 3)]
        print(
            f"| {n:,} | {epsilon:g} | {len(entries)} | {within[0]:.0%} | {within[1]:.0%} | {refused.mean():.0%} | "
            f"{(refused & (wide < 0.5)).mean():.0%} | {(~refused & (wide >= 1)).mean():.0%} |"
        )


if __name__ == "__main__":
    main()
