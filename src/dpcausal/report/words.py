"""The page's sentences: what was promised, what could not be tested and why, how to cite and to repeat."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcausal._version import __version__
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import RELATIONS, PrivacyStatement
from dpcausal.core.statement_words import DRAFT, caveats, steps_words
from dpcausal.discovery.consistent import in_order
from dpcausal.discovery.headline import as_sentence
from dpcausal.discovery.result_words import missing_words, pairs_words, tiers_words
from dpcausal.report.origin import Origin, number
from dpcausal.report.reach import reach_words

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult


def promise(statement: PrivacyStatement) -> list[str]:
    """The guarantee in plain sentences; for a release without privacy, that there is none."""
    if statement.epsilon is None or statement.delta is None:
        return [
            f"There is no privacy guarantee: {statement.why_not_private}.",
            "Anything about any row can leak from this page. Treat it as you treat the data.",
        ]
    lines = (
        []
        if statement.private
        else [f"NOT PRIVATE: {statement.why_not_private}. What follows does not hold."]
    )
    factor = math.exp(min(statement.epsilon, 700.0))
    up_to = "" if statement.delta == 0 else f", except with probability at most {statement.delta:g}"
    lines.append(
        f"Protected is {statement.unit}. Take any {RELATIONS[statement.neighbours]}: whoever sees "
        f"everything released here, and knows all the other rows, can shift the odds between them by a factor of at "
        f"most {factor:.3g} (e to the power epsilon = {statement.epsilon:.4g}){up_to}."
    )
    lines.append(
        "So nothing here depends much on whether one person's answers were these or others. It is no promise that a "
        "finding about people in general can't be applied to someone: that smoking causes cancer is learned "
        "with or without them."
    )
    larger = "" if statement.delta == 0 else ", and a larger delta"
    lines.append(
        f"Someone with k rows in the table is protected k times less (k times epsilon{larger}): put one row per person "
        "where you can."
    )
    if statement.neighbours is Neighbours.ADD_REMOVE:
        lines.append("The number of rows is protected too.")
    if statement.ledger:
        lines.append(
            f"It was charged to the data set {statement.ledger.get('dataset')!r} in a ledger, as entry "
            f"{statement.ledger.get('entry')}, before any noise was drawn."
        )
    else:
        lines.append(
            "No ledger was charged: the holder of the data must add this to the cost of other releases from these rows."
        )
    return lines


def open_questions(result: DiscoveryResult) -> list[str]:
    """What a missing edge means, what could not be tested and why, with the method's own remarks."""
    told = any("could not be answered" in note for note in result.notes)
    if told or not result.complete:
        why = "the reasons are counted below"
    elif result.privacy.epsilon is None:
        why = "with this many rows its answer would have been chance"
    else:
        why = "with this budget and this many rows its answer would have been noise"
    lines = [
        f"{' and '.join(pair)}: kept as an edge because a question about it stayed open: {why}. It may be "
        "absent in truth."
        for pair in in_order(result.untested, result.graph.nodes)
    ]
    if not result.complete:
        lines.append("The search ended before every question was asked: the budget was spent.")
    about = [
        missing_words(result),
        reach_words(result),
        *(lines or [_all_tested(result)]),
        tiers_words(result),
    ]
    return [*filter(None, about), *map(as_sentence, result.notes)]


def _all_tested(result: DiscoveryResult) -> str:
    """That no edge is open; where the search was held to small sets (``max_order``), up to which size.

    PC goes on to sets of one column more while an edge has ends with as many other neighbours.
    """
    largest = max(result.asked, default=None)
    if largest is not None and any(_candidates(result, pair) > largest for pair in result.graph.skeleton):
        return (
            f"Every edge shown was tested given up to {largest} column{'' if largest == 1 else 's'}; larger sets were "
            "not asked about, and an edge that only they would take away still stands."
        )
    return "No edge shown stands for lack of a test." if result.graph.skeleton - result.known.kept else ""


def _candidates(result: DiscoveryResult, pair: frozenset[str]) -> int:
    """How many columns a set that separates this edge could hold; none for an edge that was required."""
    x, y = sorted(pair)
    if pair in result.known.kept:
        return 0
    near = [
        [z for z in result.graph.adjacent(end) if z not in pair and result.known.may_separate(z, x, y)]
        for end in pair
    ]
    return max(map(len, near))


def banners(result: DiscoveryResult) -> list[tuple[str, str]]:
    """(id, words) of what must be known before the graph is believed: contradictions, a draft, a weak promise."""
    found = []
    if result.conflicts:
        pairs = pairs_words(result, result.conflicts)
        found.append(
            ("conflicts", f"Answers contradict each other: do not rely on the direction of {pairs}.")
        )
    told = caveats(result.privacy)
    return [*found, *(("draft" if line.startswith(DRAFT) else "weak", line) for line in told)]


def protected(statement: PrivacyStatement) -> str:
    """What may change about the unit, for the card that names it."""
    return {
        Neighbours.REPLACE_ONE: "protected: it could say anything else",
        Neighbours.ADD_REMOVE: "protected: it could be missing",
        Neighbours.FIXED_LABELS: "protected, apart from its public label",
    }[statement.neighbours]


def questions(result: DiscoveryResult) -> str:
    """How many questions were asked, by size of the conditioning set, and how many noisy steps answered them."""
    if not result.asked:
        return ""
    many_steps = len(result.privacy.events)
    paid = f", answered by {steps_words(many_steps)}" if many_steps else ""
    parts = [f"{count:,} given {order} columns" for order, count in sorted(result.asked.items())]
    told = ", ".join(parts).replace("given 1 columns", "given 1 column")
    many = sum(result.asked.values())
    return f"Questions asked: {many:,}{paid} ({told.replace('given 0 columns', 'without conditions')})."


def citation(result: DiscoveryResult) -> str:
    """A BibTeX entry for the software, and what a methods section must say."""
    return (
        "@software{dpcausal,\n"
        "  title   = {dpcausal: causal graphs and conditional independence tests under differential privacy},\n"
        "  author  = {{The dpcausal developers}},\n"
        f"  version = {{{__version__}}},\n"
        f"  note    = {{{_cost(result)}}}\n"
        "}"
    )


def _cost(result: DiscoveryResult) -> str:
    statement = result.privacy
    if statement.epsilon is None:
        return f"method {result.method}, level {result.level:g}, no privacy"
    return (
        f"method {result.method}, level {result.level:g}, epsilon {statement.epsilon:g}, delta {statement.delta:g}, "
        f"{statement.neighbours} neighbours"
    )


def python_call(result: DiscoveryResult, origin: Origin | None) -> str:
    """The call that asks for the same again; ``data`` is the caller's own where its origin is not known."""
    if origin is not None:
        return origin.python(result.method)
    asked = result.privacy.asked
    cost = (
        f"epsilon={number(asked['epsilon'])}, delta={number(asked['delta'])}"
        if "epsilon" in asked
        else "epsilon=None"
    )
    return (
        f'result = dc.discover(data, {cost}, method="{result.method}", level={result.level:g}, '
        f'neighbours="{result.privacy.neighbours}")'
    )
