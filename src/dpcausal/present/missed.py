"""What a test that did not reject would have missed, in words."""

from __future__ import annotations

from dpcausal.citests.result import EvenStrong, Missed, Weaker
from dpcausal.core.look import MEDIUM, STRONG
from dpcausal.present.percent import percent

SCALE = "(Cohen's w: .1 weak, .3 medium, .5 strong)"


def missed_words(fact: Missed) -> str:
    """Return which dependences a test that did not reject would have missed, as a sentence.

    >>> missed_words(EvenStrong(strong=0.576, medium=0.313))  # doctest: +ELLIPSIS
    "Power: a strong dependence (Cohen's w = 0.5) is found in 58% of cases at best, a medium one (0.3) in 31%, so ..."
    """
    return f"Power: {_power(fact)}, so this does not show independence."


def _power(fact: Missed) -> str:
    match fact:
        case Weaker(by="weaker"):
            return f"a dependence of w = {fact.w:g} is found in 80% of cases at best, a weaker one less often {SCALE}"
        case Weaker():
            return (
                f"not known for this test. Even without noise a dependence of w = {fact.w:g} is found in 80% of cases "
                f"only, a weaker one less often {SCALE}; with the noise of this budget far stronger ones may be missed"
            )
        case EvenStrong():
            return (
                f"a strong dependence (Cohen's w = {STRONG:g}) is found in {percent(fact.strong)} of cases at best, a "
                f"medium one ({MEDIUM:g}) in {percent(fact.medium)}"
            )
    raise TypeError(f"no words for {fact!r}")
