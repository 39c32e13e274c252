"""Private choice of lambda and bandwidth: what it costs, what it says, that a clearly better one is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import TestSettings
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.gcm_ridge import Ridge, RidgeChoice, scores
from dpcausal.citests.regression_columns import RegressionColumns
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import KernelLists
from dpcausal.privacy.budget import Budget

SCHEMA = dc.Schema(x=dc.Numeric(-1, 1), y=dc.Numeric(-1, 1), z=dc.Numeric(0, 1), c=dc.Categorical(["a", "b"]))
ASK: dict[str, Any] = {"method": "gcm", "variant": "moments", "select": True}


@pytest.fixture(scope="module")
def rows() -> dc.Dataset:
    """x and y are waves of z with period 1/4: too fast for a wide kernel."""
    rng = np.random.default_rng(1)
    n = 3000
    z = rng.random(n)
    wave = 0.7 * np.sin(8 * np.pi * z)
    x, y = wave + rng.uniform(-0.3, 0.3, n), wave + rng.uniform(-0.3, 0.3, n)
    return dc.read({"x": x, "y": y, "z": z, "c": rng.choice(["a", "b"], n)}, SCHEMA)


def test_charge_statement_and_reason(rows: dc.Dataset) -> None:
    found = dc.ci_test(rows, "x", "y", ["z"], epsilon=0.7, share=0.3, bandwidths=[0.05, 2.0], **ASK)
    first, second = found.privacy.events
    assert (first["kind"], first["cost"]) == ("pure", 0.3 * 0.7)
    assert "lambda and bandwidth" in first["label"]
    assert second["kind"] == "laplace"
    assert 0.699 < found.privacy.reading["epsilon"] <= 0.7
    assert found.privacy.epsilon == 0.7  # chosen on the way, so the total is the guarantee
    assert any(isinstance(fact, KernelLists) for fact in found.privacy.public)
    assert found.chosen is not None


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 1.7, 3.3])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.33, 0.9])
def test_the_two_charges_fit_the_total(epsilon: float, share: float) -> None:
    columns = RegressionColumns(*np.random.default_rng(0).random((2, 30)), np.zeros((30, 1)), (), (1,))
    budget = Budget(epsilon)
    settings = TestSettings(epsilon, 0.0, 0.05, Neighbours.REPLACE_ONE, 30)
    ridge, left = RidgeChoice((1.0, 2.0), share=share).choose(
        columns, settings, budget, "choice", per_row=False
    )
    ridge.moments(columns, left, budget, "test")
    assert epsilon * (1 - 1e-12) < budget.spent_epsilon() <= epsilon


def test_refused_before_anything_is_drawn(rows: dc.Dataset) -> None:
    budget = Budget(0.1)
    settings = TestSettings(1.0, 0.0, 0.05, Neighbours.REPLACE_ONE, rows.n)
    columns = RegressionColumns(*np.random.default_rng(0).random((2, 30)), np.zeros((30, 1)), (), (1,))
    with pytest.raises(dc.BudgetError):
        RidgeChoice((1.0, 2.0)).choose(columns, settings, budget, "choice", per_row=False)
    assert budget.events == ()


@pytest.mark.slow
def test_a_clearly_better_bandwidth_is_taken(rows: dc.Dataset) -> None:
    """Its score is ahead by 268 at a sensitivity of 6.7: at epsilon 1 another is taken with probability e^-20."""
    with dc.testing.seeded(3):
        for variant in ("moments", "residuals"):
            ask = ASK | {"variant": variant, "bandwidths": (0.05, 0.5, 2.0)}
            found = [
                dc.ci_test(rows, "x", "y", ["z"], epsilon=2.0, share=0.5, lambda_=0.2, **ask)
                for _ in range(5)
            ]
            assert all("bandwidth 0.05 " in result.why for result in found)


def test_levels_beside_z_take_the_exact_path(rows: dc.Dataset) -> None:
    with dc.testing.seeded(3):
        ask = ASK | {"bandwidths": (0.05, 2.0)}
        found = dc.ci_test(rows, "x", "y", ["z", "c"], epsilon=2.0, share=0.5, lambda_=0.2, **ask)
    assert "bandwidth 0.05 " in found.why


def test_noise_is_weighed_against_fit() -> None:
    """With nothing to explain the largest lambda, which needs least noise, is best; with much to explain it is not."""
    rng = np.random.default_rng(2)
    n = 20_000
    z = rng.random((n, 1))
    settings = TestSettings(2.0, 0.0, 0.05, Neighbours.REPLACE_ONE, n)
    candidates = [Ridge(strength, 0.3) for strength in (0.1, 1.0, 10.0)]
    flat = RegressionColumns(*(0.5 + 0.1 * rng.uniform(-1, 1, (2, n))), z, (), (1,))
    noise = [c.noise_scale(flat, settings, per_row=False) for c in candidates]
    assert noise == sorted(noise, reverse=True)
    assert np.argmax(scores(flat, candidates, noise)) == 2
    wave = 0.5 + 0.4 * np.sin(6 * z[:, 0])
    assert np.argmax(scores(RegressionColumns(wave, 1 - wave, z, (), (1,)), candidates, noise)) == 0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_rows_are_no_special_case(n: int) -> None:
    values = {name: np.full(n, 0.5) for name in ("x", "y", "z")}
    schema = SCHEMA.select(["x", "y", "z"])
    data = dc.Dataset(schema, n, {name: np.zeros(n, np.uint8) for name in schema}, values)
    found = dc.ci_test(data, "x", "y", ["z"], epsilon=1.0, **ASK)
    assert found.privacy.epsilon == 1.0


def test_one_candidate_costs_nothing(rows: dc.Dataset) -> None:
    found = dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0, bandwidth=0.1, **ASK)
    assert len(found.privacy.events) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"select": True}, "moments"),
        ({"variant": "moments", "lambdas": (1.0,)}, "select=True"),
        ({"variant": "moments", "select": True, "lambdas": (0.0,)}, "lambda must lie"),
        ({"variant": "moments", "select": True, "bandwidths": (-1.0,)}, "bandwidth must be"),
        ({"variant": "moments", "select": True, "bandwidths": 0.5}, "must be a list"),
        ({"variant": "moments", "select": True, "share": 1.0}, "share must"),
        ({"variant": "moments", "select": True, "lambda_": 1.0, "lambdas": (1.0,)}, "not both"),
    ],
)
def test_bad_options_are_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.InputError, match=words):
        Gcm(**options)


def test_without_privacy_there_is_no_private_choice(rows: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match="private choice"):
        dc.ci_test(rows, "x", "y", ["z"], epsilon=None, **ASK)
    with pytest.raises(dc.InputError, match="replace-one"):
        dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0, neighbours="add-remove", **ASK)
