"""What a budget without delta costs, in words: said by plans, commands and notes alike."""

from __future__ import annotations


def no_delta_words(times: float, option: str = "delta=1e-6") -> str:
    """Return what a missing delta costs; ``option``: how to give one."""
    shown = f"{times:.2g}" if times < 10 else f"{times:.0f}"
    return (
        f"without a delta the noise in a table of two columns is {shown} times larger: add {option} "
        "(it must lie below one over the number of rows)"
    )
