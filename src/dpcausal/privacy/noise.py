"""All randomness that protects anyone: the only file of the package that draws noise.

Everything is exact: integers whose law is the stated one, not a float near it.

    discrete Laplace   P(k) = tanh(1/(2 scale)) exp(-|k|/scale)
    discrete Gaussian  P(k) ~ exp(-k^2/(2 sigma^2))
    geometric          P(k) = (1 - a) a^k,  a = exp(-1/scale),  k >= 0
    discrete Cauchy    P(k) ~ 1/(scale^2 + k^2)

``scale`` is the rational number that the float stands for. Laplace and Gaussian draws come from OpenDP's
Rust samplers in batches of up to 4,096. A batch serves scalar draws one at a time, each draw is handed out
once, and a forked child starts with an empty pool. Coins and choices (``coins.py``) come from
``core.entropy.random_bytes``. Under ``dpcausal.testing.seeded`` the samplers of ``seeded.py`` stand in.

**What depends on the arguments**: run time. Scales are public except in ``median_smooth``, which says so.
**Cost** about 12 us per Laplace or geometric draw, 20 us per Gaussian (``benchmarks/noise.py``).

References: [1] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, 2020.
"""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.privacy import seeded
from dpcausal.privacy.coins import (
    bernoulli,
    bernoulli_exp,
    bernoulli_exp_many,
    categorical,
    coin,
    permutation,
    uniform_below,
)

__all__ = [
    "Integers",
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_exp_many",
    "categorical",
    "coin",
    "discrete_cauchy",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "permutation",
    "uniform_below",
]

Integers = NDArray[np.int64]

FIRST_BATCH, LARGEST_BATCH = 16, 4096  # batches grow fourfold, so a single draw at a fresh scale stays cheap
LARGEST_POOLED = 256  # larger arrays are drawn on their own
LARGEST_VECTOR = 65_536  # one call of the sampler for an array
POOLED_SCALES = 64  # the least recently used pool is dropped beyond this: at most about 10 MB
LARGEST_SCALE = 2.0**50  # the noise then stays far inside int64


def checked_scale(scale: float) -> float:
    """Refuse a scale that no draw can have; mechanisms call this when they are made, before any charge."""
    scale = float(scale)
    if not 0 < scale <= LARGEST_SCALE:
        raise InputError(f"a noise scale must lie above 0 and up to 2^50, not {scale!r}")
    return scale


@lru_cache(maxsize=POOLED_SCALES)
def _opendp(kind: str, scale: float) -> Any:
    """OpenDP's measurement that adds noise of ``kind`` to a vector of integers."""
    from opendp import domains, measurements, metrics, mod  # not the prelude: it takes seconds

    mod.enable_features("contrib")
    domain = domains.vector_domain(domains.atom_domain(T="i64"))
    if kind == "laplace":
        return measurements.make_laplace(domain, metrics.l1_distance(T="i64"), scale=scale)
    return measurements.make_gaussian(domain, metrics.l2_distance(T="f64"), scale=scale)


def _secure_batch(kind: str, scale: float, count: int) -> list[int]:
    noised: list[int] = _opendp(kind, scale)([0] * count)
    return noised


# --- The pool ---


class _Pool:
    """Draws waiting to be used, per (kind, scale); belongs to one process and one source of randomness."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pid = os.getpid()
        self.mark = -1  # -1: the secure source; else the epoch of the replaced one
        self.waiting: OrderedDict[tuple[str, float], list[int]] = OrderedDict()
        self.batch: dict[tuple[str, float], int] = {}

    def take(self, kind: str, scale: float, count: int) -> list[int]:
        with self.lock:
            mark = -1 if entropy.is_secure() else entropy.epoch()
            if mark != self.mark or self.pid != os.getpid():
                self.mark, self.pid = mark, os.getpid()
                self.waiting.clear()
                self.batch.clear()
            key = (kind, scale)
            draws = self.waiting.get(key, [])
            if len(draws) < count:
                size = max(self.batch.get(key, FIRST_BATCH), count)
                draws = self.waiting[key] = draws + _batch(kind, scale, size, secure=mark == -1)
                self.batch[key] = min(4 * size, LARGEST_BATCH)
                self.waiting.move_to_end(key)
                if len(self.waiting) > POOLED_SCALES:
                    oldest, _ = self.waiting.popitem(last=False)
                    del self.batch[oldest]
            taken = draws[-count:]
            del draws[-count:]
            return taken


def _batch(kind: str, scale: float, count: int, *, secure: bool) -> list[int]:
    """Fresh draws; the caller decides once which source they come from, so that a pool never mixes two."""
    if secure:
        return _secure_batch(kind, scale, count)
    drawn: list[int] = seeded.SAMPLERS[kind](scale, count).tolist()
    return drawn


_pool = _Pool()


def _forget() -> None:
    """In a forked child: a new lock (the old one may be held) and no draws in common with the parent."""
    global _pool
    _pool = _Pool()


os.register_at_fork(after_in_child=_forget)


def _draw(kind: str, scale: float, size: int | None) -> Any:
    scale = checked_scale(scale)
    if size is None:
        return _pool.take(kind, scale, 1)[0]
    if 0 < size <= LARGEST_POOLED:
        return np.array(_pool.take(kind, scale, size), dtype=np.int64)
    secure = entropy.is_secure()
    parts = [
        _batch(kind, scale, min(LARGEST_BATCH * 16, size - done), secure=secure)
        for done in range(0, size, LARGEST_BATCH * 16)
    ]
    return np.array([draw for part in parts for draw in part], dtype=np.int64)


# --- Noise ---


@overload
def discrete_laplace(scale: float, size: None = None) -> int: ...
@overload
def discrete_laplace(scale: float, size: int) -> Integers: ...
def discrete_laplace(scale: float, size: int | None = None) -> int | Integers:
    """Integers with P(k) proportional to exp(-|k|/scale); variance about 2 scale^2."""
    drawn: int | Integers = _draw("laplace", scale, size)
    return drawn


@overload
def discrete_gaussian(sigma: float, size: None = None) -> int: ...
@overload
def discrete_gaussian(sigma: float, size: int) -> Integers: ...
def discrete_gaussian(sigma: float, size: int | None = None) -> int | Integers:
    """Integers with P(k) proportional to exp(-k^2/(2 sigma^2)); variance at most sigma^2 ([1] Cor. 9)."""
    drawn: int | Integers = _draw("gaussian", sigma, size)
    return drawn


@overload
def geometric(scale: float, size: None = None) -> int: ...
@overload
def geometric(scale: float, size: int) -> Integers: ...
@proved("noise.proof.md")
def geometric(scale: float, size: int | None = None) -> int | Integers:
    """Integers k >= 0 with P(k) proportional to exp(-k/scale): a folded Laplace draw, none rejected."""
    drawn: Any = _draw("laplace", scale, size)
    folded: int | Integers = drawn ^ (drawn >> 63)  # k if k >= 0 else -k - 1
    return folded


@proved("noise.proof.md")
def discrete_cauchy(scale: float) -> int:
    """One integer with P(k) proportional to 1/(scale^2 + k^2), scale >= 16. Expected tries below 3."""
    if not 16 <= scale <= LARGEST_SCALE:
        raise InputError(f"a Cauchy scale must lie between 16 and 2^50, not {scale!r}")
    square, whole = Fraction(scale) ** 2, math.ceil(scale)
    while True:
        bits, w = 64, int.from_bytes(entropy.random_bytes(8))
        while w == 0 or (whole << bits) // w != (whole << bits) // (w + 1):  # until floor(whole/W) is settled
            bits, w = bits + 64, (w << 64) | int.from_bytes(entropy.random_bytes(8))
        size = (whole << bits) // w - whole  # P(size >= m) = whole/(whole + m)
        negative = coin()
        accept = (whole + size) * (whole + size + 1) / (Fraction(5, 2) * (square + size * size))
        if bernoulli(accept) and not (negative and size == 0):
            return -size if negative else size
