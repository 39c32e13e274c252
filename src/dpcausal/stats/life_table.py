"""Cumulative risks by a life table of noisy counts: what each state counts, for the models of ``strata.py``.

**Formula.** Follow-up is cut into intervals j = 1..J up to a horizon. Of the rows of an arm in a stratum, d_j have the
event in interval j, c_j a competing event, w_j are censored there, and the others are followed beyond the horizon. With
n_j the rows still followed when interval j begins, the actuarial convention takes a censored row as at risk for half of
its interval:

    r_j = n_j - w_j / 2,   q_j = d_j / r_j,   p_j = (d_j + c_j) / r_j,
    F_k = sum_{j <= k} q_j prod_{i < j} (1 - p_i)                          (Aalen and Johansen, on intervals)

F_k is the risk of the event by the end of interval k, where competing events happen as they do. Without competing
events it is one minus the product-limit estimate on these intervals; without censoring, the share with the event.

**Scores** (``scored``). F is a smooth function of the cells x of degree 0, with derivative g, so that about a table u

    N F(x) ~ sum over states s of x_s phi_s,       phi_s = F(u) + N_u g_s(u),       N = sum x_s.

With u = x this is the life table itself. phi_s are then pseudo-observations of a row in state s (Andersen, Klein and
Rosthoj 2003), their variance is that of Greenwood, and a table of states is one of events of which a row in state s
counts phi_s. The table u of a stratum is its own, drawn to that of its arm where noise is not small beside its rows:
quotients of noisy cells are biased, and sums are not.

**Guarantee** None of its own: post-processing of a released table.

**Where it fails.** Few rows at risk late in the follow-up make F wild. Censoring that depends on what the strata do not
hold biases F, and so does censoring that is uneven within an interval; shorter intervals help against the second. Where
noise draws u to the arm, censoring that differs between strata with the risk biases F by the product of both.

**Cost** O(strata x cells). **Edge cases**: fewer than ``FEWEST`` rows at risk, or less than half the deviation of their
noise, are taken to be that many.

References: Cutler & Ederer 1958 (actuarial life table); Aalen & Johansen 1978; Greenwood 1926; Andersen, Klein &
Rosthoj 2003 (pseudo-observations).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpcausal.stats.standardise import MIN_FACTOR, Arms, arms_of_cells
from dpcausal.stats.strata import StrataTable

Floats = NDArray[np.float64]
FEWEST = 1.0  # rows at risk
LEAST_SURVIVAL = 0.02  # of an interval: 1 - p
MOST_FACTOR = 100.0  # of f: censoring leaves few rows to say what many would
OWN = 100.0  # variances of the noise of its rows at which a stratum's life table is half its own
SEEN = 2.0  # deviations of noise above which rows are seen to be there
EDGE = 2.0  # rows that a risk of 0 or 1 is drawn in by, where f divides by its variance


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


def is_followed(table: StrataTable, kinds: int) -> bool:
    """Return whether rows of both arms are seen to be at risk when the last interval begins, beyond noise.

    >>> is_followed(StrataTable(np.array([[[20.0, 80, 0, 0, 0], [20.0, 0, 10, 0, 70]]]), (), 0.0), 2)
    False
    """
    last = table.cells[..., -(kinds + 1) :]
    at_risk = last.sum(axis=(0, -1))
    deviation = math.sqrt(table.noise * len(table.cells) * last.shape[-1])
    return bool((at_risk >= max(FEWEST, SEEN * deviation)).all())


def scored(table: StrataTable, kinds: int, until: int | None = None) -> StrataTable:
    """Return the table with scores for each state, so that means are risks at the end of interval ``until``.

    >>> cells = np.array([[[20.0, 10, 14, 0, 56], [20.0, 0, 0, 0, 80]]])
    >>> found = scored(StrataTable(cells, (), 0.0), 2)
    >>> ((cells * found.scores).sum(axis=2) / cells.sum(axis=2)).round(4).tolist()
    [[0.3684, 0.2]]
    """
    last = (table.cells.shape[-1] - 1) // kinds if until is None else until
    arms = table.cells.sum(axis=0, keepdims=True)
    counts, of_arms = (np.maximum(one.sum(axis=-1, keepdims=True), FEWEST) for one in (table.cells, arms))
    noise = OWN * table.noise * table.cells.shape[-1]
    trust = counts**2 / (counts**2 + noise)
    own = (
        table.cells if len(table.cells) == 1 else trust * table.cells + (1 - trust) * counts * arms / of_arms
    )
    scores, _ = _scores(own, kinds, table.noise, last)
    pooled, risk = _scores(arms, kinds, table.noise * len(table.cells), last)
    share = np.maximum(arms, 0.0) / np.maximum(arms, 0.0).sum(axis=-1, keepdims=True)
    edge = EDGE / (of_arms[..., 0] + 2 * EDGE)
    inside = np.clip(risk, edge, 1 - edge)
    spread = np.sum(share * (pooled - inside[..., None]) ** 2, axis=-1) / (inside * (1 - inside))
    first, second = np.clip(spread, MIN_FACTOR, MOST_FACTOR)[0]
    return replace(table, scores=scores, factor=(float(first), float(second)))


def _scores(cells: Floats, kinds: int, noise: float, last: int) -> tuple[Floats, Floats]:
    """Return the score phi of every stratum, arm and state, and the cumulative risks F."""
    found = cumulative_risks(cells, kinds, noise)
    risk, slope = found.values[..., last - 1], found.gradient[..., last - 1, :]
    count = np.maximum(cells.sum(axis=-1), FEWEST)
    return risk[..., None] + count[..., None] * slope, risk


def exact_arms(table: StrataTable, kinds: int, until: int | None = None) -> Arms:
    """Return the sums of two arms whose means are the cumulative risks, of a table without noise."""
    last = (table.cells.shape[-1] - 1) // kinds if until is None else until
    scores, risk = _scores(table.cells, kinds, 0.0, last)
    counts = table.cells.sum(axis=-1)
    edge = EDGE / (counts + 2 * EDGE)
    inside = np.clip(risk, edge, 1 - edge)
    drawn = np.sum(table.cells * (scores - risk[..., None]) ** 2, axis=-1) / np.maximum(counts, FEWEST)
    found = arms_of_cells(
        np.stack([counts - counts * risk, counts * risk], axis=-1),
        table.others,
        np.array([0.0, 1.0]),
        0.0,
        1.0,
    )
    rows = max(float(found.sizes.sum()), 1.0)
    return replace(found, rows=rows, factor=np.clip(drawn / (inside * (1 - inside)), MIN_FACTOR, MOST_FACTOR))
