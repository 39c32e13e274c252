"""The conditional randomization test: is the real x more tied to y than copies of x drawn from its law given z?

m copies of x are drawn from ``model`` (``crt_models.py``), and T (``stats/crt.py``) of the real column is compared with
theirs. If x is independent of y given z all m + 1 are exchangeable: the level is exact for every n, whatever y does.

- ``release="decision"`` (default): one bit, whether the real T is among the k = level (m + 1) largest of the noisy ones
  (``privacy/mechanisms/noisy_rank.py``). The level stays exact *with* the noise, whose scale does not grow with m.
- ``release="rank"``: the paper's Algorithm 2, two-sided: a rank by report-noisy-max over scores
  -|Q_c - T_0|/(2 Delta_T) with exponential noise of scale 2/epsilon; a p-value, with less power and no exact level.

**Guarantee** epsilon-DP, both relations (``score="kernel"``: replace-one): ``stats/crt.proof.md`` and the mechanism's.
Public: the model, the number of copies, bins of z. The copies may be known to anyone; the noise may not.
**Cost** O(n (m + 64)) for a model that is a function, which is drawn 64 times more to learn its mean and spread.

References: [1] Candes et al. 2018; [2] Kalemaj, Kasiviswanathan & Ramdas 2024, Alg. 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, Question, TestSettings
from dpcausal.citests.crt_models import LinearGaussian, Model, as_model, numbers, usable
from dpcausal.citests.rank import Strata, bins_for, blocks_of, ranked_column
from dpcausal.core.entropy import public_generator
from dpcausal.core.errors import InputError
from dpcausal.core.statement import ONE_ROW, Public, PublicKind, Released, ReleasedKind, Unit
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.mechanisms.selection import NoisyMax
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.regression.rounding import inner_error, residual_error
from dpcausal.stats.crt import SCORES, Score, crt_sensitivity, crt_statistic, rank_scores, standardised
from dpcausal.stats.value_ranks import ranked

Floats = NDArray[np.float64]
COPIES = 200  # with the real column, unless the level asks for more
MOST_COPIES = 10_000
PILOT = 64  # draws that show the mean and spread of a function's law
RANK_COPIES = 20  # the paper's choice: more copies make its rank noisier


@dataclass(frozen=True)
class Crt:
    """The test with its options; ``resample`` names the column the model is about (default: the first one asked)."""

    model: object = None
    resample: str | None = None
    copies: int | None = None
    score: Score = "ranks"
    release: Literal["decision", "rank"] = "decision"
    strata: Strata = "auto"
    strength: float = 1.0  # lambda of score="kernel"
    bandwidth: float = 0.2
    name: str = "crt"
    own_delta: bool = False
    protects: Unit = ONE_ROW

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise InputError(f"score must be one of {', '.join(SCORES)}, not {self.score!r}")
        if self.release not in ("decision", "rank"):
            raise InputError(f"release must be decision or rank, not {self.release!r}")
        if self.copies is not None and self.copies < 1:
            raise InputError(f"copies must be at least 1, not {self.copies!r}")

    @property
    def releases(self) -> Released:
        """What leaves."""
        if self.release == "rank":
            return Released(ReleasedKind.NOISY_RANK)
        return Released(ReleasedKind.NOISY_DECISION)

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema."""
        return Public(PublicKind.MODEL), Public(PublicKind.COPIES)

    def check(self, question: Question) -> None:
        """There must be a model, about the columns asked for."""
        if self.resample is not None and self.resample not in (question.x, question.y):
            raise InputError(f'resample must name one of {question.x}, {question.y}, not "{self.resample}"')
        as_model(self.model, question).check(question, self._resampled(question))

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """(1 + #{T_j >= T_0})/(m + 1), exact without privacy."""
        found = self._statistics(question, data, self._copies(level), data.n)
        pvalue = (1 + np.count_nonzero(found[1:] >= found[0])) / len(found)
        return Outcome.at(level, float(pvalue), float(found[0]))

    def private_values(
        self, question: Question, data: Dataset, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Draw, compare through a mechanism."""
        sensitivity = crt_sensitivity(terms.neighbours, self.score, self.strength)
        if self.score == "kernel":
            eta = residual_error(max(data.n, 1), self.strength, self._kernel(question), len(question.given))
            sensitivity += 2 * inner_error(data.n, eta)
        copies = self._copies(terms.level)
        label = f"{self.name}: {question}"
        if self.release == "decision":
            bit = NoisyRank(
                sensitivity=sensitivity,
                epsilon=terms.epsilon,
                size=copies + 1,
                largest=_largest(terms.level, copies),
                neighbours=terms.neighbours,
            )
            found = self._statistics(question, data, copies, terms.n)
            return Outcome(independent=not release(bit, budget, label, found))
        choice = NoisyMax(sensitivity=1.0, epsilon=terms.epsilon, neighbours=terms.neighbours)
        found = self._statistics(question, data, copies, terms.n)
        scores = -np.abs(np.sort(found)[::-1] - found[0]) / (2 * sensitivity)
        rank = release(choice, budget, label, scores)
        return Outcome.at(terms.level, (1 + rank) / (copies + 1))

    def _resampled(self, question: Question) -> str:
        return self.resample or question.x

    def _copies(self, level: float) -> int:
        """m: so that level (m + 1) is a whole number, as nearly as can be from below."""
        if self.copies is None and self.release == "decision":
            copies = math.ceil(max(1, round(level * COPIES)) / level - 1e-9) - 1
        else:
            copies = self.copies or math.ceil(max(RANK_COPIES, 1 / level) - 1e-9) - 1
            _largest(level, copies)
        if copies > MOST_COPIES:
            raise InputError(
                f"crt draws at most {MOST_COPIES:,} copies, not the {copies:,} of level {level:g}"
            )
        return copies

    def _statistics(self, question: Question, data: Dataset, copies: int, n: int | None) -> Floats:
        """T of the real column, then of each copy. Not private: for a mechanism only."""
        name = self._resampled(question)
        other = question.y if name == question.x else question.x
        model, source = as_model(self.model, question), public_generator()
        draw = _drawer(model, data, name, source)
        centre, spread = _moments(model, data, name, draw)
        v = self._scores(question, data, other, n)
        columns = [usable(numbers(data, name), data, name)]
        found = np.empty(copies + 1)
        for j in range(copies + 1):
            x = columns.pop() if j == 0 else draw()
            found[j] = crt_statistic(standardised(_columns(x, data, name), centre, spread), v)
        return found

    def _scores(self, question: Question, data: Dataset, other: str, n: int | None) -> Floats:
        """v, one column per feature of the other variable."""
        column = data.schema[other]
        y = _columns(usable(numbers(data, other), data, other), data, other)
        if self.score == "ranks":
            block, k = blocks_of(question, data, bins_for(question, data, self.strata, n))
            if y.shape[1] == 1:
                return rank_scores(ranked_column(data, other), block, k)[:, None]
            return np.column_stack([rank_scores(ranked(part), block, k) for part in y.T])
        if isinstance(column, Numeric):
            scaled = 2 * (y - column.lower) / (column.upper - column.lower) - 1
        else:
            top = max(column.size - 1, 1) if y.shape[1] == 1 else 1
            scaled = 2 * y / top - 1
        if self.score == "plain":
            return np.asarray(np.clip(scaled, -1.0, 1.0))
        z = np.column_stack([np.zeros((data.n, 0)), *(_unit(data, name) for name in question.given)])
        return ridge_residuals(
            z, np.clip(scaled, -1.0, 1.0), self._kernel(question), penalty_of(self.strength, data.n)
        )

    def _kernel(self, question: Question) -> Kernel:
        discrete = tuple(i for i, z in enumerate(question.given) if z not in question.numeric)
        return Kernel(self.bandwidth, discrete=discrete)


def _largest(level: float, copies: int) -> int:
    """k: how many of m + 1 may be called large at this level."""
    largest = math.floor(level * (copies + 1) + 1e-9)
    if largest < 1:
        raise InputError(f"level {level:g} needs at least {math.ceil(1 / level) - 1} copies, not {copies}")
    return largest


def _unit(data: Dataset, name: str) -> Floats:
    """A conditioning column on [0, 1], or its codes."""
    column = data.schema[name]
    if isinstance(column, Numeric) and name in data.values:
        return np.asarray((data.values[name] - column.lower) / (column.upper - column.lower))
    return data.codes[name].astype(np.float64)


def _columns(x: Floats, data: Dataset, name: str) -> Floats:
    """One column for numbers, ordered and two levels; else one indicator a level."""
    column = data.schema[name]
    if isinstance(column, Categorical) and not column.ordered and column.size > 2:
        return np.asarray(x[:, None] == np.arange(column.size), dtype=np.float64)
    return x[:, None]


def _drawer(model: Model, data: Dataset, name: str, source: object) -> Callable[[], Floats]:
    return lambda: usable(model.draw(data, source), data, name)


def _moments(model: Model, data: Dataset, name: str, draw: Callable[[], Floats]) -> tuple[Floats, Floats]:
    """Mean and standard deviation of x's columns at each row's z: known, or seen from separate draws."""
    if isinstance(model, LinearGaussian):
        return model.mean(data)[:, None], np.full((data.n, 1), model.sd)
    total = square = np.zeros(1)
    for _ in range(PILOT):
        drawn = _columns(draw(), data, name)
        total, square = total + drawn, square + drawn * drawn
    mean = total / PILOT
    return mean, np.sqrt(np.maximum(square / PILOT - mean * mean, 0.0))
