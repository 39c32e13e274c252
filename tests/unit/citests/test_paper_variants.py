"""gcm, crt and unit-circle as their papers print them: private, with the papers' own noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtri

import dpcausal as dc
from dpcausal.citests import gcm_ridge, unit_circle
from dpcausal.citests.unit_circle import simulated_cuts
from dpcausal.core.entropy import public_generator
from dpcausal.stats.crt import crt_sensitivity
from dpcausal.stats.gcm_ridge import products_sensitivity
from dpcausal.stats.published import circle_bound, crt_bound, products_bound
from dpcausal.stats.unit_circle import unit_circle_sensitivity

SCHEMA = dc.Schema({name: dc.Numeric(-3.0, 3.0) for name in "xyz"})
LAW = dc.LinearGaussian(0.0, {"z": 0.0}, sd=1.0)


def rows(beta: float, seed: int, n: int = 300) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return dc.read({"x": x, "y": beta * x + rng.normal(size=n), "z": rng.normal(size=n)}, SCHEMA)


def recorded(module: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the sensitivity of every mechanism that ``module`` releases through."""
    found: list[float] = []
    release = module.release

    def spy(mechanism: Any, *given: Any) -> Any:
        found.append(mechanism.sensitivity)
        return release(mechanism, *given)

    monkeypatch.setattr(module, "release", spy)
    return found


@pytest.mark.parametrize("strength", [0.01, 0.5, 1.0, 2.0, 10.0, 1000.0])
def test_the_papers_bounds_are_safe(strength: float) -> None:
    assert products_bound(strength) >= products_sensitivity(strength)
    assert crt_bound(strength) >= crt_sensitivity("replace-one", "kernel", strength)


@pytest.mark.parametrize(("n1", "n0"), [(500, 500), (3, 900), (1, 1)])
def test_the_papers_circle_is_safe(n1: int, n0: int) -> None:
    ratio = float(circle_bound(n1, n0, 3.84)) / unit_circle_sensitivity(n1, n0, 3.84)
    assert 1.0 <= ratio <= math.sqrt(2) + 1e-12


def test_gcm_has_the_noise_of_lemma_b_6(monkeypatch: pytest.MonkeyPatch) -> None:
    used = recorded(gcm_ridge, monkeypatch)
    for options in ({}, {"lambda_": 1.0}):
        found = dc.ci_test(
            rows(0.0, 1), "x", "y", ["z"], method="gcm", variant="paper", epsilon=2.0, **options
        )
        assert found.privacy.private
    assert used == [products_bound(10.0), products_bound(1.0)]


def test_crt_is_algorithm_2() -> None:
    """Nineteen copies, a rank, one-sided: at a large epsilon a positive beta ranks first, a negative one last."""
    ask: dict[str, Any] = {"method": "crt", "model": LAW, "variant": "paper"}
    found = dc.ci_test(rows(1.0, 2), "x", "y", ["z"], epsilon=500.0, **ask)
    assert found.privacy.private
    assert found.pvalue == pytest.approx(1 / 20)
    assert dc.ci_test(rows(-1.0, 2), "x", "y", ["z"], epsilon=500.0, **ask).pvalue == pytest.approx(1.0)


def test_crt_as_printed_has_its_own_noise() -> None:
    """P-values at epsilon .01, where the right rank no longer matters: the noise is exponential of scale 2/epsilon, so
    all 20 ranks are nearly as likely. With noise a hundredth of it 40 of 40 would be 1/20: P < 1e-40."""
    pvalues = []
    with dc.testing.seeded(5):
        for _ in range(40):
            found = dc.ci_test(
                rows(1.0, 2), "x", "y", ["z"], epsilon=0.01, method="crt", model=LAW, variant="paper"
            )
            pvalues.append(found.pvalue)
    assert len(set(pvalues)) > 5


def test_crt_as_printed_takes_no_other_score() -> None:
    for more in ({"score": "plain"}, {"release": "rank"}, {"draw": "permutation"}):
        with pytest.raises(dc.InputError, match="leave them out"):
            dc.ci_test(
                rows(0.0, 1), "x", "y", ["z"], epsilon=1.0, method="crt", model=LAW, variant="paper", **more
            )


GROUPS = dc.Schema(group=dc.Categorical(["a", "b"]), outcome=dc.Categorical(["no", "yes"]))


def groups(effect: float, seed: int, n: int = 2000) -> Any:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    outcome = (rng.random(n) < 0.5 + effect * (group - 0.5)).astype(int)
    return dc.read(
        {"group": np.array(["a", "b"])[group], "outcome": np.array(["no", "yes"])[outcome]}, GROUPS
    )


def test_unit_circle_is_algorithm_1(monkeypatch: pytest.MonkeyPatch) -> None:
    used = recorded(unit_circle, monkeypatch)
    ask: dict[str, Any] = {"method": "unit-circle", "variant": "paper", "positives": 1000, "epsilon": 1.0}
    found = dc.ci_test(groups(0.3, 1), "group", "outcome", **ask)
    assert (found.independent, found.pvalue, found.privacy.private) == (False, None, True)
    assert used == [float(circle_bound(1000, 1000, float(chdtri(1, 0.05))))]
    with pytest.raises(dc.InputError, match="positives"):
        dc.ci_test(groups(0.3, 1), "group", "outcome", **{**ask, "positives": None})


def test_the_simulated_cut_keeps_the_level() -> None:
    """400 nulls at level .05 are rejected more than 44 times with a probability below 1e-6."""
    rng, tau, half = np.random.default_rng(8), 3.841458820694124, 1000
    c11, c10 = rng.binomial(half, 0.5, (2, 400, 1))
    length = np.sqrt(((c11 + c10) / half - 1) ** 2 + 2 * (c11 - c10) ** 2 / (tau * half))
    noise = rng.laplace(0, float(circle_bound(half, half, tau)), length.shape)
    with dc.testing.seeded(3):
        cuts = simulated_cuts(half, half, c11 + c10, tau, 1.0, 0.05, public_generator())
    assert (length + noise > cuts).sum() <= 44
