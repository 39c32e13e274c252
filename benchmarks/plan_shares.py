"""Whether the first line of a plan is kept where levels are as uneven as in a survey (``planning/plan.py``).

    python benchmarks/plan_shares.py [--runs 20]

Eight columns with the shares of a health survey: four of two levels (rarest 13% to 49%) and four of four or five. Four
pairs of them, in two ways to pair, have a dependence of the w that is found in 80% of cases by the plan, first for a
rarest level of 20% and then for equally common levels; it is that of a bivariate normal cut into these levels. Printed
is how often ``measured`` finds such a pair, and how many of the 28 pairs stay open.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

import dpcausal as dc

SHARES = {
    "stopped": [0.74, 0.26],
    "died": [0.80, 0.20],
    "sex": [0.49, 0.51],
    "group": [0.87, 0.13],
    "age": [0.29, 0.23, 0.27, 0.16, 0.05],
    "number": [0.14, 0.22, 0.38, 0.26],
    "years": [0.24, 0.27, 0.26, 0.23],
    "pressure": [0.32, 0.39, 0.17, 0.12],
}
PAIRED = (
    (("stopped", "died"), ("sex", "number"), ("age", "pressure"), ("group", "years")),
    (("stopped", "sex"), ("died", "age"), ("pressure", "years"), ("group", "number")),
)
SETTINGS = ((1_000, 1.0), (1_629, 0.5), (2_000, 0.3), (5_000, 0.1))
DELTA = 1e-6
NORMAL = np.random.default_rng(1).normal(size=(400_000, 2))


def cut(name: str, values: np.ndarray) -> np.ndarray:
    """Return the levels of a normal number, as common as declared above."""
    return np.searchsorted(norm.ppf(np.cumsum(SHARES[name])[:-1]), values)


def table(pair: tuple[str, str], correlation: float) -> np.ndarray:
    """Return the probabilities of a pair of columns."""
    x, other = NORMAL.T
    codes = cut(pair[0], x), cut(pair[1], correlation * x + np.sqrt(1 - correlation**2) * other)
    found = np.zeros((len(SHARES[pair[0]]), len(SHARES[pair[1]])))
    np.add.at(found, codes, 1 / len(x))
    return found


def effect_size(found: np.ndarray) -> float:
    """Return Cohen's w."""
    expected = np.outer(found.sum(1), found.sum(0))
    return float(np.sqrt(((found - expected) ** 2 / expected).sum()))


def with_effect(pair: tuple[str, str], w: float) -> np.ndarray:
    """Return the table with this w."""
    return table(pair, brentq(lambda r: effect_size(table(pair, r)) - w, 0.0, 0.99, xtol=1e-3))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_args()
    levels = {name: [str(code) for code in range(len(shares))] for name, shares in SHARES.items()}
    schema = dc.Schema({name: dc.Categorical(texts, ordered=True) for name, texts in levels.items()})
    rng = np.random.default_rng(2)
    print("| rows | epsilon | levels in the plan | w | found | pairs open |\n|---|---|---|---|---|---|")
    for rows, epsilon in SETTINGS:
        plan = dc.plan(schema, rows, epsilon, DELTA, max_order=0)
        assert plan.with_rare_levels is not None
        for told, w in (
            ("rarest 20%", plan.with_rare_levels.smallest),
            ("equally common", plan.orders[0].smallest),
        ):
            found, undecided, runs = 0, 0, 0
            for pairs in PAIRED:
                tables = {pair: with_effect(pair, w) for pair in pairs}
                for _ in range(asked.runs):
                    columns: dict[str, list[str]] = {}
                    for pair, cells in tables.items():
                        drawn = rng.choice(cells.size, rows, p=cells.ravel() / cells.sum())
                        for name, codes in zip(pair, np.unravel_index(drawn, cells.shape), strict=True):
                            columns[name] = [str(code) for code in codes]
                    with dc.testing.seeded(int(rng.integers(1 << 30))):
                        result = dc.discover(dc.read(columns, schema), epsilon=epsilon, delta=DELTA)
                    found += sum(frozenset(pair) in result.graph.skeleton for pair in pairs)
                    undecided += len(result.open)
                    runs += 1
            share, left = found / (4 * runs), undecided / runs
            print(
                f"| {rows:,} | {epsilon:g} | {told} | {w:.2f} | {share:.0%} | {left:.0f} of 28 |", flush=True
            )


if __name__ == "__main__":
    main()
