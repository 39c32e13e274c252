"""What is asked of an effect, as one value: every door makes it, checks it once, and passes it on.

``request -> question and columns held fixed (``adjustment.py``, ``question.py``) -> plan (``plan.py``) -> measurement
(``table.py``, ``regression.py``) -> estimate (``estimate.py``) -> result (``report.py``)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, get_args

from dpcausal.core.arguments import checked_ledger, checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.columns import Level
from dpcausal.graphs.doubts import NONE, Doubts
from dpcausal.graphs.graph import Graph

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

EffectMethod = Literal["auto", "table", "regression"]
LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class EffectRequest:
    """An effect that is asked for: the columns, the contrast, what is held fixed, and what it may cost. All is public.

    Attributes
    ----------
    treatment, outcome : str
        The columns.
    adjust : iterable of str, or None
        The columns to hold fixed; None takes them from the graph.
    graph, doubts : Graph or None, Doubts
        The graph that says, or checks, what is held fixed, and what it says against itself.
    estimand, compare, event
        What is compared, as in ``effect``.
    method : str
        "auto", "table" or "regression".
    level : float
        The confidence of the interval.
    anyway : bool
        Whether to go on where nothing could be said, or the graph warns.
    epsilon, delta, neighbours, ledger, dataset
        What the answer may cost, what that protects, and where it is counted; epsilon is None where nothing is
        charged for this answer.

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
    method: EffectMethod = "auto"
    level: float = 0.95
    anyway: bool = False
    epsilon: float | None = None
    delta: float = 0.0
    neighbours: Literal["replace-one", "add-remove"] | Neighbours = "replace-one"
    ledger: str | Ledger | None = None
    dataset: str | None = None

    def __post_init__(self) -> None:
        checked_confidence(self.level)
        if self.relation is Neighbours.FIXED_LABELS:
            raise InputError("effect holds no labels fixed: neighbours must be replace-one or add-remove")
        checked_ledger(self.ledger)
        if self.method not in get_args(EffectMethod):
            raise InputError(f"method must be auto, table or regression, not {self.method!r}")
        if self.graph is not None and not isinstance(self.graph, Graph):
            raise InputError(f"graph must be a dc.Graph, not {type(self.graph).__name__}")

    @property
    def relation(self) -> Neighbours:
        """Which two data sets must be hard to tell apart."""
        return Neighbours.parse(self.neighbours, labels=False)


def checked_confidence(level: object) -> float:
    """Return the confidence of an interval; a small number is the size of a test, and a slip of the pen.

    >>> checked_confidence(0.05)
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: level is the confidence of the interval, such as 0.95, and not below 0.5: 0.05
    """
    found = checked_level(level)
    if found < LEAST_CONFIDENCE:
        raise InputError(
            f"level is the confidence of the interval, such as 0.95, and not below {LEAST_CONFIDENCE:g}: {level!r}"
        )
    return found
