"""Which test ``auto`` asks for a question: every combination of columns has one. Public information only.

- No number given: ``kendall`` where x and y are numbers or ordered levels (two levels always are), since its noise does
  not grow with the number of strata; else ``measured`` (``g`` without privacy), which needs no order.
- One number given, x and y ordered: ``kendall`` in strata of equal counts of that number, which are measured privately
  first. They keep the level whatever the law of the number is, if there are rows enough at this epsilon to measure it
  (``MIN_ROWS_TIMES_EPSILON``) and the levels that are given beside it leave fine strata (``CELLS_PER_ROOT``).
- Anything else with a number given: ``gcm``, which takes the numbers out by regression on their ranks, part by part,
  and takes unordered levels by indicators.
- Several columns as x or y: ``gcm``, the only test that takes them.

Where only counts are there, not rows, numbers take part by their declared bins, and what a number does within a bin
counts as dependence: the reason says so. ``crt`` is never chosen: it needs a model. Measured in
``benchmarks/auto_level.py``.
"""

from __future__ import annotations

import math

from dpcausal.citests.base import Question
from dpcausal.citests.chi2 import LikelihoodRatio
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.citests.rank import KendallTest
from dpcausal.citests.result import ByQuestion, FewRows, ManyCells, NoOrder, NumbersGiven, Reason, WithNoise
from dpcausal.core.forecast import enough_epsilon

AUTO = f"by the columns: {KendallTest.info.name}, {Gcm.info.name} or {Measured.info.name}"
FINE_STRATA = 1000  # rows that leave strata fine
# fewer rows, times epsilon, tell too little about how a number is spread: where strata are fine, and where they are not
MIN_ROWS_TIMES_EPSILON = (400, 800)
CELLS_PER_ROOT = 0.3  # cells of given levels, at most, for each root of the number of rows


def choose(
    question: Question, epsilon: float | None, *, rows: bool = True, n: int | None = None
) -> tuple[str, Reason]:
    """Return the name of the test that ``auto`` uses, and the reason, from public facts.

    ``epsilon`` is None without privacy; ``rows``: there are rows, not only counts; ``n`` is their number where public.
    """
    if question.several:
        return Gcm.info.name, ByQuestion("several-columns")
    numeric = sum(z in question.numeric for z in question.given)
    if rows and numeric:
        return _with_numbers(question, epsilon, numeric, n)
    if question.ordered:
        return KendallTest.info.name, ByQuestion("ordered-levels")
    test = LikelihoodRatio if epsilon is None else Measured
    return test.info.name, NoOrder(binned=bool(numeric))


def _with_numbers(
    question: Question, epsilon: float | None, numeric: int, public: int | None
) -> tuple[str, Reason]:
    """Choose the test of a question with numeric conditioning columns; ``public``: the number of rows, if public."""
    n = ASSUMED_ROWS if public is None else public
    if not question.ordered:
        return Gcm.info.name, NumbersGiven("no-order-numeric", numeric)
    if numeric > 1:
        return Gcm.info.name, NumbersGiven("numeric-given", numeric)
    many = question.other_cells > CELLS_PER_ROOT * math.sqrt(n)
    least = MIN_ROWS_TIMES_EPSILON[n < FINE_STRATA]
    if epsilon is not None and n * epsilon < least:
        enough = None if many or not public else enough_epsilon(lambda more: n * more >= least, epsilon)
        return Gcm.info.name, FewRows(numeric, enough)
    if many:
        return Gcm.info.name, ManyCells(question.other_cells)
    return KendallTest.info.name, ByQuestion("one-numeric")


def with_noise(question: Question, *, rows: bool, n: int) -> WithNoise:
    """Return which test ``auto`` would choose with privacy, for a question that was answered without it."""
    name = choose(question, None, rows=rows, n=n)[0]
    large, small = (choose(question, epsilon, rows=rows, n=n)[0] for epsilon in (math.inf, 0.0))
    if large != name:
        return WithNoise("same-table", large)
    if small != name and n:
        return WithNoise("other-below", small, MIN_ROWS_TIMES_EPSILON[n < FINE_STRATA] / n)
    return WithNoise("same")


def choose_name(question: Question, epsilon: float | None, n: int | None = None) -> str:
    """Return the name of the test to use on rows."""
    return choose(question, epsilon, n=n)[0]
