"""What a noisy table says about the sizes and margins of its blocks: the nuisance part of ``measured.py``.

Block i of a released table T = O + Z has size n_i, row proportions p_i and column proportions q_i. Estimates
only set weights and variances; the contrasts tested are unbiased whatever they are (``measured.proof.md``).

**Sizes.** m = mean size (n/k where n is public). The variance of the observed sizes beyond noise is t2, at
least m (Poisson). Sizes follow the observed ones with rho = tg/(tg + noise), tg the excess over noise beyond
``GUARD`` standard errors: without clear evidence of difference all blocks get m, so that weights cannot follow
the noise they are tested against. **Proportions** are drawn towards the pooled ones in the same way.
**Residualised.** Margins share noise with the contrasts; their regression on the contrasts is taken out first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba as nb
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
jit: Callable[[F], F] = nb.njit(nogil=True, cache=True, error_model="numpy")

GUARD = 3.0  # standard errors of evidence before blocks are told apart
LEAST = 0.1  # a proportion never falls below this part of the pooled one while there is noise

# columns of the array ``about``: what is known of each block beside its size
TRUST_X, TRUST_Y = 0, 1  # weight of the block's own proportions, 0 pooled .. 1 own
UNSEEN = 2  # variance of the true size around the estimate
JITTER = 3  # variance of the observed size that the estimate does not follow
SHARED = 4  # variance of the mean size (0 where n is public)
FOLLOW = 5  # rho
LOUD = 6  # factor on the noise variance of a block louder than its estimate explains
ABOUT = 7


@jit
def sizes(total: Any, seen: Any, noise: Any, kurtosis: Any, out: Any, about: Any) -> None:
    """Estimated block sizes from the observed ones; ``noise`` holds the variance of each observed size."""
    k = seen.shape[0]
    shared = noise.sum() / k**2 if total <= 0.0 else 0.0
    mean = (total if total > 0.0 else seen.sum()) / k
    level = noise.sum() / k
    rho = 1.0
    spread = 0.0
    if k > 1:
        raw = 0.0
        for i in range(k):
            raw += (seen[i] - mean) ** 2
        raw /= k - 1
        clear = max(raw - level * (1.0 + GUARD * np.sqrt((2.0 + kurtosis) / (k - 1))), 0.0)
        spread = max(raw - level, max(mean, 0.0))
        rho = clear / (clear + level) if level > 0.0 else 1.0
    for i in range(k):
        out[i] = max(mean + rho * (seen[i] - mean), 0.0)
        about[i, UNSEEN] = max(spread - rho * rho * (spread + level), 0.0)
        about[i, JITTER] = (1.0 - rho) ** 2 * (noise[i] + spread)
        about[i, SHARED] = (1.0 - rho) ** 2 * shared
        about[i, FOLLOW] = rho


@jit
def proportions(seen: Any, noise: Any, size: Any, kurtosis: Any, out: Any, about: Any, side: Any) -> None:
    """Estimated proportions (k, levels) from observed margins; ``noise``: variance of each of their counts."""
    k, levels = seen.shape
    pool = np.zeros(levels)
    sigma2 = np.zeros(levels)
    for i in range(k):
        for a in range(levels):
            pool[a] += seen[i, a]
            sigma2[a] += noise[i, a]
    total = 0.0
    for a in range(levels):
        least = 0.5 + 0.5 * np.sqrt(sigma2[a]) if sigma2[a] > 0.0 else 0.0
        pool[a] = max(pool[a], least)
        total += pool[a]
    for a in range(levels):
        pool[a] = pool[a] / total if total > 0.0 else 1.0 / levels
    spread = 1.0  # variance of a proportion between blocks, in units of pool (1 - pool)
    if k > 1 and sigma2.max() > 0.0:
        top = 0.0
        bottom = 0.0
        for i in range(k):
            for a in range(levels):
                unit = pool[a] * (1.0 - pool[a])
                base = noise[i, a] + size[i] * unit
                if base > 0.0:
                    weight = size[i] * size[i] * unit
                    top += weight * ((seen[i, a] - size[i] * pool[a]) ** 2 - base) / base**2
                    bottom += (weight / base) ** 2
        if bottom > 0.0:
            spread = max(top / bottom - GUARD * np.sqrt((2.0 + kurtosis) / bottom), 0.0)
    for i in range(k):
        about[i, side] = 0.0
        total = 0.0
        for a in range(levels):
            unit = spread * pool[a] * (1.0 - pool[a])
            base = size[i] * size[i] * unit + noise[i, a]
            value = pool[a]
            if base > 0.0:
                value += size[i] * unit * (seen[i, a] - size[i] * pool[a]) / base
                about[i, side] += size[i] * size[i] * unit / base / levels
            value = max(value, LEAST * pool[a] if noise[i, a] > 0.0 else 0.0)
            out[i, a] = value
            total += value
        for a in range(levels):
            out[i, a] = out[i, a] / total if total > 0.0 else 0.0


@jit
def loudness(table: Any, variance: Any, size: Any, p: Any, q: Any, about: Any) -> None:
    """LOUD = 1 + rho max(0, sum T^2/(1.5 expected) - 1): one far-out draw must not pass for a large block."""
    k, r, c = table.shape
    for i in range(k):
        seen = 0.0
        expected = 0.0
        for a in range(r):
            for b in range(c):
                cell = p[i, a] * q[i, b]
                seen += table[i, a, b] ** 2
                expected += (
                    (size[i] ** 2 + about[i, UNSEEN]) * cell * cell + size[i] * cell + variance[i, a, b]
                )
        over = seen / (1.5 * expected) - 1.0 if expected > 0.0 else 0.0
        about[i, LOUD] = 1.0 + about[i, FOLLOW] * max(0.0, over)
