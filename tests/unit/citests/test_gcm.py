"""gcm as a test: every variant, both relations, mixed columns, what the statement says, refusals, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dpcausal as dc
from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.gcm import RELEASES, Gcm
from dpcausal.citests.regression_columns import columns_of
from dpcausal.cli.app import app
from dpcausal.core.statement import SettingKnown
from dpcausal.counts.memory import counts_of
from dpcausal.regression.ridge import MAX_EXACT_ROWS
from dpcausal.regression.rounding import products_error, squares_error
from dpcausal.stats.gcm_ridge import squares_sensitivity, sum_sensitivity, weight_bound

SCHEMA = dc.Schema(
    x=dc.Numeric(-6, 6),
    y=dc.Numeric(-6, 6),
    w=dc.Numeric(-6, 6),
    z=dc.Numeric(-4, 4),
    c=dc.Categorical(["a", "b", "c"]),
    o=dc.Categorical(["low", "mid", "high"], ordered=True),
)


@pytest.fixture(scope="module")
def rows() -> dc.Dataset:
    """y follows x; w and x both follow z and c, and nothing else joins them; o follows x."""
    rng = np.random.default_rng(8)
    n = 3000
    z, c = rng.normal(size=n), rng.integers(0, 3, n)
    x = np.sin(2 * z) + c + rng.normal(0, 0.7, n)
    y = x + rng.normal(0, 0.7, n)
    w = -np.sin(2 * z) - c + rng.normal(0, 0.7, n)
    columns = {"x": x, "y": y, "w": w, "z": z, "c": np.array(["a", "b", "c"])[c]}
    columns["o"] = np.array(["low", "mid", "high"])[np.digitize(x, [0, 2])]
    return dc.read(columns, SCHEMA)


@pytest.mark.thin(2)
@pytest.mark.parametrize("variant", RELEASES)
@pytest.mark.parametrize("epsilon", [None, 50.0])
def test_every_variant_sees_a_strong_dependence(
    rows: dc.Dataset, variant: str, epsilon: float | None
) -> None:
    found = dc.ci_test(rows, "x", "y", ["z", "c"], method="gcm", variant=variant, epsilon=epsilon)
    if (variant, epsilon) != ("residuals", 50.0):  # n noises: the paper's test has little power
        assert not found.independent
    assert found.privacy.private == (epsilon is not None)
    if epsilon is not None:
        assert found.privacy.epsilon == pytest.approx(epsilon)
        assert len(found.privacy.events) == 1


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_default_takes_z_out(rows: dc.Dataset, neighbours: str) -> None:
    call: dict[str, Any] = {"method": "gcm", "epsilon": 5.0, "neighbours": neighbours}
    with dc.testing.seeded(1):
        assert dc.ci_test(rows, "x", "w", ["z", "c"], level=0.001, **call).independent
        assert not dc.ci_test(rows, "x", "w", ["z"], level=0.001, **call).independent
        assert not dc.ci_test(rows, "x", "w", level=0.001, **call).independent
        assert not dc.ci_test(rows, "o", "y", ["z", "c"], level=0.001, **call).independent
    assert dc.ci_test(rows, "x", "w", ["z", "c"], level=0.001, method="gcm", epsilon=None).independent


def test_statement_says_what_is_public(rows: dc.Dataset) -> None:
    parts = dc.ci_test(rows, "x", "y", ["z"], method="gcm", epsilon=1.0).privacy
    assert any("number of parts" in words for words in parts.to_dict()["public"])
    assert "cut scores" in parts.to_dict()["released"][0]
    ridge = dc.ci_test(
        rows, "x", "y", ["z"], method="gcm", variant="moments", lambda_=3.0, epsilon=1.0
    ).privacy
    assert any(
        "lambda (3)" in words and "bandwidth (default)" in words for words in ridge.to_dict()["public"]
    )
    assert any("bounds" in words for words in ridge.to_dict()["public"])
    bins = dc.ci_test(rows, "x", "y", ["z"], method="gcm", variant="bins", epsilon=1.0).privacy
    assert SettingKnown("strata") in bins.public


@pytest.mark.parametrize("variant", ["moments", "residuals"])
def test_kernel_ridge_needs_a_public_n(rows: dc.Dataset, variant: str) -> None:
    budget_like: dict[str, Any] = {"method": "gcm", "variant": variant, "neighbours": "add-remove"}
    with pytest.raises(dc.InputError, match="replace-one"):
        dc.ci_test(rows, "x", "y", ["z"], epsilon=1.0, **budget_like)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variant": "binz"}, "variant must be"),
        ({"kernel": "laplace"}, "kernel must be"),
        ({"bins": 0}, "bins must be"),
        ({"parts": 1.5}, "parts must be"),
        ({"lambda_": 0.0}, "lambda"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwith": 1.0}, "no option"),
    ],
)
def test_bad_options_are_one_line(rows: dc.Dataset, options: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.InputError, match=words):
        dc.ci_test(rows, "x", "y", ["z"], method="gcm", epsilon=1.0, **options)


def test_what_it_can_not_be_asked(rows: dc.Dataset) -> None:
    for variant in RELEASES:
        if variant != "parts":
            with pytest.raises(dc.InputError, match="ordered levels"):
                dc.ci_test(rows, "x", "c", method="gcm", variant=variant, epsilon=1.0)
    with pytest.raises(dc.InputError, match="rows themselves"):
        dc.ci_test(counts_of(rows), "x", "y", method="gcm", epsilon=1.0)


@pytest.mark.parametrize("n", [0, 1, 2, 40])
@pytest.mark.parametrize("variant", RELEASES)
def test_few_or_constant_rows_are_no_special_case(n: int, variant: str) -> None:
    schema = dc.Schema(x=dc.Numeric(0, 1), y=dc.Numeric(0, 1), z=dc.Numeric(0, 1))
    flat = {name: np.full(n, 0.5) for name in schema}
    data = dc.Dataset(schema, n, {name: np.zeros(n, np.uint8) for name in schema}, flat)
    dc.ci_test(data, "x", "y", ["z"], method="gcm", variant=variant, epsilon=1.0, anyway=True)
    found = dc.ci_test(data, "x", "y", ["z"], method="gcm", variant=variant, epsilon=None)
    assert found.pvalue is not None
    assert 0 <= found.pvalue <= 1


def test_seeded_runs_repeat(rows: dc.Dataset) -> None:
    found = []
    for _ in range(2):
        with dc.testing.seeded(5):
            found.append(dc.ci_test(rows, "x", "y", ["z"], method="gcm", epsilon=0.5).statistic)
    assert found[0] == found[1]


@pytest.mark.parametrize("method", ["gcm", "test-of-tests:gcm"])
def test_on_the_command_line(method: str, rows: dc.Dataset, tmp_path: Path) -> None:
    table = np.column_stack([rows.values[name] for name in ("x", "y", "z")])
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header="x,y,z", comments="")
    SCHEMA.select(["x", "y", "z"]).write(tmp_path / "schema.toml")
    asked = ["--schema", str(tmp_path / "schema.toml"), "--x", "x", "--y", "y", "--given", "z", "--json"]
    result = CliRunner().invoke(
        app, ["test", str(tmp_path / "rows.csv"), *asked, "--method", method, "--epsilon", "5"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["method"] == method
    assert found["independent"] is False


@pytest.mark.parametrize("lambda_", [0.01, 1.0, 100.0])
def test_the_noise_of_moments_covers_both_moments_and_what_floats_add(
    rows: dc.Dataset, lambda_: float
) -> None:
    relation, columns = dc.Neighbours.REPLACE_ONE, columns_of(Question.of(rows.schema, "x", "y", ["z"]), rows)
    settings = TestSettings(epsilon=1.0, delta=0.0, level=0.05, neighbours=relation, n=rows.n)
    ridge = Gcm(variant="moments", lambda_=lambda_).ridge
    mechanism, weight = ridge._moments_noise(columns, settings)
    eta = ridge.error(columns, exact=rows.n <= MAX_EXACT_ROWS)
    exact = sum_sensitivity(lambda_, relation) + weight * squares_sensitivity(lambda_, relation)
    rounding = products_error(rows.n, eta) + weight * squares_error(rows.n, eta, 1 + weight_bound(lambda_))
    assert rounding > 1e-15 * exact  # else the next line might pass without it
    assert mechanism.sensitivity == pytest.approx(exact + 2 * rounding, rel=1e-15)
