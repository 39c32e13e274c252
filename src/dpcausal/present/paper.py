"""What a reader of the report needs first, and a writer of a paper last: conclusion, methods, evidence of an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpcausal._version import __version__
from dpcausal.core.statement import MissingAs, UncheckedDraft
from dpcausal.data.columns import reads_as_missing
from dpcausal.discovery.search import SharedMissing
from dpcausal.present.figures import strength_words
from dpcausal.present.graph_words import (
    W_MEANS,
    absent_means,
    all_declared_words,
    arrows_mean,
    column_count,
    found_words,
    merged_line,
)
from dpcausal.present.notes import method_description, note_words
from dpcausal.present.statement import missing_as_words, number_of_units, relation_words
from dpcausal.present.tables import (
    HINTS_MEAN,
    NONE_TO_HOLD,
    NOTHING_HELD_MEANS,
    EdgeFact,
    PairRow,
    counted_kinds,
    edge_rows,
    repeats_words,
)
from dpcausal.present.text import as_sentence, counted, listed

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

DIRECTIONS = {  # where a direction comes from -> its words
    "declared": "declared",
    "data": "decided by the data",
    "contradicted": "contradicted by test results",
    "undecided": "not decided",
}


def missing_together(result: DiscoveryResult) -> list[str]:
    """Return the caution on links between columns with levels for missing values; else nothing."""
    return [as_sentence(note_words(note)) for note in result.notes if isinstance(note, SharedMissing)]


def directions(result: DiscoveryResult) -> str:
    """Return where the directions of edges come from, with numbers of edges; empty without any."""
    if result.graph.kind == "pag":
        kinds = counted_kinds(result.graph, result.hints)
        return f"Edges by their marks: {', '.join(kinds)}." if kinds else ""
    found = Counter(DIRECTIONS[row.direction] for row in edge_rows(result) if row.state != "hint")
    parts = [f"{found[words]} {words}" for words in dict.fromkeys(DIRECTIONS.values()) if found[words]]
    return f"Directions: {', '.join(parts)}." if parts else ""


def conclusion(result: DiscoveryResult) -> list[str]:
    """Return the finding in a few sentences."""
    loose = len(result.nothing_held - result.hints)
    hints = any(result.target in (None, *pair) for pair in result.hints)
    sentences = [
        f"{found_words(result)}.",
        f"Weak hints are {HINTS_MEAN}." if hints else "",
        f"{counted(loose, 'edge')} {'was' if loose == 1 else 'were'} {NOTHING_HELD_MEANS}." if loose else "",
        *missing_together(result),
        directions(result),
        absent_means(result),
    ]
    return [sentence for sentence in sentences if sentence]


def methods_paragraph(result: DiscoveryResult, name: str = "") -> str:
    """Return a paragraph for the methods section of a paper; ``name`` of the data set, where it is known."""
    edges = counted(len(result.graph.skeleton), "edge")
    torn, loose, free = len(result.contradicted), len(result.nothing_held), len(result.none_to_hold)
    pag = result.graph.kind == "pag"
    absent = absent_means(result).removeprefix("Absent: ")
    w = f" ({W_MEANS})" if result.detectable else ""
    assuming = (
        " No hidden common cause and faithfulness are assumed." if result.shown.directed and not pag else ""
    )
    parts = [
        _we_learned(result, name),
        *_privacy_sentences(result),
        _reserve_sentence(result),
        *(
            _missing_sentence(fact.columns)
            for fact in result.privacy.public_anywhere
            if isinstance(fact, MissingAs)
        ),
        *missing_together(result),
        all_declared_words(result),
        merged_line(result),
        _confidence_sentence(result),
        f"{loose} of {edges} {'was' if loose == 1 else 'were'} {NOTHING_HELD_MEANS}." if loose else "",
        f"For {free} of {edges} {NONE_TO_HOLD}." if free else "",
        "Edges are those of a partial ancestral graph: common causes may be hidden." if pag else "",
        f"For {torn} of {edges} the test results contradicted each other about the direction, so none is shown."
        if torn and not pag
        else "",
        f"{arrows_mean(result)}{assuming}",
        f"For absent pairs {absent.removesuffix('.')}{w}." if absent else "",
        f"Pairs that could not be decided ({len(result.open)}) are reported as open, not as absent."
        if result.open
        else "",
    ]
    return " ".join(part for part in parts if part)


def _we_learned(result: DiscoveryResult, name: str) -> str:
    """Return the sentence on what was learned, claiming no more than the data decided."""
    target = result.target
    arrows = result.shown.directed - result.known.required_arrows(result.graph.skeleton)
    if arrows or result.graph.kind == "pag" or any(order and asked for order, asked in result.asked.items()):
        learned = f"We learned {'a causal graph' if target is None else f'the direct links of {target}'} over"
    else:
        which = "pairs of columns for dependence" if target is None else f"columns for dependence on {target}"
        learned = f"We screened {which}, nothing held fixed, among"
    of = f" of the data set {name}" if name else ""
    rows = "" if result.rows is None else f" ({number_of_units(result.rows, result.privacy.unit, how=True)})"
    does = method_description(result.method)
    return (
        f"{learned} {column_count(result)} columns{of}{rows} with dpcausal {__version__}, method {result.method}"
        f"{f' ({does})' if does else ''}, with tests of level {result.level:g}."
    )


def _privacy_sentences(result: DiscoveryResult) -> list[str]:
    """Return the sentences of a paper's paragraph on the privacy guarantee."""
    statement = result.privacy
    if statement.epsilon is None:
        return ["The computation was not private: no noise was added."]
    parts = [
        f"The release satisfies differential privacy with epsilon = {statement.epsilon:.4g} and delta = "
        f"{statement.delta:g}, where neighbours are {relation_words(statement)}; columns, levels and bounds were "
        "taken from the schema, which counts as public knowledge."
    ]
    if any(isinstance(limit, UncheckedDraft) for limit in statement.limits):
        parts.append("That schema was an unchecked draft, read from the rows.")
    if not statement.private:
        parts.append(f"It is not private, however: {statement.why_not_private}.")
    return parts


def _reserve_sentence(result: DiscoveryResult) -> str:
    """Return which share of the budget the search left for effects, and how much of it is unspent."""
    kept = result.reserve
    if kept is None or kept.left <= 0:
        return ""
    unspent = "none of it" if kept.left >= 1 else f"{1 - kept.left:.0%} of it"
    return (
        f"Epsilon and delta are a total, of which {kept.share:.0%} was kept for effects asked after the graph; "
        f"{unspent} had been spent when this was written."
    )


def _missing_sentence(columns: Sequence[tuple[str, Any, bool, bool]]) -> str:
    """Return how missing values were treated, as a sentence."""
    named = [one for one in columns if one[2] or reads_as_missing(str(one[1]))]
    first = "Missing values, and values that the schema does not list, took the value that it names for them"
    rest = ", and in other columns its entry `other`" if len(named) < len(columns) else ""
    return f"{first}: {missing_as_words(named)}{rest}." if named else f"{first} (its entry `other`)."


def _confidence_sentence(result: DiscoveryResult) -> str:
    """Return the sentence of a paper's paragraph on what confidence in an edge means."""
    if not result.found_confidence:
        return ""
    hints = len(result.hints)
    weak = f" Edges below half ({hints}) are reported as weak hints only." if hints else ""
    return (
        f"Confidence in an edge is the share of {repeats_words(result.repeats)}, with another sample and other noise "
        f"drawn as if what was released were the truth, in which it is found again, whichever way it points.{weak}"
    )


def evidence(result: DiscoveryResult, row: PairRow) -> list[str]:
    """Return the evidence for an edge in sentences, for its row in the report."""
    pair = frozenset((row.a, row.b))
    near = row.evidence.given if row.evidence is not None else ()
    rests = ""
    if pair in result.nothing_held:
        asked = f" With {listed(near)} held fixed it could not be decided." if near else ""
        rests = f"The link was {NOTHING_HELD_MEANS}.{asked}"
    elif pair in result.none_to_hold:
        rests = f"The two depend on each other; {NONE_TO_HOLD}."
    elif near and not {EdgeFact.EDGE_DECLARED, EdgeFact.HINT} & row.facts.keys():
        rests = f"Of columns that were held fixed, {listed(near)} came nearest to explaining it."
    link = result.strength.get(pair)
    strong = "" if link is None else f"{strength_words(link)}, with nothing held fixed."
    return [line for line in (rests, strong) if line]
