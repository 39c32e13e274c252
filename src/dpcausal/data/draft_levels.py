"""The draft of a categorical column: its levels, spellings of one level, and what seems to mean a missing value.

Not private: see ``draft.py``. Texts that differ in case or blanks only, or are one number written twice (1 and 1.0),
become one level with ``aliases``: the one seen most often is the level. A code such as 999 or "." becomes ``missing``
where at least two levels are left without it. Both are guesses from rows, and the draft says so.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

from dpcausal.data import spelling
from dpcausal.data.columns import Categorical, Level
from dpcausal.data.entries import same
from dpcausal.data.seen import CODES, TRUTHS, Seen

WORDS = (".", "..", "?", "missing", "#n/a", "#null!")  # besides seen.MISSING; "unknown" may well be a level
LEAST = 2  # levels that must be left where codes are taken for missing
_LEVEL_CODES = tuple(code for code in CODES if code != -1)  # -1, 0, 1 are a usual scale


class DraftedLevels(NamedTuple):
    """A column, and remarks for the person who checks it."""

    column: Categorical
    notes: list[str]


def levels_of(seen: Seen) -> DraftedLevels | None:
    """The draft of what was seen; None where no text is UTF-8."""
    if seen.texts <= set(TRUTHS):
        return DraftedLevels(Categorical([False, True]), _gone(seen, False, []))
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
    column = Categorical(
        left if codes else levels, aliases=aliases, missing=[*codes, *(t for t in odd if t not in aliases)]
    )
    notes = _gone(seen, column.levels[0], codes)
    if aliases:
        notes.append(
            f"`aliases` reads {', '.join(map(repr, aliases))} as numbers; if not, make them levels, as text"
        )
    return DraftedLevels(column, notes)


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
    column = Categorical([group[0] for group in alike], aliases=aliases, missing=codes)
    notes = _gone(seen, column.levels[0], codes)
    for group in alike:
        if len(group) > 1:
            others = ", ".join(map(repr, group[1:]))
            notes.append(
                f"`aliases` reads {others} as {group[0]!r}, a guess from rows: check that they mean the same"
            )
    return DraftedLevels(column, notes + _short(column))


def _is_code(text: str, seen: Seen) -> bool:
    """Whether a text is a usual way to write "missing": a word, or a number where all others are no numbers."""
    value = same(text)
    if isinstance(value, Decimal):
        return value in _LEVEL_CODES and not math.isfinite(seen.plain_lower)
    return text.casefold() in WORDS


def _gone(seen: Seen, other: Level, codes: list[int] | list[str]) -> list[str]:
    notes = []
    if seen.missing:
        cells = f"{seen.missing:,} of {seen.rows:,} cells are missing and become {str(other)!r}"
        notes.append(f"{cells} unless `other` says otherwise; a level of their own keeps them apart")
    for code in codes:
        value = same(str(code))
        count = seen.codes[int(value)] if isinstance(value, Decimal) else seen.odd.counts[str(code).encode()]
        notes.append(
            f"{code!r} stands in {count:,} cells: `missing` takes it for missing, so it becomes {str(other)!r}; "
            "a guess from rows: if it is a level, move it to `levels`"
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
