"""What each method does, for someone who has read no paper; result, report and ``--help`` say the same."""

from __future__ import annotations

METHODS = {
    "measured": "tables measured once, with noise, answer every question",
    "moments": "for numbers: sums of products, measured once with noise, answer every question",
    "tests": "every question is a private test of its own",
    "priv-pc": "a noisy threshold finds pairs that may be independent, a second noisy look confirms each",
    "svt-pc": "every question is held against a noisy threshold; only edges that go cost",
    "em-pc": "a random choice that favours weak dependences says how many edges go, and which",
    "curate": "every question gets a noisy score; what it may cost is planned anew as sets grow",
    "pc": "the classical algorithm on exact counts; not private",
}


def method_words(method: str, why: str) -> str:
    """The method by name, what it does and why it was taken.

    >>> method_words("svt-pc", "as asked")
    'method svt-pc, as asked: every question is held against a noisy threshold; only edges that go cost'
    >>> method_words("measured", "chosen because 1 of 3 columns holds numbers, not most")
    'method measured, chosen because 1 of 3 columns holds numbers, not most: tables measured once, with noise, answer every question'
    """  # noqa: E501
    told = METHODS.get(method)
    return f"method {method}, {why}" + (f": {told}" if told else "")
