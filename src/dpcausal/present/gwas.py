"""A screening of SNPs in words."""

from __future__ import annotations

from dpcausal.core.spelling import spelled
from dpcausal.core.statement import Unit, WholeUnit
from dpcausal.gwas.result import Screening
from dpcausal.present import statement
from dpcausal.present.statement import ledger_line

CHANGES: dict[Unit, str] = {  # what the promise is about, by the unit that is protected
    WholeUnit("person"): "changing one person's genotypes",
    WholeUnit("allele"): "changing one allele at each SNP (half a person)",
}
PUBLIC = "Who takes part, and who is a case, is taken as public."


def summary(result: Screening) -> str:
    """Return what was found and what it cost, in a few plain lines."""
    told = result.privacy
    lines = answer_lines(result)
    if not told.private:
        lines.append(f"NOT PRIVATE: {told.why_not_private}.")
    if told.epsilon is not None and told.delta is not None:
        lines.append(
            f"Privacy: epsilon {told.epsilon:.6g}, delta {told.delta:.6g}; {CHANGES[told.unit]} "
            f"makes no result more than {statement.odds(told.epsilon)} times as likely or unlikely. {PUBLIC}"
        )
    return "\n".join([line for line in (*lines, *statement.caveat_lines(told), ledger_line(told)) if line])


def full_text(result: Screening) -> str:
    """Return what was found, and the whole statement in words."""
    return "\n".join([*answer_lines(result), statement.summary(result.privacy)])


def answer_lines(result: Screening) -> list[str]:
    """Return which SNPs were found, and where the search stopped if it did before the last."""
    names = [hit.variant.name for hit in result.rejected]
    many = f"{len(names)} SNP{'s' if len(names) > 1 else ''}"
    level = f"family-wise level {result.level:g}"
    lines = [
        f"{many} associated at {level}: {', '.join(names)}"
        if names
        else f"No SNP found to be associated at {level}; that does not show that none is."
    ]
    if result.asked < result.snps:
        why = (
            f"the last hit paid for was found ({spelled('--max-hits', 'max_hits=')})"
            if result.full
            else f"no more were asked ({spelled('--max-answers', 'max_answers=')})"
        )
        lines.append(f"stopped after {result.asked} of {result.snps} SNPs: {why}")
    return lines
