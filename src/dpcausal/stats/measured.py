"""Independence of x and y given s, from a table released with noise of known variance.

**Formula.** T = O + Z of shape (k, r, c), cell variance ``variance`` and excess kurtosis ``kurtosis`` of Z (3
Laplace, 0 Gaussian). Contrasts C = u'(N T - R C')v of every block are unbiased under independence
(``stats/measured_kernel.py``); two forms sum them: *omnibus* squares each, *pooled* adds them over blocks first;
``combined`` joins both p-values. With one block of 2 x 2 the forms agree; without noise omnibus is Pearson's with
weights sqrt(n_i).

**Guarantee.** Post-processing of a released table: costs nothing. Nothing here sees counts without noise. That the
contrasts are unbiased is proved in ``measured.proof.md``.

**Null law and assumptions.** Independent noise of mean 0 in every cell, rows independent given s. Contrasts have
mean 0 exactly and nearly the stated variance; p-values are approximate:

- *one contrast* (2 x 2 tables): S = sum of independent noise terms of known standard deviations and the rest (sampling,
  products of noise). A term of excess kurtosis e is variance-gamma with cumulant generating function
  -(3/e) log(1 - e s^2 t^2/6): exactly Laplace at e = 3, normal at e = 0. The tail is Lugannani and Rice's [1, eq. 10],
  right in relative terms far out, where noise has exponential and not Gaussian tails;
- *sums of squares*: a gamma law with the form's own mean and variance, fourth cumulants included (Satterthwaite);
- *together*: Cauchy combination [2] of the two p-values, which needs no knowledge of their dependence.

What level results is measured in ``benchmarks/tables_stats.py``. **Where it fails**: many blocks of very unequal size
with noise as large as the typical block (.05 became .08, .001 became .01, in the worst case seen), 3 x 3 tables in 64
blocks (.07), and p-values below 1e-3 in general: two to five times too small where noise dominates. Plain chi-squared
on the noisy table is no alternative: it does not know the noise.

**Information.** ``standard_error`` is that of the association phi (correlation of the contrasts, within -1..1) common
to all blocks; ``detectable()`` the least phi found with power .8. Above 1 the table has nothing to say.

**Cost** O(k (r c) ((r-1)(c-1))^2). **Edge cases**: an empty level without noise drops out; nothing left gives p = 1.

References: [1] Lugannani & Rice 1980; [2] Liu & Xie 2020; Gaboardi, Lim, Rogers & Vadhan 2016 (noisy-table chi-squared,
k = 1); Birch 1965 (pooled form).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, ndtr, ndtri

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.stats.measured_kernel import forms

LAPLACE, GAUSSIAN = 3.0, 0.0  # excess kurtosis of the noise
NORMAL_KURTOSIS = 1e-9  # an excess kurtosis below this is taken for that of a normal law
Form = Literal["combined", "omnibus", "pooled"]


@jit(error_model="numpy")
def _slopes(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the first two derivatives of the cumulant generating function at t; all terms are symmetric about 0."""
    first, second = 0.0, 0.0
    for j in range(sd.shape[0] + 1):
        var = rest if j == sd.shape[0] else sd[j] * sd[j]
        x = (rest_kurtosis if j == sd.shape[0] else kurtosis) * var * t * t / 6.0
        part = var / (1.0 - x)
        first += part * t
        second += part * (1.0 + x) / (1.0 - x)
    return first, second


@jit(error_model="numpy")
def _value(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the cumulant generating function at t."""
    value, product = 0.0, 1.0
    if kurtosis > NORMAL_KURTOSIS:
        for j in range(sd.shape[0]):
            product *= 1.0 - kurtosis * sd[j] * sd[j] * t * t / 6.0
            if product < 1e-200:
                value -= 3.0 / kurtosis * math.log(product)
                product = 1.0
        value -= 3.0 / kurtosis * math.log(product)
    else:
        value += 0.5 * t * t * (sd * sd).sum()
    if rest_kurtosis > NORMAL_KURTOSIS:
        return value - 3.0 / rest_kurtosis * math.log(1.0 - rest_kurtosis * rest * t * t / 6.0)
    return value + 0.5 * rest * t * t


@jit(error_model="numpy")
def _saddle(x: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the saddle point t with K'(t) = x > 0, and K and K'' there, K the cumulant generating function."""
    top = 1e300
    if kurtosis > NORMAL_KURTOSIS:
        top = math.sqrt(6.0 / kurtosis) / max(sd.max(), 1e-150)
    if rest_kurtosis > NORMAL_KURTOSIS:
        top = min(top, math.sqrt(6.0 / (rest_kurtosis * max(rest, 1e-300))))
    low, high = 0.0, top
    t = min(x / (rest + (sd * sd).sum()), 0.5 * top)
    for _ in range(100):
        first, second = _slopes(t, sd, kurtosis, rest, rest_kurtosis)
        if abs(first - x) <= 1e-10 * x:
            break
        if first > x:
            high = t
        else:
            low = t
        new = t + (x - first) / second
        if not low < new < high:
            new = 0.5 * (low + high)
        t = new
    second = _slopes(t, sd, kurtosis, rest, rest_kurtosis)[1]
    return t, _value(t, sd, kurtosis, rest, rest_kurtosis), second


def one_contrast_pvalue(
    value: float, variance: float, fourth: float, sd: NDArray[np.float64], kurtosis: float
) -> float:
    """Return P(|S| >= |value|) for S of that variance and fourth cumulant, made of noise terms ``sd`` and the rest.

    >>> round(one_contrast_pvalue(1.959964, 1.0, 0.0, np.zeros(1), 0.0), 4)
    0.05
    >>> round(one_contrast_pvalue(5.0, 2.0, 12.0, np.array([2.0**0.5]), 3.0) * math.exp(5.0), 1)
    1.0
    """
    if variance <= 0.0:
        return 1.0
    terms = np.abs(sd) if kurtosis > NORMAL_KURTOSIS else np.zeros(1)
    squares = terms * terms
    rest = max(variance - float(squares.sum()), 1e-12 * variance)
    beyond = (fourth - kurtosis * float(squares @ squares)) / rest**2
    x = abs(value)
    if x <= 1e-3 * math.sqrt(variance):
        return 1.0
    t, k, second = _saddle(x, terms, kurtosis, rest, min(max(beyond, 0.0), 30.0))
    w = math.sqrt(max(2.0 * (t * x - k), 1e-300))
    tail = float(ndtr(-w)) + math.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi) * (
        1.0 / (t * math.sqrt(second)) - 1.0 / w
    )
    return float(min(max(2.0 * tail, 0.0), 1.0))


def gamma_pvalue(value: float, mean: float, variance: float) -> float:
    """Return P(Q >= value) for a gamma law of that mean and variance; 1 where there is nothing to test.

    >>> round(gamma_pvalue(3.841459, 1.0, 2.0), 4)
    0.05
    >>> gamma_pvalue(0.0, 0.0, 0.0)
    1.0
    """
    if mean <= 0.0 or variance <= 0.0:
        return 1.0
    return float(gammaincc(mean * mean / variance, value * mean / variance))


def cauchy_combination(first: float, second: float) -> float:
    """Return one p-value from two, whatever their dependence (nearly, for small ones).

    >>> round(cauchy_combination(0.03, 0.03), 6), round(cauchy_combination(0.001, 0.5), 4)
    (0.03, 0.002)
    """
    if first == second:
        return first
    total = 0.0
    for p in (first, second):
        total += 0.5 / math.tan(math.pi * min(max(p, 1e-300), 1.0 - 1e-3))
    return math.atan2(1.0, total) / math.pi


@dataclass(frozen=True)
class MeasuredTest:
    """What a noisy table says about independence.

    Attributes
    ----------
    pvalue : float
        Of the form asked for.
    statistic : float
        Of the form asked for: omnibus Q over its null mean, pooled S over its standard deviation, squared
        (d.o.f.-weighted mean of squares); for ``combined`` that of the form with the smaller p-value.
    omnibus_pvalue, pooled_pvalue : float
        Of both forms.
    standard_error : float
        Of the association phi common to all blocks; infinite where there is nothing to test.
    """

    pvalue: float
    statistic: float
    omnibus_pvalue: float
    pooled_pvalue: float
    standard_error: float

    def detectable(self, level: float = 0.05, power: float = 0.8) -> float:
        """Return the least association phi that the pooled form finds with that power; above 1: no information."""
        return float((ndtri(1.0 - level / 2.0) + ndtri(power)) * self.standard_error)

    @property
    def informative(self) -> bool:
        """Whether a perfect association would have been found (level .05, power .8)."""
        return self.detectable() < 1.0


def checked_measurement(
    table: ArrayLike, variance: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both as float64 of shape (k, r, c). The table is already public, so its values may be checked."""
    noisy = np.array(table, dtype=np.float64, order="C")  # a copy: read-only arrays compile anew
    if noisy.ndim != 3 or noisy.shape[0] < 1 or min(noisy.shape[1:]) < 1:
        raise InputError(f"a measured table must have shape (k, r, c), not {noisy.shape}")
    if isinstance(variance, float | int):
        variances = np.full(noisy.shape, float(variance))
    else:
        try:
            variances = np.array(np.broadcast_to(np.asarray(variance, np.float64), noisy.shape), order="C")
        except ValueError:
            raise InputError(f"variance must be a number or of shape {noisy.shape}") from None
    if not (math.isfinite(noisy.sum()) and math.isfinite(variances.sum()) and variances.min() >= 0.0):
        raise InputError("measured cells and variances must be finite, variances not negative")
    return noisy, variances


def measured_test(
    table: ArrayLike,
    variance: ArrayLike,
    *,
    kurtosis: float = LAPLACE,
    n: int | None = None,
    form: Form = "combined",
) -> MeasuredTest:
    """Test independence in every block of a table that was released with noise.

    Parameters
    ----------
    table
        The noisy counts, of shape (k, r, c).
    variance
        Of the noise, one number or one for each cell.
    kurtosis
        Excess kurtosis of the noise: ``LAPLACE`` or ``GAUSSIAN``.
    n
        The number of rows where it is public, else None.
    form
        "omnibus", "pooled", or "combined" for both.

    >>> rng = np.random.default_rng(1)
    >>> table = np.array([[[300, 200], [200, 300]], [[30, 70], [20, 180]]]) + rng.laplace(0, 2.0, (2, 2, 2))
    >>> found = measured_test(table, 8.0, n=1300)
    >>> found.pvalue < 1e-6, found.informative
    (True, True)
    >>> measured_test(rng.laplace(0, 20.0, (4, 2, 2)), 800.0).informative
    False
    """
    noisy, variances = checked_measurement(table, variance)
    if min(noisy.shape[1:]) < 2:
        return MeasuredTest(1.0, 0.0, 1.0, 1.0, math.inf)
    (q_value, q_mean, q_variance), (s, cov, fourth, signal, terms) = forms(
        noisy, variances, float(kurtosis), float(n or 0)
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
    """Return (p-value, statistic, standard error of phi) of the pooled form."""
    if s.size == 1:
        total, unit = float(cov[0, 0]), float(signal[0])
        if total <= 0.0 or unit <= 0.0:
            return 1.0, 0.0, math.inf
        pvalue = one_contrast_pvalue(float(s[0]), total, float(fourth[0]), terms, kurtosis)
        return pvalue, float(s[0]) ** 2 / total, math.sqrt(total) / unit
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
    form_variance = float(2.0 * (np.outer(scaled, scaled) * cov**2).sum() + (scaled**2 * fourth).sum())
    return gamma_pvalue(value, 1.0, max(form_variance, 0.1 / s.size)), value, error
