"""The columns that a search is about: all of them, or a target and those that were measured with it twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpcausal.data.columns import has_order, missing_place
from dpcausal.discovery.measured.bins import coarse_columns
from dpcausal.discovery.measured.forward import Rules, rules_for
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.search import Task
from dpcausal.stats.contrasts import Contrasts


@dataclass(frozen=True)
class Scope:
    """What a search goes by; columns are numbered as listed in ``columns``.

    Attributes
    ----------
    task : Task
        The discovery.
    measured : Measurements
        What was released.
    places : tuple of int
        Where the columns are in the schema.
    columns : tuple of str
        Their names.
    contrasts : Contrasts
        Their covariances.
    rules : Rules
        What the search may do.
    coarse : frozenset of int
        Columns that are held fixed by bins, or by groups of merged levels.
    cut : frozenset of int
        Those of them with an order, and without a level for missing values: numbers known by their bins.
    """

    task: Task
    measured: Measurements
    places: tuple[int, ...]
    columns: tuple[str, ...]
    contrasts: Contrasts = field(repr=False)
    rules: Rules
    coarse: frozenset[int]
    cut: frozenset[int]

    @classmethod
    def of(cls, task: Task, measured: Measurements) -> Scope:
        """Return the target and the columns near it, which come first, or all columns."""
        places = measured.near or tuple(range(len(task.columns)))
        declared = list(task.counts.schema.values())
        coarse = coarse_columns(task.counts.schema, measured.groups)
        cut = {j for j in coarse if has_order(declared[j]) and missing_place(declared[j]) is None}
        return cls(
            task,
            measured,
            places,
            tuple(task.columns[j] for j in places),
            measured.contrasts(measured.near or None),
            rules_for(task, measured.plan.enough(task.level), measured.plan.settings.absent).within(places),
            frozenset(k for k, j in enumerate(places) if j in coarse),
            frozenset(k for k, j in enumerate(places) if j in cut),
        )

    @property
    def target(self) -> str | None:
        """The one column that is asked about; None: all are."""
        return self.columns[0] if self.measured.near else None
