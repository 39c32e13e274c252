"""A question as it is sent to a desk, and the request that keeps it: its states, and when its end is shown.

A question is the name of a function and its arguments as plain data.

**Rehearsal.** Before anything is charged, the question is asked of dummy rows, made from public facts alone
(``subjects.py``), up to the point where the ledger would be charged: there it stops, before any noise. All that can be
wrong with the arguments is found so, and the amounts and the note of the charge are those of the real run, since both
follow from public numbers alone. No row is read, so that no message of a rehearsal depends on one.

Arguments that name a file, a ledger or rows are refused: they are not the analyst's to choose here.
"""

from __future__ import annotations

import inspect
import json
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

import dpcausal as dc
from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.desk.config import DatasetSettings
from dpcausal.desk.subjects import Subject

# arguments of the library's functions that a desk sets itself, or that open files
OURS = ("data", "counts", "ledger", "dataset", "progress", "plan", "graph", "effect", "reserve")
LARGEST = 20_000  # characters of arguments
FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"discover": dc.discover, "ci_test": dc.ci_test, "effect": dc.effect, "gwas": dc.gwas.screen}
)


@dataclass(frozen=True)
class Question:
    """A function by its name, and its arguments as plain data."""

    command: str
    arguments: Mapping[str, Any]

    def to_json(self) -> str:
        """Return the arguments as JSON."""
        return json.dumps(dict(self.arguments), sort_keys=True, allow_nan=False)

    def __str__(self) -> str:
        """Return the question as a call in Python."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.command}({given})"

    @property
    def method(self) -> str:
        """The method that is asked for."""
        return str(self.arguments.get("method", "auto"))

    def typed(self) -> dict[str, Any]:
        """Return the arguments as the function takes them: edges as such."""
        given = dict(self.arguments)
        for name in ("required", "forbidden"):
            if name in given:
                given[name] = [_edge(one) for one in given[name]]
        return given

    def ask(self, data: Any, ledger: Any, dataset: str) -> Any:
        """Return the answer from ``data``, charged to ``ledger``."""
        return FUNCTIONS[self.command](data, **self.typed(), ledger=ledger, dataset=dataset)


@dataclass(frozen=True)
class Rehearsal:
    """What a question will cost, and what its entry will say."""

    epsilon: float
    delta: float
    neighbours: str
    note: Mapping[str, Any]


class _Charged(BaseException):
    """The point of a rehearsal at which noise would follow; no handler of errors may hold it up."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal


class _Rehearsing:
    """A ledger that notes what it is asked for and stops."""

    def __init__(self, address: object) -> None:
        self.address = address

    def charge(
        self, dataset: str, release: str, epsilon: float, delta: float, *, neighbours: Any, note: Any
    ) -> NoReturn:
        raise _Charged(Rehearsal(epsilon, delta, str(neighbours.value), dict(note)))


def parse_question(
    command: object, arguments: object, settings: DatasetSettings, subject: Subject
) -> Question:
    """Return a question whose command and names of arguments are allowed; values are checked by ``rehearse``."""
    if command not in settings.allowed:
        raise InputError(f"this data set answers {', '.join(settings.allowed)}, not {str(command)[:40]!r}")
    if not isinstance(arguments, Mapping) or len(json.dumps(arguments, default=str)) > LARGEST:
        raise InputError(f"arguments must be an object of at most {LARGEST} characters")
    parameters = inspect.signature(FUNCTIONS[str(command)]).parameters
    free = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    given = dict(arguments)
    ours = {*OURS, *subject.fixed}
    for name in given:
        if name in ours or not str(name).isidentifier() or (name not in parameters and not free):
            hint = did_you_mean(str(name), [one for one in parameters if one not in ours])
            raise InputError(f"{command} takes no {str(name)[:40]!r} at a desk{hint}")
    for name, one in parameters.items():
        if one.default is inspect.Parameter.empty and name not in (*OURS, "options") and name not in given:
            raise InputError(f"{command} needs {name}")
    if isinstance(given.get("epsilon"), bool) or not isinstance(given.get("epsilon"), int | float):
        raise InputError("a desk answers with privacy only: give epsilon, a number")
    if given.get("variant", "ours") != "ours":
        raise InputError(
            "a desk runs methods as they are here, not as their papers print them: leave out variant"
        )
    if (
        "neighbours" in parameters
        and given.setdefault("neighbours", settings.neighbours) != settings.neighbours
    ):
        raise InputError(f"this data set is kept for {settings.neighbours} neighbours")
    question = Question(str(command), given)
    if settings.methods and question.method not in settings.methods:
        raise InputError(
            f"methods allowed for this data set: {', '.join(settings.methods)}; name one of them"
        )
    return question


def _edge(one: Any) -> Any:
    """Return an edge: a list of two is an arrow, ``{"edge": [a, b]}`` has no direction yet."""
    if isinstance(one, Mapping):
        return frozenset(one.get("edge", ()))
    return tuple(one)


def rehearse(question: Question, subject: Subject, address: object = None) -> Rehearsal:
    """Return what a question will be charged; raise ``InputError`` where it can't be asked. Nothing is charged."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            question.ask(subject.dummy, _Rehearsing(address), "rehearsal")
    except _Charged as reached:
        return reached.rehearsal
    except dc.DpcausalError:
        raise
    except (
        Exception
    ):  # a value of the wrong kind that no check names; dummy rows alone were there to be told of
        raise InputError(f"{question.command}: an argument has a value of the wrong kind") from None
    raise InputError(f"{question.command}: this would cost nothing, so that no desk is needed")


def forecast_words(question: Question, subject: Subject) -> str:
    """Return what the answer is expected to show, in words, from public numbers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return subject.forecast(question.command, question.arguments)
    except dc.DpcausalError as error:
        return f"No forecast: {error}"


# ---- requests

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
