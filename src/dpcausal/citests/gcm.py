"""``gcm``: the generalised covariance measure, private in five ways (``docs/gcm.md`` says how the default was chosen).

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

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests import gcm_parts
from dpcausal.citests.gcm_columns import Columns, bins_of, columns_of
from dpcausal.citests.gcm_ridge import LAMBDA, Ridge, released_moments
from dpcausal.citests.gcm_selection import SHARE, Choice
from dpcausal.citests.method import ONE_ROW, Charger, Outcome, Terms
from dpcausal.citests.question import Question
from dpcausal.citests.test_of_tests import ROWS_UNKNOWN
from dpcausal.core.errors import InputError
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.regression.kernel import KINDS, Kernel, Kind
from dpcausal.regression.ridge import penalty_of
from dpcausal.stats.gcm_bins import binned_moments, binned_sensitivity, binned_weight
from dpcausal.stats.kendall_null import normal_pvalue

Variant = Literal["parts", "weighted", "bins", "moments", "residuals"]
VARIANTS = ("parts", "weighted", "bins", "moments", "residuals")
ROWS_A_BIN = 4

RELEASES = {
    "parts": gcm_parts.RELEASES,
    "weighted": gcm_parts.RELEASES,
    "bins": "the covariance within bins and its variance, with Laplace noise",
    "moments": "the sums of residual products and of their squares, with Laplace noise",
    "residuals": "the residual product of every row, with Laplace noise",
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
    protects: str = ONE_ROW

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
    def releases(self) -> str:
        """What leaves."""
        chosen = "the choice of lambda and bandwidth by permute-and-flip, and " if self.select else ""
        return chosen + RELEASES[self.variant]

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is public besides the schema."""
        if self.variant in ("parts", "weighted"):
            return gcm_parts.ASSUMES
        bounds = "the declared bounds, by which values are scaled"
        if self.variant == "bins":
            return (bounds, "the bins of the conditioning columns, equal widths of the declared range")
        if self.select:
            lists = f"the {self.kernel} kernel, the lists of lambda and bandwidth, and the share of epsilon"
            return bounds, f"{lists} for the choice ({self.share:g})"
        width = "default" if self.bandwidth is None else f"{self.bandwidth:g}"
        kernel = f"the {self.kernel} kernel, its bandwidth ({width}) and lambda ({self.ridge.lambda_:g})"
        return bounds, kernel

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
    def choice(self) -> Choice:
        """What ``select`` chooses from."""
        widths = self.bandwidths or (() if self.bandwidth is None else (self.bandwidth,))
        return Choice(self.lambdas or (self.lambda_ or LAMBDA,), widths, self.kernel, self.share)

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """T against the normal law."""
        columns = columns_of(question, data)
        if self.variant == "parts":
            return gcm_parts.classical_parts(columns, level)
        if self.variant == "weighted":
            return gcm_parts.classical_weighted(columns, level)
        if self.variant == "bins":
            total, variance = binned_moments(columns.x, columns.y, self._bins(columns, data.n))
            return Outcome.at(level, float(normal_pvalue(total, variance)), total)
        if self.select:
            raise InputError("select=True is a private choice: without privacy give lambda_ and bandwidth")
        return self.ridge.classical(columns, level)

    def private_values(self, question: Question, data: Dataset, terms: Terms, budget: Charger) -> Outcome:
        """Charge, release, and test what was released."""
        columns = columns_of(question, data)
        label = f"gcm ({self.variant}): {question}"
        if self.variant in ("parts", "weighted"):
            weighted = self.variant == "weighted"
            return gcm_parts.private_parts(columns, terms, budget, label, self.parts, weighted)
        if self.variant == "bins":
            return self._binned(columns, terms, budget, label)
        each, ridge, chosen = self.variant == "residuals", self.ridge, None
        if self.select:
            what = f"gcm (lambda and bandwidth): {question}"
            ridge, terms = self.choice.choose(columns, terms, budget, what, each=each)
            chosen = f"lambda {ridge.lambda_:g} and bandwidth {ridge.bandwidth:.3g} chosen privately"
        answer = ridge.residuals if each else ridge.moments
        return replace(answer(columns, terms, budget, label), chosen=chosen)

    def _binned(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        weight = binned_weight(terms.neighbours, terms.epsilon)
        mechanism = Laplace(
            sensitivity=binned_sensitivity(terms.neighbours, weight),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=2,
        )
        total, variance = binned_moments(columns.x, columns.y, self._bins(columns, terms.n))
        return released_moments(mechanism, weight, total, variance, terms, budget, label)

    def _bins(self, columns: Columns, n: int | None) -> NDArray[np.int64]:
        return bins_of(columns, self.bins or max(1, (n or ROWS_UNKNOWN) // ROWS_A_BIN))
