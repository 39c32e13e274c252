"""PC without privacy beside other packages: the same skeletons, and CPU seconds in the same run.

    python benchmarks/peers_pc.py [--part skeleton|asia|alarm] [--sets 100] [--alarm alarm.bif] [--repeats 3]
                                  [--peer pgmpy|causallearn|pyagrum]

Needs an environment with the peers (``benchmarks/requirements.txt``); those that are not installed are left out and
said so. pgmpy's wheel carries alarm as data and is used where no .bif is given. One thread; ``process_time`` counts all
threads. Loading into a peer's own form (a frame, an array, a database) is not counted, for anyone; nor is ours
(``dc.read``), but counting is.

Policies that differ, and how the comparison is made fair:

- *early stop*: ours and pgmpy's stop at the first separating set; causal-learn's stable loop asks about all. The
  skeleton is the same.
- *stable*: pgmpy 1.0.0 "stable" draws sets from neighbours as they are now; only its "parallel" (here with one job)
  takes those at the start of an order, as ours and causal-learn's do. Skeletons are compared with "parallel", times
  with both.
- *largest set*: pgmpy stops at sets of 5; ours is given ``max_order=5`` beside it.
- *degrees of freedom*: all three sum (non-empty rows - 1)(non-empty columns - 1) over blocks. None left: ours and
  causal-learn's say independent; pgmpy's p-value is NaN, which reads as dependent.
- *continuity*: pgmpy applies Yates' correction to 2 x 2 tables (scipy's default). Skeletons are compared without it and
  with "independent" for no degrees of freedom; times are of pgmpy as it is shipped.
- *ties*: independent is p > level (ours, causal-learn), p >= level (pgmpy).
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.discovery.discover import discover
from dpcausal.networks.bif import read_bif
from peers_pc_tests import causal_learn_skeleton, pgmpy_skeleton, pyagrum_skeleton

LEVEL = 0.01
Skeleton = frozenset[frozenset[str]]


def ours(data: dc.Dataset, max_order: int | None = None) -> Skeleton:
    """Fresh counts every time: counting is part of the work."""
    counts = MemoryCounts(data, threads=1)
    return frozenset(
        discover(counts, epsilon=None, method="pc", level=LEVEL, max_order=max_order).graph.skeleton
    )


def cpu_seconds(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """(least CPU seconds of ``repeats`` runs, what the last gave)."""
    best, found = float("inf"), None
    for _ in range(repeats):
        getattr(work, "prepare", lambda: None)()  # load, where a learner serves once
        gc.collect()
        start = time.process_time()
        found = work()
        best = min(best, time.process_time() - start)
    return best, found


WANTED = {"pgmpy", "causallearn", "pyagrum"}
VARIANTS = ["stable", "parallel"]


def here(name: str) -> bool:
    """Whether a peer is wanted and installed."""
    return name in WANTED and find_spec(name) is not None


def peers(data: dc.Dataset) -> dict[str, Callable[[], Skeleton]]:
    """Name -> a run on data already in the peer's form."""
    found: dict[str, Callable[[], Skeleton]] = {}
    if here("causallearn"):
        found["causal-learn stable"] = causal_learn_skeleton(data, LEVEL)
    if here("pyagrum"):
        found["pyAgrum PC"] = pyagrum_skeleton(data, LEVEL)
    if here("pgmpy"):
        for variant in VARIANTS:
            found[f"pgmpy {variant}"] = pgmpy_skeleton(data, LEVEL, variant)
    return found


def compare_skeletons(sets: int) -> None:
    """Equality on sampled data sets of five networks and four sizes."""
    names = ("asia", "cancer", "earthquake", "survey", "sachs")
    equal: dict[str, int] = {}
    differ: list[str] = []
    for i in range(sets):
        name, rows = names[i % 5], (1000, 2000, 5000, 10_000)[i // 5 % 4]
        data = dc.networks.load(name).sample(rows, seed=700 + i)
        runs: dict[str, Callable[[], Skeleton]] = {}
        if here("pgmpy"):
            runs["pgmpy parallel"] = pgmpy_skeleton(data, LEVEL, "parallel", aligned=True)
        if here("causallearn"):
            runs["causal-learn stable"] = causal_learn_skeleton(data, LEVEL)
        for peer, run in runs.items():
            theirs, mine = run(), ours(data, 5 if peer.startswith("pgmpy") else None)
            equal[peer] = equal.get(peer, 0) + (theirs == mine)
            if theirs != mine:
                gained, lost = (sorted(map(sorted, a - b)) for a, b in ((mine, theirs), (theirs, mine)))
                differ.append(
                    f"  {peer}: {name}, {rows} rows, seed {700 + i}: only ours {gained}, only theirs {lost}"
                )
    for peer, count in equal.items():
        print(f"skeleton equal to {peer}: {count} of {sets} data sets (G, level {LEVEL})", flush=True)
    print("\n".join(differ))


def compare_times(title: str, data: dc.Dataset, truth: Skeleton, repeats: int) -> None:
    """CPU seconds, ratio to ours, edges right and wrong."""
    ours(data)  # compiles
    own, mine = cpu_seconds(lambda: ours(data), max(repeats, 5))
    print(f"| {title} | CPU s | times ours | edges | true, of {len(truth)} |\n|---|---|---|---|---|")

    def line(name: str, seconds: float, found: Skeleton) -> None:
        times = seconds / own
        ratio = "" if name == "dpcausal" else f"{times:,.0f}" if times >= 100 else f"{times:.3g}"
        print(f"| {name} | {seconds:.3g} | {ratio} | {len(found)} | {len(found & truth)} |", flush=True)

    line("dpcausal", own, mine)
    for name, run in peers(data).items():
        line(name, *cpu_seconds(run, repeats))
    print()


def alarm_network(path: Path | None) -> Any:
    """From a .bif file, or from pgmpy's own data."""
    if path is not None:
        return read_bif(path)
    import gzip
    from importlib.resources import files

    packed = files("pgmpy").joinpath("utils/example_models/alarm.bif.gz").read_bytes()
    target = Path(__file__).parents[1] / "build" / "alarm.bif"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(gzip.decompress(packed))
    return read_bif(target)


def main() -> None:
    """Print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=("skeleton", "asia", "alarm"), action="append")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alarm", type=Path)
    parser.add_argument("--alarm-rows", type=int, default=100_000)
    parser.add_argument(
        "--variants", nargs="+", choices=VARIANTS, default=VARIANTS, help="of pgmpy, for times"
    )
    parser.add_argument("--peer", choices=sorted(WANTED), action="append")
    chosen = parser.parse_args()
    parts = chosen.part or ("skeleton", "asia", "alarm")
    VARIANTS[:] = chosen.variants
    WANTED.intersection_update(chosen.peer or WANTED)
    missing = sorted(name for name in WANTED if not here(name))
    if missing:
        print(f"not installed here, left out: {', '.join(missing)}")
    np.seterr(all="ignore")
    if "skeleton" in parts:
        compare_skeletons(chosen.sets)
    if "asia" in parts:
        net = dc.networks.load("asia")
        compare_times(
            "asia, 1,000,000 rows", net.sample(1_000_000, seed=1), frozenset(net.dag.skeleton), chosen.repeats
        )
    if "alarm" in parts:
        net = alarm_network(chosen.alarm)
        compare_times(
            f"alarm, {chosen.alarm_rows:,} rows",
            net.sample(chosen.alarm_rows, seed=1),
            frozenset(net.dag.skeleton),
            chosen.repeats,
        )


if __name__ == "__main__":
    main()
