"""A progress bar with the time left, for work whose amount is public: files, trials, columns, people.

It is written to standard error, and only once the work has taken two seconds. What it counts is known before any row
is read (sizes of files, numbers of columns, trials) or was computed from released values; nothing that a mechanism has
not released may drive it. Where the amount of work itself would tell something (an adaptive search stops when its
answers say so) the total is None: a spinner and the time gone by.

``waiting`` reports that another process holds something, and only to the command line (``listening``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Task as BarTask
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text

PATIENCE = 2.0  # seconds before a bar appears
BAR, CLOCK = 20, 30  # characters of a bar, and of the clocks beside it

Tick = Callable[[float], None]  # takes how much was done since the last call
Stage = Callable[[str, float | None], AbstractContextManager[Tick]]  # (what, how much; None: not known)


def unseen(done: float) -> None:
    """Ignore progress: a tick function that does nothing."""


@contextmanager
def silent(what: str, total: float | None) -> Iterator[Tick]:
    """Yield the tick function of a stage that shows no progress.

    >>> with silent("counting", 3) as tick:
    ...     tick(1)
    """
    yield unseen


@contextmanager
def stages(show: bool) -> Iterator[Stage]:
    """Yield a function that opens progress stages, which may be nested; the innermost is shown, if ``show``.

    >>> with stages(show=False) as stage, stage("counting", 3) as tick:
    ...     tick(1)
    """
    if not show:
        yield silent
        return
    bar = _bar()
    lock = threading.Lock()
    since, over = time.monotonic(), False

    def start() -> None:
        with lock:
            if not over and not bar.live.is_started:
                bar.start()

    @contextmanager
    def stage(what: str, total: float | None) -> Iterator[Tick]:
        outer = [task.id for task in bar.tasks if task.visible]
        for number in outer:
            bar.update(number, visible=False)
        here = bar.add_task(what, total=total)

        def tick(done: float) -> None:
            bar.advance(here, done)
            if time.monotonic() - since > PATIENCE:
                start()

        try:
            yield tick
        finally:
            bar.remove_task(here)
            for number in outer:
                bar.update(number, visible=True)

    timer = threading.Timer(PATIENCE, start)  # a first step may be long, and tick only when it is over
    timer.daemon = True
    timer.start()
    try:
        yield stage
    finally:
        timer.cancel()
        with lock:
            over = True
            if bar.live.is_started:
                bar.stop()


@contextmanager
def shown(what: str, total: float | None, show: bool) -> Iterator[Tick]:
    """Yield a function to be called with the amount done since the last call; silent unless ``show``.

    >>> with shown("counting", 3, show=False) as tick:
    ...     tick(1)
    """
    with stages(show) as stage, stage(what, total) as tick:
        yield tick


def _bar() -> Progress:
    """Return a progress bar that fits into narrow terminals."""
    console = Console(stderr=True)
    whole = Column(no_wrap=True)

    class What(ProgressColumn):
        """What is done; cut where the bar is gone and the line still too long."""

        def render(self, task: BarTask) -> Text:
            return Text(task.description, no_wrap=True, overflow="ellipsis")

    class Bar(BarColumn):
        """As wide as the words and the clock leave it."""

        def render(self, task: BarTask) -> ProgressBar:
            room = console.width - cell_len(task.description) - CLOCK
            self.bar_width = max(1, min(BAR, room))
            return super().render(task)

    class Gone(TimeElapsedColumn):
        """The time gone by; where that is all there is to say, in words."""

        def render(self, task: BarTask) -> Text:
            return super().render(task) + ("" if task.total is not None else Text(" so far"))

    class Left(TimeRemainingColumn):
        """The part done and the time left, where they are known."""

        def render(self, task: BarTask) -> Text:
            if task.total is None:
                return Text("")
            return Text(f"{task.percentage:3.0f}%, left ") + super().render(task)

    columns = (What(), Bar(), Gone(table_column=whole), Left(table_column=whole))
    return Progress(*columns, console=console, transient=True)


PATIENCE_WAITING = 2.0  # seconds before a wait is reported

_listeners: list[Callable[[str], None]] = []


@contextmanager
def listening(tell: Callable[[str], None]) -> Iterator[None]:
    """Call ``tell`` with one line for each wait longer than ``PATIENCE_WAITING`` seconds within the block."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Report to ``listening`` that the work within the block waits for ``what``.

    >>> with waiting("the ledger budget.db"):
    ...     pass
    """
    if not _listeners:
        yield
        return
    timer = threading.Timer(PATIENCE_WAITING, _listeners[-1], (f"waiting for {what}",))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
