"""Many coins with exact probabilities exp(-gamma_i) at once: about 5 ns each.

Each coin compares a uniform U with exp(-gamma), as many bits of U as it takes: one byte, which settles nearly all
improbable coins; 32 bits against float64 bounds, which settle whatever the float error; then (about one coin in 10^9)
more bits against correctly rounded decimals. **Guarantee** exact law, ``many_coins.proof.md``. Use through ``noise``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.core.proofs import proved
from dpcausal.privacy.coins import _weight_bounds

SLACK = 2.0**-36  # relative; float64 errors of exp(-gamma) stay below 2^-40 for gamma up to 700


@proved("many_coins.proof.md")
def bernoulli_exp_many(steps: NDArray[np.int64], per_step: Fraction) -> NDArray[np.bool_]:
    """True with probability exactly exp(-steps[i] per_step), independently; steps in 0..2^60, per_step > 0.

    >>> bernoulli_exp_many(np.zeros(3, np.int64), Fraction(1, 3)).tolist()
    [True, True, True]
    """
    rate = float(per_step)
    byte = np.frombuffer(entropy.random_bytes(steps.size), np.uint8)
    with np.errstate(divide="ignore"):
        reach = (
            -np.log(np.arange(256) / 256.0) * (1.0 + SLACK) / rate + 1.0
        )  # U >= byte/256 needs steps below this
    heads = steps < reach[byte]
    alive = np.flatnonzero(heads)
    first = np.frombuffer(entropy.random_bytes(4 * alive.size), np.uint32) >> np.uint32(8)
    first = (first | byte[alive].astype(np.uint32) << np.uint32(24)).astype(np.float64)
    level = np.exp(steps[alive] * -rate) * 2.0**32
    below = (first + 1.0 <= level * (1.0 - SLACK)) | (steps[alive] == 0)
    for i in np.flatnonzero(~below & (first < level * (1.0 + SLACK) + 2.0**-200)).tolist():
        below[i] = _settled(int(steps[alive[i]]) * per_step, int(first[i]), 32)
    heads[alive] = below
    return np.asarray(heads, np.bool_)


@proved("many_coins.proof.md")
def _settled(gamma: Fraction, u: int, bits: int) -> bool:
    """Whether U < exp(-gamma), given that U lies in [u, u + 1)/2^bits; further bits are drawn as needed."""
    digits = 28
    while True:
        (low,), (high,) = _weight_bounds([1], [gamma], digits)
        if (u + 1) * 10**digits <= low << bits:
            return True
        if u * 10**digits >= high << bits:
            return False
        u, bits, digits = (u << 64) | int.from_bytes(entropy.random_bytes(8)), bits + 64, digits + 20
