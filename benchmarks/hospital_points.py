"""The points of ``hospital.py``, how one is scored, and the file that keeps the scores."""

from __future__ import annotations

import json
import math
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpcausal as dc
import hospital_climb
import utility_rivals
from dpcausal.counts.memory import counts_of
from dpcausal.discovery.discover import discover
from dpcausal.graphs import cpdag_scores, skeleton_scores

RESULTS = Path(__file__).parent / "results" / "hospital.json"
NOW = Path(__file__).parent / "results" / "hospital_now.json"  # measured at a few points, after a change
SMALL = ("earthquake", "cancer", "survey", "asia", "sachs")
ROWS = (500, 1_000, 3_000, 10_000, 20_000)
MORE_ROWS = {"alarm": (30_000,)}
EPSILONS = (0.3, 1.0, 3.0)
RELATIONS = ("replace-one", "add-remove")
PRIVATE = ("priv-pc", "svt-pc", "em-pc", "curate", "tests")
SYNTHETIC = ("mst", "aim")  # protect one row added or removed; need the environment of ``utility_mbi.py``
CEILINGS = ("pc", "hc")  # not private
METHODS = ("measured", *PRIVATE, *CEILINGS)
DEFAULT_LEVEL, STRICT = 0.05, 0.01  # rivals run at both and the better one is shown
DELTA = 1e-6
SCORES = ("skeleton F1", "CPDAG F1", "edges", "false edges", "open", "CPU s")


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


class Setting(NamedTuple):
    """What a private point has beside its method."""

    network: str
    n: int
    neighbours: str
    epsilon: float


def settings(networks: tuple[str, ...]) -> Iterator[Setting]:
    """All that the tables show, in their order."""
    for network in networks:
        for neighbours in RELATIONS:
            for n in (*ROWS, *MORE_ROWS.get(network, ())):
                for epsilon in EPSILONS:
                    yield Setting(network, n, neighbours, epsilon)


def of_method(method: str, where: Setting) -> list[Point]:
    """The points of a method at a setting: both levels of a rival, the default level of ``measured``."""
    network, n, neighbours, epsilon = where
    if method == "measured":
        return [Point(method, network, n, neighbours, epsilon, DEFAULT_LEVEL)]
    if method == "hc":
        return [Point(method, network, n, "none", None, 0.0)]
    if method == "pc":
        return [Point(method, network, n, "none", None, level) for level in (DEFAULT_LEVEL, STRICT)]
    if method in SYNTHETIC and neighbours != "add-remove":
        return []
    return [Point(method, network, n, neighbours, epsilon, level) for level in (DEFAULT_LEVEL, STRICT)]


def borrowed() -> dict[str, dict[str, list[float]]]:
    """What ``utility_rivals.py`` has of MST + PC and AIM + PC; it counted no false edges."""
    found = {}
    for key, runs in utility_rivals.load().items():
        method, network, n, epsilon, level = key.split("|")
        if method in SYNTHETIC:
            unknown = [math.nan] * 3
            found[Point(method, network, int(n), "add-remove", float(epsilon), float(level)).key] = {
                seed: [skeleton, both, *unknown, seconds]
                for seed, (skeleton, both, _, seconds) in runs.items()
            }
    return found


class Results:
    """Scores by point and seed, kept in a file, one point a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, dict[str, list[float]]] = (
            json.loads(path.read_text())["runs"] if path.exists() else {}
        )
        self.borrowed = borrowed()

    def save(self) -> None:
        """Write at once or not at all."""
        about = f"method|network|n|neighbours|epsilon|level -> {{seed: {list(SCORES)}}}".replace("'", "")
        lines = ",\n".join(f'"{key}": {json.dumps(self.runs[key])}' for key in sorted(self.runs))
        new = self.path.with_suffix(".new")
        new.write_text(f'{{"about": "{about}",\n"runs": {{\n{lines}\n}}}}\n')
        new.replace(self.path)

    def forget(self, method: str) -> None:
        """Drop what a method scored: its code has changed."""
        self.runs = {key: runs for key, runs in self.runs.items() if key.split("|")[0].strip("~") != method}

    def values(self, point: Point) -> dict[str, Any]:
        """Seed -> scores; those that ``utility_rivals.py`` has of the same rows are not run again."""
        return {**self.borrowed.get(point.key, {}), **self.runs.get(point.key, {})}

    def best(self, method: str, where: Setting) -> Point | None:
        """The point of this method with the highest mean skeleton F1, of the levels that were run."""
        held = [point for point in of_method(method, where) if self.values(point)]
        return max(held, key=lambda point: self.mean(point)[0], default=None)

    def mean(self, point: Point) -> Any:
        """Means of all scores."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nothing but borrowed scores: no false edges were counted
            return np.nanmean(list(self.values(point).values()), axis=0)

    def error(self, point: Point) -> Any:
        """Standard errors of the means."""
        values = np.array(list(self.values(point).values()))
        return (
            values.std(axis=0, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else values[0] * math.nan
        )

    def lead(self, ours: Point, other: Point, score: int = 0) -> tuple[float, float]:
        """How far ``ours`` is above ``other`` and the standard error of that, on the seeds that both have.

        Rows of a seed are the same, so differences are taken seed by seed.
        """
        mine, theirs = self.values(ours), self.values(other)
        gaps = [mine[seed][score] - theirs[seed][score] for seed in mine if seed in theirs]
        if not gaps:
            return math.nan, math.nan
        error = float(np.std(gaps, ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        return float(np.mean(gaps)), error


def network_named(name: str, alarm: Path | None) -> Any:
    """A network of the house, or alarm from its file."""
    if name == "alarm":
        if alarm is None:
            raise SystemExit("alarm needs --alarm FILE.bif")
        return dc.networks.read_bif(alarm)
    return dc.networks.load(name)


def run(
    results: Results,
    methods: list[str],
    networks: list[str],
    seeds: int,
    *,
    alarm: Path | None = None,
    python: str | None = None,
    minutes: float = math.inf,
    rows: list[int] | None = None,
    epsilons: list[float] | None = None,
) -> None:
    """Fill in what is missing, small seeds first; rows are drawn once for all points that share them.

    ``rows`` and ``epsilons`` are those to run, all of the grid unless given.
    """
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        worker = (
            utility_rivals.Worker(python, Path(scratch)) if set(methods) & set(SYNTHETIC) and python else None
        )
        for seed in range(seeds):
            for name in networks:
                network = network_named(name, alarm)
                for n in (*ROWS, *MORE_ROWS.get(name, ())):
                    todo = dict.fromkeys(
                        point
                        for where in settings((name,))
                        if where.n == n and n in (rows or [n])
                        if where.epsilon in (epsilons or [where.epsilon])
                        for method in methods
                        for point in of_method(method, where)
                        if str(seed) not in results.values(point)
                    )
                    if time.monotonic() - start > 60 * minutes:
                        return
                    if todo:
                        _run(results, list(todo), network, n, seed, worker)
                        results.save()
                        took = time.monotonic() - start
                        print(f"{took:6.0f} s: seed {seed}, {name}, {n:,} rows, {len(todo)} runs", flush=True)


def _run(results: Results, todo: list[Point], network: Any, n: int, seed: int, worker: Any) -> None:
    data = network.sample(n, seed=seed)
    counts = counts_of(data)
    counts.table(tuple(counts.schema)[:2])  # counting compresses once
    synthetic: dict[Any, tuple[Any, float]] = {}
    for point in todo:
        if point.method in SYNTHETIC:
            where = (point.method, point.epsilon)
            if where not in synthetic:
                begin = time.monotonic()
                made = worker.synthetic(data, point.method, point.epsilon, seed)
                synthetic[where] = counts_of(made), time.monotonic() - begin
            rows, before = synthetic[where]
            scores = scored(point, rows, network, seed)
            scores[-1] = round(scores[-1] + before, 3)
        elif point.method == "hc":
            begin = time.process_time()
            scores = compared(network, hospital_climb.climbed(data), 0, time.process_time() - begin)
        else:
            scores = scored(point, counts, network, seed)
        results.runs.setdefault(point.key, {})[str(seed)] = scores


def control(
    results: Results, points: list[Point], *, alarm: Path | None = None, python: str | None = None
) -> None:
    """Run these points once more, on the same rows with every column shuffled by itself: nothing is there to find."""
    with tempfile.TemporaryDirectory() as scratch:
        worker = utility_rivals.Worker(python, Path(scratch)) if python else None
        for point in points:
            network = network_named(point.network, alarm)
            for seed in map(int, results.values(point)):
                if str(seed) in results.values(shuffled(point)) or (
                    point.method in SYNTHETIC and worker is None
                ):
                    continue
                data = network.sample(point.n, seed=seed)
                rng = np.random.default_rng(seed)
                codes = {name: rng.permutation(data.codes[name]) for name in data.columns}
                mixed = dc.Dataset(data.schema, data.n, codes)
                if point.method in SYNTHETIC and worker is not None:
                    mixed = worker.synthetic(mixed, point.method, point.epsilon or 0.0, seed)
                scores = scored(point, counts_of(mixed), network, seed)
                results.runs.setdefault(shuffled(point).key, {})[str(seed)] = scores
            results.save()
    print(f"{len(points)} points with shuffled columns", flush=True)


def shuffled(point: Point) -> Point:
    """The point's control, as the file calls it."""
    return point._replace(method=f"{point.method}~")


def scored(point: Point, counts: Any, network: Any, seed: int) -> list[float]:
    """One run of a method of the house; PC on synthetic rows for those that make them."""
    private = point.method not in (*CEILINGS, *SYNTHETIC)
    options: dict[str, Any] = {"confidence": 0} if point.method == "measured" else {}
    if private:
        options |= {"delta": DELTA, "neighbours": point.neighbours, "anyway": True}
    begin = time.process_time()
    with dc.testing.seeded(seed):
        found = discover(
            counts,
            epsilon=point.epsilon if private else None,
            method=point.method if private else "pc",
            level=point.level,
            **options,
        )
    return compared(network, found.graph, len(found.open), time.process_time() - begin)


def compared(network: Any, graph: Any, open_pairs: int, seconds: float) -> list[float]:
    """The scores of a graph, as in ``SCORES``."""
    truth = network.cpdag
    return [
        round(skeleton_scores(truth, graph).f1, 4),
        round(cpdag_scores(truth, graph).f1, 4),
        len(graph.skeleton),
        len(graph.skeleton - truth.skeleton),
        open_pairs,
        round(seconds, 3),
    ]
