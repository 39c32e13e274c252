"""What a budget without delta costs, in words: said by plans, commands and notes alike."""

from __future__ import annotations

from dpcausal.core.spelling import spelled


def no_delta_words(times: float) -> str:
    """Return what a missing delta costs."""
    shown = f"{times:.2g}" if times < 10 else f"{times:.0f}"
    option = spelled("--delta 1e-6", "delta=1e-6")
    return (
        f"without a delta the noise in a table of two columns is {shown} times larger: add {option} "
        "(it must lie below one over the number of rows)"
    )
