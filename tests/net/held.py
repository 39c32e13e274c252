"""What functions hold while a call runs: numbers, words, and short lists of them, name by name.

A decision may enter nothing but the input of a mechanism or a plan: which columns are measured a second time, into how
many bins numbers are cut, how rows are dealt. Its noise then has the scale that it should have, and all that leaves
looks as it should. So the rule is about decisions themselves: a call that is replayed on other rows, on the answers of
the first, must not hold a number or word, in any function above the counts, that the first call did not hold under the
same name there. What the rows do decide are the exact values on their way into a mechanism: ``EXACT`` names them all.

Only what is new in the second run counts: functions that remember what they were asked are called less often there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import numpy as np
from numba.core.dispatcher import Dispatcher

import dpcausal
from dpcausal.citests.regression_columns import RegressionColumns
from dpcausal.data.dataset import Dataset
from dpcausal.stats.value_ranks import Ranked

ROWS = (Dataset, Ranked, RegressionColumns)  # what holds rows by its nature
ROOT = f"{Path(dpcausal.__file__).parent}/"
# rooms whose functions are watched: not those that hold rows and exact counts by their nature
ROOMS = (
    "adapters/",
    "citests/",
    "discovery/",
    "effects/",
    "estimators/",
    "gwas/",
    "planning/",
    "stats/spread",
)
WITHIN = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")
MOST_CALLS = 3000  # of a function that are looked at; of a replay fewer, for they may come in another order
MOST_REPLAYED = 100
MOST_ITEMS = 32
MOST_CELLS = 64  # of an array; only where n is public, for one of few rows would be as small
# where fits, weights and cuts are arrays; in other rooms arrays are rows and their scores
ARRAYS = ("citests/quantiles", "discovery/measured/", "discovery/moments", "effects/", "planning/")
PLAIN = (type(None), bool, int, str, enum.Enum)

Place = tuple[str, str]  # a function, and a name in it ("return": what it returns)

# the exact values on their way into a mechanism: function -> names in it
EXACT: dict[str, str] = {
    # statistics of tests, of all rows or of one part of them
    "citests/base:Outcome.at": "pvalue statistic dof return",  # of a test within test-of-tests
    "citests/base:TableTest.on_part": "return",
    "citests/base:released_with_variance": "statistic variance",
    "citests/chi2:MedianOfPartsTest._pvalues": "return",
    "citests/chi2:MedianOfPartsTest.on_part": "return",
    "citests/gcm:Gcm._binned": "total variance",
    "citests/gcm:classical": "return",
    "citests/gcm:private_parts": "sums",
    "citests/gcm_ridge:Ridge.moments": "total squared",
    "citests/measured:Measured.classical": "found return",
    "citests/rank:KendallTest.row_value": "return",
    "citests/rank:RankTest._of_rows": "return",
    "citests/rank:RankTest._release": "statistic variance",
    "citests/rank:RankTest.classical": "return",
    "citests/rank:SpearmanTest.row_value": "return",
    "citests/rank:_normal_outcome": "statistic variance return",
    "citests/test_of_tests:TestOfGcm.private_values": "rejected",
    "citests/test_of_tests:TestOfParts._release": "rejected",
    "citests/test_of_tests:TestOfTests.private": "rejected",
    "citests/test_of_tests:_pvalue": "return",
    "citests/unit_circle:UnitCircle._groups": "return",
    "citests/unit_circle:UnitCircle.classical": "found return",
    "citests/unit_circle:UnitCircle.private": "c11 c10 value",
    # a histogram of a numeric column: its occupied places, and how many rows are at each
    "citests/quantiles:_measuring": "places rows",
    # tables, and sums of features
    "discovery/measured/measure:_components": "exact",
    "discovery/measured/measure:_margins": "found margin merged ends return",
    "discovery/moments:_reach": "counts scores",
    "discovery/moments:sums": "found matrix return",
    "effects/regression:measure_regression": "exact sums",
    "effects/table:exact_cells": "high table chosen others cells spread count at k return",
    "effects/table:exact_numbers": "cells others more parts return",
    "effects/table:measure": "exact",
    # scores of searches
    "discovery/curate:NoisyTests.__call__": "values",
    "discovery/curate:NoisyTests.__call__.<locals>.answer": "values",
    "discovery/em_pc:Choices.not_shown": "dependence",
    "discovery/em_pc:Choices.not_shown.<locals>.answer": "dependence",
    "discovery/scores:PartScorer.evidence": "pvalues",
    "discovery/scores:Scorer.evidence": "found",
    "discovery/scores:Scorer.ranks": "found",
    "discovery/scores:SpearmanScorer._by_spearman": "_ found statistic variance dependence information return",
    "discovery/scores:SpearmanScorer.evidence": "found",
    "discovery/scores:ValueScorer._by_values": "_ found dependence information return",
    "discovery/svt_pc:SvtAnswers._ask": "values",
    "discovery/svt_pc:SvtAnswers._ask.<locals>.answer": "values",
    # ranks that a table keeps from an earlier call
    "citests/rank:ranked_column": "known",
    # genotypes: counts, and alleles in the order in which the study has them
    "gwas/cohort:BimFile.__getitem__": "words return",
    "gwas/cohort:Cohort.count": "start tail_start",  # where the files lie in memory
    "gwas/cohort:Cohort.count.<locals>.task": "start tail_start",
    "gwas/cohort:Cohort.count.<locals>.task.<locals>.run": "start tail_start",
    "gwas/cohort:GenotypeCounts.public_variant": "found",
    "gwas/cohort:GenotypeCounts.variant": "return",
    "gwas/screen:single_test": "c11 c10 value",
    "gwas/statistics:least_minor_count": "return",
}

# so many rows are walked through or summed, by threads or not: the same where their number is public
OF_ROWS: dict[str, str] = {
    "citests/parts:deal_rows": "n",
    "effects/regression:ends": "stop",
    "effects/regression:features": "stop",
    "effects/regression:measure_regression": "stop",
}

# by the id of its code, which is kept with it: to hash code takes longer than the rest of what is done at a call
_known: dict[int, tuple[CodeType, str | None]] = {}


def _function(code: CodeType) -> str | None:
    """The function as ``discovery/measured/target:search``; None where it is not watched."""
    path = code.co_filename
    if code.co_name in WITHIN or not path.startswith(ROOT) or not path[len(ROOT) :].startswith(ROOMS):
        return None
    return f"{path[len(ROOT) : -3]}:{code.co_qualname}"


def plain(value: Any, arrays: bool, depth: int = 0) -> Any:
    """The numbers and words in a value, small ``arrays`` among them where wanted; of anything else its kind."""
    if isinstance(value, float):
        return f"{value:.9g}"  # as released values are, up to the order of a sum
    if isinstance(value, np.generic):
        return repr(value)
    if isinstance(value, PLAIN):
        return value
    if arrays and isinstance(value, np.ndarray) and value.size <= MOST_CELLS and value.dtype.kind in "fiub":
        return value.shape, hash(value.astype(np.float32).tobytes())
    if isinstance(value, ROWS):
        return type(value).__name__
    if depth < 2 and isinstance(value, tuple | list | set | frozenset) and len(value) <= MOST_ITEMS:
        found = tuple(plain(item, arrays, depth + 1) for item in value)
        return tuple(sorted(found, key=repr)) if isinstance(value, set | frozenset) else found
    if depth < 2 and type(value) is dict and len(value) <= MOST_ITEMS:
        return tuple(
            (plain(key, arrays, depth + 1), plain(item, arrays, depth + 1)) for key, item in value.items()
        )
    if depth < 1 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (getattr(value, one.name, None) for one in dataclasses.fields(value))
        return tuple(plain(item, arrays, depth + 1) for item in fields)
    return type(value).__name__


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Do not look at what is called here, which sees no row: a compiler, or a law that is simulated."""
    tracing = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracing)


class Held:
    """What the functions of one call hold when they return."""

    def __init__(self, most: int = MOST_CALLS, *, arrays: bool = False) -> None:
        self.values: dict[Place, set[Any]] = {}
        self._arrays = arrays
        self._most = most
        self._before: Any = None
        self._calls: Counter[str] = Counter()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look at every function that returns."""
        self._before = sys.gettrace()
        compile_kernel = Dispatcher.compile

        def compile_unwatched(*given: Any) -> Any:
            with unwatched():
                return compile_kernel(*given)

        with mock.patch.object(Dispatcher, "compile", compile_unwatched):
            sys.settrace(self._called)
            try:
                yield
            finally:
                self.stop()

    def stop(self) -> None:
        """Look no more: what follows is made from what was released, and a result shows it."""
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        known = _known.get(id(code))
        if known is None:
            known = _known[id(code)] = code, _function(code)
        function = known[1]
        if function is None or self._calls[function] >= self._most:
            return None
        self._calls[function] += 1
        frame.f_trace_lines = False
        return self._returned

    def _returned(self, frame: FrameType, event: str, returned: Any) -> None:
        if event == "return":
            function = _known[id(frame.f_code)][1] or ""
            arrays = self._arrays and function.startswith(ARRAYS)
            for name, value in (*frame.f_locals.items(), ("return", returned)):
                self.values.setdefault((function, name), set()).add(plain(value, arrays))

    def beyond(self, first: Held) -> dict[Place, list[Any]]:
        """What is held here and was not in the first call, exact values left out."""
        lists = (EXACT,) if self._arrays else (EXACT, OF_ROWS)  # arrays are looked at where n is public
        return {
            place: sorted(new, key=repr)
            for place, values in self.values.items()
            if not any(place[1] in names.get(place[0], "").split() for names in lists)
            and (new := values - first.values.get(place, set()))
        }
