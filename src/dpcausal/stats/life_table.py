"""Cumulative risks by a life table of noisy counts: the sums of two arms that ``standardise.py`` turns into intervals.

**Formula.** Follow-up is cut into intervals j = 1..J up to a horizon. Of the rows of an arm in a stratum, d_j have the
event in interval j, c_j a competing event, w_j are censored there, and the others are followed beyond the horizon. With
n_j the rows still followed when interval j begins, the actuarial convention takes a censored row as at risk for half of
its interval:

    r_j = n_j - w_j / 2,   q_j = d_j / r_j,   p_j = (d_j + c_j) / r_j,
    F_k = sum_{j <= k} q_j prod_{i < j} (1 - p_i)                          (Aalen and Johansen, on intervals)

F_k is the risk of the event by the end of interval k, where competing events happen as they do. Without competing
events it is one minus the product-limit estimate on these intervals; without censoring, the share with the event.

**Variance.** F is a smooth function of the cells x of degree 0, so that N (F - mu) has the variance N^2 v sum g^2 by
noise and N^2 sum g^2 x by sampling, g being its derivative by a cell (multinomial delta method; without noise and
competing events, Greenwood's formula). ``life_table_arms`` writes the first as the noise of S - mu N, S = N F, whose
form in mu is that of events weighted by N prod (1 - p) / r, and the second as f N mu (1 - mu).

**Guarantee** None of its own: post-processing of a released table.

**Where it fails.** Few rows at risk late in the follow-up make F wild; the noise of such a stratum is then large beside
its rows, and ``standardise.supported`` leaves it out. Censoring that depends on what the strata do not hold biases F,
and so does censoring that is uneven within an interval; shorter intervals help against the second.

**Cost** O(strata x cells). **Edge cases**: fewer than ``FEWEST`` rows at risk, or less than half the deviation of their
noise, are taken to be that many.

References: Cutler & Ederer 1958 (actuarial life table); Aalen & Johansen 1978; Greenwood 1926.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.stats.standardise import MIN_FACTOR, MIN_STRATUM, Arms

Floats = NDArray[np.float64]
FEWEST = 1.0  # rows at risk
LEAST_SURVIVAL = 0.02  # of an interval: 1 - p
MOST_FACTOR = 100.0  # of f: censoring leaves few rows to say what many would
EDGE = 2.0  # rows that a risk of 0 or 1 is drawn in by, where f divides by its variance


class StatesTable(NamedTuple):
    """Noisy counts of strata, two arms and the states of a follow-up."""

    cells: Floats  # (strata, 2, states)
    others: Floats | None  # rows of each stratum in neither arm
    variance: float  # of the noise of a cell
    kurtosis: float
    rows: float


class Risks(NamedTuple):
    """Cumulative risks of every stratum and arm at the end of each interval, and their derivative by the cells."""

    values: Floats  # (strata, 2, intervals)
    gradient: Floats  # (strata, 2, intervals, cells)


def cumulative_risks(cells: Floats, kinds: int, noise: float = 0.0) -> Risks:
    """Return the cumulative risks of a table of states.

    Parameters
    ----------
    cells : array
        Shape (strata, 2, intervals x kinds + 1): for each interval the rows with the event, with a competing event
        (where ``kinds`` is 3) and the censored ones, then the rows followed beyond the horizon.
    kinds : int
        2, or 3 where there are competing events.
    noise : float
        Variance of the noise of a cell.

    Examples
    --------
    Of 100 rows 20 have the event and 10 are censored in the first interval, 14 and 0 in the second: 20/95 and 14/70.

    >>> cells = np.array([[[20.0, 10, 14, 0, 56], [0, 0, 0, 0, 100]]])
    >>> cumulative_risks(cells, 2).values[0, 0].round(4).tolist()
    [0.2105, 0.3684]
    """
    size = cells.shape[-1]
    steps = (size - 1) // kinds
    values = np.empty((*cells.shape[:-1], steps))
    gradient = np.zeros((*cells.shape[:-1], steps, size))
    alive = np.ones(cells.shape[:-1])
    of_alive = np.zeros(cells.shape)
    risk, of_risk = np.zeros_like(alive), np.zeros(cells.shape)
    for j in range(steps):
        first = kinds * j
        at_risk = cells[..., first:].sum(axis=-1) - cells[..., first + kinds - 1] / 2
        floor = max(FEWEST, 0.5 * math.sqrt(noise * (size - first)))
        free = at_risk > floor
        at_risk = np.maximum(at_risk, floor)
        of_at_risk = np.zeros(size)
        of_at_risk[first:] = 1.0
        of_at_risk[first + kinds - 1] = 0.5
        hazard, of_hazard = [], []
        for last in (first + 1, first + kinds - 1):  # the event, and all events
            ended = cells[..., first:last].sum(axis=-1) / at_risk
            slope = -np.where(free, ended, 0.0)[..., None] * of_at_risk
            slope[..., first:last] += 1.0
            hazard.append(ended)
            of_hazard.append(slope / at_risk[..., None])
        risk = risk + alive * hazard[0]
        of_risk = of_risk + alive[..., None] * of_hazard[0] + hazard[0][..., None] * of_alive
        values[..., j], gradient[..., j, :] = risk, of_risk
        on = np.maximum(1.0 - hazard[1], LEAST_SURVIVAL)
        of_alive = of_alive * on[..., None] - alive[..., None] * of_hazard[1]
        alive = alive * on
    return Risks(values, gradient)


def life_table_arms(
    cells: Floats,
    others: Floats | None,
    kinds: int,
    variance: float,
    rows: float,
    kurtosis: float = 0.0,
    *,
    until: int | None = None,
) -> Arms:
    """Return the sums of two arms whose means are the cumulative risks at the end of interval ``until`` (the last).

    ``cells`` are as in ``cumulative_risks``, with independent noise of this variance and excess kurtosis; ``others``
    are rows of each stratum in neither arm.
    """
    strata, size = len(cells), cells.shape[-1]
    found = cumulative_risks(cells, kinds, variance)
    last = found.values.shape[-1] if until is None else until
    risk, slope = found.values[..., last - 1], found.gradient[..., last - 1, :]
    counts = cells.sum(axis=-1)
    size_of = np.maximum(counts, max(FEWEST, 0.5 * math.sqrt(size * variance)))
    weights = np.maximum(slope[..., : kinds * last : kinds] * size_of[..., None] + risk[..., None], 0.0)
    noise = variance * np.stack(
        [np.full(counts.shape, float(size)), (weights**2).sum(axis=-1), weights.sum(axis=-1)]
    )
    shape = noise[1] - 2 * risk * noise[2] + risk**2 * noise[0]
    exact = variance * size_of**2 * (slope**2).sum(axis=-1)
    scale = np.divide(exact, shape, out=np.ones_like(exact), where=shape > 0)
    noise *= np.maximum(scale, 1.0)
    edge = EDGE / (size_of + 2 * EDGE)
    inside = np.clip(risk, edge, 1 - edge)
    drawn = size_of * (slope**2 * np.maximum(cells, 0.0)).sum(axis=-1) / (inside * (1 - inside))
    return Arms(
        counts=counts,
        sums=counts * risk,
        others=np.zeros(strata) if others is None else np.asarray(others, float),
        count_noise=noise[0],
        sum_noise=noise[1],
        cross_noise=noise[2],
        other_noise=np.full(strata, 0.0 if others is None else variance),
        rows=max(float(rows), 1.0),
        factor=np.clip(drawn, MIN_FACTOR, MOST_FACTOR),
        kurtosis=kurtosis,
    )


def small_strata_as_one(
    cells: Floats, others: Floats | None, variance: float
) -> tuple[Floats, Floats | None, NDArray[np.intp]]:
    """Return the table with strata that are smaller than their noise made one, and the new place of every stratum."""
    strata = len(cells)
    sizes = cells.sum(axis=(1, 2)) + (0.0 if others is None else others)
    noise = variance * (2 * cells.shape[-1] + (others is not None))
    small = sizes < MIN_STRATUM * math.sqrt(noise)
    if small.sum() < 2:
        return cells, others, np.arange(strata)
    place = np.where(small, int((~small).sum()), np.cumsum(~small) - 1)
    merged = np.zeros((int(place.max()) + 1, *cells.shape[1:]))
    np.add.at(merged, place, cells)
    rest = None if others is None else np.asarray(np.bincount(place, weights=others), float)
    return merged, rest, np.asarray(place, np.intp)
