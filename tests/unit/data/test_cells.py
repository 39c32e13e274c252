"""Objects in memory: whatever a cell's own code does, nothing of it shows."""

from __future__ import annotations

import pytest

import dpcausal as dc

SCHEMA = dc.Schema(a=dc.Categorical(["no", "yes"], other="no"), b=dc.Numeric(0, 10, bins=[5]))


class Odd:
    """Prints itself by raising."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __str__(self) -> str:
        raise self.error


class OddNumber(float):
    """A float that can't be compared."""

    def __ne__(self, other: object) -> bool:
        raise SystemExit(3)

    __hash__ = float.__hash__


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), SystemExit(3), GeneratorExit(), MemoryError(), RecursionError(), BaseException("x")],
)
def test_a_cell_that_raises_is_a_missing_value(error: BaseException) -> None:
    data = dc.read({"a": ["yes", Odd(error)], "b": [7, Odd(error)]}, SCHEMA)
    assert data.codes["a"].tolist() == [1, 0]
    assert data.codes["b"].tolist() == [1, 0]


def test_a_number_that_raises_when_compared_is_a_missing_value() -> None:
    data = dc.read({"a": ["yes", "yes"], "b": [7, OddNumber(7)]}, SCHEMA)
    assert data.values["b"].tolist() == [7.0, 0.0]


def test_ctrl_c_is_the_users_and_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        dc.read({"a": ["yes", Odd(KeyboardInterrupt())], "b": [7, 7]}, SCHEMA)
