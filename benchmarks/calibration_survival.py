"""How often 95% intervals of effects on a follow-up hold the truth: the table of "Follow-up" in docs/calibration.md.

    python benchmarks/calibration_survival.py --laws 50 --repeats 2

Laws are drawn at random: strata, exposure by stratum, Weibull hazards that differ by stratum and arm, competing events
in half of the settings, and censoring whose hazard differs by stratum and arm, constant or growing, so that the stated
share of rows is censored before the horizon. Of each law a few tables are drawn, with noise as ``effect`` draws it
(Laplace, replace-one), and the shipped estimator is asked for a risk difference and a risk ratio by the horizon, with
five intervals. The truth is that of the law, not of the intervals. *Told*: where anything is said. *Error* is the root
mean square of the difference.
"""

from __future__ import annotations

import argparse
import math
from itertools import product
from typing import NamedTuple

import numpy as np

from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.table import effect_mechanism
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.stats.life_table import scored
from dpcausal.stats.populations import StrataEffect, population_effect
from dpcausal.stats.strata import StrataTable

INTERVALS = 5
GRID = 2_000  # points of time at which a law is integrated
SETTINGS = tuple(product((3_000,), (0.5, 1.0, 3.0), (1, 4, 12), (0.1, 0.6)))


class Law(NamedTuple):
    """Chances of all cells (strata, 2, states), and the standardised risks of both arms."""

    cells: np.ndarray
    risks: np.ndarray


def law_of(rng: np.random.Generator, strata: int, censored: float, competing: bool) -> Law:
    """Return a random law with this share of rows censored before the horizon, which is time 1."""
    shares = rng.dirichlet(np.full(strata, 3.0))
    exposed = 1 / (1 + np.exp(-rng.normal(-0.4, 0.7, strata)))
    arms = shares[:, None] * np.stack([1 - exposed, exposed], axis=1)
    time = (np.arange(GRID) + 0.5) / GRID
    shape = rng.choice([0.7, 1.0, 1.5])
    rise = shape * time ** (shape - 1) / GRID
    base = 0.36 * np.exp(rng.normal(0, 0.6, strata))
    effect = np.exp(rng.normal(0, 0.4) + rng.normal(0, 0.2, strata))
    event = base[:, None] * np.stack([np.ones(strata), effect], axis=1)
    other = (0.5 * base * np.exp(rng.normal(0, 0.4, strata)))[:, None] * np.ones(2) * competing
    leave = np.exp(rng.normal(0, 0.4, (strata, 2)))
    growing = (2 * time if rng.random() < 0.5 else np.ones(GRID)) / GRID
    alive = np.exp(-np.cumsum((event + other)[..., None] * rise, axis=-1))
    before = np.concatenate([np.ones((strata, 2, 1)), alive[..., :-1]], axis=-1)
    risks = ((before - alive).sum(axis=-1) * event / (event + other) * shares[:, None]).sum(axis=0)

    def cells(rate: float) -> np.ndarray:
        hazards = [event[..., None] * rise, (rate * leave)[..., None] * growing]
        if competing:
            hazards.insert(1, other[..., None] * rise)
        total = sum(hazards)
        left = np.exp(-np.cumsum(total, axis=-1))
        ended = np.concatenate([np.ones((strata, 2, 1)), left[..., :-1]], axis=-1) - left
        parts = [(ended * one / total).reshape(strata, 2, INTERVALS, -1).sum(axis=-1) for one in hazards]
        states = np.stack(parts, axis=-1).reshape(strata, 2, -1)
        return arms[..., None] * np.concatenate([states, left[..., -1:]], axis=-1)

    low, high, kinds = 1e-9, 100.0, 2 + competing
    for _ in range(40):
        middle = (low + high) / 2
        enough = cells(middle)[..., kinds - 1 : -1 : kinds].sum() >= censored
        low, high = (low, middle) if enough else (middle, high)
    return Law(cells(high), risks)


def answers(
    rng: np.random.Generator, law: Law, rows: int, epsilon: float
) -> tuple[StrataEffect | None, dict[str, float]]:
    """Return what is told of one noisy table, and the truth."""
    kinds = 2 if law.cells.shape[-1] == 2 * INTERVALS + 1 else 3
    mechanism, kurtosis = effect_mechanism(law.cells.size, False, epsilon, 0.0, Neighbours.REPLACE_ONE)
    variance = noise_variance(mechanism)
    counts = rng.multinomial(rows, law.cells.ravel() / law.cells.sum()).reshape(law.cells.shape)
    noisy = counts + np.round(rng.laplace(scale=math.sqrt(variance / 2), size=counts.shape))
    levels = (len(noisy),) if len(noisy) > 1 else ()
    first, second = law.risks
    with np.errstate(all="ignore"):
        found = population_effect(scored(StrataTable(noisy, levels, variance, kurtosis), kinds), "all", 0.95)
    return found, {"difference": second - first, "ratio": second / first}


def row_of(rows: int, epsilon: float, strata: int, censored: float, laws: int, repeats: int) -> list[str]:
    """Return one row of the table."""
    held: dict[str, list[bool]] = {"difference": [], "ratio": []}
    errors, widths, runs = [], [], laws * repeats
    for law in range(laws):
        rng = np.random.default_rng([rows, int(10 * epsilon), strata, int(10 * censored), law])
        one = law_of(rng, strata, censored, competing=bool(law % 2))
        for _ in range(repeats):
            found, truth = answers(rng, one, rows, epsilon)
            if found is None:
                continue
            for name, ends in (("difference", found.interval), ("ratio", found.ratio)):
                if ends is not None:
                    held[name].append(ends[0] <= truth[name] <= ends[1])
            errors.append(found.difference - truth["difference"])
            widths.append(found.interval[1] - found.interval[0])
    settings = [f"{rows}", f"{epsilon:g}", f"{strata}", f"{censored:.0%}", f"{len(errors)} of {runs}"]
    shares = [f"{np.mean(one):.3f}" if one else "-" for one in held.values()]
    if not errors:
        return [*settings, *shares, "-", "-"]
    return [*settings, *shares, f"{np.median(widths):.3f}", f"{math.sqrt(np.mean(np.square(errors))):.3f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--laws", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--settings", type=int, default=len(SETTINGS))
    given = parser.parse_args()
    print("| rows | epsilon | strata | censored | told | difference held | ratio held | width | error |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for setting in SETTINGS[: given.settings]:
        print(f"| {' | '.join(row_of(*setting, given.laws, given.repeats))} |", flush=True)


if __name__ == "__main__":
    main()
