"""Level and power of ``ci_test(method="auto")`` whatever the law of the given columns.

    python benchmarks/auto_level.py --runs 1000 --rows 500 2000 8000
    python benchmarks/auto_level.py --design binary --rows 20000 --runs 1000
    python benchmarks/auto_level.py --effect 0.5 --method kendall --strata 256 --laws uniform
    python benchmarks/auto_level.py --fresh --points 1000:.4 2000:.2 8000:1:200 --runs 1000
    python benchmarks/auto_level.py --designs [NAME ...]     other columns and numbers of rows, all or those of a design
    python benchmarks/auto_level.py --power --runs 300       auto beside strata of equal width

x and y both follow s(z), with noise of their own; with ``--effect e`` they share e times one more normal variable. Each
line is one law of z: the share of runs that reject at .05 (standard error .007 for 1,000 runs at .05), and the tests
that were asked. ``--points`` prints one line a law, with a column for each rows:epsilon (:runs). ``--fresh`` takes laws
that the limits of ``auto`` were not chosen on. Data sets and noise are seeded, so every line can be made again.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import dpcausal as dc

Floats = NDArray[np.float64]
Rng = np.random.Generator

# name -> (values of z, what x and y see of it, bounds)
Law = tuple[Callable[[Rng, int], Floats], Callable[[Floats], Floats], tuple[float, float]]
LAWS: dict[str, Law] = {
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
# the same, written down before any of them was run: the limits in ``citests/registry.py`` were chosen on those above
FRESH: dict[str, Law] = {
    "pareto .7, bounds 1 to 1,000,000": (
        lambda g, n: 1 + g.pareto(0.7, n),
        lambda z: np.minimum(np.log(z), 6) / 1.4,
        (1, 1e6),
    ),
    "two lognormals": (
        lambda g, n: np.where(g.random(n) < 0.6, g.lognormal(0, 0.5, n), g.lognormal(5, 0.5, n)),
        lambda z: (np.log(z) - 2) / 2.5,
        (0, 10_000),
    ),
    "weibull .4": (lambda g, n: g.weibull(0.4, n), lambda z: np.log(z + 0.01) / 2, (0, 1000)),
    "gamma .2": (lambda g, n: g.gamma(0.2, 1, n), lambda z: np.log(z + 1e-3) / 2 + 1.5, (0, 50)),
    "beta .15, .5": (lambda g, n: g.beta(0.15, 0.5, n), lambda z: 3 * (z - 0.25), (0, 1)),
    "student t, 2 degrees": (lambda g, n: g.standard_t(2, n), lambda z: np.arcsinh(z), (-500, 500)),
    "half 0, else integers with a long tail": (
        lambda g, n: np.where(g.random(n) < 0.5, 0, g.zipf(1.6, n)).astype(float),
        lambda z: np.minimum(np.log1p(z), 6) / 1.3,
        (0, 100_000),
    ),
    "exponential, through a wave": (
        lambda g, n: g.exponential(1, n),
        lambda z: 1.4 * np.sin(3 * np.log1p(z)),
        (0, 100),
    ),
    "narrow peak on a plain": (
        lambda g, n: np.where(g.random(n) < 0.7, g.normal(0, 0.3, n), g.uniform(-50, 50, n)),
        lambda z: 1.3 * np.tanh(2 * z),
        (-50, 50),
    ),
    "laplace, through a root": (
        lambda g, n: g.laplace(0, 1, n),
        lambda z: np.sqrt(np.abs(z)) * 2 - 1.8,
        (-100, 100),
    ),
}
EVERY = {**LAWS, **FRESH}
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
# (design, rows, data sets, laws): what --designs runs
CASES: list[tuple[str, int, int, tuple[str, ...]]] = [
    ("numbers", 8_000, 1_000, ("lognormal", "lognormal, wide bounds")),
    ("numbers", 100_000, 100, ("lognormal", "pareto")),
    ("numbers", 500, 400, ("lognormal", "lognormal, wide bounds", "cauchy", "pareto")),
    ("binary", 2_000, 1_000, ("lognormal", "lognormal, wide bounds")),
    ("numbers-age", 2_000, 200, ("lognormal", "uniform", "zero-inflated")),
    ("numbers-three", 2_000, 200, ("lognormal",)),
    ("binary-age", 8_000, 100, ("lognormal",)),
    ("unordered", 2_000, 200, ("lognormal", "uniform", "lumpy")),
    ("unordered-binary", 2_000, 200, ("lognormal",)),
]
STRENGTHS = ((1_000, 0.42), (2_000, 0.35), (8_000, 0.25))  # (rows, effect): what --power runs
EQUAL = 256  # strata of equal width


def coded(column: dc.Numeric | dc.Categorical, latent: Floats) -> object:
    """Return a column that follows ``latent``."""
    if isinstance(column, dc.Numeric):
        return latent
    cuts = {2: [0.0], 3: [-0.7, 0.7], 4: [-1.0, 0.0, 1.0]}[column.size]
    return np.asarray(column.levels)[np.digitize(latent, cuts)]


def sample(law: str, design: str, n: int, effect: float, seed: int) -> dc.Dataset:
    """Return data set number ``seed``."""
    rng = np.random.default_rng([seed, n, *law.encode()])
    draw, seen, (lower, upper) = EVERY[law]
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


def rejections(
    law: str, n: int, epsilon: float, runs: int, args: argparse.Namespace
) -> tuple[float, list[str], float]:
    """Return the share of runs that reject, the tests that were asked, and CPU seconds a run."""
    options = {} if args.strata is None else {"strata": args.strata}
    given = ["z", *DESIGNS[args.design][2]]
    rejected, tests, start = 0, Counter[str](), time.process_time()
    with dc.testing.seeded(zlib.crc32(f"{law} {n} {epsilon:g} {args.first}".encode())):
        for run in range(args.first, args.first + runs):
            test = dc.ci_test(
                sample(law, args.design, n, args.effect, run), "x", "y", given, epsilon=epsilon or None,
                method=args.method, neighbours=args.neighbours, anyway=True, **options,
            )  # fmt: skip
            rejected += not test.independent
            tests[test.method] += 1
    return rejected / runs, list(tests), (time.process_time() - start) / runs


class At(NamedTuple):
    """A column of the table; ``runs`` None for as many as the others have."""

    rows: int
    epsilon: float
    runs: int | None

    @classmethod
    def parse(cls, text: str) -> At:
        """Return the numbers of "1000:.4" or "1000:.4:200".

        >>> At.parse("1000:.4:200")
        At(rows=1000, epsilon=0.4, runs=200)
        """
        rows, epsilon, *runs = text.split(":")
        return cls(int(rows), float(epsilon), int(runs[0]) if runs else None)

    def __str__(self) -> str:
        few = "" if self.runs is None else f" ({self.runs:,})"
        return f"{self.rows:,} rows, epsilon {self.epsilon:g}{few}"


def by_law(laws: list[str], args: argparse.Namespace) -> None:
    """Print one line a law, a column for each of ``--points``."""
    print(f"| distribution of z | {' | '.join(map(str, args.points))} | test |")
    print("|---|" + "---|" * (len(args.points) + 1))
    for law in laws:
        cells: list[str] = []
        asked: dict[str, None] = {}
        for n, epsilon, runs in args.points:
            share, tests, _ = rejections(law, n, epsilon, runs or args.runs, args)
            cells.append(f"{share:.3f}")
            asked |= dict.fromkeys(tests)
        print(f"| {law} | {' | '.join(cells)} | {', '.join(asked)} |", flush=True)


def changed(args: argparse.Namespace, **new: object) -> argparse.Namespace:
    """Return the arguments with some of them replaced."""
    return argparse.Namespace(**{**vars(args), **new})


def by_design(args: argparse.Namespace) -> None:
    """Print one line for each of ``CASES`` and its laws."""
    print("| design | rows | data sets | distribution of z | rejected | test |\n|---|---|---|---|---|---|")
    for design, n, runs, laws in CASES:
        if args.designs and design not in args.designs:
            continue
        for law in laws:
            share, tests, _ = rejections(law, n, args.epsilon, runs, changed(args, design=design))
            print(
                f"| {design} | {n:,} | {runs:,} | {law} | {share:.3f} | {', '.join(tests)} |",
                flush=True,
            )


def by_strength(args: argparse.Namespace) -> None:
    """Print how often a dependence is found: by ``auto`` and with strata of equal width."""
    laws = ("uniform", "normal")
    heads = [f"{law}, {name}" for law in laws for name in ("auto", f"strata={EQUAL}")]
    print(f"| rows, effect | {' | '.join(heads)} |")
    print("|---|" + "---|" * len(heads))
    for n, effect in STRENGTHS:
        cells = []
        for law in laws:
            for method, strata in (("auto", None), ("kendall", EQUAL)):
                asked = changed(args, effect=effect, method=method, strata=strata)
                cells.append(f"{rejections(law, n, args.epsilon, args.runs, asked)[0]:.2f}")
        print(f"| {n:,}, {effect:g} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 8000])
    parser.add_argument("--epsilon", type=float, default=1.0, help="0 for no privacy")
    parser.add_argument(
        "--points", type=At.parse, nargs="+", help="rows:epsilon or rows:epsilon:runs, a column each"
    )
    parser.add_argument("--effect", type=float, default=0.0)
    parser.add_argument("--design", choices=DESIGNS, default="numbers")
    parser.add_argument("--laws", nargs="+", choices=EVERY)
    parser.add_argument("--fresh", action="store_true", help="the laws that no limit was chosen on")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--strata", type=int)
    parser.add_argument("--neighbours", default="replace-one")
    parser.add_argument(
        "--designs", nargs="*", choices=DESIGNS, metavar="NAME", help="other columns and rows"
    )
    parser.add_argument("--power", action="store_true", help="auto beside strata of equal width")
    args = parser.parse_args()
    if args.designs is not None:
        by_design(args)
        return
    if args.power:
        by_strength(args)
        return
    laws = args.laws or list(FRESH if args.fresh else LAWS)
    if args.points:
        by_law(laws, args)
        return
    print(
        f"| {args.design}, epsilon {args.epsilon:g}, effect {args.effect:g} | rows | rejected | test | CPU s |"
    )
    print("|---|---|---|---|---|")
    for law in laws:
        for n in args.rows:
            share, tests, took = rejections(law, n, args.epsilon, args.runs, args)
            print(f"| {law} | {n:,} | {share:.3f} | {', '.join(tests)} | {took:.3f} |", flush=True)


if __name__ == "__main__":
    main()
