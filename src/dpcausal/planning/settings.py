"""Every number that shapes what ``measured`` measures and finds, in one place, and what forecasts share with it.

A number that only limits time or memory stands beside the loop that it limits. ``docs/measured.md`` has what
is lost without them (``benchmarks/fresh_graphs.py``); all were set on random networks and linear models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from scipy.special import chdtri

from dpcausal.stats.contrasts import evidence_of


@dataclass(frozen=True)
class MeasuredSettings:
    """Settings of ``measured``; the defaults are what ``discover`` uses.

    Attributes
    ----------
    share_rows : float
        Of the budget, for the number of rows where it is not public.
    share_levels : float
        For how common levels are, where some are to be merged.
    share_singles : float
        For single columns.
    rounds_again : int
        Rounds in which the most promising pairs are measured again.
    again_per_column : float
        Pairs in such a round, for each column.
    levels_unordered, levels_ordered, levels_of_numbers, levels_in_tree : float
        Levels that a column may have before some are merged, times the root of the noise in a proportion: without an
        order, with one, bins of a number, and without an order where only the pairs of a tree are measured.
    larger_noise : float
        Noise of larger tables over that of pairs, at most.
    larger_small : float
        Noise in a correlation, about, up to which larger tables are measured though sampling errors are smaller still.
    tree_columns, tree_levels : int, float
        From so many columns on, with so many levels on average, a tree of pairs may be chosen.
    tree_signal : float
        Rows over the noise in a pair, times what merged columns keep of a dependence, up to which it is.
    near_target : int
        Columns that are measured again with a target and with each other.
    neighbours : float
        Neighbours that a column is expected to have, for the prior odds of an edge.
    absent : float
        Cohen's w that must be detectable, given a pair's own margins and noise, for the pair to be absent.
    misfit : float
        In a correlation, whatever the number of rows: a direction must not rest on less.
    min_se_by_order : tuple of float
        Standard errors that the rows free to differ must be worth, by the size of the set held fixed, before a test on
        a larger table says "independent": the set may have decided x or y.
    edge_cost_seen, edge_cost_unseen : float
        Logarithm of the odds against an edge of a whole graph, where its pair has enough evidence and elsewhere.
    """

    share_rows: float = 0.02
    share_levels: float = 0.05
    share_singles: float = 0.15
    rounds_again: int = 2
    again_per_column: float = 2.5
    levels_unordered: float = 0.45
    levels_ordered: float = 0.35
    levels_of_numbers: float = 0.25
    levels_in_tree: float = 0.95
    larger_noise: float = 2.0
    larger_small: float = 0.01
    tree_columns: int = 10
    tree_levels: float = 2.5
    tree_signal: float = 50.0
    near_target: int = 7
    neighbours: float = 3.7
    absent: float = 0.2
    misfit: float = 0.025
    min_se_by_order: tuple[float, ...] = (6.0, 6.0, 12.0, 50.0, 100.0)
    edge_cost_seen: float = 2.0
    edge_cost_unseen: float = 5.0

    def min_se(self, order: int) -> float:
        """Return how many standard errors the rows free to differ must be worth, given ``order`` columns."""
        return self.min_se_by_order[min(order, len(self.min_se_by_order) - 1)]


SETTINGS = MeasuredSettings()

MAX_SET = 2  # columns in a set that the forward search asks about
ENTRIES = 4  # of a pair for which the level of evidence is worked out: two columns of three levels


def acceptance_threshold(
    columns: int, level: float, *, tree: bool = False, settings: MeasuredSettings = SETTINGS
) -> float:
    """Return the evidence from which a pair among so many columns is an edge.

    Evidence (``stats/contrasts.py``) is the logarithm of a Bayes factor. It must pass the larger of two bounds:

    - what independent columns pass with a probability below the level (``evidence_by_chance``);
    - the logarithm of prior odds against an edge between two of d columns that have a few neighbours each. Not so in a
      ``tree``: its d - 1 pairs were chosen for their dependences.

    >>> thresholds = [acceptance_threshold(columns, 0.05) for columns in (3, 11)]
    >>> [round(one, 2) for one in thresholds], round(acceptance_threshold(11, 0.05, tree=True), 2)
    ([0.56, 0.99], 0.56)
    """
    odds = 0.0 if tree else math.log(max(columns - 1, 1) / settings.neighbours)
    return max(odds, evidence_by_chance(level), 0.0)


@lru_cache(maxsize=256)
def evidence_by_chance(level: float) -> float:
    """Return the evidence that two independent columns of three levels pass with a probability of at most ``level``.

    With little noise or much the same squares are less evidence: it is the most over all amounts of noise.

    >>> [round(evidence_by_chance(level), 2) for level in (0.1, 0.05, 0.01)]
    [0.28, 0.56, 1.48]
    """
    form = float(chdtri(ENTRIES, level))
    return max(evidence_of(form, ENTRIES, 10.0 ** (place / 20)) for place in range(121))
