"""Stand-ins for the secure samplers while ``dpcausal.testing.seeded`` is on: same laws, never private.

Vectorised numpy, bytes from the replaced source, drawn in batches that serve scalar draws one at a time: such a pool is
for stand-ins only (``noise.py`` keeps nothing). Geometric and Laplace draws are exact ([1] Alg. 1, 2); the
Gaussian accepts with float64 probabilities, within 2^-50 of its law ([1] Alg. 3). About 1 to 2 us a draw.

References: [1] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, 2020.
"""

from __future__ import annotations

import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy

Integers = NDArray[np.int64]

FIRST_BATCH, LARGEST_BATCH = 16, 4096  # batches grow fourfold, so a single draw at a fresh scale stays cheap
LARGEST_POOLED = 256  # larger arrays are drawn on their own
LARGEST_VECTOR = 65_536  # one call of the sampler for an array
POOLED_SCALES = 64  # the least recently used pool is dropped beyond this: at most about 10 MB


def _words_below(bound: int, count: int) -> NDArray[np.uint64]:
    """Return ``count`` uniform integers in [0, bound), bound <= 2^63, by masking and rejection."""
    mask = np.uint64((1 << (bound - 1).bit_length()) - 1)
    words = np.frombuffer(entropy.random_bytes(8 * count), dtype=np.uint64) & mask
    while (bad := np.flatnonzero(words >= np.uint64(bound))).size:
        words[bad] = np.frombuffer(entropy.random_bytes(8 * bad.size), dtype=np.uint64) & mask
    return words


def _flips_exp(numerators: NDArray[np.uint64], denominator: int) -> NDArray[np.bool_]:
    """Return Bernoulli(exp(-u/denominator)) for each u in [0, denominator] ([1] Alg. 1)."""
    odd = np.ones(numerators.size, dtype=bool)
    live, k = np.arange(numerators.size), 1
    while live.size:
        live = live[_words_below(denominator * k, live.size) < numerators[live]]
        odd[live] = ~odd[live]
        k += 1
    return odd


def geometric(scale: float, count: int) -> Integers:
    """Return ``count`` integers k >= 0 with P(k) proportional to exp(-k/scale)."""
    if scale < 2.0**-9:  # P(draw > 0) < exp(-512): below what any byte source can show
        return np.zeros(count, dtype=np.int64)
    t, s = scale.as_integer_ratio()  # [1] Alg. 2 with exp(-s/t)
    uniform = np.zeros(count, dtype=np.uint64)
    live = np.arange(count)
    while live.size:
        uniform[live] = _words_below(t, live.size)
        live = live[~_flips_exp(uniform[live], t)]
    whole = np.zeros(count, dtype=np.uint64)
    live = np.arange(count)
    while live.size:
        live = live[_flips_exp(np.ones(live.size, dtype=np.uint64), 1)]
        whole[live] += np.uint64(1)
    return ((uniform + np.uint64(t) * whole) // np.uint64(s)).astype(np.int64)


def laplace(scale: float, count: int) -> Integers:
    """Return ``count`` integers with P(k) proportional to exp(-|k|/scale)."""
    drawn = np.empty(count, dtype=np.int64)
    live = np.arange(count)
    while live.size:
        size = geometric(scale, live.size)
        negative = _words_below(2, live.size).astype(bool)
        drawn[live] = np.where(negative, -size, size)
        live = live[negative & (size == 0)]
    return drawn


def gaussian(sigma: float, count: int) -> Integers:
    """Return ``count`` integers with P(k) proportional to exp(-k^2/(2 sigma^2))."""
    t = math.floor(sigma) + 1.0  # [1] Alg. 3
    drawn = np.empty(count, dtype=np.int64)
    live = np.arange(count)
    while live.size:
        drawn[live] = laplace(t, live.size)
        gamma = (np.abs(drawn[live]) - sigma**2 / t) ** 2 / (2 * sigma**2)
        live = live[_words_below(2**53, live.size) * 2.0**-53 >= np.exp(-gamma)]
    return drawn


SAMPLERS: dict[str, Callable[[float, int], Integers]] = {"laplace": laplace, "gaussian": gaussian}


# --- The pool ---


class _Pool:
    """Draws waiting to be used, per (kind, scale); belongs to one replaced source."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.mark = -1  # the epoch of the source
        self.waiting: OrderedDict[tuple[str, float], list[int]] = OrderedDict()
        self.batch: dict[tuple[str, float], int] = {}

    def take(self, kind: str, scale: float, count: int) -> list[int]:
        """Return ``count`` draws from the pool, which is refilled as needed."""
        with self.lock:
            if self.mark != entropy.epoch():
                self.mark = entropy.epoch()
                self.waiting.clear()
                self.batch.clear()
            key = (kind, scale)
            draws = self.waiting.get(key, [])
            if len(draws) < count:
                size = max(self.batch.get(key, FIRST_BATCH), count)
                draws = self.waiting[key] = draws + SAMPLERS[kind](scale, size).tolist()
                self.batch[key] = min(4 * size, LARGEST_BATCH)
                self.waiting.move_to_end(key)
                if len(self.waiting) > POOLED_SCALES:
                    oldest, _ = self.waiting.popitem(last=False)
                    del self.batch[oldest]
            taken = draws[-count:]
            del draws[-count:]
            return taken


_pool = _Pool()


def _forget() -> None:
    """Give a forked child an empty pool of draws and a new lock."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def draw(kind: str, scale: float, size: int | None) -> Any:
    """Return one integer, or an array of ``size``, of the law ``kind``, "laplace" or "gaussian"."""
    if size is None:
        return _pool.take(kind, scale, 1)[0]
    if 0 < size <= LARGEST_POOLED:
        return np.array(_pool.take(kind, scale, size), dtype=np.int64)
    parts = [
        SAMPLERS[kind](scale, min(LARGEST_VECTOR, size - done)) for done in range(0, size, LARGEST_VECTOR)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
