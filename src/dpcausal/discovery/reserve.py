"""A share of a discovery's budget, kept for effects that are asked once the graph is known.

Tables that chose a graph also chose which columns an effect holds fixed, so that an interval from them can be too
short. ``discover(..., effect=("a", "b"))`` keeps a public share of the budget, ``USUAL_RESERVE`` unless ``reserve``
names another: the search is refused it (``Budget(later=...)``), and ``result.effect`` pays for a table with noise of
its own, an equal part of the share for each effect that was named. The promise is one for both, and
it is the total: charges before and after go through one filter (``privacy/accounting/composition.proof.md``, part 5).

**What an answer may cost.** A share s of a total (epsilon, delta), which allows rho R, is s epsilon where the search
kept to (1 - s) epsilon, or s R where it kept to (1 - s) R. Where it kept to both, the first answer takes the unit that
gives it less noise, and later ones take the same. All of this follows from charges, so from public and released values.

A reserve refers to the rows. It is lost when a result is copied or pickled: a copy could spend it again.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpcausal.core.errors import BudgetError, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import PrivacyStatement
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.effects.effect import asked_of_data, forecast_of
from dpcausal.effects.measure import MeasuredEffect, measure_effect
from dpcausal.effects.outcome import rows_with_cut
from dpcausal.effects.plan import AskedEffect, plan_effect
from dpcausal.effects.question import effect_question
from dpcausal.effects.report import report
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import EffectResult, FreshNoise
from dpcausal.effects.table import planned_table
from dpcausal.privacy.accounting.composition import exact, fits
from dpcausal.privacy.budget import Allowance, Budget, refuse_hopeless

LEAST, MOST = 0.01, 0.99  # shares that can be kept
USUAL_RESERVE = 0.3  # of the budget, where effects are named and no share is
Named = tuple[tuple[str, str], ...]
LEAST_ARM = 2.0  # standard deviations of noise that half of the rows must hold, for anything to be said
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
    """Return the share of the budget to keep, 0 for none; None is ``USUAL_RESERVE`` where effects are named.

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
        budget: Budget,
        data: Dataset | Counts,
        before: PrivacyStatement,
        named: Named = (),
    ) -> None:
        self.share, self.named, self.left = share, named, 1.0
        self._budget: Budget | None = budget
        self._data: Dataset | Counts | None = data
        self._before = before
        spent, held = budget.spent, budget.total  # what the search spent, and what it was held to
        by_rho = held.rho > 0 and fits(spent.rho, exact(held.rho))
        # in which answers may be paid: those that the search kept to; after the first answer, the one that it took
        self._units = [
            *(["epsilon"] if fits(spent.epsilon, exact(held.epsilon)) else []),
            *(["rho"] if by_rho else []),
        ]
        self._tables: dict[tuple[Any, ...], MeasuredEffect] = {}
        self._answers: dict[tuple[str, str], EffectResult] = {}  # the last about two columns
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Reserve(share={self.share:g}, left={self.left:g})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _copied, (self.share,)

    def answered(self, treatment: str, outcome: str) -> EffectResult | None:
        """Return the last answer that was paid for about these two columns, if there is one."""
        return self._answers.get((treatment, outcome))

    def effect(self, request: EffectRequest, part: float | None = None) -> EffectResult:
        """Measure an effect for ``part`` of the share and return it.

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
        key = _key(asked)
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
        """The part of an answer that names none: equal ones for those named beforehand, what they leave for others."""
        waiting = [one for one in self.named if self.answered(*one) is None]
        if pair in waiting:
            return min(1.0 / len(self.named), self.left)
        free = self.left - len(waiting) / max(len(self.named), 1)
        if waiting and free <= 1.0 - ROUNDING:
            kept = " and ".join(f"{a} on {b}" for a, b in waiting)
            raise BudgetError(
                f"what is left of the share for effects is kept for that of {kept}: ask for that, or take some of it "
                "with part=0.5"
            )
        return free

    def _checked_part(self, part: object, pair: tuple[str, str]) -> float:
        """The part of the share that an answer takes."""
        if part is not None and (
            isinstance(part, bool) or not isinstance(part, int | float) or not 0 < part <= 1
        ):
            raise InputError(
                f"part is a part of the share kept for effects, above 0 and at most 1, not {part!r}"
            )
        wanted = self._usual_part(pair) if part is None else float(part)
        if self.left <= 0 or wanted > self.left / ROUNDING:
            raise BudgetError(
                f"of the share kept for effects {self.left:.0%} is left, and this answer asks for "
                f"{wanted if part is not None else 1.0:.0%}: ask with free=True, or with data= and an epsilon of its "
                "own; part=0.5 takes half of the share, for two answers"
            )
        return wanted

    def _allowed(self, budget: Budget, part: float, asked: AskedEffect) -> tuple[str, Allowance]:
        """What an answer may cost, and in which unit: from charges and public numbers."""
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


def _key(asked: AskedEffect) -> tuple[Any, ...]:
    """What decides which table is measured."""
    one = asked.question
    return (one.treatment, one.outcome, asked.sets, one.arms, one.scores, one.by_value, one.event)


def _copied(share: float) -> Reserve:
    """A reserve that a copy of a result has: nothing."""
    found = Reserve.__new__(Reserve)
    found.__dict__.update(
        share=share, named=(), left=0.0, _budget=None, _data=None, _before=None, _units=[], _tables={}, _answers={},
        _lock=threading.Lock(),
    )  # fmt: skip
    return found
