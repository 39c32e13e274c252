"""What the private drivers of the PC search share: answers until the budget ends, sessions, the second look.

A driver turns questions into values of sensitivity 1 (``scores.py``) and hands them to a mechanism. Every charge goes
through here or through ``release``; when the budget refuses the next one, that question and those after it have no
answer, and their edges are reported as not tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from dpcausal.core.proofs import proved
from dpcausal.discovery.knowledge import Pair, places_of
from dpcausal.discovery.scores import Scorer
from dpcausal.discovery.search import Answer, EqualWidths, Note, Query, Skeleton, Task
from dpcausal.planning.sieve import resolution
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms.base import begin

Way = TypeVar("Way")


class Session(Protocol):
    """A mechanism that was paid for and answers until it halts."""

    @property
    def halted(self) -> bool:
        """Whether the session gives no further answers."""
        ...


Opened = TypeVar("Opened", bound=Session)


def paid_answers(count: int, affords: Callable[[], bool], answer: Callable[[int], Answer]) -> list[Answer]:
    """Return answers to ``count`` questions in turn; None from the first that can't be paid.

    >>> left = [True, True, False, True]
    >>> paid_answers(4, lambda: left.pop(0), lambda i: i == 0)
    [True, False, None, None]
    """
    answers: list[Answer] = []
    while len(answers) < count and affords():
        answers.append(answer(len(answers)))
    return answers + [None] * (count - len(answers))


@proved("composition.proof.md")
class Sessions(Generic[Opened]):
    """Sessions of one mechanism: each is charged before it begins, when the one before it has halted."""

    def __init__(self, mechanism: Any, budget: Budget, label: str) -> None:
        self._mechanism, self._budget, self._label = mechanism, budget, label
        self.current: Opened | None = None

    def ready(self) -> bool:
        """Return whether a session is in progress, or begin one that can be paid for."""
        if self.current is None or self.current.halted:
            if not self._budget.affords(self._mechanism.event(self._label)):
                return False
            self.current = begin(self._mechanism, self._budget, self._label, 0.0)
        return True


def deletable(task: Task) -> int:
    """Return the largest number of edges that a search can delete: public."""
    known = task.known
    return max(math.comb(len(task.columns), 2) - len(known.required) - len(known.forbidden), 1)


def sharpest(ways: Iterable[tuple[Way, Callable[[float], float]]]) -> tuple[Way, float]:
    """Return the way of deciding that can resolve the smallest dependence, and that resolution: public."""
    found = [(way, resolution(false_hit)) for way, false_hit in ways]
    return min(found, key=lambda item: item[1])


def still_open(
    task: Task, skeleton: Skeleton, not_shown: Callable[[list[Query]], Sequence[Answer]]
) -> frozenset[Pair]:
    """Return the pairs that remain undecided: untested ones, and edges that a second test does not confirm.

    The second look asks about edges without conditions, when the search is over. Which edges there are is released by
    then.
    """
    undecided = skeleton.open(task.known)
    columns, edges = task.columns, skeleton.edges - undecided - task.known.required
    batch = [Query(columns[x], columns[y], ()) for x, y in places_of(columns, edges)]
    answers = not_shown(batch)
    return undecided | {frozenset((q.x, q.y)) for q, a in zip(batch, answers, strict=True) if a is not False}


def strata_note(scorer: Scorer) -> tuple[Note, ...]:
    """Return the note that given numbers are cut into bins of equal width; nothing where none is."""
    return (EqualWidths(scorer.cut_numbers),) if scorer.cut_numbers else ()
