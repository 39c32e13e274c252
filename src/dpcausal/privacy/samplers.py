"""Exact samplers of the discrete Laplace and the discrete Gaussian law, from random bytes of ``core.entropy`` alone.

    Laplace    P(k) = tanh(1/(2 scale)) exp(-|k|/scale)      [1] Alg. 2
    Gaussian   P(k) ~ exp(-k^2/(2 sigma^2))                  [1] Alg. 3

``scale`` and ``sigma`` are the rational numbers that the floats stand for. A draw is made of uniform integers and of
coins with probability exp(-gamma), gamma rational. A coin compares a uniform U, as many bits of it as it takes, with
exp(-gamma): 53 bits against a float64 bound that holds whatever the float error, and, where that leaves it open (about
one coin in 10^10), more bits against correctly rounded decimals (``coins.settled``). So the law is exact.

**Bytes.** Each call reads its own and drops what it did not use: nothing is kept for a later call. Use through
``noise``. **Guarantee** ``samplers.proof.md``.

**Time.** A draw is tried until it is accepted. How many tries that takes is independent of the value that comes out;
the number of steps within a try does not depend on it either, but for the rare open comparisons. Arithmetic of Python
and numpy itself is not made to take constant time. **Cost** ``benchmarks/noise.py``.

References: [1] Canonne, Kamath & Steinke, The discrete Gaussian for differential privacy, 2020.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.core.proofs import proved
from dpcausal.privacy.coins import settled, weight_bounds

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]

SLACK = 2.0**-36  # relative; what float64 can be wrong about exp(-gamma) stays below 2^-38
STEEP = 45  # exp(-45) < 2^-64: such a coin is open only at the word 0
SURELY_BELOW, SURELY_ABOVE = 2.0**53 * (1.0 - SLACK), 2.0**53 * (1.0 + SLACK)
LONGEST_WHOLE = 32  # whole parts are drawn up to this many at a time
FEW = 48  # arrays up to this length are drawn number by number
CHUNK = 65_536  # the length of a larger array that is drawn at a time
NEAR = 32.0  # standard deviations within which floats tell a Gaussian's gamma well enough,
NARROW = 0.5  # for standard deviations from here on
LARGEST = 2**62  # arrays hold integers up to this; larger ones have a probability below exp(-4000)

_EIGHT = Struct("<8Q")


# --- One draw ---


def _words() -> Iterator[int]:
    """Yield uniform 64-bit words, read eight at a time as they are needed; belongs to one call."""
    while True:
        yield from _EIGHT.unpack(entropy.random_bytes(64))


@cache
def _whole_bounds() -> list[int]:
    """Return floor(2^64 exp(-v)) for v = 32, 31, ..., 1: ascending."""
    powers = [Fraction(v) for v in range(LONGEST_WHOLE, 0, -1)]
    low, high = weight_bounds([1] * LONGEST_WHOLE, powers, 48)
    floors = [(least << 64) // 10**48 for least in low]
    assert floors == [(most << 64) // 10**48 for most in high]  # 48 digits tell all of them
    return floors


@proved("samplers.proof.md")
def flip(gamma: float, word: int) -> bool | None:
    """Return whether U < exp(-gamma) from the first 53 bits of U (``word``); None where they do not decide it.

    ``gamma``, at most 600, is within 2^-38 of the exact one.
    """
    first, level = word >> 11, math.exp(-gamma)
    if first + 1 <= level * SURELY_BELOW:
        return True
    return None if first < level * SURELY_ABOVE else False


@proved("samplers.proof.md")
def flip_exactly(numerator: int, denominator: int, word: int) -> bool:
    """Return whether U < exp(-numerator/denominator), for a U whose first 64 bits are ``word``."""
    kept = None if word == 0 else False  # for gamma of 45 and above
    if numerator < STEEP * denominator:
        kept = flip(numerator / denominator, word)
    return settled(Fraction(numerator, denominator), word, 64) if kept is None else kept


@proved("samplers.proof.md")
def whole_part(words: Iterator[int]) -> int:
    """Return an integer v >= 0 with P(v) = (1 - 1/e) exp(-v)."""
    bounds, total = _whole_bounds(), 0
    while True:
        word = next(words)
        above = bisect_left(bounds, word)  # bounds[above:] are at least the word
        found = LONGEST_WHOLE - above
        if found and bounds[above] == word:  # the word is the cell of exp(-found)
            found -= not settled(Fraction(found), word, 64)
        total += found
        if found < LONGEST_WHOLE:
            return total


@proved("samplers.proof.md")
def one_laplace(top: int, bottom: int, words: Iterator[int]) -> int:
    """Return an integer with P(k) proportional to exp(-|k| bottom/top), top <= 2^53."""
    both = 2 * top
    limit = 2**64 - 2**64 % both
    while True:
        word = next(words)
        if word >= limit:
            continue
        negative, rest = divmod(word % both, top)
        kept = flip(rest / top, word := next(words))
        if kept is None:
            kept = flip_exactly(rest, top, word)
        if kept:
            size = (rest + top * whole_part(words)) // bottom
            if size or not negative:
                return -size if negative else size


@proved("samplers.proof.md")
def one_gaussian(top: int, bottom: int, words: Iterator[int]) -> int:
    """Return an integer with P(k) proportional to exp(-k^2 bottom^2/(2 top^2)), top/bottom < 2^53 - 1."""
    t, sigma = top // bottom + 1, top / bottom
    reach = NEAR * sigma if sigma >= NARROW else -1.0
    centre, twice = sigma * sigma / t, 2.0 * sigma * sigma
    while True:
        k, word, kept = one_laplace(t, 1, words), next(words), None
        if abs(k) <= reach:
            off = abs(k) - centre
            kept = flip(off * off / twice, word)
        if kept is None:
            kept = flip_exactly(*gaussian_gamma(abs(k), t, top, bottom), word)
        if kept:
            return k


@proved("samplers.proof.md")
def gaussian_gamma(k: int, t: int, top: int, bottom: int) -> tuple[int, int]:
    """Return (k - sigma^2/t)^2/(2 sigma^2), sigma = top/bottom, as numerator and denominator."""
    return (k * t * bottom**2 - top**2) ** 2, 2 * (top * bottom * t) ** 2


# --- Many draws ---


def _many_words(count: int) -> Words:
    """Return ``count`` uniform 64-bit words."""
    return np.frombuffer(entropy.random_bytes(8 * count), np.uint64)


@proved("samplers.proof.md")
def flip_many(gammas: Floats, exactly: Callable[[int], tuple[int, int]]) -> NDArray[np.bool_]:
    """Return True with probability exactly exp(-p/q), (p, q) = exactly(i); ``gammas[i]`` <= 600 is within 2^-38."""
    words = _many_words(gammas.size)
    first, level = (words >> np.uint64(11)).astype(np.float64), np.exp(-gammas)
    heads = first + 1.0 <= level * SURELY_BELOW
    for i in np.flatnonzero(~heads & (first < level * SURELY_ABOVE)).tolist():
        heads[i] = flip_exactly(*exactly(i), int(words[i]))
    return np.asarray(heads, np.bool_)


@proved("samplers.proof.md")
def many_below(bound: int, count: int) -> Words:
    """Return uniform integers in [0, bound), bound <= 2^54."""
    last = np.uint64(2**64 - 2**64 % bound - 1)
    words = _many_words(count).copy()
    while (beyond := np.flatnonzero(words > last)).size:
        words[beyond] = _many_words(beyond.size)
    return words % np.uint64(bound)


@proved("samplers.proof.md")
def many_whole_parts(count: int) -> Integers:
    """Return integers v >= 0 with P(v) = (1 - 1/e) exp(-v)."""
    bounds = np.array(_whole_bounds(), np.uint64)
    words = _many_words(count)
    above = np.searchsorted(bounds, words, side="left")
    found = (LONGEST_WHOLE - above).astype(np.int64)
    for i in np.flatnonzero((found > 0) & (bounds[np.minimum(above, LONGEST_WHOLE - 1)] == words)).tolist():
        found[i] -= not settled(Fraction(int(found[i])), int(words[i]), 64)
    for i in np.flatnonzero(found == LONGEST_WHOLE).tolist():
        found[i] += whole_part(_words())
    return found


@proved("samplers.proof.md")
def many_laplace(top: int, bottom: int, count: int) -> Integers:
    """Return integers with P(k) proportional to exp(-|k| bottom/top), top <= 2^53."""
    found = np.empty(count, np.int64)
    left = np.arange(count)
    while left.size:
        drawn = many_below(2 * top, left.size)
        negative, rest = drawn >= top, drawn % np.uint64(top)
        kept = flip_many(rest / np.float64(top), lambda i, rest=rest: (int(rest[i]), top))  # type: ignore[misc]
        negative, rest = negative[kept], rest[kept]
        size = _sizes(rest, many_whole_parts(rest.size), top, bottom)
        final = ~negative | (size != 0)
        kept[kept] = final
        found[left[kept]] = np.where(negative, -size, size)[final]
        left = left[~kept]
    return found


def _sizes(rest: Words, whole: Integers, top: int, bottom: int) -> Integers:
    """Return (rest + top whole) // bottom without overflow, at most 2^62."""
    if bottom < LARGEST and (whole < 512).all():  # below 2^53 (512 + 1)
        return (rest.astype(np.int64) + top * whole) // bottom
    sizes = [(r + top * w) // bottom for r, w in zip(rest.tolist(), whole.tolist(), strict=True)]
    return np.array([min(size, LARGEST) for size in sizes], np.int64)


@proved("samplers.proof.md")
def many_gaussian(top: int, bottom: int, count: int) -> Integers:
    """Return integers with P(k) proportional to exp(-k^2 bottom^2/(2 top^2)), 1/2 <= top/bottom < 2^53 - 1."""
    t, sigma = top // bottom + 1, top / bottom
    found = np.empty(count, np.int64)
    left = np.arange(count)
    while left.size:
        drawn = many_laplace(t, 1, left.size)
        k = np.abs(drawn)
        near = k <= NEAR * sigma
        off = np.where(near, k, 0) - sigma * sigma / t

        def exactly(i: int, k: Integers = k) -> tuple[int, int]:
            return gaussian_gamma(int(k[i]), t, top, bottom)

        kept = flip_many(off * off / (2.0 * sigma * sigma), exactly)
        for i in np.flatnonzero(~near).tolist():
            kept[i] = flip_exactly(*exactly(i), next(_words()))
        found[left[kept]] = drawn[kept]
        left = left[~kept]
    return found


# --- By kind ---


def draw(kind: str, scale: float) -> int:
    """Return one integer of the law ``kind``, "laplace" or "gaussian"."""
    top, bottom = scale.as_integer_ratio()
    return one_laplace(top, bottom, _words()) if kind == "laplace" else one_gaussian(top, bottom, _words())


def draw_many(kind: str, scale: float, count: int) -> Integers:
    """Return ``count`` independent integers of the law ``kind``."""
    top, bottom = scale.as_integer_ratio()
    if count <= FEW or (kind == "gaussian" and scale < NARROW):
        words, one = _words(), one_laplace if kind == "laplace" else one_gaussian
        return np.array([one(top, bottom, words) for _ in range(count)], np.int64)
    many = many_laplace if kind == "laplace" else many_gaussian
    parts = [many(top, bottom, min(CHUNK, count - done)) for done in range(0, count, CHUNK)]
    return np.concatenate(parts)
