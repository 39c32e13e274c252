"""What a test that did not reject would have missed, in words."""

from __future__ import annotations

from dpcausal.citests.result import Missed, MissedKind
from dpcausal.core.look import MEDIUM, STRONG
from dpcausal.present.percent import percent
from dpcausal.present.statement import Words, told

SCALE = "(Cohen's w: .1 weak, .3 medium, .5 strong)"
MISSED: dict[MissedKind, Words] = {
    MissedKind.WEAKER: (
        "Power: a dependence of w = {w:g} is found in 80% of cases at best, a weaker one less often " + SCALE
    ),
    MissedKind.WEAKER_WITHOUT_NOISE: (
        "Power: not known for this test. Even without noise a dependence of w = {w:g} is found in 80% of cases only, a "
        "weaker one less often " + SCALE + "; with the noise of this budget far stronger ones may be missed"
    ),
    MissedKind.EVEN_STRONG: lambda fact: (
        f"Power: a strong dependence (Cohen's w = {STRONG:g}) is found in {percent(fact['strong'])} of cases at best, "
        f"a medium one ({MEDIUM:g}) in {percent(fact['medium'])}"
    ),
}


def missed_words(fact: Missed) -> str:
    """Return which dependences a test that did not reject would have missed, as a sentence.

    >>> missed_words(Missed(MissedKind.EVEN_STRONG, strong=0.576, medium=0.313))  # doctest: +ELLIPSIS
    "Power: a strong dependence (Cohen's w = 0.5) is found in 58% of cases at best, a medium one (0.3) in 31%, so ..."
    """
    return f"{told(MISSED[MissedKind(fact.kind)], fact)}, so this does not show independence."
