"""What a budget could show at all: the least dependence that a plan expects to be found, from public numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcausal.planning.designs import Design
from dpcausal.planning.orders import Aim, expected
from dpcausal.planning.power import least_dependence

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

POWER, USUAL = 0.8, 0.1
MOST_GIVEN = 1  # which tables higher orders have depends on the search


def reach_words(result: DiscoveryResult) -> str:
    """One remark for ``measured`` on a public number of rows; empty elsewhere.

    w is Cohen's: sqrt(chi2/n), for two levels the correlation. **Cost** about a tenth of a second.
    """
    asked, sizes = result.privacy.asked, tuple(size for size in result.sizes if size > 1)
    if result.method != "measured" or not result.rows or "epsilon" not in asked or len(sizes) < 3:
        return ""
    design = Design(sizes, result.rows, asked["epsilon"], asked["delta"], result.privacy.neighbours)
    aim = Aim(result.rows, result.level, POWER, USUAL, None)
    usual, large, given, large_given = (
        _least(design, order, which, aim)
        for order in range(MOST_GIVEN + 1)
        for which in ("typical", "largest")
    )
    return (
        f"What this budget could show, by plan (from public numbers, levels equally common): found in {POWER:.0%} of "
        f"cases is w = {usual} between two columns of middling size ({large} in the largest table), and "
        f"of {given} given one more column ({large_given}). Weaker ones are missed more often. w: .1 weak, .3 medium, "
        ".5 strong."
    )


def _least(design: Design, order: int, which: str, aim: Aim) -> str:
    table = expected(design, order, which, aim)
    found = least_dependence(table, aim.level, aim.power)
    return f"{found:.2g}" if found < (min(table.x, table.y) - 1) ** 0.5 else "none, however strong"
