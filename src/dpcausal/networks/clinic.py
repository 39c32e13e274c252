"""A made-up clinic: ten mixed columns drawn from structural equations, so the true causal graph is known.

Numbers (age, body mass index, blood pressure, cholesterol) and categories (the rest). Each equation reads its parents
by their declared bands, the bins of ``SCHEMA``: body mass index 25 to 30 acts as one band. So the banded table is an
exact Bayesian network with the graph ``GRAPH``, and a search on bands has a truth to be compared with. Effects have
the size and direction of textbook risk factors; no number here was taken from a real person or a real study.

    logit P(diabetes = yes) = -3.2 + 1.3 band(bmi)                and so on, one line a column below

>>> table = patients(1000, seed=1)
>>> list(table) == list(SCHEMA), len(table["age"])
(True, 1000)
>>> sorted(GRAPH.parents("blood_pressure"))
['age', 'bmi']
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.data.columns import Categorical, Numeric
from dpcausal.data.dataset import Dataset
from dpcausal.data.read import read
from dpcausal.data.schema import Schema
from dpcausal.graphs import Graph, cpdag

SCHEMA = Schema(
    age=Numeric(18, 100, bins=[45, 65]),
    sex=Categorical(["female", "male"]),
    exercise=Categorical(["never", "weekly", "daily"], ordered=True),
    smoking=Categorical(["never", "former", "current"], ordered=True),
    bmi=Numeric(15, 50, bins=[25, 30]),
    blood_pressure=Numeric(80, 220, bins=[130, 150]),
    cholesterol=Numeric(2, 11, bins=[5, 6.5]),
    diabetes=Categorical(["no", "yes"]),
    medication=Categorical(["no", "yes"]),
    heart_disease=Categorical(["no", "yes"]),
)

GRAPH = Graph(
    SCHEMA,
    directed=[
        ("sex", "smoking"),
        ("exercise", "bmi"),
        ("age", "blood_pressure"),
        ("bmi", "blood_pressure"),
        ("age", "cholesterol"),
        ("bmi", "diabetes"),
        ("blood_pressure", "medication"),
        ("smoking", "heart_disease"),
        ("cholesterol", "heart_disease"),
        ("blood_pressure", "heart_disease"),
    ],
)
CPDAG = cpdag(GRAPH)

Column = NDArray[np.float64] | NDArray[np.str_]


def patients(n: int, seed: int) -> dict[str, Column]:
    """Return ``n`` made-up patients as columns of numbers and text; a seed fixes them.

    Synthetic data from numpy's seeded generator: no privacy here. O(n). ``InputError`` for n < 1.
    """
    if n < 1:
        raise InputError(f"n must be at least 1, not {n!r}")
    rng = np.random.default_rng(seed)

    def bell(mean: NDArray[np.floating[Any]] | float, spread: float) -> NDArray[np.float64]:
        return np.asarray(mean + spread * rng.standard_normal(n))

    def odds(logit: NDArray[np.float64]) -> NDArray[np.intp]:
        return (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.intp)

    def chosen(shares: list[list[float]], row: NDArray[np.intp]) -> NDArray[np.intp]:
        ends = np.cumsum(shares, axis=1)[:, :-1]
        return np.asarray((rng.random(n)[:, None] > ends[row]).sum(axis=1))

    age = np.clip(bell(53, 17), 18, 100).round()
    sex = chosen([[0.52, 0.48]], np.zeros(n, np.intp))
    exercise = chosen([[0.35, 0.40, 0.25]], np.zeros(n, np.intp))
    smoking = chosen([[0.62, 0.20, 0.18], [0.36, 0.29, 0.35]], sex)
    bmi = np.clip(bell(30.0 - 2.4 * exercise, 3.8), 15, 50).round(1)
    pressure = np.clip(bell(118 + 9.0 * _band("age", age) + 8.0 * _band("bmi", bmi), 13), 80, 220).round()
    cholesterol = np.clip(bell(4.6 + 0.65 * _band("age", age), 0.9), 2, 11).round(1)
    diabetes = odds(-3.2 + 1.3 * _band("bmi", bmi))
    medication = odds(-2.8 + 1.9 * _band("blood_pressure", pressure))
    risk = 1.0 * smoking + 1.1 * _band("cholesterol", cholesterol) + 1.1 * _band("blood_pressure", pressure)
    disease = odds(-4.4 + risk)

    coded = {"sex": sex, "exercise": exercise, "smoking": smoking, "diabetes": diabetes}
    coded |= {"medication": medication, "heart_disease": disease}
    table: dict[str, Column] = {name: _named(name, codes) for name, codes in coded.items()}
    table |= {"age": age, "bmi": bmi, "blood_pressure": pressure, "cholesterol": cholesterol}
    return {name: table[name] for name in SCHEMA}


def sample(n: int, seed: int) -> Dataset:
    """Return ``n`` made-up patients as a data set, read with ``SCHEMA``.

    >>> sample(100, seed=1).n
    100
    """
    return read(patients(n, seed), SCHEMA)


def _band(name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of the declared bin in which each value of a column lies."""
    column = SCHEMA[name]
    assert isinstance(column, Numeric)
    assert column.bins is not None
    return np.searchsorted(column.bins, values, side="right").astype(np.float64)


def _named(name: str, codes: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return the level names of a column for codes."""
    column = SCHEMA[name]
    assert isinstance(column, Categorical)
    return np.array([str(level) for level in column.levels])[codes]
