"""An effect in a few lines: the answer, what it rests on, what it cost; and what is expected of one."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from dpcausal.core.errors import InputError
from dpcausal.core.spelling import asks, for_everyone, spelled
from dpcausal.core.statement import MissingAs, PrivacyStatement
from dpcausal.effects import result as facts
from dpcausal.effects.report import noise_note
from dpcausal.effects.result import EffectNote, EffectResult
from dpcausal.present import statement
from dpcausal.present.curves import curves_svg
from dpcausal.present.planning import budget_words, help_words
from dpcausal.present.statement import happened, rows_differ, short_cost_lines
from dpcausal.present.text import Words, as_html, as_sentence, as_told, few, filled, listed, percent

if TYPE_CHECKING:
    from dpcausal.effects.forecast import EffectForecast
    from dpcausal.effects.question import EffectQuestion


def _share_kept(share: float, *, noise: bool) -> str:
    """Return the share of rows for which an answer holds, in words; never "all".

    >>> _share_kept(0.97, noise=True), _share_kept(0.997, noise=True), _share_kept(0.97, noise=False)
    ('about 97%', 'over 99%', '97%')
    """
    return percent(share) if share > 0.99 else f"{'about ' if noise else ''}{share:.0%}"


def note_words(fact: EffectNote) -> str:
    """Return a note on an effect as a clause."""
    return filled(WORDS[fact.kind], fact)


MOST_LETTERS = 120  # of the groups of a column
MOST_PAIRS = 3  # named in a note
MOST_LISTED = 6  # possible effects listed without being asked


def _event_way(event: str) -> str:
    """Return the advice to ask for an event instead of a mean, in the caller's notation."""
    way = spelled(f'--event "{event}"', f"event={event!r}")
    return f"a yes/no outcome ({way})"


def _bounds_way(outcome: str, low: float | None, high: float | None) -> str:
    """Return tighter bounds of a number as a way to a shorter interval."""
    return f"tighter bounds of {outcome} in the schema (now {low:g} to {high:g})"


COARSER = "coarser bins of what is held fixed"


def _of_schema(fact: facts.WideInterval) -> list[str]:
    """Return the changes to a schema that would shorten an interval: bounds, and coarser bins."""
    bounds = [] if fact.outcome is None else [_bounds_way(fact.outcome, fact.low, fact.high)]
    return bounds + ([COARSER] if fact.held else [])


def _shortens(ways: Sequence[str]) -> str:
    """Return what would shorten an interval that is mostly noise, as a clause.

    >>> _shortens([]), _shortens(["fewer bins"])
    ('more epsilon shortens it', 'fewer bins or more epsilon shorten it')
    """
    return f"{listed([*ways, 'more epsilon'], 'or')} shorten{'' if ways else 's'} it"


def _back_door(fact: facts.BackDoor) -> str:
    """Return that the graph has an open back-door path, and what would close it."""
    paths = [[" ".join(edge) for edge in path] for path in fact.paths[:MOST_PAIRS]]
    drawn = "; ".join(", ".join(path[:-1]) + (" and " if path[:-1] else "") + path[-1] for path in paths)
    ways = [f"leave {name} out" for name in fact.leave]
    if fact.hold:
        ways.append(f"hold {', '.join(fact.hold)} fixed{' too' if fact.given else ''}")
    it = "it" if len(fact.hold) == 1 else "them"
    unless = f", unless {fact.treatment} changes {it}" if fact.hold and not fact.sure else ""
    help_ = (" or ".join(ways) or "no column takes a hidden cause out") + unless
    first = "" if fact.refused else "WARNING: "
    last = f" ({spelled('--anyway', 'anyway=True')} goes on)" if fact.refused else ""
    mixed = f"other causes {'are' if fact.sure else 'may be'} mixed into this effect"
    return f"{first}the graph draws {drawn}, so {mixed}: {help_}{last}"


def _few_groups(groups: Sequence[str]) -> str:
    """Return the levels in each group, or the number of groups where that is long.

    >>> _few_groups(["below 40", "40 or more"])
    'below 40 | 40 or more'
    """
    told = " | ".join(groups)
    return told if len(told) <= MOST_LETTERS else f"{len(groups)} groups"


def _from_graph(fact: facts.FromGraph) -> str:
    """Return what the graph says must be held fixed."""
    held = (
        f"to hold {', '.join(fact.columns)} fixed" if fact.columns else "that nothing needs to be held fixed"
    )
    return f"the graph says {held}"


def _scores(fact: facts.ColumnsEnter) -> str:
    """Return which columns are in standard deviations of normal scores."""
    scores = "its normal score" if len(fact.columns) == 1 else "their normal scores"
    return (
        f"{' and '.join(fact.columns)} in standard deviations of {scores}, not in units of the column: rows were "
        "measured by their rank"
    )


def _by_groups(fact: facts.ByGroups) -> str:
    """Return which columns are held fixed only by groups of merged levels."""
    named = ", ".join(f"{name} ({_few_groups(groups)})" for name, groups in fact.columns)
    return f"{named} held fixed only by groups of merged levels: confounding within a group remains"


def _number_rules(fact: facts.NumberRules) -> str:
    """Return how missing numbers, and those out of bounds, are counted."""
    rules = [f"missing {name} counts as {as_told(other)}" for name, other in fact.missing]
    counts = "" if fact.missing else "counts "
    rules += [
        f"{name} outside {as_told(low)} to {as_told(high)} {counts}as the nearer bound"
        for name, low, high in fact.bounds
    ]
    return f"by the schema, {' and '.join(rules)}"


def _missing_left_out(fact: facts.MissingLeftOut) -> str:
    """Return that rows with a missing outcome are left out, and when that is right."""
    return (
        f"rows with missing {fact.outcome} are left out of both groups: right if, among people alike in "
        f"{listed(fact.alike)}, it is chance whose {fact.outcome} is missing"
    )


def _missing_counts(fact: facts.MissingCounts) -> str:
    """Return as what a missing outcome counts, and how to leave such rows out."""
    counts = "is not the event" if fact.value is None else f"counts as {as_told(fact.value)}"
    way = ""
    if fact.regression and asks():
        table = spelled("effect FILE --method table", 'method="table"')
        way = f"; strata leave such rows out ({table})"
    elif asks():
        level = "`missing_level = true`" if fact.number else 'a level "missing"'
        way = f"; {level} in the schema leaves such rows out"
    return (
        f"missing {fact.outcome} {counts}, by the schema: where many are missing the effect is wrong, mostly too "
        f"small{way}"
    )


def _missing_held(fact: facts.MissingHeld) -> str:
    """Return for which columns a missing value is held fixed like a level."""
    return (
        f"missing {listed(fact.columns)} counts as a value that is held fixed: such people are compared with each "
        "other, though other causes may differ among them"
    )


def _strata_left_out(fact: facts.StrataLeftOut) -> str:
    """Return why strata are left out, and for how many rows the answer holds."""
    why = "in which noise hides" if fact.noise else "with fewer than 3 rows in"
    kept = _share_kept(1 - fact.share, noise=fact.noise)
    return f"combinations of levels {why} one of the two groups are left out: the answer holds for {kept} of the rows"


def _everyone(fact: facts.Everyone) -> str:
    """Return the interval for all rows, whatever the effect is in strata that were left out."""
    most = "" if fact.most is None else f" (noise allows up to {fact.most:.1%} of the rows)"
    return (
        f"for all rows, whatever the effect is in those left out{most}, the interval is {number(fact.low)} to "
        f"{number(fact.high)}"
    )


def _nothing_known(fact: facts.NothingKnown) -> str:
    """Return why no stratum could be used, and what would help."""
    if not fact.noise:
        return "nowhere do both groups have 3 rows or more"
    return (
        "the noise is larger than the groups that are compared; more epsilon, more rows, or coarser bins of what is "
        "held fixed help; so do fewer columns held fixed, where those left out are no common causes"
    )


def _noise_rules(fact: facts.WideInterval) -> str:
    """Return that most of the interval's width is noise, and what would shorten it."""
    less = f"; noise hides less of {_event_way(fact.event)}" if fact.event and asks() else ""
    return f"most of the interval's width is privacy noise: {_shortens(_of_schema(fact))}{less}"


def _wide(fact: facts.WideInterval) -> str:
    """Return that the interval is too wide to be of use, and what would help."""
    event = [] if fact.event is None else [_event_way(fact.event)]
    ways = listed([*event, *_of_schema(fact), "more epsilon", "more rows"], "or")
    return f"the interval is too wide to say much{f': {ways} would help' if asks() else ''}"


def _later(fact: facts.AdjustsForLater) -> str:
    """Return the warning that a column held fixed comes after the treatment."""
    were, them = ("was", "it") if len(fact.columns) == 1 else ("were", "them")
    return (
        f"WARNING: {', '.join(fact.columns)} {were} declared to come after {fact.treatment} in time, which may change "
        f"{them}: adjusting for that can hide part of the effect or make one up"
    )


def _contradicted(fact: facts.Contradicted) -> str:
    """Return about which directions the graph contradicts itself, and what that means for the answer."""
    pairs = few([*map(" - ".join, fact.pairs)], MOST_PAIRS)
    means = (
        ": do not rely on this answer unless you know these directions"
        if fact.own
        else ", and what to hold fixed may depend on these"
    )
    return f"the graph contradicts itself about the direction of {pairs}{means}"


def _several(fact: facts.Several) -> str:
    """Return how many effects the graph allows where it leaves directions open."""
    none = "; one of them is no effect at all (the outcome may come first)" if fact.no_effect else ""
    return (
        f"the graph leaves directions open and allows {fact.count} effects; nothing says which is right, and a mean of "
        f"them is no estimate{none}"
    )


def _fresh_noise(fact: facts.FreshNoise) -> str:
    """Return that the table was measured after the graph was learned, and from which budget."""
    budget = f"out of the {fact.share or 0:.0%} of the discovery's budget kept for effects; the cost is that of both"
    kept = "" if fact.share is None else f", {budget}"
    return f"from a table with noise of its own, measured after the graph was learned{kept}"


def _followed_up(fact: facts.FollowedUp) -> str:
    """Return the horizon of a follow-up, its cuts, and what counts as the event and as censored."""
    cuts = listed([f"{end:g}" for end in fact.ends[:-1]])
    cut = f", cut at {cuts}" if cuts else ""
    others = f", {listed(fact.competing)} as competing" if fact.competing else ""
    return (
        f"by {fact.time} {fact.ends[-1]:g}, from a life table{cut}: {fact.event} {fact.happens} counts as the event, "
        f"{fact.censored} as censored{others}; right if, among people alike in what is held fixed, it is chance who is "
        "censored"
    )


# what is said of a note, by its kind, in the sections of an answer
WARNINGS: dict[str, Words] = {
    "outcome-earlier": "WARNING: {outcome} was declared to be earlier in time than {treatment}, which can't change it",
    "back-door": _back_door,
    "later": _later,
    "contradicted": _contradicted,
    "several": _several,
    "outcome-bins": "BIASED: {outcome} counts by the middles of its declared bins, since only counts are at hand; rows "
    "within bins can put the estimate off by {off:.3g}, and the interval is wider by as much on both sides",
}
RESTS: dict[str, Words] = {
    "unadjusted": "nothing is held fixed, which is right in a randomised trial only",
    "hidden-causes": "common causes may be hidden: that holds in every graph with hidden causes that this one allows",
    "graph-checks": "you named what is held fixed, and the graph was only used to check it",
    "hint-itself": "the link of the two is only a weak hint in the graph",
    "open-itself": "the graph could not show whether the two are linked directly: the pair is open",
    "no-path": "the graph shows no path of arrows from one to the other, which is no evidence of no effect: weak edges "
    "are missed",
    "from-graph": _from_graph,
    "open-pairs": "whether {columns} should be held fixed stayed open in the graph",
    "followed-up": _followed_up,
    "binned": "{columns} by the declared bins: confounding within a bin remains",
    "linear": "{columns} taken out by linear regression: what is not linear in them remains",
    "scored": _scores,
    "by-groups": _by_groups,
    "treatment-bins": "{treatment} by its declared bins",
}
REMARKS: dict[str, Words] = {
    "descendant": "by the graph the treatment may change {columns}: adjusting for that can hide part of the effect or "
    "make one up",
    "pooled": "{strata} combinations of levels with fewer rows than noise are taken as one (about {share:.1%} of the "
    "rows)",
    "left-out": _strata_left_out,
    "everyone": _everyone,
    "nothing-known": _nothing_known,
    "lopsided": "the interval reaches further on one side, since means are held within {low:g} to {high:g} and small "
    "groups are known poorly",
    "noise-rules": _noise_rules,
    "wide": _wide,
    "same-tables": "from the tables that also chose the graph, so the interval may be too short: in simulations "
    "{few:.0%} (2,000 rows) to {held:.0%} (10,000 rows) of 95% intervals held the truth",
    "same-moments": "from the moments that also chose the graph, so the interval may be too short; outlying rows were "
    "shrunk",
    "fresh-noise": _fresh_noise,
    "reserved": _fresh_noise,
}
SCHEMA_RULES: dict[str, Words] = {"numbers": _number_rules}
MISSING: dict[str, Words] = {
    "missing-left-out": _missing_left_out,
    "missing-counts": _missing_counts,
    "missing-held": _missing_held,
}
WORDS: dict[str, Words] = {**WARNINGS, **RESTS, **REMARKS, **SCHEMA_RULES, **MISSING}


def number(value: float) -> str:
    """Return a number with three significant digits, as text.

    >>> number(0.08912), number(-3.4), number(math.inf)
    ('0.0891', '-3.4', 'any size')
    """
    return "any size" if math.isinf(value) else f"{value:.3g}"


def answer_words(result: EffectResult) -> str:
    """Return the first line of an answer: the effect and its interval, or that nothing can be said."""
    first, second = result.compare
    what = result.outcome if result.event is None else f"{result.outcome} {happened(result.event)}"
    if result.curves is not None:
        what += f" by {result.curves.times[-1]:g}"
    low, high = result.interval
    ends = (
        f"{number(low)} or more"
        if math.isinf(high) and math.isfinite(low)
        else f"{number(low)} to {number(high)}"
    )
    held = f", {', '.join(result.adjust)} held fixed" if result.adjust and not result.possible else ""
    compared = f"{result.treatment} {second} against {first}"
    about = f"{result.estimand} of {what}{_scored(result)}{_among(result)}, {compared}{held}"
    level = f"{result.level * 100:g}% interval"
    if math.isnan(result.estimate) and not result.possible:
        return f"Nothing can be said about the {about} ({level} {ends}, which is all that is possible)."
    about = about[:1].upper() + about[1:]
    if result.possible:
        known = [one.estimate for one in result.possible if not math.isnan(one.estimate)]
        least = f", from {number(min(known))} to {number(max(known))}" if known else ""
        return f"{about}: the graph allows {len(result.possible)} effects{least} ({level} of all {ends})."
    return f"{about}: {number(result.estimate)} ({level} {ends})."


def _among(result: EffectResult) -> str:
    """Return whose effect it is: of all, the exposed or the overlap."""
    return f" among {among_words(result.population, f'{result.treatment} {result.compare[1]}')}"


def among_words(population: str, arm: str) -> str:
    """Return whose effect it is; ``arm`` names the second one.

    >>> among_words("exposed", "smoke yes"), among_words("all", "smoke yes")
    ('those with smoke yes', 'all')
    """
    among = {"all": "all", "exposed": f"those with {arm}", "overlap": "those who may be in either group"}
    return among[population]


def _scored(result: EffectResult) -> str:
    """Return the unit of an outcome that is measured by its normal score."""
    notes = [note for note in result.notes if isinstance(note, facts.ColumnsEnter) and note.how == "scored"]
    return " in standard deviations" if notes and result.outcome in notes[0].columns else ""


def assumes_words(result: EffectResult) -> str:
    """Return the assumptions of the answer, and which rows it holds for, as one text."""
    return " ".join(assumes_lines(result))


def assumes_lines(result: EffectResult) -> list[str]:
    """Return the assumptions of the answer, then warnings and notes, one line each."""
    notes = result.notes
    nothing = [note for note in notes if isinstance(note, facts.NothingKnown)]
    if nothing and not result.possible:
        return [f"Why: {note_words(nothing[0])}.", *missing_lines(notes)]
    unsure = _unsure(result)
    rests = [_rests(result, unsure)]
    rests += ["a mean over people in whom the treatment varies"] if result.population == "overlap" else []
    rests += [
        note_words(note) for note in _among_kinds(notes, RESTS) if not (unsure and _leaves_unsure(note))
    ]
    lines = [*map(note_words, _among_kinds(notes, WARNINGS)), "; ".join(rests)]
    lines += [
        note_words(note) + (_left_out(result) if isinstance(note, facts.StrataLeftOut) else "")
        for note in (*_among_kinds(notes, REMARKS), *_among_kinds(notes, SCHEMA_RULES))
    ]
    if 0 < result.share < 1 and not any(isinstance(note, facts.StrataLeftOut) for note in notes):
        about = "about " if result.privacy.epsilon is not None else ""
        lines.append(f"the answer holds for {about}{result.share:.0%} of the rows")
    lines += _missing_clauses(result)
    return [*map(as_sentence, lines), *missing_lines(notes), rows_differ("interval", result.privacy.unit)]


def _rests(result: EffectResult, unsure: str) -> str:
    """Return what makes the effect causal; ``unsure``: why the graph does not determine the adjustment set."""
    if unsure:
        held = f"no more than {listed(result.adjust)}" if result.adjust else "nothing"
        return f"Causal only if {held} needs to be held fixed. The graph does not say what to hold fixed: {unsure}"
    if result.possible or any(isinstance(note, facts.FromGraph) for note in result.notes):
        return "Causal if the graph is right"
    ends = f"{result.treatment} and {result.outcome}"
    if not result.adjust:
        return f"Causal if {ends} have no common cause"
    hold = "includes" if len(result.adjust) == 1 else "include"
    causes = f"{hold} every common cause of {ends} and nothing that {result.treatment} changes"
    return f"Causal if {', '.join(result.adjust)} {causes}"


def _unsure(result: EffectResult) -> str:
    """Return why the graph does not determine the adjustment set, as clauses; empty where it does."""
    if result.possible or not any(isinstance(note, facts.FromGraph) for note in result.notes):
        return ""
    clauses = []
    for note in result.notes:
        if note == facts.RestsOn("hint-itself"):
            clauses.append(f"the link of {result.treatment} and {result.outcome} is only a weak hint")
        if isinstance(note, facts.OpenPairs) and note.both:
            clauses.append(note_words(note))
    return ", and ".join(clauses)


STRATA_NAMED = 3  # strata left out that are named


def _left_out(result: EffectResult) -> str:
    """Return which strata were left out, as the end of a sentence; empty where unknown or not unique."""
    if not result.left_out or result.possible:
        return ""
    named = [
        ", ".join(f"{name} {level}" for name, level in zip(result.adjust, levels, strict=True))
        for levels in result.left_out
    ]
    return f". Left out: {few(named, STRATA_NAMED, between='; ')}"


def _among_kinds(notes: Sequence[EffectNote], kinds: Container[str]) -> list[EffectNote]:
    """Return the notes of these kinds, in their order."""
    return [note for note in notes if note.kind in kinds]


def _leaves_unsure(note: EffectNote) -> bool:
    """Return whether a note is covered by the sentence on an undetermined adjustment set."""
    return isinstance(note, facts.FromGraph | facts.OpenPairs) or note == facts.RestsOn("hint-itself")


def missing_lines(notes: Sequence[EffectNote]) -> list[str]:
    """Return a line for each way in which missing values are treated."""
    return [as_sentence(note_words(note)) for note in _among_kinds(notes, MISSING)]


def _missing_clauses(result: EffectResult) -> list[str]:
    """Return which level missing cells of the treatment count as, if the schema expects some."""
    facts = [fact for fact in result.privacy.public_anywhere if isinstance(fact, MissingAs)]
    return [
        f"missing {name} counts as {value}, as the schema says"
        for fact in facts
        for name, value, named, _ in fact.columns
        if named and isinstance(value, str) and name == result.treatment
    ]


def summary(result: EffectResult, *, full: bool = False) -> str:
    """Return the answer, what it rests on, and what it cost with where that is counted, in a line each.

    Warnings, what widens the interval, rows left out, what becomes of missing values, a weak promise and an unchecked
    schema have a line each. Effects that a
    graph allows are listed below the answer. A free effect that holds columns fixed says how to hold none. ``full``:
    all effects, and the whole privacy statement.
    """
    cost = [statement.summary(result.privacy)] if full else short_cost_lines(result.privacy)
    lines = [answer_words(result), *listed_effects(result, full=full), *assumes_lines(result)]
    return "\n".join([*lines, *(raw_lines(result) if full else []), *cost])


def raw_lines(result: EffectResult) -> list[str]:
    """Return how to ask for a free effect without adjustment; nothing where the answer has none."""
    free = any(isinstance(note, facts.SameRelease) for note in result.notes)
    if not free or not (result.adjust or any(one.adjust for one in result.possible)) or not asks():
        return []
    how = spelled("--adjust none --anyway", "adjust=[], anyway=True")
    return [f"The raw difference, with nothing held fixed, is free too: {how}."]


def html(result: EffectResult) -> str:
    """Return the lines as a piece of HTML for notebooks."""
    return curves_svg(result) + as_html(summary(result))


def edge_effect_lines(found: EffectResult | InputError | None) -> list[str]:
    """Return the lines on the effect along an edge, with its warnings; none where there is no effect."""
    if not isinstance(found, EffectResult):
        return []
    with for_everyone():
        warnings = [as_sentence(note_words(note)) for note in _among_kinds(found.notes, WARNINGS)]
        return [answer_words(found), *listed_effects(found), *warnings]


def edge_effects_mean(statement: PrivacyStatement) -> str:
    """Return the assumptions that all effects in a table of edges share."""
    return (
        "Effects are causal if the graph is right. They come from what also chose the graph, so intervals may be too "
        f"short. {rows_differ('interval of each', statement.unit)} dpcausal effect --release says what each rests on, "
        "and why others are not given, free."
    )


def listed_effects(result: EffectResult, *, full: bool = False) -> list[str]:
    """Return a line for every effect that the graph allows, or for the first few."""
    possible = [f"- {line}" for line in possible_lines(result)]
    if full or len(possible) <= MOST_LISTED:
        return possible
    more = len(possible) - MOST_LISTED
    return [*possible[:MOST_LISTED], f"- and {more} more ({spelled('--full', 'summary(full=True)')})"]


def possible_lines(result: EffectResult) -> list[str]:
    """Return a line for every effect that the graph allows."""
    lines = []
    for one in result.possible:
        if one.adjust is None:
            lines.append(f"none, if {result.outcome} comes before {result.treatment}")
            continue
        held = ", ".join(one.adjust) or "nothing"
        low, high = one.interval
        ends = f"{number(low)} to {number(high)}"
        said = "nothing can be said" if math.isnan(one.estimate) else number(one.estimate)
        lines.append(f"{said} ({ends}), if {held} {'is' if len(one.adjust) < 2 else 'are'} held fixed")
    return lines


NOTABLE_LEFT_OUT = 0.05  # chance from which on a forecast says that strata may be left out


def forecast_words(found: EffectForecast) -> str:
    """Return the forecast of an interval: its width, the assumptions, and what would shorten it."""
    one = found.question
    held = f", {', '.join(one.adjust)} held fixed" if one.adjust else ""
    lines = [
        f"Forecast for the effect of {one.treatment} on {one.outcome}{held} ({_compared(one)}){_whose(found)}: "
        f"{_expected(found)}, of "
        f"which sampling alone makes about {number(found.width_without_noise)}. Nothing was charged or released."
    ]
    if found.says_nothing:
        share = "all" if one.is_risk else "half"
        lines.append(
            f"From {share} of the range on ({number(found.most)}) an interval says nothing, and is refused. "
            f"{_ways(found)}."
        )
    elif found.noise_rules:
        ways = _shortens(_of_schema(noise_note(found)))
        fewer = "; so do fewer columns held fixed, but one that is a common cause then confounds the effect"
        event = "" if found.event is None else f" Noise hides less of {_event_way(found.event)}."
        lines.append(f"Most of it is privacy noise: {ways}{fewer if one.adjust else ''}.{event}")
    if found.left_out >= NOTABLE_LEFT_OUT and not found.says_nothing:
        lines.append(
            f"In {percent(found.left_out)} of runs noise is expected to hide one of the two groups in some combination "
            "of levels held fixed, more often where one is rare. It is then left out, and the interval for all rows is "
            "wider; coarser bins help."
        )
    if found.test is not None:
        name, chance = found.test
        test = f"{spelled('dpcausal test', 'dc.ci_test')} ({name})"
        lines.append(
            "Whether there is an effect takes less budget than how large it is: one that this interval tells from none "
            f"in 80% of runs is found by {test} in {percent(chance)}, at best."
        )
    if found.rare is not None and not found.says_nothing:
        wide = f"it is {number(found.rare)} wide" if math.isfinite(found.rare) else "nothing can be said"
        if math.isfinite(found.rare) and found.rare_population not in (None, found.population):
            wide += f", and of the effect among {among_words(found.rare_population, _arm(one))} only"
        told = spelled("--share", "share=")
        lines.append(
            f"If only 5% of rows have {_arm(one)}, {wide}: give the share that you expect by {told}."
        )
    word = "combination" if found.strata == 1 else "combinations"
    strata = f"{found.strata:,} {word} of levels held fixed" if one.adjust else "nothing held fixed"
    lines.append(
        f"From public numbers only: {found.rows:,} rows, {strata}, epsilon {found.epsilon:g}, delta {found.delta:g}, "
        f"method {found.method}. Levels are taken to be as common as 1, 1/2, 1/3 and so on"
        + (
            ": good to a factor of about 3."
            if found.share is None
            else f", {_arm(one)} as {percent(found.share)}."
        )
    )
    lines += missing_lines(found.notes)
    return "\n".join(lines)


def _whose(found: EffectForecast) -> str:
    """Return whose effect the interval is expected to be of, and at which share of the treatment."""
    one = found.question
    among = f" among {among_words(found.population, _arm(one))}"
    return among if one.others else f"{among}, if {percent(found.treated)} of rows have {_arm(one)}"


def _arm(one: EffectQuestion) -> str:
    """Return the name of the second arm, in words."""
    return f"{one.treatment} {one.arm_names[1]}"


def _compared(one: EffectQuestion) -> str:
    """Return what an effect compares: the estimand, the event, and the levels of the treatment."""
    first, second = one.arm_names
    event = "" if one.event is None else f" of {one.outcome} {happened(one.event)}"
    return f"{one.estimand}{event}, {one.treatment} {second} against {first}"


def refusal_words(found: EffectForecast) -> str:
    """Return why an effect is refused and what would help, in one line."""
    one = found.question
    most = (
        "a difference of risks lies between -1 and 1"
        if one.is_risk
        else f"{one.outcome} lies between {one.low:g} and {one.high:g}"
    )
    return (
        f"this can say nothing, so nothing was charged: {budget_words(found)} {_expected(found)}, and {most}. "
        f"{_ways(found)}; {spelled('--anyway', 'anyway=True')} runs it all the same"
    )


def _expected(found: EffectForecast) -> str:
    """Return how wide the interval is expected to be."""
    ratio = " of the risk difference" if found.question.estimand.endswith("ratio") else ""
    return f"the {found.level * 100:g}% interval{ratio} is expected to be {number(found.width)} wide"


def _ways(found: EffectForecast) -> str:
    """Return what would help, each way by itself, with its forecast."""
    one, ways = found.question, []
    if found.event is not None:
        ways.append(_event_way(found.event))
    if found.number:
        ways.append(_bounds_way(one.outcome, one.low, one.high))
    if found.fewer is not None:
        dropped = [name for name in one.adjust if name not in found.fewer]
        no_cause = "it is no common cause" if len(dropped) == 1 else "they are no common causes"
        ways.append(
            f"leaving {', '.join(dropped)} out of what is held fixed, if {no_cause} of {one.treatment} and "
            f"{one.outcome}: else the effect is confounded"
        )
    ways += [COARSER] if one.adjust else []
    return help_words(found, ways)
