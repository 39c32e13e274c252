"""gcm: largest changes found against the bounds shipped, level and power of the variants, time.

    python benchmarks/private_gcm.py --part sensitivity|level|power|time [--repetitions 500] [--quick] [--cache FILE]

Level and power are on the design of Kalemaj et al. 2024, section 4: Z ~ N(0, 4 I_d), X = f(Z_1) + N_X,
Y = -f(Z_1) + N_Y + beta N_X, with f_s(z) = exp(-s^2/2) sin(s z) as printed there ("printed"; nothing left of it beyond
s = 3), and with f_s(z) = exp(-z^2/2) sin(s z), which Shah & Peters used and which stays hard ("bump"); "lines" is
f = sum of Z over 2 sqrt(d). Declared bounds: x, y within 5, z within 10. Every repetition draws its own data and runs
the shipped test with its own noise. Set OPENBLAS_NUM_THREADS=1 on a busy machine. ``--cache`` keeps cells.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
import gcm_neighbours as search
import gcm_time
from dpcausal.citests.gcm import Gcm
from dpcausal.citests.session import Session
from dpcausal.privacy.events import Event
from dpcausal.stats.gcm_ridge import (
    objective_sensitivity,
    products_sensitivity,
    squares_sensitivity,
    sum_sensitivity,
)

BOUNDS = {
    "products": products_sensitivity,
    "sum": sum_sensitivity,
    "squares": squares_sensitivity,
    "fit": objective_sensitivity,
}


class Free:
    """A budget that never ends: for simulations of noise, not of accounting."""

    def charge(self, *events: Event) -> None:
        """Nothing."""

    def require(self, *events: Event) -> None:
        """Nothing."""


def design(rng: np.random.Generator, n: int, d: int, s: float, beta: float, form: str) -> dc.Dataset:
    """One data set of the paper's design."""
    z = rng.normal(0, 2, (n, d))
    if form == "lines":
        f = z.sum(axis=1) / (2 * np.sqrt(d))
    else:
        f = np.sin(s * z[:, 0]) * np.exp(-(s**2 if form == "printed" else z[:, 0] ** 2) / 2)
    noise = rng.normal(size=n)
    columns = {"x": f + noise, "y": -f + rng.normal(size=n) + beta * noise}
    columns |= {f"z{j}": z[:, j] for j in range(d)}
    schema = dc.Schema({name: dc.Numeric(-5, 5) if name in "xy" else dc.Numeric(-10, 10) for name in columns})
    values = {
        name: np.clip(column, schema[name].lower, schema[name].upper)  # type: ignore[union-attr]
        for name, column in columns.items()
    }
    return dc.Dataset(schema, n, {name: np.zeros(n, np.uint8) for name in schema}, values)


def rejections(cell: dict[str, Any], repetitions: int) -> float:
    """Share of repetitions in which independence is rejected at .05."""
    options = dict(cell.get("options", {}))
    rejected = 0
    for k in range(repetitions):
        rng = np.random.default_rng([k, cell["n"], cell["d"], int(10 * cell["s"])])
        data = design(rng, cell["n"], cell["d"], cell["s"], cell["beta"], cell["form"])
        epsilon = cell["epsilon"]
        session = Session(
            data, Gcm(**options), level=0.05, epsilon=epsilon, budget=None if epsilon is None else Free()
        )
        rejected += not session.ask("x", "y", [f"z{j}" for j in range(cell["d"])]).independent
    return rejected / repetitions


def level_cells(quick: bool) -> Iterator[dict[str, Any]]:
    """Under the null, the default test: figure 1 (n = 10,000) and smaller n."""
    for n in (1000,) if quick else (1000, 10_000):
        for d in (1, 5):
            for s in (1, 2, 4, 8, 16, 32):
                yield {"n": n, "d": d, "s": s, "beta": 0, "form": "printed", "epsilon": 2.0}
            yield {"n": n, "d": d, "s": 0, "beta": 0, "form": "lines", "epsilon": 2.0}
            for s in (2, 8, 32):
                yield {"n": n, "d": d, "s": s, "beta": 0, "form": "bump", "epsilon": 2.0}


def power_cells(quick: bool) -> Iterator[dict[str, Any]]:
    """beta = .5, n = 1,000, s = 2: every variant, with and without privacy."""
    variants: list[dict[str, Any]] = [
        {},
        {"variant": "bins", "bins": 32},
        {"variant": "moments", "lambda_": 10.0},
        {"variant": "residuals", "lambda_": 10.0},
    ]
    for d in (1, 5):
        for options in variants:
            for epsilon in (None, 2.0) if quick else (None, 4.0, 2.0, 1.0, 0.5):
                for beta in (0, 0.5) if quick else (0, 0.25, 0.5):
                    cell = {"n": 1000, "d": d, "s": 2, "beta": beta, "form": "printed", "epsilon": epsilon}
                    yield {**cell, "options": options}


def run(cells: Iterator[dict[str, Any]], repetitions: int, cache: Path | None) -> None:
    """Print one line for every cell; keep and reuse what was measured."""
    known = json.loads(cache.read_text()) if cache and cache.exists() else {}
    for cell in cells:
        key = json.dumps([cell, repetitions])
        if key not in known:
            known[key] = rejections(cell, repetitions)
            if cache:
                cache.write_text(json.dumps(known))
        words = " ".join(f"{name}={value}" for name, value in cell.items())
        print(f"rejected {known[key]:.3f} of {repetitions}: {words}", flush=True)


def sensitivity(quick: bool, cache: Path | None) -> None:
    """found/bound for every released quantity and for the score of the private choice ("fit")."""
    known = json.loads(cache.read_text()) if cache and cache.exists() else {}
    for n, strength, what in product((20, 100) if quick else (20, 100, 500), (0.2, 1.0, 10.0), BOUNDS):
        starts, steps = (2, 30) if quick else (6, 120) if n < 500 else (3, 60)
        key = json.dumps([what, n, strength, starts, steps])
        if key not in known:
            known[key] = search.largest(what, n, strength, seed=1, starts=starts, steps=steps)
            if cache:
                cache.write_text(json.dumps(known))
        found, claim = known[key], BOUNDS[what](strength)
        words = f"{what} n={n} lambda={strength}: found {found:.3f}, bound {claim:.3f}"
        print(f"{words}, {found / claim:.2f}", flush=True)
    for relation, claims in (("add-remove", (1.0, 0.25)), ("replace-one", (2.0, 0.375))):
        for k, claim in enumerate(claims):
            found = max(search.largest_bins(k, relation, seed) for seed in range(4))
            print(
                f"bins {'MV'[k]} {relation}: found {found:.4f}, bound {claim}, {found / claim:.2f}",
                flush=True,
            )


def main() -> None:
    """Parse the arguments and run one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=("sensitivity", "level", "power", "time"), required=True)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cache", type=Path)
    chosen = parser.parse_args()
    if chosen.part == "sensitivity":
        sensitivity(chosen.quick, chosen.cache)
    elif chosen.part == "time":
        gcm_time.timing(chosen.quick)
    else:
        cells = level_cells(chosen.quick) if chosen.part == "level" else power_cells(chosen.quick)
        run(cells, chosen.repetitions, chosen.cache)


if __name__ == "__main__":
    main()
