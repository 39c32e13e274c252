"""The test on measured tables: limits without noise, invariances, laws of its parts, edge cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import laplace, norm

from dpcausal.core.errors import InputError
from dpcausal.stats.chi2 import pearson
from dpcausal.stats.measured import (
    GAUSSIAN,
    LAPLACE,
    MeasuredTest,
    basis,
    cauchy_combination,
    gamma_pvalue,
    measured_test,
    one_contrast_pvalue,
)


def noisy_table(seed: int, shape: tuple[int, int, int] = (3, 2, 2), scale: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(120.0, shape) + rng.laplace(0.0, scale, shape)


def test_without_noise_one_block_is_pearson_up_to_one_row() -> None:
    for table in ([[[30, 50], [40, 35]]], [[[30, 50, 20], [40, 35, 60], [10, 12, 9]]]):
        n = int(np.sum(table))
        found = measured_test(table, 0.0, kurtosis=GAUSSIAN, form="omnibus")
        expected = pearson(table)
        # variance n/(n-1) of the exact conditional law, and a mean of (r-1)(c-1) squares
        assert found.statistic * expected.dof == pytest.approx(expected.statistic * (n - 1) / n, rel=1e-9)
        assert found.omnibus_pvalue == pytest.approx(expected.pvalue, abs=0.01)


def test_without_noise_an_empty_level_changes_nothing() -> None:
    table = np.array([[[30, 50, 0], [40, 35, 0], [0, 0, 0]]])
    small = measured_test(table[:, :2, :2], 0.0)
    large = measured_test(table, 0.0)
    assert large.statistic == pytest.approx(small.statistic, rel=1e-9)
    assert large.omnibus_pvalue == pytest.approx(small.omnibus_pvalue, rel=1e-6)


@pytest.mark.parametrize("shape", [(3, 2, 2), (2, 3, 4)])
def test_order_of_levels_and_blocks_and_roles_do_not_matter(shape: tuple[int, int, int]) -> None:
    table = noisy_table(4, shape)
    one = measured_test(table, 8.0)
    for other in (table[::-1], table[:, ::-1], table[:, :, ::-1], table.transpose(0, 2, 1)):
        two = measured_test(other, 8.0)
        assert two.omnibus_pvalue == pytest.approx(one.omnibus_pvalue, rel=1e-6)
        assert two.pooled_pvalue == pytest.approx(one.pooled_pvalue, rel=1e-6)


def test_one_variance_per_cell_is_the_same_as_one_number_when_equal() -> None:
    table = noisy_table(1)
    assert measured_test(table, np.full(table.shape, 8.0)) == measured_test(table, 8.0)
    assert measured_test(table, np.full((2, 2), 8.0)) == measured_test(table, 8.0)


def test_more_noise_means_less_evidence() -> None:
    table = noisy_table(2) + 300 * np.eye(2)
    pvalues = [measured_test(table, v).pvalue for v in (100.0, 1e4, 1e5, 1e6)]
    assert pvalues == sorted(pvalues)
    assert pvalues[0] < 1e-6 < 0.05 < pvalues[-1]


def test_forms_see_what_they_should() -> None:
    agree = np.array([[[60, 40], [40, 60]]] * 8, dtype=float)
    cancel = agree.copy()
    cancel[::2] = cancel[::2, ::-1]
    both = {f: measured_test(cancel, 8.0, form=f).pvalue for f in ("omnibus", "pooled", "combined")}
    assert both["omnibus"] < 1e-4
    assert both["pooled"] > 0.5
    assert both["combined"] < 1e-3
    same = {f: measured_test(agree, 8.0, form=f).pvalue for f in ("omnibus", "pooled", "combined")}
    assert same["pooled"] < same["combined"] < 3 * same["pooled"]
    assert same["pooled"] < same["omnibus"]


def test_nothing_to_test() -> None:
    for table in (np.zeros((2, 2, 2)), [[[5.0, 0.0], [9.0, 0.0]]], [[[1.0, 2.0]]]):
        assert measured_test(table, 0.0).pvalue == 1.0
    negative = measured_test(np.full((4, 2, 2), -50.0), 8.0)
    assert 0.0 <= negative.pvalue <= 1.0


def test_bad_arguments_are_refused() -> None:
    for call in (
        lambda: measured_test([[1.0, 2.0]], 1.0),
        lambda: measured_test(np.ones((1, 2, 2)), -1.0),
        lambda: measured_test(np.full((1, 2, 2), np.nan), 1.0),
        lambda: measured_test(np.ones((1, 2, 2)), np.ones(3)),
        lambda: measured_test(np.ones((1, 2, 2)), 1.0, form="best"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            call()


def test_basis_is_orthonormal_and_diagonal() -> None:
    for p in ([0.3, 0.7], [0.2, 0.5, 0.3], [0.1, 0.0, 0.6, 0.3]):
        at = np.array([p])
        u = np.zeros((len(p), len(p)))
        count = basis(at, 0, u)
        assert count == sum(x > 0 for x in p) - 1
        u = u[:, :count]
        assert at[0] @ u == pytest.approx(np.zeros(count), abs=1e-10)
        assert u.T @ (at[0][:, None] * u) == pytest.approx(np.eye(count), abs=1e-10)
        gram = u.T @ u
        assert gram == pytest.approx(np.diag(np.diag(gram)), abs=1e-9)


def test_saddle_point_tail_of_laplace_and_normal_sums() -> None:
    for x in (1.0, 3.0, 8.0):
        exact = 2 * laplace.sf(x)
        assert one_contrast_pvalue(x, 2.0, 12.0, np.array([math.sqrt(2.0)]), LAPLACE) == pytest.approx(
            exact, rel=0.1
        )
        assert one_contrast_pvalue(x, 1.0, 0.0, np.zeros(1), GAUSSIAN) == pytest.approx(
            2 * norm.sf(x), rel=1e-6
        )
    # four Laplace terms and a normal part: numerical inversion of the characteristic function
    sd, rest = np.array([1.0, 0.5, 0.5, 0.2]), 1.5
    t = np.linspace(1e-6, 60.0, 600_001)
    phi = np.exp(-0.5 * rest * t * t) / np.prod([1 + 0.5 * (s * t) ** 2 for s in sd], axis=0)
    variance, fourth = float((sd**2).sum() + rest), float(3 * (sd**4).sum())
    for x in (1.0, 3.0, 6.0):
        exact = 2 * (0.5 - np.trapezoid(np.sin(x * t) / t * phi, t) / math.pi)
        assert one_contrast_pvalue(x, variance, fourth, sd, LAPLACE) == pytest.approx(exact, rel=0.03)


def test_combination_and_gamma() -> None:
    assert cauchy_combination(1e-9, 0.5) == pytest.approx(2e-9, rel=1e-3)
    assert cauchy_combination(0.0, 1.0) < 1e-290
    assert cauchy_combination(0.9, 1.0) > 0.9
    assert gamma_pvalue(3.0, 1.0, 2.0) == pytest.approx(0.0832645, rel=1e-5)
    assert isinstance(measured_test(noisy_table(1), 8.0), MeasuredTest)


def test_strong_dependence_with_terms_of_either_sign_is_a_number() -> None:
    """A contrast's largest noise term may be negative: the saddle point must stay inside the domain (was NaN)."""
    table = np.array([[[870, 89048], [286, 9796]]])
    noisy = table + np.random.default_rng(0).laplace(0, 1, (8, 1, 2, 2)).round().sum(axis=0)
    found = measured_test(noisy, 16.0, kurtosis=3 / 8)
    assert 0.0 <= found.pvalue < 1e-20
