"""One private test of one SNP that was named in advance: the unit circle statistic with Laplace noise.

**Guarantee** epsilon-DP for one person's genotypes (or one allele), labels fixed (``stats/unit_circle.proof.md``).
**Null law** exact given M1: the p-value is the worst over what is public about M1 (a number, or a range of it).
"""

from __future__ import annotations

from dataclasses import dataclass

from dpcausal.core.errors import InputError
from dpcausal.core.proofs import proved
from dpcausal.core.statement import CopiesOfAllele, FrequenciesKnown, GroupsKnown, Noisy, PrivacyStatement
from dpcausal.gwas.null_law import chi2_quantile
from dpcausal.gwas.plan import FIXED_LABELS, UNITS, Unit
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms import Laplace, release
from dpcausal.stats.unit_circle import unit_circle, unit_circle_sensitivity, worst_tail


@dataclass(frozen=True)
class SingleTest:
    """The answer of ``gwas.single_test``.

    Attributes
    ----------
    statistic : float
        The statistic, released with noise.
    pvalue : float
        Its p-value, with the noise accounted for.
    rejected : bool
        Whether the SNP is declared associated.
    privacy : PrivacyStatement
        What it cost and what that means.
    """

    statistic: float
    pvalue: float
    rejected: bool
    privacy: PrivacyStatement


@proved("screen.proof.md")
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
    """Test one SNP that was named in advance: c11 of n1 alleles of the cases against c10 of n0 of the controls.

    **Guarantee**: epsilon-DP for one person's genotypes, or one allele; who is a case is public.

    Parameters
    ----------
    c11, c10 : int
        Copies of allele 1 among cases and among controls.
    n1, n0 : int
        Alleles of the cases and of the controls: twice the numbers of people. Public.
    epsilon : float
        What the test costs.
    level : float, default 0.05
        The size of the test.
    margin : int, pair of int or None, default None
        The copies of allele 1 in both groups together, or a range of it, where that is public.
    unit : str, default "person"
        What is protected: "person" or "allele".
    ledger : str or None, default None
        The address of a ledger that is charged first.
    dataset : str or None, default None
        The name of the data set in the ledger.

    Returns
    -------
    SingleTest

    Raises
    ------
    InputError
        If an argument can't be used as given.
    BudgetError
        If the ledger does not allow it.

    Examples
    --------
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
    known = FrequenciesKnown("no-frequency") if margin is None else CopiesOfAllele(least=low, most=high)
    statement = budget.statement(
        released=[Noisy("one-snp")],
        public=[GroupsKnown("alleles", cases=n1, controls=n0), known],
        adaptive=False,
        unit=UNITS[unit],
    )
    return SingleTest(noisy, pvalue, pvalue <= level, statement)
