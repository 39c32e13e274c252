"""Every kind of fact has words, made from its values: no kind can be added without them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import pytest

from dpcausal.citests.result import Chosen, HeldFixed, MissingRule, Reason, WithNoise
from dpcausal.core.display import display
from dpcausal.core.facts import Fact
from dpcausal.core.statement import (
    Composition,
    DeltaNotNeeded,
    Limit,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    Public,
    Released,
    Stated,
    Unit,
)
from dpcausal.data.findings import Finding, LeftOut
from dpcausal.discovery.search import MethodReason, Note, OpenReason, unanswered
from dpcausal.effects.result import EffectNote
from dpcausal.present import schema
from dpcausal.present.tables import WHY_OPEN

ROW = {"kind": "row"}
TABLE = {"kind": "table"}
MEASURED = {"gaussian": True, "sd": 4.2, "mean_cell": 1434.2, "least_cell": 12.0, "enough": 3.0}

# family of facts -> kind, as files have it -> plausible values
EXAMPLES: dict[type[Fact], dict[str, dict[str, Any]]] = {
    Limit: {
        "stated": {"text": "as {written}"},
        "timing": {},
        "rounding": {},
        "exact-sums": {},
        "this-release-only": {},
        "one-unit": {"unit": ROW},
        "weak-epsilon": {"epsilon": 12.0},
        "weak-delta": {"delta": 0.1, "rows": 8000},
        "draft-schema": {},
        "engine": {"engine": "Spark", "remote": True},
        "sites-trusted": {},
        "no-privacy": {},
        "budget-ended": {"questions": 7},
    },
    Public: {
        "stated": {"text": "the city"},
        "schema": {},
        "rows": {},
        "persons": {},
        "not-empty": {},
        "most-rows": {"rows": 2147483647},
        "missing-as": {"columns": (("sex", "male", False, False), ("dose", 1.5, True, True))},
        "quoted-newlines": {},
        "labels": {"labels": "smoke"},
        "method": {},
        "question": {},
        "loop": {},
        "delta-not-needed": {"delta": 1e-06},
        "reserve": {"share": 0.3},
        "round-of-two": {"round": 2, "first": 0.5, "in_ledger": True},
        "of-sites": {"sites": ("east", "north"), "fact": DeltaNotNeeded(1e-06)},
        "one-site": {},
        "several-sites": {},
        "effect": {},
        "features": {},
        "bounds": {},
        "strata": {},
        "given-bins": {},
        "kernel": {"kernel": "rbf", "bandwidth": 0.25, "lambda_": 10.0},
        "kernel-lists": {"kernel": "laplace", "share": 0.2},
        "parts": {},
        "deals": {},
        "model": {},
        "copies": {},
        "groups": {"cases": 30, "controls": 40},
        "snps": {"snps": 500},
        "allele-order": {},
        "alleles": {"cases": 60, "controls": 80},
        "copies-of-allele": {"least": 3, "most": 137},
        "no-frequency": {},
        "missing-rule": {"rule": "reference"},
        "frequencies": {},
        "frequency-floor": {"maf": 0.05},
        "no-frequencies": {},
        "floor-released": {"share": 0.1},
    },
    Released: {
        "stated": {"text": "a count"},
        "graph-from-rows": {},
        "joint-table": {},
        "tables": {"what": "tables of pairs", "sd": 12.34},
        "chosen-pairs": {"number": 23, "of": 1276},
        "moments": {},
        "searched-again": {"release": "12ab"},
        "sites-pooled": {"sites": [["north", 1.0, 1e-06, ["12ab", "34cd"]], ["south", 0.5, 0.0, ["56ef"]]]},
        "test-outcomes": {},
        "independences": {},
        "noisy-scores": {},
        "deletions": {},
        "statistic": {},
        "table": {},
        "effect-table": {"treatment": "smoke", "outcome": "lung", "adjust": ["age"], "sd": 2.84},
        "effect-sums": {"treatment": "smoke", "outcome": "lung", "adjust": ["age", "sex"], "sd": 12.34},
        "median-of-parts": {},
        "trimmed-mean-of-parts": {},
        "count-of-parts": {"test": "gcm"},
        "cut-scores": {},
        "binned-covariance": {},
        "residual-sums": {},
        "residuals": {},
        "ridge-choice": {"then": TABLE},
        "spread": {"columns": ["age"], "then": TABLE},
        "noisy-rank": {},
        "noisy-decision": {},
        "unit-circle": {},
        "circle-decision": {"statistic": "spearman"},
        "exact-statistic": {},
        "answer": {"x": "a", "y": "b", "given": ["c", "d"], "released": TABLE},
        "answers": {"count": 12, "test": "kendall", "level": 0.01, "released": TABLE},
        "snps-above-cut": {"statistic": "distance"},
        "chosen-snps": {"statistic": "distance"},
        "frequency-floor": {},
        "one-snp": {},
    },
    Unit: {
        "stated": {"text": "one family"},
        "row": {},
        "outcome": {"labels": "group"},
        "person": {},
        "person-rows": {"rows": 2, "order_by": "visit"},
        "allele": {},
    },
    Reason: {
        "as-asked": {},
        "ordered-levels": {},
        "one-numeric": {},
        "numeric-given": {"columns": 3},
        "few-rows": {"columns": 1, "enough": 0.19},
        "many-cells": {"cells": 40},
        "no-order-numeric": {"columns": 1},
        "several-columns": {},
        "no-order": {"binned": True},
    },
    HeldFixed: {
        "regression": {"columns": ["age", "dose"]},
        "equal-widths": {"columns": ["age"]},
        "strata": {"columns": ["age", "dose"], "strata": 5, "model": True},
        "spread": {"columns": ["age"], "strata": 90},
        "model": {"columns": ["age"]},
        "declared-bins": {"columns": ["age"]},
    },
    MissingRule: {
        "counts": {"columns": [("age", 40.0), ("sex", "f")]},
        "shared": {"columns": ["age", "dose"]},
    },
    WithNoise: {
        "same": {},
        "same-table": {"test": "measured"},
        "other-below": {"epsilon": 0.16, "test": "gcm"},
    },
    Chosen: {"ridge": {"lambda_": 10.0, "bandwidth": 0.25}},
    MethodReason: {
        "as-asked": {},
        "no-privacy": {},
        "one-target": {},
        "sites": {},
        "read-codes": {},
        "counts-only": {},
        "mostly-numbers": {"numbers": 4, "columns": 5},
        "numbers-in-noise": {"numbers": 4, "columns": 5},
        "not-mostly-numbers": {"numbers": 1, "columns": 5},
    },
    Note: {
        "one-level": {"columns": ["a", "b"]},
        "follow-up-columns": {"pairs": [["futime", "death"], ["ptime", "pstat"]]},
        "joint-table": {**MEASURED, "cells": 1024},
        "components": {
            **MEASURED,
            "gaussian": False,
            "rows_measured": True,
            "singles": 5,
            "pairs": 10,
            "larger": 2,
        }
        | {"target": None},
        "sites": {
            **MEASURED,
            "sites": [["north", 1000.0, 63.0, []], ["south", 800.5, 71.0, ["age", "dose"]]],
        },
        "sites-differ": {"pairs": [["a", "b", 0.0001]] * 7, "level": 0.05},
        "whole-graphs": {"edges": 3},
        "hidden-causes": {"order": 3, "far": 6},
        "target": {"target": "death", "near": ["age", "smoking"]},
        "chosen-pairs": {"number": 23, "of": 1276},
        "merged-levels": {"columns": [["age", 3], ["site", 2]], "groups": []},
        "unanswered": {"reasons": [["noise", 2], ["too-many-cells", 1]]},
        "no-delta": {"times": 3.14},
        "conflicts": {
            "pairs": [["a", "b"], ["c", "d"]],
            "settled": True,
            "declared": [["e", "f"]],
            "circles": False,
        },
        "tests": {"tests": ["chi2", "kendall"], "epsilon": 0.125},
        "classical": {"tests": ["chi2"], "level": 0.05, "like": ""},
        "classical-moments": {"harmonics": 3, "level": 0.05},
        "codes": {"ones": 5, "retained": 0.83, "sd": 31.2, "again": 250, "sd_again": 15.5},
        "moments": {"features": 21, "waves": 2, "sd": 12.34},
        "threshold": {
            "of": "pairs",
            "most": 6,
            "renewed": False,
            "rows": 1000,
            "resolution": 24.6,
            "parts": None,
        },
        "equal-widths": {"columns": ["age", "dose"]},
        "shared-missing": {"pairs": [["smoke", "dose"]] * 7},
        "held-coarsely": {"edges": [["x", "y", ["age", "dose"]]] * 7},
        "explained-by-bins": {"edges": [["x", "y", ["age", "dose"]]] * 7},
        "choices": {"epsilon": 0.05, "choices": 20, "mechanism": "exponential", "resolution": 5.25},
        "test-costs": {"unit": "rho", "costs": [[0, 0.125], [1, 0.0625]]},
        "as-printed": {"method": "svt-pc", "epsilon": 0.5, "rounds": 3, "claimed": 1.5, "delta": 0.001},
    },
}

EXAMPLES[EffectNote] = {
    "unadjusted": {},
    "binned": {"columns": ["age", "dose"]},
    "by-groups": {"columns": [("age", ["below 40", "40 or more"])]},
    "treatment-bins": {"treatment": "dose"},
    "outcome-bins": {"outcome": "weight", "off": 4.5},
    "numbers": {"missing": [["cells", 2.5]], "bounds": [["cells", 0.0, 9.0]]},
    "followed-up": {
        "time": "futime",
        "event": "status",
        "ends": [1.0, 2.0, 5.0],
        "happens": "1",
        "censored": "0",
        "competing": ["2"],
    },
    "missing-left-out": {"outcome": "pain", "alike": ["dose", "age", "sex"]},
    "missing-counts": {"outcome": "pain", "value": None, "regression": False, "number": False},
    "missing-held": {"columns": ["age", "sex"]},
    "later": {"treatment": "dose", "columns": ["tar"]},
    "graph-checks": {},
    "pooled": {"strata": 7, "share": 0.013},
    "left-out": {"share": 0.25, "noise": False},
    "nothing-known": {"noise": True},
    "lopsided": {"low": 0.0, "high": 100.0},
    "noise-rules": {"outcome": "pain", "low": 0.0, "high": 10.0, "held": True, "event": ">= NUMBER"},
    "wide": {"outcome": "pain", "low": 0.0, "high": 10.0, "held": False, "event": ">= NUMBER"},
    "from-graph": {"columns": ["age"]},
    "descendant": {"columns": ["tar"]},
    "back-door": {
        "sure": True,
        "treatment": "dose",
        "given": False,
        "hold": ["age"],
        "leave": [],
        "paths": [[["age", "->", "dose"], ["age", "->", "pain"]]],
        "refused": False,
    },
    "several": {"count": 3, "no_effect": True},
    "linear": {"columns": ["age", "sex"]},
    "scored": {"columns": ["age", "dose"]},
    "same-tables": {"held": 0.94, "few": 0.9},
    "reserved": {"share": 0.3},
    "hidden-causes": {},
    "everyone": {"low": -0.25, "high": 0.5},
    "same-moments": {},
    "fresh-noise": {},
    "hint-itself": {},
    "open-pairs": {"columns": ["diet"], "both": True},
    "open-itself": {},
    "contradicted": {"pairs": [["age", "sex"], ["a", "b"], ["c", "d"], ["e", "f"]], "own": True},
    "no-path": {},
    "outcome-earlier": {"treatment": "dose", "outcome": "sex"},
}
EXAMPLES[Finding] = {
    "missing-level": {"level": "refused", "in_file": True},
    "missing-code": {"code": "9", "cells": 1200, "becomes": "missing"},
    "aliases-read": {"level": "yes", "spellings": ["Yes", "YES"]},
    "abbreviation": {"letter": "y", "level": "yes"},
    "unread-cells": {
        "cells": 12,
        "rows": 5000,
        "becomes": 0.5,
        "own": False,
        "texts": [["n/a", 9], ["<5", 2]],
    },
    "with-separators": {"cells": 1200},
    "repeated-identifier": {"column": "case_id", "rows": 3000, "unique": "id"},
    "header-like-values": {},
    "recognised": {"entry": "encoding", "cells": 1200, "value": "cp850"},
    "quantile-bins": {},
    "uneven-bins": {"share": 0.9, "same": None},
    "age-bounds": {"lower": 0.0, "upper": 110.0},
    "number-levels": {"lowest": 1, "highest": 10},
    "determined": {"column": "group", "by": ("kappa", "lambda"), "relation": "cuts-of-sum"},
    "many-columns": {"columns": 59},
    "number-codes": {"values": 49},
    "time-to-event": {"event": "death"},
    "ordered-missing-level": {"column": "smoke", "level": "unknown", "below": "current", "above": None},
    "missing-with": {"column": "cause", "other": "death", "value": "alive", "cells": 5705, "number": True},
    "missing-together": {"columns": ("got", "hiv"), "rows": 1926, "seen": 20000},
    "skewed": {},
    "code-book": {"levels": 7, "codes": True, "grades": True},
    "shared-code": {"level": 2, "columns": ("diabetes", "pica"), "cells": 769, "seen": 1566},
}
EXAMPLES[LeftOut] = {
    "no-name": {},
    "repeated-name": {},
    "unknown-type": {"type": "list<int64>"},
    "no-values": {},
    "unreadable-numbers": {"cells": 9, "texts": [["3,5", 9]]},
    "too-many-texts": {"limit": 50},
    "dates": {"written": ("%Y-%m-%d",), "first": 2018, "last": 2020},
    "all-different": {"rows": 1200},
    "says-whose": {},
}


def words_of(fact: Fact) -> str:
    """The words; those of a draft are asked for by the command alone, and not through ``core.display``."""
    match fact:
        case Finding():
            return schema.note_words(fact)
        case LeftOut():
            return schema.left_out_words(fact)
    return display().words(fact)


def fact_of(family: type[Fact], kind: str, **values: Any) -> Fact:
    return family.from_dict({"kind": kind, **values})


def facts() -> Iterator[Fact]:
    for family, examples in EXAMPLES.items():
        for kind, values in examples.items():
            yield fact_of(family, kind, **values)


@pytest.mark.parametrize("family", EXAMPLES)
def test_every_kind_is_here(family: type[Fact]) -> None:
    assert set(EXAMPLES[family]) == {kind for kind, one in family.kinds.items() if not one.__subclasses__()}


def test_every_family_is_here() -> None:
    families = {one for one in Fact.__subclasses__() if one.__module__.startswith("dpcausal.")}
    assert families == set(EXAMPLES)


@pytest.mark.parametrize("fact", list(facts()), ids=lambda value: repr(value)[:40])
def test_every_kind_has_whole_words(fact: Fact) -> None:
    words = words_of(fact)
    assert words == words.strip()
    assert "None" not in words
    assert "\n" not in words
    assert isinstance(fact, Stated) or not {"{", "}"} & set(words)


def test_no_two_kinds_are_told_alike() -> None:
    alike = {("strata", "given-bins")}  # an earlier version wrote the second
    for family, examples in EXAMPLES.items():
        told: dict[str, str] = {}
        for kind, values in examples.items():
            first = told.setdefault(words_of(fact_of(family, kind, **values)), kind)
            assert first == kind or (first, kind) in alike


@pytest.mark.parametrize(
    ("family", "kind"), [(family, kind) for family in EXAMPLES for kind in EXAMPLES[family]]
)
def test_facts_come_back_from_json_as_they_were_written(family: type[Fact], kind: str) -> None:
    fact = fact_of(family, kind, **EXAMPLES[family][kind])
    written = json.loads(json.dumps(fact.to_dict(), allow_nan=False))
    assert written["kind"] == kind
    again = family.from_dict(written)
    assert again == fact
    assert hash(again) == hash(fact)


@pytest.mark.parametrize("reason", OpenReason)
def test_every_reason_of_an_open_question_has_words(reason: OpenReason) -> None:
    assert f": {WHY_OPEN[reason]} (4). " in display().words(unanswered(Counter({reason: 4})))
    assert len(set(WHY_OPEN.values())) == len(WHY_OPEN)


@pytest.mark.parametrize("member", [*Composition, *NoiseSource, *NotPrivate])
def test_every_member_has_words(member: StrEnum) -> None:
    """What an earlier version stated has the words it was stated in."""
    if member != "stated":
        assert display().words(member)
        return
    name = {Composition: "composition", NoiseSource: "noise", NotPrivate: "not_private"}[type(member)]
    written = "why_not_private" if name == "not_private" else name
    none = PrivacyStatement.none(released=[])
    values = {key: getattr(none, key) for key in none.__dataclass_fields__}
    told = PrivacyStatement(**values | {name: member, "stated": {written: "as they wrote"}})
    assert told.to_dict()[written] == "as they wrote"
    assert PrivacyStatement.from_json(told.to_json()) == told


def test_words_for_what_is_no_fact_are_an_error() -> None:
    for wrong in (OpenReason.NOISE, "words"):
        with pytest.raises(TypeError, match="no words for"):
            display().words(wrong)  # type: ignore[arg-type]


OTHER_VALUES = [
    fact_of(Limit, "weak-epsilon", epsilon=12.0, persons=True),
    fact_of(Limit, "weak-delta", delta=0.1, rows=8000, persons=True),
    fact_of(LeftOut, "dates", written=("%d/%m/%Y", "%m/%d/%Y"), first=2018, last=2020),
    fact_of(Note, "unanswered", reasons=[["noise", 1]]),
    fact_of(Public, "kernel", kernel="rbf", bandwidth=None, lambda_=1.0),
    fact_of(Unit, "outcome", labels=None),
    fact_of(Reason, "no-order", binned=False),
    fact_of(HeldFixed, "strata", columns=["a"], strata=5, model=False),
    fact_of(MethodReason, "not-mostly-numbers", numbers=0, columns=3),
    fact_of(Note, "conflicts", pairs=[("a", "b")], declared=[], settled=False, circles=True),
    fact_of(Note, "conflicts", pairs=[("a", "b")], declared=[], settled=False, circles=False),
    fact_of(
        Note, "joint-table", gaussian=False, cells=8, sd=2.0, mean_cell=None, least_cell=None, enough=3.0
    ),
    fact_of(
        Note,
        "components",
        gaussian=True,
        rows_measured=False,
        singles=2,
        pairs=1,
        larger=0,
        sd=2.0,
        mean_cell=None,
        least_cell=None,
        enough=3.0,
        target=None,
    ),
    fact_of(Note, "threshold", of="deletions", most=3, renewed=True, rows=None, resolution=9.25, parts=None),
    fact_of(Note, "threshold", of="deletions", most=3, renewed=False, rows=None, resolution=9.0, parts=40),
    fact_of(Note, "no-delta", times=31.4),
    fact_of(Finding, "unread-cells", cells=9, rows=50, becomes="unknown", own=True),
    fact_of(Finding, "missing-level", level="missing", in_file=False),
    fact_of(Finding, "missing-code", code=999, cells=1200, becomes=None),
    fact_of(Finding, "aliases-read", spellings=["01", "+1"]),
    fact_of(Finding, "recognised", entry="decimal", cells=1200, value=","),
    fact_of(Finding, "recognised", entry="thousands", cells=1, value="."),
]  # that change the words


def test_golden_words_of_facts(golden: Callable[[str, str], None]) -> None:
    """Every fact with the words that are made of it; ``test_golden.py`` says how to write the file anew."""
    golden("facts", "".join(f"{fact!r}\n    {words_of(fact)}\n" for fact in (*facts(), *OTHER_VALUES)))
