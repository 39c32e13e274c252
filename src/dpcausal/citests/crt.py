"""``crt``, the conditional randomization test: is x more tied to y than copies of x drawn from its law given z?

m copies of x are drawn from ``model`` (``citests/crt_models.py``), and T (``stats/crt.py``) of the real column is
compared with theirs.

- ``release="decision"`` (default): one bit, whether the real T is among the k = level (m + 1) largest of the noisy ones
  (``privacy/mechanisms/noisy_rank.py``). The level stays exact *with* the noise, whose scale does not grow with m.
- ``release="rank"``: the paper's Algorithm 2, two-sided: a rank by report-noisy-max over scores
  -|Q_c - T_0|/(2 Delta_T) with exponential noise of scale 2/epsilon; a p-value, with less power and no exact level.

**Guarantee**: epsilon-DP, both relations (``score="kernel"``: replace-one), by ``crt.proof.md`` and the mechanism's
proof. Public are the model, the number of copies and the strata of z. The copies may be known to anyone; the noise may
not.
**Null law**: if x is independent of y given z all m + 1 values of T are exchangeable, so the level is exact for every
n, whatever y does. **Cost** O(n (m + 64)) for a model that is a function, which is drawn 64 times more to learn its
mean and standard deviation. **Edge cases**: a level that needs more than ``MAX_COPIES`` copies is an error.

References: [1] Candes et al. 2018; [2] Kalemaj, Kasiviswanathan & Ramdas 2024, Alg. 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, Question, TestInfo, TestSettings, ValueTest
from dpcausal.citests.crt_models import LinearGaussian, Model, as_model, numbers, refuse_fitted_rows, usable
from dpcausal.citests.rank import Strata, bins_for, blocks_of, ranked_column
from dpcausal.citests.result import HeldFixed, HeldFixedKind
from dpcausal.core.entropy import public_generator
from dpcausal.core.errors import InputError
from dpcausal.core.statement import Public, PublicKind, Released, ReleasedKind
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.base import release
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.selection import NoisyMax
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.regression.rounding import inner_error, residual_error
from dpcausal.stats.crt import SCORES, Score, crt_sensitivity, crt_statistic, rank_scores, standardised
from dpcausal.stats.value_ranks import ranked

Floats = NDArray[np.float64]
DECISION_COPIES = (
    200  # columns compared in a decision, the real one among them, unless the level asks for more
)
RANK_COPIES = 20  # the same for a rank, the paper's choice: more copies make its rank noisier
MAX_COPIES = 10_000
PILOT_DRAWS = 64  # draws that show the mean and standard deviation of a function's law


@dataclass(frozen=True)
class Crt(ValueTest):
    """The test with its options."""

    model: Annotated[
        object, "law of the resampled column given the rest: a function or a model; required"
    ] = None
    resample: Annotated[
        str | None, "the column that the model is about; default the first one asked about"
    ] = None
    copies: Annotated[int | None, "number of copies; default from the level, about 200 (20 for a rank)"] = (
        None
    )
    score: Annotated[Score, "score of the other column: ranks, plain or kernel"] = "ranks"
    release: Annotated[Literal["decision", "rank"], "decision (one bit) or rank (a p-value)"] = "decision"
    strata: Annotated[Strata, "strata of numeric given columns (ranks), as in kendall"] = "auto"
    strength: Annotated[float, "lambda of the ridge regression (kernel)"] = 1.0
    bandwidth: Annotated[float, "bandwidth, as a share of the declared range (kernel)"] = 0.2

    info = TestInfo(
        "crt",
        "x against made-up copies of x from a model you know (in Python)",
        first_column_option="resample",
        numeric_given=HeldFixedKind.MODEL,
    )

    def __post_init__(self) -> None:
        if self.score not in SCORES:
            raise InputError(f"score must be one of {', '.join(SCORES)}, not {self.score!r}")
        if self.release not in ("decision", "rank"):
            raise InputError(f"release must be decision or rank, not {self.release!r}")
        if self.copies is not None and self.copies < 1:
            raise InputError(f"copies must be at least 1, not {self.copies!r}")

    @property
    def releases(self) -> Released:
        """What leaves: one bit, or a rank."""
        if self.release == "rank":
            return Released(ReleasedKind.NOISY_RANK)
        return Released(ReleasedKind.NOISY_DECISION)

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema: the model and the number of copies."""
        return Public(PublicKind.MODEL), Public(PublicKind.COPIES)

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return that numeric columns enter the model, and the strata in which ranks are taken."""
        if self.score != "ranks":
            return HeldFixed(HeldFixedKind.MODEL, columns=columns)
        strata = bins_for(question, data, self.strata, n)
        if not strata:
            return None
        return HeldFixed(HeldFixedKind.STRATA, columns=columns, strata=strata[columns[0]], model=True)

    def check(self, question: Question) -> None:
        """Refuse a question without a model, or with a model of other columns."""
        super().check(question)
        if self.resample is not None and self.resample not in (question.x, question.y):
            raise InputError(f'resample must name one of {question.x}, {question.y}, not "{self.resample}"')
        as_model(self.model, question).check(question, self._resampled(question))

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the exact p-value (1 + #{T_j >= T_0})/(m + 1)."""
        found = self._statistics(question, data, self._copies(level), data.n)
        pvalue = (1 + np.count_nonzero(found[1:] >= found[0])) / len(found)
        return Outcome.at(level, float(pvalue), float(found[0]))

    def limits_rows(self, question: Question) -> bool:
        """Return that it does: scores are summed over the rows."""
        del question
        return True

    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Draw the copies and compare them with the real column through a mechanism."""
        refuse_fitted_rows(as_model(self.model, question), data)
        sensitivity = crt_sensitivity(settings.neighbours, self.score, self.strength)
        if self.score == "kernel":
            eta = residual_error(max(data.n, 1), self.strength, self._kernel(question), len(question.given))
            sensitivity += 2 * inner_error(data.n, eta)
        copies = self._copies(settings.level)
        label = f"{self.name}: {question}"
        if self.release == "decision":
            bit = NoisyRank(
                sensitivity=sensitivity,
                epsilon=settings.epsilon,
                size=copies + 1,
                largest=_largest(settings.level, copies),
                neighbours=settings.neighbours,
            )
            found = self._statistics(question, data, copies, settings.n)
            return Outcome(independent=not release(bit, budget, label, found))
        choice = NoisyMax(sensitivity=1.0, epsilon=settings.epsilon, neighbours=settings.neighbours)
        found = self._statistics(question, data, copies, settings.n)
        scores = -np.abs(np.sort(found)[::-1] - found[0]) / (2 * sensitivity)
        rank = release(choice, budget, label, scores)
        return Outcome.at(settings.level, (1 + rank) / (copies + 1))

    def _resampled(self, question: Question) -> str:
        return self.resample or question.x

    def _copies(self, level: float) -> int:
        """Return m so that level (m + 1) is a whole number, as nearly as can be from below."""
        if self.copies is None and self.release == "decision":
            copies = math.ceil(max(1, round(level * DECISION_COPIES)) / level - 1e-9) - 1
        else:
            copies = self.copies or math.ceil(max(RANK_COPIES, 1 / level) - 1e-9) - 1
            _largest(level, copies)
        if copies > MAX_COPIES:
            raise InputError(
                f"crt draws at most {MAX_COPIES:,} copies, not the {copies:,} of level {level:g}"
            )
        return copies

    def _statistics(self, question: Question, data: Dataset, copies: int, n: int | None) -> Floats:
        """Return T of the real column, then of each copy. Not private: for a mechanism only."""
        name = self._resampled(question)
        other = question.y if name == question.x else question.x
        model, generator = as_model(self.model, question), public_generator()

        def draw() -> Floats:
            return usable(model.draw(data, generator), data, name)

        centre, sd = _moments(model, data, name, draw)
        v = self._scores(question, data, other, n)
        found = np.empty(copies + 1)
        for j in range(copies + 1):
            x = usable(numbers(data, name), data, name) if j == 0 else draw()
            found[j] = crt_statistic(standardised(_columns(x, data, name), centre, sd), v)
        return found

    def _scores(self, question: Question, data: Dataset, other: str, n: int | None) -> Floats:
        """Return v, one column for each feature of the other variable."""
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
    """Return k, how many of m + 1 may be called large at this level."""
    largest = math.floor(level * (copies + 1) + 1e-9)
    if largest < 1:
        raise InputError(f"level {level:g} needs at least {math.ceil(1 / level) - 1} copies, not {copies}")
    return largest


def _unit(data: Dataset, name: str) -> Floats:
    """Return a conditioning column on [0, 1], or its codes."""
    column = data.schema[name]
    if isinstance(column, Numeric) and name in data.values:
        return np.asarray((data.values[name] - column.lower) / (column.upper - column.lower))
    return data.codes[name].astype(np.float64)


def _columns(x: Floats, data: Dataset, name: str) -> Floats:
    """Return one column for numbers, ordered levels and two levels; else one indicator for each level."""
    column = data.schema[name]
    if isinstance(column, Categorical) and not column.ordered and column.size > 2:
        return np.asarray(x[:, None] == np.arange(column.size), dtype=np.float64)
    return x[:, None]


def _moments(model: Model, data: Dataset, name: str, draw: Callable[[], Floats]) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of x's columns at each row's z: known, or estimated from separate draws."""
    if isinstance(model, LinearGaussian):
        return model.mean(data)[:, None], np.full((data.n, 1), model.sd)
    total = square = np.zeros(1)
    for _ in range(PILOT_DRAWS):
        drawn = _columns(draw(), data, name)
        total, square = total + drawn, square + drawn * drawn
    mean = total / PILOT_DRAWS
    return mean, np.sqrt(np.maximum(square / PILOT_DRAWS - mean * mean, 0.0))
