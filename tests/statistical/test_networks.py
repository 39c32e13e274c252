"""Sampled frequencies against exact probabilities.

For a cell of probability p, Bernstein's inequality gives |p_hat - p| <= sqrt(2 p (1-p) t / n) + 2 t / (3 n)
except with probability 2 exp(-t). With t = ln(2 x cells / 1e-9) and a union bound, a right sampler fails
one of these tests with probability at most 1e-9 over the choice of seed; the seed is fixed, so the answer
never changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcausal.data.dataset import Dataset
from dpcausal.networks import Network, Variable, load, names
from dpcausal.networks.network import BLOCK

N = 200_000
FAILURE = 1e-9


def frequencies(data: Dataset, columns: Sequence[str]) -> NDArray[np.float64]:
    shape = data.sizes(columns)
    flat = np.ravel_multi_index([data.codes[name].astype(np.intp) for name in columns], shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape) / data.n


def excess(network: Network, data: Dataset, groups: list[tuple[str, ...]]) -> float:
    """Largest deviation divided by its bound: above 1 rejects."""
    exact = {columns: network.joint(columns) for columns in groups}
    t = log(2 * sum(table.size for table in exact.values()) / FAILURE)
    worst = 0.0
    for columns, p in exact.items():
        bound = np.sqrt(2 * p * (1 - p) * t / data.n) + 2 * t / (3 * data.n)
        worst = max(worst, float((np.abs(frequencies(data, columns) - p) / bound).max()))
    return worst


def families(network: Network) -> list[tuple[str, ...]]:
    return [(*variable.parents, variable.name) for variable in network]


@pytest.mark.parametrize("name", names())
def test_families_and_pairs_have_their_exact_frequencies(name: str) -> None:
    network = load(name)
    groups = families(network) + list(combinations(network.dag.nodes, 2))
    assert excess(network, network.sample(N, seed=20), groups) <= 1


@pytest.mark.parametrize("name", ["asia", "survey"])
def test_the_whole_table_has_its_exact_frequencies(name: str) -> None:
    network = load(name)
    assert excess(network, network.sample(N, seed=21), [network.dag.nodes]) <= 1


@pytest.mark.parametrize("wrong", ["smoke", "lung", "bronc", "dysp"])
def test_a_table_off_by_thirty_percent_is_rejected(wrong: str) -> None:
    asia = load("asia")
    altered = []
    for variable in asia:
        table = variable.table.copy()
        if variable.name == wrong:
            table[..., 0] *= 0.7
            table[..., 1] = 1 - table[..., 0]
        altered.append(Variable(variable.name, variable.levels, variable.parents, table))
    data = Network("altered", altered).sample(N, seed=22)
    assert excess(asia, data, families(asia)) > 1


def test_deterministic_levels_hold_in_every_row() -> None:
    codes = load("asia").sample(N, seed=23).codes
    yes = 0
    np.testing.assert_array_equal(
        codes["either"] == yes, (codes["lung"] == yes) | (codes["tub"] == yes), strict=True
    )


def test_rows_are_independent_of_each_other() -> None:
    """Levels of neighbouring rows, and of rows one block apart, are uncorrelated.

    P(smoke) is 1/2 exactly, so products of the signs of two rows are themselves independent fair signs, and
    Hoeffding bounds their sum by sqrt(2 n ln(2/f)) except with probability f; f is half of FAILURE for each lag.
    """
    signs = 1.0 - 2.0 * load("asia").sample(N, seed=24).codes["smoke"]
    for lag in (1, BLOCK):
        n = N - lag
        assert abs(float(signs[lag:] @ signs[:-lag])) <= np.sqrt(2 * n * log(4 / FAILURE))
