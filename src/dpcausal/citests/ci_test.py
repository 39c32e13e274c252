"""``dc.ci_test``: one test of conditional independence, private unless epsilon is None."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from dpcausal.citests.base import CITest, Question, ValueTest, missing_rules
from dpcausal.citests.choice import choose, with_noise
from dpcausal.citests.power import forecast_of_test
from dpcausal.citests.registry import TESTS, class_named, make_test
from dpcausal.citests.result import ByQuestion, CITestResult, HeldBySpread, HeldFixed, NoOrder, Reason, Trend
from dpcausal.citests.session import Session
from dpcausal.core.arguments import (
    REQUIRED,
    checked_ledger,
    checked_level,
    checked_name,
    column_names,
    refuse_charge_without_epsilon,
    refuse_missing_epsilon,
    refuses_schema,
)
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import (
    NOT_EMPTY,
    ROWS,
    SCHEMA,
    Asked,
    Exact,
    OneAnswer,
    Public,
    Released,
    SettingKnown,
    SpreadCounts,
)
from dpcausal.counts.protocol import Counts, source_limits
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset, not_a_dataset
from dpcausal.data.schema import Schema
from dpcausal.privacy.accounting.composition import check_total
from dpcausal.privacy.budget import Budget, refuse_hopeless
from dpcausal.stats.limits import row_limit

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Asked("question"))
EXACT = Exact("exact-statistic")
TestName = Literal[
    "auto", "kendall", "spearman", "chi2", "g", "measured", "unit-circle", "gcm", "crt", "test-of-tests"
]  # as in TESTS


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

    ``auto``: by the columns: kendall, gcm or measured.

    ``kendall``: do x and y rise together (rank correlation)? For numbers and ordered levels.

    - ``on='values'``: values (numbers as they are) or table (declared bins).
    - ``strata='auto'``: strata of numeric given columns: auto (equal counts, measured privately), a number (equal
      widths) or schema.

    ``spearman``: the same question as kendall, by Spearman's ranks.

    - ``on='values'``: values (numbers as they are) or table (declared bins).
    - ``strata='auto'``: strata of numeric given columns: auto (equal counts, measured privately), a number (equal
      widths) or schema.

    ``chi2``: Pearson's chi-square on many parts of the rows; a noisy median of their p-values.

    - ``parts=None``: number of parts that the rows are dealt into; default 28/epsilon, or more.
    - ``median='exponential'``: mechanism: exponential, cauchy, laplace or gaussian.
    - ``trim=None``: with those last three, a mean of the p-values without this share of them at either end.

    ``g``: the likelihood ratio (G) on many parts of the rows; a noisy median of their p-values.

    - ``parts=None``: number of parts that the rows are dealt into; default 28/epsilon, or more.
    - ``median='exponential'``: mechanism: exponential, cauchy, laplace or gaussian.
    - ``trim=None``: with those last three, a mean of the p-values without this share of them at either end.

    ``measured``: a test on the table of counts, with noise in every cell.

    - ``noise='auto'``: auto (the smaller of Laplace and, with a delta, Gaussian), laplace or gaussian.
    - ``form='combined'``: how blocks are put together: omnibus, pooled, or combined (both).

    ``unit-circle``: two groups and a yes/no outcome; who is in which group is public.

    - ``labels=None``: the column of public labels; default the first one asked about.
    - ``positives=None``: public number of rows with the second outcome, or a range (low, high); default unknown.
    - ``statistic='circle'``: circle (a p-value), distance or chi2 (a decision only).

    ``gcm``: do x and y go together after regression on what is given? For numbers.

    - ``variant='parts'``: parts, weighted, bins, moments or residuals.
    - ``lambda_=None``: strength of the ridge (moments, residuals); default 1.
    - ``bandwidth=None``: of the kernel, as a share of the declared range (moments, residuals); default 0.1 sqrt(d).
    - ``kernel='gaussian'``: gaussian, additive or mixed (moments, residuals).
    - ``bins=None``: number of bins of the given columns together (bins); default from n.
    - ``parts=None``: number of parts (parts, weighted); default from n and epsilon.
    - ``select=False``: choose lambda and bandwidth privately from lists (moments, residuals).
    - ``lambdas=()``: public list of lambdas to choose from (select).
    - ``bandwidths=()``: public list of bandwidths to choose from (select).
    - ``share=0.25``: share of epsilon that the choice costs (select).

    ``crt``: x against made-up copies of x: from a model you know (in Python), or permutations.

    - ``model=None``: law of the resampled column given the rest: a function or a model; not for permutations within
      levels.
    - ``resample=None``: the column that the model is about; default the first one asked about.
    - ``copies=None``: number of copies; default from the level, about 200 (20 for a rank).
    - ``draw='law'``: copies: law (drawn from the model) or permutation (the column's own values in another order).
    - ``score='ranks'``: score of the other column: ranks, plain or kernel.
    - ``release='decision'``: decision (one bit) or rank (a p-value).
    - ``strata='auto'``: strata of numeric given columns (ranks), as in kendall.
    - ``strength=1.0``: lambda of the ridge regression (kernel).
    - ``bandwidth=0.2``: bandwidth, as a share of the declared range (kernel).

    ``test-of-tests``: a test on each of many parts of the rows; a noisy count of the parts that reject.

    - ``test='g'``: name of the test of each part; default g.
    - ``parts=None``: number of parts; default from the number of rows and epsilon.
    - ``sub_level=None``: size of the test of each part; default from the same numbers.

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

    An option of a test goes beside the rest:

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
    reason: Reason
    name, reason = checked_name(method, "method"), ByQuestion("as-asked")
    relation = Neighbours.parse(neighbours, labels=name in TESTS and TESTS[name].info.fixed_labels)
    checked_ledger(ledger)
    if not isinstance(data, Dataset | Counts):
        raise not_a_dataset(data)
    given = column_names(given, "given", data.schema)
    question = Question.of(data.schema, x, y, given)
    question.refuse_one_level(data.schema)
    if name == "auto":
        public_n = None if relation is Neighbours.ADD_REMOVE else data.n
        name, reason = choose(question, epsilon, rows=isinstance(data, Dataset), n=public_n)
    info = class_named(name).info
    if info.first_column_option is not None:
        options.setdefault(info.first_column_option, x)
    if info.fixed_labels:
        relation = Neighbours.FIXED_LABELS if relation is Neighbours.REPLACE_ONE else relation
    elif relation is Neighbours.FIXED_LABELS:
        raise InputError(f"{name} holds no labels fixed: neighbours must be replace-one or add-remove")
    shared = [option for option in inspect.signature(ci_test).parameters if option not in ("data", "options")]
    test = make_test(name, options, shared)
    test.check(question)
    ahead = None
    if (epsilon is None or relation is Neighbours.REPLACE_ONE) and data.n > 0:
        ahead = forecast_of_test(test, question, data.n, epsilon, delta, level)
    if epsilon is None:
        refuse_charge_without_epsilon(delta, ledger)
        budget = Budget.none(relation)
    else:
        if not anyway:
            refuse_hopeless(ahead, ledger, dataset)
        reserve = delta if test.own_delta else 0.0
        note = {"command": "test", "method": name, "question": str(question)}
        budget = Budget(
            epsilon,
            delta,
            neighbours=relation,
            reserve=reserve,
            ledger=ledger,
            dataset=dataset,
            note=note,
            rows=None if relation is Neighbours.ADD_REMOVE else data.n,
            file=data.file if isinstance(data, Dataset) else None,
        )
    session = Session(
        data,
        test,
        level=level,
        epsilon=epsilon,
        delta=delta,
        neighbours=relation,
        budget=None if epsilon is None else budget,
    )
    with budget.telling():
        outcome = session.ask(question.x_columns, question.y_columns, question.given)
    public_rows = data.n if relation is not Neighbours.ADD_REMOVE or epsilon is None else None
    held_fixed = test.held_fixed(question, data, public_rows)
    by_spread = isinstance(held_fixed, HeldBySpread)
    rows = (ROWS,) if relation is not Neighbours.ADD_REMOVE else ()
    known: tuple[Public, ...] = rows or (NOT_EMPTY,)
    if epsilon is not None and isinstance(test, ValueTest) and isinstance(data, Dataset):
        known += row_limit(relation) if test.limits_rows(question) else ()
    asked = [_asked(question.x_columns), _asked(question.y_columns)]
    if set(question.x_columns) != ({x} if isinstance(x, str) else set(x)):
        asked.reverse()  # a question has the order of the schema, an answer that of whoever asked
    statement = budget.statement(
        released=[
            OneAnswer(
                x=asked[0],
                y=asked[1],
                given=question.given,
                released=EXACT if epsilon is None else _released(test, held_fixed),
            )
        ],
        public=(
            *PUBLIC,
            *data.schema.assumes,
            data.schema.missing_as((*question.x_columns, *question.y_columns, *question.given)),
            *known,
            *_also_public(test, data, question),
        ),
        adaptive=outcome.chosen is not None or by_spread,
        unit=test.protects,
        limits=source_limits(data),
        rows=data.n if rows else None,
    )
    # where the reason has said how numeric columns are held fixed it is not said again
    binned = isinstance(reason, NoOrder) and reason.binned
    statistic = (
        outcome.statistic if outcome.statistic is not None and math.isfinite(outcome.statistic) else None
    )
    signed = test.signed and question.ordered and not question.several
    tau = None if statistic is None or not public_rows else test.tau(statistic, public_rows)
    return CITestResult(
        x=x if isinstance(x, str) else _asked(tuple(x)),
        y=y if isinstance(y, str) else _asked(tuple(y)),
        given=tuple(given),
        method=name,
        level=level,
        independent=outcome.independent,
        pvalue=outcome.pvalue,
        statistic=statistic,
        dof=outcome.dof,
        reason=reason,
        held_fixed=None if binned else held_fixed,
        chosen=outcome.chosen,
        direction=_trend(data.schema, str(asked[0]), str(asked[1]), question.given, statistic, tau)
        if signed and not outcome.independent
        else None,
        tau=tau,
        missed=ahead if outcome.independent else None,
        with_noise=with_noise(question, rows=isinstance(data, Dataset), n=data.n)
        if epsilon is None and method == "auto"
        else None,
        by_bins=_by_bins(test, data, question),
        missing=missing_rules(data.schema, test, question, rows=isinstance(data, Dataset)),
        privacy=statement,
    )


def _asked(columns: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return a column as a text, several as they are."""
    return columns[0] if len(columns) == 1 else columns


def _released(test: CITest, held_fixed: HeldFixed | None) -> Released:
    """Return what leaves: before the test's own release, counts of the columns whose strata were measured."""
    if not isinstance(held_fixed, HeldBySpread):
        return test.releases
    return SpreadCounts(held_fixed.columns, then=test.releases)


def _trend(
    schema: Schema, x: str, y: str, given: tuple[str, ...], statistic: float | None, tau: float | None
) -> Trend | None:
    """Return which way y goes with x, read off a released statistic that has a sign, so that it costs nothing.

    Only for answers that reject independence: else the sign is noise. It is the same whichever of the two is x.
    """
    if not statistic:
        return None
    x_levels, y_levels = (
        column.printed if isinstance(column, Categorical) else () for column in (schema[x], schema[y])
    )
    return Trend(x, y, given, statistic > 0, tau, x_levels, y_levels)


def _by_bins(test: CITest, data: Dataset | Counts, question: Question) -> tuple[str, ...]:
    """Return numbers that the test ranks where there are rows, and takes by their bins where there are counts."""
    if isinstance(data, Dataset) or not isinstance(test, ValueTest) or not test.limits_rows(question):
        return ()
    return tuple(name for name in (*question.x_columns, *question.y_columns) if name in question.numeric)


def _also_public(test: CITest, data: Dataset | Counts, question: Question) -> tuple[Public, ...]:
    """Return what the test takes to be public besides; strata of numeric given columns only where there are any."""
    if test.info.fixed_labels:
        return test.assumes
    if not (isinstance(test, ValueTest) and isinstance(data, Dataset)):
        return ()
    if any(name in question.numeric for name in question.given):
        return test.assumes
    return tuple(fact for fact in test.assumes if fact != SettingKnown("strata"))
