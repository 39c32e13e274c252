"""Columns that are declared with one level: the same in every row, so nothing depends on them and no edge touches them.

The schema is public, so this costs nothing: their edges are left out before anything is asked. A numeric column with
one bin is another matter: its numbers may matter and a table does not show them, so methods that see tables only
refuse it.
"""

from __future__ import annotations

from dataclasses import replace

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical
from dpcausal.data.schema import Schema
from dpcausal.discovery.knowledge import Knowledge

TABLES_ONLY = ("measured", "priv-pc", "svt-pc", "em-pc", "curate")


def one_level(schema: Schema) -> tuple[str, ...]:
    """The categorical columns with one declared level.

    >>> one_level(Schema(sex=Categorical(["f"]), smoke=Categorical(["no", "yes"])))
    ('sex',)
    """
    return tuple(
        name for name, column in schema.items() if isinstance(column, Categorical) and column.size == 1
    )


def without_constants(schema: Schema, known: Knowledge, method: str) -> Knowledge:
    """``known``, and that no edge touches a column of one level; an error where one is required."""
    single = one_level(schema)
    for pair in sorted(map(sorted, known.kept)):
        for name in pair:
            if name in single:
                raise InputError(
                    f'required names "{name}", which has one level: it can\'t depend on anything'
                )
    if len(schema) - len(single) < 2:
        have = "has" if len(single) == 1 else "have"
        raise InputError(
            f"a graph needs at least two columns with two levels or more; {_and(single)} {have} one level"
        )
    if method in TABLES_ONLY:
        for name, column in schema.items():
            if column.size == 1 and name not in single:
                raise InputError(
                    f'"{name}" has one bin, so {method} sees nothing of it: declare cut points, or leave it out'
                )
    pairs = {frozenset((name, other)) for name in single for other in schema if other != name}
    return replace(known, left_out=known.left_out | pairs)


def one_level_words(schema: Schema) -> tuple[str, ...]:
    """A line on the columns of one level, where there are any.

    >>> one_level_words(Schema(sex=Categorical(["f"]), smoke=Categorical(["no", "yes"])))
    ('"sex" has one level: it can\\'t depend on anything, so it has no edge; leave it out.',)
    """
    single = one_level(schema)
    if not single:
        return ()
    if len(single) == 1:
        return (
            f"{_and(single)} has one level: it can't depend on anything, so it has no edge; leave it out.",
        )
    return (
        f"{_and(single)} have one level: they can't depend on anything, so they have no edge; leave them out.",
    )


def _and(names: tuple[str, ...]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
