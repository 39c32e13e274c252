"""The draft of a categorical column: its levels, spellings of one level, and what seems to mean a missing value.

Not private: see ``draft.py``. Texts that differ in case or blanks only, or are one number written twice (1 and 1.0),
become one level with ``aliases``: the one seen most often is the level. A code such as 999 or "." becomes ``missing``
where at least two levels are left without it. Both are guesses from rows, and the draft says so. Missing cells get a
level of their own, or one that reads like it ("unknown"): no other level is picked for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Level
from dpcausal.data.entries import same
from dpcausal.data.like_missing import like_missing
from dpcausal.data.seen import CODES, TRUTHS, Seen

WORDS = (".", "..", "?", "missing", "#n/a", "#null!")  # besides seen.MISSING; "unknown" may well be a level
OWN = "missing"  # the level proposed for missing cells
LEAST = 2  # levels that must be left where codes are taken for missing
_LEVEL_CODES = tuple(code for code in CODES if code != -1)  # -1, 0, 1 are a usual scale


class DraftedLevels(NamedTuple):
    """A column, and remarks for the person who checks it."""

    column: Categorical
    notes: list[str]


def levels_of(seen: Seen) -> DraftedLevels | None:
    """The draft of what was seen; None where no text is UTF-8."""
    if seen.texts <= set(TRUTHS):
        return _with_own([False, True], {}, [], seen, [])
    if seen.clean and seen.whole and math.isfinite(seen.lower):
        return _whole(seen)
    return _texts(seen)


def _whole(seen: Seen) -> DraftedLevels:
    value = {t.decode(): int(Decimal(t.decode())) for t in seen.texts if math.isfinite(float(t))}
    apart = [code for code, _ in seen.set_apart() if code in _LEVEL_CODES]
    levels = sorted(set(value.values()))
    left = [level for level in levels if level not in apart]
    codes = apart if len(left) >= LEAST else []
    known = spelling.texts(Categorical(left if codes else levels, missing=codes))
    odd = sorted(text for text in value if text not in known)  # 01, +1, 1e3
    aliases = {text: value[text] for text in odd if value[text] not in codes}
    missing: list[Level] = [*codes, *(t for t in odd if t not in aliases)]
    found = _with_own(left if codes else levels, aliases, missing, seen, codes)
    if aliases:
        found.notes.append(
            f"`aliases` reads {', '.join(map(repr, aliases))} as numbers; if not, make them levels, as text"
        )
    return found


def _texts(seen: Seen) -> DraftedLevels | None:
    texts: list[str] = []
    for cell in seen.texts:
        try:
            texts.append(cell.decode())
        except UnicodeDecodeError:
            continue
    if not texts:
        return None
    codes = sorted(text for text in texts if _is_code(text, seen))
    groups: dict[object, list[str]] = {}
    for text in texts:
        if text not in codes:
            groups.setdefault(same(" ".join(text.casefold().split())), []).append(text)
    if len(groups) < LEAST and codes:
        groups |= {text: [text] for text in codes}
        codes = []
    alike = [
        sorted(group, key=lambda text: (-seen.odd.counts[text.encode()], text)) for group in groups.values()
    ]
    alike.sort(key=lambda group: group[0])
    aliases = {text: group[0] for group in alike for text in group[1:]}
    column, notes = _with_own([group[0] for group in alike], aliases, codes, seen, codes)
    for group in alike:
        if len(group) > 1:
            others = ", ".join(map(repr, group[1:]))
            notes.append(
                f"`aliases` reads {others} as {group[0]!r}, a guess from rows: check that they mean the same"
            )
    return DraftedLevels(column, notes + _short(column))


def _with_own(
    levels: Sequence[Level],
    aliases: Mapping[str, Level],
    missing: Sequence[Level],
    seen: Seen,
    codes: Sequence[Level],
) -> DraftedLevels:
    """The column, where cells are missing with a level for them; remarks on these."""
    if not (seen.missing or missing):
        return DraftedLevels(Categorical(levels, aliases=aliases), [])
    own = next((level for level in levels if like_missing(str(level))), None)
    if own is None:
        levels, own = [*levels, OWN], OWN
        missing = [code for code in missing if code != OWN]
    column = Categorical(levels, other=own, aliases=aliases, missing=missing)
    return DraftedLevels(column, _gone(seen, own, codes))


def _is_code(text: str, seen: Seen) -> bool:
    """Whether a text is a usual way to write "missing": a word, or a number where all others are no numbers."""
    value = same(text)
    if isinstance(value, Decimal):
        return value in _LEVEL_CODES and not math.isfinite(seen.plain_lower)
    return text.casefold() in WORDS


def _gone(seen: Seen, own: Level, codes: Sequence[Level]) -> list[str]:
    notes = []
    if seen.missing:
        notes.append(f"{seen.missing:,} of {seen.rows:,} cells are missing and become {str(own)!r}")
    for code in codes:
        value = same(str(code))
        count = seen.codes[int(value)] if isinstance(value, Decimal) else seen.odd.counts[str(code).encode()]
        taken = (
            f"`missing` takes it for missing, so it becomes {str(own)!r}"
            if code != own
            else "taken for missing"
        )
        notes.append(
            f"{code!r} stands in {count:,} cells: {taken}; a guess from rows: if it is a level, move it to `levels`"
        )
    notes.append(
        f"{str(own)!r} is a level of its own, in `levels` and as `other`; to let them join another level, "
        "take it out and name that one in `other`"
    )
    return notes


def _short(column: Categorical) -> list[str]:
    """Single letters that one other level begins with."""
    notes = []
    for letter in column.printed:
        whole = [text for text in column.printed if len(text) > 1 and text[0].casefold() == letter.casefold()]
        if len(letter) == 1 and letter.isalpha() and len(whole) == 1:
            notes.append(
                f"{letter!r} may be short for {whole[0]!r}: if so, take it out of `levels` and put it in `aliases`"
            )
    return notes
