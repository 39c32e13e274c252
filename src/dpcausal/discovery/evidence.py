"""What was computed about each pair: the question that came nearest to separating it, and how often it is found again.

Post-processing of released answers or values, so nothing is charged for it. Methods that release decisions only
(``svt-pc``, ``priv-pc``, ``em-pc``, ``curate``) have none.

**Confidence in an edge** is how often it is found again on another sample and with other noise: a parametric bootstrap
from what was released: each repeat draws what another sample of the same size and other noise would have released, and
searches again. The truth is drawn, too, from what is known of it after the release (tables), or is the released
estimate (moments). It speaks of sampling and privacy noise, not of what the model leaves out, and of an edge, not of
its direction. What is drawn follows from released numbers, so that the same release gives the same figures whenever
they are computed again. The number of repeats follows from released values, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpcausal.core.arguments import checked_count, stated_pvalue
from dpcausal.core.errors import InputError
from dpcausal.core.progress import Stage
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
        """Return the evidence as plain data for JSON."""
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
        """Return the strength as plain data for JSON."""
        return asdict(self)


def largest_pvalues(
    answers: Iterable[tuple[Pair, tuple[str, ...], float | None]],
    separating: Mapping[Pair, tuple[str, ...]],
) -> dict[Pair, Evidence]:
    """Return the evidence about each pair: the p-value given its separating set, else the largest.

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
    """Return the pairs about which a question with some column held fixed was answered.

    >>> held_pairs({(0, 1, (2,)): 1.5, (0, 2, ()): 3.0, (1, 2, (0,)): None}, "abc") == {frozenset("ab")}
    True
    """
    return {
        frozenset((columns[x], columns[y]))
        for (x, y, given), value in answers.items()
        if given and value is not None
    }


MAX_REPEATS = 10_000
REPEATS, MIN_REPEATS = 100, 20  # unless asked otherwise: fewer where a repeat asks much
CONFIDENCE = "repeats that tell how often each edge is found again; none is 20 to 100"  # the option, in words


def checked_repeats(asked: object) -> int | None:
    """Return the number of repeats asked for, checked; None stands for as many as are quick.

    >>> checked_repeats(50), checked_repeats(None)
    (50, None)
    """
    if asked is None:
        return None
    number = checked_count(asked, "confidence")
    if number > MAX_REPEATS:
        raise InputError(f"confidence comes from at most {MAX_REPEATS:,} repeats, not {number:,}")
    return number


def repeats_for(asked: int | None, work: int, each: int) -> int:
    """Return the number of repeats: as asked for, or so many that all cost about ``work`` questions.

    >>> repeats_for(None, 60_000, 300), repeats_for(None, 60_000, 1_500), repeats_for(7, 60_000, 1_500)
    (100, 40, 7)
    """
    if asked is not None:
        return asked
    return max(MIN_REPEATS, min(REPEATS, int(work // max(each, 1))))  # JSON takes no int64


def found_again(
    stage: Stage, edges: Iterable[Pair], repeats: int, search_again: Callable[[], Iterable[Pair]]
) -> dict[Pair, float]:
    """Return the share of ``repeats`` searches that find each of ``edges`` again; ``stage`` shows progress."""
    counts = dict.fromkeys(edges, 0)
    with stage("repeating the search on other samples and other noise", repeats) as tick:
        for _ in range(repeats):
            for pair in search_again():
                if pair in counts:
                    counts[pair] += 1
            tick(1)
    return {pair: count / max(repeats, 1) for pair, count in counts.items()}
