"""A fast generator for randomness that need not be secret: resampled columns, simulated null laws.

No guarantee rests on it: noise that protects rows comes from ``privacy.noise`` and nowhere else. It is seeded from
``entropy.random_bytes``, so it differs from run to run and repeats under ``dpcausal.testing.seeded``.
"""

from __future__ import annotations

import numpy as np

from dpcausal.core import entropy


def generator() -> np.random.Generator:
    """A fresh generator.

    >>> generator().random() != generator().random()
    True
    """
    return np.random.default_rng(int.from_bytes(entropy.random_bytes(32)))
