"""A screening of SNPs in words."""

from __future__ import annotations

from dpcausal.gwas.result import Screening
from dpcausal.present import statement


def summary(result: Screening) -> str:
    """Return what was found and what it cost, in a few plain lines."""
    names = ", ".join(hit.variant.name for hit in result.rejected) or "none"
    lines = [f"{len(result.rejected)} SNPs associated at family-wise level {result.level:g}: {names}"]
    if result.asked < result.snps:
        why = (
            "the last hit paid for was found (--max-hits)"
            if result.full
            else "no more were asked (--max-answers)"
        )
        lines.append(f"stopped after {result.asked} of {result.snps} SNPs: {why}")
    return "\n".join([*lines, statement.summary(result.privacy)])
