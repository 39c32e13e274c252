"""Sieve-and-examine: a cheap sparse vector finds candidates, an exact look confirms each.

    sieve    r(f_i(subsample)) against (threshold - tweak), by ``SparseVector`` with eps' for up to ``hits``
    hits examine  f_i(all rows) + noise >= threshold, at every hit: Laplace (epsilon_examine) or Gaussian
    (rho_examine)

**Cost** epsilon_sieve + hits epsilon_examine (pure), or rho = epsilon_sieve^2/2 + rho_examine with hits =
1. With a subsample of m of n rows, eps' = ln(1 + (n/m)(exp(epsilon_sieve) - 1)), under replace-one only,
and the sieve's sensitivity is the one at size m. **Guarantee** ``sieve_and_examine.proof.md``. To go on
after the last hit, begin a new session: it draws a new threshold and a new subsample and is charged again,
whether the examinations passed or not.

**Where we differ from [1].** Alg. 1 line 4 uses eps where eps' is needed. Alg. 2 line 15 drops the factor
sqrt(n/m) (at n/m = 20, eps = 1 that sieve costs 4.23 instead of .5), and refreshes only when the
examination passes. Subsampling never improves signal to noise for z-like statistics; it is for speed, and
off by default.

References: [1] Wang, Pang & Song 2020, Alg. 1-2; [2] Balle, Barthe & Gaboardi 2018, Thm 9.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.privacy import noise
from dpcausal.privacy.events import ConcentratedEvent, PureEvent
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import Grid, checked_positive, checked_size
from dpcausal.privacy.mechanisms.sparse_vector import Noise, SparseVector, SparseVectorSession


@proved("sieve_and_examine.proof.md")
def unamplified(epsilon: float, rows: int, subsample: int) -> float:
    """Return the epsilon on a random ``subsample`` of ``rows`` rows that costs ``epsilon`` after amplification.

    It is a hair below, for rounding.

    >>> round(unamplified(0.5, 20, 1), 3)
    2.637
    """
    return math.log1p(rows / subsample * math.expm1(epsilon)) * (1 - 2.0**-46)


@proved("sieve_and_examine.proof.md")
@dataclass(frozen=True, kw_only=True)
class SieveAndExamine:
    """One round (one threshold draw) of up to ``hits`` hits.

    >>> pure = SieveAndExamine(sensitivity=1.0, epsilon_sieve=0.5, epsilon_examine=0.25, hits=2)
    >>> pure.event("round").epsilon
    1.0
    """

    sensitivity: float
    epsilon_sieve: float
    epsilon_examine: float | None = None
    rho_examine: float | None = None
    hits: int = 1
    tweak: float = 0.0
    noise: Noise = "geometric"
    rows: int | None = None
    subsample: int | None = None
    sieve_sensitivity: float | None = None
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    grid: Grid | None = None

    def __post_init__(self) -> None:
        checked_size(self.hits, "hits")
        checked_positive(sensitivity=self.sensitivity, epsilon_sieve=self.epsilon_sieve)
        if (self.epsilon_examine is None) == (self.rho_examine is None):
            raise InputError("sieve-and-examine takes either epsilon_examine or rho_examine")
        if not (math.isfinite(self.tweak) and self.tweak >= 0):
            raise InputError(f"tweak must be a finite number, zero or above, not {self.tweak!r}")
        if self.rho_examine is not None and self.hits != 1:
            raise InputError("the zCDP version takes one hit a round: begin a new round at every hit")
        if self.subsample is not None:
            self._check_subsample(self.subsample)
        _ = self.sieve, self.examine  # a scale that no draw can have is refused now, not after a charge

    def _check_subsample(self, size: int) -> None:
        """Refuse a subsample unless it has rows, replace-one neighbours and one hit a round."""
        if self.rows is None or self.sieve_sensitivity is None or not 0 < size < self.rows:
            raise InputError("a subsample needs rows, 0 < subsample < rows, and the sensitivity at its size")
        if Neighbours.parse(self.neighbours) != Neighbours.REPLACE_ONE or self.hits != 1:
            raise InputError("a subsample needs replace-one neighbours and one hit a round")

    @cached_property
    def sieve(self) -> SparseVector:
        """The sparse vector, as it runs on the subsample (or on everything)."""
        epsilon = self.epsilon_sieve
        if self.subsample is not None and self.rows is not None:
            epsilon = unamplified(epsilon, self.rows, self.subsample)
        return SparseVector(
            sensitivity=self.sieve_sensitivity or self.sensitivity,
            epsilon=epsilon,
            positives=self.hits,
            noise=self.noise,
            neighbours=self.neighbours,
            grid=self.grid,
        )

    @cached_property
    def examine(self) -> Laplace | Gaussian:
        """The mechanism that confirms a hit on all rows."""
        if self.epsilon_examine is not None:
            return Laplace(
                sensitivity=self.sensitivity,
                epsilon=self.epsilon_examine,
                neighbours=self.neighbours,
                grid=self.grid,
            )
        assert self.rho_examine is not None
        return Gaussian(
            sensitivity=self.sensitivity, rho=self.rho_examine, neighbours=self.neighbours, grid=self.grid
        )

    def event(self, label: str) -> PureEvent | ConcentratedEvent:
        """Return the event with the cost of one round, whatever its examinations answer."""
        name = "sieve-and-examine"
        if self.epsilon_examine is not None:
            pure = self.epsilon_sieve + self.hits * self.epsilon_examine
            return PureEvent(label=label, neighbours=self.neighbours, mechanism=name, cost=pure)
        assert self.rho_examine is not None
        rho = self.epsilon_sieve**2 / 2 + self.rho_examine
        return ConcentratedEvent(label=label, neighbours=self.neighbours, mechanism=name, cost=rho)

    def start(self, threshold: float) -> SieveSession:
        """Return a round with fresh threshold noise. Charge the event first (``begin``)."""
        return SieveSession(self, threshold, self.sieve.start(threshold - self.tweak))


@proved("sieve_and_examine.proof.md")
@dataclass
class SieveSession:
    """One round. Sieve values must be computed on one fresh subsample of the rows, if the mechanism has one.

    ``subsample`` draws it; a caller that counts may draw its own (``counts/sampling.py``) and leave this one undrawn.
    """

    mechanism: SieveAndExamine
    threshold: float
    _sieve: SparseVectorSession
    _drawn: noise.Integers | None = field(default=None, repr=False)  # secret: amplification rests on it
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def subsample(self) -> noise.Integers | None:
        """Rows of this round, drawn at the first call (None: all rows)."""
        size, rows = self.mechanism.subsample, self.mechanism.rows
        with self._lock:
            if self._drawn is None and size is not None and rows is not None:
                self._drawn = noise.permutation(rows)[:size]
            return self._drawn

    @property
    def halted(self) -> bool:
        """Whether the last hit that was charged has occurred; true and false hits count alike."""
        return self._sieve.halted

    def ask(self, sieve_value: float, examine_value: Callable[[], float]) -> bool:
        """Return whether a query is above the threshold; ``examine_value`` is computed only at a noisy hit.

        Raises ``HaltedError`` when the round is over.
        """
        if not self._sieve.ask(sieve_value):
            return False
        return bool(self.mechanism.examine.sample(examine_value()) >= self.threshold)
