"""All randomness that protects anyone: the only file of the package that draws noise.

Everything is exact: integers whose law is the stated one, not a float near it.

    discrete Laplace   P(k) = tanh(1/(2 scale)) exp(-|k|/scale)
    discrete Gaussian  P(k) ~ exp(-k^2/(2 sigma^2))
    geometric          P(k) = (1 - a) a^k,  a = exp(-1/scale),  k >= 0
    discrete Cauchy    P(k) ~ 1/(scale^2 + k^2)

``scale`` is the rational number that the float stands for. Every byte comes from ``core.entropy.random_bytes``, that is
from ``os.urandom``: Laplace and Gaussian draws through ``samplers.py``, coins and choices through ``coins.py``. Each
call reads its own bytes and drops what it did not use. Nothing is kept between calls, so copies of a process (a fork, a
restored snapshot) share no draw. Under ``dpcausal.testing.seeded`` the samplers of ``seeded.py`` stand in.

**What depends on the arguments**: run time. Scales are public except in ``SmoothMedian``, which says so.
**Cost** 5 to 16 us per draw; below 1 us each in large arrays, but for Gaussians of sigma below 1/2
(``benchmarks/noise.py``).

References: [1] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, 2020.
"""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy import samplers, seeded
from dpcausal.privacy.coins import (
    bernoulli_exp_many,
    categorical,
    categorical_steps,
    coin,
    permutation,
    uniform_below,
)

__all__ = [
    "Integers",
    "bernoulli_exp_many",
    "categorical",
    "categorical_steps",
    "coin",
    "discrete_cauchy",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "permutation",
    "uniform_below",
]

Integers = NDArray[np.int64]

LARGEST_SCALE = 2.0**50  # the noise then stays far inside int64


def checked_scale(scale: float) -> float:
    """Return a noise scale; refuse one that can't be drawn. Mechanisms call this before any charge."""
    scale = float(scale)
    if not 0 < scale <= LARGEST_SCALE:
        raise InputError(f"a noise scale must lie above 0 and up to 2^50, not {scale!r}")
    return scale


def _draw(kind: str, scale: float, size: int | None) -> Any:
    """Return noise from the secure samplers, or from seeded ones while a test has replaced the source."""
    scale = checked_scale(scale)
    if not entropy.is_secure():
        return seeded.draw(kind, scale, size)
    return samplers.draw(kind, scale) if size is None else samplers.draw_many(kind, scale, size)


# --- Noise ---


@overload
def discrete_laplace(scale: float, size: None = None) -> int: ...
@overload
def discrete_laplace(scale: float, size: int) -> Integers: ...
def discrete_laplace(scale: float, size: int | None = None) -> int | Integers:
    """Return integers with P(k) proportional to exp(-|k|/scale); variance about 2 scale^2."""
    drawn: int | Integers = _draw("laplace", scale, size)
    return drawn


@overload
def discrete_gaussian(sigma: float, size: None = None) -> int: ...
@overload
def discrete_gaussian(sigma: float, size: int) -> Integers: ...
def discrete_gaussian(sigma: float, size: int | None = None) -> int | Integers:
    """Return integers with P(k) proportional to exp(-k^2/(2 sigma^2)); variance at most sigma^2 ([1] Cor. 9)."""
    drawn: int | Integers = _draw("gaussian", sigma, size)
    return drawn


@overload
def geometric(scale: float, size: None = None) -> int: ...
@overload
def geometric(scale: float, size: int) -> Integers: ...
@proved("noise.proof.md")
def geometric(scale: float, size: int | None = None) -> int | Integers:
    """Return integers k >= 0 with P(k) proportional to exp(-k/scale)."""
    drawn: Any = _draw("laplace", scale, size)
    folded: int | Integers = drawn ^ (drawn >> 63)  # k if k >= 0 else -k - 1
    return folded


@proved("noise.proof.md")
def discrete_cauchy(scale: float) -> int:
    """Return one integer with P(k) proportional to 1/(scale^2 + k^2), scale >= 16. Expected tries below 3."""
    if not 16 <= scale <= LARGEST_SCALE:
        raise InputError(f"a Cauchy scale must lie between 16 and 2^50, not {scale!r}")
    top, bottom = scale.as_integer_ratio()
    whole = math.ceil(scale)
    while True:
        bits, w = 64, int.from_bytes(entropy.random_bytes(8))
        while w == 0 or (whole << bits) // w != (whole << bits) // (w + 1):  # until floor(whole/W) is settled
            bits, w = bits + 64, (w << 64) | int.from_bytes(entropy.random_bytes(8))
        size = (whole << bits) // w - whole  # P(size >= m) = whole/(whole + m)
        negative = coin()
        accept = 2 * bottom**2 * (whole + size) * (whole + size + 1)  # over `among`: a probability
        among = 5 * (top**2 + (bottom * size) ** 2)
        shared = math.gcd(accept, among)
        if uniform_below(among // shared) < accept // shared and not (negative and size == 0):
            return -size if negative else size
