"""``crt``, the conditional randomization test: is x more tied to y than copies of x drawn from its law given z?

m copies of x are drawn from ``model`` (``citests/crt_models.py``), and T (``stats/crt.py``) of the real column is
compared with theirs.

``draw="permutation"`` is the conditional permutation test: copies are x's own values in another order
(``stats/crt.py``). Where only levels are given, x is permuted within their cells and **no model is
needed**; where numbers are given, rows change places within random pairs as the model says. Up to twice the noise.

- ``release="decision"`` (default): one bit, whether the real T is among the k = level (m + 1) largest of the noisy ones
  (``privacy/mechanisms/noisy_rank.py``). The level stays exact *with* the noise, whose scale does not grow with m.
- ``release="rank"``: the noisy rank of T_0 (``query_rank``), as in [2]; a p-value, with less power and no exact level.

``variant="paper"`` is [2]'s Algorithm 2 with its Definition 3.4: T = sum of (x - E[x|z]) (y - its ridge fit), one-sided
as printed, x - E[x|z] over half the width of x's declared range, the sensitivity of Lemma C.1, lambda = 10 unless
``strength`` is given, 19 copies at level .05, and the noisy rank. It is private. ``score="kernel"`` is another test:
x - E[x|z] is counted in standard deviations and cut at one, T is two-sided, and its sensitivity is smaller.

**Guarantee**: epsilon-DP, both relations (``score="kernel"``: replace-one), by ``crt.proof.md`` and the mechanism's
proof. Public are the model, the number of copies and the strata of z. The copies, pairs and their swaps may be
known to anyone, but for permutations within cells, which are drawn from the operating system's bytes as noise is: that
one row has little reach holds on average over permutations that nobody knows.
**Null law**: if x is independent of y given z all m + 1 values of T are exchangeable, so the level is exact for every
n, whatever y does. **Cost** O(n (m + 64)) for a model that is a function, which is drawn 64 times more to learn its
mean and standard deviation. **Edge cases**: a level that needs more than ``MAX_COPIES`` copies is an error.

References: [1] Candes et al. 2018; [2] Kalemaj, Kasiviswanathan & Ramdas 2024, Alg. 2 and section 5; [3] Berrett et al.
2020 (permutations).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.citests.base import Charger, Outcome, Question, TestInfo, TestSettings, ValueTest
from dpcausal.citests.crt_models import (
    LinearGaussian,
    Model,
    TableModel,
    as_model,
    numbers,
    refuse_fitted_rows,
    usable,
)
from dpcausal.citests.rank import Strata, bins_for, blocks_of, ranked_column
from dpcausal.citests.regression_columns import given_columns
from dpcausal.citests.result import HeldBy, HeldByStrata, HeldFixed
from dpcausal.core.entropy import public_generator, random_bytes
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Noisy, Public, Released, SettingKnown
from dpcausal.data.columns import Numeric, has_order
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.base import checked_positive, release
from dpcausal.privacy.mechanisms.noisy_rank import NoisyRank
from dpcausal.privacy.mechanisms.selection import NoisyMax
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.regression.rounding import inner_error, residual_error
from dpcausal.stats.crt import (
    SCORE_SENSITIVITY,
    Copies,
    Score,
    crt_sensitivity,
    crt_statistic,
    permuted_in_cells,
    places_in_cells,
    query_rank_scores,
    rank_scores,
    signed_statistic,
    standardised,
    swap_chances,
    swapped_pairs,
)
from dpcausal.stats.published import crt_bound
from dpcausal.stats.value_ranks import ranked

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
DECISION_COPIES = 200  # columns compared in a decision, the real one too, unless the level asks for more
RANK_COPIES = 20  # the same for a rank, the paper's choice: more copies make its rank noisier
MAX_COPIES = 10_000
PAPER_STRENGTH = 10.0  # the least lambda in the paper
PILOT_DRAWS = 64  # draws that show the mean and standard deviation of a function's law


@dataclass(frozen=True)
class Crt(ValueTest):
    """The conditional randomization test with its options."""

    model: Annotated[
        object,
        "law of the resampled column given the rest: a function or a model; not for permutations within levels",
    ] = None
    resample: Annotated[
        str | None, "the column that the model is about; default the first one asked about"
    ] = None
    copies: Annotated[int | None, "number of copies; default from the level, about 200 (20 for a rank)"] = (
        None
    )
    draw: Annotated[
        Literal["law", "permutation"],
        "copies: law (drawn from the model) or permutation (the column's own values in another order)",
    ] = "law"
    score: Annotated[Score, "score of the other column: ranks, plain or kernel"] = "ranks"
    release: Annotated[Literal["decision", "rank"], "decision (one bit) or rank (a p-value)"] = "decision"
    strata: Annotated[Strata, "strata of numeric given columns (ranks), as in kendall"] = "auto"
    strength: Annotated[
        float | None, "lambda of the ridge regression (kernel, paper); default 1, paper 10"
    ] = None
    bandwidth: Annotated[float, "bandwidth, as a share of the declared range (kernel, paper)"] = 0.2
    variant: Annotated[
        Literal["ours", "paper"], "ours, or paper: Algorithm 2 as printed, in place of score and release"
    ] = "ours"

    info = TestInfo(
        "crt",
        "x against made-up copies of x: from a law of x that you know, or permutations",
        first_column_option="resample",
        numeric_given="model",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.draw == "permutation" and self.score == "kernel":
            raise InputError("draw='permutation' needs score='ranks' or 'plain', not 'kernel'")
        if self.copies is not None and self.copies < 1:
            raise InputError(f"copies must be at least 1, not {self.copies!r}")
        if self.paper:
            if self.draw != "law" or self.score != "ranks" or self.release != "decision":
                raise InputError("variant='paper' sets draw, score and release itself: leave them out")
            object.__setattr__(self, "score", "kernel")
            object.__setattr__(self, "release", "rank")

    @property
    def paper(self) -> bool:
        """Whether the test is the one that its paper prints."""
        return self.variant == "paper"

    @property
    def ridge_strength(self) -> float:
        """The lambda of the ridge regression."""
        return (PAPER_STRENGTH if self.paper else 1.0) if self.strength is None else self.strength

    @property
    def releases(self) -> Released:
        """What the test releases: one bit, or a rank."""
        if self.release == "rank":
            return Noisy("noisy-rank")
        return Noisy("noisy-decision")

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema: the model, if there is one, and the number of copies."""
        model = () if self.model is None else (SettingKnown("model"),)
        return *model, SettingKnown("copies")

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return that numeric columns enter the model, and the strata within which ranks are computed."""
        if self.score != "ranks":
            return HeldBy(columns, "model")
        strata = bins_for(question, data, self.strata, n)
        if not strata:
            return None
        return HeldByStrata(columns, strata[columns[0]], model=True)

    def check(self, question: Question) -> None:
        """Refuse a question without a model, or with a model of other columns."""
        super().check(question)
        if self.resample is not None and self.resample not in (question.x, question.y):
            raise InputError(f'resample must name one of {question.x}, {question.y}, not "{self.resample}"')
        kind = self._kind(question)
        if kind == "cells":
            if self.model is not None:
                raise InputError(
                    "draw='permutation' needs no model where no numbers are given: x is permuted within cells; "
                    "leave model out"
                )
            return
        if self.paper and not question.ordered:
            raise InputError(
                f"variant='paper' needs numbers or ordered levels for {question.x} and {question.y}"
            )
        model = as_model(self.model, question)
        if kind == "pairs" and not isinstance(model, LinearGaussian | TableModel):
            raise InputError(
                "draw='permutation' with numbers given needs a density: model= a LinearGaussian or a TableModel"
            )
        model.check(question, self._resampled(question))

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the exact p-value (1 + #{T_j >= T_0})/(m + 1)."""
        found = self._statistics(question, data, self._copies(level), data.n)
        pvalue = (1 + np.count_nonzero(found[1:] >= found[0])) / len(found)
        return Outcome.at(level, float(pvalue), float(found[0]))

    def limits_rows(self, question: Question) -> bool:
        """Return True: scores are summed over the rows in 64 bits."""
        del question
        return True

    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Draw the copies and compare them with the real column through a mechanism."""
        kind = self._kind(question)
        if kind != "cells":
            refuse_fitted_rows(as_model(self.model, question), data)
        sensitivity = crt_sensitivity(settings.neighbours, self.score, self.ridge_strength, kind)
        if self.score == "kernel":
            kernel, d = self._kernel(question), len(question.given)
            eta = residual_error(max(data.n, 1), self.ridge_strength, kernel, d)
            sensitivity += 2 * inner_error(data.n, eta)
        if self.paper:
            sensitivity = max(sensitivity, crt_bound(self.ridge_strength))
        copies = self._copies(settings.level)
        label = f"{self.name}: {question}"
        found = self._statistics(question, data, copies, settings.n)
        if self.release == "decision":
            bit = NoisyRank(
                sensitivity=sensitivity,
                epsilon=settings.epsilon,
                size=copies + 1,
                largest=_largest(settings.level, copies),
                neighbours=settings.neighbours,
            )
            return Outcome(independent=not release(bit, budget, label, found))
        rank = query_rank(
            found, 0, sensitivity=sensitivity, epsilon=settings.epsilon, budget=budget, label=label,
            neighbours=settings.neighbours,
        )  # fmt: skip
        return Outcome.at(settings.level, (1 + rank) / (copies + 1))

    def _resampled(self, question: Question) -> str:
        """Return the column that is resampled."""
        return self.resample or question.x

    def _kind(self, question: Question) -> Copies:
        """Return by which method copies of the column are drawn for this question: public."""
        if self.draw == "law":
            return "law"
        return "pairs" if question.given_numbers else "cells"

    def _copies(self, level: float) -> int:
        """Return the number m of copies: as given, or so that level (m + 1) is a whole number, nearly."""
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
        """Return the statistic T of the real column, then of each copy. Not private: for a mechanism only."""
        name = self._resampled(question)
        other = question.y if name == question.x else question.x
        real, generator, kind = (
            usable(numbers(data, name), data, name),
            public_generator(),
            self._kind(question),
        )
        v = self._scores(question, data, other, n)
        draw: Callable[[], Floats]
        score: Callable[[Floats], Floats]
        if kind == "cells":
            cell, _ = blocks_of(question, data, {})
            draw, score = in_cells(real, cell), partial(_in_bounds, data, name)
        else:
            draw, score = self._by_model(question, data, name, real, generator)
        statistic = signed_statistic if self.paper else crt_statistic
        found = np.empty(copies + 1)
        for j in range(copies + 1):
            found[j] = statistic(score(real if j == 0 else draw()), v)
        return found

    def _by_model(
        self, question: Question, data: Dataset, name: str, real: Floats, generator: Any
    ) -> tuple[Callable[[], Floats], Callable[[Floats], Floats]]:
        """Return two functions: one draws a copy of x from the model, one standardises a column by it."""
        model = as_model(self.model, question)

        def from_law() -> Floats:
            return usable(model.draw(data, generator), data, name)

        centre, sd = _moments(model, data, name, from_law)
        if self.paper:
            sd = np.full_like(sd, _half_width(data, name))
        pairs = self._kind(question) == "pairs"
        draw = from_law
        if pairs and isinstance(model, LinearGaussian | TableModel):  # checked before any charge
            draw = in_pairs(real, model, data, generator)
        return draw, lambda x: standardised(_columns(x, data, name), centre, sd)

    def _scores(self, question: Question, data: Dataset, other: str, n: int | None) -> Floats:
        """Return the scores v of the other variable, one column for each of its features."""
        y = _columns(usable(numbers(data, other), data, other), data, other)
        if self.score == "ranks":
            block, k = blocks_of(question, data, bins_for(question, data, self.strata, n))
            if y.shape[1] == 1:
                return rank_scores(ranked_column(data, other), block, k)[:, None]
            return np.column_stack([rank_scores(ranked(part), block, k) for part in y.T])
        scaled = _in_bounds(data, other, usable(numbers(data, other), data, other))
        if self.score == "plain":
            return scaled
        z = given_columns(question, data)
        return ridge_residuals(z, scaled, self._kernel(question), penalty_of(self.ridge_strength, data.n))

    def _kernel(self, question: Question) -> Kernel:
        """Return the kernel of the ridge regression on the given columns."""
        discrete = tuple(i for i, z in enumerate(question.given) if z not in question.numeric)
        return Kernel(self.bandwidth, discrete=discrete)


def _half_width(data: Dataset, name: str) -> float:
    """Return half the width of a column's declared range, of numbers or of codes of levels."""
    column = data.schema[name]
    return (column.upper - column.lower) / 2 if isinstance(column, Numeric) else max(column.size - 1, 1) / 2


def _largest(level: float, copies: int) -> int:
    """Return the largest rank, of m + 1 statistics, at which a test of this level rejects."""
    largest = math.floor(level * (copies + 1) + 1e-9)
    if largest < 1:
        raise InputError(f"level {level:g} needs at least {math.ceil(1 / level) - 1} copies, not {copies}")
    return largest


def _columns(x: Floats, data: Dataset, name: str) -> Floats:
    """Return x as columns: one for numbers, ordered levels and two levels, else an indicator for each level."""
    column = data.schema[name]
    if has_order(column):
        return x[:, None]
    return np.asarray(x[:, None] == np.arange(column.size), dtype=np.float64)


def _in_bounds(data: Dataset, name: str, x: Floats) -> Floats:
    """Return the columns of x scaled to [-1, 1], by the declared bounds or the number of levels."""
    column, columns = data.schema[name], _columns(x, data, name)
    if isinstance(column, Numeric):
        scaled = 2 * (columns - column.lower) / (column.upper - column.lower) - 1
    else:
        scaled = 2 * columns / (max(column.size - 1, 1) if columns.shape[1] == 1 else 1) - 1
    return np.asarray(np.clip(scaled, -1.0, 1.0))


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


@proved("crt_copies.proof.md")
def below_each(bounds: Integers) -> Integers:
    """Return for every bound a number drawn uniformly from 0 ... bound - 1, exactly, from the system's bytes.

    >>> below_each(np.array([1, 1, 1])).tolist()
    [0, 0, 0]
    """
    size = bounds.astype(np.uint64)
    uneven = (np.uint64(0) - size) % size  # 2^64 mod bound: so many words are too many for some numbers
    words = np.frombuffer(random_bytes(8 * len(bounds)), np.uint64).copy()
    while (again := np.flatnonzero(words < uneven)).size:
        words[again] = np.frombuffer(random_bytes(8 * again.size), np.uint64)
    return np.asarray(words % size, np.int64)


def in_cells(x: Floats, cell: Integers) -> Callable[[], Floats]:
    """Return a function that returns x permuted at random within the cells, at each call anew."""
    places = places_in_cells(cell)
    return lambda: x[permuted_in_cells(cell, below_each(places))]


def in_pairs(
    x: Floats, model: LinearGaussian | TableModel, data: Dataset, generator: Any
) -> Callable[[], Floats]:
    """Return a function that returns x with random swaps within fixed pairs of rows, at each call anew."""
    order = generator.permutation(data.n)
    one, two = order[: data.n // 2 * 2 : 2], order[1::2]
    own = model.log_density(data, one, x[one]) + model.log_density(data, two, x[two])
    other = model.log_density(data, one, x[two]) + model.log_density(data, two, x[one])
    chances = swap_chances(own, other)
    return lambda: x[swapped_pairs(data.n, order, generator.random(len(chances)) < chances)]


def query_rank(
    values: ArrayLike,
    which: int,
    *,
    sensitivity: float,
    epsilon: float,
    budget: Charger,
    label: str,
    neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
) -> int:
    """Return the noisy rank of query number ``which``: 0 where it is the largest.

    For any queries of bounded sensitivity, not only those of crt: where is the mean of one ward among all wards, say.

    **Guarantee**: epsilon-DP whatever the number of queries, charged to ``budget`` before noise is drawn, if each moves
    by at most ``sensitivity`` between ``neighbours``, all of them at once (``query_rank.proof.md``,
    ``selection.proof.md``). That promise is the caller's.

    Raises
    ------
    InputError
        If there are fewer than two queries, or no such one; nothing was charged.

    >>> from dpcausal.privacy.budget import Budget
    >>> budget = Budget(1.0)
    >>> counts = [900.0, 120.0, 400.0, 7000.0]  # of rows of some kind: one row more or less moves a count by 1
    >>> query_rank(counts, 3, sensitivity=1.0, epsilon=1.0, budget=budget, label="rank of ward 3")
    0
    >>> [event.epsilon for event in budget.events]
    [1.0]
    """
    queries = np.asarray(values, np.float64)
    if queries.ndim != 1 or len(queries) < 2 or not 0 <= which < len(queries):
        raise InputError("a rank is asked of one query among at least two, by its number from 0")
    checked_positive(sensitivity=sensitivity)
    choice = NoisyMax(sensitivity=SCORE_SENSITIVITY, epsilon=epsilon, neighbours=Neighbours.parse(neighbours))
    return int(release(choice, budget, label, query_rank_scores(queries, which, sensitivity)))
