"""Simulated cohorts: allele frequencies, effects, and a .bed/.bim/.fam to count; or counts at once for experiments.

**Model.** SNP i has frequency p_i of allele 1 among controls, uniform in a range; each of ``causal`` SNPs, spread
evenly, has an odds ratio r per allele, so that its frequency among cases is r p/(1 - p + r p). Alleles and SNPs are
independent (Hardy-Weinberg in both groups, no linkage). Frequencies in files are multiples of 2^-16. Phenotypes:
2 case, 1 control.

The one file of the gwas room with a pseudo-random generator: it makes data up and protects nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.gwas.cohort import MAGIC, SNP_MAJOR, GenotypeCounts, Variant
from dpcausal.gwas.kernels import pack_genotypes

CHROMOSOMES = 22
UNIT = 2**16
MOST = 10**8


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """A simulated case/control study: ``counts()`` draws counts, ``write(prefix)`` writes files.

    Parameters
    ----------
    people, snps : int
        How many.
    maf : pair of float, default (0.05, 0.5)
        The range of minor allele frequencies, which are uniform in it.
    causal : int, default 0
        How many SNPs are associated, spread evenly.
    odds_ratio : float, default 1.5
        Per copy of allele 1, for every causal SNP.
    case_share : float, default 0.5
        The share of people who are cases.
    missing : float, default 0.0
        The share of calls that are missing, in files.
    seed : int, default 0
        The same seed gives the same study.

    Examples
    --------
    >>> Simulation(people=100, snps=10, causal=2).causal_rows().tolist()
    [2, 7]
    """

    people: int
    snps: int
    maf: tuple[float, float] = (0.05, 0.5)
    causal: int = 0
    odds_ratio: float = 1.5
    case_share: float = 0.5
    missing: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        low, high = self.maf
        if self.people < 2 or self.snps < 1 or not 0 <= self.causal <= self.snps:
            raise InputError("a simulation needs 2 people, 1 SNP, and no more causal SNPs than SNPs")
        if self.people > MOST or self.snps > MOST:
            raise InputError(f"a simulation has at most {MOST:,} people and SNPs")
        if self.seed < 0:
            raise InputError(f"a seed must be a whole number, zero or above, not {self.seed}")
        if not (0.0 < low <= high <= 0.5):
            raise InputError(f"minor allele frequencies must lie within 0 and .5, not {low} to {high}")
        if not (self.odds_ratio > 0.0 and 0.0 <= self.missing < 1.0 and 1 <= self.cases < self.people):
            raise InputError(
                "the odds ratio must be positive, missing within 0..1, and both groups not empty"
            )

    @property
    def cases(self) -> int:
        """The number of people with phenotype 2."""
        return round(self.people * self.case_share)

    def causal_rows(self) -> NDArray[np.int64]:
        """Return the rows of the causal SNPs."""
        return (2 * np.arange(self.causal) + 1) * self.snps // max(2 * self.causal, 1)

    def frequencies(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the frequency of allele 1 at every SNP, among cases and among controls."""
        controls = generator.uniform(*self.maf, self.snps)
        cases = controls.copy()
        p = controls[self.causal_rows()]
        cases[self.causal_rows()] = self.odds_ratio * p / (1 - p + self.odds_ratio * p)
        return cases, controls

    def variant(self, i: int) -> Variant:
        """Return the made-up description of SNP ``i``: 22 chromosomes, a SNP every 10,000 bases."""
        length = -(-self.snps // CHROMOSOMES)
        return Variant(str(i // length + 1), f"snp{i + 1}", 10_000 * (i % length + 1), "A", "G")

    def counts(self) -> GenotypeCounts:
        """Draw and return the genotype counts of a cohort from their distribution, without drawing persons."""
        generator = np.random.default_rng(self.seed)
        table = np.empty((self.snps, 4), np.int32)
        for column, (size, p) in enumerate(
            zip((self.cases, self.people - self.cases), self.frequencies(generator), strict=True)
        ):
            hom = generator.binomial(size, p * p)
            table[:, 2 * column] = hom
            table[:, 2 * column + 1] = generator.binomial(size - hom, 2 * p / (1 + p))
        variants = [self.variant(i) for i in range(self.snps)]
        return GenotypeCounts(
            table, self.cases, self.people - self.cases, variants, np.arange(self.snps), allele_order="public"
        )

    def write(self, prefix: str | Path, tick: Callable[[int], object] = lambda done: None) -> None:
        """Write PREFIX.bed, .bim, .fam, and the truth: PREFIX.causal (SNP, frequencies in both groups, odds ratio).

        ``tick`` is called with the number of SNPs drawn since the last call.
        """
        generator = np.random.default_rng(self.seed)
        in_cases, in_controls = self.frequencies(generator)
        case = np.zeros(self.people, np.bool_)
        case[generator.permutation(self.people)[: self.cases]] = True
        cuts = [np.rint(p * UNIT).astype(np.uint32) for p in (in_cases, in_controls)]
        stride, block = (self.people + 3) // 4, max(1, 2**22 // self.people)
        try:
            with Path(f"{prefix}.bed").open("wb") as bed:
                bed.write(MAGIC + bytes([SNP_MAJOR]))
                for a in range(0, self.snps, block):
                    rows = min(block, self.snps - a)
                    bits = np.frombuffer(generator.bytes(6 * rows * self.people), np.uint16)
                    out = np.zeros((rows, stride), np.uint8)
                    pack_genotypes(
                        bits.reshape(rows, -1), case, cuts[0][a : a + rows], cuts[1][a : a + rows],
                        np.uint32(round(self.missing * UNIT)), out,
                    )  # fmt: skip
                    bed.write(out.tobytes())
                    tick(rows)
            with Path(f"{prefix}.bim").open("w") as bim:
                for i in range(self.snps):
                    v = self.variant(i)
                    bim.write(f"{v.chromosome}\t{v.name}\t0\t{v.position}\t{v.allele1}\t{v.allele2}\n")
            with Path(f"{prefix}.fam").open("w") as fam:
                fam.writelines(
                    f"f{i + 1} p{i + 1} 0 0 {i % 2 + 1} {1 + int(c)}\n" for i, c in enumerate(case)
                )
            with Path(f"{prefix}.causal").open("w") as truth:
                truth.write("SNP\tF_U\tF_A\tOR\n")
                for i in self.causal_rows():
                    truth.write(f"snp{i + 1}\t{in_controls[i]:.6f}\t{in_cases[i]:.6f}\t{self.odds_ratio:g}\n")
        except OSError as error:
            raise InputError(f"can't write {Path(prefix).name}: {error.strerror or error}") from None
