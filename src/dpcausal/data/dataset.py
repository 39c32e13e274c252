"""A data set as the rest of the package sees it: declared columns, coded, nothing else.

Every value was clamped or mapped to a level when it was read, so nothing downstream can fail on a value in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError, did_you_mean_column
from dpcausal.data.schema import Schema

Codes = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Rows coded by a schema, as ``dc.read`` returns them. Its arrays are read-only; ``repr`` never shows a value.

    Parameters
    ----------
    schema : Schema
        The declared columns.
    n : int
        Number of rows. Public under replace-one neighbours only.
    codes : mapping of str to array
        For every column, the level number (categorical) or bin number (numeric) of every row: one byte where the
        column has at most 256 levels or bins, else two.
    values : mapping of str to array of float64, optional
        For every numeric column, the clamped numbers.

    Raises
    ------
    InputError
        If an array does not have ``n`` entries.

    Examples
    --------
    >>> import dpcausal as dc
    >>> schema = dc.Schema(smoke=dc.Categorical(["no", "yes"]))
    >>> data = Dataset(schema, 3, {"smoke": np.array([0, 1, 1], np.uint8)})
    >>> data, len(data), data.sizes(["smoke"])
    (Dataset(n=3, columns=['smoke']), 3, (2,))
    """

    schema: Schema
    n: int
    codes: Mapping[str, Codes]
    values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in ("codes", "values"):
            columns = dict(getattr(self, kind))
            for name, array in columns.items():
                if array.shape != (self.n,):
                    raise InputError(
                        f'column "{name}" has {array.shape} entries where {self.n} rows are declared'
                    )
                array.flags.writeable = False
            object.__setattr__(self, kind, MappingProxyType(columns))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of the schema."""
        return tuple(self.schema)

    def sizes(self, columns: Sequence[str]) -> tuple[int, ...]:
        """Return the declared number of levels or bins of each named column: public, never the number observed."""
        for name in columns:
            if name not in self.schema:
                raise InputError(f'no column "{name}" in the schema{did_you_mean_column(name, self.schema)}')
        return tuple(self.schema[name].size for name in columns)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Dataset(n={self.n}, columns={list(self.columns)})"
