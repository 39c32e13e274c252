"""Without noise every estimator of an effect is the textbook's: standardisation by hand, and numpy's least squares.

The budget is so large that its noise is far below a row. What is compared is exact in the rows, so that no chance is
left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpcausal as dc

N, HUGE = 6_000, 1e6
BIT = dc.Categorical(["no", "yes"])
SCHEMA = dc.Schema(
    x=BIT,
    y=BIT,
    grade=dc.Categorical([0, 1, 2], ordered=True),
    score=dc.Categorical([0, 1, 2, 3, 4], ordered=True),
    weight=dc.Numeric(0.0, 100.0),
    z=BIT,
    site=dc.Categorical(["a", "b", "c"]),
    age=dc.Numeric(20.0, 80.0, [40.0, 60.0]),
)


def drawn() -> dict[str, np.ndarray]:
    """Rows whose treatment and outcomes depend on z, site and age, with effects that differ by z."""
    rng = np.random.default_rng(5)
    z, site, age = rng.random(N) < 0.4, rng.integers(0, 3, N), rng.uniform(20, 80, N)
    push = 0.3 * z + 0.15 * site + 0.004 * (age - 50)
    x = rng.random(N) < 0.15 + 0.5 * push
    y = rng.random(N) < 0.1 + 0.4 * push + x * (0.05 + 0.1 * z)
    steps = push + 0.4 * x + rng.normal(0, 0.6, N)
    weight = np.clip(50 + 20 * push + 5 * x + rng.normal(0, 8, N), 0, 100)
    return {
        "x": x,
        "y": y,
        "grade": np.digitize(steps, [0.3, 0.9]),
        "score": np.digitize(steps, [0.0, 0.3, 0.7, 1.0]),
        "weight": weight,
        "z": z,
        "site": site,
        "age": age,
    }


RAW = drawn()
DATA = dc.read(
    {
        name: np.where(values, "yes", "no")
        if values.dtype == bool
        else np.array(list("abc"))[values]
        if name == "site"
        else values
        for name, values in RAW.items()
    },
    SCHEMA,
)
STRATUM = RAW["z"] * 9 + RAW["site"] * 3 + np.digitize(RAW["age"], [40.0, 60.0])
HELD = ["z", "site", "age"]


def standardised(outcome: np.ndarray, population: str, stratum: np.ndarray = STRATUM) -> tuple[float, float]:
    """Means of both arms over the strata of a population, by hand."""
    x, parts = RAW["x"].astype(bool), []
    for one in np.unique(stratum):
        here = stratum == one
        exposed, share = (here & x).sum(), x[here].mean()
        weight = {"all": here.sum(), "exposed": exposed, "overlap": exposed * (1 - share)}[population]
        parts.append((weight, outcome[here & ~x].mean(), outcome[here & x].mean()))
    weights, low, high = np.array(parts).T
    return float(weights @ low / weights.sum()), float(weights @ high / weights.sum())


def asked_of(data: Any, outcome: str, **more: Any) -> float:
    with dc.testing.seeded(1):
        return dc.effect(data, "x", outcome, epsilon=HUGE, **{"adjust": HELD, **more}).estimate


def least_squares(outcome: np.ndarray, held: list[np.ndarray]) -> float:
    design = np.column_stack([np.ones(N), RAW["x"], *held])
    return float(np.linalg.lstsq(design, outcome.astype(float), rcond=None)[0][1])


@pytest.mark.parametrize("population", ["all", "exposed", "overlap"])
def test_risks_by_table(population: str) -> None:
    """Strata are drawn together by what they hold, a little: by less than a tenth of the standard error."""
    low, high = standardised(RAW["y"], population)
    known = {"method": "table", "population": population}
    assert asked_of(DATA, "y", **known) == pytest.approx(high - low, abs=0.0015)
    assert asked_of(DATA, "y", estimand="risk ratio", **known) == pytest.approx(high / low, rel=0.006)
    odds = high * (1 - low) / (low * (1 - high))
    assert asked_of(DATA, "y", estimand="odds ratio", **known) == pytest.approx(odds, rel=0.008)


@pytest.mark.parametrize("outcome", ["grade", "score", "weight"])
def test_means_by_table(outcome: str) -> None:
    low, high = standardised(RAW[outcome], "all")
    assert asked_of(DATA, outcome, method="table") == pytest.approx(high - low, abs=2e-3)


@pytest.mark.parametrize("outcome", ["y", "grade", "score", "weight"])
def test_regression_is_least_squares(outcome: str) -> None:
    """Numbers by value, other levels by indicators; the cut of residuals is beyond all of them."""
    sites = [(RAW["site"] == one).astype(float) for one in (1, 2)]
    expected = least_squares(RAW[outcome], [RAW["z"].astype(float), *sites, RAW["age"]])
    assert asked_of(DATA, outcome, method="regression") == pytest.approx(expected, rel=1e-3)


def test_an_engine_answers_as_rows_do(tmp_path: Any) -> None:
    pytest.importorskip("duckdb")
    lines = ["x,y,z"]
    lines += [",".join("yes" if RAW[name][i] else "no" for name in ("x", "y", "z")) for i in range(N)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    engine = dc.connect(str(tmp_path / "rows.csv"), dc.Schema(x=BIT, y=BIT, z=BIT))
    for population in ("all", "exposed", "overlap"):
        low, high = standardised(RAW["y"], population, RAW["z"].astype(int))
        found = asked_of(engine, "y", adjust=["z"], population=population)
        assert found == pytest.approx(high - low, abs=1e-3)


def test_after_a_search_from_tables() -> None:
    """Free, from a share that was kept, and at a charge of its own."""
    low, high = standardised(RAW["y"], "all", RAW["z"].astype(int))
    some = dc.Dataset(
        dc.Schema(x=BIT, y=BIT, z=BIT), N, {name: RAW[name].astype(np.uint8) for name in ("x", "y", "z")}
    )
    known: dict[str, Any] = {"required": [("x", "y"), ("z", "x"), ("z", "y")], "confidence": 0}
    with dc.testing.seeded(1):
        result = dc.discover(some, epsilon=HUGE, delta=1e-6, effect=("x", "y"), **known)
        asked = [{}, {"free": True}, {"data": some, "epsilon": HUGE}]
        found = [result.effect("x", "y", adjust=["z"], population="all", **more) for more in asked]
    for one in found:
        assert one.estimate == pytest.approx(high - low, abs=1e-3)


def test_after_moments_it_is_least_squares() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=N)
    a = 0.6 * z + rng.normal(size=N)
    y = 0.5 * a + 0.7 * z + rng.normal(size=N)
    values = {"z": z, "a": a, "y": y}
    data = dc.read(values, dc.Schema({name: dc.Numeric(-8, 8) for name in values}))
    with dc.testing.seeded(1):
        graph = {"required": [("z", "a"), ("z", "y"), ("a", "y")], "confidence": 0}
        result = dc.discover(data, epsilon=HUGE, delta=1e-6, method="moments", reach=50.0, **graph)
        found = result.effect("a", "y", adjust=["z"])
    design = np.column_stack([np.ones(N), a, z])
    slope = np.linalg.lstsq(design, y, rcond=None)[0][1]
    in_deviations = slope * a.std() / y.std()
    assert min(abs(found.estimate - slope), abs(found.estimate - in_deviations)) < 0.02
