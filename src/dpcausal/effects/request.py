"""What is asked of an effect, as one value: every door makes it, checks it once, and passes it on.

``request -> question and columns held fixed (``asked.py``) -> plan (``plan.py``) -> measurement (``measure.py``) ->
estimate (``estimate.py``) -> result (``report.py``)``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from dpcausal.core.arguments import checked_ledger, checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Level
from dpcausal.effects.survival import Survival
from dpcausal.graphs.doubts import NONE, Doubts, read_graph
from dpcausal.graphs.graph import Graph

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

EffectMethod = Literal["auto", "table", "regression"]
EffectPopulation = Literal["auto", "all", "exposed", "overlap"]
LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class EffectRequest:
    """An effect that is asked for, with what it may cost; the fields are the arguments of ``effect``. All is public.

    ``doubts`` is what the graph says against itself. ``epsilon`` is None where nothing is charged for this answer:
    without privacy, from what was released before, or from a share that was kept.

    Raises
    ------
    InputError
        If an argument can't be used, whatever the schema is.
    """

    treatment: str
    outcome: str
    _: KW_ONLY
    adjust: Iterable[str] | None = None
    graph: Graph | None = None
    doubts: Doubts = NONE
    estimand: str = "auto"
    compare: Sequence[Level] | None = None
    event: Level | None = None
    survival: Survival | None = None  # of which ``outcome`` is the event
    method: EffectMethod = "auto"
    population: EffectPopulation = "auto"
    level: float = 0.95
    anyway: bool = False
    epsilon: float | None = None
    delta: float = 0.0
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one"
    ledger: str | Ledger | None = None
    dataset: str | None = None

    def __post_init__(self) -> None:
        if checked_level(self.level) < LEAST_CONFIDENCE:  # the size of a test, and a slip of the pen
            raise InputError(
                "level is the confidence of the interval, such as 0.95, and not below "
                f"{LEAST_CONFIDENCE:g}: {self.level!r}"
            )
        Neighbours.parse(self.neighbours, labels=False)
        checked_ledger(self.ledger)
        if self.method not in get_args(EffectMethod):
            raise InputError(f"method must be auto, table or regression, not {self.method!r}")
        if self.population not in get_args(EffectPopulation):
            raise InputError(f"population must be auto, all, exposed or overlap, not {self.population!r}")
        if self.survival is not None:
            self._refuse_with_follow_up()
        if self.method == "regression" and self.population in ("all", "exposed"):
            raise InputError(
                f"a regression is a mean over the overlap: population {self.population} goes with a table"
            )

    def _refuse_with_follow_up(self) -> None:
        """Raise ``InputError`` where an argument does not go with a follow-up."""
        if self.method == "regression":
            raise InputError("a follow-up is measured as a table: there is no regression of it")
        if self.population not in ("auto", "all"):
            raise InputError("the effect on a follow-up is that among all: leave population out")
        if self.event is not None:
            raise InputError("the event of a follow-up is a level of its own column: name it by event_level")

    @property
    def relation(self) -> Neighbours:
        """Which two data sets must be hard to tell apart."""
        return Neighbours.parse(self.neighbours, labels=False)


def requested(
    treatment: str, outcome: str | Survival, graph: Graph | os.PathLike[str] | None, **options: Any
) -> EffectRequest:
    """Return the request of an effect; the outcome may be a follow-up, the graph a file.

    What a graph says against itself is known of its file alone. ``options`` are further fields of the request.
    """
    doubts = NONE
    if isinstance(graph, os.PathLike):
        graph, doubts = read_graph(graph)
    if graph is not None and not isinstance(graph, Graph):
        raise InputError(f"graph must be a dc.Graph or the Path of a graph.json, not {type(graph).__name__}")
    if isinstance(outcome, Survival):
        outcome, options = outcome.event, {**options, "survival": outcome}
    return EffectRequest(treatment, outcome, graph=graph, doubts=doubts, **options)
