"""``dc.forecast_ci_test``: which test would be taken and how often it finds a dependence, before anything is charged.

**Guarantee.** The schema, the question, the budget and the public number of rows alone go in; rows are not looked at.

Chances are those of the best case: a dependence of Cohen's w between x and y, alike in all cells of what is given.

- ``kendall``, ``spearman``: the statistic has variance V, n/16 for two levels each and at most n/9 (less with a rare
  level, the share of which is given), and noise of variance 2 b^2 (Laplace of scale b). It shows as much as
  n V/(V + 2 b^2) rows without noise, n less the number of strata that are expected to hold a row, since rows are
  compared within strata. Where numbers are given, a share of epsilon goes to how they are spread. Spearman's noise is
  taken for Kendall's.
- ``measured``: noise of variance s in each of r c k cells, k blocks of n/k rows: as much as n/(1 + s r c k/n) rows.

  The chance to reject is then that of a chi-squared test with so many rows.
- ``gcm`` in parts: the cut scores of all parts and the noise on their sum (``stats/gcm_parts.py``). With several
  columns, or levels without an order, one pair of columns has all of the dependence.

The power of other tests is not known here: they are never refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from scipy.special import chdtri

from dpcausal.citests.base import CITest, Question, TestSettings, missing_rules
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import KendallTest, RankTest, spread_share, strata_per_number
from dpcausal.citests.registry import TestName, asked_test, make_test, relation_of
from dpcausal.citests.result import FewRows, ManyCells, MissingRule, NumbersGiven, Reason
from dpcausal.core.arguments import (
    NO_FORECAST,
    REQUIRED,
    checked_level,
    checked_name,
    checked_part,
    column_names,
    refuse_missing_epsilon,
)
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.forecast import (
    LEAST_POWER,
    RARE,
    SMALL_DELTA,
    STRONG,
    WANTED,
    Margins,
    Power,
    PowerCurve,
    PowerForecast,
    Remedy,
    chance_above,
    remedies_of,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.counts.protocol import Counts, rows_of_forecast
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.stats.gcm_parts import pairs_power, part_power
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight

CurveOf = Callable[[Question, float, float], PowerCurve | None]  # by question, epsilon and delta
MANY = 10**15  # strata: with more, as with so many, no two rows share one
# why ``auto`` takes gcm where another test could be asked: the other's level can fail
FOR_ITS_LEVEL = (NumbersGiven, FewRows, ManyCells)
NOTABLE = 0.05  # by how much the forecast of a test that was passed over must be better to be reported


@dataclass(frozen=True, kw_only=True)
class CITestForecast(PowerForecast):
    """The test that a question would be asked with, and its expected power, from public numbers.

    Attributes
    ----------
    about, method, rows, epsilon, delta, level, power, without_noise, margins, columns, cells, remedies, left
        As in ``PowerForecast``, which has ``weak``, ``medium``, ``strong`` and ``enough``, too.
    question : Question
        What is asked.
    reason : Reason
        Why this test.
    instead : tuple of str and float, or None
        Where ``auto`` takes ``gcm`` and a test by groups is expected to find notably more: that test, and its chance to
        find a medium dependence. It is not taken because its level can fail.
    missing : tuple of MissingRule
        What becomes of missing values, where the schema says that there may be some.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(arm=dc.Categorical(["a", "b", "c"]), cd4=dc.Numeric(0, 1500), age=dc.Numeric(0, 100))
    >>> ahead = dc.forecast_ci_test(schema, "arm", "cd4", ["age"], rows=2_000, epsilon=0.2)
    >>> ahead.method, ahead.weak < ahead.medium < ahead.strong, ahead.refused
    ('gcm', True, False)
    """

    question: Question
    reason: Reason
    instead: tuple[str, float] | None = None
    missing: tuple[MissingRule, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether ``ci_test`` would refuse, unless called with ``anyway=True``."""
        return self.hopeless

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        plain = super().to_dict()
        del plain["power"]
        return {
            "x": list(self.question.x_columns),
            "y": list(self.question.y_columns),
            "given": list(self.question.given),
            "why": display().words(self.reason),
            **plain,
            "weak": self.weak,
            "medium": self.medium,
            "strong": self.strong,
            "refused": self.refused,
            "share": None if self.margins is None else self.margins.share,
            "rare": None
            if self.margins is None or self.margins.rare is None
            else {"share": RARE, **self.margins.rare._asdict()},
            "enough": self.enough,
            "left": self.left,
            "instead": None
            if self.instead is None
            else {"method": self.instead[0], "medium": self.instead[1]},
            "facts": {"missing": [fact.to_dict() for fact in self.missing]},
        }


def forecast_ci_test(
    source: Schema | Dataset | Counts,
    x: str | Sequence[str],
    y: str | Sequence[str],
    given: Sequence[str] | str = (),
    *,
    rows: int | None = None,
    method: TestName = "auto",
    epsilon: float = REQUIRED,
    delta: float = 0.0,
    level: float = 0.05,
    neighbours: Literal["replace-one", "add-remove", "fixed-labels"] | Neighbours = "replace-one",
    share: float | None = None,
    **options: Any,
) -> CITestForecast:
    """Return which test ``ci_test`` would run and its expected power; nothing is charged.

    **Guarantee**: from the schema, the question, the budget and the number of rows alone; rows are not looked at.

    Parameters
    ----------
    source : Schema, Dataset or Counts
        What is declared; of data, the schema and the public number of rows.
    x, y, given, method, delta, level, neighbours, **options
        As in ``ci_test``.
    rows : int or None, default None
        How many rows there will be; needed with a ``Schema``, and where the number of rows is protected.
    epsilon : float
        What the test may cost.
    share : float or None, default None
        The share of rows, up to 0.5, in the rarest level of x and of y: a public guess. None means equally common
        levels, which show the most: a rare exposure or a rare disease shows far less.

    Returns
    -------
    CITestForecast
        ``.method`` and ``.reason``; ``.weak``, ``.medium`` and ``.strong``, the chances to find such a dependence;
        ``.refused``; ``.enough``, an epsilon that would do; ``.margins``, how common levels are for which that holds.

    Raises
    ------
    InputError
        If an argument can't be used as given, or the test can't answer this question.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(dose=dc.Categorical(["no", "yes"]), pain=dc.Numeric(0, 10))
    >>> few = dc.forecast_ci_test(schema, "dose", "pain", rows=60, epsilon=0.05)
    >>> few.method, few.refused, dc.forecast_ci_test(schema, "dose", "pain", rows=60, epsilon=few.enough).refused
    ('kendall', True, False)
    """
    refuse_missing_epsilon(epsilon, spelled("--forecast", "forecast_ci_test"), options)
    if epsilon is None:
        raise InputError(NO_FORECAST)
    if not isinstance(source, Schema | Dataset | Counts):
        raise not_a_dataset(source)
    check_total(epsilon, delta)
    level = checked_level(level)
    name = checked_name(method, "method")
    relation = relation_of(neighbours, name)
    schema = source if isinstance(source, Schema) else source.schema
    question = Question.of(schema, x, y, column_names(given, "given", schema))
    question.refuse_one_level(schema)
    share = checked_share(share, question)
    count, by_rows = rows_of_forecast(source, rows, relation), isinstance(source, Schema | Dataset)
    known = None if relation is Neighbours.ADD_REMOVE else count
    asked = asked_test(
        name, question, relation, epsilon, options, x=x, by_rows=by_rows, n=known, shared=("rows", "share")
    )
    public = count, float(epsilon), float(delta), level, asked.neighbours
    ahead = forecast_of_test(asked.test, question, *public, help_below=WANTED, share=share)
    missing = missing_rules(schema, asked.test, question, rows=by_rows)
    found = CITestForecast(**vars(ahead), question=question, reason=asked.reason, missing=missing)
    return replace(found, instead=_stronger(found, asked.neighbours))


def checked_share(share: object, question: Question) -> float | None:
    """Return the share of the rarest level of x and y, checked; None for None."""
    if share is None:
        return None
    part = checked_part(share, "share", 0.5)
    if not has_levels(question):
        raise InputError("share is of the rarest level of x or y, and both are numbers: leave it out")
    return part


def _stronger(found: CITestForecast, neighbours: Neighbours) -> tuple[str, float] | None:
    """Return the test by groups that has a clearly better forecast than the one ``auto`` chose, and that forecast."""
    if found.medium is None or not isinstance(found.reason, FOR_ITS_LEVEL):
        return None
    assert found.epsilon is not None
    name = KendallTest.info.name if found.question.ordered else Measured.info.name
    share = None if found.margins is None else found.margins.share
    test, public = make_test(name, {}, ("rows",)), (found.rows, found.epsilon, found.delta, found.level)
    other = forecast_of_test(test, found.question, *public, neighbours, help_below=0.0, share=share).medium
    return None if other is None or other < found.medium + NOTABLE else (name, other)


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

    def curve_of(
        of: Question, epsilon: float, delta: float, share: float | None = share
    ) -> PowerCurve | None:
        return power_curve(test, of, rows, epsilon, delta, level, neighbours, share)

    try:
        if has_levels(question):
            rare = None if share is not None else curve_of(question, epsilon, delta, RARE)
            found = replace(found, margins=Margins(share, None if rare is None else Power.of(rare)))
        curve = curve_of(question, epsilon, delta)
        if curve is None:
            return found
        found = replace(found, power=Power.of(curve))
        if found.strong is None or found.strong >= help_below:
            return found
        cells = question.cells if isinstance(test, Measured) else None
        return replace(found, cells=cells, remedies=_remedies(test, question, found, curve_of))
    except (ArithmeticError, ValueError, InputError):  # at the ends of what floats hold
        return found


def _remedies(
    test: CITest, question: Question, found: PowerForecast, curve_of: CurveOf
) -> tuple[Remedy, ...]:
    """Return what would help a test that finds too little."""
    epsilon, delta = found.epsilon, found.delta
    assert epsilon is not None

    def strong(of: Question, with_epsilon: float, with_delta: float) -> float:
        curve = curve_of(of, with_epsilon, with_delta)
        return 0.0 if curve is None else curve(STRONG)

    remedies = []
    if isinstance(test, Measured):
        if not delta:
            remedies.append(Remedy("delta", SMALL_DELTA, strong(question, epsilon, SMALL_DELTA)))
        if question.cells > 4:
            remedies.append(Remedy("cells", 4, strong(replace(question, r=2, c=2, k=1), epsilon, delta)))
    return remedies_of(remedies, lambda more: strong(question, more, delta), epsilon)


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
    given = question.given_numbers
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
    if isinstance(test, Measured):
        settings = TestSettings(epsilon=epsilon, delta=delta, level=level, neighbours=neighbours, n=rows)
        _, variance, _ = test.mechanism(question.cells, settings)
        effective = rows / (1.0 + variance * question.cells / rows)
        return partial(_power, effective, (question.r - 1) * (question.c - 1), level=level)
    return partial(_power, _effective_rows(question, rows, epsilon, neighbours, share), 1, level=level)


def strata_cut(test: RankTest, question: Question, rows: int) -> int:
    """Return the number of strata of a rank test: cells of declared levels and bins, and strata of numbers."""
    given = question.given_numbers
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


def _effective_rows(
    question: Question, rows: int, epsilon: float, neighbours: Neighbours, share: float | None
) -> float:
    """Return how many rows without noise would give a rank test the same power."""
    r, c, k = question.r, question.c, question.k
    weight = kendall_weight(neighbours, r, c, k, epsilon)
    scale = kendall_joint_sensitivity(neighbours, r, c, k, weight) / epsilon
    levels = [size for name, size in ((question.x, r), (question.y, c)) if name not in question.numeric]
    own = rows / (16.0 if levels == [2, 2] else 9.0)
    for size in levels:
        own *= _evenness(size, share)
    return rows * own / (own + 2.0 * scale**2)


def _evenness(size: int, share: float | None) -> float:
    """Return how many pairs of rows a column orders, over what it orders with equally common levels.

    The variance of Kendall's statistic is in proportion to (1 - sum p^3)/3 of each column, p being its levels' shares.

    >>> _evenness(2, None), round(_evenness(2, 0.03), 4), round(4 * 0.03 * 0.97, 4)
    (1.0, 0.1164, 0.1164)
    """
    if share is None or share >= 1 / size:
        return 1.0
    return (1.0 - share**3 - (1.0 - share) ** 3 / (size - 1) ** 2) / (1.0 - 1.0 / size**2)


def _power(effective: float, dof: int, w: float, level: float) -> float:
    """Return the chance that a chi-squared test of so many effective rows rejects at this level.

    >>> round(_power(1000.0, 1, 0.0886, 0.05), 2), round(_power(10.0, 1, 0.1, 0.05), 2)
    (0.8, 0.06)
    """
    return chance_above(chdtri(dof, level), dof, effective * w * w)
