"""Which method made a graph and why, and what it noted on the way: one sentence for each kind of fact."""

from __future__ import annotations

from collections.abc import Collection

from dpcausal.core.spelling import spelled
from dpcausal.discovery import search as facts
from dpcausal.discovery.discover import METHODS
from dpcausal.discovery.search import HiddenCauses, MethodReason, Note, OpenReason
from dpcausal.present.statement import no_delta_words


def method_words(method: str, why: str) -> str:
    """The method by name, what it does and why it was taken.

    >>> method_words("svt-pc", "as asked")
    'method svt-pc, as asked: every question is compared with a noisy threshold; only edges that it deletes cost'
    >>> method_words("measured", "chosen because 1 of 3 columns holds numbers, not most")
    'method measured, chosen because 1 of 3 columns holds numbers, not most: tables measured once, with noise, answer every question'
    """  # noqa: E501
    does = method_description(method)
    return f"method {method}, {why}" + (f": {does}" if does else "")


def method_description(method: str) -> str:
    """Return what a method does, in its own words; empty where there is no such method."""

    return METHODS[method].description if method in METHODS else ""


MERGED_SHOWN = 12  # columns with merged levels named in a line


def groups_words(columns: Collection[tuple[str, int]], most: int | None = None) -> str:
    """Columns by the number of groups to which their levels were merged; more than ``most`` of a kind are counted only.

    >>> groups_words([("age", 3), ("site", 2), ("bmi", 3)]), groups_words([("age", 3), ("bmi", 3)], most=1)
    ('to 2 groups site; to 3 groups age, bmi', 'to 3 groups 2 columns')
    """
    merged: dict[int, list[str]] = {}
    for name, groups in columns:
        merged.setdefault(groups, []).append(name)
    return "; ".join(
        f"to {groups} groups "
        + (f"{len(names)} columns" if most is not None and len(names) > most else ", ".join(names))
        for groups, names in sorted(merged.items())
    )


BY_CALL = {
    "as-asked": "as asked",
    "no-privacy": "chosen because no privacy was asked for",
    "one-target": "chosen because the question is about one column",
    "counts-only": "chosen because there are counts only, no rows",
}
_HELP = "(a larger epsilon would help, or a delta where there is none)"
OPEN_REASONS: dict[OpenReason, str] = {
    OpenReason.TOO_MANY_CELLS: "because there are more conditioning cells than a test can use (fewer levels or bins "
    "would help)",
    OpenReason.NOT_MEASURED: f"because no budget was left for the tables that it takes {_HELP}",
    OpenReason.TOO_FEW_ROWS: "because too few rows differ where the others are fixed, noise or not (more rows or fewer "
    "bins would help)",
    OpenReason.NOISE: f"because noise alone would decide {_HELP}",
    OpenReason.NOISE_AND_ROWS: "because with this many rows and this noise even a perfect dependence would not stand "
    "out",
    OpenReason.WEAK_TEST: "because the test would miss even a strong dependence more often than not (a larger epsilon, "
    "fewer columns or more rows would help)",
}


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
                    return f"chosen though {held}: {more}"
    raise TypeError(f"no words for {fact!r}")


def _one_level_words(fact: facts.OneLevel) -> str:
    quoted = [f'"{name}"' for name in fact.columns]
    if len(quoted) == 1:
        return f"{quoted[0]} has one level: it can't depend on anything, so it has no edge; leave it out."
    names = f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return f"{names} have one level: they can't depend on anything, so they have no edge; leave them out."


def rows_words(rows: float) -> str:
    """Up to three digits that count, whole rows from ten on: the same in the terminal and in the report.

    >>> rows_words(47.04), rows_words(1434.2), rows_words(70.54), rows_words(4.24)
    ('47', '1,430', '71', '4.2')
    """
    if rows >= 1000:
        return f"{float(f'{rows:.3g}'):,.0f}"
    return f"{rows:.0f}" if rows >= 10 else f"{rows:.2g}"


def _known_words(fact: facts.CountsMeasured) -> str:
    held = ""
    if fact.mean_cell is not None and fact.least_cell is not None:
        mean, least = rows_words(fact.mean_cell), rows_words(fact.least_cell)
        more = f", or {least} in the table with most cells" if least != mean else ""
        held = f"; an average cell holds {mean} rows{more}"
    return f"noise of standard deviation {rows_words(fact.sd)} rows{held}"


def _components_words(fact: facts.TablesMeasured) -> str:
    rows = "the number of rows and " if fact.rows_measured else ""
    more = f", {fact.larger:,} larger" if fact.larger else ""
    sets = fact.larger + fact.singles + fact.pairs
    target = fact.target
    where = "in a table of two columns" if target is None else f"of another column with {target}"
    return (
        f"Measured with {'Gaussian' if fact.gaussian else 'Laplace'} noise: {rows}tables of {sets:,} sets of columns "
        f"({fact.singles:,} single, {fact.pairs:,} pair{'' if fact.pairs == 1 else 's'}{more}); all measurements "
        f"together, a count {where} has {_known_words(fact)}"
    )


def _unanswered_words(fact: facts.Unanswered) -> str:
    total = sum(count for _, count in fact.reasons)
    parts = "; ".join(f"{count:,} {OPEN_REASONS[why]}" for why, count in fact.reasons)
    questions = "question" if total == 1 else "questions"
    return (
        f"{total:,} {questions} could not be answered (such a pair stays open unless other questions decide it): "
        f"{parts}"
    )


MERGING = (
    "Merging can hide part of a dependence. It also holds less fixed: two columns that both depend on a merged one may "
    "seem linked because of it"
)


def _conflicts_words(fact: facts.Conflicts) -> str:
    pairs, against = (", ".join(map(" - ".join, some)) for some in (fact.pairs, fact.declared))
    shown = "circles stand there" if fact.circles else "these edges are shown without a direction"
    if not fact.settled and not fact.circles:
        shown += ", and no graph fits all other directions"
    parts = (
        [f"Some test results contradict each other about directions, at {pairs}: {shown}"] if pairs else []
    )
    parts += (
        [f"Some contradict what you declared, at {against}: shown is what you declared"] if against else []
    )
    return ". ".join(parts)


def _resolution_words(rows: float) -> str:
    """What a search that pays for deletions can keep.

    >>> _resolution_words(24.6)
    'a dependence of more than about 25 rows (observed minus expected) is kept 99 times in 100 it is asked about'
    """
    shown = f"{rows:,.0f}" if rows >= 10 else f"{rows:.1f}"
    return (
        f"a dependence of more than about {shown} rows (observed minus expected) is kept 99 times in 100 it is asked "
        "about"
    )


def _threshold_words(fact: facts.ThresholdUsed) -> str:
    one, many = {
        "deletions": ("deletion of an edge", "deletions of edges"),
        "pairs": ("pair that may be independent", "pairs that may be independent"),
    }[fact.of]
    how = (
        f"a new noisy threshold after every {one}, for up to {fact.most}"
        if fact.renewed
        else f"one noisy threshold for up to {fact.most} {many}"
    )
    on = f", on {fact.rows:,} rows" if fact.rows else ""
    if fact.parts is None:
        return f"{how}{on}; {_resolution_words(fact.resolution)}"
    return (
        f"{how}{on}; each question is tested on {fact.parts:,} parts of the rows, and a dependence that about "
        f"{fact.resolution:,.0f} parts more than expected see is kept 99 times in 100 it is asked about"
    )


def _choices_words(fact: facts.ChoicesMade) -> str:
    kind = {"exponential": "exponential mechanism"}.get(fact.mechanism, fact.mechanism)
    return (
        f"epsilon {fact.epsilon:.3g} for each of up to {fact.choices} choices ({kind}); "
        f"{_resolution_words(fact.resolution)}"
    )


def _classical_words(fact: facts.Classical) -> str:
    several = len(fact.tests) > 1
    first = f"PC with the {', '.join(fact.tests)} test{'s' * several} at level {fact.level:g}."
    if fact.like:
        return f"{first} The private method {fact.like} asks the same questions by the same tests, with noise"
    option = spelled("--option test=auto", "test='auto'")
    return (
        f"{first} Private methods decide by rules of their own, so a graph can differ for that reason, too; to compare "
        f"with the private method tests, which asks the test that suits each question, add {option}"
    )


MOST_COARSE = 6  # such edges that a note names


def _edges_told(fact: facts.CoarseEdges, joined: str) -> str:
    """The first edges of a note, each with the columns beside it, and how many more there are."""
    edges = fact.edges
    told = ", ".join(f"{a} - {b} ({f' {joined} '.join(by)})" for a, b, by in edges[:MOST_COARSE])
    return told + (f" and {len(edges) - MOST_COARSE} more" if len(edges) > MOST_COARSE else "")


def _coarse_words(fact: facts.CoarseEdges) -> str:
    return (
        "A number is held fixed by its bins, and merged levels by their groups. Within a bin two columns may still go "
        "together because both depend on it, and look linked. That may be so, because of the column in brackets, at "
        f"{_edges_told(fact, 'or')}. Finer bins of that column would tell, at the price of more noise"
    )


def _bins_words(fact: facts.CoarseEdges) -> str:
    return (
        f"Open, though the two go together: {_edges_told(fact, 'and')}. A number is held fixed by its bins, and within "
        "a bin two columns that depend on it still go together. How much bins leave was reckoned from the pairs: as "
        "much as was seen given the columns in brackets. The numbers behind the bins were taken as normal after "
        "ranking. Finer bins would tell, at the price of more noise"
    )


MOST_SHARED = 6  # edges of columns with levels for missing values that a note names


def note_words(note: Note) -> str:
    """Return one note on a result, without a full stop where it is a clause."""
    match note:
        case facts.OneLevel():
            return _one_level_words(note)
        case facts.JointTableMeasured():
            return (
                f"One joint table of {note.cells:,} cells was measured with "
                f"{'Gaussian' if note.gaussian else 'Laplace'} noise; a count in a table of two columns has "
                f"{_known_words(note)}"
            )
        case facts.TablesMeasured():
            return _components_words(note)
        case facts.ScoredGraphs():
            return (
                "Whole graphs were scored on the joint table, with its noise in the score, and joined with what pairs "
                f"of columns show; the best one has {note.edges} edge{'' if note.edges == 1 else 's'}, each judged "
                "beside all others"
            )
        case facts.HiddenCauses():
            return hidden_causes_words(note)
        case facts.AboutTarget():
            return (
                f"The question was what is directly linked to {note.target}: only pairs with it were decided. Measured "
                f"a second time, with it and with each other: {', '.join(note.near)}"
            )
        case facts.ChosenPairs():
            return (
                f"{note.number} of the {note.of:,} pairs of columns were measured: pairs that join all columns, chosen "
                "at random, likelier where two columns depend more. With so many columns and so much noise this finds "
                "more links than a look at every pair would; pairs that were not chosen are open"
            )
        case facts.MergedLevels():
            return (
                "Levels were merged before tables were measured, because the noise leaves no room for more: "
                f"{groups_words(note.columns, MERGED_SHOWN)}. {MERGING}"
            )
        case facts.Unanswered():
            return _unanswered_words(note)
        case facts.WithoutDelta():
            return no_delta_words(note.times)
        case facts.Conflicts():
            return _conflicts_words(note)
        case facts.AskedTests():
            return f"Tests: {', '.join(note.tests)}; epsilon {note.epsilon:.3g} for each"
        case facts.Classical():
            return _classical_words(note)
        case facts.ClassicalMoments():
            return (
                f"PC with tests on moments of features ({note.harmonics} harmonics) at level {note.level:g}. The "
                "private method moments asks the same tests with noise, and plans its own number of harmonics"
            )
        case facts.MomentsMeasured():
            return (
                f"{note.features} features of the columns (of a number: its value and {note.waves} pairs of waves); "
                f"sums of their products have noise of standard deviation {note.sd:.3g} rows"
            )
        case facts.ThresholdUsed():
            return _threshold_words(note)
        case facts.EqualWidths():
            return (
                f"Where {', '.join(note.columns)} are held fixed, their numbers are cut into strata of equal width "
                "between the declared bounds. If most rows lie in few strata, as for skewed numbers, part of what they "
                "explain is left, and it can look like an edge: moments and tests cut by privately measured counts"
            )
        case facts.SharedMissing():
            more = f" and {len(note.pairs) - MOST_SHARED} more" if len(note.pairs) > MOST_SHARED else ""
            return (
                "Both columns declare a level for missing values, so that the edge may be there only because values "
                f"are missing in the same rows: {', '.join(map(' - '.join, note.pairs[:MOST_SHARED]))}{more}"
            )
        case facts.CoarseEdges():
            return _coarse_words(note) if note.what == "held-coarsely" else _bins_words(note)
        case facts.ChoicesMade():
            return _choices_words(note)
        case facts.CostsOfTests():
            costs = ", ".join(f"{cost:.3g} given {order}" for order, cost in note.costs)
            return f"Cost of a test ({note.unit}), by number of columns given: {costs}"
    raise TypeError(f"no words for {note!r}")


def as_sentence(note: str) -> str:
    """A remark with a capital and a full stop.

    >>> as_sentence("one noisy threshold"), as_sentence("Done.")
    ('One noisy threshold.', 'Done.')
    """
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")


def hidden_causes_words(fact: HiddenCauses) -> str:
    """Return the note that common causes may be hidden, and how far sets were asked about for that."""
    sets = f"sets of up to {fact.order} columns, {fact.far} of them beyond the neighbours of a column at most"
    asked = "" if fact.order is None else f". For that, further questions were asked, with {sets}"
    return (
        "Common causes may be hidden: an arrowhead says what is no cause, a tail what is a cause, and a circle that "
        f"the data do not decide. Rows are assumed not to have been selected by their values{asked}"
    )
