"""Tables on standard output, whatever the width: no number is ever cut.

Where the numbers and a little of each text do not fit side by side, every row becomes a few lines of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console

LEAST = 12  # width below which a column of text is not squeezed
SAMPLE = 10_000  # wider than any table


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    left: Collection[str] = (),
    wraps: Collection[str] = (),
    console: Console | None = None,
) -> None:
    """Print ``rows`` below ``heads``; columns in ``left`` are text, those in ``wraps`` may take several lines."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = console or Console(highlight=False)
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    for head in heads:
        side: Literal["left", "right"] = "left" if head in left else "right"
        table.add_column(head, justify=side, no_wrap=head not in wraps, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    natural = console.measure(table, options=console.options.update_width(SAMPLE)).maximum
    slack = sum(
        max(_wide([head, *(row[k] for row in rows)]) - LEAST, 0)
        for k, head in enumerate(heads)
        if head in wraps
    )
    if natural - slack <= console.width:
        console.print(table)
    else:
        _print_stacked(heads, rows, title, console)


def _wide(texts: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for text in texts for line in text.split("\n"))


def _print_stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str, console: Console) -> None:
    if title:
        console.print(title, style="italic", markup=False)
    for row in rows:
        told = [f"{' '.join(head.split())} {cell}" for head, cell in zip(heads, row, strict=True) if cell]
        console.print(told[0], markup=False, overflow="fold")
        for line in told[1:]:
            console.print(f"  {line}", markup=False, overflow="fold")
