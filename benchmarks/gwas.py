"""GWAS screening: plink as the referee and the rival, power and family-wise error, known hits recovered.

    python benchmarks/gwas.py [parity|speed|power|recovery ...] [--repetitions 1000] [--snps 200000] [--figure FILE]

Needs Debian's plink1.9 and plink2 on the path for parity and speed. CPU seconds are user + system, least of three runs,
files in the page cache, one thread each.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpcausal.gwas.counting import Cohort, GenotypeCounts
from dpcausal.gwas.screen import Screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.single import single_test
from dpcausal.gwas.statistics import allelic_chi2
from dpcausal.gwas.variants import Variant
from dpcausal.testing import seeded


def child_cpu(command: list[str]) -> float:
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    """Least CPU seconds of ``runs`` runs, after one that compiles."""
    work()
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def parity(folder: Path) -> None:
    """Counts and chi-squared of 1,000 x 20,000 to plink's printed digits."""
    prefix = str(folder / "parity")
    Simulation(people=1000, snps=20_000, causal=10, seed=1).write(prefix)
    counts = Cohort.open(prefix).count()
    base = ["plink1.9", "--bfile", prefix, "--allow-no-sex", "--keep-allele-order", "--out", prefix]
    child_cpu([*base, "--assoc", "counts"])
    child_cpu([*base, "--model"])
    a, b = counts.alleles()
    chi2 = allelic_chi2(a, b, 1000, 1000)
    wrong = 0
    for i, line in enumerate(Path(f"{prefix}.assoc").read_text().splitlines()[1:]):
        words = line.split()
        printed = float(words[7])  # four digits
        half = 0.5 * 10.0 ** (np.floor(np.log10(max(printed, 1e-300))) - 3)
        same = abs(printed - chi2[i]) <= half * (1 + 1e-9)
        wrong += (int(words[4]), int(words[5])) != (a[i], b[i]) or not same
    genotypes = counts.genotypes()
    lines = [line.split() for line in Path(f"{prefix}.model").read_text().splitlines() if " GENO " in line]
    told = np.array([[list(map(int, words[j].split("/"))) for j in (5, 6)] for words in lines])
    print(f"parity with plink 1.9: {wrong} of 20000 allele counts or chi-squared differ;", end=" ")
    print(f"{int((told != genotypes).any(axis=(1, 2)).sum())} of {len(told)} genotype tables differ")


def speed(folder: Path, sizes: list[int]) -> None:
    """CPU seconds against plink on 5,000 people."""
    memory = np.ones(2**26, np.uint64)
    bandwidth = memory.nbytes / cpu(memory.sum) / 1e9
    print(f"\nmemory read, one core: {bandwidth:.1f} GB/s\n")
    names = ["SNPs", "plink 1.9 --assoc", "plink2 --geno-counts", "open", "count", "GB/s (share)"]
    names += ["screen svt", "screen em", "end to end svt / plink2"]
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for snps in sizes:
        prefix = str(folder / f"speed{snps}")
        Simulation(people=5000, snps=snps, causal=10, odds_ratio=1.5, seed=2).write(prefix)
        one = ["--bfile", prefix, "--threads", "1", "--out", prefix]
        assoc = min(child_cpu(["plink1.9", *one, "--assoc", "--allow-no-sex"]) for _ in range(3))
        geno = min(child_cpu(["plink2", *one, "--geno-counts"]) for _ in range(3))
        cohort = Cohort.open(prefix)
        counts = cohort.count(threads=1)

        def screened(method: str, counts: GenotypeCounts = counts, snps: int = snps) -> None:
            plan = Screen(snps=snps, cases=2500, controls=2500, epsilon=3.0, method=method, maf=0.05)
            plan.run(counts)

        opening = cpu(lambda prefix=prefix: Cohort.open(prefix))
        counting = cpu(lambda cohort=cohort: cohort.count(threads=1))
        svt, em = cpu(lambda: screened("svt")), cpu(lambda: screened("em"))
        rate = snps * 1250 / counting / 1e9
        whole = opening + counting + svt
        print(
            f"| {snps} | {assoc:.3f} | {geno:.3f} | {opening:.3f} | {counting:.3f} "
            f"| {rate:.2f} ({rate / bandwidth:.0%}) | {svt:.3f} | {em:.3f} "
            f"| {whole:.3f} = {whole / geno:.2f} (of plink 1.9: {whole / assoc:.2f}) |"
        )
        command = [sys.executable, "-c", "from dpcausal.cli.app import main; main()", "gwas", prefix]
        command += [
            "--epsilon",
            "3",
            "--maf",
            "0.05",
            "--out",
            str(folder / "out"),
            "--threads",
            "1",
            "--json",
        ]
        full = min(child_cpu(command) for _ in range(3))
        print(f"|  | the whole command, with Python's start, imports and the plot: {full:.2f} |")


def rows_as_counts(a: np.ndarray, b: np.ndarray, n: int) -> GenotypeCounts:
    """Binary rows as alleles of n/4 + n/4 people."""
    table = np.stack([a // 2, a % 2, b // 2, b % 2], 1).astype(np.int32)
    variants = [Variant("1", str(i), i, "A", "G") for i in range(len(a))]
    return GenotypeCounts(table, n // 4, n // 4, variants, np.arange(len(a)))


def power(repetitions: int) -> None:
    """The paper's settings: one binary row as the unit, margins public."""
    generator = np.random.default_rng(0)
    print("\nsingle test, cells .26/.24, epsilon .1, level .05 (paper: .58 at 4,096, .91 at 8,192)\n")
    print("| N | power | rejects without effect |\n|---|---|---|")
    for n in (1024, 2048, 4096, 8192, 16384):
        seen = []
        with seeded(n):
            for shift in (0.02, 0.0):
                tests = 0
                for _ in range(repetitions):
                    a, b = generator.binomial(n // 2, 0.5 + shift), generator.binomial(n // 2, 0.5 - shift)
                    tests += single_test(a, b, n // 2, n // 2, 0.1, margin=int(a + b), unit="allele").rejected
                seen.append(tests / repetitions)
        print(f"| {n} | {seen[0]:.3f} | {seen[1]:.3f} |")
    print(
        "\nK = 10, two signals of chi-squared 30, level .05 family-wise, margins public (paper's EM: .85 and .9)\n"
    )
    print(
        "| N | epsilon | method | statistic | power | false hits | family-wise error, no signal |\n|"
        + "---|" * 7
    )
    for n, epsilon in ((1024, 0.5), (32768, 0.1)):
        gap = np.sqrt(30 * 0.25 * 4 / n) / 2
        for method in ("em", "svt"):
            for statistic in ("distance", "circle", "chi2"):
                plan = Screen(
                    snps=10, cases=n // 4, controls=n // 4, epsilon=epsilon, method=method, max_hits=2,
                    statistic=statistic, unit="allele", maf=0.5,
                )  # fmt: skip
                right = wrong = alone = 0
                with seeded(n):
                    for signals in (2, 0):
                        shift = np.where(np.arange(10) < signals, gap, 0.0)
                        for _ in range(repetitions):
                            a, b = (generator.binomial(n // 2, 0.5 + s) for s in (shift, -shift))
                            names = {
                                int(hit.variant.name) for hit in plan.run(rows_as_counts(a, b, n)).rejected
                            }
                            right += len(names & {0, 1}) if signals else 0
                            wrong += bool(names - {0, 1}) if signals else 0
                            alone += bool(names) if not signals else 0
                figures = " | ".join(f"{x / repetitions:.3f}" for x in (right / 2, wrong, alone))
                print(f"| {n} | {epsilon} | {method} | {statistic} | {figures} |", flush=True)


def recovery(repetitions: int, snps: int, figure: str | None) -> None:
    """Share of k planted hits found and rejected, person as the unit, minor allele frequencies above .05 public."""
    print(f"\nknown hits recovered (rejected true hits / k), 10 planted among {snps}, {repetitions} runs\n")
    print(
        "| people | odds ratio | epsilon | method | statistic | top 1 | top 5 | top 10 | false hits |\n|"
        + "---|" * 9
    )
    shown: dict[tuple[int, str], dict[float, list[float]]] = {}
    for people, ratio in ((5000, 1.5), (50_000, 1.15)):
        studies = [
            Simulation(people=people, snps=snps, causal=10, odds_ratio=ratio, seed=s) for s in range(4)
        ]
        made = [study.counts() for study in studies]
        truth = {studies[0].variant(int(i)).name for i in studies[0].causal_rows()}
        for epsilon in (1.0, 3.0):
            for method in ("svt", "em"):
                for statistic in ("distance", "circle", "chi2"):
                    shares, false = [], 0
                    for k in (1, 5, 10):
                        plan = Screen(
                            snps=snps, cases=people // 2, controls=people // 2, epsilon=epsilon, method=method,
                            max_hits=k, statistic=statistic, maf=0.05,
                        )  # fmt: skip
                        found = 0
                        with seeded(k):
                            for run in range(repetitions):
                                names = {hit.variant.name for hit in plan.run(made[run % 4]).rejected}
                                found += len(names & truth)
                                false += bool(names - truth)
                        shares.append(found / repetitions / k)
                    shown.setdefault((people, f"{method} {statistic}"), {})[epsilon] = shares
                    told = " | ".join(f"{x:.2f}" for x in shares)
                    false_share = false / 3 / repetitions
                    print(
                        f"| {people} | {ratio} | {epsilon:g} | {method} | {statistic} | {told} | {false_share:.3f} |",
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
            style = "-" if name.startswith("svt") else "--"
            colour = {"distance": "#b2182b", "circle": "#2166ac", "chi2": "#888888"}[name.split()[1]]
            panel.plot([1, 5, 10], shares, style + "o", color=colour, label=name, ms=4)
            panel.set_title(f"{people} people, epsilon {epsilon:g}", fontsize=9)
            panel.set_xticks([1, 5, 10])
            panel.set_ylim(-0.03, 1.03)
    axes[0][0].legend(fontsize=7)
    for panel in axes[1]:
        panel.set_xlabel("hits paid for (k)")
    for row in axes:
        row[0].set_ylabel("true hits found / k")
    Path(figure).parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(figure, dpi=130)


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["parity", "speed", "power", "recovery"])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20, help="of each recovery setting")
    parser.add_argument("--snps", type=int, default=200_000)
    parser.add_argument("--large", action="store_true", help="speed at 800,000 SNPs too")
    parser.add_argument("--figure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if "parity" in options.parts:
            parity(Path(folder))
        if "speed" in options.parts:
            speed(Path(folder), [options.snps, *([4 * options.snps] if options.large else [])])
    if "power" in options.parts:
        power(options.repetitions)
    if "recovery" in options.parts:
        recovery(options.runs, options.snps, options.figure)


if __name__ == "__main__":
    main()
