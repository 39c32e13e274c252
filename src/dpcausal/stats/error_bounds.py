"""How often a private test errs: the bounds of the papers on the private GCM and on the unit circle, as functions.

- ``noisy_gcm_power`` [1, Theorem 2.3]: with noise on every residual product the statistic is near
  N(sqrt(n) rho/sigma', 1), sigma'^2 = sigma^2 + 2 b^2, rho = E cov(x, y | z), sigma^2 = Var of the products of the true
  residuals, b the scale of the noise (in the same units: a b Delta/epsilon where x and y are within a and b). A limit,
  not a bound: it holds as far as the regressions leave nothing of z.
- ``missed_by_chi2`` [2, Theorem 3]: chi-squared with Laplace noise of scale Delta/epsilon accepts a table whose
  chi-squared is above tau + gamma with probability at most exp(-gamma epsilon/Delta)/2.
- ``missed_by_circle`` [2, Theorem 7]: so does the unit circle with at most exp(-(w - 1) epsilon/Delta)/2,
  w = sqrt(1 + 4 gamma M1 M0/(tau N^2)), because ||V||^2 = 1 + (4 M1 M0/N^2)(chi2/tau - 1). It needs M1 M0, which the
  paper takes to be public; for a rare allele it says little.
- ``type_two_error`` [2, Theorem 2]: the test errs at most that often, plus the probability that chi-squared is below
  tau + gamma at all.

All are about power, none about privacy. **Cost** O(1).

References: [1] Kalemaj, Kasiviswanathan & Ramdas 2024; [2] Kakizaki, Fukuchi & Sakuma 2017, appendices B, C and H.
"""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri

from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError


def noisy_gcm_power(n: int, signal: float, spread: float, noise_scale: float, level: float = 0.05) -> float:
    """Return the probability that the two-sided test of noisy residual products rejects.

    Parameters
    ----------
    n
        The number of rows.
    signal, spread
        rho and sigma.
    noise_scale
        The scale of the Laplace noise on every product.
    level
        The size of the test.

    >>> round(noisy_gcm_power(1000, 0.0, 1.0, 5.0), 3), round(noisy_gcm_power(10_000, 0.3, 1.0, 5.0), 3)
    (0.05, 0.987)
    """
    if n < 1 or spread < 0 or noise_scale < 0 or not spread + noise_scale > 0:
        raise InputError("power needs at least one row, and a spread or a noise above 0")
    shift = math.sqrt(n) * signal / math.sqrt(spread**2 + 2 * noise_scale**2)
    cut = float(-ndtri(checked_level(level) / 2))
    return float(ndtr(shift - cut) + ndtr(-shift - cut))


def missed_by_chi2(gap: float, epsilon: float, sensitivity: float) -> float:
    """Return the most often that noisy chi-squared accepts a table with chi-squared above tau + ``gap``.

    >>> missed_by_chi2(0.0, 1.0, 4.0), round(missed_by_chi2(8.0, 1.0, 4.0), 4)
    (0.5, 0.0677)
    """
    _check(gap, epsilon, sensitivity)
    return 0.5 * math.exp(-gap * epsilon / sensitivity)


def missed_by_circle(
    gap: float, epsilon: float, sensitivity: float, tau: float, positives: int, n: int
) -> float:
    """Return the most often that the noisy unit circle accepts a table with chi-squared above tau + ``gap``.

    Parameters
    ----------
    gap
        gamma.
    epsilon, sensitivity
        Of the noise on ||V||.
    tau
        The chi-squared threshold.
    positives, n
        M1 and N: how many of the rows have the second outcome.

    >>> round(missed_by_circle(8.0, 1.0, 0.0323, 3.84, 500, 1000), 6)
    0.0
    """
    _check(gap, epsilon, sensitivity)
    if not (tau > 0 and 0 <= positives <= n and n > 0):
        raise InputError("tau must be above 0 and the positives within 0 and the number of rows")
    beyond = math.sqrt(1 + 4 * gap * positives * (n - positives) / (tau * n * n))
    return 0.5 * math.exp(-(beyond - 1) * epsilon / sensitivity)


def type_two_error(missed: float, below: float) -> float:
    """Return the bound on a type II error: ``missed`` beyond tau + gamma, ``below`` the chance not to be there at all.

    >>> type_two_error(0.1, 0.25)
    0.35
    """
    return min(1.0, missed + below)


def _check(gap: float, epsilon: float, sensitivity: float) -> None:
    if not (gap >= 0 and epsilon > 0 and sensitivity > 0):
        raise InputError("the gap must be at least 0, epsilon and the sensitivity above 0")
