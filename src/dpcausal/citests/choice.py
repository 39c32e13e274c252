"""Which test ``auto`` asks for a question: every combination of columns has one. Public information only.

- x and y numbers or ordered levels (two levels always are), given nothing, levels and one numeric column (two with
  4,000 public rows): ``kendall``, whose noise does not grow with the number of strata;
- the same with more numeric columns given: ``gcm``, since strata would be too coarse and the level lost;
- one of x and y unordered: ``measured`` (``g`` without privacy), which need no order.

``kendall`` takes numbers as they are and cuts a numeric z into fine strata, ``gcm`` regresses on z; ``measured`` and
``g`` use the declared bins of numeric columns, so what z does within a bin counts as dependence: the reason says so.
Where only counts are there, not rows, everything goes by declared bins. ``crt`` is never chosen: it needs a model.
"""

from __future__ import annotations

from dpcausal.citests.base import Question
from dpcausal.citests.chi2 import LikelihoodRatio
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import KendallTest
from dpcausal.citests.result import Reason, ReasonKind

AUTO = f"by the columns: {KendallTest.info.name}, {Gcm.info.name} or {Measured.info.name}"
MIN_ROWS_FOR_TWO = 4000  # public rows from which the strata of two numeric columns are fine enough


def choose(
    question: Question, epsilon: float | None, *, rows: bool = True, n: int | None = None
) -> tuple[str, Reason]:
    """Return the name of the test to use and the reason, from public facts.

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
        most = 2 if n is not None and n >= MIN_ROWS_FOR_TWO else 1
        if rows and numeric > most:
            return Gcm.info.name, Reason(ReasonKind.NUMERIC_GIVEN, columns=numeric)
        return KendallTest.info.name, Reason(ReasonKind.ORDERED_LEVELS)
    test = LikelihoodRatio if epsilon is None else Measured
    return test.info.name, Reason(ReasonKind.NO_ORDER, binned=bool(numeric))


def choose_name(question: Question, epsilon: float | None, n: int | None = None) -> str:
    """Return the name of the test to use on rows."""
    return choose(question, epsilon, n=n)[0]
