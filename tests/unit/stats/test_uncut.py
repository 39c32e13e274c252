"""Numbers behind bins: the series against an integral, and who is found linked given a number that was cut."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, norm

from dpcausal.discovery.measured.tables import Components
from dpcausal.stats.components import interaction
from dpcausal.stats.contrasts import Contrasts, Features
from dpcausal.stats.uncut import MOST, Uncut, bent, from_series, hermite, trend_of

Floats = NDArray[np.float64]


def of_normal(cuts: list[float]) -> Features:
    """The features of a standard normal number with these cuts."""
    edges = np.array([-np.inf, *cuts, np.inf])
    return Features.of(1e6 * np.diff(norm.cdf(edges)), 1e6, 0.0)


def trend_values(features: Features) -> Floats:
    """The values of the trend of every level."""
    return np.asarray(features.scores @ trend_of(features))


def cells(first: list[float], second: list[float], q: float) -> Floats:
    """Probabilities of the bins of two normal numbers with correlation q, by integration."""
    ends = [np.array([-9.0, *cuts, 9.0]) for cuts in (first, second)]
    law = multivariate_normal([0.0, 0.0], [[1.0, q], [q, 1.0]])
    below = np.array([[law.cdf([a, b]) for b in ends[1]] for a in ends[0]])
    return np.diff(np.diff(below, axis=0), axis=1)


def contrasts_of(columns: list[Floats], cuts: list[list[float]]) -> Contrasts:
    """Contrasts of exact tables of these numbers, cut."""
    rows, sizes = len(columns[0]), [len(one) + 1 for one in cuts]
    codes = [np.digitize(column, one) for column, one in zip(columns, cuts, strict=True)]
    exact: list[tuple[tuple[int, ...], NDArray[np.float64]]] = [((), np.array(float(rows)))]
    for j, code in enumerate(codes):
        exact.append(((j,), interaction(np.bincount(code, minlength=sizes[j]).astype(float))))
        for i in range(j):
            both = np.bincount(codes[i] * sizes[j] + code, minlength=sizes[i] * sizes[j])
            exact.append(((i, j), interaction(both.astype(float).reshape(sizes[i], sizes[j]))))
    tables = Components(sizes).with_measured(exact, 0.0)
    return tables.contrasts(float(rows))


@pytest.mark.parametrize(
    ("first", "second"), [([0.0], [0.0]), ([-0.5, 0.5], [0.3]), ([-1.0, -0.3, 0.3, 1.0], [-0.7, 1.2])]
)
@pytest.mark.parametrize("q", [-0.7, -0.2, 0.0, 0.4, 0.8])
def test_the_covariance_of_trends_gives_the_correlation_back(
    first: list[float], second: list[float], q: float
) -> None:
    one, other = of_normal(first), of_normal(second)
    value = trend_values(one) @ cells(first, second, q) @ trend_values(other)
    series = hermite(one.proportions, trend_values(one)) * hermite(other.proportions, trend_values(other))
    assert from_series(series, float(value))[0] == pytest.approx(q, abs=0.01)


@pytest.mark.parametrize("q", [-0.6, 0.3, 0.7])
def test_the_covariance_of_bent_parts_gives_that_of_squares(q: float) -> None:
    cuts = [-1.0, 0.0, 1.0]
    one = of_normal(cuts)
    part = bent(one, trend_of(one))
    assert part is not None
    values = one.scores @ part
    series = hermite(one.proportions, values)[1::2] ** 2
    assert from_series(series, float(values @ cells(cuts, cuts, q) @ values))[0] == pytest.approx(
        q * q, abs=0.02
    )


def test_a_slope_is_that_of_the_series_and_a_correlation_has_a_limit() -> None:
    series = hermite(np.array([0.5, 0.5]), np.array([-1.0, 1.0])) ** 2
    q, slope = from_series(series, 0.3)
    further, _ = from_series(series, 0.3 + 1e-4)
    assert 1e-4 / (further - q) == pytest.approx(slope, rel=1e-2)
    assert from_series(series, 5.0)[0] == pytest.approx(MOST)
    assert from_series(-series, 0.3)[0] == pytest.approx(-q)


def test_bins_that_show_nothing_of_the_square_have_no_bent_part() -> None:
    uneven = Features.of(np.array([5e5, 4.999e5, 1e2]), 1e6, 0.0)
    assert bent(uneven, trend_of(uneven)) is None


def triple(seed: int, rows: int, link: float) -> list[Floats]:
    """Numbers x <- z -> y, and y depends on x by ``link``."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows)
    x = z + rng.normal(size=rows)
    y = z + link * x + rng.normal(size=rows)
    return [one / one.std() for one in (x, y, z)]


@pytest.mark.parametrize("cuts", [[0.0], [-0.5, 0.5], [-1.0, -0.3, 0.3, 1.0]])
def test_what_bins_leave_is_no_link_and_a_link_is_one(cuts: list[float]) -> None:
    fake, real = (contrasts_of(triple(3, 20_000, link), [cuts] * 3) for link in (0.0, 0.4))
    as_seen = fake.evidence(0, 1, (2,))
    assert as_seen is not None
    assert as_seen > 5
    answer = Uncut(fake, {0, 1, 2}, 0.2).ask(0, 1, (2,))
    linked = Uncut(real, {0, 1, 2}, 0.2).ask(0, 1, (2,))
    assert answer is not None
    assert linked is not None
    assert answer.evidence < 0 < 20 < linked.evidence
    assert answer.would_show > 20


def test_only_columns_that_are_cut_are_uncut() -> None:
    contrasts = contrasts_of(triple(4, 50_000, 0.0), [[-0.5, 0.5]] * 3)
    answer = Uncut(contrasts, set(), 0.2).ask(0, 1, (2,))
    as_seen = contrasts.evidence(0, 1, (2,))
    assert answer is not None
    assert as_seen is not None
    assert answer.evidence == pytest.approx(as_seen, rel=0.05)


@pytest.mark.parametrize("cuts", [[0.0], [-0.5, 0.5], [-1.0, -0.3, 0.3, 1.0]])
def test_what_bins_make_seldom_passes_for_a_link(cuts: list[float]) -> None:
    """Were entries normal, the evidence would pass log c with probability 1/c at most (``contrasts.py``)."""
    high = 0
    for seed in range(200):
        contrasts = contrasts_of(triple(100 + seed, 20_000, 0.0), [cuts] * 3)
        answer = Uncut(contrasts, {0, 1, 2}, 0.2).ask(0, 1, (2,))
        assert answer is not None
        high += answer.evidence > np.log(100)
    assert high <= 8  # 9 or more of 200 at 1/100: probability 2.1e-4


def test_a_link_that_bends_is_seen() -> None:
    rng = np.random.default_rng(5)
    z, x = rng.normal(size=(2, 20_000))
    x = (x + z) / np.sqrt(2)
    y = 0.5 * (x * x - 1) + z + rng.normal(size=20_000)
    contrasts = contrasts_of([x, y / y.std(), z], [[-0.7, 0.0, 0.7]] * 3)
    answer = Uncut(contrasts, {0, 1, 2}, 0.2).ask(0, 1, (2,))
    assert answer is not None
    assert answer.evidence > 20


def test_where_nothing_is_left_there_is_no_answer() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 5_000))
    contrasts = contrasts_of([x, y, x], [[-0.5, 0.5]] * 3)
    assert Uncut(contrasts, {0, 1, 2}, 0.2).ask(0, 1, (2,)) is None


def test_noise_makes_it_say_less() -> None:
    exact = contrasts_of(triple(7, 5_000, 0.0), [[-0.5, 0.5]] * 3)
    noisy = Contrasts(exact.columns, exact.rows, exact.covariance, exact.noise + 0.01)
    first, second = (Uncut(one, {0, 1, 2}, 0.2).ask(0, 1, (2,)) for one in (exact, noisy))
    assert first is not None
    assert second is not None
    assert first.would_show > second.would_show
