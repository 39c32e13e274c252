"""A privacy statement in words, for people without a background in privacy; every number is the statement's own.

*Noisy steps* are the entries under ``events``: one may pay for many tables or many answers. Together they cost the
epsilon and delta of the statement, never a multiple. A ledger counts otherwise: a whole release is one entry there.

``cost_lines`` says in brief what a release cost, ``summary`` in full, and ``chart`` draws where the budget went.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any

from dpcausal.core import statement as facts
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import (
    Composition,
    DeltaNotNeeded,
    Limit,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    Public,
    Released,
    SearchedAgain,
    Unit,
)
from dpcausal.privacy.events import Event, event_from_dict

HARD_EPSILON = 1.0  # up to it, e^epsilon at most 2.72, neighbours are called hard to tell apart
RELATIONS = {
    Neighbours.REPLACE_ONE: "two tables with the same number of rows that differ in one row",
    Neighbours.ADD_REMOVE: "two tables of which one has one row more",
    Neighbours.FIXED_LABELS: "two tables with the same public labels that differ in the rest of one row",
}
DEFINITIONS = {  # definition -> what its name means for a reader
    "pure": "pure: the promise holds without exception",
    "approximate": "approximate: the promise may fail with a probability of at most delta",
    "zCDP": "the promise may fail with a probability of at most delta; costs were added up in another unit, rho (zCDP)",
}
NO_LEDGER = (
    "No ledger: nobody adds this up with other releases from these rows. To keep count: --ledger URL --dataset NAME "
    "(in Python ledger=, dataset=)."
)
WEAK = "Weak promise: "
NEVER_PROMISED = {
    "timing": "Timing is not protected: how long a run takes can depend on the data.",
    "rounding": "Noise is drawn exactly on an integer grid; what is computed before it uses double precision, rounded "
    "to that grid with one more grid step of sensitivity.",
    "exact-sums": "Sums of costs are exact, and totals are kept to a factor of 1 + 1e-12.",
    "this-release-only": "The guarantee covers this release; others from the same rows add to it (a ledger sums them).",
}


def limit_words(fact: Limit) -> str:
    """Return a limit as a sentence."""
    match fact:
        case facts.Stated():
            return fact.text
        case facts.NeverPromised():
            return NEVER_PROMISED[fact.what]
        case facts.OneUnit():
            return (
                f"It is for one unit, as named here ({unit_words(fact.unit)}): someone with k of them is protected k "
                "times less (k times epsilon, and at least k times delta)."
            )
        case facts.WeakEpsilon():
            return (
                f"{WEAK}epsilon {fact.epsilon:g} promises almost nothing: a result may be {odds(fact.epsilon)} times "
                "as likely with one row as with another in its place."
            )
        case facts.WeakDelta():
            return (
                f"{WEAK}delta {fact.delta:g} is not below one over the number of rows ({fact.rows:,}): it allows "
                "releasing whole rows."
            )
        case facts.UncheckedDraft():
            return (
                "The schema is an unchecked draft: bounds and levels read from the data are not covered (when every "
                "line is checked against public knowledge, remove its line `draft = true`)."
            )
        case facts.NoPrivacy():
            return "Anything about any row can leak from this answer."
        case facts.CountedByEngine():
            others = ": whoever operates it can see its rows and the queries. The promise is about what left dpcausal."
            return (
                f"The rows were counted by {fact.engine}{others if fact.remote else ' within this process.'}"
            )
        case facts.BudgetEnded():
            return (
                f"The budget ended early: {fact.questions} questions were answered 'dependent' untested, so edges may "
                "stand that were not tested."
            )
    raise TypeError(f"no words for {fact!r}")


MISSING_SHOWN = 12  # columns named with what a missing value becomes


def missing_as_words(columns: Sequence[tuple[str, Any, bool, bool]]) -> str:
    """Columns with what a missing or undeclared value of each becomes.

    >>> missing_as_words([("sex", "male", False, False), ("dose", 1.5, True, True)])
    'sex male, dose 1.5 and in tables a bin of its own'
    """
    told = [
        f"{name} {f'{value:g}' if isinstance(value, float) else value}"
        + (" and in tables a bin of its own" if own_bin else "")
        for name, value, _, own_bin in columns[:MISSING_SHOWN]
    ]
    rest = len(columns) - MISSING_SHOWN
    return ", ".join(told) + (f", and {rest} more as the schema says" if rest > 0 else "")


KNOWN = {
    "schema": "the schema (columns, levels, spellings, bounds, bins: what of it was read from the rows is not covered)",
    "rows": "the number of rows",
    "not-empty": "that there is at least one row (an empty data set is refused)",
    "quoted-newlines": "that a CSV file is quoted as the schema declares (`quoted_newlines = true`: every quote is "
    "closed, and a line break inside quotes belongs to its cell)",
    "allele-order": "the order of the two alleles of every SNP, as declared",
}
ASKED = {
    "method": "the method, its level and background knowledge",
    "question": "the question, the test and its level",
    "loop": "the loop, the test and its level",
    "effect": "the question (treatment, outcome, what is held fixed, a graph if one is given) and its level",
}
_STRATA = "the bins of numeric conditioning columns (equal widths between their bounds)"
SETTINGS = {
    "features": "the features of every column (by its declared bounds or levels)",
    "bounds": "the declared bounds, by which values are scaled",
    "strata": _STRATA,
    "given-bins": _STRATA,
    "parts": "the number of parts and the level of the test on each",
    "deals": "the number of parts and of deals of the rows into them, and the cut of their scores",
    "model": "the distribution of the resampled column given the conditioning columns",
    "copies": "the number of drawn copies",
}
FREQUENCIES = {
    "frequencies": "an allele frequency for every SNP from a reference panel",
    "no-frequency": "nothing about the allele frequency",
    "no-frequencies": "nothing about allele frequencies (cuts hold for all)",
}


def public_words(fact: Public) -> str:
    """Return what was assumed public, as a clause."""
    match fact:
        case facts.Stated():
            return fact.text
        case facts.Known():
            return KNOWN[fact.what]
        case facts.Asked():
            return ASKED[fact.what]
        case facts.SettingKnown():
            return SETTINGS[fact.what]
        case facts.MostRows():
            return f"that there are at most {fact.rows:,} rows (a statistic of rows in memory refuses more)"
        case facts.MissingAs():
            return f"what a missing or undeclared value becomes ({missing_as_words(fact.columns)})"
        case facts.LabelsKnown():
            return (
                f"the labels in {fact.labels} are fixed, whatever relation was asked for: who is in which group, and "
                "the size of both groups"
            )
        case facts.DeltaNotNeeded():
            return f"that a delta of {fact.delta:.3g} was allowed: it was not needed and not charged"
        case facts.KeptForEffects():
            return (
                f"the share of {fact.share:.0%} of the budget that is kept for effects, asked once the graph is known; "
                "the total covers them, whether they are asked or not"
            )
        case facts.KernelLists():
            return (
                f"the {fact.kernel} kernel, the lists of lambda and bandwidth, and the share of epsilon for the choice "
                f"({fact.share:g})"
            )
        case facts.KernelKnown():
            bandwidth = "default" if fact.bandwidth is None else format(fact.bandwidth, "g")
            return f"the {fact.kernel} kernel, its bandwidth ({bandwidth}) and lambda ({fact.lambda_:g})"
        case facts.GroupsKnown(what="groups"):
            return f"N1 = {fact.cases} cases and N0 = {fact.controls} controls, and who they are"
        case facts.GroupsKnown():
            return f"{fact.cases} alleles of cases, {fact.controls} of controls, and whose they are"
        case facts.SnpsKnown():
            return f"the list of {fact.snps} SNPs, with their positions"
        case facts.CopiesOfAllele():
            return f"copies of allele 1: {fact.least} to {fact.most}"
        case facts.MissingCalls():
            return f"missing calls count as: {fact.rule}"
        case facts.FrequenciesKnown():
            return FREQUENCIES[fact.what]
        case facts.FrequencyFloor():
            return f"no SNP has a minor allele frequency below {fact.maf:g}"
        case facts.FloorReleased():
            return (
                f"nothing about allele frequencies (a floor of them was bought for {fact.share:g} of epsilon)"
            )
    raise TypeError(f"no words for {fact!r}")


def happened(event: str) -> str:
    """Return an event as it follows its column: a level, or the cut of a number.

    >>> happened("yes"), happened(">= 400")
    ('= yes', '>= 400')
    """
    return event if event.startswith((">= ", "< ")) else f"= {event}"


def _effect_cells(fact: facts.EffectTable) -> str:
    """What the cells of the table of an effect hold."""
    if fact.counted == "event" and fact.event is not None:
        return f"numbers of rows with and without {fact.outcome} {happened(fact.event)}"
    return f"{'numbers of rows by level' if fact.counted == 'levels' else 'rows and sums'} of {fact.outcome}"


NOISY = {
    "joint-table": "what the joint table of all columns shows, with noise in every cell",
    "table": "the whole table, with noise in every cell",
    "moments": "second moments of features of all columns, with noise",
    "statistic": "the statistic and its variance, with Laplace noise",
    "unit-circle": "the unit circle statistic, with Laplace noise",
    "one-snp": "the unit circle statistic of one SNP, with Laplace noise",
    "cut-scores": "the sum of cut scores of disjoint parts, averaged over deals (of several pairs of columns the "
    "largest sum), and its variance, with Laplace noise",
    "binned-covariance": "the covariance within bins and its variance, with Laplace noise",
    "residual-sums": "the sums of residual products and of their squares, with Laplace noise",
    "residuals": "the residual product of every row, with Laplace noise",
    "noisy-rank": "a noisy rank of the real column among drawn ones",
    "noisy-decision": "whether independence was rejected, decided on noisy statistics",
    "median-of-parts": "a private median of the p-values of disjoint parts",
    "trimmed-mean-of-parts": "a private trimmed mean of the p-values of disjoint parts",
    "frequency-floor": "how often the rarest allele of the study occurs, with noise (sets the cuts; not shown)",
}
SEARCH_ANSWERS = {
    "test-outcomes": "for every question that was asked, the outcome of a private test",
    "independences": "for every question that was asked, whether it was found independent",
    "noisy-scores": "for every question that was asked, a noisy score that decided whether the edge goes",
    "deletions": "for every number of columns given: how many edges go, which, and the set that separates each",
}


def released_words(fact: Released) -> str:
    """Return what was released, as a clause."""
    match fact:
        case facts.Stated():
            return fact.text
        case facts.Exact():
            return (
                "the exact statistic"
                if fact.what == "exact-statistic"
                else "a graph learned from the raw rows"
            )
        case facts.Noisy():
            return NOISY[fact.what]
        case facts.SearchAnswers():
            return SEARCH_ANSWERS[fact.what]
        case facts.MeasuredTables():
            return f"{fact.what}, with noise of standard deviation {fact.sd:.3g} in every cell"
        case facts.MeasuredPairs():
            return (
                f"which {fact.number} of the {fact.of:,} pairs of columns were measured: they join all columns, chosen "
                "at random, likelier where two columns depend more"
            )
        case facts.SearchedAgain():
            return f"what was computed later from release {fact.release} alone, at no further cost"
        case facts.CountOfParts():
            return f"the number of disjoint parts in which {fact.test} rejected, with Laplace noise"
        case facts.CircleDecision():
            return f"a decision by the {fact.statistic} statistic with Laplace noise"
        case facts.EffectTable():
            strata = f" and strata of {', '.join(fact.adjust)}" if fact.adjust else ""
            return (
                f"{_effect_cells(fact)} in the arms of {fact.treatment}{strata}, with noise of standard deviation "
                f"{fact.sd:.3g} in every cell"
            )
        case facts.EffectSums():
            return (
                f"moments of {', '.join((*fact.adjust, fact.treatment, fact.outcome))}, with noise of standard "
                f"deviation {fact.sd:.3g}, and three sums of products of what a regression on them leaves, with noise"
            )
        case facts.ChosenRidge():
            return f"the choice of lambda and bandwidth by permute-and-flip, and {released_words(fact.then)}"
        case facts.SpreadCounts():
            return (
                f"counts of cells of {', '.join(fact.columns)}, with noise, and {released_words(fact.then)}"
            )
        case facts.OneAnswer():
            return f"{question_words(fact.x, fact.y, fact.given)}: {released_words(fact.released)}"
        case facts.ManyAnswers():
            each = released_words(fact.released)
            return f"{fact.count} answers by {fact.test} at level {fact.level:g}: {each}"
        case facts.FoundSnps(what="chosen-snps"):
            return f"chosen SNPs, each one's statistic with noise ({fact.statistic})"
        case facts.FoundSnps():
            return f"which SNPs pass a noisy cut ({fact.statistic})"
    raise TypeError(f"no words for {fact!r}")


UNITS = {
    "row": "one row",
    "person": "one person's genotypes at all SNPs; who takes part, and who is a case, is public",
    "allele": "one allele at each SNP (half a person); who takes part, and who is a case, is public",
}


def unit_words(fact: Unit) -> str:
    """Return the unit of privacy, as a clause."""
    match fact:
        case facts.Stated():
            return fact.text
        case facts.WholeUnit():
            return UNITS[fact.what]
        case facts.OutcomeOnly():
            return f"one row's outcome; the labels ({fact.labels or 'the first column'}) and their counts are public"
    raise TypeError(f"no words for {fact!r}")


_FIXED = "what to ask was fixed before this call saw any answer, and the costs are added up"
_ADAPTIVE = (
    "later questions could depend on earlier noisy answers; spending stops before the total is passed, so epsilon and "
    "delta hold whatever was asked"
)
COMPOSITIONS: dict[Composition, tuple[str, str]] = {  # in plain words; in the field's own
    Composition.STATED: ("", ""),
    Composition.NOTHING: ("nothing was charged", ""),
    Composition.FIXED_EPSILON: (_FIXED, "fixed in advance; sums of epsilon and of delta"),
    Composition.FIXED_RHO: (_FIXED, "fixed in advance; sum of rho, converted at the best Renyi order"),
    Composition.FILTER_EPSILON: (
        _ADAPTIVE,
        "chosen adaptively; a filter, which refuses what would pass the total, kept the sum of epsilon within it",
    ),
    Composition.FILTER: (
        _ADAPTIVE,
        "chosen adaptively; a filter, which refuses what would pass the total, kept the sum of epsilon, or of rho, "
        "within it",
    ),
}
NOISE: dict[NoiseSource, str] = {
    NoiseSource.STATED: "",
    NoiseSource.NONE: "none",
    NoiseSource.OPERATING_SYSTEM: "exact discrete noise from the operating system's random bytes",
    NoiseSource.SEEDED: "a seeded generator, for tests only",
}
WHY_NOT: dict[NotPrivate, str] = {
    NotPrivate.STATED: "",
    NotPrivate.NOT_ASKED: "no privacy was asked for (epsilon=None): computed from the raw rows, no noise added",
    NotPrivate.SEEDED: "made under dpcausal.testing.seeded: the noise was predictable",
}


def enum_words(value: StrEnum) -> str:
    """Return a member of ``Composition``, ``NoiseSource`` or ``NotPrivate`` in words."""
    match value:
        case Composition():
            plain, technical = COMPOSITIONS[value]
            return f"{plain} ({technical})" if technical else plain
        case NoiseSource():
            return NOISE[value]
        case NotPrivate():
            return WHY_NOT[value]
        case _:
            raise TypeError(f"no words for {value!r}")


def by_bins_words(names: Sequence[str]) -> str:
    """Return that numbers counted by their bins, and what to do where their order within a bin matters.

    >>> by_bins_words(["age", "dose"])
    'Here are counts and no rows, so age and dose count by their declared bins; dc.read brings the numbers themselves.'
    """
    count = "counts by its" if len(names) == 1 else "count by their"
    who = " and ".join(names)
    return (
        f"Here are counts and no rows, so {who} {count} declared bins; dc.read brings the numbers themselves."
    )


def question_words(x: str | tuple[str, ...], y: str | tuple[str, ...], given: tuple[str, ...]) -> str:
    """Return a question about two columns, or two groups of columns, in words.

    >>> question_words("a", "b", ("c", "d")), question_words(("a", "b"), "c", ())
    ('a and b given c, d', '(a, b) and c')
    """
    x, y = (side if isinstance(side, str) else f"({', '.join(side)})" for side in (x, y))
    return f"{x} and {y}" + (f" given {', '.join(given)}" if given else "")


def odds(epsilon: float) -> str:
    """Return e^epsilon in words, as far as a double holds it.

    >>> odds(1.0), odds(12.0), odds(100.0)
    ('2.72', '163,000', '2.69e+43')
    """
    value = math.exp(min(epsilon, 700.0))
    return f"{float(f'{value:.3g}'):,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"


def steps_words(count: int) -> str:
    """Return how many charged events there are, so that no one reads them as so many times epsilon.

    >>> steps_words(1), steps_words(1200)
    ('one noisy step', '1,200 noisy steps')
    """
    return "one noisy step" if count == 1 else f"{count:,} noisy steps"


def composition_words(statement: PrivacyStatement) -> str:
    """Return how charges add up in plain words, without the field's own."""
    if statement.composition is Composition.STATED:
        return statement.stated.get("composition", "")
    plain = COMPOSITIONS[statement.composition][0]
    return plain.removesuffix(", and the costs are added up") if len(statement.events) == 1 else plain


def caveat_lines(statement: PrivacyStatement) -> list[str]:
    """Return the limits that hold for this release and not for every one."""
    return [limit_words(limit) for limit in statement.caveats]


def summary(statement: PrivacyStatement) -> str:
    """Return the statement in a few lines; a weak promise and an unchecked schema stand next to its numbers."""
    lines = []
    if not statement.private:
        lines.append(f"NOT PRIVATE: {statement.why_not_private}.")
    if statement.epsilon is not None and statement.delta is not None:
        meaning = DEFINITIONS.get(statement.definition, statement.definition)
        lines.append(f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g} ({meaning}).")
        lines += caveat_lines(statement)
        lines.append(
            f"Protects {unit_words(statement.unit)}: {_odds_words(statement, statement.epsilon, statement.delta)}"
        )
    if statement.events:
        how = composition_words(statement)
        lines.append(f"Cost: {_cost_words(statement)}. {how[:1].upper()}{how[1:]}.")
        lines.append(_ledger_words(statement))
    if statement.released:
        what = (
            "Computed from the rows, with noise, and covered by the promise: "
            if statement.events
            else "Released: "
        )
        lines.append(what + "; ".join(map(released_words, statement.released)) + ".")
    if statement.public:
        lines.append("Assumed public: " + "; ".join(map(public_words, statement.public)) + ".")
    return "\n".join(lines)


def html(statement: PrivacyStatement) -> str:
    """Return the summary as a small block for notebooks."""
    colour = "#2e7d32" if statement.private else "#c62828"
    body = "<br>".join(escape(line) for line in summary(statement).splitlines())
    return f'<div style="border-left:4px solid {colour};padding-left:8px">{body}</div>'


def _odds_words(statement: PrivacyStatement, epsilon: float, delta: float) -> str:
    """How well neighbours can be told apart; the exception that delta allows stands in the same sentence."""
    pair, most = RELATIONS[statement.neighbours], odds(epsilon)
    but = f", apart from a probability of at most {delta:.3g}" if delta else ""
    if epsilon <= HARD_EPSILON and not statement.weak:
        return (
            f"{pair} are hard to tell apart; no result is more than {most} times as likely from one as from the "
            f"other{but}."
        )
    return (
        f"{pair} can be told apart with odds up to {most} to 1; no result is more than {most} times as likely "
        f"from one as from the other{but}."
    )


def _cost_words(statement: PrivacyStatement) -> str:
    """The steps, and that their costs together are within the statement's own numbers."""
    many = len(statement.events)
    total = "this epsilon and delta" if statement.delta else "this epsilon"
    return f"{steps_words(many)}, {'' if many == 1 else 'together '}not more than {total}"


def _ledger_words(statement: PrivacyStatement) -> str:
    """A ledger is charged all that a release might have cost, which may be more than was needed."""
    if not statement.ledger:
        return NO_LEDGER
    where = f"data set {statement.ledger.get('dataset')!r}, entry {statement.ledger.get('entry')}"
    asked = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.asked.items())
    left = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.ledger.get("left", {}).items())
    charged = f", charged all that was asked for ({asked})" if asked else ""
    then = any(isinstance(fact, facts.SearchedAgain) for fact in statement.released)
    remains = "left then" if then else "left in the ledger"
    return f"Ledger: {where}{charged}" + (f"; {remains}: {left}." if left else ".")


def promise(statement: PrivacyStatement) -> list[str]:
    """Return the guarantee in plain sentences for a report; for a release without privacy, that there is none."""
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
        f"Protected is {unit_words(statement.unit)}. Take any {RELATIONS[statement.neighbours]}: whoever sees "
        f"everything released here, and knows all the other rows, can shift the odds between them by a factor of at "
        f"most {factor:.3g} (e to the power epsilon = {statement.epsilon:.4g}){up_to}."
    )
    lines.append(
        "So nothing here depends much on any one person's row. What is true of people in general may still be applied "
        "to someone: that smoking causes cancer is learned with or without their row."
    )
    larger = "" if statement.delta == 0 else ", and a larger delta"
    lines.append(
        f"Someone with k rows in the table is protected k times less (k times epsilon{larger}): put one row per person "
        "where you can."
    )
    if statement.neighbours is Neighbours.ADD_REMOVE:
        lines.append(
            "The number of rows is protected too, except that there is at least one: an empty data set is refused."
        )
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


FIELDS = {  # a line for every field of ``privacy.json``
    "private": "whether the promise holds at all",
    "why_not_private": "what is missing for a promise",
    "definition": "kind of promise: pure holds always, approximate but for probability delta; zCDP counts in rho",
    "parameters": "the promise in the unit of its definition: epsilon and delta, or rho where that was added up",
    "epsilon": "the promise: odds move by at most e to this power",
    "delta": "the promise may fail with at most this probability",
    "neighbours": "which two tables must be hard to tell apart",
    "unit": "what is protected",
    "public": "taken to be known to everyone",
    "released": "everything computed from the rows for this answer; a promise covers it all, written out or not",
    "composition": "how the costs of the noisy steps add up",
    "asked": "what it was allowed to cost, without a delta that was not needed; a ledger is charged this",
    "reading": "read off the meter: what the steps of this run add up to; a search might have spent all that was asked",
    "noise": "where it came from",
    "limits": "what is not promised",
    "ledger": "where this release is counted",
    "software": "what computed it",
    "format": "version of this list",
    "events": "the noisy steps; sensitivity and noise in privacy.json are in steps of the grid noise is drawn on",
    "facts": "the same for programs: kinds and numbers instead of words",
}
HEADINGS = {  # of the table of noisy steps
    "step": "what was measured or asked",
    "mechanism": "how noise comes in",
    "size of the noise": "in each number that was measured",
    "epsilon": "cost by itself, if it has one",
    "delta": "cost by itself",
    "rho": "cost in the unit of Gaussian noise",
}
MECHANISMS = {
    "laplace": "Laplace noise",
    "gaussian": "Gaussian noise",
    "sparse-vector": "answers held against a noisy threshold (sparse vector)",
    "sieve-and-examine": "a noisy threshold, then a second noisy look (sieve and examine)",
    "exponential": "random choice, likelier where better (exponential mechanism)",
    "permute-and-flip": "random choice, likelier where better (permute and flip)",
    "exponential-median": "random choice near the median (exponential mechanism)",
    "noisy-max": "the best after noise (noisy max)",
    "noisy-rank": "a rank after noise",
    "top-k": "the best k after noise",
    "spanning-tree": "random choice of pairs that join all columns, likelier where better (exponential mechanism)",
}


def mechanism_words(name: str) -> str:
    """Return how noise comes in; a name that is not known stands for itself.

    >>> mechanism_words("gaussian"), mechanism_words("smooth-median-cauchy")
    ('Gaussian noise', 'smooth-median-cauchy')
    """
    return MECHANISMS.get(name, name)


def size_words(event: Mapping[str, Any]) -> str:
    """Return the noise beside the most that one row can change, which has no unit; empty where an event says none.

    Sensitivity and scale themselves are in steps of the grid that noise is drawn on: ``privacy.json`` has them.

    >>> size_words({"kind": "gaussian", "sensitivity": 16394.0, "sigma": 139832.0})
    '8.53 times what one row can change (standard deviation)'
    """
    for key, name in (("sigma", "standard deviation"), ("scale", "scale")):
        if key in event and event.get("sensitivity"):
            return f"{event[key] / event['sensitivity']:.3g} times what one row can change ({name})"
    return ""


CHANGES = {
    Neighbours.REPLACE_ONE: "changing one row",
    Neighbours.ADD_REMOVE: "adding or removing one row",
    Neighbours.FIXED_LABELS: "changing one row, apart from its public label,",
}


def no_ledger_words() -> str:
    """Return that no ledger counts a release, and how to have one counted."""
    how = spelled("--ledger URL --dataset NAME", "ledger=, dataset=")
    return f"Ledger: none, so nobody adds up what is released from these rows ({how})."


def privacy_line(statement: PrivacyStatement) -> str:
    """Return epsilon, delta and what they promise, in one line; that there is no promise where there is none."""
    if statement.epsilon is None or statement.delta is None:
        return f"NOT PRIVATE: {statement.why_not_private}."
    but = f", apart from a probability of {statement.delta:.3g}" if statement.delta else ""
    unused = [fact.delta for fact in statement.public if isinstance(fact, DeltaNotNeeded)]
    why = f" (that of {unused[0]:.3g} was not needed and not charged)" if unused else ""
    return (
        f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g}{why}; {CHANGES[statement.neighbours]} "
        f"makes no result more than {odds(statement.epsilon)} times as likely or unlikely{but}."
    )


def ledger_line(statement: PrivacyStatement) -> str:
    """Return where the release is counted and what is left; empty where nothing was charged."""
    if not statement.events:
        return ""
    if not statement.ledger:
        return no_ledger_words()
    asked = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.asked.items())
    left = ", ".join(f"{name} {amount:.6g}" for name, amount in statement.ledger.get("left", {}).items())
    where = f"{statement.ledger.get('dataset')}, entry {statement.ledger.get('entry')}"
    if any(isinstance(fact, SearchedAgain) for fact in statement.released):
        return f"Ledger: nothing was charged now; the release is {where}."
    return f"Ledger: {where}; charged {asked}" + (f"; left {left}." if left else ".")


def searched_again_words(release: str) -> str:
    """Return that an answer was computed from what an earlier release had paid for."""
    return (
        f"Computed from release.json (id {release}): no row was read, and nothing was charged beyond what that release "
        "cost."
    )


def cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return the line of privacy, what weakens it, and the line of the ledger."""
    lines = [privacy_line(statement), *caveat_lines(statement), ledger_line(statement)]
    lines += [
        searched_again_words(fact.release) for fact in statement.released if isinstance(fact, SearchedAgain)
    ]
    if statement.epsilon is not None and not statement.private:
        lines.insert(0, f"NOT PRIVATE: {statement.why_not_private}.")
    return [line for line in lines if line]


def short_cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return privacy and the ledger in one line; what weakens the promise has a line of its own beneath it."""
    lines, weak = cost_lines(statement), caveat_lines(statement)
    return [" ".join(line for line in lines if line not in weak), *weak]


BARS = 12  # events are shown one by one up to here, then summed by the part of the label before a colon
WIDE, AMOUNT, BAR_STEP, THICK = (
    300.0,
    170.0,
    46.0,
    14.0,
)  # the name stands above its bar: narrow enough for a phone


@dataclass(frozen=True)
class Step:
    """What one step cost: ``cost`` in ``unit`` ("epsilon", "rho", or "events" where they have no unit in common)."""

    label: str
    times: int
    cost: float
    unit: str


def steps(statement: PrivacyStatement) -> list[Step]:
    """The steps of a release in the order they were first charged.

    Costs are epsilon where every event has one and their sum is within what was promised; else they were added up as
    rho, and shown is that, where every event has it.
    """
    events = [event_from_dict(event) for event in statement.events]
    most = (statement.epsilon or 0.0) * (1 + 1e-9)
    by_epsilon = math.fsum(event.epsilon for event in events) <= most
    by_rho = all(math.isfinite(event.rho) for event in events)
    unit = "epsilon" if by_epsilon and statement.definition != "zCDP" else "rho" if by_rho else "events"
    found: dict[str, tuple[int, float]] = {}
    for event in events:
        label = _step_label(event, len(events))
        times, cost = found.get(label, (0, 0.0))
        found[label] = times + 1, cost + (1.0 if unit == "events" else float(getattr(event, unit)))
    return [Step(label, times, cost, unit) for label, (times, cost) in found.items()]


def _step_label(event: Event, many: int) -> str:
    label = event.label or event.kind
    return label if many <= BARS else label.split(":")[0]


def event_rows(events: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Every event in words, for a table."""
    shown = []
    for data in events:
        event = event_from_dict(data)
        shown.append(
            {
                "label": event.label,
                "mechanism": mechanism_words(str(data.get("mechanism", event.kind))),
                "size": size_words(data),
                "epsilon": _cost(event.epsilon),
                "delta": _cost(event.delta),
                "rho": _cost(event.rho),
            }
        )
    return shown


def _cost(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""


def chart_words(found: Sequence[Step]) -> str:
    """One line to stand under the chart; empty where it needs none."""
    parts = []
    if found and found[0].unit == "rho":
        parts.append(
            "shares are those of rho, the unit in which these steps add up (zCDP); the table of steps below has it"
        )
    elif found and found[0].unit != "events":
        parts.append("the bars show shares of the total")
    if any(step.times > 1 for step in found):
        parts.append("a bar sums the steps of one kind")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def shortened(label: str, most: int = 60) -> str:
    """``label``, or its beginning where it is longer than ``most``."""
    return label if len(label) <= most else label[: most - 1] + "…"


def chart(found: Sequence[Step]) -> str:
    """The bars as an ``<svg>`` element with the amounts in words; empty where nothing was charged."""
    if not found:
        return ""
    most, total = max(step.cost for step in found) or 1.0, math.fsum(step.cost for step in found)
    height = BAR_STEP * len(found) + 8
    parts = [
        f'<svg id="spending" viewBox="0 0 {WIDE + AMOUNT:g} {height:g}" role="img" '
        f'aria-label="Cost of each step, in {found[0].unit}">'
    ]
    for i, step in enumerate(found):
        y = i * BAR_STEP + 6
        name = step.label + (f" ({step.times} times)" if step.times > 1 else "")
        share = f"{step.cost / total:.0%}" if step.unit != "events" and total > 0 else ""
        amount = f"{step.unit} {step.cost:.4g}" + (f" ({share})" if share else "")
        wide = max(WIDE * step.cost / most, 1.0)
        parts.append(
            f'<g class="bar"><title>{escape(f"{name}: {amount}")}</title>'
            f'<text class="name" x="0" y="{y + 12:g}">{escape(shortened(name))}</text>'
            f'<rect x="0" y="{y + 18:g}" width="{wide:.1f}" height="{THICK:g}" rx="3"/>'
            f'<text x="{wide + 8:.1f}" y="{y + 30:g}">{escape(share or amount)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def listed(names: Sequence[str]) -> str:
    """Return names with commas and an "and".

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def counted(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "pair"), counted(3, "pair"), counted(0, "pair")
    ('1 pair', '3 pairs', 'no pair')
    """
    return f"no {what}" if number == 0 else f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(part: float) -> str:
    """Return a chance, never rounded to none or to all.

    >>> percent(0.001), percent(0.034), percent(0.999)
    ('under 1%', '3%', 'over 99%')
    """
    return "under 1%" if part < 0.01 else "over 99%" if part > 0.99 else f"{part:.0%}"


def no_delta_words(times: float) -> str:
    """Return what a missing delta costs."""
    shown = f"{times:.2g}" if times < 10 else f"{times:.0f}"
    option = spelled("--delta 1e-6", "delta=1e-6")
    return (
        f"without a delta the noise in a table of two columns is {shown} times larger: add {option} "
        "(it must lie below one over the number of rows)"
    )
