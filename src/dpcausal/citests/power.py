"""The power of a test of conditional independence, from public numbers: how often it finds a dependence, at best.

The best case of each test, for a dependence of Cohen's w between x and y, alike in all cells of what is given:

- ``kendall``, ``spearman``: the statistic has variance V, n/16 for two levels each and at most n/9, and noise of
  variance 2 b^2 (Laplace of scale b). It shows as much as n V/(V + 2 b^2) rows without noise, n less the number of
  strata that are expected to hold a row, since rows are compared within strata. Where numbers are given, a share of
  epsilon goes to how they are spread. Spearman's noise is taken for Kendall's.
- ``measured``: noise of variance s in each of r c k cells, k blocks of n/k rows: as much as n/(1 + s r c k/n) rows.

- With a rare level, the share of which is given, V is less.

The chance to reject is then that of a chi-squared test with so many rows.

- ``gcm`` in parts: the cut scores of all parts and the noise on their sum (``stats/gcm_parts.py``). With several
  columns, or levels without an order, one pair of columns has all of the dependence: one level that differs from all
  others (``stats/gcm_parts.py``).

The power of other tests is not known here: they are never refused.

**Guarantee.** Declared sizes, the public number of rows and the budget alone go in.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from scipy.special import chdtri

from dpcausal.citests.base import CITest, Question, TestSettings
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import RankTest, spread_share, strata_per_number
from dpcausal.core.errors import InputError
from dpcausal.core.forecast import (
    LEAST_POWER,
    RARE,
    SMALL_DELTA,
    STRONG,
    Margins,
    Power,
    PowerCurve,
    PowerForecast,
    Remedy,
    chance_above,
    remedies_of,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.stats.gcm_parts import pairs_power, part_power
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight

MANY = 10**15  # strata: with more, as with so many, no two rows share one


def forecast_of_test(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float | None,
    delta: float,
    level: float,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    *,
    help_below: float = LEAST_POWER,
    share: float | None = None,
) -> PowerForecast:
    """Return the expected power of a test from public numbers; its ``power`` is None where that is unknown.

    ``epsilon=None`` is without privacy. ``remedies`` are sought where the power against a strong dependence is below
    ``help_below``. ``share`` is that of the rarest level of x and of y; None: all are equally common.
    """
    without = Power.of(partial(_power, float(rows), 1, level=level))
    found = PowerForecast(
        about="test",
        method=test.name,
        rows=rows,
        epsilon=epsilon,
        delta=delta,
        level=level,
        without_noise=without,
    )
    if epsilon is None:
        return replace(found, power=without)
    public = (rows, epsilon, delta, level, neighbours)
    try:
        if has_levels(question):
            rare = None if share is not None else power_curve(test, question, *public, RARE)
            found = replace(found, margins=Margins(share, None if rare is None else Power.of(rare)))
        curve = power_curve(test, question, *public, share)
        if curve is None:
            return found
        found = replace(found, power=Power.of(curve))
        if found.strong is None or found.strong >= help_below:
            return found
        cells = question.r * question.c * question.k if isinstance(test, Measured) else None
        return replace(found, cells=cells, remedies=_remedies(test, question, *public, share))
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold
        return found


def _remedies(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float,
    delta: float,
    level: float,
    neighbours: Neighbours,
    share: float | None,
) -> tuple[Remedy, ...]:
    """Return what would help a test that finds too little."""

    def strong(with_epsilon: float, with_delta: float, of: Question) -> float:
        curve = power_curve(test, of, rows, with_epsilon, with_delta, level, neighbours, share)
        return 0.0 if curve is None else curve(STRONG)

    found = []
    if isinstance(test, Measured):
        if not delta:
            found.append(Remedy("delta", SMALL_DELTA, strong(epsilon, SMALL_DELTA, question)))
        if question.r * question.c * question.k > 4:
            found.append(Remedy("cells", 4, strong(epsilon, delta, replace(question, r=2, c=2, k=1))))
    return remedies_of(found, lambda more: strong(more, delta, question), epsilon)


def has_levels(question: Question) -> bool:
    """Return whether x or y has declared levels, which may be rare; a number has none."""
    return not question.numeric.issuperset((*question.x_columns, *question.y_columns))


def power_curve(
    test: CITest,
    question: Question,
    rows: int,
    epsilon: float,
    delta: float,
    level: float,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    share: float | None = None,
) -> PowerCurve | None:
    """Return the chance, at best, that a test rejects, as a function of Cohen's w; None where it is not known.

    ``share`` is that of the rarest level of every column; None: all are equally common. For rare
    levels only that of rank tests is known: in a part of the rows (``gcm``) there may be none of them, and ``measured``
    learns its margins from noisy counts, so that it finds far less than its noise alone would say (a simulation in
    ``tests/unit/citests/test_forecast.py``). With rows protected, ``gcm`` deals them without knowing their number,
    which nothing here accounts for.
    """
    given = question.numeric.intersection(question.given)
    if rows < 1 or test.printed or not isinstance(test, Measured | RankTest | Gcm):
        return None
    if share is not None and has_levels(question) and not isinstance(test, RankTest):
        return None
    if isinstance(test, Gcm):
        if test.variant != "parts" or test.parts is not None or neighbours is Neighbours.ADD_REMOVE:
            return None
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
        rows = max(rows - round(occupied_strata(strata, rows)), 1)
    sizes = (question.r, question.c, question.k)
    numbers = (question.x in question.numeric, question.y in question.numeric)
    worth, dof = _worth(test, sizes, rows, epsilon, delta, neighbours, share, numbers)
    return partial(_power, worth, dof, level=level)


def strata_cut(test: RankTest, question: Question, rows: int) -> int:
    """Return the number of strata of a rank test: cells of declared levels and bins, and strata of numbers."""
    given = question.numeric.intersection(question.given)
    if not given or test.on == "table" or test.strata == "schema":
        return question.k
    if test.strata == "auto":
        each = strata_per_number(question.other_cells, len(given), float(rows))
    else:
        each = int(test.strata)
    return int(question.other_cells * each ** len(given))


def occupied_strata(strata: int, rows: int) -> float:
    """Return the expected number of strata with at least one row, if all are equally likely.

    >>> round(occupied_strata(500, 2000), 1), round(occupied_strata(4000, 2000), 1), occupied_strata(1, 10)
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
    neighbours: Neighbours,
    share: float | None,
    numbers: tuple[bool, bool],
) -> tuple[float, int]:
    """Return the effective number of rows and the degrees of freedom of a test with noise.

    As many rows without noise would give the same power. ``numbers``: whether x and y are numbers.
    """
    r, c, k = sizes
    if isinstance(test, Measured):
        settings = TestSettings(epsilon=epsilon, delta=delta, level=0.05, neighbours=neighbours, n=rows)
        _, variance, _ = test.mechanism(r * c * k, settings)
        return rows / (1.0 + variance * r * c * k / rows), (r - 1) * (c - 1)
    weight = kendall_weight(neighbours, r, c, k, epsilon)
    scale = kendall_joint_sensitivity(neighbours, r, c, k, weight) / epsilon
    own = rows / (16.0 if r == c == 2 and not any(numbers) else 9.0)
    for size, number in zip((r, c), numbers, strict=True):
        own *= 1.0 if number else _evenness(size, share)
    return rows * own / (own + 2.0 * scale**2), 1


def _evenness(size: int, share: float | None) -> float:
    """Return how many pairs of rows a column orders, over what it orders with equally common levels.

    The variance of Kendall's statistic is in proportion to (1 - sum p^3)/3 of each column, p being its levels' shares.

    >>> _evenness(2, None), round(_evenness(2, 0.03), 4), round(4 * 0.03 * 0.97, 4)
    (1.0, 0.1164, 0.1164)
    """
    if share is None or share >= 1 / size:
        return 1.0
    return (1.0 - share**3 - (1.0 - share) ** 3 / (size - 1) ** 2) / (1.0 - 1.0 / size**2)


def _power(worth: float, dof: int, w: float, level: float) -> float:
    """Return the chance that a chi-squared test with ``worth`` effective rows rejects at this level.

    >>> round(_power(1000.0, 1, 0.0886, 0.05), 2), round(_power(10.0, 1, 0.1, 0.05), 2)
    (0.8, 0.06)
    """
    return chance_above(chdtri(dof, level), dof, worth * w * w)
