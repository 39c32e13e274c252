"""A discovery in words: notes on what could not be answered."""

from __future__ import annotations

from collections import Counter

from dpcausal.discovery.search import OpenReason, unanswered
from dpcausal.present.notes import note_words


def test_questions_without_an_answer_do_not_claim_edges() -> None:
    """A pair that other questions found or separated is not open."""
    told = note_words(unanswered(Counter({OpenReason.NOISE: 2})))
    assert told.startswith("2 questions could not be answered (such a pair stays open unless other questions")
    assert note_words(unanswered(Counter({OpenReason.NOISE: 1}))).startswith(
        "1 question could not be answered (such a pair stays open"
    )
