"""What earlier entries of a data set say about a charge that is about to be made.

It may ask what was asked before, ask of the same columns what an earlier release answers at no cost, or be about
another number of rows. Only notes of entries go in, which are public: the
command, columns, levels and events, and the number of rows where that is public. Nothing is refused: a question may be
asked twice, and is then charged twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dpcausal.core.errors import BeforeCharge
from dpcausal.privacy.ledger.chain import CHARGE, Entry

MOST_ENTRIES = (
    1000  # of a data set that are looked at, the newest: a charge takes as long whatever the log holds
)


class AskedBefore(BeforeCharge):
    """A warning: the question was charged to this data set before."""


class SearchAgain(BeforeCharge):
    """An earlier release of this data set can be searched for the answer, at no cost."""


class OtherRows(BeforeCharge):
    """Earlier charges to this data set were for another number of rows."""


class EarlierRows(NamedTuple):
    """Entries that were for another number of rows."""

    entries: tuple[int, ...]  # their numbers in the ledger, oldest first
    counts: tuple[int, ...]  # the numbers of rows that they had, each once
    rows: int  # the number of rows now


class EarlierQuestion(NamedTuple):
    """Entries that asked the same question."""

    entries: tuple[int, ...]  # their numbers in the ledger, oldest first
    epsilons: tuple[float, ...]  # what each was charged
    graph: bool  # whether they learned a graph; else a test or an effect
    again: bool  # whether what they released can be searched again at no cost


class EarlierRelease(NamedTuple):
    """Entries whose release can be searched at no cost for what is asked now.

    They asked the same, but for whether common causes may be hidden.
    """

    entries: tuple[int, ...]  # their numbers in the ledger, oldest first
    epsilons: tuple[float, ...]  # what each was charged
    latent: bool  # whether common causes may be hidden in what is asked now


def noted(entries: Iterable[Entry]) -> list[tuple[Entry, Mapping[str, Any]]]:
    """Return the charges with their parsed notes, oldest first; notes that are not JSON objects are skipped."""
    found: list[tuple[Entry, Mapping[str, Any]]] = []
    for entry in sorted(entries, key=lambda entry: entry.seq):
        try:
            note = json.loads(entry.note)
        except ValueError:  # ``verify`` says so
            continue
        if entry.kind == CHARGE and isinstance(note, dict):
            found.append((entry, note))
    return found


def what_is_asked(note: Mapping[str, Any]) -> tuple[object, ...] | None:
    """Return the question and method that a note describes, without the budget; None if it has none.

    Whether common causes may be hidden is left to ``asks_latent``: releases of methods that know the difference answer
    either.

    >>> what_is_asked({"command": "test", "method": "kendall", "question": "a and b"})
    ('test', 'kendall', 'a and b', None, frozenset(), frozenset())
    >>> what_is_asked({"command": "discover", "method": "measured", "columns": ["a"], "target": "a"})
    ('discover', 'measured', frozenset({'a'}), 'a', frozenset(), frozenset())
    >>> what_is_asked({"command": "gwas", "method": "svt"})
    """
    try:
        about = note.get("question") or frozenset(note.get("columns") or ())
        event = note.get("target") if note.get("event") is None else note["event"]
        levels, effects = (
            frozenset(note.get("compare") or ()),
            frozenset(map(tuple, note.get("effects") or ())),
        )
        how = (note.get("command"), note.get("method"))
        return (*how, about, event, levels, effects) if about else None
    except TypeError:  # written by something else
        return None


def asks_latent(note: Mapping[str, Any]) -> bool:
    """Return whether the question of a note allows hidden common causes."""
    return note.get("latent") is True


def can_be_searched_again(note: Mapping[str, Any]) -> bool:
    """Return whether the release that a note describes can be searched again at no cost.

    It can where the method takes ``latent``, and then the note says it: the further questions that hidden causes raise
    are free there.
    """
    return isinstance(note.get("latent"), bool)


def asked_before(
    entries: Iterable[Entry], note: Mapping[str, Any]
) -> EarlierQuestion | EarlierRelease | None:
    """Return the earlier entries with the same question, or whose release answers it; None if none.

    Of the same file, where both name one.
    """
    asked, file, latent = what_is_asked(note), note.get("file"), asks_latent(note)
    if asked is None:
        return None
    alike = [
        (entry, asks_latent(earlier) == latent)
        for entry, earlier in noted(entries)
        if what_is_asked(earlier) == asked and (file is None or earlier.get("file", file) == file)
    ]
    same, again = [entry for entry, equal in alike if equal], can_be_searched_again(note)
    found = same or [entry for entry, _ in alike if again]
    if not found:
        return None
    which = tuple(entry.seq for entry in found), tuple(float(entry.epsilon) for entry in found)
    if not same:
        return EarlierRelease(*which, latent)
    return EarlierQuestion(*which, note.get("command") == "discover", again)


def other_rows(entries: Iterable[Entry], note: Mapping[str, Any]) -> EarlierRows | None:
    """Return earlier entries with another number of rows; None if unknown or if this number occurred before."""
    rows = note.get("rows")
    known = {entry.seq: n for entry, earlier in noted(entries) if isinstance(n := earlier.get("rows"), int)}
    if not known or not isinstance(rows, int) or rows in known.values():
        return None
    return EarlierRows(tuple(known), tuple(dict.fromkeys(known.values())), rows)
