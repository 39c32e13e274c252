"""Why a test was taken, in a few words for the line that names it."""

from __future__ import annotations

from dpcausal.citests.result import Reason, ReasonKind
from dpcausal.core.facts import Fact

WHY: dict[ReasonKind, str] = {
    ReasonKind.AS_ASKED: "",
    ReasonKind.ORDERED_LEVELS: "",  # what one expects
    ReasonKind.ONE_NUMERIC: "one number is given",
    ReasonKind.NUMERIC_GIVEN: "several numbers are given",
    ReasonKind.FEW_ROWS: "the rows are too few at this epsilon to cut the given number into strata",
    ReasonKind.MANY_CELLS: "the given levels make too many cells for strata",
    ReasonKind.NO_ORDER_NUMERIC: "levels have no order and a number is given",
    ReasonKind.SEVERAL_COLUMNS: "x or y has several columns",
    ReasonKind.NO_ORDER: "levels have no order",
}


def few_rows_words(reason: Fact) -> str:
    """Return from which epsilon on rows are enough for ``kendall``, in brackets; empty where that is not known.

    >>> few_rows_words(Reason(ReasonKind.FEW_ROWS, columns=1, enough=0.19))
    ' (from epsilon 0.19 on, kendall is used)'
    """
    enough = reason.values.get("enough")
    return "" if enough is None else f" (from epsilon {enough:g} on, kendall is used)"


def named(method: str, reason: Reason) -> str:
    """Return the test with the reason why it was taken, where there is something to say.

    >>> named("gcm", Reason(ReasonKind.NUMERIC_GIVEN, columns=2)), named("kendall", Reason(ReasonKind.AS_ASKED))
    ('test gcm because several numbers are given', 'test kendall')
    """
    why = WHY[ReasonKind(reason.kind)] + few_rows_words(reason)
    return f"test {method}{f' because {why}' if why else ''}"
