"""What a driver is given, what it gives back, and the loop between search and driver."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcausal.core.arguments import refuse_unknown
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import Stage, silent
from dpcausal.core.statement import Public, Released
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.facts import Note
from dpcausal.discovery.knowledge import Knowledge, Pair
from dpcausal.discovery.search import Answers, Query, Skeleton
from dpcausal.privacy.budget import Budget


@dataclass(frozen=True)
class Task:
    """A discovery to be done: the counts, what is known, the level of each test, and what may be spent."""

    counts: Counts
    known: Knowledge
    level: float
    max_order: int | None
    neighbours: Neighbours
    budget: Budget | None  # None: no privacy
    rows: Dataset | None = None  # for tests on values; None where there are only counts
    stage: Stage = silent  # opens a progress bar; only public amounts may drive it

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of the schema."""
        return tuple(self.counts.schema)

    @property
    def n(self) -> int | None:
        """The public number of rows; None under add-remove, where it is protected."""
        return self.counts.n if self.neighbours is Neighbours.REPLACE_ONE else None

    def private_budget(self) -> Budget:
        """The budget of a private driver."""
        if self.budget is None:
            raise InputError("this method is private: give it an epsilon, or use method='pc'")
        return self.budget


@dataclass(frozen=True)
class SearchOutcome:
    """A skeleton with its separating sets, what was released to get there, and notes on it."""

    skeleton: Skeleton
    released: tuple[Released, ...]
    public: tuple[Public, ...] = ()
    notes: tuple[Note, ...] = ()
    adaptive: bool = True  # False: every event was fixed before the first answer
    # middles of open triples that must not be made colliders, where more is known than one separating set
    not_colliders: Mapping[Pair, frozenset[str]] | None = None
    confidence: Mapping[Pair, float] | None = None  # how often each edge is found again on noise drawn anew


def drive(
    search: Generator[list[Query], Answers, Skeleton],
    answer: Callable[[list[Query]], Answers],
    stage: Stage = silent,
) -> Skeleton:
    """Run a search to its end with ``answer`` replying to each batch (None ends it).

    ``stage`` shows how many edges an order has done with. That depends on the answers: give it only where they come
    from values released before the search began, or where there is no privacy.
    """
    try:
        batch = next(search)
    except StopIteration as stop:
        return _skeleton(stop)
    while True:
        order, left = _shape(batch)
        with stage(f"testing given {order} column{'' if order == 1 else 's'}", left) as tick:
            while _shape(batch)[0] == order:
                now = min(left, _shape(batch)[1])
                tick(left - now)
                left = now
                try:
                    batch = search.send(answer(batch))
                except StopIteration as stop:
                    return _skeleton(stop)
            tick(left)


def _skeleton(stop: StopIteration) -> Skeleton:
    found: Skeleton = stop.value
    return found


def _shape(batch: list[Query]) -> tuple[int, int]:
    """(order of the questions, how many edges they are about)."""
    return len(batch[0].given) if batch else 0, len({(question.x, question.y) for question in batch})


@dataclass(frozen=True)
class Method:
    """A way to learn a graph, with what it says about itself; every driver module has one, called ``METHOD``.

    Attributes
    ----------
    name : str
        As in ``discover(method=...)``.
    description : str
        What it does, in one line for someone who has read no paper.
    run : callable
        ``run(task, **options)`` learns the skeleton; the options are its keyword parameters.
    private : bool
        Whether it needs an epsilon.
    tables_only : bool
        Whether it sees numeric columns by their declared bins only.
    settles : bool
        Whether, where answers contradict each other, the nearest graph that exists is shown.
    """

    name: str
    description: str
    run: Callable[..., SearchOutcome]
    private: bool = True
    tables_only: bool = False
    settles: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Names of the options with their defaults."""
        parameters = inspect.signature(self.run).parameters.values()
        return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}

    @property
    def passes_options(self) -> bool:
        """Whether options that it does not name go on to a test."""
        parameters = inspect.signature(self.run).parameters.values()
        return any(one.kind is one.VAR_KEYWORD for one in parameters)

    def check_options(self, given: Collection[str], shared: Sequence[str]) -> None:
        """Refuse an option that this method does not take; ``shared`` are options of the call itself."""
        if not self.passes_options:
            refuse_unknown(self.name, given, list(self.options), shared)
