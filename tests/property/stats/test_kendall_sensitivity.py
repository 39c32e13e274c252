"""No pair of neighbours moves a Kendall statistic more than its bound, and the search would notice a wrong one."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb

import numpy as np
import pytest

import rank_neighbours as search
import sensitivity_rank as shipped
from dpcausal.stats.kendall import kendall, kendall_joint_sensitivity, kendall_margin
from dpcausal.stats.published import tau_a, weighted_kendall, weighted_kendall_z

RELATIONS = ("add-remove", "replace-one")
KENDALL = ("K", "V", "(K,V)", "q_T", "9S/(2n+5)", "weighted z", "tau_a")


def test_search_sees_the_shipped_functions() -> None:
    tables = np.random.default_rng(4).integers(0, 6, (20, 3, 3, 4))
    k, v = search.kendall_target(tables, part="KV").T
    np.testing.assert_allclose([kendall(t) for t in tables], np.stack([k, v], axis=1), rtol=1e-12)
    margins = search.kendall_target(tables, part="q", threshold=2.0, floor=1.0)[:, 0]
    np.testing.assert_allclose([kendall_margin(t, 2.0, 1.0) for t in tables], margins, rtol=1e-12)
    numerators = search.weighted_target(tables, part="numerator")[:, 0]
    np.testing.assert_allclose([weighted_kendall(t).numerator for t in tables], numerators, rtol=1e-12)
    ratios = search.weighted_target(tables, part="z", floor=50.0)[:, 0]
    np.testing.assert_allclose([weighted_kendall_z(t, 50.0) for t in tables], ratios, rtol=1e-12)
    taus = search.weighted_target(tables[:, :1], part="tau")[:, 0]
    np.testing.assert_allclose([tau_a(t[:1]) for t in tables], taus, rtol=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("most", "k", "r", "c"), [(6, 1, 2, 2), (6, 2, 2, 2), (4, 1, 3, 3), (4, 2, 3, 3), (4, 2, 2, 3)]
)
def test_every_pair_of_neighbours_with_few_rows(relation: str, most: int, k: int, r: int, c: int) -> None:
    for rows in range(2, most + 1):  # rows of the larger data set
        targets = shipped.targets(relation, k, r, c, rows - 1)
        for name in KENDALL:
            if name in targets:
                target, bound = targets[name]
                assert search.exhaustive(target, rows, k, r, c, relation) <= bound * (1 + 1e-12), (name, rows)


@pytest.mark.thin(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("k", "r", "c"), [(1, 2, 2), (2, 2, 2), (1, 3, 3), (2, 2, 3), (2, 3, 3), (3, 4, 4)])
def test_climbing_stays_below_every_bound(relation: str, k: int, r: int, c: int) -> None:
    found = shipped.ratios(relation, k, r, c, sizes=(3, 40, 2000), starts=3, names=KENDALL)
    assert set(found) == set(shipped.targets(relation, k, r, c, 40)) & set(KENDALL)
    assert max(found.values()) <= 1 + 1e-12, found


TIGHT = [
    ("add-remove", 1, 2, 2, ("K", "V", "(K,V)", "q_T", "9S/(2n+5)", "tau_a")),
    ("add-remove", 2, 2, 2, ("K", "V", "(K,V)", "q_T", "9S/(2n+5)")),
    ("replace-one", 1, 2, 2, ("K", "(K,V)", "q_T", "9S/(2n+5)", "tau_a")),
    ("replace-one", 2, 2, 2, ("K", "V", "(K,V)", "q_T", "9S/(2n+5)")),
    ("add-remove", 2, 2, 3, ("K", "(K,V)", "q_T", "9S/(2n+5)")),
    ("add-remove", 1, 3, 3, ("K", "(K,V)", "9S/(2n+5)")),
    ("replace-one", 1, 3, 3, ("K", "9S/(2n+5)", "tau_a")),
    ("replace-one", 2, 3, 3, ("K", "9S/(2n+5)")),
    ("add-remove", 1, 4, 4, ("K", "V", "(K,V)")),
    ("add-remove", 1, 12, 12, ("tau_a",)),
]


@pytest.mark.parametrize(("relation", "k", "r", "c", "names"), TIGHT)
def test_bounds_are_tight_so_that_one_30_percent_smaller_is_caught(
    relation: str, k: int, r: int, c: int, names: tuple[str, ...]
) -> None:
    for name in names:
        best = 0.0
        for rows in (3, 2000) if name == "V" else (2000,):
            target, bound = shipped.targets(relation, k, r, c, rows)[name]
            best = max(best, search.climb(target, rows, k, r, c, relation, starts=3)[0] / bound)
        assert 0.9 <= best <= 1 + 1e-12, (name, best)


JOINT = [  # relation, k, r, c, weight, norm, least share of the bound that is found
    ("add-remove", 2, 2, 2, 2.0, 1, 0.9),
    ("replace-one", 1, 2, 2, 2.0, 1, 0.9),
    ("replace-one", 2, 2, 2, 1.25, 1, 0.9),
    ("add-remove", 2, 2, 2, 3.0, 2, 0.9),
    ("replace-one", 1, 2, 2, 3.0, 2, 0.9),
    ("replace-one", 2, 2, 2, 3.0, 2, 0.9),
    ("add-remove", 2, 3, 3, 0.2, 1, 0.9),
    ("replace-one", 2, 3, 3, 0.2, 1, 0.9),
    ("replace-one", 1, 3, 3, 0.2, 1, 0.9),
    ("replace-one", 2, 4, 4, 1.0, 2, 0.8),
]


@pytest.mark.parametrize(("relation", "k", "r", "c", "weight", "norm", "least"), JOINT)
def test_joint_release_with_other_weights_and_norms(
    relation: str, k: int, r: int, c: int, weight: float, norm: int, least: float
) -> None:
    bound = kendall_joint_sensitivity(relation, r, c, k, weight, norm)
    target = partial(search.kendall_target, part="KV", weight=weight)
    for rows in (1, 2, 3, 4, 5):
        assert search.change(target, search.every_table(rows, 1, 2, 2), relation, norm).max() <= bound * (
            1 + 1e-12
        )
    found = max(search.climb(target, rows, k, r, c, relation, norm=norm)[0] for rows in (20, 2000))
    assert least <= found / bound <= 1 + 1e-12


def test_the_search_breaks_the_papers_constants() -> None:
    rows = 1000
    tau, z, phi = (partial(search.weighted_target, part=part) for part in ("tau", "z", "phi"))
    for relation in RELATIONS:
        n = rows + 1
        assert search.climb(tau, rows, 1, 3, 3, relation)[0] > 1.4 * 2 / (rows - 1)  # Theorem 6
        assert search.climb(phi, rows, 2, 3, 3, relation)[0] > 3 * 0.3627 / np.sqrt(
            n
        )  # CURATE's product rule
        dropped = search.climb(search.dropping_target, rows, 4, 2, 2, relation)[0]
        assert dropped > 100 * 4.5 / np.sqrt(n - 1)  # constant strata left out
    assert search.climb(z, rows, 2, 3, 3, "replace-one")[0] > 1.5 * 4.5 / np.sqrt(rows)  # Theorem 7
    assert search.climb(z, rows, 1, 12, 12, "add-remove", starts=3)[0] > 1.05 * 4.5 / np.sqrt(rows)


def _corners(n: int) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """(T3, T2, T3', T2') at the corners of theorem 2's triangles, for every number m of rows tied with the new one."""
    found = []
    for m in range(n + 1):
        rest = n - m
        for t3, t2 in (
            (0, Fraction(0)),
            (comb(rest, 3), Fraction(2 * comb(rest, 2), 3)),
            (comb(rest, 3), Fraction(comb(rest, 2))),
        ):
            pairs = m * rest + t2
            triples = Fraction(comb(m, 2) * rest + m * comb(rest, 2) + t3)
            found.append((triples, pairs, triples + comb(n, 2) - comb(m, 2), pairs + n - m))
    return found


def test_lower_bound_of_the_variance_small() -> None:
    """Theorem 2, n <= 20, in exact rationals."""
    least = Fraction(0)
    for n in range(1, 21):
        after3 = Fraction(4, (n + 1) ** 3 * n * (n - 1)) if n > 1 else Fraction(0)
        after2 = Fraction(2, (n + 1) ** 3 * n)
        before3 = Fraction(4, n**3 * (n - 1) * (n - 2)) if n > 2 else Fraction(0)
        before2 = Fraction(2, n**3 * (n - 1)) if n > 1 else Fraction(0)
        corners = _corners(n)
        for i, x in enumerate(corners):
            for y in corners[i:]:
                change = (
                    after3 * x[2] * y[2]
                    + after2 * x[3] * y[3]
                    - before3 * x[0] * y[0]
                    - before2 * x[1] * y[1]
                )
                least = min(least, change)
                assert change <= Fraction(1, 3)
    assert least == Fraction(-5, 144)


def test_lower_bound_of_the_variance_large() -> None:
    """Theorem 2, 20 < n <= 400, each of the two terms at its own worst."""
    for n in range(21, 401):
        m = np.arange(n, dtype=float)
        before2, after2 = ((n - m) * (n + m + j) / 2 for j in (-1, 1))
        before3 = (n * (n - 1.0) * (n - 2) - m * (m - 1) * (m - 2)) / 6
        after3 = ((n + 1.0) * n * (n - 1) - (m + 1) * m * (m - 1)) / 6
        e3 = np.outer(after3, after3) * 4 / ((n + 1.0) ** 3 * n * (n - 1)) - np.outer(
            before3, before3
        ) * 4 / (n**3.0 * (n - 1) * (n - 2))
        e2 = np.outer(after2, after2) * 2 / ((n + 1.0) ** 3 * n) - np.outer(before2, before2) * 2 / (
            n**3.0 * (n - 1)
        )
        assert (np.minimum(e3, 0) + np.minimum(e2, 0)).min() > -0.0201
