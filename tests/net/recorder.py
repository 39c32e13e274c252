"""Interception of everything random, charged or shown in a public call, and its replay on other data.

``Recorder.record(call)`` runs a call and keeps what every mechanism returned; ``Recorder.replay(call)`` runs another
call and hands out the same, in the same order. Both give a flat description (path -> text) of all that a user could
see. If a call on data A and the same call on data B are described alike, then B shows nothing but what mechanisms
released. What functions hold inside (``held.py``) is compared, too.

Everything that is intercepted is found through the names in the block below. After a move of files only that block
changes. Mechanisms are found by walking their package: a class with ``event`` and ``sample`` releases once, one with
``event`` and ``start`` opens a session. Anything else there that draws raises ``Unknown``, so no new kind of
mechanism stays unwatched.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import importlib
import inspect
import io
import logging
import pkgutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import jinja2
import numpy as np
from held import MOST_REPLAYED, Held, unwatched

# --- names that may move -----------------------------------------------------------------------------------------
PACKAGE = "dpcausal"
MECHANISMS = "dpcausal.privacy.mechanisms"  # the package that is walked for mechanisms
NOISE = "dpcausal.privacy.noise"  # every function in its __all__ draws
PUBLIC_RANDOM = ("dpcausal.core.entropy", "public_generator")  # randomness that need not be secret
PROGRESS = (
    "dpcausal.core.progress",
    "stages",
)  # stages(show) yields stage(what, total), which yields tick(done)
BUDGET = ("dpcausal", "Budget")  # its charge(*events) is where budgets are spent
RESTS = "dpcausal.privacy.budget._RESTS_SPENT"  # what a process has spent, so that it is not spent twice
STATEMENT = ("dpcausal", "PrivacyStatement")
RELEASE = (
    "dpcausal.privacy.mechanisms",
    "release",
)  # release(mechanism, budget, label, value), for planted bugs
BEGIN = ("dpcausal.privacy.mechanisms", "begin")  # begin(mechanism, budget, label, threshold), the same
BROKEN = ("dpcausal.audit",)  # rooms with mechanisms that are broken on purpose
SESSION_METHODS = ("ask", "first_above")  # what a session of a mechanism is asked by, and nothing else draws
EPOCH = "epoch"  # the argument of kept functions that simulate a law: they are given public numbers only
NO_MODULES = ("dpcausal.__main__",)  # importing it runs the command
# --- end of them -------------------------------------------------------------------------------------------------

SEED = 20_231
WITHOUT_ROWS = ("charge", "simulation", "progress")  # entries of a log that no mechanism made
NOT_CALLED = {"fit", "plot", "plot_budget", "report", "get_params", "set_params"}  # methods that are no faces


class Unknown(Exception):
    """A class that draws noise in a way that this module does not know."""


class Interference(AssertionError):
    """A call asked mechanisms for something else than the call that was recorded."""


@cache
def modules() -> tuple[ModuleType, ...]:
    """Every module of the package, loaded."""
    package = importlib.import_module(PACKAGE)
    names = [found.name for found in pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")]
    return (package, *(importlib.import_module(name) for name in names if name not in NO_MODULES))


def named(place: tuple[str, str]) -> Any:
    """The object of that name in that module."""
    return getattr(importlib.import_module(place[0]), place[1])


_places: dict[
    int, tuple[Any, list[tuple[ModuleType, str]]]
] = {}  # kept with the object, so that its id stays its own


def places(original: Any) -> list[tuple[ModuleType, str]]:
    """Where modules of the package hold ``original``, under whatever name."""
    if id(original) not in _places:
        found = [
            (module, name)
            for module in modules()
            for name, value in vars(module).items()
            if value is original
        ]
        if not found:
            raise Unknown(f"no module holds {original!r}")
        _places[id(original)] = original, found
    return _places[id(original)][1]


@contextlib.contextmanager
def everywhere(original: Any, stand_in: Any) -> Iterator[None]:
    """Put ``stand_in`` wherever a module of the package holds ``original``."""
    with contextlib.ExitStack() as stack:
        for module, name in places(original):
            stack.enter_context(mock.patch.object(module, name, stand_in))
        yield


# --- mechanisms --------------------------------------------------------------------------------------------------


def _classes(inside: str) -> Iterator[type]:
    """Classes that are defined in modules of that package."""
    for module in modules():
        if module.__name__ == inside or module.__name__.startswith(f"{inside}."):
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == module.__name__:
                    yield value


def _is_protocol(kind: type) -> bool:
    return bool(getattr(kind, "_is_protocol", False))


@cache
def mechanisms() -> dict[type, str]:
    """Mechanism -> the method that draws: ``sample`` or ``start``. ``Unknown`` for a class that fits neither."""
    found: dict[type, str] = {}
    for kind in _classes(MECHANISMS):
        draws = [name for name in ("sample", "start") if callable(getattr(kind, name, None))]
        if _is_protocol(kind) or not (draws or hasattr(kind, "event")):
            continue
        if len(draws) != 1 or not hasattr(kind, "event"):
            raise Unknown(
                f"{kind.__name__} has {draws or 'no drawing method'}: teach tests/net/recorder.py about it"
            )
        found[kind] = draws[0]
    for kind in _classes(PACKAGE):
        drawing = hasattr(kind, "event") and (hasattr(kind, "sample") or hasattr(kind, "start"))
        broken = kind.__module__.startswith(BROKEN)
        if drawing and not broken and not _is_protocol(kind) and kind not in found:
            raise Unknown(f"{kind.__name__} is a mechanism outside {MECHANISMS}")
    if not found:
        raise Unknown(f"there is no mechanism in {MECHANISMS}")
    return found


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(np.shape(value)) if not callable(value) else ()


class _Session:
    """Stands for a session of an interactive mechanism: what is asked of it and read from it goes through the log."""

    def __init__(self, recorder: Recorder, real: Any) -> None:
        self.__dict__.update(_recorder=recorder, _real=real)
        unknown = [name for name in SESSION_METHODS if callable(getattr(real, name, None))]
        if not unknown:
            raise Unknown(f"a session {type(real).__name__} with none of {', '.join(SESSION_METHODS)}")

    def __getattr__(self, name: str) -> Any:
        recorder, real = self._recorder, self._real
        what = f"{type(real).__name__}.{name}"
        if not callable(getattr(type(real), name, None)):
            return recorder.exchange(what, "", lambda: getattr(real, name))
        if name not in SESSION_METHODS:
            raise Unknown(f"{what} is no method that tests/net/recorder.py knows")

        def method(*values: Any) -> Any:
            shapes = str([_shape(value) for value in values])
            return recorder.exchange(what, shapes, lambda: getattr(real, name)(*values), noisy=True)

        return method


# --- the log -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One thing that happened: ``what``, its public parameters, and what came out of it."""

    what: str
    public: str
    out: Any = None


@dataclass(frozen=True)
class _Raised:
    """An error in place of an output."""


class Recorder:
    """Records one call, then replays it as often as is asked for."""

    def __init__(self, *, arrays: bool = False) -> None:
        self.log: list[Entry] = []
        self.used: set[type] = set()  # mechanisms that drew
        self.labels: list[str] = []  # of what was charged
        self._replaying = False
        self._at = 0
        self._last = -1
        self._depth = 0
        self._draws = 0
        self._paid = 0  # events charged, less those for which a mechanism has drawn or begun
        self._fault: str | None = None
        self._arrays = arrays  # whether small arrays that functions hold are compared
        self._held = Held()

    def record(self, call: Callable[[], Any]) -> dict[str, str]:
        """Run ``call`` and keep what mechanisms return; what can be seen of it."""
        self.log, self._replaying, self._held = [], False, Held(arrays=self._arrays)
        return self._run(call, self._held)

    def replay(self, call: Callable[[], Any]) -> dict[str, str]:
        """Run ``call`` on what was kept; what can be seen of it, and where it asked for something else."""
        self._replaying, first = True, self._held
        self._held = held = Held(MOST_REPLAYED, arrays=self._arrays)
        seen = self._run(call, held)
        self._held = first
        for (function, name), values in held.beyond(first).items():
            seen[f"held in {function}, {name}"] = repr(values)
        return seen

    @property
    def whats(self) -> set[str]:
        """What happened in the recorded call."""
        return {entry.what for entry in self.log}

    def _run(self, call: Callable[[], Any], held: Held) -> dict[str, str]:
        self._at, self._depth, self._paid, self._fault = 0, 0, 0, None
        made = [i for i, entry in enumerate(self.log) if entry.what not in WITHOUT_ROWS]
        self._last = made[-1] if made else -1  # of what is replayed, the last that a mechanism made

        def looked_at() -> Any:
            with held.watching():
                return call()

        # each run is a process of its own, which has spent the rest of no first round yet
        with watched(self), mock.patch(RESTS, set()):
            seen = seen_of(looked_at)
        if self._replaying and self._fault is None and self._at < len(self.log):
            self._fault = f"ended before {self.log[self._at].what}, {self._at} of {len(self.log)}"
        if self._fault is not None:
            seen["interference"] = self._fault
        return seen

    def _fail(self, words: str) -> Interference:
        if self._fault is None:
            self._fault = words
        return Interference(self._fault)

    def exchange(self, what: str, public: str, draw: Callable[[], Any], *, noisy: bool = False) -> Any:
        """What ``draw`` gives, or what it gave when it was recorded. ``noisy``: it must draw noise."""
        if self._depth:  # part of another mechanism
            return draw()
        if not self._replaying:
            return self._kept(what, public, draw, noisy)
        entry = self._next(what, public)
        return draw() if isinstance(entry.out, _Raised) else copy.deepcopy(entry.out)

    def _kept(self, what: str, public: str, draw: Callable[[], Any], noisy: bool) -> Any:
        before = self._draws
        self._depth += 1
        try:
            out = draw()
        except Exception:
            self.log.append(Entry(what, public, _Raised()))
            raise
        finally:
            self._depth -= 1
        if noisy and self._draws == before:
            raise self._fail(f"{what} ({public}) gave an answer without drawing noise")
        self.log.append(Entry(what, public, copy.deepcopy(out)))
        return out

    def _next(self, what: str, public: str) -> Entry:
        if self._at >= len(self.log):
            raise self._fail(f"{what} ({public}) after the last of {len(self.log)}")
        entry = self.log[self._at]
        if (entry.what, entry.public) != (what, public):
            raise self._fail(f"at {self._at}: {what} ({public}) where {entry.what} ({entry.public}) was")
        self._at += 1
        if self._at > self._last:
            self._held.stop()
        return entry

    def happened(self, what: str, public: str) -> None:
        """Something without an output that must be the same on both sides."""
        self.exchange(what, public, lambda: None)

    def noise(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that draws: counted within a mechanism; a coin of a driver's own outside, and then replayed."""

        def draw(*args: Any, **named_args: Any) -> Any:
            self._draws += 1
            return self.exchange(name, f"{args!r} {named_args!r}", lambda: original(*args, **named_args))

        return draw

    def _spend(self, kind: type) -> None:
        """Take one of the events that were charged for a draw; a mechanism within another draws for that one's."""
        if self._depth:
            return
        self._paid -= 1
        if self._paid < 0:
            raise self._fail(f"{kind.__name__} draws before it is charged")

    def sample(self, kind: type, original: Callable[..., Any]) -> Callable[..., Any]:
        """``sample`` of a mechanism."""

        def sample(mechanism: Any, value: Any) -> Any:
            self.used.add(kind)
            self._spend(kind)
            public = f"{mechanism!r} of shape {_shape(value)}"
            return self.exchange(
                f"{kind.__name__}.sample", public, lambda: original(mechanism, value), noisy=True
            )

        return sample

    def start(self, kind: type, original: Callable[..., Any]) -> Callable[..., Any]:
        """``start`` of a mechanism; the threshold is public."""

        def start(mechanism: Any, threshold: Any) -> Any:
            self.used.add(kind)
            if self._depth:
                return original(mechanism, threshold)
            self._spend(kind)
            self.happened(f"{kind.__name__}.start", f"{mechanism!r} at {threshold!r}")
            self._depth += 1
            try:
                return _Session(self, original(mechanism, threshold))
            finally:
                self._depth -= 1

        return start

    def simulation(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A law that is simulated from public numbers: what it draws is not about any row, and is not replayed."""

        def simulate(*args: Any, **named_args: Any) -> Any:
            self.happened("simulation", f"{args!r} {named_args!r}")
            self._depth += 1
            try:
                with unwatched():
                    return original(*args, **named_args)
            finally:
                self._depth -= 1

        return simulate

    def charge(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``charge`` of a budget."""

        def charge(budget: Any, *events: Any) -> Any:
            self.happened("charge", repr(events))
            self.labels += [event.label for event in events]
            result = original(budget, *events)
            self._paid += len(events)
            return result

        return charge

    def stages(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``stages`` of progress: amounts are noted instead of shown."""

        @contextlib.contextmanager
        def stage(what: str, total: float | None) -> Iterator[Callable[[float], None]]:
            words = what.split(" (")[0]  # without the remark that a kernel is being compiled
            self.happened("progress", f"{words} of {total}")
            yield lambda done: self.happened("progress", f"{words}: {done}")
            self.happened("progress", f"{words} is over")

        @contextlib.contextmanager
        def stages(show: bool) -> Iterator[Any]:
            if show:
                yield stage
            else:
                with original(show) as silent:
                    yield silent

        return stages


@cache
def _simulations() -> tuple[Any, ...]:
    """Kept functions of the epoch: laws simulated by a mechanism on made-up values, once for a process."""
    found: dict[int, Any] = {}
    for module in modules():
        for value in vars(module).values():
            if hasattr(value, "cache_clear") and hasattr(value, "__wrapped__"):
                with contextlib.suppress(TypeError, ValueError):
                    if EPOCH in inspect.signature(value).parameters:
                        found[id(value)] = value
    return tuple(found.values())


_compile = jinja2.Environment.compile
_codes: dict[tuple[Any, ...], Any] = {}


def _compile_once(environment: Any, *given: Any) -> Any:
    """A template compiled once: a report compiles its own each time, which takes longer than all the rest."""
    if given not in _codes:
        _codes[given] = _compile(environment, *given)
    return _codes[given]


@contextlib.contextmanager
def watched(recorder: Recorder) -> Iterator[None]:
    """Put ``recorder`` between the package and all that draws, charges or shows progress."""
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        for kind, method in mechanisms().items():
            if method in vars(kind):
                wrapped = getattr(recorder, method)(kind, vars(kind)[method])
                enter(mock.patch.object(kind, method, wrapped))
        noise = importlib.import_module(NOISE)
        for name in noise.__all__:
            original = getattr(noise, name)
            if inspect.isfunction(original):
                enter(everywhere(original, recorder.noise(name, original)))
        enter(everywhere(named(PUBLIC_RANDOM), lambda: np.random.default_rng(SEED)))
        enter(everywhere(named(PROGRESS), recorder.stages(named(PROGRESS))))
        budget = named(BUDGET)
        enter(mock.patch.object(budget, "charge", recorder.charge(budget.charge)))
        for simulation in _simulations():
            enter(everywhere(simulation, recorder.simulation(simulation)))
        enter(mock.patch.object(jinja2.Environment, "compile", _compile_once))
        yield


# --- what can be seen --------------------------------------------------------------------------------------------


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == PACKAGE:
            self.lines.append(f"{record.levelname} {record.getMessage()}")


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    root, handler = logging.getLogger(), _Lines()
    root.addHandler(handler)
    try:
        yield handler.lines
    finally:
        root.removeHandler(handler)


def seen_of(call: Callable[[], Any]) -> dict[str, str]:
    """All that a user could see of a call: result or error in every form, both streams, warnings, log lines."""
    out, err = io.StringIO(), io.StringIO()
    seen: dict[str, str] = {}
    with (
        warnings.catch_warnings(record=True) as told,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _logged() as lines,
    ):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # what earlier tests left, whenever it is collected
        try:
            result = call()
            describe(result, "result", seen)
            seen["forgotten"] = repr(forgotten(statements_in(result)))
        except Exception as error:
            seen["error"] = told_by(error)
    seen["stdout"], seen["stderr"] = out.getvalue(), err.getvalue()
    seen["warnings"] = repr([(warning.category.__name__, str(warning.message)) for warning in told])
    seen["log"] = repr(lines)
    return seen


def told_by(error: BaseException | None) -> str:
    """All the words of an error: its own, and those of errors behind it, which a program can read though none shows."""
    words, met = [], set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one is not None and id(one) not in met:
            met.add(id(one))
            words.append(": ".join([type(one).__name__, str(one), *getattr(one, "__notes__", ())]))
            waiting += [one.__cause__, one.__context__]
    return "; behind it ".join(words)


def statements_in(value: Any, inside: tuple[int, ...] = ()) -> list[Any]:
    """Every privacy statement within a result, in their order."""
    if isinstance(value, named(STATEMENT)):
        return [value]
    if isinstance(value, list | tuple):
        return [found for item in value for found in statements_in(item, inside)]
    own = (
        vars(value).values()
        if _ours(value) and hasattr(value, "__dict__") and id(value) not in inside
        else ()
    )
    return [found for item in own for found in statements_in(item, (*inside, id(value)))]


def forgotten(statements: list[Any]) -> list[str]:
    """What a statement leaves out though it counts the charges of another that says it."""
    return [
        f"{fact}"
        for early in statements
        for late in statements
        if early.events and late.events[: len(early.events)] == early.events
        for word in ("released", "public")
        for fact in getattr(early, word)
        if fact not in getattr(late, word)
    ]


Met = dict[int, tuple[Any, dict[str, str]]]  # objects that were described, by id, and what was said of each


def describe(
    value: Any, path: str, seen: dict[str, str], inside: tuple[int, ...] = (), met: Met | None = None
) -> None:
    """Add every field of ``value``, private ones too, and every face it has (``repr``, JSON, HTML ...) to ``seen``."""
    met = {} if met is None else met
    if isinstance(value, bytes):
        seen[path] = value.decode("utf-8", "backslashreplace")
    elif value is None or isinstance(value, bool | int | float | str | enum.Enum | np.generic):
        seen[path] = f"{type(value).__name__} {value!r}"
    elif isinstance(value, np.ndarray):
        seen[path] = f"{value.dtype} {value.shape} {value.tolist()!r}"
    elif isinstance(value, Mapping) and not _ours(value):
        seen[f"{path} keys"] = repr([_key(key) for key in value])
        for key, item in value.items():
            describe(item, f"{path}[{_key(key)}]", seen, inside, met)
    elif isinstance(value, set | frozenset):
        seen[path] = repr(sorted(_key(item) for item in value))
    elif isinstance(value, list | tuple):
        seen[f"{path} length"] = f"{type(value).__name__} {len(value)}"
        for i, item in enumerate(value):
            describe(item, f"{path}[{i}]", seen, inside, met)
    elif isinstance(value, BaseException):
        seen[path] = f"{type(value).__name__}: {value}"
    elif _ours(value) and id(value) not in inside:
        if id(value) not in met:  # one object is reached in many ways: its report is written once
            met[id(value)] = value, {}
            _describe_ours(value, met[id(value)][1], (*inside, id(value)), met)
        seen.update((path + place, words) for place, words in met[id(value)][1].items())
    elif not _ours(value):
        seen[path] = type(value).__name__ if " at 0x" in repr(value) else repr(value)


def _ours(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in (PACKAGE, "calls")


def _key(key: Any) -> str:
    return repr(sorted(map(_key, key))) if isinstance(key, set | frozenset) else repr(key)


@cache
def _faces(kind: type) -> tuple[tuple[str, bool], ...]:
    """The public properties of a class, and its methods that need nothing more, which are called: name, and which."""
    members = [
        (name, member)
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and name not in NOT_CALLED
    ]
    return tuple(
        (name, not isinstance(member, property))
        for name, member in members
        if isinstance(member, property)
        or (inspect.isfunction(member) and list(inspect.signature(member).parameters) == ["self"])
    )


def _describe_ours(value: Any, seen: dict[str, str], inside: tuple[int, ...], met: Met) -> None:
    """Add what there is to see of an object of the package to ``seen``, by paths that begin at the object."""
    seen[""] = type(value).__name__
    fields = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if hasattr(value, name):
                fields[name] = getattr(value, name)
    for name, item in sorted(fields.items()):
        describe(item, f".{name}", seen, inside, met)
    for name, called in _faces(type(value)):
        found = getattr(value, name)() if called else getattr(value, name)
        if not (called and type(found).__module__.startswith("networkx")):
            describe(found, f".{name}()" if called else f".{name}", seen, inside, met)
    for name in ("__repr__", "__str__", "_repr_html_"):
        if hasattr(value, name):
            seen[f".{name}()"] = getattr(value, name)()
    asked = inspect.signature(value.summary).parameters if hasattr(value, "summary") else {}
    if "full" in asked:  # all the words, not only the brief ones that __str__ has
        seen[".summary(full)"] = value.summary(full=True)
    if "open" in asked:  # open pairs, if asked for
        for full in (False, True):
            seen[f".summary(open, full={full})"] = value.summary(open=True, full=full)
    if hasattr(value, "report"):
        with tempfile.TemporaryDirectory() as folder:
            value.report(str(Path(folder) / "report.html"))
            describe((Path(folder) / "report.html").read_bytes(), " report", seen)


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Where two descriptions differ, a line each, with what stands around the first difference."""
    found = []
    for path in {**one, **other}:
        a, b = one.get(path, "(nothing)"), other.get(path, "(nothing)")
        if a != b:
            i = next((i for i, (p, q) in enumerate(zip(a, b, strict=False)) if p != q), min(len(a), len(b)))
            around = slice(max(0, i - 60), i + 120)
            found.append(f"{path}: {a[around]!r} and {b[around]!r}")
    return found
