"""Coins, integers, orders and choices with exact probabilities, from ``core.entropy.random_bytes``.

Floats decide an outcome only where no error of theirs could change it: probabilities are fractions, or exponentials
bracketed by correctly rounded decimals until the outcome is settled. Use them through ``privacy.noise``. Run time
depends on the arguments.

``bernoulli_exp_many`` tosses many coins at once, about 5 ns each. Each compares a uniform U with exp(-gamma), as many
bits of U as it takes: one byte, which settles nearly all improbable coins; 32 bits against float64 bounds, which settle
whatever the float error; then (about one coin in 10^9) more bits against correctly rounded decimals. **Guarantee**
exact laws, ``coins.proof.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpcausal.core import entropy
from dpcausal.core.proofs import proved


def uniform_below(bound: int) -> int:
    """Return a uniform integer in [0, bound)."""
    bits = (bound - 1).bit_length()
    size, spare = (bits + 7) // 8, -bits % 8
    while True:
        word = int.from_bytes(entropy.random_bytes(size)) >> spare
        if word < bound:
            return word


def coin() -> bool:
    """Return True with probability 1/2."""
    return bool(entropy.random_bytes(1)[0] & 1)


def permutation(n: int) -> NDArray[np.int64]:
    """Return a uniform permutation of 0..n-1: the order of n random 64-bit words, drawn again if two are equal."""
    while True:
        words = np.frombuffer(entropy.random_bytes(8 * n), dtype=np.uint64)
        order = np.argsort(words, kind="stable")
        if n < 2 or bool(np.all(np.diff(words[order]) != 0)):
            return order.astype(np.int64)


@proved("coins.proof.md")
def categorical(weights: Sequence[int], gammas: Sequence[Fraction]) -> int:
    """Return an index i with probability exactly proportional to weights[i] exp(-gammas[i]), weights integers >= 0.

    Inverts the cumulative law at a uniform number whose bits, like the digits of the weights, are taken as
    needed until the answer no longer depends on the rest; floats are asked first. **Cost** O(len(weights)), about 4 us
    each, or 10 where floats cannot tell.
    """
    least = min(gamma for weight, gamma in zip(weights, gammas, strict=True) if weight)
    apart = [gamma - least for gamma in gammas] if least else list(gammas)
    return _inverted(weights, lambda: apart, _float_terms(weights, apart))


@proved("coins.proof.md")
def categorical_steps(steps: NDArray[np.int64], per_step: Fraction) -> int:
    """Return an index i with probability exactly proportional to exp(-steps[i] per_step); per_step > 0.

    The same draw as ``categorical`` with weights 1, in about 30 us and 30 ns for each index.

    >>> categorical_steps(np.array([10**6, 0, 10**6]), Fraction(1, 3))
    1
    """
    apart = steps - steps.min()
    with np.errstate(all="ignore"):
        terms = np.exp(apart * -min(float(per_step), LARGEST_RATE))
    return _inverted([1] * len(steps), lambda: [step * per_step for step in apart.tolist()], terms)


def _inverted(
    weights: Sequence[int], exponents: Callable[[], Sequence[Fraction]], terms: NDArray[np.float64] | None
) -> int:
    """Return an index drawn by inversion; ``terms`` is the law in floats, if floats can represent it."""
    digits, bits, u = 28, 112, int.from_bytes(entropy.random_bytes(14))
    near = None if terms is None else place_by_floats(terms, u, bits)
    if near is not None:
        return near
    gammas = exponents()
    while True:
        low, high = weight_bounds(weights, gammas, digits)
        below_low, below_high, all_low, all_high = 0, 0, sum(low), sum(high)
        for i, (least_i, most_i) in enumerate(zip(low, high, strict=True)):
            # the share below i is at most below_high/(below_high + rest), rest = low bound of i and after
            if u * (below_high + all_low - below_low) < below_high << bits:
                break
            below_low, below_high = below_low + least_i, below_high + most_i
            if (u + 1) * (below_low + all_high - below_high) <= below_low << bits:
                return i
        digits *= 2
        u, bits = (u << 4 * digits) | int.from_bytes(entropy.random_bytes(digits // 2)), bits + 4 * digits


def _float_terms(weights: Sequence[int], apart: Sequence[Fraction]) -> NDArray[np.float64] | None:
    """Return weights times exponentials; None where floats cannot hold them."""
    if max(weights) > LARGEST_WEIGHT:
        return None
    try:
        exponents = np.array([float(gamma) for gamma in apart])
    except OverflowError:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(np.array([float(weight) for weight in weights]) * np.exp(-exponents))


@proved("coins.proof.md")
def place_by_floats(terms: NDArray[np.float64], u: int, bits: int) -> int | None:
    """Return the index that inversion selects for U in [u, u + 1)/2^bits; None where floats can't decide.

    ``terms`` have a relative error below 2^-39, or one below 2^-800.
    """
    with np.errstate(all="ignore"):
        sums = np.cumsum(terms)
    if not np.isfinite(sums[-1]):
        return None
    at = u / (1 << bits) * sums[-1]
    slack = (SLACK + len(sums) * 2.0**-50) * sums[-1]
    i = int(np.searchsorted(sums, at))
    if i == len(sums) or sums[i] - at <= slack or (i > 0 and at - sums[i - 1] <= slack):
        return None
    return i


def weight_bounds(
    weights: Sequence[int], gammas: Sequence[Fraction], digits: int
) -> tuple[list[int], list[int]]:
    """Return integer bounds on 10^digits weight exp(-gamma), from correctly rounded decimals."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    up = Context(prec=digits, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
    seen: dict[Fraction, tuple[int, int]] = {}
    for gamma in gammas:
        if gamma not in seen:
            top, bottom = Decimal(gamma.numerator), Decimal(gamma.denominator)
            least = down.next_minus(down.exp(up.divide(top, bottom).copy_negate()))
            most = up.next_plus(up.exp(down.divide(top, bottom).copy_negate()))
            seen[gamma] = (max(int(least.scaleb(digits, down)), 0), int(most.scaleb(digits, up)) + 1)
    low = [w * seen[g][0] for w, g in zip(weights, gammas, strict=True)]
    high = [w * seen[g][1] for w, g in zip(weights, gammas, strict=True)]
    return low, high


LARGEST_WEIGHT = 1 << 200  # beyond, floats are not asked
LARGEST_RATE = 2.0**60  # exponents of one step: all of e^-(this) and less is 0 to floats
SLACK = 2.0**-36  # relative; float64 errors of exp(-gamma) stay below 2^-40 for gamma up to 700


@proved("coins.proof.md")
def bernoulli_exp_many(steps: NDArray[np.int64], per_step: Fraction) -> NDArray[np.bool_]:
    """Return True with probability exactly exp(-steps[i] per_step) each; steps in 0..2^60, per_step > 0.

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
        below[i] = settled(int(steps[alive[i]]) * per_step, int(first[i]), 32)
    heads[alive] = below
    return np.asarray(heads, np.bool_)


@proved("coins.proof.md")
def settled(gamma: Fraction, u: int, bits: int) -> bool:
    """Return whether U < exp(-gamma), given the first bits of U; further bits are drawn as needed."""
    digits = 28
    while True:
        (low,), (high,) = weight_bounds([1], [gamma], digits)
        if (u + 1) * 10**digits <= low << bits:
            return True
        if u * 10**digits >= high << bits:
            return False
        u, bits, digits = (u << 64) | int.from_bytes(entropy.random_bytes(8)), bits + 64, digits + 20
