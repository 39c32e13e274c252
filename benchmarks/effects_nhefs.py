"""NHEFS for ``effects.py``: quitting smoking and weight gain, adjusted for the nine confounders of the textbook.

Hernan and Robins, *Causal Inference: What If*, chapters 12 to 15: 1,566 people whose weight in 1982 is known; adjusted
for sex, race, age, education, smoking intensity, years of smoking, exercise, activity and weight in 1971, those who
quit gained about 3.4 kg more. Bounds are round numbers, written once: age 25 to 75, 0 to 80 cigarettes, 0 to 65 years,
35 to 170 kg, a change of -50 to 50 kg. Education, exercise and activity are ordered levels.

Every run is one release at (epsilon, 1e-6), noise seeded by its number, asked for with ``anyway``. Printed are the
median estimate of the runs that say something, the median ends of all intervals, how many of them hold the textbook's
3.4 and 0, and how many say nothing (the interval is all that is possible).
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpcausal as dc
from hospital_real import _member

RESULTS = Path(__file__).parent / "results" / "effects_nhefs.json"
EPSILONS = (0.5, 1.0, 3.0)
DELTA = 1e-6
TEXTBOOK = 3.4  # kg
CONFOUNDERS = (
    "sex",
    "race",
    "age",
    "education",
    "smokeintensity",
    "smokeyrs",
    "exercise",
    "active",
    "wt71",
)
SCHEMA = dc.Schema(
    sex=dc.Categorical([0, 1]),
    race=dc.Categorical([0, 1]),
    age=dc.Numeric(25, 75),
    education=dc.Categorical([1, 2, 3, 4, 5], ordered=True),
    smokeintensity=dc.Numeric(0, 80),
    smokeyrs=dc.Numeric(0, 65),
    exercise=dc.Categorical([0, 1, 2], ordered=True),
    active=dc.Categorical([0, 1, 2], ordered=True),
    wt71=dc.Numeric(35, 170),
    qsmk=dc.Categorical([0, 1]),
    wt82_71=dc.Numeric(-50, 50),
)


def read(folder: Path) -> dc.Dataset:
    """The people whose weight in 1982 is known."""
    archive = next(folder.glob("causaldata-*.tar.gz"))
    content = _member(archive.read_bytes(), "nhefs/nhefs.dta")
    frame = pd.read_stata(io.BytesIO(content), convert_categoricals=False)
    frame = frame[frame["wt82_71"].notna()]
    columns: dict[str, Any] = {}
    for name, column in SCHEMA.items():
        values = pd.to_numeric(frame[name]).to_numpy(float)
        if isinstance(column, dc.Categorical):
            least = min(int(level) for level in column.levels)
            values = (values - np.nanmin(values) + least).astype(int)  # the file counts from 0 or from 1
        columns[name] = values
    return dc.read(columns, SCHEMA)


def least_squares(data: dc.Dataset) -> tuple[float, float]:
    """The coefficient of quitting in a linear regression without privacy, and its standard error."""
    given = [data.values.get(name, data.codes[name].astype(float)) for name in CONFOUNDERS]
    x, y = (
        np.column_stack([np.ones(data.n), data.codes["qsmk"].astype(float), *given]),
        data.values["wt82_71"],
    )
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ (x.T @ y)
    errors = y - x @ beta
    return float(beta[1]), float(np.sqrt(inverse[1, 1] * (errors @ errors) / (len(y) - x.shape[1])))


def run_nhefs(folder: Path, seeds: int) -> None:
    """Run, keep and print."""
    data = read(folder)
    estimate, error = least_squares(data)
    held: dict[str, Any] = {
        "rows": data.n,
        "least squares": [estimate, error],
        "unadjusted": dc.effect(data, "qsmk", "wt82_71", adjust=[], epsilon=None).estimate,
        "runs": {},
    }
    for epsilon in EPSILONS:
        found = []
        for seed in range(seeds):
            with dc.testing.seeded(seed):
                one = dc.effect(
                    data,
                    "qsmk",
                    "wt82_71",
                    adjust=CONFOUNDERS,
                    epsilon=epsilon,
                    delta=DELTA,
                    method="regression",
                    anyway=True,
                )
            found.append([one.estimate, *one.interval])
        held["runs"][str(epsilon)] = found
    RESULTS.write_text(json.dumps(held) + "\n")
    print("\n".join(lines()))


def lines() -> list[str]:
    """What was run, as a table."""
    held = json.loads(RESULTS.read_text())
    estimate, error = held["least squares"]
    told = [
        f"{held['rows']:,} people; without privacy: unadjusted {held['unadjusted']:.2f} kg, least squares "
        f"{estimate:.2f} kg (standard error {error:.2f})",
        "",
        "| epsilon | median estimate (kg) | median interval | holds 3.4 | holds 0 | says nothing | runs |",
        "|---|---|---|---|---|---|---|",
    ]
    for epsilon, runs in held["runs"].items():
        found = np.array(runs, float)
        low, high = np.median(found[:, 1:], axis=0)
        nothing = found[:, 2] - found[:, 1] >= 2 * (100 - 1e-9)  # twice the range of the outcome
        middle = float(np.median(found[~nothing, 0]))
        holds = [float(((found[:, 1] <= x) & (x <= found[:, 2])).mean()) for x in (TEXTBOOK, 0.0)]
        told.append(
            f"| {float(epsilon):g} | {middle:.1f} | {low:.1f} to {high:.1f} | {holds[0]:.0%} | {holds[1]:.0%} "
            f"| {nothing.mean():.0%} | {len(found)} |"
        )
    return told
