"""Rows from a schema alone."""

import numpy as np
import pytest

import dpcausal as dc


def test_dummy_rows_follow_the_schema_and_the_seed():
    schema = dc.Schema(a=dc.Categorical(["x", "y", "z"]), n=dc.Numeric(2, 5))
    first, same, other = dc.dummy(schema, 3000), dc.dummy(schema, 3000), dc.dummy(schema, 3000, seed=1)
    assert first.schema == schema
    assert first.n == 3000
    assert np.array_equal(first.codes["a"], same.codes["a"])
    assert not np.array_equal(first.codes["a"], other.codes["a"])
    assert set(np.unique(first.codes["a"])) == {0, 1, 2}
    assert 2 <= min(first.values["n"]) < 2.1 < 4.9 < max(first.values["n"]) <= 5


@pytest.mark.parametrize("rows", [0, -1, 1.5, "3", True])
def test_what_is_no_number_of_rows(rows):
    with pytest.raises(dc.InputError):
        dc.dummy(dc.Schema(a=dc.Numeric(0, 1)), rows)


def test_what_is_no_schema():
    with pytest.raises(dc.InputError):
        dc.dummy({"a": 1}, 3)
