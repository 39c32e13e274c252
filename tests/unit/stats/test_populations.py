"""Effects of three populations from noisy strata: the textbook's answer without noise, and intervals that cover.

Bounds: of k independent intervals with a true coverage between .93 and .985 the number that hold the truth lies, but
for a probability of 1e-6, within the quantiles of both binomial laws; a mean of k estimates lies within 5 standard
errors of its expectation but for 6e-7. Seeds are fixed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpcausal.stats.populations import POPULATIONS, estimable_population, population_effect
from dpcausal.stats.strata import StrataTable, arm_sizes, basis, consistent

SURE = 1e-6


def law(levels: tuple[int, ...], exposure: float, outcome: float, effect: float) -> np.ndarray:
    """Probabilities of (stratum, arm, event), confounded by all columns; the effect is the same everywhere."""
    rng = np.random.default_rng([len(levels), *levels])
    where = np.array(list(product(*map(range, levels)))).reshape(math.prod(levels), len(levels))
    score = sum((where[:, j] / (size - 1) - 0.5 for j, size in enumerate(levels)), np.zeros(len(where)))
    strata = np.ones(len(where))
    for j, size in enumerate(levels):
        strata *= rng.dirichlet(np.full(size, 6.0))[where[:, j]]
    exposed = expit(1.2 * score + np.log(exposure / (1 - exposure)))
    risk = expit(1.2 * score + np.log(outcome / (1 - outcome)))
    arms = np.stack([1 - exposed, exposed], axis=1) * strata[:, None]
    risks = np.stack([risk, np.clip(risk + effect, 0, 1)], axis=1)
    return np.stack([arms * (1 - risks), arms * risks], axis=2)


def textbook(cells: np.ndarray) -> dict[str, tuple[float, float]]:
    """Standardised risks of both arms, by hand."""
    rows = cells.sum(axis=2)
    risk = cells[:, :, 1] / rows
    weights = {
        "all": rows.sum(axis=1),
        "exposed": rows[:, 1],
        "overlap": rows[:, 0] * rows[:, 1] / rows.sum(axis=1),
    }
    means = {name: weight @ risk / weight.sum() for name, weight in weights.items()}
    return {name: (float(low), float(high)) for name, (low, high) in means.items()}


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("levels", [(), (2,), (3, 4), (2, 2, 2, 2, 2)])
def test_without_noise_and_with_many_rows_it_is_the_textbook(
    population: str, levels: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(1)
    cells = 1e7 * law(levels, 0.2, 0.1, 0.05)
    cells[:, 1, 1] *= rng.uniform(0.7, 1.3, len(cells))  # effects differ from stratum to stratum
    found = population_effect(StrataTable(cells, levels, 0.0, rows=float(cells.sum())), population, 0.95)
    low, high = textbook(cells)[population]
    assert found is not None
    assert found.risks == pytest.approx((low, high), abs=1e-5)
    assert found.difference == pytest.approx(high - low, abs=1e-5)
    assert found.interval[0] < high - low < found.interval[1] < found.interval[0] + 0.005
    assert found.ratio is not None
    assert found.odds is not None
    assert found.ratio[0] < high / low < found.ratio[1]
    assert found.odds[0] < high * (1 - low) / (low * (1 - high)) < found.odds[1]


CELLS = [  # levels, rows, exposure, outcome, effect, epsilon, population
    ((2,) * 6, 10_000, 0.03, 0.07, 0.0, 1.0, "exposed"),
    ((2,) * 4, 3_000, 0.06, 0.1, 0.05, 1.0, "overlap"),
    ((2,) * 6, 10_000, 0.25, 0.07, 0.0, 1.0, "all"),
    ((4,), 2_000, 0.4, 0.3, 0.2, 0.3, "all"),
]


def simulated(cell: tuple, runs: int, forget: bool = False) -> tuple[int, float, float, float]:  # type: ignore[type-arg]
    """How many intervals hold the truth, the mean error, its standard error, and the median half width."""
    levels, rows, exposure, outcome, effect, epsilon, population = cell
    truth = law(levels, exposure, outcome, effect)
    low, high = textbook(truth)[population]
    rng = np.random.default_rng(7)
    held, errors, halves = 0, [], []
    scale, margin_scale = 2 / (0.75 * epsilon), 2 / (0.25 * epsilon)
    for _ in range(runs):
        counts = rng.multinomial(rows, truth.ravel() / truth.sum()).reshape(truth.shape)
        cells = counts + rng.laplace(scale=scale, size=counts.shape)
        margin = counts.sum(axis=0) + rng.laplace(scale=margin_scale, size=(2, 2))
        noise = 0.0 if forget else 1.0
        table = StrataTable(
            cells, levels, noise * 2 * scale**2, 3.0, float(rows), margin, noise * 2 * margin_scale**2
        )
        found = population_effect(table, population, 0.95)
        assert found is not None
        held += found.interval[0] <= high - low <= found.interval[1]
        errors.append(found.difference - (high - low))
        halves.append((found.interval[1] - found.interval[0]) / 2)
    return held, float(np.mean(errors)), float(np.std(errors) / math.sqrt(runs)), float(np.median(halves))


@pytest.mark.parametrize("cell", CELLS)
def test_intervals_cover_and_estimates_are_right_on_average(cell: tuple) -> None:  # type: ignore[type-arg]
    runs = 200
    held, error, standard_error, half = simulated(cell, runs)
    assert binom.ppf(SURE, runs, 0.93) <= held <= binom.ppf(1 - SURE, runs, 0.985)
    assert abs(error) <= half / 4 + 5 * standard_error


def test_the_bounds_would_see_an_interval_that_forgets_the_noise() -> None:
    held, *_ = simulated(CELLS[0], 200, forget=True)
    assert held < binom.ppf(SURE, 200, 0.93)


@pytest.mark.parametrize("population", POPULATIONS)
def test_nothing_is_said_of_an_arm_that_does_not_stand_out(population: str) -> None:
    cells = np.tile([[100.0, 20.0], [2.0, 1.0]], (4, 1, 1))  # 12 exposed rows, with noise of sd 20
    assert population_effect(StrataTable(cells, (2, 2), 100.0), population, 0.95) is None
    assert population_effect(StrataTable(cells, (2, 2), 0.01), population, 0.95) is not None
    assert population_effect(StrataTable(cells[:, ::-1], (2, 2), 100.0), population, 0.95) is None


@pytest.mark.parametrize("public_rows", [True, False])
def test_whether_an_arm_is_large_enough_does_not_go_with_its_risk(public_rows: bool) -> None:
    """Answers are given where an arm stands out; noise that makes it do so must not move the answer, too."""
    rng, runs = np.random.default_rng(11), 4_000
    exact = np.array([[9_000.0, 800.0], [140.0, 60.0]])
    noise = rng.laplace(scale=10.0, size=(runs, 2, 2))
    if public_rows:
        noise -= noise.mean(axis=(1, 2), keepdims=True)
    totals = exact + noise
    risk = exact[:, 1].sum() / exact.sum()
    moved = totals[:, 1, 1] - risk * totals[:, 1].sum(axis=1)
    table = StrataTable(exact[None], (), 200.0, rows=float(exact.sum()) if public_rows else None)
    found = np.array([arm_sizes(table, one.sum(axis=1), one[:, 1])[1] for one in totals])
    assert abs(np.corrcoef(found, moved)[0, 1]) < 5 / math.sqrt(runs)
    assert np.corrcoef(totals[:, 1].sum(axis=1), moved)[0, 1] > 0.3  # of its sum of cells it would not hold


def test_a_margin_says_more_of_the_exposed_and_enters_by_its_noise() -> None:
    cells = 10_000 * law((2,) * 6, 0.03, 0.1, 0.0)
    margin = cells.sum(axis=0)
    widths = []
    for noise in (1e9, 100.0, 1.0):
        table = StrataTable(cells, (2,) * 6, 20.0, rows=10_000.0, margin=margin, margin_noise=noise)
        found = population_effect(table, "exposed", 0.95)
        assert found is not None
        widths.append(found.interval[1] - found.interval[0])
    assert widths == sorted(widths, reverse=True)
    alone, far = StrataTable(cells, (2,) * 6, 20.0), {"margin": margin + 50, "margin_noise": 1e12}
    assert np.allclose(consistent(replace(alone, **far))[0], consistent(alone)[0])  # type: ignore[arg-type]


def test_the_population_is_one_that_the_table_tells_well() -> None:
    def chosen(exposure: float, rows: float) -> str:
        cells = rows * law((2,) * 6, exposure, 0.1, 0.0)
        return estimable_population(StrataTable(cells, (2,) * 6, 14.0, rows=rows), 0.95)

    assert chosen(0.4, 20_000) == "all"
    assert chosen(0.03, 20_000) == "exposed"
    assert chosen(0.97, 20_000) == "overlap"  # few unexposed
    assert chosen(0.03, 200) == "all"  # of none of them anything is told


def test_a_large_basis_is_cut_by_declared_sizes() -> None:
    assert basis((2,) * 10)[0].shape == (1024, 56)
    assert basis((30, 30))[0].shape == (900, 59)  # 841 interactions are too many
    assert basis((500, 500))[0].shape == (250_000, 1)
