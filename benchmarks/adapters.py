"""What the loops of other packages cost when every question is paid for: questions asked, and epsilon of each.

    python benchmarks/adapters.py [--network asia] [--rows 100000] [--epsilon 10] [--seeds 5] [--own]

Needs causal-learn and pgmpy (``benchmarks/requirements.txt``); those that are not installed are left out and said so.

First the true answers (d-separation in the network): what a loop asks when no test errs. "calls" is what the loop calls
the test for, "questions" what is left when each unordered question is kept: what an oracle charges. epsilon of each
question is what the total allows if exactly that many are paid for.
Then private runs by ``kendall`` at the same total: skeleton F1, and how much was paid and refused, for an oracle
planned for that many questions. Data and noise are seeded; the order in which pgmpy asks depends on ``PYTHONHASHSEED``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from statistics import mean
from typing import Any

import dpcausal as dc
from dpcausal.adapters import PrivateOracle, causal_learn, pgmpy
from dpcausal.citests.base import Outcome
from dpcausal.discovery.search import Answers, Query, drive, pc_search
from dpcausal.graphs.metrics import skeleton_scores
from dpcausal.graphs.separation import d_separated

LEVEL, DELTA = 0.01, 1e-6
Loop = Callable[[Any], frozenset[frozenset[str]]]


class TrueAnswers:
    """An oracle that knows the graph: the part of ``PrivateOracle`` that loops use."""

    def __init__(self, network: Any) -> None:
        self.columns, self.level = tuple(network.dag.nodes), LEVEL
        self._dag, self.calls, self.kept = network.dag, 0, {}

    @property
    def charged(self) -> int:
        return len(self.kept)

    def ask(self, x: str, y: str, given: Sequence[str] = ()) -> Outcome:
        self.calls += 1
        key = (frozenset((x, y)), frozenset(given))
        if key not in self.kept:
            self.kept[key] = Outcome(d_separated(self._dag, x, y, given))
        return self.kept[key]

    def pvalue(self, x: str, y: str, given: Sequence[str] = ()) -> float:
        return float(self.ask(x, y, given).independent)


def our_loop(*, stable: bool) -> Loop:
    """``pc_search`` asking the oracle one by one."""

    def run(oracle: Any) -> frozenset[frozenset[str]]:
        def answer(batch: list[Query]) -> Answers:
            return [oracle.ask(*question).independent for question in batch]

        return frozenset(drive(pc_search(oracle.columns, stable=stable), answer).edges)

    return run


def pgmpy_loop(variant: str) -> Loop:
    def run(oracle: Any) -> frozenset[frozenset[str]]:
        found, _ = pgmpy.pc(oracle, variant=variant, return_type="skeleton")
        return frozenset(map(frozenset, found.edges()))

    return run


def loops(own: bool) -> dict[str, Loop]:
    """Name -> loop, as far as installed; only ours with ``own``."""
    found: dict[str, Loop] = {
        "dpcausal, stable": our_loop(stable=True),
        "dpcausal, original": our_loop(stable=False),
    }
    if find_spec("causallearn") and not own:
        found["causal-learn, stable"] = lambda oracle: causal_learn.skeleton(
            causal_learn.pc(oracle, stable=True)
        )
        found["causal-learn, original"] = lambda oracle: causal_learn.skeleton(
            causal_learn.pc(oracle, stable=False)
        )
    if find_spec("pgmpy") and not own:
        from pgmpy.global_vars import logger

        logger.setLevel("ERROR")
        for variant in ("parallel", "stable", "orig"):
            found[f'pgmpy, "{variant}"'] = pgmpy_loop(variant)
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", default="asia")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--epsilon", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--own", action="store_true", help="only our own loops")
    chosen = parser.parse_args()
    network = dc.networks.load(chosen.network)
    missing = [name for name in ("causallearn", "pgmpy") if not find_spec(name)]
    if missing and not chosen.own:
        print(f"not installed here, left out: {', '.join(missing)}")
    samples = [network.sample(chosen.rows, seed=900 + i) for i in range(chosen.seeds)]
    print(
        f"{chosen.network}, true answers; epsilon of a question at a total of {chosen.epsilon:g}: "
        f"pure, and with delta {DELTA:g}\n"
    )
    print(
        "| loop | calls | questions | epsilon each, pure | with delta | F1 of private runs | paid | refused |\n|"
        + "---|" * 8
    )
    for name, loop in loops(chosen.own).items():
        truth = TrueAnswers(network)
        assert loop(truth) == network.dag.skeleton, name
        plan = [
            PrivateOracle(samples[0], epsilon=chosen.epsilon, delta=d, questions=truth.charged)
            for d in (0.0, DELTA)
        ]
        scores, paid, refused = [], [], []
        for data in samples:
            oracle = PrivateOracle(
                data,
                epsilon=chosen.epsilon,
                delta=DELTA,
                questions=truth.charged,
                level=LEVEL,
                method="kendall",
            )
            with dc.testing.seeded(len(scores)):
                graph = dc.Graph(oracle.columns, undirected=loop(oracle))
            scores.append(skeleton_scores(network.dag, graph).f1)
            paid.append(oracle.charged)
            refused.append(len(oracle.refused))
        prices = " | ".join(f"{one.each:.3f}".removeprefix("0") for one in plan)
        result = f"{mean(scores):.2f} | {mean(paid):.0f} | {mean(refused):.0f}"
        print(f"| {name} | {truth.calls} | {truth.charged} | {prices} | {result} |", flush=True)


if __name__ == "__main__":
    main()
