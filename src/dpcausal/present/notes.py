"""Which method made a graph and why, and what it noted on the way: one sentence for each kind of fact."""

from __future__ import annotations

from collections.abc import Collection

from dpcausal.core.spelling import spelled
from dpcausal.discovery import search as facts
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.search import MethodReason, Note
from dpcausal.present.statement import no_delta_words
from dpcausal.present.tables import WHY_OPEN
from dpcausal.present.text import Words, counted, digits, few, filled, listed

MERGED_SHOWN = 12  # columns with merged levels named in a line
EDGES_SHOWN = 6  # edges that a note names
MERGING = (
    "Merging can hide part of a dependence. It also holds less fixed: two columns that both depend on a merged one may "
    "seem linked because of it"
)
BY_CALL = {
    "as-asked": "as asked",
    "no-privacy": "chosen because no privacy was asked for",
    "read-codes": "chosen because the data are codes of persons",
    "one-target": "chosen because the question is about one column",
    "sites": "made for sites, as each measured the same tables",
    "counts-only": "chosen because there are counts only, no rows",
}


def method_words(method: str, why: str) -> str:
    """Return the method by name, what it does and why it was used.

    >>> method_words("svt-pc", "as asked")
    'method svt-pc, as asked: every question is compared with a noisy threshold; only edges that it deletes cost'
    """
    does = method_description(method)
    return f"method {method}, {why}" + (f": {does}" if does else "")


def method_description(method: str) -> str:
    """Return what a method does, in its own words; empty where there is no such method."""
    return METHODS[method].description if method in METHODS else ""


def groups_words(columns: Collection[tuple[str, int]], most: int | None = None) -> str:
    """Return columns with merged levels by their number of groups; more than ``most`` alike are only counted.

    >>> groups_words([("age", 3), ("site", 2), ("bmi", 3)]), groups_words([("age", 3), ("bmi", 3)], most=1)
    ('site to 2 groups; age, bmi to 3 groups', '2 columns to 3 groups')
    """
    merged: dict[int, list[str]] = {}
    for name, groups in columns:
        merged.setdefault(groups, []).append(name)
    few_names = len(columns) if most is None else most
    return "; ".join(
        f"{', '.join(names) if len(names) <= few_names else f'{len(names)} columns'} to {groups} groups"
        for groups, names in sorted(merged.items())
    )


def reason_words(fact: MethodReason) -> str:
    """Return why a method was used.

    >>> reason_words(facts.MethodByNumbers("not-mostly-numbers", numbers=1, columns=3))
    'chosen because 1 of 3 columns holds numbers, not most'
    """
    match fact:
        case facts.MethodByCall():
            return BY_CALL[fact.why]
        case facts.MethodByNumbers():
            many = fact.numbers or "none"
            held = f"{many} of {fact.columns} columns hold{'s' * (fact.numbers < 2)} numbers"
            match fact.why:
                case "mostly-numbers":
                    return f"chosen because {held}, which is most"
                case "not-mostly-numbers":
                    return f"chosen because {held}{', not most' * (fact.numbers > 0)}"
                case "numbers-in-noise":
                    more = "with this epsilon and this many rows bins show more than correlations"
                    return f"chosen although {held}: {more}"
    raise TypeError(f"no words for {fact!r}")


def _follow_up(fact: facts.FollowUpColumns) -> str:
    """Return that a time and its status are one outcome, and how to ask for an effect on it."""
    pairs = listed([f"{time} with {event}" for time, event in fact.pairs])
    how = spelled("--time, --event and --horizon of dpcausal effect", "dc.effect with dc.Survival")
    return (
        f"a time and a status ({pairs}) are one outcome: their edges mix how long people were followed with what "
        f"happened to them; for an effect on it use {how}."
    )


def _one_level(fact: facts.OneLevel) -> str:
    """Return which columns have one level and so can have no edge."""
    names = listed([f'"{name}"' for name in fact.columns])
    if len(fact.columns) == 1:
        return f"{names} has one level: it can't depend on anything, so it has no edge; leave it out."
    return f"{names} have one level: they can't depend on anything, so they have no edge; leave them out."


def _noise(fact: facts.CountsMeasured) -> str:
    """Return the standard deviation of the noise in a count beside the rows of an average cell."""
    average = ""
    if fact.mean_cell is not None and fact.least_cell is not None:
        mean, least = digits(fact.mean_cell), digits(fact.least_cell)
        more = f", or {least} in the table with most cells" if least != mean else ""
        average = f"; an average cell holds {mean} rows{more}"
    return f"noise of standard deviation {digits(fact.sd)} rows{average}"


def _kind(fact: facts.CountsMeasured) -> str:
    """Return the name of the noise."""
    return "Gaussian" if fact.gaussian else "Laplace"


def _joint_table(fact: facts.JointTableMeasured) -> str:
    """Return the sentence on a joint table that was measured, and its noise."""
    return (
        f"One joint table of {fact.cells:,} cells was measured with {_kind(fact)} noise; a count in a table of two "
        f"columns has {_noise(fact)}"
    )


def _tables(fact: facts.TablesMeasured) -> str:
    """Return the sentence on how many tables were measured, and their noise."""
    rows = "the number of rows and " if fact.rows_measured else ""
    more = f", {fact.larger:,} larger" if fact.larger else ""
    sets = fact.larger + fact.singles + fact.pairs
    where = "in a table of two columns" if fact.target is None else f"of another column with {fact.target}"
    return (
        f"Measured with {_kind(fact)} noise: {rows}tables of {sets:,} sets of columns ({fact.singles:,} single, "
        f"{counted(fact.pairs, 'pair')}{more}); all measurements together, a count {where} has {_noise(fact)}"
    )


def _sites(fact: facts.SitesMeasured) -> str:
    """Return the sentence on what each site contributed, with its noise."""
    named = "; ".join(
        f"{name} ({digits(rows)} rows, {f'noise {digits(sd)}' if sd else 'no counts of two columns'}"
        + (f", without {', '.join(lacking)}" if lacking else "")
        + ")"
        for name, rows, sd, lacking in fact.sites
    )
    return (
        f"Contributed, with the standard deviation of the noise in a count of two columns: {named}. Links are asked "
        "about inside each site and added up, so that other margins in other sites make none. Of what is held fixed, "
        "effects are taken to be the same in all sites"
    )


def _sites_differ(fact: facts.SitesDiffer) -> str:
    """Return the sentence on pairs whose dependence differs between sites."""
    if not fact.pairs:
        return (
            f"No dependence differs between sites (Cochran's Q for every pair, level {fact.level:g} in all)"
        )
    named = few([f"{a} - {b} (p = {p:.2g})" for a, b, p in fact.pairs], EDGES_SHOWN)
    return (
        f"The dependence is not the same in all sites (Cochran's Q, level {fact.level:g} for all pairs): {named}. "
        "Other margins can make it so; if it is an effect that differs, what was asked with one of these columns held "
        "fixed may show links that are none"
    )


def _hidden_causes(fact: facts.HiddenCauses) -> str:
    """Return the sentence on what the marks of a graph with hidden common causes mean."""
    sets = f"sets of up to {fact.order} columns, at most {fact.far} of them not adjacent to the column asked about"
    asked = "" if fact.order is None else f". Further questions were asked for that, with {sets}"
    return (
        "Common causes may be hidden: an arrowhead means not a cause, a tail a cause, and a circle that the data do "
        f"not decide. Rows are assumed not to have been selected by their values{asked}"
    )


def _chosen_pairs(fact: facts.ChosenPairs) -> str:
    """Return the sentence on how many pairs were chosen to be measured, and how."""
    return (
        f"{fact.number} of the {fact.of:,} pairs of columns were measured: pairs that join all columns, chosen at "
        "random, likelier where two columns depend more. With so many columns and so much noise this finds more links "
        "than measuring every pair would; pairs that were not chosen are open"
    )


def _unanswered(fact: facts.Unanswered) -> str:
    """Return the sentence on questions that could not be answered, by reason."""
    total = sum(count for _, count in fact.reasons)
    reasons = ", ".join(f"{WHY_OPEN[why]} ({count:,})" for why, count in fact.reasons)
    return (
        f"{counted(total, 'question')} could not be answered (such a pair is open unless other questions decide it): "
        f"{reasons}. A larger epsilon, a delta where there is none, more rows, and fewer levels or bins help"
    )


def _conflicts(fact: facts.Conflicts) -> str:
    """Return the sentence on test results that contradict each other or what was declared."""
    pairs, against = (", ".join(map(" - ".join, some)) for some in (fact.pairs, fact.declared))
    shown = "these ends have circles" if fact.circles else "these edges are shown without a direction"
    if not fact.settled and not fact.circles:
        shown += ", and no graph fits all other directions"
    parts = [f"Test results contradict each other on directions, at {pairs}: {shown}"] if pairs else []
    parts += (
        [f"Test results contradict what was declared, at {against}; what was declared is shown"]
        if against
        else []
    )
    return ". ".join(parts)


def _resolution(rows: float) -> str:
    """Return which dependences a search that pays for deletions retains, in words.

    >>> _resolution(24.6)
    'a dependence above about 25 rows (observed minus expected) is kept in 99% of the questions about it'
    """
    kept = "(observed minus expected) is kept in 99% of the questions about it"
    return f"a dependence above about {digits(rows)} rows {kept}"


def _threshold(fact: facts.ThresholdUsed) -> str:
    """Return the sentence on the noisy thresholds that a search used, and how often they were renewed."""
    one, many = {
        "deletions": ("deletion of an edge", "deletions of edges"),
        "pairs": ("pair that may be independent", "pairs that may be independent"),
    }[fact.of]
    renewed = f"a new noisy threshold after every {one}, for up to {fact.most}"
    how = renewed if fact.renewed else f"one noisy threshold for up to {fact.most} {many}"
    on = f", on {fact.rows:,} rows" if fact.rows else ""
    if fact.parts is None:
        return f"{how}{on}; {_resolution(fact.resolution)}"
    return (
        f"{how}{on}; each question is tested on {fact.parts:,} parts of the rows, and a dependence seen in about "
        f"{digits(fact.resolution)} parts more than expected is kept in 99% of the questions about it"
    )


def _choices(fact: facts.ChoicesMade) -> str:
    """Return the sentence on private choices: their number, mechanism and epsilon."""
    kind = {"exponential": "exponential mechanism"}.get(fact.mechanism, fact.mechanism)
    each = f"epsilon {fact.epsilon:.3g} for each of up to {fact.choices} choices ({kind})"
    return f"{each}; {_resolution(fact.resolution)}"


def _classical(fact: facts.Classical) -> str:
    """Return the sentence on a search without privacy: its tests and level."""
    several = "s" * (len(fact.tests) > 1)
    first = f"PC with the {', '.join(fact.tests)} test{several} at level {fact.level:g}."
    if fact.like:
        return f"{first} The private method {fact.like} asks the same questions by the same tests, with noise"
    option = spelled("--option test=auto", "test='auto'")
    return (
        f"{first} Private methods decide by rules of their own, so a graph can differ for that reason, too; to compare "
        f"with the private method tests, which asks the test that suits each question, add {option}"
    )


def _coarse_edges(fact: facts.CoarseEdges) -> str:
    """Return the sentence on edges that may be there only because a column is held fixed by coarse bins."""
    coarse = fact.what == "held-coarsely"
    joined = " or " if coarse else " and "
    edges = few([f"{a} - {b} ({joined.join(by)})" for a, b, by in fact.edges], EDGES_SHOWN)
    finer = "Finer bins would decide, at the price of more noise"
    if coarse:
        return (
            "A number is held fixed by its bins, and merged levels by their groups. Within a bin two columns that both "
            "depend on it stay dependent and may look linked. That may be so, because of the column in brackets, at "
            f"{edges}. {finer}"
        )
    return (
        f"Open, although the two depend on each other: {edges}. A number is held fixed by its bins, and within a bin "
        "two columns that depend on it stay dependent: by the pairs, as much as was seen given the columns in "
        f"brackets. The numbers behind the bins were taken as normal after ranking. {finer}"
    )


def _shared_missing(fact: facts.SharedMissing) -> str:
    """Return the sentence on edges between columns that share a level for missing values."""
    return (
        "Both columns declare a level for missing values, so the edge may be there only because values are missing in "
        f"the same rows: {few(list(map(' - '.join, fact.pairs)), EDGES_SHOWN)}"
    )


def _costs(fact: facts.CostsOfTests) -> str:
    """Return the sentence on what a test costs by the number of columns held fixed."""
    costs = ", ".join(f"{cost:.3g} given {order}" for order, cost in fact.costs)
    return f"Cost of a test ({fact.unit}), by number of columns given: {costs}"


PRINTED_UNIT = {"priv-pc": "a round", "svt-pc": "a deletion", "em-pc": "a choice", "curate": "in all"}

# a text with fields filled in, or a function
NOTES: dict[type[Note], Words] = {
    facts.FollowUpColumns: _follow_up,
    facts.OneLevel: _one_level,
    facts.JointTableMeasured: _joint_table,
    facts.TablesMeasured: _tables,
    facts.SitesMeasured: _sites,
    facts.SitesDiffer: _sites_differ,
    facts.ScoredGraphs: lambda fact: (
        "Whole graphs were scored on the joint table, with its noise in the score, and combined with what pairs of "
        f"columns show; the best one has {counted(fact.edges, 'edge')}, each judged beside all others"
    ),
    facts.HiddenCauses: _hidden_causes,
    facts.AboutTarget: "The question was what is directly linked to {target}: only pairs with it were decided. "
    "Measured twice, with it and with each other: {near}",
    facts.ChosenPairs: _chosen_pairs,
    facts.MergedLevels: lambda fact: (
        "Levels were merged before tables were measured, because the noise leaves no room for more: "
        f"{groups_words(fact.columns, MERGED_SHOWN)}. {MERGING}"
    ),
    facts.Unanswered: _unanswered,
    facts.WithoutDelta: lambda fact: no_delta_words(fact.times),
    facts.Conflicts: _conflicts,
    facts.AskedTests: "Tests: {tests}; epsilon {epsilon:.3g} for each",
    facts.Classical: _classical,
    facts.ClassicalMoments: "PC with tests on moments of features ({harmonics} harmonics) at level {level:g}. The "
    "private method moments asks the same tests with noise, and plans its own number of harmonics",
    facts.MomentsMeasured: "{features} features of the columns (of a number: its value and {waves} pairs of "
    "waves); sums of their products have noise of standard deviation {sd:.3g} rows",
    facts.CodesMeasured: "Rows in which two codes occur together were counted. A person with more than {ones} codes "
    "counts for as much as one with {ones}, spread over all pairs: a pair keeps {retained:.0%} of its weight on "
    "average, and that is reckoned with. Noise has a standard deviation of {sd:.3g} persons, and of {sd_again:.3g} "
    "in the {again} promising pairs that were measured again",
    facts.ThresholdUsed: _threshold,
    facts.EqualWidths: "Where {columns} are held fixed, their numbers are cut into strata of equal width between the "
    "declared bounds. If most rows lie in few strata, as for skewed numbers, part of what they explain is left, and "
    "it can look like an edge: moments and tests cut by privately measured counts",
    facts.SharedMissing: _shared_missing,
    facts.CoarseEdges: _coarse_edges,
    facts.ChoicesMade: _choices,
    facts.CostsOfTests: _costs,
    facts.AsPrinted: lambda fact: (
        f"{fact.method} as its paper prints it, not private: epsilon {fact.epsilon:g} {PRINTED_UNIT[fact.method]}, "
        f"paid {counted(fact.rounds, 'time')}, {fact.claimed:.3g} in all at delta {fact.delta:g} by the paper's sums"
    ),
}


def note_words(note: Note) -> str:
    """Return one note on a result, without a full stop where it is a clause."""
    return filled(NOTES[type(note)], note)
