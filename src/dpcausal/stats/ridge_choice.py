"""How well a kernel ridge regression fits, as one number that one row hardly moves: for a private choice among several.

    F = min_w a ||w||^2 + sum_i (u_i - w.phi_i)^2 = u.r,    a = n lambda/2,  r the residuals

is n times the objective that the fit minimises. For |u| <= 1 and a kernel of norm at most one a replaced row moves it
by at most (1 + B)^2 (``ridge_choice.proof.md``; B of ``gcm_sensitivity.py``), which is approached for every lambda.
The held-out error of a fit on other rows would move by about 8 (1 + B)^2/lambda times the held-out share, the error in
sample by (1 + B)^2 + 4 (1 + B) B1: F is the sharper score, at all rows.

**What it measures.** Write f for the part of u that z explains: E F = n sigma^2 - sigma^2 df + f'(I - H)f, with
f'(I - H)f >= |f - Hf|^2, and df <= 2/lambda whatever the kernel. So F over two targets bounds the bias of gcm's sum,
|sum (f - Hf)(g - Hg)| <= half the sum of both, up to what is the same for every candidate and 2 sigma^2/lambda.

Replace-one only. Every candidate must be public.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.gcm_sensitivity import UP, sum_sensitivity, weight_bound

Matrix = NDArray[np.float64]


@proved("ridge_choice.proof.md")
def fit_objective(targets: Matrix, residuals: Matrix) -> float:
    """The mean of F over the columns of ``targets``, from their ridge residuals.

    >>> fit_objective(np.array([[1.0], [0.5]]), np.array([[0.5], [0.5]]))
    0.75
    """
    return float((targets * residuals).sum() / targets.shape[1])


@proved("ridge_choice.proof.md")
def objective_sensitivity(strength: float, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> float:
    """(1 + B)^2 for lambda = ``strength``; for several candidates take the smallest lambda.

    >>> round(objective_sensitivity(1.0), 3), round(objective_sensitivity(10.0), 3)
    (2.914, 1.361)
    """
    sum_sensitivity(strength, neighbours)  # the same refusals
    return UP * (1 + weight_bound(strength)) ** 2
