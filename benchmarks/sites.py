r"""How much does pooling gain: one graph from several sites, against one site alone and the same rows in one place.

    python benchmarks/sites.py [--networks sachs ...] [--rows 1000 ...] [--sites 1 3 10 ...] [--seeds 30]
    python benchmarks/sites.py --ways pooled "two rounds" alone "one place" --effects none strong --out sites.jsonl
    python benchmarks/sites.py --summary sites.jsonl

Ways: ``pooled`` and ``two rounds`` are ``dc.pool`` of one contribution a site, of so many rows each; ``alone`` is
``dc.discover`` on the rows of the first site; ``one place`` is ``dc.discover`` on all rows, as if somebody could be
trusted with them; ``exact`` is the same without privacy (``pc``). Effects: with ``strong`` site effects each site has
other margins of the columns without causes (rows are drawn by weights of e^N(0, 1) for each of their levels), with
``none`` all sites are samples of one law. Printed is the skeleton F1, mean and standard error over seeds, and the mean
number of false edges. Every run is kept in ``--out`` as it ends. Nothing was set on these networks.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.discovery.discover import NoDelta
from dpcausal.graphs import skeleton_scores
from dpcausal.networks.network import Network
from dpcausal.sites.pool import next_protocol

DELTA = 1e-6
WAYS = ("pooled", "two rounds", "alone", "one place", "exact")


def site_rows(network: Network, rows: int, seed: int, effects: str) -> dc.Dataset:
    """Return the rows of one site."""
    if effects == "none":
        return network.sample(rows, seed=seed)
    rng = np.random.default_rng([seed, 1])
    many = network.sample(20 * rows, seed=seed)
    weights = np.ones(many.n)
    for variable in network:
        if not variable.parents:
            weights *= np.exp(rng.normal(size=variable.size))[many.codes[variable.name]]
    kept = rng.choice(many.n, rows, replace=False, p=weights / weights.sum())
    return dc.Dataset(many.schema, rows, {name: many.codes[name][kept] for name in many.schema})


def together(sites: list[dc.Dataset]) -> dc.Dataset:
    """Return the rows of all sites in one place."""
    schema = sites[0].schema
    codes = {name: np.concatenate([site.codes[name] for site in sites]) for name in schema}
    return dc.Dataset(schema, sum(site.n for site in sites), codes)


def graph_of(way: str, sites: list[dc.Dataset], epsilon: float) -> dc.Graph:
    """Return the graph that a way finds."""
    budget: dict[str, Any] = {"epsilon": epsilon, "delta": DELTA, "anyway": True, "confidence": 0}
    if way == "alone":
        return dc.discover(sites[0], method="measured", **budget).graph
    if way == "one place":
        return dc.discover(together(sites), method="measured", **budget).graph
    if way == "exact":
        return dc.discover(together(sites), method="pc", epsilon=None).graph
    named = {f"site {i:02}": site for i, site in enumerate(sites)}
    rounds = 2 if way == "two rounds" else 1
    protocol = dc.protocol(sites[0].schema, [site.n for site in sites], epsilon, DELTA, rounds=rounds)
    given = [dc.contribute(site, protocol, name) for name, site in named.items()]
    further = next_protocol(given)
    if further is not None:
        given += [dc.contribute(sites[i], further, one.site, rest_of=one) for i, one in enumerate(given)]
    return dc.pool(given, confidence=0).graph


def run(asked: argparse.Namespace) -> None:
    """Run every cell, seed by seed, and keep what was found."""
    cells = itertools.product(
        range(asked.seeds), asked.networks, asked.rows, asked.effects, asked.sites, asked.ways
    )
    with asked.out.open("a", encoding="utf-8") as file:
        for seed, name, rows, effects, number, way in cells:
            network = dc.networks.load(name)
            sites = [site_rows(network, rows, 1000 * seed + i, effects) for i in range(number)]
            with dc.testing.seeded(1000 * seed + number):
                found = graph_of(way, sites, asked.epsilon)
            scores = skeleton_scores(network.dag, found)
            false = len(found.skeleton - network.dag.skeleton)
            line = {
                "network": name, "rows": rows, "effects": effects, "sites": number, "way": way, "seed": seed,
                "epsilon": asked.epsilon, "f1": scores.f1, "false": false,
            }  # fmt: skip
            file.write(json.dumps(line) + "\n")
            file.flush()


def summary(path: Path) -> str:
    """Return a table of what was kept."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for text in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(text)
        found[one["network"], one["rows"], one["epsilon"], one["effects"], one["sites"], one["way"]].append(
            one
        )
    lines = [
        "network  rows a site  epsilon  site effects  sites  way         skeleton F1    false edges  runs"
    ]
    for (network, rows, epsilon, effects, sites, way), runs in sorted(found.items()):
        scores = [one["f1"] for one in runs]
        error = statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else math.nan
        false = statistics.fmean(one["false"] for one in runs)
        lines.append(
            f"{network:8} {rows:11,} {epsilon:8g}  {effects:12} {sites:6}  {way:10}  {statistics.fmean(scores):.3f} "
            f"+- {error:.3f} {false:12.2f} {len(runs):5}"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", default=["sachs"])
    parser.add_argument("--rows", nargs="+", type=int, default=[1000])
    parser.add_argument("--sites", nargs="+", type=int, default=[1, 3, 10])
    parser.add_argument("--effects", nargs="+", choices=["none", "strong"], default=["none"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS[:-1]))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("sites.jsonl"))
    parser.add_argument("--summary", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", NoDelta)
    if asked.summary is None:
        run(asked)
    sys.stdout.write(summary(asked.summary or asked.out) + "\n")


if __name__ == "__main__":
    main()
