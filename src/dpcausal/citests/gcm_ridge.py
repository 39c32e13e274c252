"""gcm by kernel ridge regression on all rows, released as two moments or product by product.

    R_i = (x_i - f(z_i)) (y_i - g(z_i)),   f and g by kernel ridge, x and y in [-1, 1]

``moments`` releases (sum R, w sum R^2), ``residuals`` (the paper's Algorithm 1) all n products. Sensitivities are in
``stats/gcm_sensitivity.py``, with what floats add in ``regression/rounding.py``; they need replace-one neighbours, and
a lambda and a kernel that are public or were chosen privately before (``gcm_selection.py``).
Up to ``MOST_ROWS`` rows the regression is exact, above that it goes through ``FEATURES`` Fourier features.

Private choice of lambda and bandwidth for gcm's kernel ridge variants, from a public list, for a share of epsilon.

    score_j = -(F_x + F_y)/2 - (m/n) b_j

F is the ridge objective at its minimum on m rows (``stats/ridge_choice.py``), half the sum a bound on the bias that
candidate j leaves in sum R (up to what all candidates share), and b_j, public, the noise scale it needs there. A small
lambda fits well and needs much noise: the score weighs one against the other in the same unit. One candidate is drawn
by permute-and-flip and charged before; the test then runs on what is left of epsilon.

**Guarantee** (``stats/ridge_choice.proof.md``): share * epsilon, pure, replace-one; sensitivity (1 + B)^2 at the
smallest lambda. A very small lambda in the list blunts the choice for all.
**Cost** one fit through Fourier features for each candidate, on at most ``MOST`` rows (drawn without looking at them);
for kernels without features one exact fit on at most ``EXACT`` rows.
**Edge cases**: one candidate is taken without a charge. No rows: all scores are public.

References: McKenna & Sheldon 2020 (permute-and-flip). Liu & Talwar 2019 (random stopping) pays twice or thrice for the
noise of every candidate's own release; a score of bounded sensitivity needs none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import nextafter

import numpy as np
from numpy.typing import NDArray

from dpcausal.citests.base import Charger, Outcome, TestSettings
from dpcausal.citests.regression_columns import RegressionColumns
from dpcausal.core.errors import InputError
from dpcausal.privacy.mechanisms.laplace import Laplace
from dpcausal.privacy.mechanisms.release import release
from dpcausal.privacy.mechanisms.selection import PermuteAndFlip
from dpcausal.privacy.noise import permutation
from dpcausal.regression.features import FourierFeatures, feature_residuals
from dpcausal.regression.kernel import Kernel, Kind
from dpcausal.regression.ridge import MOST_ROWS, penalty_of, ridge_residuals
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
from dpcausal.stats.noisy_normal import laplace_tail

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

    def kernel(self, columns: RegressionColumns) -> Kernel:
        """The kernel on these conditioning columns."""
        width = self.bandwidth or WIDTH * max(columns.z.shape[1], 1) ** 0.5
        return Kernel(width, self.kind, columns.discrete)

    def left(self, columns: RegressionColumns, exact: bool) -> Matrix:
        """Residuals (n x 2) of the targets; not ``exact``: through features."""
        n, d = columns.z.shape
        kernel, penalty = self.kernel(columns), penalty_of(self.lambda_, n)
        if exact:
            return ridge_residuals(columns.z, targets_of(columns), kernel, penalty)
        features = FourierFeatures(kernel, d, FEATURES, columns.levels)
        return feature_residuals(columns.z, targets_of(columns), features, penalty)

    def products(self, columns: RegressionColumns) -> Vector:
        """R of every row."""
        left = self.left(columns, exact=len(columns.z) <= MOST_ROWS)
        return np.asarray(left[:, 0] * left[:, 1])

    def classical(self, columns: RegressionColumns, level: float) -> Outcome:
        """T against the normal law."""
        statistic = gcm_statistic(self.products(columns))
        return Outcome.at(level, gcm_pvalue(statistic), statistic)

    def moments(
        self, columns: RegressionColumns, terms: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        """Release (sum R, w sum R^2) and compare with the normal law plus the noise."""
        mechanism, weight = self._moments_noise(columns, terms)
        products = self.products(columns)
        total, squared = float(products.sum()), float(products @ products)
        return released_moments(mechanism, weight, total, squared, terms, budget, label)

    def residuals(
        self, columns: RegressionColumns, terms: TestSettings, budget: Charger, label: str
    ) -> Outcome:
        """Release every R and take T of them."""
        mechanism = self._residuals_noise(columns, terms)
        products = self.products(columns) if len(columns.x) else np.zeros(1)
        statistic = gcm_statistic(release(mechanism, budget, label, products))
        return Outcome.at(terms.level, gcm_pvalue(statistic), statistic)

    def noise_scale(self, columns: RegressionColumns, terms: TestSettings, *, each: bool) -> float:
        """The scale of the noise on sum R: of ``moments``, or of n products with noise ``each``. Public."""
        if each:
            return self._residuals_noise(columns, terms).scale * math.sqrt(max(len(columns.x), 1))
        return self._moments_noise(columns, terms)[0].scale

    def error(self, columns: RegressionColumns, exact: bool) -> float:
        """eta of ``regression/rounding.py``, from the public shape of the columns."""
        n, d = columns.z.shape
        kernel = self.kernel(columns)
        features = 0 if exact else FourierFeatures(kernel, d, FEATURES, columns.levels).size
        return residual_error(max(n, 1), self.lambda_, kernel, d, features)

    def _moments_noise(self, columns: RegressionColumns, terms: TestSettings) -> tuple[Laplace, float]:
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

    def _residuals_noise(self, columns: RegressionColumns, terms: TestSettings) -> Laplace:
        sensitivity = products_sensitivity(self.lambda_, terms.neighbours)  # refuses where n is not public
        n = len(columns.x)
        eta = self.error(columns, exact=n <= MOST_ROWS)
        return Laplace(
            sensitivity=sensitivity + 2 * products_error(n, eta),
            epsilon=terms.epsilon,
            neighbours=terms.neighbours,
            size=max(n, 1),
        )


def targets_of(columns: RegressionColumns) -> Matrix:
    """x and y in [-1, 1]."""
    return np.asarray(2.0 * np.column_stack([columns.x, columns.y]) - 1.0)


def released_moments(
    mechanism: Laplace,
    weight: float,
    total: float,
    variance: float,
    terms: TestSettings,
    budget: Charger,
    label: str,
) -> Outcome:
    """Release (total, weight variance) and compare with the normal law plus the noise."""
    released = release(mechanism, budget, label, np.array([total, weight * variance]))
    noisy = float(released[0])
    return Outcome.at(terms.level, laplace_tail(noisy, float(released[1]) / weight, mechanism.scale), noisy)


SHARE = 0.25  # of epsilon, for the choice
WIDTHS = (0.3, 1.0, 3.0, 10.0)  # times the default bandwidth
MOST = 50_000  # rows that a score looks at
EXACT = 4000  # the same for kernels without features


@dataclass(frozen=True)
class RidgeChoice:
    """A public list: every lambda with every bandwidth (none given: ``WIDTHS`` times the default)."""

    lambdas: tuple[float, ...]
    bandwidths: tuple[float, ...] = ()
    kind: Kind = "gaussian"
    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InputError(f"share must lie strictly between 0 and 1, not {self.share!r}")
        for strength in self.lambdas:
            penalty_of(strength, 1)
        for width in self.bandwidths:
            Kernel(width)

    def candidates(self, d: int) -> list[Ridge]:
        """The regressions to choose from, for d conditioning columns."""
        widths = self.bandwidths or tuple(WIDTH * max(d, 1) ** 0.5 * times for times in WIDTHS)
        return [Ridge(strength, width, self.kind) for strength, width in product(self.lambdas, widths)]

    def choose(
        self, columns: RegressionColumns, terms: TestSettings, budget: Charger, label: str, *, each: bool
    ) -> tuple[Ridge, TestSettings]:
        """The chosen regression, and the terms with what is left of epsilon. ``each`` as in ``Ridge.noise_scale``."""
        candidates = self.candidates(columns.z.shape[1])
        if len(candidates) == 1:
            return candidates[0], terms
        cost = self.share * terms.epsilon
        left = replace(terms, epsilon=nextafter(terms.epsilon - cost, 0.0))
        seen, exact = looked_at(columns, candidates)
        rows = min(len(columns.x), seen)
        shape = replace(columns, x=columns.x[:rows], y=columns.y[:rows], z=columns.z[:rows])
        mechanism = PermuteAndFlip(
            sensitivity=max(
                objective_sensitivity(c.lambda_, terms.neighbours)
                + 2 * inner_error(rows, c.error(shape, exact))
                for c in candidates
            ),
            epsilon=cost,
            neighbours=terms.neighbours,
        )
        noise = [c.noise_scale(columns, left, each=each) for c in candidates]
        chosen = release(mechanism, budget, label, scores(columns, candidates, noise))
        return candidates[chosen], left


def looked_at(columns: RegressionColumns, candidates: Sequence[Ridge]) -> tuple[int, bool]:
    """(how many rows a score looks at, at most; whether the kernel is exact there). Public."""
    featured = FourierFeatures.stands_for(candidates[0].kernel(columns), columns.z.shape[1])
    return (MOST, False) if featured else (EXACT, True)


def scores(
    columns: RegressionColumns, candidates: Sequence[Ridge], noise: Sequence[float]
) -> NDArray[np.float64]:
    """The score of every candidate. Not private: for a mechanism only."""
    n = len(columns.x)
    most, exact = looked_at(columns, candidates)
    rows = slice(None) if n <= most else np.sort(permutation(n)[:most])
    seen = replace(columns, x=columns.x[rows], y=columns.y[rows], z=columns.z[rows])
    targets = targets_of(seen)
    found: NDArray[np.float64] = np.array(
        [-fit_objective(targets, c.left(seen, exact=exact)) for c in candidates]
    )
    found -= len(targets) / max(n, 1) * np.asarray(noise)
    return found
