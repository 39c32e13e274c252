"""Sparse vector: which of a stream of queries lie above a threshold, paying only for up to c positives.

One threshold draw N0 for the whole session and a fresh draw N_i per query, all integers on a grid:

    answer i is "above"  iff  r(value_i) + N_i >= ceil(threshold/step) + N0 + centre

    geometric (default)  N0, N_i >= 0 one-sided, P(k) ~ exp(-k/b)
    laplace (textbook)   P(k) ~ exp(-|k|/b)

**Cost** Delta/b_threshold + 2 c Delta/b_query, or Delta/b_threshold + c Delta/b_query if ``monotone`` (one
row moves all queries the same way). The split eps_query/eps_threshold = (2c)^(2/3) (c^(2/3) if monotone)
gives the comparison its least variance. **Guarantee** epsilon-DP for any number of adaptively chosen queries,
``sparse_vector.proof.md``; the session halts after the c-th positive. ``centre`` is public and makes a
value at the threshold an even coin.

**What we correct.** Halved query noise is only for monotone queries; the noise on every query, the factor c
and the halt are all needed: ``audit/broken.py`` shows what each omission costs.

References: [1] Lyu, Su & Li 2017, Thm 2-5 and section 4.2; [2] Dwork & Roth 2014, section 3.6.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core import process
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.mechanisms.base import Grid, checked_positive, checked_size, rounded_up

Noise = Literal["geometric", "laplace"]
CHUNK = (
    16384  # queries answered at a time by first_above; noise drawn after the first positive is thrown away
)


class HaltedError(BudgetError):
    """Raised for a query after the last positive that was charged; nothing is drawn."""


class Scales(NamedTuple):
    """Noise scales in grid steps."""

    threshold: float
    query: float


@proved("sparse_vector.proof.md")
def sparse_vector_cost(sensitivity: float, scales: Scales, positives: int, monotone: bool) -> Fraction:
    """Return the exact pure epsilon of a session with these noise scales."""
    delta, per_hit = Fraction(sensitivity), 1 if monotone else 2
    return delta / Fraction(scales.threshold) + per_hit * positives * delta / Fraction(scales.query)


def sparse_vector_scales(sensitivity: float, epsilon: float, positives: int, monotone: bool) -> Scales:
    """Return the noise scales of the optimal split of ``epsilon``, rounded up."""
    factor = positives if monotone else 2 * positives
    threshold = Fraction(epsilon / (1 + factor ** (2 / 3)))
    query = (Fraction(epsilon) - threshold) / factor
    return Scales(rounded_up(Fraction(sensitivity) / threshold), rounded_up(Fraction(sensitivity) / query))


@proved("sparse_vector.proof.md")
@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """Up to ``positives`` answers "above" on queries of ``sensitivity``, for ``epsilon`` in all.

    >>> svt = SparseVector(sensitivity=1.0, epsilon=1.0, positives=3)
    >>> svt.event("screening").epsilon
    1.0
    """

    sensitivity: float
    epsilon: float
    positives: int = 1
    noise: Noise = "geometric"
    monotone: bool = False
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_positive(sensitivity=self.sensitivity, epsilon=self.epsilon)
        checked_size(self.positives, "positives")
        if self.noise not in ("geometric", "laplace"):
            raise InputError(f"noise must be geometric or laplace, not {self.noise!r}")
        for scale in self.scales:
            noise.checked_scale(scale)

    @cached_property
    def on(self) -> Grid:
        """The grid that query values are rounded to."""
        return self.grid or Grid.fitting(self.sensitivity)

    @cached_property
    def scales(self) -> Scales:
        """Noise scales in grid steps."""
        sensitivity = self.on.sensitivity(self.sensitivity)
        if self.monotone and not self.on.exact:
            sensitivity += 1  # a query that stands still may be rounded one step the other way
        return sparse_vector_scales(sensitivity, self.epsilon, self.positives, self.monotone)

    @cached_property
    def centre(self) -> int:
        """Median of query noise minus threshold noise, in grid steps; it is added to the threshold."""
        if self.noise == "laplace":
            return 0
        low, high = self.scales  # of two exponentials: P(high - low >= x) in closed form
        if high >= low:
            return round(high * math.log(2 * high / (low + high)))
        return round(low * math.log((low + high) / (2 * low)))

    def event(self, label: str) -> PureEvent:
        """Return the event that states what a whole session costs."""
        return PureEvent(
            label=label, neighbours=self.neighbours, mechanism="sparse-vector", cost=self.epsilon
        )

    def start(self, threshold: float) -> SparseVectorSession:
        """Return a session with fresh threshold noise. Charge the event first (``begin``)."""
        draw = noise.geometric if self.noise == "geometric" else noise.discrete_laplace
        level = math.ceil(threshold / self.on.step) + self.centre + draw(self.scales.threshold)
        return SparseVectorSession(self, level, self.positives)


@proved("sparse_vector.proof.md")
class SparseVectorSession:
    """Answers queries under one charge, one at a time across threads.

    Lives in one process and is never copied: a copy would answer twice.
    """

    def __init__(self, mechanism: SparseVector, level: int, positives: int) -> None:
        self.mechanism, self._level, self._remaining = mechanism, level, positives
        self._process, self._lock = process.token(), threading.Lock()

    @property
    def remaining(self) -> int:
        """Number of positives that were charged and not answered yet."""
        return self._remaining

    @property
    def halted(self) -> bool:
        """Whether every positive that was charged has been answered."""
        return self._remaining <= 0

    def __repr__(self) -> str:
        return f"SparseVectorSession({self.mechanism}, remaining={self._remaining})"

    def _check(self) -> None:
        """Refuse to answer after the last positive, and in a copy of the process."""
        if self.halted or self._process != process.token():
            raise HaltedError("this sparse vector session is over: pay for another one")

    def ask(self, value: float) -> bool:
        """Return whether ``value`` is above the threshold, noisily; ``HaltedError`` after the last positive."""
        mechanism = self.mechanism
        draw = noise.geometric if mechanism.noise == "geometric" else noise.discrete_laplace
        with self._lock:
            self._check()
            above = mechanism.on.to_integer(value) + draw(mechanism.scales.query) >= self._level
            self._remaining -= above
            return above

    def first_above(self, values: ArrayLike) -> int | None:
        """Query ``values`` in turn; return the index of the first that is answered above, None if none is.

        The answers before it are all "below"; those after it have not been asked.
        """
        rounded = self.mechanism.on.to_integers(values)
        with self._lock:
            self._check()
            found = self._first(rounded)
            self._remaining -= found is not None
            return found

    def _first(self, rounded: NDArray[np.int64]) -> int | None:
        """Return the index of the first value answered above, None if none is; values are in grid steps."""
        mechanism, scale = self.mechanism, self.mechanism.scales.query
        for start in range(0, rounded.size, CHUNK):
            part = rounded[start : start + CHUNK]
            if (
                mechanism.noise == "geometric"
            ):  # P(N >= r) = exp(-max(r, 0)/scale): a coin is all that is asked
                hit = noise.bernoulli_exp_many(np.maximum(self._level - part, 0), 1 / Fraction(scale))
            else:
                hit = part + noise.discrete_laplace(scale, part.size) >= self._level
            above = np.flatnonzero(hit)
            if above.size:
                return start + int(above[0])
        return None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sparse vector session can't be copied: its threshold noise must not be used twice")
