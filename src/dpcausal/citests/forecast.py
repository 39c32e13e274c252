"""``dc.forecast_ci_test``: which test would be taken and what it is expected to find, before anything is charged.

**Power** (``power_curve``) is how often a test rejects in its best case, for a dependence of Cohen's w between x and y,
alike in all cells of what is given:

- ``kendall``, ``spearman``: the statistic has variance V, n/16 for two levels each and at most n/9, and noise of
  variance 2 b^2 (Laplace of scale b). It shows as much as n V/(V + 2 b^2) rows without noise, n less the number of
  strata that are expected to hold a row, since rows are compared within strata. Where numbers are given, a share of
  epsilon goes to how they are spread. Spearman's noise is taken for Kendall's.
- ``measured``: noise of variance s in each of r c k cells, k blocks of n/k rows: as much as n/(1 + s r c k/n) rows.

The chance to reject is then that of a chi-squared test with so many rows.

- ``gcm`` in parts: the cut scores of all parts and the noise on their sum (``stats/gcm_parts.py``). With several
  columns, or levels without an order, one pair of columns has all of the dependence: one level that differs from all
  others (``stats/gcm_parts.py``).

The power of other tests is not known here: they are never refused.

**Guarantee.** The schema, the question, the budget and the public number of rows alone go in; rows are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from scipy.special import chdtri, chndtr

from dpcausal.citests.base import CITest, Question, TestSettings, missing_rules
from dpcausal.citests.choice import choose
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import KendallTest, RankTest, spread_share, strata_per_number
from dpcausal.citests.registry import TESTS, class_named, make_test
from dpcausal.citests.result import ByQuestion, FewRows, ManyCells, MissingRule, NumbersGiven, Reason
from dpcausal.core.arguments import (
    NO_FORECAST,
    REQUIRED,
    checked_count,
    checked_level,
    checked_name,
    column_names,
    refuse_missing_epsilon,
)
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.forecast import (
    LEAST_POWER,
    SMALL_DELTA,
    STRONG,
    WANTED,
    Power,
    PowerCurve,
    PowerForecast,
    Remedy,
    enough_epsilon,
)
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.stats.gcm_parts import pairs_power, part_power
from dpcausal.stats.kendall import kendall_joint_sensitivity, kendall_weight

if TYPE_CHECKING:
    from dpcausal.citests.ci_test import TestName

MAX_SHIFT = 1e5  # of a noncentral law
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
) -> PowerForecast:
    """Return the expected power of a test from public numbers; its ``power`` is None where that is unknown.

    ``epsilon=None`` is without privacy. ``remedies`` are sought where the power against a strong dependence is below
    ``help_below``.
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
        curve = power_curve(test, question, *public)
        if curve is None:
            return found
        found = replace(found, power=Power.of(curve))
        if found.strong is None or found.strong >= help_below:
            return found
        cells = question.r * question.c * question.k if isinstance(test, Measured) else None
        return replace(found, cells=cells, remedies=_remedies(test, question, *public))
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
) -> tuple[Remedy, ...]:
    """Return what would help a test that finds too little."""

    def strong(with_epsilon: float, with_delta: float, of: Question) -> float:
        curve = power_curve(test, of, rows, with_epsilon, with_delta, level, neighbours)
        return 0.0 if curve is None else curve(STRONG)

    found = []
    if isinstance(test, Measured):
        if not delta:
            found.append(Remedy("delta", SMALL_DELTA, strong(epsilon, SMALL_DELTA, question)))
        if question.r * question.c * question.k > 4:
            found.append(Remedy("cells", 4, strong(epsilon, delta, replace(question, r=2, c=2, k=1))))
    enough = enough_epsilon(lambda more: strong(more, delta, question) >= WANTED, epsilon)
    helping = [one for one in found if one.chance is not None and one.chance >= LEAST_POWER]
    return (*helping, *([] if enough is None else [Remedy("epsilon", enough, WANTED)]))


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

    ``share`` is that of the rarest level of every column; None: all are equally common. With rows protected, ``gcm``
    deals them without knowing their number, which nothing here accounts for.
    """
    given = question.numeric.intersection(question.given)
    if rows < 1 or not isinstance(test, Measured | RankTest | Gcm):
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
    numbers = bool({question.x, question.y} & question.numeric)
    sizes = (question.r, question.c, question.k)
    worth, dof = _worth(test, sizes, rows, epsilon, delta, neighbours, share, numbers=numbers)
    return partial(_power, worth, dof, level=level)


def strata_cut(test: RankTest, question: Question, rows: int) -> int:
    """Return the number of strata of a rank test: declared levels and bins, and strata of numbers."""
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
    *,
    numbers: bool,
) -> tuple[float, int]:
    """Return the number of rows that would show as much without noise, and the degrees of freedom."""
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
    """Return the mean over the levels of one over their share: what noise in a cell is multiplied by.

    >>> _gain(3, None), round(_gain(2, 0.1), 3)
    (3.0, 5.556)
    """
    if share is None or share >= 1 / size:
        return float(size)
    return (1.0 / share + (size - 1) ** 2 / (1.0 - share)) / size


def _power(worth: float, dof: int, w: float, level: float) -> float:
    """Return the chance to reject at this level.

    >>> round(_power(1000.0, 1, 0.0886, 0.05), 2), round(_power(10.0, 1, 0.1, 0.05), 2)
    (0.8, 0.06)
    """
    return float(1 - chndtr(chdtri(dof, level), dof, min(worth * w * w, MAX_SHIFT)))


# why ``auto`` takes gcm where another test could be asked: the other's level can fail
FOR_ITS_LEVEL = (NumbersGiven, FewRows, ManyCells)
NOTABLE = 0.05  # by how much the forecast of a test that was passed over must be better to be reported


@dataclass(frozen=True, kw_only=True)
class CITestForecast(PowerForecast):
    """The test that a question would be asked with, and its expected power, from public numbers.

    Attributes
    ----------
    about, method, rows, epsilon, delta, level, power, without_noise, columns, cells, remedies, left
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

    Returns
    -------
    CITestForecast
        ``.method`` and ``.reason``; ``.weak``, ``.medium`` and ``.strong``, the chances to find such a dependence;
        ``.refused``; ``.enough``, an epsilon that would do.

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
    reason: Reason
    name, reason = checked_name(method, "method"), ByQuestion("as-asked")
    relation = Neighbours.parse(neighbours, labels=name in TESTS and TESTS[name].info.fixed_labels)
    schema = source if isinstance(source, Schema) else source.schema
    question = Question.of(schema, x, y, column_names(given, "given", schema))
    question.refuse_one_level(schema)
    count = _public_rows(source, rows, relation)
    if name == "auto":
        known = None if relation is Neighbours.ADD_REMOVE else count
        name, reason = choose(question, epsilon, rows=isinstance(source, Schema | Dataset), n=known)
    first = class_named(name).info.first_column_option
    if first is not None:
        options.setdefault(first, x)
    test = make_test(name, options, ("rows",))
    test.check(question)
    ahead = forecast_of_test(
        test, question, count, float(epsilon), float(delta), level, relation, help_below=WANTED
    )
    missing = missing_rules(schema, test, question, rows=isinstance(source, Schema | Dataset))
    found = CITestForecast(**vars(ahead), question=question, reason=reason, missing=missing)
    return replace(found, instead=_stronger(found, relation))


def _stronger(found: CITestForecast, neighbours: Neighbours) -> tuple[str, float] | None:
    """Return the test by groups that ``auto`` passed over though its forecast is better by ``NOTABLE``, with that."""
    if found.medium is None or not isinstance(found.reason, FOR_ITS_LEVEL):
        return None
    assert found.epsilon is not None
    name = KendallTest.info.name if found.question.ordered else Measured.info.name
    test, public = make_test(name, {}, ("rows",)), (found.rows, found.epsilon, found.delta, found.level)
    other = forecast_of_test(test, found.question, *public, neighbours, help_below=0.0).medium
    return None if other is None or other < found.medium + NOTABLE else (name, other)


def _public_rows(source: Schema | Dataset | Counts, rows: int | None, relation: Neighbours) -> int:
    """Return how many rows there are, where that is public or given."""
    if rows is not None:
        return checked_count(rows, "rows")
    if isinstance(source, Schema):
        raise InputError(
            spelled("a forecast needs a file, or --rows N", "a forecast from a schema needs rows=")
            + ": how many there will be"
        )
    if relation is Neighbours.ADD_REMOVE:
        raise InputError(
            f"the number of rows is protected (add-remove): no forecast without {spelled('--rows', 'rows=')}"
        )
    return source.n
