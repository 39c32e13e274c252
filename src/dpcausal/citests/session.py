"""Many questions under one budget, none of them paid twice."""

from __future__ import annotations

from collections.abc import Sequence

from dpcausal.citests.method import AnyMethod, Charger, Method, Outcome, Terms, ValuesMethod
from dpcausal.citests.question import Question
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.of import counts_of
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset


class Session:
    """Answers questions about one data set by one method at ``epsilon`` each (None: classical, no privacy).

    Answers are kept by (unordered pair, set): asking again returns the same answer and charges nothing, so a
    search can't be charged twice or contradict itself.
    """

    def __init__(
        self,
        data: Dataset | Counts,
        method: AnyMethod,
        *,
        level: float,
        epsilon: float | None,
        delta: float = 0.0,
        neighbours: Neighbours = Neighbours.REPLACE_ONE,
        budget: Charger | None = None,
    ) -> None:
        if (epsilon is None) != (budget is None):
            raise InputError("a session needs both an epsilon and a budget, or neither (no privacy)")
        if not isinstance(data, Dataset | Counts):
            raise InputError(f"data must come from dc.read or a counting backend, not {type(data).__name__}")
        if not isinstance(method, Method) and not isinstance(data, Dataset):
            raise InputError(
                f"{method.name} needs the rows themselves (a Dataset, as dc.read gives), not counts"
            )
        self._data, self._method, self._budget = data, method, budget
        self._level, self._neighbours = level, neighbours
        self._epsilon, self._delta = epsilon, delta
        self._answered: dict[tuple[frozenset[str], frozenset[str]], Outcome] = {}

    def ask(self, x: str, y: str, given: Sequence[str] = ()) -> Outcome:
        """The answer, charged if it is new."""
        question = Question.of(self._data.schema, x, y, given)
        if question.key not in self._answered:
            self._method.check(question)
            self._answered[question.key] = self._answer(question)
        return self._answered[question.key]

    def _answer(self, question: Question) -> Outcome:
        data, method = self._data, self._method
        terms = self._terms()
        if isinstance(method, ValuesMethod) and isinstance(data, Dataset):
            if terms is None or self._budget is None:
                return method.classical_values(question, data, self._level)
            return method.private_values(question, data, terms, self._budget)
        assert isinstance(method, Method)  # checked when the session was made
        blocks = question.blocks(counts_of(data))
        if terms is None or self._budget is None:
            return method.classical(blocks, self._level)
        return method.private(question, blocks, terms, self._budget)

    def _terms(self) -> Terms | None:
        if self._epsilon is None:
            return None
        n = self._data.n if self._neighbours is not Neighbours.ADD_REMOVE else None
        return Terms(self._epsilon, self._delta, self._level, self._neighbours, n)
