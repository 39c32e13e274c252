"""Independence of x and y given s, from a table released with noise of known variance.

**Formula.** T = O + Z of shape (k, r, c), cell variance ``variance`` and excess kurtosis ``kurtosis`` of Z (3
Laplace, 0 Gaussian). Contrasts C = u'(N T - R C')v of every block are unbiased under independence
(below); two forms sum them: *omnibus* squares each, *pooled* adds them over blocks first;
``combined`` joins both p-values. With one block of 2 x 2 the forms agree; without noise omnibus is Pearson's with
weights sqrt(n_i).

**Guarantee.** Post-processing of a released table: costs nothing. Nothing here sees counts without noise. That the
contrasts are unbiased is proved in ``measured.proof.md``.

**Null law and assumptions.** Independent noise of mean 0 in every cell, rows independent given s. Contrasts have
mean 0 exactly and nearly the stated variance; p-values are approximate:

- *one contrast* (2 x 2 tables): S = sum of independent noise terms of known standard deviations and the rest (sampling,
  products of noise). A term of excess kurtosis e is variance-gamma with cumulant generating function
  -(3/e) log(1 - e s^2 t^2/6): exactly Laplace at e = 3, normal at e = 0. The tail is Lugannani and Rice's [1, eq. 10],
  right in relative terms far out, where noise has exponential and not Gaussian tails;
- *sums of squares*: a gamma law with the form's own mean and variance, fourth cumulants included (Satterthwaite);
- *together*: Cauchy combination [2] of the two p-values, which needs no knowledge of their dependence.

What level results is measured in ``benchmarks/tables_stats.py``. **Where it fails**: many blocks of very unequal size
with noise as large as the typical block (.05 became .08, .001 became .01, in the worst case seen), 3 x 3 tables in 64
blocks (.07), and p-values below 1e-3 in general: two to five times too small where noise dominates.

**Cost** O(k ((r-1)(c-1))^2), times c where cells differ in noise. **Edge cases**: an empty level without noise drops
out; nothing left gives p = 1.

Margins
-------
What a noisy table says about the sizes and margins of its blocks: the nuisance part of the test. Block i of a released
table T = O + Z has size n_i, row proportions p_i and column proportions q_i. Estimates only set weights and variances;
the contrasts tested are unbiased whatever they are (``measured.proof.md``).

**Sizes.** m = mean size (n/k where n is public). The variance of the observed sizes beyond noise is t2, at
least m (Poisson). Sizes follow the observed ones with rho = tg/(tg + noise), tg the excess over noise beyond
``MIN_STANDARD_ERRORS`` standard errors: without clear evidence of difference all blocks get m, so that weights cannot
follow the noise they are tested against. **Proportions** are drawn towards the pooled ones in the same way; how much
they may still differ between blocks (the estimate without that margin, 0 to 1 in units of p (1 - p)) is kept as h_x,
h_y. **Residualised.** Margins share noise with the contrasts; their regression on the contrasts is taken out first.

Contrasts
---------
Interaction contrasts of a noisy table, unbiased under independence, with their covariance.
For a block T (r x c) let D = N T - R C' (N total, R row sums, C column sums): every entry is a sum of 2 x 2 minors.
Contrast (a, b) is u_a' D v_b, where the columns of u have mean 0 and variance 1 under p and u'u is diagonal (v the
same for q). Under independence E u'Dv = 0 exactly, for any independent noise of mean 0 (``measured.proof.md``).

**Variance**, with n the size, s2 the noise variance per cell, mu = sum p u^2, mv = sum q v^2:

    n^3 f mu mv                                            rows drawn at random
    + n^2 sum s2 u^2 v^2                                   noise, linear
    + s2 n (r c f mu mv + c uu mv (1-t_y^2) + r vv mu (1-t_x^2))      noise times sampling
    + 2 s2^2 (r uu - (sum u)^2)(c vv - (sum v)^2)          noise times noise

with uu = sum u^2, vv = sum v^2, in lines two and three raised by r h_x mu and c h_y mv: D 1 = 0, so only u less its
mean under the block's *true* p counts, and that mean varies by h_x mu where the estimate is pooled. Without this
.05 became .13 in 64 blocks with margins from .2 to .8 (``benchmarks/citests.py``, design "confounded").
f = (1 - 1/n)/((1 - t_x^2/n)(1 - t_y^2/n)): (n-1)/n where p, q are known from elsewhere (trust t = 0), n/(n-1) where
they are the block's own (t = 1); powers of n are their means over what is not known about n.

Forms
-----
The two forms that sum contrasts over blocks: squares one by one (omnibus), or sums first (pooled).
**Omnibus** Q = sum w C^2/v over all contrasts of all blocks; w = s^2/(v sqrt(n)) with s = n^2 the size of the
contrast at unit association, so blocks that are mostly noise count little. w would be optimal for equal
association in all blocks without sqrt(n), and Pearson's without noise with n instead; the root between them
keeps the level where sizes are poorly known (``benchmarks/tables_stats.py``).
**Pooled** S = sum_i h_i u' D_i v in one basis for all blocks, h_i = s_i/v_i (best linear), as in the generalised
Cochran-Mantel-Haenszel test: powerful when blocks agree in sign, blind when they cancel.

References: [1] Lugannani & Rice 1980; [2] Liu & Xie 2020; Gaboardi, Lim, Rogers & Vadhan 2016 (noisy-table chi-squared,
k = 1); Birch 1965 (pooled form).
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, ndtr

from dpcausal.core.compiled import jit
from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved

Floats = NDArray[np.float64]
MIN_STANDARD_ERRORS = 3.0  # of evidence before the sizes or proportions of blocks are taken to differ
MIN_POOLED_SHARE = 0.1  # a proportion never falls below this part of the pooled one while there is noise


class Blocks(NamedTuple):
    """The blocks of a table: variance and excess kurtosis of the noise, and what is estimated from noisy margins."""

    s2: Floats  # (k, r, c)
    kurtosis: float
    size: Floats  # (k,)
    p: Floats  # (k, r)
    q: Floats  # (k, c)
    about: Floats  # (k, ABOUT_COLUMNS)


class Work(NamedTuple):
    """What is overwritten block by block: bases, their second moments, and contrasts with what is known of them."""

    u: Floats
    v: Floats
    of_u: Floats
    of_v: Floats
    cov: Floats
    fourth: Floats
    slope: Floats
    out: Floats


# columns of the array ``about``: what is known of each block besides its size
TRUST_X, TRUST_Y = 0, 1  # weight of the block's own proportions, 0 pooled .. 1 own
SIZE_VARIANCE = 2  # variance of the true size around the estimate
UNFOLLOWED_VARIANCE = 3  # variance of the observed size that the estimate does not follow
MEAN_SIZE_VARIANCE = 4  # variance of the mean size (0 where n is public)
SIZE_WEIGHT = 5  # rho, the weight of the observed size in the estimate
NOISE_FACTOR = 6  # on the noise variance of a block whose cells vary more than its estimate explains
HIDDEN_X, HIDDEN_Y = 7, 8  # variance of the true proportions around the estimate, in units of p (1 - p)
ABOUT_COLUMNS = 9


@jit(error_model="numpy")
def sizes(total: Any, observed: Any, noise: Any, kurtosis: Any, out: Any, about: Any) -> None:
    """Write estimated block sizes, shrunk for noise, into ``out``."""
    k = observed.shape[0]
    shared = noise.sum() / k**2 if total <= 0.0 else 0.0
    mean = (total if total > 0.0 else observed.sum()) / k
    level = noise.sum() / k
    rho = 1.0
    between = 0.0
    if k > 1:
        raw = 0.0
        for i in range(k):
            raw += (observed[i] - mean) ** 2
        raw /= k - 1
        clear = max(raw - level * (1.0 + MIN_STANDARD_ERRORS * np.sqrt((2.0 + kurtosis) / (k - 1))), 0.0)
        between = max(raw - level, max(mean, 0.0))
        rho = clear / (clear + level) if level > 0.0 else 1.0
    for i in range(k):
        out[i] = max(mean + rho * (observed[i] - mean), 0.0)
        about[i, SIZE_VARIANCE] = max(between - rho * rho * (between + level), 0.0)
        about[i, UNFOLLOWED_VARIANCE] = (1.0 - rho) ** 2 * (noise[i] + between)
        about[i, MEAN_SIZE_VARIANCE] = (1.0 - rho) ** 2 * shared
        about[i, SIZE_WEIGHT] = rho


@jit(error_model="numpy")
def proportions(observed: Any, noise: Any, size: Any, kurtosis: Any, out: Any, about: Any, side: Any) -> None:
    """Write estimated level proportions (k, levels) of noisy margins into ``out``."""
    k, levels = observed.shape
    pool = np.zeros(levels)
    sigma2 = np.zeros(levels)
    noisy = 0.0
    for i in range(k):
        for a in range(levels):
            pool[a] += observed[i, a]
            sigma2[a] += noise[i, a]
            noisy += noise[i, a]
    total = 0.0
    for a in range(levels):
        least = 0.5 + 0.5 * np.sqrt(sigma2[a]) if sigma2[a] > 0.0 else 0.0
        pool[a] = max(pool[a], least)
        total += pool[a]
    for a in range(levels):
        pool[a] = pool[a] / total if total > 0.0 else 1.0 / levels
    between, hidden = 1.0, 0.0  # variance of a proportion between blocks, in units of pool (1 - pool)
    if k > 1 and noisy > 0.0:
        top = 0.0
        bottom = 0.0
        for i in range(k):
            for a in range(levels):
                unit = pool[a] * (1.0 - pool[a])
                base = noise[i, a] + size[i] * unit
                if base > 0.0:
                    weight = size[i] * size[i] * unit
                    top += weight * ((observed[i, a] - size[i] * pool[a]) ** 2 - base) / base**2
                    bottom += (weight / base) ** 2
        if bottom > 0.0:
            between = max(top / bottom - MIN_STANDARD_ERRORS * np.sqrt((2.0 + kurtosis) / bottom), 0.0)
            hidden = min(max(top / bottom, 0.0), 1.0)
    for i in range(k):
        about[i, side] = 0.0
        total = 0.0
        for a in range(levels):
            unit = between * pool[a] * (1.0 - pool[a])
            base = size[i] * size[i] * unit + noise[i, a]
            value = pool[a]
            if base > 0.0:
                value += size[i] * unit * (observed[i, a] - size[i] * pool[a]) / base
                about[i, side] += size[i] * size[i] * unit / base / levels
            else:
                about[i, side] += 1.0 / levels
            value = max(value, MIN_POOLED_SHARE * pool[a] if noise[i, a] > 0.0 else 0.0)
            out[i, a] = value
            total += value
        about[i, side + HIDDEN_X] = hidden * (1.0 - about[i, side]) ** 2
        for a in range(levels):
            out[i, a] = out[i, a] / total if total > 0.0 else 0.0


@jit(error_model="numpy")
def noise_factors(table: Any, variance: Any, size: Any, p: Any, q: Any, about: Any) -> None:
    """Set NOISE_FACTOR, which guards against taking an extreme noise draw for a large block.

    It is 1 + rho max(0, sum T^2/(1.5 expected) - 1).
    """
    k, r, c = table.shape
    for i in range(k):
        observed = 0.0
        expected = 0.0
        for a in range(r):
            for b in range(c):
                cell = p[i, a] * q[i, b]
                observed += table[i, a, b] ** 2
                expected += (
                    (size[i] ** 2 + about[i, SIZE_VARIANCE]) * cell * cell
                    + size[i] * cell
                    + variance[i, a, b]
                )
        over = observed / (1.5 * expected) - 1.0 if expected > 0.0 else 0.0
        about[i, NOISE_FACTOR] = 1.0 + about[i, SIZE_WEIGHT] * max(0.0, over)


@jit(error_model="numpy")
def basis(at: Any, i: Any, u: Any) -> int:
    """Write an orthonormal basis of contrasts for proportions p = at[i] into ``u``; return their number."""
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


@jit(error_model="numpy")
def work_for(r: Any, c: Any, contrasts: Any) -> Work:
    """Return the scratch arrays for a block with so many contrasts."""
    of_u, of_v, cov = np.zeros((3, r, r)), np.zeros((3, c, c)), np.zeros((contrasts, contrasts))
    fourth, slope, out = np.zeros(contrasts), np.zeros(contrasts), np.zeros(contrasts)
    return Work(np.zeros((r, r)), np.zeros((c, c)), of_u, of_v, cov, fourth, slope, out)


@jit(error_model="numpy")
def renewed(at: Any, i: Any, count: Any, u: Any) -> Any:
    """Write the contrasts of block i into ``u``, if its proportions are new; return their number."""
    differ = i == 0
    for a in range(0 if i == 0 else at.shape[1]):
        differ = differ or at[i, a] != at[i - 1, a]
    return basis(at, i, u) if differ else count


@proved("measured.proof.md")
@jit(error_model="numpy")
def minors(table: Any, rows: Any, columns: Any, totals: Any, out: Any) -> None:
    """Write D = N T - R C', proportional to observed minus expected counts, of every block into ``out``."""
    k, r, c = table.shape
    for i in range(k):
        for a in range(r):
            for b in range(c):
                out[i, a, b] = totals[i] * table[i, a, b] - rows[i, a] * columns[i, b]


@jit(error_model="numpy")
def contrast(d: Any, k: Any, u: Any, v: Any, nu: Any, nv: Any, out: Any) -> None:
    """Write the contrasts u_a' D_k v_b of block k into ``out[a nv + b]``."""
    for e in range(nu * nv):
        out[e] = 0.0
    for a in range(nu):
        for j in range(d.shape[2]):
            part = 0.0
            for i in range(d.shape[1]):
                part += u[i, a] * d[k, i, j]
            for b in range(nv):
                out[a * nv + b] += part * v[j, b]


# the matrices that ``second_moments`` writes, by their place in its last argument
WEIGHTED, PLAIN, SPREAD = 0, 1, 2


@jit(error_model="numpy")
def second_moments(p: Any, k: Any, u: Any, count: Any, whole: Any, out: Any) -> None:
    """Write the second moments of contrasts u under p, and unweighted, into ``out``.

    sum p u_a u_b, sum u_a u_b and levels sum u_a u_b - sum u_a sum u_b.

    Of all pairs of the first ``count`` columns of u, or unless ``whole`` of every column with itself.
    """
    levels = p.shape[1]
    for a in range(count):
        for b in range(0 if whole else a, a + 1):
            weighted, plain, left, right = 0.0, 0.0, 0.0, 0.0
            for i in range(levels):
                weighted += p[k, i] * u[i, a] * u[i, b]
                plain += u[i, a] * u[i, b]
                left += u[i, a]
                right += u[i, b]
            spread = levels * plain - left * right
            out[WEIGHTED, a, b], out[PLAIN, a, b], out[SPREAD, a, b] = weighted, plain, spread
            out[WEIGHTED, b, a], out[PLAIN, b, a], out[SPREAD, b, a] = weighted, plain, spread


@jit(error_model="numpy")
def fourth_moments(p: Any, k: Any, u: Any, a: Any) -> Any:
    """Return the fourth moments of contrast a: weighted by p, and unweighted."""
    weighted, plain = 0.0, 0.0
    for i in range(p.shape[1]):
        square = u[i, a] * u[i, a]
        weighted += p[k, i] * square * square
        plain += square * square
    return weighted, plain


@jit(error_model="numpy")
def covariance(blocks: Any, k: Any, work: Any, nu: Any, nv: Any, whole: Any) -> None:
    """Write the covariance and fourth cumulants of the contrasts of block k, and d log variance/d log n.

    Unless ``whole``, the diagonal of the covariance is written and nothing else. Second moments are overwritten. Every
    term is a product of a moment of u and a moment of v, so the loop over pairs of contrasts adds multiples of the
    three moment matrices of v.
    """
    s2, kurtosis, size, p, q, about = blocks
    u, v, of_u, of_v, cov, fourth, slope, _ = work
    _, r, c = s2.shape
    n = size[k]
    n1 = max(n, 1.0)
    tx, ty = about[k, TRUST_X] ** 2, about[k, TRUST_Y] ** 2
    f = max(1.0 - 1.0 / n1, 0.25) / ((1.0 - min(tx / n1, 0.5)) * (1.0 - min(ty / n1, 0.5)))
    square = n * n + about[k, SIZE_VARIANCE]
    cube = n * n * n + 3.0 * n * about[k, SIZE_VARIANCE]
    factor, hidden_x, hidden_y = about[k, NOISE_FACTOR], r * about[k, HIDDEN_X], c * about[k, HIDDEN_Y]
    mean2 = 0.0
    even = True
    for i in range(r):
        for j in range(c):
            mean2 += s2[k, i, j] / (r * c)
            even = even and s2[k, i, j] == s2[k, 0, 0]
    same = s2[k, 0, 0] if even else 0.0
    second_moments(p, k, u, nu, whole, of_u)
    second_moments(q, k, v, nv, whole, of_v)
    for a in range(nu):
        for a2 in range(0 if whole else a, nu if whole else a + 1):
            mu, uu, gu = of_u[WEIGHTED, a, a2], of_u[PLAIN, a, a2], of_u[SPREAD, a, a2]
            ux = uu + hidden_x * mu
            # linear = same uu vv + mean2 (ux vy - uu vv), with vy = vv + hidden_y mv
            by_plain = factor * (
                square * ((same - mean2) * uu + mean2 * ux) + mean2 * n * r * mu * (1.0 - tx)
            )
            by_weighted = cube * f * mu + factor * mean2 * (
                square * ux * hidden_y
                + n * (r * c * f * mu + c * ux * (1.0 - ty) + r * hidden_y * mu * (1.0 - tx))
            )
            by_spread = factor * 2.0 * mean2**2 * gu
            for b in range(nv):
                e = a * nv + b
                first, last = (0, nv) if whole else (b, b + 1)
                for b2 in range(first, last):
                    cov[e, a2 * nv + b2] = (
                        by_weighted * of_v[WEIGHTED, b, b2]
                        + by_plain * of_v[PLAIN, b, b2]
                        + by_spread * of_v[SPREAD, b, b2]
                    )
            if even:
                continue
            for j in range(c):  # cells differ in noise: their part of the linear term, level by level of y
                of_level = 0.0
                for i in range(r):
                    of_level += s2[k, i, j] * u[i, a] * u[i, a2]
                of_level *= factor * square
                for b in range(nv):
                    first, last = (0, nv) if whole else (b, b + 1)
                    for b2 in range(first, last):
                        cov[a * nv + b, a2 * nv + b2] += of_level * v[j, b] * v[j, b2]
    if not whole:
        return
    for a in range(nu):
        mu, uu, gu = of_u[WEIGHTED, a, a], of_u[PLAIN, a, a], of_u[SPREAD, a, a]
        fourth_u, plain_u = fourth_moments(p, k, u, a)
        for b in range(nv):
            e = a * nv + b
            mv, vv, gv = of_v[WEIGHTED, b, b], of_v[PLAIN, b, b], of_v[SPREAD, b, b]
            fourth_v, plain_v = fourth_moments(q, k, v, b)
            plain, flat = same * uu * vv, same**2 * plain_u * plain_v
            for i in range(0 if even else r):
                for j in range(c):
                    noise = s2[k, i, j] * (u[i, a] * v[j, b]) ** 2
                    plain += noise
                    flat += noise * noise
            linear = plain + mean2 * ((uu + hidden_x * mu) * (vv + hidden_y * mv) - uu * vv)
            sampling, product = cube * f * mu * mv, 2.0 * mean2**2 * gu * gv
            own = (fourth_u * fourth_v / (mu * mv) ** 2 - 3.0) / n1 if mu * mv > 0.0 else 0.0
            wobble = 12.0 * n * n * about[k, UNFOLLOWED_VARIANCE] * (n * f * mu * mv + linear) ** 2
            fourth[e] = (
                own * sampling**2 + kurtosis * n**4 * flat + wobble
                + 0.5 * ((3.0 + kurtosis) ** 2 - 3.0) * product**2
            )  # fmt: skip
            slope[e] = (3.0 * sampling + 2.0 * n * n * linear) / cov[e, e] if cov[e, e] > 0.0 else 0.0


@jit(error_model="numpy")
def margins(total: Any, n: Any, rows: Any, columns: Any, s2: Any, kurtosis: Any) -> Any:
    """Return the estimated (size, p, q, about) of every block from its observed margins."""
    k, r, c = s2.shape
    size = np.empty(k)
    about = np.zeros((k, ABOUT_COLUMNS))
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
    # given literals numba would compile the same kernel for each of them
    left, right = np.int64(TRUST_X), np.int64(TRUST_Y)
    proportions(rows, noise_rows, size, kurtosis / c, p, about, left)
    proportions(columns, noise_columns, size, kurtosis / r, q, about, right)
    return size, p, q, about


@jit(error_model="numpy")
def prepare(table: Any, s2: Any, kurtosis: Any, total: Any) -> Any:
    """Return the matrices D of all blocks and the estimated nuisance parameters."""
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
    about[:, NOISE_FACTOR] = 1.0
    blocks = Blocks(s2, kurtosis, size, p, q, about)
    work, of_level = work_for(r, c, (r - 1) * (c - 1)), np.zeros(c)
    nu, nv = 0, 0
    for i in range(k):
        nu, nv = renewed(p, i, nu, work.u), renewed(q, i, nv, work.v)
        covariance(blocks, i, work, nu, nv, False)
        contrast(d, i, work.u, work.v, nu, nv, work.out)
        for a in range(nu):
            of_level[:] = 0.0
            for b in range(nv):
                e = a * nv + b
                if work.cov[e, e] <= 0.0:
                    continue
                step = work.out[e] / work.cov[e, e] * size[i]
                for y in range(c):
                    of_level[y] += step * work.v[y, b]
            for x in range(r):
                for y in range(c):
                    part = s2[i, x, y] * work.u[x, a] * of_level[y]
                    rows[i, x] -= part
                    columns[i, y] -= part
                    n[i] -= part
    size, p, q, about = margins(total, n, rows, columns, s2, kurtosis)
    noise_factors(table, s2, size, p, q, about)
    return d, Blocks(s2, kurtosis, size, p, q, about)


@jit(error_model="numpy")
def omnibus(d: Any, blocks: Any) -> Any:
    """Return the omnibus statistic Q (sum of squared contrasts), its mean and variance under independence."""
    k, r, c = d.shape
    most = (r - 1) * (c - 1)
    work, w, scaled = work_for(r, c, most), np.zeros(most), np.zeros(most)
    size, about, cov, out = blocks.size, blocks.about, work.cov, work.out
    nu, nv = 0, 0
    value = 0.0
    mean = 0.0
    variance = 0.0
    shared = 0.0
    for i in range(k):
        nu, nv = renewed(blocks.p, i, nu, work.u), renewed(blocks.q, i, nv, work.v)
        if size[i] <= 0.0:
            continue
        covariance(blocks, i, work, nu, nv, True)
        contrast(d, i, work.u, work.v, nu, nv, out)
        signal = size[i] ** 2 + about[i, SIZE_VARIANCE]
        for e in range(nu * nv):
            w[e] = signal**2 / (cov[e, e] * np.sqrt(size[i])) if cov[e, e] > 0.0 else 0.0
            scaled[e] = w[e] / cov[e, e] if w[e] > 0.0 else 0.0
        for e in range(nu * nv):
            if w[e] == 0.0:
                continue
            value += w[e] * out[e] ** 2 / cov[e, e]
            mean += w[e]
            shared += w[e] * work.slope[e] * np.sqrt(about[i, MEAN_SIZE_VARIANCE]) / size[i]
            variance += scaled[e] ** 2 * work.fourth[e] + 2.0 * w[e] ** 2
            others = 0.0
            for e2 in range(e):
                others += scaled[e2] * cov[e, e2] ** 2
            variance += 4.0 * scaled[e] * others
    return value, mean, variance + shared**2


@jit(error_model="numpy")
def centred(p: Any, k: Any, u0: Any, count: Any, u: Any) -> None:
    """Write the columns of u0, centred by their mean under p[k], into ``u``."""
    for a in range(count):
        mean = 0.0
        for i in range(p.shape[1]):
            mean += p[k, i] * u0[i, a]
        for i in range(p.shape[1]):
            u[i, a] = u0[i, a] - mean


@jit(error_model="numpy")
def pooled(d: Any, blocks: Any) -> Any:
    """Return the pooled statistic: contrasts summed over blocks, with covariance and what the p-value needs.

    The last has shape (k, r, c) and is filled for a single contrast only (2 x 2 tables).
    """
    k, r, c = d.shape
    size, p, q = blocks.size, blocks.p, blocks.q
    u0, v0 = np.zeros((r, r)), np.zeros((c, c))
    mean_p, mean_q = np.zeros((1, r)), np.zeros((1, c))
    whole = max(size.sum(), 1e-300)
    for i in range(k):
        for a in range(r):
            mean_p[0, a] += size[i] / whole * p[i, a]
        for b in range(c):
            mean_q[0, b] += size[i] / whole * q[i, b]
    only = np.int64(0)  # no literal, as above
    nu, nv = basis(mean_p, only, u0), basis(mean_q, only, v0)
    count = nu * nv
    work = work_for(r, c, count)
    total, signal, fourths, h = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    total_cov, terms = np.zeros((count, count)), np.zeros((k, r, c))
    for i in range(k):
        if size[i] <= 0.0 or count == 0:
            continue
        centred(p, i, u0, nu, work.u)
        centred(q, i, v0, nv, work.v)
        covariance(blocks, i, work, nu, nv, True)
        contrast(d, i, u0, v0, nu, nv, work.out)
        square = size[i] ** 2 + blocks.about[i, SIZE_VARIANCE]
        for a in range(nu):
            for b in range(nv):
                e = a * nv + b
                unit = square * work.of_u[WEIGHTED, a, a] * work.of_v[WEIGHTED, b, b]
                h[e] = unit / work.cov[e, e] if work.cov[e, e] > 0.0 else 0.0
                total[e] += h[e] * work.out[e]
                signal[e] += h[e] * unit
                fourths[e] += h[e] ** 4 * work.fourth[e]
                if count == 1:
                    for x in range(r):
                        for y in range(c):
                            scale = h[e] * size[i] * work.u[x, a] * work.v[y, b]
                            terms[i, x, y] = scale * np.sqrt(blocks.s2[i, x, y])
        for e in range(count):
            for e2 in range(count):
                total_cov[e, e2] += h[e] * h[e2] * work.cov[e, e2]
    return total, total_cov, fourths, signal, terms


@jit(error_model="numpy")
def forms(table: Any, s2: Any, kurtosis: Any, total: Any) -> Any:
    """Return both statistics of a noisy table: omnibus (Q, mean, variance), and pooled."""
    d, blocks = prepare(table, s2, kurtosis, total)
    return omnibus(d, blocks), pooled(d, blocks)


LAPLACE, GAUSSIAN = 3.0, 0.0  # excess kurtosis of the noise
NORMAL_KURTOSIS = 1e-9  # an excess kurtosis below this is taken for that of a normal law
Form = Literal["combined", "omnibus", "pooled"]


@jit(error_model="numpy")
def _slopes(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the first two derivatives of the cumulant generating function at t."""
    first, second = 0.0, 0.0
    for j in range(sd.shape[0] + 1):
        var = rest if j == sd.shape[0] else sd[j] * sd[j]
        x = (rest_kurtosis if j == sd.shape[0] else kurtosis) * var * t * t / 6.0
        part = var / (1.0 - x)
        first += part * t
        second += part * (1.0 + x) / (1.0 - x)
    return first, second


@jit(error_model="numpy")
def _value(t: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the cumulant generating function at t."""
    value, product = 0.0, 1.0
    if kurtosis > NORMAL_KURTOSIS:
        for j in range(sd.shape[0]):
            product *= 1.0 - kurtosis * sd[j] * sd[j] * t * t / 6.0
            if product < 1e-200:
                value -= 3.0 / kurtosis * math.log(product)
                product = 1.0
        value -= 3.0 / kurtosis * math.log(product)
    else:
        value += 0.5 * t * t * (sd * sd).sum()
    if rest_kurtosis > NORMAL_KURTOSIS:
        return value - 3.0 / rest_kurtosis * math.log(1.0 - rest_kurtosis * rest * t * t / 6.0)
    return value + 0.5 * rest * t * t


@jit(error_model="numpy")
def _saddle(x: Any, sd: Any, kurtosis: Any, rest: Any, rest_kurtosis: Any) -> Any:
    """Return the saddle point t with K'(t) = x, and K and K'' there."""
    top = 1e300
    if kurtosis > NORMAL_KURTOSIS:
        top = math.sqrt(6.0 / kurtosis) / max(sd.max(), 1e-150)
    if rest_kurtosis > NORMAL_KURTOSIS:
        top = min(top, math.sqrt(6.0 / (rest_kurtosis * max(rest, 1e-300))))
    low, high = 0.0, top
    t = min(x / (rest + (sd * sd).sum()), 0.5 * top)
    for _ in range(100):
        first, second = _slopes(t, sd, kurtosis, rest, rest_kurtosis)
        if abs(first - x) <= 1e-10 * x:
            break
        if first > x:
            high = t
        else:
            low = t
        new = t + (x - first) / second
        if not low < new < high:
            new = 0.5 * (low + high)
        t = new
    second = _slopes(t, sd, kurtosis, rest, rest_kurtosis)[1]
    return t, _value(t, sd, kurtosis, rest, rest_kurtosis), second


def one_contrast_pvalue(value: float, variance: float, fourth: float, sd: Floats, kurtosis: float) -> float:
    """Return the two-sided p-value of one contrast by saddlepoint approximation.

    >>> round(one_contrast_pvalue(1.959964, 1.0, 0.0, np.zeros(1), 0.0), 4)
    0.05
    >>> round(one_contrast_pvalue(5.0, 2.0, 12.0, np.array([2.0**0.5]), 3.0) * math.exp(5.0), 1)
    1.0
    """
    if variance <= 0.0:
        return 1.0
    terms = np.abs(sd) if kurtosis > NORMAL_KURTOSIS else np.zeros(1)
    squares = terms * terms
    rest = max(variance - float(squares.sum()), 1e-12 * variance)
    beyond = (fourth - kurtosis * float(squares @ squares)) / rest**2
    x = abs(value)
    if x <= 1e-3 * math.sqrt(variance):
        return 1.0
    t, k, second = _saddle(x, terms, kurtosis, rest, min(max(beyond, 0.0), 30.0))
    w = math.sqrt(max(2.0 * (t * x - k), 1e-300))
    tail = float(ndtr(-w)) + math.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi) * (
        1.0 / (t * math.sqrt(second)) - 1.0 / w
    )
    return float(min(max(2.0 * tail, 0.0), 1.0))


def gamma_pvalue(value: float, mean: float, variance: float) -> float:
    """Return P(Q >= value) for a gamma law of that mean and variance; 1 where there is nothing to test.

    >>> round(gamma_pvalue(3.841459, 1.0, 2.0), 4)
    0.05
    >>> gamma_pvalue(0.0, 0.0, 0.0)
    1.0
    """
    if mean <= 0.0 or variance <= 0.0:
        return 1.0
    return float(gammaincc(mean * mean / variance, value * mean / variance))


def cauchy_combination(first: float, second: float) -> float:
    """Return the Cauchy combination of two p-values: nearly valid for small ones, whatever their dependence.

    >>> round(cauchy_combination(0.03, 0.03), 6), round(cauchy_combination(0.001, 0.5), 4)
    (0.03, 0.002)
    """
    if first == second:
        return first
    total = 0.0
    for p in (first, second):
        total += 0.5 / math.tan(math.pi * min(max(p, 1e-300), 1.0 - 1e-3))
    return math.atan2(1.0, total) / math.pi


class MeasuredTest(NamedTuple):
    """What a noisy table says about independence.

    ``pvalue`` and ``statistic`` are of the form asked for: omnibus Q over its null mean; pooled S over its standard
    deviation, squared (d.o.f.-weighted mean of squares); of both together, the p-value of the combination and the
    statistic of the form with the smaller one.
    """

    pvalue: float
    statistic: float
    omnibus_pvalue: float
    pooled_pvalue: float


def checked_measurement(table: ArrayLike, variance: ArrayLike) -> tuple[Floats, Floats]:
    """Return table and variance as float64 of shape (k, r, c); refuse bad values, which are public."""
    noisy = np.array(table, dtype=np.float64, order="C")  # a copy: read-only arrays compile anew
    if noisy.ndim != 3 or noisy.shape[0] < 1 or min(noisy.shape[1:]) < 1:
        raise InputError(f"a measured table must have shape (k, r, c), not {noisy.shape}")
    if isinstance(variance, float | int):
        variances = np.full(noisy.shape, float(variance))
    else:
        try:
            variances = np.array(np.broadcast_to(np.asarray(variance, np.float64), noisy.shape), order="C")
        except ValueError:
            raise InputError(f"variance must be a number or of shape {noisy.shape}") from None
    if not (math.isfinite(noisy.sum()) and math.isfinite(variances.sum()) and variances.min() >= 0.0):
        raise InputError("measured cells and variances must be finite, variances not negative")
    return noisy, variances


def measured_test(
    table: ArrayLike,
    variance: ArrayLike,
    *,
    kurtosis: float = LAPLACE,
    n: int | None = None,
    form: Form = "combined",
) -> MeasuredTest:
    """Test independence in every block of a table that was released with noise.

    Parameters
    ----------
    table
        The noisy counts, of shape (k, r, c).
    variance
        Of the noise, one number or one for each cell.
    kurtosis
        Excess kurtosis of the noise: ``LAPLACE`` or ``GAUSSIAN``.
    n
        The number of rows where it is public, else None.
    form
        "omnibus", "pooled", or "combined" for both.

    >>> rng = np.random.default_rng(1)
    >>> table = np.array([[[300, 200], [200, 300]], [[30, 70], [20, 180]]]) + rng.laplace(0, 2.0, (2, 2, 2))
    >>> measured_test(table, 8.0, n=1300).pvalue < 1e-6
    True
    """
    noisy, variances = checked_measurement(table, variance)
    if min(noisy.shape[1:]) < 2:
        return MeasuredTest(1.0, 0.0, 1.0, 1.0)
    (q_value, q_mean, q_variance), (s, cov, fourth, signal, terms) = forms(
        noisy, variances, float(kurtosis), float(n or 0)
    )
    p_pooled, p_value = _pooled_law(s, cov, fourth, signal, terms.ravel(), float(kurtosis))
    only = len(noisy) == 1 and s.size <= 1
    p_omnibus = p_pooled if only else gamma_pvalue(q_value, q_mean, q_variance)
    o_value = q_value / q_mean if q_mean > 0.0 else 0.0
    if form == "omnibus":
        return MeasuredTest(p_omnibus, o_value, p_omnibus, p_pooled)
    if form == "pooled":
        return MeasuredTest(p_pooled, p_value, p_omnibus, p_pooled)
    if form != "combined":
        raise InputError(f'form must be "combined", "omnibus" or "pooled", not {form!r}')
    both = p_pooled if only else cauchy_combination(p_omnibus, p_pooled)
    return MeasuredTest(both, o_value if p_omnibus < p_pooled else p_value, p_omnibus, p_pooled)


def _pooled_law(
    s: Floats, cov: Floats, fourth: Floats, signal: Floats, terms: Floats, kurtosis: float
) -> tuple[float, float]:
    """Return the p-value and the statistic of the pooled form."""
    variance = np.diag(cov)
    live = (variance > 0.0) & (signal > 0.0)
    if not live.any():
        return 1.0, 0.0
    if s.size == 1:
        total = float(cov[0, 0])
        pvalue = one_contrast_pvalue(float(s[0]), total, float(fourth[0]), terms, kurtosis)
        return pvalue, float(s[0]) ** 2 / total
    s, variance, fourth, cov = s[live], variance[live], fourth[live], cov[np.ix_(live, live)]
    weight = signal[live] ** 2 / variance
    weight /= weight.sum()
    value = float((weight * s * s / variance).sum())
    scaled = weight / variance
    form_variance = float(2.0 * (np.outer(scaled, scaled) * cov**2).sum() + (scaled**2 * fourth).sum())
    return gamma_pvalue(value, 1.0, max(form_variance, 0.1 / s.size)), value
