"""``gcm``: the generalised covariance measure, private in five ways (``docs/gcm.md`` says how the default was chosen).

Do the residuals of x and of y, each regressed on z, still go together? (``stats/gcm_fit.py``)

- ``variant="parts"`` (default): regress within disjoint random parts of the rows, cut each part's score, release their
  sum and its variance with noise (``stats/gcm_parts.py``). Nothing need be public but the number of parts and deals and
  the cut: each part's regression may follow its rows as it likes.
- ``variant="weighted"``: the same with weights w(z) found in half of every part, for dependence whose sign changes with
  z (``stats/gcm_parts.py``).
- ``variant="bins"``: covariance within public bins of z (``stats/gcm_bins.py``).
- ``variant="moments"``: kernel ridge on all rows, release of (sum R, sum R^2) (``citests/gcm_ridge.py``).
- ``variant="residuals"``: the paper's Algorithm 1, every residual product with noise, at a sensitivity fourteen times
  smaller than its own.

``lambda_`` and ``bandwidth`` (share of the declared range) are public and belong to the last two, which need
replace-one neighbours; there is no choice by cross-validation, since one row can tip it and move every residual.
``select=True`` chooses from public lists, ``lambdas`` and ``bandwidths``, for a share of epsilon.

**Several columns** as x or y, and levels without an order (``variant="parts"``). The test is for the two groups of
columns; a column whose levels have no order counts as one indicator for each level. Every part has a score for each
pair of a column of x and one of y, and the largest sum is released: a maximum moves no more than one sum does, so
noise does not grow with the number of pairs (``stats/gcm_parts.py``). Beyond ``base.MAX_INDICATORS``
levels of a column have no indicator of their own.

**Guarantee**: epsilon-DP (``gcm_parts.proof.md``, ``gcm_pairs.proof.md``, ``gcm_bins.proof.md``,
``gcm_ridge.proof.md``).
**Null law**: a normal law plus the noise, where regression leaves nothing of z in both columns.
**Cost**: that of the regressions. **Edge cases**: an empty part or a constant column scores 0.

References: Shah & Peters 2020; Kalemaj, Kasiviswanathan & Ramdas 2024.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from dpcausal.citests.base import (
    Charger,
    Outcome,
    Question,
    TestInfo,
    TestSettings,
    ValueTest,
    released_with_variance,
)
from dpcausal.citests.gcm_ridge import CHOICE_SHARE, DEFAULT_LAMBDA, Ridge, RidgeChoice
from dpcausal.citests.parts import ASSUMED_ROWS, deal_rows, power_of_two
from dpcausal.citests.regression_columns import RegressionColumns, bins_of, columns_of
from dpcausal.citests.result import Chosen, HeldBy, HeldFixed
from dpcausal.core.errors import InputError
from dpcausal.core.statement import (
    ChosenRidge,
    KernelKnown,
    KernelLists,
    Noisy,
    Public,
    Released,
    SettingKnown,
)
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import INTEGERS, release
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import penalty_of
from dpcausal.stats.gcm_bins import binned_moments, binned_sensitivity, binned_weight
from dpcausal.stats.gcm_fit import classical_gcm
from dpcausal.stats.gcm_parts import (
    STEPS,
    BlockScore,
    PartPlan,
    Scores,
    block_score,
    cut_scores,
    cut_sensitivity,
    largest_pair,
    largest_sensitivity,
    part_plan,
    part_pvalue,
    part_score,
    weighted_score,
)
from dpcausal.stats.noisy_normal import normal_pvalue
from dpcausal.stats.published import products_bound

Variant = Literal["parts", "weighted", "bins", "moments", "residuals", "paper"]
RELEASES: dict[Variant, Released] = {
    "parts": Noisy("cut-scores"),
    "weighted": Noisy("cut-scores"),
    "bins": Noisy("binned-covariance"),
    "moments": Noisy("residual-sums"),
    "residuals": Noisy("residuals"),
    "paper": Noisy("residuals"),
}
PAPER_LAMBDA = 10.0
ROWS_PER_BIN = 4  # of variant="bins", about
MIN_ROWS_FOR_THREADS = 200  # rows of a part from which parts are shared out to threads
CLASSICAL_WEIGHTED_ROWS = 2048  # rows of one weighted fit without privacy, both halves together


def classical(columns: RegressionColumns) -> tuple[float, float]:
    """Return the statistic T of the GCM (the largest |T| over pairs of columns) and its p-value. Not private."""
    return classical_gcm(columns.x, columns.y, columns.z, columns.discrete)


def classical_weighted(columns: RegressionColumns, level: float) -> Outcome:
    """Return the outcome of the weighted GCM of all rows, in blocks; its p-value is an upper bound."""
    plan = PartPlan(1, 1, 1.0, 1.0, CLASSICAL_WEIGHTED_ROWS)
    statistic, _ = part_score(columns.x, columns.y, columns.z, columns.discrete, plan, weighted_score)
    return Outcome.at(level, float(ndtr(-statistic)), float(statistic))


def private_parts(
    columns: RegressionColumns,
    settings: TestSettings,
    budget: Charger,
    label: str,
    wanted: int | None,
    weighted: bool = False,
) -> Outcome:
    """Deal the rows into parts, release (S, V) of their scores, and compare S with its law under noise.

    Of several pairs of columns S and V are the largest. ``wanted`` is the number of parts; None takes that of
    ``part_plan``, for half as many rows if ``weighted``: weights are then found in half of each part.
    """
    several = columns.pairs > 1
    moved = largest_sensitivity() if several else cut_sensitivity()
    affordable = settings.epsilon * cut_sensitivity() / moved  # at this, one pair would have as little noise
    plan = dealing_plan(columns, settings, affordable, wanted, weighted)
    dealt = [rows for _ in range(plan.deals) for rows in deal_rows(len(columns.x), plan.parts, settings)]
    score = weighted_score if weighted else block_score
    scores = scored_parts(columns, dealt, plan, score, settings.n or ASSUMED_ROWS)
    mechanism = Laplace(
        sensitivity=float(plan.deals * moved),
        epsilon=settings.epsilon,
        neighbours=settings.neighbours,
        size=2,
        grid=INTEGERS,
    )
    sums = largest_pair(scores, plan) if several else cut_scores([(t, own) for t, own in scores], plan)
    total, variance = map(float, release(mechanism, budget, label, np.array(sums)))
    pvalue = part_pvalue(total, variance, plan, mechanism.scale, one_sided=weighted, pairs=columns.pairs)
    return Outcome.at(settings.level, pvalue, total * plan.clip / (STEPS * plan.deals))


def dealing_plan(
    columns: RegressionColumns,
    settings: TestSettings,
    epsilon: float,
    wanted: int | None,
    weighted: bool = False,
) -> PartPlan:
    """Return how rows are dealt into parts, from public numbers; ``epsilon`` is that of one score."""
    d, n = columns.z.shape[1], settings.n or ASSUMED_ROWS
    rows, numeric = n // 2 if weighted else n, len(columns.discrete) < d
    plan = part_plan(rows, d, epsilon, settings.level, numeric=numeric)
    if weighted:
        plan = replace(plan, floor=1.0, max_rows=2 * plan.max_rows)
    parts = wanted or plan.parts
    return replace(plan, parts=parts if settings.n is not None else power_of_two(parts))


def scored_parts(
    columns: RegressionColumns,
    parts: list[NDArray[np.int64]],
    plan: PartPlan,
    score: BlockScore,
    public_rows: int,
) -> list[Scores]:
    """Return the scores of every part, in their order.

    One BLAS thread each, whatever the machine: matrices are small, and two threads on 300 rows take twice as long as
    one. Parts that are large by ``public_rows`` go to as many threads as there are cores instead: never by the exact
    number of rows, which may be protected.
    """

    def score_of(rows: NDArray[np.int64]) -> Scores:
        part = columns.rows(rows)
        return part_score(part.x, part.y, part.z, part.discrete, plan, score)

    with threadpool_limits(1, user_api="blas"):
        if public_rows < MIN_ROWS_FOR_THREADS * plan.parts:
            return [score_of(rows) for rows in parts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(score_of, parts))


@dataclass(frozen=True)
class Gcm(ValueTest):
    """The generalised covariance measure with its options."""

    variant: Annotated[
        Variant, "parts, weighted, bins, moments, residuals or paper (Algorithm 1 as printed)"
    ] = "parts"
    lambda_: Annotated[float | None, "strength of the ridge (moments, residuals); default 1"] = None
    bandwidth: Annotated[
        float | None,
        "of the kernel, as a share of the declared range (moments, residuals); default 0.1 sqrt(d)",
    ] = None
    kernel: Annotated[Kind, "gaussian, additive or mixed (moments, residuals)"] = "gaussian"
    bins: Annotated[int | None, "number of bins of the given columns together (bins); default from n"] = None
    parts: Annotated[int | None, "number of parts (parts, weighted); default from n and epsilon"] = None
    select: Annotated[bool, "choose lambda and bandwidth privately from lists (moments, residuals)"] = False
    lambdas: Annotated[tuple[float, ...], "public list of lambdas to choose from (select)"] = ()
    bandwidths: Annotated[tuple[float, ...], "public list of bandwidths to choose from (select)"] = ()
    share: Annotated[float, "share of epsilon that the choice costs (select)"] = CHOICE_SHARE

    info = TestInfo(
        "gcm",
        "do x and y go together after regression on what is given? For numbers",
        signed=True,
        several_columns=True,
        numeric_given="regression",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for word, number in (("bins", self.bins), ("parts", self.parts)):
            if number is not None and (number != int(number) or number < 1):
                raise InputError(f"{word} must be an integer above zero, not {number!r}")
        if self.lambda_ is not None:
            penalty_of(self.lambda_, 1)
        if self.bandwidth is not None:
            Kernel(self.bandwidth)
        self._check_choice()

    def _check_choice(self) -> None:
        """Refuse candidate regressions where none is selected, and a strength together with candidates."""
        for word in ("lambdas", "bandwidths"):
            given = getattr(self, word)
            if not isinstance(given, tuple | list):
                raise InputError(f"{word} must be a list of numbers, not {given!r}")
            object.__setattr__(self, word, tuple(given))
        if not self.select:
            if self.lambdas or self.bandwidths:
                raise InputError("lambdas and bandwidths are lists to choose from: they need select=True")
            return
        if self.variant not in ("moments", "residuals"):
            raise InputError(f"select=True is for variant='moments' and 'residuals', not {self.variant!r}")
        if (self.lambdas and self.lambda_) or (self.bandwidths and self.bandwidth):
            raise InputError(
                "give one lambda_ or a list lambdas, one bandwidth or a list bandwidths, not both"
            )
        self.choice.candidates(1)  # checks the numbers

    def check(self, question: Question) -> None:
        """Refuse several columns, and levels without an order, where the variant needs one of each."""
        super().check(question)
        if self.variant == "parts":
            return
        if question.several:
            raise InputError(
                f'gcm with variant="{self.variant}" takes one column as x and one as y, not {question}: use the '
                "default variant"
            )
        if not question.ordered:
            raise InputError(
                f'gcm with variant="{self.variant}" needs numbers or ordered levels for {question.x} and '
                f"{question.y}: declare them ordered, or use the default variant"
            )

    @property
    def releases(self) -> Released:
        """What the test releases, by variant."""
        released = RELEASES[self.variant]
        return ChosenRidge(released) if self.select else released

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema."""
        if self.variant in ("parts", "weighted"):
            return (SettingKnown("deals"),)
        bounds = SettingKnown("bounds")
        if self.variant == "bins":
            return bounds, SettingKnown("strata")
        if self.select:
            return bounds, KernelLists(kernel=self.kernel, share=self.share)
        return bounds, KernelKnown(self.kernel, self.bandwidth, self.ridge.lambda_)

    @property
    def signed(self) -> bool:
        """Whether the statistic has a sign: with weights it has none."""
        return self.variant != "weighted"

    def values_held_fixed(
        self, columns: tuple[str, ...], question: Question, data: Dataset, n: int | None
    ) -> HeldFixed | None:
        """Return that numeric columns are binned by equal widths, or adjusted for by regression."""
        return HeldBy(columns, "equal-widths" if self.variant == "bins" else "regression")

    @property
    def ridge(self) -> Ridge:
        """The regression of the variants moments, residuals and paper."""
        if self.variant == "paper":
            strength = self.lambda_ or PAPER_LAMBDA
            return Ridge(strength, self.bandwidth, self.kernel, products_bound(strength))
        return Ridge(self.lambda_ or DEFAULT_LAMBDA, self.bandwidth, self.kernel)

    @property
    def choice(self) -> RidgeChoice:
        """The candidates that ``select`` chooses among."""
        widths = self.bandwidths or (() if self.bandwidth is None else (self.bandwidth,))
        return RidgeChoice(self.lambdas or (self.lambda_ or DEFAULT_LAMBDA,), widths, self.kernel, self.share)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """Return the outcome without privacy: T, or the variant's own statistic, against the normal law."""
        columns = columns_of(question, data)
        if self.variant == "parts":
            statistic, pvalue = classical(columns)
            return Outcome.at(level, pvalue, statistic)
        if self.variant == "weighted":
            return classical_weighted(columns, level)
        if self.variant == "bins":
            total, variance = binned_moments(columns.x, columns.y, self._bins(columns, data.n))
            return Outcome.at(level, normal_pvalue(total, variance), total)
        if self.select:
            raise InputError("select=True is a private choice: without privacy give lambda_ and bandwidth")
        return self.ridge.classical(columns, level)

    def limits_rows(self, question: Question) -> bool:
        """Return whether sums over the rows of a bin are taken in 64 bits."""
        del question
        return self.variant == "bins"

    def private_values(
        self, question: Question, data: Dataset, settings: TestSettings, budget: Charger
    ) -> Outcome:
        """Charge the budget, release the statistic of this variant, and return the outcome of the test."""
        columns = columns_of(question, data)
        label = f"gcm ({self.variant}): {question}"
        if self.variant in ("parts", "weighted"):
            weighted = self.variant == "weighted"
            return private_parts(columns, settings, budget, label, self.parts, weighted)
        if self.variant == "bins":
            return self._binned(columns, settings, budget, label)
        per_row, ridge, chosen = self.variant != "moments", self.ridge, None
        if self.select:
            choice = f"gcm (lambda and bandwidth): {question}"
            ridge, settings = self.choice.choose(columns, settings, budget, choice, per_row=per_row)
            chosen = Chosen(ridge.lambda_, ridge.bandwidth)
        answer = ridge.residuals if per_row else ridge.moments
        return replace(answer(columns, settings, budget, label), chosen=chosen)

    def _binned(
        self, columns: RegressionColumns, settings: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        """Answer by the binned variant: residuals within bins of equal width."""
        weight = binned_weight(settings.neighbours, settings.epsilon)
        mechanism = Laplace(
            sensitivity=binned_sensitivity(settings.neighbours, weight),
            epsilon=settings.epsilon,
            neighbours=settings.neighbours,
            size=2,
        )
        total, variance = binned_moments(columns.x, columns.y, self._bins(columns, settings.n))
        return released_with_variance(mechanism, weight, total, variance, settings, budget, label)

    def _bins(self, columns: RegressionColumns, n: int | None) -> NDArray[np.int64]:
        """Return the bin of every row."""
        return bins_of(columns, self.bins or max(1, (n or ASSUMED_ROWS) // ROWS_PER_BIN))
