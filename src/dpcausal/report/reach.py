"""What a budget could show at all: the least dependence that a plan expects to be found, from public numbers alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcausal.planning.designs import Aim, NoiseDesign, expected
from dpcausal.planning.power import least_dependence

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

POWER, USUAL = 0.8, 0.1
MOST_CELLS = 4096  # of three columns, for a plan in a moment


def reach_words(result: DiscoveryResult) -> str:
    """One remark for ``measured`` on a public number of rows; empty elsewhere.

    For orders 0 and 1: which tables higher ones have depends on the search. w is Cohen's: sqrt(chi2/n), for two
    levels the correlation. **Cost** about a tenth of a second.
    """
    asked, sizes = result.privacy.asked, tuple(size for size in result.sizes if size > 1)
    if result.method != "measured" or not result.rows or "epsilon" not in asked or len(sizes) < 3:
        return ""
    design = NoiseDesign(sizes, result.rows, asked["epsilon"], asked["delta"], result.privacy.neighbours)
    aim = Aim(result.rows, result.level, POWER, USUAL, None)
    if math.prod(sorted(sizes)[-3:]) > MOST_CELLS:
        return ""
    try:
        usual, large, given, large_given = (
            _least(design, order, which, aim) for order in (0, 1) for which in ("typical", "largest")
        )
    except (
        ArithmeticError,
        ValueError,
    ):  # far out, where a plan has no numbers: the page is paid for and goes on
        return ""
    return (
        f"What this budget could show, by plan (from public numbers, levels equally common): found in {POWER:.0%} of "
        f"cases is, between two columns of middling size, {usual} (in the largest table {large}); given one more "
        f"column, {given} ({large_given}). Weaker dependences are missed more often. w: .1 weak, .3 medium, .5 strong."
    )


def _least(design: NoiseDesign, order: int, which: str, aim: Aim) -> str:
    table = expected(design, order, which, aim)
    found = least_dependence(table, aim.level, aim.power)
    return f"w = {found:.2g}" if found < (min(table.x, table.y) - 1) ** 0.5 else "nothing, however strong"
