"""An effect after a discovery: from a share of its budget kept for that, free, or at a charge of its own.

**Reserved** (``Reserve``): a table with noise of its own, measured after the graph is known, within the total of the
discovery. The default where a share was kept. ``discover(..., effect=("a", "b"))`` keeps a public share of the budget,
``USUAL_RESERVE`` unless ``reserve`` names another: the search is refused it (``Budget(later=...)``), and
``result.effect`` pays for a table, an equal part of the share for each effect that was named. The promise is one for
both, and it is the total: charges before and after go through one filter
(``privacy/accounting/composition.proof.md``, part 5). A reserve refers to the rows. It is lost when a result is copied
or pickled: a copy could spend it again.

What an answer may cost: a share s of a total (epsilon, delta), which allows rho R, is s epsilon where the search kept
to (1 - s) epsilon, or s R where it kept to (1 - s) R. Where it kept to both, the first answer takes the unit that gives
it less noise, and later ones take the same. All of this follows from charges, so from public and released values.

**Free.** ``measured`` releases a joint table, or components of tables (``components.py``). Where they hold the columns
that an effect needs, the effect is post-processing and costs nothing. The noise of a component of a set B is at most
that of independent cells of variance u, with u the largest v_B/s_B over the sets B of the table (v_B the variance
measured, s_B the cells that B is spread over), so the interval takes u: for components it is rather too wide.

Of several sites each has tables of its own, and a stratum is within one site: other margins elsewhere do not enter.

After ``moments`` the same holds for the matrix of moments (``effect_moments.py``), by regression.

**Selection.** These tables also chose the graph, and with it the columns that are held fixed. An interval that is right
for a graph named beforehand can then be too short; the answer says so, and how often such intervals held the truth in
simulations. Effects that are named before the search (``discover(effect=...)``) are therefore paid from a share. With
``data`` a table is measured after the graph is known, with noise of its own and a charge of its own.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from dpcausal.core.arguments import checked_part
from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import asks, spelled
from dpcausal.core.statement import PrivacyStatement
from dpcausal.counts.protocol import Counts
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery.effect_moments import effect_from_moments, give_rows
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.measured.tables import Components, JointTable, NoisyTables, TablesOfSites
from dpcausal.discovery.moments import Moments
from dpcausal.effects.adjustment import columns_held_fixed
from dpcausal.effects.asked import AskedEffect, asked_of_data, bin_notes, by_middles
from dpcausal.effects.effect import requested_effect
from dpcausal.effects.forecast import forecast_of
from dpcausal.effects.levels import (
    bins_bias,
    coarse,
    group_names,
    refuse_biased,
    rows_with_cut,
    what_groups_answer,
)
from dpcausal.effects.measure import MeasuredEffect, measure_effect
from dpcausal.effects.plan import plan_effect
from dpcausal.effects.question import EffectQuestion, effect_question, question_of_groups
from dpcausal.effects.report import estimates, report
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import ByGroups, EffectResult, FreshNoise, SameRelease
from dpcausal.effects.table import planned_table
from dpcausal.privacy.accounting.composition import exact, fits
from dpcausal.privacy.budget import Allowance, Budget, refuse_hopeless
from dpcausal.stats.components import Floats
from dpcausal.stats.standardise import Arms, arms_of_cells

# of 95% intervals of free effects, those that held after discoveries with 10,000 and with 2,000 rows
# (benchmarks/effects.py after --ways free); a test compares
HELD_AFTER_SELECTION, HELD_WITH_FEW_ROWS = 0.93, 0.89
GROUP_LETTERS = 120  # letters of a column's groups that an error names


def values_for_effects(values: object) -> ReleasedTables | Moments | None:
    """Return the released values of a search in the form that effects use; None where they can't."""
    if isinstance(values, Measurements):
        return None if values.near else ReleasedTables.of(values)
    return values if isinstance(values, Moments) else None


@dataclass(frozen=True, eq=False)
class ReleasedTables:
    """Noisy tables that a discovery released, by names of columns."""

    schema: Schema
    tables: NoisyTables
    rows: float  # public, or released
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # of columns with merged levels

    @classmethod
    def of(cls, measured: Measurements) -> ReleasedTables:
        """Return the released tables of a measurement."""
        return cls(measured.schema, measured.tables, measured.rows, measured.groups_by_name)

    def __repr__(self) -> str:
        return f"ReleasedTables({type(self.tables).__name__})"

    def holds(self, names: Sequence[str]) -> bool:
        """Return whether the table over these columns was released, with groups where levels were merged."""
        if isinstance(self.tables, JointTable):
            return True
        if isinstance(self.tables, TablesOfSites):
            return bool(self.tables.holding(self._columns(names)))
        assert isinstance(self.tables, Components)
        return all(inner in self.tables.values for inner in _subsets(self._columns(names)))

    def by_site(self) -> list[ReleasedTables]:
        """Return the tables of each site as a list; of one site, these alone."""
        if not isinstance(self.tables, TablesOfSites):
            return [self]
        return [replace(self, tables=site.components, rows=site.rows) for site in self.tables.sites]

    def lack(self, names: Sequence[str], merged: Sequence[str]) -> str:
        """Return the error message for columns about which no released table can answer."""
        if merged:
            columns = [f"{name}{self._short_groups(name)}" for name in merged]
            merged_words = f"levels of {', '.join(columns)} were merged because of the noise"
            return f"{merged_words}, so no table has all of them" if asks() else merged_words
        return f"the released tables do not hold {', '.join(names)} together"

    def _short_groups(self, name: str) -> str:
        """Return the groups of a merged column in brackets, for a message; empty where too long."""
        if name not in self.groups or not asks():
            return ""
        listed = " | ".join(group_names(self.schema[name], self.groups[name]))
        return (
            f" ({listed})" if len(listed) <= GROUP_LETTERS else f" (to {max(self.groups[name]) + 1} groups)"
        )

    def table(self, names: Sequence[str]) -> tuple[Floats, float, float]:
        """Return the released table of these columns, an upper bound on its noise variance, and excess kurtosis."""
        columns = self._columns(names)
        place = {name: i for i, name in enumerate(self.schema)}
        found = self.tables.table(columns).transpose([columns.index(place[name]) for name in names])
        if isinstance(self.tables, JointTable):
            summed = self.tables.joint.size / found.size
            return found, self.tables.variance(columns), self.tables.kurtosis / summed
        if isinstance(self.tables, TablesOfSites):
            return found, math.fsum(site.table(names)[1] for site in self.by_site() if site.holds(names)), 0.0
        sizes = self.tables.sizes
        largest = max(
            self.tables.variance(inner) / math.prod(sizes[j] for j in columns if j not in inner)
            for inner in _subsets(columns)
        )
        return found, largest, 0.0

    def _columns(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the places of these columns in the schema, increasing."""
        place = {name: i for i, name in enumerate(self.schema)}
        return tuple(sorted(place[name] for name in names))


def _subsets(columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every subset of the columns, the smallest first."""
    return chain.from_iterable(combinations(columns, number) for number in range(len(columns) + 1))


@dataclass(frozen=True)
class _FromTables:
    """One released table that answers like a measured one."""

    released: ReleasedTables
    question: EffectQuestion
    columns: tuple[str, ...]

    def arms(self, adjust: Sequence[str]) -> Arms:
        """Return the released counts of both arms by stratum of the columns that are adjusted for."""
        question = self.question
        names = (*adjust, question.treatment, question.outcome)
        own = [site for site in self.released.by_site() if site.holds(names)]
        found = [site.table(names) for site in own]
        shape = (-1, question.treatment_levels, len(question.scores))
        cells = np.concatenate([table.reshape(shape) for table, *_ in found])
        variance, kurtosis = max(one[1] for one in found), found[0][2]
        chosen = cells[:, list(question.arms), :][:, :, list(question.known)]
        rest = cells.sum(axis=(1, 2)) - chosen.sum(axis=(1, 2)) if question.others else None
        left_out = question.treatment_levels * len(question.scores) - 2 * len(question.known)
        return arms_of_cells(
            chosen,
            rest,
            np.asarray(question.known_scores),
            variance,
            math.fsum(site.rows for site in own),
            kurtosis,
            other_cells=left_out,
        )


def effect_after(
    request: EffectRequest,
    released: ReleasedTables | Moments | None,
    statement: PrivacyStatement,
    *,
    data: Dataset | Counts | None,
    reserve: Reserve | None,
    free: bool,
    part: float | None,
) -> EffectResult:
    """Return the effect after a discovery: by a fresh table of ``data``, from ``reserve``, or from released values.

    Raises
    ------
    InputError
        If what was released does not hold the columns; the message says what a fresh table would cost.
    """
    if not isinstance(free, bool):
        raise InputError(f"free must be True or False, not {free!r}")
    if data is not None:
        if free or part is not None:
            raise InputError(
                "with data= a table is measured at a charge of its own: free and part do not go with it"
            )
        if request.epsilon is None:
            raise InputError("a fresh table needs an epsilon of its own: effect(..., data=data, epsilon=0.5)")
        found = requested_effect(data, request)
        return replace(found, notes=(*found.notes, FreshNoise("fresh-noise")))
    # whether nothing is asked that only a charge of its own has a use for
    unpaid = replace(request, epsilon=None, delta=0.0, neighbours="replace-one", ledger=None, dataset=None)
    if reserve is not None and not free:
        if request != unpaid:
            raise InputError(
                "an effect from the share that was kept costs no epsilon of its own: epsilon and the like go with data="
            )
        return reserve.effect(request, part)
    if part is not None:
        raise InputError("part goes with a share that was kept: discover(..., reserve=0.3)")
    if request != replace(unpaid, method="auto"):
        raise InputError("an effect from released tables costs nothing: epsilon and the like go with data=")
    if released is None:
        raise InputError(f"this method released no tables: {give_rows()} for a table of its own")
    whose = "overlap" if isinstance(released, Moments) else "all"
    if request.population not in ("auto", whose):
        raise InputError(
            f"what the search released tells the effect in population {whose}, not {request.population}: {give_rows()} "
            "for a table of its own"
        )
    if isinstance(released, Moments):
        return effect_from_moments(request, released, statement)
    return effect_from_tables(request, released, statement)


def effect_from_tables(
    request: EffectRequest, tables: ReleasedTables, statement: PrivacyStatement
) -> EffectResult:
    """Return the effect from tables that a search released; no row is read.

    Raises
    ------
    InputError
        If no table holds the columns, or groups of merged levels do not answer.
    """
    schema, groups = tables.schema, tables.groups
    treatment, outcome = request.treatment, request.outcome
    held = columns_held_fixed(schema, request)
    question, cut = question_of_groups(schema, groups, request, held.used[0])
    if cut:
        names = (*held.used[0], treatment, outcome)
        raise InputError(_no_table(tables, request, names, cut, together=tables.holds(names)))
    for one in held.used:
        names = (*one, treatment, outcome)
        if not tables.holds(names):
            raise InputError(_no_table(tables, request, names, ()))
    notes, bias, column = list(held.notes), 0.0, schema[outcome]
    by_groups = {
        name: groups[name] for name in schema if name in groups and any(name in one for one in held.used)
    }
    if by_groups:
        named = [(name, tuple(group_names(schema[name], which))) for name, which in by_groups.items()]
        notes.append(ByGroups(tuple(named)))
    if by_middles(schema, question) and isinstance(column, Numeric):
        counts, *_ = tables.table((treatment, outcome))
        counted = counts[list(question.arms)].copy()
        counted[:, list(question.missing)] = 0.0
        bias = bins_bias(column, counted)
    notes += bin_notes(schema, question, bias)
    asked = AskedEffect(
        request, coarse(schema, by_groups), question, held.sets, tuple(notes), bias_bound=bias
    )
    measured = [_FromTables(tables, question, one) for one in held.used]
    if bias and isinstance(column, Numeric) and not request.anyway:
        for columns, found in zip(held.sets, estimates(asked, measured), strict=True):
            if columns is not None:
                refuse_biased(column, outcome, bias, found.interval)
    same = SameRelease("same-tables", HELD_AFTER_SELECTION, HELD_WITH_FEW_ROWS)
    return report(asked, measured, statement, same)


def _no_table(
    tables: ReleasedTables,
    request: EffectRequest,
    names: Sequence[str],
    merged: Sequence[str],
    *,
    together: bool = True,
) -> str:
    """Return why released tables can't answer about ``names``, and what helps.

    ``merged`` are columns whose groups do not answer. ``together``: whether a table holds all of
    ``names``; else groups do not help, unless nothing is held fixed.
    """
    lack = tables.lack(names, merged if together else ())
    if not asks():  # a page, whose reader can't measure anything
        return lack
    measure = (
        f"measure them ({spelled('effect FILE --schema SCHEMA --epsilon E', 'data= and epsilon=')}; "
        f"{spelled('effect --forecast', 'dc.forecast_effect')} says for nothing how wide the interval would be)"
    )
    of_merged = {name: one for name, one in tables.groups.items() if name in merged}
    ways = what_groups_answer(tables.schema, of_merged, request.treatment, request.outcome)
    groups = f" (with {ways})" if ways and not together else ""
    raw = spelled("--adjust none --anyway", "adjust=[], anyway=True")
    chosen = [name for name in names if name not in (request.treatment, request.outcome)]
    by_graph = request.adjust is None and chosen and not tables.holds(names)
    none = (
        f". The graph says to hold {', '.join(chosen)} fixed; {raw} holds nothing fixed{groups}"
        if by_graph
        else ""
    )
    if not merged or not together:
        return f"{lack}: {measure}{none}"
    ask = f"ask about groups ({ways}), or " if ways else ""
    return (
        f"{lack}: {ask}{measure}, or declare fewer levels for your next graph ({spelled('plan', 'dc.plan')} says how "
        f"many are kept){none}"
    )


LEAST, MOST = 0.01, 0.99  # shares that can be kept
USUAL_RESERVE = 0.3  # of the budget, where effects are named and no share is
Named = tuple[tuple[str, str], ...]
ROUNDING = 1.0 - 1e-12  # of a share: parts never pass the whole by rounding
GONE = (
    "the share kept for effects stayed with the result that discover returned, and this is a copy of it: ask that one, "
    "or ask with free=True, or with data= and an epsilon"
)


def checked_effects(effect: object, schema: Schema) -> Named:
    """Return the treatments and outcomes whose effects will be asked: a pair of columns, or several.

    Refuses columns and levels between which no effect can be asked, before anything is charged.

    >>> from dpcausal.data.columns import Categorical
    >>> schema = Schema({name: Categorical(["no", "yes"]) for name in "abc"})
    >>> checked_effects(("a", "b"), schema), checked_effects([("a", "b"), ["a", "c"]], schema)
    ((('a', 'b'),), (('a', 'b'), ('a', 'c')))
    """
    listed = list(effect) if isinstance(effect, list | tuple) else [effect]
    if listed and all(isinstance(name, str) for name in listed):
        listed = [listed]
    found: list[tuple[str, str]] = []
    for pair in listed:
        if not (
            isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
        ):
            raise InputError(
                f'effect must be a pair ("treatment", "outcome") or a list of such pairs, not {pair!r}'
            )
        found.append((pair[0], pair[1]))
    if len(set(found)) < len(found):
        raise InputError("effect names the same two columns twice")
    for treatment, outcome in found:
        effect_question(schema, EffectRequest(treatment, outcome))
    return tuple(found)


def checked_reserve(reserve: object, epsilon: float | None, named: Sequence[object] = ()) -> float:
    """Return the share of the budget to reserve for effects, 0 for none; None is the default share.

    >>> checked_reserve(0.2, 1.0), checked_reserve(0, None), checked_reserve(None, 1.0)
    (0.2, 0.0, 0.0)
    >>> checked_reserve(None, 1.0, [("a", "b")])
    0.3
    """
    if named and epsilon is None:
        raise InputError(
            "effect keeps a share of the budget, and without privacy there is none: leave it out, and ask "
            + spelled("dpcausal effect --graph", "dc.effect(..., graph=result.graph, epsilon=None)")
        )
    if reserve is None:
        return USUAL_RESERVE if named else 0.0
    if isinstance(reserve, bool) or not isinstance(reserve, int | float):
        raise InputError(f"reserve must be a share of the budget such as 0.3, not {reserve!r}")
    if reserve == 0:
        return 0.0
    if not LEAST <= reserve <= MOST:
        raise InputError(
            f"reserve is the share of the budget kept for effects, from {LEAST:g} to {MOST:g}: {reserve!r}"
        )
    if epsilon is None:
        raise InputError("without privacy there is no budget to keep a share of: leave reserve out")
    return float(reserve)


class Reserve:
    """The share of a budget that effects may spend, with the rows that they are measured on.

    Attributes
    ----------
    share : float
        Of the total, as it was kept.
    named : tuple of pairs of str
        Treatments and outcomes for which it was kept; each may take an equal part.
    left : float
        The part of it, from 0 to 1, that no answer has taken yet.
    """

    def __init__(
        self,
        share: float,
        budget: Budget | None = None,
        data: Dataset | Counts | None = None,
        before: PrivacyStatement | None = None,
        named: Named = (),
    ) -> None:
        self.share, self.named, self.left = share, named, 0.0 if budget is None else 1.0
        self._budget, self._data, self._before = budget, data, before
        self._units: list[
            str
        ] = []  # in which answers may be paid; after the first answer, the one that it took
        if budget is not None:
            spent, held = budget.spent, budget.total  # what the search spent, and what it was held to
            if fits(spent.epsilon, exact(held.epsilon)):
                self._units.append("epsilon")
            if held.rho > 0 and fits(spent.rho, exact(held.rho)):
                self._units.append("rho")
        self._tables: dict[tuple[Any, ...], MeasuredEffect] = {}
        self._answers: dict[tuple[str, str], EffectResult] = {}  # the last about two columns
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Reserve(share={self.share:g}, left={self.left:g})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Reserve, (self.share,)  # used up, and without rows

    def answered(self, treatment: str, outcome: str) -> EffectResult | None:
        """Return the last paid effect of one column on the other; None if there is none."""
        return self._answers.get((treatment, outcome))

    def effect(self, request: EffectRequest, part: float | None = None) -> EffectResult:
        """Measure an effect, paid with ``part`` of the reserved share, and return it.

        None is an equal part for each effect that was named beforehand, and else what these leave. A question whose
        table was measured before is answered from it and costs nothing.

        Raises
        ------
        InputError
            If the question can't be asked; nothing was charged.
        BudgetError
            If more is asked than is left; nothing was charged.
        """
        budget, data = self._budget, self._data
        if budget is None or data is None:
            raise InputError(GONE)
        data = rows_with_cut(data, request.outcome, request.event)
        asked = asked_of_data(data, replace(request, neighbours=budget.neighbours))
        asked = replace(asked, notes=(*asked.notes, FreshNoise("reserved", self.share)))
        key = _table_key(asked)
        with self._lock:
            if key in self._tables:
                return report(asked, *self._tables[key])
            taken = self._checked_part(part, (request.treatment, request.outcome))
            rows = data.n if budget.neighbours is Neighbours.REPLACE_ONE else None
            unit, allowed = self._allowed(budget, taken, asked)
            plan = plan_effect(data, asked, allowed, rows)
            if rows is not None and not request.anyway:
                refuse_hopeless(forecast_of(asked, rows, help_wanted=False, part=allowed))
            budget.open_later()
            self.left = max(self.left - taken, 0.0)  # before noise is drawn: an error in between loses it
            self._units = [unit]
            measured = measure_effect(data, plan, budget, self._before)
            self._before = measured.statement
            if plan.method == "table":
                self._tables[key] = measured
            found = report(asked, *measured)
            self._answers[request.treatment, request.outcome] = found
            return found

    def _usual_part(self, pair: tuple[str, str]) -> float:
        """Return the default part of the share for an answer: equal parts for effects named beforehand."""
        waiting = [one for one in self.named if self.answered(*one) is None]
        if pair in waiting:
            return min(1.0 / len(self.named), self.left)
        free = self.left - len(waiting) / max(len(self.named), 1)
        if waiting and free <= 1.0 - ROUNDING:
            named = " and ".join(f"{a} on {b}" for a, b in waiting)
            raise BudgetError(
                f"what is left of the share for effects is kept for that of {named}: ask for that, or take some of it "
                "with part=0.5"
            )
        return free

    def _checked_part(self, part: object, pair: tuple[str, str]) -> float:
        """Return the part of the share that an answer may take; refuse an invalid one or more than is left."""
        wanted = self._usual_part(pair) if part is None else checked_part(part, "part")
        if self.left <= 0 or wanted > self.left / ROUNDING:
            raise BudgetError(
                f"of the share kept for effects {self.left:.0%} is left, and this answer asks for "
                f"{wanted if part is not None else 1.0:.0%}: ask with free=True, or with data= and an epsilon of its "
                "own; part=0.5 takes half of the share, for two answers"
            )
        return wanted

    def _allowed(self, budget: Budget, part: float, asked: AskedEffect) -> tuple[str, Allowance]:
        """Return the unit (epsilon or rho) in which an answer is charged, and how much it may cost."""
        whole, share = budget.whole, part * self.share * ROUNDING
        rho = share * whole.rho
        every = {
            "epsilon": Allowance(share * whole.epsilon, 0.0),
            "rho": Allowance(math.sqrt(2 * rho) * ROUNDING, rho),  # epsilon-DP is epsilon^2/2-zCDP
        }
        ways = {unit: every[unit] for unit in self._units}

        def noise(unit: str) -> float:
            return planned_table(asked.schema, asked.question, (), ways[unit], budget.neighbours).variance

        unit = min(ways, key=noise)
        return unit, ways[unit]


def _table_key(asked: AskedEffect) -> tuple[Any, ...]:
    """Return the key of the table that a question needs; questions with one key share a table."""
    one = asked.question
    return (one.treatment, one.outcome, asked.sets, one.arms, one.scores, one.by_value, one.event)
