"""The plan's arithmetic is the test's: ``PartialForms`` and the compiled ``partial_form`` agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpcausal.stats.partial import PartialForms, block_noise, log_central_odds, partial_test


@pytest.mark.parametrize("given", [(), (2,), (3, 2)])
@pytest.mark.parametrize(("r", "c"), [(2, 2), (3, 4), (5, 2)])
@pytest.mark.parametrize("loud", [0.0, 30.0, 3000.0])
def test_both_ways_agree(r: int, c: int, given: tuple[int, ...], loud: float) -> None:
    rng = np.random.default_rng(7)
    k = int(np.prod(given, dtype=int)) if given else 1
    table = rng.multinomial(5000, np.full(r * c * k, 1 / (r * c * k))).reshape(k, r, c).astype(float)
    noise = [block_noise(given, tuple(loud * rng.random(2 ** len(given)))) for _ in range(3)]
    xs = np.ascontiguousarray(table.sum(axis=2).T) + np.sqrt(loud) * rng.normal(size=(r, k))
    ys = np.ascontiguousarray(table.sum(axis=1).T) + np.sqrt(loud) * rng.normal(size=(c, k))
    margins = [(xs, ys), (2 * xs, 2 * ys + 1)]
    both = (np.stack([one for one, _ in margins]), np.stack([other for _, other in margins]))
    forms = PartialForms.of(*both, (loud, noise[0], noise[1], noise[2]))
    for xy in (table.sum(axis=0), table.sum(axis=0) + 50 * rng.normal(size=(r, c))):
        for i, (form, margin) in enumerate(zip(forms.forms(xy), margins, strict=True)):
            one = partial_test(xy, *margin, loud, *noise)
            assert form == pytest.approx(one.form, rel=1e-7, abs=1e-9)
            assert forms.free[i] == pytest.approx(one.free, rel=1e-9)
            assert forms.error[i] == pytest.approx(one.error, rel=1e-9)
            for least in (0.9, 1.1):
                assert forms.informative(least * one.free / one.error)[i] == (least < 1)


@pytest.mark.parametrize("dof", [1, 2, 9, 40])
def test_the_odds_of_the_central_law_are_those_of_scipy(dof: int) -> None:
    for form in (0.01, 1.0, 30.0, 900.0):
        for shift in (0.5, 20.0, 400.0):
            known = stats.chi2.logpdf(form, dof) - stats.ncx2.logpdf(form, dof, shift)
            assert log_central_odds(form, dof, shift) == pytest.approx(known, abs=1e-6, rel=1e-6)
    assert log_central_odds(0.0, dof, 8.0) == 4.0
    assert log_central_odds(1e6, dof, 1e6) < 0 < log_central_odds(float(dof), dof, 1e6)
