"""A budget that promises little is said to on standard error, besides standing in the statement's limits."""

from __future__ import annotations

import warnings

from dpcausal.core.statement import weak_promise


class WeakPromise(UserWarning):
    """The budget is so large that little is promised."""


def warn_weak(epsilon: float | None, delta: float, rows: int | None = None) -> None:
    """Warn by what was asked for, which a ledger is charged, even if less was needed; ``rows`` where public."""
    for line in weak_promise(epsilon, delta, rows):
        warnings.warn(line, WeakPromise, stacklevel=2)
