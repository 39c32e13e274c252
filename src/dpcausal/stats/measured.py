"""Independence of x and y given s, from a table released with noise of known variance.

**Formula.** T = O + Z of shape (k, r, c), cell variance ``variance`` and excess kurtosis ``kurtosis`` of Z (3
Laplace, 0 Gaussian). Contrasts C = u'(N T - R C')v per block are unbiased under independence
(``measured_kernel.py``); two forms sum them: *omnibus* squares each, *pooled* adds them
over blocks first; ``combined`` joins both p-values. With one block of 2 x 2 the forms agree; without noise omnibus is
Pearson's with weights sqrt(n_i).

**Guarantee.** Post-processing of a released table: costs nothing. Nothing here sees counts without noise.

**Null law and assumptions.** Independent noise of mean 0 in every cell, rows independent given s. Contrasts have
mean 0 exactly and nearly the stated variance; p-values are approximate (saddle point, gamma): what level results is
measured in ``benchmarks/tables_stats.py``. **Where it fails**: many blocks of very unequal size with noise as large as
the typical block (.05 became .08, .001 became .01, in the worst case seen), 3 x 3 tables in 64 blocks (.07), and
p-values below 1e-3 in general: two to five times too small where noise rules. Plain chi-squared on the noisy
table is no alternative: it does not know the noise.

**Information.** ``standard_error`` is that of the association phi (correlation of the contrasts, within -1..1) common
to all blocks; ``detectable()`` the least phi found with power .8. Above 1 the table has nothing to say.

**Cost** O(k (r c) ((r-1)(c-1))^2). **Edge cases**: an empty level without noise drops out; nothing left gives p = 1.
References: Gaboardi, Lim, Rogers & Vadhan 2016 (noisy-table chi-squared, k = 1); Birch 1965 (pooled form).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpcausal.core.errors import InputError
from dpcausal.stats.measured_kernel import forms
from dpcausal.stats.measured_law import cauchy_combination, gamma_pvalue, one_contrast_pvalue

LAPLACE, GAUSSIAN = 3.0, 0.0  # excess kurtosis of the noise
Form = Literal["combined", "omnibus", "pooled"]


@dataclass(frozen=True)
class MeasuredTest:
    """What a noisy table says about independence; see the module for the fields.

    ``statistic`` belongs to the form asked for: omnibus Q over its null mean, pooled S over its standard deviation
    squared (d.o.f.-weighted mean of squares); for ``combined`` that of the form with the smaller p-value.
    """

    pvalue: float
    statistic: float
    omnibus_pvalue: float
    pooled_pvalue: float
    standard_error: float

    def detectable(self, level: float = 0.05, power: float = 0.8) -> float:
        """Least association phi that the pooled form finds with that power; above 1: no information."""
        return float((ndtri(1.0 - level / 2.0) + ndtri(power)) * self.standard_error)

    @property
    def informative(self) -> bool:
        """Whether a perfect association would have been found (level .05, power .8)."""
        return self.detectable() < 1.0


def checked_measurement(
    table: ArrayLike, variance: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as float64 of shape (k, r, c). The table is already public, so its values may be checked."""
    noisy = np.array(table, dtype=np.float64, order="C")  # a copy: read-only arrays compile anew
    if noisy.ndim != 3 or noisy.shape[0] < 1 or min(noisy.shape[1:]) < 1:
        raise InputError(f"a measured table must have shape (k, r, c), not {noisy.shape}")
    if isinstance(variance, float | int):
        spread = np.full(noisy.shape, float(variance))
    else:
        try:
            spread = np.array(np.broadcast_to(np.asarray(variance, np.float64), noisy.shape), order="C")
        except ValueError:
            raise InputError(f"variance must be a number or of shape {noisy.shape}") from None
    if not (math.isfinite(noisy.sum()) and math.isfinite(spread.sum()) and spread.min() >= 0.0):
        raise InputError("measured cells and variances must be finite, variances not negative")
    return noisy, spread


def measured_test(
    table: ArrayLike,
    variance: ArrayLike,
    *,
    kurtosis: float = LAPLACE,
    n: int | None = None,
    form: Form = "combined",
) -> MeasuredTest:
    """Test independence in every block of ``table`` released with that noise; ``n`` where it is public.

    >>> rng = np.random.default_rng(1)
    >>> table = np.array([[[300, 200], [200, 300]], [[30, 70], [20, 180]]]) + rng.laplace(0, 2.0, (2, 2, 2))
    >>> found = measured_test(table, 8.0, n=1300)
    >>> found.pvalue < 1e-6, found.informative
    (True, True)
    >>> measured_test(rng.laplace(0, 20.0, (4, 2, 2)), 800.0).informative
    False
    """
    noisy, spread = checked_measurement(table, variance)
    if min(noisy.shape[1:]) < 2:
        return MeasuredTest(1.0, 0.0, 1.0, 1.0, math.inf)
    (q_value, q_mean, q_variance), (s, cov, fourth, signal, terms) = forms(
        noisy, spread, float(kurtosis), float(n or 0)
    )
    p_pooled, p_value, error = _pooled_law(s, cov, fourth, signal, terms.ravel(), float(kurtosis))
    only = len(noisy) == 1 and s.size <= 1
    p_omnibus = p_pooled if only else gamma_pvalue(q_value, q_mean, q_variance)
    o_value = q_value / q_mean if q_mean > 0.0 else 0.0
    if form == "omnibus":
        return MeasuredTest(p_omnibus, o_value, p_omnibus, p_pooled, error)
    if form == "pooled":
        return MeasuredTest(p_pooled, p_value, p_omnibus, p_pooled, error)
    if form != "combined":
        raise InputError(f'form must be "combined", "omnibus" or "pooled", not {form!r}')
    both = p_pooled if only else cauchy_combination(p_omnibus, p_pooled)
    return MeasuredTest(both, o_value if p_omnibus < p_pooled else p_value, p_omnibus, p_pooled, error)


def _pooled_law(
    s: NDArray[np.float64],
    cov: NDArray[np.float64],
    fourth: NDArray[np.float64],
    signal: NDArray[np.float64],
    terms: NDArray[np.float64],
    kurtosis: float,
) -> tuple[float, float, float]:
    """(p-value, statistic, standard error of phi) of the pooled form."""
    if s.size == 1:
        spread, unit = float(cov[0, 0]), float(signal[0])
        if spread <= 0.0 or unit <= 0.0:
            return 1.0, 0.0, math.inf
        pvalue = one_contrast_pvalue(float(s[0]), spread, float(fourth[0]), terms, kurtosis)
        return pvalue, float(s[0]) ** 2 / spread, math.sqrt(spread) / unit
    variance = np.diag(cov)
    live = (variance > 0.0) & (signal > 0.0)
    if not live.any():
        return 1.0, 0.0, math.inf
    error = float(np.min(np.sqrt(variance[live]) / signal[live]))
    s, variance, fourth, cov = s[live], variance[live], fourth[live], cov[np.ix_(live, live)]
    weight = signal[live] ** 2 / variance
    weight /= weight.sum()
    value = float((weight * s * s / variance).sum())
    scaled = weight / variance
    spread = float(2.0 * (np.outer(scaled, scaled) * cov**2).sum() + (scaled**2 * fourth).sum())
    return gamma_pvalue(value, 1.0, max(spread, 0.1 / s.size)), value, error
