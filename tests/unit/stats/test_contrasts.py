"""Evidence from pairs: against plain correlations, exact partial correlations, and its law under independence."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpcausal.planning.measurement_plan import retained_by_groups
from dpcausal.stats.components import interaction
from dpcausal.stats.contrasts import (
    EFFECTS,
    MIN_EIGENVALUE,
    MIN_LEFT,
    Contrasts,
    Features,
    Round,
    all_pairs,
    log_bayes_factor,
    without_levels,
)

SIZES = (2, 3, 4, 2)


def drawn(rows: int, seed: int, *, chain: bool = True) -> np.ndarray:
    """Columns of which each follows the one before (``chain``), or none any other."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, SIZES[0], rows)]
    for size in SIZES[1:]:
        follow = rng.random(rows) < (0.6 if chain else 0.0)
        columns.append(np.where(follow, columns[-1] % size, rng.integers(0, size, rows)))
    return np.column_stack(columns)


def contrasts(codes: np.ndarray, variance: float = 0.0, seed: int = 0) -> Contrasts:
    """From exact tables with Gaussian noise of this variance in every direction."""
    rng, rows = np.random.default_rng(seed), len(codes)
    tables = {}
    for columns in [(j,) for j in range(len(SIZES))] + [tuple(pair) for pair in all_pairs(len(SIZES))]:
        table = np.zeros([SIZES[j] for j in columns])
        np.add.at(table, tuple(codes[:, j] for j in columns), 1.0)
        tables[columns] = table + np.sqrt(variance) * rng.standard_normal(table.shape)
    features = [Features.of(tables[j,], float(rows), variance) for j in range(len(SIZES))]
    pairs = {pair: interaction(tables[pair]) for pair in all_pairs(len(SIZES))}
    return Contrasts.of(features, float(rows), pairs, dict.fromkeys(tables, variance))


def test_without_noise_entries_are_correlations_of_features() -> None:
    codes = drawn(3000, 1)
    found = contrasts(codes)
    values = np.hstack([one.scores[codes[:, j]] for j, one in enumerate(found.columns)])
    assert np.allclose(found.covariance, np.cov(values, rowvar=False, bias=True), atol=1e-9)
    squared = len(codes) * (found.covariance[np.ix_(found.places[1], found.places[2])] ** 2).sum()
    observed = np.zeros((3, 4))
    np.add.at(observed, (codes[:, 1], codes[:, 2]), 1.0)
    expected = np.outer(observed.sum(1), observed.sum(0)) / len(codes)
    assert squared == pytest.approx(((observed - expected) ** 2 / expected).sum())  # Pearson's chi-squared


def test_given_a_column_what_is_left_is_uncorrelated_with_it() -> None:
    """A chain: 0 and 3 depend on each other, not given what lies between; 1 and 2 do given 0."""
    found = contrasts(drawn(20_000, 2))
    assert found.evidence(1, 2) > 50  # type: ignore[operator]
    assert found.evidence(0, 2, (1,)) < 0.5  # type: ignore[operator]
    assert found.evidence(1, 2, (0,)) > 50  # type: ignore[operator]
    assert found.evidence(0, 3, (1, 2)) < 0.5  # type: ignore[operator]


def test_a_set_that_decides_a_column_has_no_answer() -> None:
    codes = drawn(3000, 3)
    codes[:, 3] = codes[:, 0]
    found = contrasts(codes)
    assert found.evidence(1, 3, (0,)) is None
    assert found.detectable(1, 3, (0,), 1.0) == math.inf


def test_strata_count_by_their_sizes() -> None:
    """Halves are two strata, a rare level hardly one more, and columns multiply; nothing held fixed is one."""
    halves, rare = (Features.of(np.array(counts), 100.0, 0.0) for counts in ([50.0, 50.0], [99.0, 1.0]))
    found = Contrasts(
        [halves, rare, without_levels(2)], 100.0, np.eye(halves.scores.shape[1] + 3), np.zeros((4, 4))
    )
    assert found.strata(()) == 1.0
    assert found.strata((0,)) == pytest.approx(2.0)
    assert found.strata((1,)) == pytest.approx(1.02, abs=0.001)
    assert found.strata((0, 1)) == pytest.approx(found.strata((0,)) * found.strata((1,)))
    assert found.strata((2,)) == 1.0


@pytest.mark.parametrize("variance", [0.0, 400.0])
def test_independent_columns_rarely_pass(variance: float) -> None:
    """exp of the evidence has mean 1 under independence: above 3 in at most 1/3 of cases, in truth far fewer.

    600 pairs; more than 30 above 1.1 (3 in the odds) at a true share below .03 has a probability below 1e-3.
    """
    passed = 0
    for seed in range(100):
        found = contrasts(drawn(1500, seed, chain=False), variance, seed)
        passed += sum(found.pair_evidence[pair] > 1.1 for pair in all_pairs(len(SIZES)))
    assert passed <= 30


def test_noise_takes_evidence_away_and_is_known() -> None:
    codes = drawn(1000, 5)
    quiet, loud = contrasts(codes), contrasts(codes, 2500.0, 1)
    assert loud.noise[0, 1] > quiet.noise[0, 1] == 0.0
    assert loud.detectable(0, 1, (), 1.0) > quiet.detectable(0, 1, (), 1.0)
    assert (np.linalg.eigvalsh(loud.estimate) > 0).all()


def test_the_kernel_agrees_with_the_plain_formula() -> None:
    found = contrasts(drawn(1000, 7), 900.0, 2)
    for pair in all_pairs(len(SIZES)):
        corner = np.ix_(found.places[pair[0]], found.places[pair[1]])
        plain = log_bayes_factor(found.covariance[corner] ** 2, found.noise[corner] + 1.0 / found.rows)
        assert plain == pytest.approx(found.pair_evidence[pair])
        assert plain == pytest.approx(found.evidence_given([(*pair, ())])[0, 0])


def by_matrices(found: Contrasts, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float]:
    """The evidence and the variance of entries, from matrices of whole blocks."""
    k, v, h, starts = found.covariance, found.noise, found.estimate, found._starts
    at_x, at_y, *others = (np.arange(starts[j], starts[j + 1]) for j in (x, y, *given))
    inner = np.concatenate([np.empty(0, int), *others])

    def on(matrix: np.ndarray, to_x: np.ndarray, to_y: np.ndarray, signs: tuple[float, float]) -> np.ndarray:
        single = to_x @ matrix[np.ix_(inner, at_y)] + matrix[np.ix_(at_x, inner)] @ to_y.T
        return (
            matrix[np.ix_(at_x, at_y)]
            + signs[0] * single
            + signs[1] * (to_x @ matrix[np.ix_(inner, inner)] @ to_y.T)
        )

    slopes = [np.linalg.solve(h[np.ix_(inner, inner)], h[np.ix_(inner, at)]).T for at in (at_x, at_y)]
    left = [
        1.0 - (slope * h[np.ix_(at, inner)]).sum(axis=1)
        for slope, at in zip(slopes, (at_x, at_y), strict=True)
    ]
    if min(part.max() for part in left) < MIN_LEFT:
        return np.nan, np.nan
    uneven = np.ones((len(at_x), len(at_y)))
    level = 0
    for z, column in enumerate(found.columns):
        stop = level + len(column.proportions)
        if z in given:
            of_x, of_y = (found.left_variances[at, level:stop] for at in (at_x, at_y))
            p = column.proportions
            uneven = np.maximum(uneven, (of_x * p) @ of_y.T / np.maximum(np.outer(of_x @ p, of_y @ p), 1e-3))
        level = stop
    scale = np.outer(*(np.maximum(part, MIN_EIGENVALUE) for part in left))
    squares = on(k, *slopes, (-1.0, 1.0)) ** 2 / scale
    within, place = np.zeros((len(at_x), len(at_y))), 0
    for z, features in zip(given, others, strict=True):
        here = slice(place, place := place + len(features))
        lost = 0.0 if found.kept is None else 1.0 / found.kept[z] - 1.0
        parts = [
            np.minimum(lost * (slope[:, here] ** 2).sum(axis=1), np.maximum(part, 0.0))
            for slope, part in zip(slopes, left, strict=True)
        ]
        within += np.outer(*parts)
    variance = (on(v, *(slope**2 for slope in slopes), (1.0, 2.0)) + within) / scale + uneven / found.rows
    return log_bayes_factor(squares, variance), float(variance.size / (1.0 / variance).sum())


def test_evidence_given_columns_is_that_of_whole_matrices() -> None:
    """Columns of unequal sizes, sets of 0 to 2; some questions have no answer."""
    codes = drawn(1500, 11)
    codes[:, 3] = codes[:, 0]  # one column says all of another
    found = replace(contrasts(codes, 400.0, 3), kept=np.array([1.0, 0.4, 0.7, 1.0]))
    questions = [
        (x, y, given)
        for x, y in all_pairs(len(SIZES))
        for size in range(3)
        for given in combinations([z for z in range(len(SIZES)) if z not in (x, y)], size)
    ]
    expected = [by_matrices(found, *question) for question in questions]
    assert np.isnan(expected).any()
    assert not np.isnan(expected).all()
    np.testing.assert_allclose(found.evidence_given(questions), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("linked", [False, True])
def test_what_merged_levels_leave_is_no_link(linked: bool) -> None:
    """Two columns that follow one of twelve levels, given its six groups: without ``kept`` they always look linked."""
    rows, runs, levels = 20_000, 40, 12
    without, known = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, 12])
        chances = rng.dirichlet(np.ones(3), size=(2, levels))
        z = rng.integers(0, levels, rows)
        x, y = (
            (rng.random(rows)[:, None] > np.cumsum(chances[i][z], axis=1)[:, :-1]).sum(axis=1) for i in (0, 1)
        )
        y = np.where(rng.random(rows) < (0.6 if linked else 0.0), x, y)
        columns = (x, y, z // 2)
        tables = {}
        for some in [(j,) for j in range(3)] + list(all_pairs(3)):
            tables[some] = np.zeros([(3, 3, levels // 2)[j] for j in some])
            np.add.at(tables[some], tuple(columns[j] for j in some), 1.0)
        features = [Features.of(tables[j,], float(rows), 0.0) for j in range(3)]
        pairs = {pair: interaction(tables[pair]) for pair in all_pairs(3)}
        found = Contrasts.of(features, float(rows), pairs, dict.fromkeys(tables, 0.0))
        kept = np.array([1.0, 1.0, retained_by_groups(sorted(range(6)) * 2, ordered=False)])
        question = [(0, 1, (2,))]
        without += found.evidence_given(question)[0, 0] > 1.0
        known += replace(found, kept=kept).evidence_given(question)[0, 0] > 1.0
    assert without >= 0.9 * runs
    # of independent columns a twentieth may pass: 7 of 40 with a chance below .01
    assert known >= 0.9 * runs if linked else known <= 6


def test_the_evidence_is_a_mean_of_likelihood_ratios() -> None:
    variance, value = 0.004, 0.17
    sizes = np.square(EFFECTS)
    ratios = [
        np.sqrt(variance / (variance + t)) * np.exp(value**2 / 2 * (1 / variance - 1 / (variance + t)))
        for t in sizes
    ]
    assert log_bayes_factor(np.array([[value**2]]), np.array([[variance]])) == pytest.approx(
        np.log(np.mean(ratios))
    )


def test_another_sample_follows_what_is_known_after_this_one() -> None:
    """Mean and variance of one entry of two yes/no columns: the posterior of its size, no dependence included."""
    found = contrasts(drawn(300, 8), 900.0, 3)
    rng, at, kept = np.random.default_rng(4), (0, 6), np.array([1.0, 1.0, 1.0, 0.9])
    values = [found.posterior_replicate(rng, kept).covariance[at] for _ in range(4000)]
    k, w = found.covariance[at], found.noise[at] + 1.0 / found.rows
    sizes = np.square(EFFECTS)
    factors = np.exp([log_bayes_factor_of(k, w, t) for t in sizes]) / len(sizes)
    chances = np.array([1.0, *factors]) / (1.0 + factors.sum())
    means = 0.9 * k * np.array([0.0, *(sizes / (sizes + w))])
    spreads = 0.81 * np.array([0.0, *(sizes * w / (sizes + w))])
    mean = chances @ means
    variance = chances @ (spreads + means**2) - mean**2 + w
    assert 0.05 < chances[0] < 0.95
    assert np.mean(values) == pytest.approx(mean, abs=4.5 * np.sqrt(variance / 4000))
    assert np.var(values) == pytest.approx(variance, rel=0.15)


def log_bayes_factor_of(value: float, variance: float, size: float) -> float:
    """That of one size of a dependence."""
    return float(
        0.5 * np.log(variance / (variance + size)) + value**2 / 2 * (1 / variance - 1 / (variance + size))
    )


def test_what_is_promising_again_has_less_noise_and_nothing_else_has() -> None:
    """Two rounds: all pairs, then the three with the most evidence; the variances of both are in the result."""
    found = contrasts(drawn(5000, 9), 400.0, 5)
    found.rounds = (Round(6, 400.0), Round(3, 100.0))
    again = found.posterior_replicate(np.random.default_rng(6), np.ones(4))
    once, twice = found.noise, found.noise - np.asarray(found.of_singles)
    twice = np.asarray(found.of_singles) + twice * (80.0 / 400.0)  # 1/(1/400 + 1/100)
    kinds = []
    for i, j in all_pairs(4):
        block = np.ix_(found.places[i], found.places[j])
        assert np.allclose(again.noise[block], once[block]) != np.allclose(again.noise[block], twice[block])
        kinds.append(bool(np.allclose(again.noise[block], twice[block])))
    assert sum(kinds) == 3
    assert kinds[0]  # 0 and 1: of the strongest


def test_a_pair_that_was_not_measured_is_not_known() -> None:
    """Its covariances are 0 with noise that hides anything; the others are as they were."""
    whole = contrasts(drawn(3000, 1), variance=100.0)
    tables = {pair: np.zeros((SIZES[pair[0]], SIZES[pair[1]])) for pair in all_pairs(len(SIZES))}
    kept = {pair: table for pair, table in tables.items() if pair != (0, 2)}
    noise = dict.fromkeys([*((j,) for j in range(len(SIZES))), *tables], 100.0)
    found = Contrasts.of(whole.columns, whole.rows, kept, noise)
    every = Contrasts.of(whole.columns, whole.rows, tables, noise)
    block = np.ix_(found.places[0], found.places[2])
    assert not found.covariance[block].any()
    assert found.noise[block].min() > 1.0
    assert found.detectable(0, 2, (), 1.0) > 1.0
    assert every.measured is None
    assert found.measured is not None
    assert found.measured.sum() == 2 * (len(tables) - 1)
    other = np.ix_(found.places[1], found.places[3])
    assert np.array_equal(found.covariance[other], every.covariance[other])
    assert np.array_equal(found.noise[other], every.noise[other])


def as_tree(codes: np.ndarray, variance: float) -> Contrasts:
    """A chain of measured pairs, chosen with noise of scale 20."""
    found = contrasts(codes, variance)
    far = [pair for pair in all_pairs(len(SIZES)) if pair[1] - pair[0] > 1]
    found.measured = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) == 1
    for i, j in far:
        found.put(found.covariance, i, j, np.zeros((SIZES[i] - 1, SIZES[j] - 1)))
    found.rounds = (Round(3, variance, 20.0),)
    return found


def test_what_was_not_measured_depends_as_far_as_the_tree_carries_it() -> None:
    """Products of blocks along the way: in a chain, what the whole table has."""
    codes = drawn(200_000, 4)
    carried = as_tree(codes, 0.0)._along_tree(contrasts(codes).covariance)
    whole = contrasts(codes)
    near = np.ix_(whole.places[1], whole.places[2])
    assert np.allclose(carried[near], whole.covariance[near])
    for i, j in ((0, 2), (1, 3), (0, 3)):
        block = np.ix_(whole.places[i], whole.places[j])
        assert np.allclose(
            carried[block], whole.covariance[block], atol=0.015
        )  # sampling: 1/sqrt(200,000) each
        assert np.allclose(carried[block].T, carried[np.ix_(whole.places[j], whole.places[i])])
    assert np.abs(whole.covariance[np.ix_(whole.places[0], whole.places[2])]).max() > 0.1


def test_another_tree_is_chosen_by_what_was_found() -> None:
    """Strong links come back every time; where the noise of the choice is far larger than they are, hardly."""
    found = as_tree(drawn(20_000, 5), 25.0)
    generator = np.random.default_rng(1)
    sure = [found._tree_again(found._along_tree(found.covariance), generator, 20.0) for _ in range(20)]
    assert all(np.array_equal(one, found.measured) for one in sure)
    blind = [found._tree_again(found._along_tree(found.covariance), generator, 1e9) for _ in range(200)]
    assert all(one.sum() == 6 for one in blind)
    share = np.mean([one[0, 1] for one in blind])
    assert 0.36 < share < 0.64  # half of the trees on four nodes hold an edge; 4 standard errors
    again = found.posterior_replicate(generator, np.ones(4))
    assert again.noise[np.ix_(found.places[0], found.places[3])].min() > 1.0
    assert again.pair_evidence[0, 1] > 10


def dependence_of(found: Contrasts, columns: tuple[int, ...]) -> float:
    """The evidence for dependence among columns, chained from the pair that depends least and has an answer."""
    if len(columns) < 2:
        return 0.0
    for x, y in sorted(combinations(columns, 2), key=lambda pair: found.pair_evidence[pair]):
        given, without_x, without_y = (
            tuple(z for z in columns if z not in out) for out in ((x, y), (x,), (y,))
        )
        evidence = found.evidence(x, y, given)
        if evidence is not None:
            parts = dependence_of(found, without_x), dependence_of(found, without_y)
            return math.fsum((*parts, -dependence_of(found, given), evidence))
    return max(dependence_of(found, tuple(z for z in columns if z != x)) for x in columns)


def check_dependences(found: Contrasts, columns: list[int]) -> None:
    for bits, value in enumerate(found.dependences(columns)):
        subset = tuple(sorted(z for i, z in enumerate(columns) if bits >> i & 1))
        assert value == pytest.approx(dependence_of(found, subset)), subset


@pytest.mark.parametrize("variance", [0.0, 40.0])
def test_the_dependence_of_a_set_is_chained_from_its_pairs(variance: float) -> None:
    found = contrasts(drawn(3000, 1), variance)
    check_dependences(found, [2, 0, 3, 1])
    check_dependences(found, [3, 1, 0])


def test_a_question_without_an_answer_adds_nothing_to_a_dependence() -> None:
    """Three copies of a column: given one of them nothing is left of the others."""
    copies = Contrasts([without_levels(1)] * 3, 1000.0, np.ones((3, 3)), np.zeros((3, 3)))
    assert copies.evidence(0, 1, (2,)) is None
    found = copies.dependences([0, 1, 2])
    assert found[0b111] == found[0b110] == found[0b011] == copies.pair_evidence[0, 1]


def test_a_pair_of_which_nothing_is_known_takes_no_evidence_from_others() -> None:
    """The chain: of the pairs that were not measured each set has the evidence of the others alone, about."""
    found = as_tree(drawn(3000, 2), 0.0)
    for i, j in ((0, 2), (0, 3), (1, 3)):
        found.put(found.noise, i, j, np.full((SIZES[i] - 1, SIZES[j] - 1), 1e6))
    every = found.dependences([0, 1, 2, 3])
    pairs = [found.pair_evidence[0, 1], found.pair_evidence[1, 2], found.pair_evidence[2, 3]]
    assert every[0b0111] == pytest.approx(pairs[0] + pairs[1], rel=0.01)
    assert every[0b1111] == pytest.approx(sum(pairs), rel=0.01)


def test_resampled_covariances_differ_as_a_sample_and_noise_do() -> None:
    found = contrasts(drawn(3000, 1), variance=50.0)
    rng = np.random.default_rng(7)
    shifts = np.array([found.resampled(rng).covariance - found.covariance for _ in range(2000)])
    expected = found.noise + 1.0 / found.rows
    for place in found.places:
        assert not shifts[:, place[:, None], place].any()  # features of one column stay uncorrelated
    upper = np.triu(found._members @ (1.0 - np.eye(len(SIZES))) @ found._members.T, 1) > 0
    ratio = shifts.var(axis=0)[upper] / expected[upper]
    # of 2,000 normal draws a variance is off by .032 (one standard deviation): five of them, for 27 entries
    assert np.abs(ratio - 1.0).max() < 0.16
    assert np.array_equal(shifts, np.swapaxes(shifts, 1, 2))


def test_what_was_not_measured_is_not_resampled() -> None:
    found = as_tree(drawn(3000, 1), 50.0)
    assert found.measured is not None
    shift = found.resampled(np.random.default_rng(1)).covariance - found.covariance
    moved = found._members.T @ np.abs(shift) @ found._members > 0
    assert np.array_equal(moved, found.measured)
