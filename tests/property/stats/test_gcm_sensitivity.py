"""No neighbour found by search moves gcm's released numbers by more than claimed; a constant 30% too small is caught.

The search (``benchmarks/gcm_neighbours.py``) goes through the shipped regression. Last, the reason why a bandwidth is
never chosen from the rows: one row tips the choice and moves the sum by a multiple of n.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gcm_neighbours as search
from dpcausal.core.errors import InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.regression.kernel import Kernel
from dpcausal.regression.ridge import penalty_of, ridge_residuals
from dpcausal.stats.gcm_bins import binned_moments, binned_sensitivity
from dpcausal.stats.gcm_parts import STEPS, PartPlan, cut_scores, cut_sensitivity, part_score
from dpcausal.stats.gcm_ridge import (
    cube_bound,
    leak_bound,
    products_sensitivity,
    reach_bound,
    squares_sensitivity,
    squares_weight,
    sum_sensitivity,
    weight_bound,
)

BOUNDS = {"products": products_sensitivity, "sum": sum_sensitivity, "squares": squares_sensitivity}


@pytest.mark.thin(3)
@pytest.mark.parametrize("strength", [0.2, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("what", sorted(BOUNDS))
def test_kernel_ridge_bounds_hold(what: str, strength: float) -> None:
    for n in (5, 40):
        assert search.largest(what, n, strength, seed=n, starts=3, steps=40) <= BOUNDS[what](strength)


CAUGHT = {"sum": (0.2, 1.0, 10.0, 100.0), "products": (1.0, 10.0, 100.0), "squares": (100.0,)}


@pytest.mark.parametrize("what", sorted(BOUNDS))
def test_kernel_ridge_bounds_30_percent_smaller_are_caught(what: str) -> None:
    """For sum R at every lambda; the two others are attained only as lambda grows (found .74 and .46 at 1)."""
    for strength in CAUGHT[what]:
        found = search.largest_plane(what, 120, strength, np.random.default_rng(1), starts=3, steps=20)
        assert 0.7 * BOUNDS[what](strength) < found <= BOUNDS[what](strength)


def test_sum_bound_is_nearly_attained() -> None:
    found = search.moved(search.right_angles(1.0).pair(200), 1.0)["sum"]
    assert found > 0.96 * sum_sensitivity(1.0)


@pytest.mark.parametrize("plain", [True, False])
def test_what_the_proof_says_of_residuals(plain: bool) -> None:
    """Its steps (6), (7) and the norms of w, v and p, on random rows by the shipped regression."""
    rng = np.random.default_rng(9)
    for n, strength in product((2, 7, 60), (0.05, 0.2, 1.0, 10.0)):
        z = rng.normal(size=(n, 4))
        z = z / np.linalg.norm(z, axis=1)[:, None] * rng.random((n, 1)) ** 0.2 if plain else z
        u = rng.choice([-1.0, 1.0], (n, 2))
        r = search.residuals(z, u[:, 0], u[:, 1], strength, plain)
        k = z @ z.T if plain else Kernel(1.0).block(z, z)
        a = penalty_of(strength, n)
        dual = r / a  # w = sum of dual_i phi_i
        w = np.einsum("it,ij,jt->t", dual, k, dual)
        assert np.all(w <= weight_bound(strength) ** 2 + 1e-9)
        leak = np.linalg.solve(k + a * np.eye(n), a * dual)  # of v
        assert np.all(np.einsum("it,ij,jt->t", leak, k, leak) <= leak_bound(strength) ** 2 + 1e-9)
        both = dual + leak
        assert np.all(np.einsum("it,ij,jt->t", both, k, both) <= reach_bound(strength) ** 2 + 1e-9)
        rho = np.sqrt(np.mean(r**2, axis=0))
        assert np.all(rho**2 + strength / 2 * w <= rho + 1e-9)  # (6)
        assert np.all(np.square(np.abs(r) - 0.5).mean(axis=0) <= 0.25 - strength / 2 * w + 1e-9)  # (7)
        assert np.all(np.sqrt(np.mean(r**6, axis=0)) <= cube_bound(strength))


def test_the_papers_constant_is_safe_but_fourteen_times_larger() -> None:
    root = np.sqrt(2.0)  # Lemma B.6 at lambda = 1
    theirs = 4 * (1 + root) * (1 + root + 4 * root + 4)
    assert theirs / products_sensitivity(1.0) == pytest.approx(14.01, abs=0.02)


def test_the_weight_of_the_squares_gives_their_noise_its_share() -> None:
    for strength, epsilon in product((0.2, 1.0, 10.0), (0.1, 1.0, 10.0)):
        w = squares_weight(strength, epsilon)
        b = (sum_sensitivity(strength) + w * squares_sensitivity(strength)) / epsilon
        assert b / w == pytest.approx(0.8 * b**2)


def test_kernel_ridge_is_refused_where_n_is_not_public() -> None:
    for bound in BOUNDS.values():
        with pytest.raises(InputError, match="replace-one"):
            bound(1.0, Neighbours.ADD_REMOVE)
        with pytest.raises(InputError, match="lambda"):
            bound(float("nan"))


CLAIMED = {
    ("add-remove", 0): 1.0,
    ("add-remove", 1): 0.25,
    ("replace-one", 0): 2.0,
    ("replace-one", 1): 0.375,
}


@pytest.mark.thin(2)
@pytest.mark.parametrize(("relation", "what"), sorted(CLAIMED))
def test_bins_hold_and_30_percent_smaller_is_caught(relation: str, what: int) -> None:
    found = max(search.largest_bins(what, relation, seed, 1500) for seed in (0, 1))
    assert 0.7 * CLAIMED[relation, what] < found <= CLAIMED[relation, what] + 1e-12
    assert binned_sensitivity(Neighbours(relation), 1.0) == CLAIMED[relation, 0] + CLAIMED[relation, 1]


def test_bins_all_small_tables() -> None:
    """Every multiset of up to four rows on a 3 x 3 grid, one row added: the proof's cases, all of them."""
    cells = list(product((0.0, 0.5, 1.0), repeat=2))
    seen = {}

    def value(rows: tuple[int, ...]) -> tuple[float, float]:
        key = tuple(sorted(rows))
        if key not in seen:
            table = np.array([cells[r] for r in key]).reshape(-1, 2)
            seen[key] = binned_moments(table[:, 0], table[:, 1], np.zeros(len(key), np.int64))
        return seen[key]

    largest, lowest = 0.0, 0.0
    for size in range(4):
        for rows in product(range(9), repeat=size):
            if list(rows) == sorted(rows):
                for new in range(9):
                    step = value((*rows, new))[1] - value(rows)[1]
                    largest, lowest = max(largest, step), min(lowest, step)
                    assert abs(value((*rows, new))[0] - value(rows)[0]) < 1
    assert largest == pytest.approx(0.25)
    assert lowest >= -0.125


def moved(one: tuple[int, int], two: tuple[int, int]) -> int:
    """l1 distance."""
    return abs(one[0] - two[0]) + abs(one[1] - two[1])


@pytest.mark.parametrize("deals", [1, 8])
def test_parts_reach_their_sensitivity_and_never_pass_it(deals: int) -> None:
    """One score of every deal replaced by any other, any number included, the own share too."""
    plan, bound = PartPlan(6, deals, 1.0, 0.5, 320), deals * cut_sensitivity()
    rng = np.random.default_rng(0)
    extremes = [-9.0, 9.0, 0.0, np.nan, np.inf, -np.inf]

    def drawn() -> tuple[float, float]:
        t = rng.choice([rng.normal(0, 2), *extremes])
        return float(t), float(rng.choice([0.5, 1.0, rng.random(), np.nan, 1e-320, -1.0, 7.0]))

    found = 0
    for _ in range(4000):
        kept = [drawn() for _ in range(5)]
        old, new = [drawn()] * deals, [drawn()] * deals
        found = max(found, moved(cut_scores([*kept, *old], plan), cut_scores([*kept, *new], plan)))
    assert 0.7 * bound < found <= bound
    assert bound == 2 * STEPS * deals


def test_neighbours_through_the_shipped_fit() -> None:
    """Rows replaced by searched extremes, the deals held: (S, V) moves by no more than claimed, and by over 70% of it.

    200 hill-climbing steps over the row's three values; scores by ``part_score``, cut by ``cut_scores``.
    """
    rng = np.random.default_rng(8)
    n, plan = 90, PartPlan(3, 2, 1.0, 0.5, 320)
    deals = [np.array_split(rng.permutation(n), 3) for _ in range(2)]
    x, y, z = rng.normal(size=n), rng.normal(size=n), rng.random((n, 1))

    def released(row: np.ndarray) -> tuple[int, int]:
        u, v, w = x.copy(), y.copy(), z.copy()
        u[0], v[0], w[0, 0] = row
        scores = [part_score(u[part], v[part], w[part], (), plan) for deal in deals for part in deal]
        return cut_scores(scores, plan)

    rows = [np.array([1.0, 1.0, 0.5]), np.array([1.0, -1.0, 0.5])]
    best = moved(released(rows[0]), released(rows[1]))
    for step in range(200):
        tried = [row.copy() for row in rows]
        tried[step % 2] = tried[step % 2] * rng.choice([1.0, -1.0, 3.0], 3) + rng.normal(0, 0.3, 3)
        found = moved(released(tried[0]), released(tried[1]))
        if found > best:
            rows, best = tried, found
    bound = plan.deals * cut_sensitivity()
    assert 0.7 * bound < best <= bound


def test_one_row_can_turn_a_part_around() -> None:
    """Through the shipped score: the whole range is used, so the sensitivity 2 is needed."""
    rng = np.random.default_rng(3)
    plan = PartPlan(1, 1, 1.0, 0.5, 320)
    x, y, z = rng.normal(size=30), rng.normal(size=30), rng.random((30, 1))
    x[0] = y[0] = 1e6
    up = part_score(x, y, z, (), plan)
    y[0] = -1e6
    down = part_score(x, y, z, (), plan)
    assert cut_scores([up], plan)[0] - cut_scores([down], plan)[0] == cut_sensitivity()


WIDTHS = (0.1, 1.0)


def _left_out(z: np.ndarray, width: float) -> np.ndarray:
    """The matrix that takes a column to its five-fold cross-validation errors at lambda = 1."""
    n = len(z)
    k, errors = Kernel(width).block(z, z), np.eye(n)
    for fold in range(5):
        out = np.arange(n) % 5 == fold
        within = k[np.ix_(~out, ~out)] + np.eye((~out).sum()) * (~out).sum() / 2
        errors[np.ix_(out, ~out)] = -k[np.ix_(out, ~out)] @ np.linalg.inv(within)
    return errors


@pytest.mark.parametrize("n", [400, 800])
def test_a_bandwidth_by_cross_validation_breaks_the_bound(n: int) -> None:
    z = np.asarray((np.arange(n) * 0.618034 % 1.0)[:, None], dtype=np.float64)
    errors = [_left_out(z, width) for width in WIDTHS]

    def chosen(x: np.ndarray) -> float:  # as in the paper's experiments
        return WIDTHS[int(np.argmin([np.sum((e @ x) ** 2) for e in errors]))]

    def column(amplitude: float) -> np.ndarray:
        return np.asarray(0.3 + amplitude * np.cos(4 * np.pi * z[:, 0]))

    low, high = 0.0, 0.7  # wide at low, narrow at high
    assert (chosen(column(low)), chosen(column(high))) == (WIDTHS[1], WIDTHS[0])
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if chosen(column(middle)) == WIDTHS[0] else (middle, high)
    old, y = column(low), np.ones(n)
    changes = [np.r_[old[:i], value, old[i + 1 :]] for i in range(5) for value in (-1.0, 1.0)]
    changed = next(x for x in changes if chosen(x) == WIDTHS[0])  # one row tips the choice

    def total(x: np.ndarray, width: float) -> float:
        left = ridge_residuals(z, np.column_stack([x, y]), Kernel(width), penalty_of(1.0, n))
        return float(left[:, 0] @ left[:, 1])

    moved = abs(total(old, chosen(old)) - total(changed, chosen(changed)))
    assert moved > 0.025 * n > sum_sensitivity(1.0)  # grows with n
    assert abs(total(old, 1.0) - total(changed, 1.0)) <= sum_sensitivity(1.0)  # a public bandwidth keeps it
