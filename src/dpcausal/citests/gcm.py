"""gcm on disjoint random parts of the rows: the sum of their cut scores and its variance, released with noise.

The statistic and its guarantee are in ``stats/gcm_parts.py``. Nothing need be public but the number of parts and deals
and the cut: each part's regression may follow its rows as it likes.

``gcm``: the generalised covariance measure, private in five ways (``docs/gcm.md`` says how the default was chosen).

- ``variant="parts"`` (default): regress within disjoint random parts of the rows, cut each part's score, release their
  sum and its variance with noise (``stats/gcm_parts.py``). Needs no bounds; lambda and bandwidth may follow the rows.
- ``variant="weighted"``: the same with weights w(z) found in half of every part, for dependence whose sign changes with
  z (``stats/gcm_weighted.py``).
- ``variant="bins"``: covariance within public bins of z (``stats/gcm_bins.py``).
- ``variant="moments"``: kernel ridge on all rows, release of (sum R, sum R^2) (``stats/gcm_sensitivity.py``).
- ``variant="residuals"``: the paper's Algorithm 1, every residual product with noise, at a sensitivity fourteen times
  smaller than its own.

``lambda_`` and ``bandwidth`` (share of the declared range) are public and belong to the last two, which need
replace-one neighbours; there is no choice by cross-validation, since one row can tip it and move every residual.
``select=True`` chooses from public lists, ``lambdas`` and ``bandwidths``, for a share of epsilon
(``gcm_selection.py``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from dpcausal.citests.base import Charger, Outcome, Question, TestSettings
from dpcausal.citests.gcm_ridge import LAMBDA, SHARE, Ridge, RidgeChoice, released_moments
from dpcausal.citests.parts import ROWS_UNKNOWN
from dpcausal.citests.regression_columns import RegressionColumns, bins_of, columns_of
from dpcausal.citests.result import Chosen, ChosenKind
from dpcausal.core.entropy import random_bytes
from dpcausal.core.errors import InputError
from dpcausal.core.statement import ONE_ROW, Public, PublicKind, Released, ReleasedKind, Unit
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.noise import permutation
from dpcausal.regression.kernel import KINDS, Kernel, Kind
from dpcausal.regression.ridge import penalty_of
from dpcausal.stats.gcm_bins import binned_moments, binned_sensitivity, binned_weight
from dpcausal.stats.gcm_fit import classical_gcm
from dpcausal.stats.gcm_parts import (
    STEPS,
    PartPlan,
    Score,
    block_score,
    cut_scores,
    cut_sensitivity,
    part_plan,
    part_pvalue,
    part_score,
    weighted_score,
)
from dpcausal.stats.noisy_normal import normal_pvalue

PARTS_RELEASE = ReleasedKind.CUT_SCORES
THREADS_FROM = 200  # rows of a part
CLASSICAL_ROWS = 2048  # of one weighted fit without privacy, both halves
PARTS_ASSUME = (Public(PublicKind.DEALS),)


def classical_parts(columns: RegressionColumns, level: float) -> Outcome:
    """T against the normal law, on all rows."""
    statistic, pvalue = classical_gcm(columns.x, columns.y, columns.z, columns.discrete)
    return Outcome.at(level, pvalue, statistic)


def classical_weighted(columns: RegressionColumns, level: float) -> Outcome:
    """The weighted score of all rows, in blocks, against the normal law from above."""
    plan = PartPlan(1, 1, 1.0, 1.0, CLASSICAL_ROWS)
    statistic, _ = part_score(columns.x, columns.y, columns.z, columns.discrete, plan, weighted_score)
    return Outcome.at(level, float(ndtr(-statistic)), statistic)


def private_parts(
    columns: RegressionColumns,
    terms: TestSettings,
    budget: Charger,
    label: str,
    wanted: int | None,
    weighted: bool = False,
) -> Outcome:
    """Deal, score each part, release (S, V), and compare S with the normal law plus the noise.

    ``wanted`` is the number of parts; None takes what ``part_plan`` says (for half as many rows if ``weighted``, since
    half of each part is spent on the weights).
    """
    d, n = columns.z.shape[1], terms.n or ROWS_UNKNOWN
    numeric = len(columns.discrete) < d
    plan = part_plan(n // 2 if weighted else n, d, terms.epsilon, terms.level, numeric=numeric)
    if weighted:
        plan = replace(plan, floor=1.0, most_rows=2 * plan.most_rows)
    parts = wanted or plan.parts
    plan = replace(plan, parts=parts if terms.n is not None else 1 << (parts - 1).bit_length())
    labels = [rows for _ in range(plan.deals) for rows in dealt(len(columns.x), plan.parts, terms)]
    scores = scored(columns, labels, plan, weighted_score if weighted else block_score)
    mechanism = Laplace(
        sensitivity=float(plan.deals * cut_sensitivity()),
        epsilon=terms.epsilon,
        neighbours=terms.neighbours,
        size=2,
        grid=INTEGERS,
    )
    total, spread = release(mechanism, budget, label, np.array(cut_scores(scores, plan)))
    pvalue = part_pvalue(float(total), float(spread), plan, mechanism.scale, one_sided=weighted)
    return Outcome.at(terms.level, pvalue, float(total) * plan.clip / (STEPS * plan.deals))


def scored(
    columns: RegressionColumns, parts: list[NDArray[np.int64]], plan: PartPlan, score: Callable[..., Score]
) -> list[Score]:
    """The score of every part, in their order.

    One BLAS thread each, whatever the machine: matrices are small, and two threads on 300 rows take twice as long as
    one. Large parts go to as many threads as there are cores instead.
    """

    def one(rows: NDArray[np.int64]) -> Score:
        return part_score(columns.x[rows], columns.y[rows], columns.z[rows], columns.discrete, plan, score)

    with threadpool_limits(1, user_api="blas"):
        if len(columns.x) < THREADS_FROM * plan.parts:
            return [one(rows) for rows in parts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(one, parts))


def dealt(n: int, parts: int, terms: TestSettings) -> list[NDArray[np.int64]]:
    """The rows of every part: equal parts where n is public, else (a power of two) each row by its own coins."""
    if terms.n is not None:
        return np.array_split(permutation(n), parts)
    labels = np.frombuffer(random_bytes(4 * n), np.uint32) & np.uint32(parts - 1)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, parts)))


Variant = Literal["parts", "weighted", "bins", "moments", "residuals"]
VARIANTS = ("parts", "weighted", "bins", "moments", "residuals")
ROWS_A_BIN = 4

RELEASES = {
    "parts": PARTS_RELEASE,
    "weighted": PARTS_RELEASE,
    "bins": ReleasedKind.BINNED_COVARIANCE,
    "moments": ReleasedKind.RESIDUAL_SUMS,
    "residuals": ReleasedKind.RESIDUALS,
}


@dataclass(frozen=True)
class Gcm:
    """The test with its options: ``parts`` and ``bins`` are how many (default: from n), for those variants."""

    variant: Variant = "parts"
    lambda_: float | None = None
    bandwidth: float | None = None
    kernel: Kind = "gaussian"
    bins: int | None = None
    parts: int | None = None
    select: bool = False
    lambdas: tuple[float, ...] = ()
    bandwidths: tuple[float, ...] = ()
    share: float = SHARE
    name: str = "gcm"
    own_delta: bool = False
    protects: Unit = ONE_ROW

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}")
        if self.kernel not in KINDS:
            raise InputError(f"kernel must be one of {', '.join(KINDS)}, not {self.kernel!r}")
        for word, number in (("bins", self.bins), ("parts", self.parts)):
            if number is not None and (number != int(number) or number < 1):
                raise InputError(f"{word} must be an integer above zero, not {number!r}")
        if self.lambda_ is not None:
            penalty_of(self.lambda_, 1)
        if self.bandwidth is not None:
            Kernel(self.bandwidth)
        self._check_choice()

    def _check_choice(self) -> None:
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

    @property
    def releases(self) -> Released:
        """What leaves."""
        released = Released(RELEASES[self.variant])
        return Released(ReleasedKind.RIDGE_CHOICE, then=released) if self.select else released

    @property
    def assumes(self) -> tuple[Public, ...]:
        """What is public besides the schema."""
        if self.variant in ("parts", "weighted"):
            return PARTS_ASSUME
        bounds = Public(PublicKind.BOUNDS)
        if self.variant == "bins":
            return bounds, Public(PublicKind.GIVEN_BINS)
        if self.select:
            return bounds, Public(PublicKind.KERNEL_LISTS, kernel=self.kernel, share=self.share)
        used = {"kernel": self.kernel, "bandwidth": self.bandwidth, "lambda_": self.ridge.lambda_}
        return bounds, Public(PublicKind.KERNEL, **used)

    def check(self, question: Question) -> None:
        """x and y must be numbers or ordered levels."""
        if not question.ordered:
            raise InputError(
                f"gcm needs numbers or ordered levels for {question.x} and {question.y}: use chi2, g or measured"
            )

    @property
    def ridge(self) -> Ridge:
        """The regression of ``moments`` and ``residuals``."""
        return Ridge(self.lambda_ or LAMBDA, self.bandwidth, self.kernel)

    @property
    def choice(self) -> RidgeChoice:
        """What ``select`` chooses from."""
        widths = self.bandwidths or (() if self.bandwidth is None else (self.bandwidth,))
        return RidgeChoice(self.lambdas or (self.lambda_ or LAMBDA,), widths, self.kernel, self.share)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """T against the normal law."""
        columns = columns_of(question, data)
        if self.variant == "parts":
            return classical_parts(columns, level)
        if self.variant == "weighted":
            return classical_weighted(columns, level)
        if self.variant == "bins":
            total, variance = binned_moments(columns.x, columns.y, self._bins(columns, data.n))
            return Outcome.at(level, float(normal_pvalue(total, variance)), total)
        if self.select:
            raise InputError("select=True is a private choice: without privacy give lambda_ and bandwidth")
        return self.ridge.classical(columns, level)

    def private_values(
        self, question: Question, data: Dataset, terms: TestSettings, budget: Charger
    ) -> Outcome:
        """Charge, release, and test what was released."""
        columns = columns_of(question, data)
        label = f"gcm ({self.variant}): {question}"
        if self.variant in ("parts", "weighted"):
            weighted = self.variant == "weighted"
            return private_parts(columns, terms, budget, label, self.parts, weighted)
        if self.variant == "bins":
            return self._binned(columns, terms, budget, label)
        each, ridge, chosen = self.variant == "residuals", self.ridge, None
        if self.select:
            what = f"gcm (lambda and bandwidth): {question}"
            ridge, terms = self.choice.choose(columns, terms, budget, what, each=each)
            chosen = Chosen(ChosenKind.RIDGE, lambda_=ridge.lambda_, bandwidth=ridge.bandwidth)
        answer = ridge.residuals if each else ridge.moments
        return replace(answer(columns, terms, budget, label), chosen=chosen)

    def _binned(
        self, columns: RegressionColumns, terms: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        weight = binned_weight(terms.neighbours, terms.epsilon)
        mechanism = Laplace(
            sensitivity=binned_sensitivity(terms.neighbours, weight),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=2,
        )
        total, variance = binned_moments(columns.x, columns.y, self._bins(columns, terms.n))
        return released_moments(mechanism, weight, total, variance, terms, budget, label)

    def _bins(self, columns: RegressionColumns, n: int | None) -> NDArray[np.int64]:
        return bins_of(columns, self.bins or max(1, (n or ROWS_UNKNOWN) // ROWS_A_BIN))
