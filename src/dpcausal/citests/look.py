"""Look before paying, for one test: what it is expected to show, from public numbers, before anything is charged.

The best case of each test, for a dependence of Cohen's w between x and y, alike in all cells of what is given:

- ``kendall``, ``spearman``: the statistic has variance V, n/16 for two levels each and at most n/9, and noise of
  variance 2 b^2 (Laplace of scale b). It shows as much as n V/(V + 2 b^2) rows without noise, n less the number of
  strata that are expected to hold a row, since rows are compared within strata. Where numbers are given, a share of
  epsilon goes to how they are spread. Spearman's noise is taken for Kendall's.
- ``measured``: noise of variance s in each of r c k cells, k blocks of n/k rows: as much as n/(1 + s r c k/n) rows.

The chance to reject is then that of a chi-squared test with so many rows.

- ``gcm`` in parts: the cut scores of all parts and the noise on their sum (``stats/gcm_parts.py``). With several
  columns, or levels without an order, one pair of columns has all of the dependence: one level that differs from all
  others (``stats/gcm_parts.py``).

Other tests are let through.

**Guarantee.** Declared sizes, the public number of rows and the budget alone go in. Where the number of rows is
protected there is no look, and no refusal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scipy.special import chdtri, chndtr

from dpcausal.citests.base import CITest, Question, TestSettings
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import RankTest, spread_share, strata_per_number
from dpcausal.citests.result import EvenStrong, Missed, Weaker
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.look import (
    LEAST_POWER,
    MEDIUM,
    STRONG,
    WANTED,
    WEAK,
    Look,
    UnderpoweredError,
    enough_epsilon,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.privacy.budget import require_left
from dpcausal.stats.gcm_parts import pairs_power, part_power
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

SMALL_DELTA = 1e-6
MAX_SHIFT = 1e5  # of a noncentral law
MANY = 10**15  # strata: with more, as with so many, no two rows share one


def look(
    test: CITest, question: Question, rows: int, epsilon: float, delta: float, level: float
) -> Look | None:
    """What the test is expected to show of such a question; None for a test that this does not know."""
    if rows < 1 or not _is_known(test):
        return None

    def strong(with_epsilon: float, with_delta: float, of: Question) -> float:
        return _chance(test, of, rows, with_epsilon, with_delta, level)(STRONG)

    try:
        chance = _chance(test, question, rows, epsilon, delta, level)
        plain = Look(rows, epsilon, delta, chance(WEAK), chance(MEDIUM), chance(STRONG))
        if not plain.hopeless:
            return plain
        enough = enough_epsilon(lambda more: strong(more, delta, question), epsilon)
        if not isinstance(test, Measured):
            return replace(plain, enough=enough)
        least = strong(epsilon, delta, replace(question, r=2, c=2, k=1))
        cells = question.r * question.c * question.k
        return replace(
            plain,
            cells=cells,
            with_delta=None if delta else strong(epsilon, SMALL_DELTA, question),
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
    if not _is_known(test):
        return None
    chance = _chance(test, question, rows, epsilon, delta, level, neighbours, share)
    return [chance(w) for w in effects]


def chances_without_noise(rows: int, level: float, effects: Sequence[float]) -> list[float]:
    """Chance that a test of one degree of freedom finds a dependence of each of these sizes in so many rows.

    >>> [round(chance, 2) for chance in chances_without_noise(1000, 0.05, (0.0886, 0.3))]
    [0.8, 1.0]
    """
    return [_power(float(rows), 1, w, level) for w in effects]


def missed_by(
    test: CITest, question: Question, rows: int, epsilon: float | None, delta: float, level: float
) -> Missed | None:
    """Which dependence the test finds in 80% of cases, at best, or how often a strong one; None where rows are none.

    Of a test that is not known here, and without privacy, the number of rows alone says it, with one degree of freedom.
    """
    if rows < 1:
        return None
    try:
        if epsilon is not None and _is_known(test):
            chance, known = _chance(test, question, rows, epsilon, delta, level), True
        else:
            chance = partial(_power, float(rows), 1, level=level)
            known = epsilon is None
        strong = chance(STRONG)
        if strong < WANTED:
            return EvenStrong(strong=round(strong, 3), medium=round(chance(MEDIUM), 3))
        low, high = 0.0, STRONG
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if chance(middle) >= WANTED else (middle, high)
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold
        return None
    return Weaker("weaker" if known else "weaker-without-noise", float(f"{high:.2g}"))


def _is_known(test: CITest) -> bool:
    """Whether the chance of this test is known here."""
    if isinstance(test, Gcm):
        return test.variant == "parts" and test.parts is None
    return isinstance(test, Measured | RankTest)


def _chance(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float,
    delta: float,
    level: float,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    share: float | None = None,
) -> Callable[[float], float]:
    """Return the chance to reject as a function of w."""
    given = question.numeric.intersection(question.given)
    if isinstance(test, Gcm):
        pairs = math.prod(question.widths)
        design = (rows, len(question.given), epsilon, level)
        if pairs == 1:
            return lambda w: part_power(*design, min(w, 1.0), numeric=bool(given))
        return lambda w: pairs_power(*design, min(w, 1.0), numeric=bool(given), count=pairs)
    if isinstance(test, RankTest):
        strata = strata_cut(test, question, rows)
        if given and test.on == "values" and test.strata == "auto":
            epsilon *= 1.0 - spread_share(rows, epsilon)
        # of each stratum one row tells nothing: it compares rows within strata
        rows = max(rows - round(with_rows(strata, rows)), 1)
    numbers = bool({question.x, question.y} & question.numeric)
    sizes = (question.r, question.c, question.k)
    worth, dof = _worth(test, sizes, rows, epsilon, delta, neighbours, numbers=numbers, share=share)
    return partial(_power, worth, dof, level=level)


def strata_cut(test: RankTest, question: Question, rows: int) -> int:
    """How many strata the test cuts: declared levels and bins, and numbers as ``strata`` says; from public numbers."""
    given = question.numeric.intersection(question.given)
    if not given or test.on == "table" or test.strata == "schema":
        return question.k
    if test.strata == "auto":
        each = strata_per_number(question.other_cells, len(given), float(rows))
    else:
        each = int(test.strata)
    return int(question.other_cells * each ** len(given))


def with_rows(strata: int, rows: int) -> float:
    """Return in how many of these strata, equally common, a row is expected to lie.

    >>> round(with_rows(500, 2000), 1), round(with_rows(4000, 2000), 1), with_rows(1, 10)
    (490.9, 1574.0, 1.0)
    """
    cells = float(min(strata, MANY))
    return cells * -math.expm1(rows * math.log1p(-1.0 / cells)) if strata > 1 else 1.0


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


def refuse_underpowered(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float,
    delta: float,
    level: float,
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
) -> None:
    """Refuse a test that can show nothing, before anything is charged; ``rows`` must be public.

    Raises
    ------
    BudgetError
        If the ledger has less left than this epsilon: no advice would help.
    UnderpoweredError
        With what would help.
    """
    found = look(test, question, rows, epsilon, delta, level)
    if found is not None and found.hopeless:
        require_left(ledger, dataset, epsilon)
        raise UnderpoweredError(display().summary(found), found)
