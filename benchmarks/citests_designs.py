"""Simulated tables for level and power of conditional independence tests, and the rate at which a shipped test rejects.

A design is a law of rows over (z, x, y). Under the null x and y are independent in every block. Under the alternative
the cells of a block are p_a q_b (1 + phi u_a v_b), u and v the centred scores 0, 1, 2, ... with variance 1 under p and
q: correlation phi in every block, the same sign in all unless said otherwise. phi = effect/sqrt(n), so that a test
without privacy has about the same power at every n (effect 3.98: .98 in one block).

| design | margins | blocks |
|---|---|---|
| balanced | .5, .5 | equal |
| rare | P(x=1) = P(y=1) = .1 | equal |
| confounded | P(x=1), P(y=1) both from .2 in the first block to .8 in the last | equal |
| unequal | P(x=1) = .3, P(y=1) = .2 | shares 1, 1/2, 1/3, ... |
| three | three even levels each | equal |
| three-rare | (.7, .2, .1) each | equal |
| opposite | .5, .5, sign of phi alternates between blocks | equal |
"""

from __future__ import annotations

import math
import zlib
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.registry import make_table_test
from dpcausal.core.neighbours import Neighbours
from dpcausal.testing import seeded

LEVEL, EFFECT = 0.05, 3.98  # effect 3.98: covariance .0315 in balanced 2x2 blocks at n = 1,000
BATCH = 500  # tables drawn at a time


def margins(design: str, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(P(z), P(x | z), P(y | z)), shapes (k,), (k, r), (k, c)."""
    share = np.full(k, 1.0 / k)
    if design in ("three", "three-rare"):
        p = [1 / 3, 1 / 3, 1 / 3] if design == "three" else [0.7, 0.2, 0.1]
        return share, np.tile(p, (k, 1)), np.tile(p, (k, 1))
    one = {"balanced": (0.5, 0.5), "opposite": (0.5, 0.5), "rare": (0.1, 0.1), "unequal": (0.3, 0.2)}
    if design == "confounded":
        rate = np.linspace(0.2, 0.8, k) if k > 1 else np.array([0.5])
        x = y = np.stack([1 - rate, rate], axis=1)
    else:
        x, y = (np.tile([1 - p, p], (k, 1)) for p in one[design])
    if design == "unequal":
        share = 1.0 / np.arange(1, k + 1)
        share /= share.sum()
    return share, x, y


def _scores(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores 0, 1, ... of every block, with mean 0 and variance 1 under p."""
    score = np.arange(p.shape[1], dtype=float)
    centred = score - (p * score).sum(1, keepdims=True)
    return centred / np.sqrt((p * centred**2).sum(1, keepdims=True))


@dataclass(frozen=True)
class Setting:
    """One cell of a table: which test, on what data, at what budget."""

    method: str
    design: str
    relation: str
    n: int
    k: int
    epsilon: float
    effect: float = 0.0
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        """For the file of results."""
        return " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in astuple(self))

    @property
    def levels(self) -> int:
        return 3 if self.design.startswith("three") else 2

    def law(self) -> NDArray[np.float64]:
        """Probabilities of the cells, shape (k, r, c)."""
        share, x, y = margins(self.design, self.k)
        phi = np.full(self.k, self.effect / math.sqrt(self.n))
        if self.design == "opposite":
            phi[1::2] *= -1
        lean = 1 + phi[:, None, None] * _scores(x)[:, :, None] * _scores(y)[:, None, :]
        cells = share[:, None, None] * x[:, :, None] * y[:, None, :] * lean
        assert cells.min() >= 0.0, f"the effect is too large for {self}"
        return cells / cells.sum()


class Free:
    """A budget without bounds: the cost of a test is not what is measured here."""

    def charge(self, *events: object) -> None:
        """Nothing."""

    def require(self, *events: object) -> None:
        """Nothing."""


def rejections(setting: Setting, count: int, seed: int = 0, *, classical: bool = True) -> tuple[int, int]:
    """(private, classical) rejections at .05 in ``count`` data sets; the private test is the shipped one.

    The second is -1 where the test without privacy is not wanted.
    """
    test = make_table_test(setting.method, dict(setting.options))
    relation = Neighbours.parse(setting.relation)
    given = ("z",) if setting.k > 1 else ()
    question = Question("x", "y", given, setting.levels, setting.levels, setting.k, True)
    n = None if relation is Neighbours.ADD_REMOVE else setting.n
    terms = TestSettings(setting.epsilon, 0.0, LEVEL, relation, n)
    law, budget = setting.law(), Free()
    seed = zlib.crc32(f"{setting.key} {seed}".encode())
    rng = np.random.default_rng(seed)
    private, plain = 0, 0 if classical else -1
    with seeded(seed):
        for start in range(0, count, BATCH):
            size = min(BATCH, count - start)
            for table in rng.multinomial(setting.n, law.ravel(), size).reshape(size, *law.shape):
                private += not test.private(question, table, terms, budget).independent
                if classical:
                    plain += not test.classical(table, LEVEL).independent
    return private, plain
