"""A privacy statement in words, for people without a background in privacy; every number is the statement's own.

*Noisy steps* are the entries under ``events``: one may pay for many tables or many answers. Together they cost the
epsilon and delta of the statement, never a multiple. A ledger counts otherwise: a whole release is one entry there.

``fact_words`` has the words of every fact of a statement. ``cost_lines`` says in brief what a release cost, ``summary``
in full, ``promise`` what that means, and ``chart`` draws where the budget went.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any

from dpcausal.core import statement as facts
from dpcausal.core.arguments import SMALLEST_PVALUE
from dpcausal.core.facts import Fact
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.core.statement import Composition, NoiseSource, NotPrivate, PrivacyStatement
from dpcausal.present.text import Words, as_html, as_told, digits, few, filled, shortened
from dpcausal.privacy.events import event_from_dict

RELATIONS = {  # of units, and what belongs to one
    Neighbours.REPLACE_ONE: "two tables with the same number of {0}s that differ in one {0}{1}",
    Neighbours.ADD_REMOVE: "two tables of which one has one {0} more{1}",
    Neighbours.FIXED_LABELS: "two tables with the same public labels that differ in the rest of one {0}",
}
CHANGES = {
    Neighbours.REPLACE_ONE: "changing one row",
    Neighbours.ADD_REMOVE: "adding or removing one row",
    Neighbours.FIXED_LABELS: "changing one row, apart from its public label",
}
UNIT_CHANGES = {  # where what is protected is not a row
    "person-rows": "changing all rows of one person",
    "person": "changing one person's genotypes (who takes part, and who is a case, is public)",
    "allele": "changing one allele at each SNP (half a person; who takes part, and who is a case, is public)",
}
DEFINITIONS = {  # definition -> what its name means for a reader
    "pure": "pure: the promise holds without exception",
    "approximate": "approximate: the promise may fail with a probability of at most delta",
    "zCDP": "the promise may fail with a probability of at most delta; costs were added up in another unit, rho (zCDP)",
}
WEAK = "Weak promise: "
MISSING_SHOWN = 12  # columns named with what a missing value becomes
_STRATA = "the bins of numeric conditioning columns (equal widths between their bounds)"

# words of facts that one field names
BY_NAME = {
    # what no guarantee promises
    "timing": "Timing is not protected: how long a run takes can depend on the data.",
    "rounding": "Noise is drawn exactly on an integer grid; what is computed before it uses double precision, rounded "
    "to that grid with one more grid step of sensitivity.",
    "exact-sums": "Sums of costs are exact, and totals are kept to a factor of 1 + 1e-12.",
    "this-release-only": "The guarantee covers this release; others from the same rows add to it (a ledger sums them).",
    # what is public
    "one-site": "that each person is in the rows of one site, as was declared",
    "several-sites": "that a person may be in the rows of several sites",
    "schema": "the schema (columns, levels, spellings, bounds, bins: what of it was read from the rows is not covered)",
    "rows": "the number of rows",
    "persons": "the number of persons",
    "not-empty": "that there is at least one row (an empty data set is refused)",
    "quoted-newlines": "that a CSV file is quoted as the schema declares (`quoted_newlines = true`: every quote is "
    "closed, and a line break inside quotes belongs to its cell)",
    "allele-order": "the order of the two alleles of every SNP, as declared",
    "method": "the method, its level and background knowledge",
    "question": "the question, the test and its level",
    "loop": "the loop, the test and its level",
    "effect": "the question (treatment, outcome, what is held fixed, a graph if one is given) and its level",
    "features": "the features of every column (by its declared bounds or levels)",
    "bounds": "the declared bounds, by which values are scaled",
    "strata": _STRATA,
    "given-bins": _STRATA,
    "parts": "the number of parts and the level of the test on each",
    "deals": "the number of parts and of deals of the rows into them, and the cut of their scores",
    "model": "the distribution of the resampled column given the conditioning columns",
    "copies": "the number of drawn copies",
    "groups": "N1 = {cases} cases and N0 = {controls} controls, and who they are",
    "alleles": "{cases} alleles of cases, {controls} of controls, and whose they are",
    "frequencies": "an allele frequency for every SNP from a reference panel",
    "no-frequency": "nothing about the allele frequency",
    "no-frequencies": "nothing about allele frequencies (cuts hold for all)",
    # what was released
    "graph-from-rows": "a graph learned from the raw rows",
    "exact-statistic": "the exact statistic",
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
    "test-outcomes": "for every question that was asked, the outcome of a private test",
    "independences": "for every question that was asked, whether it was found independent",
    "noisy-scores": "for every question that was asked, a noisy score that decided whether the edge is removed",
    "deletions": "for every number of columns given: how many edges are removed, which, and what separates each",
    "snps-above-cut": "which SNPs pass a noisy cut ({statistic})",
    "chosen-snps": "chosen SNPs, each one's statistic with noise ({statistic})",
    # what is protected
    "row": "one row",
    "person": "one person's genotypes at all SNPs; who takes part, and who is a case, is public",
    "allele": "one allele at each SNP (half a person); who takes part, and who is a case, is public",
}


def missing_as_words(columns: Sequence[tuple[str, Any, bool, bool]]) -> str:
    """Return for columns what a missing or undeclared value becomes, in words.

    >>> missing_as_words([("sex", "male", False, False), ("dose", 1.5, True, True)])
    'sex male, dose 1.5 and in tables a bin of its own'
    """
    shown = [
        f"{name} {as_told(value)}" + (" and in tables a bin of its own" if own_bin else "")
        for name, value, _, own_bin in columns
    ]
    return few(shown, MISSING_SHOWN, " as the schema says")


def happened(event: str) -> str:
    """Return an event as text that follows the name of its column: a level, or a cut.

    >>> happened("yes"), happened(">= 400")
    ('= yes', '>= 400')
    """
    return event if event.startswith((">= ", "< ")) else f"= {event}"


def _engine(fact: facts.CountedByEngine) -> str:
    """Return that an engine counted the rows, and who can see them there."""
    others = (
        ": whoever operates it can see its rows and the queries. The promise is about what left dpcausal."
    )
    return f"The rows were counted by {fact.engine}{others if fact.remote else ' within this process.'}"


def _effect_table(fact: facts.EffectTable) -> str:
    """Return which table was measured for an effect, and with which noise."""
    cells = f"{'numbers of rows by level' if fact.counted == 'levels' else 'rows and sums'} of {fact.outcome}"
    if fact.counted == "event" and fact.event is not None:
        cells = f"numbers of rows with and without {fact.outcome} {happened(fact.event)}"
    if fact.counted == "states":
        cells = f"numbers of rows by what became of them in each interval of the follow-up ({fact.outcome})"
    strata = f" and strata of {', '.join(fact.adjust)}" if fact.adjust else ""
    noise = f"with noise of standard deviation {fact.sd:.3g} in every cell"
    return f"{cells} in the arms of {fact.treatment}{strata}, {noise}"


def _effect_sums(fact: facts.EffectSums) -> str:
    """Return which sums were measured for an effect by regression, and with which noise."""
    return (
        f"moments of {', '.join((*fact.adjust, fact.treatment, fact.outcome))}, with noise of standard deviation "
        f"{fact.sd:.3g}, and three sums of products of what a regression on them leaves, with noise"
    )


def _round_of_two(fact: facts.RoundOfTwo) -> str:
    share = f"a share of {fact.first:.0%} of it is for the first"
    if fact.round == 1:
        kept = (
            "" if fact.in_ledger else ", which nothing but the site's word ensures, for no ledger was charged"
        )
        return f"that two rounds share this one charge: {share}, and the rest may be spent once by the second{kept}"
    once = (
        "as its ledger records"
        if fact.in_ledger
        else "which nothing but the site's word says, for no ledger was charged"
    )
    return (
        f"that two rounds share one charge, that of the first: {share}, and the rest was spent once, {once}"
    )


# words of all other facts: a text with fields filled in, or a function
WORDS: dict[type[Fact], Words] = {
    facts.Stated: "{text}",
    facts.OneUnit: lambda fact: (
        f"It is for one unit, as named here ({fact_words(fact.unit)}): someone with k of them is protected k times "
        "less (k times epsilon, and at least k times delta)."
    ),
    facts.WeakEpsilon: lambda fact: (
        f"{WEAK}above epsilon {facts.WEAK_EPSILON:g} the bound by itself protects weakly; at {fact.epsilon:g} one "
        f"{'person' if fact.persons else 'row'} may make a result {odds(fact.epsilon)} times as likely."
    ),
    facts.WeakDelta: lambda fact: (
        f"{WEAK}delta {fact.delta:g} is not below one over the number of {'persons' if fact.persons else 'rows'} "
        f"({fact.rows:,}): it allows releasing {'all rows of a person' if fact.persons else 'whole rows'}."
    ),
    facts.UncheckedDraft: "The schema is an unchecked draft: bounds and levels read from the data are not covered.",
    facts.NoPrivacy: "Anything about any row can leak from this answer.",
    facts.CountedByEngine: _engine,
    facts.BudgetEnded: "The budget ended early: {questions} questions were answered 'dependent' untested, so edges "
    "may remain that were not tested.",
    facts.MostRows: "that there are at most {rows:,} rows (a statistic of rows in memory refuses more)",
    facts.MissingAs: lambda fact: (
        f"what a missing or undeclared value becomes ({missing_as_words(fact.columns)})"
    ),
    facts.LabelsKnown: "the labels in {labels} are fixed, whatever relation was asked for: who is in which group, "
    "and the size of both groups",
    facts.DeltaNotNeeded: "that a delta of {delta:.3g} was allowed: it was not needed and not charged",
    facts.RoundOfTwo: _round_of_two,
    facts.KeptForEffects: "the share of {share:.0%} of the budget that is kept for effects, asked once the graph is "
    "known; the total covers them, whether they are asked or not",
    facts.KernelLists: "the {kernel} kernel, the lists of lambda and bandwidth, and the share of epsilon for the "
    "choice ({share:g})",
    facts.KernelKnown: lambda fact: (
        f"the {fact.kernel} kernel, its bandwidth ({'default' if fact.bandwidth is None else f'{fact.bandwidth:g}'}) "
        f"and lambda ({fact.lambda_:g})"
    ),
    facts.SnpsKnown: "the list of {snps} SNPs, with their positions",
    facts.CopiesOfAllele: "copies of allele 1: {least} to {most}",
    facts.MissingCalls: "missing calls count as: {rule}",
    facts.FrequencyFloor: "no SNP has a minor allele frequency below {maf:g}",
    facts.FloorReleased: "nothing about allele frequencies (a floor of them was bought for {share:g} of epsilon)",
    facts.OfSites: lambda fact: f"of {' and '.join(fact.sites)}: {fact_words(fact.fact)}",
    facts.MeasuredTables: "{what}, with noise of standard deviation {sd:.3g} in every cell",
    facts.MeasuredPairs: "which {number} of the {of:,} pairs of columns were measured: they join all columns, "
    "chosen at random, likelier where two columns depend more",
    facts.SearchedAgain: "what was computed later from release {release} alone, at no further cost",
    facts.SitesPooled: lambda fact: (
        "what each site contributed: "
        + "; ".join(
            f"{name} (epsilon {epsilon:.6g}, delta {delta:.6g}, release {' and '.join(releases)})"
            for name, epsilon, delta, releases in fact.sites
        )
    ),
    facts.SitesTrusted: "Whether what a site contributed comes from real rows can't be seen: sites are trusted not to "
    "make it up.",
    facts.CountOfParts: "the number of disjoint parts in which {test} rejected, with Laplace noise",
    facts.CircleDecision: "a decision by the {statistic} statistic with Laplace noise",
    facts.EffectTable: _effect_table,
    facts.EffectSums: _effect_sums,
    facts.ChosenRidge: lambda fact: (
        f"the choice of lambda and bandwidth by permute-and-flip, and {fact_words(fact.then)}"
    ),
    facts.SpreadCounts: lambda fact: (
        f"counts of cells of {', '.join(fact.columns)}, with noise, and {fact_words(fact.then)}"
    ),
    facts.OneAnswer: lambda fact: (
        f"{question_words(fact.x, fact.y, fact.given)}: {fact_words(fact.released)}"
    ),
    facts.ManyAnswers: lambda fact: (
        f"{fact.count} answers by {fact.test} at level {fact.level:g}: {fact_words(fact.released)}"
    ),
    facts.PersonRows: lambda fact: f"one person, with all rows ({used_rows_words(fact)})",
    facts.OutcomeOnly: lambda fact: (
        f"one row's outcome; the labels ({fact.labels or 'the first column'}) and their counts are public"
    ),
}


def used_rows_words(unit: facts.PersonRows) -> str:
    """Return which rows of a person are used.

    >>> used_rows_words(facts.PersonRows()), used_rows_words(facts.PersonRows(2, "visit"))
    ('one of them is used, drawn by chance', 'at most 2 of them are used, with the largest values of visit')
    """
    if unit.rows is None:
        return "records that are listed twice count once"
    which = {None: "drawn by chance", "first": "the first in the file", "last": "the last in the file"}
    how = which.get(unit.order_by, f"with the largest value{'s' * (unit.rows > 1)} of {unit.order_by}")
    number = "one of them is used" if unit.rows == 1 else f"at most {unit.rows} of them are used"
    return f"{number}, {how}"


def entries_called(unit: facts.Unit) -> str:
    """Return what the entries of a data set are: persons where these are the unit, else rows.

    >>> entries_called(facts.PersonRows()), entries_called(facts.ONE_ROW)
    ('persons', 'rows')
    """
    return "persons" if isinstance(unit, facts.PersonRows) and unit.rows in (1, None) else "rows"


def number_of_units(number: int, unit: facts.Unit, *, how: bool = False) -> str:
    """Return how many rows or persons were used; ``how``: with which rows of a person.

    >>> number_of_units(2500, facts.ONE_ROW, how=True), number_of_units(2500, facts.PersonRows())
    ('2,500 rows', '2,500 persons')
    >>> number_of_units(2500, facts.PersonRows(), how=True)
    '2,500 persons; of the rows of a person one of them is used, drawn by chance'
    """
    found = f"{number:,} {entries_called(unit)}"
    if how and isinstance(unit, facts.PersonRows):
        return f"{found}; of the rows of a person {used_rows_words(unit)}"
    return found


def relation_words(statement: PrivacyStatement) -> str:
    """Return which two tables the guarantee compares."""
    person = isinstance(statement.unit, facts.PersonRows)
    unit = ("person", ", with all rows") if person else ("row", "")
    return RELATIONS[statement.neighbours].format(*unit)


def fact_words(fact: facts.Limit | facts.Public | facts.Released | facts.Unit) -> str:
    """Return a limit as a sentence, and what is protected, public or released as a clause.

    >>> fact_words(facts.Known("rows")), fact_words(facts.SnpsKnown(500))
    ('the number of rows', 'the list of 500 SNPs, with their positions')
    """
    return filled(BY_NAME[fact.kind] if fact.named_by else WORDS[type(fact)], fact)


_FIXED = "what to ask was fixed before this call saw any answer, and the costs are added up"
_ADAPTIVE = (
    "later questions could depend on earlier noisy answers; spending stops before the total is passed, so epsilon and "
    "delta hold whatever was asked"
)
_FILTER = "chosen adaptively; a filter, which refuses what would pass the total, kept the sum of epsilon{} within it"
COMPOSITIONS: dict[Composition, tuple[str, str]] = {  # in plain words; in the field's own
    Composition.STATED: ("", ""),
    Composition.NOTHING: ("nothing was charged", ""),
    Composition.FIXED_EPSILON: (_FIXED, "fixed in advance; sums of epsilon and of delta"),
    Composition.FIXED_RHO: (_FIXED, "fixed in advance; sum of rho, converted at the best Renyi order"),
    Composition.FILTER_EPSILON: (_ADAPTIVE, _FILTER.format("")),
    Composition.PARALLEL_SITES: (
        "each person is in the rows of one site, as was declared: the largest cost of a site holds for all",
        "parallel composition",
    ),
    Composition.SUM_OF_SITES: (
        "a person may be in the rows of several sites: their costs are added up",
        "sums of epsilon and of delta",
    ),
    Composition.FILTER: (_ADAPTIVE, _FILTER.format(", or of rho,")),
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
    NotPrivate.PRINTED: "the algorithm as its paper prints it: the privacy it claims does not hold",
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
    """Return the remark on numbers counted by their bins.

    >>> by_bins_words(["age", "dose"])
    'Only counts are available, no rows, so age and dose count by their declared bins; dc.read brings the numbers.'
    """
    count = "counts by its" if len(names) == 1 else "count by their"
    return (
        f"Only counts are available, no rows, so {' and '.join(names)} {count} declared bins; dc.read brings the "
        "numbers."
    )


def question_words(x: str | tuple[str, ...], y: str | tuple[str, ...], given: tuple[str, ...]) -> str:
    """Return a question about two columns, or two groups of columns, in words.

    >>> question_words("a", "b", ("c", "d")), question_words(("a", "b"), "c", ())
    ('a and b given c, d', '(a, b) and c')
    """
    x, y = (side if isinstance(side, str) else f"({', '.join(side)})" for side in (x, y))
    return f"{x} and {y}" + (f" given {', '.join(given)}" if given else "")


def odds(epsilon: float) -> str:
    """Return e^epsilon as text, also where it is too large for a float.

    >>> odds(1.0), odds(12.0), odds(100.0)
    ('2.72', '163,000', '2.69e+43')
    """
    return digits(math.exp(min(epsilon, 700.0)), 3)


def steps_words(count: int) -> str:
    """Return the number of charged events, worded so that it is not read as a factor of epsilon.

    >>> steps_words(1), steps_words(1200)
    ('one noisy step', '1,200 noisy steps')
    """
    return "one noisy step" if count == 1 else f"{count:,} noisy steps"


def caveat_lines(statement: PrivacyStatement) -> list[str]:
    """Return the limits that are particular to this release."""
    return [fact_words(limit) for limit in statement.caveats]


def not_private_line(statement: PrivacyStatement) -> str:
    """Return that a release is not private, and why; empty where it is private."""
    return "" if statement.private else f"NOT PRIVATE: {statement.why_not_private}."


def summary(statement: PrivacyStatement) -> str:
    """Return the statement in a few lines; a weak promise and an unchecked schema follow its numbers."""
    epsilon, delta = statement.epsilon, statement.delta
    lines = [not_private_line(statement)]
    if epsilon is not None and delta is not None:
        kind = DEFINITIONS.get(statement.definition, statement.definition)
        lines += [
            f"Privacy: epsilon {epsilon:.6g}, delta {delta:.6g} ({kind}).",
            *caveat_lines(statement),
        ]
        if statement.private:
            lines += [
                f"Protects {fact_words(statement.unit)}. {bound_words(statement)}",
                meaning_words(epsilon, delta, statement.neighbours, statement.unit.kind),
            ]
    if statement.events:
        lines += [_cost_words(statement), ledger_line(statement)]
        what = "Computed from the rows, with noise, and covered by the promise: "
    else:
        what = "Released: "
    if statement.released:
        lines.append(what + "; ".join(map(fact_words, statement.released)) + ".")
    if statement.public:
        lines.append("Assumed public: " + "; ".join(map(fact_words, statement.public)) + ".")
    return "\n".join(filter(None, lines))


def _cost_words(statement: PrivacyStatement) -> str:
    """Return the steps, and how their costs add up to the statement's numbers."""
    one = len(statement.events) == 1
    total = "this epsilon and delta" if statement.delta else "this epsilon"
    how = COMPOSITIONS[statement.composition][0] or statement.stated.get("composition", "")
    how = how.removesuffix(", and the costs are added up") if one else how
    steps = steps_words(len(statement.events))
    return f"Cost: {steps}, {'' if one else 'together '}not more than {total}. {how[:1].upper()}{how[1:]}."


def html(statement: PrivacyStatement) -> str:
    """Return the summary as a small block for notebooks."""
    colour = "#2e7d32" if statement.private else "#c62828"
    return as_html(summary(statement), f"border-left:4px solid {colour};padding-left:8px")


def right_guess(epsilon: float, delta: float) -> float:
    """Return how often a guess between two neighbouring tables, even before, can be right after a release.

    (epsilon, delta)-privacy bounds the power of every test by e^epsilon times its level plus delta, both ways. So the
    mean of power and specificity is at most (e^epsilon + delta) / (1 + e^epsilon).

    >>> round(right_guess(1.0, 0.0), 4), round(right_guess(1.0, 0.1), 4)
    (0.7311, 0.758)
    """
    less = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * less) / (1.0 + less))


def guess_words(epsilon: float, delta: float) -> str:
    """Return ``right_guess`` in words, rounded up, so that it never says less than the bound.

    >>> guess_words(1.0, 0.0), guess_words(10.0, 0.0), guess_words(60.0, 0.0)
    ('is right at most 74% of the time', 'may be wrong only once in 22,100 times', 'may always be right')
    """
    part = right_guess(epsilon, delta)
    if part <= 0.99:
        return f"is right at most {math.ceil(100 * part - 1e-9)}% of the time"
    if part == 1.0:
        return "may always be right"
    times = 1 / (1 - part)
    step = 10 ** max(0, math.floor(math.log10(times)) - 2)
    return f"may be wrong only once in {math.ceil(times / step) * step:,} times"


KNOWS = {  # what is protected -> what the person who guesses knows; what is theirs
    "person": ("every other person's genotypes", "yours"),
    "allele": ("all other alleles", "one of yours at each SNP"),
    "outcome": ("every other row", "your outcome"),
    "person-rows": ("all rows of every other person", "your rows"),
}


def meaning_words(epsilon: float, delta: float, neighbours: Neighbours | str, unit: str = "row") -> str:
    """Return what a guarantee, or the total of several releases, means for one person: all promises come from here.

    The numbers are those of this epsilon and delta. Up to ``STRICT_EPSILON``, up to ``WEAK_EPSILON`` and above, it
    weighs them differently.

    Parameters
    ----------
    epsilon, delta
        The guarantee.
    neighbours
        The relation that it holds for.
    unit
        The kind of the unit of privacy.

    >>> print(meaning_words(1.0, 0.0, "replace-one"))
    Someone who knows every other row, and to whom two versions of yours are equally likely, is right at most 74% of \
the time after seeing the result: a hint, not knowledge.
    """
    relation = Neighbours.parse(neighbours)
    others, yours = KNOWS.get(unit, ("every other row", "yours"))
    between = {
        Neighbours.REPLACE_ONE: f"two versions of {yours} are equally likely",
        Neighbours.ADD_REMOVE: f"it is as likely as not that {yours} is there",
        Neighbours.FIXED_LABELS: f"two versions of {yours}, with the same public label, are equally likely",
    }[relation]
    guess = f"omeone who knows {others}, and to whom {between}, {guess_words(epsilon, delta)} after seeing the result"
    twice = " About what it says, epsilon counts twice." if relation is Neighbours.ADD_REMOVE else ""
    if epsilon <= facts.STRICT_EPSILON:
        return f"S{guess}: a hint, not knowledge.{twice}"
    if epsilon <= facts.WEAK_EPSILON:
        return f"S{guess}: more than a hint. Whoever is answerable for the data should say why that is allowed.{twice}"
    return (
        f"By itself this bound protects weakly: s{guess}. Something else must protect people, such as who may see it."
        f"{twice}"
    )


def bound_words(statement: PrivacyStatement) -> str:
    """Return the guarantee as a sentence: which tables it compares, and by how much results may differ."""
    but = f", apart from a probability of at most {statement.delta:.3g} (delta)" if statement.delta else ""
    times = odds(statement.epsilon or 0.0)
    return (
        f"Of {relation_words(statement)}, no result is more than {times} times as likely from one as from the "
        f"other (epsilon {statement.epsilon:.4g}){but}."
    )


def promise(statement: PrivacyStatement) -> list[str]:
    """Return the guarantee in sentences: what it promises, its meaning, its limits, who keeps count."""
    if statement.epsilon is None or statement.delta is None or not statement.private:
        return [
            f"There is no privacy guarantee: {statement.why_not_private}.",
            "Anything about any row can leak from this page: treat it as you treat the data.",
        ]
    larger = ", and a larger delta" if statement.delta else ""
    several = "ids" if isinstance(statement.unit, facts.PersonRows) else "rows"
    return [
        bound_words(statement),
        meaning_words(statement.epsilon, statement.delta, statement.neighbours, statement.unit.kind),
        f"Protected is {fact_words(statement.unit)}: a person with k {several} is protected k times less (k times "
        f"epsilon{larger}).",
        "What is true of people in general is not hidden.",
        f"The cost was charged to the data set {statement.ledger.get('dataset')!r} of a ledger (entry "
        f"{statement.ledger.get('entry')}) before any noise was drawn."
        if statement.ledger
        else "No ledger was charged, so whoever holds the data must add this cost to that of other releases.",
    ]


def board_lines(statement: PrivacyStatement) -> list[str]:
    """Return what an ethics board or a data protection officer asks about one release (``docs/explain/boards.md``)."""
    lines = [
        f"Left the data: {'; '.join(map(fact_words, statement.released))}." if statement.released else "",
        f"Taken to be public, so not protected: {'; '.join(map(fact_words, statement.public))}."
        if statement.public
        else "",
        "Not covered: the rows themselves, who may see them, how long a run takes, and other releases from the same "
        "rows, which add to this one.",
        "Whether this is anonymous (GDPR, recital 26) or de-identified by expert determination (HIPAA) is not decided "
        "here: such a decision rests on epsilon, delta, the unit and these lists (docs/explain/boards.md).",
    ]
    return [line for line in lines if line]


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


def size_words(event: Mapping[str, Any]) -> str:
    """Return the noise relative to the effect of one row; empty where an event does not say.

    Sensitivity and scale themselves are in steps of the grid that noise is drawn on: ``privacy.json`` has them.

    >>> size_words({"kind": "gaussian", "sensitivity": 16394.0, "sigma": 139832.0})
    '8.53 times what one row can change (standard deviation)'
    """
    for key, name in (("sigma", "standard deviation"), ("scale", "scale")):
        if key in event and event.get("sensitivity"):
            return f"{event[key] / event['sensitivity']:.3g} times what one row can change ({name})"
    return ""


def privacy_line(statement: PrivacyStatement) -> str:
    """Return epsilon, delta and what they protect, in one line; that there is no promise where there is none."""
    if statement.epsilon is None or statement.delta is None:
        return not_private_line(statement)
    unused = (
        " (none was needed)" if any(isinstance(f, facts.DeltaNotNeeded) for f in statement.public) else ""
    )
    change = UNIT_CHANGES.get(statement.unit.kind, CHANGES[statement.neighbours])
    return f"Privacy: epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g}{unused}, for {change}."


def ledger_line(statement: PrivacyStatement) -> str:
    """Return where the release is counted and what is left; empty where nothing was charged.

    A ledger is charged all that a release might have cost; where that is more than was needed, it is said.
    """
    if not statement.events:
        return ""
    if any(isinstance(fact, facts.SitesPooled) for fact in statement.released):
        return "Ledger: each site's own; nothing was charged now."
    if not statement.ledger:
        return f"Ledger: none, so nobody adds up releases ({spelled('--ledger, --dataset', 'ledger=, dataset=')})."
    asked, left = (
        ", ".join(f"{name} {amount:.6g}" for name, amount in amounts.items())
        for amounts in (statement.asked, statement.ledger.get("left", {}))
    )
    where = f"{statement.ledger.get('dataset')}, entry {statement.ledger.get('entry')}"
    if any(isinstance(fact, facts.SearchedAgain) for fact in statement.released):
        return f"Ledger: nothing was charged now; the release is {where}."
    spent = f"epsilon {statement.epsilon:.6g}, delta {statement.delta:.6g}"
    parts = f"Ledger: {where}", f"charged {asked}" * (asked != spent), f"left {left}" * bool(left)
    return f"{'; '.join(filter(None, parts))}."


def cost_lines(statement: PrivacyStatement, *, full: bool = False) -> list[str]:
    """Return the lines on privacy, its weaknesses, the ledger, and what was free.

    ``full``: the whole statement.
    """
    if full:
        return [summary(statement)]
    again = [fact.release for fact in statement.released if isinstance(fact, facts.SearchedAgain)]
    lines = [
        not_private_line(statement) if statement.epsilon is not None else "",
        privacy_line(statement),
        *caveat_lines(statement),
        ledger_line(statement),
        *(
            f"Computed from release.json (id {release}): no row was read, and nothing was charged beyond what that "
            "release cost."
            for release in again
        ),
    ]
    return [line for line in lines if line]


def short_cost_lines(statement: PrivacyStatement) -> list[str]:
    """Return privacy and the ledger in one line; what weakens the promise has a line of its own beneath it."""
    lines, weak = cost_lines(statement), caveat_lines(statement)
    return [" ".join(line for line in lines if line not in weak), *weak]


BARS = 12  # events are shown one by one up to here, then summed by the part of the label before a colon
# names are above the bars: narrow enough for a phone
WIDE, AMOUNT, BAR_STEP, THICK = 300.0, 170.0, 46.0, 14.0


@dataclass(frozen=True)
class Step:
    """What one step cost: ``cost`` in ``unit`` ("epsilon", "rho", or "events" where they have no unit in common)."""

    label: str
    times: int
    cost: float
    unit: str

    @property
    def name(self) -> str:
        """The label, with the number of times that the step was taken."""
        return self.label + (f" ({self.times} times)" if self.times > 1 else "")


def steps(statement: PrivacyStatement) -> list[Step]:
    """Return the steps of a release in the order they were first charged.

    Costs are epsilon where every event has one and their sum is within what was promised; else rho, where every event
    has it.
    """
    events = [event_from_dict(event) for event in statement.events]
    most = (statement.epsilon or 0.0) * (1 + 1e-9)
    by_epsilon = math.fsum(event.epsilon for event in events) <= most
    by_rho = all(math.isfinite(event.rho) for event in events)
    unit = "epsilon" if by_epsilon and statement.definition != "zCDP" else "rho" if by_rho else "events"
    found: dict[str, tuple[int, float]] = {}
    for event in events:
        label = event.label or event.kind
        label = label if len(events) <= BARS else label.split(":")[0]
        times, cost = found.get(label, (0, 0.0))
        found[label] = times + 1, cost + (1.0 if unit == "events" else float(getattr(event, unit)))
    return [Step(label, times, cost, unit) for label, (times, cost) in found.items()]


def event_rows(events: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return every event as a table row in words."""
    shown = []
    for data in events:
        event = event_from_dict(data)
        shown.append(
            {
                "label": event.label,
                "mechanism": MECHANISMS.get(kind := str(data.get("mechanism", event.kind)), kind),
                "size": size_words(data),
                "epsilon": _cost(event.epsilon),
                "delta": _cost(event.delta),
                "rho": _cost(event.rho),
            }
        )
    return shown


def _cost(value: float) -> str:
    """Return a cost with four digits; nothing for one that is not finite."""
    return f"{value:.4g}" if math.isfinite(value) else ""


def chart(found: Sequence[Step]) -> str:
    """Return the cost of steps as an SVG bar chart; empty where nothing was charged."""
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
        share = f"{step.cost / total:.0%}" if step.unit != "events" and total > 0 else ""
        amount = f"{step.unit} {step.cost:.4g}" + (f" ({share})" if share else "")
        wide = max(WIDE * step.cost / most, 1.0)
        parts.append(
            f'<g class="bar"><title>{escape(f"{step.name}: {amount}")}</title>'
            f'<text class="name" x="0" y="{y + 12:g}">{escape(shortened(step.name))}</text>'
            f'<rect x="0" y="{y + 18:g}" width="{wide:.1f}" height="{THICK:g}" rx="3"/>'
            f'<text x="{wide + 8:.1f}" y="{y + 30:g}">{escape(share or amount)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def pvalue_words(pvalue: float) -> str:
    """Return a p-value after the letter p; never 0.

    >>> pvalue_words(0.0123), pvalue_words(0.0)
    ('= 0.0123', '< 1e-300')
    """
    return f"< {SMALLEST_PVALUE:g}" if pvalue <= SMALLEST_PVALUE else f"= {pvalue:.3g}"


def rows_differ(what: str, unit: facts.Unit = facts.ONE_ROW) -> str:
    """Return the condition about rows under which an interval or a p-value is valid.

    >>> rows_differ("interval")
    'The interval holds if rows are different persons.'
    """
    which = "ids" if isinstance(unit, facts.PersonRows) else "rows"
    return f"The {what} holds if {which} are different persons."


def no_delta_words(times: float) -> str:
    """Return how much larger the noise is without a delta."""
    option = spelled("--delta 1e-6", "delta=1e-6")
    return (
        f"without a delta the noise in a table of two columns is {digits(times)} times larger: add {option} "
        "(it must lie below one over the number of rows)"
    )
