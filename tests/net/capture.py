"""Watches what goes into every mechanism during a public call, with the noise intercepted.

``record(call, data)`` runs ``call(data)`` and returns a ``Tape``: every charge to a budget and every use of a mechanism
in their order, with the integers that entered the mechanism and the scales that were asked of the noise layer. Given
the tape of another run, ``record`` replays its answers, so that an adaptive search asks the same questions on both
data sets. ``compared(one, two)`` demands that both tapes differ in nothing but those integers, and returns for every
charge the privacy loss that the two data sets show over what was charged.

Public randomness is coupled: a row keeps its coins whatever the other rows and their number are (``_Coins``).

The losses are computed from the integers and from the scale that the noise layer was asked for, never from what a
mechanism says about itself; so a scale that is too small is seen wherever it was made too small. Every monkeypatch of
the wiring tests stands in this file, and the names that it needs in one block: after a move of files only that block
changes. Mechanism classes are found by walking their package, and an unknown one is an error.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import math
import pkgutil
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import dpcausal

# --- names that may move -----------------------------------------------------------------------------------------
from dpcausal.citests import chi2 as chi2_tests
from dpcausal.citests import gcm, parts, rank, regression_columns, session
from dpcausal.citests import unit_circle as unit_circle_tests
from dpcausal.core import entropy
from dpcausal.counts import sampling
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.stream import StreamCounts
from dpcausal.data.dataset import Dataset
from dpcausal.data.schema import Schema
from dpcausal.discovery import search
from dpcausal.discovery.result import DiscoveryResult
from dpcausal.privacy import mechanisms, noise
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.mechanisms.median import Range
from dpcausal.stats import crt as crt_statistics
from dpcausal.stats import gcm_parts as gcm_statistics
from dpcausal.stats import moments as moment_statistics

RELEASE = mechanisms.release  # the function that charges, then samples
DEAL_EQUAL, DEAL_FAIR = sampling.deal_equal, sampling.deal_fair
DEAL_ROWS = parts.deal_rows  # the rows of every part, by number
BACKENDS = (MemoryCounts, StreamCounts)  # each with a method ``subsample``
GENERATOR = entropy.public_generator
# null laws of released numbers: no data enters, and they cost a hundred times what the release does
LAWS = (chi2_tests.median_pvalue, chi2_tests.smooth_pvalue, unit_circle_tests.worst_tail)
# of the planted bugs
BLOCKS_OF, BINS_OF = rank.blocks_of, regression_columns.bins_of
CUT_SENSITIVITY, PRIVATE_PARTS = gcm_statistics.cut_sensitivity, gcm.private_parts
CRT_SENSITIVITY, MOMENT_SENSITIVITY = crt_statistics.crt_sensitivity, moment_statistics.moment_sensitivity
SESSION, TASK = session.Session, search.Task
# --- end of them -------------------------------------------------------------------------------------------------

Ints = np.ndarray[Any, np.dtype[np.int64]]
FAR = 1 << 60  # noise that decides a comparison
ROUNDING = 1e-9
WITHIN_A_SESSION = ("ask", "first_above")

# what kinds of event may stand for a mechanism: permute-and-flip, say, is not of bounded range
EVENTS = {
    "Exponential": ("bounded-range", "pure"),
    "ExponentialMedian": ("bounded-range", "pure"),
    "Gaussian": ("gaussian", "zcdp"),
    "Laplace": ("laplace", "pure"),
    "NoisyMax": ("pure",),
    "NoisyRank": ("pure",),
    "PermuteAndFlip": ("pure",),
    "SieveAndExamine": ("pure", "zcdp"),
    "SmoothMedian": ("pure", "approximate"),
    "SmoothTrimmedMean": ("pure", "approximate"),
    "SparseVector": ("pure",),
    "SpanningTree": ("zcdp",),
    "TopK": ("pure", "zcdp"),
}
SESSIONS = ("SparseVectorSession", "SieveSession")
SMOOTH = (
    "SmoothMedian",
    "SmoothTrimmedMean",
)  # by smooth sensitivity: the scale of their noise depends on the data


class Diverged(AssertionError):
    """Two data sets led to other charges, mechanisms, parameters or results though all answers were the same."""


class Exceeded(AssertionError):
    """Two neighbours are told apart by more than what was charged, or noise was drawn that nobody paid for."""


# --- the tape ----------------------------------------------------------------------------------------------------


@dataclass
class Charge:
    """An event that a budget accepted."""

    event: dict[str, Any]


@dataclass
class Coin:
    """A fair coin outside any mechanism."""

    side: bool


@dataclass
class Subsample:
    """Rows drawn without replacement; ``moved``: whether the draw differs from that of the run that is replayed."""

    size: int
    moved: bool


@dataclass
class Use:
    """One sample, session start or question: what went in, what the noise layer was asked for, what came out."""

    name: str
    what: str
    mechanism: Any
    integers: Ints
    session: object = None
    answer: Any = None
    draws: list[tuple[Any, ...]] = field(default_factory=list)
    parts: list[Use] = field(default_factory=list)
    inexact: bool = False


@dataclass
class Tape:
    """Everything that one call did."""

    entries: list[Charge | Coin | Subsample | Use] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)  # those inside others too, in the order they began
    result: str = ""
    deals: list[tuple[Ints, Ints]] = field(default_factory=list)
    parts_of_rows: list[Ints] = field(default_factory=list)  # each time that rows were dealt


@cache
def mechanism_classes() -> dict[str, type]:
    """The classes of the package that cost something (``event``) and draw (``sample`` or ``start``), by name."""
    return {
        name: kind
        for name, kind in _classes()
        if hasattr(kind, "event")
        and (hasattr(kind, "sample") or hasattr(kind, "start"))
        and not getattr(kind, "_is_protocol", False)
    }


Site = tuple[str, int, str]  # file, line, and the class that is called there


def mechanism_sites() -> set[Site]:
    """Where the package makes mechanisms; not its own audit, nor mechanisms that are parts of others."""
    root, found = Path(dpcausal.__file__).parent, set()
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        if name.startswith(("audit/", "privacy/")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).split(".")[-1]
                if called in mechanism_classes():
                    found.add((name, node.lineno, called))
    return found


@contextlib.contextmanager
def sites_watched() -> Iterator[Callable[[Tape], set[Site]]]:
    """Gives a function that tells where the mechanisms of a tape were made."""
    root = Path(dpcausal.__file__).parent
    made: dict[int, tuple[object, Site]] = {}  # with the mechanism, so that no other can take its id

    def watched(kind: type) -> Callable[..., None]:
        first = kind.__init__  # type: ignore[misc]

        def init(self: object, *args: Any, **kwargs: Any) -> None:
            caller = sys._getframe(1)
            path = Path(caller.f_code.co_filename)
            if path.is_relative_to(root):
                site = path.relative_to(root).as_posix(), caller.f_lineno, kind.__name__
                made[id(self)] = self, site
            first(self, *args, **kwargs)

        return init

    forget()  # designs that were made before
    with contextlib.ExitStack() as stack:
        for kind in mechanism_classes().values():
            stack.enter_context(mock.patch.object(kind, "__init__", watched(kind)))
        yield lambda tape: {made[id(use.mechanism)][1] for use in tape.uses if id(use.mechanism) in made}


@cache
def session_classes() -> dict[str, type]:
    """The classes that answer questions for a charge made before."""
    return {name: kind for name, kind in _classes() if hasattr(kind, "ask")}


def load_all() -> None:
    """Import every module: one that is imported while a function is replaced would keep the replacement."""
    for module in pkgutil.walk_packages(dpcausal.__path__, "dpcausal."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _classes() -> Iterator[tuple[str, type]]:
    inside = pkgutil.walk_packages(mechanisms.__path__, mechanisms.__name__ + ".")
    found = [mechanisms, *(importlib.import_module(module.name) for module in inside)]
    for module in found:
        for name, kind in vars(module).items():
            if inspect.isclass(kind) and kind.__module__.startswith(mechanisms.__name__):
                yield name, kind


load_all()


# --- interception ------------------------------------------------------------------------------------------------


class _Coins:
    """Public randomness that rows share between data sets.

    Call k for bytes gives row i the same ones whatever n is. A deal of counts, or a subsample, gives the rows that two
    tables have in common the same part, and the row that differs its predecessor's part.
    """

    def __init__(self, seed: int, tape: Tape, replay: Tape | None) -> None:
        self.seed, self.tape, self.replay = seed, tape, replay
        self.calls = 0

    def fresh(self) -> np.random.Generator:
        self.calls += 1
        return np.random.default_rng([self.seed, self.calls])

    def bytes(self, count: int) -> bytes:
        return self.fresh().bytes(max(count, 1 << 12))[:count]

    def parts(self, table: Ints, labels: Callable[[int, np.random.Generator], Ints]) -> Ints:
        """A part for every row of ``table``, its rows in the order of its cells."""
        rng, flat = self.fresh(), np.asarray(table).ravel()
        place = len(self.tape.deals)
        before = self.replay.deals[place] if self.replay and place < len(self.replay.deals) else None
        if before is None:
            found = labels(int(flat.sum()), rng)
        else:
            found = _carried(*before, flat, lambda count: labels(count, rng))
        self.tape.deals.append((flat.copy(), found))
        return found

    def dealt(
        self, table: Ints, labels: Callable[[int, np.random.Generator], Ints], parts: int
    ) -> list[Ints]:
        where, shape = self.parts(table, labels), np.shape(table)
        cell = np.repeat(np.arange(np.size(table)), np.ravel(table))
        counts = [np.bincount(cell[where == part], minlength=np.size(table)) for part in range(parts)]
        return [count.reshape(shape).astype(np.int64) for count in counts]


def _carried(before: Ints, labels: Ints, after: Ints, new: Callable[[int], Ints]) -> Ints:
    """Labels of the rows of ``after``: those of ``before`` where both have the row, then what was left over."""
    if len(before) != len(after):
        return new(int(after.sum()))
    starts = np.cumsum(before) - before
    common = np.minimum(before, after)
    kept = [labels[s : s + c] for s, c in zip(starts, common, strict=True)]
    spare = [labels[s + c : s + b] for s, c, b in zip(starts, common, before, strict=True)]
    over = np.concatenate([*spare, np.zeros(0, np.int64)])
    lacking = int((after - common).sum()) - len(over)
    if lacking > 0:
        over = np.concatenate([over, new(lacking)])
    found, used = [], 0
    for own, more in zip(kept, (after - common).tolist(), strict=True):
        found += [own, over[used : used + more]]
        used += more
    return np.concatenate(found).astype(np.int64)


class _Generator:
    """Stands in for a numpy generator: every method call has its own coins, the first n of which serve n rows."""

    def __init__(self, coins: _Coins) -> None:
        self._coins = coins

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coins.fresh(), name)


class _Recorder:
    def __init__(self, seed: int, replay: Tape | None) -> None:
        self.tape, self.replay = Tape(), replay
        self.coins = _Coins(seed, self.tape, replay)
        self.noise = np.random.default_rng([seed, 0])
        self.open: list[Use] = []
        self.forced: int | None = None
        self.tossed = 0

    # uses

    def begin(self, kind: str, what: str, mechanism: Any, value: Any, session: object = None) -> Use:
        integers, inexact = _entering(mechanism, value) if what != "start" else (np.zeros(0, np.int64), False)
        use = Use(kind, what, mechanism, integers, session, inexact=inexact)
        (self.open[-1].parts if self.open else self.tape.entries).append(use)
        self.tape.uses.append(use)
        before = self.before(use)
        if before is not None and (
            (before.name, before.what, repr(before.mechanism)) != (use.name, use.what, repr(use.mechanism))
            or before.integers.shape != use.integers.shape
        ):
            raise Diverged(
                f"{use.name}.{use.what} of {use.mechanism} where the other data set has {before.name}."
                f"{before.what} of {before.mechanism} ({use.integers.shape}, {before.integers.shape})"
            )
        self.open.append(use)
        return use

    def before(self, use: Use) -> Use | None:
        """The same use in the run that is replayed."""
        if self.replay is None:
            return None
        place = next(i for i in range(len(self.tape.uses) - 1, -1, -1) if self.tape.uses[i] is use)
        if place >= len(self.replay.uses):
            raise Diverged(f"{use.name}.{use.what} of {use.mechanism} where the other data set has no more")
        return self.replay.uses[place]

    def end(self, use: Use, answer: Any) -> Any:
        self.open.remove(use)
        before = self.before(use)
        use.answer = answer if before is None or use.what == "start" else before.answer
        return use.answer.copy() if isinstance(use.answer, np.ndarray) else use.answer

    # the noise layer

    def drawn(self, *draw: Any, answer: Callable[[], Any]) -> Any:
        """Note a draw; ``answer`` is made in a first run and repeated in a replay."""
        if not self.open:
            raise Exceeded(f"noise was drawn outside of any mechanism: {draw[0]}")
        use = self.open[-1]
        before, place = self.before(use), len(use.draws)
        if before is not None and (place >= len(before.draws) or before.draws[place][0] != draw[0]):
            raise Diverged(f"{use.name} draws {draw[0]}, not what it drew before")
        found = answer() if before is None else before.draws[place][-1]
        use.draws.append((*draw, found))
        return found

    def additive(self, kind: str, law: Callable[[float, int], Any]) -> Callable[..., Any]:
        def draw(scale: float, size: int | None = None) -> Any:
            found = self.drawn(kind, float(scale), size, answer=lambda: _rounded(law(scale, size or 1)))
            if self.forced is not None:
                found = np.full_like(found, self.forced)
            return int(found[0]) if size is None else found.copy()

        return draw

    def categorical(self, weights: Sequence[int], gammas: Sequence[Fraction]) -> int:
        def choose() -> int:
            each = np.array(weights, np.float64) * np.exp([-float(gamma - min(gammas)) for gamma in gammas])
            return int(self.noise.choice(len(each), p=each / each.sum()))

        found: int = self.drawn("categorical", list(weights), list(gammas), answer=choose)
        return found

    def categorical_steps(self, steps: Any, per_step: Fraction) -> int:
        return self.categorical([1] * len(steps), [step * per_step for step in np.asarray(steps).tolist()])

    def bernoulli_exp_many(self, steps: Any, per_step: Fraction) -> Any:
        def toss() -> Any:
            return self.noise.random(np.size(steps)) < np.exp(-np.asarray(steps) * float(per_step))

        return self.drawn("bernoulli", np.array(steps), Fraction(per_step), answer=toss).copy()

    def uniform_below(self, bound: int) -> int:
        found: int = self.drawn("uniform", answer=lambda: int(self.noise.integers(bound)))
        return found

    def coin(self) -> bool:
        tossed = (
            [entry.side for entry in self.replay.entries if isinstance(entry, Coin)] if self.replay else None
        )
        if tossed is not None and self.tossed >= len(tossed):
            raise Diverged("a coin is tossed where the other data set needs none")
        side = bool(self.noise.integers(2)) if tossed is None else tossed[self.tossed]
        self.tossed += 1
        self.tape.entries.append(Coin(side))
        return side

    # what surrounds the mechanisms

    def charge(self, original: Any) -> Any:
        def charge(budget: Any, *events: Any) -> None:
            original(budget, *events)
            self.tape.entries.extend(Charge(event.to_dict()) for event in events)

        return charge

    def sample(self, name: str, original: Any) -> Any:
        def sample(mechanism: Any, value: Any) -> Any:
            use = self.begin(name, "sample", mechanism, value)
            return self.end(use, original(mechanism, value))

        return sample

    def start(self, name: str, original: Any) -> Any:
        def start(mechanism: Any, threshold: float) -> Any:
            use = self.begin(name, "start", mechanism, None)
            use.session = original(mechanism, threshold)
            return self.end(use, use.session)

        return start

    def ask(self, what: str, original: Any) -> Any:
        def ask(session: Any, value: Any, *more: Any) -> Any:
            use = self.begin(type(session.mechanism).__name__, what, session.mechanism, value, session)
            before = self.before(use)
            if before is not None and what == "ask" and not more:
                self.forced = FAR if before.answer else -FAR
            try:
                answer = original(session, value, *more)
            finally:
                self.forced = None if not more else self.forced
            return self.end(use, answer)

        return ask

    def deal_rows(self, n: int, *given: Any) -> list[Ints]:
        dealt = DEAL_ROWS(n, *given)
        found = np.full(n, -1)
        for part, rows in enumerate(dealt):
            found[rows] = part
        self.tape.parts_of_rows.append(found)
        return dealt

    def subsample(self, backend: Any, m: int, *_: Any, **__: Any) -> Any:
        columns = tuple(backend.schema)
        table = backend.table(columns)

        def labels(n: int, rng: np.random.Generator) -> Ints:
            return (rng.permutation(n) < m).astype(np.int64)

        taken = self.coins.dealt(table, labels, 2)[1]
        moved = True
        if self.replay is not None and len(self.replay.deals) >= len(self.tape.deals):
            flat, where = self.replay.deals[len(self.tape.deals) - 1]
            cell = np.repeat(np.arange(len(flat)), flat)
            moved = not np.array_equal(np.bincount(cell[where == 1], minlength=len(flat)), taken.ravel())
        self.tape.entries.append(Subsample(m, moved))
        cells = np.repeat(np.arange(taken.size), taken.ravel())
        codes = np.unravel_index(cells, taken.shape)
        kept = {
            name: code.astype(np.uint8 if size <= 256 else np.uint16)
            for name, code, size in zip(columns, codes, taken.shape, strict=True)
        }
        return MemoryCounts(Dataset(backend.schema, len(cells), kept))


def _rounded(values: Any) -> Ints:
    return np.rint(np.atleast_1d(values)).astype(np.int64)


def _entering(mechanism: Any, value: Any) -> tuple[Ints, bool]:
    """The integers that a value becomes, and whether a grid that promises exact values was broken."""
    if type(mechanism).__name__ in (*SMOOTH, "ExponentialMedian"):
        return Range(mechanism.lower, mechanism.upper, mechanism.cells).to_points(value), False
    if type(mechanism).__name__ == "SieveAndExamine":
        mechanism = mechanism.sieve
    grid = mechanism.round.on if type(mechanism).__name__ in ("TopK", "SpanningTree") else mechanism.on
    values = np.asarray(value, dtype=np.float64)
    integers = grid.to_integers(values)
    inexact = grid.exact and not np.array_equal(integers * Fraction(grid.step).__float__(), values)
    return np.atleast_1d(integers).astype(np.int64), bool(inexact)


@contextlib.contextmanager
def _intercepted(recorder: _Recorder) -> Iterator[None]:
    rng, coins = recorder.noise, recorder.coins
    undo: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    def put_all(original: Any, replacement: Any) -> None:
        for module, name in _places(original):
            put(module, name, replacement)

    laws = {
        noise.discrete_laplace: ("laplace", lambda b, k: rng.laplace(0, b, k)),
        noise.discrete_gaussian: ("gaussian", lambda b, k: rng.normal(0, b, k)),
        noise.geometric: ("geometric", lambda b, k: rng.exponential(b, k)),
        noise.discrete_cauchy: ("cauchy", lambda b, k: np.clip(b * rng.standard_cauchy(k), -1e9, 1e9)),
    }
    try:
        for original, (kind, law) in laws.items():
            put_all(original, recorder.additive(kind, law))
        for name in ("categorical", "categorical_steps", "bernoulli_exp_many", "uniform_below", "coin"):
            put_all(getattr(noise, name), getattr(recorder, name))
        put_all(DEAL_EQUAL, lambda table, sizes, *_: coins.dealt(table, _equal(sizes), len(sizes)))
        put_all(DEAL_FAIR, lambda table, levels, *_: coins.dealt(table, _fair(levels), 1 << levels))
        put_all(DEAL_ROWS, recorder.deal_rows)
        put_all(GENERATOR, lambda: _Generator(coins))
        for law in LAWS:
            put_all(law, _quick_law)
        for backend in BACKENDS:
            put(backend, "subsample", _method(recorder.subsample))
        put(Budget, "charge", recorder.charge(Budget.charge))
        for name, kind in mechanism_classes().items():
            if name not in EVENTS:
                raise AssertionError(
                    f"the wiring tests know no mechanism {name}: say in capture.py what it costs"
                )
            if "sample" in vars(kind):
                put(kind, "sample", recorder.sample(name, vars(kind)["sample"]))
            if "start" in vars(kind):
                put(kind, "start", recorder.start(name, vars(kind)["start"]))
        for name, kind in session_classes().items():
            if name not in SESSIONS:
                raise AssertionError(
                    f"the wiring tests know no session {name}: say in capture.py what it costs"
                )
            for what in WITHIN_A_SESSION:
                if what in vars(kind):
                    put(kind, what, recorder.ask(what, vars(kind)[what]))
        with entropy.replaced(coins.bytes):
            yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


@cache
def _places(original: Any) -> list[tuple[Any, str]]:
    """Every module of the package that has this function, with the name it has there."""
    modules = [m for name, m in list(sys.modules.items()) if name.partition(".")[0] == "dpcausal"]
    return [(m, name) for m in modules for name, value in vars(m).items() if value is original]


def _quick_law(*given: Any) -> float:
    """Stands in for a p-value: some number within 0 and 1 that follows from all that the law was given."""
    return zlib.crc32(repr(given).encode()) / 2**32


def _method(function: Any) -> Any:
    return lambda self, *given, **more: function(self, *given, **more)


def _equal(sizes: Sequence[int]) -> Callable[[int, np.random.Generator], Ints]:
    return lambda n, rng: rng.permutation(np.repeat(np.arange(len(sizes)), sizes))[:n]


def _fair(levels: int) -> Callable[[int, np.random.Generator], Ints]:
    return lambda n, rng: rng.integers(0, 1 << levels, n)


def everywhere(stack: contextlib.ExitStack, original: Any, replacement: Any) -> None:
    """Replace a function in every module of the package that has it, under whatever name."""
    for module, name in _places(original):
        stack.enter_context(mock.patch.object(module, name, replacement))


def forget() -> None:
    """Empty every cache of the package: mechanisms are kept in some, and a planted bug must not meet an old one."""
    for module in [m for name, m in list(sys.modules.items()) if name.partition(".")[0] == "dpcausal"]:
        for value in list(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if callable(clear):
                clear()


def record(call: Callable[[Any], Any], data: Any, *, seed: int = 0, replay: Tape | None = None) -> Tape:
    """Run ``call(data)`` with the noise intercepted; with ``replay``, on the answers of that tape."""
    recorder = _Recorder(seed, replay)
    with _intercepted(recorder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = shown(call(data))
        except (ValueError, RuntimeError) as error:  # one-line errors of the package
            if not type(error).__module__.startswith("dpcausal"):
                raise
            found = f"{type(error).__name__}: {error}"
    recorder.tape.result = found
    return recorder.tape


def shown(result: Any) -> str:
    """All that a result tells, as text."""
    if isinstance(result, tuple | list):
        return "\n".join(map(shown, result))
    if hasattr(result, "result_"):
        return shown(result.result_)
    text = repr(result)
    facts = dict(getattr(result, "__dict__", {}))
    if isinstance(result, DiscoveryResult):  # fact by fact, so that members of sets have an order
        for part in ("terms", "pairs", "search", "reuse"):
            facts |= vars(facts.pop(part))
    for name, value in sorted(facts.items()):
        text += f"\n{name}: {_ordered(value)}"
    if hasattr(result, "to_dict"):  # what its JSON is made of
        return text + repr(result.to_dict())
    return text + result.to_json() if hasattr(result, "to_json") else text


def _ordered(value: Any) -> str:
    """Its repr, with the members of sets and dicts in an order of their own."""
    if isinstance(value, dict):
        return repr(sorted((_ordered(k), _ordered(v)) for k, v in value.items()))
    if isinstance(value, set | frozenset):
        return repr(sorted(map(_ordered, value)))
    return repr(value)


# --- comparison --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """Of one charge: the loss that was found over the loss charged, and the distance over the sensitivity claimed.

    For a choice the second is about each score by itself and may be the larger; elsewhere both are nearly the same.
    """

    mechanism: str
    label: str
    ratio: float
    moved: float


def compared(one: Tape, two: Tape, relation: str, *, neighbours: bool = True) -> list[Loss]:
    """Demand that the tapes differ in integers only and that neighbours are no further apart than was charged.

    With ``neighbours=False`` the data sets may be any: then only the first is demanded, and nothing is returned.
    """
    _same(one, two)
    if relation == "add-remove":
        _rows_stay(one, two)
    found: list[Loss] = []
    for charge, first, second, sampled in _paid(one, two):
        event = charge.event
        if event["neighbours"] != relation:
            raise Exceeded(
                f"{event['label']} was charged for {event['neighbours']}, the call asked for {relation}"
            )
        name = first[0].name
        if event["kind"] not in EVENTS[name]:
            raise Exceeded(f"{name} was charged as {event['kind']}")
        if any(use.inexact for use in first + second):
            raise Exceeded(f"{name} on a grid that promises exact values was given others ({event['label']})")
        charged = charged_loss(event)
        loss, implied, reach = LOSSES[name](first, second, event, sampled)
        if implied > charged * (1 + ROUNDING):
            raise Exceeded(
                f"{name} costs {implied:.6g} by its noise, {charged:.6g} was charged ({event['label']})"
            )
        if neighbours and max(loss / charged, reach) > 1 + ROUNDING:
            raise Exceeded(
                f"{name} tells neighbours apart by {loss:.6g}, {charged:.6g} was charged ({event['label']}); "
                f"they are {reach:.4g} times its sensitivity apart"
            )
        found.append(Loss(name, event["label"], loss / charged, reach))
    return found if neighbours else []


def _rows_stay(one: Tape, two: Tape) -> None:
    """Demand that every row has the part that it has where there are fewer rows, or more."""
    for a, b in zip(one.parts_of_rows, two.parts_of_rows, strict=True):
        common = min(len(a), len(b))
        if not np.array_equal(a[:common], b[:common]):
            raise Exceeded("one row more or less moves others to other parts")


def charged_loss(event: dict[str, Any]) -> float:
    """What an event costs, from its numbers: epsilon, or sqrt(2 rho) where it is about rho."""
    kind = event["kind"]
    if kind in ("laplace", "gaussian"):
        return float(event["sensitivity"] / event["scale" if kind == "laplace" else "sigma"])
    cost = float(event["cost"])
    return math.sqrt(2 * cost) if kind == "zcdp" else cost


def _same(one: Tape, two: Tape) -> None:
    if len(one.entries) != len(two.entries):
        raise Diverged(
            f"{len(one.entries)} charges, uses and coins on one data set, {len(two.entries)} on the other"
        )
    for a, b in zip(one.entries, two.entries, strict=True):
        if type(a) is not type(b) or (isinstance(a, Charge | Coin) and a != b):
            raise Diverged(f"{a} on one data set, {b} on the other")
        if isinstance(a, Use) and isinstance(b, Use):
            _same_use(a, b)
    if one.result != two.result:
        place = next((i for i, (a, b) in enumerate(zip(one.result, two.result, strict=False)) if a != b), 0)
        around = slice(max(place - 60, 0), place + 60)
        raise Diverged(
            f"results differ though every answer was the same: {one.result[around]!r}, {two.result[around]!r}"
        )


def _same_use(a: Use, b: Use) -> None:
    if (a.name, a.what, repr(a.mechanism)) != (b.name, b.what, repr(b.mechanism)) or len(a.parts) != len(
        b.parts
    ):
        raise Diverged(f"{a.name}.{a.what} of {a.mechanism} on one data set, {b.mechanism} on the other")
    if a.name not in SMOOTH and [d[1] for d in a.draws if d[0] in ADDITIVE] != [
        d[1] for d in b.draws if d[0] in ADDITIVE
    ]:
        raise Diverged(f"the noise of {a.name} has another scale on the other data set")
    for one, two in zip(a.parts, b.parts, strict=True):
        _same_use(one, two)


def _paid(one: Tape, two: Tape) -> Iterator[tuple[Charge, list[Use], list[Use], bool | None]]:
    """Every charge with what was drawn for it on both sides, and whether a subsample drawn for it differs."""
    waiting: Charge | None = None
    groups: list[tuple[Charge, list[Use], list[Use], list[bool]]] = []
    for a, b in zip(one.entries, two.entries, strict=True):
        if isinstance(a, Charge):
            if waiting is not None:
                raise Exceeded(f"{waiting.event['label']} was charged and nothing was drawn for it")
            waiting = a
        elif isinstance(a, Subsample) and isinstance(b, Subsample):
            groups[-1][3].append(b.moved)
        elif isinstance(a, Use) and isinstance(b, Use):
            if a.what in WITHIN_A_SESSION:
                group = next((g for g in groups if g[1][0].session is a.session), None)
                if group is None:
                    raise Exceeded(f"{a.name} answers in a session that nobody paid for")
                group[1].append(a)
                group[2].append(b)
                continue
            if waiting is None:
                raise Exceeded(f"{a.name} draws noise that nobody paid for")
            groups.append((waiting, [a], [b], []))
            waiting = None
    if waiting is not None:
        raise Exceeded(f"{waiting.event['label']} was charged and nothing was drawn for it")
    for charge, first, second, moved in groups:
        yield charge, first, second, (moved[0] if moved else None)


# --- what two inputs tell an onlooker ------------------------------------------------------------------------------
# each takes the uses of one charge on both sides and returns (the loss that these two inputs show, the loss that the
# mechanism's sensitivity and its noise imply, distance over sensitivity)

ADDITIVE = ("laplace", "gaussian", "geometric")
Found = tuple[float, float, float]


def steps_of(mechanism: Any, norm: int = 1) -> float:
    """The sensitivity in grid steps, rounding included (``base.proof.md``)."""
    exact = Fraction(mechanism.sensitivity) / Fraction(mechanism.on.step)
    size = getattr(mechanism, "size", 1) if type(mechanism).__name__ in ("Laplace", "Gaussian") else 1
    if mechanism.on.exact:
        return float(math.ceil(exact)) if size == 1 else float(exact)
    return float(math.ceil(exact) + 1) if size == 1 else float(exact) + 2 * size ** (1 / norm)


def _distance(a: Use, b: Use) -> Ints:
    return np.asarray(a.integers - b.integers)


def _scale(uses: Sequence[Use], kind: str) -> float:
    """The one scale that the noise layer was asked for."""
    scales = {draw[1] for use in uses for draw in use.draws if draw[0] == kind}
    if len(scales) != 1:
        raise Exceeded(f"{uses[0].name} drew {kind} noise of scales {sorted(scales)}")
    return float(scales.pop())


def _enough_draws(use: Use) -> None:
    """Every coordinate needs a draw of its own."""
    drawn = sum(draw[2] or 1 for draw in use.draws if draw[0] in ADDITIVE)
    if drawn != use.integers.size:
        raise Exceeded(f"{use.name} drew {drawn} times for {use.integers.size} values")


def _laplace(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    _enough_draws(first[0])
    b, steps = _scale(first, "laplace"), steps_of(first[0].mechanism)
    moved = float(np.abs(_distance(first[0], second[0])).sum())
    return moved / b, steps / b, moved / steps


def _gaussian(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    _enough_draws(first[0])
    sigma, steps = _scale(first, "gaussian"), steps_of(first[0].mechanism, norm=2)
    moved = float(np.sqrt(np.square(_distance(first[0], second[0]).astype(float)).sum()))
    return moved / sigma, steps / sigma, moved / steps


def _noisy_rank(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    _enough_draws(first[0])
    b, steps = _scale(first, "laplace"), steps_of(first[0].mechanism)
    moved = float(np.abs(_distance(first[0], second[0])).max())
    return 2 * moved / b, 2 * steps / b, moved / steps


def _reach(mechanism: Any) -> float:
    """How far one row may move a score against another."""
    steps = steps_of(mechanism)
    return 2 * steps if not mechanism.monotone else steps + (not mechanism.on.exact)


def _noisy_max(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    _enough_draws(first[0])
    b, reach = _scale(first, "geometric"), _reach(first[0].mechanism)
    moved = float(np.ptp(_distance(first[0], second[0])))
    return moved / b, reach / b, _score_moved(first[0], second[0], first[0].mechanism)


def _score_moved(a: Use, b: Use, mechanism: Any) -> float:
    """How far a score moved, over the sensitivity that is claimed for each of them."""
    return float(np.abs(_distance(a, b)).max()) / steps_of(mechanism)


def _exponents(use: Use) -> list[Any]:
    """The exponent of every candidate, in each round, as the sampler got it."""
    found = []
    for draw in use.draws:
        if draw[0] == "categorical":
            if set(draw[1]) != {1}:
                raise Exceeded("the candidates of a choice have unequal weights")
            found.append(np.array([float(gamma) for gamma in draw[2]]))
        elif draw[0] == "bernoulli":
            found.append(draw[1] * float(draw[2]))
    return found


def _per_step(use: Use, mechanism: Any) -> float:
    """The exponent of one grid step; by the claim where all scores are equal."""
    span = float(np.ptp(use.integers))
    return float(np.ptp(_exponents(use)[0])) / span if span else mechanism.epsilon / _reach(mechanism)


def _choice(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    a, b = first[0], second[0]
    reach = _reach(a.mechanism)
    loss = float(np.ptp(_exponents(a)[0] - _exponents(b)[0]))
    implied = max(_per_step(use, use.mechanism) for use in (a, b)) * reach
    return loss, implied, _score_moved(a, b, a.mechanism)


def _top_k(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    a, b = first[0], second[0]
    rounds = [float(np.ptp(x - y)) for x, y in zip(_exponents(a), _exponents(b), strict=True)]
    if len(rounds) != a.mechanism.count:
        raise Exceeded(f"{len(rounds)} rounds for {a.mechanism.count} choices")
    reach = _reach(a.mechanism.round)
    each = _per_step(a, a.mechanism.round) * reach
    moved = _score_moved(a, b, a.mechanism.round)
    if event["kind"] == "zcdp":
        return math.sqrt(sum(r * r for r in rounds) / 4), math.sqrt(len(rounds) * each**2 / 4), moved
    return sum(rounds), len(rounds) * each, moved


def _sieve_loss(mechanism: Any, start: Use, first: list[Use], second: list[Use]) -> Found:
    """Of a sparse vector: the threshold once, and twice every positive that may be given."""
    threshold = _scale([start], "geometric" if mechanism.noise == "geometric" else "laplace")
    steps = steps_of(mechanism)
    if mechanism.monotone:
        raise AssertionError("no call used a monotone sparse vector: say here what it costs")
    if not first:
        return 0.0, steps / threshold, 0.0
    scales = {
        float(1 / draw[2]) if draw[0] == "bernoulli" else float(draw[1])
        for use in first
        for draw in use.draws
    }
    if len(scales) != 1 or any(not use.draws for use in first if use.integers.size):
        raise Exceeded(f"the queries of a sparse vector have noise of scales {sorted(scales)}")
    hits = sum(use.answer is not None if use.what == "first_above" else bool(use.answer) for use in first)
    if hits > mechanism.positives:
        raise Exceeded(f"{hits} positive answers, {mechanism.positives} were paid for")
    each = 1 / threshold + 2 * mechanism.positives / scales.pop()
    moved = max(float(np.abs(_distance(a, b)).max(initial=0)) for a, b in zip(first, second, strict=True))
    return moved * each, steps * each, moved / steps


def _sparse_vector(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    return _sieve_loss(first[0].mechanism, first[0], first[1:], second[1:])


def _sieve_and_examine(first: list[Use], second: list[Use], event: Any, subsampled: bool | None) -> Found:
    mechanism = first[0].mechanism
    pairs = [
        (a, b)
        for x, y in zip(first[1:], second[1:], strict=True)
        for a, b in zip(x.parts, y.parts, strict=True)
    ]
    asked = [(a, b) for a, b in pairs if a.what == "ask"]
    looks = [(a, b) for a, b in pairs if a.what == "sample"]
    start = next(part for part in first[0].parts if part.what == "start")
    sieve = _sieve_loss(start.mechanism, start, [a for a, _ in asked], [b for _, b in asked])
    if mechanism.subsample is not None:
        if subsampled is None:
            raise Exceeded("the sieve is amplified by a subsample that nobody drew")
        if not subsampled and sieve[2] > 0:
            raise Exceeded("the sieve sees a row that is not in its subsample")
        share = mechanism.subsample / mechanism.rows
        sieve = (*(math.log1p(share * math.expm1(loss)) for loss in sieve[:2]), sieve[2])  # type: ignore[assignment]
    elif subsampled is not None:
        raise Exceeded("a subsample was drawn that the mechanism does not know of")
    measure = _laplace if mechanism.epsilon_examine is not None else _gaussian
    found = [measure([a], [b], event, None) for a, b in looks] or [(0.0, 0.0, 0.0)]
    look = tuple(max(one[i] for one in found) for i in range(3))
    reach = max(sieve[2], look[2])
    if event["kind"] == "zcdp":
        return math.hypot(sieve[0], look[0]), math.hypot(sieve[1], look[1]), reach
    return sieve[0] + mechanism.hits * look[0], sieve[1] + mechanism.hits * look[1], reach


def _changed(a: Use, b: Use) -> int:
    """How many values of one multiset are not in the other."""
    if a.integers.size != b.integers.size:
        raise Diverged("a median of another number of values")
    left = list(b.integers.tolist())
    for value in a.integers.tolist():
        if value in left:
            left.remove(value)
    return len(left)


def _smooth_location(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    """One value of n may change; the scale must cover the smooth sensitivity, recomputed by its definition."""
    a, b, epsilon = first[0], second[0], float(event["cost"])
    mechanism = a.mechanism
    if (event["kind"] == "pure") != (mechanism.noise == "cauchy"):
        raise Exceeded(f"{a.name} with {mechanism.noise} noise was charged as {event['kind']}")
    tail = math.log(2 / event["slack"]) if event["kind"] == "approximate" else 1.0
    share, beta = {
        "cauchy": (2.0, epsilon / 2),
        "laplace": (2.0, epsilon / (2 * tail)),
        "gaussian": (5 * math.sqrt(2 * tail), epsilon / (4 * (1 + tail))),
    }[mechanism.noise]
    implied = 0.0
    for use in (a, b):
        (draw,) = use.draws
        if draw[0] != mechanism.noise:
            raise Exceeded(f"{draw[0]} noise where {mechanism.noise} noise was paid for")
        points = use.integers.tolist()
        trim = (
            mechanism.trim if a.name == "SmoothTrimmedMean" else len(points) // 2
        )  # of the median: all but one
        implied = max(implied, share * _smooth(points, mechanism.cells, trim, beta) / draw[1])
    jump = abs(math.log(a.draws[0][1] / b.draws[0][1])) / beta
    changed = _changed(a, b)
    return epsilon * max(changed, jump if changed <= 1 else 0.0), implied, float(changed)


def _smooth(points: list[int], cells: int, trim: int, beta: float) -> float:
    """Smooth sensitivity of the sum without the ``trim`` smallest and the ``trim`` largest of n points."""
    n = len(points)

    def at(i: int) -> int:
        return 0 if i < 0 else cells if i >= n else points[i]

    return max(
        math.exp(-k * beta) * max(at(n - trim - 1 + t) - at(trim - 1 + t - k) for t in range(k + 2))
        for k in range(n + 1)
    )


def _exponential_median(first: list[Use], second: list[Use], event: Any, _: Any) -> Found:
    a, b = first[0], second[0]
    return event["cost"] * float(_changed(a, b)), a.mechanism.epsilon, float(_changed(a, b))


LOSSES: dict[str, Callable[[list[Use], list[Use], Any, bool | None], Found]] = {
    "Exponential": _choice,
    "ExponentialMedian": _exponential_median,
    "Gaussian": _gaussian,
    "Laplace": _laplace,
    "NoisyMax": _noisy_max,
    "NoisyRank": _noisy_rank,
    "PermuteAndFlip": _choice,
    "SieveAndExamine": _sieve_and_examine,
    "SmoothMedian": _smooth_location,
    "SmoothTrimmedMean": _smooth_location,
    "SparseVector": _sparse_vector,
    "SpanningTree": _top_k,
    "TopK": _top_k,
}


# --- planted bugs --------------------------------------------------------------------------------------------------
# each is a context in which the package has one more bug; the tests demand that it is seen through a public call


@contextlib.contextmanager
def _planted(*pairs: tuple[Any, Any]) -> Iterator[None]:
    """Functions replaced wherever the package has them, with empty caches before and after."""
    with contextlib.ExitStack() as stack:
        for original, replacement in pairs:
            everywhere(stack, original, replacement)
        forget()
        yield
    forget()


@contextlib.contextmanager
def smaller_sensitivity(name: str, factor: float = 0.5) -> Iterator[None]:
    """Every mechanism of that class is made with a share of the sensitivity it was given."""
    kind = mechanism_classes()[name]
    made: Any = kind.__post_init__  # type: ignore[attr-defined]

    def post_init(self: Any) -> None:
        object.__setattr__(self, "sensitivity", self.sensitivity * factor)
        made(self)

    forget()
    with mock.patch.object(kind, "__post_init__", post_init):
        yield
    forget()


def quieter_release(factor: float = 0.7, only: str | None = None) -> contextlib.AbstractContextManager[None]:
    """The call charges its mechanism and draws from one with less noise; ``only`` under this label."""

    def release(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        if only is not None and label != only:
            return RELEASE(mechanism, budget, label, value)
        budget.charge(mechanism.event(label))
        name = "rho" if hasattr(mechanism, "rho") else "epsilon"
        return replace(mechanism, **{name: getattr(mechanism, name) / factor}).sample(value)

    return _planted((RELEASE, release))


def exact_release(*labels: str, drawn: bool = True) -> contextlib.AbstractContextManager[None]:
    """The call uses the exact value of releases with these labels (none: of all); ``drawn``: noise is paid for."""

    def release(mechanism: Any, budget: Any, label: str, value: Any) -> Any:
        if labels and label not in labels:
            return RELEASE(mechanism, budget, label, value)
        answer = RELEASE(mechanism, budget, label, value) if drawn else None
        if hasattr(mechanism, "integer_scores"):
            return int(np.argmax(value))
        if type(mechanism).__name__ == "SpanningTree":
            return _best_tree(mechanism.nodes, value)
        return np.asarray(value, np.float64) if answer is None or np.ndim(answer) or np.ndim(value) else value

    return _planted((RELEASE, release))


def _best_tree(nodes: int, scores: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs that join all nodes, the largest scores first."""
    part, found = list(range(nodes)), []
    pairs = list(combinations(range(nodes), 2))
    for k in sorted(range(len(pairs)), key=lambda k: -scores[k]):
        a, b = pairs[k]
        if part[a] != part[b]:
            found.append((a, b))
            part = [part[a] if one == part[b] else one for one in part]
    return found


def deals_not_counted() -> contextlib.AbstractContextManager[None]:
    """gcm on parts pays for one deal of the rows whatever their number is."""

    def private_parts(*given: Any, **more: Any) -> Any:
        laplace = mechanism_classes()["Laplace"]
        made = laplace.__post_init__  # type: ignore[attr-defined]

        def post_init(self: Any) -> None:
            object.__setattr__(self, "sensitivity", float(CUT_SENSITIVITY()))
            made(self)

        with mock.patch.object(laplace, "__post_init__", post_init):
            return PRIVATE_PARTS(*given, **more)

    return _planted((PRIVATE_PARTS, private_parts))


def crt_halved() -> contextlib.AbstractContextManager[None]:
    """Half of the sensitivity of the statistic of crt."""
    return _planted((CRT_SENSITIVITY, lambda *given, **more: CRT_SENSITIVITY(*given, **more) / 2))


def root_two_forgotten() -> contextlib.AbstractContextManager[None]:
    """The moments of features have the sensitivity of an added row where a row is replaced."""
    return _planted(
        (MOMENT_SENSITIVITY, lambda _, constant, reach: MOMENT_SENSITIVITY("add-remove", constant, reach))
    )


def strata_by_range() -> contextlib.AbstractContextManager[None]:
    """Numbers that are conditioned on are cut between the least and the largest in the rows."""

    def blocks_of(question: Any, data: Any, bins: Any) -> Any:
        columns = dict(data.schema.items())
        for name in bins:
            values = data.values[name]
            lower, upper = float(values.min(initial=0.0)), float(values.max(initial=0.0))
            columns[name] = replace(columns[name], lower=lower, upper=max(upper, lower + 1e-9), bins=())
        return BLOCKS_OF(question, replace(data, schema=Schema(columns)), bins)

    def bins_of(columns: Any, wanted: int) -> Any:
        z = columns.z.copy()
        for j in set(range(z.shape[1])) - set(columns.discrete):
            lower, upper = z[:, j].min(initial=0.0), z[:, j].max(initial=0.0)
            z[:, j] = (z[:, j] - lower) / max(upper - lower, 1e-9)
        return BINS_OF(replace(columns, z=z), wanted)

    return _planted((BLOCKS_OF, blocks_of), (BINS_OF, bins_of))


@contextlib.contextmanager
def no_subsample(*, drawn: bool) -> Iterator[None]:
    """The sieve looks at all rows and is amplified all the same; ``drawn``: a subsample is drawn and not used."""
    with contextlib.ExitStack() as stack:

        def subsample(self: _Recorder, backend: Any, *given: Any, **more: Any) -> Any:
            if drawn:
                original(self, backend, *given, **more)
            return backend

        original = _Recorder.subsample
        stack.enter_context(mock.patch.object(_Recorder, "subsample", subsample))
        yield


@contextlib.contextmanager
def rows_counted() -> Iterator[None]:
    """The number of rows is used where it is protected."""
    made = SESSION.__init__

    def init(self: Any, data: Any, *given: Any, **more: Any) -> None:
        made(self, data, *given, **more)
        if self._settings is not None:
            self._settings = replace(self._settings, n=data.n)

    with (
        mock.patch.object(SESSION, "__init__", init),
        mock.patch.object(TASK, "n", property(lambda self: self.counts.n)),
    ):
        yield
