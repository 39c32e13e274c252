"""Suggestions: the nearest, or nothing; never a name that merely shares letters."""

from __future__ import annotations

import pytest

from dpcausal.core.errors import LISTED, did_you_mean, did_you_mean_column

COMMANDS = ["schema", "plan", "discover", "test", "gwas", "gwas-simulate", "ledger", "audit", "reproduce"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gwass", "gwas"),
        ("gwas-simulat", "gwas-simulate"),
        ("tets", "test"),
        ("lgder", "ledger"),
        ("Discover", "discover"),
        ("disc", "discover"),
        ("repr", "reproduce"),
        ("gess", None),
        ("plot", None),
        ("x", None),
        ("", None),
    ],
)
def test_the_nearest_command_or_none(typed: str, meant: str | None) -> None:
    assert did_you_mean(typed, COMMANDS) == ("" if meant is None else f' (did you mean "{meant}"?)')


def test_of_two_that_begin_alike_none_is_guessed() -> None:
    assert did_you_mean("bl", ["blood_pressure", "blood_sugar"]) == ""
    assert did_you_mean("a", ["b", "c"]) == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("smoke", "smoking"),
        ("Smoker", "smoking"),
        ("pressure", "blood_pressure"),
        ("smoking_status", "smoking"),
        ("bp", None),  # within no name
        ("blood", None),  # two begin so
        ("sm", "smoking"),
    ],
)
def test_a_part_of_a_column_or_its_beginning(typed: str, meant: str | None) -> None:
    columns = ["smoking", "blood_pressure", "blood_sugar", "age"]
    wanted = f"; there are {', '.join(columns)}" if meant is None else f' (did you mean "{meant}"?)'
    assert did_you_mean_column(typed, columns) == wanted


def test_of_many_columns_the_first_are_listed() -> None:
    columns = [f"gene{i}" for i in range(LISTED + 3)]
    told = did_you_mean_column("weight", columns)
    assert told.startswith("; there are gene0, gene1,")
    assert told.endswith("gene11 and 3 more")
    assert did_you_mean_column("weight", columns[:LISTED]).endswith("gene10, gene11")
