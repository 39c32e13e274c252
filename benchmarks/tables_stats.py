"""Tables: sensitivities found against claimed, and level and power of the test on measured tables.

    python benchmarks/tables_stats.py [--draws 400] [--part sensitivity|level|power|speed]

Level and power are at .05. Noise: Laplace at epsilon (scale 1/epsilon add-remove, 2/epsilon replace-one) or Gaussian at
rho = epsilon^2/2 (variance 1/epsilon^2, 2/epsilon^2). Columns omnibus/pooled/combined; chi2 is Pearson without privacy.
"""

from __future__ import annotations

import argparse
import timeit

import numpy as np
from numpy.random import Generator

from dpcausal.stats.chi2 import chi2_sensitivity, pearson
from dpcausal.stats.measured import GAUSSIAN, LAPLACE, MeasuredTest, measured_test
from dpcausal.stats.unit_circle import fixed_labels_distance, unit_circle, unit_circle_sensitivity

SIZES, BLOCKS, EPSILONS = (500, 1000, 5000, 20000), (1, 4, 8, 64), (0.1, 0.5, 1.0, 2.0)
RELATIONS, NOISES = ("add-remove", "replace-one"), ("laplace", "gaussian")


def draw(
    rng: Generator, n: int, k: int, px: float, py: float, phi: float = 0.0, signs: str = "same", sizes: str = "equal",
    levels: int = 2,
) -> np.ndarray:  # fmt: skip
    """Counts (k, levels, levels): association phi between the first two levels, signs the same or alternating."""
    share = np.full(k, 1.0 / k) if sizes == "equal" else 1.0 / np.arange(1, k + 1)
    x = np.r_[px, np.full(levels - 1, (1 - px) / (levels - 1))]
    y = np.r_[py, np.full(levels - 1, (1 - py) / (levels - 1))]
    cells = np.repeat(np.outer(x, y)[None], k, axis=0)
    shift = phi * np.sqrt(x[0] * x[1] * y[0] * y[1]) * (1 if signs == "same" else (-1.0) ** np.arange(k))
    shift = np.clip(shift, -min(x[0] * y[0], x[1] * y[1]), min(x[0] * y[1], x[1] * y[0]))
    for (a, b), sign in (((0, 0), 1), ((1, 1), 1), ((0, 1), -1), ((1, 0), -1)):
        cells[:, a, b] += sign * shift
    weight = (share / share.sum())[:, None, None] * cells
    return rng.multinomial(n, weight.ravel() / weight.sum()).reshape(cells.shape)


def release(
    rng: Generator, table: np.ndarray, epsilon: float, relation: str, noise: str
) -> tuple[np.ndarray, float]:
    """The table with (rounded) noise, and the noise variance."""
    twice = 2.0 if relation == "replace-one" else 1.0
    if noise == "laplace":
        variance = 2.0 * (twice / epsilon) ** 2
        drawn = rng.laplace(0.0, twice / epsilon, table.shape)
    else:
        variance = twice / epsilon**2
        drawn = rng.normal(0.0, np.sqrt(variance), table.shape)
    return table + np.round(drawn), variance + 1.0 / 12.0


def tested(rng: Generator, table: np.ndarray, epsilon: float, relation: str, noise: str) -> MeasuredTest:
    noisy, variance = release(rng, table, epsilon, relation, noise)
    n = int(table.sum()) if relation == "replace-one" else None
    return measured_test(noisy, variance, kurtosis=LAPLACE if noise == "laplace" else GAUSSIAN, n=n)


def rejections(found: MeasuredTest) -> np.ndarray:
    return np.array([found.omnibus_pvalue, found.pooled_pvalue, found.pvalue]) < 0.05


def sensitivity() -> None:
    print("statistic                    n1    n0   found/bound")
    for n1, n0 in ((15, 15), (9, 20), (250, 250), (100, 900)):
        a, b = np.indices((n1 + 1, n0 + 1))
        circle = unit_circle(a, b, n1, n0, 3.84)
        m, n = a + b, n0 + n1
        bottom = np.maximum(float(n0 * n1) * m * (n - m), 1e-300)
        output = n * (float(n0) * a - float(n1) * b) ** 2 / bottom * ((m > 0) & (m < n))
        for name, values, bound in (
            ("unit circle, tau 3.84", circle, unit_circle_sensitivity(n1, n0, 3.84)),
            ("chi2 output", output, chi2_sensitivity(n0, n1)),
        ):
            found = max(np.abs(np.diff(values, axis=0)).max(), np.abs(np.diff(values, axis=1)).max())
            print(f"{name:26s} {n1:5d} {n0:5d}   {found / bound:.6f}")
    score = np.array([[fixed_labels_distance(i, j, 15, 15, 3.84) for j in range(16)] for i in range(16)])
    print(
        f"distance, labels fixed        15    15   {max(np.abs(np.diff(score, axis=i)).max() for i in (0, 1)):.6f}"
    )


def level(draws: int) -> None:
    rng = np.random.default_rng(2026)
    for name, keywords in (
        ("balanced 2x2", {"px": 0.5, "py": 0.5}), ("rare .1 x .1", {"px": 0.1, "py": 0.1}),
        ("unequal blocks", {"px": 0.3, "py": 0.2, "sizes": "zipf"}), ("3 x 3", {"px": 0.2, "py": 0.4, "levels": 3}),
    ):  # fmt: skip
        for noise in NOISES:
            for relation in RELATIONS:
                print(f"level, {name}, {noise}, {relation}; epsilon {EPSILONS}")
                rates = []
                for k in BLOCKS:
                    for n in SIZES:
                        line, plain = [], 0.0
                        for epsilon in EPSILONS:
                            hits = np.zeros(3)
                            for _ in range(draws):
                                table = draw(rng, n, k, **keywords)
                                hits += rejections(tested(rng, table, epsilon, relation, noise))
                                plain += pearson(table).pvalue < 0.05
                            rates.append(hits / draws)
                            line.append("/".join(f"{h:.3f}" for h in hits / draws))
                        print(
                            f"  k {k:3d} n {n:6d}  {'  '.join(line)}  chi2 {plain / draws / len(EPSILONS):.3f}"
                        )
                low, mean, high = np.min(rates, 0), np.mean(rates, 0), np.max(rates, 0)
                print(f"  least {low.round(3)} mean {mean.round(4)} most {high.round(3)}", flush=True)


def power(draws: int) -> None:
    rng = np.random.default_rng(7)
    for noise in NOISES:
        for relation in RELATIONS:
            print(f"power, {noise}, {relation}; epsilon {EPSILONS}")
            for k, n, phi, signs in (
                (1, 1000, 0.12, "same"), (8, 1000, 0.15, "same"), (8, 5000, 0.08, "alternating"),
                (64, 1000, 0.25, "same"), (64, 5000, 0.15, "same"), (64, 5000, 0.15, "alternating"),
            ):  # fmt: skip
                line, plain = [], 0.0
                for epsilon in EPSILONS:
                    hits = np.zeros(3)
                    for _ in range(draws):
                        table = draw(rng, n, k, 0.5, 0.4, phi, signs)
                        hits += rejections(tested(rng, table, epsilon, relation, noise))
                        plain += pearson(table).pvalue < 0.05
                    line.append("/".join(f"{h:.2f}" for h in hits / draws))
                print(
                    f"  k {k:3d} n {n:6d} phi {phi:.2f} {signs:11s} {'  '.join(line)}  "
                    f"chi2 {plain / draws / len(EPSILONS):.2f}",
                    flush=True,
                )


def speed() -> None:
    rng = np.random.default_rng(1)
    for k, levels in ((1, 2), (64, 2), (8, 3), (8, 5)):
        table = draw(rng, 5000, k, 0.3, 0.4, levels=levels)
        noisy, variance = release(rng, table, 1.0, "replace-one", "laplace")
        for name, call in (
            ("pearson", lambda t=table: pearson(t)),
            ("measured", lambda x=noisy, v=variance: measured_test(x, v, n=5000)),
        ):
            best = min(timeit.repeat(call, number=10, repeat=50)) / 10
            print(f"{name:9s} k {k:3d}, {levels} x {levels}: {best * 1e6:7.1f} us")


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--part", choices=["sensitivity", "level", "power", "speed"])
    chosen = parser.parse_args()
    if chosen.part in (None, "sensitivity"):
        sensitivity()
    if chosen.part in (None, "speed"):
        speed()
    if chosen.part in (None, "power"):
        power(chosen.draws)
    if chosen.part in (None, "level"):
        level(chosen.draws)


if __name__ == "__main__":
    main()
