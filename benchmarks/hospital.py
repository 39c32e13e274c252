"""Graphs from 500 to 30,000 rows: ``measured`` beside every private rival, where hospitals are.

    python benchmarks/hospital.py run [--alarm alarm.bif]     # measured, rivals of the house, ceilings
    python benchmarks/hospital.py run --methods mst,aim --python .venv-mbi/bin/python   # see utility_rivals.py
    python benchmarks/hospital.py now                         # measured at a few points: after a change
    python benchmarks/hospital.py null                        # columns without any dependence: false edges
    python benchmarks/hospital.py real --folder FOLDER        # NHEFS, flchain and CPS: see hospital_real.py
    python benchmarks/hospital.py time                       # CPU seconds of the default call, confidence included
    python benchmarks/hospital.py page                        # put all tables and the figure into the two pages
    python benchmarks/hospital.py page --print                # the same, on standard output

Every mode goes on where it stopped (``results/hospital*.json``); ``--again measured`` runs a method anew after its code
changed; ``--toy`` makes it small and leaves the results alone (``run --toy`` goes through null, time and page too).
Rows: ``network.sample(n, seed)``, seeds 0, 1, ...; noise is seeded by the same number (not private; the laws are the
same). ``measured`` runs at its default level .05 and each rival at .05 and .01, of which the better is shown. alarm
comes from a .bif file; pgmpy's wheel carries one.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import hospital_null as null
import hospital_page as page
import hospital_points as grid
import hospital_real as real
import hospital_time as clock


def small(folder: Path) -> None:
    """One network, few rows, one budget; results in a folder of their own."""
    grid.RESULTS, null.RESULTS, real.RESULTS = (folder / f"{name}.json" for name in ("grid", "null", "real"))
    clock.RESULTS, grid.NOW = folder / "time.json", folder / "now.json"
    grid.SMALL, grid.ROWS, grid.EPSILONS, grid.MORE_ROWS = ("cancer",), (200, 300), (1.0,), {}
    null.COLUMNS, null.ROWS, null.EPSILONS, null.RIVAL_ROWS = (3,), (200,), (1.0,), (200,)
    real.BOOTSTRAPS, real.EPSILONS, real.ROWS = 2, (1.0,), (200,)
    clock.LIMITS, clock.ROWS = {(4, 2): 5}, (100,)
    page.PAGES, page.FIGURE = (folder / "hospital.md",), folder / "hospital.png"


def main() -> None:
    """Run one mode."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=("run", "now", "null", "real", "time", "page"))
    parser.add_argument("--seeds", type=int, help="20; null: 100; real: 10")
    parser.add_argument("--methods", default=",".join(grid.METHODS))
    parser.add_argument("--networks", help="the five small ones, and alarm where its file is given")
    parser.add_argument("--rows", type=int, nargs="+", help="run: only these numbers of rows")
    parser.add_argument("--epsilons", type=float, nargs="+", help="run: only these")
    parser.add_argument("--alarm", type=Path, help="the alarm network as a .bif file")
    parser.add_argument("--python", help="python of the environment with mbi, for mst and aim")
    parser.add_argument("--folder", type=Path, help="where the files of real data are")
    parser.add_argument(
        "--again", action="append", default=[], help="a method whose results are dropped first"
    )
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after this long")
    parser.add_argument("--print", action="store_true", help="print the tables; change no file")
    parser.add_argument("--toy", action="store_true")
    asked = parser.parse_args()
    everything = asked.toy and asked.mode == "run"
    with tempfile.TemporaryDirectory() as scratch:
        if asked.toy:
            small(Path(scratch))
            asked.seeds, asked.methods = 1, "measured,priv-pc,pc,hc"
        networks = asked.networks or ",".join([*grid.SMALL, *(["alarm"] if asked.alarm else [])])
        if asked.mode == "run":
            results = grid.Results(grid.RESULTS)
            for method in asked.again:
                results.forget(method)
            grid.run(
                results,
                asked.methods.split(","),
                networks.split(","),
                asked.seeds or 20,
                alarm=asked.alarm,
                python=asked.python,
                minutes=asked.minutes,
                rows=asked.rows,
                epsilons=asked.epsilons,
            )
            rivals = [point for _, point in page.above(results)[0] if point.network in networks.split(",")]
            grid.control(results, list(dict.fromkeys(rivals)), alarm=asked.alarm, python=asked.python)
            print("\n".join(page.bars(results)))
        if asked.mode == "now" or everything:
            results = grid.Results(grid.NOW)
            for method in asked.again:
                results.forget(method)
            rows, epsilons = map(list, (page.BRIEF_ROWS, page.BRIEF_EPSILONS))
            small_ones = networks.replace(",alarm", "").split(",")
            grid.run(results, ["measured"], small_ones, asked.seeds or 10, rows=rows, epsilons=epsilons)
            print("\n".join(page.brief(grid.Results(grid.RESULTS), results)))
        if asked.mode == "null" or everything:
            if "measured" in asked.again:
                null.RESULTS.unlink(missing_ok=True)
            null.run(asked.seeds or 100, asked.minutes)
            print("\n".join([*null.table(), "", null.worst()]))
        if asked.mode == "real":
            real.run(asked.folder, asked.seeds or 10, again="measured" in asked.again)
            print("\n".join(real.table()))
        if asked.mode == "time" or everything:
            clock.run()
            print("\n".join(clock.table()))
        if asked.mode == "page" or everything:
            page.write(only_print=asked.print)


if __name__ == "__main__":
    main()
