"""Which test ``auto`` asks for a question: every combination of columns has one. Public information only.

- x and y numbers or ordered levels (two levels always are), given nothing, levels and one numeric column (two with
  4,000 public rows): ``kendall``, whose noise does not grow with the number of strata;
- the same with more numeric columns given: ``gcm``, since bins would be too coarse and the level lost;
- one of x and y unordered: ``measured`` (``g`` without privacy), which need no order.

``kendall`` takes numbers as they are and cuts numeric z finely (``continuous_rank.py``), ``gcm`` regresses on z;
``measured`` and ``g`` use declared bins of numeric columns, so what z does within a bin counts as dependence: the
reason says so. Where only counts are there, not rows, everything goes by declared bins. ``crt`` is never chosen: it
needs a model.
"""

from __future__ import annotations

from dpcausal.citests.base import Question
from dpcausal.citests.result import Reason, ReasonKind

ROWS_FOR_TWO = 4000  # public rows from which bins of two numeric columns are fine enough


def choose(
    question: Question, epsilon: float | None, *, rows: bool = True, n: int | None = None
) -> tuple[str, Reason]:
    """Return (name, reason) from public facts.

    Parameters
    ----------
    question
        The question and its declared sizes.
    epsilon
        None without privacy.
    rows
        Whether there are rows or only counts.
    n
        The number of rows where it is public, else None.
    """
    numeric = sum(z in question.numeric for z in question.given)
    if question.ordered:
        fine = 2 if n is not None and n >= ROWS_FOR_TWO else 1
        if rows and numeric > fine:
            return "gcm", Reason(ReasonKind.NUMERIC_GIVEN, columns=numeric)
        return "kendall", Reason(ReasonKind.ORDERED_LEVELS)
    name = "g" if epsilon is None else "measured"
    return name, Reason(ReasonKind.NO_ORDER, binned=bool(numeric))


def choose_name(question: Question, epsilon: float | None, n: int | None = None) -> str:
    """The name alone."""
    return choose(question, epsilon, n=n)[0]
