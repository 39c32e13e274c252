"""A budget that promises little, or an unchecked schema, is told once: in the answer, or else on standard error."""

from __future__ import annotations

import warnings

from dpcausal.core.statement import WEAK, PrivacyStatement, weak_promise
from dpcausal.core.statement_words import weak_lines

LARGE_DELTA = 1e-4  # what suits at most 10,000 rows


class WeakPromise(UserWarning):
    """The budget is so large that little is promised."""


def warn_weak(
    epsilon: float | None, delta: float, rows: int | None = None, said: PrivacyStatement | None = None
) -> None:
    """Warn by what was asked for, which a ledger is charged, even if less was needed; ``rows`` where public.

    ``said``: the statement whose words were printed; what it says of epsilon or delta is not said again.
    """
    told = {line.split()[2] for line in weak_lines(said)} if said is not None else set()
    for line in weak_promise(epsilon, delta, rows):
        if line.split()[2] not in told:  # "Weak promise: epsilon ..." or "... delta ..."
            warnings.warn(line, WeakPromise, stacklevel=2)


def draft_is_told() -> None:
    """From here on no warning of an unchecked schema: the answer will print it."""
    from dpcausal.data.scan import DraftSchema

    warnings.filterwarnings("ignore", category=DraftSchema)


def warn_large_delta(delta: float) -> None:
    """Warn where the number of rows is not known (a ledger's total) and delta would be small for few tables only."""
    if delta > LARGE_DELTA:
        warnings.warn(
            f"{WEAK}delta {delta:g} is the chance with which all releases together may tell everything of a row: keep "
            "it well below one over the number of rows (for 10,000 rows, well below 0.0001).",
            WeakPromise,
            stacklevel=2,
        )
