"""Kendall's and Spearman's terms of many small tables in one pass, O(cells)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcausal.core.compiled import jit


@jit()
def _margins(table: Any, rows: Any, columns: Any) -> int:
    """Fill the two margins of ``table``; its total."""
    columns[:] = 0
    total = 0
    for i in range(table.shape[0]):
        row = 0
        for j in range(table.shape[1]):
            count = table[i, j]
            row += count
            columns[j] += count
        rows[i] = row
        total += row
    return total


@jit()
def _unequal(counts: Any, n: int) -> tuple[float, float]:
    """Share of pairs, and of triples, of n >= 2 points that are not all in one level (triples: 0 if n < 3)."""
    pairs, triples = 0.0, 0.0
    for t in counts:
        pair = float(t) * (t - 1)
        pairs += pair
        triples += pair * (t - 2)
    every = float(n) * (n - 1)
    return 1.0 - pairs / every, (1.0 - triples / (every * (n - 2)) if n > 2 else 0.0)


@jit()
def concordance(blocks: Any, out: Any) -> None:
    """``out[i]`` = S of block i: concordant minus discordant pairs."""
    r, c = blocks.shape[1], blocks.shape[2]
    above = np.zeros(c, np.int64)  # column counts of the rows passed
    for b in range(blocks.shape[0]):
        above[:] = 0
        passed = 0
        score = 0
        for i in range(r):
            left = 0
            added = 0
            for j in range(c):
                count = blocks[b, i, j]
                score += count * (2 * left + above[j] - passed)  # left of j minus right of j
                left += above[j]
                above[j] += count
                added += count
            passed += added
        out[b] = score


@jit()
def kendall_terms(blocks: Any, value: Any, variance: Any) -> None:
    """``value[i]`` = S_i/n_i and ``variance[i]`` = Var_perm(S_i)/n_i^2; both 0 where n_i < 2."""
    k, r, c = blocks.shape
    rows, columns = np.zeros(r, np.int64), np.zeros(c, np.int64)
    scores = np.zeros(k, np.int64)
    concordance(blocks, scores)
    for b in range(k):
        n = _margins(blocks[b], rows, columns)
        value[b], variance[b] = 0.0, 0.0
        if n < 2:
            continue
        value[b] = scores[b] / n
        x2, x3 = _unequal(rows, n)
        y2, y3 = _unequal(columns, n)
        variance[b] = (n - 1) / n * ((n - 2) * x3 * y3 / 9 + x2 * y2 / 2)


@jit()
def _scores(counts: Any, n: int, out: Any) -> float:
    """``out[a]`` = points below minus points above level a; returns 1 - sum (t/n)^3."""
    below = 0
    cubes = 0.0
    for a in range(counts.shape[0]):
        out[a] = 2 * below + counts[a] - n
        below += counts[a]
        share = counts[a] / n
        cubes += share * share * share
    return 1.0 - cubes


@jit()
def spearman_terms(blocks: Any, value: Any, variance: Any) -> None:
    """``value[i]`` = (n_i - 1) rho_i with mid-ranks, ``variance[i]`` its permutation variance; 0 where n_i < 2."""
    k, r, c = blocks.shape
    rows, columns = np.zeros(r, np.int64), np.zeros(c, np.int64)
    x, y = np.zeros(r), np.zeros(c)
    for b in range(k):
        n = _margins(blocks[b], rows, columns)
        value[b], variance[b] = 0.0, 0.0
        if n < 2:
            continue
        spread = _scores(rows, n, x) * _scores(columns, n, y)
        product = 0.0
        for i in range(r):
            for j in range(c):
                product += blocks[b, i, j] * (x[i] * y[j])
        value[b] = 3.0 * product / (float(n) * (n + 1))
        ratio = n / (n + 1)
        variance[b] = ratio * ratio * (n / (n - 1)) * n * spread
