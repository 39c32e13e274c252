"""Rows with few ones: co-occurrences of rare yes/no columns under a cap, and correlations from them with noise.

**Cap.** Of a statistic a row has s entries that are one: columns (s = m ones), pairs of them (s = m (m - 1)/2) or
pairs among chosen ones. Each counts with the weight

    w(s) = 1 where s <= cap,    else sqrt(cap/s) for the l2 norm, cap/s for the l1 norm,

rounded down to a multiple of 2^-10. So a row with many ones counts for as much as one with ``cap`` entries, spread over
all of its entries; nothing is drawn at random.

**Guarantee** (``co_occurrence.proof.md``). Sums over rows have l2 sensitivity sqrt(cap) (add-remove) or sqrt(2 cap)
(replace-one), and l1 sensitivity cap or 2 cap. The rest is post-processing of released values.

**Formula.** C_ab counts rows in which a and b are one, a row with more pairs than the cap with a weight w below 1. What
a weight takes away is part of the model: with the released law h of the number of ones m, s = m (m - 1)/2,

    retained = sum h(m) s w(s) / sum h(m) s

is the mean weight of a pair. Given a and b, where both are independent of each other, m has the law h(m) s if ones
come independently, also where persons differ in how many they have. Codes that come with many others have a smaller
weight: rows beyond the cap hold a larger part of their ones. With r_a the mean weight of the rows of a, by its ones
within and beyond the cap, and r that of all ones,

    retained_ab = retained r_a r_b / r^2,    N_ab ~ C_ab / retained_ab

and K_ab is the correlation (N_ab/n - p_a p_b) / sqrt(p_a q_a p_b q_b). Columns of several levels have one indicator a
level, but for the first.

**Variance** of N_ab where a and b are independent: noise; that of p_a p_b, from the noise in single columns; of the
model, a part of (1 - retained) n p_a p_b, squared; and of sampling, n p_a p_b. Counts are skewed where few are
expected, so that of sampling and noise is the squared mean of the two roots that belong to the expected and the
released count: the difference over it is what the roots differ by, which is nearly normal [1].

References: [1] Murtagh, Starck & Bijaoui 1995 (a root that makes a Poisson count with normal noise nearly normal).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.neighbours import Neighbours
from dpcausal.core.proofs import proved
from dpcausal.stats.contrasts import Contrasts, Features, Round, least_detectable, least_detectable_in_rounds

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Norm = Literal[1, 2]

WEIGHT_BITS = 10  # a weight is a multiple of 2 to minus this

MODEL_ERROR = 0.25  # of what is not retained: how well it is known of a pair, by the rows of its two columns
UNKNOWN_ERROR = 1.0  # the same where all that is known is the mean over pairs
MIN_RETAINED = 0.05  # of a pair, so that nothing is divided by less
SHOWN = 3.0  # standard deviations of noise that a count of a tail of rows must pass
SINGLE_STARTS, WIDER = 10, 1.2  # numbers of ones counted one by one, and how much wider each further range is
MAX_CAP_TRIED = 400
STEP = 0.03  # of the logarithm of a variance, in what is detectable
Z95 = 1.959963984540054


@proved("co_occurrence.proof.md")
def entry_weights(most: int, cap: int, norm: Norm) -> Ints:
    """Return the weight of each entry of a row with 0 to ``most`` entries, in units of 2^-``WEIGHT_BITS``.

    >>> entry_weights(4, 1, 2).tolist(), entry_weights(4, 1, 1).tolist()
    ([1024, 1024, 724, 591, 512], [1024, 1024, 512, 341, 256])
    """
    one = 1 << WEIGHT_BITS
    if norm == 2:
        clipped = [math.isqrt(one * one * cap // s) for s in range(cap + 1, most + 1)]
    else:
        clipped = [one * cap // s for s in range(cap + 1, most + 1)]
    return np.array(([one] * (cap + 1) + clipped)[: most + 1], np.int64)


@proved("co_occurrence.proof.md")
def entry_sensitivity(cap: int, norm: Norm, neighbours: Neighbours | str) -> float:
    """Return the sensitivity, in rows, of sums of entries weighted by ``entry_weights``.

    >>> entry_sensitivity(8, 2, "replace-one"), entry_sensitivity(8, 1, "add-remove")
    (4.0, 8.0)
    """
    total = cap if Neighbours.parse(neighbours) is Neighbours.ADD_REMOVE else 2 * cap
    if norm == 1:
        return float(total)
    root = math.sqrt(total)
    while Fraction(root) ** 2 < total:
        root = math.nextafter(root, math.inf)
    return root


def number_starts(most: int) -> list[int]:
    """Return where the ranges begin into which numbers of ones from 0 to ``most`` are grouped: public.

    >>> number_starts(16)
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15]
    """
    starts, width = list(range(min(SINGLE_STARTS, most) + 1)), 1.0
    while True:
        width = max(width * WIDER, starts[-1] * (WIDER - 1))
        if starts[-1] + math.ceil(width) > most or most <= SINGLE_STARTS:
            return starts
        starts.append(starts[-1] + math.ceil(width))


def number_law(counts: Floats, starts: Sequence[int], most: int, sd: float, rows: float | None) -> Floats:
    """Return the estimated number of rows with 0 to ``most`` ones, from noisy counts of ranges.

    A tail that noise could make is left out: no row has so many ones, then. ``rows``: their public number, if it is.
    """
    shown = np.flatnonzero(counts > SHOWN * sd)
    kept = np.maximum(counts, 0.0)
    kept[(int(shown[-1]) if len(shown) else 0) + 1 :] = 0.0
    widths = np.diff([*starts, most + 1])
    law = np.repeat(kept / widths, widths)
    total = max(float(law.sum()), 1.0)
    return np.asarray(law * ((max(float(counts.sum()), 1.0) if rows is None else rows) / total))


class Retained(NamedTuple):
    """The mean weight of an entry, and its mean squared weight over the square of that."""

    mean: float
    spread: float


def retained(law: Floats, entries: Floats, cap: int, norm: Norm) -> Retained:
    """Return the mean weight that entries of rows retain under a cap.

    >>> retained(np.array([0.0, 0.0, 5.0, 5.0]), np.array([0.0, 0.0, 1.0, 3.0]), 3, 2)
    Retained(mean=1.0, spread=1.0)
    """
    weights = entry_weights(int(entries[-1]), cap, norm)[entries.astype(np.int64)] / (1 << WEIGHT_BITS)
    total = float((law * entries).sum())
    if total <= 0.0:
        return Retained(1.0, 1.0)
    mean = max(float((law * entries * weights).sum()) / total, MIN_RETAINED)
    return Retained(mean, max(float((law * entries * weights**2).sum()) / total / mean**2, 1.0))


def best_cap(
    law: Floats,
    entries_of: Callable[[int], int],
    norm: Norm,
    noise: Callable[[int], float],
    expected: float,
    least_retained: float,
    error: float = MODEL_ERROR,
) -> int:
    """Return the cap (number of entries with full weight) at which pairs are estimated best.

    ``noise``: its standard deviation by the number of entries that count in full. ``expected``: rows in which a pair
    is one, about. At least ``least_retained`` of the entries must be; ``error``: how well the rest is known of a pair.
    All of it was released or is public.
    """
    entries = np.array([entries_of(m) for m in range(len(law))], np.float64)
    best, least = 0, math.inf
    last = int(np.flatnonzero(law > 0.0)[-1]) if (law > 0.0).any() else 0
    for number in range(1, min(max(last, 1), MAX_CAP_TRIED) + 1):
        cap = entries_of(number)
        if cap < 1:
            continue
        kept = retained(law, entries, cap, norm)
        variance = (
            (noise(cap) / kept.mean) ** 2
            + kept.spread * expected
            + (error * (1.0 - kept.mean) * expected) ** 2
        )
        if (kept.mean >= least_retained and variance < least) or best == 0:
            best, least = number, variance if kept.mean >= least_retained else math.inf
    return best if best else next(m for m in range(1, 3) if entries_of(m) > 0)


@dataclass(frozen=True, eq=False)
class Singles:
    """How often each indicator is one: counts, the variance of their noise, and the mean weight of their rows."""

    counts: Floats
    variance: Floats
    weight: Floats  # relative to that of all ones

    @classmethod
    def of(
        cls, released: Floats, sd: float, of_ones: tuple[float, float], of_pairs: tuple[float, float]
    ) -> Singles:
        """Return estimated counts of single indicators from released counts within and beyond the cap.

        ``of_ones`` and ``of_pairs`` are mean weights of a one and of a pair in rows within and beyond the cap.
        """
        scale = np.array(of_ones)[:, None]
        parts = released / scale
        variances = (sd / scale) ** 2
        counts = parts.sum(axis=0)
        variance = np.full(counts.shape, float(variances.sum()))
        positive = np.maximum(parts, 0.0)
        total = np.maximum(positive.sum(axis=0), sd)
        weights = np.array(of_pairs)[:, None]
        mean = float((positive.sum(axis=1) * weights[:, 0]).sum() / max(positive.sum(), 1.0))
        each = (positive * weights).sum(axis=0) / total
        noise = (variances * (weights - each) ** 2).sum(axis=0) / total**2
        spread = max(float(np.mean((each - mean) ** 2 - noise)), 0.0)
        drawn = mean + (each - mean) * spread / np.maximum(spread + noise, 1e-12)
        return cls(
            counts, variance, np.clip(drawn / max(mean, MIN_RETAINED), MIN_RETAINED, 1.0 / MIN_RETAINED)
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Estimates of how often two indicators are one together, (d, d), and the variance of their noise."""

    counts: Floats
    variance: Floats

    def with_measured(self, counts: Floats, variance: Floats, chosen: NDArray[np.bool_]) -> Pairs:
        """Return the pairs with a second measurement of chosen ones, averaged by inverse variance."""
        part = self.variance / (self.variance + variance)
        return Pairs(
            np.where(chosen, part * counts + (1.0 - part) * self.counts, self.counts),
            np.where(chosen, part * variance, self.variance),
        )


def corrected(
    released: Floats, sd: float, kept: Floats, spread: float, expected: Floats, error: float = MODEL_ERROR
) -> Pairs:
    """Return estimated counts of pairs from weighted ones, divided by the mean weight ``kept``."""
    more = (error * (1.0 - kept) * expected) ** 2 + (spread - 1.0) * expected
    return Pairs(released / kept, (sd / kept) ** 2 + np.maximum(more, 0.0))


@dataclass
class CodeContrasts(Contrasts):
    """Correlations of hundreds of columns: what is detectable is computed for all pairs at once.

    Attributes
    ----------
    again : (d, d) array or None
        Which pairs were measured twice.
    scale : (d,) array
        Squared relative error of the share of each column, from noise.
    """

    again: NDArray[np.bool_] | None = None
    scale: Floats = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def _variances(self) -> tuple[Floats, Floats]:
        """Variances of an entry of each pair under independence: as measured, and if measured twice."""
        assert self.of_singles is not None
        assert self.again is not None
        gains = np.concatenate([one.gains for one in self.columns])
        second = self.rounds[1].variance * np.outer(gains, gains) / self.rows**2
        first = np.maximum(self.noise - self.of_singles, 1e-300)
        now = self.noise + 1.0 / self.rows
        then = self.of_singles + 1.0 / (1.0 / first + 1.0 / second) + 1.0 / self.rows
        members = self._members
        entries = np.maximum(members.sum(axis=0), 1.0)
        blocks = [np.outer(entries, entries) / (members.T @ (1.0 / one) @ members) for one in (now, then)]
        return blocks[0], np.where(self.again, blocks[0], blocks[1])

    def detectable(self, x: int, y: int, given: tuple[int, ...], threshold: float) -> float:
        """Return the dependence w whose evidence exceeds ``threshold`` in ``POWER`` of runs."""
        now, then = (float(one[x, y]) for one in self._variances)
        variance = float(self.evidence_given([(x, y, given)])[0, 1]) if given else now
        entries = len(self.columns[x].gains) * len(self.columns[y].gains)
        if not 0.0 < variance < math.inf or entries == 0:
            return math.inf
        steps = [math.ceil(math.log(one) / STEP) for one in (variance, variance * then / now)]
        return _detectable(*steps, entries, self._promising, threshold)


@lru_cache(maxsize=1 << 14)
def _detectable(now: int, then: int, entries: int, promising: float, threshold: float) -> float:
    """Return the detectable dependence for variances given as steps on a log scale."""
    first, final = math.exp(now * STEP), math.exp(then * STEP)
    if now == then:
        return least_detectable(first, entries, threshold)
    return least_detectable_in_rounds(first, final, entries, promising, threshold)


def code_contrasts(
    sizes: Sequence[int],
    rows: float,
    singles: Singles,
    pairs: Pairs,
    rounds: Sequence[Round],
    again: NDArray[np.bool_] | None = None,
) -> CodeContrasts:
    """Return the estimated correlations of all columns with the variance of their noise.

    ``rounds``: how pairs of columns were measured, with the variance of the noise in a count; ``again``: those twice.
    """
    starts = np.cumsum([0, *(size - 1 for size in sizes)])
    columns, turn = [], np.zeros((starts[-1], starts[-1]))
    share = np.empty(starts[-1])
    for start, stop in pairwise(starts):
        own = singles.counts[start:stop]
        made = Features.of(np.r_[rows - own.sum(), own], rows, float(singles.variance[start:stop].mean()))
        steps = made.scores[1:] - made.scores[0]
        turn[start:stop, start:stop] = steps
        share[start:stop] = made.proportions[1:]
        columns.append(replace(made, gains=(steps**2).sum(axis=0) / 2.0))
    expected = rows * np.outer(share, share)
    of_share = singles.variance * share[:, None] ** 2
    of_singles = of_share + of_share.T
    root = np.sqrt(np.maximum(pairs.counts + pairs.variance, 0.0) + 0.375)
    skew = ((root + np.sqrt(expected + pairs.variance + 0.375)) / 2.0) ** 2 - expected - pairs.variance
    variance = pairs.variance + np.maximum(skew, 0.0)
    covariance = turn.T @ (pairs.counts / rows - expected / rows) @ turn
    squared = turn**2
    noise = squared.T @ ((variance + of_singles) / rows**2) @ squared
    singles_noise = squared.T @ (of_singles / rows**2) @ squared
    for start, stop in pairwise(starts):
        covariance[start:stop, start:stop] = np.eye(stop - start)
        noise[start:stop, start:stop] = singles_noise[start:stop, start:stop] = 0.0
    error = singles.variance / np.maximum(rows * share, 1.0) ** 2
    scale = np.array([float(error[start:stop].max(initial=0.0)) for start, stop in pairwise(starts)])
    scaled = [one._replace(variance=4.0 * one.variance) for one in rounds]  # as of an interaction
    return CodeContrasts(
        columns, rows, covariance, noise, singles_noise, tuple(scaled), again=again, scale=scale
    )


def link_strength(contrasts: CodeContrasts, x: int, y: int) -> tuple[float, float, float, int]:
    """Return Cohen's w of two columns, its 95% interval, and its sign where both have two levels.

    The variance of an entry has the noise in the pair and that of sampling, and the noise in the two single columns,
    which scales w.
    """
    block = np.ix_(contrasts.places[x], contrasts.places[y])
    values = contrasts.covariance[block]
    variance = contrasts.noise[block] + 1.0 / contrasts.rows
    total = float((values**2).sum())
    excess = total if values.size == 1 else max(total - float(variance.sum()), 0.0)
    w = math.sqrt(excess)
    spread = float((values**2 * variance).sum()) / max(total, 1e-300)
    scale = sum(float(one) for one in (contrasts.scale[x], contrasts.scale[y]))
    half = Z95 * math.sqrt(spread + w**2 * scale / 4.0)
    sign = 0 if values.size > 1 else int(math.copysign(1, float(values[0, 0])))
    return min(w, 1.0), max(w - half, 0.0), min(w + half, 1.0), sign
