"""``dc.forecast_ci_test``: which test would be taken and what it is expected to find, before anything is charged.

**Guarantee.** The schema, the question, the budget and the public number of rows alone go in; rows are not looked at.
Chances are those of the best case (``citests/power.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from dpcausal.citests.base import Question, missing_rules
from dpcausal.citests.measured import Measured
from dpcausal.citests.power import forecast_of_test, has_levels
from dpcausal.citests.rank import KendallTest
from dpcausal.citests.registry import asked_test, make_test, relation_of
from dpcausal.citests.result import FewRows, ManyCells, MissingRule, NumbersGiven, Reason
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
from dpcausal.core.forecast import RARE, WANTED, PowerForecast
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled, worded
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.accounting.composition import check_total

if TYPE_CHECKING:
    from dpcausal.citests.ci_test import TestName

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
    count, by_rows = public_rows(source, rows, relation), isinstance(source, Schema | Dataset)
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
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share <= 0.5:
        raise InputError(f"share must be above 0 and at most 0.5, not {share!r}")
    if not has_levels(question):
        raise InputError("share is of the rarest level of x or y, and both are numbers: leave it out")
    return float(share)


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


def public_rows(source: Schema | Dataset | Counts, rows: int | None, relation: Neighbours) -> int:
    """Return how many rows a forecast is for: as given, or those of the data where their number is public."""
    if rows is not None:
        return checked_count(rows, "rows")
    if isinstance(source, Schema):
        raise InputError(
            worded(
                "a forecast needs a file, or --rows N",
                "a forecast from a schema needs rows=",
                "a forecast needs rows",
            )
            + ": how many there will be"
        )
    if relation is Neighbours.ADD_REMOVE:
        raise InputError(
            f"the number of rows is protected (add-remove): no forecast without {spelled('--rows', 'rows=')}"
        )
    return source.n
