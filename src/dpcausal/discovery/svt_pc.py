"""SVT-PC: the PC search answered by a sparse vector that pays only for deletions.

A question is "above" if it looks independent (``scores.py``), so an edge that remains costs nothing however often it is
asked about, and at most c = (pairs that may be deleted) answers are paid for. Two ways, the better one for the given
(epsilon, delta) chosen from public numbers by its resolution (``planning/sieve.py``):

- one session: a single threshold draw for up to c deletions, pure epsilon in all;
- rounds: a new session after every deletion, sqrt(2 R/c) each, R the rho that (epsilon, delta) allows.

**Guarantee** (epsilon, delta)-DP, epsilon-DP for the first way: the sparse vector's proof, scores of sensitivity 1, and
the budget's filter. When the budget ends, the edges not yet tested stay and are named. **Cost** one table, one score
and one draw a question. The questions asked depend on released answers only.

**Three states.** When the search is over every edge is looked at once more without conditions, for its dependence
alone: where none shows, with the level as the chance of error, it is open. A deletion that the pair did not need pays.

**Test** (option): what is scored; ``kendall``, or ``spearman``, ``chi2``, ``g`` (``scores.py``).

**Where we differ from [1].** Alg. 5 refreshes the threshold at every hit with noise sqrt(32 c ln(1/delta))/epsilon; its
conditional tau has a wrong sensitivity; and its total is computed after the fact.

References: [1] Wang, Pang & Song 2020, section 4 and Alg. 5; [2] Lyu, Su & Li 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import SearchAnswers
from dpcausal.core.variants import NOT_PRIVATE, Variant, checked_variant
from dpcausal.discovery import printed
from dpcausal.discovery.printed import run_printed
from dpcausal.discovery.private_search import (
    Sessions,
    deletable,
    paid_answers,
    sharpest,
    still_open,
    strata_note,
)
from dpcausal.discovery.scores import ON, SCORED, On, Scorer, ScoreTest, assumed, scorer_for
from dpcausal.discovery.search import (
    STABLE,
    Answer,
    Answers,
    Method,
    Query,
    SearchOutcome,
    Task,
    ThresholdUsed,
    drive,
)
from dpcausal.planning.sieve import SparseVectorDesign, designs
from dpcausal.privacy.mechanisms.sparse_vector import SparseVectorSession

RELEASED = SearchAnswers("independences")


@proved("composition.proof.md")
class SvtAnswers:
    """Replies to batches: begins sessions while the budget affords them, then ends the search."""

    def __init__(self, task: Task, design: SparseVectorDesign, scorer: Scorer) -> None:
        self._plan, self._level, self._scorer = design.plan, task.level, scorer
        budget = task.private_budget()
        self._sessions = Sessions[SparseVectorSession](design.mechanism, budget, "deletions")

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for independent; None for what the budget no longer covers."""
        if not self._sessions.ready():
            return None
        return self._ask(self._scorer.scores(batch, self._plan.shift, self._plan.least).tolist())

    def not_shown(self, batch: list[Query]) -> Sequence[Answer]:
        """Test edges a second time: False where a dependence shows, True where none does, None untested.

        ``shift - dependence`` alone is asked, without the part on information: where an edge remained because nothing
        could be seen, this is above the threshold and the pair is open. It is paid for by the deletion that the pair
        did not need, and costs nothing where a dependence shows.
        """
        if not batch or not self._sessions.ready():
            return [None] * len(batch)
        shift = self._plan.shown_shift(self._level)
        return self._ask((shift - self._scorer.evidence(batch)[0]).tolist())

    def _ask(self, values: list[float]) -> list[Answer]:
        """Return for each value whether it is above the noisy threshold; None when the budget is used up."""

        def answer(i: int) -> bool:
            assert self._sessions.current is not None
            return self._sessions.current.ask(values[i])

        return paid_answers(len(values), self._sessions.ready, answer)


def run(
    task: Task,
    *,
    positives: Annotated[int | None, "most deletions to pay for; none is all pairs"] = None,
    stable: Annotated[bool, STABLE] = True,
    on: Annotated[On, ON] = "values",
    test: Annotated[ScoreTest, SCORED] = "kendall",
    variant: Annotated[Variant, NOT_PRIVATE] = "ours",
) -> SearchOutcome:
    """Run the method ``svt-pc``; fewer ``positives`` mean less noise, and pairs beyond them stay open."""
    if checked_variant(variant) == "paper":
        return run_printed("svt-pc", task, printed.svt_pc)
    most = deletable(task)
    if positives is not None and positives < 1:
        raise InputError(f"positives must be at least 1, not {positives}")
    ways = designs(task.private_budget().total, min(positives or most, most), task.neighbours)
    design, resolved = sharpest((way, way.plan.false_hit) for way in ways)
    scorer = scorer_for(task, on, test, resolved)
    answers = SvtAnswers(task, design, scorer)
    skeleton = drive(task.pc_search(stable=stable), answers)
    note = ThresholdUsed(
        of="deletions",
        most=design.most,
        renewed=design.renewed,
        rows=None,
        **scorer.resolution(resolved),
    )
    return SearchOutcome(
        skeleton,
        (RELEASED,),
        public=assumed(task, on, test),
        notes=(note, *strata_note(scorer)),
        open=still_open(task, skeleton, answers.not_shown),
    )


METHOD = Method(
    "svt-pc",
    "every question is compared with a noisy threshold; only edges that it deletes cost",
    run,
    tables_only=True,
)
