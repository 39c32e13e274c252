"""Identifiers that repeat, and first lines that are no header: remarks of a draft and a check. Not private: for the
data holder's own desk (``draft.py``), since they depend on rows.

A column looks like an identifier by its name (``id``, ``patient_id``, ``SubjectID``, ``mrn``) or, in a draft, because
most of its texts differ. A repeated one may mean several rows for one person, and the promise is for one row.
Cost: at most ``MOST_CELLS`` cells of such a column are kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from dpcausal.data import arrow
from dpcausal.data.seen import Seen, present

MOST_CELLS = 1 << 20
MOSTLY = 0.5  # distinct texts per cell from which on a column of any name looks like an identifier
LEAST_DISTINCT, LEAST_SHARE = 20, 0.05  # and of one with such a name: less is a ward or a site
_NAME = re.compile(
    r"(^|[^a-z])(id|identifier|pid|mrn|uuid|guid|ssn)([^a-z]|$)"
    r"|^(person|patient|subject|participant)[ _.-]*(no|nr|num|number|key|code)?$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[a-z](Id|ID)$")


def named_like_one(name: str) -> bool:
    """Whether a name is one that identifiers have.

    >>> [named_like_one(name) for name in ("patient_id", "SubjectID", "id", "bmi", "acid", "paid")]
    [True, True, True, False, False, False]
    """
    return bool(_NAME.search(name) or _CAMEL.search(name))


class Repeats:
    """How often the values of one column repeat, up to ``MOST_CELLS`` cells."""

    def __init__(self, name: str) -> None:
        self.named = named_like_one(name)
        self.rows = 0
        self._kept: list[pa.Array] = []
        self._watch = True

    def add(self, array: pa.Array) -> None:
        """See some more cells; stop where they can't be an identifier."""
        if not self._watch or self.rows >= MOST_CELLS:
            return
        array = arrow.plain(array)
        if arrow.value_kind(array.type) in ("null", "unsupported"):
            return
        cells = present(array)
        if not self._kept and not self.named and not _mostly_distinct_texts(cells):
            self._watch = False
            return
        self._kept.append(cells)
        self.rows += len(cells)

    def more(self) -> int:
        """Rows beyond the first with the same value; 0 where it does not look like an identifier."""
        if not self._watch or not self._kept:
            return 0
        distinct = len(pa.chunked_array(self._kept).unique())
        least = max(LEAST_DISTINCT, (LEAST_SHARE if self.named else MOSTLY) * self.rows)
        return self.rows - distinct if distinct >= least else 0


def _mostly_distinct_texts(cells: pa.Array) -> bool:
    distinct = cells.unique()
    if len(distinct) < LEAST_DISTINCT or len(distinct) < MOSTLY * len(cells):
        return False
    lettered = pc.sum(pc.match_substring_regex(distinct, "[A-Za-z]")).as_py() or 0
    spaced = pc.sum(pc.match_substring(distinct, " ")).as_py() or 0  # free text
    return bool(lettered > MOSTLY * len(distinct) and spaced < MOSTLY * len(distinct))


def repeats_words(name: str, rows: int) -> str:
    """The remark.

    >>> repeats_words("patient_id", 3000)
    'patient_id repeats in 3,000 rows: the promise is for one row, so make one row per person first'
    """
    rows_words = "1 row" if rows == 1 else f"{rows:,} rows"
    return f"{name} repeats in {rows_words}: the promise is for one row, so make one row per person first"


def header_like_values(names: list[str], seen: Mapping[str, Seen]) -> bool:
    """Whether at least half of the names look like values: numbers, or texts that stand in their own column."""
    odd = 0
    for name in names:
        try:
            value = float(name)
        except ValueError:
            odd += name in seen and name.encode() in seen[name].texts and len(seen[name].texts) > 1
            continue
        column = seen.get(name)
        odd += math.isfinite(value) and (column is None or column.lower <= value <= column.upper)
    return len(names) > 1 and 2 * odd >= len(names)
