"""The noise room: each draw once, safe in threads and after fork, seeded only on request."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

from dpcausal.core import entropy
from dpcausal.core.errors import InputError
from dpcausal.privacy import coins, noise
from dpcausal.privacy import seeded as stand_ins
from dpcausal.testing import seeded

WIDE = 2.0**49  # two independent draws agree with probability below 2^-49


def test_each_draw_is_used_once() -> None:
    drawn: list[int] = []
    for i in range(300):
        if i % 3 == 0:
            drawn += noise.discrete_laplace(WIDE, i).tolist()
        else:
            drawn.append(noise.discrete_laplace(WIDE) if i % 3 == 1 else noise.discrete_gaussian(WIDE))
    assert len(drawn) > 10_000
    assert len(set(drawn)) == len(
        drawn
    )  # 10^8 pairs, each equal with a probability below 2^-49: once in 10^7


def test_threads_share_no_draw() -> None:
    def work(_: int) -> list[int]:
        return [noise.discrete_laplace(WIDE) for _ in range(500)]

    with ThreadPoolExecutor(8) as pool:
        drawn = [draw for part in pool.map(work, range(8)) for draw in part]
    assert len(drawn) == 4000
    assert len(set(drawn)) == 4000


def in_child(work: object) -> bytes:
    """What ``work()`` returns in a forked child."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, work())  # type: ignore[operator]
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    return data


def draws() -> bytes:
    parts = [
        [noise.discrete_laplace(WIDE) for _ in range(20)],
        [noise.discrete_gaussian(WIDE) for _ in range(20)],
    ]
    parts.append(noise.discrete_laplace(WIDE, 1000).tolist())
    parts.append([noise.uniform_below(2**62) for _ in range(20)])
    return np.array([draw for part in parts for draw in part], dtype=np.int64).tobytes()


def test_parent_and_children_share_no_draw() -> None:
    draws()  # whatever could be kept, a child would inherit now
    first, second = in_child(draws), in_child(draws)
    everything = np.concatenate([np.frombuffer(part, dtype=np.int64) for part in (first, second, draws())])
    assert everything.size == 3 * 1060
    assert np.unique(everything).size == everything.size


def test_fork_while_the_lock_of_the_stand_ins_is_held() -> None:
    with seeded(1), stand_ins._pool.lock:
        assert len(in_child(draws)) == 8 * 1060


def test_seeded_repeats_and_leaves_nothing_behind() -> None:
    mark = entropy.epoch()
    runs = []
    for _ in range(2):
        with seeded(7):
            assert not entropy.is_secure()
            runs.append(
                [noise.discrete_laplace(WIDE) for _ in range(30)] + noise.geometric(WIDE, 300).tolist()
            )
    assert runs[0] == runs[1]
    assert entropy.is_secure()
    assert not entropy.secure_since(mark)
    fresh = [noise.discrete_laplace(WIDE) for _ in range(30)]
    assert not set(fresh) & set(runs[0])
    with seeded(8):
        assert noise.discrete_laplace(WIDE) != runs[0][0]


def test_seeded_inside_seeded_takes_its_own_source() -> None:
    with seeded(1):
        noise.discrete_laplace(WIDE)
        with seeded(7):
            inner = noise.discrete_laplace(WIDE)
    with seeded(7):
        assert noise.discrete_laplace(WIDE) == inner


def test_pools_of_the_stand_ins_stay_bounded() -> None:
    with seeded(1):
        for i in range(3 * stand_ins.POOLED_SCALES):
            noise.discrete_laplace(1.0 + i)
        assert 0 < len(stand_ins._pool.waiting) <= stand_ins.POOLED_SCALES
        assert set(stand_ins._pool.batch) == set(stand_ins._pool.waiting)


def test_shapes_and_supports() -> None:
    assert isinstance(noise.discrete_laplace(2.0), int)
    assert noise.discrete_gaussian(2.0, 0).shape == (0,)
    big = noise.geometric(2.0, 70_000)
    assert big.dtype == np.int64
    assert big.shape == (70_000,)
    assert big.min() == 0
    assert isinstance(noise.geometric(3.0), int)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 2.0**51])
def test_bad_scales_are_refused(scale: float) -> None:
    for draw in (noise.discrete_laplace, noise.discrete_gaussian, noise.geometric, noise.discrete_cauchy):
        with pytest.raises(InputError, match="scale"):
            draw(scale)


def test_tiny_scales_add_nothing() -> None:
    assert noise.discrete_laplace(1e-3, 100).tolist() == [0] * 100
    with seeded(1):
        assert noise.discrete_laplace(1e-3, 100).tolist() == [0] * 100


def test_categorical_takes_more_bits_when_undecided() -> None:
    """U = 0.1000... (binary) is on the edge of two equal weights: only later bits decide."""
    asked: list[int] = []

    def edge(size: int) -> bytes:
        asked.append(size)
        return (
            b"\x80" + bytes(size - 1)
            if len(asked) == 1
            else b"\xff" * size
            if len(asked) > 3
            else bytes(size)
        )

    with entropy.replaced(edge):
        assert noise.categorical([1, 1], [Fraction(0), Fraction(0)]) == 1
    assert len(asked) > 1


def test_categorical_never_picks_a_weight_of_zero() -> None:
    with seeded(3):
        picked = {
            noise.categorical([0, 1, 0, 1], [Fraction(0), Fraction(1), Fraction(9), Fraction(0)])
            for _ in range(200)
        }
    assert picked == {1, 3}


LARGE = 10**17


@pytest.mark.parametrize("seed", range(60))
def test_floats_change_no_choice(seed: int) -> None:
    """The same bytes give the same answer with and without a look at floats: weights and exponents of any size."""
    rng = np.random.default_rng(seed)
    number = int(rng.choice([1, 2, 3, 40]))
    weights = [int(rng.choice([0, 1, 1, 5, LARGE])) for _ in range(number)]
    weights[0] = weights[0] or 1
    far = int(rng.choice([3, 1000, 10**6]))
    gammas = [Fraction(int(rng.integers(far)), int(rng.choice([1, 7, 1000]))) for _ in range(number)]
    least = min(gamma for weight, gamma in zip(weights, gammas, strict=True) if weight)
    gammas = [max(gamma, least) + int(rng.choice([0, 10**25])) * (seed % 2) for gamma in gammas]
    least = min(gamma for weight, gamma in zip(weights, gammas, strict=True) if weight)
    gammas = [max(gamma, least) for gamma in gammas]
    found = []
    for asked in (True, False):
        given = np.random.default_rng(seed + 1)
        look = coins.place_by_floats if asked else lambda *_: None
        with (
            entropy.replaced(given.bytes),
            mock.patch.object(coins, "place_by_floats", look),
            np.errstate(all="raise"),
        ):
            found.append([noise.categorical(weights, gammas) for _ in range(20)])
    assert found[0] == found[1]
    assert all(weights[i] for i in found[0])


@pytest.mark.parametrize("seed", range(20))
def test_a_choice_by_steps_is_the_choice_by_exponents(seed: int) -> None:
    """The same bytes, with and without floats, whatever the steps begin with."""
    rng = np.random.default_rng([seed, 2])
    steps = rng.integers(0, int(rng.choice([3, 50, 10**7, 10**15])), int(rng.choice([1, 2, 30]))) + 5
    per_step = Fraction(int(rng.integers(1, 90)), int(rng.choice([7, 10**4, 10**9])))
    found = []
    for draw, look in (
        (lambda: noise.categorical_steps(steps, per_step), coins.place_by_floats),
        (lambda: noise.categorical_steps(steps, per_step), lambda *_: None),
        (
            lambda: noise.categorical([1] * len(steps), [s * per_step for s in steps.tolist()]),
            lambda *_: None,
        ),
    ):
        given = np.random.default_rng(seed)
        with entropy.replaced(given.bytes), mock.patch.object(coins, "place_by_floats", look):
            found.append([draw() for _ in range(30)])
    assert found[0] == found[1] == found[2]


def test_floats_are_not_believed_near_a_border() -> None:
    """Two equal weights: U = 1/2 is the border, and floats say nothing within 2^-36 of it."""
    even = np.ones(2)
    assert coins.place_by_floats(even, (1 << 111) - (1 << 80), 112) == 0
    assert coins.place_by_floats(even, (1 << 111) + (1 << 80), 112) == 1
    for near in (-(1 << 74), -1, 0, 1, 1 << 74):
        assert coins.place_by_floats(even, (1 << 111) + near, 112) is None
    assert coins.place_by_floats(np.array([np.inf, 1.0]), 5, 112) is None
    assert coins._float_terms([1 << 201, 1], [Fraction(0)] * 2) is None
    assert coins._float_terms([1, 1], [Fraction(0), Fraction(10**400)]) is None


def test_certain_coins() -> None:
    assert noise.bernoulli_exp_many(np.zeros(50, np.int64), Fraction(1)).all()
    assert noise.uniform_below(1) == 0
    assert sorted(noise.permutation(100).tolist()) == list(range(100))
