"""How many rows a statistic of rows takes: one limit for all of them, checked before anything is charged.

Tables of counts have none (``stats/exact.py``). Rows are held in memory, one array a column, and below this limit every
rounding error is proved to be less than a mechanism counts, and every integer to fit 64 bits. Where the number of rows
is public (replace-one) a refusal reveals nothing. Where it is not (add-remove) the limit is part of what the guarantee
is for, data sets of at most so many rows in memory, and the statement says so (``row_limit``).
"""

from __future__ import annotations

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import MostRows, Public

MAX_ROWS = (1 << 31) - 1  # of a statistic of rows
MAX_GROUP_ROWS = 1 << 34  # of the statistics for two groups of public size, both groups together


def checked_rows(n: int) -> int:
    """Return the number of rows ``n``; refuse more than a statistic of rows can handle.

    >>> checked_rows(1_000_000)
    1000000
    """
    if n > MAX_ROWS:
        raise InputError(
            f"a test on rows in memory takes at most {MAX_ROWS:,} rows, not {n:,}; tests on tables take any number"
        )
    return n


def row_limit(neighbours: Neighbours) -> tuple[Public, ...]:
    """Return the public fact of the limit on rows, which a guarantee under add-remove assumes.

    >>> row_limit(Neighbours.ADD_REMOVE)
    (MostRows(rows=2147483647),)
    """
    return (MostRows(MAX_ROWS),) if neighbours is Neighbours.ADD_REMOVE else ()


def checked_group_rows(n: int) -> int:
    """Return the public number of rows in both groups; refuse more than can be handled.

    >>> checked_group_rows(40_000)
    40000
    """
    if n > MAX_GROUP_ROWS:
        raise InputError(f"the two groups may have at most {MAX_GROUP_ROWS:,} rows together, not {n:,}")
    return n
