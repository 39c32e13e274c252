"""Level and power of the shipped private tests, mechanisms included, on simulated tables with fixed seeds.

A small version of ``benchmarks/citests.py``. A rate over B data sets is compared with the quantiles of Binomial(B, p)
at ``FAILURE``, p the ends of the range the test claims for its level (``stats/kendall_null.py`` for ranks): a correct
test fails with probability at most 2e-6 per assertion, over the choice of seed. In the loud settings noise rules, so
that a scale 30% off in the p-value is far outside; ``test_a_noise_scale_30_percent_off_is_caught`` shows that it is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

import dpcausal.citests.base as base_module
import dpcausal.citests.measured as measured_module

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from citests_designs import EFFECT, Setting, rejections  # lives in benchmarks/

FAILURE = 1e-6
CLAIMED = {"kendall": (0.042, 0.056), "spearman": (0.042, 0.056), "measured": (0.035, 0.065)}
DRAWS = {"kendall": 4000, "spearman": 4000, "measured": 2000}

LOUD = [  # noise well above sampling: 2x2 and 3x3, one block and many, both relations
    Setting("kendall", "balanced", "replace-one", 500, 64, 0.1),
    Setting("kendall", "three-rare", "add-remove", 1000, 8, 0.1),
    Setting("spearman", "balanced", "replace-one", 500, 8, 0.1),
    Setting("measured", "balanced", "replace-one", 20000, 8, 0.05),
]


def within(setting: Setting) -> bool:
    """Whether the rate at one seed lies between the quantiles of the claimed levels."""
    low, high = CLAIMED[setting.method]
    draws = DRAWS[setting.method]
    found, _ = rejections(setting, draws, classical=False)
    return bool(binom.ppf(FAILURE, draws, low) <= found <= binom.isf(FAILURE, draws, high))


@pytest.mark.thin(2)
@pytest.mark.parametrize("setting", LOUD, ids=lambda s: s.key)
def test_level_where_noise_rules(setting: Setting) -> None:
    assert within(setting)


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "setting",
    [
        Setting("kendall", "confounded", "add-remove", 1000, 8, 1.0),
        Setting("kendall", "rare", "replace-one", 500, 64, 2.0),
        Setting("spearman", "three", "add-remove", 1000, 8, 1.0),
        Setting("measured", "confounded", "replace-one", 1000, 8, 1.0),
    ],
    ids=lambda s: s.key,
)
def test_level_where_sampling_rules(setting: Setting) -> None:
    assert within(setting)


@pytest.mark.thin(2)
@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize("setting", LOUD, ids=lambda s: s.key)
def test_a_noise_scale_30_percent_off_is_caught(
    setting: Setting, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pvalue, test = base_module.laplace_tail, measured_module.measured_test

    def wrong_pvalue(statistic: Any, variance: Any, scale: float) -> Any:
        return pvalue(statistic, variance, factor * scale)

    def wrong_test(table: Any, variance: Any, **keywords: Any) -> Any:
        return test(table, factor**2 * variance, **keywords)

    monkeypatch.setattr(base_module, "laplace_tail", wrong_pvalue)
    monkeypatch.setattr(measured_module, "measured_test", wrong_test)
    assert not within(setting)


@pytest.mark.thin(4)
@pytest.mark.parametrize("method", ["chi2", "test-of-tests"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_tests_on_parts_stay_below_their_level(method: str, relation: str) -> None:
    draws = 250
    found, _ = rejections(Setting(method, "balanced", relation, 1000, 1, 2.0), draws, classical=False)
    assert found <= binom.isf(FAILURE, draws, 0.05)


def test_power_of_kendall() -> None:
    """n = 1,000, k = 64, epsilon = 1, replace-one: at least .90 where the test without privacy has .97.

    Measured .95 and .975 over 2,000 data sets: powers of .94 and .96 would fail with probability below 1e-6.
    """
    draws = 2000
    private, classical = rejections(
        Setting("kendall", "balanced", "replace-one", 1000, 64, 1.0, EFFECT), draws
    )
    assert binom.ppf(FAILURE, draws, 0.94) <= private
    assert binom.ppf(FAILURE, draws, 0.94) > 0.90 * draws
    assert binom.ppf(FAILURE, draws, 0.96) <= classical
