"""Repeatable runs for tests and experiments. Nothing released inside is private, and every statement says so.

with dc.testing.seeded(7):
    result = dc.discover(data, epsilon=1.0)
result.privacy    # its first field says that the noise was seeded
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from dpcausal.core import entropy

__all__ = ["seeded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw all noise inside the block from a generator seeded with ``seed``.

    The laws stay the same (``privacy/seeded.py``); the secrecy does not. ``core.entropy.secure_since`` turns
    false for every statement that spans any part of the block.

    >>> from dpcausal.privacy import noise
    >>> with seeded(7):
    ...     first = noise.discrete_laplace(10.0, 5).tolist()
    >>> with seeded(7):
    ...     noise.discrete_laplace(10.0, 5).tolist() == first
    True
    """
    generator = np.random.default_rng(seed)
    with entropy.replaced(generator.bytes):
        yield
