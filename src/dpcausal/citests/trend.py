"""Which way, and how far: read off the released statistic, so that it costs nothing.

**Formula.** ``kendall`` releases K = sum S_b/n_b over the cells b of z, S_b the pairs of rows in order minus those
against it. S_b = tau_b n_b (n_b - 1)/2, so 2 K/n is the mean tau-a of the cells, weighted by n_b - 1 (up to
k/n for k cells): the share of pairs of rows within a cell that agree in order, less the share that disagree.
**Guarantee.** Post-processing of what was released and of n where n is public. **Edge cases**: no word where
independence was not rejected, since the sign is then noise, and none for tests whose statistic has no sign.
"""

from __future__ import annotations

import math

from dpcausal.citests.base import Outcome, Question

SIGNED = ("kendall", "spearman", "gcm")


def tau_of(name: str, outcome: Outcome, n: int | None) -> float | None:
    """Tau-a within the cells of z, about; None where it can't be told.

    >>> tau_of("kendall", Outcome(independent=False, statistic=300.0), 2000)
    0.3
    """
    if name != "kendall" or outcome.statistic is None or not n or not math.isfinite(outcome.statistic):
        return None
    return max(-1.0, min(2 * outcome.statistic / n, 1.0))


def trend_words(
    name: str, question: Question, outcome: Outcome, n: int | None, *, signed: bool = True
) -> str:
    """A sentence, or nothing. ``signed``: whether this variant's statistic has a sign.

    >>> asked = Question("dose", "pain", (), 2, 2, 1, frozenset(), frozenset({"dose", "pain"}))
    >>> trend_words("kendall", asked, Outcome(independent=False, statistic=-300.0), 2000)
    'pain falls as dose rises: among pairs of rows 30% more disagree in order than agree.'
    """
    if outcome.independent or outcome.statistic is None or name not in SIGNED or not signed:
        return ""
    if not math.isfinite(outcome.statistic) or outcome.statistic == 0.0:
        return ""
    rises = outcome.statistic > 0
    words = f"{question.y} {'rises' if rises else 'falls'} as {question.x} rises"
    if question.given:
        words += f", {', '.join(question.given)} held fixed"
    if not {question.x, question.y} <= question.numeric:
        words += " (levels in the order declared)"
    tau = tau_of(name, outcome, n)
    if tau is not None and abs(tau) >= 0.005:
        sides = ("agree", "disagree") if rises else ("disagree", "agree")
        words += f": among pairs of rows {abs(tau):.0%} more {sides[0]} in order than {sides[1]}"
    return f"{words}."
