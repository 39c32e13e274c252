"""Columns that a schema leaves out are no news to whoever asks a question."""

from __future__ import annotations

import warnings

import pytest

import dpcausal as dc
from dpcausal.cli.rows import Source

YES_NO = dc.Categorical(["no", "yes"])
SCHEMA = dc.Schema(a=YES_NO, b=YES_NO)


@pytest.mark.parametrize("columns", [[], ["a"]])
def test_a_command_does_not_name_the_columns_that_the_schema_leaves_out(columns: list[str]) -> None:
    rows = {name: ["no", "yes"] for name in ("a", "b", "remark")}
    with pytest.warns(dc.ColumnsIgnored):
        dc.read(rows, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Source().described(SCHEMA, columns)
        assert list(dc.read(rows, found).schema) == (columns or ["a", "b"])
