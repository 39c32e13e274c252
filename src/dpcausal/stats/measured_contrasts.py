"""Interaction contrasts of a noisy table, unbiased under independence, with their covariance.

For a block T (r x c) let D = N T - R C' (N total, R row sums, C column sums): every entry is a sum of 2 x 2 minors.
Contrast (a, b) is u_a' D v_b, where the columns of u have mean 0 and variance 1 under p and u'u is diagonal (v the
same for q). Under independence E u'Dv = 0 exactly, for any independent noise of mean 0 (``measured.proof.md``).

**Variance**, with n the size, s2 the noise variance per cell, mu = sum p u^2, mv = sum q v^2:

    n^3 f mu mv                                            rows drawn at random
    + n^2 sum s2 u^2 v^2                                   noise, linear
    + s2 n (r c f mu mv + c uu mv (1-t_y^2) + r vv mu (1-t_x^2))      noise times sampling
    + 2 s2^2 (r uu - (sum u)^2)(c vv - (sum v)^2)          noise times noise

f = (1 - 1/n)/((1 - t_x^2/n)(1 - t_y^2/n)): (n-1)/n where p, q are known from elsewhere (trust t = 0), n/(n-1) where
they are the block's own (t = 1); powers of n are their means over what is not known about n.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcausal.core.proofs import proved
from dpcausal.stats.measured_margins import (
    ABOUT,
    JITTER,
    LOUD,
    TRUST_X,
    TRUST_Y,
    UNSEEN,
    jit,
    loudness,
    proportions,
    sizes,
)  # fmt: skip


@jit
def basis(at: Any, i: Any, u: Any) -> int:
    """Fill the columns of ``u`` (see above) for p = at[i]; how many there are: levels with p > 0, less one."""
    if at.shape[1] == 2:
        one, two = at[i, 0], at[i, 1]
        if one <= 0.0 or two <= 0.0:
            return 0
        u[0, 0] = np.sqrt(two / one)
        u[1, 0] = -np.sqrt(one / two)
        return 1
    p = at[i]
    u[:] = 0.0
    live = np.nonzero(p > 0.0)[0]
    m = live.shape[0]
    if m < 2:
        return 0
    root = np.sqrt(p[live])
    inverse = 1.0 / p[live]
    far = m + 4.0 * inverse.sum()  # moves sqrt(p) itself to the end of the spectrum
    form = np.zeros((m, m))
    for a in range(m):
        for b in range(m):
            form[a, b] = root[a] * root[b] * (far - inverse[a] - inverse[b])
        form[a, a] += inverse[a]
    vectors = np.linalg.eigh(form)[1]
    for a in range(m - 1):
        for x in range(m):
            u[live[x], a] = vectors[x, a] / root[x]
    return m - 1


@proved("measured.proof.md")
@jit
def minors(table: Any, rows: Any, columns: Any, totals: Any, out: Any) -> None:
    """D = N T - R C' of every block, from its margins."""
    k, r, c = table.shape
    for i in range(k):
        for a in range(r):
            for b in range(c):
                out[i, a, b] = totals[i] * table[i, a, b] - rows[i, a] * columns[i, b]


@jit
def contrast(d: Any, k: Any, u: Any, v: Any, nu: Any, nv: Any, out: Any) -> None:
    """out[a nv + b] = u_a' D_k v_b."""
    for a in range(nu):
        for b in range(nv):
            total = 0.0
            for i in range(d.shape[1]):
                for j in range(d.shape[2]):
                    total += u[i, a] * d[k, i, j] * v[j, b]
            out[a * nv + b] = total


@jit
def second_moments(p: Any, k: Any, u: Any, a: Any, b: Any) -> Any:
    """(sum p u_a u_b, sum u_a u_b, levels sum u_a u_b - sum u_a sum u_b)."""
    weighted, plain, left, right = 0.0, 0.0, 0.0, 0.0
    for i in range(p.shape[1]):
        weighted += p[k, i] * u[i, a] * u[i, b]
        plain += u[i, a] * u[i, b]
        left += u[i, a]
        right += u[i, b]
    return weighted, plain, p.shape[1] * plain - left * right


@jit
def fourth_moment(p: Any, k: Any, u: Any, a: Any) -> Any:
    """sum p u_a^4."""
    total = 0.0
    for i in range(p.shape[1]):
        square = u[i, a] * u[i, a]
        total += p[k, i] * square * square
    return total


@jit
def covariance(
    k: Any, size: Any, about: Any, s2: Any, kurtosis: Any, p: Any, q: Any, u: Any, v: Any, nu: Any, nv: Any,
    cov: Any, fourth: Any, slope: Any,
) -> None:  # fmt: skip
    """Covariance of the contrasts of block k, their fourth cumulants, and d log variance/d log n."""
    _, r, c = s2.shape
    n = size[k]
    n1 = max(n, 1.0)
    tx, ty = about[k, TRUST_X] ** 2, about[k, TRUST_Y] ** 2
    f = max(1.0 - 1.0 / n1, 0.25) / ((1.0 - min(tx / n1, 0.5)) * (1.0 - min(ty / n1, 0.5)))
    square = n * n + about[k, UNSEEN]
    cube = n * n * n + 3.0 * n * about[k, UNSEEN]
    mean2 = 0.0
    even = True
    for i in range(r):
        for j in range(c):
            mean2 += s2[k, i, j] / (r * c)
            even = even and s2[k, i, j] == s2[k, 0, 0]
    for a in range(nu):
        for a2 in range(nu):
            mu, uu, gu = second_moments(p, k, u, a, a2)
            for b in range(nv):
                for b2 in range(nv):
                    mv, vv, gv = second_moments(q, k, v, b, b2)
                    linear = 0.0
                    if even:
                        linear = s2[k, 0, 0] * uu * vv
                    else:
                        for i in range(r):
                            for j in range(c):
                                linear += s2[k, i, j] * u[i, a] * u[i, a2] * v[j, b] * v[j, b2]
                    sampling = cube * f * mu * mv
                    mixed = (
                        mean2
                        * n
                        * (r * c * f * mu * mv + c * uu * mv * (1.0 - ty) + r * vv * mu * (1.0 - tx))
                    )
                    product = 2.0 * mean2**2 * gu * gv
                    e, e2 = a * nv + b, a2 * nv + b2
                    cov[e, e2] = sampling + about[k, LOUD] * (square * linear + mixed + product)
                    if e == e2:
                        flat = 0.0
                        for i in range(r):
                            for j in range(c):
                                square2 = s2[k, i, j] * (u[i, a] * v[j, b]) ** 2
                                flat += square2 * square2
                        m4 = fourth_moment(p, k, u, a) * fourth_moment(q, k, v, b)
                        own = (m4 / (mu * mv) ** 2 - 3.0) / n1 if mu * mv > 0.0 else 0.0
                        wobble = 12.0 * n * n * about[k, JITTER] * (n * f * mu * mv + linear) ** 2
                        fourth[e] = (
                            own * sampling**2 + kurtosis * n**4 * flat + wobble
                            + 0.5 * ((3.0 + kurtosis) ** 2 - 3.0) * product**2
                        )  # fmt: skip
                        slope[e] = (
                            (3.0 * sampling + 2.0 * n * n * linear) / cov[e, e] if cov[e, e] > 0.0 else 0.0
                        )


@jit
def margins(total: Any, n: Any, rows: Any, columns: Any, s2: Any, kurtosis: Any) -> Any:
    """Estimated (size, p, q, about) of every block from its observed margins."""
    k, r, c = s2.shape
    size = np.empty(k)
    about = np.zeros((k, ABOUT))
    p = np.empty((k, r))
    q = np.empty((k, c))
    noise_rows = np.zeros((k, r))
    noise_columns = np.zeros((k, c))
    noise = np.zeros(k)
    for i in range(k):
        for a in range(r):
            for b in range(c):
                noise_rows[i, a] += s2[i, a, b]
                noise_columns[i, b] += s2[i, a, b]
                noise[i] += s2[i, a, b]
    sizes(total, n, noise, kurtosis / (r * c), size, about)
    proportions(rows, noise_rows, size, kurtosis / c, p, about, TRUST_X)
    proportions(columns, noise_columns, size, kurtosis / r, q, about, TRUST_Y)
    return size, p, q, about


@jit
def prepare(table: Any, s2: Any, kurtosis: Any, total: Any) -> Any:
    """(D, size, p, q, about): the contrasts' matrices and the nuisance estimates, residualised."""
    k, r, c = table.shape
    rows, columns, n = np.zeros((k, r)), np.zeros((k, c)), np.zeros(k)
    for i in range(k):
        for a in range(r):
            for b in range(c):
                rows[i, a] += table[i, a, b]
                columns[i, b] += table[i, a, b]
                n[i] += table[i, a, b]
    d = np.empty((k, r, c))
    minors(table, rows, columns, n, d)
    size, p, q, about = margins(total, n, rows, columns, s2, kurtosis)
    about[:, LOUD] = 1.0
    u, v = np.zeros((r, r)), np.zeros((c, c))
    most = (r - 1) * (c - 1)
    cov, fourth, slope, out = np.zeros((most, most)), np.zeros(most), np.zeros(most), np.zeros(most)
    for i in range(k):
        nu, nv = basis(p, i, u), basis(q, i, v)
        covariance(i, size, about, s2, kurtosis, p, q, u, v, nu, nv, cov, fourth, slope)
        contrast(d, i, u, v, nu, nv, out)
        for a in range(nu):
            for b in range(nv):
                e = a * nv + b
                if cov[e, e] <= 0.0:
                    continue
                step = out[e] / cov[e, e] * size[i]
                for x in range(r):
                    for y in range(c):
                        part = step * s2[i, x, y] * u[x, a] * v[y, b]
                        rows[i, x] -= part
                        columns[i, y] -= part
                        n[i] -= part
    size, p, q, about = margins(total, n, rows, columns, s2, kurtosis)
    loudness(table, s2, size, p, q, about)
    return d, size, p, q, about
