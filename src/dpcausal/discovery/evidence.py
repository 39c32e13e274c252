"""What was computed about each pair on the way to a graph: the question that came nearest to separating it.

Post-processing of released answers or values, so nothing is charged for it. Methods that release decisions only
(``svt-pc``, ``priv-pc``, ``em-pc``, ``curate``) have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcausal.core.arguments import stated_pvalue
from dpcausal.discovery.knowledge import Pair


@dataclass(frozen=True)
class Evidence:
    """The question about a pair with the largest p-value, or the smallest Bayes factor: the last word on an edge.

    Attributes
    ----------
    given : tuple of str
        What was held fixed; of an absent pair, the set that separates it.
    pvalue : float or None
        As it was released, or computed from released values; None where a Bayes factor decided.
    log10_bayes : float or None
        Logarithm to base 10 of the Bayes factor of dependence against independence: 2 is 100 to 1 for a dependence, -1
        is 10 to 1 against. None where a p-value decided.
    """

    given: tuple[str, ...]
    pvalue: float | None = None
    log10_bayes: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"given": list(self.given), "pvalue": self.pvalue, "log10_bayes": self.log10_bayes}


@dataclass(frozen=True)
class LinkStrength:
    """How strong a link of two columns is, with nothing held fixed.

    Attributes
    ----------
    w : float
        Cohen's w: of two yes/no columns the size of their correlation.
    low, high : float
        A 95% interval for it, of sampling and noise. Links are found because they look strong, so that w is rather too
        large than too small.
    sign : int
        1 where two yes/no columns occur together more often than by chance, -1 where less often; 0 of other columns.
    """

    w: float
    low: float
    high: float
    sign: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"w": self.w, "low": self.low, "high": self.high, "sign": self.sign}


def largest_pvalues(
    answers: Iterable[tuple[Pair, tuple[str, ...], float | None]],
    separating: Mapping[Pair, tuple[str, ...]],
) -> dict[Pair, Evidence]:
    """Return the evidence about each pair from (pair, set, p-value): that of the separating set, else the largest.

    >>> pair = frozenset("ab")
    >>> asked = [(pair, (), 0.001), (pair, ("c",), 0.02), (pair, ("d",), None)]
    >>> largest_pvalues(asked, {})[pair]
    Evidence(given=('c',), pvalue=0.02, log10_bayes=None)
    >>> largest_pvalues(asked, {pair: ()})[pair].pvalue
    0.001
    """
    found: dict[Pair, Evidence] = {}
    for pair, given, pvalue in answers:
        by = separating.get(pair)
        if pvalue is None or (by is not None and frozenset(by) != frozenset(given)):
            continue
        known = found.get(pair)
        if known is None or known.pvalue is None or pvalue > known.pvalue:
            found[pair] = Evidence(given if by is None else by, stated_pvalue(pvalue))
    return found


def held_pairs(
    answers: Mapping[tuple[int, int, tuple[int, ...]], float | None], columns: Sequence[str]
) -> set[Pair]:
    """Return the pairs about which a question with some column held fixed was answered; columns are by number.

    >>> held_pairs({(0, 1, (2,)): 1.5, (0, 2, ()): 3.0, (1, 2, (0,)): None}, "abc") == {frozenset("ab")}
    True
    """
    return {
        frozenset((columns[x], columns[y]))
        for (x, y, given), value in answers.items()
        if given and value is not None
    }
