"""Concrete Compressive Strength (Yeh 2007, UCI, CC BY 4.0; see ``data/README.md``) with public bounds."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import dpcausal as dc
from gcm.design import Values

PATH = Path(__file__).resolve().parents[1] / "data" / "concrete.csv"
OUTCOME = "compressive_strength"

# round numbers that a concrete engineer would declare: kg per cubic metre, days, MPa
BOUNDS: dict[str, tuple[float, float]] = {
    "cement": (100, 550),
    "blast_furnace_slag": (0, 400),
    "fly_ash": (0, 250),
    "water": (100, 250),
    "superplasticizer": (0, 35),
    "coarse_aggregate": (800, 1200),
    "fine_aggregate": (550, 1000),
    "age": (0, 365),
    OUTCOME: (0, 90),
}
FEATURES = tuple(name for name in BOUNDS if name != OUTCOME)


def load(path: Path = PATH) -> dict[str, Values]:
    """Columns by name."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in BOUNDS}


def unit(name: str, values: Values) -> Values:
    """Clamped to the public bounds and scaled to [-1, 1]."""
    lower, upper = BOUNDS[name]
    return np.clip(2 * (values - lower) / (upper - lower) - 1, -1, 1)


def schema() -> dc.Schema:
    """Numeric columns with these bounds."""
    return dc.Schema(**{name: dc.Numeric(*bounds) for name, bounds in BOUNDS.items()})


def resample(columns: dict[str, Values], n: int, rng: np.random.Generator) -> dict[str, Values]:
    """All rows where n is their number, else n of them drawn with replacement."""
    rows = len(columns[OUTCOME])
    index = np.arange(rows) if n == rows else rng.integers(0, rows, n)
    return {name: values[index] for name, values in columns.items()}
