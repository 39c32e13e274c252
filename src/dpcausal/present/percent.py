"""Chances in per cent."""

from __future__ import annotations


def percent(part: float) -> str:
    """Return a chance, never rounded to none or to all.

    >>> percent(0.001), percent(0.034), percent(0.999)
    ('under 1%', '3%', 'over 99%')
    """
    return "under 1%" if part < 0.01 else "over 99%" if part > 0.99 else f"{part:.0%}"
