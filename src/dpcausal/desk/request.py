"""A request to a desk: one question of one analyst, its states, and when its end is shown."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from dpcausal.desk.questions import Question

WAITING, QUEUED, RUNNING, DRAWING = "waiting", "queued", "running", "drawing"
DONE, FAILED, REFUSED, WITHDRAWN = "done", "failed", "refused", "withdrawn"
WORKING = "working"  # how queued, running and drawing are shown, and an end before its tick
ENDS = (DONE, FAILED, REFUSED, WITHDRAWN)


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question of one analyst, as the database holds it."""

    id: str
    key: str
    dataset: str
    person: str
    project: str | None
    purpose: str
    command: str
    arguments: str
    epsilon: float
    delta: float
    neighbours: str
    note: str
    forecast: str
    state: str
    asked: float
    charged: float | None
    entry: int | None
    lease: str | None
    lease_until: float | None
    attempts: int
    ended: float | None
    visible: float | None

    @property
    def question(self) -> Question:
        """What is asked."""
        return Question(self.command, json.loads(self.arguments))

    def shown_state(self, now: float) -> str:
        """Return the state as people see it: the same from the charge until the tick after its end."""
        if self.state in (QUEUED, RUNNING, DRAWING):
            return WORKING
        return WORKING if self.visible is not None and now < self.visible else self.state


def tick_after(charged: float, ended: float, tick: float) -> float:
    """Return the first multiple of ``tick`` after the charge at which a job had ended.

    >>> tick_after(100.0, 100.5, 60.0), tick_after(100.0, 161.0, 60.0)
    (160.0, 220.0)
    """
    return charged + tick * max(1, math.ceil((ended - charged) / tick))
