r"""How much does pooling gain: one graph from several sites, against one site alone and the same rows in one place.

    python benchmarks/sites.py [--networks sachs child.bif.gz ...] [--rows 1000 ...] [--sites 1 3 10 ...] [--seeds 30]
    python benchmarks/sites.py --ways pooled "two rounds" alone "one place" --effects none strong --out sites.jsonl
    python benchmarks/sites.py --networks flchain RandHIE --folder FOLDER
    python benchmarks/sites.py --summary sites.jsonl

Ways: ``pooled`` and ``two rounds`` are ``dc.pool`` of one contribution a site, of so many rows each; ``alone`` is
``dc.discover`` on the rows of the first site; ``one place`` is ``dc.discover`` on all rows, as if somebody could be
trusted with them; ``exact`` is the same without privacy (``pc``). Effects: with ``strong`` site effects each site has
other margins of the columns without causes (probabilities times e^N(0, 1) for each of their levels), with ``none`` all
sites are samples of one law. Networks are those of dpcausal, or .bif files (pgmpy's wheel has child and alarm).

Real data has no true graph: its edges are those that ``pc`` finds without privacy in all rows together, with the site
as one more column, so that what differs between sites makes none. FOLDER is the folder csv of Rdatasets
(vincentarelbundock on GitHub), of which nothing is kept here. flchain (7,874 people) is divided among sites, with
``strong`` effects by age and sex. RandHIE has sites of its own: the first year of 5,912 people in six towns, so that
rows, sites and effects are what they are. Numbers are cut at round bounds, written once.

Printed is the skeleton F1, mean and standard error over seeds, and in brackets the mean number of false edges. Every
run is kept in ``--out`` as it ends; one that is there already is not run again. Nothing was set on these networks.
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
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpcausal as dc
from dpcausal.discovery.discover import NoDelta
from dpcausal.graphs import skeleton_scores
from dpcausal.networks.network import Network, Variable
from dpcausal.sites.pool import next_protocol
from hospital_real import FLCHAIN, Columns, coded

DELTA = 1e-6
WAYS = ("alone", "pooled", "two rounds", "one place", "exact")
RANDHIE: Columns = {
    "plan": [25.0, 95.0],  # percent that the family pays
    "age": [6.0, 18.0, 35.0, 50.0],
    "female": [0, 1],
    "black": [0.5],
    "education": [9.0, 12.0, 13.0, 16.0],  # years, of the head of the family
    "income": [4_000.0, 8_000.0, 12_000.0],
    "family": [2.0, 4.0, 6.0],
    "limited": [0.5],
    "diseases": [6.0, 12.0, 18.0],
    "mental": [60.0, 75.0, 85.0],
    "visits": [1.0, 3.0, 6.0],
    "dollars": [1.0, 50.0, 200.0],
    "admitted": [1.0],
}
NAMES_IN_FILE = {
    "plan": "coins", "age": "xage", "education": "educdec", "family": "num", "limited": "physlm",
    "diseases": "disea", "mental": "mhi", "visits": "mdvis", "dollars": "meddol", "admitted": "totadm",
}  # fmt: skip


@cache
def network(name: str) -> Network:
    """Return a network by its name, or from its file."""
    return dc.networks.read_bif(name) if ".bif" in name else dc.networks.load(name)


def sites_of_network(name: str, rows: int, number: int, seed: int, effects: str) -> list[dc.Dataset]:
    """Return the rows of so many sites."""
    truth, found = network(name), []
    for one in (1000 * seed + i for i in range(number)):
        rng, law = np.random.default_rng([one, 1]), truth
        if effects == "strong":
            law = Network(truth.name, [other_margins(variable, rng) for variable in truth])
        found.append(law.sample(rows, seed=one))
    return found


def other_margins(variable: Variable, rng: np.random.Generator) -> Variable:
    """Return a variable without causes with other probabilities, and any other as it is."""
    if variable.parents:
        return variable
    table = variable.table * np.exp(rng.normal(size=variable.size))
    return Variable(variable.name, variable.levels, (), table / table.sum(), variable.ordered)


@cache
def people(folder: Path, name: str) -> tuple[dc.Dataset, np.ndarray]:
    """Return all rows of a real data set, and the number of the site of each (0 where it has none)."""
    if name == "flchain":
        data = in_order(coded(pd.read_csv(folder / "survival" / "flchain.csv"), FLCHAIN), FLCHAIN)
        return data, np.zeros(data.n, dtype=int)
    years = pd.read_csv(folder / "sampleSelection" / "RandHIE.csv").sort_values(["zper", "year"])
    first = years.drop_duplicates("zper").reset_index(drop=True)
    frame = first.rename(columns={old: new for new, old in NAMES_IN_FILE.items()} | {"plan": "number"})
    return in_order(coded(frame, RANDHIE), RANDHIE), first["site"].to_numpy(int) - 1


def in_order(data: dc.Dataset, columns: Columns) -> dc.Dataset:
    """Return the same, bins of numbers declared as such, so that they have an order."""
    declared = dict(data.schema)
    for name, cut in columns.items():
        if isinstance(cut[0], float):
            missing = data.schema[name].size > len(cut) + 1
            declared[name] = dc.Numeric(-1.0, 1e6, bins=cut, missing_level=missing)
    return dc.Dataset(dc.Schema(declared), data.n, data.codes)


def sites_of_people(
    folder: Path, name: str, rows: int, number: int, seed: int, effects: str
) -> list[dc.Dataset]:
    """Return the rows of each site: its own, or by a draw, of each so many as there are."""
    data, site = people(folder, name)
    if not site.any():
        rng = np.random.default_rng([seed, 2])
        odds = np.ones((data.n, number))
        for column in ("age", "sex") if effects == "strong" else ():
            odds *= np.exp(rng.normal(size=(data.schema[column].size, number)))[data.codes[column]]
        ends = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
        site = (rng.random((data.n, 1)) > ends[:, :-1]).sum(axis=1)
        order = rng.permutation(data.n)
        chosen = [order[site[order] == i][:rows] for i in range(number)]
    else:
        chosen = [np.flatnonzero(site == i) for i in range(site.max() + 1)]
    return [part(data, which) for which in chosen]


def part(data: dc.Dataset, which: np.ndarray) -> dc.Dataset:
    """Return these rows."""
    return dc.Dataset(data.schema, len(which), {name: data.codes[name][which] for name in data.schema})


def without_privacy(sites: list[dc.Dataset]) -> dc.Graph:
    """Return what pc finds in all rows, with the site as one more column; and without that column."""
    whole = together(sites)
    codes = {name: whole.codes[name] for name in whole.schema}
    codes["site"] = np.repeat(np.arange(len(sites)), [site.n for site in sites])
    schema = dc.Schema({**whole.schema, "site": dc.Categorical(list(range(len(sites))))})
    found = dc.discover(dc.Dataset(schema, whole.n, codes), method="pc", epsilon=None).graph
    return dc.Graph(whole.schema, undirected=[sorted(edge) for edge in found.skeleton if "site" not in edge])


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
    cells = itertools.product(range(asked.seeds), asked.networks, asked.rows, asked.effects, asked.sites)
    text = asked.out.read_text(encoding="utf-8") if asked.out.exists() else ""
    there = [cell_of(json.loads(line)) for line in text.splitlines()]
    for seed, name, rows, effects, number in cells:
        line: dict[str, Any] = {
            "network": Path(name).name.split(".")[0], "rows": rows, "effects": effects, "sites": number,
            "seed": seed, "epsilon": asked.epsilon,
        }  # fmt: skip
        ways = [way for way in asked.ways if cell_of({**line, "way": way}) not in there]
        if not ways:
            continue
        if name in ("flchain", "RandHIE"):
            sites = sites_of_people(asked.folder, name, rows, number, seed, effects)
            truth = without_privacy(sites)
        else:
            sites, truth = sites_of_network(name, rows, number, seed, effects), network(name).dag
        for way in ways:
            with dc.testing.seeded(1000 * seed + number):
                found = graph_of(way, sites, asked.epsilon)
            scores, false = skeleton_scores(truth, found), len(found.skeleton - truth.skeleton)
            with asked.out.open("a", encoding="utf-8") as file:
                kept = {**line, "way": way, "f1": scores.f1, "false": false, "edges": len(truth.skeleton)}
                file.write(json.dumps(kept) + "\n")


def cell_of(line: dict[str, Any]) -> tuple[Any, ...]:
    """Return which run a line is of."""
    return tuple(line[name] for name in ("network", "rows", "effects", "sites", "way", "seed", "epsilon"))


def summary(path: Path) -> str:
    """Return a table of what was kept: F1, its standard error over runs, and in brackets false edges."""
    found: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for text in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(text)
        cell = (one["network"], one["rows"] or "its own", one["effects"], one["sites"])
        found[cell][one["way"]].append(one)
    ways = [way for way in WAYS if any(way in runs for runs in found.values())]
    named = ["one round" if way == "pooled" else way for way in ways]
    heads = ("data", "rows a site", "site effects", "sites", *named, "runs")
    lines = [f"| {' | '.join(heads)} |", "|:---|---:|:---|" + "---:|" * (len(ways) + 2)]
    for cell, runs in sorted(
        found.items(), key=lambda item: (item[0][0], str(item[0][1]).zfill(9), *item[0][2:])
    ):
        many = {len(some) for some in runs.values()}
        values = [*cell, *(score(runs[way]) for way in ways), " to ".join(map(str, sorted(many)))]
        lines.append(f"| {' | '.join(map(str, values))} |")
    return "\n".join(lines)


def score(runs: list[dict[str, Any]]) -> str:
    """Return the mean of F1, its standard error, and the mean number of false edges."""
    scores = [one["f1"] for one in runs]
    if len(scores) < 2:
        return f"{scores[0]:.3f} ({runs[0]['false']})" if scores else "-"
    error = statistics.stdev(scores) / math.sqrt(len(scores))
    return (
        f"{statistics.fmean(scores):.3f} ± {error:.3f} ({statistics.fmean(one['false'] for one in runs):.1f})"
    )


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
    parser.add_argument("--folder", type=Path, help="where the files of real data are")
    parser.add_argument("--out", type=Path, default=Path("sites.jsonl"))
    parser.add_argument("--summary", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", NoDelta)
    if asked.summary is None:
        run(asked)
    sys.stdout.write(summary(asked.summary or asked.out) + "\n")


if __name__ == "__main__":
    main()
