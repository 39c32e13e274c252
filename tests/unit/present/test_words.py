"""Every kind of fact has words, made from its values: no kind can be added without them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

import pytest

from dpcausal.citests.result import (
    Chosen,
    ChosenKind,
    HeldFixed,
    HeldFixedKind,
    Missed,
    MissedKind,
    MissingRule,
    MissingRuleKind,
    Reason,
    ReasonKind,
    WithNoise,
    WithNoiseKind,
)
from dpcausal.core.display import display
from dpcausal.core.facts import Fact
from dpcausal.core.statement import (
    Composition,
    Limit,
    LimitKind,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    Public,
    PublicKind,
    Released,
    ReleasedKind,
    Unit,
    UnitKind,
    _limit,
    _released,
)
from dpcausal.data.draft import DraftNote, DraftNoteKind, LeftOut, LeftOutKind
from dpcausal.discovery.search import MethodReason, MethodReasonKind, Note, NoteKind, OpenReason, unanswered
from dpcausal.effects.result import EffectNote, EffectNoteKind
from dpcausal.present import schema
from dpcausal.present.discovery import OPEN_REASONS

ROW = Unit(UnitKind.ROW)
TABLE = Released(ReleasedKind.TABLE)
MEASURED = {"gaussian": True, "sd": 4.2, "mean_cell": 1434.2, "least_cell": 12.0}

# class of facts -> kind -> (plausible values, words that only come from them)
EXAMPLES: dict[type[Fact], dict[StrEnum, tuple[dict[str, object], tuple[str, ...]]]] = {
    Limit: {
        LimitKind.STATED: ({"text": "as {written}"}, ("as {written}",)),
        LimitKind.TIMING: ({}, ("Timing",)),
        LimitKind.ROUNDING: ({}, ("precision",)),
        LimitKind.EXACT_SUMS: ({}, ("exact",)),
        LimitKind.THIS_RELEASE_ONLY: ({}, ("this release",)),
        LimitKind.ONE_UNIT: ({"unit": ROW}, ("(one row)",)),
        LimitKind.WEAK_EPSILON: ({"epsilon": 12.0}, ("epsilon 12 ", "163,000 times")),
        LimitKind.WEAK_DELTA: ({"delta": 0.1, "rows": 8000}, ("delta 0.1 ", "(8,000)")),
        LimitKind.DRAFT_SCHEMA: ({}, ("draft",)),
        LimitKind.ENGINE: ({"engine": "Spark", "remote": True}, ("Spark", "operates", "queries")),
        LimitKind.NO_PRIVACY: ({}, ("any row can leak",)),
        LimitKind.BUDGET_ENDED: ({"questions": 7}, ("7 questions",)),
    },
    Public: {
        PublicKind.STATED: ({"text": "the city"}, ("the city",)),
        PublicKind.SCHEMA: ({}, ("schema",)),
        PublicKind.ROWS: ({}, ("number of rows",)),
        PublicKind.NOT_EMPTY: ({}, ("at least one row",)),
        PublicKind.MOST_ROWS: ({"rows": 2147483647}, ("at most 2,147,483,647 rows", "refuses more")),
        PublicKind.MISSING_AS: (
            {"columns": (("sex", "male", False, False), ("dose", 1.5, True, True))},
            ("a missing or undeclared value becomes (sex male, dose 1.5 and in tables a bin of its own)",),
        ),
        PublicKind.QUOTED_NEWLINES: ({}, ("quoted_newlines = true", "belongs to its cell")),
        PublicKind.LABELS: ({"labels": "smoke"}, ("labels in smoke are fixed", "size of both groups")),
        PublicKind.METHOD: ({}, ("method",)),
        PublicKind.QUESTION: ({}, ("question",)),
        PublicKind.LOOP: ({}, ("loop",)),
        PublicKind.DELTA_NOT_NEEDED: (
            {"delta": 1e-6},
            ("delta of 1e-06 was allowed", "not needed and not charged"),
        ),
        PublicKind.RESERVE: ({"share": 0.3}, ("30% of the budget", "kept for effects")),
        PublicKind.EFFECT: ({}, ("treatment, outcome, what is held fixed",)),
        PublicKind.FEATURES: ({}, ("features",)),
        PublicKind.BOUNDS: ({}, ("bounds",)),
        PublicKind.STRATA: ({}, ("equal widths",)),
        PublicKind.GIVEN_BINS: ({}, ("equal widths",)),
        PublicKind.KERNEL: (
            {"kernel": "rbf", "bandwidth": 0.25, "lambda_": 10.0},
            ("rbf kernel", "(0.25)", "lambda (10)"),
        ),
        PublicKind.KERNEL_LISTS: ({"kernel": "laplace", "share": 0.2}, ("laplace kernel", "(0.2)")),
        PublicKind.PARTS: ({}, ("parts",)),
        PublicKind.DEALS: ({}, ("deals",)),
        PublicKind.MODEL: ({}, ("distribution of the resampled column",)),
        PublicKind.COPIES: ({}, ("copies",)),
        PublicKind.GROUPS: ({"cases": 30, "controls": 40}, ("N1 = 30 cases", "N0 = 40 controls")),
        PublicKind.SNPS: ({"snps": 500}, ("500 SNPs",)),
        PublicKind.ALLELE_ORDER: ({}, ("the order of the two alleles",)),
        PublicKind.ALLELES: ({"cases": 60, "controls": 80}, ("60 alleles of cases", "80 of controls")),
        PublicKind.COPIES_OF_ALLELE: ({"least": 3, "most": 137}, ("3 to 137",)),
        PublicKind.NO_FREQUENCY: ({}, ("nothing about the allele frequency",)),
        PublicKind.MISSING_RULE: ({"rule": "reference"}, ("count as: reference",)),
        PublicKind.FREQUENCIES: ({}, ("reference panel",)),
        PublicKind.FREQUENCY_FLOOR: ({"maf": 0.05}, ("below 0.05",)),
        PublicKind.NO_FREQUENCIES: ({}, ("nothing about allele frequencies (",)),
        PublicKind.FLOOR_RELEASED: ({"share": 0.1}, ("bought for 0.1 of epsilon",)),
    },
    Released: {
        ReleasedKind.STATED: ({"text": "a count"}, ("a count",)),
        ReleasedKind.GRAPH_FROM_ROWS: ({}, ("raw rows",)),
        ReleasedKind.JOINT_TABLE: ({}, ("joint table",)),
        ReleasedKind.TABLES: ({"what": "tables of pairs", "sd": 12.34}, ("tables of pairs", "12.3")),
        ReleasedKind.CHOSEN_PAIRS: (
            {"number": 23, "of": 1_276},
            ("which 23 of the 1,276 pairs", "at random"),
        ),
        ReleasedKind.MOMENTS: ({}, ("moments",)),
        ReleasedKind.SEARCHED_AGAIN: ({"release": "12ab"}, ("release 12ab", "no further cost")),
        ReleasedKind.TEST_OUTCOMES: ({}, ("outcome of a private test",)),
        ReleasedKind.INDEPENDENCES: ({}, ("found independent",)),
        ReleasedKind.NOISY_SCORES: ({}, ("noisy score",)),
        ReleasedKind.DELETIONS: ({}, ("how many edges go",)),
        ReleasedKind.STATISTIC: ({}, ("the statistic and its variance",)),
        ReleasedKind.TABLE: ({}, ("whole table",)),
        ReleasedKind.EFFECT_TABLE: (
            {"treatment": "smoke", "outcome": "lung", "adjust": ["age"], "sd": 2.84},
            ("sums of lung in the arms of smoke and strata of age", "2.84"),
        ),
        ReleasedKind.EFFECT_SUMS: (
            {"treatment": "smoke", "outcome": "lung", "adjust": ["age", "sex"], "sd": 12.34},
            ("moments of age, sex, smoke, lung", "12.3", "three sums"),
        ),
        ReleasedKind.MEDIAN_OF_PARTS: ({}, ("median",)),
        ReleasedKind.TRIMMED_MEAN_OF_PARTS: ({}, ("trimmed mean",)),
        ReleasedKind.COUNT_OF_PARTS: ({"test": "gcm"}, ("in which gcm rejected",)),
        ReleasedKind.CUT_SCORES: ({}, ("cut scores",)),
        ReleasedKind.BINNED_COVARIANCE: ({}, ("covariance within bins",)),
        ReleasedKind.RESIDUAL_SUMS: ({}, ("sums of residual products",)),
        ReleasedKind.RESIDUALS: ({}, ("residual product of every row",)),
        ReleasedKind.RIDGE_CHOICE: ({"then": TABLE}, ("lambda and bandwidth", "the whole table")),
        ReleasedKind.SPREAD: (
            {"columns": ["age"], "then": TABLE},
            ("counts of cells of age", "the whole table"),
        ),
        ReleasedKind.NOISY_RANK: ({}, ("noisy rank",)),
        ReleasedKind.NOISY_DECISION: ({}, ("whether independence was rejected",)),
        ReleasedKind.UNIT_CIRCLE: ({}, ("unit circle",)),
        ReleasedKind.CIRCLE_DECISION: ({"statistic": "spearman"}, ("by the spearman statistic",)),
        ReleasedKind.EXACT_STATISTIC: ({}, ("exact statistic",)),
        ReleasedKind.ANSWER: (
            {"x": "a", "y": "b", "given": ["c", "d"], "released": TABLE},
            ("a and b given c, d: the whole table",),
        ),
        ReleasedKind.ANSWERS: (
            {"count": 12, "test": "kendall", "level": 0.01, "released": TABLE},
            ("12 answers by kendall at level 0.01: the whole table",),
        ),
        ReleasedKind.SNPS_ABOVE_CUT: ({"statistic": "distance"}, ("noisy cut (distance)",)),
        ReleasedKind.CHOSEN_SNPS: ({"statistic": "distance"}, ("chosen SNPs", "(distance)")),
        ReleasedKind.FREQUENCY_FLOOR: ({}, ("rarest allele",)),
        ReleasedKind.ONE_SNP: ({}, ("one SNP",)),
    },
    Unit: {
        UnitKind.STATED: ({"text": "one family"}, ("one family",)),
        UnitKind.ROW: ({}, ("one row",)),
        UnitKind.OUTCOME: ({"labels": "group"}, ("the labels (group)",)),
        UnitKind.PERSON: ({}, ("one person's genotypes",)),
        UnitKind.ALLELE: ({}, ("one allele",)),
    },
    Reason: {
        ReasonKind.AS_ASKED: ({}, ("as asked",)),
        ReasonKind.ORDERED_LEVELS: ({}, ("levels are ordered",)),
        ReasonKind.ONE_NUMERIC: ({}, ("one number is given", "equal counts")),
        ReasonKind.NUMERIC_GIVEN: ({"columns": 3}, ("3 numeric columns",)),
        ReasonKind.FEW_ROWS: (
            {"columns": 1, "enough": 0.19},
            ("too few at this epsilon", "from epsilon 0.19 on, kendall is used"),
        ),
        ReasonKind.MANY_CELLS: ({"cells": 40}, ("40 cells",)),
        ReasonKind.NO_ORDER_NUMERIC: ({"columns": 1}, ("no order", "numbers are given")),
        ReasonKind.SEVERAL_COLUMNS: ({}, ("several columns",)),
        ReasonKind.NO_ORDER: ({"binned": True}, ("no order", "declared bins")),
    },
    HeldFixed: {
        HeldFixedKind.REGRESSION: ({"columns": ["age", "dose"]}, ("age, dose", "by regression")),
        HeldFixedKind.EQUAL_WIDTHS: ({"columns": ["age"]}, ("age", "equal width")),
        HeldFixedKind.STRATA: (
            {"columns": ["age", "dose"], "strata": 5, "model": True},
            ("age, dose", "in the model and in 5 strata each"),
        ),
        HeldFixedKind.SPREAD: (
            {"columns": ["age"], "strata": 90},
            ("age", "strata of about equal counts", "(at most 90; fewer", "equal values share one"),
        ),
        HeldFixedKind.MODEL: ({"columns": ["age"]}, ("age", "in the model")),
        HeldFixedKind.DECLARED_BINS: ({"columns": ["age"]}, ("age", "by the declared bins")),
    },
    Missed: {
        MissedKind.WEAKER: ({"w": 0.13}, ("w = 0.13 is found in 80% of cases at best, a weaker one less",)),
        MissedKind.WEAKER_WITHOUT_NOISE: ({"w": 0.07}, ("not known", "w = 0.07", "Even without noise")),
        MissedKind.EVEN_STRONG: (
            {"strong": 0.58, "medium": 0.004},
            ("strong dependence (Cohen's w = 0.5) is found in 58% of cases", "medium one (0.3) in under 1%"),
        ),
    },
    MissingRule: {
        MissingRuleKind.COUNTS: (
            {"columns": [("age", 40.0), ("sex", "f")]},
            (
                "By the schema, missing age counts as 40, missing sex counts as f",
                "hide a dependence or make one up",
            ),
        ),
        MissingRuleKind.SHARED: (
            {"columns": ["age", "dose"]},
            ("age and dose both have a level for missing values", "missing together"),
        ),
    },
    WithNoise: {
        WithNoiseKind.SAME: ({}, ("the same test",)),
        WithNoiseKind.SAME_TABLE: ({"test": "measured"}, ("measured", "the same table with noise")),
        WithNoiseKind.OTHER_BELOW: ({"epsilon": 0.16, "test": "gcm"}, ("epsilon 0.16", "gcm below")),
    },
    Chosen: {
        ChosenKind.RIDGE: (
            {"lambda_": 10.0, "bandwidth": 0.25},
            ("lambda 10 ", "bandwidth 0.25", "privately"),
        )
    },
    MethodReason: {
        MethodReasonKind.AS_ASKED: ({}, ("as asked",)),
        MethodReasonKind.NO_PRIVACY: ({}, ("no privacy",)),
        MethodReasonKind.ONE_TARGET: ({}, ("about one column",)),
        MethodReasonKind.COUNTS_ONLY: ({}, ("counts only",)),
        MethodReasonKind.MOSTLY_NUMBERS: (
            {"numbers": 4, "columns": 5},
            ("4 of 5 columns hold numbers, which is",),
        ),
        MethodReasonKind.NUMBERS_IN_NOISE: (
            {"numbers": 4, "columns": 5},
            ("4 of 5 columns hold numbers", "bins show more"),
        ),
        MethodReasonKind.NOT_MOSTLY_NUMBERS: (
            {"numbers": 1, "columns": 5},
            ("1 of 5 columns holds numbers, not",),
        ),
    },
    Note: {
        NoteKind.ONE_LEVEL: ({"columns": ["a", "b"]}, ('"a" and "b" have one level',)),
        NoteKind.JOINT_TABLE: (
            {**MEASURED, "cells": 1024},
            ("1,024 cells", "Gaussian", "4.2 rows", "an average cell holds 1,430 rows, or 12 in"),
        ),
        NoteKind.COMPONENTS: (
            {**MEASURED, "gaussian": False, "rows_measured": True, "singles": 5, "pairs": 10, "larger": 2},
            ("Laplace", "the number of rows and", "17 sets", "5 single, 10 pairs, 2 larger"),
        ),
        NoteKind.WHOLE_GRAPHS: ({"edges": 3}, ("Whole graphs were scored", "3 edges")),
        NoteKind.HIDDEN_CAUSES: (
            {"order": 3, "far": 6},
            ("Common causes may be hidden", "up to 3 columns, 6 of them beyond"),
        ),
        NoteKind.TARGET: (
            {"target": "death", "near": ["age", "smoking"]},
            ("directly linked to death", "age, smoking"),
        ),
        NoteKind.CHOSEN_PAIRS: (
            {"number": 23, "of": 1_276},
            ("23 of the 1,276 pairs", "not chosen are open"),
        ),
        NoteKind.MERGED_LEVELS: (
            {"columns": [["age", 3], ["site", 2]]},
            ("to 2 groups site; to 3 groups age", "may seem linked because of it"),
        ),
        NoteKind.UNANSWERED: (
            unanswered(Counter({OpenReason.NOISE: 2, OpenReason.TOO_MANY_CELLS: 1})).values,  # type: ignore[dict-item]
            ("3 questions", "2 because noise alone", "1 because there are more conditioning cells"),
        ),
        NoteKind.NO_DELTA: ({"times": 3.14}, ("3.1 times larger", "delta=1e-6")),
        NoteKind.CONFLICTS: (
            {"pairs": [["a", "b"], ["c", "d"]], "settled": True, "declared": [["e", "f"]]},
            ("a - b, c - d", "without a direction", "what you declared, at e - f"),
        ),
        NoteKind.TESTS: ({"tests": ["chi2", "kendall"], "epsilon": 0.125}, ("chi2, kendall", "0.125")),
        NoteKind.CLASSICAL: ({"tests": ["chi2"], "level": 0.05}, ("the chi2 test at level 0.05",)),
        NoteKind.CLASSICAL_MOMENTS: ({"harmonics": 3, "level": 0.05}, ("3 harmonics", "0.05")),
        NoteKind.MOMENTS: (
            {"features": 21, "waves": 2, "sd": 12.34},
            ("21 features", "2 pairs of waves", "12.3 rows"),
        ),
        NoteKind.THRESHOLD: (
            {"of": "pairs", "most": 6, "renewed": False, "rows": 1000, "resolution": 24.6, "parts": None},
            ("one noisy threshold for up to 6 pairs", "on 1,000 rows", "about 25 rows"),
        ),
        NoteKind.EQUAL_WIDTHS: (
            {"columns": ["age", "dose"]},
            ("Where age, dose are held fixed", "strata of equal width", "can look like an edge"),
        ),
        NoteKind.SHARED_MISSING: (
            {"pairs": [["smoke", "dose"]] * 7},
            ("level for missing values", "missing in the same rows", "smoke - dose", "and 1 more"),
        ),
        NoteKind.HELD_COARSELY: (
            {"edges": [["x", "y", ["age", "dose"]]] * 7},
            ("held fixed by its bins", "x - y (age or dose)", "and 1 more", "Finer bins"),
        ),
        NoteKind.EXPLAINED_BY_BINS: (
            {"edges": [["x", "y", ["age", "dose"]]] * 7},
            ("Open, though the two go together: x - y (age and dose)", "and 1 more", "normal after ranking"),
        ),
        NoteKind.CHOICES: (
            {"epsilon": 0.05, "choices": 20, "mechanism": "exponential", "resolution": 5.25},
            ("epsilon 0.05", "up to 20 choices", "exponential mechanism", "about 5.2 rows"),
        ),
        NoteKind.TEST_COSTS: (
            {"unit": "rho", "costs": [[0, 0.125], [1, 0.0625]]},
            ("(rho)", "0.125 given 0, 0.0625 given 1"),
        ),
    },
}

EXAMPLES[EffectNote] = {
    EffectNoteKind.UNADJUSTED: ({}, ("randomised trial",)),
    EffectNoteKind.BINNED: ({"columns": ["age", "dose"]}, ("age, dose by the declared bins", "remains")),
    EffectNoteKind.BY_GROUPS: (
        {"columns": [("age", ["below 40", "40 or more"])]},
        ("age (below 40 | 40 or more) held fixed only by groups", "within a group remains"),
    ),
    EffectNoteKind.TREATMENT_BINS: ({"treatment": "dose"}, ("dose by its declared bins",)),
    EffectNoteKind.OUTCOME_BINS: (
        {"outcome": "weight", "off": 4.5},
        ("BIASED: weight counts by the middles", "off by 4.5", "interval is wider by as much"),
    ),
    EffectNoteKind.NUMBERS: (
        {"missing": [["cells", 2.5]], "bounds": [["cells", 0.0, 9.0]]},
        ("missing cells counts as 2.5", "cells outside 0 to 9 as the nearer bound"),
    ),
    EffectNoteKind.MISSING_LEFT_OUT: (
        {"outcome": "pain", "alike": ["dose", "age", "sex"]},
        ("rows with missing pain are left out", "alike in dose, age and sex", "chance whose pain is missing"),
    ),
    EffectNoteKind.MISSING_COUNTS: (
        {"outcome": "pain", "value": None, "regression": False, "number": False},
        ("missing pain is not the event", "mostly too small", 'a level "missing" in the schema'),
    ),
    EffectNoteKind.MISSING_HELD: (
        {"columns": ["age", "sex"]},
        ("missing age and sex counts as a value that is held fixed", "other causes may differ"),
    ),
    EffectNoteKind.LATER: (
        {"treatment": "dose", "columns": ["tar"]},
        ("WARNING: tar was declared to come after dose", "hide part of the effect"),
    ),
    EffectNoteKind.GRAPH_CHECKS: ({}, ("you named what is held fixed", "only used to check")),
    EffectNoteKind.POOLED: ({"strata": 7, "share": 0.013}, ("7 combinations", "1.3%")),
    EffectNoteKind.LEFT_OUT: (
        {"share": 0.25, "noise": False},
        ("fewer than 3 rows in one of the two groups", "holds for 75% of the rows"),
    ),
    EffectNoteKind.NOTHING_KNOWN: ({"noise": True}, ("noise is larger than the groups",)),
    EffectNoteKind.LOPSIDED: ({"low": 0.0, "high": 100.0}, ("further on one side", "0 to 100")),
    EffectNoteKind.NOISE_RULES: (
        {"outcome": "pain", "low": 0.0, "high": 10.0, "held": True, "event": ">= NUMBER"},
        (
            "noise: tighter bounds of pain in the schema (now 0 to 10), coarser bins of what is held fixed or more "
            "epsilon shorten it; noise hides less of a yes/no outcome (event='>= NUMBER')",
        ),
    ),
    EffectNoteKind.WIDE: (
        {"outcome": "pain", "low": 0.0, "high": 10.0, "held": False, "event": ">= NUMBER"},
        (
            "too wide to say much: a yes/no outcome (event='>= NUMBER'), tighter bounds of pain in the schema (now 0 "
            "to 10), more epsilon or more rows would help",
        ),
    ),
    EffectNoteKind.FROM_GRAPH: ({"columns": ["age"]}, ("graph says to hold age fixed",)),
    EffectNoteKind.DESCENDANT: ({"columns": ["tar"]}, ("may change tar",)),
    EffectNoteKind.BACK_DOOR: (
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
    EffectNoteKind.SEVERAL: ({"count": 3}, ("allows 3 effects",)),
    EffectNoteKind.NO_EFFECT: ({}, ("one of them is no effect at all",)),
    EffectNoteKind.LINEAR: ({"columns": ["age", "sex"]}, ("age, sex taken out by linear regression",)),
    EffectNoteKind.SCORED: (
        {"columns": ["age", "dose"]},
        ("age and dose in standard deviations of their normal scores",),
    ),
    EffectNoteKind.SAME_TABLES: (
        {"held": 0.94, "few": 0.9},
        ("also chose the graph", "94% of such 95% intervals held", "90% with 2,000"),
    ),
    EffectNoteKind.RESERVED: ({"share": 0.3}, ("noise of its own", "30% of the discovery's budget")),
    EffectNoteKind.HIDDEN_CAUSES: ({}, ("common causes may be hidden",)),
    EffectNoteKind.EVERYONE: ({"low": -0.25, "high": 0.5}, ("for all rows", "-0.25 to 0.5")),
    EffectNoteKind.SAME_MOMENTS: ({}, ("moments that also chose the graph",)),
    EffectNoteKind.FRESH_NOISE: ({}, ("noise of its own",)),
    EffectNoteKind.HINT_ITSELF: ({}, ("link of the two is only a weak hint",)),
    EffectNoteKind.OPEN_PAIRS: (
        {"columns": ["diet"], "both": True},
        ("whether diet should be held fixed stayed open",),
    ),
    EffectNoteKind.OPEN_ITSELF: ({}, ("linked directly", "open")),
    EffectNoteKind.CONTRADICTED: (
        {"pairs": [["age", "sex"], ["a", "b"], ["c", "d"], ["e", "f"]], "own": True},
        ("direction of age - sex", "and 1 more", "do not rely"),
    ),
    EffectNoteKind.NO_PATH: ({}, ("no path of arrows", "no evidence of no effect")),
    EffectNoteKind.OUTCOME_EARLIER: (
        {"treatment": "dose", "outcome": "sex"},
        ("sex was declared to be earlier in time than dose",),
    ),
}
EXAMPLES[DraftNote] = {
    DraftNoteKind.MISSING_CELLS: (
        {"cells": 1200, "rows": 5000, "becomes": "unknown", "own": True},
        ("1,200 of 5,000 cells", "become 'unknown'"),
    ),
    DraftNoteKind.READS_AS_MISSING: (
        {"level": "refused"},
        ("'refused' reads as a missing value", "missing in the same rows"),
    ),
    DraftNoteKind.MISSING_CODE_LEVEL: (
        {"code": "9", "cells": 1200, "becomes": "missing"},
        ("'9' stands in 1,200 cells", "'missing'"),
    ),
    DraftNoteKind.MISSING_CODE_NUMBER: ({"code": 999, "cells": 1200}, ("999 stands in 1,200 cells",)),
    DraftNoteKind.MISSING_HAS_LEVEL: ({"level": "missing"}, ("'missing' is a level of its own",)),
    DraftNoteKind.ALIASES: ({"level": "yes", "spellings": ["Yes", "YES"]}, ("reads 'Yes', 'YES' as 'yes'",)),
    DraftNoteKind.NUMBER_ALIASES: ({"spellings": ["01", "+1"]}, ("reads '01', '+1' as numbers",)),
    DraftNoteKind.ABBREVIATION: ({"letter": "y", "level": "yes"}, ("'y' may be short for 'yes'",)),
    DraftNoteKind.NOT_NUMBERS: (
        {"cells": 12, "rows": 5000, "becomes": 0.5, "own": False, "texts": [["n/a", 9], ["<5", 2]]},
        ("12 of 5,000 cells are no numbers", "replaced by 0.5", "'n/a' (9), '<5' (2) and others"),
    ),
    DraftNoteKind.WITH_SEPARATORS: ({"cells": 1200}, ("1,200 of them",)),
    DraftNoteKind.REPEATED_IDENTIFIER: ({"column": "id", "rows": 3000}, ("id repeats in 3,000 rows",)),
    DraftNoteKind.HEADER_LIKE_VALUES: ({}, ("header",)),
    DraftNoteKind.RAGGED_ROWS: ({"more": 1200, "fewer": 3}, ("header: 1,200 (", "with fewer: 3")),
    DraftNoteKind.ENCODING: (
        {"cells": 1200, "encoding": "cp850"},
        ("1,200 cells are not UTF-8", "like cp850"),
    ),
    DraftNoteKind.QUANTILE_BINS: ({}, ("near quantiles of the rows", "of your field")),
    DraftNoteKind.UNEVEN_BINS: ({"share": 0.9, "same": None}, ("90% of the numbers lie in one bin",)),
    DraftNoteKind.FAR_UPPER: ({"most": 25.0, "part": 0.25}, ("`upper = 25`", "25% of the noise")),
    DraftNoteKind.AGE_BOUNDS: ({"lower": 0.0, "upper": 110.0}, ("0 to 110 are bounds for any age",)),
    DraftNoteKind.NUMBER_LEVELS: ({"lowest": 1, "highest": 10}, ("from 1 to 10", "`ordered = true`")),
    DraftNoteKind.LABEL: ({"label": "MGUS diagnosed"}, ("label in the file: MGUS diagnosed",)),
    DraftNoteKind.DETERMINED: (
        {"by": ("kappa", "lambda"), "relation": "cuts-of-sum"},
        ("follows from cut points on the sum of kappa and lambda", "leave out one of the three"),
    ),
    DraftNoteKind.MANY_COLUMNS: ({"columns": 59}, ("59 columns", "--columns")),
    DraftNoteKind.NUMBER_CODES: ({"values": 49}, ("49 different whole numbers", "codes")),
    DraftNoteKind.TIME_TO_EVENT: ({"event": "death"}, ("time to death", "censoring are not modelled")),
    DraftNoteKind.MISSING_WITH: (
        {"cells": 5705, "column": "death", "value": "alive", "number": True},
        (
            "rows in which death is 'alive'",
            "(5,705 cells)",
            "this one if you ask about the number",
            "a cause of death",
        ),
    ),
    DraftNoteKind.GROUP_NUMBERS: (
        {},
        ("whole numbers that seem to number places or groups", "Leave the column out"),
    ),
    DraftNoteKind.MISSING_TOGETHER: (
        {"columns": ("got", "hiv"), "rows": 1926},
        ("Missing together: got, hiv (1,926 rows)", "complete rows"),
    ),
    DraftNoteKind.SKEWED: ({}, ('`scale = "log"`',)),
    DraftNoteKind.CODE_BOOK: (
        {"levels": 7, "codes": True, "grades": True},
        (
            "the 7 levels are the value labels of the file",
            "`aliases`",
            "they read as grades",
            "`ordered = true`",
        ),
    ),
    DraftNoteKind.SHARED_CODE: (
        {"level": 2, "columns": ("diabetes", "pica"), "cells": 769, "seen": 1566},
        (
            "these 3 columns have 2 in the same 769 of 1,566 rows",
            "this one, diabetes, pica.",
            "`missing = [2]`",
        ),
    ),
    DraftNoteKind.DECIMAL_COMMA: ({"cells": 1200}, ("1,200 cells are numbers with a decimal comma",)),
    DraftNoteKind.THOUSANDS: ({"cells": 1200, "mark": "."}, ("1,200 cells are numbers with '.' between",)),
    DraftNoteKind.OPEN_QUOTES: ({"lines": 1200, "first": (3, 7)}, ("1,200 lines", "3, 7 and 1,198 more")),
}
EXAMPLES[LeftOut] = {
    LeftOutKind.NO_NAME: ({}, ("no name",)),
    LeftOutKind.REPEATED_NAME: ({}, ("more than one column",)),
    LeftOutKind.TYPE: ({"type": "list<int64>"}, ("type list<int64>",)),
    LeftOutKind.NO_VALUES: ({}, ("no values",)),
    LeftOutKind.UNREADABLE_NUMBERS: ({"cells": 9, "texts": [["3,5", 9]]}, ("('3,5' (9))",)),
    LeftOutKind.TOO_MANY_TEXTS: ({"limit": 50}, ("more than 50 different texts",)),
    LeftOutKind.IDENTIFIER: ({"rows": 1200}, ("all 1,200 rows have different values",)),
}


def words_of(fact: Fact) -> str:
    """The words; those of a draft are asked for by the command alone, and not through ``core.display``."""
    match fact:
        case DraftNote():
            return schema.note_words(fact)
        case LeftOut():
            return schema.left_out_words(fact)
    return display().words(fact)


def facts() -> Iterator[tuple[Fact, tuple[str, ...]]]:
    for kind_of_fact, examples in EXAMPLES.items():
        for kind, (values, said) in examples.items():
            yield kind_of_fact(kind, **values), said


@pytest.mark.parametrize("kind_of_fact", EXAMPLES)
def test_every_kind_is_here(kind_of_fact: type[Fact]) -> None:
    assert set(EXAMPLES[kind_of_fact]) == set(kind_of_fact.kinds)


def test_every_class_of_facts_is_here() -> None:
    def below(parent: type[Fact]) -> set[type[Fact]]:
        found = {each for each in parent.__subclasses__() if each.__module__.startswith("dpcausal.")}
        return found.union(*map(below, found))

    assert below(Fact) == set(EXAMPLES)


@pytest.mark.parametrize(("fact", "said"), list(facts()), ids=lambda value: repr(value)[:40])
def test_every_kind_has_words_with_its_values(fact: Fact, said: tuple[str, ...]) -> None:
    words = words_of(fact)
    assert [part for part in said if part not in words] == []
    assert words == words.strip()
    assert "None" not in words
    assert "\n" not in words or fact.is_a(DraftNoteKind.RAGGED_ROWS) or fact.is_a(DraftNoteKind.OPEN_QUOTES)
    assert fact.kind == "stated" or not {"{", "}"} & set(words)


def test_no_two_kinds_are_told_alike() -> None:
    for kind_of_fact, examples in EXAMPLES.items():
        told = [words_of(kind_of_fact(kind, **values)) for kind, (values, _) in examples.items()]
        assert len(set(told)) == len(told)


@pytest.mark.parametrize(("fact", "said"), list(facts()), ids=lambda value: repr(value)[:40])
def test_facts_come_back_from_json(fact: Fact, said: tuple[str, ...]) -> None:
    del said
    readers = {Limit: _limit, Released: _released}
    text = json.dumps(fact.to_dict(), allow_nan=False)
    again = readers.get(type(fact), type(fact).from_dict)(json.loads(text))
    assert again == fact
    assert hash(again) == hash(fact)
    assert words_of(again) == words_of(fact)


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
            Public(PublicKind.KERNEL, kernel="rbf", bandwidth=None, lambda_=1.0),
            "the rbf kernel, its bandwidth (default) and lambda (1)",
        ),
        (
            Unit(UnitKind.OUTCOME, labels=None),
            "one row's outcome; the labels (the first column) and their counts are public",
        ),
        (Reason(ReasonKind.NO_ORDER, binned=False), "chosen because the levels have no order"),
        (
            HeldFixed(HeldFixedKind.STRATA, columns=["a"], strata=5, model=False),
            "a held fixed in 5 strata: groups of equal width between the bounds, not the declared bins",
        ),
        (
            MethodReason(MethodReasonKind.NOT_MOSTLY_NUMBERS, numbers=0, columns=3),
            "chosen because none of 3 columns holds numbers",
        ),
        (
            Note(NoteKind.CONFLICTS, pairs=[("a", "b")], settled=False, circles=True),
            "Some test results contradict each other about directions, at a - b: circles stand there",
        ),
        (
            Note(NoteKind.CONFLICTS, pairs=[("a", "b")], settled=False),
            "Some test results contradict each other about directions, at a - b: these edges are shown without a "
            "direction, and no graph fits all other directions",
        ),
        (
            Note(NoteKind.JOINT_TABLE, gaussian=False, cells=8, sd=2.0, mean_cell=None, least_cell=None),
            "One joint table of 8 cells was measured with Laplace noise; a count in a table of two columns has noise "
            "of standard deviation 2 rows",
        ),
        (
            Note(
                NoteKind.COMPONENTS,
                gaussian=True,
                rows_measured=False,
                singles=2,
                pairs=1,
                larger=0,
                sd=2.0,
                mean_cell=None,
                least_cell=None,
            ),
            "Measured with Gaussian noise: tables of 3 sets of columns (2 single, 1 pair); all measurements "
            "together, a count in a table of two columns has noise of standard deviation 2 rows",
        ),
        (
            Note(
                NoteKind.THRESHOLD,
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
            Note(
                NoteKind.THRESHOLD, of="deletions", most=3, renewed=False, rows=None, resolution=9.0, parts=40
            ),
            "one noisy threshold for up to 3 deletions of edges; each question is tested on 40 parts of the rows, and "
            "a dependence that about 9 parts more than expected see is kept 99 times in 100 it is asked about",
        ),
        (
            Note(NoteKind.NO_DELTA, times=31.4),
            "without a delta the noise in a table of two columns is 31 times larger: "
            "add delta=1e-6 (it must lie below one over the number of rows)",
        ),
    ],
)
def test_the_other_values_that_change_the_words(fact: Fact, said: str) -> None:
    assert display().words(fact) == said
