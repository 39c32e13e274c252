"""Genotype counts of two groups from PLINK's two bits a person, by popcount.

A person's pair of bits (high, low): 00 homozygous for allele 1, 10 heterozygous, 11 homozygous for allele 2, 01 no
call. With ``mask`` words that hold a 1 on the low bit of every member of a group,

    hom1 = popcount(~high & ~(low & hidden) & mask),    het = popcount((high & ~low | ~high & low & halved) & mask)

where ``hidden`` and ``halved`` (all ones or all zeros) say what a missing call counts as. Only every other bit of such
a word is in use, so two words share one popcount. Rows start at any byte: loads are unaligned, the last word of a
row reaches into the next one and the mask hides it.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

from dpcausal.counts.kernels.intrinsics import pointer, popcount

_JIT = {"nogil": True, "cache": True}


@nb.njit(**_JIT)
def count_genotypes(
    address: Any, stride: int, rows: Any, case: Any, control: Any, hidden: Any, halved: Any, out: Any
) -> None:
    """``out[i] = (hom1, het) of cases, (hom1, het) of controls`` for row ``rows[i]`` of the matrix at ``address``.

    ``case`` and ``control`` have an even number of words, zero behind the last person; all their bytes must be
    readable behind the start of every row.
    """
    one = nb.uint64(1)
    pairs = case.shape[0] // 2
    for i in range(rows.shape[0]):
        row = nb.carray(
            pointer(address + nb.uint64(stride) * nb.uint64(rows[i])), case.shape[0], dtype=np.uint64
        )
        a1, a2, b1, b2 = nb.uint64(0), nb.uint64(0), nb.uint64(0), nb.uint64(0)
        for p in range(pairs):
            u, v = row[2 * p], row[2 * p + 1]
            cu, cv, du, dv = case[2 * p], case[2 * p + 1], control[2 * p], control[2 * p + 1]
            hu, hv = u >> one, v >> one
            hom_u, hom_v = ~hu & ~(u & hidden), ~hv & ~(v & hidden)
            het_u, het_v = hu & ~u | ~hu & u & halved, hv & ~v | ~hv & v & halved
            a1 += popcount((hom_u & cu) | ((hom_v & cv) << one))
            a2 += popcount((het_u & cu) | ((het_v & cv) << one))
            b1 += popcount((hom_u & du) | ((hom_v & dv) << one))
            b2 += popcount((het_u & du) | ((het_v & dv) << one))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a1, a2, b1, b2
