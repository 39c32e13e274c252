"""A law that was fitted to the rows under test is a release without noise: refused, by identity and not by value."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.errors import InputError
from dpcausal.privacy.ledger import Ledger

SCHEMA = dc.Schema(
    x=dc.Numeric(-3, 3, bins=[0]),
    y=dc.Numeric(-3, 3),
    z=dc.Numeric(-3, 3, bins=[0]),
    a=dc.Categorical([0, 1]),
)


def rows(n: int, seed: int) -> dc.Dataset:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    columns = {"x": z + rng.normal(size=n), "y": z, "z": z, "a": rng.integers(0, 2, n)}
    return dc.read(columns, SCHEMA)


def part(data: dc.Dataset, which: slice) -> dc.Dataset:
    """Some of the rows, without a copy."""
    codes = {name: array[which] for name, array in data.codes.items()}
    values = {name: array[which] for name, array in data.values.items()}
    return dc.Dataset(data.schema, len(codes["x"]), codes, values)


def linear(data: dc.Dataset) -> dc.LinearGaussian:
    return dc.LinearGaussian.fit(data, "x", ["z"])


def ask(data: dc.Dataset, model: Any, epsilon: float | None = 2.0, **more: Any) -> Any:
    return dc.ci_test(data, "x", "y", ["z"], method="crt", model=model, epsilon=epsilon, **more)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_rows_that_were_used_to_fit_are_refused_before_anything_is_charged(
    neighbours: str, tmp_path: Path
) -> None:
    data = rows(300, 1)
    ledger = Ledger.open(f"sqlite:///{tmp_path}/l.db", create=True)
    ledger.create("d", 5.0, neighbours=neighbours)
    fitted = linear(data)
    for model in (fitted, replace(fitted, sd=2.0), copy.copy(fitted), copy.deepcopy(fitted)):
        with pytest.raises(InputError, match="fitted on") as caught:
            ask(data, model, neighbours=neighbours, ledger=ledger, dataset="d")
        assert "\n" not in str(caught.value)
    assert ledger.show("d")[0].spent_epsilon == 0.0
    ask(data, dc.LinearGaussian(0.0, {"z": 1.0}, sd=1.0), neighbours=neighbours, ledger=ledger, dataset="d")
    assert ledger.show("d")[0].spent_epsilon == 2.0


def test_a_table_that_was_fitted_is_refused_too() -> None:
    data = rows(300, 1)
    model = dc.TableModel.fit(data, "a", ["z"])
    with pytest.raises(InputError, match="fitted on"):
        dc.ci_test(data, "a", "y", ["z"], method="crt", model=model, epsilon=2.0)


def test_a_part_of_them_and_what_holds_them_are_refused() -> None:
    data = rows(300, 1)
    for fitted, asked in ((data, part(data, slice(100))), (part(data, slice(100)), data)):
        with pytest.raises(InputError, match="fitted on"):
            ask(asked, linear(fitted))
    with pytest.raises(InputError, match="fitted on"):
        ask(part(data, slice(50, 150)), linear(part(data, slice(100))))


def test_separate_rows_are_answered() -> None:
    data = rows(300, 1)
    first, second = part(data, slice(100)), part(data, slice(100, None))
    for model in (linear(rows(300, 2)), linear(first)):
        assert ask(second, model).privacy.private


def test_equal_values_decide_nothing() -> None:
    """A refusal for equal values would tell whoever guesses the rows that the guess is right."""
    assert ask(rows(300, 1), linear(rows(300, 1))).privacy.private


def test_without_privacy_nothing_is_refused() -> None:
    data = rows(300, 1)
    assert ask(data, linear(data), epsilon=None).pvalue is not None


def test_a_fitted_law_is_a_plain_value() -> None:
    model = linear(rows(300, 1))
    written = dc.LinearGaussian(model.intercept, model.slopes, model.sd)
    assert model == written
    assert repr(model) == repr(written)
    assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301 - written on the line itself
