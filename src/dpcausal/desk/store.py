"""The desk itself: persons, requests and their states, and the one transaction that approves and charges.

**States.** ``waiting`` (for approval), ``queued`` (approved and charged), ``running`` (a worker reads rows),
``drawing`` (noise is or was drawn), and the ends: ``done``, ``failed``, ``refused``, ``withdrawn``.

**Guarantee.** A request is charged in the transaction that makes it ``queued``, with person, project and purpose in the
chain. A worker draws only after ``begin_drawing``, which takes a request from ``running`` to ``drawing`` once: no
second draw is ever made for one charge, whoever dies when. A worker that dies before gives the job back without loss;
one that dies after leaves it ``failed`` and charged.

**What others see.** What an analyst is told depends on the analyst's own requests and share. A refusal for want of the
data set's total tells that others have spent: shares that add up to no more than the total prevent it. The end of a
job is shown at a tick (``visible``), so that its run time is not.

Times are in seconds since 1970, by the clock of the desk (``Desk.clock``).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import threading
import time
import uuid
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, delete, func, insert, select, update

from dpcausal.core.errors import BudgetError, DpcausalError, InputError, LedgerError, did_you_mean
from dpcausal.core.spelling import for_form
from dpcausal.desk import tables
from dpcausal.desk.config import ROLES, DatasetSettings, DeskConfig
from dpcausal.desk.forms import FORMS
from dpcausal.desk.questions import (
    DONE,
    DRAWING,
    ENDS,
    FAILED,
    QUEUED,
    REFUSED,
    RUNNING,
    WAITING,
    WITHDRAWN,
    Question,
    Request,
    forecast_words,
    parse_question,
    rehearse,
    tick_after,
)
from dpcausal.desk.subjects import Subject, digest, subject_of
from dpcausal.privacy.accounting.composition import ZERO, add, exact, fits, left_of
from dpcausal.privacy.ledger import Asker, Entry, Ledger
from dpcausal.privacy.ledger import tables as ledger_tables
from dpcausal.privacy.ledger.chain import CHARGE, canonical
from dpcausal.privacy.ledger.connection import Database
from dpcausal.privacy.ledger.tables import entries

T = TypeVar("T")
P = ParamSpec("P")

MOST_ATTEMPTS = 3  # of a job whose worker died before it drew
LEASE = 30.0  # seconds until a worker that does not renew counts as dead
BEAT = 10.0  # seconds between two signs of life of a worker; it is taken for gone after three
LINK_SECONDS, SESSION_SECONDS = 3 * 86400.0, 12 * 3600.0
MOST_WAITING = 100  # requests of one analyst whose end is not shown yet
PAGE = 50  # requests of a list that are shown at once
MOST_PAGES = 1_000_000


class NotAllowed(DpcausalError):
    """The person may not do this."""


class NotFound(DpcausalError):
    """There is no such thing, or it is another's."""


class Conflict(DpcausalError):
    """The request is not in a state that allows this."""


class DeclaredOtherwise(Conflict):
    """A worker has another declaration of a data set than the one under which a question of it was charged."""


@dataclass(frozen=True)
class Person:
    """Who is signed in; ``form`` is what forms of a session must send back."""

    name: str
    role: str
    form: str = ""


@dataclass(frozen=True)
class RequestPage:
    """One page of a list of requests, the newest first: its number, from 1, and whether there are older ones."""

    rows: list[Request]
    number: int
    has_older: bool


@dataclass(frozen=True)
class Left:
    """What is left to an analyst, of the share for ever."""

    epsilon: float
    delta: float


def token_hash(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


Amounts = tuple[Decimal, Decimal]  # epsilon and delta


class Charges:
    """What the chain charged each person and project: sums that are kept, so that an answer reads what is new alone.

    Only ``keep`` changes them, in a transaction of its own: so they hold committed entries and nothing else, whatever a
    caller of ``spent`` has appended and takes back.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._lock, self._read = database, threading.Lock(), 0
        self._sums: dict[tuple[str, str, str], Amounts] = {}  # by data set, "person" or "project", and name

    def keep(self) -> None:
        """Add the entries that were committed since the last time."""
        with self._lock:
            self._database.run(self._keep, write=False)

    def _keep(self, connection: Connection) -> None:
        for entry in _charges_after(connection, self._read):
            for name in ("person", "project"):
                if (value := getattr(entry, name)) is not None:
                    key = entry.dataset, name, value
                    self._sums[key] = _with(self._sums.get(key, (ZERO, ZERO)), entry)
            self._read = entry.seq

    def spent(self, connection: Connection, dataset: str, name: str, value: str) -> Amounts:
        """Return the sums of the charges that name this person or project, those of this transaction included."""
        with self._lock:
            spent, read = self._sums.get((dataset, name, value), (ZERO, ZERO)), self._read
        for entry in _charges_after(connection, read):
            if (entry.dataset, getattr(entry, name)) == (dataset, value):
                spent = _with(spent, entry)
        return spent


def _charges_after(connection: Connection, seq: int) -> list[Entry]:
    """Return the charges that come after an entry, oldest first."""
    new = select(entries).where(entries.c.seq > seq, entries.c.kind == CHARGE).order_by(entries.c.seq)
    return [ledger_tables.as_entry(row) for row in connection.execute(new)]


def _with(sums: Amounts, entry: Entry) -> Amounts:
    """Return sums with those of one more charge."""
    return add(sums[0], exact(entry.epsilon)), add(sums[1], exact(entry.delta))


def _refuse_after_last_day(settings: DatasetSettings, now: float) -> None:
    """Raise ``NotAllowed`` where the last day of a data set is past."""
    if settings.is_over(datetime.fromtimestamp(now, UTC).date()):
        raise NotAllowed("this data set answers no more questions: its last day is past")


def in_transaction(
    *, write: bool
) -> Callable[[Callable[Concatenate[Desk, Connection, P], T]], Callable[Concatenate[Desk, P], T]]:
    """Return a decorator: a method of a desk runs in one transaction, whose connection is its first argument."""

    def decorate(method: Callable[Concatenate[Desk, Connection, P], T]) -> Callable[Concatenate[Desk, P], T]:
        @wraps(method)
        def run(desk: Desk, /, *args: P.args, **options: P.kwargs) -> T:
            return desk.run(lambda connection: method(desk, connection, *args, **options), write=write)

        return run

    return decorate


def subjects_of(config: DeskConfig) -> dict[str, Subject]:
    """Return what each data set of a desk is."""
    return {name: subject_of(one) for name, one in config.datasets.items()}


class Desk:
    """A desk on its database; safe to share between threads."""

    def __init__(
        self, config: DeskConfig, ledger: Ledger, subjects: Mapping[str, Subject] | None = None
    ) -> None:
        self.config, self.ledger, self._charges = config, ledger, Charges(ledger.database)
        self.clock: Callable[[], float] = time.time
        self._seen = 0, ""  # length and head of the chain, as this process saw it last
        self.subjects = subjects_of(config) if subjects is None else subjects

    @classmethod
    def open(cls, config: DeskConfig, *, create: bool = False) -> Desk:
        """Open a desk; with ``create`` make what is missing: tables, data sets and persons of the settings.

        Raises ``LedgerError`` where the chain is not intact, or shorter than one that was seen before.
        """
        subjects = subjects_of(config)  # what is wrong with a schema is said before anything is created
        desk = cls(config, Ledger.open(config.ledger, create=create), subjects)
        desk.refuse_older_chain()
        if create:
            desk.run(tables.upgrade)
            desk._register()
        desk.remember_head()
        return desk

    def run(self, work: Callable[[Connection], T], *, write: bool = True) -> T:
        """Run ``work`` in one transaction of the ledger's database; a write is alone in it."""

        def alone(connection: Connection) -> T:
            if write:
                ledger_tables.lock(connection, self.ledger.name)
            return work(connection)

        return self.ledger.database.run(alone, write=write)

    def _register(self) -> None:
        """Create data sets that the ledger does not have; refuse totals that differ from those it has."""
        self._refuse_unknown_analysts()
        known = {account.dataset: account for account in self.ledger.show()}
        for name, one in self.config.datasets.items():
            if name not in known:
                self.ledger.create(
                    name, one.epsilon, one.delta, neighbours=one.neighbours, cap_epsilon=one.cap_epsilon,
                    cap_delta=one.cap_delta,
                )  # fmt: skip
                continue
            found = known[name]
            kept = found.epsilon, found.delta, found.neighbours, found.cap_epsilon, found.cap_delta
            if kept != (one.epsilon, one.delta, one.neighbours, one.cap_epsilon, one.cap_delta):
                raise InputError(
                    f"[datasets.{name}]: the ledger has epsilon {found.epsilon:g}, delta {found.delta:g}, "
                    f"{found.neighbours} and its caps for it, for ever: write the same"
                )
        there = {name: (role, active) for name, role, active in self.people()}
        for name, role in self.config.persons.items():
            if name not in there or (role == "custodian" and there[name][1] and there[name][0] != role):
                self.add_person(name, role)  # not those whose access was taken away
        if not any(role == "custodian" and active for _, role, active in self.people()):
            raise InputError("nobody is custodian, so that nobody could approve: name one under [[persons]]")

    def _refuse_unknown_analysts(self) -> None:
        """Raise ``InputError`` where ``analysts`` of a data set names somebody whom the desk does not know."""
        known = [*self.config.persons, *(name for name, _, _ in self.people())]
        for dataset, one in self.config.datasets.items():
            for name in one.analysts:
                if name not in known:
                    hint = did_you_mean(name, known) or ": name this person under [[persons]]"
                    raise InputError(f"[datasets.{dataset}]: analysts: this desk knows no {name!r}{hint}")

    # ---- the chain that was seen

    @property
    def _head_file(self) -> Path:
        return self.config.folder / "head.json"

    def refuse_older_chain(self) -> None:
        """Raise ``LedgerError`` where the ledger's chain does not hold the head that was seen last."""
        try:
            seen = json.loads(self._head_file.read_text(encoding="utf-8"))
            head, count = str(seen["head"]), int(seen["entries"])
        except FileNotFoundError:
            head, count = "", 0
        except (OSError, ValueError, KeyError, TypeError):
            raise LedgerError(
                f"{self._head_file.name}, the head of the chain as seen last, can't be read"
            ) from None
        found = self.ledger.verify(head or None)
        if found.entries < count or not found.ok:
            there, last = self._head()
            missing = f" ({count - there} missing)" if there < count else ""
            raise LedgerError(
                f"the ledger {self.ledger.name} is not the one that this desk has seen: {count} entries with head "
                f"{head} then, {there} with head {last} now{missing}"
                f"{''.join(f'; {fault}' for fault in found.faults)}. A restored copy would give budget back: restore "
                'a newer one, or go on as the guide "Run a desk" says under "After a lost disk"'
            )

    @in_transaction(write=False)
    def _head(self, connection: Connection) -> tuple[int, str]:
        now = ledger_tables.read_state(connection, self.ledger.name)
        return int(now.entries), str(now.head)

    def _refuse_swapped_chain(self, connection: Connection) -> None:
        """Raise ``LedgerError`` where a copy was restored beneath: the chain lacks the head that was seen."""
        count, head = self._seen
        kept = ledger_tables.find(connection, entries.c.seq == count) if count else None
        if count and (kept is None or kept.hash != head):
            raise LedgerError(
                "the ledger is not the one that this desk has seen: was an older copy restored?"
            )

    def remember_head(self) -> None:
        """Write down how long the chain is and how it ends, beside the database, unless a longer one is known."""
        count, head = self._head()
        if count <= self._seen[0]:
            return
        self._seen = count, head
        self.config.folder.mkdir(parents=True, exist_ok=True)
        try:
            if int(json.loads(self._head_file.read_text(encoding="utf-8"))["entries"]) >= count:
                return
        except (OSError, ValueError, KeyError, TypeError):
            pass
        written = self._head_file.with_suffix(f".{secrets.token_hex(4)}")
        written.write_text(json.dumps({"entries": count, "head": head}) + "\n", encoding="utf-8")
        os.replace(written, self._head_file)

    def _refuse_second_draw(self, request: Request, stored: bytes) -> None:
        """Write down, beside the database, what is shown of a request for the first time; refuse anything else later.

        A restored database may hold a job that is charged and not yet drawn, although its result was read before: a
        worker draws again, and this keeps the second draw from everybody.
        """
        shown = self.config.folder / "shown" / request.id
        sum_now = hashlib.sha256(stored).hexdigest()
        if not shown.exists():
            shown.parent.mkdir(parents=True, exist_ok=True)
            written = shown.with_suffix(f".{secrets.token_hex(4)}")
            written.write_text(sum_now, encoding="utf-8")
            with suppress(FileExistsError):  # another thread was first
                os.link(written, shown)
            written.unlink()
        if shown.read_text(encoding="utf-8") != sum_now:
            raise LedgerError(
                "this result was drawn again, after a restored copy: the one that was shown before stands"
            )

    # ---- persons

    @in_transaction(write=True)
    def add_person(self, connection: Connection, name: str, role: str) -> None:
        """Add a person; a known one gets this role."""
        if role not in ROLES:
            raise InputError(f"a role is one of {', '.join(ROLES)}")
        Asker(person=name)  # refuses what is no name
        known = {one.name: one for one in connection.execute(select(tables.persons))}
        alike = next(
            (other for other in known if other != name and other.casefold() == name.casefold()), None
        )
        if alike is not None:
            raise InputError(f"{name!r} could be taken for {alike!r}: choose another name")
        if name in known and role != "custodian":
            self._refuse_last_custodian(connection, name)
        again = update(tables.persons).where(tables.persons.c.name == name).values(role=role, active=1)
        if not connection.execute(again).rowcount:
            row = {"name": name, "role": role, "added": self.clock(), "active": 1}
            connection.execute(insert(tables.persons).values(row))

    def refuse_custodian(self, person: Person, name: str, role: str = "") -> None:
        """Raise ``NotAllowed`` where a custodian would make another one, or get into the place of one.

        Else one custodian could approve twice where two persons must. Who is custodian is written in the settings.
        """
        is_other = name != person.name and any(
            (one, kind) == (name, "custodian") for one, kind, _ in self.people()
        )
        if role == "custodian" or is_other:
            raise NotAllowed(
                "custodians are named on the server, in desk.toml, and get their links there: dpcausal serve --link"
            )

    def _refuse_last_custodian(self, connection: Connection, name: str) -> None:
        """Raise ``Conflict`` where nobody but this person could approve anything."""
        custodians = select(tables.persons.c.name).where(
            tables.persons.c.role == "custodian", tables.persons.c.active == 1
        )
        if set(connection.execute(custodians).scalars()) == {name}:
            raise Conflict(f"{name} is the only custodian: add another one first")

    @in_transaction(write=True)
    def remove_person(self, connection: Connection, name: str) -> None:
        """Take away a person's access; entries and requests remain."""
        self._refuse_last_custodian(connection, name)
        connection.execute(update(tables.persons).where(tables.persons.c.name == name).values(active=0))
        connection.execute(delete(tables.tokens).where(tables.tokens.c.person == name))

    @in_transaction(write=False)
    def people(self, connection: Connection) -> list[tuple[str, str, bool]]:
        """Return name, role and whether active, by name."""
        found = connection.execute(select(tables.persons).order_by(tables.persons.c.name))
        return [(row.name, row.role, bool(row.active)) for row in found]

    @in_transaction(write=False)
    def has_token(self, connection: Connection, name: str) -> bool:
        """Return whether a person was ever given a token or link that still exists."""
        query = select(func.count()).where(tables.tokens.c.person == name)
        return bool(connection.execute(query).scalar_one())

    @in_transaction(write=True)
    def issue(self, connection: Connection, name: str, kind: str) -> str:
        """Return a new token, one-time link or session of a person; only its hash is kept."""
        token = secrets.token_urlsafe(32)
        now = self.clock()
        lasts = {"token": None, "link": LINK_SECONDS, "session": SESSION_SECONDS}[kind]
        if self._role(connection, name) is None:
            raise NotFound("there is no such person")
        connection.execute(delete(tables.tokens).where(tables.tokens.c.expires < now))
        if kind != "session":  # a new one replaces those before
            old = (tables.tokens.c.person == name) & (tables.tokens.c.kind == kind)
            connection.execute(delete(tables.tokens).where(old))
        row = {"hash": token_hash(token), "person": name, "kind": kind, "form": secrets.token_urlsafe(16)}
        connection.execute(
            insert(tables.tokens).values(**row, expires=None if lasts is None else now + lasts)
        )
        return token

    def _role(self, connection: Connection, name: str) -> str | None:
        known = select(tables.persons.c.role).where(
            tables.persons.c.name == name, tables.persons.c.active == 1
        )
        return connection.execute(known).scalar_one_or_none()

    @in_transaction(write=False)
    def who(
        self, connection: Connection, token: str, kind: str = "token", now: float | None = None
    ) -> Person | None:
        """Return the person of a token or session; None where it is not known, expired or taken away."""
        now = self.clock()
        known = select(tables.tokens).where(
            tables.tokens.c.hash == token_hash(token), tables.tokens.c.kind == kind
        )
        row = connection.execute(known).one_or_none()
        if row is None or (row.expires is not None and row.expires < now):
            return None
        role = self._role(connection, row.person)
        return None if role is None else Person(row.person, role, row.form)

    @in_transaction(write=False)
    def person(self, connection: Connection, name: str) -> Person | None:
        """Return a person by name; None where there is none."""
        role = self._role(connection, name)
        return None if role is None else Person(name, role)

    def use_link(self, link: str) -> Person | None:
        """Return the person of a one-time link, which is used up by this."""
        person = self.who(link, "link")
        return person if person is not None and self.sign_out(link) == 1 else None

    @in_transaction(write=True)
    def sign_out(self, connection: Connection, session: str) -> int:
        """End a session, or use up a link; return how many there were: one or none."""
        used = delete(tables.tokens).where(tables.tokens.c.hash == token_hash(session))
        return int(connection.execute(used).rowcount)

    # ---- asking

    def settings(self, dataset: str, person: Person) -> DatasetSettings:
        """Return the settings of a data set that a person may know of."""
        found = self.config.datasets.get(dataset)
        if found is None or (person.role == "analyst" and not found.open_to(person.name)):
            raise NotFound("there is no such data set")
        return found

    def rehearse(
        self, person: Person, dataset: str, command: object, arguments: object
    ) -> tuple[Question, dict[str, Any]]:
        """Return a question, and its cost with a forecast in words: free, from the schema and public numbers."""
        question, cost = self._cost(person, dataset, command, arguments)
        return question, cost | {"forecast": forecast_words(question, self.subjects[dataset])}

    def _cost(
        self, person: Person, dataset: str, command: object, arguments: object
    ) -> tuple[Question, dict[str, Any]]:
        """Return a question and its cost."""
        settings, subject = self.settings(dataset, person), self.subjects[dataset]
        question = parse_question(command, arguments, settings, subject)
        cost = rehearse(question, subject, self.ledger.address)
        return question, {
            "epsilon": cost.epsilon,
            "delta": cost.delta,
            "neighbours": cost.neighbours,
            "note": canonical({**cost.note, "declared": digest(subject)}),
        }

    def refuse_declared_otherwise(self, request: Request) -> None:
        """Raise ``DeclaredOtherwise`` where columns, numbers or whose a row is were others when it was charged."""
        mine = digest(self.subjects[request.dataset])
        if json.loads(request.note).get("declared", mine) != mine:
            raise DeclaredOtherwise("serve and work have read different settings: restart both with the same")

    def ask(
        self,
        person: Person,
        dataset: str,
        command: object,
        arguments: object,
        *,
        purpose: str,
        project: str | None = None,
        key: str | None = None,
    ) -> Request:
        """Record a question; where the rule approves it, charge and queue it at once.

        Raises ``BudgetError`` where the analyst's share, the cap or the total does not allow it; nothing is recorded.
        """
        if person.role != "analyst":
            raise NotAllowed("only analysts ask")
        settings = self.settings(dataset, person)
        now = self.clock()
        _refuse_after_last_day(settings, now)
        who = Asker(person.name, purpose, project or None)
        if who.purpose is None:
            raise InputError("say what for: purpose")
        question, cost = self._cost(person, dataset, command, arguments)

        def within_limits(connection: Connection) -> None:
            self._refuse_overdrawn_share(connection, settings, who, cost["epsilon"], cost["delta"])

        self._charges.keep()
        self.run(within_limits, write=False)  # before the forecast, which takes longest
        with for_form(FORMS[question.command].in_words()):  # it is shown on pages
            cost["forecast"] = forecast_words(question, self.subjects[dataset])
        row = {
            "id": uuid.uuid4().hex,
            "key": key or uuid.uuid4().hex,
            "dataset": dataset,
            **who.note(),
            "command": question.command,
            "arguments": question.to_json(),
            **cost,
            "state": WAITING,
            "asked": now,
            "attempts": 0,
        }

        def work(connection: Connection) -> str:
            earlier = (tables.requests.c.person == person.name) & (tables.requests.c.key == row["key"])
            old = connection.execute(select(tables.requests.c.id).where(earlier)).scalar_one_or_none()
            if old is not None:  # sent twice
                return str(old)
            known = tables.requests.c
            shown_open = known.state.not_in(ENDS) | (known.visible > now)  # an end counts from its tick on
            theirs = select(func.count()).where(known.person == person.name, shown_open)
            if connection.execute(theirs).scalar_one() >= MOST_WAITING:
                raise NotAllowed(
                    f"{MOST_WAITING} of your requests are not answered yet: wait for one of them"
                )
            within_limits(connection)
            connection.execute(insert(tables.requests).values(row))
            if settings.by_rule(cost["epsilon"]):
                self._charge(connection, self._get(connection, row["id"]), settings, now)
            return str(row["id"])

        self._charges.keep()
        found = self.run(work)
        self.remember_head()
        return self.request(found)

    def _refuse_overdrawn_share(
        self, connection: Connection, settings: DatasetSettings, who: Asker, epsilon: float, delta: float
    ) -> None:
        """Raise ``BudgetError`` where a cost passes the cap of one question, or the share of the person or project."""
        for unit, cost, limit in (
            ("epsilon", epsilon, settings.cap_epsilon),
            ("delta", delta, settings.cap_delta),
        ):
            if limit is not None and not fits(exact(cost), exact(limit)):
                line = f"one question of data set {settings.name!r} may cost {unit} {limit:g} at most, not {cost:g}"
                raise BudgetError(line, unit=unit, asked=cost, left=limit)
        shares = [("person", f"the share of {who.person}", settings.share_epsilon, settings.share_delta)]
        if who.project is not None:
            shares.append(
                ("project", "the project's share", settings.project_epsilon, settings.project_delta)
            )
        for name, words, *most in shares:
            spent = self._charges.spent(connection, settings.name, name, str(getattr(who, name)))
            totals = settings.epsilon, settings.delta
            for unit, cost, before, share, total in zip(
                ("epsilon", "delta"), (epsilon, delta), spent, most, totals, strict=True
            ):
                cap = exact(total if share is None else share)
                if fits(add(before, exact(cost)), cap):
                    continue
                if name == "project":  # others may have spent it
                    raise BudgetError(f"{words} of {unit} does not allow it", unit=unit, asked=cost)
                raise BudgetError.of(
                    f"budget ({words})", unit, cost, float(before), float(left_of(before, cap))
                )

    def read_charges(self) -> None:
        """Read what the chain has new, so that a process that is forked from this one need not."""
        self._charges.keep()

    def left(self, person: str, dataset: str) -> Left:
        """Return what is left to an analyst: of the share, by the analyst's own charges alone."""
        settings = self.config.datasets[dataset]
        self._charges.keep()
        spent = self.run(
            lambda connection: self._charges.spent(connection, dataset, "person", person), write=False
        )
        epsilon = settings.epsilon if settings.share_epsilon is None else settings.share_epsilon
        delta = settings.delta if settings.share_delta is None else settings.share_delta
        return Left(float(left_of(spent[0], exact(epsilon))), float(left_of(spent[1], exact(delta))))

    def _charge(
        self, connection: Connection, request: Request, settings: DatasetSettings, now: float
    ) -> None:
        """Charge a request and queue it, in the caller's transaction."""
        self._refuse_swapped_chain(connection)
        _refuse_after_last_day(settings, now)
        who = Asker(request.person, request.purpose, request.project)
        self._refuse_overdrawn_share(connection, settings, who, request.epsilon, request.delta)
        short = False
        try:
            entry = self.ledger.asked_by(**who.note()).charge_within(
                connection,
                request.dataset,
                request.id,
                request.epsilon,
                request.delta,
                neighbours=request.neighbours,
                note={**json.loads(request.note), "desk": True},
            )
        except BudgetError:
            short = True
        if short:  # outside the except block: what others have spent is not told
            raise BudgetError(
                f"the budget of data set {request.dataset!r} does not allow it",
                asked=request.epsilon,
            )
        self._change(connection, request.id, state=QUEUED, charged=now, entry=entry.seq)

    def _change(self, connection: Connection, request: str, **values: Any) -> None:
        connection.execute(update(tables.requests).where(tables.requests.c.id == request).values(**values))

    def _get(self, connection: Connection, request: str) -> Request:
        row = connection.execute(select(tables.requests).where(tables.requests.c.id == request)).one_or_none()
        if row is None:
            raise NotFound("there is no such request")
        return Request(**row._mapping)

    # ---- looking

    def request(self, request: str, person: Person | None = None) -> Request:
        """Return a request; one of somebody else is not there for an analyst."""
        found = self.run(lambda connection: self._get(connection, request), write=False)
        if person is not None and person.role == "analyst" and found.person != person.name:
            raise NotFound("there is no such request")
        return found

    @in_transaction(write=False)
    def requests_for(
        self, connection: Connection, person: Person, page: int = 1, *, waiting: bool | None = None
    ) -> RequestPage:
        """Return a page of the requests that a person may see: an analyst's own, all for others.

        ``waiting`` keeps those that wait for a decision, or those that do not.
        """
        known = tables.requests.c
        query = select(tables.requests).order_by(known.asked.desc(), known.id.desc())
        if person.role == "analyst":
            query = query.where(known.person == person.name)
        if waiting is not None:
            query = query.where(known.state == WAITING if waiting else known.state != WAITING)
        found = connection.execute(query.offset((page - 1) * PAGE).limit(PAGE + 1)).all()
        return RequestPage([Request(**row._mapping) for row in found[:PAGE]], page, len(found) > PAGE)

    @in_transaction(write=False)
    def decisions(self, connection: Connection, request: str) -> list[Mapping[str, Any]]:
        """Return who decided what and why, oldest first."""
        query = select(tables.decisions).where(tables.decisions.c.request == request)
        return [dict(row._mapping) for row in connection.execute(query.order_by(tables.decisions.c.time))]

    def files(self, request: Request) -> dict[str, bytes]:
        """Return the files of a release by name; none before its tick."""
        if request.shown_state(self.clock()) != DONE:
            return {}

        query = select(tables.releases.c.files).where(tables.releases.c.request == request.id)
        stored = self.run(lambda connection: connection.execute(query).scalar_one(), write=False)
        self._refuse_second_draw(request, stored)
        with zipfile.ZipFile(io.BytesIO(stored)) as folder:
            return {name: folder.read(name) for name in folder.namelist()}

    # ---- deciding

    def decide(
        self, person: Person, request: str, verdict: str, reason: str, now: float | None = None
    ) -> Request:
        """Record a custodian's approval or refusal; the last approval that is needed charges and queues.

        Raises ``BudgetError`` where the budget does not allow it: the decision is then not recorded.
        """
        if person.role != "custodian":
            raise NotAllowed("only custodians decide")
        if verdict not in ("approve", "refuse"):
            raise InputError("a verdict is approve or refuse")
        Asker(purpose=reason)  # refuses what is no line
        now = self.clock()

        def work(connection: Connection) -> None:
            found = self._get(connection, request)
            if found.state != WAITING:
                raise Conflict("this request is not waiting for a decision any more")
            decided = tables.decisions.c.request == request
            mine = select(tables.decisions).where(decided, tables.decisions.c.person == person.name)
            if connection.execute(mine).one_or_none() is not None:
                raise Conflict("you have decided on this request before: another person must")
            row = {
                "request": request,
                "person": person.name,
                "verdict": verdict,
                "reason": reason,
                "time": now,
            }
            connection.execute(insert(tables.decisions).values(row))
            if verdict == "refuse":
                self._change(connection, request, state=REFUSED, ended=now)
                return
            settings = self.config.datasets.get(found.dataset)
            if settings is None:
                raise Conflict("the data set of this request is not registered any more")
            count = connection.execute(select(func.count()).where(decided)).scalar_one()
            if count >= max(1, settings.approvals):
                self._charge(connection, found, settings, now)

        self._charges.keep()
        self.run(work)
        self.remember_head()
        return self.request(request)

    def withdraw(self, person: Person, request: str) -> Request:
        """Take back one's own request while it waits for approval."""
        self.request(request, person)

        def work(connection: Connection) -> None:
            found = self._get(connection, request)
            if found.person != person.name:
                raise NotAllowed("only who asked can withdraw")
            if found.state != WAITING:
                raise Conflict("this request does not wait for approval any more: it was decided on")
            self._change(connection, request, state=WITHDRAWN, ended=self.clock())

        self.run(work)
        return self.request(request)

    # ---- working

    @in_transaction(write=True)
    def beat(self, connection: Connection, worker: str) -> None:
        """Note that a worker lives."""
        now = self.clock()
        connection.execute(delete(tables.workers).where(tables.workers.c.name == worker))
        connection.execute(delete(tables.workers).where(tables.workers.c.seen < now - 86400.0))
        connection.execute(insert(tables.workers).values(name=worker, seen=now))

    @in_transaction(write=False)
    def has_worker(self, connection: Connection) -> bool:
        """Return whether a worker was heard of just now."""
        now = self.clock()
        query = select(func.max(tables.workers.c.seen))
        seen = connection.execute(query).scalar_one_or_none()
        return seen is not None and seen > now - 3 * BEAT

    @in_transaction(write=True)
    def claim(self, connection: Connection) -> Request | None:
        """Return the oldest queued request with a new lease; None where none is queued."""
        now = self.clock()
        self._reap(connection, now)
        query = select(tables.requests.c.id).where(tables.requests.c.state == QUEUED)
        found = connection.execute(query.order_by(tables.requests.c.charged).limit(1)).scalar_one_or_none()
        if found is None:
            return None
        count = tables.requests.c.attempts + 1
        lease = {"state": RUNNING, "lease": secrets.token_hex(16), "lease_until": now + LEASE}
        self._change(connection, found, **lease, attempts=count)
        return self._get(connection, found)

    def has_work(self) -> bool:
        """Return whether a job is queued, or was left by a worker that died."""
        now = self.clock()
        left = tables.requests.c.state.in_((RUNNING, DRAWING)) & (tables.requests.c.lease_until < now)
        query = select(func.count()).where((tables.requests.c.state == QUEUED) | left)
        return bool(self.run(lambda connection: connection.execute(query).scalar_one(), write=False))

    @in_transaction(write=False)
    def own_number(self, connection: Connection, request: Request) -> int:
        """Return the place of a charge among those of its analyst for the data set, from 1."""
        theirs = select(func.count()).where(
            tables.requests.c.person == request.person,
            tables.requests.c.dataset == request.dataset,
            tables.requests.c.entry <= request.entry,
        )
        return int(connection.execute(theirs).scalar_one())

    def _reap(self, connection: Connection, now: float) -> None:
        """Give back jobs of workers that died before they drew, and end those that died after."""
        dead = select(tables.requests).where(
            tables.requests.c.state.in_((RUNNING, DRAWING)), tables.requests.c.lease_until < now
        )
        for row in connection.execute(dead).all():
            found = Request(**row._mapping)
            if found.state == RUNNING and found.attempts < MOST_ATTEMPTS:
                self._change(connection, found.id, state=QUEUED, lease=None, lease_until=None)
            else:
                self._end(connection, found, FAILED, now)

    def _end(self, connection: Connection, request: Request, state: str, now: float) -> None:
        shown = tick_after(request.charged or now, now, self.config.tick)
        values = {"state": state, "ended": now, "visible": shown, "lease": None, "lease_until": None}
        self._change(connection, request.id, **values)

    def _leased(self, connection: Connection, request: str, lease: str) -> Request:
        found = self._get(connection, request)
        if found.lease != lease:
            raise Conflict("another worker has this job now")
        return found

    @in_transaction(write=True)
    def renew(self, connection: Connection, request: str, lease: str) -> None:
        """Prolong a lease; raise ``Conflict`` where the job was given to another worker."""
        self._leased(connection, request, lease)
        self._change(connection, request, lease_until=self.clock() + LEASE)

    @in_transaction(write=True)
    def begin_drawing(self, connection: Connection, request: str, lease: str) -> Entry:
        """Return the entry that a request was charged with; from here on its noise may be drawn, once.

        Raises ``Conflict`` for the second time, and for a worker that has lost the job.
        """
        found = self._leased(connection, request, lease)
        if found.state != RUNNING:
            raise Conflict("the noise of this request was drawn before")
        self._refuse_swapped_chain(connection)
        entry = ledger_tables.find(connection, entries.c.release == request)
        if entry is None or not entry.intact():
            raise Conflict("this request was not charged")
        self._change(connection, request, state=DRAWING)
        return entry

    @in_transaction(write=True)
    def finish(
        self,
        connection: Connection,
        request: str,
        lease: str,
        files: Mapping[str, bytes] | None,
    ) -> None:
        """End a job: with the files of its release, or None where it failed."""
        now = self.clock()
        found = self._leased(connection, request, lease)
        if files is None and found.state == RUNNING and found.attempts < MOST_ATTEMPTS:
            self._change(connection, request, state=QUEUED, lease=None, lease_until=None)  # nothing was drawn
            return
        if files is not None:
            if found.state != DRAWING:
                raise Conflict("a release without a draw")
            connection.execute(insert(tables.releases).values(request=request, files=_zipped(files)))
        self._end(connection, found, FAILED if files is None else DONE, now)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Return files as one compressed file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        for name, content in files.items():
            folder.writestr(name, content)
    return out.getvalue()
