"""A budget that promises little is said to on standard error, besides standing in the statement's limits."""

from __future__ import annotations

import warnings

from dpcausal.core.statement import WEAK, weak_promise

LARGE_DELTA = 1e-4  # what suits at most 10,000 rows


class WeakPromise(UserWarning):
    """The budget is so large that little is promised."""


def warn_weak(epsilon: float | None, delta: float, rows: int | None = None) -> None:
    """Warn by what was asked for, which a ledger is charged, even if less was needed; ``rows`` where public."""
    for line in weak_promise(epsilon, delta, rows):
        warnings.warn(line, WeakPromise, stacklevel=2)


def warn_large_delta(delta: float) -> None:
    """Warn where the number of rows is not known (a ledger's total) and delta would be small for few tables only."""
    if delta > LARGE_DELTA:
        warnings.warn(
            f"{WEAK}delta {delta:g} is the chance with which all releases together may tell everything of a row: keep "
            "it well below one over the number of rows (for 10,000 rows, well below 0.0001).",
            WeakPromise,
            stacklevel=2,
        )
