"""Null laws of the two forms of ``measured_kernel.py``, as p-values.

**One contrast** (2 x 2 tables): S = sum of independent noise terms of known standard deviations and the rest
(sampling, products of noise). A term of excess kurtosis e is variance-gamma with cumulant generating function
-(3/e) log(1 - e s^2 t^2/6): exactly Laplace at e = 3, normal at e = 0. The tail is Lugannani and Rice's [1, eq. 10],
right in relative terms far out, where noise has exponential and not Gaussian tails.
**Sums of squares**: a gamma law with the form's own mean and variance, fourth cumulants included (Satterthwaite).
**Together**: Cauchy combination [2] of the two p-values, which needs no knowledge of their dependence.

References: [1] Lugannani & Rice 1980; [2] Liu & Xie 2020.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, ndtr

from dpcausal.stats.measured_kernel import jit


@jit
def _slopes(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """(K', K'') at t; all terms symmetric about 0."""
    first, second = 0.0, 0.0
    for j in range(sd.shape[0] + 1):
        var = rest if j == sd.shape[0] else sd[j] * sd[j]
        x = (rest_kurtosis if j == sd.shape[0] else kurtosis) * var * t * t / 6.0
        part = var / (1.0 - x)
        first += part * t
        second += part * (1.0 + x) / (1.0 - x)
    return first, second


@jit
def _value(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """K at t."""
    value, product = 0.0, 1.0
    if kurtosis > 1e-9:
        for j in range(sd.shape[0]):
            product *= 1.0 - kurtosis * sd[j] * sd[j] * t * t / 6.0
            if product < 1e-200:
                value -= 3.0 / kurtosis * math.log(product)
                product = 1.0
        value -= 3.0 / kurtosis * math.log(product)
    else:
        value += 0.5 * t * t * (sd * sd).sum()
    if rest_kurtosis > 1e-9:
        return value - 3.0 / rest_kurtosis * math.log(1.0 - rest_kurtosis * rest * t * t / 6.0)
    return value + 0.5 * rest * t * t


@jit
def _saddle(x: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """(t, K(t), K''(t)) with K'(t) = x > 0."""
    top = 1e300
    if kurtosis > 1e-9:
        top = math.sqrt(6.0 / kurtosis) / max(sd.max(), 1e-150)
    if rest_kurtosis > 1e-9:
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
    """P(|S| >= |value|) for S of that variance and fourth cumulant, made of noise terms ``sd`` and the rest.

    >>> round(one_contrast_pvalue(1.959964, 1.0, 0.0, np.zeros(1), 0.0), 4)
    0.05
    >>> round(one_contrast_pvalue(5.0, 2.0, 12.0, np.array([2.0**0.5]), 3.0) * math.exp(5.0), 1)
    1.0
    """
    if variance <= 0.0:
        return 1.0
    terms = np.abs(sd) if kurtosis > 1e-9 else np.zeros(1)
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
    """P(Q >= value) for a gamma law of that mean and variance; 1 where there is nothing to test.

    >>> round(gamma_pvalue(3.841459, 1.0, 2.0), 4)
    0.05
    >>> gamma_pvalue(0.0, 0.0, 0.0)
    1.0
    """
    if mean <= 0.0 or variance <= 0.0:
        return 1.0
    return float(gammaincc(mean * mean / variance, value * mean / variance))


def cauchy_combination(first: float, second: float) -> float:
    """One p-value from two, whatever their dependence (near enough, for small ones).

    >>> round(cauchy_combination(0.03, 0.03), 6), round(cauchy_combination(0.001, 0.5), 4)
    (0.03, 0.002)
    """
    if first == second:
        return first
    total = 0.0
    for p in (first, second):
        total += 0.5 / math.tan(math.pi * min(max(p, 1e-300), 1.0 - 1e-3))
    return math.atan2(1.0, total) / math.pi
