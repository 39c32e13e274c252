"""What every test offers: a classical answer, a private one, and a public check whether it can be asked.

A ``Method`` works on tables, a ``ValuesMethod`` on the numbers in the rows. One test may be both: it is then given
the rows where there are rows and tables where there are only counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dpcausal.citests.question import Question
from dpcausal.core.neighbours import Neighbours
from dpcausal.data.dataset import Dataset
from dpcausal.privacy.events import Event
from dpcausal.stats.blocks import Blocks


@dataclass(frozen=True)
class Outcome:
    """The answer of one test; numbers are None where only a decision was released.

    ``chosen``: what was chosen privately on the way, in words; later charges then followed an earlier answer.
    """

    independent: bool
    pvalue: float | None = None
    statistic: float | None = None
    dof: int | None = None
    chosen: str | None = None

    @classmethod
    def at(
        cls, level: float, pvalue: float, statistic: float | None = None, dof: int | None = None
    ) -> Outcome:
        """Independent unless the p-value is at most ``level``."""
        return cls(bool(pvalue > level), float(pvalue), statistic, dof)


ONE_ROW = "one row"


class Charger(Protocol):
    """Anything that takes charges."""

    def charge(self, *events: Event) -> None:
        """Record events or refuse."""


@dataclass(frozen=True)
class Terms:
    """Under what a private test is asked. ``n`` is None under add-remove, where it is not public."""

    epsilon: float
    delta: float
    level: float
    neighbours: Neighbours
    n: int | None


class Asked(Protocol):
    """What both kinds of test say about themselves. Options are fields of the value that implements it."""

    @property
    def name(self) -> str:
        """As in ``ci_test(method=...)``."""
        ...

    @property
    def releases(self) -> str:
        """What leaves, in words, for the privacy statement."""
        ...

    @property
    def protects(self) -> str:
        """The unit of privacy, in words."""
        ...

    @property
    def own_delta(self) -> bool:
        """Whether its events carry a delta of their own, to be reserved in the budget."""
        ...

    def check(self, question: Question) -> None:
        """Refuse what this test can't answer; public information only."""
        ...


@runtime_checkable
class Method(Asked, Protocol):
    """A test on tables."""

    def classical(self, blocks: Blocks, level: float) -> Outcome:
        """The non-private answer."""
        ...

    def private(self, question: Question, blocks: Blocks, terms: Terms, budget: Charger) -> Outcome:
        """Charge the budget, draw, and post-process what was released."""
        ...


@runtime_checkable
class ValuesMethod(Asked, Protocol):
    """A test on the values of the rows: ``data.values`` (clamped numbers) and ``data.codes``."""

    @property
    def assumes(self) -> tuple[str, ...]:
        """What it takes to be public besides the schema (kernel, bandwidth, bins ...), for the statement."""
        ...

    def classical_values(self, question: Question, data: Dataset, level: float) -> Outcome:
        """The non-private answer."""
        ...

    def private_values(self, question: Question, data: Dataset, terms: Terms, budget: Charger) -> Outcome:
        """Charge the budget, draw, and post-process what was released."""
        ...


AnyMethod = Method | ValuesMethod


def assumed(method: AnyMethod, data: object) -> tuple[str, ...]:
    """What the statement must list as public besides the schema when ``method`` is asked about ``data``."""
    return method.assumes if isinstance(method, ValuesMethod) and isinstance(data, Dataset) else ()
