"""One private test of one SNP that was named in advance: the unit circle statistic with Laplace noise.

**Guarantee** epsilon-DP for one person's genotypes (or one allele), labels fixed (``stats/unit_circle.proof.md``).
**Null law** exact given M1: the p-value is the worst over what is public about M1 (a number, or a range of it).
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.core.errors import InputError
from dpcausal.core.statement import PrivacyStatement, Public, PublicKind, Released, ReleasedKind
from dpcausal.gwas.null_law import chi2_quantile
from dpcausal.gwas.plan import FIXED_LABELS, UNITS, Unit
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms import Laplace, release
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity, worst_tail


@dataclass(frozen=True)
class SingleTest:
    """Released statistic, its p-value, the decision, and the statement."""

    statistic: float
    pvalue: float
    rejected: bool
    privacy: PrivacyStatement


def single_test(
    c11: int,
    c10: int,
    n1: int,
    n0: int,
    epsilon: float,
    *,
    level: float = 0.05,
    margin: int | tuple[int, int] | None = None,
    unit: Unit = "person",
    ledger: str | None = None,
    dataset: str | None = None,
) -> SingleTest:
    """Test c11 of n1 against c10 of n0 alleles. ``margin``: public M1, a public range of it, or nothing.

    >>> single_test(900, 500, 1000, 1000, epsilon=10.0).rejected
    True
    """
    if unit not in UNITS or not 0.0 < level < 1.0:
        raise InputError("unit must be person or allele, and level within 0 and 1")
    low, high = (margin, margin) if isinstance(margin, int) else margin or (0, n0 + n1)
    if not 0 <= low <= high <= n0 + n1:
        raise InputError("the public margin must lie within 0 and the number of alleles")
    tau = chi2_quantile(level)
    sensitivity = unit_circle_sensitivity(n1, n0, tau, person=unit == "person")
    noise = Laplace(sensitivity=sensitivity, epsilon=epsilon, neighbours=FIXED_LABELS)
    budget = Budget(
        epsilon,
        neighbours=FIXED_LABELS,
        ledger=ledger,
        dataset=dataset,
        note={"command": "gwas", "method": "single"},
    )
    value = float(unit_circle(c11, c10, n1, n0, tau))
    noisy = float(release(noise, budget, "gwas: single test", value))
    pvalue = worst_tail(noisy, n1, n0, (low, high), tau, noise.scale)
    known = (
        Public(PublicKind.NO_FREQUENCY)
        if margin is None
        else Public(PublicKind.COPIES_OF_ALLELE, least=low, most=high)
    )
    statement = budget.statement(
        released=[Released(ReleasedKind.ONE_SNP)],
        public=[Public(PublicKind.ALLELES, cases=n1, controls=n0), known],
        adaptive=False,
        unit=UNITS[unit],
    )
    return SingleTest(noisy, pvalue, pvalue <= level, statement)
