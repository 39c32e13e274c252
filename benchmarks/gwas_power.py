"""Power, family-wise error and known hits recovered by private GWAS screening: parts of ``gwas.py``, which runs all.

``most`` prints that many rows of a table, which are those of the whole table: data and noise are seeded.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import numpy as np

from dpcausal.gwas.cohort import GenotypeCounts, Variant
from dpcausal.gwas.screen import Screen, single_test
from dpcausal.gwas.simulate import Simulation
from dpcausal.testing import seeded

STUDIES = 10  # simulated for each setting
NULLS = 3  # studies without effect for each one with


def rows_as_counts(a: np.ndarray, b: np.ndarray, n: int) -> GenotypeCounts:
    """Binary rows as alleles of n/4 + n/4 people."""
    table = np.stack([a // 2, a % 2, b // 2, b % 2], 1).astype(np.int32)
    variants = [Variant("1", str(i), i, "A", "G") for i in range(len(a))]
    return GenotypeCounts(table, n // 4, n // 4, variants, np.arange(len(a)))


def single(repetitions: int, most: int | None = None) -> None:
    """One test; the paper's settings: one binary row as the unit, margins public."""
    generator = np.random.default_rng(0)
    quoted = {4096: ".58", 8192: ".91"}  # handed to us as the paper's, whose main text we do not have
    print("\nsingle test, cells .26/.24, epsilon .1, level .05\n")
    print("| N | power | quoted | rejects without effect |\n|---|---|---|---|")
    for n in (1024, 2048, 4096, 8192, 16384)[:most]:
        seen = []
        with seeded(n):
            for shift in (0.02, 0.0):
                tests = 0
                for _ in range(repetitions):
                    a, b = generator.binomial(n // 2, 0.5 + shift), generator.binomial(n // 2, 0.5 - shift)
                    tests += single_test(a, b, n // 2, n // 2, 0.1, margin=int(a + b), unit="allele").rejected
                seen.append(tests / repetitions)
        print(f"| {n} | {seen[0]:.3f} | {quoted.get(n, '')} | {seen[1]:.3f} |", flush=True)


def family(repetitions: int, most: int | None = None) -> None:
    """Ten tests, two of them with an effect; and ``NULLS`` times as many studies without any."""
    generator = np.random.default_rng(1)
    print(
        "\nK = 10, two signals of chi-squared 30, level .05 family-wise, margins public "
        "(quoted for the paper's EM: .85 and .9)\n"
    )
    print(
        "| N | epsilon | method | statistic | power | false hits | family-wise error, no signal |\n|"
        + "---|" * 7
    )
    settings = product(((1024, 0.5), (32768, 0.1)), ("em", "svt"), ("distance", "circle", "chi2"))
    for (n, epsilon), method, statistic in islice(settings, most):
        gap = np.sqrt(30 * 0.25 * 4 / n) / 2
        plan = Screen(
            snps=10, cases=n // 4, controls=n // 4, epsilon=epsilon, method=method, max_hits=2,
            statistic=statistic, unit="allele", maf=0.5,
        )  # fmt: skip
        right = wrong = alone = 0
        with seeded(n):
            for signals, runs in ((2, repetitions), (0, NULLS * repetitions)):
                shift = np.where(np.arange(10) < signals, gap, 0.0)
                for _ in range(runs):
                    a, b = (generator.binomial(n // 2, 0.5 + s) for s in (shift, -shift))
                    names = {int(hit.variant.name) for hit in plan.run(rows_as_counts(a, b, n)).rejected}
                    right += len(names & {0, 1}) if signals else 0
                    wrong += bool(names - {0, 1}) if signals else 0
                    alone += bool(names) if not signals else 0
        shares = (right / 2 / repetitions, wrong / repetitions, alone / NULLS / repetitions)
        figures = " | ".join(f"{x:.3f}" for x in shares)
        print(f"| {n} | {epsilon} | {method} | {statistic} | {figures} |", flush=True)


def planted(studies: int, **asked: float) -> tuple[list[GenotypeCounts], set[str]]:
    """Counts of studies with 10 hits each, and the names of the hits."""
    plans = [Simulation(causal=10, seed=s, **asked) for s in range(studies)]  # type: ignore[arg-type]
    made = [plans[0].counts()]
    made += [
        replace(plan.counts(), variants=made[0].variants) for plan in plans[1:]
    ]  # one list of names for all
    return made, {plans[0].variant(int(i)).name for i in plans[0].causal_rows()}


def by_frequencies(repetitions: int, snps: int) -> None:
    """The same hits by what is known about frequencies; 10 paid for."""
    print(
        f"\nby what is known about frequencies: hits found of 10, {snps} SNPs, epsilon 1 and 3, {repetitions} runs\n"
    )
    names = [
        "people",
        "cases",
        "odds ratio",
        "epsilon",
        "method",
        "nothing",
        "a floor, 3% of epsilon",
        "maf .05",
        "panel",
    ]
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for people, share, ratio in ((5000, 0.5, 1.5), (50_000, 0.5, 1.15), (50_000, 0.1, 1.3)):
        made, truth = planted(STUDIES, people=people, snps=snps, odds_ratio=ratio, case_share=share)
        plans = [
            Simulation(people=people, snps=snps, causal=10, odds_ratio=ratio, seed=s) for s in range(STUDIES)
        ]
        panels = [plan.frequencies(np.random.default_rng(plan.seed))[1] for plan in plans]
        for epsilon in (1.0, 3.0):
            for method in ("svt", "em"):
                cells = []
                for told in ({}, {"freq_share": 0.03}, {"maf": 0.05}, {"panel": True}):
                    if method == "em" and "panel" in told:
                        cells.append("")
                        continue
                    asked = {name: value for name, value in told.items() if name != "panel"}
                    plan = Screen(
                        snps=snps,
                        cases=made[0].cases,
                        controls=made[0].controls,
                        epsilon=epsilon,
                        method=method,
                        **asked,
                    )  # type: ignore[arg-type]
                    found = 0
                    with seeded(1):
                        for run in range(repetitions):
                            panel = panels[run % STUDIES] if "panel" in told else None
                            result = plan.run(made[run % STUDIES], frequencies=panel)
                            found += len({hit.variant.name for hit in result.rejected} & truth)
                    cells.append(f"{found / repetitions:.1f}")
                print(
                    f"| {people} | {share:g} | {ratio} | {epsilon:g} | {method} | {' | '.join(cells)} |",
                    flush=True,
                )


def recovery(repetitions: int, snps: int, figure: str | None, most: int | None = None) -> None:
    """Share of k planted hits found and rejected, person as the unit, minor allele frequencies above .05 public."""
    print(f"\nknown hits recovered (rejected true hits / k), 10 planted among {snps}, {repetitions} runs\n")
    print(
        "| people | odds ratio | epsilon | method | statistic | top 1 | top 5 | top 10 | false hits |\n|"
        + "---|" * 9
    )
    shown: dict[tuple[int, str], dict[float, list[float]]] = {}
    studies = ((5000, 1.5), (50_000, 1.15))
    settings = product(studies, (1.0, 3.0), ("svt", "em"), ("distance", "circle", "chi2"))
    at, made, truth = 0, list[GenotypeCounts](), set[str]()
    for (people, ratio), epsilon, method, statistic in islice(settings, most):
        if people != at:
            at, (made, truth) = people, planted(STUDIES, people=people, snps=snps, odds_ratio=ratio)
        shares, false = [], 0
        for k in (1, 5, 10):
            plan = Screen(
                snps=snps, cases=people // 2, controls=people // 2, epsilon=epsilon, method=method,
                max_hits=k, statistic=statistic, maf=0.05,
            )  # fmt: skip
            found = 0
            with seeded(k):
                for run in range(repetitions):
                    names = {hit.variant.name for hit in plan.run(made[run % STUDIES]).rejected}
                    found += len(names & truth)
                    false += bool(names - truth)
            shares.append(found / repetitions / k)
        shown.setdefault((people, f"{method} {statistic}"), {})[epsilon] = shares
        told = " | ".join(f"{x:.2f}" for x in shares)
        print(
            f"| {people} | {ratio} | {epsilon:g} | {method} | {statistic} | {told} | {false / 3 / repetitions:.3f} |",
            flush=True,
        )
    if figure:
        draw(shown, figure)


def draw(shown: dict[tuple[int, str], dict[float, list[float]]], figure: str) -> None:
    """The table as a picture."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9, 6), layout="constrained")
    axes = picture.subplots(2, 2, sharey=True)
    for (people, name), by_epsilon in shown.items():
        for epsilon, shares in by_epsilon.items():
            panel = axes[0 if people == 5000 else 1][0 if epsilon == 1.0 else 1]
            svt = name.startswith("svt")
            style, mark, fill = ("-", "o", None) if svt else ("--", "s", "white")
            colour = {"distance": "#b2182b", "circle": "#2166ac", "chi2": "#888888"}[name.split()[1]]
            panel.plot([1, 5, 10], shares, style, marker=mark, color=colour, label=name, ms=5, mfc=fill)
            panel.set_title(f"{people:,} people, epsilon {epsilon:g}", fontsize=9)
            panel.set_xticks([1, 5, 10])
            panel.set_ylim(-0.03, 1.03)
    axes[0][0].legend(fontsize=7, handlelength=4)
    for panel in axes[1]:
        panel.set_xlabel("hits paid for (k)")
    for row in axes:
        row[0].set_ylabel("true hits found / k")
    Path(figure).parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(figure, dpi=130)
