"""Marks and weights of a drawn graph, and what they mean: one table for the report, the SVG file and ``plot``.

Dashes and heads say what is known of a direction (a hollow head: it was declared), widths how often an edge is found
again, a dashed box that nothing could be decided about a column. Colour carries no meaning.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcausal.present import hidden
from dpcausal.present.discovery import HINT, OPEN_MEANS, SURE, fits_words, grade

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.graphs.graph import Graph, Pair
    from dpcausal.present.edges import EdgeNotes

WIDTHS = {"": 2.0, "sure": 3.6, "weaker": 1.8, "hint": 0.9, "open": 0.7}
DASHES: dict[str, tuple[float, ...]] = {
    "arrow": (),
    "declared": (),
    "marked": (),
    "plain": (8, 5),
    "conflict": (10, 4, 2, 4),
    "open": (2, 5),
}


@dataclass(frozen=True)
class Key:
    """A kind of line and what it means; ``ends``: its marks, as ``->``."""

    kind: str
    words: str
    ends: str = "-"


def line_kind(graph: Graph, pair: Pair, marks: EdgeNotes) -> str:
    """Return how the direction of an edge is drawn: ``arrow``, ``declared``, ``plain``, ``marked`` or ``conflict``."""
    if pair in marks.conflicts:
        return "conflict"
    if graph.kind == "pag":
        return "marked"
    if pair in graph.undirected:
        return "plain"
    a, b = pair
    return "declared" if marks.declares(a, b) or marks.declares(b, a) else "arrow"


def key_ends(key: Key, name: str = "graph") -> str:
    """Return the attributes of a key's line that draw its marks; a declared direction has a hollow head."""
    ends = hidden.key_ends(key.ends, name)
    return ends.replace("-head)", "-told)") if key.kind == "declared" else ends


def line_grade(pair: Pair, marks: EdgeNotes) -> str:
    """Return how the confidence in an edge is drawn; empty where it has none."""
    return grade(marks.confidence[pair]) if pair in marks.confidence else ""


def keys(result: DiscoveryResult, marks: EdgeNotes) -> list[Key]:
    """Return every kind of line that is drawn, with its meaning."""
    drawn, pairs = result.shown, result.graph.skeleton
    grades = {line_grade(pair, marks) for pair in pairs}
    kinds = {line_kind(drawn, pair, marks) for pair in pairs}
    found = [
        *((Key(told, hidden.KEYS[told], told), True) for told in hidden.kinds(drawn)),
        (Key("declared", "direction as you declared, not from the data", "->"), "declared" in kinds),
        (Key("arrow", fits_words(result), "->"), "arrow" in kinds),
        (Key("plain", "linked, direction not decided by the data"), "plain" in kinds),
        (
            Key(
                "conflict",
                "direction contradicted: test results point both ways",
            ),
            bool(marks.conflicts),
        ),
        *((key, True) for key in _grade_keys(grades)),
        (Key("undecided", "nothing could be decided about this column"), bool(marks.undecided)),
        (Key("alone", "no edge of this column was found"), bool(_alone(drawn, marks))),
        (Key("open", f"open: {OPEN_MEANS}"), bool(result.open)),
    ]
    return [key for key, there in found if there]


BOXES = ("undecided", "alone")  # kinds of keys that are boxes


def _alone(graph: Graph, marks: EdgeNotes) -> list[str]:
    """Return the columns in a solid box without an edge."""
    return [name for name in graph.nodes if not graph.adjacent(name) and name not in marks.undecided]


def _grade_keys(grades: Collection[str]) -> list[Key]:
    """Return the widths that are drawn; the first says what they show.

    >>> [key.words for key in _grade_keys({"weaker", "hint"})]
    ['edge found again in 50% to 80% of repeats (rough; another run draws other noise)', 'in less than 50%: a hint']
    """
    words = {
        "sure": f"{SURE:.0%} or more",
        "weaker": f"{HINT:.0%} to {SURE:.0%}",
        "hint": f"less than {HINT:.0%}",
    }
    there = [kind for kind in words if kind in grades]
    return [
        Key(
            kind,
            (
                f"edge found again in {words[kind]} of repeats (rough; another run draws other noise)"
                if kind == there[0]
                else f"in {words[kind]}"
            )
            + (": a hint" if kind == "hint" else ""),
        )
        for kind in there
    ]
