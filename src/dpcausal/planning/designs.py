"""What ``method="measured"`` will measure and how loud its noise will be: the driver's own plan, asked before any data.

- **joint**: one table over all columns takes the whole budget (``discovery/measured_plan.py`` says when). A margin that
  sums m of its cells has m times the variance of one.
- **components**: all single columns and pairs first, which answer orders 0 and 1; for every further order m the
  interactions of m + 1 columns that its questions need. How many depends on the graph: ``EACH`` a column are assumed,
  fewer where there are not so many or the driver would not measure so many (its noise may not pass a bound). T
  interactions of squared l2 sensitivity D^2 have variance T D^2/(2 rho) in every direction (Gaussian), of l1
  sensitivity D 2 (T D/epsilon)^2 (Laplace).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from dpcausal.core.neighbours import Neighbours
from dpcausal.discovery.measured_plan import (
    PAIRS,
    TRIPLES,
    Plan,
    components_mechanism,
    first_sets,
    first_shares,
    joint_mechanism,
    noise_variance,
    plan_for,
)
from dpcausal.discovery.measurer import LAST_PART, LEAST, LOUDEST
from dpcausal.privacy.accounting.filter import Filter
from dpcausal.stats.components import component_absolute, component_sensitivity

LEAST_SHARE = 0.01  # of the budget, below which no more is measured
EACH = 12


def least_free(order: int) -> float:
    """Standard errors that the rows free to differ must be worth before the driver says "independent"."""
    return float(LEAST[min(order, len(LEAST) - 1)])


@dataclass(frozen=True)
class Design:
    """The noise of every table under a budget."""

    sizes: tuple[int, ...]
    rows: int
    epsilon: float
    delta: float
    neighbours: Neighbours

    def with_epsilon(self, epsilon: float) -> Design:
        """The same with another epsilon."""
        return replace(self, epsilon=epsilon)

    @cached_property
    def rho(self) -> float:
        """What the total allows."""
        return Filter(self.epsilon, self.delta).rho

    @cached_property
    def plan(self) -> Plan:
        """The driver's."""
        return plan_for(self.sizes, self.epsilon, self.rho, self.neighbours)

    @property
    def joint(self) -> bool:
        """Whether one table over all columns is measured."""
        return self.plan.joint

    @property
    def law(self) -> str:
        """Laplace or Gaussian."""
        return "Gaussian" if self.plan.gaussian else "Laplace"

    @property
    def _total(self) -> float:
        return self.rho if self.plan.gaussian else self.epsilon

    @cached_property
    def _levels(self) -> dict[int, float]:
        """Variance by number of columns, up to pairs; components only."""
        found = {0: 0.0}
        sets = first_sets(len(self.sizes), self.neighbours)
        for (_, columns), share in zip(sets, first_shares(self.sizes, self.neighbours), strict=True):
            mechanism = components_mechanism(
                columns, self.sizes, share * self._total, self.neighbours, gaussian=self.plan.gaussian
            )
            found[len(columns[0])] = noise_variance(mechanism)
        return found

    @cached_property
    def _cell(self) -> float:
        mechanism = joint_mechanism(
            math.prod(self.sizes), self._total, self.neighbours, gaussian=self.plan.gaussian
        )
        return noise_variance(mechanism)

    def variance(self, columns: tuple[int, ...]) -> float:
        """Of the noise in every direction of the component over columns with these numbers of levels.

        >>> yes_no = Design((2,) * 5, 1000, 1.0, 0.0, Neighbours.ADD_REMOVE)
        >>> yes_no.joint, round(yes_no.variance((2,) * 5), 2), round(yes_no.variance((2, 2)), 2)
        (True, 1.84, 14.73)
        """
        if self.joint:
            return self._cell * (math.prod(self.sizes) / math.prod(columns))
        if len(columns) < 3:
            return self._levels[len(columns)]
        order = len(columns) - 1
        share, number = self.share(order), self._numbers[order]
        if share == 0 or number is None:
            return 1e9 * self._levels[2]  # never measured
        if self.plan.gaussian:
            return number * component_sensitivity(columns, self.neighbours) / (2 * share * self.rho)
        return 2 * (number * component_absolute(columns, self.neighbours) / (share * self.epsilon)) ** 2

    def share(self, order: int) -> float:
        """Part of the budget that is left for the tables of that order."""
        if self.joint or order < 2:
            return 1.0 if self.joint else PAIRS
        if order == 2:
            return TRIPLES
        left = 1.0 - PAIRS - TRIPLES
        for _ in range(order - 3):
            left *= 1.0 - LAST_PART
        share = LAST_PART * left
        return share if share >= LEAST_SHARE else 0.0

    @cached_property
    def _numbers(self) -> list[int | None]:
        return [self.interactions(order) for order in range(len(self.sizes))]

    def interactions(self, order: int) -> int | None:
        """How many interactions of ``order`` + 1 columns are assumed to be measured for it; None: no such thing."""
        if self.joint or order < 2 or self.share(order) == 0:
            return None
        d, ranked = len(self.sizes), sorted(self.sizes)
        start = (d - order - 1) // 2
        typical = ranked[start : start + order + 1]
        loud = LOUDEST * math.sqrt(max(self.plan.pair_variance, self.rows / math.prod(typical)))
        if self.plan.gaussian:
            room = 2 * self.share(order) * self.rho * loud**2
            most = room / component_sensitivity(typical, self.neighbours)
        else:
            room = self.share(order) * self.epsilon * loud / math.sqrt(2)
            most = room / component_absolute(typical, self.neighbours)
        return max(1, min(math.comb(d, order + 1), EACH * d, int(most)))

    def words(self, last: int) -> str:
        """What will be measured, in one line."""
        if self.joint:
            cells = math.prod(self.sizes)
            return f"one joint table of {cells:,} cells with {self.law} noise; every test is made on it"
        more = [
            f"about {self.interactions(order):,} larger tables for order {order}"
            for order in range(2, last + 1)
            if self.interactions(order)
        ]
        return ", then ".join([f"all columns and pairs with {self.law} noise (orders 0 and 1)", *more])
