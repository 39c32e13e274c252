"""The two forms that sum contrasts over blocks: squares one by one (omnibus), or sums first (pooled).

**Omnibus** Q = sum w C^2/v over all contrasts of all blocks; w = s^2/(v sqrt(n)) with s = n^2 the size of the
contrast at unit association, so blocks that are mostly noise count little. w would be optimal for equal
association in all blocks without sqrt(n), and Pearson's without noise with n instead; the root between them
keeps the level where sizes are poorly known (``benchmarks/tables_stats.py``).
**Pooled** S = sum_i h_i u' D_i v in one basis for all blocks, h_i = s_i/v_i (best linear), as in the generalised
Cochran-Mantel-Haenszel test: powerful when blocks agree in sign, blind when they cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcausal.stats.measured_contrasts import basis, contrast, covariance, prepare, second_moments
from dpcausal.stats.measured_margins import SHARED, UNSEEN, jit


@jit
def omnibus(d: Any, s2: Any, kurtosis: Any, size: Any, p: Any, q: Any, about: Any) -> Any:
    """(Q, mean, variance) under independence."""
    k, r, c = d.shape
    most = (r - 1) * (c - 1)
    u, v = np.zeros((r, r)), np.zeros((c, c))
    cov, fourth, slope, out = np.zeros((most, most)), np.zeros(most), np.zeros(most), np.zeros(most)
    w = np.zeros(most)
    value = 0.0
    mean = 0.0
    variance = 0.0
    shared = 0.0
    for i in range(k):
        if size[i] <= 0.0:
            continue
        nu, nv = basis(p, i, u), basis(q, i, v)
        covariance(i, size, about, s2, kurtosis, p, q, u, v, nu, nv, cov, fourth, slope)
        contrast(d, i, u, v, nu, nv, out)
        signal = size[i] ** 2 + about[i, UNSEEN]
        for e in range(nu * nv):
            w[e] = signal**2 / (cov[e, e] * np.sqrt(size[i])) if cov[e, e] > 0.0 else 0.0
        for e in range(nu * nv):
            if w[e] == 0.0:
                continue
            value += w[e] * out[e] ** 2 / cov[e, e]
            mean += w[e]
            shared += w[e] * slope[e] * np.sqrt(about[i, SHARED]) / size[i]
            variance += w[e] ** 2 * fourth[e] / cov[e, e] ** 2
            for e2 in range(nu * nv):
                if w[e2] > 0.0:
                    variance += 2.0 * w[e] * w[e2] * cov[e, e2] ** 2 / (cov[e, e] * cov[e2, e2])
    return value, mean, variance + shared**2


@jit
def centred(p: Any, k: Any, u0: Any, count: Any, u: Any) -> None:
    """u = u0 less its mean under p[k], column by column."""
    for a in range(count):
        mean = 0.0
        for i in range(p.shape[1]):
            mean += p[k, i] * u0[i, a]
        for i in range(p.shape[1]):
            u[i, a] = u0[i, a] - mean


@jit
def pooled(d: Any, s2: Any, kurtosis: Any, size: Any, p: Any, q: Any, about: Any) -> Any:
    """(S, covariance, fourth cumulants, signal at unit association, standard deviations of single noise terms).

    The last has shape (k, r, c) and is filled for a single contrast only (2 x 2 tables).
    """
    k, r, c = d.shape
    u0, v0 = np.zeros((r, r)), np.zeros((c, c))
    u, v = np.zeros((r, r)), np.zeros((c, c))
    mean_p, mean_q = np.zeros((1, r)), np.zeros((1, c))
    whole = max(size.sum(), 1e-300)
    for i in range(k):
        for a in range(r):
            mean_p[0, a] += size[i] / whole * p[i, a]
        for b in range(c):
            mean_q[0, b] += size[i] / whole * q[i, b]
    nu, nv = basis(mean_p, 0, u0), basis(mean_q, 0, v0)
    count = nu * nv
    cov, fourth, slope, out = np.zeros((count, count)), np.zeros(count), np.zeros(count), np.zeros(count)
    total, signal, fourths, h = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    total_cov = np.zeros((count, count))
    terms = np.zeros((k, r, c))
    for i in range(k):
        if size[i] <= 0.0 or count == 0:
            continue
        centred(p, i, u0, nu, u)
        centred(q, i, v0, nv, v)
        covariance(i, size, about, s2, kurtosis, p, q, u, v, nu, nv, cov, fourth, slope)
        contrast(d, i, u0, v0, nu, nv, out)
        square = size[i] ** 2 + about[i, UNSEEN]
        for a in range(nu):
            for b in range(nv):
                e = a * nv + b
                unit = square * second_moments(p, i, u, a, a)[0] * second_moments(q, i, v, b, b)[0]
                h[e] = unit / cov[e, e] if cov[e, e] > 0.0 else 0.0
                total[e] += h[e] * out[e]
                signal[e] += h[e] * unit
                fourths[e] += h[e] ** 4 * fourth[e]
                if count == 1:
                    for x in range(r):
                        for y in range(c):
                            terms[i, x, y] = h[e] * size[i] * u[x, a] * v[y, b] * np.sqrt(s2[i, x, y])
        for e in range(count):
            for e2 in range(count):
                total_cov[e, e2] += h[e] * h[e2] * cov[e, e2]
    return total, total_cov, fourths, signal, terms


@jit
def forms(table: Any, s2: Any, kurtosis: Any, total: Any) -> Any:
    """Both forms of a noisy table: (Q, mean, variance) and what ``pooled`` gives."""
    d, size, p, q, about = prepare(table, s2, kurtosis, total)
    return omnibus(d, s2, kurtosis, size, p, q, about), pooled(d, s2, kurtosis, size, p, q, about)
