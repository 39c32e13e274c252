"""The worst p-value of a released unit circle statistic over a public range of the outcome's margin.

Up to ``EXACT`` margins all are tried. Beyond that the tail, which changes smoothly from one margin to the next, is
tried at margins spaced ever wider from both ends (where it changes fastest), and then more closely around the
largest found, twice. The noise is far wider than what is missed between; no privacy depends on it.
"""

from __future__ import annotations

import numpy as np

from dpcausal.stats.unit_circle import unit_circle_tail

EXACT = 2000


def worst_tail(value: float, n1: int, n0: int, margins: tuple[int, int], tau: float, scale: float) -> float:
    """max over M1 in the range of P(||V|| + Lap(scale) >= value | M1).

    >>> round(worst_tail(1.5, 50, 50, (0, 100), 3.84, 0.1), 6) >= round(worst_tail(1.5, 50, 50, (40, 60), 3.84, 0.1), 6)
    True
    """
    low, high = margins

    def tail(m: int) -> float:
        return unit_circle_tail(value, n1, n0, m, tau, scale)

    if high - low < EXACT:
        return max(tail(m) for m in range(low, high + 1))
    steps = np.unique(np.geomspace(1, (high - low) / 2 + 1, 300).astype(int)) - 1
    tried = sorted({low + int(s) for s in steps} | {high - int(s) for s in steps})
    for _ in range(2):
        tails = [tail(m) for m in tried]
        best = int(np.argmax(tails))
        left, right = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
        tried = sorted(set(np.linspace(left, right, 200).astype(int).tolist()))
    return max(*tails, *(tail(m) for m in tried))
