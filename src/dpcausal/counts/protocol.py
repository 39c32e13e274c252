"""What every counting backend offers: tables of declared shape, never rows.

A statistic asks for tables by column names and can't tell which backend answers. No array of rows, no number of
unique rows and no timing figure crosses this line. Counts are exact; they become publishable only through a
mechanism of the privacy room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.entropy import RandomBytes, random_bytes
from dpcausal.data.schema import Schema

Table = NDArray[np.int64]
MAX_CELLS = (
    1 << 27
)  # a table of more declared cells (1 GiB) is refused: the size is public, so is the refusal


@runtime_checkable
class Counts(Protocol):
    """Exact contingency tables over the declared levels of a schema."""

    @property
    def schema(self) -> Schema:
        """Declared columns; fixes the shape of every table."""
        ...

    @property
    def n(self) -> int:
        """Number of rows (public under replace-one neighbours only)."""
        ...

    def table(self, columns: Sequence[str]) -> Table:
        """Counts of the joint levels: one axis per column in the order given, empty levels included."""
        ...

    def tables(self, requests: Sequence[Sequence[str]]) -> list[Table]:
        """``[table(columns) for columns in requests]``, sharing the work between requests."""
        ...

    def subsample(self, m: int, source: RandomBytes = random_bytes) -> Self | Counts:
        """Counts of m rows drawn without replacement, uniformly: a multivariate hypergeometric draw."""
        ...
