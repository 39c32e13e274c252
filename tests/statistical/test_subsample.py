"""The subsample is exactly multivariate hypergeometric.

Fixed seeds; each test rejects a correct sampler with probability at most 1e-6 (over the choice of seed), by a
chi-squared goodness of fit with every expected count above 50.
"""

from __future__ import annotations

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpcausal.counts.protocol import TableLayout
from dpcausal.counts.sampling import binomial_halves, deal_equal, hypergeometric
from dpcausal.counts.stream import draw_rows
from dpcausal.data.columns import Categorical
from dpcausal.data.schema import Schema

FAILURE = 1e-6


def source(seed: int):  # type: ignore[no-untyped-def]
    return np.random.default_rng(seed).bytes


def law(counts: list[int], m: int) -> dict[tuple[int, ...], float]:
    """Exact probabilities of every outcome."""
    total = comb(sum(counts), m)
    outcomes = (k for k in product(*(range(w + 1) for w in counts)) if sum(k) == m)
    return {k: prod(comb(w, c) for w, c in zip(counts, k, strict=True)) / total for k in outcomes}


def pvalue(draws: NDArray[np.int64], expected: dict[tuple[int, ...], float]) -> float:
    """Chi-squared goodness of fit; outcomes expected fewer than 50 times are pooled."""
    seen, times = np.unique(draws, axis=0, return_counts=True)
    found = {tuple(k): t for k, t in zip(seen.tolist(), times.tolist(), strict=True)}
    if set(found) - set(expected):
        return 0.0
    large = [k for k, p in expected.items() if p * len(draws) >= 50]
    observed = [found.get(k, 0) for k in large]
    wanted = [expected[k] * len(draws) for k in large]
    observed.append(len(draws) - sum(observed))
    wanted.append(len(draws) - sum(wanted))
    if wanted[-1] < 1e-9:
        observed, wanted = observed[:-1], wanted[:-1]
    return float(stats.chisquare(observed, np.array(wanted) * (sum(observed) / sum(wanted))).pvalue)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("counts", "m"),
    [
        ([3, 5, 2], 4),
        ([1, 1, 1, 1, 1], 2),
        pytest.param([9, 0, 9], 9, marks=pytest.mark.slow),
        pytest.param([20, 1], 7, marks=pytest.mark.slow),
    ],
)
def test_small_cases_follow_the_exact_law(counts: list[int], m: int) -> None:
    random = source(1)
    draws = np.array([hypergeometric(np.array(counts), m, random) for _ in range(20_000)])
    assert pvalue(draws, law(counts, m)) > FAILURE


def test_rows_that_pass_by_are_drawn_by_the_exact_law() -> None:
    """Whatever chunks they come in: every set of three rows of six is as likely as any other."""
    random, layout = source(7), TableLayout(Schema(x=Categorical(list(range(6)))))
    chunks = [{"x": np.array(part, np.uint8)} for part in ([0], [1, 2], [3, 4, 5])]
    drawn = [draw_rows([chunks], 6, 3, layout, random).columns[0] for _ in range(10_000)]
    assert pvalue(np.array([np.bincount(rows, minlength=6) for rows in drawn]), law([1] * 6, 3)) > FAILURE


@pytest.mark.parametrize("counts", [[2, 0, 0, 1, 0, 0, 0, 3], [2, 1, 3]], ids=["few rows", "few cells"])
def test_parts_follow_the_exact_law_with_more_cells_than_rows_and_with_fewer(counts: list[int]) -> None:
    random, table = source(6), np.array(counts)
    dealt = np.array([deal_equal(table, [2, 3, 1], random) for _ in range(10_000)])
    assert (dealt.sum(axis=1) == table).all()
    for part, size in enumerate([2, 3, 1]):
        assert pvalue(dealt[:, part], law(counts, size)) > FAILURE


def test_drawing_with_replacement_is_caught() -> None:
    rng = np.random.default_rng(2)
    draws = rng.multinomial(4, [0.3, 0.5, 0.2], size=20_000)
    inside = draws[(draws <= [3, 5, 2]).all(axis=1)]
    assert pvalue(inside, law([3, 5, 2], 4)) < FAILURE


def test_halves_are_binomial_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcausal.counts.sampling.CHUNK_BYTES", 7)  # cells straddle chunks of random bytes
    random, counts = source(3), np.array([0, 100, 7, 64, 1])
    draws = np.array([binomial_halves(counts, random) for _ in range(5000)])
    assert (draws[:, 0] == 0).all()
    for cell, w in enumerate(counts[1:].tolist(), start=1):
        expected = {(k,): float(stats.binom.pmf(k, w, 0.5)) for k in range(w + 1)}
        assert pvalue(draws[:, [cell]], expected) > FAILURE


def test_large_counts_have_the_right_moments() -> None:
    """z of mean and variance over 400 draws of 200,000 from 1,000,000; each |z| < 5.3 but for 1e-7."""
    counts = np.array([600_000, 300_000, 99_999, 1])
    n, m, random = int(counts.sum()), 200_000, source(4)
    draws = np.array([hypergeometric(counts, m, random)[:3] for _ in range(400)], np.float64)
    for cell, w in enumerate(counts[:3].tolist()):
        exact = stats.hypergeom(n, w, m)
        z_mean = (draws[:, cell].mean() - exact.mean()) / (exact.std() / np.sqrt(400))
        z_variance = (draws[:, cell].var(ddof=1) / exact.var() - 1) / np.sqrt(2 / 399)
        assert abs(z_mean) < 5.3
        assert abs(z_variance) < 5.3
