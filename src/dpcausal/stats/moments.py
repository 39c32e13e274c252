"""Second moments of features of all columns, and tests of conditional independence that need nothing else.

**Formula**

    M = sum_i f_i f_i',    f = (c, h),  c a public constant,  ||h|| <= H        (rows beyond H are shrunk to it)

For features x, y of two columns and z of the given ones (the constant always among them), with B_x = M_xz M_zz^-1,

    S_xy = M_xy - B_x M_zy          sums of products of what is left after regression on z

has mean 0 if x and y are independent given z and the regressions are right, and covariance

    S_xx (x) S_yy/n   +   t^2 [ G_x (x) G_y + cross term of H ],     G = I + B B',  H = B_x B_y'

the second part from noise of variance t^2 on off-diagonal entries of M and 2 t^2 on diagonal ones, to first order. A
ridge of t sqrt(features of z) keeps directions that are mostly noise out of the regression. The statistic is the
quadratic form of S_xy in this covariance, chi-squared with one degree of freedom a product. A product has mean 0
already if *one* of its two regressions is right, so ``kept`` may leave out products of two features whose regressions
are doubtful.

**Guarantee** (``moments.proof.md``): the packed upper triangle, off-diagonal entries times sqrt 2, has l2 sensitivity
c^2 + H^2 add, sqrt 2 (c^2 + H^2) replace; adding noise of one size to it gives the two variances above.
**Null law** asymptotic, errors independent of z (heteroscedastic ones shift it). **Cost** O(n p^2) once, then
O(q^3) a question. **Edge cases**: no rows, or a feature without variance: p = 1 and not informative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, chndtrinc

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved

Floats = NDArray[np.float64]
ROOT2 = math.sqrt(2.0)  # weight of off-diagonal entries
ROWS_PER_PRODUCT = 128  # rows multiplied at once: rounding errors grow with this and with log n, not with n
MIN_STANDARD_ERRORS = 4.0  # a perfect association must be worth this many for a test to be informative
MEDIUM, SHOWN_POWER = 0.3, 0.9  # "absent" means that a dependence of this size would be found this often
RELATIVE_RIDGE = 1e-9  # times the number of rows: keeps the regression solvable without noise
RELATIVE_VARIANCE = 1e-12  # the same for the covariance of the products


class MomentTest(NamedTuple):
    """A test; not ``informative`` where even a perfect association could not have been seen.

    ``strength``: the standard errors that a perfect association of one feature with another is worth, about.
    """

    statistic: float
    pvalue: float
    dof: int
    informative: bool
    strength: float

    def shows(self, level: float) -> bool:
        """Return whether a medium dependence (w = ``MEDIUM``) would be found with power ``SHOWN_POWER``.

        >>> [MomentTest(0.0, 1.0, 1, True, strength).shows(0.05) for strength in (10.0, 11.0)]
        [False, True]
        """
        return MEDIUM * self.strength >= needed_distance(self.dof, level)


@cache
def needed_distance(dof: int, level: float) -> float:
    """Return the root noncentrality at which a chi-squared test with ``dof`` has power ``SHOWN_POWER``.

    >>> round(needed_distance(1, 0.05), 2), round(needed_distance(4, 0.05), 2)
    (3.24, 3.92)
    """
    if dof == 0 or not 0 < level < 1:
        return 0.0
    return math.sqrt(float(chndtrinc(chdtri(dof, level), dof, 1.0 - SHOWN_POWER)))


@proved("moments.proof.md")
def moment_sensitivity(neighbours: Neighbours | str, constant: float, reach: float) -> float:
    """Return the l2 sensitivity of the packed moments for feature vectors of length up to ``reach``.

    >>> moment_sensitivity("add-remove", 1.0, 2.0)
    5.0
    """
    if not (constant >= 0 and reach > 0 and math.isfinite(constant + reach)):
        raise InputError(f"constant and reach must be finite and above zero, not {constant!r}, {reach!r}")
    largest = constant**2 + reach**2
    return largest if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else ROOT2 * largest


@proved("moments.proof.md")
def shrunk(features: Floats, reach: float) -> Floats:
    """Return the rows scaled down to length ``reach`` at most."""
    length = np.sqrt(np.einsum("ij,ij->i", features, features))
    factor = np.minimum(1.0, reach * (1 - 1e-12) / np.maximum(length, 1e-300))
    return np.asarray(features * factor[:, None])


@proved("moments.proof.md")
class TreeSum:
    """A sum of many arrays in a tree: each passes through at most log2 of their number + 1 additions.

    >>> total = TreeSum()
    >>> for _ in range(10):
    ...     total.add(np.array([1.0, 0.5]))
    >>> total.value().tolist()
    [10.0, 5.0]
    """

    def __init__(self) -> None:
        self._levels: list[Floats | None] = []  # at place i the sum of 2^i arrays, or nothing

    def add(self, array: Floats) -> None:
        """Add one array to the sum."""
        for i, waiting in enumerate(self._levels):
            if waiting is None:
                self._levels[i] = array
                return
            array, self._levels[i] = waiting + array, None
        self._levels.append(array)

    def value(self) -> Floats:
        """Return the sum of all arrays added."""
        total = np.zeros(())
        for waiting in self._levels:
            total = total if waiting is None else total + waiting
        return np.asarray(total)


@proved("moments.proof.md")
def second_moments(features: Floats, total: TreeSum) -> None:
    """Add the sum of f f' over the rows f of ``features`` to ``total``, in pieces of ``ROWS_PER_PRODUCT`` rows."""
    for start in range(0, len(features), ROWS_PER_PRODUCT):
        piece = features[start : start + ROWS_PER_PRODUCT]
        total.add(piece.T @ piece)


@proved("moments.proof.md")
def packed(matrix: Floats) -> Floats:
    """Return the upper triangle as a vector, off-diagonal entries times sqrt 2.

    >>> packed(np.array([[1.0, 2.0], [2.0, 3.0]])).round(3).tolist()
    [1.0, 2.828, 3.0]
    """
    rows, columns = np.triu_indices(len(matrix))
    return np.asarray(matrix[rows, columns] * np.where(rows == columns, 1.0, ROOT2))


def unpacked(vector: Floats, size: int) -> Floats:
    """Return the matrix that ``packed`` made a vector of."""
    rows, columns = np.triu_indices(size)
    matrix = np.zeros((size, size))
    matrix[rows, columns] = vector / np.where(rows == columns, 1.0, ROOT2)
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def replicated_moments(
    moments: Floats, n: float, noise: float, draw: Callable[[tuple[int, int]], Floats]
) -> Floats:
    """Return moments that another sample with new noise might give, if these were the truth.

    Noise that is in ``moments`` already is taken off first, as far as its size is known: an entry m between features
    keeps the part max(0, 1 - t^2/m^2), and no eigenvalue stays below the noise. Sampling is that of normal features
    around the constant, the first feature: for D the matrix less what the constant explains, sqrt(D/n) X sqrt(D) with X
    symmetric normal has its covariance, D_ik D_jl + D_il D_jk, over n.

    Parameters
    ----------
    moments
        M, released with noise.
    n
        The number of rows.
    noise
        t, as in ``partial_test``.
    draw
        Standard normal numbers of a shape.

    >>> same = replicated_moments(np.diag([1e6, 4e6]), 1e12, 0.0, np.random.default_rng(1).standard_normal)
    >>> same.round(-3).tolist()
    [[1000000.0, 0.0], [0.0, 4000000.0]]
    """
    size = len(moments)
    first = moments[:, :1]
    explained = first @ first.T / max(float(moments[0, 0]), 1e-300)
    inner = moments - explained
    keep = np.clip(1.0 - noise**2 / np.maximum(inner**2, 1e-300), 0.0, 1.0)
    np.fill_diagonal(keep, 1.0)
    values, vectors = np.linalg.eigh(inner * keep)
    values = np.maximum(values, noise if size > 1 else 0.0)
    values[~np.isfinite(values)] = 0.0
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    shaken = draw((size, size))
    sampling = root @ ((shaken + shaken.T) / ROOT2) @ root.T / math.sqrt(max(n, 1.0))
    other = draw((size, size))
    fresh = root @ root.T + sampling + noise * (other + other.T) / ROOT2
    fresh[0], fresh[:, 0] = 0.0, 0.0
    return np.asarray(explained + fresh)


def ridge_inverse(moments: Floats, places: list[int], n: float, noise: float) -> Floats:
    """Return the inverse of the moments of the features at ``places``, with a ridge of the size of their noise."""
    ridge = noise * math.sqrt(len(places)) + RELATIVE_RIDGE * max(n, 1.0)
    values, vectors = np.linalg.eigh(moments[np.ix_(places, places)] + ridge * np.eye(len(places)))
    return np.asarray((vectors / np.maximum(values, ridge)) @ vectors.T)


def partial_test(
    moments: Floats,
    x: list[int],
    y: list[int],
    z: list[int],
    n: float,
    noise: float,
    kept: NDArray[np.bool_] | None = None,
) -> MomentTest:
    """Test whether features x are independent of features y given features z.

    Parameters
    ----------
    moments
        M, exact or released with noise.
    x, y, z
        Positions of the features; the constant is among ``z``.
    n
        The number of rows, or an estimate of it.
    noise
        t, the standard deviation of the noise on off-diagonal entries of M; 0 for exact moments.
    kept
        Which products of x and y are used; None for all.

    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> f = np.column_stack([np.ones(1000), a, a + b])
    >>> partial_test(f.T @ f, [1], [2], [0], 1000, 0.0).pvalue < 1e-9
    True
    """
    inverse = ridge_inverse(moments, z, n, noise)
    b_x, b_y = moments[np.ix_(x, z)] @ inverse, moments[np.ix_(y, z)] @ inverse
    products = moments[np.ix_(x, y)] - b_x @ moments[np.ix_(z, y)]
    s_x = nonnegative(moments[np.ix_(x, x)] - b_x @ moments[np.ix_(z, x)])
    s_y = nonnegative(moments[np.ix_(y, y)] - b_y @ moments[np.ix_(z, y)])
    g_x, g_y, cross = np.eye(len(x)) + b_x @ b_x.T, np.eye(len(y)) + b_y @ b_y.T, b_x @ b_y.T
    rows = max(n, 1.0)
    covariance = np.einsum("ik,jl->ijkl", s_x, s_y) / rows + noise**2 * (
        np.einsum("ik,jl->ijkl", g_x, g_y) + np.einsum("il,kj->ijkl", cross, cross)
    )
    used = np.ones(products.size, np.bool_) if kept is None else kept.ravel()
    dof = int(used.sum())
    covariance = covariance.reshape(products.size, products.size)[np.ix_(used, used)]
    covariance[np.diag_indices(dof)] += RELATIVE_VARIANCE * rows
    vector = products.ravel()[used]
    statistic = float(vector @ np.linalg.lstsq(covariance, vector, rcond=None)[0])
    largest = math.sqrt(
        float(np.trace(s_x)) * float(np.trace(s_y))
    )  # of any entry, for a perfect association
    error = math.sqrt(float(np.diag(covariance).max()))
    return MomentTest(
        max(statistic, 0.0),
        float(chdtrc(dof, max(statistic, 0.0))),
        dof,
        bool(largest > MIN_STANDARD_ERRORS * error and np.isfinite(statistic)),
        largest / math.sqrt(len(x) * len(y)) / error,
    )


def nonnegative(matrix: Floats) -> Floats:
    """Return the positive semidefinite matrix nearest to a symmetric one."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
