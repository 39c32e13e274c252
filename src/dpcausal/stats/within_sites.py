"""Evidence within sites, added up: covariances of features from noisy tables of several sites, with a site held fixed.

Sites differ in their margins, and the sum of their tables would show links that no site has (Simpson). So every
covariance is taken inside a site, and only then are sites combined.

**Formula.** All sites have the same features F of a column (``contrasts.py``): mean 0 over all sites, and variance 1
and no correlation *within* sites, so that F' S F = I with S = sum_s (n_s/N) (diag p_s - p_s p_s'). Site s gives

    K_s = F_x' (P_s - p_xs p_ys') F_y                  the covariance of the features of x and y inside the site,

which is linear in its pair and 0 on average where x and y are independent there, whatever its margins are. Its noise
has the known variance V_s; W_s = V_s + 1/n_s. Entry by entry

    K = sum_s K_s/W_s / sum_s 1/W_s,

with noise of variance sum_s V_s/W_s^2 / (sum_s 1/W_s)^2. Sampling under independence is the same sum of
g_xs g_ys/n_s, where g is the variance of a feature inside a site; what that is more than 1/N counts as noise. The
result is a ``Contrasts`` like that of one site, and all that is asked of it is asked with the site held fixed.

**Sites that differ.** Q = sum_s (K_s - K)^2/W_s over the entries of a pair is chi-squared with (sites - 1) degrees of
freedom an entry where the dependence is the same everywhere (Cochran's Q with known variances).

**Margins with noise** spread more between sites than the margins themselves; the variance of the noise is taken off
that spread. A column keeps at least ``LEAST_WITHIN`` of its variance within sites.

**Guarantee.** Post-processing of released tables: costs nothing. **Where it fails**: given a set, the effects of the
set on x and on y are taken to be the same in every site; where they are not, a dependence may be left. ``differ`` says
where that is to be feared.

**Edge cases.** A pair that no site measured has the noise ``UNKNOWN``, as in ``contrasts.py``. One site alone gives
what ``Contrasts.of`` gives, but for levels that no count shows.

References: Cochran 1954 (combination of estimates from different experiments); Mantel & Haenszel 1959 (strata).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtrc

from dpcausal.stats.contrasts import UNKNOWN, Contrasts, Features, Floats, all_pairs

LEAST_WITHIN = 0.15  # of the variance of a column that is taken to be within sites, at least
LEAST_VARIANCE = 0.05  # of a feature inside a site, for sampling


@dataclass(frozen=True)
class SiteTables:
    """What one site released; columns by number, those that it lacks left out."""

    rows: float  # public, or released
    singles: Mapping[int, Floats]  # counts of the levels of each column
    pairs: Mapping[tuple[int, int], Floats]  # components of pairs, ascending
    noise: Mapping[tuple[int, ...], float]  # variance of the noise in each of both

    def proportions(self, column: int) -> Floats:
        """Return the released level proportions, negative ones included, for averaging over sites."""
        return self.singles[column] / self.rows

    def noise_in_proportions(self, column: int) -> Floats:
        """Return the noise covariance of ``proportions``."""
        levels = len(self.singles[column])
        return self.noise[column,] / self.rows**2 * (np.eye(levels) - 1.0 / levels)


class WithinSites:
    """Covariances inside each of several sites, of the same features.

    Parameters
    ----------
    sites
        What each released.
    sizes
        Levels of every column.

    >>> table = np.array([[40.0, 10.0], [10.0, 40.0]]) - 25.0
    >>> half = {0: np.array([50.0, 50.0]), 1: np.array([50.0, 50.0])}
    >>> site = SiteTables(100.0, half, {(0, 1): table}, {(0,): 0.0, (1,): 0.0, (0, 1): 0.0})
    >>> both = WithinSites([site, site], (2, 2))
    >>> float(abs(both.contrasts().covariance[0, 1]).round(6)), both.contrasts().rows, float(both.differ()[0, 1])
    (0.6, 200.0, 1.0)
    """

    def __init__(self, sites: Sequence[SiteTables], sizes: Sequence[int]) -> None:
        self.sites = list(sites)
        self.rows = math.fsum(site.rows for site in sites)
        self.columns = [self._features(j, size) for j, size in enumerate(sizes)]

    def __repr__(self) -> str:
        return f"WithinSites({len(self.sites)} sites, {len(self.columns)} columns)"

    def contrasts(self) -> Contrasts:
        """Return the within-site covariances of all sites, combined."""
        width = sum(len(one.gains) for one in self.columns)
        found = Contrasts(
            self.columns, self.rows, np.eye(width), np.zeros((width, width)), np.zeros((width, width))
        )
        assert found.of_singles is not None
        for i, j in all_pairs(len(self.columns)):
            gains = np.outer(self.columns[i].gains, self.columns[j].gains)
            blocks = self._blocks[i, j]
            if not blocks:
                found.put(found.noise, i, j, UNKNOWN * gains)
                continue
            value, weights = _combined(blocks)
            sampling = sum(w**2 * one.sampling for w, one in zip(weights, blocks, strict=True))
            of_singles = sum(w**2 * one.of_singles for w, one in zip(weights, blocks, strict=True))
            noise = sum(w**2 * one.noise for w, one in zip(weights, blocks, strict=True))
            found.put(found.covariance, i, j, value)
            found.put(found.noise, i, j, noise + np.maximum(sampling - 1.0 / self.rows, 0.0))
            found.put(found.of_singles, i, j, np.asarray(of_singles))
        return found

    def differ(self) -> Floats:
        """Return for every pair the p-value that its dependence is the same in all sites (Cochran's Q)."""
        found = np.ones((len(self.columns), len(self.columns)))
        for (i, j), blocks in self._blocks.items():
            if len(blocks) > 1:
                value, _ = _combined(blocks)
                q = sum(float(((one.value - value) ** 2 / one.variance).sum()) for one in blocks)
                found[i, j] = found[j, i] = chdtrc((len(blocks) - 1) * value.size, q)
        return found

    @cached_property
    def _blocks(self) -> dict[tuple[int, int], list[Block]]:
        """The covariance block of every pair, from each site that measured it."""
        return {
            pair: [self._block(site, *pair) for site in self.sites if pair in site.pairs]
            for pair in all_pairs(len(self.columns))
        }

    def _features(self, column: int, size: int) -> Features:
        """Return the features of a column, with variance 1 within sites."""
        some = [site for site in self.sites if column in site.singles]
        if not some:
            return Features.of(np.full(size, self.rows / size), self.rows, 0.0)
        rows = math.fsum(site.rows for site in some)
        counts = np.sum([site.singles[column] for site in some], axis=0)
        whole = Features.of(counts, rows, math.fsum(site.noise[column,] for site in some))
        between = np.zeros((size, size))
        for site in some:
            share, far = site.rows / rows, site.proportions(column) - counts / rows
            # the mean has a share of the site's own noise: what remains of it in all such squares together
            between += share * (np.outer(far, far) - (1.0 - share) * site.noise_in_proportions(column))
        values, vectors = np.linalg.eigh(whole.scores.T @ between @ whole.scores)
        within = 1.0 - np.clip(values, 0.0, 1.0 - LEAST_WITHIN)
        scores = whole.scores @ (vectors / np.sqrt(within)) @ vectors.T
        flat = scores - scores.mean(axis=0)
        gains, turn = np.linalg.eigh(flat.T @ flat)
        return Features(whole.proportions, scores @ turn, np.maximum(gains, 0.0))

    def _block(self, site: SiteTables, i: int, j: int) -> Block:
        """Return the covariance block of two columns within a site."""
        x, y = self.columns[i], self.columns[j]
        of_x, of_y = site.proportions(i), site.proportions(j)
        mean_x, mean_y = of_x - 1.0 / len(of_x), of_y - 1.0 / len(of_y)
        value = x.scores.T @ (site.pairs[i, j] / site.rows - np.outer(mean_x, mean_y)) @ y.scores
        of_singles = site.noise[i,] * np.outer(x.gains, (mean_y @ y.scores) ** 2)
        of_singles = of_singles + site.noise[j,] * np.outer((mean_x @ x.scores) ** 2, y.gains)
        noise = site.noise[i, j] * np.outer(x.gains, y.gains) + of_singles
        sampling = np.outer(_variances(x, of_x), _variances(y, of_y)) / site.rows
        return Block(value, noise / site.rows**2, of_singles / site.rows**2, sampling, 1.0 / site.rows)


@dataclass(frozen=True)
class Block:
    """Covariances of two columns inside one site: values, noise, the part of it from single columns, and sampling.

    ``expected`` is the sampling variance of a site with margins like all others: weights go by it, for that of its own
    margins has noise.
    """

    value: Floats
    noise: Floats
    of_singles: Floats
    sampling: Floats
    expected: float

    @property
    def variance(self) -> Floats:
        """The variance of an entry under independence."""
        return self.noise + self.expected


def _combined(blocks: Sequence[Block]) -> tuple[Floats, list[Floats]]:
    """Return the inverse-variance weighted mean of blocks, entry by entry, and the weights."""
    exact = [1.0 / one.variance for one in blocks]
    whole = np.sum(exact, axis=0)
    weights = [np.asarray(one / whole) for one in exact]
    return np.sum([w * one.value for w, one in zip(weights, blocks, strict=True)], axis=0), weights


def _variances(features: Features, proportions: Floats) -> Floats:
    """Return the variance of each feature where the levels have these proportions."""
    mean = proportions @ features.scores
    return np.maximum(proportions @ features.scores**2 - mean**2, LEAST_VARIANCE)
