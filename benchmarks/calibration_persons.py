"""Do tests, edges and intervals keep their level where rows of a person are alike? "Persons" in docs/calibration.md.

    python benchmarks/calibration_persons.py --runs 300

Every person has three rows, all the same, and one or all three of them are used (``rows_per_unit``). Columns are yes or
no: z is a cause of a, b and c, and a one of c. *Rejected*: a test at level .05 says that a and b depend given z, which
they don't. *False edges*: between a and b or b and c, of the two in each graph. *Held*: 95% intervals of the effect of
a on c with z held fixed (true: .15). All are asked with epsilon by itself; replace-one, delta 1e-6 for graphs.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np

import dpcausal as dc

ROWS = 3  # of each person
EFFECT = 0.15
SETTINGS = tuple(product((1_500, 6_000), (0.3, 1.0, 3.0), (1, ROWS)))
SCHEMA = dc.Schema({name: dc.Categorical([0, 1]) for name in "zabc"})
ABSENT = [frozenset("ab"), frozenset("bc")]


def rows_of(rng: np.random.Generator, persons: int) -> dict[str, Any]:
    """Return the rows of persons, three alike for each."""
    z = rng.random(persons) < 0.4
    a, b = (rng.random(persons) < low + 0.3 * z for low in (0.25, 0.2))
    c = rng.random(persons) < 0.2 + EFFECT * a + 0.2 * z
    columns = {name: one.astype(int).repeat(ROWS) for name, one in zip("zabc", (z, a, b, c), strict=True)}
    return {**columns, "pid": np.arange(persons).repeat(ROWS)}


def one_run(seed: list[int], persons: int, epsilon: float, rows: int) -> list[float]:
    """Return whether the test rejected, how many edges are false, whether the interval held, its half width, or NaN."""
    rng = np.random.default_rng(seed)
    with dc.testing.seeded(int(rng.integers(2**31))), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = dc.read(rows_of(rng, persons), SCHEMA, unit="pid", rows_per_unit=rows)
        test = dc.ci_test(data, "a", "b", ["z"], method="measured", epsilon=epsilon, anyway=True)
        graph = dc.discover(data, epsilon=epsilon, delta=1e-6, confidence=0, anyway=True).graph
        effect = dc.effect(data, "a", "c", adjust=["z"], epsilon=epsilon, anyway=True)
    low, high = effect.interval
    told = not np.isnan(effect.estimate)
    held = float(low <= EFFECT <= high) if told else np.nan
    false = sum(pair in graph.skeleton for pair in ABSENT)
    return [not test.independent, false, held, (high - low) / 2 if told else np.nan]


def main() -> None:
    """Print the table, a line for each setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--settings", type=int, default=len(SETTINGS), help="the first so many of them")
    asked = parser.parse_args()
    print("| persons | epsilon | rows used | runs | rejected | false edges | told | held | half width |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for line, setting in enumerate(SETTINGS[: asked.settings]):
        persons, epsilon, rows = setting
        found = np.array([one_run([run, line], *setting) for run in range(asked.runs)], float)
        told = found[~np.isnan(found[:, 2])]
        held = f"{told[:, 2].mean():.2f} | {np.median(told[:, 3]):.3f}" if len(told) else "- | -"
        print(
            f"| {persons} | {epsilon:g} | {rows} of {ROWS} | {asked.runs} | {found[:, 0].mean():.2f} "
            f"| {found[:, 1].mean() / len(ABSENT):.2f} | {len(told)} | {held} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
