"""Three small sites of one law, a protocol for them, and what they contribute."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpcausal as dc

NAMES = ("east", "north", "south")
SCHEMA = dc.Schema({name: dc.Categorical(["no", "yes"]) for name in "abcdef"})


@cache
def rows_of(site: int, rows: int = 2000) -> dc.Dataset:
    """A chain a - b - c, and d, e, f alone; sites differ in how common "yes" is."""
    rng = np.random.default_rng(site)
    codes = (rng.random((6, rows)) < 0.3 + 0.1 * site).astype(int)
    codes[1] = np.where(rng.random(rows) < 0.3, codes[1], codes[0])
    codes[2] = np.where(rng.random(rows) < 0.3, codes[2], codes[1])
    return dc.Dataset(SCHEMA, rows, dict(zip(SCHEMA, codes, strict=True)))


@cache
def contributed(rounds: int = 1, delta: float = 1e-6, **terms: Any) -> list[dc.Contribution]:
    """What the three sites contribute to the first round, with noise that is always the same."""
    asked = dc.protocol(SCHEMA, [2000] * 3, 2.0, delta, rounds=rounds)
    with dc.testing.seeded(1):
        return [dc.contribute(rows_of(i), asked, name, **terms) for i, name in enumerate(NAMES)]


@pytest.fixture
def contribute() -> Callable[..., list[dc.Contribution]]:
    return contributed


@pytest.fixture
def site() -> Callable[..., dc.Dataset]:
    return rows_of
