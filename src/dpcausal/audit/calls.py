"""Audit targets that are whole public calls: ``ci_test``, ``discover`` and the screening of a study.

A call runs as a user's does, with production noise and nothing replaced; what it returns and what the mechanisms on its
way answered is observed (``empirical.py``). The two data sets are the neighbours that came nearest to the charge in a
search over extreme and random ones: ``neighbours.json``, made by ``tests/net/worst.py`` with the searches of
``tests/net/neighbours.py``. Calls run without delta: what sampling could see of 1e-6 is nothing.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, get_args

import numpy as np

from dpcausal.audit.empirical import RESULT, Observation, Value, answers, flat
from dpcausal.audit.targets import Target
from dpcausal.citests.ci_test import ci_test
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.discovery.discover import NoDelta, discover
from dpcausal.gwas.plan import Method
from dpcausal.gwas.screen import screen, single_test
from dpcausal.gwas.simulate import Simulation
from dpcausal.models import LinearGaussian

REPLACE, ADD, FIXED = "replace-one", "add-remove", "fixed-labels"
TRIALS = 2_000  # of a call by default: it costs milliseconds
WHOLE = "the whole of epsilon"  # a value among the options of a search that means it
Columns = dict[str, Any]

PAIR = Schema({name: Categorical([0, 1]) for name in "xy"})
BITS = Schema({name: Categorical([0, 1]) for name in "xyz"})
LINE = Schema({name: Numeric(-1.0, 1.0) for name in "xy"})
NUMBERS = Schema({name: Numeric(-1.0, 1.0) for name in "xyz"})


@dataclass(frozen=True)
class Call:
    """A public call to audit."""

    name: str  # as in ``dpcausal audit NAME``
    run: Callable[[Any, float, str], Any]  # ``run(data, epsilon, relation)`` makes the call
    schema: Schema | None  # None for genotypes
    rows: str  # which search found its neighbours: a key of ``SEARCHES`` in ``tests/net/worst.py``
    relations: tuple[str, ...] = (REPLACE, ADD)  # that it can be audited for, its default first


def _test(name: str, rows: str, schema: Schema, word: str = "", **options: Any) -> Call:
    """Return the audited call of a test of x and y, given z where the schema has it."""
    given = [column for column in schema if column == "z"]

    def run(data: Any, epsilon: float, relation: Any) -> Any:
        method: Any = name
        return ci_test(
            data, "x", "y", given, method=method, epsilon=epsilon, neighbours=relation, anyway=True, **options
        )

    return Call(f"ci-test:{name}{word and ':'}{word}", run, schema, rows)


def _tests() -> Iterator[Call]:
    """Yield a call of every test, with the options that change what it releases."""
    for name in ("auto", "kendall", "spearman", "measured"):
        yield _test(name, "bits", BITS)
    for name in ("kendall", "spearman"):
        yield _test(name, "numbers", NUMBERS, "numbers")
    for name in ("chi2", "g"):  # one part, else chance decides whether the row matters
        yield _test(name, "parts", PAIR, parts=1)
        yield _test(name, "parts", PAIR, "cauchy", parts=1, median="cauchy")
    for statistic in ("circle", "distance", "chi2"):
        word = "" if statistic == "circle" else statistic
        yield replace(_test("unit-circle", "labels", PAIR, word, statistic=statistic), relations=(FIXED,))
    yield _test("gcm", "far", NUMBERS, parts=2)
    yield _test("gcm", "numbers", NUMBERS, "bins", bins=2, variant="bins")
    for variant, strength in (("moments", 1.0), ("residuals", 100.0)):
        ridge: dict[str, Any] = {"variant": variant, "lambda_": strength, "bandwidth": 0.05}
        yield replace(_test("gcm", "numbers", NUMBERS, variant, **ridge), relations=(REPLACE,))
    law: dict[str, Any] = {"model": LinearGaussian(0.0, {"z": 0.0}, sd=0.3), "copies": 19, "strata": 2}
    yield _test("crt", "numbers", NUMBERS, **law)
    yield _test("crt", "numbers", NUMBERS, "rank", release="rank", **law)
    yield _test("test-of-tests", "parts", PAIR, parts=4, sub_level=0.1)
    yield _test("test-of-tests", "tied", NUMBERS, "gcm", test="gcm", parts=2, sub_level=0.1)


def _search(name: str, rows: str, schema: Schema, **options: Any) -> Call:
    """Return the audited call of a method of discovery on stored rows."""

    def run(data: Any, epsilon: float, relation: Any) -> Any:
        method: Any = name
        given: dict[str, Any] = {
            option: epsilon if value == WHOLE else value for option, value in options.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoDelta)
            return discover(data, method=method, epsilon=epsilon, neighbours=relation, anyway=True, **given)

    return Call(f"discover:{name}", run, schema, rows)


def _searches() -> Iterator[Call]:
    """Yield a call of every private method of discovery."""
    yield _search("auto", "bits", BITS)
    yield _search("measured", "bits", BITS, confidence=0)  # repeats are made of what was released, and slow
    yield _search("curate", "bits", BITS)
    # one positive answer, or one question, so that the whole budget is in it
    yield _search("svt-pc", "bits", BITS, max_order=0, positives=1)
    yield _search("priv-pc", "bits", BITS, max_order=0, hits=1)
    yield _search("em-pc", "piles", BITS, max_order=0)
    yield _search("tests", "bits", BITS, max_order=0, test_epsilon=WHOLE)
    yield _search("moments", "line", LINE, harmonics=0)
    yield _search("codes", "bits", BITS, confidence=0)


def _studies() -> Iterator[Call]:
    """Yield the audited calls that screen or test SNPs."""
    for method in get_args(Method):

        def run(data: Any, epsilon: float, _: str, method: Any = method) -> Any:
            return screen(data, epsilon, method=method, max_hits=1, level=0.5)

        yield Call(f"gwas:{method}", run, None, "people", (FIXED,))

    def one(data: Any, epsilon: float, _: str) -> Any:
        (cases, controls), n1, n0 = data.alleles(), 2 * data.cases, 2 * data.controls
        return single_test(int(cases[0]), int(controls[0]), n1, n0, epsilon)

    yield Call("gwas:single", one, None, "people", (FIXED,))


CALLS: dict[str, Call] = {call.name: call for call in (*_tests(), *_searches(), *_studies())}


# --- two data sets ---


@cache
def _stored() -> Any:
    """Return all stored neighbours, by call and relation."""
    return json.loads(files(__package__).joinpath("neighbours.json").read_text())


def stored(call: Call, relation: str) -> tuple[Columns, Columns]:
    """Return the stored pair of neighbouring data sets of this call, as columns, for a relation.

    They are a common base with either of two rows, or without one.
    """
    pair = _stored()[call.name][relation]

    def world(row: Any) -> Columns:
        more = {name: [] if row is None else [row[name]] for name in pair["base"]}
        return {name: decoded([*column, *more[name]]) for name, column in pair["base"].items()}

    first, second = pair["rows"]
    return world(first), world(second)


def decoded(cells: list[Any]) -> Any:
    """Return the cells of a column from how they are stored.

    "0" and "1" are codes of levels, "0120" are the genotypes of a person, 0.25 is a number.

    >>> decoded(["0", "1"]), decoded([0.5]), decoded(["01", "12"]).tolist()
    (array([0, 1]), array([0.5]), [[0, 1], [1, 2]])
    """
    if not all(isinstance(cell, str) for cell in cells):
        return np.array(cells, np.float64)
    codes = np.array([list(map(int, cell)) for cell in cells])
    return codes[:, 0] if all(len(cell) == 1 for cell in cells) else codes


def built(call: Call, columns: Columns) -> Any:
    """Return the argument for the data of this call: rows, or the counts of a study."""
    if call.schema is not None:
        return read(columns, call.schema)
    genotypes, case = columns["genotypes"], columns["case"].astype(bool)
    blank = Simulation(people=len(case), snps=genotypes.shape[1], case_share=float(case.mean())).counts()
    parts = [(genotypes[group] == copies).sum(axis=0) for group in (case, ~case) for copies in (2, 1)]
    return replace(blank, table=np.column_stack(parts).astype(np.int32))


# --- what is seen ---


def returned(result: Any) -> dict[str, Value]:
    """Return the features of a result: every number and every decision in it."""
    found: dict[str, Value] = {}
    for name in ("independent", "rejected", "statistic", "pvalue", "asked", "full", "complete"):
        value = getattr(result, name, None)
        if value is not None:
            found |= flat(f"{RESULT} {name}", repr(value) if isinstance(value, dict) else value)
    graph = getattr(result, "graph", None)
    if graph is not None:
        edges = sorted("-".join(sorted(pair)) for pair in graph.skeleton)
        found[f"{RESULT} edges"] = " ".join(edges)
        found[f"{RESULT} arrows"] = " ".join(sorted("->".join(arrow) for arrow in graph.directed))
        sets = {"-".join(sorted(pair)): ",".join(by) for pair, by in result.separating.items()}
        found |= {f"{RESULT} {pair} separated by": by for pair, by in sets.items()}
    for i, hit in enumerate(getattr(result, "hits", ())):
        found |= {f"{RESULT} hit {i}": hit.variant.name, f"{RESULT} hit {i} rejected": hit.rejected}
        if hit.statistic is not None:
            found[f"{RESULT} hit {i} statistic"] = float(hit.statistic)
    return found


def sampler(call: Call, worlds: Sequence[Any], epsilon: float, relation: str) -> Callable[[int], Observation]:
    """Return a function that runs the call on one of two neighbours and returns what can be observed."""
    for data in worlds:  # compiles, and simulates what is kept for the process
        call.run(data, epsilon, relation)

    def sample(world: int) -> Observation:
        with answers() as found:
            result = call.run(worlds[world], epsilon, relation)
        return Observation({**found, **returned(result)})

    return sample


def target(name: str, epsilon: float, relation: str | None = None) -> Target:
    """Return the audit of this call at this epsilon; raise ``InputError`` where it has no such relation."""
    call = CALLS[name]
    relation = call.relations[0] if relation is None else relation
    if relation not in call.relations:
        raise InputError(f"{name} is audited for {' and '.join(call.relations)}, not for {relation!r}")
    worlds = [built(call, columns) for columns in stored(call, relation)]
    return Target(
        name=name,
        says=f"the public call, {relation}",
        sampler=sampler(call, worlds, epsilon, relation),
        claim=epsilon,
        real=lambda: math.nan,
        trials=TRIALS,
    )
