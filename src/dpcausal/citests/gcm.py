"""``gcm``: the generalised covariance measure, private in four ways (``docs/gcm.md`` says how the default was chosen).

- ``variant="parts"`` (default): regress within disjoint random parts of the rows, cut each part's score, release their
  sum and its variance with noise (``stats/gcm_parts.py``). Needs no bounds; lambda and bandwidth may follow the rows.
- ``variant="bins"``: covariance within public bins of z (``stats/gcm_bins.py``).
- ``variant="moments"``: kernel ridge on all rows, release of (sum R, sum R^2) (``stats/gcm_sensitivity.py``).
- ``variant="residuals"``: the paper's Algorithm 1, every residual product with noise, at a sensitivity eleven times
  smaller than its own.

``lambda_`` and ``bandwidth`` (share of the declared range) are public and belong to the last two; there is no choice by
cross-validation, since one row can tip it and move every residual. The last two need replace-one neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.gcm_columns import Columns, bins_of, columns_of
from dpcausal.citests.method import ONE_ROW, Charger, Outcome, Terms
from dpcausal.citests.question import Question
from dpcausal.citests.test_of_tests import ROWS_UNKNOWN
from dpcausal.core.entropy import random_bytes
from dpcausal.core.errors import InputError
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.mechanisms.grid import INTEGERS
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.noise import permutation
from dpcausal.regression.features import FourierFeatures, feature_residuals
from dpcausal.regression.kernel import KINDS, Kernel, Kind
from dpcausal.regression.ridge import MOST_ROWS, penalty_of, ridge_residuals
from dpcausal.stats.gcm import classical_gcm, gcm_pvalue, gcm_statistic
from dpcausal.stats.gcm_bins import binned_moments, binned_sensitivity, binned_weight
from dpcausal.stats.gcm_parts import STEPS, cut_scores, cut_sensitivity, part_plan, part_score, squares_share
from dpcausal.stats.gcm_sensitivity import (
    products_sensitivity,
    squares_sensitivity,
    squares_weight,
    sum_sensitivity,
)
from dpcausal.stats.kendall_null import laplace_tail, normal_pvalue

Variant = Literal["parts", "bins", "moments", "residuals"]
VARIANTS = ("parts", "bins", "moments", "residuals")
LAMBDA = 1.0
WIDTH = 0.1  # default bandwidth in one dimension, as a share of the declared range; times sqrt(d)
FEATURES = 300  # above MOST_ROWS rows
ROWS_A_BIN = 4

RELEASES = {
    "parts": "the sum of cut scores of disjoint parts and its variance, with Laplace noise",
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

    @property
    def releases(self) -> str:
        """What leaves."""
        return RELEASES[self.variant]

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is public besides the schema."""
        if self.variant == "parts":
            return ("the number of parts and the cut of their scores",)
        bounds = "the declared bounds, by which values are scaled"
        if self.variant == "bins":
            return (bounds, "the bins of the conditioning columns, equal widths of the declared range")
        width = "default" if self.bandwidth is None else f"{self.bandwidth:g}"
        kernel = f"the {self.kernel} kernel, its bandwidth ({width}) and lambda ({self.lambda_ or LAMBDA:g})"
        return bounds, kernel

    def check(self, question: Question) -> None:
        """x and y must be numbers or ordered levels."""
        if not question.ordered:
            raise InputError(
                f"gcm needs numbers or ordered levels for {question.x} and {question.y}: use chi2, g or measured"
            )

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """T against the normal law."""
        columns = columns_of(question, data)
        if self.variant == "parts":
            statistic, pvalue = classical_gcm(columns.x, columns.y, columns.z, columns.discrete)
            return Outcome.at(level, pvalue, statistic)
        if self.variant == "bins":
            total, variance = binned_moments(columns.x, columns.y, self._bins(columns, data.n))
            return Outcome.at(level, float(normal_pvalue(total, variance)), total)
        statistic = gcm_statistic(self._products(columns))
        return Outcome.at(level, gcm_pvalue(statistic), statistic)

    def private_values(self, question: Question, data: Dataset, terms: Terms, budget: Charger) -> Outcome:
        """Charge, release, and test what was released."""
        columns = columns_of(question, data)
        label = f"gcm ({self.variant}): {question}"
        answer = {
            "parts": self._parts,
            "bins": self._binned,
            "moments": self._moments,
            "residuals": self._residuals,
        }[self.variant]
        return answer(columns, terms, budget, label)

    def _parts(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        parts, clip = part_plan(terms.n or ROWS_UNKNOWN, columns.z.shape[1], terms.epsilon, terms.level)
        parts = self.parts or parts
        scores = [
            part_score(columns.x[rows], columns.y[rows], columns.z[rows], columns.discrete)
            for rows in _dealt(len(columns.x), parts, terms)
        ]
        weight = squares_share(terms.epsilon)
        mechanism = Laplace(
            sensitivity=float(cut_sensitivity(weight)),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=2,
            grid=INTEGERS,
        )
        released = release(mechanism, budget, label, np.array(cut_scores(scores, clip, weight)))
        total, variance = float(released[0]), float(released[1]) * STEPS / weight
        pvalue = laplace_tail(total, variance, mechanism.scale)
        return Outcome.at(terms.level, pvalue, total * clip / STEPS)

    def _binned(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        weight = binned_weight(terms.neighbours, terms.epsilon)
        mechanism = Laplace(
            sensitivity=binned_sensitivity(terms.neighbours, weight),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=2,
        )
        total, variance = binned_moments(columns.x, columns.y, self._bins(columns, terms.n))
        return _tested(mechanism, weight, total, variance, terms, budget, label)

    def _moments(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        strength = self.lambda_ or LAMBDA
        weight = squares_weight(strength, terms.epsilon)
        sensitivity = sum_sensitivity(strength, terms.neighbours) + weight * squares_sensitivity(
            strength, terms.neighbours
        )
        mechanism = Laplace(
            sensitivity=sensitivity, epsilon=terms.epsilon, neighbours=terms.neighbours, size=2
        )
        products = self._products(columns)
        total, squared = float(products.sum()), float(products @ products)
        return _tested(mechanism, weight, total, squared, terms, budget, label)

    def _residuals(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        mechanism = Laplace(
            sensitivity=products_sensitivity(self.lambda_ or LAMBDA, terms.neighbours),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=max(len(columns.x), 1),
        )
        products = self._products(columns) if len(columns.x) else np.zeros(1)
        statistic = gcm_statistic(release(mechanism, budget, label, products))
        return Outcome.at(terms.level, gcm_pvalue(statistic), statistic)

    def _bins(self, columns: Columns, n: int | None) -> NDArray[np.int64]:
        return bins_of(columns, self.bins or max(1, (n or ROWS_UNKNOWN) // ROWS_A_BIN))

    def _products(self, columns: Columns) -> NDArray[np.float64]:
        """R of kernel ridge on all rows, x and y in [-1, 1]."""
        n, d = columns.z.shape
        targets = 2.0 * np.column_stack([columns.x, columns.y]) - 1.0
        kernel = Kernel(self.bandwidth or WIDTH * max(d, 1) ** 0.5, self.kernel, columns.discrete)
        penalty = penalty_of(self.lambda_ or LAMBDA, n)
        if n <= MOST_ROWS:
            left = ridge_residuals(columns.z, targets, kernel, penalty)
        else:
            features = FourierFeatures(kernel, d, FEATURES, columns.levels)
            left = feature_residuals(columns.z, targets, features, penalty)
        return np.asarray(left[:, 0] * left[:, 1])


def _tested(
    mechanism: Laplace,
    weight: float,
    total: float,
    variance: float,
    terms: Terms,
    budget: Charger,
    label: str,
) -> Outcome:
    """Release (total, weight variance) and compare with the normal law plus the noise."""
    released = release(mechanism, budget, label, np.array([total, weight * variance]))
    noisy = float(released[0])
    return Outcome.at(terms.level, laplace_tail(noisy, float(released[1]) / weight, mechanism.scale), noisy)


def _dealt(n: int, parts: int, terms: Terms) -> list[NDArray[np.int64]]:
    """The rows of every part: equal parts where n is public, else (a power of two) each row by its own coins."""
    if terms.n is not None:
        return np.array_split(permutation(n), parts)
    parts = 1 << (parts - 1).bit_length()
    labels = np.frombuffer(random_bytes(4 * n), np.uint32) & np.uint32(parts - 1)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, parts)))
