"""What commands print: answers, tables whatever the width, and warnings.

Where the numbers and a little of each text do not fit side by side, every row becomes a few lines of its own: no number
is ever cut. A weak promise, or an unchecked schema, is reported once: in the answer, or on standard
error.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dpcausal.core.errors import BeforeCharge, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import weak_limits
from dpcausal.privacy.budget import charged_for, left_in_ledger
from dpcausal.privacy.ledger.asker import Asker, asked_by

if TYPE_CHECKING:
    from dpcausal.cli.options import Charge
    from dpcausal.core.forecast import PowerForecast
    from dpcausal.core.statement import PrivacyStatement


class HasRows(Protocol):
    """What has a number of rows: a data set, a counting backend, a data set at a desk."""

    @property
    def n(self) -> int: ...


def print_answer(text: str) -> None:
    """Print an answer; in a terminal, long lines are wrapped between words."""
    if sys.stdout.isatty():
        wide = shutil.get_terminal_size().columns
        text = "\n".join(wrap_line(line, wide) for line in text.split("\n"))
    typer.echo(text)


def print_forecast(forecast: PowerForecast, charge: Charge, as_json: bool) -> None:
    """Print a forecast, with what the ledger has left where one is named."""
    forecast = replace(forecast, left=left_in_ledger(charge.ledger, charge.dataset))
    if as_json:
        typer.echo(forecast.to_json())
    else:
        print_answer(forecast.summary())


def wrap_line(line: str, wide: int) -> str:
    """Wrap a line between words; the last column of a table continues beneath itself.

    >>> print(wrap_line("  a -> b  95% or more  direction not decided; a weak hint", 50))
      a -> b  95% or more  direction not decided; a
                           weak hint
    """

    start = line.rstrip().rfind("  ") + 2 if line.startswith(" ") else 0
    if len(line) <= wide or (start and wide - start < LEAST_LEFT):
        return line
    rows = textwrap.wrap(line[start:], wide - start, break_long_words=False, break_on_hyphens=False)
    return "\n".join([line[:start] + rows[0], *(" " * start + row for row in rows[1:])])


LEAST_LEFT = 20  # letters: a last column with less room is kept whole


MIN_COLUMN_WIDTH = 12  # width below which a column of text is not squeezed
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
        max(_wide([head, *(row[k] for row in rows)]) - MIN_COLUMN_WIDTH, 0)
        for k, head in enumerate(heads)
        if head in wraps
    )
    if natural - slack <= console.width:
        console.print(table)
    else:
        _print_stacked(heads, rows, title, console)


def _wide(texts: Sequence[str]) -> int:
    return max(cell_len(line) for text in texts for line in text.split("\n"))


def _print_stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str, console: Console) -> None:
    if title:
        console.print(title, style="italic", markup=False)
    for row in rows:
        printed = [f"{' '.join(head.split())} {cell}" for head, cell in zip(heads, row, strict=True) if cell]
        console.print(printed[0], markup=False, overflow="fold")
        for line in printed[1:]:
            console.print(f"  {line}", markup=False, overflow="fold")


LARGE_DELTA = 1e-4  # what suits at most 10,000 rows


class WeakPromise(UserWarning):
    """The budget is so large that the promise is weak."""


def warn_weak(
    epsilon: float | None = None,
    delta: float = 0.0,
    rows: int | None = None,
    printed: PrivacyStatement | None = None,
) -> None:
    """Warn where epsilon or delta, as asked for, promise little; ``rows`` where their number is public.

    ``printed``: a statement that was printed; what it says is not repeated.
    """
    from dpcausal.present.statement import fact_words

    known = {limit.kind for limit in printed.weak} if printed is not None else set()
    for limit in weak_limits(epsilon, delta, rows):
        if limit.kind not in known:
            warnings.warn(fact_words(limit), WeakPromise, stacklevel=2)


def warn_weak_answer(privacy: PrivacyStatement, place: HasRows, as_json: bool) -> None:
    """Warn of a weak budget after an answer; the number of rows is used only where it is public."""
    public = None if privacy.neighbours is Neighbours.ADD_REMOVE else place.n
    warn_weak(**privacy.asked, rows=public, printed=None if as_json else privacy)


@contextmanager
def warn_before_charge(data: Path | None, charge: Charge) -> Iterator[None]:
    """Print warnings of a ledger at once, before it is charged, and record file, person and purpose in its entry.

    They name other budgets of the file or data set, and earlier entries with the same question.
    """
    if charge.ledger is None and (charge.person is not None or charge.purpose is not None):
        raise InputError("--person and --purpose are recorded in a ledger: name one (--ledger, --dataset)")
    with charged_for(data), asked_by(Asker(charge.person, charge.purpose)), warnings.catch_warnings():
        later = warnings.showwarning

        def at_once(message: Warning | str, category: type[Warning], *more: Any) -> None:
            if issubclass(category, BeforeCharge):
                typer.echo(f"dpcausal: {message}", err=True)
            else:
                later(message, category, *more)

        warnings.showwarning = at_once  # type: ignore[assignment]
        warnings.simplefilter("always", BeforeCharge)
        yield


def silence_draft_warning() -> None:
    """Suppress the warning of an unchecked schema: the answer prints it."""
    from dpcausal.data.read import DraftSchema

    warnings.filterwarnings("ignore", category=DraftSchema)


def silence_graph_warnings() -> None:
    """Suppress what a graph says against an effect: the answer prints it."""
    from dpcausal.effects.adjustment import AdjustsForDescendant, LeavesBackDoorOpen

    for kind in (AdjustsForDescendant, LeavesBackDoorOpen):
        warnings.filterwarnings("ignore", category=kind)


def warn_large_delta(delta: float) -> None:
    """Warn of a total delta of a ledger that is small enough for small data sets only."""
    if delta > LARGE_DELTA:
        from dpcausal.present.statement import WEAK

        warnings.warn(
            f"{WEAK}delta {delta:g} is the chance with which all releases together may tell everything of a row: keep "
            "it well below one over the number of rows (for 10,000 rows, well below 0.0001).",
            WeakPromise,
            stacklevel=2,
        )
