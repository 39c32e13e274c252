"""Whose effect: all, the exposed or the overlap, asked for and chosen, at every door."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.core.statement import EffectTable
from dpcausal.effects.asked import asked_of_data
from dpcausal.effects.measure import measure_effect
from dpcausal.effects.plan import EffectPlan, plan_effect
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.result import NothingKnown
from dpcausal.effects.table import exact_table
from dpcausal.privacy.budget import Allowance, Budget

BIT = dc.Categorical(["no", "yes"])
COLUMNS = tuple(f"z{i}" for i in range(5))


def study(n: int, exposure: float, slope: float) -> dc.Dataset:
    """Each of five columns makes x ``slope`` times as likely, and y likelier; x adds .1 to the risk where z0 is yes."""
    rng = np.random.default_rng(1)
    z = rng.random((n, len(COLUMNS))) < 0.4
    x = rng.random(n) < exposure * slope ** (z.sum(axis=1) - 2.0)
    y = rng.random(n) < 0.05 + 0.04 * z.sum(axis=1) + 0.1 * (x & z[:, 0])
    codes = {name: z[:, i].astype(np.uint8) for i, name in enumerate(COLUMNS)}
    schema = dc.Schema({"x": BIT, "y": BIT, **dict.fromkeys(COLUMNS, BIT)})
    return dc.Dataset(schema, n, {"x": x.astype(np.uint8), "y": y.astype(np.uint8), **codes})


RARE, COMMON = study(20_000, 0.01, 3.0), study(20_000, 0.4, 1.2)
ASKED: dict[str, Any] = {"adjust": COLUMNS, "method": "table"}


def test_a_rare_exposure_is_answered_for_the_exposed_and_a_common_one_for_all() -> None:
    with dc.testing.seeded(1):
        rare, common = (dc.effect(data, "x", "y", epsilon=0.4, **ASKED) for data in (RARE, COMMON))
    assert (rare.population, common.population) == ("exposed", "all")
    assert "among those with x yes" in str(rare).splitlines()[0]
    assert "among all" in str(common).splitlines()[0]
    assert rare.to_dict()["population"] == "exposed"


@pytest.mark.parametrize("estimand", ["risk difference", "risk ratio", "odds ratio"])
@pytest.mark.parametrize("population", ["all", "exposed", "overlap"])
def test_with_a_large_budget_it_is_the_answer_without_privacy(population: str, estimand: str) -> None:
    asked = {**ASKED, "population": population, "estimand": estimand}
    exact = dc.effect(COMMON, "x", "y", epsilon=None, **asked)
    with dc.testing.seeded(1):
        found = dc.effect(COMMON, "x", "y", epsilon=1000.0, **asked)
    assert (exact.population, found.population) == (population, population)
    width = exact.interval[1] - exact.interval[0]
    assert abs(found.estimate - exact.estimate) < 0.1 * width
    assert found.interval == pytest.approx(exact.interval, abs=0.1 * width)


def test_populations_differ_where_effects_do() -> None:
    """The exposed have z0 more often than all; the interval misses the truth with a probability of 1e-4."""
    z0, x = COMMON.codes["z0"] == 1, COMMON.codes["x"] == 1
    asked = {**ASKED, "epsilon": 3.0, "level": 0.9999}
    with dc.testing.seeded(2):
        found = {one: dc.effect(COMMON, "x", "y", population=one, **asked) for one in ("all", "exposed")}
    for population, share in (("all", z0.mean()), ("exposed", z0[x].mean())):
        low, high = found[population].interval
        assert low < 0.1 * share < high
    assert found["exposed"].estimate > found["all"].estimate


def test_an_arm_that_noise_hides_is_said_nothing_about() -> None:
    few = study(300, 0.02, 1.2)
    with dc.testing.seeded(1):
        found = dc.effect(few, "x", "y", epsilon=0.5, anyway=True, **ASKED)
    assert np.isnan(found.estimate)
    assert found.interval == (-1.0, 1.0)
    assert NothingKnown(noise=True) in found.notes


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_share_that_was_kept_answers_for_every_population_from_one_table(neighbours: str) -> None:
    with dc.testing.seeded(1):
        known: dict[str, Any] = {"required": [("x", "y")], "effect": ("x", "y"), "confidence": 0}
        result = dc.discover(RARE, epsilon=2.0, neighbours=neighbours, anyway=True, **known)
        found = {
            one: result.effect("x", "y", population=one, anyway=True, **ASKED)
            for one in ("exposed", "overlap", "auto")
        }
    assert result.reserve.left == 0.0  # the second and third cost nothing
    assert found["exposed"].population == "exposed"
    assert found["overlap"].population == "overlap"
    with pytest.raises(dc.InputError, match="tells the effect in population all"):
        result.effect("x", "y", adjust=[], free=True, population="exposed")


def test_a_population_that_can_t_be_told_is_refused() -> None:
    number = dc.Schema(x=BIT, y=dc.Numeric(0, 10), t=dc.Categorical([0, 1, 2], ordered=True), b=BIT)
    rows = {"x": ["no", "yes"] * 50, "y": [1.0, 2.0] * 50, "t": [0, 1] * 50, "b": ["no", "yes"] * 50}
    data = dc.read(rows, number)
    for treatment, outcome in (("x", "y"), ("t", "b")):
        for ask in (dc.effect, dc.forecast_effect):
            with pytest.raises(dc.InputError, match="population exposed needs the risk of an event"):
                ask(data, treatment, outcome, adjust=[], epsilon=1.0, population="exposed")
    with pytest.raises(dc.InputError, match="mean over the overlap"):
        EffectRequest("x", "y", method="regression", population="all")
    with pytest.raises(dc.InputError, match="must be auto, all, exposed or overlap"):
        EffectRequest("x", "y", population="treated")  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (1.0, 1e-6), (0.05, 0.01)])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_many_strata_have_a_margin_that_is_part_of_the_total(
    neighbours: str, epsilon: float, delta: float
) -> None:
    """Two events, a quarter and the rest, both charged; both tables have noise."""
    asked = {**ASKED, "epsilon": epsilon, "delta": delta, "neighbours": neighbours, "anyway": True}
    with dc.testing.seeded(1):
        found = dc.effect(RARE, "x", "y", **asked)
        few = dc.effect(RARE, "x", "y", **{**asked, "adjust": COLUMNS[:3]})
    tables = [one for one in found.privacy.released if isinstance(one, EffectTable)]
    assert [one.adjust for one in tables] == [(), COLUMNS]
    assert all(one.sd > 0 for one in tables)
    assert len(found.privacy.events) == 2
    assert len(few.privacy.events) == 1  # of few strata the sums have less noise
    assert found.privacy.epsilon <= epsilon
    assert found.privacy.delta <= delta


def test_the_margin_is_not_what_was_counted() -> None:
    exact = exact_table(RARE, plan(1.0).asked.question, ())
    budget = Budget(1.0)
    with dc.testing.seeded(1):
        margin, table = measure_effect(RARE, plan(1.0), budget).released
    assert np.abs(margin.cells - exact.cells).max() > 0
    assert np.std(margin.cells - exact.cells) < 10 * math.sqrt(margin.variance)
    assert float(budget.spent.epsilon) == pytest.approx(1.0)
    assert table.variance < margin.variance


def plan(epsilon: float) -> EffectPlan:
    """What is measured of rare exposures."""
    asked = asked_of_data(RARE, EffectRequest("x", "y", adjust=COLUMNS, method="table"))
    return plan_effect(RARE, asked, Allowance(epsilon, 0.0), RARE.n)
