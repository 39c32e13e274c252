"""Every kind of fact has words, made from its values: no kind can be added without them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest

from dpcausal.citests.result import Chosen, HeldFixed, Missed, MissingRule, Reason, WithNoise
from dpcausal.core.display import display
from dpcausal.core.facts import Fact
from dpcausal.core.statement import (
    Composition,
    Limit,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    Public,
    Released,
    Stated,
    Unit,
)
from dpcausal.data.draft import BrokenRows, DraftNote, LeftOut, OpenQuotes
from dpcausal.discovery.search import MethodReason, Note, OpenReason, unanswered
from dpcausal.effects.result import EffectNote
from dpcausal.present import schema
from dpcausal.present.notes import OPEN_REASONS

ROW = {"kind": "row"}
TABLE = {"kind": "table"}
MEASURED = {"gaussian": True, "sd": 4.2, "mean_cell": 1434.2, "least_cell": 12.0, "enough": 3.0}

# family of facts -> kind, as files have it -> (plausible values, words that only come from them)
EXAMPLES: dict[type[Fact], dict[str, tuple[dict[str, Any], tuple[str, ...]]]] = {
    Limit: {
        "stated": ({"text": "as {written}"}, ("as {written}",)),
        "timing": ({}, ("Timing",)),
        "rounding": ({}, ("precision",)),
        "exact-sums": ({}, ("exact",)),
        "this-release-only": ({}, ("this release",)),
        "one-unit": ({"unit": ROW}, ("(one row)",)),
        "weak-epsilon": ({"epsilon": 12.0}, ("epsilon 12 ", "163,000 times")),
        "weak-delta": ({"delta": 0.1, "rows": 8000}, ("delta 0.1 ", "(8,000)")),
        "draft-schema": ({}, ("draft",)),
        "engine": ({"engine": "Spark", "remote": True}, ("Spark", "operates", "queries")),
        "no-privacy": ({}, ("any row can leak",)),
        "budget-ended": ({"questions": 7}, ("7 questions",)),
    },
    Public: {
        "stated": ({"text": "the city"}, ("the city",)),
        "schema": ({}, ("schema",)),
        "rows": ({}, ("number of rows",)),
        "not-empty": ({}, ("at least one row",)),
        "most-rows": ({"rows": 2147483647}, ("at most 2,147,483,647 rows", "refuses more")),
        "missing-as": (
            {"columns": (("sex", "male", False, False), ("dose", 1.5, True, True))},
            ("a missing or undeclared value becomes (sex male, dose 1.5 and in tables a bin of its own)",),
        ),
        "quoted-newlines": ({}, ("quoted_newlines = true", "belongs to its cell")),
        "labels": ({"labels": "smoke"}, ("labels in smoke are fixed", "size of both groups")),
        "method": ({}, ("method",)),
        "question": ({}, ("question",)),
        "loop": ({}, ("loop",)),
        "delta-not-needed": (
            {"delta": 1e-6},
            ("delta of 1e-06 was allowed", "not needed and not charged"),
        ),
        "reserve": ({"share": 0.3}, ("30% of the budget", "kept for effects")),
        "effect": ({}, ("treatment, outcome, what is held fixed",)),
        "features": ({}, ("features",)),
        "bounds": ({}, ("bounds",)),
        "strata": ({}, ("equal widths",)),
        "given-bins": ({}, ("equal widths",)),
        "kernel": (
            {"kernel": "rbf", "bandwidth": 0.25, "lambda_": 10.0},
            ("rbf kernel", "(0.25)", "lambda (10)"),
        ),
        "kernel-lists": ({"kernel": "laplace", "share": 0.2}, ("laplace kernel", "(0.2)")),
        "parts": ({}, ("parts",)),
        "deals": ({}, ("deals",)),
        "model": ({}, ("distribution of the resampled column",)),
        "copies": ({}, ("copies",)),
        "groups": ({"cases": 30, "controls": 40}, ("N1 = 30 cases", "N0 = 40 controls")),
        "snps": ({"snps": 500}, ("500 SNPs",)),
        "allele-order": ({}, ("the order of the two alleles",)),
        "alleles": ({"cases": 60, "controls": 80}, ("60 alleles of cases", "80 of controls")),
        "copies-of-allele": ({"least": 3, "most": 137}, ("3 to 137",)),
        "no-frequency": ({}, ("nothing about the allele frequency",)),
        "missing-rule": ({"rule": "reference"}, ("count as: reference",)),
        "frequencies": ({}, ("reference panel",)),
        "frequency-floor": ({"maf": 0.05}, ("below 0.05",)),
        "no-frequencies": ({}, ("nothing about allele frequencies (",)),
        "floor-released": ({"share": 0.1}, ("bought for 0.1 of epsilon",)),
    },
    Released: {
        "stated": ({"text": "a count"}, ("a count",)),
        "graph-from-rows": ({}, ("raw rows",)),
        "joint-table": ({}, ("joint table",)),
        "tables": ({"what": "tables of pairs", "sd": 12.34}, ("tables of pairs", "12.3")),
        "chosen-pairs": (
            {"number": 23, "of": 1_276},
            ("which 23 of the 1,276 pairs", "at random"),
        ),
        "moments": ({}, ("moments",)),
        "searched-again": ({"release": "12ab"}, ("release 12ab", "no further cost")),
        "test-outcomes": ({}, ("outcome of a private test",)),
        "independences": ({}, ("found independent",)),
        "noisy-scores": ({}, ("noisy score",)),
        "deletions": ({}, ("how many edges go",)),
        "statistic": ({}, ("the statistic and its variance",)),
        "table": ({}, ("whole table",)),
        "effect-table": (
            {"treatment": "smoke", "outcome": "lung", "adjust": ["age"], "sd": 2.84},
            ("sums of lung in the arms of smoke and strata of age", "2.84"),
        ),
        "effect-sums": (
            {"treatment": "smoke", "outcome": "lung", "adjust": ["age", "sex"], "sd": 12.34},
            ("moments of age, sex, smoke, lung", "12.3", "three sums"),
        ),
        "median-of-parts": ({}, ("median",)),
        "trimmed-mean-of-parts": ({}, ("trimmed mean",)),
        "count-of-parts": ({"test": "gcm"}, ("in which gcm rejected",)),
        "cut-scores": ({}, ("cut scores",)),
        "binned-covariance": ({}, ("covariance within bins",)),
        "residual-sums": ({}, ("sums of residual products",)),
        "residuals": ({}, ("residual product of every row",)),
        "ridge-choice": ({"then": TABLE}, ("lambda and bandwidth", "the whole table")),
        "spread": (
            {"columns": ["age"], "then": TABLE},
            ("counts of cells of age", "the whole table"),
        ),
        "noisy-rank": ({}, ("noisy rank",)),
        "noisy-decision": ({}, ("whether independence was rejected",)),
        "unit-circle": ({}, ("unit circle",)),
        "circle-decision": ({"statistic": "spearman"}, ("by the spearman statistic",)),
        "exact-statistic": ({}, ("exact statistic",)),
        "answer": (
            {"x": "a", "y": "b", "given": ["c", "d"], "released": TABLE},
            ("a and b given c, d: the whole table",),
        ),
        "answers": (
            {"count": 12, "test": "kendall", "level": 0.01, "released": TABLE},
            ("12 answers by kendall at level 0.01: the whole table",),
        ),
        "snps-above-cut": ({"statistic": "distance"}, ("noisy cut (distance)",)),
        "chosen-snps": ({"statistic": "distance"}, ("chosen SNPs", "(distance)")),
        "frequency-floor": ({}, ("rarest allele",)),
        "one-snp": ({}, ("one SNP",)),
    },
    Unit: {
        "stated": ({"text": "one family"}, ("one family",)),
        "row": ({}, ("one row",)),
        "outcome": ({"labels": "group"}, ("the labels (group)",)),
        "person": ({}, ("one person's genotypes",)),
        "allele": ({}, ("one allele",)),
    },
    Reason: {
        "as-asked": ({}, ("as asked",)),
        "ordered-levels": ({}, ("levels are ordered",)),
        "one-numeric": ({}, ("one number is given", "equal counts")),
        "numeric-given": ({"columns": 3}, ("3 numeric columns",)),
        "few-rows": (
            {"columns": 1, "enough": 0.19},
            ("too few at this epsilon", "from epsilon 0.19 on, kendall is used"),
        ),
        "many-cells": ({"cells": 40}, ("40 cells",)),
        "no-order-numeric": ({"columns": 1}, ("no order", "numbers are given")),
        "several-columns": ({}, ("several columns",)),
        "no-order": ({"binned": True}, ("no order", "declared bins")),
    },
    HeldFixed: {
        "regression": ({"columns": ["age", "dose"]}, ("age, dose", "by regression")),
        "equal-widths": ({"columns": ["age"]}, ("age", "equal width")),
        "strata": (
            {"columns": ["age", "dose"], "strata": 5, "model": True},
            ("age, dose", "in the model and in 5 strata each"),
        ),
        "spread": (
            {"columns": ["age"], "strata": 90},
            ("age", "strata of about equal counts", "(at most 90; fewer", "equal values share one"),
        ),
        "model": ({"columns": ["age"]}, ("age", "in the model")),
        "declared-bins": ({"columns": ["age"]}, ("age", "by the declared bins")),
    },
    Missed: {
        "weaker": ({"w": 0.13}, ("w = 0.13 is found in 80% of cases at best, a weaker one less",)),
        "weaker-without-noise": ({"w": 0.07}, ("not known", "w = 0.07", "Even without noise")),
        "even-strong": (
            {"strong": 0.58, "medium": 0.004},
            ("strong dependence (Cohen's w = 0.5) is found in 58% of cases", "medium one (0.3) in under 1%"),
        ),
    },
    MissingRule: {
        "counts": (
            {"columns": [("age", 40.0), ("sex", "f")]},
            (
                "By the schema, missing age counts as 40, missing sex counts as f",
                "hide a dependence or make one up",
            ),
        ),
        "shared": (
            {"columns": ["age", "dose"]},
            ("age and dose both have a level for missing values", "missing together"),
        ),
    },
    WithNoise: {
        "same": ({}, ("the same test",)),
        "same-table": ({"test": "measured"}, ("measured", "the same table with noise")),
        "other-below": ({"epsilon": 0.16, "test": "gcm"}, ("epsilon 0.16", "gcm below")),
    },
    Chosen: {
        "ridge": (
            {"lambda_": 10.0, "bandwidth": 0.25},
            ("lambda 10 ", "bandwidth 0.25", "privately"),
        )
    },
    MethodReason: {
        "as-asked": ({}, ("as asked",)),
        "no-privacy": ({}, ("no privacy",)),
        "one-target": ({}, ("about one column",)),
        "counts-only": ({}, ("counts only",)),
        "mostly-numbers": (
            {"numbers": 4, "columns": 5},
            ("4 of 5 columns hold numbers, which is",),
        ),
        "numbers-in-noise": (
            {"numbers": 4, "columns": 5},
            ("4 of 5 columns hold numbers", "bins show more"),
        ),
        "not-mostly-numbers": (
            {"numbers": 1, "columns": 5},
            ("1 of 5 columns holds numbers, not",),
        ),
    },
    Note: {
        "one-level": ({"columns": ["a", "b"]}, ('"a" and "b" have one level',)),
        "joint-table": (
            {**MEASURED, "cells": 1024},
            ("1,024 cells", "Gaussian", "4.2 rows", "an average cell holds 1,430 rows, or 12 in"),
        ),
        "components": (
            {**MEASURED, "gaussian": False, "rows_measured": True, "singles": 5, "pairs": 10, "larger": 2}
            | {"target": None},
            ("Laplace", "the number of rows and", "17 sets", "5 single, 10 pairs, 2 larger"),
        ),
        "whole-graphs": ({"edges": 3}, ("Whole graphs were scored", "3 edges")),
        "hidden-causes": (
            {"order": 3, "far": 6},
            ("Common causes may be hidden", "up to 3 columns, 6 of them beyond"),
        ),
        "target": (
            {"target": "death", "near": ["age", "smoking"]},
            ("directly linked to death", "age, smoking"),
        ),
        "chosen-pairs": (
            {"number": 23, "of": 1_276},
            ("23 of the 1,276 pairs", "not chosen are open"),
        ),
        "merged-levels": (
            {"columns": [["age", 3], ["site", 2]], "groups": []},
            ("to 2 groups site; to 3 groups age", "may seem linked because of it"),
        ),
        "unanswered": (
            {"reasons": [["noise", 2], ["too-many-cells", 1]]},
            ("3 questions", "2 because noise alone", "1 because there are more conditioning cells"),
        ),
        "no-delta": ({"times": 3.14}, ("3.1 times larger", "delta=1e-6")),
        "conflicts": (
            {"pairs": [["a", "b"], ["c", "d"]], "settled": True, "declared": [["e", "f"]], "circles": False},
            ("a - b, c - d", "without a direction", "what you declared, at e - f"),
        ),
        "tests": ({"tests": ["chi2", "kendall"], "epsilon": 0.125}, ("chi2, kendall", "0.125")),
        "classical": ({"tests": ["chi2"], "level": 0.05, "like": ""}, ("the chi2 test at level 0.05",)),
        "classical-moments": ({"harmonics": 3, "level": 0.05}, ("3 harmonics", "0.05")),
        "moments": (
            {"features": 21, "waves": 2, "sd": 12.34},
            ("21 features", "2 pairs of waves", "12.3 rows"),
        ),
        "threshold": (
            {"of": "pairs", "most": 6, "renewed": False, "rows": 1000, "resolution": 24.6, "parts": None},
            ("one noisy threshold for up to 6 pairs", "on 1,000 rows", "about 25 rows"),
        ),
        "equal-widths": (
            {"columns": ["age", "dose"]},
            ("Where age, dose are held fixed", "strata of equal width", "can look like an edge"),
        ),
        "shared-missing": (
            {"pairs": [["smoke", "dose"]] * 7},
            ("level for missing values", "missing in the same rows", "smoke - dose", "and 1 more"),
        ),
        "held-coarsely": (
            {"edges": [["x", "y", ["age", "dose"]]] * 7},
            ("held fixed by its bins", "x - y (age or dose)", "and 1 more", "Finer bins"),
        ),
        "explained-by-bins": (
            {"edges": [["x", "y", ["age", "dose"]]] * 7},
            ("Open, though the two go together: x - y (age and dose)", "and 1 more", "normal after ranking"),
        ),
        "choices": (
            {"epsilon": 0.05, "choices": 20, "mechanism": "exponential", "resolution": 5.25},
            ("epsilon 0.05", "up to 20 choices", "exponential mechanism", "about 5.2 rows"),
        ),
        "test-costs": (
            {"unit": "rho", "costs": [[0, 0.125], [1, 0.0625]]},
            ("(rho)", "0.125 given 0, 0.0625 given 1"),
        ),
    },
}

EXAMPLES[EffectNote] = {
    "unadjusted": ({}, ("randomised trial",)),
    "binned": ({"columns": ["age", "dose"]}, ("age, dose by the declared bins", "remains")),
    "by-groups": (
        {"columns": [("age", ["below 40", "40 or more"])]},
        ("age (below 40 | 40 or more) held fixed only by groups", "within a group remains"),
    ),
    "treatment-bins": ({"treatment": "dose"}, ("dose by its declared bins",)),
    "outcome-bins": (
        {"outcome": "weight", "off": 4.5},
        ("BIASED: weight counts by the middles", "off by 4.5", "interval is wider by as much"),
    ),
    "numbers": (
        {"missing": [["cells", 2.5]], "bounds": [["cells", 0.0, 9.0]]},
        ("missing cells counts as 2.5", "cells outside 0 to 9 as the nearer bound"),
    ),
    "missing-left-out": (
        {"outcome": "pain", "alike": ["dose", "age", "sex"]},
        ("rows with missing pain are left out", "alike in dose, age and sex", "chance whose pain is missing"),
    ),
    "missing-counts": (
        {"outcome": "pain", "value": None, "regression": False, "number": False},
        ("missing pain is not the event", "mostly too small", 'a level "missing" in the schema'),
    ),
    "missing-held": (
        {"columns": ["age", "sex"]},
        ("missing age and sex counts as a value that is held fixed", "other causes may differ"),
    ),
    "later": (
        {"treatment": "dose", "columns": ["tar"]},
        ("WARNING: tar was declared to come after dose", "hide part of the effect"),
    ),
    "graph-checks": ({}, ("you named what is held fixed", "only used to check")),
    "pooled": ({"strata": 7, "share": 0.013}, ("7 combinations", "1.3%")),
    "left-out": (
        {"share": 0.25, "noise": False},
        ("fewer than 3 rows in one of the two groups", "holds for 75% of the rows"),
    ),
    "nothing-known": ({"noise": True}, ("noise is larger than the groups",)),
    "lopsided": ({"low": 0.0, "high": 100.0}, ("further on one side", "0 to 100")),
    "noise-rules": (
        {"outcome": "pain", "low": 0.0, "high": 10.0, "held": True, "event": ">= NUMBER"},
        (
            "noise: tighter bounds of pain in the schema (now 0 to 10), coarser bins of what is held fixed or more "
            "epsilon shorten it; noise hides less of a yes/no outcome (event='>= NUMBER')",
        ),
    ),
    "wide": (
        {"outcome": "pain", "low": 0.0, "high": 10.0, "held": False, "event": ">= NUMBER"},
        (
            "too wide to say much: a yes/no outcome (event='>= NUMBER'), tighter bounds of pain in the schema (now 0 "
            "to 10), more epsilon or more rows would help",
        ),
    ),
    "from-graph": ({"columns": ["age"]}, ("graph says to hold age fixed",)),
    "descendant": ({"columns": ["tar"]}, ("may change tar",)),
    "back-door": (
        {
            "sure": True,
            "treatment": "dose",
            "given": False,
            "hold": ["age"],
            "leave": [],
            "paths": [[["age", "->", "dose"], ["age", "->", "pain"]]],
            "refused": False,
        },
        ("WARNING: the graph draws age -> dose and age -> pain, so other causes are", ": hold age fixed"),
    ),
    "several": ({"count": 3, "no_effect": True}, ("allows 3 effects", "one of them is no effect at all")),
    "linear": ({"columns": ["age", "sex"]}, ("age, sex taken out by linear regression",)),
    "scored": (
        {"columns": ["age", "dose"]},
        ("age and dose in standard deviations of their normal scores",),
    ),
    "same-tables": (
        {"held": 0.94, "few": 0.9},
        ("also chose the graph", "94% of such 95% intervals held", "90% with 2,000"),
    ),
    "reserved": ({"share": 0.3}, ("noise of its own", "30% of the discovery's budget")),
    "hidden-causes": ({}, ("common causes may be hidden",)),
    "everyone": ({"low": -0.25, "high": 0.5}, ("for all rows", "-0.25 to 0.5")),
    "same-moments": ({}, ("moments that also chose the graph",)),
    "fresh-noise": ({}, ("noise of its own",)),
    "hint-itself": ({}, ("link of the two is only a weak hint",)),
    "open-pairs": (
        {"columns": ["diet"], "both": True},
        ("whether diet should be held fixed stayed open",),
    ),
    "open-itself": ({}, ("linked directly", "open")),
    "contradicted": (
        {"pairs": [["age", "sex"], ["a", "b"], ["c", "d"], ["e", "f"]], "own": True},
        ("direction of age - sex", "and 1 more", "do not rely"),
    ),
    "no-path": ({}, ("no path of arrows", "no evidence of no effect")),
    "outcome-earlier": (
        {"treatment": "dose", "outcome": "sex"},
        ("sex was declared to be earlier in time than dose",),
    ),
}
EXAMPLES[DraftNote] = {
    "missing-level": (
        {"level": "refused", "in_file": True},
        ("'refused' reads as a missing value", "missing in the same rows"),
    ),
    "missing-code": (
        {"code": "9", "cells": 1200, "becomes": "missing"},
        ("'9' stands in 1,200 cells", "'missing'"),
    ),
    "aliases-read": ({"level": "yes", "spellings": ["Yes", "YES"]}, ("reads 'Yes', 'YES' as 'yes'",)),
    "abbreviation": ({"letter": "y", "level": "yes"}, ("'y' may be short for 'yes'",)),
    "unread-cells": (
        {"cells": 12, "rows": 5000, "becomes": 0.5, "own": False, "texts": [["n/a", 9], ["<5", 2]]},
        ("12 of 5,000 cells are no numbers", "replaced by 0.5", "'n/a' (9), '<5' (2) and others"),
    ),
    "with-separators": ({"cells": 1200}, ("1,200 of them",)),
    "repeated-identifier": ({"column": "id", "rows": 3000}, ("id repeats in 3,000 rows",)),
    "header-like-values": ({}, ("header",)),
    "ragged-rows": ({"more": 1200, "fewer": 3}, ("header: 1,200 (", "with fewer: 3")),
    "recognised": (
        {"entry": "encoding", "cells": 1200, "value": "cp850"},
        ("1,200 cells are not UTF-8", "like cp850"),
    ),
    "quantile-bins": ({}, ("near quantiles of the rows", "of your field")),
    "uneven-bins": ({"share": 0.9, "same": None}, ("90% of the numbers lie in one bin",)),
    "far-upper": ({"most": 25.0, "part": 0.25}, ("`upper = 25`", "25% of the noise")),
    "age-bounds": ({"lower": 0.0, "upper": 110.0}, ("0 to 110 are bounds for any age",)),
    "number-levels": ({"lowest": 1, "highest": 10}, ("from 1 to 10", "`ordered = true`")),
    "file-label": ({"label": "MGUS diagnosed"}, ("label in the file: MGUS diagnosed",)),
    "follows-from": (
        {"by": ("kappa", "lambda"), "relation": "cuts-of-sum"},
        ("follows from cut points on the sum of kappa and lambda", "leave out one of the three"),
    ),
    "many-columns": ({"columns": 59}, ("59 columns", "--columns")),
    "number-codes": ({"values": 49}, ("49 different whole numbers", "codes")),
    "time-to-event": ({"event": "death"}, ("time to death", "censoring are not modelled")),
    "missing-beside": (
        {"cells": 5705, "column": "death", "value": "alive", "number": True},
        (
            "rows in which death is 'alive'",
            "(5,705 cells)",
            "this one if you ask about the number",
            "a cause of death",
        ),
    ),
    "group-numbers": (
        {},
        ("whole numbers that seem to number places or groups", "Leave the column out"),
    ),
    "missing-together": (
        {"columns": ("got", "hiv"), "rows": 1926},
        ("Missing together: got, hiv (1,926 rows)", "complete rows"),
    ),
    "skewed": ({}, ('`scale = "log"`',)),
    "code-book": (
        {"levels": 7, "codes": True, "grades": True},
        (
            "the 7 levels are the value labels of the file",
            "`aliases`",
            "they read as grades",
            "`ordered = true`",
        ),
    ),
    "shared-code": (
        {"level": 2, "columns": ("diabetes", "pica"), "cells": 769, "seen": 1566},
        (
            "these 3 columns have 2 in the same 769 of 1,566 rows",
            "this one, diabetes, pica.",
            "`missing = [2]`",
        ),
    ),
    "open-quotes": ({"lines": 1200, "first": (3, 7)}, ("1,200 lines", "3, 7 and 1,198 more")),
}
EXAMPLES[LeftOut] = {
    "no-name": ({}, ("no name",)),
    "repeated-name": ({}, ("more than one column",)),
    "unknown-type": ({"type": "list<int64>"}, ("type list<int64>",)),
    "no-values": ({}, ("no values",)),
    "unreadable-numbers": ({"cells": 9, "texts": [["3,5", 9]]}, ("('3,5' (9))",)),
    "too-many-texts": ({"limit": 50}, ("more than 50 different texts",)),
    "all-different": ({"rows": 1200}, ("all 1,200 rows have different values",)),
}


def words_of(fact: Fact) -> str:
    """The words; those of a draft are asked for by the command alone, and not through ``core.display``."""
    match fact:
        case DraftNote():
            return schema.note_words(fact)
        case LeftOut():
            return schema.left_out_words(fact)
    return display().words(fact)


def fact_of(family: type[Fact], kind: str, **values: Any) -> Fact:
    return family.from_dict({"kind": kind, **values})


def facts() -> Iterator[tuple[type[Fact], Fact, tuple[str, ...]]]:
    for family, examples in EXAMPLES.items():
        for kind, (values, said) in examples.items():
            yield family, fact_of(family, kind, **values), said


@pytest.mark.parametrize("family", EXAMPLES)
def test_every_kind_is_here(family: type[Fact]) -> None:
    assert set(EXAMPLES[family]) == {kind for kind, one in family.kinds.items() if not one.__subclasses__()}


def test_every_family_is_here() -> None:
    families = {one for one in Fact.__subclasses__() if one.__module__.startswith("dpcausal.")}
    assert families == set(EXAMPLES)


@pytest.mark.parametrize(("family", "fact", "said"), list(facts()), ids=lambda value: repr(value)[:40])
def test_every_kind_has_words_with_its_values(family: type[Fact], fact: Fact, said: tuple[str, ...]) -> None:
    words = words_of(fact)
    assert [part for part in said if part not in words] == []
    assert words == words.strip()
    assert "None" not in words
    assert "\n" not in words or isinstance(fact, BrokenRows | OpenQuotes)
    assert isinstance(fact, Stated) or not {"{", "}"} & set(words)


def test_no_two_kinds_are_told_alike() -> None:
    alike = {("strata", "given-bins")}  # an earlier version wrote the second
    for family, examples in EXAMPLES.items():
        told: dict[str, str] = {}
        for kind, (values, _) in examples.items():
            first = told.setdefault(words_of(fact_of(family, kind, **values)), kind)
            assert first == kind or (first, kind) in alike


@pytest.mark.parametrize(
    ("family", "kind"), [(family, kind) for family in EXAMPLES for kind in EXAMPLES[family]]
)
def test_facts_come_back_from_json_as_they_were_written(family: type[Fact], kind: str) -> None:
    fact = fact_of(family, kind, **EXAMPLES[family][kind][0])
    written = json.loads(json.dumps(fact.to_dict(), allow_nan=False))
    assert written["kind"] == kind
    again = family.from_dict(written)
    assert again == fact
    assert hash(again) == hash(fact)


@pytest.mark.parametrize("reason", OpenReason)
def test_every_reason_of_an_open_question_has_words(reason: OpenReason) -> None:
    words = display().words(unanswered(Counter({reason: 4})))
    assert words.endswith(f": 4 {OPEN_REASONS[reason]}")
    assert OPEN_REASONS[reason].startswith("because ")
    assert len(set(OPEN_REASONS.values())) == len(OpenReason)


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


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        (
            fact_of(Public, "kernel", kernel="rbf", bandwidth=None, lambda_=1.0),
            "the rbf kernel, its bandwidth (default) and lambda (1)",
        ),
        (
            fact_of(Unit, "outcome", labels=None),
            "one row's outcome; the labels (the first column) and their counts are public",
        ),
        (fact_of(Reason, "no-order", binned=False), "chosen because the levels have no order"),
        (
            fact_of(HeldFixed, "strata", columns=["a"], strata=5, model=False),
            "a held fixed in 5 strata: groups of equal width between the bounds, not the declared bins",
        ),
        (
            fact_of(MethodReason, "not-mostly-numbers", numbers=0, columns=3),
            "chosen because none of 3 columns holds numbers",
        ),
        (
            fact_of(Note, "conflicts", pairs=[("a", "b")], declared=[], settled=False, circles=True),
            "Some test results contradict each other about directions, at a - b: circles stand there",
        ),
        (
            fact_of(Note, "conflicts", pairs=[("a", "b")], declared=[], settled=False, circles=False),
            "Some test results contradict each other about directions, at a - b: these edges are shown without a "
            "direction, and no graph fits all other directions",
        ),
        (
            fact_of(
                Note,
                "joint-table",
                gaussian=False,
                cells=8,
                sd=2.0,
                mean_cell=None,
                least_cell=None,
                enough=3.0,
            ),
            "One joint table of 8 cells was measured with Laplace noise; a count in a table of two columns has noise "
            "of standard deviation 2 rows",
        ),
        (
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
            "Measured with Gaussian noise: tables of 3 sets of columns (2 single, 1 pair); all measurements "
            "together, a count in a table of two columns has noise of standard deviation 2 rows",
        ),
        (
            fact_of(
                Note,
                "threshold",
                of="deletions",
                most=3,
                renewed=True,
                rows=None,
                resolution=9.25,
                parts=None,
            ),
            "a new noisy threshold after every deletion of an edge, for up to 3; a dependence of more than about 9.2 "
            "rows (observed minus expected) is kept 99 times in 100 it is asked about",
        ),
        (
            fact_of(
                Note, "threshold", of="deletions", most=3, renewed=False, rows=None, resolution=9.0, parts=40
            ),
            "one noisy threshold for up to 3 deletions of edges; each question is tested on 40 parts of the rows, and "
            "a dependence that about 9 parts more than expected see is kept 99 times in 100 it is asked about",
        ),
        (
            fact_of(Note, "no-delta", times=31.4),
            "without a delta the noise in a table of two columns is 31 times larger: "
            "add delta=1e-6 (it must lie below one over the number of rows)",
        ),
        (
            fact_of(DraftNote, "unread-cells", cells=9, rows=50, becomes="unknown", own=True),
            "9 of 50 cells are missing and become 'unknown'",
        ),
        (
            fact_of(DraftNote, "missing-level", level="missing", in_file=False),
            "'missing' is a level of its own; to let them join another, take it out and name that one in `other`",
        ),
        (
            fact_of(DraftNote, "missing-code", code=999, cells=1200, becomes=None),
            "999 stands in 1,200 cells: the bounds are drawn without it, and `missing` takes it for missing; a guess "
            "from rows: if it is a number, take it out",
        ),
        (
            fact_of(DraftNote, "aliases-read", spellings=["01", "+1"]),
            "`aliases` reads '01', '+1' as numbers; if not, make them levels, as text",
        ),
        (
            fact_of(DraftNote, "recognised", entry="decimal", cells=1200, value=","),
            "`decimal`: 1,200 cells are numbers with a decimal comma",
        ),
        (
            fact_of(DraftNote, "recognised", entry="thousands", cells=1, value="."),
            "`thousands`: 1 cell is numbers with '.' between thousands",
        ),
    ],
)
def test_the_other_values_that_change_the_words(fact: Fact, said: str) -> None:
    assert words_of(fact) == said
