"""Level and power of the tests on numbers, where z moves x and y: kendall, spearman, gcm and crt.

    python benchmarks/continuous_citests.py [--runs 200] [--most SETTINGS] [--out results.jsonl]

x = f + a, y = f + b + effect a with f = .7 (z_1 + ... + z_d)/sqrt d and a, b, z standard normal, bounds -5 to 5 (z:
-4 to 4). crt knows the law of x given z. Runs are kept in ``--out`` and not repeated. Noise is seeded: results
repeat."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import dpcausal as dc

TESTS: dict[str, dict[str, Any]] = {
    "kendall": {"method": "kendall"},
    "kendall, declared bins of z": {"method": "kendall", "strata": "schema"},
    "kendall on tables": {"method": "kendall", "on": "table"},
    "spearman": {"method": "spearman"},
    "gcm": {"method": "gcm"},
    "crt": {"method": "crt"},
    "crt, plain scores": {"method": "crt", "score": "plain"},
    "crt, noisy rank": {"method": "crt", "release": "rank"},
}
SETTINGS: list[tuple[int, int, float, float | None]] = [  # rows, numeric z, effect, epsilon
    (1000, 0, 0.0, 1.0),
    (1000, 0, 0.15, 1.0),
    (1000, 1, 0.0, 1.0),
    (1000, 1, 0.15, 1.0),
    (1000, 1, 0.4, 0.3),
    (1000, 2, 0.0, 1.0),
    (1000, 2, 0.15, 1.0),
    (1000, 3, 0.0, 1.0),
    (1000, 3, 0.3, 1.0),
]


def rows(n: int, d: int, effect: float, seed: int) -> tuple[dc.Dataset, dc.LinearGaussian]:
    """A data set and the law of x given z."""
    rng = np.random.default_rng([seed, n, d])
    z = rng.normal(size=(n, d))
    slope = 0.7 / np.sqrt(max(d, 1))
    shared, a, b = slope * z.sum(axis=1), rng.normal(size=n), rng.normal(size=n)
    names = [f"z{i}" for i in range(d)]
    schema = dc.Schema(
        {"x": dc.Numeric(-5, 5), "y": dc.Numeric(-5, 5)} | {name: dc.Numeric(-4, 4) for name in names}
    )
    values = {"x": shared + a, "y": shared + b + effect * a} | {name: z[:, i] for i, name in enumerate(names)}
    return dc.read(values, schema), dc.LinearGaussian(0.0, dict.fromkeys(names, float(slope)), sd=1.0)


def rejections(name: str, setting: tuple[int, int, float, float | None], runs: int) -> int:
    """How often the test rejects at .05."""
    n, d, effect, epsilon = setting
    found = 0
    with dc.testing.seeded(1):
        for seed in range(runs):
            data, law = rows(n, d, effect, seed)
            options = dict(TESTS[name]) | ({"model": law} if TESTS[name]["method"] == "crt" else {})
            test = dc.ci_test(
                data, "x", "y", [f"z{i}" for i in range(d)], epsilon=epsilon, anyway=True, **options
            )
            found += not test.independent
    return found


def main() -> None:
    """Run what is missing and print a table of rejection rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("continuous_citests.jsonl"))
    parser.add_argument("--most", type=int, help="settings, from the first; all without it")
    parser.add_argument("--print-only", action="store_true", help="only what --out holds")
    arguments = parser.parse_args()
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    done = {(r["name"], tuple(r["setting"])): r["rejected"] / r["runs"] for r in map(json.loads, lines)}
    for setting in () if arguments.print_only else SETTINGS[: arguments.most]:
        for name in TESTS:
            if (name, setting) in done:
                continue
            rejected = rejections(name, setting, arguments.runs)
            done[name, setting] = rejected / arguments.runs
            record = {"name": name, "setting": setting, "rejected": rejected, "runs": arguments.runs}
            with arguments.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
    print("| n, numeric z, effect, epsilon | " + " | ".join(TESTS) + " |")
    print("|---" * (len(TESTS) + 1) + "|")
    for setting in SETTINGS[: arguments.most]:
        cells = " | ".join(f"{done[name, setting]:.2f}" if (name, setting) in done else "" for name in TESTS)
        print(f"| {', '.join('none' if v is None else f'{v:g}' for v in setting)} | {cells} |")


if __name__ == "__main__":
    main()
