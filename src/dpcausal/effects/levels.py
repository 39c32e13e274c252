"""What levels, bins and groups of merged levels are called, for questions about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dpcausal.core.spelling import spelled, worded
from dpcausal.data.columns import Categorical, Column, Numeric, reads_as_missing
from dpcausal.data.schema import Schema

Groups = Mapping[str, Sequence[int]]  # of a column, the group of every level


def level_names(column: Column) -> tuple[str, ...]:
    """Return the names of the levels or bins of a column.

    >>> level_names(Numeric(0, 110, [18, 65]))
    ('below 18', '18 to 65', '65 or more')
    """
    if not isinstance(column, Numeric):
        return column.printed
    cuts = tuple(map(column.shown, column.bins or ()))
    named = tuple(_bin_name(cuts, code, code) for code in range(len(cuts) + 1))
    return (*named, "missing") if column.missing_level else named


def _bin_name(cuts: Sequence[str], first: int, last: int) -> str:
    """Return the name of the bins ``first`` to ``last`` taken together, from their cut points."""
    if first and last < len(cuts):
        return f"{cuts[first - 1]} to {cuts[last]}"
    if first:
        return f"{cuts[first - 1]} or more"
    return f"below {cuts[last]}" if last < len(cuts) else "all"


def group_names(column: Column, groups: Collection[int]) -> list[str]:
    """Return a name for each group of levels of a column.

    >>> group_names(Numeric(0, 90, [30, 40, 50], missing_level=True), (0, 0, 1, 1, 1))
    ['below 40', '40 or more, missing']
    >>> group_names(Categorical(["a", "b", "c"]), (0, 1, 0))
    ['a, c', 'b']
    """
    names, found = level_names(column), []
    cuts = tuple(map(column.shown, column.bins or ())) if isinstance(column, Numeric) else ()
    for group in range(max(groups) + 1):
        codes = [code for code, one in enumerate(groups) if one == group]
        bins = [code for code in codes if cuts and code <= len(cuts)]
        parts = [_bin_name(cuts, bins[0], bins[-1])] if bins else []
        found.append(", ".join(parts + [names[code] for code in codes if code not in bins]))
    return found


def coarse(schema: Schema, groups: Groups) -> Schema:
    """Return the schema in which each of these columns has one level for every group."""
    if not groups:
        return schema
    merged = {
        name: Categorical(group_names(schema[name], which), drafted=schema[name].drafted)
        for name, which in groups.items()
    }
    return schema.with_columns({name: merged.get(name, column) for name, column in schema.items()})


def examples(names: Sequence[str]) -> list[str]:
    """Return levels for an example in a message: none for missing values or negative codes, if two remain.

    >>> examples(["-1", "0", "1", "missing"]), examples(["yes", "unknown"])
    (['0', '1'], ['yes', 'unknown'])
    """
    known = [name for name in names if not reads_as_missing(name)]
    plain = [name for name in known if not name.startswith("-")]
    return next(few for few in (plain, known, list(names)) if len(few) > 1 or few == list(names))


def event_option(text: str) -> str:
    """Return how the caller writes the option that names an event."""
    return spelled(f'--event "{text}"', f"event={text!r}")


def compare_option(first: str, second: str) -> str:
    """Return how the caller writes the option that names two levels of the treatment."""
    return spelled(f'--compare "{first},{second}"', f"compare=({first!r}, {second!r})")


def what_groups_answer(schema: Schema, groups: Groups, treatment: str, outcome: str) -> str:
    """Return how the caller can ask a question that merged levels answer; empty if there is none."""
    ways = []
    if treatment in groups and max(groups[treatment]):
        names = examples(group_names(schema[treatment], groups[treatment]))
        if "," not in names[0] + names[-1]:
            ways.append(compare_option(names[0], names[-1]))
    if outcome in groups and max(groups[outcome]):
        ways.append(event_option(examples(group_names(schema[outcome], groups[outcome]))[-1]))
    return worded(" ", ", ", ", ").join(ways)
