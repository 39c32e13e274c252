"""A line for every field of a statement and every heading of the table of charges, for readers without the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS = {
    "private": "whether the promise holds at all",
    "why_not_private": "what is missing for a promise",
    "definition": "kind of promise: pure holds always, approximate but for probability delta; zCDP counts in rho",
    "parameters": "the promise in its own unit",
    "epsilon": "the promise: odds move by at most e to this power",
    "delta": "how probable it may be that the promise fails",
    "neighbours": "which two tables must be hard to tell apart",
    "unit": "what is protected",
    "public": "taken to be known to everyone",
    "released": "everything that left",
    "composition": "how the charges add up",
    "asked": "what it was allowed to cost; a ledger is charged this",
    "reading": "what the charges of this run add up to; a search might have spent all that was asked",
    "noise": "where it came from",
    "limits": "what is not promised",
    "ledger": "where this release is counted",
    "software": "what computed it",
    "format": "version of this list",
    "events": "the charges",
}

HEADINGS = {
    "step": "what was measured or asked",
    "mechanism": "how noise comes in",
    "size of the noise": "beside the most that one row can change",
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
}


def mechanism_words(name: str) -> str:
    """How noise comes in; a name that is not known stands for itself.

    >>> mechanism_words("gaussian"), mechanism_words("smooth-median-cauchy")
    ('Gaussian noise', 'smooth-median-cauchy')
    """
    return MECHANISMS.get(name, name)


def size_words(event: Mapping[str, Any]) -> str:
    """Noise beside the most that one row can change, which has no unit; empty where an event says none.

    Sensitivity and scale themselves are in steps of the grid that noise is drawn on: ``privacy.json`` has them.

    >>> size_words({"kind": "gaussian", "sensitivity": 16394.0, "sigma": 139832.0})
    'standard deviation 8.53 times'
    """
    for key, name in (("sigma", "standard deviation"), ("scale", "scale")):
        if key in event and event.get("sensitivity"):
            return f"{name} {event[key] / event['sensitivity']:.3g} times"
    return ""
