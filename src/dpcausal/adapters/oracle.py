"""An oracle of conditional independence with a hard total budget, for search loops that are not ours.

Loops written for exact data ask the same question again and again (from both ends of an edge, in either order), hold
the rows, and know nothing of a budget. The oracle is between them: it alone holds the data, remembers every answer by
(unordered pair, set) so that each is charged once and never contradicts itself, and charges a total fixed beforehand.

**Cost of one question.** With ``questions`` it is epsilon/questions, or with delta sqrt(2 R/questions) where that is
more (R the rho of the total).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from dpcausal.citests.base import Outcome, Question, QuestionKey
from dpcausal.citests.registry import make_table_test
from dpcausal.citests.session import Session
from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import NOT_EMPTY, SCHEMA, Asked, BudgetEnded, ManyAnswers, PrivacyStatement
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts, files_of, number_known, source_limits, unit_of
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.tests import epsilon_of_each
from dpcausal.privacy.budget import Budget

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

PUBLIC = (SCHEMA, Asked("loop"))
REFUSED = Outcome(independent=False)  # the budget did not allow the question: the edge remains


class PrivateOracle:
    """Answers "is x independent of y given S?" within one total budget, for search loops that are not ours.

    **Guarantee**: everything a loop sees is (epsilon, delta)-DP in total for ``neighbours``, whatever it asks and
    however often: each new answer is charged to one filter before noise is drawn. When the budget is used up, every new
    question is answered "dependent", so that the loop leaves the edge, as our drivers do; it is in ``refused``, and the
    statement counts it. What is refused depends on answers already released. An oracle can't be copied or pickled: the
    copy could spend its budget again.

    Parameters
    ----------
    data : Dataset or Counts
        The rows, as ``dc.read`` returns them, or a counting backend.
    epsilon : float or None
        What all answers may cost together; None gives exact answers, which are not private.
    delta : float, default 0.0
        The probability with which the guarantee of ``epsilon`` may fail.
    questions : int or None, default None
        How many different questions the budget should cover; give this or ``each``.
    each : float or None, default None
        The epsilon of one question.
    method : str, default "kendall"
        A test on tables, as in ``ci_test(method=...)``, that spends no delta of its own.
    level : float, default 0.05
        The size of every test.
    neighbours : str or Neighbours, default "replace-one"
        ``"replace-one"`` or ``"add-remove"``, as in ``discover``.
    ledger : str, Ledger or None, default None
        A ledger or its address; the whole (epsilon, delta) is charged before the first answer.
    dataset : str or None, default None
        The name of the data set in the ledger.
    **options
        Options of the test.

    Attributes
    ----------
    calls : int
        How many questions were asked, repeated ones included.
    each : float or None
        The epsilon of one question; None without privacy.
    level : float
        The size of every test.

    Raises
    ------
    InputError
        If an argument can't be used as given.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(10_000, seed=1)
    >>> oracle = PrivateOracle(data, epsilon=1.0, questions=2)
    >>> oracle.ask("smoke", "lung") is oracle.ask("lung", "smoke"), oracle.charged, oracle.calls
    (True, 1, 2)
    """

    def __init__(
        self,
        data: Dataset | Counts,
        *,
        epsilon: float | None,
        delta: float = 0.0,
        questions: int | None = None,
        each: float | None = None,
        method: str = "kendall",
        level: float = 0.05,
        neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one",
        ledger: str | Ledger | None = None,
        dataset: str | None = None,
        **options: Any,
    ) -> None:
        relation = Neighbours.parse(neighbours, labels=False)
        self._counts = counts_of(data)
        self._test = make_table_test(method, options)
        self.level = checked_level(level)
        if epsilon is None:
            if ledger is not None or delta or questions is not None or each is not None:
                raise InputError(
                    "epsilon=None means no privacy: it goes with no delta, ledger or cost of a question"
                )
            self._budget = Budget.none(relation, files_of(data), unit_of(data))
        else:
            if self._test.own_delta:
                raise InputError(
                    f"an oracle takes pure tests: {method} with these options spends a delta of its own"
                )
            if self._test.printed:
                raise InputError(f"an oracle takes private tests: {method} with variant='paper' is none")
            self._budget = Budget(
                epsilon,
                delta,
                neighbours=relation,
                ledger=ledger,
                dataset=dataset,
                rows=None if relation is Neighbours.ADD_REMOVE else self._counts.n,
                unit=unit_of(data),
                file=files_of(data),
            )
            each = self._cost_of_one(questions, each)
        self.each = each
        self._session = Session(
            self._counts,
            self._test,
            level=self.level,
            epsilon=each,
            neighbours=relation,
            budget=None if epsilon is None else self._budget,
        )
        self.calls = 0
        self._refused: dict[QuestionKey, Question] = {}

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an oracle can't be copied or sent to another process: the copy could spend its budget again"
        )

    def _cost_of_one(self, questions: int | None, each: float | None) -> float:
        """Return the epsilon of one question: as given, or the total divided by the number of questions."""
        if (questions is None) == (each is None):
            raise InputError("say either how many questions to pay for (questions) or the epsilon of each")
        if each is not None:
            return each
        if questions is None or isinstance(questions, bool) or questions != int(questions) or questions < 1:
            raise InputError(f"questions must be an integer above zero, not {questions!r}")
        return epsilon_of_each(self._budget.total, questions)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in the order by which index-based search loops number them."""
        return tuple(self._counts.schema)

    @property
    def charged(self) -> int:
        """Number of questions charged; without privacy, of those computed."""
        return len(self._session._answered)

    @property
    def refused(self) -> tuple[str, ...]:
        """The questions that were answered "dependent" because the budget was exhausted."""
        return tuple(str(question) for question in self._refused.values())

    def ask(self, x: str, y: str, given: Sequence[str] = ()) -> Outcome:
        """Answer a question: charged if new, repeated if asked before, "dependent" if the budget is exhausted.

        Parameters
        ----------
        x, y : str
            The two columns.
        given : sequence of str, default ()
            The columns to condition on.

        Returns
        -------
        Outcome
            The decision and, where the test releases them, p-value and statistic.

        Raises
        ------
        BudgetError
            If not even the first question is allowed: it costs more than the total, or the ledger refuses.
        """
        self.calls += 1
        question = Question.of(self._counts.schema, x, y, given)
        if question.key in self._refused:
            return REFUSED
        try:
            return self._session.ask(x, y, given)
        except BudgetError:
            if not self._budget.events:
                raise
            self._refused[question.key] = question
            return REFUSED

    def pvalue(self, x: str, y: str, given: Sequence[str] = ()) -> float:
        """Answer as a p-value, above ``level`` where independent; 1 or 0 for a test that releases a decision only."""
        outcome = self.ask(x, y, given)
        return float(outcome.independent) if outcome.pvalue is None else outcome.pvalue

    @property
    def privacy(self) -> PrivacyStatement:
        """The privacy statement of all answers so far."""
        released = ManyAnswers(
            count=self.charged,
            test=self._test.name,
            level=self.level,
            released=self._test.releases,
        )
        limits = list(source_limits(self._counts))
        if self._refused:
            limits.append(BudgetEnded(questions=len(self._refused)))
        rows = (number_known(self._counts),) if self._budget.neighbours is Neighbours.REPLACE_ONE else ()
        n = self._counts.n if rows else None
        public = (*PUBLIC, *self._counts.schema.assumes, *(rows or (NOT_EMPTY,)))
        return self._budget.statement(released=[released], public=public, limits=limits, rows=n)
