"""The vocabulary of a discovery: why a method was taken, what it did, and why a question had no answer."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Any

from dpcausal.core.facts import Fact


class MethodReasonKind(StrEnum):
    """Why a method was used."""

    AS_ASKED = "as-asked"
    NO_PRIVACY = "no-privacy"
    COUNTS_ONLY = "counts-only"
    MOSTLY_NUMBERS = "mostly-numbers"  # numbers, columns: how many hold numbers, of how many
    NOT_MOSTLY_NUMBERS = "not-mostly-numbers"  # numbers, columns


class MethodReason(Fact):
    """Why a method was used."""

    kinds = MethodReasonKind


class OpenReason(StrEnum):
    """Why a question could not be answered."""

    TOO_MANY_CELLS = "too-many-cells"
    NOT_MEASURED = "not-measured"
    TOO_FEW_ROWS = "too-few-rows"
    NOISE = "noise"
    NOISE_AND_ROWS = "noise-and-rows"


class NoteKind(StrEnum):
    """What must be known of a result besides its graph."""

    ONE_LEVEL = "one-level"  # columns
    JOINT_TABLE = "joint-table"  # gaussian, cells, sd, mean_cell, least_cell (None where rows are protected)
    COMPONENTS = "components"  # gaussian, rows_measured, singles, pairs, larger, sd, mean_cell, least_cell
    UNANSWERED = "unanswered"  # reasons: pairs of (OpenReason, number of questions), most frequent first
    NO_DELTA = "no-delta"  # times: noise over the noise with a small delta
    CONFLICTS = "conflicts"  # pairs, settled: whether the nearest graph that exists is shown
    TESTS = "tests"  # tests, epsilon
    CLASSICAL = "classical"  # tests, level
    CLASSICAL_MOMENTS = "classical-moments"  # harmonics, level
    MOMENTS = "moments"  # features, waves, sd
    THRESHOLD = "threshold"  # of: "deletions" or "pairs", most, renewed, rows (None: all), resolution in rows
    CHOICES = "choices"  # epsilon, choices, mechanism, resolution in rows
    TEST_COSTS = "test-costs"  # unit, costs: pairs of (order, cost)


class Note(Fact):
    """One thing that must be known of a result besides its graph."""

    kinds = NoteKind


def unanswered(reasons: Counter[OpenReason]) -> Note:
    """Return the note on questions without an answer.

    >>> unanswered(Counter({OpenReason.NOISE: 2, OpenReason.TOO_MANY_CELLS: 1}))["reasons"]
    (('noise', 2), ('too-many-cells', 1))
    """
    counted: list[tuple[str, Any]] = [(str(why), count) for why, count in reasons.most_common()]
    return Note(NoteKind.UNANSWERED, reasons=counted)
