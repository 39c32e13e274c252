"""EM-PC: per order, choose privately how many edges are deleted, then which, each with the set that separates it.

All questions of an order are scored (``scores.py``, sensitivity 1, shift inside). Let s_1 >= s_2 >= ... be the best
score of each pair, in falling order. The rows say "delete c edges" if s_c >= 0 > s_(c+1), so

    count score   u(c) = min(s_c, -s_(c+1)),   s_0 = +far, s_(m+1) = -far

is minus the distance to data that say c, and moves by at most 1 with one row (``em_pc.proof.md``). After a choice of c
by u come c choices among the questions left, by score: each gives an edge **and** its separating set at one price, and
takes the pair out.

- pure epsilon: permute-and-flip, epsilon/calls each;
- with delta: the exponential mechanism, bounded range, sqrt(8 R/calls) each, R the rho that (epsilon, delta) allows;

whichever epsilon is larger; calls = pairs that may be deleted + ``orders``. **Guarantee** (epsilon, delta)-DP by the
budget's filter; when it refuses, edges not yet tested stay and are named. When the search is over every edge is
looked at once more, without conditions: a choice whether a dependence shows at all, paid for by the deletion that the
pair did not need. Where none shows the pair is open. **Cost** every question of an order is computed: more tables than
the other drivers ask for.

**Where we differ from [1].** One call an order instead of one a node; the count's score has a proved sensitivity; the
separating set is chosen privately with the edge, not as a noiseless argmax.

References: [1] Xu, Yuan & Wu 2017 (EM-PC); [2] McKenna & Sheldon 2020; [3] Cesar & Rogers 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.core.statement import SearchAnswers
from dpcausal.core.variants import NOT_PRIVATE, Variant, checked_variant
from dpcausal.discovery import printed
from dpcausal.discovery.printed import run_printed
from dpcausal.discovery.private_search import deletable, paid_answers, still_open
from dpcausal.discovery.scores import KENDALL_ROWS, Scorer
from dpcausal.discovery.search import (
    Answer,
    Answers,
    ChoicesMade,
    Method,
    Query,
    SearchOutcome,
    Task,
    drive,
)
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.base import release
from dpcausal.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from dpcausal.stats.evidence import Floats

Choice = PermuteAndFlip | Exponential

UNLIMITED = 1e9  # "no limit on this side" in the count's score
MAX_QUESTIONS_PER_CALL = 200_000  # questions of one call, so that memory stays bounded
SHIFT, MIN_INFORMATION = 2.0, 2.0  # in units of the choice's scale 2/epsilon
RELEASED = SearchAnswers("deletions")


@proved("em_pc.proof.md")
def count_scores(best: Floats) -> Floats:
    """Return the score of removing 0, 1, ... m pairs, from the best score of each pair.

    >>> count_scores(np.array([5.0, -3.0, 2.0])).tolist()
    [-5.0, -2.0, 2.0, -3.0]
    """
    falling = np.sort(np.clip(best, -UNLIMITED, UNLIMITED))[::-1]
    upper, lower = np.concatenate([[UNLIMITED], falling]), np.concatenate([falling, [-UNLIMITED]])
    scores: Floats = np.minimum(upper, -lower)
    return scores


@proved("em_pc.proof.md")
def choice_for(total: Filter, calls: int, neighbours: Neighbours) -> Choice:
    """Return the mechanism of one of ``calls`` private choices: pure, or by rho if its epsilon is then larger.

    >>> choice_for(Filter(1.0), 10, Neighbours.REPLACE_ONE).epsilon
    0.1
    """
    pure, bounded = total.epsilon / calls, math.sqrt(8 * total.rho / calls) * (1 - 1e-12)
    if bounded > pure:
        return Exponential(sensitivity=1.0, epsilon=bounded, neighbours=neighbours)
    return PermuteAndFlip(sensitivity=1.0, epsilon=pure, neighbours=neighbours)


@proved("composition.proof.md")
class Choices:
    """Replies to batches, each a call: how many, then which."""

    def __init__(self, task: Task, choice: Choice) -> None:
        self._budget, self._choice, self._level = task.private_budget(), choice, task.level
        self._scorer = Scorer(task.counts, task.level, task.neighbours)
        self.scale = 2 / choice.epsilon

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for the chosen questions, False for the others; None where the budget ended."""
        if not self._budget.affords(self._choice.event("how many")):
            return None
        scores = self._scorer.scores(batch, SHIFT * self.scale, MIN_INFORMATION * self.scale)
        pairs = [(q.x, q.y) for q in batch]
        number = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
        place = np.array([number[pair] for pair in pairs])
        best = np.full(len(number), -np.inf)
        np.maximum.at(best, place, scores)
        deletions = release(self._choice, self._budget, "how many", count_scores(best))
        left = np.arange(len(batch))
        answers: list[Answer] = [False] * len(batch)
        for _ in range(deletions):
            if not self._budget.affords(self._choice.event("which")):
                for i in left:  # what was to be deleted and could not be chosen is not known
                    answers[i] = None
                break
            chosen = left[release(self._choice, self._budget, "which", scores[left])]
            answers[chosen] = True
            left = left[place[left] != place[chosen]]
        return answers

    def not_shown(self, batch: list[Query]) -> Sequence[Answer]:
        """Test edges a second time: False where a dependence shows, True where none does, None untested.

        A choice between 0 (none shows) and dependence - shift, where chance picks the second with a probability of at
        most the level if there is no dependence. It is paid for by the deletion that the pair did not need.
        """
        shift = math.log(1 / self._level) * self.scale
        dependence: list[float] = self._scorer.evidence(batch)[0].tolist() if batch else []

        def answer(i: int) -> bool:
            scores = np.array([0.0, dependence[i] - shift])
            return release(self._choice, self._budget, "shown", scores) == 0

        return paid_answers(len(batch), lambda: self._budget.affords(self._choice.event("shown")), answer)


def run(
    task: Task,
    *,
    orders: Annotated[
        int | None, "orders (sizes of the set held fixed) that budget is set aside for; none is all"
    ] = None,
    variant: Annotated[Variant, NOT_PRIVATE] = "ours",
) -> SearchOutcome:
    """Run the method ``em-pc``; orders beyond ``orders`` are paid by unused deletions and second tests."""
    if checked_variant(variant) == "paper":
        return run_printed("em-pc", task, printed.em_pc)
    if orders is not None and orders < 1:
        raise InputError(f"orders must be at least 1, not {orders}")
    most, possible = deletable(task), len(task.columns) - 1
    if task.max_order is not None:
        possible = min(task.max_order + 1, possible)
    counted = min(orders or possible, possible)
    choice = choice_for(task.private_budget().total, most + counted, task.neighbours)
    choices = Choices(task, choice)
    skeleton = drive(task.pc_search(ahead=max(1, MAX_QUESTIONS_PER_CALL // most)), choices)
    note = ChoicesMade(
        epsilon=choice.epsilon,
        choices=most + counted,
        mechanism="exponential" if isinstance(choice, Exponential) else "permute-and-flip",
        resolution=KENDALL_ROWS * (SHIFT + math.log(100)) * choices.scale,
    )
    return SearchOutcome(
        skeleton, (RELEASED,), notes=(note,), open=still_open(task, skeleton, choices.not_shown)
    )


METHOD = Method(
    "em-pc",
    "a random choice that favours weak dependences decides which edges are deleted",
    run,
    tables_only=True,
)
