"""Coverage of effects after ``moments``, in standard deviations of normal scores or in the columns' own units.

    python benchmarks/effects.py scores [--sets 500] [--rows 2000,10000]    # run it
    python benchmarks/effects.py scores --columns 10 --sets 60              # more columns
    python benchmarks/effects.py scores-brief                               # print what was kept

**Laws.** A random graph a data set: four or five columns, every pair an edge with probability .5 (with ``--columns``:
so many, and three edges a column on average), weights of size .3 to .8, normal errors, every column divided by its
standard deviation. *linear*: these numbers. *skewed*: each through a rising curve of its own (exponentials, a cube, a
normal distribution function and its square), so that its normal score is the number that it had. Bounds are at 5
standard deviations of that number, on both sides.

**Truth.** The coefficient of the treatment in the regression of the outcome on it and on what the answer held fixed, in
the exact law, between normal scores. Where noise would hide the spread (by public numbers: 2,000 rows at epsilon 1)
columns are measured in their own units; then linear laws alone are run, whose scores are their numbers.

*named*: every arrow of the true graph, its back-door set given. *found*: every arrow of the graph that was found, with
what that graph says to hold fixed: the same moments chose the question and answer it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.special import ndtr

import dpcausal as dc
from dpcausal.core import entropy
from dpcausal.core.neighbours import Neighbours
from dpcausal.graphs.adjustment import smallest_back_door
from dpcausal.planning.power import MAX_SPREAD_NOISE, spread_noise
from dpcausal.privacy import seeded
from dpcausal.privacy.accounting.conversion import rho_for

EPSILONS = (1.0, 3.0)
DELTA = 1e-6
GIVEN: dict[str, Any] = {"delta": DELTA, "method": "moments", "confidence": 0, "anyway": True}
END = 5.0  # standard deviations at the bounds
CURVES: tuple[Callable[[Any], Any], ...] = (
    lambda z: np.exp(0.8 * z),
    lambda z: -np.exp(-1.2 * z),
    lambda z: z**3 + 0.1 * z,
    lambda z: ndtr(z) + 0.01 * z,
    lambda z: ndtr(z) ** 2 + 0.01 * z,
)


class Law:
    """Linear equations along a random graph, and a rising curve for every column."""

    def __init__(self, seed: int, kind: str, columns: int | None = None) -> None:
        rng = np.random.default_rng([seed, 31])
        self.size = int(rng.integers(4, 6)) if columns is None else columns
        self.names = [f"v{i}" for i in range(self.size)]
        chance = 0.5 if columns is None else min(0.5, 3.0 / (columns - 1))
        edges = np.triu(rng.random((self.size, self.size)) < chance, 1)
        weights = edges * rng.uniform(0.3, 0.8, edges.shape) * rng.choice([-1, 1], edges.shape)
        mix = np.linalg.inv(np.eye(self.size) - weights.T)  # x = weights' x + error
        covariance = mix @ mix.T
        scale = 1.0 / np.sqrt(np.diag(covariance))
        self.mix = scale[:, None] * mix
        self.correlation = covariance * np.outer(scale, scale)
        pairs = [(self.names[i], self.names[j]) for i, j in zip(*np.nonzero(edges), strict=True)]
        self.graph = dc.Graph(self.names, directed=pairs)
        which = rng.integers(len(CURVES), size=self.size)
        self.curves = [CURVES[i] if kind == "skewed" else (lambda z: z) for i in which]
        self.schema = dc.Schema(
            {
                name: dc.Numeric(float(curve(-END)), float(curve(END)))
                for name, curve in zip(self.names, self.curves, strict=True)
            }
        )

    def sample(self, n: int, seed: int) -> dc.Dataset:
        """Rows."""
        errors = np.random.default_rng([seed, 37]).standard_normal((n, self.size))
        scores = np.clip(errors @ self.mix.T, -END, END)
        values = {
            name: curve(score) for name, curve, score in zip(self.names, self.curves, scores.T, strict=True)
        }
        return dc.read(values, self.schema)

    def slope(self, treatment: str, outcome: str, adjust: tuple[str, ...]) -> float:
        """The coefficient between scores."""
        places = [self.names.index(name) for name in (treatment, *adjust)]
        inner = self.correlation[np.ix_(places, places)]
        return float(np.linalg.solve(inner, self.correlation[places, self.names.index(outcome)])[0])


def fast_noise() -> None:
    """Draw noise as rounded normal numbers: at these scales the law of the exact sampler, in a fraction of its time."""

    def rounded(sigma: float, count: int) -> Any:
        source = np.random.default_rng(int.from_bytes(entropy.random_bytes(16)))
        return np.rint(sigma * source.standard_normal(count)).astype(np.int64)

    seeded.SAMPLERS["gaussian"] = rounded


def answers(law: Law, result: Any) -> list[tuple[str, Any]]:
    """The answers to what was named beforehand, and to what was found."""
    made = []
    sizes = dict.fromkeys(law.names, 2)
    for treatment, outcome in sorted(law.graph.directed):
        adjust = smallest_back_door(law.graph, treatment, outcome, sizes)
        made.append(("named", result.effect(treatment, outcome, adjust=adjust, anyway=True)))
    for treatment, outcome in sorted(result.graph.directed):
        try:
            made.append(("found", result.effect(treatment, outcome)))
        except dc.InputError:
            continue
    return [(way, found) for way, found in made if not found.possible]


def run_scores(
    sets: int, rows: list[int], save: Callable[[dict[str, Any]], None], columns: int | None = None
) -> None:
    """Fill in both laws: [answers, covering, sum of widths, nothing known, sum of errors away from 0, of |truth|]."""
    fast_noise()
    start = time.monotonic()
    made: dict[str, Any] = {}
    for seed in range(sets):
        for kind, n, epsilon in product(("linear", "skewed"), rows, EPSILONS):
            law = Law(seed, kind, columns)
            if kind == "skewed" and not scores_are_measured(law, n, epsilon):
                continue
            with dc.testing.seeded(seed):
                result = dc.discover(law.sample(n, seed), epsilon=epsilon, **GIVEN)
            for way, found in answers(law, result):
                unit = "scores" if found.treatment in result.tables.spreads else "own units"
                unit += f", {columns} columns" if columns else ""
                truth = law.slope(found.treatment, found.outcome, found.adjust)
                tally = made.setdefault(f"moments|{way}|{kind}, {unit}|{n}|{epsilon}", [0.0] * 6)
                (low, high), nothing = found.interval, found.share == 0
                seen = (1, low <= truth <= high, 0, 1, 0, 0)
                if not nothing:
                    error = (found.estimate - truth) * np.sign(truth)
                    seen = (1, low <= truth <= high, high - low, 0, error, abs(truth))
                for i, value in enumerate(seen):
                    tally[i] += float(value)
        if seed % 50 == 49 or seed == sets - 1:
            print(f"{time.monotonic() - start:6.0f} s: {seed + 1} graphs", flush=True)
            save(made)


def scores_are_measured(law: Law, n: int, epsilon: float) -> bool:
    """Whether noise leaves room for the spread of columns: as ``moments`` decides it."""
    noise = spread_noise(law.size, rho_for(epsilon, DELTA), epsilon, Neighbours.REPLACE_ONE)
    return noise <= MAX_SPREAD_NOISE * n


def scores_brief(held: dict[str, list[float]]) -> list[str]:
    """Markdown: coverage, width and error by law, rows and epsilon."""
    keys = [key.split("|") for key in held if key.startswith("moments|")]
    lines = [
        "| law | asked | rows | epsilon | answers | coverage | mean width | mean error | mean effect | nothing known |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for _, way, kind, n, epsilon in sorted(
        keys, key=lambda key: (key[2], key[1], int(key[3]), float(key[4]))
    ):
        count, covering, width, nothing, error, size = held[f"moments|{way}|{kind}|{n}|{epsilon}"]
        known = max(count - nothing, 1)
        means = " | ".join(f"{value / known:.3f}" for value in (width, error, size))
        lines.append(
            f"| {kind} | {way} | {int(n):,} | {float(epsilon):g} | {int(count):,} | {covering / count:.3f} | {means} "
            f"| {nothing / count:.1%} |"
        )
    return lines
