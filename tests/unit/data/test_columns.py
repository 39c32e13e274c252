from __future__ import annotations

import numpy as np
import pytest

from dpcausal.core.errors import SchemaError
from dpcausal.data.columns import Categorical, Numeric


def test_a_categorical_column_resolves_its_defaults() -> None:
    column = Categorical(["no", "yes"])
    assert (column.levels, column.ordered, column.other, column.size) == (("no", "yes"), False, "no", 2)
    assert Categorical(["no", "yes"], other="yes").other_code == 1
    assert Categorical([1, 2], other="2").other == 2
    assert Categorical(np.array([3, 4])).levels == (3, 4)
    assert type(Categorical(np.array([True, False])).levels[0]) is bool


def test_levels_are_told_apart_by_type_although_python_does_not() -> None:
    assert Categorical([1, 0]) != Categorical([True, False])
    assert hash(Categorical([1, 0])) == hash(Categorical([1, 0]))
    assert Categorical([1]) != Categorical(["1"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"levels": []}, "empty"),
        ({"levels": "no"}, "must be a list"),
        ({"levels": 3}, "must be a list"),
        ({"levels": [1, "1"]}, "print the same"),
        ({"levels": [True, "True"]}, "print the same"),
        ({"levels": ["a", "a"]}, "print the same"),
        ({"levels": [1.5]}, "must be text, integers or booleans"),
        ({"levels": [None]}, "must be text, integers or booleans"),
        ({"levels": ["\ud800"]}, "not valid text"),
        ({"levels": [2**64]}, "beyond 64 bits"),
        ({"levels": ["yes", "no"], "other": "noo"}, 'not a level (did you mean "no"?)'),
        ({"levels": ["a"], "ordered": "yes"}, "ordered must be true or false"),
        ({"levels": range(65_536)}, "at most 65,535"),
    ],
)
def test_a_categorical_column_that_contradicts_itself_is_refused(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        Categorical(**arguments)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_largest_domain_is_accepted() -> None:
    assert Categorical(range(65_535)).size == 65_535
    assert Numeric(0, 1e6, range(1, 65_535)).size == 65_535


def test_a_numeric_column_resolves_its_defaults() -> None:
    column = Numeric(0, 100)
    assert (column.bins, column.other, column.size) == ((25.0, 50.0, 75.0), 0.0, 4)
    assert Numeric(0, 1, bins=[]).size == 1
    assert Numeric(-1e100, 1e100).bins == pytest.approx((-0.5e100, 0.0, 0.5e100))
    assert Numeric(np.int64(0), np.float32(2), [np.float64(1)]).upper == 2.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 1), "lower (1) must be below upper (1)"),
        ((2, 1), "must be below"),
        ((True, 2), "lower must be a number, not True"),
        (("0", 2), "lower must be a number"),
        ((float("nan"), 2), "finite"),
        ((0, float("inf")), "finite"),
        ((0, 10**400), "finite"),
        ((0, 2, "12"), "bins must be a list"),
        ((0, 2, 4), "bins must be a list"),
        ((0, 2, ["a"]), "must be a number"),
        ((0, 2, [True]), "must be a number"),
        ((0, 2, [float("nan")]), "finite"),
        ((0, 2, [0]), "strictly"),
        ((0, 2, [2]), "strictly"),
        ((0, 2, [1, 1]), "strictly"),
        ((0, 60, [20, 80]), "80 is above upper 60"),
        ((0, 60, [-1, 20]), "-1 is below lower 0"),
        ((0, 60, [60]), "60 is equal to upper 60"),
        ((0, 2, [1.5, 1]), "1 comes after 1.5"),
        ((0, 2, None, 3), "other (3) must lie between"),
        ((0, 2, None, float("nan")), "finite"),
        ((0, 1e9, range(1, 65_536)), "at most 65,535"),
        ((1.0, np.nextafter(1.0, 2)), "strictly"),
    ],
)
def test_a_numeric_column_that_contradicts_itself_is_refused(
    arguments: tuple[object, ...], words: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        Numeric(*arguments)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
