"""Which settings are simulated, the file of results, and the tables printed from it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from citests_designs import EFFECT, Setting, rejections

SIZES, BLOCKS, EPSILONS = (500, 1000, 5000, 20000), (1, 4, 8, 64), (0.1, 0.5, 1.0, 2.0)
RELATIONS = ("replace-one", "add-remove")
MAIN = ("kendall", "spearman", "measured")  # calibrated: level within .035 and .065 wanted
LOW, HIGH = 0.035, 0.065
CIRCLE = Setting("unit-circle", "balanced", "fixed-labels", 500, 1, 1.0)


def main_grid(effect: float, *, quick: bool) -> list[Setting]:
    """Balanced and rare levels at every size, number of blocks, budget and relation."""
    sizes, blocks, epsilons = ((500, 5000), (1, 64), (0.1, 1.0)) if quick else (SIZES, BLOCKS, EPSILONS)
    return [
        Setting(method, design, relation, n, k, epsilon, effect)
        for method in MAIN
        for design in ("balanced", "rare")
        for relation in RELATIONS
        for n in sizes
        for k in blocks
        for epsilon in epsilons
    ]


def side_grid(effect: float, *, quick: bool) -> list[Setting]:
    """Three levels, blocks of unequal size, confounded blocks, associations of opposite signs."""
    designs = ("three", "three-rare", "unequal", "confounded", *(("opposite",) if effect else ()))
    return [
        Setting(method, design, relation, 1000 if design.startswith("three") else n, k, epsilon, effect)
        for method in MAIN
        for design in designs
        for relation in RELATIONS
        for n in ((5000,) if quick or design.startswith("three") else (1000, 5000))
        for k in ((8,) if quick else (8, 64))
        for epsilon in ((1.0,) if quick else (0.1, 0.5, 1.0))
    ]


def slow_grid(effect: float, *, quick: bool) -> list[Setting]:
    """The tests on parts, and the unit circle (one block, labels fixed)."""
    found = [
        Setting(method, design, relation, 5000, k, 1.0, effect)
        for method in ("chi2", "g", "test-of-tests")
        for design, k in (
            (("balanced", 8),) if quick else (("balanced", 1), ("balanced", 8), ("rare", 8), ("balanced", 64))
        )
        for relation in RELATIONS
    ]
    found += [replace(s, epsilon=0.5) for s in found if s.relation == "replace-one" and not quick]
    for n in (500, 5000):
        known = replace(CIRCLE, n=n, effect=effect, options=(("positives", n // 2),))
        found += [replace(known, epsilon=e) for e in ((1.0,) if quick else (0.1, 1.0))]
    return [*found, replace(CIRCLE, effect=effect)]


def repetitions(setting: Setting, *, quick: bool) -> int:
    """2,000; 500 for the power of measured and for the tests on parts, 200 for the unit circle with nothing public."""
    if setting.method == "measured" and (setting.effect or (setting.levels, setting.k) == (3, 64)):
        return 100 if quick else 500
    if setting.method in MAIN or setting.options:
        return 200 if quick else 2000
    return (50 if quick else 200) if setting.method == "unit-circle" else (100 if quick else 500)


class Results:
    """{key: [repetitions, private rejections, classical rejections or -1]}, kept in a file after every few settings."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, list[int]] = json.loads(path.read_text()) if path.exists() else {}

    def run(self, settings: Iterable[Setting], *, quick: bool) -> None:
        """Simulate what is missing; quick results are never put in the place of full ones."""
        wanted = [s for s in settings if self.count(s) < repetitions(s, quick=quick)]
        start = saved = time.monotonic()
        for i, setting in enumerate(wanted):
            count = repetitions(setting, quick=quick)
            classical = setting.epsilon == 1.0 and setting.relation != "add-remove"
            self.found[setting.key] = [count, *rejections(setting, count, classical=classical)]
            if time.monotonic() - saved > 20 or i + 1 == len(wanted):
                saved = time.monotonic()
                self.save()
                print(f"# {i + 1} of {len(wanted)} settings, {saved - start:.0f} s", flush=True)

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f'"{key}":{json.dumps(value)}' for key, value in sorted(self.found.items()))
        self.path.write_text("{\n" + lines + "\n}\n")

    def count(self, setting: Setting) -> int:
        return self.found.get(setting.key, [0])[0]

    def rate(self, setting: Setting) -> float:
        """Share rejected; NaN where it was not simulated."""
        count, private, _ = self.found.get(setting.key, [0, 0, -1])
        return private / count if count else math.nan

    def classical(self, setting: Setting) -> float:
        """The same without privacy."""
        relation = "replace-one" if setting.relation == "add-remove" else setting.relation
        plain = replace(setting, relation=relation, epsilon=1.0)
        count, _, hits = self.found.get(plain.key, [0, 0, -1])
        return hits / count if count and hits >= 0 else math.nan


def text(rate: float) -> str:
    """.051, or - where nothing was simulated."""
    return "   -" if math.isnan(rate) else f"{rate:.3f}".replace("0.", ".", 1) if rate < 1 else "1.00"


def print_tables(results: Results, settings: list[Setting]) -> None:
    """One table per (method, design, relation): rows n and k, columns epsilon and the test without privacy."""
    for head in dict.fromkeys((s.method, s.design, s.relation, s.effect, s.options) for s in settings):
        own = [s for s in settings if (s.method, s.design, s.relation, s.effect, s.options) == head]
        epsilons = sorted({s.epsilon for s in own})
        about = "power" if head[3] else "level"
        print(
            f"{about}: {' '.join(head[:3])} {' '.join(f'{a}={b}' for a, b in head[4])}; {results.count(own[0])} draws"
        )
        print("       n   k  " + " ".join(f"eps {e:<4g}" for e in epsilons) + "  classical")
        for n, k in dict.fromkeys((s.n, s.k) for s in own):
            line = {s.epsilon: s for s in own if (s.n, s.k) == (n, k)}
            cells = [text(results.rate(line[e])) if e in line else "   -" for e in epsilons]
            plain = text(results.classical(next(iter(line.values()))))
            print(f"  {n:6d} {k:3d}  " + "     ".join(cells) + f"     {plain}")


def summary(
    results: Results, settings: list[Setting]
) -> list[tuple[str, int, float, float, float, int, int]]:
    """(test and design, settings, least, mean, most, below .035, above .065) of the simulated levels."""
    rows = []
    for head in dict.fromkeys((s.method, s.design, s.relation) for s in settings):
        rates = [results.rate(s) for s in settings if (s.method, s.design, s.relation) == head]
        rates = [rate for rate in rates if not math.isnan(rate)]
        if rates:
            mean = sum(rates) / len(rates)
            below, above = sum(r < LOW for r in rates), sum(r > HIGH for r in rates)
            rows.append((" ".join(head), len(rates), min(rates), mean, max(rates), below, above))
    return rows


AGAIN = [  # of the calibrated tests: what passed .065 in the full grid (docs/figures/citests-tables.md)
    Setting("spearman", "rare", "replace-one", 1000, 8, 1.0),
    Setting("kendall", "balanced", "add-remove", 20000, 4, 0.1),
    Setting("measured", "rare", "add-remove", 500, 64, 2.0),
    Setting("measured", "confounded", "replace-one", 5000, 64, 0.5),
    Setting("measured", "unequal", "add-remove", 1000, 64, 0.1),
    Setting("measured", "rare", "replace-one", 5000, 64, 2.0),
    Setting("measured", "rare", "add-remove", 500, 8, 2.0),
    Setting("measured", "three-rare", "replace-one", 1000, 64, 1.0),
]


def again_draws(setting: Setting, *, quick: bool) -> int:
    """20,000 data sets; 4,000 of 3x3 tables in 64 blocks."""
    return 200 if quick else 4000 if (setting.levels, setting.k) == (3, 64) else 20_000


def recheck(results: Results, settings: list[Setting]) -> list[tuple[Setting, float, int, float]]:
    """(setting, rate, draws, rate again with another seed) where a level was outside .035 to .065; kept in the file.

    20,000 draws where it was above (standard error .0017), 4,000 where below; ten times fewer for tests on parts.
    """
    rows = []
    for s in settings:
        if LOW <= results.rate(s) <= HIGH or math.isnan(results.rate(s)):
            continue
        count = again_draws(s, quick=False) if results.rate(s) > HIGH else 4000
        count = count if s.method in MAIN or s.options else count // 10
        key = f"again {s.key}"
        if results.found.get(key, [0])[0] < count:
            results.found[key] = [count, rejections(s, count, seed=1, classical=False)[0], -1]
            results.save()
        draws, hits, _ = results.found[key]
        rows.append((s, results.rate(s), draws, hits / draws))
    return sorted(rows, key=lambda row: -row[3])


EVERY = (main_grid, side_grid, slow_grid)


def all_settings(effect: float, *, quick: bool) -> list[Setting]:
    """Every setting of the level (effect 0) or of the power (``EFFECT``)."""
    assert effect in (0.0, EFFECT)
    return [s for grid in EVERY for s in grid(effect, quick=quick)]
