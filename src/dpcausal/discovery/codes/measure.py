"""What ``codes`` measures: how many ones rows have, single columns, all pairs, and the promising pairs again.

1. **Number of ones.** A histogram of how many ones rows have. From it and public numbers follow the cap, with which a
   pair is known best, and what the cap takes away.
2. **Single columns**, rows within and beyond the cap apart: the same noise, since a row is in one of the two.
3. **Pairs.** Capped co-occurrences of all pairs.
4. **Promising pairs again.** A row holds few of the pairs with the most evidence, so that their noise is much smaller.
   How many it holds is counted first, and gives a cap of its own.

``CodeMeasurements`` is what was released, from which correlations follow: keeping and searching it costs nothing.

**Guarantee** (``measure.proof.md``): every step is charged before its noise is drawn, and what follows from what was
released before. Gaussian noise with a delta, else Laplace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import MeasuredTables, Released
from dpcausal.counts.co_occurrence import Ones, number_counts
from dpcausal.data.schema import Schema
from dpcausal.discovery.search import Task
from dpcausal.privacy.mechanisms.additive import Gaussian, Laplace
from dpcausal.privacy.mechanisms.base import Grid, release
from dpcausal.stats.co_occurrence import (
    UNKNOWN_ERROR,
    WEIGHT_BITS,
    CodeContrasts,
    Norm,
    Pairs,
    Singles,
    best_cap,
    code_contrasts,
    corrected,
    entry_sensitivity,
    entry_weights,
    number_law,
    number_starts,
    retained,
)
from dpcausal.stats.contrasts import Contrasts, Round, all_pairs
from dpcausal.stats.limits import checked_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SPENT = 1.0 - 1e-12  # of a share: shares that add up to one never pass the total by rounding
UNIT = 2.0**-WEIGHT_BITS  # of a weight
GRID = Grid(UNIT, exact=True)
FORM = "codes"  # of values in a release
SINGLES = ("counts", "variance", "weight")


@dataclass(frozen=True)
class CodeSettings:
    """Settings of ``codes``, set on random graphs of rare codes (``benchmarks/codes.py``).

    Attributes
    ----------
    share_numbers, share_singles, share_pairs, share_held, share_again : float
        Of the budget: for the number of ones, single columns, all pairs, the number of promising pairs that rows hold,
        and promising pairs.
    again_per_column : float
        Promising pairs for each column.
    retained, retained_again : float
        Mean weight that pairs must have under the cap, and promising pairs under theirs.
    """

    share_numbers: float = 0.03
    share_singles: float = 0.12
    share_pairs: float = 0.45
    share_held: float = 0.02
    share_again: float = 0.38
    again_per_column: float = 2.5
    retained: float = 0.7
    retained_again: float = 0.9


SETTINGS = CodeSettings()


@dataclass(frozen=True, eq=False)
class CodeMeasurements:
    """What was released, and how."""

    sizes: tuple[int, ...]  # levels of each column
    rows: float  # the number of persons, public or released
    singles: Singles  # how often columns are one, with the variance of the noise
    pairs: Pairs  # how often two of them are, together
    again: tuple[tuple[int, int], ...]  # pairs of columns that were measured twice
    ones: int  # with which a row counts in full
    retained: float  # mean weight of a pair under the cap
    sd: float  # of the noise in a count of two columns
    held: int  # promising pairs with which a row counts in full
    sd_again: float  # of the noise in a count of a promising pair
    released: tuple[Released, ...] = ()  # for the statement; a release that was read has one of its own

    @cached_property
    def contrasts(self) -> CodeContrasts:
        """Correlations of the columns with the variance of their noise, as the search reads them."""
        d = len(self.sizes)
        rounds = [Round(math.comb(d, 2), self.sd**2), Round(len(self.again), self.sd_again**2)]
        twice = of_indicators(self.again, [2] * d)
        return code_contrasts(self.sizes, self.rows, self.singles, self.pairs, rounds, twice)

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as plain data for JSON."""
        upper = np.triu_indices(len(self.pairs.counts), 1)
        return {
            "form": FORM,
            "rows": self.rows,
            "sizes": list(self.sizes),
            "singles": {name: getattr(self.singles, name).tolist() for name in SINGLES},
            "pairs": {
                "counts": self.pairs.counts[upper].tolist(),
                "variance": self.pairs.variance[upper].tolist(),
            },
            "again": [list(pair) for pair in self.again],
            **{name: getattr(self, name) for name in ("ones", "retained", "sd", "held", "sd_again")},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], schema: Schema) -> CodeMeasurements:
        """Return the measurements that ``to_dict`` wrote."""
        sizes = tuple(int(size) for size in data["sizes"])
        if list(sizes) != [column.size for column in schema.values()]:
            raise ValueError("codes over other columns than the schema has")
        width, d = sum(size - 1 for size in sizes), len(sizes)
        singles = [np.asarray(data["singles"][name], np.float64) for name in SINGLES]
        upper = np.triu_indices(width, 1)
        pairs = [symmetric(data["pairs"][name], upper, width) for name in ("counts", "variance")]
        again = tuple((int(x), int(y)) for x, y in data["again"])
        if any(len(one) != width for one in singles) or not again:
            raise ValueError("codes that are not those of the columns")
        if any(not 0 <= x < y < d for x, y in again):
            raise ValueError("pairs of columns that are not there")
        numbers = {name: float(data[name]) for name in ("rows", "retained", "sd", "sd_again")}
        finite = [*singles, *pairs, np.array([*numbers.values()])]
        if not all(np.isfinite(one).all() for one in finite) or min(numbers.values()) <= 0.0:
            raise ValueError("values that are no numbers")
        return cls(
            sizes=sizes,
            rows=numbers["rows"],
            singles=Singles(*singles),
            pairs=Pairs(*pairs),
            again=again,
            ones=int(data["ones"]),
            retained=numbers["retained"],
            sd=numbers["sd"],
            held=int(data["held"]),
            sd_again=numbers["sd_again"],
        )


@dataclass(frozen=True, eq=False)
class _Spending:
    """What is measured for which part of the budget."""

    task: Task
    released: list[Released] = field(default_factory=list)

    @property
    def norm(self) -> Norm:
        """The norm of the sensitivity: l2 for Gaussian noise, l1 for Laplace noise."""
        return 2 if self.task.private_budget().total.rho > 0 else 1

    def mechanism(self, cap: int, size: int, share: float) -> Gaussian | Laplace:
        """Return the mechanism for ``size`` sums over rows with at most ``cap`` ones, for a share of the budget."""
        total, neighbours = self.task.private_budget().total, self.task.neighbours
        sensitivity = entry_sensitivity(cap, self.norm, neighbours)
        if self.norm == 2:
            rho = share * SPENT * total.rho
            return Gaussian(sensitivity=sensitivity, rho=rho, neighbours=neighbours, size=size, grid=GRID)
        epsilon = share * SPENT * total.epsilon
        return Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=neighbours, size=size, grid=GRID)

    def sd(self, cap: int, size: int, share: float) -> float:
        """Return the standard deviation of the noise of that mechanism."""
        mechanism = self.mechanism(cap, size, share)
        return mechanism.sigma if isinstance(mechanism, Gaussian) else math.sqrt(2.0) * mechanism.scale

    @proved("measure.proof.md")
    def noisy(self, label: str, cap: int, share: float, values: Floats) -> tuple[Floats, float]:
        """Charge a share of the budget, release sums with noise, and return them with its standard deviation."""
        mechanism = self.mechanism(cap, values.size, share)
        found = release(mechanism, self.task.private_budget(), label, values.ravel())
        sd = self.sd(cap, values.size, share)
        self.released.append(MeasuredTables(label, sd=sd))
        return np.asarray(found, np.float64).reshape(values.shape), sd


@proved("measure.proof.md")
def measure(task: Task, settings: CodeSettings = SETTINGS) -> CodeMeasurements:
    """Charge the budget and release capped co-occurrences, the promising pairs twice."""
    rows, spending = _rows(task), _Spending(task)
    norm, width = spending.norm, rows.rows.shape[1]
    numbers = rows.numbers()
    counts, law = _numbers(spending, "how many codes persons have", numbers, width, settings.share_numbers)
    n = float(task.n) if task.n is not None else max(float(counts.sum()), 1.0)
    typical = n * (float((law * np.arange(width + 1)).sum()) / n / width) ** 2
    size = math.comb(width, 2)
    ones = best_cap(
        law,
        lambda m: math.comb(m, 2),
        norm,
        lambda cap: spending.sd(cap, size, settings.share_pairs),
        typical,
        settings.retained,
    )
    singles = _singles(spending, rows, numbers, ones, law, settings.share_singles)
    cap = math.comb(ones, 2)
    kept = retained(law, _pairs_of(width), cap, norm)
    upper = np.triu_indices(width, 1)
    exact = rows.pairs(entry_weights(size, cap, norm)[_pairs_of(width).astype(np.int64)], numbers)
    noisy, sd = spending.noisy("pairs of codes", cap, settings.share_pairs, UNIT * exact[upper])
    share = np.clip(singles.counts / n, 0.5 / n, 1.0)
    expected = n * np.outer(share, share)
    kept_of = np.clip(kept.mean * np.outer(singles.weight, singles.weight), 0.05, 1.0)
    pairs = corrected(symmetric(noisy, upper, width), sd, kept_of, kept.spread, expected)
    sizes = [column.size for column in task.counts.schema.values()]
    d = len(sizes)
    first = code_contrasts(sizes, n, singles, pairs, [Round(math.comb(d, 2), (sd / kept.mean) ** 2)])
    chosen = _most_evidence(first, min(round(settings.again_per_column * d), math.comb(d, 2)))
    there = of_indicators(chosen, sizes)
    held_numbers = rows.numbers_of_pairs(there)
    most = int(np.triu(there).sum())
    _, held_law = _numbers(
        spending, "how many promising pairs persons have", held_numbers, most, settings.share_held, n
    )
    held = best_cap(
        held_law,
        lambda t: t,
        norm,
        lambda cap: spending.sd(cap, most, settings.share_again),
        float(expected[there].mean()),
        settings.retained_again,
        UNKNOWN_ERROR,
    )
    kept_again = retained(held_law, np.arange(most + 1, dtype=np.float64), held, norm)
    inner = np.nonzero(np.triu(there))
    exact = rows.pairs(entry_weights(most, held, norm), held_numbers)
    noisy, sd_again = spending.noisy(
        "promising pairs of codes", held, settings.share_again, UNIT * exact[inner]
    )
    again = corrected(
        symmetric(noisy, inner, width),
        sd_again,
        np.full((width, width), kept_again.mean),
        kept_again.spread,
        expected,
        UNKNOWN_ERROR,
    )
    return CodeMeasurements(
        tuple(sizes),
        n,
        singles,
        pairs.with_measured(again.counts, again.variance, there),
        tuple(chosen),
        ones=ones,
        retained=kept.mean,
        sd=sd / kept.mean,
        held=held,
        sd_again=sd_again / kept_again.mean,
        released=tuple(spending.released),
    )


@proved("measure.proof.md")
def _numbers(
    spending: _Spending, label: str, numbers: Ints, most: int, share: float, rows: float | None = None
) -> tuple[Floats, Floats]:
    """Release how many rows have which number of ones, in ranges; return it with an estimate for every number."""
    starts = number_starts(most)
    counts, sd = spending.noisy(label, 1, share, number_counts(numbers, starts))
    public = spending.task.n
    return counts, number_law(counts, starts, most, sd, rows if public is None else float(public))


@proved("measure.proof.md")
def _singles(spending: _Spending, rows: Ones, numbers: Ints, ones: int, law: Floats, share: float) -> Singles:
    """Release the counts of single columns, in rows within the cap on ones and beyond it."""
    norm, width = spending.norm, rows.rows.shape[1]
    weights = entry_weights(width, ones, norm)
    exact = rows.singles(weights, numbers, ones)
    noisy, sd = spending.noisy("single codes", ones, share, UNIT * exact)
    number = np.arange(width + 1)
    of_pair = entry_weights(math.comb(width, 2), math.comb(ones, 2), norm)[_pairs_of(width).astype(np.int64)]
    beyond = law * number * (number > ones)
    total = float(beyond.sum())
    means = [
        UNIT * float((beyond * weight).sum() / total) if total > 0 else 1.0 for weight in (weights, of_pair)
    ]
    return Singles.of(noisy, sd, (1.0, max(means[0], 0.05)), (1.0, means[1]))


def _rows(task: Task) -> Ones:
    """Return the rows as indicators (ones); refuse counts without rows."""
    if task.rows is None:
        raise InputError("codes needs the rows in memory: bring them with dc.read_codes or dc.read")
    checked_rows(task.rows.n)
    if sum(column.size > 1 for column in task.rows.schema.values()) < 2:
        raise InputError("codes needs two columns with two levels or more")
    return Ones.of(task.rows)


def _pairs_of(width: int) -> Floats:
    """Return the number of pairs of ones in a row with 0, 1, ... ``width`` ones."""
    number = np.arange(width + 1, dtype=np.float64)
    return np.asarray(number * (number - 1) / 2)


def _most_evidence(contrasts: Contrasts, number: int) -> list[tuple[int, int]]:
    """Return the ``number`` pairs of columns with the most evidence of a link."""
    evidence = contrasts.pair_evidence
    pairs = all_pairs(len(contrasts.columns))
    return sorted(sorted(pairs, key=lambda pair: (-evidence[pair], pair))[:number])


def of_indicators(pairs: Sequence[tuple[int, int]], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Return a symmetric mask of the pairs of indicators that belong to these pairs of columns."""
    places = [slice(start, stop) for start, stop in pairwise(np.cumsum([0, *(size - 1 for size in sizes)]))]
    width = places[-1].stop
    found = np.zeros((width, width), np.bool_)
    for x, y in pairs:
        found[places[x], places[y]] = True
        found[places[y], places[x]] = True
    return found


def symmetric(
    values: Sequence[float] | NDArray[np.float64], places: tuple[NDArray[np.int64], ...], width: int
) -> NDArray[np.float64]:
    """Return the symmetric matrix with these values at these places of its upper triangle."""
    found = np.zeros((width, width))
    found[places] = values
    return found + found.T
