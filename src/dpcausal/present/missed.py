"""What a test that did not reject would have missed, in words."""

from __future__ import annotations

from dpcausal.citests.result import Missed, MissedKind
from dpcausal.present.statement import Words, told

SCALE = "(Cohen's w: .1 weak, .3 medium, .5 strong)"
MISSED: dict[MissedKind, Words] = {
    MissedKind.WEAKER: (
        "Power: a dependence weaker than about w = {w:g} would be missed in more than 1 of 5 cases " + SCALE
    ),
    MissedKind.WEAKER_WITHOUT_NOISE: (
        "Power: not known for this test. Even without noise a dependence weaker than about w = {w:g} would be missed "
        "in more than 1 of 5 cases " + SCALE + "; with the noise of this budget far stronger ones may be"
    ),
    MissedKind.EVEN_STRONG: "Power: even a strong dependence would be missed in more than 1 of 5 cases",
}


def missed_words(fact: Missed) -> str:
    """Return which dependences a test that did not reject would have missed, as a sentence.

    >>> missed_words(Missed(MissedKind.EVEN_STRONG))
    'Power: even a strong dependence would be missed in more than 1 of 5 cases, so this does not show independence.'
    """
    return f"{told(MISSED[MissedKind(fact.kind)], fact)}, so this does not show independence."
