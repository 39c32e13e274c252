"""Repeatable runs for tests and experiments. Nothing released inside is private, and every statement says so.

>>> import dpcausal as dc
>>> data = dc.networks.load("cancer").sample(1000, seed=1)
>>> with dc.testing.seeded(7):
...     result = dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0)
>>> result.privacy.private
False
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

    **Guarantee**: none. The noise follows the same laws, but it is no secret. Every statement that spans any part of
    the block says that it is not private.

    Parameters
    ----------
    seed : int
        The seed; the same one gives the same noise.

    Returns
    -------
    context manager
        For ``with``; it gives nothing to ``as``.

    Examples
    --------
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
