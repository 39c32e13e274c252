"""PC without privacy: the classical algorithm, for comparison and for data that are not sensitive.

``test`` is any test with a classical answer, "auto" (the test that ``citests/registry.py`` names for each question) or
"moments" (``moments.py`` without noise). Default: moments where most columns hold numbers, else G on exact tables.
Tests on tables: every batch of questions is counted at once, so that tables which share columns share passes over the
data; up to ``ahead`` sets of an edge are asked together, which changes nothing but the time. ``stable=False`` is the
original, order-dependent search."""

from __future__ import annotations

from typing import Annotated, Any

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.base import TableTest, ValueTest
from dpcausal.citests.registry import make_test
from dpcausal.core.errors import InputError
from dpcausal.core.progress import silent
from dpcausal.core.statement import Exact
from dpcausal.discovery import moments
from dpcausal.discovery.evidence import largest_pvalues
from dpcausal.discovery.fci import LATENT, USUAL, hidden_note, search_for
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import STABLE, Answers, Classical, Method, Query, SearchOutcome, Task, drive
from dpcausal.discovery.tests import TestAnswers, answers_evidence, refuse_crt
from dpcausal.planning.measurement_plan import mostly_numbers

SETS_PER_BATCH = 8


def run(
    task: Task,
    *,
    test: Annotated[
        str | None,
        "the test that answers, as in ci_test; its own options go beside it; none chooses by the schema",
    ] = None,
    stable: Annotated[bool, STABLE] = True,
    latent: Annotated[bool, LATENT] = False,
    **options: Any,
) -> SearchOutcome:
    """Run PC without privacy; nothing is charged."""
    if test is None:
        numbers = moments.numbers_of(task.counts if task.rows is None else task.rows)
        test = "moments" if numbers is not None and mostly_numbers(task.columns, numbers) else "g"
    refuse_crt(test)
    if test == "moments":
        if unknown := sorted(options.keys() - {"harmonics"}):
            raise InputError(f"moments has no option {unknown[0]!r} without privacy; it has harmonics")
        return moments.classical(task, stable=stable, latent=latent, **options)
    by_values = task.rows is not None and bool(task.rows.values)
    stage = task.stage if stable else silent  # not private: a bar may follow answers
    if test == "auto" or (by_values and isinstance(make_test(test, options), ValueTest)):
        asked = TestAnswers(task, test, options, None)
        skeleton = drive(search_for(task, stable=stable, latent=latent), asked, stage)
        evidence, names = answers_evidence(asked, skeleton), asked.names
    else:
        tables = TableAnswers(task, test, options)
        ahead = SETS_PER_BATCH if stable else 1
        skeleton = drive(search_for(task, stable=stable, latent=latent, ahead=ahead), tables, stage)
        evidence, names = largest_pvalues(tables.pvalues, skeleton.separating), (test,)
    note = Classical(names, task.level, like="tests" if test == "auto" else "")
    return SearchOutcome(
        skeleton,
        released=(Exact("graph-from-rows"),),
        notes=(note, *([hidden_note(USUAL)] if latent else [])),
        latent=latent,
        evidence=evidence,
    )


class TableAnswers:
    """Replies to batches with a classical test on exact tables, all of a batch counted at once."""

    def __init__(self, task: Task, test: str, options: dict[str, Any]) -> None:
        method = make_test(test, options)
        if not isinstance(method, TableTest):
            raise InputError(
                f"{test} needs the rows themselves, not counts: take a test on tables, or bring the columns with "
                "dc.read"
            )
        self._task, self._test = task, method
        self.pvalues: list[tuple[Pair, tuple[str, ...], float | None]] = []

    def __call__(self, batch: list[Query]) -> Answers:
        """Return True for independent."""
        asked = [TestQuestion.of(self._task.counts.schema, *query) for query in batch]
        for question in asked:
            self._test.check(question)
        tables = self._task.counts.tables([question.columns for question in asked])
        outcomes = [
            self._test.classical(table.reshape(question.k, question.r, question.c), self._task.level)
            for question, table in zip(asked, tables, strict=True)
        ]
        self.pvalues += [
            (frozenset((query.x, query.y)), query.given, outcome.pvalue)
            for query, outcome in zip(batch, outcomes, strict=True)
        ]
        return [outcome.independent for outcome in outcomes]


METHOD = Method(
    "pc",
    "the classical algorithm on exact counts; not private",
    run,
    private=False,
)
