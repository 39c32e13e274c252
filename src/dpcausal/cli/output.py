"""What commands print: answers and warnings.

A weak promise, or an unchecked schema, is reported once: in the answer, or on standard error.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from dpcausal.core.errors import BeforeCharge, InputError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import ONE_ROW, weak_limits
from dpcausal.privacy.budget import charged_for, left_in_ledger
from dpcausal.privacy.ledger.asker import Asker, asked_by

if TYPE_CHECKING:
    from dpcausal.cli.options import Charge
    from dpcausal.core.forecast import PowerForecast
    from dpcausal.core.statement import PrivacyStatement, Unit


class HasRows(Protocol):
    """What has a number of rows: a data set, a counting backend, a data set at a desk."""

    @property
    def n(self) -> int:
        """Number of rows."""


def print_answer(text: str) -> None:
    """Print an answer; in a terminal, long lines are wrapped between words."""
    wide = terminal_width()
    if wide is not None:
        text = "\n".join(wrap_line(line, wide) for line in text.split("\n"))
    typer.echo(text)


def terminal_width() -> int | None:
    """Return how many characters a line of the terminal has; None where the output goes elsewhere."""
    return table_width() if sys.stdout.isatty() else None


def table_width() -> int:
    """Return how wide a table may be: as the terminal, or the environment says (COLUMNS), else 80."""
    return shutil.get_terminal_size().columns


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


LARGE_DELTA = 1e-4  # what suits at most 10,000 rows


class WeakPromise(UserWarning):
    """The budget is so large that the promise is weak."""


def warn_weak(
    epsilon: float | None = None,
    delta: float = 0.0,
    rows: int | None = None,
    printed: PrivacyStatement | None = None,
    unit: Unit = ONE_ROW,
) -> None:
    """Warn if epsilon or delta, as asked for, promises little; ``rows`` where their number is public.

    ``printed``: a statement that was printed; what it says is not repeated.
    """
    from dpcausal.present.statement import fact_words

    known = {limit.kind for limit in printed.weak} if printed is not None else set()
    for limit in weak_limits(epsilon, delta, rows, unit):
        if limit.kind not in known:
            warnings.warn(fact_words(limit), WeakPromise, stacklevel=2)


def warn_weak_answer(privacy: PrivacyStatement, place: HasRows, as_json: bool) -> None:
    """Warn of a weak budget after an answer; the number of rows is used only where it is public."""
    public = None if privacy.neighbours is Neighbours.ADD_REMOVE else place.n
    warn_weak(**privacy.asked, rows=public, printed=None if as_json else privacy, unit=privacy.unit)


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
    """Suppress warnings that the graph does not support an effect: the answer prints them."""
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
