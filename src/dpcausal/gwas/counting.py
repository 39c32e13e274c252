"""Genotype counts of cases and controls for every SNP, straight from the bytes of a .bed file.

The file is memory-mapped and read once, by threads over blocks of SNPs (``kernels/genotypes.py``). **Missing
calls** are counted by a public rule, the same for every SNP, so that both group sizes are the same for every SNP:
as the homozygote of allele 2, plink's reference ("reference", the default), as heterozygote ("het") or as
homozygote of allele 1 ("allele1"). Leaving them out would give every SNP its own N, which depends on the data.

**Cost** n/32 word operations a SNP; about a third of the memory bandwidth a core. Counts are raw data: nothing here
is private, and nothing here is printed.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.counts.rows import processors, run_parallel, split
from dpcausal.gwas.kernels.genotypes import count_genotypes
from dpcausal.gwas.phenotype import Coding, People, read_people
from dpcausal.gwas.variants import BimFile, Rows, Variant

MissingRule = Literal["reference", "het", "allele1"]
Tick = Callable[[int], None]
BLOCK = 2048  # SNPs between two ticks of progress
MAGIC, SNP_MAJOR = b"\x6c\x1b", 1
_ONES, _ZERO = np.uint64(2**64 - 1), np.uint64(0)
_RULES = {"reference": (_ONES, _ZERO), "het": (_ONES, _ONES), "allele1": (_ZERO, _ZERO)}


@dataclass(frozen=True)
class GenotypeCounts:
    """``table[i]`` = (hom1, het) of the cases, (hom1, het) of the controls at SNP ``variants[rows[i]]``.

    ``cases`` and ``controls`` count people and are public. Not private: raw counts.
    """

    table: NDArray[np.int32]
    cases: int
    controls: int
    variants: Sequence[Variant]
    rows: Rows
    missing: str = "reference"

    def __len__(self) -> int:
        return len(self.table)

    def genotypes(self) -> NDArray[np.int64]:
        """2 x 3 tables: (case, control) x (hom1, het, hom2)."""
        two = self.table.reshape(-1, 2, 2).astype(np.int64)
        rest = np.array([self.cases, self.controls]) - two.sum(axis=2)
        return np.concatenate([two, rest[:, :, None]], axis=2)

    def alleles(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(c11, c10): copies of allele 1 among cases, of 2 N1, and among controls, of 2 N0."""
        t = self.table
        return 2 * t[:, 0] + t[:, 1], 2 * t[:, 2] + t[:, 3]

    def variant(self, i: int) -> Variant:
        """The SNP of row ``i``."""
        return self.variants[int(self.rows[i])]


@dataclass(frozen=True)
class Cohort:
    """People and SNPs of PREFIX.bed/.bim/.fam after filtering, checked against the size of the .bed file."""

    bed: Path
    people: People
    variants: BimFile
    rows: Rows

    @classmethod
    def open(
        cls,
        prefix: str | Path,
        *,
        phenotype_file: Path | None = None,
        phenotype_column: int = 1,
        coding: Coding = "12",
        keep: Path | None = None,
        chromosomes: str | None = None,
        extract: Path | None = None,
    ) -> Cohort:
        """Read .fam and .bim, check the .bed file; no genotype is looked at."""
        bed, bim, fam = (Path(f"{prefix}{end}") for end in (".bed", ".bim", ".fam"))
        for path in (bed, bim, fam):
            if not path.is_file():
                raise InputError(f"there is no file {path.name} (PREFIX means PREFIX.bed, .bim and .fam)")
        people = read_people(
            fam, phenotype_file=phenotype_file, phenotype_column=phenotype_column, coding=coding, keep=keep
        )
        variants = BimFile(bim)
        check_bed(bed, len(people.names), len(variants))
        return cls(bed, people, variants, variants.select(chromosomes, extract))

    def count(
        self, *, missing: MissingRule = "reference", threads: int | None = None, tick: Tick | None = None
    ) -> GenotypeCounts:
        """Counts of every selected SNP; ``tick`` is called with the number of SNPs done since the last call."""
        if missing not in _RULES:
            raise InputError(f"missing must be reference, het or allele1, not {missing!r}")
        stride = (len(self.people.names) + 3) // 4
        case, control = group_mask(self.people.case, stride), group_mask(self.people.control, stride)
        out = np.empty((len(self.rows), 4), np.int32)
        with self.bed.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        view = np.frombuffer(mapped, np.uint8)
        safe = (
            len(view) - 3 - case.nbytes
        ) // stride + 1  # rows before this one have room for a whole mask behind them
        tail = np.zeros(max(len(self.variants) - safe, 0) * stride + case.nbytes, np.uint8)
        rest = view[3 + max(safe, 0) * stride :]
        tail[: len(rest)] = rest
        start, tail_start = np.uint64(view.ctypes.data + 3), np.uint64(tail.ctypes.data)
        inner = int(np.searchsorted(self.rows, safe))

        def task(low: int, high: int) -> Callable[[], None]:
            def run() -> None:
                for a in range(low, high, BLOCK):
                    b = min(a + BLOCK, high)
                    cut = min(max(inner, a), b)
                    count_genotypes(
                        start, stride, self.rows[a:cut], case, control, *_RULES[missing], out[a:cut]
                    )
                    late = self.rows[cut:b] - max(safe, 0)
                    count_genotypes(tail_start, stride, late, case, control, *_RULES[missing], out[cut:b])
                    if tick is not None:
                        tick(b - a)

            return run

        run_parallel([task(a, b) for a, b in split(len(self.rows), threads or processors())])
        people = self.people
        return GenotypeCounts(out, people.cases, people.controls, self.variants, self.rows, missing)


def check_bed(bed: Path, people: int, variants: int) -> None:
    """Magic bytes, order and size of a .bed file against its .fam and .bim."""
    with bed.open("rb") as file:
        head = file.read(3)
    size, stride = bed.stat().st_size, (people + 3) // 4
    if len(head) < 3 or head[:2] != MAGIC:
        raise InputError(f"{bed.name} is not a PLINK 1 .bed file: its first bytes are not 6c 1b")
    if head[2] != SNP_MAJOR:
        raise InputError(f"{bed.name} is stored person by person: rewrite it SNP by SNP (plink --make-bed)")
    expected = 3 + stride * variants
    if size != expected:
        what = "truncated" if size < expected else "too long"
        raise InputError(
            f"{bed.name} is {what}, or does not belong to its .bim and .fam: {size} bytes where {variants} SNPs of "
            f"{people} people take {expected}"
        )


def group_mask(members: NDArray[np.bool_], stride: int) -> NDArray[np.uint64]:
    """A 1 on the low bit of every member's pair, in 64-bit words, an even number of them."""
    pairs = np.zeros(16 * (-(-stride // 16)) * 4, np.uint8)
    pairs[: len(members)] = members
    quads = pairs.reshape(-1, 4) << np.array([0, 2, 4, 6], np.uint8)
    packed: NDArray[np.uint8] = np.bitwise_or.reduce(quads, axis=1).astype(np.uint8)
    return packed.view(np.uint64)
