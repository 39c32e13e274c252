"""Priv-PC: the PC search answered by sieve-and-examine, with the corrected scales.

A sparse vector finds pairs that may be independent (``scores.py``), a fresh look at all rows confirms each before the
edge goes. A hit is paid for whether the look confirms it or not. Up to c = (pairs that may be deleted) hits:

- one session: one threshold draw, epsilon_sieve + c epsilon_examine = epsilon, Laplace noise in the look;
- rounds: threshold (and subsample) drawn again at every hit, c (epsilon_sieve^2/2 + rho_examine) = R, Gaussian noise,
  R the rho that (epsilon, delta) allows.

The one that resolves more is taken, from public numbers (``planning/sieve.py``); ``share`` is the sieve's part.

**Guarantee** (epsilon, delta)-DP: ``sieve_and_examine.proof.md``, scores of sensitivity 1, the budget's filter. When
the budget ends, the edges not yet tested stay and are named.

**Subsample** (option, rounds only, replace-one only): the sieve sees m of n rows, drawn anew every round, at
eps' = ln(1 + (n/m)(exp(eps) - 1)). ``"optimal"`` minimises [1]'s noise level sqrt(n/m)/eps' over n/20 <= m <= n. For
the score here signal shrinks with m/n, so it never sees more than all rows do: default none.

**Where we differ from [1].** See ``sieve_and_examine.py`` (scales, refresh and charge at every hit) and ``scores.py``
(statistic and sensitivity); the total is fixed first.

References: [1] Wang, Pang & Song 2020, Alg. 2 and section 3.2.
"""

from __future__ import annotations

from typing import Annotated, Literal

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.discovery.scores import On, Scorer, assumed, deletable, resolution_rows, scorer_for
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
from dpcausal.discovery.svt_pc import RELEASED
from dpcausal.planning.sieve import (
    SHARE,
    SieveDesign,
    SievePlan,
    once,
    optimal_subsample,
    resolution,
    rounds,
)
from dpcausal.privacy.accounting.composition import Filter
from dpcausal.privacy.mechanisms.base import begin
from dpcausal.privacy.mechanisms.sieve_and_examine import SieveSession
from dpcausal.stats.evidence import Floats, score


@proved("composition.proof.md")
class SieveAnswers:
    """Replies to batches: starts rounds while the budget affords them, then ends the search."""

    def __init__(self, task: Task, design: SieveDesign, on: On = "values") -> None:
        self._task, self._budget, self._design = task, task.private_budget(), design
        sampled = design.mechanism.subsample is not None
        self._scorer = scorer_for(task, "table" if sampled else on)
        self._sieve_scorer = self._scorer
        self._session: SieveSession | None = None

    def __call__(self, batch: list[Query]) -> Answers:
        """True for independent; None for what the budget no longer covers."""
        if not self._ready():
            return None
        dependence, information = self._scorer.evidence(batch)
        sieve, examine = self._design.sieve, self._design.examine
        least = examine.least
        looks: list[float] = score(dependence, information, examine.shift, least).tolist()
        values = self._sieve_values(batch, 0, dependence, information, sieve, least)
        answers: list[Answer] = []
        for i, look in enumerate(looks):
            before = self._session
            if not self._ready() or self._session is None:
                break
            if self._sampled and self._session is not before:  # a new round: new rows
                values = self._sieve_values(batch, i, dependence, information, sieve, least)
            answers.append(self._session.ask(values[i], lambda look=look: look))  # type: ignore[misc]
        return answers + [None] * (len(batch) - len(answers))

    @property
    def _sampled(self) -> bool:
        return self._design.mechanism.subsample is not None

    def _sieve_values(
        self,
        batch: list[Query],
        start: int,
        dependence: Floats,
        information: Floats,
        sieve: SievePlan,
        least: float,
    ) -> list[float]:
        """Sieve scores of the batch, from ``start`` on; earlier ones are not used again."""
        if not self._sampled:
            values: list[float] = score(dependence, information, sieve.shift, least).tolist()
            return values
        rest: list[float] = self._sieve_scorer.scores(batch[start:], sieve.shift, 0.0).tolist()
        return [0.0] * start + rest

    def _ready(self) -> bool:
        """Whether a round is open, or a new one could be paid for."""
        if self._session is None or self._session.halted:
            mechanism = self._design.mechanism
            if not self._budget.affords(mechanism.event("round")):
                return False
            self._session = begin(mechanism, self._budget, "round", 0.0)
            if mechanism.subsample is not None:
                drawn = self._task.counts.subsample(mechanism.subsample)
                self._sieve_scorer = Scorer(drawn, self._task.level, self._task.neighbours)
        return True


def run(
    task: Task,
    *,
    hits: Annotated[int | None, "most pairs to look at twice; none is all pairs"] = None,
    share: Annotated[float, "share of the budget, between 0 and 1, that goes to the threshold"] = SHARE,
    subsample: Annotated[
        int | Literal["optimal"] | None, "rows, drawn at random, that the threshold sees; none is all"
    ] = None,
    stable: Annotated[bool, STABLE] = True,
    on: Annotated[On, "numeric columns by their values or by their declared bins (table)"] = "values",
) -> SearchOutcome:
    """Discover; ``hits`` is the largest number of hits to pay for (default: the number of pairs).

    ``share`` of the budget goes to the sieve. ``subsample``: None, a number of rows, or "optimal". ``on="table"`` (and
    every subsample) asks the declared bins of numeric columns instead of their values (``scores.py``).
    """
    known, total = task.known, task.private_budget().total
    most = deletable(task.columns, len(known.kept), len(known.left_out))
    if hits is not None and hits < 1:
        raise InputError(f"hits must be at least 1, not {hits}")
    if not 0 < share < 1:
        raise InputError(f"share must lie strictly between 0 and 1, not {share!r}")
    count = most if hits is None else hits
    size = _subsample_size(task, total, count, share, subsample)
    ways = [rounds(total, count, share, task.neighbours, task.n, size)] if size or total.rho > 0 else []
    if size is None:
        ways.append(once(total, count, share, task.neighbours))
    resolutions = [resolution(way.false_hit) for way in ways]
    best = resolutions.index(min(resolutions))
    search = pc_search(task.columns, known, max_order=task.max_order, stable=stable)
    skeleton = drive(search, SieveAnswers(task, ways[best], on))
    note = Note(
        NoteKind.THRESHOLD,
        of="pairs",
        most=ways[best].most,
        renewed=ways[best].renewed,
        rows=size,
        resolution=resolution_rows(resolutions[best]),
    )
    return SearchOutcome(
        skeleton, (RELEASED,), public=assumed(task, on if size is None else "table"), notes=(note,)
    )


def _subsample_size(
    task: Task, total: Filter, hits: int, share: float, subsample: int | str | None
) -> int | None:
    """The number of rows in the sieve; None for all."""
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
