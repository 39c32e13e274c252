"""A budget for one release: what may be spent, and the refusal when it would be passed.

``charge`` comes before noise is drawn. It asks the filter (``accounting/composition.py``) and either records the
events or raises ``BudgetError`` with what was asked, spent and left, recording nothing.

**Guarantee.** Whatever is charged, in whatever adaptive order, the release is (epsilon, delta)-DP for
``neighbours``. delta = 0 gives the pure filter (sum of epsilon). delta > 0 allows what fits the sum of
epsilon *or* the sum of rho. ``reserve`` is the part of delta for events that carry their own; it is taken
from the conversion of rho.

**With a ledger** the whole (epsilon, delta) is charged to the data set in one transaction just before the
first event, under a fresh random release id; the filter then spends within it. If that fails nothing is
charged here either. ``later`` keeps a public share of the total until ``open_later``; the ledger is charged for it too.

**Two rounds** (``part``) share one total. The first charges the ledger for both and spends its share; the second spends
the rest of that charge (``rest_of``), which the ledger allows once, in one transaction before the first event
(``accounting/rounds.proof.md``). A second round that dies after that has lost the rest.

A budget can't be copied, pickled or used after ``fork``: two copies could spend the same epsilon twice. A fork is known
by a random token, not by the process id (``core/process.py``). A snapshot of the whole machine that is restored twice
is not seen: use a ledger outside of it.

>>> from dpcausal.privacy.events import PureEvent
>>> budget = Budget(1.0)
>>> budget.charge(PureEvent(label="median", neighbours="replace-one", mechanism="exponential", cost=0.8))
>>> again = PureEvent(label="median", neighbours="replace-one", mechanism="exponential", cost=0.5)
>>> budget.charge(again)  # doctest: +ELLIPSIS
Traceback (most recent call last):
dpcausal.core.errors.BudgetError: the budget does not allow it: asked epsilon 0.5, spent 0.8, left 0.2; ask for ...
"""

from __future__ import annotations

import math
import threading
import uuid
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from dpcausal._version import __version__
from dpcausal.core import entropy, process
from dpcausal.core.display import display
from dpcausal.core.errors import BudgetError, DpcausalError, EngineError, InputError
from dpcausal.core.forecast import PowerForecast, UnderpoweredError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import (
    ONE_ROW,
    Composition,
    Limit,
    NoiseSource,
    NotPrivate,
    PrivacyStatement,
    Public,
    Released,
    Unit,
    known_limits,
    weak_limits,
)
from dpcausal.privacy.accounting.composition import (
    Filter,
    FirstCharge,
    PartOfTotal,
    PrivacyCost,
    Spent,
    exact,
    left_of,
)
from dpcausal.privacy.events import Event
from dpcausal.privacy.ledger.beside import SecondBudget, charged_beside, other_budgets, sqlite_files
from dpcausal.privacy.ledger.chain import rest_is_spent
from dpcausal.privacy.ledger.earlier import (
    MOST_ENTRIES,
    AskedBefore,
    EarlierRelease,
    OtherRows,
    SearchAgain,
    asked_before,
    other_rows,
)
from dpcausal.privacy.ledger.required import refuse_missing_ledger

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Entry, Ledger

_FILE: ContextVar[Path | None] = ContextVar("file", default=None)
# data set, epsilon, delta of the last charges of this process to ledgers
ENTERED: deque[tuple[str, float, float]] = deque(maxlen=16)
# ledger, data set, file: looked for other budgets once a process
_LOOKED: set[tuple[Path | None, str, Path | None]] = set()
# first rounds without a ledger whose rest this process has spent
_RESTS_SPENT: set[str] = set()
_RESTS_LOCK = threading.Lock()


@contextmanager
def charged_for(file: Path | None) -> Iterator[None]:
    """Record the name of the data file in the ledger entries of budgets made within the block.

    The command line does so: names of files are public, and two budgets of one file can be seen.
    """
    token = _FILE.set(file)
    try:
        yield
    finally:
        _FILE.reset(token)


def require_left(ledger: str | Ledger | None, dataset: str | None, epsilon: float) -> None:
    """Raise ``BudgetError`` where a ledger has less than ``epsilon`` left; nothing is charged.

    Raises ``LedgerError`` if the ledger can't be opened or has no such data set.
    """
    refuse_half_named(ledger, dataset)
    if ledger is None or dataset is None:
        return
    from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

    opened = Ledger.open(ledger) if isinstance(ledger, str) else ledger
    if isinstance(opened, Ledger):
        opened.require(dataset, epsilon)


def left_in_ledger(ledger: Any, dataset: str | None) -> float | None:
    """Return the epsilon that a ledger has left for a data set; None where it is unknown. No row is read."""
    if ledger is None or dataset is None:
        return None
    from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

    try:
        opened = Ledger.open(ledger) if isinstance(ledger, str) else ledger
        accounts = opened.show(dataset) if isinstance(opened, Ledger) else []
        return next((account.left_epsilon for account in accounts), None)
    except DpcausalError:  # the charge says so
        return None


def charged_for_two_rounds(ledger: Any, dataset: str | None, protocol: str) -> str | None:
    """Return the newest release that a ledger charged for both rounds of a protocol; None if there is none."""
    if ledger is None or dataset is None:
        return None
    from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

    opened = Ledger.open(ledger) if isinstance(ledger, str) else ledger
    found = [entry for entry in opened.log(dataset) if entry.for_two_rounds()]
    named = [entry.release for entry in found if entry.to_dict()["note"].get("protocol") == protocol]
    return named[-1] if named else None


def refuse_hopeless(
    ahead: PowerForecast | None, ledger: str | Ledger | None = None, dataset: str | None = None
) -> None:
    """Raise ``UnderpoweredError``, with remedies, where a forecast shows nothing, before anything is charged.

    Raises ``BudgetError`` instead where the ledger has less left than this epsilon. A forecast of None passes.
    """
    if ahead is None or ahead.epsilon is None or not ahead.hopeless:
        return
    require_left(ledger, dataset, ahead.epsilon)
    ahead = replace(ahead, left=left_in_ledger(ledger, dataset))
    raise UnderpoweredError(display().summary(ahead, part="refusal"), ahead)


def refuse_half_named(ledger: str | Ledger | None, dataset: str | None) -> None:
    """Refuse a ledger without a data set's name, and a name without a ledger.

    >>> refuse_half_named(None, "cohort")
    Traceback (most recent call last):
    dpcausal.core.errors.InputError: a ledger needs the name of a data set, and a data set name needs a ledger
    """
    if (ledger is None) != (dataset is None):
        raise InputError("a ledger needs the name of a data set, and a data set name needs a ledger")


class Allowance(NamedTuple):
    """What one step may cost: ``epsilon`` by the sum of epsilons, or ``rho`` (0: none) by the sum of rhos."""

    epsilon: float
    rho: float

    def part(self, share: float) -> Allowance:
        """Return this share of the allowance."""
        return Allowance(share * self.epsilon, share * self.rho)


class Budget:
    """The total of one release, and what has been charged to it. Safe to use from several threads.

    **Guarantee**: whatever is charged, in whatever adaptive order, the release is (epsilon, delta)-DP for
    ``neighbours``. A charge that would pass the total is refused, before noise is drawn. A budget can't be copied,
    pickled or used after ``fork``: two copies could spend the same epsilon twice.

    Parameters
    ----------
    epsilon : float or None
        The total; None means no privacy, and then nothing can be charged.
    delta : float, default 0.0
        The total delta. 0 sums epsilons; above 0, what fits the sum of epsilon or the sum of rho is allowed.
    neighbours : str or Neighbours, default "replace-one"
        Which two data sets must be hard to tell apart: ``"replace-one"``, ``"add-remove"`` or ``"fixed-labels"``.
    reserve : float, default 0.0
        The part of delta that is kept for events with a delta of their own.
    later : float, default 0.0
        A public share of the total, below 1, that is refused to every charge until ``open_later``.
    part : PartOfTotal or None, default None
        Which of two rounds this is, where they share the total: no more than its share can be charged.
    rest_of : FirstCharge or None, default None
        In the second of two rounds: the charge of the first. The ledger is not charged again, and refuses a second
        budget for the same rest. Without a ledger only this process does.
    ledger : str, Ledger or None, default None
        A ledger or its address. The whole (epsilon, delta) is charged to it in one transaction just before the first
        event; if that fails, nothing is charged here either.
    dataset : str or None, default None
        The name of the data set in the ledger; needed with ``ledger``, refused without.
    note : mapping or None, default None
        Public facts, such as the name of a method, for the ledger's entry.
    rows : int or None, default None
        How many rows there are. It is noted where it is public, so not under add-remove, and a data set that was
        charged for another number before is warned of (``OtherRows``).
    unit : Unit, default one row
        What is protected.
    file : Path, sequence of Path, or None, default None
        The file with the rows, or all of them. The name of the first is noted, too, and a ledger that was charged for
        it elsewhere is warned of (``SecondBudget``) before the charge. Settings beside each may ask for a ledger.

    Raises
    ------
    InputError
        If the total is out of range, or ledger and data set do not go together.

    Examples
    --------
    >>> from dpcausal.privacy.events import PureEvent
    >>> budget = Budget(1.0)
    >>> budget.charge(PureEvent(label="median", neighbours="replace-one", mechanism="exponential", cost=0.8))
    >>> round(budget.left_epsilon(), 6), budget.spent_epsilon()
    (0.2, 0.8)
    """

    def __init__(
        self,
        epsilon: float | None,
        delta: float = 0.0,
        *,
        neighbours: str | Neighbours = Neighbours.REPLACE_ONE,
        reserve: float = 0.0,
        later: float = 0.0,
        part: PartOfTotal | None = None,
        rest_of: FirstCharge | None = None,
        ledger: str | Ledger | None = None,
        dataset: str | None = None,
        note: Mapping[str, Any] | None = None,
        rows: int | None = None,
        unit: Unit = ONE_ROW,
        file: Path | Sequence[Path] | None = None,
    ) -> None:
        self.neighbours = Neighbours.parse(neighbours)
        self._filter = None if epsilon is None else Filter(epsilon, delta, reserve)
        self._later = bool(later)
        self._for_now = self._filter.without(later) if self._filter is not None and later else None
        if (part is not None and part.round == 2) != (rest_of is not None):
            raise InputError("the second of two rounds, and no other, needs to know the charge of the first")
        if part is not None and later:
            raise InputError("a round of two keeps no share for later")
        self._part, self._rest_of = part, rest_of
        self._round = None if self._filter is None or part is None else self._filter.part(part)
        refuse_half_named(ledger, dataset)
        if ledger is not None and epsilon is None:
            raise InputError("a ledger can't hold a release without privacy (epsilon=None)")
        self._ledger, self._dataset = ledger, dataset
        files: list[Path | None] = [file] if isinstance(file, Path) else [*(file or ())]
        self._file = files[0] if files else _FILE.get()
        for one in files or [self._file]:
            refuse_missing_ledger(one, ledger, dataset)
        self._note = {**(note or {}), **({} if self._file is None else {"file": self._file.name})}
        if rows is not None and self.neighbours is not Neighbours.ADD_REMOVE:
            self._note["rows"] = int(rows)
        self.unit = unit
        if unit != ONE_ROW:
            self._note["unit"] = unit.kind
        if part is not None:
            self._note["part"] = list(part)
        self._release = uuid.uuid4().hex
        self._entry: Entry | None = None
        self._left: dict[str, float] = {}  # in the ledger, after the charge
        self._spent = Spent()
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._process = process.token()
        self._epoch = entropy.epoch() if entropy.is_secure() else None  # None: seeded from the start

    @classmethod
    def none(
        cls,
        neighbours: str | Neighbours = Neighbours.REPLACE_ONE,
        file: Path | Sequence[Path] | None = None,
        unit: Unit = ONE_ROW,
    ) -> Budget:
        """Return a budget without privacy, which refuses every charge; ``file``: the file, or files, of the rows."""
        return cls(None, neighbours=neighbours, file=file, unit=unit)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a budget can't be copied or pickled: the copy could spend the same epsilon again")

    @property
    def total(self) -> Filter:
        """The stop rule with its total ``epsilon``, ``delta`` and ``rho``: what may be spent now."""
        return self._round or self._for_now or self.whole

    @property
    def whole(self) -> Filter:
        """The stop rule of the whole total, including the share reserved for later."""
        if self._filter is None:
            raise InputError("there is no budget: epsilon is None")
        return self._filter

    def open_later(self) -> None:
        """Allow charges to the share that was reserved for later; the guarantee does not change."""
        self._for_now = None

    @property
    def spent(self) -> Spent:
        """Exact sums over the events charged so far."""
        return self._spent

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything charged so far, in order."""
        return tuple(self._events)

    def charge(self, *events: Event) -> None:
        """Record events, all of them or none.

        Parameters
        ----------
        *events : Event
            What the next draw of noise costs.

        Raises
        ------
        BudgetError
            If the total, or the ledger, does not allow them; nothing was recorded.
        InputError
            If there is no budget, an event is for other neighbours, or the process was forked.
        """
        total = self.total
        if process.token() != self._process:
            raise InputError("a budget can't be used in a forked process: both could spend it")
        for event in events:
            if event.neighbours != self.neighbours:
                raise InputError(
                    f"the {event.kind} event {event.label!r} is for {event.neighbours} neighbours, "
                    f"the budget for {self.neighbours}"
                )
        with self._lock:
            after = self._spent.plus(events)
            if not (total.allows(after) and (total is self.whole or self.whole.allows(after))):
                raise self._refusal(Spent().plus(events), after)
            self._enter_ledger()
            self._spent = after
            self._events.extend(events)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Within the block, add to an engine's error whether anything had been charged."""
        fault = None
        try:
            yield
        except EngineError as error:
            fault = error.with_charge(charged=bool(self._events))
        if fault is not None:
            raise fault  # outside the except block: no trace of what the engine said

    def affords(self, *events: Event) -> bool:
        """Return whether ``charge`` would allow these events now; it depends on public costs alone."""
        return self.total.allows(self._spent.plus(events))

    def require(self, *events: Event) -> None:
        """Refuse ``events`` now if ``charge`` would not allow all of them; nothing is recorded.

        For a test of several steps: none is paid for where the budget does not reach to the last.

        Raises
        ------
        BudgetError
            If the total does not allow them.
        """
        after = self._spent.plus(events)
        if not self.total.allows(after):
            raise self._refusal(Spent().plus(events), after)

    def _refusal(self, asked: Spent, after: Spent) -> BudgetError:
        """Return the error for a charge that does not fit, in the unit in which it came nearest."""
        if after.delta > exact(self.total.reserve):
            unit, limit = "delta", self.total.reserve
        elif after.epsilon.is_finite() or self.total.rho == 0:
            unit, limit = "epsilon", self.total.epsilon
        else:
            unit, limit = "rho", self.total.rho
        spent = getattr(self._spent, unit)
        left = float(left_of(spent, exact(limit)))
        return BudgetError.of("budget", unit, float(getattr(asked, unit)), float(spent), left)

    def _enter_ledger(self) -> None:
        """Charge the whole total to the data set, or take the rest of an earlier charge, once; a retry has one id."""
        if self._ledger is None:
            self._warn_of_missing_ledger()
            self._take_rest_without_ledger()
        if self._ledger is None or self._dataset is None or self._entry is not None:
            return
        if isinstance(self._ledger, str):
            from dpcausal.privacy.ledger import Ledger  # SQLAlchemy only where a ledger is used

            self._ledger = Ledger.open(self._ledger)
        self._warn_of_other_budgets()
        note = {"dpcausal": __version__, **self._note}
        terms = (self.whole.epsilon, self.whole.delta)
        self._warn_of_earlier_entries()
        if self._rest_of is None:
            self._entry = self._ledger.charge(
                self._dataset, self._release, *terms, neighbours=self.neighbours, note=note
            )
            ENTERED.append((self._dataset, *terms))
        else:
            self._entry = self._ledger.take_rest(
                self._dataset,
                self._rest_of.release,
                self._release,
                *terms,
                neighbours=self.neighbours,
                note=note,
            )
        self._left = self._ledger.left_after(self._entry)

    def _take_rest_without_ledger(self) -> None:
        """Take the rest of a charge that no ledger has; this process refuses to take it twice."""
        if self._rest_of is None or self._events:
            return
        if self._rest_of.release is not None:
            raise InputError("the first round was charged to a ledger: the second needs the same one")
        if not self._secure():  # nothing is spent by noise that is no secret
            return
        with _RESTS_LOCK:
            if self._rest_of.id in _RESTS_SPENT:
                raise rest_is_spent(f"first round {self._rest_of.id}")
            _RESTS_SPENT.add(self._rest_of.id)

    def _warn_of_other_budgets(self) -> None:
        """Warn where the rows may have another budget, before this one is charged; by public names only."""
        from dpcausal.privacy.ledger import Ledger

        if not isinstance(self._ledger, Ledger) or self._ledger.file is None or self._dataset is None:
            return
        asked = (self._ledger.file, self._dataset, self._file)
        if asked in _LOOKED:
            return
        _LOOKED.add(asked)
        name, folder = ("", None) if self._file is None else (self._file.name, self._file.parent)
        others = other_budgets(self._ledger.file, self._dataset, name, folder)
        if others and self._rest_of is None:  # a charge that is refused is told of that alone
            self._ledger.require(self._dataset, self.whole.epsilon, self.whole.delta)
        for other in others:
            warnings.warn(display().summary(other, dataset=self._dataset), SecondBudget, stacklevel=2)

    def _warn_of_missing_ledger(self) -> None:
        """Warn where no ledger is charged and the file was charged to one before; by its name, no row is read."""
        if self._file is None or (None, "", self._file) in _LOOKED:
            return
        _LOOKED.add((None, "", self._file))
        for other in charged_beside(sqlite_files([self._file.parent, Path.cwd()]), self._file.name):
            warnings.warn(display().summary(other, dataset=None), SecondBudget, stacklevel=2)

    def _warn_of_earlier_entries(self) -> None:
        """Warn where an earlier entry asked the same question, answers it, or was for other rows."""
        from dpcausal.privacy.ledger import Ledger

        if not isinstance(self._ledger, Ledger) or self._dataset is None:
            return
        newest = self._ledger.newest(self._dataset, MOST_ENTRIES)
        earlier = [entry for entry in newest if entry.release != self._release]  # not this one, tried again
        rows, same = other_rows(earlier, self._note), asked_before(earlier, self._note)
        if self._rest_of is None and (rows is not None or same is not None):
            # a charge that is refused is told of that alone
            self._ledger.require(self._dataset, self.whole.epsilon, self.whole.delta)
        if rows is not None:
            warnings.warn(display().summary(rows, dataset=self._dataset), OtherRows, stacklevel=2)
        if same is not None:
            kind = SearchAgain if isinstance(same, EarlierRelease) else AskedBefore
            warnings.warn(display().summary(same), kind, stacklevel=2)

    def left_epsilon(self) -> float:
        """Return the largest epsilon that one more pure event may cost: by the sum of epsilon, or by epsilon^2/2."""
        by_sum = float(left_of(self._spent.epsilon, exact(self.total.epsilon)))
        return max(by_sum, math.sqrt(2 * self.left_rho()))

    def left_rho(self) -> float:
        """Return the remaining rho; 0 when the total has no delta outside its reserve."""
        return float(left_of(self._spent.rho, exact(self.total.rho)))

    def reading(self) -> PrivacyCost:
        """Return what the events so far would cost had they been fixed in advance (an odometer)."""
        return self.whole.reading(self._spent)

    def spent_epsilon(self) -> float:
        """Return the epsilon of the events charged so far, at most the total."""
        return self.reading().epsilon

    def statement(
        self,
        *,
        released: Sequence[Released],
        public: Sequence[Public] = (),
        adaptive: bool = True,
        unit: Unit | None = None,
        limits: Sequence[Limit] = (),
        rows: int | None = None,
    ) -> PrivacyStatement:
        """Return the privacy statement of what was charged.

        Parameters
        ----------
        released, public
            What left, and what is taken to be known to everyone.
        adaptive
            False only if all events and their number were fixed before the first answer: then the sum over events
            is the guarantee. Otherwise the total is, as it is wherever a share was kept for later.
        unit
            What is protected, where it is not the unit of the budget.
        limits
            What is left open besides the known limits and a weak promise.
        rows
            The number of rows where it is public, else None.
        """
        unit = self.unit if unit is None else unit
        if self._filter is None:
            return PrivacyStatement.none(released=released, neighbours=self.neighbours, unit=unit)
        secure = self._secure()
        reading = self.reading()
        fixed = not self._later and self._part is None and (not adaptive or not self._events)
        guarantee = reading if fixed else PrivacyCost(self.whole.epsilon, self.whole.delta, "filter")
        definition, parameters = self._definition(guarantee)
        return PrivacyStatement(
            private=secure,
            not_private=None if secure else NotPrivate.SEEDED,
            definition=definition,
            parameters=parameters,
            epsilon=guarantee.epsilon,
            delta=guarantee.delta,
            neighbours=self.neighbours,
            unit=unit,
            public=tuple(public),
            released=tuple(released),
            composition=self._composition(guarantee),
            events=tuple(event.to_dict() for event in self._events),
            asked={"epsilon": self.whole.epsilon, "delta": self.whole.delta},
            reading={"epsilon": reading.epsilon, "delta": reading.delta},
            noise=NoiseSource.OPERATING_SYSTEM if secure else NoiseSource.SEEDED,
            limits=(
                *known_limits(unit),
                *weak_limits(guarantee.epsilon, guarantee.delta, rows, unit),
                *limits,
            ),
            ledger=self._ledger_note(),
        )

    def _secure(self) -> bool:
        """Return whether all noise since this budget was made came from the operating system."""
        return self._epoch is not None and entropy.secure_since(self._epoch)

    def _definition(self, guarantee: PrivacyCost) -> tuple[str, dict[str, float]]:
        """Return the definition of privacy that the guarantee satisfies, with its parameters."""
        if guarantee.delta == 0:
            return "pure", {"epsilon": guarantee.epsilon}
        if guarantee.by == "rho" and self._spent.delta == 0:
            return "zCDP", {"rho": float(self._spent.rho)}
        return "approximate", {"epsilon": guarantee.epsilon, "delta": guarantee.delta}

    def _composition(self, guarantee: PrivacyCost) -> Composition:
        """Return by which theorem the costs add up."""
        if guarantee.by == "epsilon":
            return Composition.FIXED_EPSILON
        if guarantee.by == "rho":
            return Composition.FIXED_RHO
        return Composition.FILTER_EPSILON if self.whole.rho == 0 else Composition.FILTER

    def _ledger_note(self) -> dict[str, Any] | None:
        """Return the part of the statement on the ledger; None where none was charged."""
        if self._entry is None:
            return None
        return {
            "dataset": self._entry.dataset,
            "release": self._entry.release,
            "entry": self._entry.seq,
            "hash": self._entry.hash,
            **({"left": self._left} if self._left else {}),
        }
