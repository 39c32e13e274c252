"""Whatever takes a ledger charges it, once and before it answers, and no more than the budget that was given.

The calls are found by their signatures, so that a new one needs a line here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import calls
import pytest

import dpcausal as dc
from dpcausal import adapters, estimators, gwas
from dpcausal.gwas.screen import Screen, screen, single_test

Count = dict[str, str]
EPSILON = 20.0


def levels() -> dc.Dataset:
    found: dc.Dataset = calls.build("levels", calls.raw("levels", "a", 300), Path())
    return found


def genotypes() -> Any:
    return calls.build("genotypes", calls.raw("genotypes", "a", 300), Path())


def protocol() -> dc.Protocol:
    return dc.protocol(calls.LEVELS, [300, 300], EPSILON, neighbours="replace-one")


CHARGING: dict[str, Callable[[Count], object]] = {
    "ci_test": lambda count: dc.ci_test(levels(), "a", "b", epsilon=EPSILON, anyway=True, **count),
    "discover": lambda count: dc.discover(levels(), epsilon=EPSILON, anyway=True, confidence=0, **count),
    "effect": lambda count: dc.effect(levels(), "a", "d", epsilon=EPSILON, anyway=True, **count),
    "contribute": lambda count: dc.contribute(levels(), protocol(), "north", **count),
    "PrivateOracle": lambda count: adapters.PrivateOracle(
        levels(), epsilon=EPSILON, questions=2, **count
    ).ask("a", "b"),
    "screen": lambda count: screen(genotypes(), EPSILON, max_hits=2, **count),
    "single_test": lambda count: single_test(30, 40, 100, 100, EPSILON, **count),
    "Screen.run": lambda count: Screen(snps=calls.SNPS, cases=150, controls=150, epsilon=EPSILON).run(
        genotypes(), **count
    ),
}


def fitted(name: str, count: Count) -> object:
    made = getattr(dc, name)(calls.LEVELS, epsilon=EPSILON, max_order=0, anyway=True, **count)
    return made.fit(calls.build("level columns", calls.raw("level columns", "a", 300), Path()))


CHARGING |= {name: partial(fitted, name) for name in {*estimators.__all__} - {"PC"}}
NO_CALLS = {"Budget", "PrivacyStatement"}  # what charges, and what says so


def test_everything_public_that_takes_a_ledger_is_here() -> None:
    found = set()
    rooms = [
        dc,
        adapters,
        gwas,
        *(
            importlib.import_module(f"dpcausal.gwas.{one.name}")
            for one in pkgutil.iter_modules(gwas.__path__)
        ),
    ]
    for room in rooms:
        for name in getattr(room, "__all__", dir(room)):
            value = getattr(room, name)
            if not str(getattr(value, "__module__", "")).startswith("dpcausal") or name.startswith("_"):
                continue
            asked = [(name, value)] if callable(value) else []
            if inspect.isclass(value):
                asked += [
                    (f"{name}.{method}", one)
                    for method, one in vars(value).items()
                    if inspect.isfunction(one) and method[0] != "_"
                ]
            for what, one in asked:
                try:
                    parameters = inspect.signature(one).parameters
                except (TypeError, ValueError):
                    continue
                if "ledger" in parameters:
                    found.add(what)
    assert found - NO_CALLS == set(CHARGING)


@pytest.mark.parametrize("name", sorted(CHARGING))
def test_a_ledger_is_charged_once_for_what_was_asked(name: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'budget.db'}"
    relation = "fixed-labels" if name in ("screen", "single_test", "Screen.run") else "replace-one"
    ledger = dc.Ledger.open(url, create=True)
    ledger.create("cohort", EPSILON, neighbours=relation)
    CHARGING[name]({"ledger": url, "dataset": "cohort"})
    (entry,) = [one for one in ledger.log("cohort") if one.kind == "charge"]
    assert float(entry.epsilon) == EPSILON
    with pytest.raises(dc.BudgetError):
        CHARGING[name]({"ledger": url, "dataset": "cohort"})
