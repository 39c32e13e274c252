"""Effects with intervals: coverage and width, beside what others do.

    python benchmarks/effects.py networks [--seeds 12]                    # the five networks
    python benchmarks/effects.py random [--networks 200]                  # random networks of our own
    python benchmarks/effects.py rivals --python .venv-mbi/bin/python     # synthetic data, output perturbation
    python benchmarks/effects.py after [--sets 334] [--rows 10000]        # after a discovery
    python benchmarks/effects.py scores [--sets 500] --rows 2000,10000    # after moments (effects_scores.py)
    python benchmarks/effects.py nhefs --folder FOLDER                    # causaldata-*.tar.gz in FOLDER
    python benchmarks/effects.py brief                                    # print results/effects.json; table: all of it

**Truth.** Every ordered pair (treatment, outcome) with a path of arrows between them and an effect other than 0; the
effect is computed from the exact joint law, held fixed what the graph says. Treatments compare their last level with
their first; outcomes with more than two levels count by the position of the level.

**Coverage** is told twice: of the effect in the strata that an answer speaks for (``left_out`` names the others), which
is what the interval claims, and of the effect in all strata; *everyone* is the interval for all rows. An answer that
knows nothing (share 0) counts as covering and its width is the whole range; how many there are is told.

**Rivals.** *no privacy*: the same estimator on exact counts. *MST*, *AIM*: the estimator without noise, run on
synthetic rows as if they were real (add-remove, delta 1e-6). *output*: the standardised estimate with Laplace noise of
its global sensitivity, 2 (one row alone in a stratum can turn it round). *output, propensity*: half of epsilon for
noisy propensity scores of the strata, cut to [.05, .95]; half for the weighted mean, whose sensitivity is then 40/n.
Both get the exact sampling variance for nothing and know their noise.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc
from dpcausal.effects import effect as effects
from dpcausal.graphs.adjustment import descendants, smallest_back_door
from dpcausal.networks.network import Network, Variable

RESULTS = Path(__file__).parent / "results" / "effects.json"
NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs")
EPSILONS = (0.3, 1.0, 3.0)
ROWS = (1_000, 10_000, 100_000)
DELTA = 1e-6
NORMAL = 1.959963984540054


def ordered(network: Network) -> dc.Schema:
    """The schema with every column of more than two levels ordered: their positions are what is compared."""
    columns = {name: dc.Categorical(column.levels, ordered=True) for name, column in network.schema.items()}
    return dc.Schema(columns)


@dataclasses.dataclass(frozen=True)
class Pair:
    """One effect: its columns, what is held fixed, and its true value in every stratum."""

    treatment: str
    outcome: str
    adjust: tuple[str, ...]
    weights: Any  # of strata
    effects: Any  # in strata, in levels of the outcome

    def truth(self, kept: Any = None) -> float:
        """The effect in all strata, or in those kept."""
        weights = self.weights if kept is None else self.weights * kept
        return float(weights @ self.effects / max(weights.sum(), 1e-300))


def pairs_of(network: Network) -> list[Pair]:
    """All pairs with an effect."""
    sizes = {name: column.size for name, column in network.schema.items()}
    found = []
    for treatment in network.dag.nodes:
        for outcome in network.dag.nodes:
            if outcome not in descendants(network.dag, treatment):
                continue
            adjust = smallest_back_door(network.dag, treatment, outcome, sizes)
            place = {name: i for i, name in enumerate(network.schema)}
            adjust = tuple(sorted(adjust, key=place.__getitem__))
            joint = network.joint((*adjust, treatment, outcome))
            joint = joint.reshape(-1, sizes[treatment], sizes[outcome])
            means = (joint @ np.arange(sizes[outcome])) / np.maximum(joint.sum(axis=2), 1e-300)
            pair = Pair(
                treatment, outcome, adjust, joint.sum(axis=(1, 2)), np.nan_to_num(means[:, -1] - means[:, 0])
            )
            if abs(pair.truth()) > 1e-9:
                found.append(pair)
    return found


def kept_of(found: Any, schema: dc.Schema) -> Any:
    """Which strata the answer speaks for."""
    shape = [schema[name].size for name in found.adjust]
    kept = np.ones(shape, bool)
    for stratum in found.left_out:
        kept[
            tuple(
                schema[name].printed.index(level) for name, level in zip(found.adjust, stratum, strict=True)
            )
        ] = 0
    return kept.ravel()


def as_rows(network: Network, schema: dc.Schema, n: int, seed: int) -> dc.Dataset:
    """Rows with every column ordered."""
    data = network.sample(n, seed)
    return dc.Dataset(schema, n, {name: data.codes[name] for name in data.columns})


Tally = dict[
    str, list[float]
]  # [answers, cover kept, cover all, sum of widths, nothing known, sum of shares, everyone covers, sum of its widths]


def add(held: dict[str, Any], key: str, found: Any, pair: Pair, schema: dc.Schema) -> None:
    """Count one answer."""
    low, high = found.interval
    scale = schema[pair.outcome].size - 1
    nothing = found.share == 0
    kept = 1.0 if nothing else kept_of(found, schema)
    tally = held.setdefault(key, [0, 0, 0, 0.0, 0, 0.0, 0, 0.0])
    tally[0] += 1
    tally[1] += bool(nothing or low - 1e-12 <= pair.truth(kept) <= high + 1e-12)
    tally[2] += bool(low - 1e-12 <= pair.truth() <= high + 1e-12)
    tally[3] += (high - low) / scale
    tally[4] += nothing
    tally[5] += found.share
    least, most = found.everyone
    tally[6] += bool(least - 1e-12 <= pair.truth() <= most + 1e-12)
    tally[7] += (most - least) / scale


def no_forecast() -> None:
    """Leave out the forecast of a width: with ``anyway`` it only adds a remark to the answer, and it takes long."""
    nothing = types.SimpleNamespace(noise_rules=False, says_nothing=False, hopeless=False, epsilon=None)
    effects.forecast_of = lambda *_args, **_options: nothing  # type: ignore[assignment, return-value]


def asked(data: dc.Dataset, pair: Pair, epsilon: float | None, **options: Any) -> Any:
    """Our answer."""
    delta = {} if epsilon is None else {"delta": options.pop("delta", 0.0)}
    return dc.effect(
        data,
        pair.treatment,
        pair.outcome,
        adjust=pair.adjust,
        epsilon=epsilon,
        anyway=True,
        **delta,
        **options,
    )


def run_networks(rows: list[int], seeds: int, names: list[str]) -> None:
    """Fill in the five networks."""
    start = time.monotonic()
    for n in rows:
        for name in names:
            network = dc.networks.load(name)
            schema, pairs = ordered(network), pairs_of(network)
            made: dict[str, Any] = {}
            for seed in range(seeds):
                data = as_rows(network, schema, n, seed)
                with dc.testing.seeded(seed):
                    for pair in pairs:
                        for epsilon in (*EPSILONS, None):
                            add(
                                made,
                                f"networks|{name}|{n}|{epsilon}",
                                asked(data, pair, epsilon),
                                pair,
                                schema,
                            )
            save(made)
            print(f"{time.monotonic() - start:6.0f} s: {name}, {n:,} rows, {len(pairs)} pairs", flush=True)


def random_network(seed: int) -> Network:
    """Six to nine columns of two or three levels; tables from a Dirichlet law, some of them uneven."""
    rng = np.random.default_rng([seed, 19])
    names = [f"v{i}" for i in range(int(rng.integers(6, 10)))]
    variables: list[Variable] = []
    for i, name in enumerate(names):
        size = int(rng.integers(2, 4))
        count = min(i, int(rng.integers(0, 4)))
        parents = sorted(rng.choice(i, count, replace=False).tolist()) if count else []
        shape = [variables[j].size for j in parents]
        table = rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 3.0])), size=shape or None)
        table = 0.98 * table + 0.02 / size
        variables.append(Variable(name, [str(k) for k in range(size)], [names[j] for j in parents], table))
    return Network(f"random {seed}", variables)


def run_random(networks: int, seeds: int) -> None:
    """Fill in random networks, four pairs of each."""
    start = time.monotonic()
    made: dict[str, Any] = {}
    for number in range(networks):
        network = random_network(number)
        schema = ordered(network)
        pairs = pairs_of(network)
        rng = np.random.default_rng(number)
        pairs = [pairs[i] for i in rng.permutation(len(pairs))[:4]]
        for n in ROWS:
            for seed in range(seeds):
                data = as_rows(network, schema, n, 1000 * number + seed)
                with dc.testing.seeded(1000 * number + seed):
                    for pair in pairs:
                        for epsilon in (*EPSILONS, None):
                            add(made, f"random|all|{n}|{epsilon}", asked(data, pair, epsilon), pair, schema)
        if number % 20 == 19:
            print(f"{time.monotonic() - start:6.0f} s: {number + 1} networks", flush=True)
    save(made)


def exact_parts(data: dc.Dataset, pair: Pair) -> tuple[float, float, Any, Any]:
    """(estimate, its sampling variance, counts of (strata, arms), sums) without noise; the outcome in [0, 1]."""
    sizes = [data.schema[name].size for name in (*pair.adjust, pair.treatment, pair.outcome)]
    codes = [data.codes[name].astype(int) for name in (*pair.adjust, pair.treatment, pair.outcome)]
    cells = np.bincount(np.ravel_multi_index(codes, sizes), minlength=math.prod(sizes))
    table = cells.reshape(-1, *sizes[-2:])[:, [0, -1], :].astype(float)
    scores = np.arange(sizes[-1]) / (sizes[-1] - 1)
    counts, sums = table.sum(axis=2), table @ scores
    weights = cells.reshape(len(table), -1).sum(axis=1) / data.n
    both = (counts > 0).all(axis=1)
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    squares = np.divide(table @ scores**2, counts, out=np.zeros_like(sums), where=counts > 0)
    share = weights * both / max(float((weights * both).sum()), 1e-12)
    variance = (share[:, None] ** 2 * (squares - means**2) / np.maximum(counts, 1)).sum()
    return float(share @ (means[:, 1] - means[:, 0])), float(variance), counts, sums


def output_perturbed(data: dc.Dataset, pair: Pair, epsilon: float, rng: Any) -> tuple[float, float]:
    """The ends of the interval: Laplace noise of scale 2/epsilon on the estimate."""
    estimate, variance, _, _ = exact_parts(data, pair)
    half = math.sqrt(NORMAL**2 * variance + (2.0 / epsilon * math.log(20.0)) ** 2)
    found = estimate + rng.laplace(0.0, 2.0 / epsilon)
    return max(found - half, -1.0), min(found + half, 1.0)


def propensity_perturbed(data: dc.Dataset, pair: Pair, epsilon: float, rng: Any) -> tuple[float, float]:
    """The same for the weighted mean with noisy propensity scores."""
    _, _, counts, sums = exact_parts(data, pair)
    noisy = counts + rng.laplace(0.0, 4.0 / epsilon, counts.shape)
    score = np.clip(noisy[:, 1] / np.maximum(noisy.sum(axis=1), 1.0), 0.05, 0.95)
    estimate = float((sums[:, 1] / score - sums[:, 0] / (1 - score)).sum()) / data.n
    second = float((sums[:, 1] / score**2 + sums[:, 0] / (1 - score) ** 2).sum()) / data.n
    scale = 2 * 20.0 / data.n / (epsilon / 2)
    found = estimate + rng.laplace(0.0, scale)
    variance = max(second - estimate**2, 0.0) / data.n
    half = math.sqrt(NORMAL**2 * variance + (scale * math.log(20.0)) ** 2)
    return max(found - half, -1.0), min(found + half, 1.0)


def add_interval(held: dict[str, Any], key: str, ends: tuple[float, float], truth: float) -> None:
    """Count an interval for the effect in all strata."""
    tally = held.setdefault(key, [0, 0, 0, 0.0, 0, 0.0, 0, 0.0])
    covers = ends[0] - 1e-12 <= truth <= ends[1] + 1e-12
    width = ends[1] - ends[0]
    for i, value in enumerate((1, covers, covers, width, 0, 1.0, covers, width)):
        tally[i] += value


def run_rivals(
    python: str | None,
    seeds: int,
    rows: list[int],
    names: list[str],
    synthetic_seeds: int,
    methods: list[str],
    synthetic_only: bool,
) -> None:
    """Fill in the rivals on the five networks; all under add-remove, as synthetic data are made.

    ``synthetic_only`` runs MST and AIM (``methods``) alone and leaves the other tallies as they are.
    """
    import tempfile

    from utility_rivals import Worker

    start = time.monotonic()
    worker = Worker(python, Path(tempfile.mkdtemp())) if python else None
    for name in names:
        network = dc.networks.load(name)
        schema, pairs = ordered(network), pairs_of(network)
        for n in rows:
            made: dict[str, Any] = {}
            for seed in range(synthetic_seeds if synthetic_only else seeds):
                data, rng = as_rows(network, schema, n, seed), np.random.default_rng([seed, n])
                for epsilon in EPSILONS:
                    synthetic = {}
                    for method in methods if worker and seed < synthetic_seeds else ():
                        synthetic[method] = worker.synthetic(data, method, epsilon, seed)  # type: ignore[union-attr]
                    with dc.testing.seeded(seed):
                        for pair in pairs:
                            scale = schema[pair.outcome].size - 1
                            truth = pair.truth() / scale
                            for method, made_up in synthetic.items():
                                found = asked(made_up, pair, None)
                                add(made, f"rivals|{method}|{name}|{n}|{epsilon}", found, pair, schema)
                            if synthetic_only:
                                continue
                            ours = asked(data, pair, epsilon, neighbours="add-remove", delta=DELTA)
                            add(made, f"rivals|ours|{name}|{n}|{epsilon}", ours, pair, schema)
                            key = f"|{name}|{n}|{epsilon}"
                            ends = output_perturbed(data, pair, epsilon, rng)
                            add_interval(made, f"rivals|output{key}", ends, truth)
                            ends = propensity_perturbed(data, pair, epsilon, rng)
                            add_interval(made, f"rivals|output, propensity{key}", ends, truth)
            save(made)
            print(f"{time.monotonic() - start:6.0f} s: {name}, {n:,} rows", flush=True)


RESERVE = 0.3  # of the budget, in ``after``


def run_after(sets: int, epsilon: float, n: int, ways: list[str], names: list[str]) -> None:
    """Coverage after a discovery: every arrow of the graph found.

    *free*: from the tables that chose the graph. *fresh*: at a charge of its own, as large as that of the discovery.
    *reserved*: 0.3 of the budget of one discovery, in equal parts for all of its arrows.

    The truth is the standardised effect in the exact law with the columns held fixed that the answer held fixed: what
    an interval can be asked to cover, whether or not the graph is right.
    """
    start = time.monotonic()
    made: dict[str, Any] = {}
    given: dict[str, Any] = {"epsilon": epsilon, "method": "measured", "confidence": 0, "anyway": True}
    for name in names:
        network = dc.networks.load(name)
        schema = ordered(network)
        for seed in range(sets):
            data = as_rows(network, schema, n, seed)
            for way in ways:
                with dc.testing.seeded(seed):
                    kept = {"reserve": RESERVE} if way == "reserved" else {}
                    result = dc.discover(data, **given, **kept)
                    arrows = sorted(result.graph.directed)
                    options: dict[str, Any] = {
                        "free": {},
                        "fresh": {"data": data, "epsilon": epsilon},
                        "reserved": {"part": 1.0 / max(len(arrows), 1), "anyway": True},
                    }[way]
                    for treatment, outcome in arrows:
                        try:
                            found = result.effect(treatment, outcome, **options)
                        except dc.InputError:
                            continue
                        if not found.possible:
                            pair = projected(network, found)
                            add(made, f"after|{way}|{name}|{n}|{epsilon}", found, pair, schema)
        print(f"{time.monotonic() - start:6.0f} s: {name}", flush=True)
        save(made)


def projected(network: Network, found: Any) -> Pair:
    """The pair with what the answer held fixed, in the exact law."""
    names = (*found.adjust, found.treatment, found.outcome)
    sizes = network.sizes(names)
    joint = network.joint(names).reshape(-1, *sizes[-2:])
    means = (joint @ np.arange(sizes[-1])) / np.maximum(joint.sum(axis=2), 1e-300)
    return Pair(
        found.treatment, found.outcome, found.adjust, joint.sum(axis=(1, 2)), means[:, -1] - means[:, 0]
    )


def load() -> dict[str, list[float]]:
    """What was run: key -> tally."""
    return dict(json.loads(RESULTS.read_text())["runs"]) if RESULTS.exists() else {}


def save(made: dict[str, Any]) -> None:
    """Put new tallies in place of old ones of the same key; one entry a line."""
    held = {**load(), **made}
    lines = ",\n".join(
        f'"{key}": {json.dumps([round(float(v), 6) for v in held[key]])}' for key in sorted(held)
    )
    about = (
        "key -> [answers, covering kept strata, covering all strata, sum of widths, nothing known, sum of shares, "
        "everyone covering all strata, sum of its widths]; the last two only where they were counted; moments: "
        "[answers, covering, sum of widths, nothing known, sum of errors away from 0, sum of sizes]"
    )
    RESULTS.write_text(f'{{"about": "{about}",\n"runs": {{\n{lines}\n}}}}\n')


def table() -> list[str]:
    """Markdown: a line a key."""
    lines = [
        "| what | answers | coverage | of all strata | everyone | mean width | of everyone | nothing known | share |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for key, tally in load().items():
        if key.startswith("moments|"):
            continue
        count, kept, whole, width, nothing, share = tally[:6]
        wide = [f"{value / count:.3f}" for value in tally[6:]] or ["", ""]
        means = f"{kept / count:.3f} | {whole / count:.3f} | {wide[0]} | {width / count:.3f} | {wide[1]}"
        end = f"{nothing / count:.1%} | {share / count:.3f}"
        lines.append(f"| {key.replace('|', ', ')} | {int(count):,} | {means} | {end} |")
    return lines


def brief() -> list[str]:
    """Markdown: coverage and width by rows and epsilon, over all networks of a part, then rivals and discovery."""
    sums: dict[tuple[str, ...], Any] = {}
    for key, tally in load().items():
        part, *rest = key.split("|")
        if part == "moments":
            continue
        if part in ("networks", "random"):
            _, n, epsilon = rest
            place = ("five networks" if part == "networks" else "random networks", n, epsilon)
        else:
            what, _, n, epsilon = rest
            place = (f"{part}: {what}", n, epsilon)
        known = [*tally, *([math.nan] * (8 - len(tally)))]
        sums[place] = sums.get(place, np.zeros(8)) + np.array(known)
    order = sorted(sums, key=lambda place: (place[0], int(place[1]), place[2] == "None", place[2]))
    heads = (
        "| what | rows | epsilon | answers | coverage | of all strata | everyone | mean width | of everyone "
        "| nothing known |"
    )
    lines = [heads, "|---|---|---|---|---|---|---|---|---|---|"]
    for place in order:
        count, kept, whole, width, nothing, _, everyone, wide = sums[place]
        what, n, epsilon = place
        two = ["" if math.isnan(value) else f"{value / count:.3f}" for value in (everyone, wide)]
        shares = [f"{value / count:.3f}" for value in (kept, whole, width)]
        means = f"{shares[0]} | {shares[1]} | {two[0]} | {shares[2]} | {two[1]} | {nothing / count:.1%}"
        budget = "none" if epsilon == "None" else f"{float(epsilon):g}"
        lines.append(f"| {what} | {int(n):,} | {budget} | {int(count):,} | {means} |")
    return lines


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "part",
        choices=(
            "networks",
            "random",
            "rivals",
            "after",
            "scores",
            "nhefs",
            "table",
            "brief",
            "scores-brief",
        ),
    )
    parser.add_argument("--rows", type=numbers, default=list(ROWS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument(
        "--synthetic-seeds", type=int, default=4, help="data sets that MST and AIM are run on"
    )
    parser.add_argument("--methods", default="mst,aim", help="of synthetic data")
    parser.add_argument("--synthetic-only", action="store_true", help="run MST and AIM, and no other rival")
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--columns", type=int, help="scores: of every graph; four or five unless given")
    parser.add_argument("--ways", default="free,fresh,reserved", help="of effects after a discovery")
    parser.add_argument("--python")
    parser.add_argument("--only", default=",".join(NETWORKS), help="which of the five networks")
    parser.add_argument("--folder", type=Path)
    asked_for = parser.parse_args()
    no_forecast()
    match asked_for.part:
        case "networks":
            run_networks(asked_for.rows, asked_for.seeds, asked_for.only.split(","))
        case "random":
            run_random(asked_for.networks, asked_for.seeds)
        case "rivals":
            names = asked_for.only.split(",")
            methods = asked_for.methods.split(",")
            counts = (asked_for.synthetic_seeds, methods, asked_for.synthetic_only)
            run_rivals(asked_for.python, asked_for.seeds, asked_for.rows, names, *counts)
        case "after":
            names = [name for name in asked_for.only.split(",") if name in ("cancer", "asia", "survey")]
            run_after(asked_for.sets, asked_for.epsilon, asked_for.rows[0], asked_for.ways.split(","), names)
        case "nhefs":
            from effects_nhefs import run_nhefs

            run_nhefs(asked_for.folder, asked_for.seeds)
        case "scores":
            from effects_scores import run_scores

            run_scores(asked_for.sets, asked_for.rows, save, asked_for.columns)
        case "scores-brief":
            from effects_scores import scores_brief

            print("\n".join(scores_brief(load())))
        case "brief":
            print("\n".join(brief()))
        case _:
            print("\n".join(table()))


if __name__ == "__main__":
    main()
