"""Names of data sets that a person would take for the same: one data set under two names has two budgets.

Two names look alike if they have the same skeleton: no case, no accents, no blanks or dashes (unless they part two
digits), one letter for those that are drawn alike in Latin, Greek and Cyrillic script, and one for I, l and 1 and for O
and 0. Compatibility forms (full-width letters, ligatures) count as what they stand for. Names of data sets are public.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# after case is taken away, so capitals that look alike are here by their small letters
_ALIKE = str.maketrans(
    "авеѕіјкмнорстухѵԁһԛԝԍӏ" + "αβγεζηικμνορτυχωϲϳ" + "ıɑɡℓø" + "01i|",
    "abesijkmhopctyxvdhqwgl" + "abyezhikmnoptyxwcj" + "iaglo" + "olll",
)
_SEPARATORS = re.compile(r"(?<![0-9])[\s_.\-]+|[\s_.\-]+(?![0-9])")
_KEPT_SEPARATORS = re.compile(r"[\s_.\-]+")


def skeleton(name: str) -> str:
    """What is left of a name that a person would tell apart.

    >>> skeleton("Cohort 2"), skeleton("cohort2"), skeleton("co\N{CYRILLIC SMALL LETTER ER}hort 1-2")
    ('cohort2', 'cohort2', 'cophortl-2')
    """
    wide = unicodedata.normalize("NFKD", name).casefold()
    wide = unicodedata.normalize("NFKD", wide)
    letters = ["-" if unicodedata.category(c) == "Pd" else c for c in wide if not _unseen(c)]
    parted = _KEPT_SEPARATORS.sub("-", _SEPARATORS.sub("", "".join(letters)))
    return parted.translate(_ALIKE).translate(_ALIKE)  # an i that came from another script is an l, too


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """The first of the known names, in order, that is another one and looks like this.

    >>> lookalike("Cohort", ["cohort", "survey"]), lookalike("cohort", ["cohort"])
    ('cohort', None)
    """
    wanted = skeleton(name)
    return next((one for one in sorted(known) if one != name and skeleton(one) == wanted), None)


def spelled(name: str) -> str:
    """A name in quotes, with what is not ASCII written as its code, so that two names can be told apart.

    >>> spelled("d\N{CYRILLIC SMALL LETTER A}ta")
    "'d\\\\u0430ta'"
    """
    return ascii(name)
