"""gcm by kernel ridge regression on all rows, released as two moments or product by product.

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),   f and g by kernel ridge, x and y in [-1, 1]

``moments`` releases (sum R, w sum R^2), ``residuals`` (the paper's Algorithm 1) all n products. Sensitivities are in
``stats/gcm_sensitivity.py``, with what floats add in ``regression/rounding.py``; they need replace-one neighbours, and
a lambda and a kernel that are public or were chosen privately before (``gcm_selection.py``).
Up to ``MOST_ROWS`` rows the regression is exact, above that it goes through ``FEATURES`` Fourier features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.gcm_columns import Columns
from dpcausal.citests.method import Charger, Outcome, Terms
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.regression.features import FourierFeatures, feature_residuals
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import MOST_ROWS, penalty_of, ridge_residuals
from dpcausal.regression.rounding import products_error, residual_error, squares_error
from dpcausal.stats.gcm import gcm_pvalue, gcm_statistic
from dpcausal.stats.gcm_sensitivity import (
    products_sensitivity,
    squares_sensitivity,
    squares_weight,
    sum_sensitivity,
    weight_bound,
)
from dpcausal.stats.kendall_null import laplace_tail

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

LAMBDA = 1.0
WIDTH = 0.1  # default bandwidth in one dimension, as a share of the declared range; times sqrt(d)
FEATURES = 300  # above MOST_ROWS rows


@dataclass(frozen=True)
class Ridge:
    """lambda, bandwidth (None: ``WIDTH`` sqrt(d)) and the kind of kernel: all public."""

    lambda_: float = LAMBDA
    bandwidth: float | None = None
    kind: Kind = "gaussian"

    def kernel(self, columns: Columns) -> Kernel:
        """The kernel on these conditioning columns."""
        width = self.bandwidth or WIDTH * max(columns.z.shape[1], 1) ** 0.5
        return Kernel(width, self.kind, columns.discrete)

    def left(self, columns: Columns, exact: bool) -> Matrix:
        """Residuals (n x 2) of the targets; not ``exact``: through features."""
        n, d = columns.z.shape
        kernel, penalty = self.kernel(columns), penalty_of(self.lambda_, n)
        if exact:
            return ridge_residuals(columns.z, targets_of(columns), kernel, penalty)
        features = FourierFeatures(kernel, d, FEATURES, columns.levels)
        return feature_residuals(columns.z, targets_of(columns), features, penalty)

    def products(self, columns: Columns) -> Vector:
        """R of every row."""
        left = self.left(columns, exact=len(columns.z) <= MOST_ROWS)
        return np.asarray(left[:, 0] * left[:, 1])

    def classical(self, columns: Columns, level: float) -> Outcome:
        """T against the normal law."""
        statistic = gcm_statistic(self.products(columns))
        return Outcome.at(level, gcm_pvalue(statistic), statistic)

    def moments(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        """Release (sum R, w sum R^2) and compare with the normal law plus the noise."""
        mechanism, weight = self._moments_noise(columns, terms)
        products = self.products(columns)
        total, squared = float(products.sum()), float(products @ products)
        return released_moments(mechanism, weight, total, squared, terms, budget, label)

    def residuals(self, columns: Columns, terms: Terms, budget: Charger, label: str) -> Outcome:
        """Release every R and take T of them."""
        mechanism = self._residuals_noise(columns, terms)
        products = self.products(columns) if len(columns.x) else np.zeros(1)
        statistic = gcm_statistic(release(mechanism, budget, label, products))
        return Outcome.at(terms.level, gcm_pvalue(statistic), statistic)

    def noise_scale(self, columns: Columns, terms: Terms, *, each: bool) -> float:
        """The scale of the noise on sum R: of ``moments``, or of n products with noise ``each``. Public."""
        if each:
            return self._residuals_noise(columns, terms).scale * math.sqrt(max(len(columns.x), 1))
        return self._moments_noise(columns, terms)[0].scale

    def error(self, columns: Columns, exact: bool) -> float:
        """eta of ``regression/rounding.py``, from the public shape of the columns."""
        n, d = columns.z.shape
        kernel = self.kernel(columns)
        features = 0 if exact else FourierFeatures(kernel, d, FEATURES, columns.levels).size
        return residual_error(max(n, 1), self.lambda_, kernel, d, features)

    def _moments_noise(self, columns: Columns, terms: Terms) -> tuple[Laplace, float]:
        """The mechanism and the weight w of sum R^2."""
        first = sum_sensitivity(self.lambda_, terms.neighbours)  # refuses where n is not public
        second = squares_sensitivity(self.lambda_, terms.neighbours)
        weight, n = squares_weight(self.lambda_, terms.epsilon), len(columns.x)
        eta = self.error(columns, exact=n <= MOST_ROWS)
        first += 2 * products_error(n, eta)
        second += 2 * squares_error(n, eta, 1 + weight_bound(self.lambda_))
        mechanism = Laplace(
            sensitivity=first + weight * second, epsilon=terms.epsilon, neighbours=terms.neighbours, size=2
        )
        return mechanism, weight

    def _residuals_noise(self, columns: Columns, terms: Terms) -> Laplace:
        sensitivity = products_sensitivity(self.lambda_, terms.neighbours)  # refuses where n is not public
        n = len(columns.x)
        eta = self.error(columns, exact=n <= MOST_ROWS)
        return Laplace(
            sensitivity=sensitivity + 2 * products_error(n, eta),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=max(n, 1),
        )


def targets_of(columns: Columns) -> Matrix:
    """x and y in [-1, 1]."""
    return np.asarray(2.0 * np.column_stack([columns.x, columns.y]) - 1.0)


def released_moments(
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
