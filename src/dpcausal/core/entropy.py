"""Where random bytes come from: the operating system, unless a test says otherwise.

The one switch between private and repeatable. ``random_bytes`` reads the kernel's generator, so it is
safe after ``fork`` and can't be seeded. ``dpcausal.testing.seeded`` pushes another source here; from
then on ``secure_since`` is false for every epoch taken before, and whatever was released meanwhile is
stamped not private.

``public_generator`` is a fast one for randomness that need not be secret: resampled columns, simulated null laws.
``released_generator`` is one that released numbers seed: what is computed from a release and it is the same whenever it
is computed again. No guarantee rests on either: noise that protects rows comes from ``privacy.noise`` and nowhere else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

RandomBytes = Callable[[int], bytes]
Generator = np.random.Generator  # its type, for rooms that are handed one

_sources: list[RandomBytes] = []  # pushed by testing only; the last one wins
_pushes = 0  # how often an insecure source was ever pushed: never goes down


def random_bytes(count: int) -> bytes:
    """Return ``count`` bytes from the current source: ``os.urandom`` unless a test replaced it."""
    return _sources[-1](count) if _sources else os.urandom(count)


def is_secure() -> bool:
    """Return whether the current source is the operating system's."""
    return not _sources


def epoch() -> int:
    """Return a mark to give to ``secure_since`` later."""
    return _pushes


def secure_since(mark: int) -> bool:
    """Return whether every byte since ``mark = epoch()`` came from the operating system."""
    return not _sources and _pushes == mark


@contextmanager
def replaced(source: RandomBytes) -> Iterator[None]:
    """Use ``source`` for all randomness inside the block. For ``dpcausal.testing`` only."""
    global _pushes
    _pushes += 1
    _sources.append(source)
    try:
        yield
    finally:
        _sources.pop()


def public_generator() -> np.random.Generator:
    """Return a fresh generator, seeded from ``random_bytes``: repeatable under ``dpcausal.testing.seeded`` only.

    >>> public_generator().random() != public_generator().random()
    True
    """
    return np.random.default_rng(int.from_bytes(random_bytes(32)))


def released_generator(released: ArrayLike) -> np.random.Generator:
    """Return a generator seeded by released numbers (seven digits of each): equal for equal releases.

    >>> released_generator([1.5, 2.0]).random() == released_generator([1.5, 2.0 + 1e-12]).random()
    True
    >>> released_generator([1.5, 2.0]).random() == released_generator([1.5, 2.1]).random()
    False
    """
    seed = hashlib.sha256(np.asarray(released, dtype=np.float32).tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed))
