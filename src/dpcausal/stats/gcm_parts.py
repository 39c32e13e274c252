"""The generalised covariance measure on disjoint parts of the rows, each part's score cut, and the scores added.

Row labels say which part a row is in and do not depend on its values. In part c both columns are regressed on z (by any
means: it is nobody's business but the part's) and

    t_c = sqrt(degrees of freedom left) <r_x, r_y>/(|r_x| |r_y|),    q_c = round(steps cut(t_c/clip, -1, 1))
    S = sum q_c,    V = sum v(q_c)

One row changes one part, so one pair (q, v(q)), whatever the regression does: **no bound on x, y, z, on lambda or on
the bandwidth is needed**, and ranks, which no global test could use, are allowed within a part.

**Guarantee** (``gcm_parts.proof.md``). l1 sensitivity of the integers (S, V): max over a, b of |a - b| + |v(a) - v(b)|,
by enumeration. For v(q) = weight q^2/steps it is 2 steps up to weight 1/2, so the variance is free there, then
weight (1 + 1/(2 weight))^2 steps. The same for replace-one and add-remove, if labels are drawn row by row.

**Null law.** Scores have mean near 0 (cov(<r_x, r_y>, |r_x| |r_y|) vanishes under the null) and are independent between
parts, so S has mean 0 and variance sum E q^2, which V estimates whatever the errors' variances do. The p-value is that
of a normal variable plus the noise (``kendall_null.py``). A part of very many rows is cut into blocks of at most
``MOST_ROWS`` and its score is the sum of theirs over the root of their number.

**Cost** O(n MOST_ROWS^2). **Edge cases**: an empty part or a constant column scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpcausal.core.proofs import proved
from dpcausal.stats.gcm import Matrix, Vector, block_residuals

Integers = NDArray[np.int64]

STEPS = 256  # of one clip
MOST_ROWS = 320  # of one fit
LEAST = 1e-12  # residuals below this share of the column are rounding


def block_score(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> float:
    """t of one block of rows."""
    if len(x) < 3:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    left, free = block_residuals(x, y, z, discrete)
    size = np.linalg.norm(left, axis=0)
    if not np.all(size > LEAST * np.array([np.linalg.norm(x), np.linalg.norm(y)])):
        return 0.0
    return float(left[:, 0] @ left[:, 1] / (size[0] * size[1]) * math.sqrt(free))


def part_score(x: Vector, y: Vector, z: Matrix, discrete: tuple[int, ...]) -> float:
    """t of one part; silent whatever the rows are, since a warning would tell of them."""
    blocks = max(1, -(-len(x) // MOST_ROWS))
    with np.errstate(all="ignore"):
        scores = [block_score(x[k::blocks], y[k::blocks], z[k::blocks], discrete) for k in range(blocks)]
    return sum(scores) / math.sqrt(blocks)


@proved("gcm_parts.proof.md")
def squares(weight: float) -> Integers:
    """v(q) for q = 0 ... STEPS."""
    return np.rint(weight * np.arange(STEPS + 1.0) ** 2 / STEPS).astype(np.int64)


@proved("gcm_parts.proof.md")
def cut_scores(scores: Sequence[float], clip: float, weight: float) -> tuple[int, int]:
    """(S, V) of the parts' scores: integers, exactly.

    >>> cut_scores([0.5, -3.0, float("nan")], 1.0, 0.5)
    (-128, 160)
    """
    table = squares(weight)
    total = spread = 0
    for score in scores:
        share = min(max(score / clip, -1.0), 1.0) if math.isfinite(score) else 0.0
        q = round(share * STEPS)
        total, spread = total + q, spread + int(table[abs(q)])
    return total, spread


@lru_cache(maxsize=64)
@proved("gcm_parts.proof.md")
def cut_sensitivity(weight: float) -> int:
    """l1 sensitivity of (S, V).

    >>> cut_sensitivity(0.5) == 2 * STEPS, cut_sensitivity(2.0)
    (True, 800)
    """
    q = np.arange(-STEPS, STEPS + 1)
    v = squares(weight)[np.abs(q)]
    return int((np.abs(q[:, None] - q[None, :]) + np.abs(v[:, None] - v[None, :])).max())


def squares_share(epsilon: float) -> float:
    """The weight of V: free (1/2) up to epsilon .8, else what makes its noise .8 b^2 (``kendall_null.py``)."""
    return max(0.5, math.sqrt(1.25 * epsilon) - 0.5)


def part_plan(n: int, d: int, epsilon: float, level: float = 0.05) -> tuple[int, float]:
    """(parts, clip) for n rows, d conditioning columns: public numbers only.

    Enough parts that the noise (2 clip/epsilon) is no more than the parts' own spread, and that a dependence which
    every part sees stands out at this level (about 20/epsilon + 4 at .05); no fit above ``MOST_ROWS`` rows, none below
    24 + 8 d. With more parts than that the clip widens, up to 3, which keeps skewed errors from shifting the sum.

    >>> part_plan(1000, 1, 2.0), part_plan(1_000_000, 5, 1.0)
    ((14, 1.0), (3125, 3.0))
    """
    seen = 4.4 * (math.log(1 / level) + 1.6) / epsilon + float(ndtri(level / 2)) ** 2
    wanted = math.ceil(max(15 / epsilon**2, seen, n / MOST_ROWS))
    parts = max(1, min(wanted, n // (24 + 8 * d)))
    return parts, min(max(epsilon * math.sqrt(parts) / 8, 1.0), 3.0)
