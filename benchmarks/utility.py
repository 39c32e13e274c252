"""Graphs at a budget from 100,000 rows on: ``measured`` beside every other method, on the same rows.

    python benchmarks/utility.py                    # run what results/utility.json lacks, then print the tables
    python benchmarks/utility.py --seeds 3          # quicker
    python benchmarks/utility.py --again measured   # run a method anew after its code changed
    python benchmarks/utility.py --methods measured --levels 0.01   # a part of it
    python benchmarks/utility.py --alarm alarm.bif  # 37 columns, from a .bif file (pgmpy's wheel carries one)
    python benchmarks/utility.py --level            # no edges to find: false edges a graph at level .05
    python benchmarks/utility.py --time             # CPU seconds after reading
    python benchmarks/utility.py --table            # print what the file holds
    python benchmarks/utility.py --brief            # the same, a line a setting, in Markdown
    python benchmarks/utility.py --against OLD.json # how measured changed since an earlier results file, seed by seed

Rows: ``network.sample(n, seed)``, seeds 0, 1, ...; noise seeded by the same number (not private; the laws are the
same). Fewer rows are in ``hospital.py``. Scores against the true CPDAG. MST + PC and AIM + PC come from
``utility_rivals.py`` on the same rows (add-remove, delta 1e-6). Every method runs at both levels; tables show .01
unless ``--show .05``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

import dpcausal as dc
from dpcausal.counts.memory import counts_of
from dpcausal.discovery.discover import discover
from dpcausal.graphs import cpdag_scores, shd, skeleton_scores

RESULTS = Path(__file__).parent / "results" / "utility.json"
RIVALS = RESULTS.parent / "rivals.json"
SMALL = ("earthquake", "cancer", "survey", "asia", "sachs")
METHODS = ("measured", "priv-pc", "svt-pc", "em-pc", "curate")
LEVELS = (0.05, 0.01)
DELTA = 1e-6


class Point(NamedTuple):
    """One setting; ``epsilon`` None without privacy."""

    method: str
    network: str
    n: int
    neighbours: str
    epsilon: float | None
    level: float

    @property
    def key(self) -> str:
        """As in the file."""
        return "|".join(str(part) for part in self)


def small_grid() -> Iterator[Point]:
    """The five small networks."""
    budgets = [
        (100_000, "add-remove", (0.1, 0.3, 1.0)),
        (100_000, "replace-one", (1.0,)),
    ]
    for n, neighbours, epsilons in budgets:
        for network in SMALL:
            for level in LEVELS:
                yield Point("pc", network, n, "none", None, level)
                for epsilon in epsilons:
                    for method in METHODS:
                        yield Point(method, network, n, neighbours, epsilon, level)


def alarm_grid() -> Iterator[Point]:
    """37 columns."""
    for n, epsilons in ((100_000, (1.0, 3.0, 10.0)), (1_000_000, (1.0,))):
        for level in LEVELS:
            yield Point("pc", "alarm", n, "none", None, level)
            for epsilon in epsilons:
                for method in ("measured", "priv-pc") if n == 100_000 else ("measured",):
                    yield Point(method, "alarm", n, "replace-one", epsilon, level)


class Results:
    """Scores by point and seed, kept in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, dict[str, list[float]]] = {}
        if path.exists():
            self.runs = json.loads(path.read_text())["runs"]

    def save(self) -> None:
        """One point a line."""
        about = "method|network|n|neighbours|epsilon|level -> {seed: [skeleton F1, CPDAG F1, SHD, seconds]}"
        lines = ",\n".join(f'"{key}": {json.dumps(self.runs[key])}' for key in sorted(self.runs))
        self.path.write_text(f'{{"about": "{about}",\n"runs": {{\n{lines}\n}}}}\n')

    def forget(self, method: str, points: list[Point]) -> None:
        """Drop what a method scored at these points: its code has changed."""
        for point in points:
            if point.method == method:
                self.runs.pop(point.key, None)

    def run(self, points: list[Point], seeds: int, alarm: str | None, most: float = math.inf) -> None:
        """Fill in what is missing; rows are drawn once for all points that share them."""
        start = time.monotonic()
        for seed in range(seeds):
            for where in sorted({(point.network, point.n) for point in points}):
                todo = [
                    p
                    for p in points
                    if (p.network, p.n) == where and str(seed) not in self.runs.get(p.key, {})
                ]
                if not todo or time.monotonic() - start > most:
                    continue
                network = dc.networks.read_bif(alarm) if alarm else dc.networks.load(where[0])
                counts = counts_of(network.sample(where[1], seed=seed))
                counts.table(tuple(counts.schema)[:2])  # counting compresses once
                for point in dict.fromkeys(todo):
                    self.runs.setdefault(point.key, {})[str(seed)] = score(point, counts, network, seed)
                self.save()
                print(
                    f"{time.monotonic() - start:6.0f} s: seed {seed}, {where[0]}, {where[1]:,} rows",
                    flush=True,
                )

    def means(self, key: str) -> tuple[list[float], list[float], int]:
        """(means, half widths of 95% intervals, seeds)."""
        values = np.array(list(self.runs[key].values()))
        n = len(values)
        half = (
            student.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / math.sqrt(n)
            if n > 1
            else values[0] * math.nan
        )
        return [float(v) for v in values.mean(axis=0)], [float(h) for h in half], n


def score(point: Point, counts: Any, network: Any, seed: int) -> list[float]:
    """[skeleton F1, CPDAG F1, SHD, seconds] of one run; per cents of confidence change no graph and are left out."""
    options: dict[str, Any] = {"confidence": 0} if point.method == "measured" else {}
    begin = time.perf_counter()
    with dc.testing.seeded(seed):
        if point.epsilon is None:
            found = discover(counts, epsilon=None, method="pc", level=point.level)
        else:
            found = discover(
                counts,
                epsilon=point.epsilon,
                delta=DELTA,
                neighbours=point.neighbours,
                method=point.method,
                level=point.level,
                anyway=True,
                **options,
            )
    seconds = time.perf_counter() - begin
    truth = network.cpdag
    return [
        round(skeleton_scores(truth, found.graph).f1, 4),
        round(cpdag_scores(truth, found.graph).f1, 4),
        shd(truth, found.graph),
        round(seconds, 3),
    ]


def table(results: Results, points: list[Point], level: float) -> None:
    """One line a point; rivals on synthetic data below; a mark where another private method is above ``measured``."""
    rivals = json.loads(RIVALS.read_text())["runs"] if RIVALS.exists() else {}
    above: list[str] = []
    settings = dict.fromkeys(
        (p.network, p.n, p.neighbours, p.epsilon) for p in points if p.epsilon and p.level == level
    )
    head = f"{'method':<10}{'skeleton F1':>18}{'CPDAG F1':>18}{'SHD':>16}{'seeds':>7}"
    for network, n, neighbours, epsilon in settings:
        print(
            f"\n{network}, {n:,} rows, {neighbours}, epsilon {epsilon:g}, delta {DELTA:g}, level {level:g}\n{head}"
        )
        lines: list[tuple[str, list[float], list[float], int]] = []
        for method in METHODS:
            key = Point(method, network, n, neighbours, epsilon, level).key
            if key in results.runs:
                lines.append((method, *results.means(key)))
        for rival in ("mst", "aim"):
            key = f"{rival}|{network}|{n}|{epsilon}|{level}"
            if neighbours == "add-remove" and key in rivals:
                other = Results(RIVALS)
                lines.append((f"{rival} + pc", *other.means(key)))
        plain = Point("pc", network, n, "none", None, level).key
        if plain in results.runs:
            lines.append(("pc", *results.means(plain)))
        for name, mean, half, seeds in lines:
            cells = [f"{mean[i]:.3f} +- {half[i]:.3f}" for i in (0, 1)] + [f"{mean[2]:.2f} +- {half[2]:.2f}"]
            print(f"{name:<10}{cells[0]:>18}{cells[1]:>18}{cells[2]:>16}{seeds:>7}")
        ours = next((line for line in lines if line[0] == "measured"), None)
        for name, mean, _, _ in lines:
            if ours and name not in ("measured", "pc"):
                for i, what in ((0, "skeleton F1"), (1, "CPDAG F1")):
                    if mean[i] > ours[1][i]:
                        above.append(
                            f"{network}, {n:,}, {neighbours}, {epsilon:g}: {name} {what} {mean[i]:.3f}, "
                            f"measured {ours[1][i]:.3f}"
                        )
    print(f"\nPrivate rivals above measured (means), level {level:g}: {len(above) or 'none'}")
    print("\n".join(above))


def scored(name: str, value: float, best: float, runs: int, usual: int) -> str:
    """One method's mean: bold where none is printed higher, with its seeds where they are not the line's.

    >>> scored("mst + pc", 0.996, 1.0, 2, 20), scored("", 0.98, 1.0, 20, 20)
    ('mst + pc **1.00** (2)', '0.98')
    """
    shown = f"{value:.2f}"
    shown = f"**{shown}**" if shown == f"{best:.2f}" else shown
    return f"{name} {shown}".strip() + (f" ({runs})" if runs != usual else "")


def brief(results: Results, points: list[Point], level: float) -> None:
    """A Markdown table: measured, the best private rival by each score, and PC without privacy."""
    rivals = Results(RIVALS)
    print("| network | rows | relation | epsilon | measured | best private rival | PC, not private | seeds |")
    print("|---|---|---|---|---|---|---|---|")
    for network, n, neighbours, epsilon in dict.fromkeys(
        (p.network, p.n, p.neighbours, p.epsilon) for p in points if p.epsilon and p.level == level
    ):
        ours = Point("measured", network, n, neighbours, epsilon, level).key
        if ours not in results.runs:
            continue
        mean, _, seeds = results.means(ours)
        others: dict[str, tuple[list[float], int]] = {}
        for method in METHODS[1:]:
            key = Point(method, network, n, neighbours, epsilon, level).key
            if key in results.runs:
                others[method] = results.means(key)[::2]
        for rival in ("mst", "aim"):
            key = f"{rival}|{network}|{n}|{epsilon}|{level}"
            if neighbours == "add-remove" and key in rivals.runs:
                others[f"{rival} + pc"] = rivals.means(key)[::2]
        plain, _, runs = results.means(Point("pc", network, n, "none", None, level).key)
        here, there = [], []
        for i in (0, 1):
            top = max((value[i], name) for name, (value, _) in others.items()) if others else (-math.inf, "")
            highest = max(mean[i], top[0])
            here.append(scored("", mean[i], highest, seeds, seeds))
            if others:
                there.append(scored(top[1], top[0], highest, others[top[1]][1], seeds))
        print(
            f"| {network} | {n:,} | {neighbours} | {epsilon:g} | {' / '.join(here)} | "
            f"{' / '.join(there) or 'none was run'} | {plain[0]:.2f} / {plain[1]:.2f}"
            + (f" ({runs})" if runs != seeds else "")
            + f" | {seeds} |"
        )


def changes(results: Results, earlier: Results, points: list[Point], level: float) -> None:
    """A Markdown table: scores of ``measured`` then and now, on the seeds of both, with the error of the difference."""
    print("| network | rows | relation | epsilon | skeleton F1 | change | CPDAG F1 | change | seeds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for point in points:
        now, then = results.runs.get(point.key, {}), earlier.runs.get(point.key, {})
        seeds = sorted(set(now) & set(then))
        if point.method != "measured" or point.level != level or len(seeds) < 2:
            continue
        before, after = (np.array([runs[seed][:2] for seed in seeds]) for runs in (then, now))
        gained = (after - before).mean(axis=0)
        error = (after - before).std(axis=0, ddof=1) / math.sqrt(len(seeds))
        means = zip(before.mean(axis=0), after.mean(axis=0), gained, error, strict=True)
        cells = [f"{old:.3f} to {new:.3f} | {gain:+.3f} ± {one:.3f}" for old, new, gain, one in means]
        print(
            f"| {point.network} | {point.n:,} | {point.neighbours} | {point.epsilon:g} | {cells[0]} | {cells[1]} | "
            f"{len(seeds)} |"
        )


def false_edges(seeds: int) -> None:
    """8 binary columns with no edges, 20,000 rows: false edges a graph at level .05, by budget."""
    rng = np.random.default_rng(0)
    schema = dc.Schema({f"c{i}": dc.Categorical([0, 1]) for i in range(8)})
    print(
        "8 independent binary columns, 20,000 rows, level .05: the level allows 28 x .05 = 1.40 false edges a graph"
    )
    for neighbours in ("add-remove", "replace-one"):
        for epsilon in (0.1, 0.3, 1.0, 3.0, 10.0):
            wrong = []
            for seed in range(seeds):
                p = rng.uniform(0.1, 0.9, 8)
                codes = {name: (rng.random(20_000) < p[i]).astype(np.uint8) for i, name in enumerate(schema)}
                with dc.testing.seeded(seed):
                    data = dc.Dataset(schema, 20_000, codes)
                    found = discover(
                        data,
                        epsilon=epsilon,
                        delta=DELTA,
                        neighbours=neighbours,
                        method="measured",
                        anyway=True,
                        confidence=0,
                    )
                wrong.append((len(found.graph.skeleton), len(found.open)))
            mean = np.mean(wrong, axis=0)
            error = np.std([w for w, _ in wrong], ddof=1) / math.sqrt(seeds)
            print(
                f"{neighbours:12} epsilon {epsilon:<5g} {mean[0]:.2f} +- {error:.2f} (s.e.), open {mean[1]:.2f}"
            )


def seconds(alarm: str | None) -> None:
    """CPU seconds after reading, confidence included, secure noise, least of three."""
    jobs = [("asia", 1_000_000)] + ([("alarm", 100_000)] if alarm else [])
    for name, n in jobs:
        network = dc.networks.read_bif(alarm) if name == "alarm" and alarm else dc.networks.load(name)
        data = network.sample(n, seed=1)
        discover(data, epsilon=1.0, delta=DELTA, method="measured")  # compiles
        took = []
        for _ in range(3):
            begin = time.process_time()
            discover(data, epsilon=1.0, delta=DELTA, method="measured")
            took.append(time.process_time() - begin)
        print(
            f"{name}, {n:,} rows, epsilon 1: {min(took):.2f} CPU s after reading (counting and confidence included)"
        )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--alarm", help="the alarm network as a .bif file")
    parser.add_argument("--show", type=float, default=0.01, choices=LEVELS)
    parser.add_argument("--most", type=float, default=math.inf, help="stop running after so many seconds")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=[*METHODS, "pc"])
    parser.add_argument("--rows", type=int, nargs="+", help="only these numbers of rows")
    parser.add_argument("--levels", type=float, nargs="+", default=LEVELS, choices=LEVELS)
    parser.add_argument(
        "--again", action="append", default=[], help="a method whose results are dropped first"
    )
    parser.add_argument("--level", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--brief", action="store_true", help="a Markdown table of what the file holds")
    parser.add_argument("--against", type=Path, help="an earlier results file")
    arguments = parser.parse_args()
    if arguments.level:
        false_edges(max(arguments.seeds, 2))
        return
    if arguments.time:
        seconds(arguments.alarm)
        return
    results = Results(RESULTS)
    if arguments.against:
        changes(results, Results(arguments.against), [*small_grid(), *alarm_grid()], arguments.show)
        return
    if arguments.brief:
        brief(results, [*small_grid(), *alarm_grid()], arguments.show)
        return
    points = [
        point
        for point in (alarm_grid() if arguments.alarm else small_grid())
        if point.method in arguments.methods and point.level in arguments.levels
        if arguments.rows is None or point.n in arguments.rows
    ]
    for method in arguments.again:
        results.forget(method, points)
    if not arguments.table:
        results.run(points, arguments.seeds, arguments.alarm, arguments.most)
    table(results, [*small_grid(), *alarm_grid()] if arguments.table else points, arguments.show)


if __name__ == "__main__":
    main()
