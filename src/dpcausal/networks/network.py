"""A discrete Bayesian network: variables with levels, parents and conditional probability tables.

    P(v_1, ..., v_d) = product over i of P(v_i | parents of v_i)

Everything in a network is public. It makes synthetic data for tests, demonstrations and benchmarks; it is no
mechanism and protects nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.graphs import Graph, cpdag

SUM_TOLERANCE = 0.01  # published tables are rounded; a row this near to 1 is divided by its sum


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Variable:
    """One variable of a network, with its table.

    ``table`` has one axis per parent, in the order of ``parents``, and a last axis for the variable's own
    levels: ``table[i, j, k]`` is the probability of level k where the first parent has level i and the
    second level j. Rows whose sum is within 0.01 of 1 are divided by it; other rows, and entries outside
    [0, 1], are an ``InputError``. ``ordered`` says that the order of the levels means something.

    >>> Variable("lung", ["yes", "no"], ["smoke"], [[0.1, 0.9], [0.01, 0.99]]).table[0, 0]
    np.float64(0.1)
    """

    name: str
    levels: tuple[str, ...]
    parents: tuple[str, ...]
    table: NDArray[np.float64]
    ordered: bool = False

    def __init__(
        self,
        name: str,
        levels: Iterable[str],
        parents: Iterable[str],
        table: ArrayLike,
        ordered: bool = False,
    ) -> None:
        for field, value in (
            ("name", name),
            ("levels", tuple(levels)),
            ("parents", tuple(parents)),
            ("ordered", bool(ordered)),
        ):
            object.__setattr__(self, field, value)
        for label, given in (("a level", self.levels), ("a parent", self.parents)):
            if len(set(given)) < len(given):
                raise InputError(f'variable "{name}" has {label} given twice')
        object.__setattr__(self, "table", _checked_table(self, table))

    @property
    def size(self) -> int:
        """Number of levels."""
        return len(self.levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        mine, theirs = (
            (v.name, v.levels, v.parents, v.ordered, v.table.shape, v.table.tobytes()) for v in (self, other)
        )
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.name, self.levels, self.parents))

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"Variable({self.name}{given}: {', '.join(self.levels)})"


class Network:
    """Variables by name, in the order given, with no directed cycle among them.

    ``InputError`` for a variable given twice, a parent that is no variable, a table whose shape doesn't fit
    the parents' levels, or a cycle.

    >>> from dpcausal.networks import load
    >>> asia = load("asia")
    >>> asia, asia["lung"].parents, asia.sample(1000, seed=1).n
    (Network(asia, 8 variables, 8 arrows), ('smoke',), 1000)
    """

    def __init__(self, name: str, variables: Iterable[Variable]) -> None:
        self.name = name
        self._variables: dict[str, Variable] = {}
        for variable in variables:
            if variable.name in self._variables:
                raise InputError(f'variable "{variable.name}" given twice')
            self._variables[variable.name] = variable
        for variable in self:
            for parent in variable.parents:
                if parent not in self._variables:
                    hint = did_you_mean(parent, self._variables)
                    raise InputError(f'parent "{parent}" of "{variable.name}" is no variable{hint}')
                if variable.name in self[parent].parents:
                    pair = f'"{parent}" and "{variable.name}"'
                    raise InputError(f"{pair} form a directed cycle: each is a parent of the other")
            expected = (*self.sizes(variable.parents), variable.size)
            if variable.table.shape != expected:
                raise InputError(
                    f'the table of "{variable.name}" has shape {variable.table.shape} where its parents'
                    f" and levels need {expected}"
                )
        arrows = [(parent, variable.name) for variable in self for parent in variable.parents]
        self.dag = Graph(self._variables, directed=arrows)
        self.order = self.dag.topological_order()

    def __getitem__(self, name: str) -> Variable:
        if name not in self._variables:
            raise InputError(f'no variable "{name}" in {self.name}{did_you_mean(name, self._variables)}')
        return self._variables[name]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variables.values())

    def __len__(self) -> int:
        return len(self._variables)

    def sizes(self, names: Iterable[str]) -> tuple[int, ...]:
        """Number of levels of each named variable."""
        return tuple(self[name].size for name in names)

    @cached_property
    def cpdag(self) -> Graph:
        """The CPDAG of ``dag``: the most that independences can tell."""
        return cpdag(self.dag)

    @cached_property
    def schema(self) -> Schema:
        """One categorical column per variable, its levels declared."""
        return Schema({v.name: Categorical(v.levels, ordered=v.ordered) for v in self})

    def sample(self, n: int, seed: int | np.random.Generator) -> Dataset:
        """``n`` independent rows; the same ``seed`` gives the same rows. See ``sampling``."""
        from dpcausal.networks.sampling import sample

        return sample(self, n, seed)

    def joint(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """The exact joint probabilities of ``columns``, one axis each. See ``exact``."""
        from dpcausal.networks.exact import joint

        return joint(self, columns)

    def write_bif(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a .bif file. See ``bif``."""
        from dpcausal.networks.bif import write_bif

        write_bif(self, path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (self.name, list(self)) == (other.name, list(other))

    def __hash__(self) -> int:
        return hash((self.name, self.dag))

    def __repr__(self) -> str:
        return f"Network({self.name}, {len(self)} variables, {len(self.dag.directed)} arrows)"


def _checked_table(variable: Variable, given: ArrayLike) -> NDArray[np.float64]:
    name, parents, levels = variable.name, variable.parents, variable.levels
    try:
        table = np.array(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError(f'the table of "{name}" is not an array of numbers') from None
    if not levels or table.ndim != len(parents) + 1 or table.shape[-1] != len(levels):
        raise InputError(
            f'the table of "{name}" has shape {table.shape}, which does not fit'
            f" {len(parents)} parents and {len(levels)} levels"
        )
    if not np.all((table >= 0) & (table <= 1 + SUM_TOLERANCE)):
        raise InputError(f'the table of "{name}" has an entry that is no probability')
    total = table.sum(axis=-1, keepdims=True)
    if not np.all(np.abs(total - 1) <= SUM_TOLERANCE):
        worst = total.flat[int(np.argmax(np.abs(total - 1)))]
        raise InputError(f'a row of the table of "{name}" sums to {worst:g}, not to 1')
    table /= total
    table.flags.writeable = False
    return table
