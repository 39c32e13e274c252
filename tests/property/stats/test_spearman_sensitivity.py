"""No pair of neighbours moves a Spearman statistic more than its bound."""

from __future__ import annotations

import numpy as np
import pytest

import rank_neighbours as search
import sensitivity_rank as shipped
from dpcausal.stats.published import spearman_z
from dpcausal.stats.spearman import spearman

RELATIONS = ("add-remove", "replace-one")
SPEARMAN = ("F", "U", "(F,U/4)", "spearman z", "rho")


def test_search_sees_the_shipped_functions() -> None:
    tables = np.random.default_rng(4).integers(0, 6, (20, 3, 3, 4))
    values = search.spearman_target(tables, part="FU", weight=1.0)
    np.testing.assert_allclose([spearman(t) for t in tables], values, rtol=1e-12)
    ratios = search.spearman_target(tables, part="z", floor=20.0)[:, 0]
    np.testing.assert_allclose([spearman_z(t, 20.0) for t in tables], ratios, rtol=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("most", "k", "r", "c"), [(6, 1, 2, 2), (6, 2, 2, 2), (4, 1, 3, 3), (4, 2, 3, 3), (4, 2, 2, 3)]
)
def test_every_pair_of_neighbours_with_few_rows(relation: str, most: int, k: int, r: int, c: int) -> None:
    for rows in range(2, most + 1):
        targets = shipped.targets(relation, k, r, c, rows - 1)
        for name in SPEARMAN:
            if name in targets:
                target, bound = targets[name]
                assert search.exhaustive(target, rows, k, r, c, relation) <= bound * (1 + 1e-12), (name, rows)


@pytest.mark.thin(4)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("k", "r", "c"), [(1, 2, 2), (2, 2, 2), (1, 3, 3), (2, 2, 3), (2, 3, 3), (3, 4, 4)])
def test_climbing_stays_below_every_bound(relation: str, k: int, r: int, c: int) -> None:
    found = shipped.ratios(relation, k, r, c, sizes=(3, 40, 2000), starts=3, names=SPEARMAN)
    assert set(found) == set(shipped.targets(relation, k, r, c, 40)) & set(SPEARMAN)
    assert max(found.values()) <= 1 + 1e-12, found


TIGHT = [
    ("add-remove", 1, 2, 2, ("F", "U", "rho")),
    ("replace-one", 1, 2, 2, ("F", "rho")),
    ("replace-one", 2, 2, 2, ("F", "U")),
    ("add-remove", 2, 2, 3, ("F",)),
    ("replace-one", 2, 2, 3, ("F",)),
    ("add-remove", 1, 3, 3, ("F", "(F,U/4)")),
    ("replace-one", 1, 3, 3, ("F", "rho")),
    ("add-remove", 1, 4, 4, ("F", "U", "(F,U/4)", "spearman z")),
    ("add-remove", 1, 12, 12, ("rho",)),
]


@pytest.mark.parametrize(("relation", "k", "r", "c", "names"), TIGHT)
def test_bounds_are_tight_so_that_one_30_percent_smaller_is_caught(
    relation: str, k: int, r: int, c: int, names: tuple[str, ...]
) -> None:
    for name in names:
        target, bound = shipped.targets(relation, k, r, c, 2000)[name]
        best = search.climb(target, 2000, k, r, c, relation, starts=3)[0] / bound
        assert 0.9 <= best <= 1 + 1e-12, (name, best)


def test_lower_bound_of_the_spearman_variance() -> None:
    """spearman.proof.md, n < 200: U falls by less than .152 for one added row."""
    for n in range(2, 200):
        m = np.arange(n, dtype=float)
        before, after = n**3.0 - m**3 - (n - m), (n + 1.0) ** 3 - (m + 1) ** 3 - (n - m)
        change = np.outer(after, after) / ((n + 1.0) ** 2 * (n + 2) ** 2 * n)
        change -= np.outer(before, before) / (n**2.0 * (n + 1) ** 2 * (n - 1))
        assert change.min() > -0.152
