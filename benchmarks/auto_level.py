"""Level and power of ``ci_test(method="auto")`` whatever the law of the given columns.

    python benchmarks/auto_level.py --runs 1000 --rows 500 2000 8000
    python benchmarks/auto_level.py --design binary --rows 20000 --runs 1000
    python benchmarks/auto_level.py --effect 0.5 --method kendall --strata 256 --laws uniform

x and y both follow s(z), with noise of their own; with ``--effect e`` they share e times one more normal variable. Each
line is one law of z: the share of runs that reject at .05 (standard error .007 for 1,000 runs at .05), and the tests
that were asked. Data sets are numbered, so every line can be made again; the noise of the releases is the system's.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import dpcausal as dc

Floats = NDArray[np.float64]
Rng = np.random.Generator

# name -> (values of z, what x and y see of it, bounds)
LAWS: dict[str, tuple[Callable[[Rng, int], Floats], Callable[[Floats], Floats], tuple[float, float]]] = {
    "lognormal": (lambda g, n: g.lognormal(1, 1.2, n), lambda z: np.log(z) - 1, (0, 500)),
    "lognormal, wide bounds": (lambda g, n: g.lognormal(1, 1.2, n), lambda z: np.log(z) - 1, (0, 1e5)),
    "cauchy": (lambda g, n: g.standard_cauchy(n), lambda z: 1.3 * np.arctan(z), (-1000, 1000)),
    "pareto": (lambda g, n: 1 + g.pareto(1, n), lambda z: np.minimum(np.log(z), 5), (1, 1e4)),
    "uniform": (lambda g, n: g.random(n), lambda z: 3.46 * (z - 0.5), (0, 1)),
    "normal": (lambda g, n: g.normal(size=n), lambda z: z, (-5, 5)),
    "two peaks": (
        lambda g, n: 0.5 * g.normal(size=n) + np.where(g.random(n) < 0.5, -3, 3),
        lambda z: z / 3,
        (-20, 20),
    ),
    "u-shaped": (lambda g, n: g.beta(0.3, 0.3, n), lambda z: 3 * (z - 0.5), (0, 1)),
    "zero-inflated": (
        lambda g, n: np.where(g.random(n) < 0.6, 0, g.lognormal(2, 1.5, n)),
        lambda z: np.log1p(z),
        (0, 2000),
    ),
    "lumpy": (lambda g, n: 5 * np.round(g.gamma(2, 5, n) / 5), lambda z: z / 5 - 1, (0, 100)),
    "counts": (
        lambda g, n: g.poisson(g.gamma(1, 3, n)).astype(float),
        lambda z: np.sqrt(z) - 1.5,
        (0, 1000),
    ),
    "beta, skewed": (lambda g, n: g.beta(0.5, 8, n), lambda z: np.log(z + 1e-4) / 2 + 1.5, (0, 1)),
    "normal, wave": (lambda g, n: g.normal(size=n), lambda z: 1.4 * np.sin(3 * z), (-8, 8)),
}
NUMBER, BINARY = dc.Numeric(-10, 10), dc.Categorical(["no", "yes"])
ORDINAL = dc.Categorical(["a", "b", "c", "d"], ordered=True)
WARD = dc.Categorical(["north", "south", "west"])
# name -> (x, y, more given columns)
DESIGNS: dict[str, tuple[dc.Numeric | dc.Categorical, dc.Numeric | dc.Categorical, tuple[str, ...]]] = {
    "numbers": (NUMBER, NUMBER, ()),
    "binary": (BINARY, BINARY, ()),
    "ordinal": (ORDINAL, NUMBER, ()),
    "unordered": (WARD, NUMBER, ()),
    "unordered-binary": (WARD, BINARY, ()),
    "numbers-sex": (NUMBER, NUMBER, ("sex",)),
    "numbers-age": (NUMBER, NUMBER, ("age",)),
    "binary-age": (BINARY, BINARY, ("age",)),
    "numbers-three": (NUMBER, NUMBER, ("age", "w")),
}


def coded(column: dc.Numeric | dc.Categorical, latent: Floats) -> object:
    """Return a column that follows ``latent``."""
    if isinstance(column, dc.Numeric):
        return latent
    cuts = {2: [0.0], 3: [-0.7, 0.7], 4: [-1.0, 0.0, 1.0]}[column.size]
    return np.asarray(column.levels)[np.digitize(latent, cuts)]


def sample(law: str, design: str, n: int, effect: float, seed: int) -> dc.Dataset:
    """Return data set number ``seed``."""
    rng = np.random.default_rng([seed, n, *law.encode()])
    draw, seen, (lower, upper) = LAWS[law]
    x, y, more = DESIGNS[design]
    z = np.clip(draw(rng, n), lower, upper)
    s, shared = seen(z), effect * rng.normal(size=n)
    columns: dict[str, object] = {"z": z}
    schema: dict[str, dc.Numeric | dc.Categorical] = {"x": x, "y": y, "z": dc.Numeric(lower, upper)}
    if "sex" in more:
        sex = rng.random(n) < 0.5
        s = s + 0.7 * sex
        columns["sex"], schema["sex"] = np.where(sex, "f", "m"), dc.Categorical(["f", "m"])
    if "age" in more:
        age = np.clip(rng.normal(60, 15, n), 18, 100)
        s = s + (age - 60) / 20
        columns["age"], schema["age"] = age, dc.Numeric(18, 100)
    if "w" in more:
        w = rng.gamma(1, 1, n)
        s = s + np.sqrt(w) - 1
        columns["w"], schema["w"] = w, dc.Numeric(0, 100)
    for name, column in (("x", x), ("y", y)):
        columns[name] = coded(column, s + rng.normal(size=n) + shared)
    return dc.read({name: columns[name] for name in schema}, dc.Schema(schema))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 8000])
    parser.add_argument("--epsilon", type=float, default=1.0, help="0 for no privacy")
    parser.add_argument("--effect", type=float, default=0.0)
    parser.add_argument("--design", choices=DESIGNS, default="numbers")
    parser.add_argument("--laws", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--method", default="auto")
    parser.add_argument("--strata", type=int)
    parser.add_argument("--neighbours", default="replace-one")
    args = parser.parse_args()
    options = {} if args.strata is None else {"strata": args.strata}
    given = ["z", *DESIGNS[args.design][2]]
    print(
        f"| {args.design}, epsilon {args.epsilon:g}, effect {args.effect:g} | rows | rejected | test | CPU s |"
    )
    print("|---|---|---|---|---|")
    for law in args.laws:
        for n in args.rows:
            rejected, tests, start = 0, Counter[str](), time.process_time()
            for run in range(args.first, args.first + args.runs):
                data = sample(law, args.design, n, args.effect, run)
                test = dc.ci_test(
                    data, "x", "y", given, epsilon=args.epsilon or None, method=args.method,
                    neighbours=args.neighbours, anyway=True, **options,
                )  # fmt: skip
                rejected += not test.independent
                tests[test.method] += 1
            took = (time.process_time() - start) / args.runs
            print(
                f"| {law} | {n:,} | {rejected / args.runs:.3f} | {', '.join(tests)} | {took:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
