"""The part ``effects`` of ``calibration.py``: how often 95% intervals of effects hold the truth.

Three kinds of settings, each with laws that no number was set on:

- **grid**: rows, exposure, outcome, effect, yes/no columns held fixed, epsilon (pure, replace-one). A run draws a law
  and ``REPEATS`` tables from it, with noise as ``effect`` draws it, and asks the shipped estimators for a difference of
  risks, a risk ratio and an odds ratio in every population, and for the one that ``auto`` takes; and ``REPEATS`` sets
  of rows for a regression, whose law is linear.
- **doors**: public calls: ``adjust``, ``graph``, ``result.effect`` from a share, free and with data, an engine.
- **real**: rows drawn from real data with the outcome permuted, so that the effect is 0.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

import dpcausal as dc
from dpcausal.core.neighbours import Neighbours
from dpcausal.effects.question import EffectQuestion, effect_question
from dpcausal.effects.regression import planned_regression
from dpcausal.effects.request import EffectRequest
from dpcausal.effects.table import planned_tables
from dpcausal.planning.measurement_plan import noise_variance
from dpcausal.privacy.budget import Allowance
from dpcausal.stats.double_residual import UNITS, difference, fitted, row_parts
from dpcausal.stats.moments import packed, unpacked
from dpcausal.stats.populations import POPULATIONS, estimable_population, population_effects
from dpcausal.stats.strata import StrataTable

REPEATS, CALLS = 100, 25  # of a run: simulated tables, and public calls
Z, BIT = 1.959964, dc.Categorical(["no", "yes"])
RANGES = {
    "rows": (1_000, 100_000),
    "exposure": (0.01, 0.5),
    "outcome": (0.02, 0.3),
    "effect": (0.0, 0.05, 0.2),
    "columns": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "epsilon": (0.2, 3.0),
}
CELLS = 24  # of the grid, drawn at random
NAMED = (  # where intervals of earlier estimators covered 0 to 85%
    (17_500, 0.03, 0.07, 0.0, 8, 1.0),
    (17_500, 0.03, 0.07, 0.0, 4, 0.2),
    (17_500, 0.03, 0.07, 0.0, 4, 1.0),
    (3_000, 0.06, 0.07, 0.0, 4, 0.2),
    (3_000, 0.06, 0.07, 0.0, 4, 1.0),
    (17_500, 0.25, 0.07, 0.0, 8, 1.0),
)
DOORS = ("adjust", "graph", "engine", "share", "free", "data")
REAL = ("breast_cancer", "diabetes", "digits", "wine", "iris")
Run = dict[str, Any]


def settings() -> Iterator[tuple[Any, ...]]:
    """Every setting, its kind first."""
    for cell in NAMED:
        yield ("grid", *cell)
    rng = np.random.default_rng(1911)
    for _ in range(CELLS):
        yield ("grid", *(drawn(rng, name) for name in RANGES))
    for door in DOORS:
        yield ("doors", door)
    for name in REAL:
        yield ("real", name)


def drawn(rng: np.random.Generator, name: str) -> float:
    """A number of a setting: one of those named, or log-uniform between two, of two digits."""
    among = RANGES[name]
    if name in ("effect", "columns"):
        return among[rng.integers(len(among))]
    value = float(f"{math.exp(rng.uniform(*np.log(among))):.2g}")
    return int(value) if name == "rows" else value


def effects_of(seed: int, kind: str, *setting: Any) -> Run:
    """One run: for every estimator its answers as (held, error, half width)."""
    if kind == "grid":
        return grid_of(seed, *setting)
    one = door_of if kind == "doors" else real_of
    runs = [one(1_000 * seed + i, *setting) for i in range(CALLS)]
    return {name: [CALLS, *summed([run[name] for run in runs if run[name]])] for name in runs[0]}


def law(
    rng: np.random.Generator, exposure: float, outcome: float, effect: float, columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of strata and arms (strata, 2), and risks; exposure and risk are logistic in the columns and one pair."""
    where = np.indices((2,) * columns).reshape(columns, 2**columns).T.astype(float)
    prevalence = rng.uniform(0.15, 0.6, columns)
    strata = np.prod(np.where(where == 1, prevalence, 1 - prevalence), axis=1)
    pair = where[:, 0] * where[:, 1] if columns > 1 else 0.0
    chances = []
    for mean in (exposure, outcome):
        line = where @ rng.normal(0, 1.2 / math.sqrt(columns), columns) + rng.normal(0, 0.5) * pair
        start = brentq(lambda at, line=line, mean=mean: strata @ expit(line + at) - mean, -20, 20)
        chances.append(expit(line + start))
    exposed, risk = chances
    arms = np.stack([1 - exposed, exposed], axis=1) * strata[:, None]
    return arms, np.stack([risk, np.clip(risk + effect, 0, 1)], axis=1)


def truths(arms: np.ndarray, risks: np.ndarray) -> dict[str, tuple[float, float]]:
    """Standardised risks of both arms in every population."""
    weights = {
        "all": arms.sum(axis=1),
        "exposed": arms[:, 1],
        "overlap": arms[:, 0] * arms[:, 1] / arms.sum(axis=1),
    }
    return {name: tuple(weight @ risks / weight.sum()) for name, weight in weights.items()}  # type: ignore[misc]


def yes_no(columns: int) -> tuple[dc.Schema, EffectQuestion]:
    """A schema of yes/no columns, and the question about x and y."""
    names = [f"z{i}" for i in range(columns)]
    schema = dc.Schema({"x": BIT, "y": BIT, **dict.fromkeys(names, BIT)})
    return schema, effect_question(schema, EffectRequest("x", "y", adjust=names), names)


def grid_of(
    seed: int, rows: int, exposure: float, outcome: float, effect: float, columns: int, epsilon: float
) -> Run:
    """All estimators on ``REPEATS`` tables of one law, and regressions on rows of linear laws."""
    rng = np.random.default_rng(
        [seed, rows, int(1e3 * exposure), int(1e3 * outcome), int(1e3 * effect), columns]
    )
    arms, risks = law(rng, exposure, outcome, effect, columns)
    truth = truths(arms, risks)
    probabilities = np.stack([arms * (1 - risks), arms * risks], axis=2)
    schema, question = yes_no(columns)
    planned = planned_tables(
        schema, question, [question.adjust], Allowance(epsilon, 0.0), Neighbours.REPLACE_ONE
    )
    found: dict[str, list[Any]] = {
        f"{one} {kind}": [] for one in (*POPULATIONS, "auto") for kind in ("difference", "ratio", "odds")
    }
    with np.errstate(all="ignore"):
        for _ in range(REPEATS):
            counts = rng.multinomial(rows, probabilities.ravel() / probabilities.sum())
            counts = counts.reshape(probabilities.shape).astype(float)
            table = StrataTable(counts, (2,) * columns, 0.0, rows=float(rows))
            for one in planned:
                variance = noise_variance(one.mechanism)
                exact = counts if one.columns else counts.sum(axis=0)
                noisy = exact + rng.laplace(scale=math.sqrt(variance / 2), size=exact.shape)
                if one.columns:
                    table = StrataTable(
                        noisy, table.levels, variance, 3.0, table.rows, table.margin, table.margin_noise
                    )
                else:
                    table = StrataTable(counts, table.levels, 0.0, 0.0, table.rows, noisy, variance)
            answers = population_effects(table, 0.95)
            chosen = estimable_population(table, 0.95)
            for name in (*POPULATIONS, "auto"):
                one = chosen if name == "auto" else name
                answer, (low, high) = answers[one], truth[one]
                if answer is None:
                    continue
                at = high - low
                low_end, high_end = answer.interval
                found[f"{name} difference"].append(
                    [low_end <= at <= high_end, answer.difference - at, (high_end - low_end) / 2]
                )
                odds = high * (1 - low) / (low * (1 - high))
                for kind, ends, value in (("ratio", answer.ratio, high / low), ("odds", answer.odds, odds)):
                    if ends is not None:
                        found[f"{name} {kind}"].append([ends[0] <= value <= ends[1], 0.0, 0.0])
        found["regression difference"] = regressions(rng, rows, exposure, outcome, effect, columns, epsilon)
    tried = {"regression difference": fewer(rows)}
    return {name: [tried.get(name, REPEATS), *summed(answers)] for name, answers in found.items()}


def fewer(rows: int) -> int:
    """How many regressions are run."""
    return REPEATS if rows < 100_000 else max(REPEATS // 4, 1)


def summed(answers: list[Any]) -> list[float]:
    """Answers, those that held, the sum of errors, and the median half width."""
    if not answers:
        return [0, 0, 0.0, 0.0]
    held, errors, halves = np.array(answers, float).T
    return [len(answers), int(held.sum()), float(errors.sum()), float(np.median(halves))]


def regressions(
    rng: np.random.Generator,
    rows: int,
    exposure: float,
    outcome: float,
    effect: float,
    columns: int,
    epsilon: float,
) -> list[Any]:
    """Regressions on rows of laws that are linear, with the shipped functions and numpy's noise."""
    schema, question = yes_no(columns)
    planned = planned_regression(schema, question, Allowance(epsilon, 0.0), Neighbours.REPLACE_ONE)
    size, constant, found = planned.size, planned.constant, []
    noise, sums_noise = (math.sqrt(noise_variance(one)) for one in (planned.moments, planned.sums))
    for _ in range(fewer(rows)):
        z = rng.random((rows, columns)) < rng.uniform(0.15, 0.6, columns)
        centred = z - z.mean(axis=0)
        slopes = rng.normal(0, 0.7 / math.sqrt(columns), (2, columns))
        x = rng.random(rows) < np.clip(exposure * (1 + centred @ slopes[0]), 0, 1)
        y = rng.random(rows) < np.clip(outcome * (1 + centred @ slopes[1]) + effect * x, 0, 1)
        z, a, b = z - 0.5, x - 0.5, 2.0 * y - 1
        design = np.column_stack([np.full(rows, constant), z, a, b])
        vector = packed(design.T @ design)
        moments = unpacked(vector + rng.laplace(scale=noise / math.sqrt(2), size=vector.size), size)
        moments[0, 0] = rows * constant**2
        scale = np.ones(size)
        scale[0] = 1 / constant
        moments *= np.outer(scale, scale)
        fit = fitted(moments, columns, float(rows), noise / math.sqrt(2), constant, sums_noise)
        sums = row_parts(z, a, b, fit).sum(axis=1) / UNITS
        answer = difference(
            sums + rng.laplace(scale=sums_noise / math.sqrt(2), size=3),
            fit,
            sums_noise**2,
            Z,
            planned.kurtosis,
        )
        low, high = np.clip([answer.low, answer.high], -2, 2) / 2
        if not math.isnan(answer.estimate):
            found.append([low <= effect <= high, answer.estimate / 2 - effect, (high - low) / 2])
    return found


def door_of(seed: int, door: str) -> Run:
    """One public call: 8,000 rows, 4 yes/no columns, exposure .2, outcome .15, effect .05, epsilon 1."""
    rng = np.random.default_rng([seed, 4])
    rows, names = 8_000, [f"z{i}" for i in range(4)]
    arms, risks = law(rng, 0.2, 0.15, 0.05, 4)
    cells = np.stack([arms * (1 - risks), arms * risks], axis=2)
    drawn = rng.choice(cells.size, rows, p=cells.ravel() / cells.sum())
    where = np.unravel_index(drawn, (2,) * 6)
    schema = dc.Schema({**dict.fromkeys(names, BIT), "x": BIT, "y": BIT})
    data = dc.Dataset(
        schema,
        rows,
        {name: one.astype(np.uint8) for name, one in zip((*names, "x", "y"), where, strict=True)},
    )
    arrows = [(name, end) for name in names for end in ("x", "y")] + [("x", "y")]
    with warnings.catch_warnings(), dc.testing.seeded(seed):
        warnings.simplefilter("ignore")
        if door in ("share", "free", "data"):
            share = {"effect": ("x", "y"), "reserve": 0.5} if door == "share" else {}
            result = dc.discover(
                data, epsilon=2.0, delta=1e-6, required=arrows, confidence=0, anyway=True, **share
            )
            more = {"share": {}, "free": {"free": True}, "data": {"data": data, "epsilon": 1.0}}[door]
            try:
                found = result.effect("x", "y", adjust=names, anyway=True, **more)
            except dc.InputError:  # tables of pairs do not hold all columns together
                found = result.effect("x", "y", adjust=names[:1], anyway=True, **more)
                held = arms.reshape(2, -1, 2).sum(axis=1)
                arms, risks = held, (arms * risks).reshape(2, -1, 2).sum(axis=1) / held
        elif door == "graph":
            found = dc.effect(
                data, "x", "y", graph=dc.Graph([*names, "x", "y"], directed=arrows), epsilon=1.0
            )
        elif door == "engine":
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.csv"
                lines = [
                    "".join(f"{BIT.levels[one]}," for one in row)[:-1] for row in np.stack(where, axis=1)
                ]
                path.write_text("\n".join([",".join([*names, "x", "y"]), *lines]) + "\n")
                found = dc.effect(dc.connect(str(path), schema), "x", "y", adjust=names, epsilon=1.0)
        else:
            found = dc.effect(data, "x", "y", adjust=names, epsilon=1.0)
    low, high = truths(arms, risks)[found.population]
    return {"difference": one_answer(found, high - low)}


def one_answer(found: dc.EffectResult, truth: float) -> list[Any]:
    """Whether the interval held, the error, and half its width; empty where nothing was said."""
    low, high = found.interval
    if math.isnan(found.estimate):
        return []
    return [low <= truth <= high, found.estimate - truth, (high - low) / 2]


def real_of(seed: int, name: str) -> Run:
    """5,000 rows drawn from real data, numbers cut at their medians, the outcome permuted; epsilon 1, six columns."""
    from sklearn import datasets

    rng = np.random.default_rng([seed, len(name)])
    frame = getattr(datasets, f"load_{name}")()
    values = np.column_stack([frame.data, frame.target])
    values = values[:, values.std(axis=0) > 0]
    chosen = rng.permutation(values.shape[1])[: min(8, values.shape[1])]
    bits = (values[:, chosen] > np.median(values[:, chosen], axis=0)).astype(np.uint8)
    bits = bits[rng.integers(0, len(bits), 5_000)]
    bits[:, 1] = rng.permutation(bits[:, 1])
    names = ["x", "y", *(f"z{i}" for i in range(bits.shape[1] - 2))]
    data = dc.Dataset(
        dc.Schema(dict.fromkeys(names, BIT)),
        len(bits),
        {one: bits[:, j].copy() for j, one in enumerate(names)},
    )
    with warnings.catch_warnings(), dc.testing.seeded(seed):
        warnings.simplefilter("ignore")
        found = {
            method: dc.effect(data, "x", "y", adjust=names[2:], epsilon=1.0, method=method, anyway=True)
            for method in ("table", "regression")
        }
    return {method: one_answer(one, 0.0) for method, one in found.items()}


def lines(kept: dict[tuple[Any, ...], dict[int, Run]]) -> Iterator[str]:
    """All tables: the grid with all estimators, public calls, and how many settings of the grid are within the bar."""
    estimators = [f"{one} difference" for one in (*POPULATIONS, "auto", "regression")]
    kinds = [f"auto {kind}" for kind in ("ratio", "odds")]
    yield f"| {' | '.join(RANGES)} | {' | '.join(one.split()[0] for one in estimators)} | risk ratio | odds ratio |"
    yield "|" + "---:|" * (len(RANGES) + len(estimators) + 2)
    for setting, runs in kept.items():
        if setting[0] == "grid":
            cells = [told([run[one] for run in runs.values()]) for one in (*estimators, *kinds)]
            yield f"| {' | '.join(map(str, setting[1:]))} | {' | '.join(cells)} |"
    yield ""
    yield "| call | answers | held | mean error / half width |"
    yield "|---|---:|---:|---:|"
    for setting, runs in kept.items():
        if setting[0] != "grid":
            for name in next(iter(runs.values())):
                parts = [run[name] for run in runs.values()]
                said = sum(part[1] for part in parts)
                half = float(np.median([part[4] for part in parts if part[1]])) if said else math.nan
                error = sum(part[3] for part in parts) / max(said, 1) / half
                held = f"{sum(part[2] for part in parts) / said:.3f}" if said else "-"
                yield f"| {setting[1]}, {name} | {said} | {held} | {error:.2f} |"
    yield ""
    yield "| nine of ten answer | settings | below .93 | .93 to .98 | above .98 | expected of .95 | mean | off by .25 |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    grid = [runs for setting, runs in kept.items() if setting[0] == "grid"]
    for one in (*estimators, *kinds):
        yield f"| {one} | {' | '.join(within([[run[one] for run in runs.values()] for runs in grid]))} |"


def within(settings: list[list[list[float]]]) -> list[str]:
    """How many settings have a coverage below, within and above the bar, and how many would within if it were .95."""
    shares, expected, off = [], [], 0
    for parts in settings:
        tried, said, held = (int(sum(part[k] for part in parts)) for k in (0, 1, 2))
        if said > 0.9 * tried:
            shares.append(held / said)
            expected.append(binom.cdf(0.98 * said, said, 0.95) - binom.cdf(0.93 * said - 1e-9, said, 0.95))
            half = float(np.median([part[4] for part in parts]))
            off += abs(sum(part[3] for part in parts) / said) > 0.25 * half > 0
    if not shares:
        return ["0", *["-"] * 6]
    low, high = sum(one < 0.93 for one in shares), sum(one > 0.98 for one in shares)
    counts = [len(shares), low, len(shares) - low - high, high]
    return [*map(str, counts), f"{sum(expected):.0f}", f"{np.mean(shares):.3f}", str(off)]


def told(parts: list[list[float]]) -> str:
    """Coverage, the mean error over the median half width where it is more than .25, and the half width."""
    tried, said, held = (sum(part[k] for part in parts) for k in (0, 1, 2))
    if not said or said < 0.1 * tried:
        return "-"
    half = float(np.median([part[4] for part in parts if part[1]]))
    error = sum(part[3] for part in parts) / said / half if half else 0.0
    off = f", off {error:.2f}" if abs(error) > 0.25 else ""
    some = "" if said > 0.9 * tried else f" of {100 * said / tried:.0f}%"
    return f"{held / said:.3f}{some}{off}" + (f" ({half:.3f})" if half else "")
