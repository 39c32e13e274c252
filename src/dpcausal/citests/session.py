"""Many questions under one budget, none of them charged twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpcausal.citests.base import (
    Charger,
    CITest,
    Outcome,
    Question,
    QuestionKey,
    TableTest,
    TestSettings,
    ValueTest,
)
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset, not_a_dataset


@proved("session.proof.md")
class Session:
    """Answers questions about one data set by one test.

    Answers are remembered by (unordered pair, set): asking again returns the same one and charges nothing, so a search
    can't be charged twice or contradict itself. ``epsilon`` and ``delta`` are the cost of one answer, None without
    privacy; ``budget`` is charged before noise is drawn. Raises ``InputError`` for an epsilon without a budget, or the
    other way round, and for a test that needs rows where there are counts.
    """

    def __init__(
        self,
        data: Dataset | Counts,
        method: CITest,
        *,
        level: float,
        epsilon: float | None,
        delta: float = 0.0,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
        budget: Charger | None = None,
    ) -> None:
        if (epsilon is None) != (budget is None):
            raise InputError("a session needs both an epsilon and a budget, or neither (no privacy)")
        if not isinstance(data, Dataset | Counts):
            raise not_a_dataset(data)
        if not isinstance(method, TableTest) and not isinstance(data, Dataset):
            raise InputError(
                f"{method.name} needs the rows themselves, not counts: take a test on tables (kendall, measured), "
                "or bring the columns with dc.read"
            )
        self._schema, self._method, self._budget, self._level = data.schema, method, budget, level
        self._answer: Callable[[Question], Outcome]
        if isinstance(method, ValueTest) and isinstance(data, Dataset):
            self._values, self._rows, self._answer = method, data, self._answer_values
        else:
            assert isinstance(method, TableTest)  # checked above
            self._test, self._counts, self._answer = method, counts_of(data), self._answer_table
        relation = Neighbours.parse(neighbours)
        n = data.n if relation is not Neighbours.ADD_REMOVE else None
        self._settings = None if epsilon is None else TestSettings(epsilon, delta, level, relation, n)
        self._answered: dict[QuestionKey, Outcome] = {}

    def ask(self, x: str | Sequence[str], y: str | Sequence[str], given: Sequence[str] = ()) -> Outcome:
        """Return the answer to one question, charged if it is new; x or y may be several columns."""
        question = Question.of(self._schema, x, y, given)
        key = question.key
        if key not in self._answered:
            self._method.check(question)
            with np.errstate(all="ignore"):  # a warning would tell of the rows
                self._answered[key] = self._answer(question)
        return self._answered[key]

    def _answer_values(self, question: Question) -> Outcome:
        """Return the outcome of a question, tested on the values of rows."""
        if self._settings is None or self._budget is None:
            return self._values.classical_values(question, self._rows, self._level)
        return self._values.private_values(question, self._rows, self._settings, self._budget)

    def _answer_table(self, question: Question) -> Outcome:
        """Return the outcome of a question, tested on a table of counts."""
        blocks = question.blocks(self._counts)
        if self._settings is None or self._budget is None:
            return self._test.classical(blocks, self._level)
        return self._test.private(question, blocks, self._settings, self._budget)
