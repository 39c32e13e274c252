"""How lists, numbers, chances and tables are written: the one place for each."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Collection, Sequence
from html import escape
from typing import Any

from rich.cells import cell_len

LEAST_TEXT = 12  # letters to which a last column of text is narrowed
Words = (
    str | Callable[[Any], str]
)  # of a kind of fact: a text with its fields in braces, or a function of the fact


def filled(words: Words, fact: object) -> str:
    """Return the words of a fact: its fields in the text, lists with commas, or what the function makes of it.

    >>> from dpcausal.core.statement import SnpsKnown
    >>> filled("the list of {snps:,} SNPs", SnpsKnown(5000)), filled(lambda fact: str(fact.snps), SnpsKnown(5000))
    ('the list of 5,000 SNPs', '5000')
    """
    if not isinstance(words, str):
        return words(fact)
    fields = vars(fact).items()
    return words.format(
        **{name: ", ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in fields}
    )


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names joined by commas and "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {last} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def as_told(value: float | str) -> str:
    """Return a value of a column as text: a number in six digits, and a level or a date as it is.

    >>> as_told(50.0), as_told("2018-01-01")
    ('50', '2018-01-01')
    """
    return value if isinstance(value, str) else f"{value:g}"


def few(items: Sequence[str], most: int, where: str = "", between: str = ", ") -> str:
    """Return the first ``most`` items joined by commas, and how many more there are.

    >>> few(["a", "b", "c"], 2), few(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    rest = len(items) - most
    return between.join(items[:most]) + (f" and {rest:,} more{where}" if rest > 0 else "")


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where needed.

    >>> counted(1, "pair"), counted(3, "pair"), counted(0, "pair")
    ('1 pair', '3 pairs', 'no pair')
    """
    return f"no {what}" if number == 0 else f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(part: float) -> str:
    """Return a probability in per cent, never rounded to 0 or 100.

    >>> percent(0.001), percent(0.034), percent(0.999)
    ('under 1%', '3%', 'over 99%')
    """
    return "under 1%" if part < 0.01 else "over 99%" if part > 0.99 else f"{part:.0%}"


def digits(value: float | None, count: int = 2) -> str:
    """Return a number with ``count`` significant digits, without an exponent below a million.

    >>> digits(0.01234), digits(1234.5), digits(3.0), digits(None), digits(47.04, 3), digits(1434.2, 3)
    ('0.012', '1,200', '3', 'none', '47', '1,430')
    >>> digits(2.71828, 3), digits(2.69e43, 3)
    ('2.72', '2.69e+43')
    """
    if value is None:
        return "none"
    rounded = float(f"{value:.{count}g}")
    if not math.isfinite(rounded) or rounded >= 1e6:
        return f"{rounded:g}"
    return f"{rounded:,.0f}" if abs(rounded) >= 10 ** (count - 1) else f"{rounded:.{count}g}"


def shortened(label: str, most: int = 60) -> str:
    """Return ``label``, or its beginning where it is longer than ``most``."""
    return label if len(label) <= most else label[: most - 1] + "…"


def as_sentence(clause: str) -> str:
    """Return a clause with a capital and a full stop.

    >>> as_sentence("one noisy threshold"), as_sentence("Done."), as_sentence("")
    ('One noisy threshold.', 'Done.', '')
    """
    return clause[:1].upper() + clause[1:] + ("" if not clause or clause.endswith(".") else ".")


def as_html(text: str, style: str = "") -> str:
    """Return lines as a piece of HTML for notebooks.

    >>> as_html("a < b\\nc")
    '<div>a &lt; b<br>c</div>'
    """
    body = "<br>".join(escape(line) for line in text.splitlines())
    return f'<div style="{style}">{body}</div>' if style else f"<div>{body}</div>"


def aligned(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> list[str]:
    """Return rows as aligned text below their heads, without empty columns.

    >>> aligned([("a -> b", "95% or more", ""), ("b - long", "less than 50%", "")], ("edge", "found again", "note"))
    ['  edge      found again', '  a -> b    95% or more', '  b - long  less than 50%']
    """
    if not rows:
        return []
    filled = [k for k in range(len(rows[0])) if any(row[k] for row in rows)]
    table = [[line[k] for k in filled] for line in ((heads, *rows) if heads else rows)]
    wide = [max(len(line[k]) for line in table) for k in range(len(filled))]
    return [
        "  " + "  ".join(f"{cell:<{size}}" for cell, size in zip(line, wide, strict=True)).rstrip()
        for line in table
    ]


def ruled(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[str] = (),
    width: int | None = None,
) -> list[str]:
    """Return rows as an aligned text table below ruled heads; numbers are never cut.

    Columns in ``left`` are text, others numbers. In a table wider than ``width`` a last column of text continues
    beneath itself; if that is not enough, the table is cut into several, each with the first column.

    >>> print("\\n".join(ruled(["name", "of\\nall"], [["a", "10"], ["long", "9"]], left=["name"])[1:-1]))
            of
     name  all
     ─────────
     a      10
     long    9
    """
    deep = 1 + max(head.count("\n") for head in heads)
    tops = [[*[""] * (deep - 1 - head.count("\n")), *head.split("\n")] for head in heads]
    sizes = [max(map(cell_len, [*top, *(row[k] for row in rows)])) for k, top in enumerate(tops)]
    last, lines = len(heads) - 1, [list(row) for row in rows]
    if width is not None and heads[last] in left and sum(sizes) + 2 * len(sizes) - 1 > width:
        sizes[last] = max(width - sum(sizes[:last]) - 2 * last - 1, LEAST_TEXT, cell_len(tops[last][-1]))
        lines = []
        for row in rows:
            first, *more = textwrap.wrap(row[last], sizes[last]) or [""]
            lines += [[*row[:last], first], *([*[""] * last, text] for text in more)]
    parts = _parts(sizes, width)

    def line(cells: Sequence[str], part: list[int]) -> str:
        blank = {k: " " * (sizes[k] - cell_len(cells[k])) for k in part}
        return (
            " "
            + "  ".join(
                cells[k] + blank[k] if heads[k] in left else blank[k] + cells[k] for k in part
            ).rstrip()
        )

    found = []
    for part in parts:
        rule = " " + "─" * (sum(sizes[k] for k in part) + 2 * (len(part) - 1))
        above = [line([top[i] for top in tops], part) for i in range(deep)]
        found += ["", *above, rule, *(line(row, part) for row in lines)]
    return [*found, ""]


def _parts(sizes: Sequence[int], width: int | None) -> list[list[int]]:
    """Return which columns of a wide table stand side by side, in parts that each have the first column.

    >>> _parts([5, 10, 10], 20), _parts([5, 10, 10], None)
    ([[0, 1], [0, 2]], [[0, 1, 2]])
    """
    parts: list[list[int]] = [[0]]
    for k in range(1, len(sizes)):
        wide = 1 + sum(sizes[j] for j in [*parts[-1], k]) + 2 * len(parts[-1])
        if width is not None and wide > width and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(k)
    return parts
