"""SVT-PC: the PC search answered by a sparse vector that pays only for deletions.

A question is "above" if it looks independent (``scores.py``), so an edge that stays costs nothing however often it is
asked about, and at most c = (pairs that may be deleted) answers are paid for. Two ways, the better one for the given
(epsilon, delta) chosen from public numbers by its resolution (``planning/sieve.py``):

- one session: a single threshold draw for up to c deletions, pure epsilon in all;
- rounds: a new session after every deletion, sqrt(2 R/c) each, R the rho that (epsilon, delta) allows.

**Guarantee** (epsilon, delta)-DP, epsilon-DP for the first way: the sparse vector's proof, scores of sensitivity 1, and
the budget's filter. When the budget ends, the edges not yet tested stay and are named. **Cost** one table, one score
and one draw a question. The questions asked depend on released answers only.

**Where we differ from [1].** Alg. 5 refreshes the threshold at every hit with noise sqrt(32 c ln(1/delta))/epsilon; its
conditional tau has a wrong sensitivity; and its total is computed after the fact.

References: [1] Wang, Pang & Song 2020, section 4 and Alg. 5; [2] Lyu, Su & Li 2017.
"""

from __future__ import annotations

from typing import Annotated

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import Released, ReleasedKind
from dpcausal.discovery.scores import On, assumed, deletable, resolution_rows, scorer_for
from dpcausal.discovery.search import (
    STABLE,
    Answer,
    Answers,
    Method,
    Note,
    NoteKind,
    Query,
    SearchOutcome,
    Task,
    drive,
    pc_search,
)
from dpcausal.planning.sieve import SparseVectorDesign, designs, resolution
from dpcausal.privacy.mechanisms.base import begin
from dpcausal.privacy.mechanisms.sparse_vector import SparseVectorSession

RELEASED = Released(ReleasedKind.INDEPENDENCES)


@proved("composition.proof.md")
class SvtAnswers:
    """Replies to batches: starts sessions while the budget affords them, then ends the search."""

    def __init__(self, task: Task, design: SparseVectorDesign, on: On = "values") -> None:
        self._budget, self._design = task.private_budget(), design
        self._scorer = scorer_for(task, on)
        self._session: SparseVectorSession | None = None

    def __call__(self, batch: list[Query]) -> Answers:
        """True for independent; None for what the budget no longer covers."""
        if not self._ready():
            return None
        plan = self._design.plan
        values: list[float] = self._scorer.scores(batch, plan.shift, plan.least).tolist()
        answers: list[Answer] = []
        for value in values:
            session = self._session if self._ready() else None
            if session is None:
                break
            answers.append(session.ask(value))
        return answers + [None] * (len(batch) - len(answers))

    def _ready(self) -> bool:
        """Whether a session is open, or a new one could be paid for."""
        if self._session is None or self._session.halted:
            mechanism = self._design.mechanism
            if not self._budget.affords(mechanism.event("deletions")):
                return False
            self._session = begin(mechanism, self._budget, "deletions", 0.0)
        return True


def run(
    task: Task,
    *,
    positives: Annotated[int | None, "most deletions to pay for; none is all pairs"] = None,
    stable: Annotated[bool, STABLE] = True,
    on: Annotated[On, "numeric columns by their values or by their declared bins (table)"] = "values",
) -> SearchOutcome:
    """Discover; ``positives`` is the largest number of deletions to pay for (default: all pairs).

    A smaller number means less noise, and pairs beyond it stay open. It must be chosen from public knowledge.
    ``on="table"`` asks the declared bins of numeric columns instead of their values (``scores.py``).
    """
    known, budget = task.known, task.private_budget()
    most = deletable(task.columns, len(known.kept), len(known.left_out))
    if positives is not None and positives < 1:
        raise InputError(f"positives must be at least 1, not {positives}")
    ways = designs(budget.total, min(positives or most, most), task.neighbours)
    resolutions = [resolution(way.plan.false_hit) for way in ways]
    best = resolutions.index(min(resolutions))
    search = pc_search(task.columns, known, max_order=task.max_order, stable=stable)
    skeleton = drive(search, SvtAnswers(task, ways[best], on))
    note = Note(
        NoteKind.THRESHOLD,
        of="deletions",
        most=ways[best].most,
        renewed=ways[best].renewed,
        rows=None,
        resolution=resolution_rows(resolutions[best]),
    )
    return SearchOutcome(skeleton, (RELEASED,), public=assumed(task, on), notes=(note,))


METHOD = Method(
    "svt-pc",
    "every question is held against a noisy threshold; only edges that go cost",
    run,
    tables_only=True,
)
