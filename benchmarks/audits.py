"""What an audit through the public call measures: a lower bound on the epsilon of each call, at a claim of 1.

    python benchmarks/audits.py [--trials 4000] [NAME ...] [--fourfold NAME ...]
                     a table; all calls that can be audited, or these, some of them with four times the trials

Each row is ``dpcausal audit NAME --neighbours RELATION``: the call runs as a user's does, with production noise, on the
two neighbours that came nearest to its charge in the search of ``tests/net/worst.py``; "share" says how near (1: the
pair uses up the whole charge). The bound holds with 95% confidence; half of the trials chose what to look at. A bound
above 1 would refute the claim. One far below 1 says that these trials can't tell, not that less was spent: the more
answers a call releases, the more of them a sampling audit misses.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.resources import files

from dpcausal.audit.calls import CALLS, target
from dpcausal.audit.empirical import audit


def rows(trials: dict[str, int]) -> None:
    """Print one row of the table after another, by name with its trials."""
    stored = json.loads(files("dpcausal.audit").joinpath("neighbours.json").read_text())
    print(
        "| call | neighbours | share | trials | epsilon is at least | ms a call |\n|---|---|---|---|---|---|"
    )
    for name, count in trials.items():
        for relation in CALLS[name].relations:
            of = target(name, 1.0, relation)
            start = time.process_time()
            found = audit(name, of.sampler, of.claim, of.delta, trials=count)
            each = 1000 * (time.process_time() - start) / (2 * found.trials)
            share = stored[name][relation]["share"]
            bound = f"{found.lower:.2f}" + (" REFUTED" if found.refuted else "")
            print(
                f"| `{name}` | {relation} | {share:.2f} | {found.trials:,} | {bound} | {each:.1f} |",
                flush=True,
            )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="as in dpcausal audit NAME")
    parser.add_argument("--trials", type=int, default=4000, help="runs on each of the two neighbours")
    parser.add_argument(
        "--fourfold", nargs="+", metavar="NAME", default=[], help="with four times the trials"
    )
    given = parser.parse_args()
    unknown = [name for name in (*given.names, *given.fourfold) if name not in CALLS]
    if unknown:
        parser.error(f"no call is named {unknown[0]}: there are {', '.join(CALLS)}")
    names = given.names or ([] if given.fourfold else list(CALLS))
    rows(dict.fromkeys(names, given.trials) | dict.fromkeys(given.fourfold, 4 * given.trials))


if __name__ == "__main__":
    main()
