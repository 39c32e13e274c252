"""The synthetic design of Kalemaj, Kasiviswanathan & Ramdas 2024, section 4, many repetitions at a time.

X = f_s(Z_1) + N_X,  Y = -f_s(Z_1) + N_Y + beta N_X,  Z in R^d with independent N(0, 4) coordinates.

The paper prints f_s(z) = exp(-s^2/2) sin(s z) (``printed``), which is nearly zero from s = 4 on: nothing is left to
confound. Its Figure 1 needs a function that gets harder as s grows, as exp(-z^2/2) sin(s z) of Shah & Peters 2020 does
(``envelope``). Both are shown.

The repetitions of one batch share Z (so that one factorisation serves them all) and draw X and Y afresh; a figure uses
several draws of Z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

Z_BOUND = 8.0  # public: four standard deviations


def mean_of_x(z: Values, s: float, shape: str) -> Values:
    """f_s at the first coordinate of ``z``."""
    first = z[:, 0]
    envelope = math.exp(-s * s / 2) if shape == "printed" else np.exp(-first * first / 2)
    return np.asarray(envelope * np.sin(s * first), np.float64)


@dataclass(frozen=True)
class Cell:
    """One point of a figure: which design, which budget."""

    panel: str
    at: float  # the horizontal axis
    n: int
    d: int = 1
    s: float = 2.0
    beta: float = 0.0
    epsilon: float = 2.0
    shape: str = "printed"
    copies: int = 19


@dataclass(frozen=True)
class Batch:
    """Data sets that share Z: columns of ``x`` and ``y``. Public bounds: sqrt(2 ln n) standard deviations."""

    cell: Cell
    z: Values
    x: Values
    y: Values
    mean: Values
    kept: dict[tuple[str, float], Values] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def bound_x(self) -> float:
        """|x| is clamped to this."""
        return math.sqrt(2 * math.log(self.cell.n))

    @cached_property
    def bound_y(self) -> float:
        """|y| is clamped to this."""
        return self.bound_x * math.sqrt(1 + self.cell.beta**2)

    @cached_property
    def unit_x(self) -> Values:
        """x clamped and scaled to [-1, 1]."""
        return np.clip(self.x / self.bound_x, -1, 1)

    @cached_property
    def unit_y(self) -> Values:
        """y clamped and scaled to [-1, 1]."""
        return np.clip(self.y / self.bound_y, -1, 1)


def draw_z(n: int, d: int, rng: np.random.Generator) -> Values:
    """n points in R^d."""
    return rng.normal(0.0, 2.0, (n, d))


def draw(cell: Cell, z: Values, reps: int, rng: np.random.Generator) -> Batch:
    """``reps`` data sets at these points."""
    mean = mean_of_x(z, cell.s, cell.shape)
    noise = rng.normal(size=(cell.n, reps))
    x = mean[:, None] + noise
    y = -mean[:, None] + rng.normal(size=(cell.n, reps)) + cell.beta * noise
    return Batch(cell, z, x, y, mean)
