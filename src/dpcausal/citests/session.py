"""Many questions under one budget, none of them paid twice."""

from __future__ import annotations

from collections.abc import Sequence

from dpcausal.citests.method import Charger, Method, Outcome, Terms
from dpcausal.citests.question import Question
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.protocol import Counts


class Session:
    """Answers questions about one data set by one method at ``epsilon`` each (None: classical, no privacy).

    Answers are kept by (unordered pair, set): asking again returns the same answer and charges nothing, so a
    search can't be charged twice or contradict itself.
    """

    def __init__(
        self,
        counts: Counts,
        method: Method,
        *,
        level: float,
        epsilon: float | None,
        delta: float = 0.0,
        neighbours: Neighbours = Neighbours.REPLACE_ONE,
        budget: Charger | None = None,
    ) -> None:
        if (epsilon is None) != (budget is None):
            raise InputError("a session needs both an epsilon and a budget, or neither (no privacy)")
        self._counts, self._method, self._budget = counts, method, budget
        self._level, self._neighbours = level, neighbours
        self._epsilon, self._delta = epsilon, delta
        self._answered: dict[tuple[frozenset[str], frozenset[str]], Outcome] = {}

    def ask(self, x: str, y: str, given: Sequence[str] = ()) -> Outcome:
        """The answer, charged if it is new."""
        question = Question.of(self._counts.schema, x, y, given)
        if question.key not in self._answered:
            self._method.check(question)
            self._answered[question.key] = self._answer(question)
        return self._answered[question.key]

    def _answer(self, question: Question) -> Outcome:
        blocks = question.blocks(self._counts)
        if self._epsilon is None or self._budget is None:
            return self._method.classical(blocks, self._level)
        n = self._counts.n if self._neighbours is not Neighbours.ADD_REMOVE else None
        terms = Terms(self._epsilon, self._delta, self._level, self._neighbours, n)
        return self._method.private(question, blocks, terms, self._budget)
