"""Compiled kernels of the gwas room.

**Genotype counts of two groups** from PLINK's two bits a person, by popcount. A person's pair of bits (high, low): 00
homozygous for allele 1, 10 heterozygous, 11 homozygous for allele 2, 01 no call. With ``mask`` words that hold a 1 on
the low bit of every member of a group,

    hom1 = popcount(~high & ~(low & hidden) & mask),    het = popcount((high & ~low | ~high & low & halved) & mask)

where ``hidden`` and ``halved`` (all ones or all zeros) say what a missing call counts as. Only every other bit of such
a word is in use, so two words share one popcount. Rows start at any byte: loads are unaligned, the last word of a
row reaches into the next one and the mask hides it.

**The other way**: simulated alleles to PLINK's two bits. **Lines** of a .bim file, in one pass over its bytes.
**Signed distance** of allele counts to the border of significance (``statistics.py``, ``statistics.proof.md``).
**Sums over the hypergeometric law** of c11 given the margins, for many margins at once (``null_law.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np

from dpcausal.core.compiled import jit, pointer, popcount
from dpcausal.core.proofs import proved


@jit()
def count_genotypes(
    address: Any, stride: int, rows: Any, case: Any, control: Any, hidden: Any, halved: Any, out: Any
) -> None:
    """Write the counts (hom1, het) of cases and of controls for each row of a .bed matrix into ``out``.

    ``case`` and ``control`` have an even number of words, zero behind the last person; all their bytes must be
    readable behind the start of every row.
    """
    one = nb.uint64(1)
    pairs = case.shape[0] // 2
    for i in range(rows.shape[0]):
        row = nb.carray(
            pointer(address + nb.uint64(stride) * nb.uint64(rows[i])), case.shape[0], dtype=np.uint64
        )
        a1, a2, b1, b2 = nb.uint64(0), nb.uint64(0), nb.uint64(0), nb.uint64(0)
        for p in range(pairs):
            u, v = row[2 * p], row[2 * p + 1]
            cu, cv, du, dv = case[2 * p], case[2 * p + 1], control[2 * p], control[2 * p + 1]
            hu, hv = u >> one, v >> one
            hom_u, hom_v = ~hu & ~(u & hidden), ~hv & ~(v & hidden)
            het_u, het_v = hu & ~u | ~hu & u & halved, hv & ~v | ~hv & v & halved
            a1 += popcount((hom_u & cu) | ((hom_v & cv) << one))
            a2 += popcount((het_u & cu) | ((het_v & cv) << one))
            b1 += popcount((hom_u & du) | ((hom_v & dv) << one))
            b2 += popcount((het_u & du) | ((het_v & dv) << one))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a1, a2, b1, b2


@jit()
def pack_genotypes(draws: Any, case: Any, in_cases: Any, in_controls: Any, lost: Any, out: Any) -> None:
    """Set ``out[i]`` to the bytes of SNP i; an allele is allele 1 if its 16-bit draw is below the group's cut.

    ``draws[i, 3 * j + a]`` for allele a = 0, 1 of person j; the third draw below ``lost`` makes the call missing.
    """
    for i in range(draws.shape[0]):
        for j in range(case.shape[0]):
            cut = in_cases[i] if case[j] else in_controls[i]
            copies = int(draws[i, 3 * j] < cut) + int(draws[i, 3 * j + 1] < cut)
            code = 0 if copies == 2 else (2 if copies == 1 else 3)
            if draws[i, 3 * j + 2] < lost:
                code = 1
            shift = nb.uint8(2 * (j % 4))
            if j % 4 == 0:
                out[i, j // 4] = nb.uint8(0)
            out[i, j // 4] |= nb.uint8(code) << shift


TAB, NEWLINE, RETURN, BLANK, MINUS, ZERO, NINE = 9, 10, 13, 32, 45, 48, 57


@jit()
def find_lines(text: Any, ends: Any) -> bool:
    """Fill ``ends`` with the offsets of all line breaks; return whether every line is plain.

    True if every line has six columns by tabs, none empty, no blank, and a whole number as the fourth.
    """
    column, width, k, plain = 0, 0, 0, True
    for i in range(text.shape[0]):
        c = text[i]
        if c > BLANK:
            if column == 3 and (c < ZERO or c > NINE) and (c != MINUS or width > 0):
                plain = False
            width += 1
        elif c == TAB:
            plain &= width > 0
            column, width = column + 1, 0
        elif c == NEWLINE:
            plain &= column == 5 and width > 0
            ends[k] = i
            k, column, width = k + 1, 0, 0
        else:
            plain = False
    return plain


@jit()
def _band(x: Any, n: Any, nx: Any, ny: Any, tau: Any) -> Any:
    """Return the interval (low, high) of c10 = y for which the table with c11 = x is not significant, 0 <= x <= nx.

    The border of significance, chi2 = tau, is an ellipse in (x, y).

    On the box's edges one end is a corner of the box, exactly: rounding must not open a way out there.
    """
    edge = tau * ny * n / (n * nx + tau * ny)
    if x <= 0.0:
        return 0.0, edge
    if x >= nx:
        return ny - edge, ny
    a = nx * (nx * n + tau * ny)
    b = nx * ny * (tau * (0.5 * n - x) + n * x)
    # b^2 - a c with c = ny x (ny n x - tau nx (n - x)), the cancelling terms taken out
    root = n * math.sqrt(tau * nx * ny * (0.25 * tau * nx * ny + n * x * (nx - x)))
    return (b - root) / a, (b + root) / a


@jit()
def _leave(y: Any, low: Any, high: Any, top: Any) -> Any:
    """Return how far y must move within [0, top] to leave the interval [low, high]; infinity if it can't."""
    best = math.inf
    if low > 0.0:
        best = max(y - low, 0.0)
    if high < top:
        best = min(best, max(high - y, 0.0))
    return best


@jit()
@proved("statistics.proof.md")
def signed_distances(c11: Any, c10: Any, n1: Any, n0: Any, tau: Any, out: Any) -> None:
    """Write into ``out[i]`` the distance of (c11[i], c10[i]) to the border of significance, chi2 = tau.

    The border is an ellipse; tables inside, which are not significant, have minus their distance to the outside.

    A table and its mirror image (the other allele counted) are computed as one of the two: the same double.
    """
    n = n1 + n0
    spread, lean = math.sqrt(tau * n0 * n1 / n), 0.5 * (n1 - n0)
    reach = math.sqrt(spread * spread + lean * lean)
    least = lean - reach  # least x - y on the ellipse, at (corner_x, corner_y)
    half, link = 0.5 * n * (1.0 - lean / reach), -0.5 * spread / reach * math.sqrt(tau * n * n0 * n1)
    corner_x, corner_y = (link + n1 * half) / n, (n0 * half - link) / n
    edge_y = tau * n0 * n / (n * n1 + tau * n0)  # on x = 0 the ellipse ends here
    edge_x = tau * n1 * n / (n * n0 + tau * n1)  # and here on y = 0
    for i in range(c11.shape[0]):
        a, b = float(c11[i]), float(c10[i])
        link = n0 * a - n1 * b
        # mirror, so that the way in is up in a and down in b, and so that both alleles give the same
        if link > 0.0 or (link == 0.0 and 2.0 * (a + b) > n):
            a, b = n1 - a, n0 - b
        outside = n * link * link > tau * n0 * n1 * (a + b) * (n - a - b)
        low_y, high_y = _band(a, n, n1, n0, tau)
        low_x, high_x = _band(b, n, n0, n1, tau)
        if outside:
            best = min(b - high_y, low_x - a)
            if corner_x >= a and corner_y <= b:
                best = min(best, least - (a - b))
            out[i] = max(best, 0.0)
        else:
            best = min(_leave(b, low_y, high_y, n0), _leave(a, low_x, high_x, n1))
            best = min(best, a + _leave(b, 0.0, edge_y, n0), n1 - a + _leave(b, n0 - edge_y, n0, n0))
            best = min(best, b + _leave(a, 0.0, edge_x, n1), n0 - b + _leave(a, n1 - edge_x, n1, n1))
            out[i] = -min(best, n)


@jit()
def _log_mass(x: Any, n1: Any, n0: Any, m: Any) -> Any:
    """Return log P(c11 = x | M1 = m) of the hypergeometric law of allele counts, for real x."""
    if x < 0.0 or x > m or x > n1 or m - x > n0:
        return -math.inf
    own = math.lgamma(n1 + 1.0) - math.lgamma(x + 1.0) - math.lgamma(n1 - x + 1.0)
    other = math.lgamma(n0 + 1.0) - math.lgamma(m - x + 1.0) - math.lgamma(n0 - m + x + 1.0)
    both = math.lgamma(n1 + n0 + 1.0) - math.lgamma(m + 1.0) - math.lgamma(n1 + n0 - m + 1.0)
    return own + other - both


@jit()
def _beyond(x: Any, step: Any, n1: Any, n0: Any, m: Any) -> Any:
    """Return an upper bound on the hypergeometric tail P(c11 >= x | M1 = m) (<= x for a negative step).

    The sum of masses at x, x + step, x + 2 step, ..., for x beyond the mode.
    """
    mass = math.exp(_log_mass(x, n1, n0, m))
    total = 0.0
    while mass > 1e-12 * total and mass > 0.0:
        total += mass
        if step > 0:
            mass *= max((n1 - x) * (m - x), 0.0) / ((x + 1.0) * max(n0 - m + x + 1.0, 1e-300))
        else:
            mass *= max(x * (n0 - m + x), 0.0) / ((n1 - x + 1.0) * (m - x + 1.0))
        x += step
    return total


@jit()
def chi2_tails(cut: Any, n1: Any, n0: Any, margins: Any, out: Any) -> None:
    """Set ``out[i]`` to an upper bound on P(chi2 >= cut | M1 = margins[i]), smooth in the margin."""
    n = n1 + n0
    for i in range(margins.shape[0]):
        m = margins[i]
        if m <= 0.0 or m >= n:  # chi2 is 0 there
            out[i] = 0.0
            continue
        centre = m * n1 / n
        width = math.sqrt(cut * n0 * n1 * m * (n - m) / n) / n
        out[i] = min(_beyond(centre + width, 1.0, n1, n0, m) + _beyond(centre - width, -1.0, n1, n0, m), 1.0)


@jit()
def fill_laws(n1: Any, n0: Any, margins: Any, c11: Any, c10: Any, mass: Any) -> None:
    """Fill arrays with the distribution of c11 given each margin; long ones are thinned to every ``stride``-th value.

    Rows of ``c11``, ``c10``, ``mass``; unused places get mass 0 and a possible table.
    """
    n = n1 + n0
    places = c11.shape[1]
    for i in range(margins.shape[0]):
        m = margins[i]
        low, high = max(0.0, m - n0), min(n1, m)
        centre = m * n1 / n
        width = 9.0 * math.sqrt(n0 * n1 * m * (n - m) / n) / n + 30.0
        first, last = max(low, math.floor(centre - width)), min(high, math.ceil(centre + width))
        stride = math.ceil((last - first + 1.0) / places)
        total = 0.0
        for j in range(places):
            x = first + j * stride
            if x > last:
                c11[i, j], c10[i, j], mass[i, j] = first, m - first, 0.0
            else:
                c11[i, j], c10[i, j], mass[i, j] = x, m - x, math.exp(_log_mass(x, n1, n0, m))
                total += mass[i, j]
        for j in range(places):
            mass[i, j] /= total


@jit()
def noisy_tail(cut: Any, value: Any, mass: Any, up: Any, down: Any) -> Any:
    """Return P(V + Z >= cut) for V with values ``value`` and probabilities ``mass``, and noise Z.

    Z = Exp(up) - Exp(down) in law: exponential tails of scales ``up`` and ``down``.
    """
    total, share = 0.0, up / (up + down)
    for j in range(value.shape[0]):
        gap = cut - value[j]
        if mass[j] > 0.0:
            if gap >= 0.0:
                total += mass[j] * share * math.exp(-gap / up)
            else:
                total += mass[j] * (1.0 - (1.0 - share) * math.exp(gap / down))
    return total


@jit()
def noisy_cuts(level: Any, value: Any, mass: Any, up: Any, down: Any, tolerance: Any, out: Any) -> None:
    """Write into ``out[i]`` the cut that V_i + Z exceeds with probability ``level`` (``noisy_tail``), rounded up."""
    for i in range(value.shape[0]):
        low, high = math.inf, -math.inf
        for j in range(value.shape[1]):
            if mass[i, j] > 0.0:
                low, high = min(low, value[i, j]), max(high, value[i, j])
        low -= down * 40.0
        high += up * (1.0 - math.log(level))
        while high - low > tolerance * (up + down):
            middle = 0.5 * (low + high)
            if noisy_tail(middle, value[i], mass[i], up, down) > level:
                low = middle
            else:
                high = middle
        out[i] = high
