"""The null law of a statistic that is normal given the margins, released with noise: its p-values.

**Formula**

    p = P(|N(0, v) + noise| >= |statistic|),        v = max(noisy variance, 0)

For Laplace noise of scale b, with s = sqrt(v), z = |statistic|/s, a = s/b,

    p = erfc(z/sqrt 2) + e^(-z^2/2) [erfcx((a - z)/sqrt 2) - erfcx((a + z)/sqrt 2)]/2,

the normal-Laplace law; where z > a the first erfcx would overflow and is replaced by its definition.

**Level.** v is itself noisy. Too small a v rejects too often, too large a v too rarely, and cutting at 0 adds a
bias upward. Under the normal model the level depends only on V/b^2 and on theta = b_V/b^2, b_V the scale of the
noise on V. For theta <= .8 a nominal .05 is between .042 and .056 for every V, a nominal .01 between .008 and
.012; for theta = 4 it reaches .083. So the rule is: **give V enough that b_V <= .8 b^2** (``variance_weight``).

**Edge cases**: no variance and no noise gives p = 1 (the statistic is then 0 on every data set with these margins).
**Cost** O(1). Everything here is post-processing of released numbers.

References: [1] Reed 2006 (normal-Laplace distribution).
"""

from __future__ import annotations

import math

from scipy.special import erfcx

from dpcausal.core.errors import InputError

_MIN_VARIANCE = 1e-200  # a smaller one is nothing beside the noise
_ROOT2 = math.sqrt(2.0)


def variance_weight(first: float, second: float, epsilon: float) -> float:
    """Return the least weight w of a variance with b_V <= .8 b^2 in a release of (statistic, w variance).

    ``first`` and ``second`` are their sensitivities: b = (first + w second)/epsilon and b_V = b/w, so that
    w (first + w second) = 1.25 epsilon.

    >>> round(variance_weight(2.0, 0.375, 1.0), 4)
    0.5651
    """
    return (math.sqrt(first**2 + 5.0 * epsilon * second) - first) / (2 * second)


def normal_pvalue(statistic: float, variance: float) -> float:
    """Return the two-sided p-value of a statistic that is normal with this variance; 1 where the variance is 0.

    >>> round(normal_pvalue(1.959963984540054, 1.0), 6)
    0.05
    """
    return math.erfc(abs(statistic) / math.sqrt(variance) / _ROOT2) if variance > 0 else 1.0


def laplace_tail(statistic: float, variance: float, scale: float) -> float:
    """Return the two-sided p-value of a normal statistic with Laplace noise, P(|N(0, max(v, 0)) + Lap| >= |statistic|).

    >>> laplace_tail(2.0, 0.0, 1.0) == math.exp(-2.0)
    True
    """
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"the scale of the noise must be a finite number above 0, not {scale!r}")
    t, s = abs(statistic), math.sqrt(max(variance, _MIN_VARIANCE))
    z, a = t / s, s / scale
    density = math.exp(-min(z * z / 2, 1e4))
    tail = math.erfc(z / _ROOT2) - density * float(erfcx((a + z) / _ROOT2)) / 2
    if a >= z:
        tail += density * float(erfcx((a - z) / _ROOT2)) / 2
    else:
        tail += math.exp(min(a * a / 2 - t / scale, 0.0)) * math.erfc((a - z) / _ROOT2) / 2
    return min(max(tail, 0.0), 1.0)
