"""Tests by name, with their options; ``choice.py`` makes the choice of ``auto``.

``test-of-tests:gcm`` is short for ``test-of-tests`` with the option test="gcm", so that a command line can say it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from dpcausal.citests.base import AnyTest, TableTest
from dpcausal.citests.chi2 import chi2, g
from dpcausal.citests.crt import Crt
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.measured import Measured
from dpcausal.citests.rank import kendall_test, spearman_test
from dpcausal.citests.test_of_tests import TestOfGcm, TestOfTests
from dpcausal.citests.unit_circle import UnitCircle
from dpcausal.core.arguments import refuse_unknown
from dpcausal.core.errors import InputError, did_you_mean


def _test_of_tests(test: str = "g", parts: int | None = None, sub_level: float | None = None) -> AnyTest:
    if test == "test-of-tests":
        raise InputError("test-of-tests can't be its own test")
    if test == "gcm":
        return TestOfGcm(parts, sub_level)
    return TestOfTests(make_table_test(test, {}), parts, sub_level)


MAKERS: dict[str, Callable[..., AnyTest]] = {
    "kendall": kendall_test,
    "spearman": spearman_test,
    "chi2": chi2,
    "g": g,
    "measured": Measured,
    "unit-circle": UnitCircle,
    "gcm": Gcm,
    "crt": Crt,
    "test-of-tests": _test_of_tests,
}


FIXED = ("name", "own_delta", "protects", "releases")  # what a test says of itself: no options


def _split(name: str) -> tuple[str, str]:
    """("test-of-tests", "gcm") of "test-of-tests:gcm"; any other name stays whole."""
    before, _, after = name.partition(":")
    return (before, after) if before == "test-of-tests" else (name, "")


def make_test(name: str, options: dict[str, Any], shared: Iterable[str] = ()) -> AnyTest:
    """The test of that name with these options, on tables or on values; ``shared`` are options of the call itself."""
    name, inner = _split(name)
    if inner and "test" in options:
        raise InputError(f'give the test of each part once: as "{name}:{inner}" or as the option test')
    options = {**options, "test": inner} if inner else options
    if name not in MAKERS:
        known = ", ".join(["auto", *MAKERS])
        raise InputError(f"no test is called {name!r}{did_you_mean(name, MAKERS)}; there are {known}")
    own = [option for option in inspect.signature(MAKERS[name]).parameters if option not in FIXED]
    refuse_unknown(name, options, own, shared)
    try:
        return MAKERS[name](**options)
    except TypeError:
        raise InputError(f"{name} can't use an option of that type: {', '.join(options)}") from None


def make_table_test(name: str, options: dict[str, Any]) -> TableTest:
    """The test of that name with these options; it must work on tables."""
    method = make_test(name, options)
    if not isinstance(method, TableTest):
        raise InputError(f"{name} works on the values of the rows, not on tables")
    return method
