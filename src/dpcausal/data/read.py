"""``dc.read``: a file or frame and its schema in, a ``Dataset`` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown
from dpcausal.data.categories import code_type
from dpcausal.data.columns import Numeric
from dpcausal.data.dataset import Codes, Dataset
from dpcausal.data.files import Parquet, Source
from dpcausal.data.scan import ColumnsIgnored, coded, opened
from dpcausal.data.schema import Schema

__all__ = ["ColumnsIgnored", "read"]


Tick = Callable[[float], None]  # told how much was done since the last call


def read(source: Any, schema: Schema, *, progress: bool = False) -> Dataset:
    """Read the columns that ``schema`` declares from ``source``, every row coded as declared.

    ``source`` is a path (.csv, .tsv, packed or not; .parquet; .arrow, .feather), a pandas or polars frame, an
    Arrow table or record batch reader, or a dict of arrays. Columns that the schema does not declare are ignored
    (one ``ColumnsIgnored`` warning). Aliases are read as the level they stand for, undeclared or missing values (codes
    that the schema lists as ``missing`` too) go to ``other``, numbers are clamped (``spelling.py`` and ``numbers.py``
    say which text means what, ``delimited.py`` what a row of a CSV is).

    **Guarantee.** The number of rows never changes, the codes of a row depend on that row alone, and no error,
    warning or progress depends on a value. That there are no rows at all is an ``InputError``: n is public under
    replace-one; under add-remove an empty data set is refused too, and that refusal is public.

    **Cost.** O(n) a column. Memory n bytes a categorical column (2 n above 256 levels), 9 n a numeric one, and one
    batch; twice that for a moment where the number of rows is not known beforehand (CSV, Arrow streams). A
    Parquet file is read one column at a time.

    >>> from dpcausal.data.columns import Categorical, Numeric
    >>> schema = Schema(smoke=Categorical(["no", "yes"]), age=Numeric(0, 110, bins=[18, 65]))
    >>> data = read({"smoke": ["yes", "?", None], "age": [70, -3, float("nan")]}, schema)
    >>> data, data.codes["smoke"].tolist(), data.values["age"].tolist()
    (Dataset(n=3, columns=['smoke', 'age']), [1, 0, 0], [70.0, 0.0, 0.0])
    """
    if not isinstance(schema, Schema):
        raise InputError(f"schema must be a Schema, not {type(schema).__name__}: see Schema.from_toml")
    found = opened(source, schema)
    columns = list(schema)
    groups = [[name] for name in columns] if isinstance(found, Parquet) else [columns]
    codes: dict[str, Codes] = {}
    values: dict[str, NDArray[np.float64]] = {}
    with shown(f"reading {found.label}", len(columns), progress) as tick:
        for group in groups:
            gathered = _gather(found, schema, group, tick)
            for name in group:
                codes[name], values_of_name = gathered.pop(name)
                if values_of_name is not None:
                    values[name] = values_of_name
    n = len(codes[columns[0]])
    if n == 0:
        raise InputError(f"{found.label} has no rows")
    return Dataset(schema, n, {name: codes[name] for name in columns}, values)


Whole = tuple[Codes, NDArray[np.float64] | None]


def _gather(found: Source, schema: Schema, columns: Sequence[str], tick: Tick) -> dict[str, Whole]:
    if found.rows is not None:
        return _fill(found, schema, columns, found.rows, tick)
    parts: dict[str, list[Any]] = {name: [] for name in columns}
    told = 0.0
    for batch in coded(found, schema, columns):
        for name in columns:
            parts[name].append(batch[name])
        done = getattr(found, "done", 0.0)
        tick(len(columns) * (done - told))
        told = done
    whole: dict[str, Whole] = {}
    for name in columns:
        pieces = parts.pop(name)
        dtype: Any = code_type(schema[name].size)
        codes = np.concatenate([np.empty(0, dtype), *(piece.codes for piece in pieces)])
        numbers = None
        if isinstance(schema[name], Numeric):
            numbers = np.concatenate([np.empty(0), *(piece.values for piece in pieces)])
        whole[name] = codes, numbers
    return whole


def _fill(found: Source, schema: Schema, columns: Sequence[str], rows: int, tick: Tick) -> dict[str, Whole]:
    whole: dict[str, Whole] = {}
    for name in columns:
        numeric = isinstance(schema[name], Numeric)
        dtype: Any = code_type(schema[name].size)
        whole[name] = np.empty(rows, dtype), np.empty(rows) if numeric else None
    start = 0
    for batch in coded(found, schema, columns):
        end = start + len(batch[columns[0]].codes)
        if end > rows:
            break
        for name, (codes, numbers) in whole.items():
            codes[start:end] = batch[name].codes
            if numbers is not None:
                numbers[start:end] = batch[name].values
        tick(len(columns) * (end - start) / rows)
        start = end
    if start != rows:
        raise InputError(f"{found.label} is damaged: it does not hold the number of rows it states")
    return whole
