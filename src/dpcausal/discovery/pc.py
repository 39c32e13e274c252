"""PC without privacy: the classical algorithm on exact tables, for comparison and for data that are not sensitive.

Every batch of questions is counted at once, so that tables which share columns share passes over the data; up to
``ahead`` sets of an edge are asked together, which changes nothing but the time. ``test`` is any test with a
classical answer (default G); ``stable=False`` is the original, order-dependent search.
"""

from __future__ import annotations

from typing import Any

from dpcausal.citests.question import Question as TestQuestion
from dpcausal.citests.registry import method_named
from dpcausal.discovery.search import Answers, Question, pc_search
from dpcausal.discovery.task import Found, Task, drive

AHEAD = 8


def run(task: Task, *, test: str = "g", stable: bool = True, **options: Any) -> Found:
    """Run it; nothing is charged and nothing is private."""
    method = method_named(test, options)
    schema = task.counts.schema

    def answer(batch: list[Question]) -> Answers:
        asked = [TestQuestion.of(schema, *question) for question in batch]
        for question in asked:
            method.check(question)
        tables = task.counts.tables([question.columns for question in asked])
        return [
            method.classical(table.reshape(question.k, question.r, question.c), task.level).independent
            for question, table in zip(asked, tables, strict=True)
        ]

    search = pc_search(
        task.columns, task.known, max_order=task.max_order, stable=stable, ahead=AHEAD if stable else 1
    )
    return Found(
        drive(search, answer),
        released=("a graph learned from the raw rows",),
        notes=(f"PC with the {test} test at level {task.level:g}",),
    )
