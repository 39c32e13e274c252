"""GWAS screening: plink as the referee and the rival, power and family-wise error, known hits recovered.

    python benchmarks/gwas.py [parity|speed|power|recovery|known ...] [--repetitions 1000] [--snps 200000]
        [--most ROWS] [--large] [--figure FILE]

The last three parts are in ``gwas_power.py``.
Needs Debian's plink1.9 and plink2 on the path for parity and speed; what they would say is left out where they are not.
CPU seconds are user + system, least of five runs (ours and theirs in turn), files in the page cache, one thread each.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpcausal.gwas.cohort import Cohort, GenotypeCounts
from dpcausal.gwas.screen import Screen
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.statistics import allelic_chi2
from gwas_power import by_frequencies, family, recovery, single


def plink(*names: str) -> bool:
    """Whether these plinks are here; both, if none is named."""
    return all(map(shutil.which, names or ("plink1.9", "plink2")))


def child_cpu(command: list[str], environment: dict[str, str] | None = None) -> float:
    """CPU seconds of a process; not a number for a plink that is not here."""
    if command[0].startswith("plink") and not plink(command[0]):
        return float("nan")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def parity(folder: Path) -> None:
    """Counts and chi-squared of 1,000 x 20,000 to the digits that the plinks which are here print."""
    prefix = str(folder / "parity")
    Simulation(people=1000, snps=20_000, causal=10, seed=1).write(prefix)
    counts = Cohort.open(prefix).count()
    for name, compare in (("plink1.9", parity_one), ("plink2", parity_two)):
        if plink(name):
            compare(prefix, counts)
        else:
            print(f"parity: {name} is not here, left out")


def parity_one(prefix: str, counts: GenotypeCounts) -> None:
    """Allele counts, chi-squared and genotype tables of plink 1.9."""
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
    lines = [line.split() for line in Path(f"{prefix}.model").read_text().splitlines() if " GENO " in line]
    told = np.array([[list(map(int, words[j].split("/"))) for j in (5, 6)] for words in lines])
    print(f"parity with plink 1.9: {wrong} of 20000 allele counts or chi-squared differ;", end=" ")
    print(f"{int((told != counts.genotypes()).any(axis=(1, 2)).sum())} of {len(told)} genotype tables differ")


def parity_two(prefix: str, counts: GenotypeCounts) -> None:
    """Genotype counts of plink2, cases and controls."""
    wrong = 0
    for g, group in enumerate(("case", "control")):
        child_cpu(
            ["plink2", "--bfile", prefix, "--geno-counts", "--keep-if", f"PHENO1=={group}", "--out", prefix]
        )
        rows = [line.split()[4:7] for line in Path(f"{prefix}.gcount").read_text().splitlines()[1:]]
        wrong += int((np.array(rows, int)[:, ::-1] != counts.genotypes()[:, g]).any(axis=1).sum())
    print(f"parity with plink2 --geno-counts: {wrong} of 40000 rows differ")


def repeated(source: str, prefix: str, times: int) -> None:
    """The SNPs of a study several times under other names: large files without simulating them."""
    bed = Path(f"{source}.bed").read_bytes()
    Path(f"{prefix}.bed").write_bytes(bed[:3] + times * bed[3:])
    snps = times * Path(f"{source}.bim").read_bytes().count(b"\n")
    with Path(f"{prefix}.bim").open("w") as bim:  # one chromosome: plink wants each in one piece
        bim.writelines(f"1\tsnp{i + 1}\t0\t{100 * (i + 1)}\tA\tG\n" for i in range(snps))
    Path(f"{prefix}.fam").write_bytes(Path(f"{source}.fam").read_bytes())


def speed(folder: Path, sizes: list[int], rounds: int = 5) -> None:
    """CPU seconds against plink on 5,000 people; in each round everything runs once, and the least of each counts."""
    if not plink():
        print("speed: a plink that is not here has no numbers in its columns")
    memory = np.ones(2**26, np.uint64)
    totals = []
    for snps in sizes:
        prefix = str(folder / f"speed{snps}")
        if snps == sizes[0]:
            Simulation(people=5000, snps=snps, causal=10, odds_ratio=1.5, seed=2).write(prefix)
        else:
            repeated(str(folder / f"speed{sizes[0]}"), prefix, snps // sizes[0])
        one = ["--bfile", prefix, "--threads", "1", "--out", prefix]
        cohort = Cohort.open(prefix)
        counts = cohort.count(threads=1)

        def screened(method: str, counts: GenotypeCounts = counts, snps: int = snps) -> None:
            Screen(snps=snps, cases=2500, controls=2500, epsilon=3.0, method=method, maf=0.05).run(counts)

        parts: dict[str, Callable[[], float]] = {
            "assoc": lambda one=one: child_cpu(["plink1.9", *one, "--assoc", "--allow-no-sex"]),
            "geno": lambda one=one: child_cpu(["plink2", *one, "--geno-counts"]),
            "memory": lambda: cpu(memory.sum),
            "open": lambda prefix=prefix: cpu(lambda: Cohort.open(prefix)),
            "count": lambda cohort=cohort: cpu(lambda: cohort.count(threads=1)),
            "svt": lambda: cpu(lambda: screened("svt")),
            "em": lambda: cpu(lambda: screened("em")),
        }
        screened("svt"), screened("em")  # compiles
        found = [{name: part() for name, part in parts.items()} for _ in range(rounds)]
        t = {name: min(each[name] for each in found) for name in parts}
        bandwidth, rate = memory.nbytes / t["memory"] / 1e9, snps * 1250 / t["count"] / 1e9
        whole = [t["open"] + t["count"] + t[method] for method in ("svt", "em")]
        totals.append((t["count"], whole[0], t["geno"]))
        row = {
            "SNPs": f"{snps:,}",
            "plink 1.9 --assoc": f"{t['assoc']:.3f}",
            "plink2 --geno-counts": f"{t['geno']:.3f}",
            "open": f"{t['open']:.3f}",
            "count": f"{t['count']:.3f}",
            "memory read GB/s": f"{bandwidth:.1f}",
            "count GB/s (share)": f"{rate:.2f} ({rate / bandwidth:.0%})",
            "screen svt": f"{t['svt']:.3f}",
            "screen em": f"{t['em']:.3f}",
        }
        for method, seconds in zip(("svt", "em"), whole, strict=True):
            row[f"{method}, end to end"] = f"{seconds:.3f}"
            row[f"{method} / plink2"] = f"{seconds / t['geno']:.2f}"
            row[f"{method} / plink 1.9"] = f"{seconds / t['assoc']:.2f}"
        row = {name: cell for name, cell in row.items() if cell != "nan"}  # of a plink that is not here
        if snps == sizes[0]:
            print(f"\n| {' | '.join(row)} |\n|" + "---|" * len(row))
        print(f"| {' | '.join(row.values())} |", flush=True)
    if len(sizes) > 1:
        count, whole_, geno = (last / first for first, last in zip(totals[0], totals[-1], strict=True))
        print(
            f"\n{sizes[-1] / sizes[0]:g} times the SNPs: count x {count:.2f}, end to end svt x {whole_:.2f}, "
            f"plink2 x {geno:.2f}"
        )
    code = "from dpcausal.cli.start import main; main()"
    words = [
        "gwas",
        str(folder / f"speed{sizes[0]}"),
        "--epsilon",
        "3",
        "--maf",
        "0.05",
        "--threads",
        "1",
        "--json",
    ]
    command = [sys.executable, "-c", code, *words, "--out", str(folder / "out")]
    keeping = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    keeping["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    child_cpu(command, keeping)
    full = min(child_cpu(command, keeping) for _ in range(rounds))
    print(
        f"\nthe whole command at {sizes[0]} SNPs, with Python's start, imports, two files and the plot: {full:.2f}"
    )


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["parity", "speed", "power", "recovery", "known"])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20, help="of each recovery setting")
    parser.add_argument("--snps", type=int, default=200_000)
    parser.add_argument("--most", type=int, help="rows of the tables of power and recovery; all without it")
    parser.add_argument("--rounds", type=int, default=5, help="of speed; the least time counts")
    parser.add_argument("--large", action="store_true", help="speed at 800,000 SNPs too")
    parser.add_argument("--figure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if "parity" in options.parts:
            parity(Path(folder))
        if "speed" in options.parts:
            sizes = [options.snps, *([4 * options.snps] if options.large else [])]
            speed(Path(folder), sizes, options.rounds)
    if "power" in options.parts:
        single(options.repetitions, options.most)
        family(options.repetitions, options.most)
    if "recovery" in options.parts:
        recovery(options.runs, options.snps, options.figure, options.most)
    if "known" in options.parts:
        by_frequencies(options.runs, options.snps)


if __name__ == "__main__":
    main()
