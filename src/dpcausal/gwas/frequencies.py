"""Public allele frequencies from a reference panel: plink's .frq or plink2's .afreq, matched by SNP name.

The frequency is turned to allele 1 of the .bim file: as given if the file counts that allele, its complement if it
counts the other. A SNP the panel does not know, or with other alleles, is an error: a public list should cover what
is screened.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpcausal.core.errors import InputError
from dpcausal.gwas.counting import GenotypeCounts
from dpcausal.gwas.phenotype import read_lines


def read_frequencies(path: Path, counts: GenotypeCounts) -> NDArray[np.float64]:
    """Public frequency of allele 1 for each SNP of ``counts``."""
    lines = read_lines(path)
    header = [word.lstrip("#") for word in lines[0]] if lines else []
    names = [("SNP", "A1", "A2", "MAF"), ("ID", "ALT", "REF", "ALT_FREQS")]
    found = next((wanted for wanted in names if set(wanted) <= set(header)), None)
    if found is None:
        raise InputError(
            f"{path.name} is not a table of frequencies: no columns SNP A1 A2 MAF or ID ALT REF ALT_FREQS"
        )
    snp, counted, other, share = (header.index(name) for name in found)
    panel: dict[str, tuple[str, str, float]] = {}
    for number, fields in enumerate(lines[1:], 2):
        try:
            panel[fields[snp]] = (fields[counted], fields[other], float(fields[share]))
        except (IndexError, ValueError):
            raise InputError(f"{path.name}, line {number}: no frequency") from None
    out = np.empty(len(counts))
    for i in range(len(counts)):
        v = counts.variant(i)
        one, two, frequency = panel.get(v.name, ("", "", float("nan")))
        if (one, two) == (v.allele2, v.allele1):
            frequency = 1.0 - frequency
        elif (one, two) != (v.allele1, v.allele2):
            raise InputError(f"{path.name} has no frequency for the alleles of {v.name}")
        out[i] = frequency
    if not ((out >= 0) & (out <= 1)).all():
        raise InputError(f"{path.name}: a frequency outside 0 to 1")
    return out
