"""Why a test was taken, in a few words for the line that names it."""

from __future__ import annotations

from dpcausal.citests.result import ByQuestion, FewRows, ManyCells, NumbersGiven, Reason

WHY = {
    "as-asked": "",
    "ordered-levels": "",  # what one expects
    "one-numeric": "one number is given",
    "several-columns": "x or y has several columns",
    "numeric-given": "several numbers are given",
    "no-order-numeric": "levels have no order and a number is given",
}


def few_rows_words(reason: FewRows) -> str:
    """Return from which epsilon on rows are enough for ``kendall``, in brackets; empty where that is not known.

    >>> few_rows_words(FewRows(columns=1, enough=0.19))
    ' (from epsilon 0.19 on, kendall is used)'
    """
    return "" if reason.enough is None else f" (from epsilon {reason.enough:g} on, kendall is used)"


def named(method: str, reason: Reason) -> str:
    """Return the test with the reason why it was taken, where there is something to say.

    >>> named("gcm", NumbersGiven("numeric-given", columns=2)), named("kendall", ByQuestion("as-asked"))
    ('test gcm because several numbers are given', 'test kendall')
    """
    match reason:
        case ByQuestion() | NumbersGiven():
            why = WHY[reason.why]
        case FewRows():
            why = "the rows are too few at this epsilon to cut the given number into strata"
            why += few_rows_words(reason)
        case ManyCells():
            why = "the given levels make too many cells for strata"
        case _:
            why = "levels have no order"
    return f"test {method}{f' because {why}' if why else ''}"
