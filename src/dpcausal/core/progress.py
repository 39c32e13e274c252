"""A progress bar with the time left, for work whose amount is public: files, trials, columns, people.

It goes to standard error, and only once the work has taken two seconds. What it counts is known before any row is read
(sizes of files, numbers of columns, trials); nothing that a mechanism has not released may drive it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds before a bar appears


@contextmanager
def shown(what: str, total: float, show: bool) -> Iterator[Callable[[float], None]]:
    """Yield a function to be called with the amount done since the last call; silent unless ``show``.

    >>> with shown("counting", 3, show=False) as tick:
    ...     tick(1)
    """
    if not show:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    clocks = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    bar = Progress(*columns, *clocks, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    since = time.monotonic()

    def tick(done: float) -> None:
        bar.advance(task, done)
        if not bar.live.is_started and time.monotonic() - since > PATIENCE:
            bar.start()

    try:
        yield tick
    finally:
        if bar.live.is_started:
            bar.stop()
