"""The null law of a statistic that is normal given the margins, released with noise: its p-values.

**Formula**

    p = P(|N(0, v) + noise| >= |statistic|),        v = max(noisy variance, 0)

For Laplace noise of scale b, with s = sqrt(v), z = |statistic|/s, a = s/b,

    p = erfc(z/sqrt 2) + e^(-z^2/2) [erfcx((a - z)/sqrt 2) - erfcx((a + z)/sqrt 2)]/2,

the normal-Laplace law; where z > a the first erfcx would overflow and is replaced by its definition.

**Level.** v is itself noisy. Too small a v rejects too often, too large a v too rarely, and cutting at 0 adds a
bias upward. Under the normal model the level depends only on V/b^2 and on theta = b_V/b^2, b_V the scale of the
noise on V. For theta <= .8 a nominal .05 is between .042 and .056 for every V, a nominal .01 between .008 and
.012; for theta = 4 it reaches .083. So the rule is: **give V enough that b_V <= .8 b^2** (``kendall_weight``).
Averaging p over V given its noisy value (flat prior on V >= 0) was tried: nearer to nominal around V = 2 b_V, but .026
at V = 0, theta = 1.

**Edge cases**: no variance and no noise gives p = 1 (the statistic is then 0 on every data set with these
margins). **Cost** O(1). Everything here is post-processing of released numbers.

References: [1] Reed 2006 (normal-Laplace distribution).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, erfcx, ndtr

from dpcausal.core.errors import InputError

_MIN_VARIANCE = 1e-200  # a smaller one is nothing beside the noise
_ROOT2 = math.sqrt(2.0)


def normal_pvalue(statistic: ArrayLike, variance: ArrayLike) -> NDArray[np.float64]:
    """Return the two-sided p-value of a statistic that is normal with this variance; 1 where the variance is 0.

    >>> float(normal_pvalue(1.959963984540054, 1.0).round(6))
    0.05
    """
    statistic, variance = np.broadcast_arrays(
        np.abs(np.asarray(statistic, float)), np.maximum(np.asarray(variance, float), 0.0)
    )
    z = np.divide(statistic, np.sqrt(variance), out=np.zeros_like(statistic), where=variance > 0)
    return np.asarray(erfc(z / _ROOT2), dtype=np.float64)


def laplace_pvalue(statistic: ArrayLike, variance: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Return the two-sided p-value of a normal statistic with Laplace noise, P(|N(0, max(v, 0)) + Lap| >= |statistic|).

    >>> float(laplace_pvalue(2.0, 0.0, 1.0)) == math.exp(-2.0)
    True
    """
    _check_scale(scale)
    if scale == 0:
        return normal_pvalue(statistic, variance)
    t = np.abs(np.asarray(statistic, float))
    s = np.sqrt(np.maximum(np.asarray(variance, float), _MIN_VARIANCE))
    with np.errstate(over="ignore", under="ignore"):
        z, a = t / s, s / scale
        density = np.exp(-z * z / 2)
        near = density * erfcx(np.maximum(a - z, 0.0) / _ROOT2) / 2
        far = np.exp(np.minimum(a * a / 2 - t / scale, 0.0)) * ndtr(np.maximum(z - a, 0.0))
        tail = erfc(z / _ROOT2) - density * erfcx((a + z) / _ROOT2) / 2
    return np.asarray(np.clip(tail + np.where(a >= z, near, far), 0.0, 1.0), dtype=np.float64)


def laplace_tail(statistic: float, variance: float, scale: float) -> float:
    """Return the two-sided p-value of one normal statistic with Laplace noise, faster than ``laplace_pvalue``.

    >>> laplace_tail(2.0, 0.0, 1.0) == math.exp(-2.0)
    True
    """
    _check_scale(scale)
    t, s = abs(statistic), math.sqrt(max(variance, _MIN_VARIANCE))
    z, a = t / s, s / scale
    density = math.exp(-min(z * z / 2, 1e4))
    tail = math.erfc(z / _ROOT2) - density * float(erfcx((a + z) / _ROOT2)) / 2
    if a >= z:
        tail += density * float(erfcx((a - z) / _ROOT2)) / 2
    else:
        tail += math.exp(min(a * a / 2 - t / scale, 0.0)) * math.erfc((a - z) / _ROOT2) / 2
    return min(max(tail, 0.0), 1.0)


def _check_scale(scale: float) -> None:
    """Refuse a noise scale that is not finite and at least 0."""
    if not (math.isfinite(scale) and scale >= 0):
        raise InputError(f"the scale of the noise must be a finite number, at least 0, not {scale!r}")
