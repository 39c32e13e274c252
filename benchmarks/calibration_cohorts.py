"""Effects in real data whose outcome was permuted, so that there is none: do 95% intervals hold 0?

    python benchmarks/calibration_cohorts.py --folder FOLDER [--runs 100]

FOLDER is the folder csv of Rdatasets (vincentarelbundock on GitHub), of which nothing is kept here.

All rows of five data sets of R packages, with an exposure, an outcome and columns that go with the exposure; numbers
cut at round bounds. Every run permutes the outcome and draws noise anew (pure, replace-one). Printed: in how many runs
anything is said, how often the interval holds 0, and the mean error over the median half width.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpcausal as dc
from calibration_effects import one_answer, summed

EPSILONS = (0.5, 1.0, 3.0)
AGES = [50.0, 60.0, 70.0]
Cohort = dict[str, Any]  # "x" and "y" as yes/no arrays, other columns as codes


def bands(values: Any, cuts: list[float]) -> np.ndarray:
    """Positions among cuts; a missing value is in the first band."""
    return np.digitize(np.nan_to_num(pd.to_numeric(values, errors="coerce").to_numpy(float)), cuts)


def nafld(folder: Path) -> Cohort:
    """17,549 people: an infarction (7%) and death (8%); age, sex and seven diagnoses."""
    people = pd.read_csv(folder / "survival" / "nafld1.csv")
    events = pd.read_csv(folder / "survival" / "nafld3.csv")
    ever = {name: people["id"].isin(some["id"]) for name, some in events.groupby("event")}
    names = ("htn", "diabetes", "dyslipidemia", "stroke", "afib", "heart failure")
    return {
        "x": ever["MI"],
        "y": people["status"] == 1,
        "age": bands(people["age"], AGES),
        "male": people["male"],
        **{name: ever[name] for name in names},
    }


def flchain(folder: Path) -> Cohort:
    """7,874 people: MGUS (1.5%) and death (28%); age, sex, two chains and creatinine."""
    people = pd.read_csv(folder / "survival" / "flchain.csv")
    return {
        "x": people["mgus"] == 1,
        "y": people["death"] == 1,
        "age": bands(people["age"], [60.0, 70.0, 80.0]),
        "sex": people["sex"] == "M",
        "kappa": bands(people["kappa"], [1.0, 2.0]),
        "lambda": bands(people["lambda"], [1.0, 2.0]),
        "creatinine": bands(people["creatinine"], [0.1, 1.1]),
    }


def insurance(folder: Path) -> Cohort:
    """8,802 people: an activity limitation (14%) and no health insurance (20%); seven columns."""
    people = pd.read_csv(folder / "AER" / "HealthInsurance.csv")
    found = {"x": people["limit"] == "yes", "y": people["insurance"] == "no"}
    found["age"] = bands(people["age"], [30.0, 40.0, 50.0])
    for name, level in (("gender", "male"), ("married", "yes"), ("selfemp", "yes"), ("ethnicity", "cauc")):
        found[name] = people[name] == level
    found["degree"] = people["education"].isin(["bachelor", "master", "phd"])
    found["south"] = people["region"] == "south"
    return found


def happiness(folder: Path) -> Cohort:
    """17,137 people: out of work (3%) and very happy (31%); six columns."""
    people = pd.read_csv(folder / "wooldridge" / "happiness.csv")
    found = {"x": people["workstat"] == "unempl, laid off", "y": people["vhappy"] == 1}
    found["educ"] = bands(people["educ"], [12.0, 13.0, 16.0])
    found["poor"] = people["income"] != "$25000 or more"
    for name in ("female", "black", "mothfath16", "regattend"):
        found[name] = people[name] == 1
    return found


def covid(folder: Path) -> Cohort:
    """15,524 tests: at a drive-through (51%) and positive (6%); who, when and how old."""
    people = pd.read_csv(folder / "medicaldata" / "covid_testing.csv", low_memory=False)
    return {
        "x": people["drive_thru_ind"] == 1,
        "y": people["result"] == "positive",
        "female": people["gender"] == "female",
        "patient": people["demo_group"] == "patient",
        "age": bands(people["age"], [2.0, 10.0, 18.0, 40.0]),
        "day": bands(people["pan_day"], [30.0, 50.0, 70.0, 90.0]),
    }


COHORTS: dict[str, Callable[[Path], Cohort]] = {
    "nafld": nafld,
    "flchain": flchain,
    "insurance": insurance,
    "happiness": happiness,
    "covid": covid,
}


def permuted(cohort: Cohort, rng: np.random.Generator) -> dc.Dataset:
    """The cohort with its outcome permuted."""
    codes = {name: np.asarray(values).astype(np.uint8) for name, values in cohort.items()}
    codes["y"] = rng.permutation(codes["y"])
    schema = dc.Schema({name: dc.Categorical(list(range(int(one.max()) + 1))) for name, one in codes.items()})
    return dc.Dataset(schema, len(codes["y"]), codes)


def line(name: str, cohort: Cohort, epsilon: float, method: str, runs: int) -> str:
    """What is said in some runs."""
    found, adjust = [], [one for one in cohort if one not in ("x", "y")]
    rows = len(cohort["x"])
    for seed in range(runs):
        data = permuted(cohort, np.random.default_rng([seed, rows]))
        with warnings.catch_warnings(), dc.testing.seeded(7_100_000 + seed):
            warnings.simplefilter("ignore")
            one = dc.effect(data, "x", "y", adjust=adjust, epsilon=epsilon, method=method, anyway=True)
        answer = one_answer(one, 0.0)
        if answer:
            found.append(answer)
    said, held, errors, half = summed(found)
    share, off = (f"{held / said:.3f}", f"{errors / said / half:.2f}") if said else ("-", "-")
    return f"| {name} | {rows} | {epsilon} | {method} | {said} of {runs} | {share} | {off} | {half:.3f} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--only", nargs="*", default=list(COHORTS))
    asked = options.parse_args()
    print("| data | rows | epsilon | by | said | held | mean error / half width | half width |")
    print("|---|---:|---:|---|---:|---:|---:|---:|")
    for name in asked.only:
        cohort = COHORTS[name](asked.folder)
        for epsilon in EPSILONS:
            for method in ("table", "regression"):
                print(line(name, cohort, epsilon, method, asked.runs), flush=True)


if __name__ == "__main__":
    main()
