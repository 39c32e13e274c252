"""What a screening releases: a table of SNPs with plink's column names, and the privacy statement.

Only SNPs that a mechanism chose are in it, and of each only what is public (the .bim line) or was released with
noise. Never a frequency, a count, an odds ratio or a chi-squared value.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from dpcausal.core.arguments import stated_pvalue
from dpcausal.core.display import display
from dpcausal.core.errors import OtherNames, spellings
from dpcausal.core.statement import PrivacyStatement
from dpcausal.gwas.cohort import Variant

COLUMNS = ("CHR", "SNP", "BP", "A1", "A2", "STAT_DP", "P_DP", "DECISION")


@dataclass(frozen=True)
class Hit(OtherNames):
    """A released SNP.

    Attributes
    ----------
    variant : Variant
        Which SNP.
    statistic, pvalue : float or None
        Released with noise; None where only the decision is released (``svt``).
    rejected : bool
        Whether it is declared associated.
    """

    _other_names: ClassVar[dict[str, str]] = spellings(
        ("p p_value pval P_DP", "hit.pvalue"),
        ("stat value STAT_DP", "hit.statistic"),
        ("snp name SNP", "hit.variant.name"),
        ("decision DECISION significant", "hit.rejected"),
    )

    variant: Variant
    statistic: float | None
    pvalue: float | None
    rejected: bool

    def row(self) -> dict[str, Any]:
        """Return the values of the table's columns for this SNP, by name."""
        v = self.variant
        decision = "reject" if self.rejected else "accept"
        cells = (
            v.chromosome,
            v.name,
            v.position,
            v.allele1,
            v.allele2,
            self.statistic,
            None if self.pvalue is None else stated_pvalue(self.pvalue),
            decision,
        )
        return dict(zip(COLUMNS, cells, strict=True))


@dataclass(frozen=True)
class Screening:
    """The answer of ``gwas.screen``: released SNPs and what they cost.

    Attributes
    ----------
    hits : tuple of Hit
        The released SNPs in the order in which they were released. The p-value of each is family-wise: the chance that
        a study without any associated SNP shows a released value as extreme.
    method, statistic : str
        How it was screened.
    snps : int
        How many SNPs the study has.
    asked : int
        How many of them were tested, in file order: fewer when the last hit that was paid for came early, or fewer
        answers were asked for.
    full : bool
        Whether the last hit that was paid for was found.
    level : float
        The family-wise error.
    privacy : PrivacyStatement
        What it cost and what that means.
    """

    hits: tuple[Hit, ...]
    method: str
    statistic: str
    snps: int
    asked: int
    full: bool
    level: float
    privacy: PrivacyStatement

    @property
    def rejected(self) -> tuple[Hit, ...]:
        """SNPs declared associated; with probability 1 - level none of them is false."""
        return tuple(hit for hit in self.hits if hit.rejected)

    def to_tsv(self) -> str:
        """Return the table as tab-separated text, NA for what was not released."""
        lines = ["\t".join(COLUMNS)]
        for hit in self.hits:
            words = (
                "NA" if x is None else f"{x:.6g}" if isinstance(x, float) else str(x)
                for x in hit.row().values()
            )
            lines.append("\t".join(words))
        return "\n".join(lines) + "\n"

    def to_json(self) -> str:
        """Return the result as one JSON object."""
        found = {
            "method": self.method,
            "statistic": self.statistic,
            "level": self.level,
            "snps": self.snps,
            "asked": self.asked,
            "hits": [hit.row() for hit in self.hits],
            "privacy": self.privacy.to_dict(),
        }
        return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False)

    def summary(self) -> str:
        """Return what was found and what it cost, in a few plain lines."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()
