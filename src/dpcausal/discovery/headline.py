"""The first line about a result: how many edges were found, or that nothing could be decided.

An edge is *untested* where a question about it stayed open. Where that is so for nearly every edge, the number of edges
says how little was learned, not how much, and the line begins with that:

- *nothing could be decided*: hardly any pair of columns was separated either, so the graph is where the search began;
- *no edge could be fully tested*: pairs were separated, so missing edges do say something.

Edges declared beforehand (required, forbidden) don't count. From the released result alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.discovery.method_words import method_words

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

NEARLY_ALL = 0.9


def undecided_words(result: DiscoveryResult) -> str:
    """One clause, without a full stop; empty where more than a tenth of the edges was fully tested."""
    edges = result.graph.skeleton - result.known.kept
    left = len(result.untested & edges)
    if not left or left < NEARLY_ALL * len(edges):
        return ""
    columns = len(result.graph.nodes)
    pairs = columns * (columns - 1) // 2 - len(result.known.kept | result.known.left_out)
    limit = "with this many rows" if result.privacy.epsilon is None else "at this budget"
    kept = f"{left} of {len(edges)} edges among {columns} columns are kept without a full test"
    if len(edges) >= NEARLY_ALL * pairs:
        return f"Nothing could be decided {limit}: {kept}"
    many = "No" if left == len(edges) else "Hardly any"
    missing = "for pairs without an edge no evidence of a dependence was found"
    return f"{many} edge could be fully tested {limit}: {kept}; {missing}"


def headline(result: DiscoveryResult) -> str:
    """The line, with the method and why it was taken."""
    words = undecided_words(result)
    if not words:
        found = len(result.graph.skeleton)
        words = f"{found} edge{'' if found == 1 else 's'} among {len(result.graph.nodes)} columns"
    return f"{words} ({method_words(result.method, result.why)})"


def as_sentence(note: str) -> str:
    """A remark with a capital and a full stop.

    >>> as_sentence("one noisy threshold"), as_sentence("Done.")
    ('One noisy threshold.', 'Done.')
    """
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")
