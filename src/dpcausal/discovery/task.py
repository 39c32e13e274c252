"""What a driver is given, what it gives back, and the loop between search and driver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field

from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.progress import Stage, silent
from dpcausal.core.statement import Public, Released
from dpcausal.counts.protocol import Counts
from dpcausal.data.dataset import Dataset
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

    def paid(self) -> Budget:
        """The budget of a private driver."""
        if self.budget is None:
            raise InputError("this method is private: give it an epsilon, or use method='pc'")
        return self.budget


@dataclass(frozen=True)
class SearchOutcome:
    """A skeleton with its separating sets, what was released to get there, and remarks in words."""

    skeleton: Skeleton
    released: tuple[Released, ...]
    public: tuple[Public, ...] = ()
    notes: tuple[str, ...] = field(default=())
    adaptive: bool = True  # False: every event was fixed before the first answer
    # middles of open triples that must not be made colliders, where more is known than one separating set
    not_colliders: Mapping[Pair, frozenset[str]] | None = None
    confidence: Mapping[Pair, float] | None = None  # how often each edge is found again on noise drawn anew


def mostly_numbers(columns: Sequence[str], numeric: Collection[str]) -> bool:
    """Whether more than half of the columns hold numbers: public."""
    return 2 * sum(name in numeric for name in columns) > len(columns)


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
