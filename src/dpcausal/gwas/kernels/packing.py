"""Simulated alleles to PLINK's two bits a person."""

from __future__ import annotations

from typing import Any

import numba as nb

_JIT = {"nogil": True, "cache": True}


@nb.njit(**_JIT)
def pack_genotypes(draws: Any, case: Any, in_cases: Any, in_controls: Any, lost: Any, out: Any) -> None:
    """``out[i]``: bytes of SNP i. A person's allele is allele 1 if its 16-bit draw is below the group's cut.

    ``draws[i, 3 * j + a]`` for allele a = 0, 1 of person j; the third draw below ``lost`` makes the call missing.
    """
    for i in range(draws.shape[0]):
        for j in range(case.shape[0]):
            cut = in_cases[i] if case[j] else in_controls[i]
            copies = int(draws[i, 3 * j] < cut) + int(draws[i, 3 * j + 1] < cut)
            code = 0 if copies == 2 else (2 if copies == 1 else 3)
            if draws[i, 3 * j + 2] < lost:
                code = 1
            shift = nb.uint8(2 * (j % 4))
            if j % 4 == 0:
                out[i, j // 4] = nb.uint8(0)
            out[i, j // 4] |= nb.uint8(code) << shift
