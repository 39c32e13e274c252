"""Every comparison that decides a draw is right, by arithmetic of many more digits; the open ones are taken further."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcausal.core import entropy
from dpcausal.privacy import samplers
from dpcausal.testing import seeded

DIGITS = 400


def probability(numerator: int, denominator: int) -> mpmath.mpf:
    with mpmath.workdps(DIGITS):
        return mpmath.exp(-mpmath.mpf(numerator) / denominator)


def judged(answer: bool | None, word: int, level: mpmath.mpf, bits: int = 53) -> None:
    """An answer must hold for every U in the cell of the word's first bits; None only next to the border."""
    first = word >> (64 - bits)
    with mpmath.workdps(DIGITS):
        if answer is True:
            assert first + 1 <= level * 2**bits
        elif answer is False:
            assert first >= level * 2**bits
        else:
            assert abs(first - level * 2**bits) <= 2 + level * 2 ** (bits - 35)


def words_near(level: mpmath.mpf, shift: int) -> int:
    """A 64-bit word about ``shift`` units of 2^-64 above ``level``."""
    with mpmath.workdps(DIGITS):
        return min(max(int(mpmath.floor(level * 2**64)) + shift, 0), 2**64 - 1)


shifts = st.one_of(
    st.integers(-(2**12), 2**12), st.integers(-(2**31), 2**31), st.integers(-(2**64), 2**64)
)  # within a cell of 53 bits, within the slack, anywhere


@settings(max_examples=400, deadline=None)
@given(top=st.integers(1, 2**53), part=st.floats(0, 1), shift=shifts)
def test_coins_of_laplace_draws_are_decided_rightly(top: int, part: float, shift: int) -> None:
    rest = min(int(Fraction(part) * top), top - 1)
    level = probability(rest, top)
    word = words_near(level, shift)
    judged(samplers.flip(rest / top, word), word, level)


@settings(max_examples=400, deadline=None)
@given(
    sigma=st.one_of(st.floats(0.5, 100.0), st.floats(0.5, 2.0**50), st.integers(1, 2**50).map(float)),
    spread=st.floats(0, 32),
    shift=shifts,
)
def test_coins_of_gaussian_draws_are_decided_rightly(sigma: float, spread: float, shift: int) -> None:
    top, bottom = sigma.as_integer_ratio()
    t, k = top // bottom + 1, int(spread * sigma)
    numerator, denominator = samplers.gaussian_gamma(k, t, top, bottom)
    off = k - sigma * sigma / t
    near = off * off / (2.0 * sigma * sigma)
    assert abs(Fraction(near) - Fraction(numerator, denominator)) <= Fraction(1, 2**38)  # as flip demands
    assert near <= 600
    level = probability(numerator, denominator)
    word = words_near(level, shift)
    judged(samplers.flip(near, word), word, level)


@given(
    k=st.integers(0, 2**60), top=st.integers(1, 2**53), bottom=st.sampled_from([1, 2, 2**10, 2**52, 2**1000])
)
def test_gamma_is_the_exponent_of_the_paper(k: int, top: int, bottom: int) -> None:
    sigma, t = Fraction(top, bottom), top // bottom + 1
    assert Fraction(*samplers.gaussian_gamma(k, t, top, bottom)) == (k - sigma**2 / t) ** 2 / (2 * sigma**2)


@pytest.mark.parametrize("v", range(1, samplers.LONGEST_WHOLE + 1))
def test_bounds_of_whole_parts(v: int) -> None:
    with mpmath.workdps(DIGITS):
        assert samplers._whole_bounds()[samplers.LONGEST_WHOLE - v] == int(
            mpmath.floor(2**64 * mpmath.exp(-v))
        )


@pytest.mark.parametrize(
    "function", [math.exp, lambda x: float(np.exp(np.full(9, x))[4])], ids=["math", "numpy"]
)
def test_exponentials_of_floats_are_as_near_as_the_proof_takes_them_to_be(function) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    with mpmath.workdps(50):
        for x in np.concatenate([rng.uniform(0, 600, 400), rng.uniform(0, 1, 400), [0.0, 600.0]]).tolist():
            true = mpmath.exp(-mpmath.mpf(x))
            assert abs(function(-x) - true) <= true * 2.0**-49


# --- open comparisons ---


@contextmanager
def scripted(words: list[int], after: int) -> Iterator[list[int]]:
    """These 64-bit words, then bytes ``after``; gives the numbers of bytes that were asked for."""
    asked: list[int] = []
    data = bytearray(b"".join(word.to_bytes(8, "little") for word in words))

    def source(count: int) -> bytes:
        asked.append(count)
        found = bytes(data[:count])
        del data[:count]
        return found + bytes([after]) * (count - len(found))

    with entropy.replaced(source):
        yield asked


@pytest.mark.parametrize(("after", "expected"), [(0x00, True), (0xFF, False)])
@pytest.mark.parametrize(
    ("numerator", "denominator"), [(1, 3), (1, 2**53 - 1), (2**53 - 2, 2**53 - 1), (40, 1), (4499, 100)]
)
def test_an_open_coin_is_decided_by_later_bits(
    numerator: int, denominator: int, after: int, expected: bool
) -> None:
    """The word is the very cell of exp(-gamma): the bits that follow decide, and they are asked for."""
    word = words_near(probability(numerator, denominator), 0)
    assert samplers.flip(numerator / denominator, word) is None
    with scripted([], after) as asked:
        assert samplers.flip_exactly(numerator, denominator, word) is expected
    assert asked
    for other, answer in ((word - 1, True), (word + 1, False)):  # in the cells beside it no later bit matters
        if other >= 0:
            with scripted([], after):
                assert samplers.flip_exactly(numerator, denominator, other) is answer


def test_a_steep_coin_is_open_at_the_word_zero_only() -> None:
    assert not samplers.flip_exactly(45, 1, 1)
    assert not samplers.flip_exactly(10**400, 1, 1)  # no float holds this
    for after, expected in ((0x00, True), (0xFF, False)):
        with scripted([], after):
            assert samplers.flip_exactly(45, 1, 0) is expected
    with scripted([0] * 10, 0xFF):  # 640 zeros: below exp(-400), and not below exp(-500)
        assert samplers.flip_exactly(400, 1, 0)
    with scripted([0] * 10, 0xFF):
        assert not samplers.flip_exactly(500, 1, 0)


@pytest.mark.parametrize("v", [1, 2, 17, 31])
def test_an_open_whole_part_is_decided_by_later_bits(v: int) -> None:
    bound = samplers._whole_bounds()[samplers.LONGEST_WHOLE - v]
    more = [2**64 - 1] * 7  # the rest of the first eight words
    for after, expected in ((0x00, v), (0xFF, v - 1)):
        with scripted([bound, *more], after):
            found = samplers.whole_part(samplers._words())
        assert found == expected
        with scripted([bound], after):
            assert samplers.many_whole_parts(1).tolist() == [expected]
    for word, expected in ((bound + 1, v - 1), (bound - 1, v)):
        with scripted([word, *more], 0xFF):
            assert samplers.whole_part(samplers._words()) == expected
        with scripted([word], 0xFF):
            assert samplers.many_whole_parts(1).tolist() == [expected]


def test_whole_parts_beyond_32_go_on() -> None:
    """P(v >= 32 + j) = exp(-32) exp(-j): a word below exp(-32) is followed by a fresh one."""
    for words, expected in (([0, 2**64 - 1], 32), ([0, 2**62], 33), ([0, 1, 2**62], 65)):
        with scripted(words + [2**64 - 1] * 8, 0xFF):
            assert samplers.whole_part(samplers._words()) == expected
    with scripted([5, 0, 2**63] + [2**62] + [2**64 - 1] * 7, 0xFF):
        assert samplers.many_whole_parts(3).tolist() == [33, 32, 0]


def test_arrays_take_open_coins_further_too() -> None:
    for gamma in (Fraction(1, 3), Fraction(37, 5)):
        word = words_near(probability(gamma.numerator, gamma.denominator), 0)
        gammas = np.array([float(gamma)] * 3)
        for after, expected in ((0x00, True), (0xFF, False)):
            with scripted([2**64 - 1, word, 0], after):
                heads = samplers.flip_many(gammas, lambda i, g=gamma: (g.numerator, g.denominator))  # type: ignore[misc]
            assert heads.tolist() == [False, expected, True]


def test_arrays_and_single_draws_decide_alike() -> None:
    rng = np.random.default_rng(3)
    gammas = rng.uniform(0, 3, 5000)
    words = rng.integers(0, 2**64, 5000, dtype=np.uint64)
    with scripted(words.tolist(), 0):
        many = samplers.flip_many(gammas, lambda i: (0, 1))
    assert many.tolist() == [
        samplers.flip(g, w) for g, w in zip(gammas.tolist(), words.tolist(), strict=True)
    ]


# --- the pieces ---


def test_words_beyond_the_last_multiple_are_drawn_again() -> None:
    bound = 3  # 2^64 = 3 m + 1: the last word would make 0 more likely
    with scripted([2**64 - 1, 2**64 - 2, 5], 0):
        assert samplers.many_below(bound, 2).tolist() == [5 % 3, (2**64 - 2) % 3]
    assert samplers.many_below(1, 5).tolist() == [0] * 5
    assert samplers.many_below(2**54, 1000).max() < 2**54


def test_a_single_draw_rejects_words_beyond_the_last_multiple() -> None:
    """2 top = 6 and 2^64 = 6 m + 4: the word 2^64 - 1 is dropped, 5 means minus with rest 2."""
    tail = [0, 2**64 - 1]  # the coin is heads, the whole part 0
    with scripted([2**64 - 1, 5, *tail] + [0] * 4, 0):
        assert samplers.one_laplace(3, 1, samplers._words()) == -2
    with scripted([2, *tail] + [0] * 5, 0):
        assert samplers.one_laplace(3, 1, samplers._words()) == 2


def test_minus_zero_is_drawn_again() -> None:
    heads, none = 0, 2**64 - 1
    with scripted([3, heads, none, 1, heads, none, 9, 9], 0):  # minus 0, then plus 1
        assert samplers.one_laplace(3, 1, samplers._words()) == 1
    with scripted([0, heads, none] + [9] * 5, 0):
        assert samplers.one_laplace(3, 1, samplers._words()) == 0


def test_nothing_overflows() -> None:
    rest, whole = np.array([2**53 - 1, 0], np.uint64), np.array([511, 0])
    top = 2**53
    assert samplers._sizes(rest, whole, top, 1).tolist() == [2**53 - 1 + 511 * top, 0]
    assert samplers._sizes(rest, np.array([600, 0]), top, 1).tolist() == [2**62, 0]
    assert samplers._sizes(rest, np.array([600, 0]), top, 2**10).tolist() == [
        (2**53 - 1 + 600 * top) >> 10,
        0,
    ]
    assert samplers._sizes(rest, whole, top, 2**1000).tolist() == [0, 0]


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e-3, 0.49, 0.5, 2.0**50])
def test_extreme_scales_can_be_drawn(scale: float) -> None:
    for kind in ("laplace", "gaussian"):
        drawn = [samplers.draw(kind, scale), *samplers.draw_many(kind, scale, 200).tolist()]
        assert len(drawn) == 201
        assert max(map(abs, drawn)) <= 60 * scale + 20 * (
            scale > 0.1
        )  # beyond with a probability below 1e-15


def test_sizes_of_arrays() -> None:
    for kind in ("laplace", "gaussian"):
        for size in (0, 1, samplers.FEW, samplers.FEW + 1, samplers.CHUNK + 1):
            drawn = samplers.draw_many(kind, 3.5, size)
            assert (drawn.shape, drawn.dtype) == ((size,), np.int64)


def test_the_same_bytes_give_the_same_draws() -> None:
    runs = []
    for _ in range(2):
        with seeded(11):
            runs.append([samplers.draw("laplace", 9.5), *samplers.draw_many("gaussian", 9.5, 500).tolist()])
    assert runs[0] == runs[1]
