"""A data set as the rest of the package sees it: declared columns, coded, nothing else.

Every value is clamped or mapped to a level when it is read, so nothing downstream can fail on a value in a row. A data
set that is built by hand is brought to the same state: shapes and types of its arrays are public, and wrong ones are
errors; a code or number that the schema does not allow is mapped or clamped in its own row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.arguments import checked_column
from dpcausal.core.errors import InputError
from dpcausal.core.redact import file_name
from dpcausal.data.columns import Codes, Column, Numeric, code_type
from dpcausal.data.schema import Schema


class ScaledColumn(NamedTuple):
    """Numbers between two bounds, on the scale that is declared for them."""

    values: NDArray[np.float64]
    lower: float
    upper: float

    def share(self) -> NDArray[np.float64]:
        """Return the position of each number between the scaled bounds, from 0 to 1."""
        return (self.values - self.lower) / (self.upper - self.lower)


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
        column has at most 256 levels or bins, else two. A code that is no declared level or bin becomes that of
        ``other``.
    values : mapping of str to array of float64, optional
        For numeric columns, the numbers. They are clamped to the bounds; NaN becomes ``other``.
    file : Path, optional
        The file that the rows were read from; a ledger notes its name with each charge.
    more_files : tuple of Path, optional
        Others that something of them was read from: settings beside these may ask for a ledger, too.
    several : Dataset, optional
        With several rows of each person, where the unit is a person: as many for everyone.

    Raises
    ------
    InputError
        If an array does not have ``n`` entries or holds no numbers, or the columns are not those of the schema. No
        error depends on a value in a row.

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
    file: Path | None = None
    several: Dataset | None = field(default=None, kw_only=True)
    more_files: tuple[Path, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.schema, Schema):
            raise InputError(
                f"schema must be a Schema, not {type(self.schema).__name__}: see Schema.from_toml"
            )
        vars(self)["n"] = _whole(self.n)
        codes, values = dict(self.codes), dict(self.values)
        self.sizes([*codes, *values])  # refuses a column that is not declared
        for name in self.schema:
            if name not in codes:
                raise InputError(f'no codes of column "{name}", which the schema declares')
        coded = {x: _codes(x, self.schema[x], self._of_n_rows(x, array)) for x, array in codes.items()}
        numbers = {x: _values(x, self.schema[x], self._of_n_rows(x, array)) for x, array in values.items()}
        for array in (*coded.values(), *numbers.values()):
            array.flags.writeable = False
        vars(self).update(codes=MappingProxyType(coded), values=MappingProxyType(numbers))

    def _of_n_rows(self, name: str, array: Any) -> NDArray[Any]:
        """Return an array of a column; refuse one whose length is not n."""
        if not isinstance(array, np.ndarray):  # a list has no type but what its rows give it
            raise InputError(f'column "{name}" must be a numpy array, not {type(array).__name__}')
        if array.shape != (self.n,):
            raise InputError(f'column "{name}" has {array.shape} entries where {self.n} rows are declared')
        return array

    def on_scale(self, name: str) -> ScaledColumn:
        """Return the numbers of a numeric column on its declared scale, with its bounds there.

        >>> from dpcausal.data.columns import Numeric
        >>> schema = Schema(dose=Numeric(1, 1000, scale="log"))
        >>> codes, values = {"dose": np.zeros(1, np.uint8)}, {"dose": np.array([1000.0])}
        >>> Dataset(schema, 1, codes, values).on_scale("dose").share().tolist()
        [1.0]
        """
        column = self.schema[name]
        assert isinstance(column, Numeric)  # the callers ask for numeric columns only
        return ScaledColumn(column.on_scale(self.numbers(name)), *column.scaled_bounds)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of a numeric column; raise ``InputError`` where only its bins were given."""
        if name not in self.values:
            raise InputError(f'the numbers of "{name}" are not there: read the rows with dc.read')
        return self.values[name]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of the schema."""
        return tuple(self.schema)

    def sizes(self, columns: Sequence[str]) -> tuple[int, ...]:
        """Return the declared number of levels or bins of each named column: public, never the number observed."""
        for name in columns:
            checked_column(name, self.schema)
        return tuple(self.schema[name].size for name in columns)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Dataset(n={self.n}, columns={list(self.columns)})"


def not_a_dataset(data: Any) -> InputError:
    """Return the error for rows that were not read with a schema; it shows the two lines to write.

    It names types only.

    >>> print(not_a_dataset("patients.csv"))
    data must come from dc.read or a counting backend, not str; two lines make it: \
schema = dc.Schema.from_toml("schema.toml"); data = dc.read("patients.csv", schema) \
(the command `dpcausal schema patients.csv > schema.toml` drafts that file, to be checked)
    """
    what = f"data must come from dc.read or a counting backend, not {type(data).__name__}"
    lines = two_lines(data)
    return InputError(f"{what}; {lines}" if lines else what)


def two_lines(data: Any) -> str:
    """Return the two lines of Python that read such a file or frame with a schema; empty for anything else."""
    kind = type(data).__name__
    if isinstance(data, str | PathLike):
        name = f'"{file_name(str(data))}"'
        draft = f"the command `dpcausal schema {file_name(str(data))} > schema.toml` drafts that file, to be checked"
    elif kind in ("DataFrame", "LazyFrame", "Table", "RecordBatch", "dict"):
        name = "df" if kind.endswith("Frame") else "rows"
        draft = f'dc.Schema.draft({name}).write("schema.toml") drafts that file, to be checked'
    else:
        return ""
    lines = f'schema = dc.Schema.from_toml("schema.toml"); data = dc.read({name}, schema)'
    return f"two lines make it: {lines} ({draft})"


def _whole(n: Any) -> int:
    """Return a number of rows; refuse anything but a whole number, zero or above."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InputError(f"the number of rows must be a whole number, zero or above, not {n!r}")
    return int(n)


def _plain(array: NDArray[Any], masked: float) -> NDArray[Any]:
    """Return the entries of a masked array with ``masked`` at masked places; other arrays as they are."""
    if type(array) is np.ndarray:  # without a mask, and without ``np.ma``, which loads for a while
        return array
    plain = np.asarray(np.ma.getdata(array))
    return np.where(array.mask, masked, plain) if isinstance(array, np.ma.MaskedArray) else plain


def _codes(name: str, column: Column, array: NDArray[Any]) -> Codes:
    """Return the codes of a column in their smallest type; an undeclared code becomes that of ``other``."""
    if array.dtype.kind not in "biu":
        raise InputError(f'the codes of column "{name}" must be whole numbers, not {array.dtype}')
    array = _plain(array, column.other_code)
    if array.size and (int(array.min()) < 0 or int(array.max()) >= column.size):
        array = np.where((array >= 0) & (array < column.size), array, column.other_code)
    codes: Codes = np.ascontiguousarray(array, dtype=code_type(column.size))
    return codes


def _values(name: str, column: Column, array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the numbers of a column clamped to the bounds; NaN becomes ``other``."""
    if not isinstance(column, Numeric):
        raise InputError(f'column "{name}" is not numeric: it has codes only')
    if array.dtype.kind not in "biuf":
        raise InputError(f'the values of column "{name}" must be numbers, not {array.dtype}')
    with np.errstate(all="ignore"):  # too large a number, or a signalling NaN, must not make a warning
        numbers: NDArray[np.float64] = np.ascontiguousarray(_plain(array, np.nan), dtype=np.float64)
    if array.size and not (numbers.min() >= column.lower and numbers.max() <= column.upper):  # NaN fails both
        assert column.other is not None  # a declaration fills it in
        numbers = np.where(np.isnan(numbers), column.other, np.clip(numbers, column.lower, column.upper))
    return numbers
