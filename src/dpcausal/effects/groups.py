"""A question about levels, asked of tables whose levels were merged into groups.

A group is a set of levels that were counted together. An effect can be read from counts of groups where it does not ask
what is within one: each of the two arms must be a group of its own, and all levels of a group of the outcome must count
the same. ``compare`` and ``event`` may name groups as they name levels. A column can be held fixed by its groups; what
confounds within a group then remains, which the answer must say. All of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpcausal.core.spelling import spelled
from dpcausal.data.columns import Categorical, Level, Numeric
from dpcausal.data.schema import Schema
from dpcausal.effects.question import (
    EffectQuestion,
    effect_question,
    examples,
    group_names,
    level_names,
    number_cut,
)

Groups = Mapping[str, Sequence[int]]  # of a column, the group of every level


def in_groups(question: EffectQuestion, groups: Groups) -> tuple[EffectQuestion, tuple[str, ...]]:
    """Return the same question of a table of groups, and the columns of which it asks what is within a group.

    Parameters
    ----------
    question : EffectQuestion
        About declared levels.
    groups : mapping of str to sequence of int
        Of columns with merged levels, the group of every level; other columns are as declared.

    Examples
    --------
    >>> schema = Schema(drug=Categorical([0, 1]), cells=Numeric(0, 900, [200, 350, 500]))
    >>> asked = effect_question(schema, "drug", "cells", (), event=">= 350", values=False)
    >>> found, cut = in_groups(asked, {"cells": (0, 0, 1, 1)})
    >>> asked.scores, found.scores, cut
    ((0.0, 0.0, 1.0, 1.0), (0.0, 1.0), ())
    >>> in_groups(asked, {"cells": (0, 1, 1, 1)})[1]
    ('cells',)
    """
    cut, of_level = [], groups.get(question.treatment)
    if of_level is not None:
        arms = (of_level[question.arms[0]], of_level[question.arms[1]])
        if any(list(of_level).count(arm) != 1 for arm in arms):
            cut.append(question.treatment)
        question = replace(question, arms=arms, treatment_levels=max(of_level) + 1)
    of_level = groups.get(question.outcome)
    if of_level is not None:
        counted = [
            {score for one, score in zip(of_level, question.scores, strict=True) if one == group}
            for group in range(max(of_level) + 1)
        ]
        missing = {of_level[code] for code in question.missing}
        mixed = missing & {of_level[code] for code in question.known}
        if mixed or any(len(scores) != 1 for scores in counted):
            cut.append(question.outcome)
        question = replace(
            question, scores=tuple(min(scores) for scores in counted), missing=tuple(sorted(missing - mixed))
        )
    return question, tuple(cut)


def question_of_groups(
    schema: Schema,
    groups: Groups,
    treatment: str,
    outcome: str,
    adjust: Sequence[str],
    *,
    estimand: str,
    compare: Sequence[Level] | None,
    event: Level | None,
) -> tuple[EffectQuestion, tuple[str, ...]]:
    """Return what ``in_groups`` returns, of a question whose levels or groups are named.

    Raises
    ------
    InputError
        If the columns do not allow this question, whatever was merged.
    """
    named = {}
    if (
        treatment in groups
        and isinstance(compare, list | tuple)
        and _name_groups(schema, groups, treatment, compare)
    ):
        named[treatment] = groups[treatment]
    other = outcome in groups and event is not None and number_cut(event) is None
    if other and event is not None and _name_groups(schema, groups, outcome, [event]):
        named[outcome] = groups[outcome]
    question = effect_question(
        coarse(schema, named),
        treatment,
        outcome,
        adjust,
        estimand=estimand,
        compare=compare,
        event=event,
        values=False,
    )
    return in_groups(question, {name: one for name, one in groups.items() if name not in named})


def _name_groups(schema: Schema, groups: Groups, column: str, names: Sequence[Level]) -> bool:
    """Whether all are names of groups, and not all are levels."""
    asked = {str(name) for name in names}
    return asked <= set(group_names(schema[column], groups[column])) and not asked <= set(
        level_names(schema[column])
    )


def coarse(schema: Schema, groups: Groups) -> Schema:
    """Return the schema in which these columns have a level for each group."""
    if not groups:
        return schema
    return Schema({name: _column(schema, groups, name) for name in schema})


def _column(schema: Schema, groups: Groups, name: str) -> Categorical | Numeric:
    column = schema[name]
    if name not in groups:
        return column
    return Categorical(group_names(column, groups[name]), drafted=column.drafted)


def what_groups_answer(schema: Schema, groups: Groups, treatment: str, outcome: str) -> str:
    """Return how to ask for what the groups of both columns can tell, as the reader spells it; empty where nothing."""
    ways = []
    if treatment in groups and max(groups[treatment]):
        names = examples(group_names(schema[treatment], groups[treatment]))
        first, last = names[0], names[-1]
        if "," not in first + last:
            ways.append(spelled(f'--compare "{first},{last}"', f"compare=({first!r}, {last!r})"))
    if outcome in groups and max(groups[outcome]):
        last = examples(group_names(schema[outcome], groups[outcome]))[-1]
        ways.append(spelled(f'--event "{last}"', f"event={last!r}"))
    return spelled(" ", ", ").join(ways)
