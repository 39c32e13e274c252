"""Search for the pair of neighbours that moves a statistic most: exhaustive on few rows, hill-climb on many.

A target is a function of many tables at once, shape (B, k, r, c) -> (B, d), and the search maximises the l1
(or l2) distance of two neighbours' vectors. The values come from the shipped per-block functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpcausal.stats.kendall import concordance, kendall_terms
from dpcausal.stats.spearman import spearman_terms

Tables = NDArray[np.int64]
Values = NDArray[np.float64]
Target = Callable[[Tables], Values]


def _per_block(terms: Callable[[Tables], tuple[Values, Values]], tables: Tables) -> tuple[Values, Values]:
    """Sums over blocks of both terms, for every table."""
    flat = np.ascontiguousarray(tables.reshape(-1, *tables.shape[2:]))
    value, variance = terms(flat)
    return value.reshape(tables.shape[:2]).sum(1), variance.reshape(tables.shape[:2]).sum(1)


def _scores(tables: Tables) -> tuple[Values, Values]:
    """S and n of every block."""
    out = concordance(np.ascontiguousarray(tables.reshape(-1, *tables.shape[2:])))
    return out.reshape(tables.shape[:2]).astype(float), tables.sum(axis=(2, 3)).astype(float)


def kendall_target(
    tables: Tables, part: str = "K", weight: float = 1.0, threshold: float = 2.0, floor: float = 1.0
) -> Values:
    """K, V, (K, weight V) or q_T."""
    k, v = _per_block(kendall_terms, tables)
    margin = np.abs(k) - threshold * np.sqrt(np.maximum(v, floor))
    return np.stack({"K": (k,), "V": (v,), "KV": (k, weight * v), "q": (margin,)}[part], axis=1)


def spearman_target(tables: Tables, part: str = "F", weight: float = 1.0, floor: float = 1.0) -> Values:
    """F, U, (F, weight U), rho of one block or the ratio z."""
    f, u = _per_block(spearman_terms, tables)
    sizes = tables.sum(axis=(2, 3))
    rho = f / np.maximum(sizes.sum(1) - 1, 1)
    z = f / np.sqrt(np.maximum(np.maximum(sizes - 1, 0).sum(1), floor))
    return np.stack({"F": (f,), "U": (u,), "FU": (f, weight * u), "rho": (rho,), "z": (z,)}[part], axis=1)


def weighted_target(tables: Tables, part: str = "z", floor: float = 1.0) -> Values:
    """Numerator, z or Phi(z) of the papers' statistic; tau-a of one block."""
    s, n = _scores(tables)
    numerator, weight = (9 * s / (2 * n + 5)).sum(1), (9 * n * (n - 1) / (2 * (2 * n + 5))).sum(1)
    z = numerator / np.sqrt(np.maximum(weight, floor))
    tau = 2 * s[:, 0] / np.maximum(n[:, 0] * (n[:, 0] - 1), 2)
    return {"numerator": numerator, "z": z, "phi": ndtr(z), "tau": tau}[part][:, None]


def dropping_target(tables: Tables) -> Values:
    """z with tau-b per block, where a block constant in x or y gives NaN and is left out, as the papers' code does."""
    s, n = _scores(tables)
    x, y = ((n**2 - (tables.sum(axis=a).astype(float) ** 2).sum(2)) / 2 for a in (3, 2))
    kept = (x > 0) & (y > 0)
    tau = np.where(kept, s / np.sqrt(np.where(kept, x * y, 1.0)), 0.0)
    w = np.where(kept, 9 * n * (n - 1) / (2 * (2 * n + 5)), 0.0)
    return ((w * tau).sum(1) / np.sqrt(np.maximum(w.sum(1), 1e-9)))[:, None]


def plus_one(tables: Tables) -> Tables:
    """Every table with one row added to every cell: (B, cells, k, r, c)."""
    cells = math.prod(tables.shape[1:])
    unit = np.eye(cells, dtype=np.int64).reshape(cells, *tables.shape[1:])
    return tables[:, None] + unit[None]


def change(target: Target, tables: Tables, neighbours: str, norm: int = 1) -> Values:
    """Largest change for each table: to any table with one row more, or between any two of those (replace-one)."""
    more = plus_one(tables)
    values = target(more.reshape(-1, *tables.shape[1:])).reshape(*more.shape[:2], -1)
    if neighbours == "add-remove":
        moved: Values = np.linalg.norm(values - target(tables)[:, None], ord=norm, axis=2)
        return moved.max(1)
    if values.shape[2] == 1:
        return np.ptp(values[..., 0], axis=1)
    apart: Values = np.linalg.norm(values[:, :, None] - values[:, None], ord=norm, axis=3)
    return apart.max((1, 2))


def every_table(rows: int, k: int, r: int, c: int) -> Tables:
    """All tables of that many rows."""
    cells = k * r * c
    bars = itertools.combinations(range(rows + cells - 1), cells - 1)
    edges = np.array([(-1, *b, rows + cells - 1) for b in bars], dtype=np.int64)
    return (np.diff(edges, axis=1) - 1).reshape(-1, k, r, c)


def exhaustive(target: Target, rows: int, k: int, r: int, c: int, neighbours: str) -> float:
    """Largest change over all pairs of neighbours; the larger data set has ``rows`` rows."""
    return float(change(target, every_table(rows - 1, k, r, c), neighbours).max())


def _starts(rng: np.random.Generator, rows: int, k: int, r: int, c: int, count: int) -> Iterator[Tables]:
    """Random, sparse and ordered tables to climb from."""
    cells = k * r * c
    for i in range(count):
        table = rng.multinomial(rows, rng.dirichlet(np.full(cells, (1.0, 0.05, 0.3)[i % 3]))).reshape(k, r, c)
        if i % 3 == 2:  # one block in order, as far as the shape allows
            table = np.zeros((k, r, c), np.int64)
            line = np.minimum(np.arange(r), c - 1) if i % 2 else np.maximum(c - 1 - np.arange(r), 0)
            for block in range(k):
                table[block, np.arange(r), line] += rng.multinomial(rows // k, np.full(r, 1 / r))
            table[0, 0, 0] += rows - table.sum()
        yield table.astype(np.int64)


def climb(
    target: Target,
    rows: int,
    k: int,
    r: int,
    c: int,
    neighbours: str,
    *,
    norm: int = 1,
    starts: int = 6,
    moves: int = 40,
    seed: int = 0,
) -> tuple[float, Tables]:
    """Largest change found from tables of ``rows`` rows by moving ever smaller groups of rows, and where."""
    rng = np.random.default_rng(seed)
    cells = k * r * c
    best, where = -1.0, np.zeros((k, r, c), np.int64)
    for table in _starts(rng, rows, k, r, c, starts):
        now = float(change(target, table[None], neighbours, norm)[0])
        group = max(rows // 2, 1)
        while group >= 1:
            sources, sinks = rng.integers(cells, size=(2, moves))
            tried = np.repeat(table.reshape(1, cells), moves, axis=0)
            amount = np.minimum(group, tried[np.arange(moves), sources])
            tried[np.arange(moves), sources] -= amount
            tried[np.arange(moves), sinks] += amount
            found = change(target, tried.reshape(moves, k, r, c), neighbours, norm)
            top = int(found.argmax())
            if found[top] > now + 1e-12:
                now, table = float(found[top]), tried[top].reshape(k, r, c)
            else:
                group = group * 2 // 3
        if now > best:
            best, where = now, table
    return best, where


kendall_k = partial(kendall_target, part="K")
kendall_v = partial(kendall_target, part="V")
kendall_kv = partial(kendall_target, part="KV")
