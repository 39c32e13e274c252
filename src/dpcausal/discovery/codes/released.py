"""What ``codes`` released, from which correlations follow: it can be searched again at no cost.

Estimates of how often columns, and two together, are one, with the variance of their noise. They are functions of
released values and public numbers, so that keeping and searching them costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.statement import Released
from dpcausal.data.schema import Schema
from dpcausal.stats.co_occurrence import CodeContrasts, Pairs, Singles, code_contrasts
from dpcausal.stats.contrasts import Round

FORM = "codes"  # of values in a release
SINGLES = ("counts", "variance", "weight")


@dataclass(frozen=True, eq=False)
class CodeMeasurements:
    """What was released, and how.

    Attributes
    ----------
    sizes : tuple of int
        Levels of each column.
    rows : float
        The number of persons, public or released.
    singles, pairs : Singles, Pairs
        How often columns, and two of them together, are one, with the variance of their noise.
    again : tuple of pairs
        Pairs of columns that were measured twice.
    ones, held : int
        The ones, and the promising pairs, with which a row counts in full.
    retained : float
        Mean weight of a pair under the cap.
    sd, sd_again : float
        Standard deviation of the noise in a count of two columns, and in one of a promising pair.
    released : tuple of Released
        For the privacy statement; empty where read from a file, whose statement says it.
    """

    sizes: tuple[int, ...]
    rows: float
    singles: Singles
    pairs: Pairs
    again: tuple[tuple[int, int], ...]
    ones: int
    retained: float
    sd: float
    held: int
    sd_again: float
    released: tuple[Released, ...] = ()

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
