"""Which method ``auto`` takes for a discovery: from the schema and the budget alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def mostly_numbers(columns: Sequence[str], numeric: Collection[str]) -> bool:
    """Whether more than half of the columns hold numbers: public."""
    return 2 * sum(name in numeric for name in columns) > len(columns)
