"""Conditional independence tests: values, sensitivities, level, power, time. Everything the docs say comes from here.

    python benchmarks/citests.py [--quick] [--fresh] [--most ROWS] [--out DIR]
        [--part values|sensitivity|level|again|power|speed|plots]

Level and power call the shipped private tests, mechanisms included, on simulated tables (``citests_designs.py``): 2,000
data sets a setting (500 for the tests on parts, 200 for the unit circle with nothing public). Results are kept in DIR
(default ``build/citests``) and a run that was stopped goes on where it was; ``--quick`` keeps its own file. Full: some
25 minutes of one idle core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import sensitivity_rank
import tables_stats
from citests_designs import EFFECT, Free, Setting, rejections
from citests_grid import (
    AGAIN,
    HIGH,
    LOW,
    Results,
    again_draws,
    all_settings,
    main_grid,
    print_tables,
    recheck,
    repetitions,
    side_grid,
    slow_grid,
    summary,
    text,
)
from citests_plots import draw_plots
from citests_values import print_values
from dpcausal.citests.base import Question, TestSettings
from dpcausal.citests.registry import make_table_test
from dpcausal.citests.session import Session
from dpcausal.core.neighbours import Neighbours
from dpcausal.counts.memory import counts_of
from dpcausal.data.columns import Categorical
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema

DESIGN_WORDS = {
    "balanced": "balanced",
    "rare": "rare",
    "confounded": "confounded",
    "unequal": "unequal blocks",
    "three-rare": "3x3 rare",
}
PARTS = ("values", "sensitivity", "level", "again", "power", "speed", "plots")


def print_sensitivity(*, quick: bool) -> None:
    """Largest change found over all shapes against the bound, and the papers' constants broken by the same search."""
    print("sensitivity: largest (change found / bound) over 2x2 to 4x4 tables in 1 to 4 blocks")
    sizes, starts = ((20, 2000), 3) if quick else ((5, 20, 200, 2000), 6)
    for relation in sensitivity_rank.RELATIONS:
        worst: dict[str, float] = {}
        for k, r, c in sensitivity_rank.SHAPES:
            for name, ratio in sensitivity_rank.ratios(relation, k, r, c, sizes, starts).items():
                worst[name] = max(worst.get(name, 0.0), ratio)
        if relation == sensitivity_rank.RELATIONS[0]:
            print(f"\n| relation | {' | '.join(worst)} |\n|---|" + "---|" * len(worst))
        print(f"| {relation} |", *(f"{ratio:.4f} |" for ratio in worst.values()), flush=True)
    print("\nthe papers' constants, n = 2,001: found / claimed")
    for relation in sensitivity_rank.RELATIONS:
        for name, (found, claimed) in sensitivity_rank.broken(relation).items():
            print(f"  {relation:11s} {name:30s} {found:.5f} / {claimed:.5f} = {found / claimed:.2f}")
    tables_stats.sensitivity()


def print_level(results: Results, *, quick: bool) -> None:
    settings = all_settings(0.0, quick=quick)
    results.run(settings, quick=quick)
    print_tables(results, settings)
    print(f"summary of levels, nominal .05: settings, least, mean, most, below {LOW}, above {HIGH}")
    for grid in (main_grid, side_grid, slow_grid):
        for name, count, *rates, below, above in summary(results, grid(0.0, quick=quick)):
            print(f"  {name:40s} {count:4d}  {' '.join(text(r) for r in rates)}  {below:3d} {above:3d}")
    if not quick:
        print(f"outside {LOW} to {HIGH}, and again with another seed and more draws: rate, draws, rate")
        for setting, first, draws, again in recheck(results, settings):
            print(f"  {setting.key:55s} {text(first)} {draws:6d} {text(again)}", flush=True)


def print_again(*, quick: bool, most: int | None = None) -> None:
    """The settings that passed .065 in the grid of levels, as there and with another seed and more draws."""
    print("| setting | first | again | draws |\n|---|---|---|---|")
    for setting in AGAIN[: 1 if quick else most]:
        first, more = repetitions(setting, quick=quick), again_draws(setting, quick=quick)
        hits = [
            rejections(setting, draws, seed, classical=False)[0] / draws
            for draws, seed in ((first, 0), (more, 1))
        ]
        told = f"n {setting.n:,}, k {setting.k}, epsilon {f'{setting.epsilon:g}'.removeprefix('0')}"
        name = f"`{setting.method}`, {DESIGN_WORDS[setting.design]}, {setting.relation}, {told}"
        print(f"| {name} | {text(hits[0])} | {text(hits[1])} | {more:,} |", flush=True)


def print_power(results: Results, *, quick: bool) -> None:
    settings = all_settings(EFFECT, quick=quick)
    at = Setting("kendall", "balanced", "replace-one", 1000, 64, 1.0, EFFECT)
    results.run([*settings, at], quick=quick)
    print_tables(results, settings)
    _, _, papers = sensitivity_rank.rejections(sensitivity_rank.POWER, 1.0)
    print(
        f"n = 1,000, k = 64, epsilon = 1, replace-one: kendall {text(results.rate(at))}, without privacy "
        f"{text(results.classical(at))}, the papers' statistic with a bound that holds {text(papers)}"
    )


def print_speed() -> None:
    """One private test on 1,000,000 rows of 8 binary columns, after counting; secure noise, kernels compiled."""
    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(8)]
    schema = Schema({name: Categorical(["no", "yes"]) for name in names})
    data = Dataset(schema, 1_000_000, {name: rng.integers(0, 2, 1_000_000, np.uint8) for name in names})
    counts = counts_of(data)
    print("one test on 1,000,000 rows of 8 binary columns, secure noise: CPU us, least and mean of many\n")
    print("| test | k | from its table: least, mean | from the counts: least, mean |\n|---|---|---|---|")
    for name in ("kendall", "spearman", "measured", "chi2", "g", "test-of-tests", "unit-circle"):
        for given in (0, 3, 6) if name != "unit-circle" else (0,):
            question = Question.of(schema, "c0", "c1", names[2 : 2 + given])
            relation = Neighbours.FIXED_LABELS if name == "unit-circle" else Neighbours.REPLACE_ONE
            options = {"positives": 500_000} if name == "unit-circle" else {}
            test, blocks = make_table_test(name, options), question.blocks(counts)
            terms = TestSettings(1.0, 0.0, 0.05, relation, counts.n)
            session = Session(counts, test, level=0.05, epsilon=1.0, neighbours=relation, budget=Free())
            session.ask("c0", "c1", names[2 : 2 + given])  # draws a first batch of noise
            repeats = {"kendall": 2000, "spearman": 2000, "measured": 500, "unit-circle": 500}.get(name, 30)
            own = _microseconds(partial(test.private, question, blocks, terms, Free()), repeats)
            forget = session._answered.clear
            whole = _microseconds(partial(session.ask, "c0", "c1", names[2 : 2 + given]), repeats, forget)
            print(f"| `{name}` | {question.k} | {own} | {whole} |", flush=True)


def _microseconds(work: Callable[[], object], repeats: int, before: Callable[[], None] = lambda: None) -> str:
    """Least and mean CPU time."""
    times = []
    for _ in range(repeats):
        before()
        start = time.process_time_ns()
        work()
        times.append((time.process_time_ns() - start) / 1e3)
    return f"{min(times):,.0f}, {np.mean(times):,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes: fewer draws and settings")
    parser.add_argument("--fresh", action="store_true", help="values: run R on new tables, too")
    parser.add_argument("--most", type=int, help="again: rows of the table, all without it")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "build" / "citests")
    chosen = parser.parse_args()
    quick, parts = chosen.quick, chosen.part or PARTS
    results = Results(chosen.out / ("quick.json" if quick else "full.json"))
    if "values" in parts:
        print_values(quick=quick, fresh=chosen.fresh)
    if "sensitivity" in parts:
        print_sensitivity(quick=quick)
    if "speed" in parts:
        print_speed()
    if "level" in parts:
        print_level(results, quick=quick)
    if "again" in parts:
        print_again(quick=quick, most=chosen.most)
    if "power" in parts:
        print_power(results, quick=quick)
    if "plots" in parts:
        draw_plots(results, chosen.out if quick else Path(__file__).parents[1] / "docs" / "figures")


if __name__ == "__main__":
    main()
