"""The tests by name, with their options, and which of them ``auto`` asks: all from public information.

A new test is one more class in ``TESTS``; what it is called, what it takes and what it says in help and errors is its
own (``TestInfo`` in ``citests/base.py``). ``test-of-tests:gcm`` is short for ``test-of-tests`` with the option
test="gcm", so that a command line can say it.

**auto** has a test for every combination of columns:

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
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from dpcausal.citests.base import CITest, Question, TableTest
from dpcausal.citests.chi2 import Chi2, LikelihoodRatio
from dpcausal.citests.crt import Crt
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.parts import ASSUMED_ROWS
from dpcausal.citests.rank import KendallTest, SpearmanTest
from dpcausal.citests.result import ByQuestion, FewRows, ManyCells, NoOrder, NumbersGiven, Reason, WithNoise
from dpcausal.citests.test_of_tests import TestOfGcm, TestOfTests
from dpcausal.citests.unit_circle import UnitCircle
from dpcausal.core.arguments import checked_name, refuse_unknown
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.core.forecast import enough_epsilon
from dpcausal.core.neighbours import Neighbours

TESTS: dict[str, type[CITest]] = {
    test.info.name: test
    for test in (
        KendallTest,
        SpearmanTest,
        Chi2,
        LikelihoodRatio,
        Measured,
        UnitCircle,
        Gcm,
        Crt,
        TestOfTests,
    )
}
CITest.registered = TESTS
TestName = Literal[
    "auto", "kendall", "spearman", "chi2", "g", "measured", "unit-circle", "gcm", "crt", "test-of-tests"
]  # auto, and as in TESTS

AUTO = f"by the columns: {KendallTest.info.name}, {Gcm.info.name} or {Measured.info.name}"
FINE_STRATA = 1000  # rows that leave strata fine
# fewer rows, times epsilon, tell too little about how a number is spread: where strata are fine, and where they are not
MIN_ROWS_TIMES_EPSILON = (400, 800)
CELLS_PER_ROOT = 0.3  # cells of given levels, at most, for each root of the number of rows


def described_tests() -> dict[str, str]:
    """Return the description of every name that ``ci_test(method=...)`` accepts."""
    return {"auto": AUTO, **{name: test.info.description for name, test in TESTS.items()}}


def class_named(name: str) -> type[CITest]:
    """Return the test of that name; raise ``InputError``, which lists all names, where there is none."""
    name, _ = _with_inner(name)
    if name not in TESTS:
        known = ", ".join(["auto", *TESTS])
        raise InputError(f"no test is called {name!r}{did_you_mean(name, TESTS)}; there are {known}")
    return TESTS[name]


def _with_inner(name: str) -> tuple[str, str]:
    """Return the name of a test and of the test inside it: ("test-of-tests", "gcm") for "test-of-tests:gcm".

    Any other name stays whole.
    """
    before, _, after = name.partition(":")
    return (before, after) if before == TestOfTests.info.name else (name, "")


def make_test(name: str, options: dict[str, Any], shared: Iterable[str] = ()) -> CITest:
    """Return the test of that name (or "test-of-tests:NAME") with these options.

    Raises ``InputError`` for an unknown test, option or value; it may suggest a ``shared`` option of the call.

    >>> make_test("kendall", {"strata": 8}).name
    'kendall'
    """
    test, (name, inner) = class_named(name), _with_inner(name)
    if inner and "test" in options:
        raise InputError(f'give the test of each part once: as "{name}:{inner}" or as the option test')
    options = {**options, "test": inner} if inner else options
    refuse_unknown(name, options, [option.name for option in test.options()], shared)
    try:
        if test is TestOfTests:
            return _test_of_tests(**options)
        return test(**options)
    except TypeError:
        raise InputError(f"{name} can't use an option of that type: {', '.join(options)}") from None


class AskedTest(NamedTuple):
    """The test that answers a question: its name as asked or chosen, why, and the relation that it is asked under."""

    name: str
    test: CITest
    reason: Reason
    neighbours: Neighbours


def relation_of(neighbours: Neighbours | str, method: str) -> Neighbours:
    """Return the neighbouring relation that is asked for; labels may be fixed only where the test fixes them."""
    return Neighbours.parse(neighbours, labels=method in TESTS and TESTS[method].info.fixed_labels)


def asked_test(
    method: str,
    question: Question,
    relation: Neighbours,
    epsilon: float | None,
    options: dict[str, Any],
    *,
    x: str | Sequence[str],
    by_rows: bool,
    n: int | None,
    shared: Iterable[str],
) -> AskedTest:
    """Return the test for a question, by name or chosen from public facts, after its own check of the question.

    ``x`` is the first column as it was asked about, ``by_rows`` whether there are rows and not only counts, and ``n``
    their number where it is public.
    """
    name = method
    reason: Reason = ByQuestion("as-asked")
    if method == "auto":
        name, reason = choose(question, epsilon, rows=by_rows, n=n)
    info = class_named(name).info
    if info.first_column_option is not None:
        options.setdefault(info.first_column_option, x)
    if info.fixed_labels:
        relation = Neighbours.FIXED_LABELS if relation is Neighbours.REPLACE_ONE else relation
    elif relation is Neighbours.FIXED_LABELS:
        raise InputError(f"{name} holds no labels fixed: neighbours must be replace-one or add-remove")
    test = make_test(name, options, shared)
    test.check(question)
    return AskedTest(name, test, reason, relation)


def _test_of_tests(test: str | None = None, **options: Any) -> CITest:
    """Return the test of tests (rejections of parts, counted) with the test of that name inside."""
    if test is None:
        return TestOfTests(**options)
    if test == TestOfTests.info.name:
        raise InputError(f"{test} can't be its own test")
    if test == Gcm.info.name:
        return TestOfGcm(**options)
    return TestOfTests(make_table_test(checked_name(test, "test"), {}), **options)


def make_table_test(name: str, options: dict[str, Any]) -> TableTest:
    """Return the test of that name with these options; it must work on tables."""
    test = make_test(name, options)
    if not isinstance(test, TableTest):
        raise InputError(f"{name} works on the values of the rows, not on tables")
    return test


def choose(
    question: Question, epsilon: float | None, *, rows: bool = True, n: int | None = None
) -> tuple[str, Reason]:
    """Return the name of the test that ``auto`` uses, and the reason, from public facts.

    ``epsilon`` is None without privacy; ``rows``: there are rows, not only counts; ``n`` is their number where public.
    """
    if question.several:
        return Gcm.info.name, ByQuestion("several-columns")
    numeric = len(question.given_numbers)
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
