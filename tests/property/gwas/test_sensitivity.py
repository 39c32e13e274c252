"""What one person or one allele can move, on the path that is shipped: counts -> score -> grid -> mechanism's noise.

Exhaustive over all tables up to 30 people-alleles in all, random margins up to 5,000; a bound 30% too small is caught.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from dpcausal.gwas.cohort import GenotypeCounts
from dpcausal.gwas.screen import Screen
from dpcausal.gwas.statistics import Name, Statistic
from dpcausal.stats.unit_circle import fixed_labels_distance

NAMES: tuple[Name, ...] = ("distance", "circle", "chi2")
TAUS = (0.5, 3.84, 10.83, 28.0)
SLACK = 1e-9


def all_tables(n1: int, n0: int) -> tuple[np.ndarray, np.ndarray]:
    return np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij")


def largest_move(score: Statistic, alleles: int) -> float:
    """Over every table and every change of up to ``alleles`` alleles of one group."""
    x, y = all_tables(score.n1, score.n0)
    f = score(x.ravel(), y.ravel()).reshape(x.shape)
    moves = [0.0]
    for k in range(1, alleles + 1):
        moves += [
            float(np.abs(f[k:] - f[:-k]).max(initial=0.0)),
            float(np.abs(f[:, k:] - f[:, :-k]).max(initial=0.0)),
        ]
    return max(moves)


def groups() -> Iterator[tuple[int, int]]:
    for n in range(4, 31):
        for n1 in range(1, n):
            yield n1, n - n1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("person", [False, True])
def test_never_exceeded_for_any_table_up_to_30(name: Name, person: bool) -> None:
    worst = 0.0
    for n1, n0 in groups():
        for tau in TAUS:
            score = Statistic(name, n1, n0, tau, person)
            share = largest_move(score, 2 if person else 1) / score.sensitivity
            worst = max(worst, share)
            assert share <= 1.0 + SLACK, (n1, n0, tau)
    if name == "chi2" and person:  # twice the allele's bound: valid, and not reached
        assert worst > 0.7
    else:
        assert worst > 1.0 - SLACK  # attained, so that nothing smaller would do: 30% less is caught


@pytest.mark.parametrize("name", ["distance", "circle"])
def test_attained_by_even_groups(name: Name) -> None:
    for n1, n0 in ((10, 10), (8, 20), (14, 6)):
        for person in (False, True):
            score = Statistic(name, n1, n0, 3.84, person)
            assert largest_move(score, 2 if person else 1) > 0.999 * score.sensitivity


@pytest.mark.parametrize("name", NAMES)
def test_random_margins_up_to_5000(name: Name) -> None:
    generator = np.random.default_rng(11)
    for _ in range(60):
        n1, n0 = (int(2 * generator.integers(1, 2500)) for _ in range(2))
        score = Statistic(name, n1, n0, float(generator.choice(TAUS)), True)
        p = generator.beta(0.3, 0.3, 3000)
        a, b = (
            generator.binomial(n1, p),
            generator.binomial(n0, np.clip(p + generator.normal(0, 0.05, 3000), 0, 1)),
        )
        before = score(a, b)
        for da, db in ((1, 0), (2, 0), (0, 1), (0, 2), (-2, 0), (0, -2)):
            fits = (a + da >= 0) & (a + da <= n1) & (b + db >= 0) & (b + db <= n0)
            moved = np.abs(score(a + da, b + db) - before)[fits]
            assert moved.max(initial=0.0) <= score.sensitivity * abs(da + db) / 2 * (1 + SLACK) + SLACK


@pytest.mark.parametrize("method", ["svt", "em"])
@pytest.mark.parametrize("name", NAMES)
def test_noise_of_the_shipped_plan_covers_every_person(name: Name, method: str) -> None:
    """A person replaced in a study of 6 cases and 5 controls: integer scores move at most what noise is for."""
    cases, controls = 6, 5
    plan = Screen(
        snps=1,
        cases=cases,
        controls=controls,
        epsilon=1.0,
        level=0.9,
        method=method,
        statistic=name,
        max_hits=1,
    )  # type: ignore[arg-type]
    mechanism = plan.sieve if method == "svt" else plan.test
    steps = mechanism.on.sensitivity(plan.score.sensitivity)
    tables = [
        (h1, t1, h0, t0)
        for h1 in range(cases + 1) for t1 in range(cases + 1 - h1)
        for h0 in range(controls + 1) for t0 in range(controls + 1 - h0)
    ]  # fmt: skip
    table = np.array(tables, np.int32)
    counts = GenotypeCounts(table, cases, controls, [], np.arange(len(table)))
    rounded = dict(zip(tables, mechanism.on.to_integers(plan.score(*counts.alleles())).tolist(), strict=True))
    moves = [
        (dh, dt) for dh, dt in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, -1), (-1, 1))
    ]  # one genotype becomes another
    largest = 0
    for (h1, t1, h0, t0), value in rounded.items():
        for dh, dt in moves:
            for other in ((h1 + dh, t1 + dt, h0, t0), (h1, t1, h0 + dh, t0 + dt)):
                if other in rounded:
                    largest = max(largest, abs(rounded[other] - value))
    assert largest <= steps
    if name != "chi2":
        assert largest > 0.7 * steps  # a constant 30% too small would be exceeded here
    if method == "svt":
        scales = plan.sieve.scales
        spent = Fraction(largest) / Fraction(scales.threshold) + 2 * Fraction(largest) / Fraction(
            scales.query
        )
    else:
        chosen = Fraction(plan.choice.round.epsilon) / Fraction(plan.choice.round.reach) * 2 * largest
        spent = chosen + Fraction(largest) / Fraction(plan.test.steps[1])
    assert spent <= 1


def test_distance_is_the_lattice_distance_to_half_an_allele() -> None:
    for n1, n0, tau in ((10, 10, 3.84), (7, 13, 2.7), (20, 9, 6.6), (3, 27, 2.7), (12, 18, 0.5)):
        x, y = all_tables(n1, n0)
        f = Statistic("distance", n1, n0, tau)(x.ravel(), y.ravel())
        lattice = [
            fixed_labels_distance(int(a), int(b), n1, n0, tau)
            for a, b in zip(x.ravel(), y.ravel(), strict=True)
        ]
        assert np.abs(f - lattice).max() <= 0.5 + 1e-9


def test_distance_of_large_studies_is_the_exact_one() -> None:
    """Along an axis the border solves a quadratic: checked in rational arithmetic at a million alleles."""
    n1 = n0 = 1_000_000
    tau, b = 28.0, 100_000
    a = 100_000
    value = -float(Statistic("distance", n1, n0, tau)(np.array([a]), np.array([b]))[0])

    def significant(x: Fraction, y: Fraction) -> bool:
        n = n1 + n0
        return n * (n0 * x - n1 * y) ** 2 > Fraction(tau) * n0 * n1 * (x + y) * (n - x - y)

    near, far = Fraction(value) - Fraction(1, 10**6), Fraction(value) + Fraction(1, 10**6)
    ways = ((1, 0), (-1, 0), (0, 1), (0, -1))
    assert not any(significant(a + near * dx, b + near * dy) for dx, dy in ways)
    assert any(significant(a + far * dx, b + far * dy) for dx, dy in ways)


def test_a_snp_nobody_carries_is_far_from_significant() -> None:
    for n in (1000, 10_000, 1_000_000):
        score = Statistic("distance", n, n, 28.0)
        assert float(score(np.array([0]), np.array([0]))[0]) < -27
        assert float(score(np.array([n]), np.array([n]))[0]) < -27


@pytest.mark.parametrize(
    ("n1", "n0"),
    [(5 * 10**6, 5 * 10**6), (10**5, 10**7), (5 * 10**8, 5 * 10**8)],
    ids=["1e7", "unequal", "1e9"],
)
@pytest.mark.parametrize("tau", [0.06, 28.0])
def test_rounding_adds_nothing_in_large_studies(n1: int, n0: int, tau: float) -> None:
    """Moves of 2 alleles near the border, where squares cancel: beyond 2 by less than a hundredth of a step."""
    rng = np.random.default_rng(n0)
    a = rng.integers(2, n1 - 2, 20_000)
    border = np.sqrt(tau * n1 * n0 * (a / n1) * (1 - a / n1) / (n1 + n0)) * n0 / n1
    b = np.clip(np.rint(a * (n0 / n1) + rng.uniform(-3, 3, a.size) * border), 2, n0 - 2).astype(np.int64)
    score = Statistic("distance", n1, n0, tau)
    here = score(a, b)
    for there in (score(a + 2, b), score(a - 2, b), score(a, b + 2), score(a, b - 2)):
        assert np.abs(there - here).max() <= 2.0 + 0.01 * 2.0**-11
