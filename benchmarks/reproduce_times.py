"""CPU seconds of ``dpcausal reproduce FIGURE --quick``, each in a process of its own: at most three minutes each.

    python benchmarks/reproduce_times.py [FIGURE ...]

What it printed last is in ``results/reproduce_times.txt``, and the site's page of reproduced figures shows it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time

from dpcausal.cli.reproduce import FIGURES

MOST = 180.0  # seconds


def taken(figure: str) -> tuple[float, float]:
    """CPU seconds of all threads, and seconds by the clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "dpcausal", "reproduce", figure, "--quick", "--out", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.monotonic() - start


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figure", nargs="*")
    asked = parser.parse_args()
    for name in asked.figure:
        if name not in FIGURES:
            parser.error(f"no figure is called {name}: there are {', '.join(FIGURES)}")
    print(f"| figure | CPU s | seconds | at most {MOST:.0f} CPU s |\n|---|---|---|---|")
    for figure in asked.figure or FIGURES:
        spent, clock = taken(figure)
        print(f"| {figure} | {spent:.0f} | {clock:.0f} | {'yes' if spent <= MOST else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
