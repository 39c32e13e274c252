"""How much evidence makes an edge: the rule of the forward search, with which forecasts count, too.

Evidence (``stats/contrasts.py``) is the logarithm of a Bayes factor. It must pass the larger of two bounds:

- what independent columns pass with a probability below the level;
- the logarithm of prior odds against an edge between two of d columns that have a few neighbours each. Not so in a
  tree: its d - 1 pairs were chosen for their dependences.
"""

from __future__ import annotations

import math

from dpcausal.planning.settings import SETTINGS, MeasuredSettings

MIN_ENOUGH = 0.05  # at any level


def enough_evidence(
    columns: int, level: float, *, tree: bool = False, settings: MeasuredSettings = SETTINGS
) -> float:
    """Return the evidence that makes an edge between two of so many columns.

    ``tree``: if only the pairs of a chosen tree are measured.

    >>> round(enough_evidence(11, 0.05), 3), enough_evidence(3, 0.05), enough_evidence(11, 0.05, tree=True)
    (0.994, 0.5, 0.5)
    """
    by_level = settings.evidence_at_five + by_stricter_level(level, settings)
    odds = 0.0 if tree else math.log(max(columns - 1, 1) / settings.neighbours)
    return max(odds, by_level, MIN_ENOUGH)


def by_stricter_level(level: float, settings: MeasuredSettings = SETTINGS) -> float:
    """Return how much more evidence a level below 5% asks for; less above."""
    return settings.level_weight * math.log(0.05 / level)
