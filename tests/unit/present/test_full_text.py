"""``--full``: headings, so that one can find things, in a fixed order, and no line twice."""

from __future__ import annotations

from itertools import pairwise

import dpcausal as dc

HEADS = [
    "EDGES",
    "OPEN PAIRS",
    "ABSENT PAIRS",
    "WHAT COULD BE SHOWN",
    "BACKGROUND KNOWLEDGE",
    "COLUMNS",
    "METHOD",
    "PRIVACY",
]


def heads_of(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for before, line in pairwise(lines) if not before and line.isupper()]


def test_sections_have_headings_and_no_line_is_repeated() -> None:
    data = dc.networks.load("asia").sample(5_000, seed=1)
    names = list(data.columns)
    result = dc.discover(data, epsilon=2.0, tiers=[names[:2], names[2:]])
    text = result.summary(full=True)
    found = heads_of(text)
    assert found == [head for head in HEADS if head in found]
    assert {"EDGES", "ABSENT PAIRS", "BACKGROUND KNOWLEDGE", "METHOD", "PRIVACY"} <= set(found)
    assert ("OPEN PAIRS" in found) == bool(result.open)
    lines = [line for line in text.splitlines() if line]
    assert len(lines) == len(set(lines))
    assert "found among 8 columns" in lines[0]  # the answer first
    assert text.index("EDGES") < text.index(result.edge_lines()[0]) < text.index("METHOD")
    assert text.index("PRIVACY\n") < text.index("Privacy: epsilon 2")


def test_empty_sections_are_left_out() -> None:
    exact = dc.discover(dc.networks.load("cancer").sample(500, seed=1), epsilon=None, method="pc")
    found = heads_of(exact.summary(full=True))
    assert "OPEN PAIRS" not in found
    assert "COLUMNS" not in found
    assert found[-1] == "PRIVACY"
    assert "NOT PRIVATE" in exact.summary(full=True)
