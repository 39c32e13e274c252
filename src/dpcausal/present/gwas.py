"""A screening of SNPs in words."""

from __future__ import annotations

from dpcausal.core.spelling import spelled
from dpcausal.gwas.null_law import chi2_quantile
from dpcausal.gwas.plan import ScreenPlan
from dpcausal.gwas.result import Screening
from dpcausal.present import statement
from dpcausal.present.statement import rows_differ
from dpcausal.present.text import counted


def summary(result: Screening, *, full: bool = False) -> str:
    """Return what was found and what it cost, in a few plain lines; ``full``: the whole statement in words."""
    return "\n".join([*answer_lines(result), *statement.cost_lines(result.privacy, full=full)])


def answer_lines(result: Screening) -> list[str]:
    """Return which SNPs were found, and whether the search stopped early."""
    names = [hit.variant.name for hit in result.rejected]
    level = f"family-wise level {result.level:g}"
    lines = [
        f"{counted(len(names), 'SNP')} associated at {level}: {', '.join(names)}"
        if names
        else f"No SNP found to be associated at {level}; that does not show that none is."
    ]
    if any(hit.pvalue is not None for hit in result.hits):
        lines.append(rows_differ("p-value of each", result.privacy.unit))
    if result.asked < result.snps:
        why = (
            f"the last hit paid for was found ({spelled('--max-hits', 'max_hits=')})"
            if result.full
            else f"no more were asked ({spelled('--max-answers', 'max_answers=')})"
        )
        lines.append(f"stopped after {result.asked} of {result.snps} SNPs: {why}")
    return lines


def forecast_words(plan: ScreenPlan) -> str:
    """Return what a screening is expected to find, from public numbers."""
    exact = chi2_quantile(plan.level / plan.answers)
    return (
        f"Of {plan.snps:,} SNPs in {plan.cases:,} cases and {plan.controls:,} controls, one with a chi-squared of "
        f"{plan.chi2_found:.0f} is found about half the time, averaged over allele frequencies; without privacy "
        f"{exact:.0f} would do."
    )
