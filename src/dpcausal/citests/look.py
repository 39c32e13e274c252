"""Look before paying, for one test: what it is expected to show, from public numbers, before anything is charged.

The best case of each test, for a dependence of Cohen's w between x and y, alike in all cells of what is given:

- ``kendall``, ``spearman``: the statistic has variance V, n/16 for two levels each and at most n/9, and noise of
  variance 2 b^2 (Laplace of scale b). It shows as much as n V/(V + 2 b^2) rows without noise. What strata of numbers
  cost is left out, and Spearman's noise is taken for Kendall's.
- ``measured``: noise of variance s in each of r c k cells, k blocks of n/k rows: as much as n/(1 + s r c k/n) rows.

The chance to reject is then that of a chi-squared test with so many rows. Other tests are let through.

**Guarantee.** Declared sizes, the public number of rows and the budget alone go in. Where the number of rows is
protected there is no look, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from scipy.special import chdtri, chndtr

from dpcausal.citests.base import CITest, Question, TestSettings
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import RankTest
from dpcausal.citests.result import Missed, MissedKind
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.look import LEAST_POWER, MEDIUM, STRONG, WANTED, WEAK, Hopeless, Look, enough_epsilon
from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight

SMALL_DELTA = 1e-6
MAX_SHIFT = 1e5  # of a noncentral law


def look(
    test: CITest, question: Question, rows: int, epsilon: float, delta: float, level: float
) -> Look | None:
    """What the test is expected to show of such a question; None for a test that this does not know."""
    if rows < 1 or not isinstance(test, Measured | RankTest):
        return None

    def strong(with_epsilon: float, with_delta: float, cells: tuple[int, int, int]) -> float:
        return _power(*_worth(test, cells, rows, with_epsilon, with_delta, numbers=numbers), STRONG, level)

    numbers = bool({question.x, question.y} & question.numeric)
    sizes = (question.r, question.c, question.k)
    try:
        worth = _worth(test, sizes, rows, epsilon, delta, numbers=numbers)
        weak, medium, best = (_power(*worth, w, level) for w in (WEAK, MEDIUM, STRONG))
        plain = Look(rows, epsilon, delta, weak, medium, best)
        if not plain.hopeless:
            return plain
        enough = enough_epsilon(lambda more: strong(more, delta, sizes), epsilon)
        if not isinstance(test, Measured):
            return replace(plain, enough=enough)
        least = strong(epsilon, delta, (2, 2, 1))
        cells = question.r * question.c * question.k
        return replace(
            plain,
            cells=cells,
            with_delta=None if delta else strong(epsilon, SMALL_DELTA, sizes),
            fewer=(4, least) if cells > 4 and least >= LEAST_POWER else None,
            enough=enough,
        )
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold: the run says so
        return None


def chances_of_test(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours,
    level: float,
    effects: Sequence[float],
    share: float | None = None,
) -> list[float] | None:
    """Chance that the test finds a dependence of each of these sizes, at best; None for a test not known here.

    ``share`` is that of the rarest level of every column; None: all are equally common.
    """
    if not isinstance(test, Measured | RankTest):
        return None
    numbers = bool({question.x, question.y} & question.numeric)
    sizes = (question.r, question.c, question.k)
    worth = _worth(test, sizes, rows, epsilon, delta, neighbours, numbers=numbers, share=share)
    return [_power(*worth, w, level) for w in effects]


def missed_by(
    test: CITest, question: Question, rows: int, epsilon: float | None, delta: float, level: float
) -> Missed | None:
    """Which dependences the test misses in more than 1 of 5 cases, at best; None where there are no rows.

    Of a test that is not known here, and without privacy, the number of rows alone says it, with one degree of freedom.
    """
    if rows < 1:
        return None
    worth: tuple[float, int] = (float(rows), 1)
    kind = MissedKind.WEAKER if epsilon is None else MissedKind.WEAKER_WITHOUT_NOISE
    numbers = bool({question.x, question.y} & question.numeric)
    most = math.sqrt(max(min(question.r, question.c) - 1, 1))  # the largest w of a table of these levels
    try:
        if epsilon is not None and isinstance(test, Measured | RankTest):
            sizes = (question.r, question.c, question.k)
            worth, kind = _worth(test, sizes, rows, epsilon, delta, numbers=numbers), MissedKind.WEAKER
        if _power(*worth, most, level) < WANTED:
            return Missed(MissedKind.EVEN_STRONG)
        low, high = 0.0, most
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if _power(*worth, middle, level) >= WANTED else (middle, high)
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold
        return None
    return Missed(kind, w=float(f"{high:.2g}"))


def _worth(
    test: CITest,
    sizes: tuple[int, int, int],
    rows: int,
    epsilon: float,
    delta: float,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    *,
    numbers: bool,
    share: float | None = None,
) -> tuple[float, int]:
    """Rows that would show as much without noise, and degrees of freedom."""
    r, c, k = sizes
    gain = _gain(r, share) * _gain(c, share)
    if isinstance(test, Measured):
        settings = TestSettings(epsilon=epsilon, delta=delta, level=0.05, neighbours=neighbours, n=rows)
        _, variance, _ = test.mechanism(r * c * k, settings)
        return rows / (1.0 + variance * gain * k / rows), (r - 1) * (c - 1)
    weight = kendall_weight(neighbours, r, c, k, epsilon)
    scale = kendall_joint_sensitivity(neighbours, r, c, k, weight) / epsilon
    own = rows / (4.0 * gain if r == c == 2 and not numbers else 9.0)
    return rows * own / (own + 2.0 * scale**2), 1


def _gain(size: int, share: float | None) -> float:
    """Mean over the levels of one over their share: what noise in a cell is multiplied by.

    >>> _gain(3, None), round(_gain(2, 0.1), 3)
    (3.0, 5.556)
    """
    if share is None or share >= 1 / size:
        return float(size)
    return (1.0 / share + (size - 1) ** 2 / (1.0 - share)) / size


def _power(worth: float, dof: int, w: float, level: float) -> float:
    """Chance to reject at this level.

    >>> round(_power(1000.0, 1, 0.0886, 0.05), 2), round(_power(10.0, 1, 0.1, 0.05), 2)
    (0.8, 0.06)
    """
    return float(1 - chndtr(chdtri(dof, level), dof, min(worth * w * w, MAX_SHIFT)))


def refuse_hopeless(
    test: CITest, question: Question, rows: int, epsilon: float, delta: float, level: float
) -> None:
    """Refuse a test that can show nothing, before anything is charged; ``rows`` must be public.

    Raises
    ------
    Hopeless
        With what would help.
    """
    found = look(test, question, rows, epsilon, delta, level)
    if found is not None and found.hopeless:
        raise Hopeless(display().summary(found), found)
