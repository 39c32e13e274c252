"""Ten tests, two of them with an effect: what Algorithms 3 and 4 and our screenings find, and how often they err."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcausal.gwas.cohort import GenotypeCounts, Variant
from dpcausal.gwas.printed import Flags, Tables
from dpcausal.gwas.screen import Screen
from dpcausal.testing import seeded
from unit_circle.published import drawn

TESTS, SIGNALS, LEVEL = 10, 2, 0.05
SETTINGS = ((1024, 0.5), (4096, 0.5), (32768, 0.1))
Screening = Callable[[Tables, float, np.random.Generator], Flags]
HEADS = ("N", "epsilon", "method", "power", "false hits", "family-wise error, no signal")


def as_counts(c11: list[int], c10: list[int], n: int) -> GenotypeCounts:
    """Binary rows as the alleles of n/4 + n/4 people."""
    a, b = np.array(c11), np.array(c10)
    table = np.stack([a // 2, a % 2, b // 2, b % 2], 1).astype(np.int32)
    variants = [Variant("1", str(i), i, "A", "G") for i in range(len(a))]
    return GenotypeCounts(table, n // 4, n // 4, variants, np.arange(len(a)))


def ours(method: str, statistic: str) -> Screening:
    """A screening of ours as one of theirs: one row the unit, no margin known but that values are common."""

    def run(tables: Tables, epsilon: float, rng: np.random.Generator) -> Flags:
        n = tables.n1 + tables.n0
        plan = Screen(
            snps=TESTS, cases=n // 4, controls=n // 4, epsilon=epsilon, method=method,  # type: ignore[arg-type]
            max_hits=SIGNALS, statistic=statistic, unit="allele", maf=0.45,  # type: ignore[arg-type]
        )  # fmt: skip
        flags = np.zeros(tables.c11.shape, bool)
        with seeded(int(rng.integers(1 << 31))):
            for i, (c11, c10) in enumerate(zip(tables.c11.tolist(), tables.c10.tolist(), strict=True)):
                for hit in plan.run(as_counts(c11, c10, n)).rejected:
                    flags[i, int(hit.variant.name)] = True
        return flags

    return run


def table(methods: dict[str, Screening], reps: int, seed: int) -> list[list[str]]:
    """A row for each setting and method."""
    rows = []
    for n, epsilon in SETTINGS:
        gap = np.sqrt(30 * 0.25 * 4 / n) / 2  # chi-squared near 30
        effects = np.where(np.arange(TESTS) < SIGNALS, gap, 0.0)
        for name, method in methods.items():
            rng = np.random.default_rng([seed, n])
            shares = np.full(TESTS, 0.5)
            found = method(drawn(rng, reps, n, shares, effects), epsilon, rng)
            none = method(drawn(rng, reps, n, shares, 0 * effects), epsilon, rng)
            power, false = found[:, :SIGNALS].mean(), found[:, SIGNALS:].any(axis=1).mean()
            rows.append(
                [
                    f"{n:,}",
                    f"{epsilon:g}",
                    name,
                    *(f"{x:.3f}" for x in (power, false, none.any(axis=1).mean())),
                ]
            )
    return rows
