"""A discrete Bayesian network: variables with levels, parents and conditional probability tables.

    P(v_1, ..., v_d) = product over i of P(v_i | parents of v_i)

Everything in a network is public. It makes synthetic data for tests, demonstrations and benchmarks, with numpy's seeded
generator; it is no mechanism and protects nobody.

**Rows** come from ancestral sampling: variables with parents first. A row draws u uniform on [0, 1) and takes the level
whose part of [0, 1) holds u, the parts being laid out by the cumulative table row of its parents' levels; the level is
found by bisection over all rows at once. A level of probability 0 is never drawn. **Cost** O(n x variables x log
levels) time; n bytes per variable (two where it has more than 256 levels). Rows are made in blocks that fit the
processor's cache, so nothing else of size n is held.

**Exact probabilities** come from variable elimination [1]. Variables that are no ancestors of the columns asked for sum
to 1 and are left out. The others are summed out one at a time, the one with the smallest product table first. **Cost**
exponential in the tree width of the moral graph; a product table above 2^24 cells is an ``InputError``.

**Five networks** come with the package (``load``), one JSON object each: ``name``, ``source`` (the publication of its
numbers), ``variables`` with ``name``, ``levels``, ``ordered``, ``parents`` and ``rows``, one row of probabilities per
configuration of the parents' levels, the last parent's level changing fastest.

Reference: [1] Koller and Friedman (2009), section 9.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from math import prod
from string import ascii_letters

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcausal.core.arguments import checked_count
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.data.columns import Categorical, Codes
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.graphs import Graph, cpdag

SUM_TOLERANCE = 0.01  # published tables are rounded; a row this near to 1 is divided by its sum
BLOCK = 1 << 14  # rows that are sampled at a time
MOST_CELLS = 1 << 24  # of a product table

Factor = tuple[tuple[str, ...], NDArray[np.float64]]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Variable:
    """One variable of a network, with its table.

    Parameters
    ----------
    name : str
        The name of the column.
    levels : iterable of str
        Its levels.
    parents : iterable of str
        The variables that it depends on.
    table : array
        One axis per parent, in the order of ``parents``, and a last axis for the variable's own levels:
        ``table[i, j, k]`` is the probability of level k where the first parent has level i and the second level j.
        Rows whose sum is within 0.01 of 1 are divided by it.
    ordered : bool, default False
        Whether the order of the levels means something.

    Raises
    ------
    InputError
        If a level or a parent is given twice, a row does not sum to 1, or an entry lies outside [0, 1].

    Examples
    --------
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

    Parameters
    ----------
    name : str
        The name of the network.
    variables : iterable of Variable
        Its variables.

    Raises
    ------
    InputError
        If a variable is given twice, a parent is no variable, the shape of a table doesn't fit the parents' levels, or
        there is a cycle.

    Examples
    --------
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
        """Return the number of levels of each named variable."""
        return tuple(self[name].size for name in names)

    @cached_property
    def cpdag(self) -> Graph:
        """The CPDAG of ``dag``."""
        return cpdag(self.dag)

    @cached_property
    def schema(self) -> Schema:
        """One categorical column per variable, its levels declared."""
        return Schema({v.name: Categorical(v.levels, ordered=v.ordered) for v in self})

    def sample(self, n: int, seed: int | np.random.Generator) -> Dataset:
        """Return ``n`` independent rows.

        The same seed gives the same rows with the same version of numpy; the rows for a smaller n are not promised to
        be the first of those for a larger one. ``InputError`` for n < 0 or a seed that is not a number >= 0.

        >>> from dpcausal.networks import load
        >>> load("asia").sample(5, seed=1).codes["smoke"].dtype
        dtype('uint8')
        """
        rows = checked_count(n, "n")
        rng = (
            seed
            if isinstance(seed, np.random.Generator)
            else np.random.default_rng(checked_count(seed, "seed"))
        )
        codes: dict[str, Codes] = {
            v.name: np.empty(rows, np.uint8) if v.size <= 256 else np.empty(rows, np.uint16) for v in self
        }
        laid_out = {v.name: _cumulative(v) for v in self}
        for start in range(0, rows, BLOCK):
            stop = min(start + BLOCK, rows)
            for name in self.order:
                row = _table_row(self, self[name], codes, start, stop)
                codes[name][start:stop] = _draw(laid_out[name], row, rng.random(stop - start))
        return Dataset(self.schema, rows, codes)

    def joint(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Return the exact joint probabilities of ``columns``: axis i runs over the levels of ``columns[i]``.

        ``InputError`` for a column that is no variable or is given twice, and for a network too dense for this.

        >>> from dpcausal.networks import load
        >>> load("asia").joint(["lung"]).round(3)
        array([0.055, 0.945])
        """
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        if len(set(wanted)) < len(wanted):
            raise InputError("a column of a joint table is given twice")
        sizes = {name: self[name].size for name in (*wanted, *self.dag.nodes)}
        needed = self.dag.ancestors(wanted)
        ordered = [self[name] for name in self.order if name in needed]
        factors: list[Factor] = [((*variable.parents, variable.name), variable.table) for variable in ordered]
        hidden = needed - set(wanted)
        while hidden:
            cost = {name: _cells(_scope(_holding(factors, name)), sizes) for name in sorted(hidden)}
            name = min(cost, key=cost.__getitem__)
            parts = _holding(factors, name)
            scope = tuple(other for other in _scope(parts) if other != name)
            factors = [factor for factor in factors if name not in factor[0]]
            factors.append((scope, _product(parts, scope, sizes)))
            hidden -= {name}
        return _product(factors, wanted, sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (self.name, list(self)) == (other.name, list(other))

    def __hash__(self) -> int:
        return hash((self.name, self.dag))

    def __repr__(self) -> str:
        return f"Network({self.name}, {len(self)} variables, {len(self.dag.directed)} arrows)"


def _checked_table(variable: Variable, given: ArrayLike) -> NDArray[np.float64]:
    """Return the table with rows that sum to 1, or refuse it."""
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


def _cumulative(variable: Variable) -> NDArray[np.float64]:
    """Return cumulative probabilities of the levels (all but the last), one row per parent configuration.

    Padded on the right to 2^k - 1 entries that no u reaches. The end of the last level with positive
    probability is set there too, so that rounding can't give a level of probability 0.
    """
    table = variable.table.reshape(-1, variable.size)
    ends = np.cumsum(table, axis=1)
    last = table.shape[1] - 1 - np.argmax(table[:, ::-1] > 0, axis=1)
    ends[np.arange(table.shape[1]) >= last[:, None]] = 2.0
    width = (1 << (variable.size - 1).bit_length()) - 1
    padded = np.full((len(table), width), 2.0)
    padded[:, : variable.size - 1] = ends[:, :-1]
    return padded


def _table_row(
    network: Network, variable: Variable, codes: dict[str, Codes], start: int, stop: int
) -> NDArray[np.intp]:
    """Return the number of the table row that each sample's parents select: mixed radix, last parent fastest."""
    row = np.zeros(stop - start if variable.parents else 1, dtype=np.intp)
    for parent, size in zip(variable.parents, network.sizes(variable.parents), strict=True):
        row *= size
        row += codes[parent][start:stop]
    return row


def _draw(ends: NDArray[np.float64], row: NDArray[np.intp], u: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the level that each uniform number u selects in its row of cumulative probabilities."""
    width = ends.shape[1]
    flat = ends.reshape(-1)
    if width == 1:
        return (u >= flat.take(row)).astype(np.intp)
    base = row * width
    level = np.zeros(len(u), dtype=np.intp)
    step = (width + 1) // 2
    while step:
        level += step * (u >= flat.take(base + level + (step - 1)))
        step //= 2
    return level


def _holding(factors: Iterable[Factor], name: str) -> list[Factor]:
    """Return the factors that contain a variable."""
    return [factor for factor in factors if name in factor[0]]


def _scope(factors: Iterable[Factor]) -> tuple[str, ...]:
    """Return the variables of several factors, each once."""
    return tuple(dict.fromkeys(name for names, _ in factors for name in names))


def _cells(names: Iterable[str], sizes: dict[str, int]) -> int:
    """Return the number of cells of a table of these variables."""
    return prod(sizes[name] for name in names)


def _product(factors: list[Factor], columns: tuple[str, ...], sizes: dict[str, int]) -> NDArray[np.float64]:
    """Return the product of the factors with everything outside ``columns`` summed out."""
    names = _scope(factors)
    if _cells(names, sizes) > MOST_CELLS or len(names) > len(ascii_letters):
        raise InputError(f"exact probabilities need a table of more than {MOST_CELLS:,} cells here")
    label = {name: i for i, name in enumerate(names)}
    scope: tuple[str, ...] = ()
    table: NDArray[np.float64] = np.ones(())
    for other, values in factors:
        union = (*scope, *(name for name in other if name not in scope))
        table = _einsum(table, scope, values, other, union, label)
        scope = union
    return _einsum(table, scope, np.ones(()), (), columns, label)


def _einsum(
    a: NDArray[np.float64],
    names_a: tuple[str, ...],
    b: NDArray[np.float64],
    names_b: tuple[str, ...],
    columns: tuple[str, ...],
    label: dict[str, int],
) -> NDArray[np.float64]:
    """Return the product of two factors, summed over all but ``columns``."""
    left, right, out = (
        "".join(ascii_letters[label[name]] for name in names) for names in (names_a, names_b, columns)
    )
    return np.asarray(np.einsum(f"{left},{right}->{out}", a, b), dtype=np.float64)


# ---- networks that come with the package

_NAMES = ("asia", "cancer", "earthquake", "sachs", "survey")


def names() -> tuple[str, ...]:
    """Return the names that ``load`` knows.

    >>> names()
    ('asia', 'cancer', 'earthquake', 'sachs', 'survey')
    """
    return _NAMES


@cache
def load(name: str) -> Network:
    """Return the network of that name that comes with the package; ``read_bif`` reads others from files.

    Parameters
    ----------
    name : str
        One of ``names()``.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> load("cancer").dag
    Graph(Pollution -> Cancer, Smoker -> Cancer, Cancer -> Xray, Cancer -> Dyspnoea)
    """
    if name not in _NAMES:
        hint = did_you_mean(str(name), _NAMES)
        raise InputError(f'no network "{name}"{hint}: known are {", ".join(_NAMES)}; read_bif reads others')
    found = json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))
    sizes = {entry["name"]: len(entry["levels"]) for entry in found["variables"]}
    return Network(
        found["name"],
        [
            Variable(
                entry["name"],
                entry["levels"],
                entry["parents"],
                np.reshape(
                    entry["rows"], [*(sizes[parent] for parent in entry["parents"]), sizes[entry["name"]]]
                ),
                ordered=entry["ordered"],
            )
            for entry in found["variables"]
        ],
    )
