"""A line for every field of a statement and every heading of the table of noisy steps, for readers without the docs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS = {
    "private": "whether the promise holds at all",
    "why_not_private": "what is missing for a promise",
    "definition": "kind of promise: pure holds always, approximate but for probability delta; zCDP counts in rho",
    "parameters": "the promise in the unit of its definition: epsilon and delta, or rho where that was added up",
    "epsilon": "the promise: odds move by at most e to this power",
    "delta": "the promise may fail with at most this probability",
    "neighbours": "which two tables must be hard to tell apart",
    "unit": "what is protected",
    "public": "taken to be known to everyone",
    "released": "everything computed from the rows for this answer; a promise covers it all, written out or not",
    "composition": "how the costs of the noisy steps add up",
    "asked": "what it was allowed to cost; a ledger is charged this",
    "reading": "read off the meter: what the steps of this run add up to; a search might have spent all that was asked",
    "noise": "where it came from",
    "limits": "what is not promised",
    "ledger": "where this release is counted",
    "software": "what computed it",
    "format": "version of this list",
    "events": "the noisy steps; sensitivity and noise in privacy.json are in steps of the grid noise is drawn on",
}

HEADINGS = {
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
    '8.53 times what one row can change (standard deviation)'
    """
    for key, name in (("sigma", "standard deviation"), ("scale", "scale")):
        if key in event and event.get("sensitivity"):
            return f"{event[key] / event['sensitivity']:.3g} times what one row can change ({name})"
    return ""
