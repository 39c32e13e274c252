"""Levels that look like "no value known" where an order is declared: a rank test takes them for the least or most.

From the schema alone, which is public, so free to tell anyone.

The draft of a categorical column: its levels, spellings of one level, and what seems to mean a missing value.

Not private: see ``draft.py``. Texts that differ in case or blanks only, or are one number written twice (1 and 1.0),
become one level with ``aliases``: the one seen most often is the level. A code such as 999 or "." becomes ``missing``
where at least two levels are left without it. Both are guesses from rows, and the draft says so. Missing cells get a
level of their own, or one that reads like it ("unknown"): no other level is picked for them.

A first draft of a schema file, from the data. Not private: it shows values; a person must check it.

For the data holder's own desk. Levels, bounds and which columns are there are read from rows, so the draft says
on top that none of it may be used or published before it is checked against public knowledge, and carries the line
``draft = true``: as long as it stands there, reading data with the schema gives a warning (``scan.py``).
Cost: as ``seen.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from dpcausal.core.errors import InputError, SchemaError
from dpcausal.data import arrow, schema, spelling
from dpcausal.data.columns import MOST_BOUND, Categorical, Column, Level, Numeric
from dpcausal.data.csv import Ragged
from dpcausal.data.entries import same
from dpcausal.data.profile import CODES, TRUTHS, Repeats, Seen, header_like_values, repeats_words, watched
from dpcausal.data.sources import ColumnSource, Delimited, Source, open_source

LIKE_MISSING = frozenset(
    (
        "missing", "unknown", "unk", "not known", "unspecified", "not stated", "not asked", "not available",
        "no answer", "refused", "declined", "don't know", "na", "n/a", "n.a.", "nan", "null", "none given", "?",
    )
)  # fmt: skip


def like_missing(text: str) -> bool:
    """Whether a level reads like a missing value.

    >>> like_missing("Not  known"), like_missing("never")
    (True, False)
    """
    return " ".join(text.casefold().split()) in LIKE_MISSING


def order_remark(name: str, column: Column) -> str | None:
    """A line on an ordered column with such a level; None where there is nothing to say.

    >>> order_remark("smoking", Categorical(["never", "ex", "current", "unknown"], ordered=True))
    'smoking is ordered and has the level "unknown": rank tests take it as the highest'
    >>> order_remark("smoking", Categorical(["never", "ex", "unknown"])) is None
    True
    """
    if not (isinstance(column, Categorical) and column.ordered and column.size > 2):
        return None
    odd = [k for k, text in enumerate(column.printed) if like_missing(text)]
    if not odd:
        return None
    k = odd[0]
    where = (
        "the lowest"
        if k == 0
        else "the highest"
        if k == column.size - 1
        else f"between {column.printed[k - 1]!r} and {column.printed[k + 1]!r}"
    )
    return f'{name} is ordered and has the level "{column.printed[k]}": rank tests take it as {where}'


def order_remarks(columns: Mapping[str, Column]) -> list[str]:
    """One line for every such column."""
    found = (order_remark(name, column) for name, column in columns.items())
    return [line for line in found if line is not None]


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


MOST = 50  # distinct texts a column may have to be drafted as categorical
FEW = 12  # distinct whole numbers up to which a column is drafted as categorical
CENTRAL = (0.01, 0.99)  # the part of the numbers that cut points lie in
CUTS = (
    (100_000, 8),
    (20_000, 5),
    (0, 3),
)  # (rows from which on, about how many cut points): docs/guides/schema.md
MOSTLY = 0.8  # part of the cells that must be numbers, or nearly, for a column with other texts to be drafted numeric
WARNING = """\
# DRAFT, read from the data itself: NOT PRIVATE. Levels, spellings, codes, bounds and cut points below come from rows.
# Before you use this file with a private release, or show it to anyone, check every line against public
# knowledge (a codebook, a form, common sense) and change what only the data could have told you.
# Undeclared levels go to `other`, numbers outside the bounds are clamped; what that does to your rows is shown,
# on your own machine, by `dpcausal schema DATA --check THIS_FILE`. Missing values go to `other` too: empty cells,
# NA, N/A, NaN, null and None without being listed, other texts and codes where `missing` lists them.
draft = true  # delete this line and those above when every line is checked; until then every use warns
"""


def draft(source: Any, *, progress: bool = False) -> str:
    """TOML text of a schema for ``source``, one table a column, with a warning on top."""
    found = open_source(source)
    names = list(dict.fromkeys(found.names))
    if isinstance(found, ColumnSource):
        found.convert([name for name in names if found.names.count(name) == 1])
    faults = {name: _fault(found, name) for name in names}
    usable = [name for name in names if not faults[name]]
    if not usable:
        raise InputError(f"{found.label} has no column that can be drafted")
    seen, repeats = {name: Seen(MOST) for name in usable}, {name: Repeats(name) for name in usable}
    for chunk in watched(found, usable, progress):
        for name, array in chunk.items():
            seen[name].add(array)
            repeats[name].add(array)
    if seen[usable[0]].rows == 0:
        raise InputError(f"{found.label} has no rows")
    parts = [_left_out(name, faults[name]) if faults[name] else _column(name, seen[name]) for name in names]
    again = [(name, found.more()) for name, found in repeats.items()]
    remarks = [repeats_words(name, rows) for name, rows in again if rows]
    if isinstance(found, Delimited) and header_like_values(names, seen):
        remarks.append(
            "Is the first line a header? Its names look like values: put a line with names above the rows"
        )
    lines = "".join(f"# {' '.join(line.split())}\n" for line in remarks)  # a name may hold a line break
    return "\n".join([WARNING + lines + _ragged(found), *parts])


def _ragged(found: Source) -> str:
    """A remark on rows of a CSV that are longer or shorter than its header."""
    rows = getattr(found, "ragged", Ragged())
    if not (rows.more or rows.fewer):
        return ""
    return (
        f"# Rows with more fields than the header: {rows.more:,} (what lies beyond is not read), with fewer: "
        f"{rows.fewer:,}\n# (the last ones are missing). Is there a text with the delimiter in it and no quotes?\n"
    )


def _fault(found: Source, name: str) -> str:
    """Why a column can't be drafted whatever it holds; empty where it can."""
    if not name:
        return "it has no name"
    if found.names.count(name) > 1:
        return "more than one column has this name"
    type_ = found.types[found.names.index(name)]
    return f"type {type_}" if type_ is not None and arrow.value_kind(type_) == "unsupported" else ""


def _left_out(name: str, why: str) -> str:
    return f"# {schema.header(name)}  left out: {why}\n"


def _column(name: str, seen: Seen) -> str:
    if not seen.texts:
        return _left_out(name, "no values")
    if _numeric(seen):
        column = _numbers(seen)
        table = schema.table(name, column)
        if column.other != column.lower:
            table = table.replace(*_other(table, column), 1)
        return _noted(table, _number_notes(seen, column))
    if len(seen.texts) > MOST and seen.number_share() >= MOSTLY:
        return _left_out(
            name, f"numbers that can't be read as such ({seen.odd.words()}): write 3.5, not 3,5 or <3.5"
        )
    if len(seen.texts) > MOST:
        return _left_out(name, f"more than {MOST} different texts: an identifier, a date or free text?")
    found = levels_of(seen)
    if found is None:
        return _left_out(name, "its values are not UTF-8 text")
    return _noted(schema.table(name, found.column) + _order(found.column), found.notes)


def _order(column: Categorical) -> str:
    """How to say that levels have an order, where there are enough of them."""
    plain = [text for text in column.printed if not like_missing(text)]
    if len(plain) < 3:
        return ""
    aside = "" if len(plain) == column.size else ", and only once no level is for missing values"
    return f"# ordered = true  # if the order of the levels means something{aside}\n"


def _numeric(seen: Seen) -> bool:
    """Numbers, or mostly, and more different ones than levels usually have."""
    many = len(seen.numbers) > FEW or not seen.whole or max(-seen.lower, seen.upper) >= 2**53
    mostly = seen.clean or (len(seen.numbers) > FEW and seen.number_share() >= MOSTLY)
    return many and mostly and math.isfinite(seen.lower)


def _noted(table: str, notes: list[str]) -> str:
    """The table with remarks below its header."""
    first, _, rest = table.partition("\n")
    return "\n".join([first, *(f"# {note}" for note in notes), rest])


def _other(table: str, column: Numeric) -> tuple[str, str]:
    """The line with ``other``, and the same with a remark."""
    line = next(line for line in table.splitlines() if line.startswith("other = "))
    said = f"a guess from rows: choose what a missing value becomes; the lower bound ({column.lower:g}) unless stated"
    return line, f"{line}  # {said}"


def _number_notes(seen: Seen, column: Numeric) -> list[str]:
    becomes = f"become {column.other:g}, as `other` says"
    notes = []
    if seen.odd.total:
        notes.append(
            f"{seen.odd.total:,} of {seen.rows:,} cells are no numbers and {becomes}: {seen.odd.words()}"
        )
    if seen.separated:
        notes.append(
            f"{seen.separated:,} of them are numbers with separators: write 1234, not 1,234, in the data"
        )
    if seen.missing:
        notes.append(f"{seen.missing:,} of {seen.rows:,} cells are missing and {becomes}")
    for code, count in seen.set_apart():
        notes.append(
            f"{code} stands in {count:,} cells: the bounds are drawn without it, and `missing` takes it for missing; "
            "a guess from rows: if it is a number, take it out"
        )
    return notes


def _numbers(seen: Seen) -> Numeric:
    """Bounds rounded outward, round cut points where nearly all numbers lie (``CUTS``: more where rows are many, since
    fine bins hold more constant and coarse ones leave more power), and a middle value for missing ones.
    """
    lower, upper, values = seen.kept()
    bounds = _outward(lower, upper)
    codes = [code for code, _ in seen.set_apart()]
    low, high = (float(end) for end in np.quantile(values, CENTRAL)) if len(values) else bounds
    try:
        most = next(number for rows, number in CUTS if seen.rows >= rows)
        bins = cuts(low, high, seen.whole, min(most, len(seen.numbers) - 1))
        gone = bool(len(values) and (seen.missing or seen.odd.total or codes))
        middle = (
            float(f"{float(np.median(values)):.2g}") if gone else None
        )  # two digits: it stands for no row
        other = None if middle is None else min(max(middle, bounds[0]), bounds[1])
        return Numeric(*bounds, bins or None, other=other, missing=codes)
    except SchemaError:
        return Numeric(*bounds, missing=codes)


def cuts(low: float, high: float, whole: bool, aim: int = 8) -> list[float]:
    """Multiples of a round step strictly between both, as near to ``aim`` of them as there can be.

    >>> cuts(18, 91, True), cuts(0.2, 0.4, False)
    ([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], [0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34, 0.36, 0.38])
    """
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return []
    least = Decimal(10) ** (math.floor(math.log10(width)) - 1)
    steps = [least * Decimal(part) for part in ("1", "2", "2.5", "5", "10", "20", "50", "100")]
    tried = [_multiples(low, high, step) for step in steps if not whole or step == step.to_integral_value()]
    return min(tried, key=lambda found: abs(len(found) - aim), default=[])


def _multiples(low: float, high: float, step: Decimal) -> list[float]:
    first = int((Decimal(low) / step).to_integral_value("ROUND_FLOOR")) + 1
    last = int((Decimal(high) / step).to_integral_value("ROUND_CEILING")) - 1
    return [cut for cut in (float(step * k) for k in range(first, last + 1)) if low < cut < high]


def _outward(lower: float, upper: float) -> tuple[float, float]:
    """Bounds rounded outward to a multiple of a power of ten a little below their distance."""
    lower, upper = (min(max(bound, -MOST_BOUND), MOST_BOUND) for bound in (lower, upper))
    width = upper - lower if upper > lower else max(abs(upper), 1.0)
    step = Decimal(10) ** (math.floor(math.log10(width)) - 1)
    low = (Decimal(lower) / step).to_integral_value("ROUND_FLOOR") * step
    high = (Decimal(upper) / step).to_integral_value("ROUND_CEILING") * step
    low, high = (low, high) if low < high else (low - step, high + step)
    return max(float(low), -MOST_BOUND), min(float(high), MOST_BOUND)
