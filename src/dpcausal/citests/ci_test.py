"""``dc.ci_test``: one test of conditional independence, private unless epsilon is None."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcausal.citests.base import AnyTest, Outcome, Question, assumed
from dpcausal.citests.choice import choose
from dpcausal.citests.crt import Crt
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.rank import ValueRankTest, bins_for
from dpcausal.citests.registry import make_test
from dpcausal.citests.result import (
    CITestResult,
    HeldFixed,
    HeldFixedKind,
    Reason,
    ReasonKind,
    Trend,
    finite_or_none,
)
from dpcausal.citests.session import Session
from dpcausal.citests.test_of_tests import TestOfGcm
from dpcausal.core.arguments import (
    REQUIRED,
    checked_ledger,
    checked_level,
    checked_list,
    checked_name,
    refuse_missing_epsilon,
)
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    ROWS,
    SCHEMA,
    Limit,
    LimitKind,
    Public,
    PublicKind,
    Released,
    ReleasedKind,
)
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.budget import Budget

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Public(PublicKind.QUESTION))
EXACT = Released(ReleasedKind.EXACT_STATISTIC)


def ci_test(
    data: Dataset | Counts,
    x: str,
    y: str,
    given: Sequence[str] = (),
    *,
    method: str = "auto",
    epsilon: float | None = REQUIRED,
    delta: float = 0.0,
    level: float = 0.05,
    neighbours: str | Neighbours = Neighbours.REPLACE_ONE,
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    progress: bool = False,
    **options: Any,
) -> CITestResult:
    """Test whether x is independent of y given the columns in ``given``.

    **Guarantee**: (epsilon, delta)-DP for ``neighbours``, charged before noise is drawn (and to ``ledger`` first, if
    one is given). ``epsilon=None`` gives the classical answer and a statement that says it is not private.
    ``unit-circle`` is proved only with labels fixed: its statement, charge and ledger entry say ``fixed-labels``.
    **Edge cases**: the table has every declared level and cell, so an empty cell or a constant column changes
    nothing but the answer. Errors depend on names, types and sizes only.

    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(50_000, seed=1)
    >>> test = ci_test(data, "smoke", "lung", epsilon=1.0)
    >>> test.independent, test.method, test.privacy.epsilon
    (False, 'kendall', 1.0)
    """
    refuse_missing_epsilon(epsilon, "ci_test", options, "epsilon=None")
    del progress  # a single test is over before a bar could be drawn
    level = checked_level(level)
    relation = Neighbours.parse(neighbours, labels=method == "unit-circle")
    checked_ledger(ledger)
    if not isinstance(data, Dataset | Counts):
        raise InputError(f"data must come from dc.read or a counting backend, not {type(data).__name__}")
    given = checked_list(given, "given", "columns")
    question = Question.of(data.schema, x, y, given)
    question.refuse_one_level(data.schema)
    name, reason = checked_name(method, "method"), Reason(ReasonKind.AS_ASKED)
    if method == "auto":
        public_n = None if relation is Neighbours.ADD_REMOVE else data.n
        name, reason = choose(question, epsilon, rows=isinstance(data, Dataset), n=public_n)
    if name == "unit-circle":
        options.setdefault("labels", x)
        relation = Neighbours.FIXED_LABELS if relation is Neighbours.REPLACE_ONE else relation
    elif relation is Neighbours.FIXED_LABELS:
        raise InputError(f"{name} holds no labels fixed: neighbours must be replace-one or add-remove")
    if name == "crt":
        options.setdefault("resample", x)
    shared = [option for option in inspect.signature(ci_test).parameters if option not in ("data", "options")]
    test = make_test(name, options, shared)
    test.check(question)
    if epsilon is None:
        if ledger is not None or delta:
            raise InputError("epsilon=None means no privacy: it goes with no delta and no ledger")
        budget = Budget.none(relation)
    else:
        reserve = delta if test.own_delta else 0.0
        note = {"command": "test", "method": name, "question": str(question)}
        budget = Budget(
            epsilon, delta, neighbours=relation, reserve=reserve, ledger=ledger, dataset=dataset, note=note
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
    outcome = session.ask(question.x, question.y, question.given)
    rows = (ROWS,) if relation is not Neighbours.ADD_REMOVE else ()
    statement = budget.statement(
        released=[
            Released(
                ReleasedKind.ANSWER,
                x=question.x,
                y=question.y,
                given=question.given,
                released=EXACT if epsilon is None else test.releases,
            )
        ],
        public=(*PUBLIC, *rows, *_also_public(test, data, question)),
        adaptive=outcome.chosen is not None,
        unit=test.protects,
        limits=(Limit(LimitKind.DRAFT_SCHEMA),) if data.schema.draft else (),
        rows=data.n if rows else None,
    )
    public_rows = data.n if rows or epsilon is None else None
    binned = (
        reason.is_a(ReasonKind.NO_ORDER) and reason["binned"]
    )  # the reason has said how they are held fixed
    signed = getattr(test, "variant", "") != "weighted"
    return CITestResult(
        x=x,
        y=y,
        given=tuple(given),
        method=name,
        level=level,
        independent=outcome.independent,
        pvalue=outcome.pvalue,
        statistic=finite_or_none(outcome.statistic),
        dof=outcome.dof,
        reason=reason,
        held_fixed=None if binned else held_fixed(test, question, data, public_rows),
        chosen=outcome.chosen,
        direction=trend(name, question, outcome, public_rows) if signed else None,
        tau=tau_of(name, outcome, public_rows),
        privacy=statement,
    )


def held_fixed(test: AnyTest, question: Question, data: Dataset | Counts, n: int | None) -> HeldFixed | None:
    """Return how a test held numeric columns fixed: by which cuts, or as numbers. From public facts.

    Parameters
    ----------
    test, question, data
        What is asked, by which test; of ``data`` only whether it has rows, and its schema.
    n
        The number of rows where it is public, else None.
    """
    names = tuple(name for name in question.given if name in question.numeric)
    if not names:
        return None
    if isinstance(data, Dataset) and isinstance(test, Gcm | TestOfGcm):
        if isinstance(test, Gcm) and test.variant == "bins":
            return HeldFixed(HeldFixedKind.EQUAL_WIDTHS, columns=names)
        return HeldFixed(HeldFixedKind.REGRESSION, columns=names)
    if isinstance(data, Dataset) and isinstance(test, ValueRankTest | Crt):
        on_table = isinstance(test, ValueRankTest) and test.on == "table"
        model = isinstance(test, Crt)
        if isinstance(test, Crt) and test.score != "ranks":
            return HeldFixed(HeldFixedKind.MODEL, columns=names)
        if cuts := {} if on_table else bins_for(question, data, test.strata, n):
            return HeldFixed(HeldFixedKind.STRATA, columns=names, strata=cuts[names[0]], model=model)
    return HeldFixed(HeldFixedKind.DECLARED_BINS, columns=names)


SIGNED = ("kendall", "spearman", "gcm")  # tests whose statistic has a sign


def tau_of(name: str, outcome: Outcome, n: int | None) -> float | None:
    """Return tau-a within the cells of z, about; None where it can't be known.

    ``kendall`` releases K = sum S_b/n_b over the cells b of z, S_b the pairs of rows in order minus those against it.
    S_b = tau_b n_b (n_b - 1)/2, so 2 K/n is the mean tau-a of the cells, weighted by n_b - 1 (up to k/n for k cells):
    the share of pairs of rows within a cell that agree in order, less the share that disagree.

    >>> tau_of("kendall", Outcome(independent=False, statistic=300.0), 2000)
    0.3
    """
    statistic = finite_or_none(outcome.statistic)
    if name != "kendall" or statistic is None or not n:
        return None
    return max(-1.0, min(2 * statistic / n, 1.0))


def trend(name: str, question: Question, outcome: Outcome, n: int | None) -> Trend | None:
    """Return which way y goes with x, read off the released statistic, so that it costs nothing.

    None where independence was not rejected, since the sign is then noise, and for tests whose statistic has no sign.
    """
    statistic = finite_or_none(outcome.statistic)
    if outcome.independent or not statistic or name not in SIGNED:
        return None
    by_levels = not {question.x, question.y} <= question.numeric
    return Trend(question.x, question.y, question.given, statistic > 0, by_levels, tau_of(name, outcome, n))


def _also_public(test: AnyTest, data: Dataset | Counts, question: Question) -> tuple[Public, ...]:
    """What the test takes to be public besides; bins of numeric conditioning columns only where there are any."""
    binned = any(name in question.numeric for name in question.given)
    return tuple(
        fact
        for fact in assumed(test, data)
        if binned or not fact.is_a(PublicKind.STRATA, PublicKind.GIVEN_BINS)
    )
