"""``dc.ci_test``: one test of conditional independence, private unless epsilon is None."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dpcausal.citests.base import CITest, Outcome, Question, ValueTest, missing_rules
from dpcausal.citests.forecast import forecast_of_test
from dpcausal.citests.registry import AUTO, TESTS, AskedTest, TestName, asked_test, relation_of, with_noise
from dpcausal.citests.result import CITestResult, HeldBySpread, HeldFixed, NoOrder, Trend
from dpcausal.citests.session import Session
from dpcausal.core.arguments import (
    REQUIRED,
    checked_ledger,
    checked_level,
    checked_name,
    column_names,
    described_options,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.forecast import PowerForecast
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import (
    NOT_EMPTY,
    SCHEMA,
    Asked,
    Exact,
    NotPrivate,
    OneAnswer,
    PrivacyStatement,
    Public,
    Released,
    SettingKnown,
    SpreadCounts,
)
from dpcausal.counts.protocol import Counts, files_of, number_known, source_limits, unit_of
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.privacy.budget import Budget, refuse_hopeless
from dpcausal.stats.limits import row_limit

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Asked("question"))
EXACT = Exact("exact-statistic")


@refuses_schema
def ci_test(
    data: Dataset | Counts,
    x: str | Sequence[str],
    y: str | Sequence[str],
    given: Sequence[str] | str = (),
    *,
    method: TestName = "auto",
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    level: float = 0.05,
    neighbours: Literal["replace-one", "add-remove", "fixed-labels"] | Neighbours = "replace-one",
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    progress: bool = False,
    anyway: bool = False,
    **options: Any,
) -> CITestResult:
    """Test whether x is independent of y given the columns in ``given``.

    **Guarantee**: (epsilon, delta)-DP for ``neighbours``, charged before noise is drawn (and to ``ledger`` first, if
    one is given). ``epsilon=None`` gives the classical answer and a statement that says it is not private.
    ``unit-circle`` is proved only with labels fixed: its statement, charge and ledger entry say ``fixed-labels``.

    **Edge cases**: the table has every declared level and cell, so an empty cell or a constant column changes
    nothing but the answer. Errors depend on names, types and sizes only.

    Parameters
    ----------
    data : Dataset or Counts
        The rows, as ``dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))`` returns them, or a counting
        backend.
    x, y : str or list of str
        The two columns. With ``gcm`` x or y may be several columns: are the two groups independent?
    given : sequence of str or str, default ()
        The columns to condition on.
    method : str, default "auto"
        The test; see Notes for all of them and for their options.
    epsilon : float or None
        What the test may cost; smaller is safer. There is no default. None means no privacy.
    delta : float, default 0.0
        The probability with which the guarantee of ``epsilon`` may fail; well below 1/n. Tests that use none spend
        none.
    level : float, default 0.05
        The size of the test: the probability of rejecting independence where it holds.
    neighbours : str or Neighbours, default "replace-one"
        Which two data sets must be hard to tell apart: ``"replace-one"`` (one row differs; the number of rows is
        public), ``"add-remove"`` (one row more or less; the number of rows is protected) or, for ``unit-circle``,
        ``"fixed-labels"`` (one outcome differs; who is in which group is public).
    ledger : str, Ledger or None, default None
        A ledger or its address (``sqlite:///file.db``, ``postgresql://...``) that is charged first.
    dataset : str or None, default None
        The name of the data set in the ledger; needed with ``ledger``, refused without.
    progress : bool, default False
        Taken for the sake of ``discover``; a single test shows no progress.
    anyway : bool, default False
        Whether to go on with a test that can show hardly anything. Otherwise ``kendall``, ``spearman``, ``measured``
        and ``gcm`` refuse, uncharged, where a strong dependence (w = .5) would be found in under 20% of cases at best;
        the message says what would help. The schema, the public number of rows and the budget decide; under add-remove
        nothing is refused. ``forecast_ci_test`` says beforehand how often one is found.
    **options
        Options of the test, listed under Notes.

    Returns
    -------
    CITestResult
        ``.independent``, ``.pvalue`` and ``.statistic`` (None where only a decision is released), ``.privacy`` and
        more.

    Raises
    ------
    InputError
        If an argument can't be used as given, or the test can't answer this question; nothing was charged.
    BudgetError
        If the ledger, or the total itself, does not allow it; nothing was released.
    LedgerError
        If the ledger can't be opened, read or trusted.

    Notes
    -----
    The tests, each with its options (name, default, meaning). Options are public: choose them without looking at the
    rows.

    {tests}

    Examples
    --------
    Of your own file, and counted in a ledger:

    >>> import dpcausal as dc
    >>> data = dc.read("patients.csv", dc.Schema.from_toml("schema.toml"))  # doctest: +SKIP
    >>> count = {"ledger": "sqlite:///budget.db", "dataset": "cohort"}
    >>> print(dc.ci_test(data, "age", "dysp", given=["bronc"], epsilon=0.2, **count))  # doctest: +SKIP

    Of a network whose graph is known:

    >>> data = dc.networks.load("asia").sample(50_000, seed=1)
    >>> test = dc.ci_test(data, "smoke", "lung", epsilon=1.0)
    >>> test.independent, test.method, test.privacy.epsilon
    (False, 'kendall', 1.0)

    An option of a test is a keyword like any other:

    >>> test = dc.ci_test(data, "smoke", "xray", ["either"], method="test-of-tests", test="chi2", epsilon=1.0)
    >>> test.privacy.private, test.privacy.epsilon
    (True, 1.0)
    """
    classical = spelled("--no-privacy", "epsilon=None")
    refuse_missing_epsilon(epsilon, spelled("test", "ci_test"), options, classical)
    if epsilon is not None:
        check_total(epsilon, delta)
    del progress  # a single test is over before a bar could be drawn
    level = checked_level(level)
    name = checked_name(method, "method")
    relation = relation_of(neighbours, name)
    checked_ledger(ledger)
    if not isinstance(data, Dataset | Counts):
        raise not_a_dataset(data)
    given = column_names(given, "given", data.schema)
    question = Question.of(data.schema, x, y, given)
    question.refuse_one_level(data.schema)
    shared = [option for option in inspect.signature(ci_test).parameters if option not in ("data", "options")]
    public_n = None if relation is Neighbours.ADD_REMOVE else data.n
    asked = asked_test(
        name, question, relation, epsilon, options,
        x=x, by_rows=isinstance(data, Dataset), n=public_n, shared=shared,
    )  # fmt: skip
    request = _Request(data, _as_asked(x), _as_asked(y), given, question, asked, epsilon, delta, level)
    budget = request.budget(ledger, dataset, anyway)
    found = request.result(request.answer(budget), budget)
    if epsilon is None and method == "auto":
        return replace(found, with_noise=with_noise(question, rows=request.has_rows, n=data.n))
    return found


_TEST_NOTES = {
    name: (test.info.description, {option.name: (option.default, option.line) for option in test.options()})
    for name, test in TESTS.items()
}
ci_test.__doc__ = (ci_test.__doc__ or "").replace(
    "    {tests}", described_options({"auto": (AUTO, {}), **_TEST_NOTES})
)


@dataclass(frozen=True)
class _Request:
    """One call of ``ci_test`` whose arguments have been checked: all of it is public but the rows of ``data``."""

    data: Dataset | Counts
    x: str | tuple[str, ...]  # in the order in which they were asked about; a question has that of the schema
    y: str | tuple[str, ...]
    given: Sequence[str]
    question: Question
    asked: AskedTest
    epsilon: float | None
    delta: float
    level: float

    @property
    def test(self) -> CITest:
        """The test that answers."""
        return self.asked.test

    @property
    def neighbours(self) -> Neighbours:
        """The relation that it is asked under."""
        return self.asked.neighbours

    @property
    def has_rows(self) -> bool:
        """Whether there are rows, and not only counts."""
        return isinstance(self.data, Dataset)

    @property
    def rows_protected(self) -> bool:
        """Whether the number of rows is protected."""
        return self.neighbours is Neighbours.ADD_REMOVE

    @property
    def public_rows(self) -> int | None:
        """The number of rows; None where it is protected in a private answer."""
        return None if self.rows_protected and self.epsilon is not None else self.data.n

    @property
    def limits_rows(self) -> bool:
        """Whether the test refuses more than a limited number of rows."""
        return isinstance(self.test, ValueTest) and self.test.limits_rows(self.question)

    @cached_property
    def forecast(self) -> PowerForecast | None:
        """Expected power of the test from public numbers; None where the number of rows is not public."""
        if (self.epsilon is not None and self.neighbours is not Neighbours.REPLACE_ONE) or self.data.n == 0:
            return None
        return forecast_of_test(self.test, self.question, self.data.n, self.epsilon, self.delta, self.level)

    def budget(self, ledger: str | Ledger | None, dataset: str | None, anyway: bool) -> Budget:
        """Return the budget that the answer is charged to; refuse what would show nothing unless ``anyway``."""
        if self.epsilon is None:
            refuse_charge_without_epsilon(self.delta, ledger)
            return Budget.none(self.neighbours, files_of(self.data), unit_of(self.data))
        if not anyway:
            refuse_hopeless(self.forecast, ledger, dataset)
        return Budget(
            self.epsilon,
            self.delta,
            neighbours=self.neighbours,
            reserve=self.delta if self.test.own_delta else 0.0,
            ledger=ledger,
            dataset=dataset,
            note={"command": "test", "method": self.asked.name, "question": str(self.question)},
            rows=None if self.rows_protected else self.data.n,
            unit=unit_of(self.data),
            file=files_of(self.data),
        )

    def answer(self, budget: Budget) -> Outcome:
        """Return the answer of the test, charged to ``budget`` where it is private."""
        session = Session(
            self.data,
            self.test,
            level=self.level,
            epsilon=self.epsilon,
            delta=self.delta,
            neighbours=self.neighbours,
            budget=None if self.epsilon is None else budget,
        )
        with budget.telling():
            return session.ask(self.question.x_columns, self.question.y_columns, self.question.given)

    def result(self, outcome: Outcome, budget: Budget) -> CITestResult:
        """Return the answer with what it cost and what it means."""
        held_fixed = self.test.held_fixed(self.question, self.data, self.public_rows)
        found = outcome.statistic
        statistic = found if found is not None and math.isfinite(found) else None
        tau = None
        if statistic is not None and self.public_rows:
            tau = self.test.tau(statistic, self.public_rows)
        # where the reason says how numeric columns are held fixed, it is not repeated
        binned = isinstance(self.asked.reason, NoOrder) and self.asked.reason.binned
        return CITestResult(
            x=self.x,
            y=self.y,
            given=tuple(self.given),
            method=self.asked.name,
            level=self.level,
            independent=outcome.independent,
            pvalue=outcome.pvalue,
            statistic=statistic,
            dof=outcome.dof,
            reason=self.asked.reason,
            held_fixed=None if binned else held_fixed,
            chosen=outcome.chosen,
            direction=None if outcome.independent else self.direction(statistic, tau),
            tau=tau,
            missed=self.forecast if outcome.independent else None,
            by_bins=self.by_bins(),
            missing=missing_rules(self.data.schema, self.test, self.question, rows=self.has_rows),
            privacy=self.statement(outcome, budget, held_fixed),
        )

    def statement(self, outcome: Outcome, budget: Budget, held_fixed: HeldFixed | None) -> PrivacyStatement:
        """Return the privacy statement."""
        released: Released = EXACT
        if self.epsilon is not None:
            released = self.test.releases
            if isinstance(held_fixed, HeldBySpread):  # counts of these columns were released before
                released = SpreadCounts(held_fixed.columns, then=released)
        schema, sides = self.data.schema, [self.question.x_columns, self.question.y_columns]
        if set(sides[0]) != ({self.x} if isinstance(self.x, str) else set(self.x)):
            sides.reverse()
        x, y = (_as_asked(side) for side in sides)
        answer = OneAnswer(x=x, y=y, given=self.question.given, released=released)
        if self.test.printed and self.epsilon is not None:
            return PrivacyStatement.none(
                released=[answer],
                neighbours=self.neighbours,
                why=NotPrivate.PRINTED,
                unit=unit_of(self.data),
            )
        return budget.statement(
            released=[answer],
            public=(
                *PUBLIC,
                *schema.assumes,
                schema.missing_as((*self.question.x_columns, *self.question.y_columns, *self.question.given)),
                *self.assumes(),
            ),
            adaptive=outcome.chosen is not None or isinstance(held_fixed, HeldBySpread),
            unit=self.test.protects,
            limits=source_limits(self.data),
            rows=None if self.rows_protected else self.data.n,
        )

    def assumes(self) -> Iterator[Public]:
        """Yield what is public besides the schema: of the rows, and of the test."""
        yield NOT_EMPTY if self.rows_protected else number_known(self.data)
        by_value = isinstance(self.test, ValueTest) and self.has_rows
        if by_value and self.epsilon is not None and self.limits_rows:
            yield from row_limit(self.neighbours)
        if by_value or self.test.info.fixed_labels:
            strata = bool(self.question.given_numbers)
            yield from (fact for fact in self.test.assumes if strata or fact != SettingKnown("strata"))

    def by_bins(self) -> tuple[str, ...]:
        """Return numeric columns that enter by their bins because there are counts and no rows."""
        if self.has_rows or not self.limits_rows:
            return ()
        sides = (*self.question.x_columns, *self.question.y_columns)
        return tuple(name for name in sides if name in self.question.numeric)

    def direction(self, statistic: float | None, tau: float | None) -> Trend | None:
        """Return whether y rises with x, read off a released statistic that has a sign, so that it costs nothing.

        Only for answers that reject independence: else the sign is noise. It is the same whichever of the two is x.
        """
        signed = self.test.signed and self.question.ordered and not self.question.several
        if not statistic or not signed:
            return None
        x, y = str(self.x), str(self.y)
        x_levels, y_levels = (
            column.printed if isinstance(column, Categorical) else ()
            for column in (self.data.schema[x], self.data.schema[y])
        )
        return Trend(x, y, self.question.given, statistic > 0, tau, x_levels, y_levels)


def _as_asked(side: str | Sequence[str]) -> str | tuple[str, ...]:
    """Return the name of one column as a text, several names as a tuple."""
    return side if isinstance(side, str) else side[0] if len(side) == 1 else tuple(side)
