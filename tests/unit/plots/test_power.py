"""Power curves agree with the plan they are drawn from."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot

import dpcausal as dc
from dpcausal.planning.plan import Plan
from dpcausal.plots import plot_power


def planned() -> Plan:
    yes_no = dc.Categorical(["no", "yes"])
    return dc.plan(dc.Schema(a=yes_no, b=yes_no, c=yes_no, d=yes_no), rows=5000, epsilon=1.0)


def test_a_plan_draws_itself_on_given_axes_or_new_ones() -> None:
    _, ax = pyplot.subplots()
    assert planned().plot(ax) is ax
    labels = [line.get_label() for line in ax.lines]
    assert labels == [line.get_label() for line in planned().plot().lines]
    assert {f"order {order}" for order in planned().testable_orders} <= set(labels)
    pyplot.close("all")


def test_power_rises_from_the_level_and_passes_the_plans_own_number() -> None:
    plan = planned()
    axes = plot_power(plan)
    curves = [line for line in axes.lines if str(line.get_label()).startswith("order")]
    assert len(curves) == len(plan.testable_orders)
    for line, order in zip(curves, (o for o in plan.orders if o.testable), strict=True):
        w, power = line.get_data()
        assert power[0] == pytest.approx(plan.aim.level, abs=0.02)
        assert all(a <= b + 1e-9 for a, b in pairwise(power))
        beyond = [p for size, p in zip(w, power, strict=True) if size >= order.smallest]
        assert all(p >= plan.aim.power - 0.01 for p in beyond)
