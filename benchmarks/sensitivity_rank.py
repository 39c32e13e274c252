"""Rank statistics: largest change found against the bound shipped, the papers' constants, level and power.

    python benchmarks/sensitivity_rank.py [--quick]

Level and power are simulated with numpy's Laplace noise (never used in the package): ``rejections`` draws
binary data sets, and several noises for each, so that the error of a level is well below that of 2,000 single runs.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import rank_neighbours as search
from dpcausal.stats.kendall import (
    kendall_joint_sensitivity,
    kendall_margin_sensitivity,
    kendall_sensitivity,
    kendall_variance_sensitivity,
    kendall_weight,
)
from dpcausal.stats.noisy_normal import laplace_tail, normal_pvalue
from dpcausal.stats.published import (
    rho_sensitivity,
    spearman_z_sensitivity,
    tau_a_sensitivity,
    weighted_floor,
    weighted_kendall_sensitivity,
    weighted_numerator_sensitivity,
)
from dpcausal.stats.spearman import (
    spearman_joint_sensitivity,
    spearman_sensitivity,
    spearman_variance_sensitivity,
)

RELATIONS = ("add-remove", "replace-one")
SHAPES = ((1, 2, 2), (2, 2, 2), (1, 3, 3), (2, 2, 3), (2, 3, 3), (2, 4, 4), (4, 3, 3))


def targets(rel: str, k: int, r: int, c: int, rows: int) -> dict[str, tuple[search.Target, float]]:
    """Every shipped statistic with its bound; ``rows`` is the size of the smaller data set."""
    n = rows if rel == "add-remove" else rows + 1  # public n under replace-one
    floor, spread = weighted_floor(n, k), float(max(n - k, 1))
    found: dict[str, tuple[search.Target, float]] = {
        "K": (search.kendall_k, kendall_sensitivity(rel, r, c, k)),
        "V": (search.kendall_v, kendall_variance_sensitivity(rel, r, c)),
        "(K,V)": (search.kendall_kv, kendall_joint_sensitivity(rel, r, c, k)),
        "q_T": (partial(search.kendall_target, part="q"), kendall_margin_sensitivity(rel, r, c, k, 2.0, 1.0)),
        "9S/(2n+5)": (
            partial(search.weighted_target, part="numerator"),
            weighted_numerator_sensitivity(rel, r, c, k),
        ),
        "weighted z": (
            partial(search.weighted_target, part="z", floor=floor),
            weighted_kendall_sensitivity(rel, r, c, k, floor),
        ),
        "F": (search.spearman_target, spearman_sensitivity(rel, r, c, k)),
        "U": (partial(search.spearman_target, part="U"), spearman_variance_sensitivity(rel, r, c)),
        "(F,U/4)": (
            partial(search.spearman_target, part="FU", weight=0.25),
            spearman_joint_sensitivity(rel, r, c, k, 0.25),
        ),
        "spearman z": (
            partial(search.spearman_target, part="z", floor=spread),
            spearman_z_sensitivity(rel, r, c, k, spread),
        ),
    }
    if k == 1:
        found["tau_a"] = (partial(search.weighted_target, part="tau"), tau_a_sensitivity(rel, r, c, n))
        found["rho"] = (partial(search.spearman_target, part="rho"), rho_sensitivity(rel, r, c, n))
    return found


def ratios(
    rel: str, k: int, r: int, c: int, sizes: tuple[int, ...], starts: int, names: tuple[str, ...] = ()
) -> dict[str, float]:
    """Found/bound of the named statistics (all if none is named), the largest over the sizes."""
    best: dict[str, float] = {}
    for rows in sizes:
        for name, (target, bound) in targets(rel, k, r, c, rows).items():
            if not names or name in names:
                found, _ = search.climb(target, rows, k, r, c, rel, starts=starts)
                best[name] = max(best.get(name, 0.0), found / bound)
    return best


def broken(rel: str, rows: int = 2000) -> dict[str, tuple[float, float]]:
    """(found, claimed) for the papers' constants, each on a shape it was claimed for."""
    tau, phi = partial(search.weighted_target, part="tau"), partial(search.weighted_target, part="phi")
    z = partial(search.weighted_target, part="z")
    n = rows + 1
    return {
        "Kendall 2/(n-1)": (search.climb(tau, rows, 1, 3, 3, rel)[0], 2 / (rows - 1)),
        "conditional 4.5/sqrt(n-1)": (
            search.climb(z, rows, 1, 12, 12, rel, starts=3)[0],
            4.5 / np.sqrt(n - 1),
        ),
        "CURATE .3627/sqrt(n)": (search.climb(phi, rows, 2, 3, 3, rel)[0], 0.3627 / np.sqrt(n)),
        "dropped strata, 4.5/sqrt(n-1)": (
            search.climb(search.dropping_target, rows, 4, 2, 2, rel)[0],
            4.5 / np.sqrt(n - 1),
        ),
    }


@dataclass(frozen=True)
class Design:
    """n rows over k equally likely blocks of binary x, y with P(x=1) = P(y=1) = ``share`` and covariance ``delta``."""

    n: int
    k: int
    share: float = 0.5
    delta: float = 0.0

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        p, d = self.share, self.delta
        cells = np.array([(1 - p) ** 2 + d, p * (1 - p) - d, p * (1 - p) - d, p * p + d])
        return rng.multinomial(self.n, np.tile(cells, self.k) / self.k, size=count).reshape(
            count, self.k, 2, 2
        )


def rejections(
    design: Design,
    epsilon: float,
    *,
    level: float = 0.05,
    share_v: float | None = None,
    papers_levels: int = 1000,
    data_sets: int = 2000,
    noises: int = 20,
    seed: int = 0,
) -> tuple[float, float, float]:
    """Share rejected: private blocked Kendall, the same without noise, and the papers' repaired z (replace-one).

    ``share_v=None`` releases (K, w V) together; a number is the share of epsilon that V gets on its own instead.
    ``papers_levels`` chooses the repaired bound: 117/8 over sqrt(W0) for many levels (the one quoted), 81/8 for 2.
    """
    rng = np.random.default_rng(seed)
    tables = design.draw(rng, data_sets)
    k, v = search.kendall_target(tables, part="KV").T
    shape = ("replace-one", 2, 2, design.k)
    if share_v is None:
        weight = kendall_weight(*shape, epsilon)
        scale = kendall_joint_sensitivity(*shape, weight) / epsilon
        scale_v = scale / weight
    else:
        scale = kendall_sensitivity(*shape) / ((1 - share_v) * epsilon)
        scale_v = kendall_variance_sensitivity(*shape[:3]) / (share_v * epsilon)
    noisy_k = k + rng.laplace(scale=scale, size=(noises, data_sets))
    noisy_v = v + rng.laplace(scale=scale_v, size=(noises, data_sets))
    floor = weighted_floor(design.n, design.k)
    z = search.weighted_target(tables, part="z", floor=floor)[:, 0]
    scale_z = (
        weighted_kendall_sensitivity("replace-one", papers_levels, papers_levels, design.k, floor) / epsilon
    )
    noisy_z = z + rng.laplace(scale=scale_z, size=(noises, data_sets))
    return (
        float((np.vectorize(laplace_tail)(noisy_k, noisy_v, scale) <= level).mean()),
        float((np.vectorize(normal_pvalue)(k, v) <= level).mean()),
        float((np.vectorize(laplace_tail)(noisy_z, 1.0, scale_z) <= level).mean()),
    )


POWER = Design(n=1000, k=64, delta=0.0315)  # the classical test has power .97 here


def levels(noises: int = 20) -> list[tuple[Design, float, float, float]]:
    """(design, epsilon, level, level without noise) over the grid of sizes, blocks, shares and budgets."""
    grid = [
        Design(n, k, share)
        for n in (500, 1000, 5000, 20000)
        for k in (1, 4, 8, 64)
        for share in (0.5, 0.1, 0.05)
    ]
    budgets = (0.1, 0.5, 1.0, 2.0)
    return [
        (d, e, *rejections(d, e, noises=noises, seed=1000 * i + j)[:2])
        for i, d in enumerate(grid)
        for j, e in enumerate(budgets)
    ]


def main(quick: bool) -> None:
    start = time.perf_counter()
    print("largest change found / bound shipped")
    sizes, starts = ((20, 2000), 3) if quick else ((5, 20, 200, 2000), 9)
    for rel in RELATIONS:
        for k, r, c in SHAPES:
            row = ratios(rel, k, r, c, sizes, starts)
            print(
                f"  {rel:11s} k={k} {r}x{c}  "
                + "  ".join(f"{name} {value:.3f}" for name, value in row.items())
            )
    print("papers' constants (n = 2001): found / claimed")
    for rel in RELATIONS:
        for name, (found, claimed) in broken(rel).items():
            print(f"  {rel:11s} {name:30s} {found:.5f} / {claimed:.5f} = {found / claimed:.2f}")
    print(f"power, n = 1000, k = 64, covariance {POWER.delta}, replace-one")
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        null = Design(POWER.n, POWER.k)
        for name, share_v in (("joint", None), (".9/.1", 0.1), (".8/.2", 0.2), (".95/.05", 0.05)):
            ours, classical, papers = rejections(POWER, epsilon, share_v=share_v)
            size, _, size_papers = rejections(null, epsilon, share_v=share_v)
            print(
                f"  epsilon {epsilon:<4} {name:8s} power {ours:.3f} level {size:.3f} | classical {classical:.3f}"
                f" | papers' z {papers:.3f} level {size_papers:.4f}"
            )
        _, _, papers = rejections(POWER, epsilon, papers_levels=2)
        print(f"  epsilon {epsilon:<4} papers' z with the smaller bound for 2x2 tables: power {papers:.3f}")
    print("level of a nominal .05, replace-one (2,000 data sets, 20 noises each)")
    table = levels(4 if quick else 20)
    worst = [min(table, key=lambda row: row[2]), max(table, key=lambda row: row[2])]
    for d, epsilon, ours, classical in worst if quick else table:
        where = f"n={d.n:<6} k={d.k:<3} share={d.share:<5} epsilon={epsilon:<4}"
        print(f"  {where} level {ours:.4f} classical {classical:.4f}")
    print("  range", *(f"{row[2]:.4f}" for row in worst), f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main("--quick" in sys.argv)
