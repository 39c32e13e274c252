"""Rows made from a schema alone, to try a script on before it is sent to where the real rows are.

Every value is drawn by itself: levels are equally common, numbers are spread evenly between their bounds, and no column
depends on another. Nothing of any data set goes in, so that nothing is charged and nothing can leak.
"""

from __future__ import annotations

import numpy as np

from dpcausal.core.arguments import checked_count
from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema


def dummy(schema: Schema, rows: int, seed: int = 0) -> Dataset:
    """Return random rows that fit a schema and hold no dependence, for trying calls out.

    Parameters
    ----------
    schema : Schema
        The declared columns.
    rows : int
        How many rows, at least one.
    seed : int, default 0
        The same seed gives the same rows.

    Returns
    -------
    Dataset
        It goes wherever a data set goes. What is found in it is chance.

    Raises
    ------
    InputError
        If an argument can't be used as given.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(smoke=dc.Categorical(["no", "yes"]), age=dc.Numeric(0, 110))
    >>> dc.dummy(schema, 1000).n
    1000
    """
    if not isinstance(schema, Schema):
        raise InputError(f"dummy rows are made from a Schema, not from {type(schema).__name__}")
    number = checked_count(rows, "rows")
    if number < 1:
        raise InputError("dummy rows: there must be at least one")
    return read(dummy_values(schema, number, seed), schema)


def dummy_values(schema: Schema, rows: int, seed: int = 0) -> dict[str, list[object]]:
    """Return the values of such random rows by column, as a file would hold them."""
    generator = np.random.default_rng(seed)
    values: dict[str, list[object]] = {}
    for name, column in schema.items():
        if isinstance(column, Categorical):
            levels = list(column.levels)
            values[name] = [levels[code] for code in generator.integers(len(levels), size=rows)]
        else:
            values[name] = generator.uniform(column.lower, column.upper, size=rows).tolist()
    if schema.unit is not None:
        values |= {name: list(range(rows)) for name in schema.unit.columns() if name not in values}
    return values
