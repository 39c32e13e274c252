"""``fit`` on a list of rows: what one row holds, or is, changes no other row's code and raises nothing."""

from __future__ import annotations

import datetime
import warnings
from collections import UserList, deque
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcausal as dc
from dpcausal.estimators.frames import as_data

BIG = 2**53
SCHEMA = dc.Schema(
    a=dc.Categorical([0, 1, "yes", "True", BIG, BIG + 1, "0.1"], other=1),
    b=dc.Numeric(-10, 10, bins=[0, 0.1, 5], other=7, missing=[-9]),
)


class Raises:
    """A row, or a cell, whose own code fails."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __iter__(self) -> Any:
        raise self.error

    def __len__(self) -> int:
        return 2

    __str__ = __array__ = __iter__


cells = st.sampled_from(
    [0, 1, 0.5, BIG, BIG + 1, 10**400, -1, True, None, "yes", "é", "\ufeffyes", b"yes", 1j, float("nan"), [1], [1, 2],
     (), {}, np.float32(0.1), np.int8(1), np.datetime64("NaT"), np.array([1, 2]), Decimal("0.1"),
     Decimal("1e999999999"), Decimal("-1e-999999999"), Decimal("sNaN"), datetime.date(2020, 1, 1), object,
     "\ud800", Raises(SystemExit(3)), np.ma.masked]
)  # fmt: skip
pairs = st.tuples(cells, cells)
rows = st.one_of(
    pairs.map(list),
    pairs,
    st.lists(cells, max_size=4),
    st.sampled_from(
        [None, 3, "ab", b"ab", {}, np.array([BIG + 1, 0]), np.array([0.1, 1], np.float32), np.zeros((2, 2)), object(),
         np.float64(1), Raises(ValueError("x")), Raises(SystemExit(3)), np.array(["yes", "1"]), deque([1, 2])]
    ),
)  # fmt: skip


def codes(table: list[Any]) -> list[tuple[int, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data, named = as_data(table, SCHEMA)
    assert not named
    assert data.n == len(table)
    return list(zip(*(data.codes[name].tolist() for name in SCHEMA), strict=True))


@settings(max_examples=200, deadline=None)
@given(st.lists(rows, min_size=1, max_size=8), rows, st.integers(0, 7))
def test_a_row_is_coded_as_if_it_were_the_only_one(table: list[Any], row: Any, place: int) -> None:
    first = [0, 0]  # tells how many columns there are
    place %= len(table)
    alone = [codes([first, line])[1] for line in table]
    assert codes([first, *table])[1:] == alone
    found = codes([first, *table[:place], row, *table[place + 1 :]])[1:]
    assert found[:place] + found[place + 1 :] == alone[:place] + alone[place + 1 :]


def test_short_long_and_no_rows_are_filled_up_and_cut() -> None:
    found = codes(
        [["yes", 6], ["yes"], ["yes", 6, 1], [], None, "yes", (BIG + 1, -9), [[1], [1]], [0.5, "0.1"]]
    )
    assert found == [(2, 3), (2, 3), (2, 3), (1, 3), (1, 3), (1, 3), (5, 3), (1, 3), (1, 2)]
    assert codes([["yes", 1], ["yes"]])[1] == (2, 3)  # other is 7: the last bin


@pytest.mark.parametrize("last", [[0.5, 0], ["x", 0], [None, 0], [[1], 0], [1j, 0], [True, 0], [10**30, 0]])
def test_large_integers_keep_their_last_digit_whatever_another_row_is(last: list[Any]) -> None:
    assert codes([[BIG + 1, 0]] * 3 + [last])[:3] == [(5, 1)] * 3
    for column in ([BIG + 1, last[0]], np.array([BIG + 1, last[0]], dtype=object)):
        data = dc.read({"a": column, "b": [0, 0]}, SCHEMA)
        assert data.codes["a"][0] == 5


@pytest.mark.parametrize("kind", [list, tuple, deque, UserList])
def test_everything_that_acts_like_a_list_is_one(kind: Any) -> None:
    assert codes(kind([[BIG + 1, 0], [0.5, 0]]))[0] == (5, 1)


def test_rows_that_are_arrays_keep_their_own_type() -> None:
    schema = dc.Schema(a=dc.Categorical(["0.1", "0.3"]), b=dc.Categorical(["0.1", "0.3"]))
    data, _ = as_data([np.array([0.3, 0.1], np.float32), np.array([0.3, 0.3])], schema)
    assert data.codes["a"].tolist() == [1, 1]
    assert data.codes["b"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "no rows"),
        (np.array([1, 2]), "got 1D"),
        (np.zeros((2, 0)), r"found 0 feature\(s\)"),
        (np.zeros((2, 1)), r"found 1 feature\(s\)"),
        (np.zeros((1, 3)), "the array has 3 columns, the schema declares 2"),
        ("ab", "got 0D"),
        (None, "got 0D"),
        (memoryview(b"ab"), "got 1D"),
    ],
)
def test_a_wrong_shape_is_one_line(X: Any, words: str) -> None:
    with pytest.raises(dc.InputError, match=words):
        as_data(X, SCHEMA)


@pytest.mark.parametrize("row", [1, "ab", {"a": 1}, Raises(SystemExit(3)), [], [1], [1, 2, 3]])
def test_no_first_row_says_how_many_columns_there_are(row: Any) -> None:
    assert codes([row, [0, 0.2]])[1] == codes([[0, 0], [0, 0.2]])[1]
