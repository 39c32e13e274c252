"""Rivals that release synthetic data: MST + PC and AIM + PC on the five small networks, scored as we are.

    python -m venv .venv-mbi && .venv-mbi/bin/pip install -r benchmarks/requirements-mbi.txt
    python benchmarks/utility_rivals.py --python .venv-mbi/bin/python [--seeds 20] [--methods mst,aim,pc]
    python benchmarks/utility_rivals.py --table                       # print what results/rivals.json holds

``mbi`` needs numpy 1, dpcausal numpy 2, so the mechanisms run in an environment of their own (``utility_mbi.py``) and
PC (our own search, G test, levels .05 and .01) in this one. Rows: ``network.sample(n, seed)``, seeds 0, 1, ...
MST and AIM protect one row added or removed at (epsilon, 1e-6), by the rho that our own conversion allows. Noise is
seeded by the same number. Points that are in the file already are not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import dpcausal as dc
from dpcausal.discovery.discover import discover
from dpcausal.graphs import cpdag, cpdag_scores, shd, skeleton_scores
from dpcausal.privacy.accounting.conversion import rho_for

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "rivals.json"
NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs")
GRID = ((100_000, (0.1, 0.3, 1.0)), (10_000, (1.0, 3.0)), (1_000, (1.0, 3.0)))
LEVELS = (0.05, 0.01)
DELTA = 1e-6
METRICS = ("skeleton_f1", "cpdag_f1", "shd")


class Worker:
    """One process of the other environment, fed a job at a time."""

    def __init__(self, python: str, scratch: Path) -> None:
        one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        one["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        self._scratch = scratch
        self._process = subprocess.Popen(
            [python, str(HERE / "utility_mbi.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(scratch / "worker.log").open("w"),
            text=True,
            env={**os.environ, **one},
        )

    def synthetic(self, data: dc.Dataset, method: str, epsilon: float, seed: int) -> dc.Dataset:
        """What the mechanism makes of ``data``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given, made = self._scratch / "given.npy", self._scratch / "made.npy"
        np.save(given, np.stack([data.codes[name] for name in data.columns]))
        job = {
            "data": str(given),
            "out": str(made),
            "sizes": data.sizes(data.columns),
            "method": method,
            "rho": rho_for(epsilon, DELTA),
            "seed": seed,
        }
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        if not self._process.stdout.readline():
            raise RuntimeError((self._scratch / "worker.log").read_text()[-2000:])
        codes = np.load(made)
        return dc.Dataset(
            data.schema, codes.shape[1], {name: codes[i].copy() for i, name in enumerate(data.columns)}
        )


def scores(network: str, data: dc.Dataset, level: float) -> dict[str, float]:
    """PC on these rows against the truth."""
    truth = dc.networks.load(network).dag
    found = discover(data, epsilon=None, method="pc", level=level).graph
    return {
        "skeleton_f1": round(skeleton_scores(truth, found).f1, 4),
        "cpdag_f1": round(cpdag_scores(truth, found).f1, 4),
        "shd": shd(cpdag(truth), found),
    }


def points(methods: list[str], networks: list[str], seeds: int) -> list[tuple[Any, ...]]:
    """(method, network, n, epsilon, seed), small seeds first; epsilon None for PC without privacy."""
    found: list[tuple[Any, ...]] = []
    for seed in range(seeds):
        for method in methods:
            for n, epsilons in GRID:
                for epsilon in (None,) if method == "pc" else epsilons:
                    found += [(method, network, n, epsilon, seed) for network in networks]
    return found


def key(method: str, network: str, n: int, epsilon: float | None, level: float) -> str:
    return f"{method}|{network}|{n}|{epsilon}|{level}"


def load() -> dict[str, Any]:
    """The results so far: key -> seed -> metrics and seconds."""
    return dict(json.loads(RESULTS.read_text())["runs"]) if RESULTS.exists() else {}


def save(runs: dict[str, Any]) -> None:
    about = {
        "what": "rival|network|n|epsilon|level -> {seed: [skeleton F1, CPDAG F1, SHD, seconds of the mechanism]}",
        "neighbours": "add-remove",
        "delta": DELTA,
        "made by": "benchmarks/utility_rivals.py",
    }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(runs[name])}" for name in sorted(runs))
    temporary = RESULTS.with_suffix(".tmp")
    temporary.write_text(f'{{"about": {json.dumps(about)},\n"runs": {{\n{lines}\n}}}}\n')
    temporary.replace(RESULTS)


def run(python: str, methods: list[str], networks: list[str], seeds: int, minutes: float) -> None:
    """Run what is missing, until the time is up."""
    runs, end = load(), time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:
        worker: Worker | None = None
        for method, network, n, epsilon, seed in points(methods, networks, seeds):
            names = {level: key(method, network, n, epsilon, level) for level in LEVELS}
            if all(str(seed) in runs.get(name, {}) for name in names.values()):
                continue
            if time.monotonic() > end:
                print("time is up")
                return
            data = dc.networks.load(network).sample(n, seed=seed)
            start = time.monotonic()
            if method != "pc":
                worker = worker or Worker(python, Path(folder))
                data = worker.synthetic(data, method, epsilon, seed)
            took = round(time.monotonic() - start, 1)
            for level, name in names.items():
                found = scores(network, data, level)
                runs.setdefault(name, {})[str(seed)] = [*(found[metric] for metric in METRICS), took]
            save(runs)


def half_width(values: list[float]) -> float:
    """Half of the 95% interval of the mean (Student)."""
    if len(values) < 2:
        return math.nan
    return float(student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def table() -> None:
    """Means with the half width of their 95% interval."""
    print("| rival | network | n | epsilon | level | seeds | skeleton F1 | CPDAG F1 | SHD | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    runs = load()
    for name in sorted(runs, key=lambda name: (name.split("|")[1], -int(name.split("|")[2]), name)):
        method, network, n, epsilon, level = name.split("|")
        columns = list(zip(*runs[name].values(), strict=True))
        shown = [f"{np.mean(c):.2f} ± {half_width(list(c)):.2f}" for c in columns[:3]]
        cells = [f"{method} + PC" if method != "pc" else "PC, not private", network, n, epsilon, level]
        cells += [str(len(runs[name])), *shown, f"{np.mean(columns[3]):.0f}"]
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", help="python of the environment with mbi")
    parser.add_argument("--methods", default="pc,mst,aim")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after this long; run again to go on")
    parser.add_argument("--table", action="store_true", help="print the results and run nothing")
    asked = parser.parse_args()
    if not asked.table:
        run(asked.python, asked.methods.split(","), asked.networks.split(","), asked.seeds, asked.minutes)
    table()


if __name__ == "__main__":
    main()
