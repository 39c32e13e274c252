"""Evidence within sites, added up: exact identities, the claimed noise, and the level where margins differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom, chi2

from dpcausal.stats.components import interaction
from dpcausal.stats.contrasts import UNKNOWN, Contrasts, Features
from dpcausal.stats.within_sites import SiteTables, WithinSites

SIZES = (2, 3, 4)
PAIRS = ((0, 1), (0, 2), (1, 2))
FAIL = 1e-6  # probability with which a test of this file that draws may fail by chance
Codes = np.ndarray


def draw(rng: np.random.Generator, rows: int, shift: float = 0.0) -> Codes:
    """Three columns of which each follows the one before; ``shift`` moves all margins."""
    first = (rng.random(rows) < 0.4 + shift).astype(int)
    second = np.where(rng.random(rows) < 0.5, first, rng.choice(3, rows, p=[0.5 - shift, 0.3, 0.2 + shift]))
    third = np.where(rng.random(rows) < 0.4, second, rng.integers(0, 4, rows))
    return np.array([first, second, third])


def apart(rng: np.random.Generator, rows: int, margin: float) -> Codes:
    """Three independent columns, of which the last level of each has this share."""
    return np.array([
        np.where(rng.random(rows) < margin, size - 1, rng.integers(0, size - 1, rows)) for size in SIZES
    ])  # fmt: skip


def tables(
    codes: Codes,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
    columns: Sequence[int] = (0, 1, 2),
) -> SiteTables:
    """What a site with these rows releases, with normal noise of this variance in every direction."""

    def released(exact: np.ndarray) -> np.ndarray:
        drawn = 0.0 if rng is None else rng.normal(0.0, math.sqrt(noise), exact.shape)
        return interaction(exact + drawn)

    rows = codes.shape[1]
    singles, pairs = {}, {}
    for j in columns:
        counts = np.bincount(codes[j], minlength=SIZES[j]).astype(float)
        singles[j] = released(counts) + rows / SIZES[j]
    for i, j in PAIRS:
        if i in columns and j in columns:
            table = np.zeros((SIZES[i], SIZES[j]))
            np.add.at(table, (codes[i], codes[j]), 1.0)
            pairs[i, j] = released(table)
    every = dict.fromkeys([*((j,) for j in singles), *pairs], noise)
    return SiteTables(float(rows), singles, pairs, every)


def alone(site: SiteTables) -> Contrasts:
    """The same tables as those of one data set."""
    features = [Features.of(site.singles[j], site.rows, site.noise[j,]) for j in site.singles]
    return Contrasts.of(features, site.rows, site.pairs, site.noise)


def test_sites_with_the_same_proportions_show_what_all_rows_show() -> None:
    """To rounding: every row of the whole is in each of the three sites."""
    part = draw(np.random.default_rng(1), 500)
    whole = alone(tables(np.concatenate([part] * 3, axis=1)))
    pooled = WithinSites([tables(part)] * 3, SIZES).contrasts()
    assert pooled.rows == whole.rows == 1500
    np.testing.assert_allclose(pooled.pair_evidence, whole.pair_evidence, rtol=1e-9)
    np.testing.assert_allclose(pooled.strength, whole.strength, rtol=1e-9, atol=1e-12)
    given = [(0, 2, (1,)), (0, 1, (2,))]
    np.testing.assert_allclose(pooled.evidence_given(given), whole.evidence_given(given), rtol=1e-9)


def test_within_sites_and_between_them_is_all_there_is() -> None:
    """The law of total covariance, to rounding, for sites that are a random split of some rows."""
    rng = np.random.default_rng(2)
    codes = draw(rng, 3000)
    part = rng.integers(0, 4, 3000)
    sites = [codes[:, part == k] for k in range(4)]
    found = WithinSites([tables(site) for site in sites], SIZES)
    pooled = found.contrasts()
    scores = [one.scores[column] for one, column in zip(found.columns, codes, strict=True)]
    for i, j in PAIRS:
        far = [
            np.outer(*(scores[k][part == s].mean(axis=0) - scores[k].mean(axis=0) for k in (i, j)))
            for s in range(4)
        ]
        between = sum(site.shape[1] / 3000 * one for site, one in zip(sites, far, strict=True))
        whole = np.cov(scores[i].T, scores[j].T, bias=True)[: SIZES[i] - 1, SIZES[i] - 1 :]
        block = pooled.covariance[np.ix_(pooled.places[i], pooled.places[j])]
        np.testing.assert_allclose(block + between, whole, atol=1e-12)


def test_features_have_variance_one_within_sites() -> None:
    rng = np.random.default_rng(3)
    sites = [draw(rng, rows, shift) for rows, shift in ((800, -0.15), (2000, 0.4))]
    found = WithinSites([tables(site) for site in sites], SIZES)
    for j, features in enumerate(found.columns):
        within = sum(
            site.shape[1] / 2800 * np.atleast_2d(np.cov(features.scores[site[j]].T, bias=True))
            for site in sites
        )
        np.testing.assert_allclose(within, np.eye(SIZES[j] - 1), atol=1e-9)


def test_noise_has_the_variance_that_is_claimed() -> None:
    """Over many draws of noise on the same rows; a claim a third too large or too small is seen."""
    rng = np.random.default_rng(4)
    sites, noises, draws = [draw(rng, 900), draw(rng, 1500)], (150.0, 900.0), 1000
    exact = WithinSites([tables(site, noise) for site, noise in zip(sites, noises, strict=True)], SIZES)
    fixed = exact.contrasts()
    squares = np.zeros_like(fixed.noise)
    for _ in range(draws):
        released = [tables(site, noise, rng) for site, noise in zip(sites, noises, strict=True)]
        again = WithinSites(released, SIZES)
        again.columns = exact.columns  # of features made from other margins nothing is claimed
        squares += (again.contrasts().covariance - fixed.covariance) ** 2
    ratios = np.concatenate([
        (squares / draws / np.maximum(fixed.noise, 1e-300))[np.ix_(fixed.places[i], fixed.places[j])].ravel()
        for i, j in PAIRS
    ])  # fmt: skip
    low, high = (chi2.ppf(q, draws) / draws for q in (FAIL / len(ratios) / 2, 1 - FAIL / len(ratios) / 2))
    assert 3 / 4 < low / 1.02 < ratios.min()  # 2%: products of two noises, and what sampling adds
    assert ratios.max() < high * 1.02 < 4 / 3


def test_margins_that_differ_make_no_link() -> None:
    """Level: independent inside each of two sites with opposite margins; one table of all rows finds a link always."""
    rng, repeats, enough = np.random.default_rng(5), 150, 0.5
    found = summed = 0
    for _ in range(repeats):
        sites = [apart(rng, 2000, 0.2), apart(rng, 2000, 0.8)]
        pooled = WithinSites([tables(site, 100.0, rng) for site in sites], SIZES).contrasts()
        whole = alone(tables(np.concatenate(sites, axis=1), 200.0, rng))
        found += sum(pooled.pair_evidence[pair] > enough for pair in PAIRS)
        summed += sum(whole.pair_evidence[pair] > enough for pair in PAIRS)
    assert summed == 3 * repeats
    assert found <= binom.ppf(1 - FAIL, 3 * repeats, 0.05)


def test_the_same_dependence_is_not_called_different() -> None:
    rng, repeats = np.random.default_rng(6), 150
    pvalues = []
    for _ in range(repeats):
        sites = [tables(draw(rng, rows), noise, rng) for rows, noise in ((1000, 100.0), (2500, 900.0))]
        pvalues += [WithinSites(sites, SIZES).differ()[pair] for pair in PAIRS]
    # Q is about chi-squared: entries that depend vary by a little less or more than those that do not
    assert np.mean(np.array(pvalues) < 0.01) <= binom.ppf(1 - FAIL, 3 * repeats, 0.03) / (3 * repeats)


def test_a_dependence_of_one_site_alone_is_called_different() -> None:
    rng = np.random.default_rng(7)
    linked, free = draw(rng, 4000), apart(rng, 4000, 0.3)
    pvalues = WithinSites([tables(linked), tables(free)], SIZES).differ()
    assert pvalues[0, 1] < 1e-6
    assert WithinSites([tables(linked)], SIZES).differ()[0, 1] == 1.0


def test_a_site_with_much_noise_counts_little() -> None:
    rng = np.random.default_rng(8)
    good, bad = draw(rng, 2000), draw(rng, 2000)
    one = WithinSites([tables(good, 50.0)], SIZES).contrasts()
    both = WithinSites([tables(good, 50.0), tables(bad, 1e6)], SIZES)
    pooled = both.contrasts()
    block = np.ix_(pooled.places[0], pooled.places[1])
    assert (pooled.noise[block] + 1 / pooled.rows <= one.noise[block] + 1 / one.rows + 1e-12).all()
    near, far = ((pooled.covariance[block] - other) ** 2 for other in _values(both))
    assert near.sum() < 1e-3 * far.sum()


def _values(found: WithinSites) -> list[np.ndarray]:
    return [one.value for one in found._blocks[0, 1]]


def test_a_pair_that_no_site_has_is_unknown() -> None:
    rng = np.random.default_rng(9)
    sites = [
        tables(draw(rng, 1000), 10.0, rng, columns=(0, 1)),
        tables(draw(rng, 1000), 10.0, rng, columns=(1, 2)),
    ]
    pooled = WithinSites(sites, SIZES).contrasts()
    gains = np.outer(pooled.columns[0].gains, pooled.columns[2].gains)
    block = np.ix_(pooled.places[0], pooled.places[2])
    np.testing.assert_allclose(pooled.noise[block], UNKNOWN * gains)
    assert abs(pooled.pair_evidence[0, 2]) < 0.1 < pooled.pair_evidence[0, 1]


@pytest.mark.parametrize("noise", [0.0, 400.0])
def test_one_site_alone_shows_what_it_shows_by_itself(noise: float) -> None:
    site = tables(draw(np.random.default_rng(10), 3000), noise, np.random.default_rng(11))
    np.testing.assert_allclose(
        WithinSites([site], SIZES).contrasts().pair_evidence, alone(site).pair_evidence, rtol=1e-6, atol=1e-6
    )
