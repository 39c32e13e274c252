r"""What is said, and what is so: how often statements of a result are true, on laws that no number was set on.

    python benchmarks/calibration.py [--parts arrows fresh ...] [--runs 12] [--first 6000000] [--out FILE.jsonl]
    python benchmarks/calibration.py --summary FILE.jsonl      # what is kept there

With ``--out`` every run is kept as it ends: stop and resume.

**arrows**: random networks, linear models and shipped networks; every edge with a chance of a direction. Printed: of
arrows (a chance of .8 or more) how many there are, what is said on average, how many point as in the graph that made
the rows (an arrow where there is no edge is wrong), and the same for chances of .8 to .9 and above. Beside it, for
comparison, arrows of PC without privacy (level .01) on the same rows.

**published**: ``arrows`` of four published networks, whose tables an archive of pgmpy holds (none is kept here):

    pip download pgmpy==0.1.26 --no-deps -d FOLDER
    python benchmarks/calibration.py --parts published --folder FOLDER

**fresh**, **fresh_absent**: ``arrows`` and ``absent`` of laws and settings that no earlier table had.

**absent**: yes/no columns, all independent; ``result.detectable`` says which link between the first two would be found
in 80% of runs. Then a link of that size is planted between columns of the same prevalence, and the search is run again.
Printed: the mean w that is said, and in how many runs the planted link is found, open or absent.

**hidden**: the laws of ``arrows`` with ``latent=True``, as they are and without the column that causes most others. An
arrowhead at b of an edge of a and b is right if b is no cause of a, directly or through others, in the graph that made
the rows; a tail if it is; ``<->`` if neither causes the other. Printed: how many edges there are, how many of them are
``<->`` and right, and of arrowheads and of tails (a chance of .8 or more) what is said on average and how many are
right.

**effects** (``calibration_effects.py``): how often 95% intervals of effects hold the truth.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import itertools
import json
import math
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import calibration_effects
import dpcausal as dc
import fresh_graphs
from dpcausal.discovery.discover import NoDelta
from dpcausal.graphs.pag import PAG
from dpcausal.networks.network import Network

DELTA = 1e-6
ARROWS = ((1_000, 3.0), (3_000, 1.0), (3_000, 3.0), (10_000, 0.3), (10_000, 1.0), (20_000, 3.0))
NETWORKS = ("asia", "sachs", "survey")
KINDS = ("levels", "dozen", "yesno", "numbers", "gates", "codes")
FRESH_LAWS = ("few", "wide", "weak", "mixed", "thirds", "bends", "cancer", "earthquake")
FRESH = ((1_500, 2.0), (6_000, 0.6), (8_000, 2.0), (25_000, 0.5))
ABSENT = tuple(
    (rows, epsilon, columns, prevalence)
    for rows, epsilon in ((5_000, 1.0), (17_500, 0.5))
    for columns in (5, 20, 40)
    for prevalence in (0.02, 0.1, 0.5)
)
FRESH_ABSENT = tuple(
    (rows, epsilon, columns, prevalence)
    for rows, epsilon in ((4_000, 1.0), (12_000, 0.6))
    for columns in (8, 25)
    for prevalence in (0.05, 0.2, 0.5)
)
BY_LAW = ("arrows", "published", "fresh")  # parts that ask for arrows
Run = dict[str, Any]
Law = Callable[[int, int], fresh_graphs.Made]  # of a seed and a number of rows
PUBLISHED = ("child", "insurance", "alarm", "hailfinder")
PARTS = ("arrows", "published", "fresh", "absent", "fresh_absent", "hidden", "effects")


def linear(seed: int, rows: int) -> fresh_graphs.Made:
    """Eight numbers of a linear model, their order in the schema at random."""
    rng, d = np.random.default_rng([seed, rows, 8]), 8
    effects = np.triu(rng.random((d, d)) < 2.2 / (d - 1), 1)
    effects = effects * rng.choice([-1, 1], effects.shape) * rng.uniform(0.3, 0.9, effects.shape)
    values = np.zeros((rows, d))
    for j in range(d):
        values[:, j] = values @ effects[:, j] + rng.normal(size=rows)
    values /= values.std(axis=0)
    names = [f"v{j}" for j in rng.permutation(d)]
    columns = {name: values[:, j].tolist() for j, name in enumerate(names)}
    schema = dc.Schema({name: dc.Numeric(-5, 5) for name in sorted(names)})
    arrows = [(names[i], names[j]) for i, j in zip(*np.nonzero(effects), strict=True)]
    return dc.read(columns, schema), dc.Graph(sorted(names), directed=arrows)


def makers() -> dict[str, Law]:
    """Every law that arrows are asked of."""
    found = {kind: fresh_graphs.KINDS[kind] for kind in (*KINDS, *FRESH_LAWS) if kind in fresh_graphs.KINDS}
    for name in (*NETWORKS, *(law for law in FRESH_LAWS if law not in fresh_graphs.KINDS)):
        found[name] = law_of(dc.networks.load(name))
    return {**found, **PUBLISHED_LAWS, "linear": linear}


PUBLISHED_LAWS: dict[str, Law] = {}


def law_of(network: Network) -> Law:
    """Return what draws rows of a network."""
    return lambda seed, rows: fresh_graphs.of_network(network, rows, seed)


def read_published(folder: Path) -> None:
    """Read the published networks from the archive of pgmpy in a folder."""
    archives = sorted(folder.glob("pgmpy-*.whl"))
    if not archives:
        sys.exit(f"{folder}: no archive of pgmpy; pip download pgmpy==0.1.26 --no-deps -d {folder}")
    with zipfile.ZipFile(archives[0]) as archive, tempfile.TemporaryDirectory() as place:
        for name in PUBLISHED:
            file = Path(place) / f"{name}.bif"
            file.write_bytes(gzip.decompress(archive.read(f"pgmpy/utils/example_models/{name}.bif.gz")))
            PUBLISHED_LAWS[name] = law_of(dc.networks.read_bif(file))


def quietly(data: dc.Dataset, **terms: Any) -> dc.DiscoveryResult:
    """Discover without warnings on a missing delta and without repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoDelta)
        return dc.discover(data, **terms)


def arrows_of(law: str, seed: int, rows: int, epsilon: float) -> Run:
    """One graph: chances of the likelier direction of every edge, and whether the truth has that arrow."""
    data, truth = makers()[law](seed, rows)
    method = "moments" if law == "linear" else "measured"
    with dc.testing.seeded(seed):
        found = quietly(data, epsilon=epsilon, delta=DELTA, method=method, confidence=0, anyway=True)
    said = [
        (found.direction[arrow], arrow in truth.directed)
        for arrow in found.direction
        if found.direction[arrow] > found.direction[arrow[::-1]]
    ]
    exact = dc.discover(
        data, epsilon=None, method="pc", level=0.01, **({"test": "moments"} if law == "linear" else {})
    )
    right = sum(arrow in truth.directed for arrow in exact.graph.directed)
    return {"said": said, "drawn": len(found.graph.directed), "pc": [len(exact.graph.directed), right]}


def without_hub(data: dc.Dataset, truth: dc.Graph, seed: int) -> dc.Dataset:
    """The rows without the column that causes most others."""
    most = max(len(truth.children(name)) for name in truth.nodes)
    hubs = [name for name in truth.nodes if len(truth.children(name)) == most]
    hub = hubs[int(np.random.default_rng(seed).integers(len(hubs)))]
    schema = dc.Schema({name: data.schema[name] for name in data.schema if name != hub})
    codes, values = (
        {name: one for name, one in some.items() if name != hub} for some in (data.codes, data.values)
    )
    return dc.Dataset(schema, data.n, codes, values)


def hidden_of(law: str, seed: int, rows: int, epsilon: float) -> Run:
    """One graph as it is and without its hub: chances of heads, and whether the truth has them; both heads apart."""
    data, truth = makers()[law](seed, rows)
    causes = {name: truth.ancestors([name]) for name in truth.nodes}
    method, run = "moments" if law == "linear" else "measured", {}
    for kind, some in (("plain", data), ("hidden", without_hub(data, truth, seed))):
        with dc.testing.seeded(seed):
            found = quietly(
                some, epsilon=epsilon, delta=DELTA, method=method, latent=True, confidence=0, anyway=True
            )
        assert isinstance(found.graph, PAG)
        run[kind] = {
            "edges": len(found.graph.skeleton),
            "heads": [(chance, b not in causes[a]) for (a, b), chance in found.marks.items()],
            "both": [b not in causes[a] and a not in causes[b] for a, b in found.graph.bidirected],
        }
    return run


def yes_no(rng: np.random.Generator, rows: int, columns: int, prevalence: float, w: float) -> dc.Dataset:
    """Yes/no columns of one prevalence; the first two have a correlation of ``w``."""
    values = rng.random((rows, columns)) < prevalence
    both = prevalence**2 + w * prevalence * (1.0 - prevalence)
    values[:, 1] = rng.random(rows) < np.where(
        values[:, 0], both / prevalence, (prevalence - both) / (1.0 - prevalence)
    )
    schema = dc.Schema({f"v{j:02}": dc.Categorical(["no", "yes"]) for j in range(columns)})
    return dc.read({f"v{j:02}": np.where(values[:, j], "yes", "no").tolist() for j in range(columns)}, schema)


def absent_of(seed: int, rows: int, epsilon: float, columns: int, prevalence: float) -> Run:
    """One pair of runs: which link would be found, and what becomes of a link of that size."""
    rng, pair = (
        np.random.default_rng([seed, rows, columns, int(1000 * prevalence)]),
        frozenset(("v00", "v01")),
    )
    terms = {"epsilon": epsilon, "delta": DELTA, "method": "measured", "confidence": 0, "anyway": True}
    with dc.testing.seeded(2 * seed):
        before = quietly(yes_no(rng, rows, columns, prevalence, 0.0), **terms)
    w = before.detectable.get(pair, math.inf)
    if w > 0.9:
        return {"w": None, "before": str(before.state(*pair)), "state": None}
    with dc.testing.seeded(2 * seed + 1):
        after = quietly(yes_no(rng, rows, columns, prevalence, w), **terms)
    return {"w": w, "before": str(before.state(*pair)), "state": str(after.state(*pair))}


def questions(parts: list[str]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every setting, with the part that it belongs to."""
    if "arrows" in parts:
        for law, (rows, epsilon) in itertools.product((*KINDS, *NETWORKS, "linear"), ARROWS):
            yield "arrows", (law, rows, epsilon)
    if "published" in parts:
        for law, (rows, epsilon) in itertools.product(PUBLISHED, ARROWS):
            yield "published", (law, rows, epsilon)
    if "fresh" in parts:
        for law, (rows, epsilon) in itertools.product(FRESH_LAWS, FRESH):
            yield "fresh", (law, rows, epsilon)
    if "absent" in parts:
        for setting in ABSENT:
            yield "absent", setting
    if "fresh_absent" in parts:
        for setting in FRESH_ABSENT:
            yield "absent", setting
    if "hidden" in parts:
        for law, (rows, epsilon) in itertools.product((*KINDS, *NETWORKS, "linear"), ARROWS):
            yield "hidden", (law, rows, epsilon)
    if "effects" in parts:
        for setting in calibration_effects.settings():
            yield "effects", setting


def answer(part: str, setting: tuple[Any, ...], seed: int) -> Run:
    """One run."""
    if part in BY_LAW:
        return arrows_of(setting[0], seed, *setting[1:])
    if part == "hidden":
        return hidden_of(setting[0], seed, *setting[1:])
    if part == "effects":
        return calibration_effects.effects_of(seed, *setting)
    return absent_of(seed, *setting)


Kept = dict[tuple[str, tuple[Any, ...]], dict[int, Run]]


def read(path: Path | None) -> Kept:
    """What a file keeps."""
    found: Kept = collections.defaultdict(dict)
    for line in path.read_text().splitlines() if path is not None and path.exists() else ():
        part, setting, seed, values = json.loads(line)
        found[part, tuple(setting)][seed] = values
    return found


def share(right: int, of: int) -> str:
    """A share with its number."""
    return f"{right / of:.2f} of {of}" if of else "-"


def summary(kept: Kept) -> None:
    """Print all tables."""
    print("| law | rows | epsilon | graphs | said | right | .8 to .9 | .9 or more | PC, no privacy |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (part, setting), runs in kept.items():
        if part not in BY_LAW:
            continue
        said = [(chance, right) for run in runs.values() for chance, right in run["said"] if chance >= 0.8]
        mean = f"{sum(chance for chance, _ in said) / len(said):.2f}" if said else "-"
        low, high = ([one for one in said if (one[0] >= 0.9) == top] for top in (False, True))
        pc = [sum(run["pc"][k] for run in runs.values()) for k in (0, 1)]
        cells = [share(sum(right for _, right in some), len(some)) for some in (said, low, high)]
        print(
            f"| {' | '.join(map(str, setting))} | {len(runs)} | {mean} | {' | '.join(cells)} | {share(pc[1], pc[0])} |"
        )
    print()
    print("| rows | epsilon | columns | prevalence | runs | w said | found | open | absent |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (part, setting), runs in kept.items():
        if part != "absent":
            continue
        told = [run for run in runs.values() if run["w"] is not None]
        states = collections.Counter(run["state"] for run in told)
        mean = f"{sum(run['w'] for run in told) / len(told):.3f}" if told else "none"
        cells = [share(states[state], len(told)) for state in ("found", "open", "absent")]
        print(f"| {' | '.join(map(str, setting))} | {len(runs)} | {mean} | {' | '.join(cells)} |")
    print()
    print(
        "\n".join(
            calibration_effects.lines({key[1]: runs for key, runs in kept.items() if key[0] == "effects"})
        )
    )
    print()
    for kind, title in (("plain", "nothing hidden"), ("hidden", "the hub hidden")):
        print(
            f"| {title} | rows | epsilon | graphs | edges | <-> right | heads said | right | tails said | right |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        lines: dict[tuple[Any, ...], list[Run]] = collections.defaultdict(list)
        for (part, setting), runs in kept.items():
            if part == "hidden":
                law, rows, epsilon = setting
                for name in (setting, (law, "all", "all"), ("all", rows, epsilon), ("all", "all", "all")):
                    lines[name] += [run[kind] for run in runs.values()]
        for name in sorted(lines, key=lambda one: one.count("all")):
            print(hidden_line(" | ".join(map(str, name)), lines[name]))
        print()


def hidden_line(name: str, runs: list[Run]) -> str:
    """A line on marks: how many are likely enough, what is said of them and how many are right."""
    heads = [one for run in runs for one in run["heads"]]
    both = [right for run in runs for right in run["both"]]
    cells = [str(len(runs)), str(sum(run["edges"] for run in runs)), share(sum(both), len(both))]
    for likely in (
        [(chance, right) for chance, right in heads if chance >= 0.8],
        [(1.0 - chance, not right) for chance, right in heads if 1.0 - chance >= 0.8],
    ):
        cells.append(f"{sum(chance for chance, _ in likely) / len(likely):.2f}" if likely else "-")
        cells.append(share(sum(right for _, right in likely), len(likely)))
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Run what is asked for, and print it."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--parts", nargs="*", default=[part for part in PARTS if part != "published"], choices=PARTS
    )
    options.add_argument("--runs", type=int, default=12)
    options.add_argument("--first", type=int, default=6_000_000)
    options.add_argument("--folder", type=Path, help="where the archive of pgmpy is")
    options.add_argument("--out", type=Path)
    options.add_argument("--summary", type=Path)
    asked = options.parse_args()
    if asked.summary is not None:
        summary(read(asked.summary))
        return
    if "published" in asked.parts:
        if asked.folder is None:
            options.error("--parts published needs --folder")
        read_published(asked.folder)
    kept = read(asked.out)
    for seed in range(asked.first, asked.first + asked.runs):
        for part, setting in questions(asked.parts):
            if seed in kept[part, setting]:
                continue
            kept[part, setting][seed] = answer(part, setting, seed)
            if asked.out is not None:
                with asked.out.open("a") as file:
                    file.write(json.dumps([part, setting, seed, kept[part, setting][seed]]) + "\n")
    summary(kept)


if __name__ == "__main__":
    main()
