"""Levels that look like "no value known" where an order is declared: a rank test takes them for the least or most.

From the schema alone, which is public, so free to tell anyone.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpcausal.data.columns import Categorical, Column

LIKE_MISSING = frozenset(
    (
        "missing", "unknown", "unk", "not known", "unspecified", "not stated", "not asked", "not available",
        "no answer", "refused", "declined", "don't know", "na", "n/a", "n.a.", "nan", "null", "none given", "?",
    )
)  # fmt: skip


def like_missing(text: str) -> bool:
    """Whether a level reads like a missing value.

    >>> like_missing("Not  known"), like_missing("never")
    (True, False)
    """
    return " ".join(text.casefold().split()) in LIKE_MISSING


def order_remark(name: str, column: Column) -> str | None:
    """A line on an ordered column with such a level; None where there is nothing to say.

    >>> order_remark("smoking", Categorical(["never", "ex", "current", "unknown"], ordered=True))
    'smoking is ordered and has the level "unknown": rank tests take it as the highest'
    >>> order_remark("smoking", Categorical(["never", "ex", "unknown"])) is None
    True
    """
    if not (isinstance(column, Categorical) and column.ordered and column.size > 2):
        return None
    odd = [k for k, text in enumerate(column.printed) if like_missing(text)]
    if not odd:
        return None
    k = odd[0]
    where = (
        "the lowest"
        if k == 0
        else "the highest"
        if k == column.size - 1
        else f"between {column.printed[k - 1]!r} and {column.printed[k + 1]!r}"
    )
    return f'{name} is ordered and has the level "{column.printed[k]}": rank tests take it as {where}'


def order_remarks(columns: Mapping[str, Column]) -> list[str]:
    """One line for every such column."""
    found = (order_remark(name, column) for name, column in columns.items())
    return [line for line in found if line is not None]
