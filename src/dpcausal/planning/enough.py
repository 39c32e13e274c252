"""How much evidence makes an edge: the rule of the forward search, with which plans count, too.

Evidence (``stats/contrasts.py``) is the logarithm of a Bayes factor. It must pass the larger of two bounds:

- what independent columns pass with a probability below the level;
- the logarithm of prior odds against an edge between two of d columns that have a few neighbours each. Where little
  can be seen, an edge that is half as likely as none is taken, too: evidence hardly ever passes the odds there, and who
  waits for it finds next to nothing. (The set of pairs with the largest expected F1 takes what is more likely than half
  of that F1; Lipton, Elkan & Naryanaswamy 2014.) How much can be seen is ``clarity``, the rows over the standard
  deviation of the noise in a pair when all pairs are first looked at: public numbers, or released ones.

Pairs of a tree were chosen for their dependences, and d - 1 of d (d - 1)/2 are few. So less evidence is enough for the
same part of all pairs to be found by chance; the less, the fewer columns there were to choose among.

All numbers were set on random networks and linear models.
"""

from __future__ import annotations

import math

NEIGHBOURS = 3.7  # that a column is expected to have, about
# evidence that independent columns pass with a probability below the level
ENOUGH_AT_FIVE, LEVEL_WEIGHT = 0.5, 0.65
MIN_ENOUGH = 0.05
# in place of both bounds at a level of .05: the logarithm of the columns over the first, at most the second
EVEN_IN_TREE, ENOUGH_IN_TREE = 8.5, 1.0
# taken off the odds up to the first clarity, and less and less up to the second
HALF_AS_LIKELY = math.log(2.0)
LITTLE_SEEN, MUCH_SEEN = 15.0, 35.0
# Evidence that a medium dependence must promise beyond ``enough`` for "absent" to say something. With one degree of
# freedom evidence is about z^2/2 - 1.8: a mean z of 3.5 is found nine times in ten, and promises 4 more than 0.6.
# ``tests/unit/planning/test_designs.py`` has the chance for other sizes and numbers of columns: .85 to .95.
SHOWN = 4.0


def enough_evidence(columns: int, level: float, *, tree: bool = False, clarity: float = math.inf) -> float:
    """Evidence that makes an edge between two of so many columns.

    ``tree``: if only the pairs of a chosen tree are measured, whatever the ``clarity``.

    >>> round(enough_evidence(11, 0.05), 3), enough_evidence(3, 0.05)
    (0.994, 0.5)
    >>> [round(enough_evidence(columns, 0.05, tree=True), 2) for columns in (11, 20, 40)]
    [0.26, 0.86, 1.0]
    >>> [round(enough_evidence(20, 0.05, clarity=clarity), 3) for clarity in (5, 15, 25, 35)]
    [0.943, 0.943, 1.361, 1.636]
    """
    by_level = LEVEL_WEIGHT * math.log(0.05 / level)
    if tree:
        return max(min(math.log(columns / EVEN_IN_TREE), ENOUGH_IN_TREE) + by_level, MIN_ENOUGH)
    odds = math.log(max(columns - 1, 1) / NEIGHBOURS) - _bolder(clarity)
    return max(odds, ENOUGH_AT_FIVE + by_level, MIN_ENOUGH)


def clarity_of(rows: float, variance: float) -> float:
    """Rows over the standard deviation of noise; infinite where there is none.

    >>> clarity_of(100.0, 25.0), clarity_of(100.0, 0.0)
    (20.0, inf)
    """
    return rows / math.sqrt(variance) if variance > 0.0 else math.inf


def _bolder(clarity: float) -> float:
    """What is taken off the odds."""
    clear = min(max(clarity, LITTLE_SEEN), MUCH_SEEN)
    return HALF_AS_LIKELY * math.log(MUCH_SEEN / clear) / math.log(MUCH_SEEN / LITTLE_SEEN)
