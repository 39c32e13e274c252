"""Private screening of the SNPs of a case/control study, and a private test of one SNP.

**Guarantee**: epsilon-DP for one person's genotypes at all SNPs (``unit="person"``) or for one allele at each SNP
(``unit="allele"``). Who takes part, and who is a case, is public.

``Cohort`` counts the genotypes of PREFIX.bed, .bim and .fam; ``read_model`` and ``read_gcount`` read counts that plink
made elsewhere. ``screen`` plans and releases in one go, ``Screen`` is the plan by itself, and ``single_test`` tests one
SNP that was named in advance. ``Simulation`` makes data up.

>>> from dpcausal import gwas
>>> counts = gwas.Simulation(people=20_000, snps=1000, causal=2, odds_ratio=1.6).counts()
>>> found = gwas.screen(counts, epsilon=50.0, level=1e-6)
>>> [hit.variant.name for hit in found.rejected], found.privacy.private
(['snp251', 'snp751'], True)
"""

from dpcausal.gwas.cohort import Cohort, GenotypeCounts, People, Variant, read_people
from dpcausal.gwas.result import Hit, Screening
from dpcausal.gwas.screen import Screen, SingleTest, screen, single_test
from dpcausal.gwas.simulate import Simulation
from dpcausal.gwas.tables import read_frequencies, read_gcount, read_model

__all__ = [
    "Cohort",
    "GenotypeCounts",
    "Hit",
    "People",
    "Screen",
    "Screening",
    "Simulation",
    "SingleTest",
    "Variant",
    "read_frequencies",
    "read_gcount",
    "read_model",
    "read_people",
    "screen",
    "single_test",
]
