"""``dc.ci_test``: one test of conditional independence, private unless epsilon is None."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcausal.citests.base import AnyTest, Question, assumed
from dpcausal.citests.choice import choose
from dpcausal.citests.numeric_given import how_given
from dpcausal.citests.registry import make_test
from dpcausal.citests.result import CITestResult
from dpcausal.citests.session import Session
from dpcausal.citests.trend import tau_of, trend_words
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
from dpcausal.core.statement import SCHEMA
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import DRAFT_LIMIT
from dpcausal.privacy.budget import Budget

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, "the question, the test and its level")
EXACT = "the exact statistic"


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
    name, why = checked_name(method, "method"), "as asked"
    if method == "auto":
        public_n = None if relation is Neighbours.ADD_REMOVE else data.n
        name, why = choose(question, epsilon, rows=isinstance(data, Dataset), n=public_n)
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
    rows = ("the number of rows",) if relation is not Neighbours.ADD_REMOVE else ()
    statement = budget.statement(
        released=[f"{question}: {EXACT if epsilon is None else test.releases}"],
        public=(*PUBLIC, *rows, *_also_public(test, data, question)),
        adaptive=outcome.chosen is not None,
        unit=test.protects,
        limits=(DRAFT_LIMIT,) if data.schema.draft else (),
        rows=data.n if rows else None,
    )
    public_rows = data.n if rows or epsilon is None else None
    how = how_given(test, question, data, public_rows)
    signed = getattr(test, "variant", "") != "weighted"
    if "declared bins" in why:
        how = ""  # the choice has said it
    return CITestResult(
        x=x,
        y=y,
        given=tuple(given),
        method=name,
        level=level,
        independent=outcome.independent,
        pvalue=outcome.pvalue,
        statistic=None
        if outcome.statistic is None or not math.isfinite(outcome.statistic)
        else outcome.statistic,
        dof=outcome.dof,
        why="; ".join(part for part in (why, outcome.chosen, how) if part),
        trend=trend_words(name, question, outcome, public_rows, signed=signed),
        tau=tau_of(name, outcome, public_rows),
        privacy=statement,
    )


def _also_public(test: AnyTest, data: Dataset | Counts, question: Question) -> tuple[str, ...]:
    """What the test takes to be public besides; bins of numeric conditioning columns only where there are any."""
    binned = any(name in question.numeric for name in question.given)
    return tuple(line for line in assumed(test, data) if binned or not line.startswith("the bins of"))
