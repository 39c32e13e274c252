"""What an effect is asked of: two arms of a treatment, an outcome scaled to [0, 1], strata. All of it is declared.

**Groups.** Tables after a search may have levels merged into groups that were counted together. An effect can be read
from counts of groups where it does not ask what is within one: each of the two arms must be a group of its own, and all
levels of a group of the outcome must count the same. ``compare`` and ``event`` may name groups as they name levels. A
column can be held fixed by its groups; what confounds within a group then remains, which the answer must say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_list, checked_name, column_names
from dpcausal.core.errors import InputError, did_you_mean, no_columns
from dpcausal.core.spelling import spelled
from dpcausal.data.columns import Column, Level, Numeric, has_order
from dpcausal.data.schema import Schema
from dpcausal.effects.levels import (
    Groups,
    Scores,
    coarse,
    compare_option,
    examples,
    group_names,
    left_out_codes,
    level_names,
    number_cut,
    outcome_scores,
)
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.survival import FollowUp

Estimand = Literal["risk difference", "risk ratio", "odds ratio", "mean difference"]
ESTIMANDS: tuple[str, ...] = get_args(Estimand)
SURVIVAL = ("hazard", "survival", "kaplan", "cox", "median time")
# levels of an outcome whose rows are counted level by level: less noise than split rows with Q
MOST_COUNTED = 3


@dataclass(frozen=True)
class EffectQuestion:
    """How much larger is the outcome in one arm of the treatment than in the other, other columns held fixed?

    Attributes
    ----------
    treatment, outcome : str
        The columns.
    adjust : tuple of str
        The columns held fixed, in the order of the schema.
    arms : pair of int
        Codes of the two arms; the effect is the second minus (or over) the first.
    arm_names : pair of str
        Their levels as printed.
    treatment_levels : int
        How many levels the treatment has in all.
    scores : tuple of float
        What each level or bin of the outcome counts, in [0, 1].
    by_value : bool
        Whether the outcome is a number whose values are used, not its bins.
    low, high : float
        The values of the outcome that 0 and 1 stand for.
    event : str or None
        The level whose risk is compared, for a risk, or the cut of a number (">= 400", "< 400"); else None.
    estimand : str
        As in ``ESTIMANDS``.
    missing : tuple of int
        Codes of the outcome for missing values: in a table their rows are in neither arm.
    follow_up : FollowUp or None
        Where the outcome is an event in the course of time, whose levels are states: how these are read.
    """

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    arms: tuple[int, int]
    arm_names: tuple[str, str]
    treatment_levels: int
    scores: tuple[float, ...]
    by_value: bool
    low: float
    high: float
    event: str | None
    estimand: str
    missing: tuple[int, ...] = ()
    follow_up: FollowUp | None = None

    @property
    def known(self) -> tuple[int, ...]:
        """Codes of the outcome that count, without those left out as missing."""
        return tuple(code for code in range(len(self.scores)) if code not in self.missing)

    @property
    def known_scores(self) -> tuple[float, ...]:
        """Scores of those codes of the outcome that count."""
        return tuple(self.scores[code] for code in self.known)

    @property
    def two_levels(self) -> bool:
        """Whether every outcome scores 0 or 1."""
        return not self.by_value and self.follow_up is None and set(self.known_scores) <= {0.0, 1.0}

    @property
    def is_risk(self) -> bool:
        """Whether the estimand compares risks of an event."""
        return self.two_levels or self.follow_up is not None

    @property
    def by_levels(self) -> bool:
        """Whether rows are counted by the level of the outcome, not summed by its score."""
        few = not self.by_value and len(self.known) <= MOST_COUNTED
        return self.two_levels or few or self.follow_up is not None

    @property
    def cell_scores(self) -> tuple[float, ...]:
        """The scores in [0, 1] of the cells of an arm: of levels, or of two halves of a number."""
        return self.known_scores if self.by_levels and not self.two_levels else (0.0, 1.0)

    @property
    def other_arms(self) -> bool:
        """Whether the treatment has levels that are not compared."""
        return self.treatment_levels > 2

    @property
    def others(self) -> bool:
        """Whether a row can be in neither arm, by its treatment or a missing outcome."""
        return self.other_arms or bool(self.missing)

    @property
    def has_populations(self) -> bool:
        """Whether a table can estimate the effect in the exposed or the overlap, too."""
        return self.two_levels and not self.others

    @property
    def has_strata(self) -> bool:
        """Whether a table can estimate the effect by models that leave no stratum out."""
        return self.has_populations or self.follow_up is not None

    def score_array(self) -> NDArray[np.float64]:
        """Return the scores of the outcome as an array."""
        return np.asarray(self.scores, dtype=np.float64)

    @property
    def key(self) -> str:
        """The question in one line, for the ledger."""
        given = f" given {', '.join(self.adjust)}" if self.adjust else ""
        return f"effect of {self.treatment} on {self.outcome}{given}"


def checked_columns(schema: Schema, treatment: object, outcome: object, adjust: object) -> tuple[str, ...]:
    """Return the columns to adjust for in the order of the schema, all names checked.

    Raises
    ------
    InputError
        If a name is not in the schema, the treatment is the outcome, or a column is named twice.
    """
    given = column_names(adjust, "adjust", schema)
    asked = [checked_name(name, "the name of a column") for name in (treatment, outcome, *given)]
    if lacking := [name for name in asked if name not in schema]:
        raise InputError(no_columns(lacking, schema))
    if treatment == outcome:
        raise InputError(
            f'"{treatment}" is both treatment and outcome: an effect is of one column on another'
        )
    for name in (treatment, outcome):
        if name in given:
            raise InputError(f'can\'t adjust for "{name}": it is the treatment or the outcome')
    if len(set(given)) < len(given):
        raise InputError(f"adjust names a column twice: {', '.join(given)}")
    place = {name: i for i, name in enumerate(schema)}
    return tuple(sorted(given, key=place.__getitem__))


def effect_question(
    schema: Schema,
    request: EffectRequest,
    adjust: Sequence[str] = (),
    *,
    values: bool = True,
    found: FollowUp | None = None,
) -> EffectQuestion:
    """Return the question that a request asks of these columns.

    Parameters
    ----------
    schema
        The declared columns.
    request
        The treatment, the outcome, and what is compared.
    adjust
        The columns that are held fixed.
    values
        Whether the numbers of a numeric outcome are there; else its bins count by their middles.
    found
        Where the outcome has the states of a follow-up as levels: that follow-up.

    Raises
    ------
    InputError
        If the columns do not allow this question.
    """
    treatment, outcome = request.treatment, request.outcome
    given = checked_columns(schema, treatment, outcome, adjust)
    arms, names = _arms(treatment, schema[treatment], request.compare)
    column, by_value = schema[outcome], False
    if found is not None:
        happens = [float(code % found.kinds == 0 and code < found.states - 1) for code in range(found.states)]
        counted = Scores((*happens, *[0.0] * found.missing), 0.0, 1.0, found.event_level)
        missing = (found.states,) * found.missing
    else:
        counted = outcome_scores(outcome, column, request.event)
        missing = left_out_codes(column, counted.scores, counted.event)
        by_value = values and isinstance(column, Numeric) and counted.event is None
    return EffectQuestion(
        treatment=treatment,
        outcome=outcome,
        adjust=given,
        arms=arms,
        arm_names=names,
        treatment_levels=schema[treatment].size,
        scores=counted.scores,
        by_value=by_value,
        low=counted.low,
        high=counted.high,
        event=counted.event,
        estimand=_estimand(request.estimand, outcome, counted.event),
        missing=missing,
        follow_up=found,
    )


def _arms(
    name: str, column: Column, compare: Sequence[Level] | None
) -> tuple[tuple[int, int], tuple[str, str]]:
    """Return the codes and the names of the two arms; ordered bins for a number, without that for missing values."""
    names = level_names(column)
    last = column.size - 1 - (isinstance(column, Numeric) and column.missing_level)
    if last < 1:
        raise InputError(f'the treatment "{name}" has one level: there is nothing to compare')
    if compare is None:
        if not has_order(column):
            raise InputError(
                f'the treatment "{name}" has {column.size} levels without an order: say which two to compare, such as '
                f"{compare_option(*examples(names)[:2])}"
            )
        return (0, last), (names[0], names[last])
    two = [str(level) for level in checked_list(compare, "compare", "two levels")]
    if len(two) != 2 or two[0] == two[1]:
        raise InputError(f"compare must name two different levels of the treatment, not {list(compare)!r}")
    for level in two:
        if level not in names:
            hint = did_you_mean(level, names) or f"; there are {', '.join(names)}"
            raise InputError(f'the treatment "{name}" has no level {level!r}{hint}')
    return (names.index(two[0]), names.index(two[1])), (two[0], two[1])


def _estimand(estimand: object, outcome: str, event: str | None) -> str:
    """Return the checked name of the estimand; ``auto`` is a risk difference for an event, else of means."""
    asked = checked_name(estimand, "estimand").replace("-", " ").strip().lower()
    if asked == "auto":
        return "mean difference" if event is None else "risk difference"
    if asked not in ESTIMANDS:
        known = ", ".join(("auto", *ESTIMANDS))
        if any(word in asked for word in SURVIVAL):
            how = spelled("--time T --event STATUS --horizon H", "outcome=dc.Survival(...)")
            raise InputError(
                f"no estimand is called {estimand!r}: there are {known}. An event in the course of time, with "
                f"censoring, is compared by its risk at a horizon ({how})"
            )
        raise InputError(
            f"no estimand is called {estimand!r}{did_you_mean(asked, ESTIMANDS)}; there are {known}"
        )
    if asked == "mean difference":
        return "risk difference" if event is not None else asked
    if event is None:
        raise InputError(
            f'a {asked} needs an outcome with two levels; "{outcome}" has a mean difference, or say which level or cut '
            f"counts ({spelled('--event', 'event=')})"
        )
    return asked


def in_groups(question: EffectQuestion, groups: Groups) -> tuple[EffectQuestion, tuple[str, ...]]:
    """Return the question in terms of groups of merged levels, and the columns of which it needs finer levels.

    Parameters
    ----------
    question : EffectQuestion
        About declared levels.
    groups : mapping of str to sequence of int
        Of columns with merged levels, the group of every level; other columns are as declared.

    Examples
    --------
    >>> from dpcausal.data.columns import Categorical
    >>> schema = Schema(drug=Categorical([0, 1]), cells=Numeric(0, 900, [200, 350, 500]))
    >>> asked = effect_question(schema, EffectRequest("drug", "cells", event=">= 350"), values=False)
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
    schema: Schema, groups: Groups, request: EffectRequest, adjust: Sequence[str]
) -> tuple[EffectQuestion, tuple[str, ...]]:
    """Return the request as a question about groups, with the columns of which it needs finer levels.

    Raises
    ------
    InputError
        If the columns do not allow this question, whatever was merged.
    """
    levels: dict[str, Sequence[Level]] = {}
    if isinstance(request.compare, list | tuple):
        levels[request.treatment] = request.compare
    if request.event is not None and number_cut(request.event) is None:
        levels[request.outcome] = [request.event]
    named = {
        name: groups[name]
        for name, asked in levels.items()
        if name in groups and _name_groups(schema[name], groups[name], asked)
    }
    question = effect_question(coarse(schema, named), request, adjust, values=False)
    return in_groups(question, {name: one for name, one in groups.items() if name not in named})


def _name_groups(column: Column, groups: Sequence[int], names: Sequence[Level]) -> bool:
    """Return whether all ``names`` are names of groups, and not all are levels."""
    asked = {str(name) for name in names}
    return asked <= set(group_names(column, groups)) and not asked <= set(level_names(column))


def strata_cells(schema: Schema, adjust: Sequence[str]) -> int:
    """Return the number of strata: combinations of levels of these columns."""
    return math.prod(schema[name].size for name in adjust)
