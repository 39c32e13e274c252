"""Priv-PC: the PC search answered by sieve-and-examine, with the corrected scales.

A sparse vector finds pairs that may be independent (``scores.py``), a fresh look at all rows confirms each before the
edge is removed. A hit is paid for whether the look confirms it or not. Up to c = (pairs that may be deleted) hits:

- one session: one threshold draw, epsilon_sieve + c epsilon_examine = epsilon, Laplace noise in the look;
- rounds: threshold (and subsample) drawn again at every hit, c (epsilon_sieve^2/2 + rho_examine) = R, Gaussian noise,
  R the rho that (epsilon, delta) allows.

The one that resolves more is taken, from public numbers (``planning/sieve.py``); ``share`` is the sieve's part.

**Guarantee** (epsilon, delta)-DP: ``sieve_and_examine.proof.md``, scores of sensitivity 1, the budget's filter. When
the budget ends, the edges not yet tested stay and are named.

**Three states.** A pair that remains adjacent at order 0 is looked at once more, for its dependence alone: where none
shows, with the level as the chance of error, it is open.

**Test** (option): what is scored; ``kendall``, or ``spearman``, ``chi2``, ``g`` (``scores.py``).

**Tweak** (option). [1] lowers the sieve's threshold by t, so that independent pairs pass it more surely. Here shifts do
that: each look gets one made for its own noise, which is public (``planning/sieve.py``). A number gives the paper's
rule instead, in scales of the sieve's noise; the paper names no value.

**Subsample** (option, rounds only, replace-one only): the sieve sees m of n rows, drawn anew every round, at
eps' = ln(1 + (n/m)(exp(eps) - 1)). ``"optimal"`` minimises [1]'s noise level sqrt(n/m)/eps' over n/20 <= m <= n. For
the score here signal shrinks with m/n, so it never sees more than all rows do: default none.

**Where we differ from [1].** See ``sieve_and_examine.py`` (scales, refresh and charge at every hit) and ``scores.py``
(statistic and sensitivity); the total is fixed first.

References: [1] Wang, Pang & Song 2020, Alg. 2 and section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.variants import NOT_PRIVATE, Variant, checked_variant
from dpcausal.discovery import printed
from dpcausal.discovery.printed import run_printed
from dpcausal.discovery.private_search import Sessions, deletable, paid_answers, sharpest, strata_note
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
from dpcausal.discovery.svt_pc import RELEASED
from dpcausal.planning.sieve import SHARE, SieveDesign, once, optimal_subsample, rounds
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveSession
from dpcausal.stats.evidence import Floats, score

MOST_TWEAK = 100.0


@proved("composition.proof.md")
class SieveAnswers:
    """Replies to batches: begins rounds while the budget affords them, then ends the search."""

    def __init__(self, task: Task, design: SieveDesign, scorer: Scorer) -> None:
        self._task, self._design = task, design
        self._scorer = self._sieve_scorer = scorer
        self._rounds = Sessions[SieveSession](design.mechanism, task.private_budget(), "round")

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for independent; None for what the budget no longer covers."""
        if not self._ready():
            return None
        examine, shift = self._design.examine, self._design.sieve_shift
        dependence, information = self._scorer.evidence(batch)
        looks = score(dependence, information, examine.shift, examine.least)
        on_all_rows = score(dependence, information, shift, examine.least)
        answers = self._ask(
            batch, looks, on_all_rows, lambda rest: self._sieve_scorer.scores(rest, shift, 0.0)
        )
        return answers if batch[0].given else self._looked_at_again(batch, answers)

    def _looked_at_again(self, batch: list[Query], answers: list[Answer]) -> list[Answer]:
        """Return the answers after a second test of dependent pairs: None where no dependence shows."""
        again = [i for i, answer in enumerate(answers) if answer is False]
        for i, none_shows in zip(again, self._not_shown([batch[i] for i in again]), strict=True):
            if none_shows is not False:
                answers[i] = None
        return answers

    def _not_shown(self, batch: list[Query]) -> list[Answer]:
        """Return False where a dependence shows, True where none does, None where the budget ended.

        ``shift - dependence`` alone is asked, without the part on information: where an edge remained because nothing
        could be seen, this is above the threshold, the examination confirms it, and the pair is open. That costs a
        hit, and where the sieve sees a dependence nothing. It is asked at once: failed examinations of larger sets
        would leave nothing to pay it with.
        """
        if not batch or not self._ready():
            return [None] * len(batch)
        dependence, _ = self._scorer.evidence(batch)
        level = self._task.level / 2  # for each of the two looks
        shift = self._design.sieve.shown_shift(level) - self._design.mechanism.tweak
        looks = self._design.examine.quantile(level) - dependence
        return self._ask(
            batch, looks, shift - dependence, lambda rest: shift - self._sieve_scorer.evidence(rest)[0]
        )

    def _ask(
        self,
        batch: list[Query],
        looks: Floats,
        on_all_rows: Floats,
        on_subsample: Callable[[list[Query]], Floats],
    ) -> list[Answer]:
        """Ask sieve-and-examine about each value, on all rows or on the subsample of the current round."""
        values, drawn = on_all_rows, None

        def answer(i: int) -> bool:
            nonlocal values, drawn
            session = self._rounds.current
            assert session is not None
            if self._design.mechanism.subsample is not None and session is not drawn:  # a new round: new rows
                values, drawn = np.concatenate([np.zeros(i), on_subsample(batch[i:])]), session
            return session.ask(float(values[i]), lambda: float(looks[i]))

        return paid_answers(len(batch), self._ready, answer)

    def _ready(self) -> bool:
        """Return whether a round is in progress or a new one can be paid for; it then begins."""
        before = self._rounds.current
        if not self._rounds.ready():
            return False
        subsample = self._design.mechanism.subsample
        if subsample is not None and self._rounds.current is not before:
            self._sieve_scorer = self._scorer.on_counts(self._task.counts.subsample(subsample))
        return True


def run(
    task: Task,
    *,
    hits: Annotated[int | None, "most pairs to look at twice; none is all pairs"] = None,
    share: Annotated[float, "share of the budget, between 0 and 1, that goes to the threshold"] = SHARE,
    subsample: Annotated[
        int | Literal["optimal"] | None,
        "how many random rows the threshold sees, or optimal; none is all",
    ] = None,
    stable: Annotated[bool, STABLE] = True,
    on: Annotated[On, ON] = "values",
    test: Annotated[ScoreTest, SCORED] = "kendall",
    tweak: Annotated[
        float | None,
        "how far below the second look's threshold the first one's lies, in noise scales; none fits each to its noise",
    ] = None,
    variant: Annotated[Variant, NOT_PRIVATE] = "ours",
) -> SearchOutcome:
    """Run the method ``priv-pc``; with a subsample, numeric columns are compared by their declared bins."""
    if checked_variant(variant) == "paper":
        return run_printed("priv-pc", task, printed.priv_pc)
    total = task.private_budget().total
    if hits is not None and hits < 1:
        raise InputError(f"hits must be at least 1, not {hits}")
    if not 0 < share < 1:
        raise InputError(f"share must lie strictly between 0 and 1, not {share!r}")
    if tweak is not None and not 0 <= tweak <= MOST_TWEAK:
        raise InputError(f"tweak must be none or a number between 0 and {MOST_TWEAK:g}, not {tweak!r}")
    count = deletable(task) if hits is None else hits
    size = _subsample_size(task, total, count, share, subsample)
    ways = [rounds(total, count, share, task.neighbours, task.n, size)] if size or total.rho > 0 else []
    if size is None:
        ways.append(once(total, count, share, task.neighbours))
    if tweak is not None:
        ways = [way.with_tweak(tweak) for way in ways]
    design, resolved = sharpest((way, way.false_hit) for way in ways)
    on = on if size is None else "table"
    scorer = scorer_for(task, on, test, resolved)
    skeleton = drive(task.pc_search(stable=stable), SieveAnswers(task, design, scorer))
    note = ThresholdUsed(
        of="pairs", most=design.most, renewed=design.renewed, rows=size, **scorer.resolution(resolved)
    )
    return SearchOutcome(
        skeleton, (RELEASED,), public=assumed(task, on, test), notes=(note, *strata_note(scorer))
    )


def _subsample_size(
    task: Task, total: Filter, hits: int, share: float, subsample: int | str | None
) -> int | None:
    """Return the number of rows that the sieve compares; None for all."""
    if subsample is None:
        return None
    n = task.n
    if n is None:
        raise InputError("a subsample needs replace-one neighbours, where the number of rows is public")
    if subsample == "optimal":
        plain = rounds(total, hits, share, task.neighbours, n, None).mechanism.epsilon_sieve
        subsample = optimal_subsample(plain, n)
    if isinstance(subsample, str | bool) or not 0 < subsample <= n:
        raise InputError(
            f"subsample must be 'optimal' or between 1 and the number of rows, not {subsample!r}"
        )
    return int(subsample) if subsample < n else None


METHOD = Method(
    "priv-pc",
    "a noisy threshold finds pairs that may be independent, a second noisy look confirms each",
    run,
    tables_only=True,
)
