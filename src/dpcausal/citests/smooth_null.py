"""Null law of a smooth-sensitivity median of m uniform p-values, by simulation. Post-processing: no data enters.

The mechanism itself is run on ``DRAWS`` sets of m uniform numbers; a released median v has p-value
(1 + number of simulated medians <= v)/(DRAWS + 1), which is valid whatever DRAWS. The simulated medians are kept per
mechanism and m, so the cost is paid once.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.privacy.mechanisms.median_smooth import SmoothMedian

DRAWS = 999


@lru_cache(maxsize=32)
def _null(mechanism: SmoothMedian, m: int, epoch: int) -> NDArray[np.float64]:
    words = np.frombuffer(entropy.random_bytes(8 * m * DRAWS), np.uint64)
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.sort([mechanism.sample(row) for row in uniform.reshape(DRAWS, m)])


def smooth_pvalue(median: float, mechanism: SmoothMedian, m: int) -> float:
    """P(a median this small or smaller) under the null.

    >>> mechanism = SmoothMedian(lower=0.0, upper=1.0, epsilon=1.0, noise="cauchy")
    >>> smooth_pvalue(0.0, mechanism, 15) < smooth_pvalue(1.0, mechanism, 15) == 1.0
    True
    """
    simulated = _null(mechanism, m, entropy.epoch())
    return float(1 + np.searchsorted(simulated, median, side="right")) / (DRAWS + 1)
