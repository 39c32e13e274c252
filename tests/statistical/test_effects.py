"""Intervals of effects hold the truth as often as they say, with noise much larger and much smaller than sampling.

Bounds: of k independent intervals with a true coverage between .93 and .98 the number that hold the truth lies, but for
a probability of 1e-6, within the quantiles of both binomial laws. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import dpcausal as dc

SURE = 1e-6


def within(held: int, tried: int, least: float = 0.93, most: float = 0.985) -> bool:
    """Whether that many could have held the truth."""
    return bool(binom.ppf(SURE, tried, least) <= held <= binom.ppf(1 - SURE, tried, most))


def study(n: int, seed: int) -> tuple[dc.Dataset, float]:
    """Four strata, a treatment that depends on them, and the true risk difference."""
    rng = np.random.default_rng([seed, n])
    z = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    treated = np.array([0.2, 0.5, 0.6, 0.3])
    risk = np.array([[0.1, 0.3], [0.3, 0.4], [0.5, 0.8], [0.2, 0.2]])
    x = (rng.random(n) < treated[z]).astype(int)
    y = (rng.random(n) < risk[z, x]).astype(int)
    schema = dc.Schema(x=dc.Categorical([0, 1]), y=dc.Categorical([0, 1]), z=dc.Categorical([0, 1, 2, 3]))
    codes = {name: column.astype(np.uint8) for name, column in (("x", x), ("y", y), ("z", z))}
    truth = float(np.array([0.4, 0.3, 0.2, 0.1]) @ (risk[:, 1] - risk[:, 0]))
    return dc.Dataset(schema, n, codes), truth


def held(n: int, epsilon: float, runs: int, **options: object) -> int:
    """How many intervals hold the truth."""
    found = 0
    for seed in range(runs):
        data, truth = study(n, seed)
        with dc.testing.seeded(seed):
            answer = dc.effect(data, "x", "y", adjust=["z"], epsilon=epsilon, **options)  # type: ignore[arg-type]
        found += answer.interval[0] <= truth <= answer.interval[1]
    return found


def test_a_table_holds_its_level_where_noise_is_half_of_the_error() -> None:
    assert within(held(2_000, 0.3, 150), 150)


def test_the_bounds_would_see_an_interval_that_forgets_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcausal.effects import table

    arms = table.arms_of_cells
    monkeypatch.setattr(
        table,
        "arms_of_cells",
        lambda cells, others, scores, _, *more: arms(cells, others, scores, 0.0, *more),
    )
    assert not within(held(2_000, 0.1, 150), 150)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon"), [(1_000, 0.3), (1_000, 3.0), (10_000, 0.3), (10_000, 1.0), (100_000, 1.0)]
)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_table_holds_its_level(n: int, epsilon: float, neighbours: str) -> None:
    assert within(held(n, epsilon, 600, neighbours=neighbours), 600)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon", "delta"), [(3_000, 1.0, 1e-6), (20_000, 1.0, 1e-6), (20_000, 2.0, 0.0)]
)
def test_a_regression_holds_its_level(n: int, epsilon: float, delta: float) -> None:
    """Effects are alike in all strata here, so that both kinds of mean are the same."""
    found = 0
    for seed in range(400):
        rng = np.random.default_rng([seed, n])
        z = rng.uniform(-1, 1, (n, 4))
        x = rng.random(n) < 1 / (1 + np.exp(-(z @ [1.0, -1.0, 0.5, 0.0])))
        y = 2.0 * x + z @ [3.0, 2.0, 0.0, 1.0] + rng.normal(0, 2, n)
        schema = dc.Schema(
            **{f"z{i}": dc.Numeric(-1, 1) for i in range(4)}, x=dc.Categorical([0, 1]), y=dc.Numeric(-20, 20)
        )
        columns = {f"z{i}": z[:, i] for i in range(4)} | {"x": x.astype(int), "y": y}
        with dc.testing.seeded(seed):
            answer = dc.effect(
                dc.read(columns, schema),
                "x",
                "y",
                adjust=[f"z{i}" for i in range(4)],
                epsilon=epsilon,
                delta=delta,
                method="regression",
            )
        found += answer.interval[0] <= 2.0 <= answer.interval[1]
    assert within(found, 400, least=0.92, most=0.995)
