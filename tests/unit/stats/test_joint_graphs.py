"""Graphs scored on a joint table with noise: the score against integration, what is found, what is allowed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp

from dpcausal.stats.joint_graphs import LEAST_VARIANCE, SPREAD, JointGraphs, Parents, steps_for

ALONE: Parents = ((), (), ())


def noisy(
    counts: np.ndarray, seed: int, sd: float = 3.0, rows: float | None = None, kurtosis: float = 0.0
) -> JointGraphs:
    """A table with normal noise."""
    rng = np.random.default_rng(seed)
    table = counts + rng.normal(0, sd, counts.shape)
    return JointGraphs.of(table, sd**2, kurtosis, rows or float(counts.sum()))


def drawn(law: np.ndarray, rows: int, seed: int) -> np.ndarray:
    """Counts of a sample."""
    return np.random.default_rng(seed).multinomial(rows, law.ravel()).reshape(law.shape).astype(float)


def free(d: int) -> tuple[np.ndarray, np.ndarray]:
    """All arrows allowed, none required."""
    return np.ones((d, d), np.bool_), np.zeros((d, d), np.bool_)


def edges(parents: Parents) -> set[tuple[int, int]]:
    """Pairs of columns."""
    return {(min(v, p), max(v, p)) for v, one in enumerate(parents) for p in one}


@pytest.mark.parametrize("parents", [((), ()), ((), (0,)), ((1,), ())])
def test_the_score_is_the_marginal_likelihood(parents: Parents) -> None:
    """Against a sum over a grid of all logits: Laplace's method is off by less than a fifth of a nat."""
    graphs = noisy(np.array([[60.0, 40.0], [20.0, 80.0]]), seed=1)
    number = [2 if one else 1 for one in parents]
    grid = np.linspace(-6.0, 6.0, 61)
    values = np.stack(np.meshgrid(*[grid] * sum(number), indexing="ij"), axis=-1).reshape(-1, sum(number))
    own = [values[:, : number[0]], values[:, number[0] :]]
    log, law = np.zeros(len(values)), np.ones((len(values), 2, 2))
    for v in range(2):
        other = 1.0 / (1.0 + np.exp(-own[v]))
        for i, j in itertools.product(range(2), repeat=2):
            level, beside = (i, j) if v == 0 else (j, i)
            chance = other[:, beside if parents[v] else 0]
            law[:, i, j] *= 1.0 - chance if level == graphs.refs[v] else chance
        log -= 0.5 * (((own[v] - graphs.middle[v, 0]) / SPREAD) ** 2).sum(axis=1)
    log -= sum(number) * math.log(SPREAD * math.sqrt(2.0 * math.pi))
    mean = graphs.rows * law.reshape(len(values), 4)
    wide = mean + graphs.variance
    log -= 0.5 * ((graphs.table - mean) ** 2 / wide + np.log(wide)).sum(axis=1)
    integral = float(logsumexp(log)) + sum(number) * math.log(grid[1] - grid[0])
    assert graphs.score(parents) == pytest.approx(integral, abs=0.2)


def test_graphs_that_say_the_same_score_alike() -> None:
    """x -> y and x <- y; with the prior around each column they need not be equal."""
    law = np.einsum("i,ij->ij", [0.7, 0.3], [[0.8, 0.2], [0.3, 0.7]])
    graphs = noisy(drawn(law, 2000, 2), seed=2)
    assert abs(graphs.score(((), (0,))) - graphs.score(((1,), ()))) < 1.0
    assert graphs.score(((), (0,))) > graphs.score(((), ())) + 20.0


def either_law() -> np.ndarray:
    """Two causes, rare and common, their "or", and a sign of the "or": twins are columns 1 and 2."""
    law = np.zeros((2, 2, 2, 2))
    for tub, lung, sign in itertools.product(range(2), repeat=3):
        either = max(tub, lung)
        p = (0.02 if tub else 0.98) * (0.08 if lung else 0.92)
        law[tub, lung, either, sign] += p * ((0.95 if sign else 0.05) if either else (0.05 if sign else 0.95))
    return law


def test_nearly_equal_columns_are_told_apart() -> None:
    """The sign belongs to the "or", from which a cause differs in one row of fifty: right in 17 of 20 tables."""
    cost = np.full((4, 4), 2.0)
    right = 0
    for seed in range(20):
        graphs = noisy(drawn(either_law(), 4000, seed), seed)
        draws = np.random.default_rng(seed).random((1500, 5))
        best, _ = graphs.search(cost, *free(4), ((), (), (), ()), draws)
        right += (2, 3) in edges(best) and (1, 3) not in edges(best)
    assert right >= 17


def test_a_search_keeps_to_what_is_allowed_and_required() -> None:
    graphs = noisy(drawn(either_law(), 4000, 3), 3)
    allowed, required = free(4)
    allowed[2, 3] = False  # the sign is no effect
    required[0, 3] = required[3, 0] = True
    start: Parents = ((), (), (), (0,))
    draws = np.random.default_rng(4).random((800, 5))
    best, visited = graphs.search(np.full((4, 4), 2.0), allowed, required, start, draws, keep=50)
    assert len(visited) == 50
    for one in (best, *visited):
        assert 2 not in one[3]
        assert (0, 3) in edges(one)
        left = set(range(4))
        while left:  # no cycle
            freed = {v for v in left if not left & set(one[v])}
            assert freed
            left -= freed


def test_the_same_table_and_draws_give_the_same_graph() -> None:
    graphs, draws = noisy(drawn(either_law(), 2000, 5), 5), np.random.default_rng(5).random((500, 5))
    found = [graphs.search(np.full((4, 4), 2.0), *free(4), ((), (), (), ()), draws, keep=9) for _ in range(2)]
    assert found[0] == found[1]


def test_the_test_of_an_arrow_keeps_its_level() -> None:
    """Independent columns, 300 tables: more than 27 rejections at .05 have a probability below .002."""
    law = np.einsum("i,j,k->ijk", [0.6, 0.4], [0.9, 0.1], [0.5, 0.5])
    rejected = sum(noisy(drawn(law, 800, seed), seed).test(ALONE, seed % 2, 2) < 0.05 for seed in range(300))
    assert rejected <= 27


def test_the_test_of_an_arrow_sees_a_dependence() -> None:
    law = np.einsum("i,ij,k->ijk", [0.6, 0.4], [[0.8, 0.2], [0.5, 0.5]], [0.5, 0.5])
    graphs = noisy(drawn(law, 2000, 1), 1)
    assert graphs.test(ALONE, 0, 1) < 1e-6


def test_repeats_are_drawn_around_the_fit() -> None:
    """The mean of 200 repeats has the released margins, within five standard errors of sampling, noise and the fit."""
    law = np.einsum("i,ij,k->ijk", [0.6, 0.4], [[0.8, 0.2], [0.5, 0.5]], [0.5, 0.5])
    graphs, rng = noisy(drawn(law, 2000, 1), 1, kurtosis=3.0), np.random.default_rng(3)
    tables = np.array([graphs.replicate(((), (0,), ()), rng).table for _ in range(200)])
    assert tables.min() < 0.0 or tables.std(axis=0).min() > 3.0
    spread = np.sqrt(2 * (2000 * 0.3 + graphs.noise))
    assert np.abs(tables.mean(axis=0) - graphs.table).max() < 5 * spread / math.sqrt(200) + 3 * 5
    assert tables.sum(axis=1).mean() == pytest.approx(2000, abs=5 * 3 * math.sqrt(8 / 200))


def test_little_noise_is_taken_as_some() -> None:
    """Cells with few rows are not normal: sparse tables of independent columns stay without edges."""
    rng = np.random.default_rng(1)
    found = 0
    for seed in range(10):
        law = np.ones(1)
        for _ in range(4):
            law = np.multiply.outer(law, rng.dirichlet(np.ones(3)))
        graphs = noisy(drawn(law[0], 300, seed), seed, sd=0.05)
        assert graphs.variance == LEAST_VARIANCE
        best, _ = graphs.search(
            np.full((4, 4), 5.0), *free(4), ((), (), (), ()), np.random.default_rng(seed).random((600, 5))
        )
        found += len(edges(best))
    assert found <= 2


def test_large_tables_are_not_scored() -> None:
    assert steps_for([2] * 6) == 8000
    assert steps_for([3] * 9) == 0
