"""PC without privacy: the classical algorithm, for comparison and for data that are not sensitive.

``test`` is any test with a classical answer, "auto" (the test that ``citests/choice.py`` names for each question) or
"moments" (``moments.py`` without noise). Default: moments where most columns hold numbers, else G on exact tables.
Tests on tables: every batch of questions is counted at once, so that tables which share columns share passes over the
data; up to ``ahead`` sets of an edge are asked together, which changes nothing but the time. ``stable=False`` is the
original, order-dependent search."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from dpcausal.citests.base import Question as TestQuestion
from dpcausal.citests.base import TableTest, ValueTest
from dpcausal.citests.registry import make_test
from dpcausal.core.errors import InputError
from dpcausal.core.progress import silent
from dpcausal.core.statement import Exact
from dpcausal.discovery import moments
from dpcausal.discovery.evidence import Evidence, largest_pvalues
from dpcausal.discovery.fci import LATENT, USUAL, hidden_note, search_for
from dpcausal.discovery.knowledge import Pair
from dpcausal.discovery.search import STABLE, Answers, Classical, Method, Query, SearchOutcome, Task, drive
from dpcausal.discovery.tests import TestAnswers, answers_evidence
from dpcausal.planning.measurement import mostly_numbers

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
    """Run it; nothing is charged and nothing is private."""
    numbers = task.rows is not None and bool(task.rows.values)
    if test is None:
        held = moments.numbers_of(task.counts if task.rows is None else task.rows)
        test = "moments" if held is not None and mostly_numbers(task.columns, held) else "g"
    if test == "crt":
        raise InputError("crt needs a law for every column given every set: it can't drive a search")
    if test == "moments":
        return moments.classical(task, stable=stable, latent=latent, **options)
    if test == "auto" or (numbers and isinstance(make_test(test, options), ValueTest)):
        answers = TestAnswers(task, test, options, None)
        search = search_for(task, stable=stable, latent=latent)
        skeleton = drive(
            search, answers, task.stage if stable else silent
        )  # not private: a bar may follow answers
        found = _found(skeleton, answers.names, task, latent, like="tests" if test == "auto" else "")
        return replace(found, evidence=answers_evidence(answers, skeleton))
    skeleton, evidence = _by_tables(task, test, options, stable, latent)
    return replace(_found(skeleton, (test,), task, latent), evidence=evidence)


def _by_tables(
    task: Task, test: str, options: dict[str, Any], stable: bool, latent: bool
) -> tuple[Any, dict[Pair, Evidence]]:
    method = make_test(test, options)
    if not isinstance(method, TableTest):
        raise InputError(
            f"{test} needs the rows themselves, not counts: take a test on tables, or bring the columns with dc.read"
        )
    schema = task.counts.schema
    pvalues: list[tuple[Pair, tuple[str, ...], float | None]] = []

    def answer(batch: list[Query]) -> Answers:
        asked = [TestQuestion.of(schema, *question) for question in batch]
        for question in asked:
            method.check(question)
        tables = task.counts.tables([question.columns for question in asked])
        outcomes = [
            method.classical(table.reshape(question.k, question.r, question.c), task.level)
            for question, table in zip(asked, tables, strict=True)
        ]
        pvalues.extend(
            (frozenset((query.x, query.y)), tuple(query.given), outcome.pvalue)
            for query, outcome in zip(batch, outcomes, strict=True)
        )
        return [outcome.independent for outcome in outcomes]

    search = search_for(task, stable=stable, latent=latent, ahead=SETS_PER_BATCH if stable else 1)
    skeleton = drive(search, answer, task.stage if stable else silent)
    return skeleton, largest_pvalues(pvalues, skeleton.separating)


def _found(
    skeleton: Any, tests: tuple[str, ...], task: Task, latent: bool, *, like: str = ""
) -> SearchOutcome:
    return SearchOutcome(
        skeleton,
        released=(Exact("graph-from-rows"),),
        notes=(
            Classical(tests, task.level, like),
            *([hidden_note(USUAL)] if latent else []),
        ),
        latent=latent,
    )


METHOD = Method(
    "pc",
    "the classical algorithm on exact counts; not private",
    run,
    private=False,
)
