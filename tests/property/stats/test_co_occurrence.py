"""No pair of neighbours moves capped sums by more than their sensitivity, and some come near it."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from dpcausal.counts.co_occurrence import Ones, number_counts
from dpcausal.stats.co_occurrence import WEIGHT_BITS, entry_sensitivity, entry_weights, number_starts

UNIT = 2.0**-WEIGHT_BITS
RELATIONS = ("replace-one", "add-remove")
CASES = [("numbers", 1), *(("singles", cap) for cap in (2, 3)), *(("pairs", cap) for cap in (1, 3, 6))]
CASES += [("chosen", cap) for cap in (1, 2)]
EVERY = np.array(list(product((0, 1), repeat=6)), np.uint8)


def sums(rows: np.ndarray, kind: str, cap: int, norm: int) -> np.ndarray:
    """What is given to a mechanism of a release with this cap."""
    ones, width = Ones(rows), rows.shape[1]
    numbers = ones.numbers()
    if kind == "numbers":
        starts = number_starts(width)
        return number_counts(numbers, starts)
    if kind == "singles":
        return UNIT * ones.singles(entry_weights(width, cap, norm), numbers, cap).ravel()
    upper = np.triu_indices(width, 1)
    if kind == "pairs":
        of_pairs = np.arange(width + 1) * np.arange(-1, width) // 2
        return UNIT * ones.pairs(entry_weights(comb(width, 2), cap, norm)[of_pairs], numbers)[upper]
    chosen = np.zeros((width, width), bool)
    chosen[0, 1:] = chosen[1, 2:4] = chosen[4, 5] = True
    chosen |= chosen.T
    held = ones.numbers_of_pairs(chosen)
    return (
        UNIT * ones.pairs(entry_weights(int(chosen.sum()) // 2, cap, norm), held)[np.nonzero(np.triu(chosen))]
    )


def moved(kind: str, cap: int, norm: int, relation: str) -> float:
    """The largest distance between neighbours, over all rows of six columns."""
    base = EVERY[[3, 21, 40]]
    start = sums(base, kind, cap, norm)
    added = [sums(np.vstack((base, row)), kind, cap, norm) - start for row in EVERY]
    apart = added if relation == "add-remove" else [a - b for a in added for b in added]
    return max(float(np.linalg.norm(one, norm)) for one in apart)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("kind", "cap"), CASES)
def test_all_neighbours_of_six_columns(kind: str, cap: int, norm: int, relation: str) -> None:
    most = entry_sensitivity(cap, norm, relation)  # type: ignore[arg-type]
    found = moved(kind, cap, norm, relation)
    assert found <= most
    assert found > 0.7 * most  # a constant that is 30% too small would be seen


def test_weights_are_rounded_down_and_never_pass_the_cap() -> None:
    one = 1 << WEIGHT_BITS
    for cap in (1, 2, 7, 45, 190):
        s = np.arange(5000)
        squared, plain = entry_weights(4999, cap, 2), entry_weights(4999, cap, 1)
        assert int((s * squared**2).max()) <= one * one * cap
        assert int((s * plain).max()) <= one * cap
        assert (squared[: cap + 1] == one).all()
        assert (plain[: cap + 1] == one).all()
        assert float((s * squared**2)[cap:500].min()) > 0.95 * one * one * cap


def test_sums_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(8)
    rows = (rng.random((5000, 9)) < 0.3).astype(np.uint8)
    ones, weights = Ones(rows), entry_weights(9, 2, 2)
    numbers = ones.numbers()
    slow = np.zeros((9, 9), np.int64)
    beyond = np.zeros((2, 9), np.int64)
    for row in rows.astype(np.int64):
        slow += int(weights[row.sum()]) * np.outer(row, row)
        beyond[int(row.sum() > 3)] += int(weights[row.sum()]) * row
    assert (ones.pairs(weights, numbers) == slow).all()
    assert (ones.singles(weights, numbers, 3) == beyond).all()
