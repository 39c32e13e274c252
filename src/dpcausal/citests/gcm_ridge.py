"""``gcm`` by kernel ridge regression on all rows, and the private choice of its lambda and bandwidth.

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),   f and g by kernel ridge, x and y in [-1, 1]

``variant="moments"`` releases (sum R, w sum R^2), ``variant="residuals"`` all n products, and ``variant="paper"`` is
the paper's Algorithm 1: the same with the noise of its Lemma B.6, lambda = 10 unless one is given. It is private.
Up to ``regression.ridge.MAX_EXACT_ROWS`` rows the regression is exact, above that it uses Fourier features.

**Guarantee** (``gcm_ridge.proof.md``, with what floats add from ``rounding.proof.md``): epsilon-DP for
replace-one neighbours, with a lambda and a kernel that are public or were chosen privately before.

**Private choice.** From a public list of candidates j one is drawn by permute-and-flip with the score

    score_j = -(F_x + F_y)/2 - (m/n) b_j

F is the ridge objective at its minimum on m rows (``stats/gcm_ridge.py``), half the sum a bound on the bias that
candidate j leaves in sum R (up to what all candidates share), and b_j, public, the noise scale it needs there. A small
lambda fits well and needs much noise: the score weighs one against the other in the same unit. The choice costs
share * epsilon, pure (``gcm_ridge.proof.md``): sensitivity (1 + B)^2 at the smallest lambda, so that a very small
lambda in the list blunts the choice for all. The test then runs on what is left of epsilon.

**Cost** of the choice: one fit through Fourier features for each candidate, on at most ``MAX_SCORED_ROWS`` rows (drawn
without looking at them); for kernels without features one exact fit on at most ``MAX_SCORED_ROWS_EXACT`` rows.
**Edge cases**: one candidate is taken without a charge. No rows: all scores are public.

References: Kalemaj, Kasiviswanathan & Ramdas 2024, Algorithm 1; McKenna & Sheldon 2020 (permute-and-flip).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nextafter

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, TestSettings, released_with_variance
from dpcausal.citests.regression_columns import RegressionColumns
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms.additive import Laplace
from dpcausal.privacy.mechanisms.base import release
from dpcausal.privacy.mechanisms.selection import PermuteAndFlip
from dpcausal.privacy.noise import permutation
from dpcausal.regression.features import FourierFeatures, feature_residuals
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import MAX_EXACT_ROWS, penalty_of, ridge_residuals
from dpcausal.regression.rounding import inner_error, products_error, residual_error, squares_error
from dpcausal.stats.gcm_fit import gcm_pvalue, gcm_statistic
from dpcausal.stats.gcm_ridge import (
    fit_objective,
    objective_sensitivity,
    products_sensitivity,
    squares_sensitivity,
    squares_weight,
    sum_sensitivity,
    weight_bound,
)

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

DEFAULT_LAMBDA = 1.0
DEFAULT_BANDWIDTH = 0.1  # in one dimension, as a share of the declared range; times sqrt(d) in d dimensions
FEATURES = 300  # Fourier features of a fit that is not exact
CHOICE_SHARE = 0.25  # of epsilon, for the choice of lambda and bandwidth
BANDWIDTH_FACTORS = (0.3, 1.0, 3.0, 10.0)  # times the default bandwidth: candidates where no list is given
MAX_SCORED_ROWS = 50_000  # rows that a score looks at
MAX_SCORED_ROWS_EXACT = 4000  # the same for kernels without features


def default_bandwidth(d: int) -> float:
    """Return the bandwidth for d conditioning columns, as a share of the declared range."""
    return DEFAULT_BANDWIDTH * math.sqrt(max(d, 1))


@dataclass(frozen=True)
class Ridge:
    """A kernel ridge regression: lambda, bandwidth (None: the default) and the kind of kernel, all public.

    ``least_sensitivity``: noise on products is made for this sensitivity where it is larger than the one needed.
    """

    lambda_: float = DEFAULT_LAMBDA
    bandwidth: float | None = None
    kind: Kind = "gaussian"
    least_sensitivity: float = 0.0

    def kernel(self, columns: RegressionColumns) -> Kernel:
        """Return the kernel on these conditioning columns."""
        width = self.bandwidth or default_bandwidth(columns.z.shape[1])
        return Kernel(width, self.kind, columns.discrete)

    def residuals_of(self, columns: RegressionColumns, exact: bool) -> Matrix:
        """Return the residuals (n x 2) of x and y; through Fourier features where not ``exact``."""
        n, d = columns.z.shape
        kernel, penalty = self.kernel(columns), penalty_of(self.lambda_, n)
        if exact:
            return ridge_residuals(columns.z, targets_of(columns), kernel, penalty)
        features = FourierFeatures(kernel, d, FEATURES, columns.levels)
        return feature_residuals(columns.z, targets_of(columns), features, penalty)

    def products(self, columns: RegressionColumns) -> Vector:
        """Return, for every row, the product R of its residuals of x and y."""
        residuals = self.residuals_of(columns, exact=len(columns.z) <= MAX_EXACT_ROWS)
        return np.asarray(residuals[:, 0] * residuals[:, 1])

    def classical(self, columns: RegressionColumns, level: float) -> Outcome:
        """Return the outcome of T against the normal law, without privacy."""
        statistic = gcm_statistic(self.products(columns))
        return Outcome.at(level, gcm_pvalue(statistic), statistic)

    def moments(
        self, columns: RegressionColumns, settings: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        """Release (sum R, w sum R^2) with noise; return the outcome against the normal law plus that noise."""
        mechanism, weight = self._moments_noise(columns, settings)
        products = self.products(columns)
        total, squared = float(products.sum()), float(products @ products)
        return released_with_variance(mechanism, weight, total, squared, settings, budget, label)

    def residuals(
        self, columns: RegressionColumns, settings: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        """Release every R with noise; return the outcome of T of the released values."""
        mechanism = self._residuals_noise(columns, settings)
        products = self.products(columns) if len(columns.x) else np.zeros(1)
        statistic = gcm_statistic(release(mechanism, budget, label, products))
        return Outcome.at(settings.level, gcm_pvalue(statistic), statistic)

    def noise_scale(self, columns: RegressionColumns, settings: TestSettings, *, per_row: bool) -> float:
        """Return the scale of the noise on sum R, a public number; ``per_row``: noise is on every R."""
        if per_row:
            return self._residuals_noise(columns, settings).scale * math.sqrt(max(len(columns.x), 1))
        return self._moments_noise(columns, settings)[0].scale

    def error(self, columns: RegressionColumns, exact: bool) -> float:
        """Return eta of ``regression/rounding.py``, the bound on the rounding error, from the shape of the columns."""
        n, d = columns.z.shape
        kernel = self.kernel(columns)
        features = 0 if exact else FourierFeatures(kernel, d, FEATURES, columns.levels).size
        return residual_error(max(n, 1), self.lambda_, kernel, d, features)

    def _moments_noise(self, columns: RegressionColumns, settings: TestSettings) -> tuple[Laplace, float]:
        """Return the mechanism that releases the moments, and the weight w of sum R^2."""
        first = sum_sensitivity(self.lambda_, settings.neighbours)  # refuses where n is not public
        second = squares_sensitivity(self.lambda_, settings.neighbours)
        weight, n = squares_weight(self.lambda_, settings.epsilon), len(columns.x)
        eta = self.error(columns, exact=n <= MAX_EXACT_ROWS)
        first += 2 * products_error(n, eta)
        second += 2 * squares_error(n, eta, 1 + weight_bound(self.lambda_))
        mechanism = Laplace(
            sensitivity=first + weight * second,
            epsilon=settings.epsilon,
            neighbours=settings.neighbours,
            size=2,
        )
        return mechanism, weight

    def _residuals_noise(self, columns: RegressionColumns, settings: TestSettings) -> Laplace:
        """Return the mechanism that releases every product."""
        sensitivity = products_sensitivity(self.lambda_, settings.neighbours)  # refuses where n is not public
        n = len(columns.x)
        eta = self.error(columns, exact=n <= MAX_EXACT_ROWS)
        return Laplace(
            sensitivity=max(sensitivity + 2 * products_error(n, eta), self.least_sensitivity),
            epsilon=settings.epsilon,
            neighbours=settings.neighbours,
            size=max(n, 1),
        )


def targets_of(columns: RegressionColumns) -> Matrix:
    """Return x and y in [-1, 1], as the columns of one array."""
    return np.asarray(2.0 * np.column_stack([columns.x, columns.y]) - 1.0)


@dataclass(frozen=True)
class RidgeChoice:
    """A public list of regressions: every lambda with every bandwidth (none: multiples of the default)."""

    lambdas: tuple[float, ...]
    bandwidths: tuple[float, ...] = ()
    kind: Kind = "gaussian"
    share: float = CHOICE_SHARE

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(f"share must lie strictly between 0 and 1, not {self.share!r}")
        for strength in self.lambdas:
            penalty_of(strength, 1)
        for width in self.bandwidths:
            Kernel(width)

    def candidates(self, d: int) -> list[Ridge]:
        """Return the regressions to choose from, for d conditioning columns."""
        widths = self.bandwidths or tuple(default_bandwidth(d) * factor for factor in BANDWIDTH_FACTORS)
        return [Ridge(strength, width, self.kind) for strength, width in product(self.lambdas, widths)]

    def choose(
        self,
        columns: RegressionColumns,
        settings: TestSettings,
        budget: Charger,
        label: str,
        *,
        per_row: bool,
    ) -> tuple[Ridge, TestSettings]:
        """Choose a regression privately; return it, and the settings with what is left of epsilon.

        ``per_row``: the test that follows puts noise on every product, as in ``Ridge.noise_scale``.
        """
        candidates = self.candidates(columns.z.shape[1])
        if len(candidates) == 1:
            return candidates[0], settings
        settings.require_all(budget, label)
        cost = self.share * settings.epsilon
        left = replace(settings, epsilon=nextafter(settings.epsilon - cost, 0.0))
        max_rows, exact = scored_rows(columns, candidates)
        scored = columns.rows(slice(max_rows))  # as many rows as are scored: only their number matters here
        mechanism = PermuteAndFlip(
            sensitivity=max(
                objective_sensitivity(c.lambda_, settings.neighbours)
                + 2 * inner_error(len(scored.x), c.error(scored, exact))
                for c in candidates
            ),
            epsilon=cost,
            neighbours=settings.neighbours,
        )
        noise = [c.noise_scale(columns, left, per_row=per_row) for c in candidates]
        chosen = release(mechanism, budget, label, scores(columns, candidates, noise))
        return candidates[chosen], left


def scored_rows(columns: RegressionColumns, candidates: Sequence[Ridge]) -> tuple[int, bool]:
    """Return how many rows a score looks at, at most, and whether the kernel is exact there. Both are public."""
    featured = FourierFeatures.stands_for(candidates[0].kernel(columns), columns.z.shape[1])
    return (MAX_SCORED_ROWS, False) if featured else (MAX_SCORED_ROWS_EXACT, True)


def scores(
    columns: RegressionColumns, candidates: Sequence[Ridge], noise: Sequence[float]
) -> NDArray[np.float64]:
    """Return the score of every candidate. Not private: for a mechanism only."""
    n = len(columns.x)
    max_rows, exact = scored_rows(columns, candidates)
    scored = columns if n <= max_rows else columns.rows(np.sort(permutation(n)[:max_rows]))
    targets = targets_of(scored)
    found: NDArray[np.float64] = np.array(
        [-fit_objective(targets, c.residuals_of(scored, exact=exact)) for c in candidates]
    )
    found -= len(targets) / max(n, 1) * np.asarray(noise)
    return found
