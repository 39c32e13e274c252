"""Levels that sites have merged: which are one, what all sites have in common, and tables brought to that.

A site may tell fewer levels of a column apart than the protocol: by a schema of its own, or because a second round says
so. A pooled table has the levels that all sites tell apart (the join of their partitions).

**Formula.** A table X becomes G X H', where G and H add up the levels of a group. Noise of variance v in every
direction of a component of X gives the interaction of that the covariance v A x B: A = P G P G' P for a column of the
component (P takes off the mean), and P g g' P / r^2 for one of r levels over which it is spread, in groups of g.
The largest eigenvalues are taken for the variance in every direction, and components add up: never too little. Where
groups are not of one size some of the noise is that of single columns, which tests take as independent of it.

**Guarantee.** Post-processing of released tables and public schemas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical, Column, Numeric, missing_place
from dpcausal.discovery.measured.tables import Components, subsets_of
from dpcausal.stats.components import Columns, Floats, interaction

Groups = tuple[int, ...]  # of every level of a column, from 0, in the sequence of the first level of each


def groups_of(own: Column, column: Column) -> Groups | None:
    """Return which level of a site's own column each level of the protocol's column is; None: it is another column.

    A number may have some of the bins; levels may be others where ``aliases`` say which of the protocol's they are.

    >>> groups_of(Numeric(0, 90, [40]), Numeric(0, 90, [20, 40, 60]))
    (0, 0, 1, 1)
    >>> stage = Categorical(["I", "more"], aliases={"II": "more", "III": "more"})
    >>> groups_of(stage, Categorical(["I", "II", "III"])), groups_of(stage, Categorical(["I", "II", "IV"]))
    ((0, 1, 1), None)
    """
    if own == column:
        return tuple(range(column.size))
    if isinstance(own, Numeric) and isinstance(column, Numeric):
        few, many = tuple(own.bins or ()), tuple(column.bins or ())
        same = (own.lower, own.upper, own.scale) == (column.lower, column.upper, column.scale)
        if not same or missing_place(own) is not None or missing_place(column) is not None:
            return None
        return (
            tuple(sum(cut in many[:k] for cut in few) for k in range(column.size))
            if set(few) < set(many)
            else None
        )
    if not isinstance(own, Categorical) or not isinstance(column, Categorical):
        return None
    place = {level: k for k, level in enumerate(own.printed)}
    place |= {spelling: own.levels.index(level) for spelling, level in own.aliases.items()}
    found = tuple(place.get(level, -1) for level in column.printed)
    apart = own.ordered == column.ordered or len(set(found)) <= 2
    return found if apart and set(found) == set(range(own.size)) else None


def join(groupings: Sequence[Groups]) -> Groups:
    """Return the finest grouping that every one of these tells apart: levels that any of them merges are one.

    >>> join([(0, 0, 1, 2), (0, 1, 1, 2)]), join([(0, 1, 2)])
    ((0, 0, 0, 1), (0, 1, 2))
    """
    found = list(range(len(groupings[0])))
    for groups in groupings:
        for k, group in enumerate(groups):
            first = groups.index(group)
            found = [found[first] if one == found[k] else one for one in found]
    names = {group: place for place, group in enumerate(dict.fromkeys(found))}
    return tuple(names[group] for group in found)


def merging(fine: Groups, coarse: Groups) -> Groups:
    """Return the group of ``coarse`` that each group of ``fine`` is part of.

    >>> merging((0, 1, 1, 2), (0, 0, 0, 1))
    (0, 0, 1)
    """
    return tuple(coarse[fine.index(group)] for group in range(max(fine) + 1))


def merged(components: Components, columns: Columns, into: Mapping[int, Groups]) -> tuple[Floats, float]:
    """Return the component of these columns with levels merged by ``into``, and the variance of its noise, at most.

    >>> one = Components((3,)).with_measured([((), np.array(300.0))], 0.0)
    >>> one = one.with_measured([((0,), np.array([20.0, -5.0, -15.0]))], 1.0)
    >>> merged(one, (0,), {0: (0, 1, 1)})  # of 120, 95 and 85 rows
    (array([-30.,  30.]), 1.3333333333333333)
    """
    if not any(j in into for j in columns):
        return components.values[columns], components.variance(columns)
    value, own, spread = components.table(columns), [], []
    for axis, j in enumerate(columns):
        size = components.sizes[j]
        groups = np.asarray(into.get(j, range(size)))
        adds = (groups == np.arange(max(groups) + 1)[:, None]).astype(float)
        value = np.moveaxis(np.tensordot(adds, value, (1, axis)), 0, axis)
        centred = adds - adds.mean(axis=0)
        own.append(float(np.linalg.norm(centred @ (np.eye(size) - 1.0 / size), 2) ** 2))
        spread.append(float((centred.sum(axis=1) ** 2).sum()) / size**2)
    variance = math.fsum(
        components.variance(inner)
        * math.prod(own[axis] if j in inner else spread[axis] for axis, j in enumerate(columns))
        for inner in subsets_of(columns)
    )
    return interaction(value), variance


def refuse_nothing_left(name: str, groups: Groups, sites: Sequence[tuple[str, Groups]]) -> None:
    """Refuse a column whose levels sites have merged so that none is left apart; name two of the sites."""
    if max(groups) > 0 or len(groups) == 1:  # a column of one level has nothing to tell apart
        return
    one, other = next((a, b) for a, first in sites for b, second in sites if first != second)
    raise InputError(f'{one} and {other} have merged levels of "{name}" so that none is the same in both')
