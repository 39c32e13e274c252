"""The weighted generalised covariance measure on a part of the rows: one half says where to look, the other is asked.

x and y may depend on each other given z although the residual products R average out, positive for some z and negative
for others. Weights w(z) that follow the sign find it [1]. In one half of the part both columns are regressed on z
(``gcm_fit.py``) and R on features of z (1, a line and a wave in the ranks of every number, every frequent code):

    b = (F'F + I)^-1 F'R,      w(z) = features(z) b

and in the other half, regressed by itself,

    t = sum w R tr(Q^2)/(|r_x| |r_y| sqrt(sum_ij w_i w_j ((Q^2)_ij)^2))

which under the null has mean 0 and variance 1 whatever w is, since w comes from other rows; under dependence that the
features see it is positive, so the test is one-sided. Scores of parts are cut and added as in ``gcm_parts.py``,
whose guarantee is for any score.

**Cost** about that of ``gcm_parts.py``. **Edge cases**: fewer than six rows or a constant column score 0.

References: [1] Scheidegger, Hoerrmann & Buehlmann 2022.
"""

from __future__ import annotations

import math

import numpy as np

from dpcausal.stats.gcm_fit import Matrix, Vector, block_kernel, smoother
from dpcausal.stats.gcm_parts import LEAST, Score

MOST_CODES = 8
FEWEST = 6


def weight_features(z: Matrix, base: Matrix, discrete: tuple[int, ...]) -> Matrix:
    """Features of the rows of ``z``, with ranks and codes as in the rows of ``base``.

    >>> weight_features(np.array([[1.0], [9.0]]), np.array([[0.0], [5.0]]), ()).round(6).tolist()
    [[1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]
    """
    found = [np.ones(len(z))]
    for j in range(z.shape[1]):
        if j in discrete:
            codes, count = np.unique(base[:, j], return_counts=True)
            kept = codes[np.argsort(-count, kind="stable")[:MOST_CODES]]
            found += [np.asarray(z[:, j] == code, dtype=np.float64) for code in kept]
        else:
            place = np.searchsorted(np.sort(base[:, j]), z[:, j]) / max(len(base), 1)
            found += [2 * place - 1, np.cos(2 * math.pi * place)]
    return np.column_stack(found)


def weighted_score(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...], exact: bool = True) -> Score:
    """(t, 1) of one block; every second row says where to look, the others are asked. ``exact`` is not used."""
    del exact
    if len(x) < FEWEST:
        return 0.0, 1.0
    halves = [np.column_stack([x[k::2] - x[k::2].mean(), y[k::2] - y[k::2].mean()]) for k in (0, 1)]
    fits = [
        smoother(block_kernel(half[:, 0], half[:, 1], z[k::2], discrete)) for k, half in enumerate(halves)
    ]
    left = [fit.matrix @ half for fit, half in zip(fits, halves, strict=True)]
    size = np.linalg.norm(left[1], axis=0)
    if not np.all(size > LEAST * np.linalg.norm(halves[1], axis=0)):
        return 0.0, 1.0
    first = left[0] / np.maximum(np.linalg.norm(left[0], axis=0), 1e-300)
    design = weight_features(z[0::2], z[0::2], discrete)
    gram = design.T @ design + np.eye(design.shape[1])
    weights = weight_features(z[1::2], z[0::2], discrete) @ np.linalg.solve(
        gram, design.T @ first.prod(axis=1)
    )
    square = fits[1].matrix @ fits[1].matrix
    spread = float(weights @ np.square(square) @ weights)
    if not spread > 0.0:
        return 0.0, 1.0
    # residuals by their sizes first: products of tiny ones would vanish
    total = float(weights @ (left[1] / size).prod(axis=1)) * float(np.trace(square))
    return total / math.sqrt(spread), 1.0
