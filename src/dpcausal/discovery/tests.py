"""PC by tests: every question is a private test of its own, all of them under one total.

Any test of ``ci_test`` (option ``test``; "auto" chooses one for each question from the schema), on the values of the
rows where it works on values: ``kendall``, ``spearman``, ``gcm``, ``measured``, ... A test costs ``epsilon``
(option), or what lets about ``5 x pairs`` questions be asked: the rho that (epsilon, delta) allows, in equal parts,
or equal parts of epsilon where delta is 0. When the filter refuses the next test, the edges not yet tested stay and
are reported. An "independent" of a test that would have missed a strong dependence more often than not, as public
numbers tell (``citests/forecast.py``), supports nothing: that pair is open. Where not even the first test can be paid,
as when the ledger refuses, that is a ``BudgetError``. A test whose events carry a delta of their own
(``median="laplace"``, ``"gaussian"``) has half of delta for them, in equal parts for as many questions.

**Guarantee** (epsilon, delta)-DP in total: tests are charged before noise, the filter stops (``privacy/accounting``),
and what is asked depends on released answers only. No question is paid twice. For many questions ``svt-pc`` and
``priv-pc`` (pay for deletions only) and ``measured`` or ``moments`` (pay once) reach further."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.base import TestSettings, ValueTest
from dpcausal.citests.chi2 import MedianOfPartsTest
from dpcausal.citests.forecast import power_curve
from dpcausal.citests.registry import choose, make_test
from dpcausal.citests.session import Session
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.forecast import STRONG
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Public, SearchAnswers
from dpcausal.discovery.evidence import Evidence, largest_pvalues
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.private_search import deletable
from dpcausal.discovery.search import (
    STABLE,
    Answer,
    Answers,
    AskedTests,
    Method,
    OpenReason,
    Query,
    SearchOutcome,
    Skeleton,
    Task,
    drive,
    unanswered,
)
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.stats.limits import row_limit

QUESTIONS_A_PAIR = 5.0
ROUNDING = 1 - 1e-12
MIN_POWER = 0.5  # chance to see a strong dependence from which on "independent" counts


def epsilon_of_each(total: Filter, questions: float) -> float:
    """Return the epsilon of each of ``questions`` pure tests that fit in the total: by rho, or by the sum.

    >>> round(epsilon_of_each(Filter(1.0), 10), 9)
    0.1
    """
    by_sum = total.epsilon / questions
    return max(by_sum, math.sqrt(2 * total.rho / questions)) * ROUNDING


@proved("composition.proof.md")
class TestAnswers:
    """Replies to batches with one test a question, until the budget ends."""

    __test__ = False  # not a test case, whatever its name

    def __init__(
        self, task: Task, test: str, options: dict[str, Any], epsilon: float | None, delta: float = 0.0
    ) -> None:
        self._task, self._test, self._options = task, test, options
        self._epsilon, self._delta = epsilon, delta
        self._sessions: dict[str, Session] = {}
        self._schema = task.counts.schema

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for independent; None from the first test on that is refused.

        The total is entered in the ledger with the first charge, so a ledger refuses then or never.
        """
        answers: list[Answer] = []
        for question in batch:
            try:
                answers.append(self._session(question).ask(*question).independent)
            except BudgetError:
                if not self._task.private_budget().events:
                    raise
                break
        return answers + [None] * (len(batch) - len(answers)) if answers else None

    def _session(self, question: Query) -> Session:
        """Return the session that asks the test suited to this question."""
        name = self._test_for(TestQuestion.of(self._schema, *question))
        if name not in self._sessions:
            task = self._task
            method = make_test(name, self._options)
            by_values = isinstance(method, ValueTest) and task.rows is not None
            self._sessions[name] = Session(
                task.rows if by_values and task.rows is not None else task.counts,
                method,
                level=task.level,
                epsilon=self._epsilon,
                delta=self._delta if method.own_delta else 0.0,
                neighbours=task.neighbours,
                budget=task.budget,
            )
        return self._sessions[name]

    def unsupported(self, skeleton: Skeleton) -> frozenset[Pair]:
        """Return the pairs called independent by a test that had little power even against a strong dependence.

        From the questions asked, which were released, and public numbers. Where the number of rows is protected, and
        for a test whose power is not known from public numbers alone, every answer counts.
        """
        if self._task.n is None:
            return frozenset()
        found: set[Pair] = set()
        for pair, given in skeleton.separating.items():
            x, y = sorted(pair, key=self._task.columns.index)
            if not self._has_power(TestQuestion.of(self._schema, x, y, given), self._task.n):
                found.add(pair)
        return frozenset(found)

    def _has_power(self, question: TestQuestion, rows: int) -> bool:
        """Return whether the test finds a strong dependence with probability one half or more."""
        if self._epsilon is None:
            return True
        task, test = self._task, make_test(self._test_for(question), self._options)
        if isinstance(test, MedianOfPartsTest):
            settings = TestSettings(self._epsilon, self._delta, task.level, task.neighbours, rows)
            best = test.at_best(settings)
            return best is None or best >= MIN_POWER
        curve = power_curve(test, question, rows, self._epsilon, self._delta, task.level, task.neighbours)
        return curve is None or curve(STRONG) >= MIN_POWER

    def _test_for(self, question: TestQuestion) -> str:
        """Return the name of the test for this question."""
        return choose(question, self._epsilon, n=self._task.n)[0] if self._test == "auto" else self._test

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tests that were used; they follow from the schema and from the questions."""
        return tuple(sorted(self._sessions)) or (self._test,)


def refuse_crt(test: str) -> None:
    """Refuse the one test that can't drive a search."""
    if test == "crt":
        raise InputError("crt needs a law for every column given every set: it can't drive a search")


def answers_evidence(answers: TestAnswers, skeleton: Skeleton) -> dict[Pair, Evidence]:
    """Return the evidence about each pair: p-values that tests released. Nothing is asked again."""
    return largest_pvalues(
        (
            (frozenset(name for side in key for name in side), tuple(sorted(given)), outcome.pvalue)
            for session in answers._sessions.values()
            for (key, given), outcome in session._answered.items()
        ),
        skeleton.separating,
    )


def run(
    task: Task,
    *,
    test: Annotated[str, "the test, as in ci_test; its own options go beside it"] = "auto",
    test_epsilon: Annotated[
        float | None, "what one test costs; none allows about five questions a pair"
    ] = None,
    stable: Annotated[bool, STABLE] = True,
    **options: Any,
) -> SearchOutcome:
    """Run the method ``tests``: PC with private tests, each at a cost of ``test_epsilon``."""
    budget, known = task.private_budget(), task.known
    refuse_crt(test)
    pairs = deletable(task)
    cost = (
        test_epsilon if test_epsilon is not None else epsilon_of_each(budget.total, QUESTIONS_A_PAIR * pairs)
    )
    if not (math.isfinite(cost) and 0 < cost <= budget.total.epsilon):
        raise InputError(f"test_epsilon must lie above 0 and up to epsilon, not {test_epsilon!r}")
    slack = budget.total.reserve / (QUESTIONS_A_PAIR * pairs) * ROUNDING
    answers = TestAnswers(task, test, options, cost, slack)
    skeleton = drive(task.pc_search(stable=stable), answers)
    unsupported = answers.unsupported(skeleton)
    weak = (unanswered(Counter({OpenReason.WEAK_TEST: len(unsupported)})),) if unsupported else ()
    return SearchOutcome(
        skeleton,
        (SearchAnswers("test-outcomes"),),
        public=_assumed(task, test, options),
        notes=(AskedTests(answers.names, cost), *weak),
        open=skeleton.open(known) | unsupported,
        evidence=answers_evidence(answers, skeleton),
        printed=any(make_test(name, options).printed for name in answers.names),
    )


def _assumed(task: Task, test: str, options: dict[str, Any]) -> tuple[Public, ...]:
    """Return the public facts that tests rely on besides the schema: a limit on the number of rows."""
    if task.rows is None or len(task.columns) < 2:
        return ()
    limited = bool(task.rows.values)
    if test != "auto":
        x, y, *others = task.columns
        method = make_test(test, options)
        limited = isinstance(method, ValueTest) and method.limits_rows(
            TestQuestion.of(task.counts.schema, x, y, others)
        )
    return row_limit(task.neighbours) if limited else ()


def own_delta(options: Mapping[str, Any]) -> bool:
    """Return whether the test that these options of ``run`` ask for has a delta of its own."""
    inner = {name: value for name, value in options.items() if name not in METHOD.options}
    test = options.get("test", "auto")
    return isinstance(test, str) and test not in ("auto", "crt") and make_test(test, inner).own_delta


METHOD = Method("tests", "every question is a private test of its own", run, own_delta=own_delta)
