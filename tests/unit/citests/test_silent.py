"""Whatever the rows hold, an answer comes without an exception and without a warning: either would tell of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dpcausal as dc

UNIT = dc.Schema(x=dc.Numeric(0, 1), y=dc.Numeric(0, 1), z=dc.Numeric(0, 1))
WIDE = dc.Schema(x=dc.Numeric(-1e100, 1e100), y=dc.Numeric(-1e100, 1e100), z=dc.Numeric(-1e100, 1e100))
CRT = {"model": dc.LinearGaussian(1e100, {"z": -1e100}, 1e-100)}
METHODS = [
    ("gcm", {}),
    ("gcm", {"variant": "weighted", "parts": 1}),
    ("gcm", {"variant": "moments"}),
    ("gcm", {"variant": "bins"}),
    ("test-of-tests:gcm", {}),
    ("kendall", {}),
    ("spearman", {}),
    ("crt", CRT),
    ("crt", {**CRT, "score": "plain"}),
    ("crt", {**CRT, "score": "kernel"}),
]
SPECIAL = [0.0, 1e-161, 5e-324, 1e-271, 1.0, 1e100, -1e100, 1e308, -1e308, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize(
    ("method", "options"), METHODS, ids=[f"{m}-{len(o)}-{i}" for i, (m, o) in enumerate(METHODS)]
)
@pytest.mark.parametrize("schema", [UNIT, WIDE], ids=["unit", "wide"])
def test_no_row_is_heard(method: str, options: dict[str, object], schema: dc.Schema) -> None:
    rng = np.random.default_rng(1)
    for n in (3, 7, 60):
        for _ in range(8):
            columns = {name: rng.choice(SPECIAL, n) for name in "xyz"}
            data = dc.read(columns, schema)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = dc.ci_test(data, "x", "y", ["z"], method=method, epsilon=1.0, anyway=True, **options)
            assert found.privacy.epsilon <= 1.0


def test_two_tiny_rows_do_not_stop_the_weighted_test() -> None:
    """Products of residuals that vanish: once a ZeroDivisionError, by two rows of sixty."""
    x = np.zeros(60)
    x[[3, 40]] = 1e-161
    data = dc.read({"x": x, "y": x, "z": np.linspace(0, 1, 60)}, UNIT)
    for seed in range(5):
        with dc.testing.seeded(seed):
            found = dc.ci_test(data, "x", "y", ["z"], method="gcm", variant="weighted", parts=1, epsilon=1.0)
        assert 0.0 <= found.pvalue <= 1.0


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_no_row_is_heard_in_a_search(relation: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(6):
        data = dc.read({name: rng.choice(SPECIAL, 50) for name in "xyz"}, WIDE)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = dc.discover(
                data, epsilon=1.0, delta=1e-6, method="moments", neighbours=relation, anyway=True
            )
        assert found.privacy.epsilon <= 1.0


@pytest.mark.parametrize("bounds", [(0, 1.7e308), (-1.2e308, 1.2e308), (-1e101, 0)])
def test_bounds_beyond_what_products_can_hold(bounds: tuple[float, float]) -> None:
    with pytest.raises(dc.SchemaError, match="must lie within -1e\\+100 and 1e\\+100"):
        dc.Numeric(*bounds)


def test_a_law_beyond_it() -> None:
    for law in ((1e101, 0.0, 1.0), (0.0, -1e101, 1.0), (0.0, 0.0, 1e-101), (0.0, 0.0, float("nan"))):
        with pytest.raises(dc.InputError, match="linear model"):
            dc.LinearGaussian(law[0], {"z": law[1]}, law[2])


def test_levels_beyond_what_laws_hold() -> None:
    data = dc.read({name: np.linspace(0, 1, 50) for name in "xyz"}, UNIT)
    for level in (1e-300, 1 - 2.0**-53):
        with pytest.raises(dc.InputError, match=r"level must .*1e-12"):
            dc.ci_test(data, "x", "y", method="test-of-tests:gcm", epsilon=1.0, level=level)
    with pytest.raises(dc.InputError, match=r"crt .* 10,000 .* 999,999"):
        dc.ci_test(
            data,
            "x",
            "y",
            ["z"],
            method="crt",
            epsilon=1.0,
            level=1e-6,
            model=dc.LinearGaussian(0, {"z": 1.0}, 1),
        )
    with pytest.raises(dc.InputError, match="reach must"):
        dc.discover(data, epsilon=1.0, delta=1e-6, method="moments", reach=1e200)
