"""Joint tables cleared of impossible noise: the nearest counts, what they keep, and what noise is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

import dpcausal as dc
from dpcausal.stats.contrasts import Contrasts, Features
from dpcausal.stats.joint_contrasts import (
    MIN_KEPT,
    Simulated,
    as_released,
    can_be_cleared,
    cleared_contrasts,
    log_linear,
    nearest_counts,
)

LAPLACE = 3.0


def rare(rows: int, columns: int, seed: int, chance: float = 0.05) -> np.ndarray:
    """A joint table of yes/no columns: the first two depend (phi about .3), the others on nothing."""
    rng = np.random.default_rng(seed)
    levels = (rng.random((rows, columns)) < chance).astype(int)
    levels[:, 1] = np.where(rng.random(rows) < 0.3, levels[:, 0], levels[:, 1])
    table = np.zeros((2,) * columns)
    np.add.at(table, tuple(levels.T), 1.0)
    return table


def exact(table: np.ndarray, features: list[Features]) -> np.ndarray:
    """Covariances of these features in a table without noise."""
    levels = np.indices(table.shape).reshape(table.ndim, -1)
    scores = np.concatenate([one.scores[level] for one, level in zip(features, levels, strict=True)], axis=1)
    weights = table.ravel() / table.sum()
    scores = scores - weights @ scores
    return np.asarray(scores.T * weights @ scores)


@given(arrays(float, 6, elements=st.floats(-20, 20)), st.floats(1, 50))
@settings(max_examples=60)
def test_the_nearest_counts_are_the_nearest(table: np.ndarray, total: float) -> None:
    """As scipy's minimiser finds them, and never further from possible counts than the table was."""
    found = nearest_counts(table, total)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(total)
    by_scipy = minimize(
        lambda x: ((x - table) ** 2).sum(),
        np.full(6, total / 6),
        jac=lambda x: 2 * (x - table),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - total, "jac": lambda x: np.ones(6)},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 300},
    )
    assert ((found - table) ** 2).sum() <= by_scipy.fun + 1e-5 * (1 + by_scipy.fun)
    possible = np.full(6, total / 6)
    assert np.linalg.norm(found - possible) <= np.linalg.norm(table - possible) + 1e-9


def test_many_tables_at_once_have_their_own_totals() -> None:
    tables = np.array([[5.0, 3.0, -2.0], [1.0, 1.0, 1.0]])
    found = nearest_counts(tables, np.array([6.0, 9.0]))
    assert found.tolist() == [[4.0, 2.0, 0.0], [3.0, 3.0, 3.0]]


def test_a_log_linear_model_has_the_margins_it_was_given() -> None:
    table = np.random.default_rng(0).gamma(1.0, 50.0, (2, 3, 2, 2))
    pairs = [(0, 1), (1, 2), (0, 3)]
    model = log_linear(table, pairs)
    for pair in pairs:
        over = tuple(axis for axis in range(4) if axis not in pair)
        assert model.sum(axis=over) == pytest.approx(table.sum(axis=over) / table.sum(), abs=1e-6)
    odds = model[0, 0, 0, 0] * model[0, 0, 1, 1] / (model[0, 0, 0, 1] * model[0, 0, 1, 0])
    assert odds == pytest.approx(1.0)  # columns 2 and 3 are independent given the others


@pytest.mark.parametrize("columns", [5, 8])
def test_covariances_are_right_on_average_and_the_noise_is_as_said(columns: int) -> None:
    """60 draws of noise: the mean within four standard errors and .03, errors as said, and less than without.

    Of independent columns: were the errors normal with the variance that is said, the mean of 60 squares over it would
    pass 1.75 with a probability of 3e-4 an entry. That of dependent ones has the noise of the features, too, with and
    without clearing.
    """
    rows, variance = 3_000, 8.0
    table = rare(rows, columns, 0)
    rng, errors, said, plain_errors, plain_said = np.random.default_rng(1), [], [], [], []
    for _ in range(60):
        noisy = table + rng.laplace(0.0, 2.0, table.shape)
        made = cleared_contrasts(noisy, variance, LAPLACE, float(rows), [False] * columns, rows)
        plain = as_released(list(made.columns), float(rows), noisy, variance)
        right = exact(table, list(made.columns))
        errors.append((made.covariance - right)[0, 1:])
        plain_errors.append((plain.covariance - right)[0, 1:])
        said.append(made.noise[0, 1:])
        plain_said.append(plain.noise[0, 1:])
    mean, real = np.mean(errors, axis=0), np.mean(np.square(errors), axis=0)
    assert np.all(np.abs(mean) < 4 * np.std(errors, axis=0) / np.sqrt(60) + 0.03)
    assert np.all(real[1:] < 1.75 * np.mean(said, axis=0)[1:])
    assert np.all(real <= 1.1 * np.mean(np.square(plain_errors), axis=0))
    assert np.mean(said) < 0.9 * np.mean(plain_said)


def test_what_is_kept_of_a_dependence_is_what_a_simulation_with_it_shows() -> None:
    """Against tables drawn with the dependence: 4,000 draws, so that the slope is known to about .02."""
    rng = np.random.default_rng(2)
    shape, rows = (2, 2, 2, 2, 2), 1_000
    chances = np.array([0.3, 0.1, 0.5, 0.5, 0.5])
    levels = np.indices(shape).reshape(5, -1)
    model = np.prod(np.where(levels == 1, chances[:, None], 1 - chances[:, None]), axis=0)
    first, second = ((levels[j] - chances[j]) / np.sqrt(chances[j] * (1 - chances[j])) for j in (0, 1))
    product = first * second
    drawn = rng.multinomial(rows, model, size=4_000).astype(float)
    noise = rng.laplace(0.0, 8.0, drawn.shape)
    simulated = Simulated.of(model, drawn, drawn + noise, float(rows))
    other = rng.multinomial(rows, model * (1 + 0.2 * product), size=4_000) + noise
    shown = (nearest_counts(other, float(rows)) - simulated.found).mean(axis=0) @ product / rows / 0.2
    assert float(simulated.kept(product[:, None])[0]) == pytest.approx(shown, abs=0.06)
    assert MIN_KEPT < shown < 0.97  # noise takes some of it


def test_where_nothing_is_kept_the_table_is_taken_as_it_is() -> None:
    """With noise far above the rows the nearest table is one cell, and says nothing."""
    table = rare(200, 6, 3)
    noisy = table + np.random.default_rng(3).laplace(0.0, 1e5, table.shape)
    made = cleared_contrasts(noisy, 2e10, LAPLACE, 200.0, [False] * 6, 200)
    plain = as_released(list(made.columns), 200.0, noisy, 2e10)
    assert np.array_equal(made.covariance, plain.covariance)
    assert np.array_equal(made.noise, plain.noise)


@pytest.mark.parametrize("kurtosis", [0.0, LAPLACE])
@pytest.mark.parametrize("public", [True, False])
def test_the_same_release_gives_the_same_answer(kurtosis: float, *, public: bool) -> None:
    table = rare(1_000, 5, 4) + np.random.default_rng(5).laplace(0.0, 2.0, (2,) * 5)
    rows = max(float(table.sum()), 1.0)
    one, other = (
        cleared_contrasts(table.copy(), 8.0, kurtosis, rows, [False] * 5, round(rows) if public else None)
        for _ in range(2)
    )
    assert np.array_equal(one.covariance, other.covariance)
    assert np.array_equal(one.noise, other.noise)
    assert isinstance(one, Contrasts)


def test_rare_columns_that_depend_on_nothing_are_rarely_linked() -> None:
    """40 tables of 8 columns at 1,000 rows and epsilon 1: .09 of pairs passed with all pairs in the model.

    A pair passes the evidence of .6 with a probability of about .03; of 1,120 pairs 62 (.055) or more would then pass
    with a probability below 1e-5, were they independent.
    """
    passed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        chances = np.exp(rng.uniform(np.log(0.005), np.log(0.5), 8))
        table = np.zeros((2,) * 8)
        np.add.at(table, tuple((rng.random((1_000, 8)) < chances).astype(int).T), 1.0)
        noisy = table + rng.laplace(0.0, 2.0, table.shape)
        made = cleared_contrasts(noisy, 8.0, LAPLACE, 1_000.0, [False] * 8, 1_000)
        passed += int((np.triu(made.pair_evidence, 1) > 0.6).sum())
    assert passed < 62


def test_large_tables_are_left_alone() -> None:
    assert can_be_cleared((2,) * 12)
    assert not can_be_cleared((2,) * 13)
    assert not can_be_cleared((64, 64))


@pytest.mark.parametrize("seed", [1000, 1030, 1040])
def test_with_hardly_a_budget_nothing_is_known(seed: int) -> None:
    """Noise of scale 2 10^5 puts all 500 rows into one cell of the nearest table; that is no evidence of anything.

    With these seeds pairs were called absent before samples of the model were asked to vary.
    """
    data = dc.networks.load("cancer").sample(500, seed=1)
    with dc.testing.seeded(seed):
        found = dc.discover(data, epsilon=1e-5, method="measured", anyway=True, confidence=0)
    assert len(found.open) + len(found.graph.skeleton) == 10
