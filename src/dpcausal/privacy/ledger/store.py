"""The ledger itself: create a data set with its total, charge, show, log, verify.

**Guarantee.** The sums of epsilon and of delta over all recorded releases of a data set never pass its total,
whatever number of processes charge at once and whenever they die. Releases may be chosen adaptively, each an
(epsilon_i, delta_i)-DP interaction of its own; with the sums capped at an (epsilon, delta) fixed in advance, all
that was ever released from the data set is together (epsilon, delta)-DP (Rogers et al. 2016, Thm 3.6; releases that
overlap in time: Haney et al. 2023; ``accounting/composition.proof.md``, parts 2 and 4).

**Charge first.** ``charge`` returns after the commit; only then may noise be drawn. A crash in between leaves the
charge. A charge is known by its release id: repeating it (after a lost connection, say) records nothing more. Use
an id for **one** draw of noise; ``Budget`` makes a new one for each release.

**Cost** of a charge: five reads and two writes by index and one durable commit, whatever the length of the log.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from dpcausal.core.display import display
from dpcausal.core.errors import BudgetError, InputError, LedgerError
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.spelling import spelled
from dpcausal.privacy.accounting.composition import ZERO, add, check_total, exact, fits, left_of
from dpcausal.privacy.ledger import tables
from dpcausal.privacy.ledger.asker import NOBODY, Asker, asking
from dpcausal.privacy.ledger.beside import SecondBudget, lookalike, other_budgets
from dpcausal.privacy.ledger.chain import (
    CHARGE,
    REST,
    Account,
    Entry,
    Verification,
    account,
    canonical,
    check_chain,
    first_entry,
    genesis,
    rest_is_spent,
)
from dpcausal.privacy.ledger.connection import Database
from dpcausal.privacy.ledger.required import Address, address
from dpcausal.privacy.ledger.tables import entries

DECISION = "a new budget is the decision of whoever is answerable for the data"
_RELEASE = re.compile(r"[A-Za-z0-9._-]{1,100}")


def refuse_overdraft(total: Entry, last: Entry, epsilon: float, delta: float) -> None:
    """Raise ``BudgetError`` where this cost passes the cap of a release or, after the entry ``last``, the total."""
    unit_passed, most_of_one = total.cap().passed_by(epsilon, delta), total.cap()
    if unit_passed is not None:
        cost, limit = (
            (epsilon, most_of_one.epsilon) if unit_passed == "epsilon" else (delta, most_of_one.delta)
        )
        raise BudgetError(
            f"one release of data set {total.dataset!r} may cost {unit_passed} {limit} at most, not {cost:g}",
            unit=unit_passed,
            asked=cost,
            left=float(limit or 0),
        )
    for unit, cost, before, most in (
        ("epsilon", epsilon, last.spent_epsilon, total.epsilon),
        ("delta", delta, last.spent_delta, total.delta),
    ):
        spent, cap = exact(before), exact(most)
        if not fits(add(spent, exact(cost)), cap):
            where, left = f"budget of data set {total.dataset!r}", float(left_of(spent, cap))
            advice = DECISION if left > 0 else f"nothing is left: {DECISION}"
            if not cap:
                advice = f"the total was fixed without a {unit}: ask without one; {DECISION}"
            raise BudgetError.of(where, unit, cost, float(spent), left, advice)


def refuse_other_rest(charged: Entry, epsilon: float, delta: float, asked: Mapping[str, Any]) -> None:
    """Refuse what is not within the rest of a charge for two rounds; ``asked`` is the note of the second."""
    if not charged.for_two_rounds():
        raise LedgerError(
            f"entry {charged.seq} of data set {charged.dataset!r} was not charged for two rounds"
        )
    note, part = charged.to_dict()["note"], asked["part"]
    first = note["part"]
    same = (exact(charged.epsilon), exact(charged.delta)) == (exact(epsilon), exact(delta))
    same = same and all(note.get(name) == asked.get(name) for name in ("neighbours", "unit"))
    if not same:
        raise LedgerError(
            f"entry {charged.seq} of data set {charged.dataset!r} was charged epsilon {charged.epsilon}, delta "
            f"{charged.delta} ({note['neighbours']}, unit {note.get('unit', 'a row')}) for both rounds: the second "
            "can't have another total, relation or unit"
        )
    if part[0] != 2 or part[1] < first[1]:
        raise BudgetError(
            f"the second round asks for a share of {1.0 - part[1]:g} of what entry {charged.seq} charged: the first "
            f"left {1.0 - first[1]:g}",
            asked=(1.0 - part[1]) * epsilon,
            left=(1.0 - first[1]) * epsilon,
        )


class Ledger:
    """One total budget per data set for all its releases, stored in a database.

    ``Ledger.open`` opens one. It is append-only, its entries form a chain of hashes, and it is safe to share between
    threads and processes and to use after ``fork``. Give it, or its address, to ``discover(ledger=...)``.

    **Guarantee**: the sums of epsilon and of delta over all recorded releases of a data set never pass its total,
    whatever number of processes charge at once and whenever they die.

    Parameters
    ----------
    database : Database
        Where the entries are; ``Ledger.open`` makes it from an address.
    asker : Asker, default nobody
        Who asks, as ``asked_by`` says it; every charge records it.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.open(f"sqlite:///{folder.name}/budget.db", create=True)
    >>> entry = ledger.create("cohort", epsilon=10.0, delta=1e-5)
    >>> entry = ledger.charge("cohort", "first-release", epsilon=1.0)
    >>> ledger.show("cohort")[0].left_epsilon, ledger.verify().ok
    (9.0, True)
    >>> folder.cleanup()
    """

    def __init__(self, database: Database, asker: Asker = NOBODY) -> None:
        self._database = database
        self.asker = asker
        self._totals: dict[str, Entry] = {}  # of data sets that were charged; a total never changes

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    @property
    def name(self) -> str:
        """The ledger's address, without any password."""
        return self._database.name

    @property
    def address(self) -> Address:
        """The normalised address of this ledger, equal for all its spellings."""
        return address(self._database.text)

    @property
    def database(self) -> Database:
        """The database, for tables that stand beside the ledger's."""
        return self._database

    def asked_by(
        self, person: str | None = None, purpose: str | None = None, project: str | None = None
    ) -> Ledger:
        """Return this ledger with who asks and what for, which every charge through it records.

        Parameters
        ----------
        person, purpose, project : str or None, default None
            A line each. They are part of the entry and of its hash.

        Returns
        -------
        Ledger
            The same ledger; give it to ``discover(ledger=...)``.
        """
        view = Ledger(self._database, Asker(person, purpose, project).over(self.asker))
        view._totals = self._totals
        return view

    @property
    def file(self) -> Path | None:
        """The file of an SQLite ledger; None on a server."""
        return Path(self._database.name).absolute() if self._database.is_sqlite else None

    @classmethod
    def open(cls, url: str, *, create: bool = False, patience: float = 30.0) -> Ledger:
        """Open the ledger at an address.

        Parameters
        ----------
        url : str
            ``sqlite:///file.db`` or ``postgresql://user:password@host/database``.
        create : bool, default False
            Whether to make the ledger where there is none.
        patience : float, default 30.0
            How many seconds a charge waits for a busy file or a server that went away.

        Returns
        -------
        Ledger

        Raises
        ------
        LedgerError
            If there is no ledger, or it can't be opened or trusted.
        """
        database = Database(url, patience=patience)
        if create:
            database.make_file()
        else:
            database.require_file()
        if not database.run(tables.exists, write=False, patience=0 if not database.is_sqlite else None):
            if not create:
                raise LedgerError(f"{database.name} holds no ledger: make one with dpcausal ledger create")
            database.run(tables.create, write=True, level="READ COMMITTED")
        ledger = cls(database)
        database.run(lambda connection: tables.read_state(connection, ledger.name), write=False)
        return ledger

    def create(
        self,
        dataset: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: str | Neighbours = "replace-one",
        similar_name: bool = False,
        cap_epsilon: float | None = None,
        cap_delta: float | None = None,
    ) -> Entry:
        """Record a new data set with its total budget, which can't be changed later.

        Parameters
        ----------
        dataset : str
            Its name: 1 to 200 printable characters, no blanks at the ends.
        epsilon, delta : float
            The total of all releases; ``delta`` is 0.0 unless given.
        neighbours : str or Neighbours, default "replace-one"
            The relation that every release must have.
        similar_name : bool, default False
            Whether to take a name that looks like that of another data set. One data set under two names would have
            two budgets.
        cap_epsilon, cap_delta : float or None, default None
            The most that one release may cost; None: as much as the total. It can't be changed later, either.

        Returns
        -------
        Entry
            The entry that was appended.

        Raises
        ------
        LedgerError
            If the ledger has this data set already, or one whose name looks like it.
        InputError
            If the name or the total can't be used.

        Warns
        -----
        SecondBudget
            If another ledger in the folder has a data set of such a name: the same people would have two budgets.
        """
        check_total(epsilon, delta)
        if not (0 < len(dataset) <= 200 and dataset.isprintable() and dataset == dataset.strip()):
            raise InputError("a data set name must be 1 to 200 printable characters, no blanks at the ends")
        check_total(
            epsilon if cap_epsilon is None else cap_epsilon, delta if cap_delta is None else cap_delta
        )
        limits = {"epsilon": cap_epsilon, "delta": cap_delta}
        cap = {unit: str(exact(most)) for unit, most in limits.items() if most is not None}
        relation = Neighbours.parse(neighbours).value
        note = canonical(
            {"neighbours": relation, "rule": "sum of epsilon and of delta", **({"cap": cap} if cap else {})}
        )

        def work(connection: Connection) -> Entry:
            now = tables.lock(connection, self.name)
            entry = first_entry(dataset, epsilon, delta, note, now.entries + 1, now.head, _time())
            old = tables.find(connection, entries.c.release == entry.release)
            if old is None:
                other = None if similar_name else lookalike(dataset, tables.names(connection))
                if other is None:
                    return tables.append(connection, entry)
                raise LedgerError(
                    f"the ledger {self.name} has a data set {other!a}, and {dataset!a} looks like it: "
                    "one data set under two names has two budgets; if it is another one, say so (--similar-name, or "
                    "similar_name=True)"
                )
            found = account(*tables.first_and_last(connection, self.name, dataset), 0)
            raise LedgerError(
                f"the ledger {self.name} has a data set {dataset!r} already: total epsilon {found.epsilon:.6g}, delta "
                f"{found.delta:.6g} ({found.neighbours}); left {found.left_text()}; a total can't be changed"
            )

        for other in [] if self.file is None else other_budgets(self.file, dataset):
            warnings.warn(display().summary(other, dataset=dataset), SecondBudget, stacklevel=2)
        return self._database.run(work, write=True)

    def charge(
        self,
        dataset: str,
        release: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: str | Neighbours = "replace-one",
        note: Mapping[str, Any] | None = None,
        person: str | None = None,
        purpose: str | None = None,
        project: str | None = None,
    ) -> Entry:
        """Record the cost of one release, before its noise is drawn.

        Parameters
        ----------
        dataset : str
            The data set that is charged.
        release : str
            An id of 1 to 100 letters, digits and ``. _ -``. An id that was charged before, with the same content, gives
            the same entry again and costs nothing more: use each for one draw of noise.
        epsilon, delta : float
            What the release costs; ``delta`` is 0.0 unless given.
        neighbours : str or Neighbours, default "replace-one"
            The relation of the release; it must be that of the data set.
        note : mapping or None, default None
            Public facts that are kept with the entry, as JSON.
        person, purpose, project : str or None, default None
            Who asks and what for, a line each; part of the entry and of its hash.

        Returns
        -------
        Entry
            The entry, after it was committed.

        Raises
        ------
        BudgetError
            If the total does not allow it; nothing was recorded.
        LedgerError
            If there is no such data set, the relation differs, or the id was used with another content.
        """
        who = Asker(person, purpose, project)

        def work(connection: Connection) -> Entry:
            return self.asked_by(**who.note()).charge_within(
                connection, dataset, release, epsilon, delta, neighbours=neighbours, note=note
            )

        return self._database.run(work, write=True)

    def charge_within(
        self,
        connection: Connection,
        dataset: str,
        release: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: str | Neighbours = "replace-one",
        note: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Charge as ``charge`` does, in a transaction of the caller that writes; noise only after it has committed."""
        check_total(epsilon, delta)
        if not _RELEASE.fullmatch(release):
            raise InputError("a release id must be 1 to 100 of A-Z a-z 0-9 . _ -")
        relation = Neighbours.parse(neighbours)
        who = self.asker.over(asking()).note()
        text = canonical({"neighbours": relation.value, **(note or {}), **who})
        now = tables.lock(connection, self.name)
        total, last = tables.first_and_last(connection, self.name, dataset)
        tables.check_tail(connection, self.name, now)
        self._totals[dataset] = total
        allowed = total.to_dict()["note"]["neighbours"]
        if allowed != relation.value:
            how = spelled(f"--neighbours {allowed}", f"neighbours={allowed!r}")
            raise LedgerError(
                f"data set {dataset!r} is kept for {allowed} neighbours, not {relation.value}: ask with {how}. One "
                f"set of people has one relation for all releases, ever: one that needs {relation.value} is "
                "created so before the first of them"
            )
        spent = exact(last.spent_epsilon), exact(last.spent_delta)
        after = add(spent[0], exact(epsilon)), add(spent[1], exact(delta))
        entry = Entry(
            seq=now.entries + 1,
            kind=CHARGE,
            dataset=dataset,
            release=release,
            time=_time(),
            epsilon=str(exact(epsilon)),
            delta=str(exact(delta)),
            spent_epsilon=str(after[0]),
            spent_delta=str(after[1]),
            note=text,
            previous=now.head,
        ).sealed()
        old = tables.find(connection, entries.c.release == release)
        if old is not None:
            if old.intact() and old.records_same_charge(entry):
                return old
            raise LedgerError(f"release {release!r} was charged before with another content")
        refuse_overdraft(total, last, epsilon, delta)
        return tables.append(connection, entry)

    def take_rest(
        self,
        dataset: str,
        first: str | None,
        release: str,
        epsilon: float,
        delta: float = 0.0,
        *,
        neighbours: str | Neighbours = "replace-one",
        note: Mapping[str, Any],
    ) -> Entry:
        """Record that the second of two rounds spends the rest of what the first was charged for, before its noise.

        Parameters
        ----------
        dataset : str
            The data set that was charged.
        first : str or None
            The id of the first round's release; None: it was charged to no ledger, which is refused.
        release : str
            The id of the second's.
        epsilon, delta : float
            The total of both rounds, as it was charged.
        neighbours : str or Neighbours, default "replace-one"
            The relation of both.
        note : mapping
            Public facts; ``part`` has the round and the share of the first, as the note of the first charge has.

        Returns
        -------
        Entry
            The entry, after it was committed; it costs nothing more.

        Raises
        ------
        BudgetError
            If the rest was spent before, or is less than what is asked.
        LedgerError
            If there is no such charge for two rounds.
        """
        who = self.asker.over(asking()).note()
        asked = {"neighbours": Neighbours.parse(neighbours).value, **note}
        text = canonical({**asked, "release": release, **who})

        def work(connection: Connection) -> Entry:
            now = tables.lock(connection, self.name)
            total, last = tables.first_and_last(connection, self.name, dataset)
            tables.check_tail(connection, self.name, now)
            self._totals[dataset] = total
            charged = None if first is None else tables.find(connection, entries.c.release == first)
            if (
                charged is None
                or charged.kind != CHARGE
                or charged.dataset != dataset
                or not charged.intact()
            ):
                raise LedgerError(
                    f"the ledger {self.name} has no charge for the first round in data set {dataset!r}: name the "
                    "ledger and the data set that the first round was charged to"
                )
            refuse_other_rest(charged, epsilon, delta, asked)
            entry = Entry(
                seq=now.entries + 1,
                kind=REST,
                dataset=dataset,
                release=f"{REST}:{first}",  # once in a ledger; no id of a charge has a colon
                time=_time(),
                epsilon=str(ZERO),
                delta=str(ZERO),
                spent_epsilon=last.spent_epsilon,
                spent_delta=last.spent_delta,
                note=text,
                previous=now.head,
            ).sealed()
            old = tables.find(connection, entries.c.release == entry.release)
            if old is None:
                return tables.append(connection, entry)
            if old.intact() and old.records_same_charge(entry):
                return old  # this draw, tried again
            raise rest_is_spent(f"entry {charged.seq} of data set {dataset!r}")

        return self._database.run(work, write=True)

    def require(self, dataset: str, epsilon: float, delta: float = 0.0) -> None:
        """Refuse what ``charge`` would refuse now for want of budget; nothing is recorded.

        Raises
        ------
        BudgetError
            If the total does not allow it.
        LedgerError
            If there is no such data set.
        """

        def work(connection: Connection) -> None:
            tables.read_state(connection, self.name)
            refuse_overdraft(*tables.first_and_last(connection, self.name, dataset), epsilon, delta)

        self._database.run(work, write=False)

    def newest(self, dataset: str, most: int) -> list[Entry]:
        """Return at most ``most`` newest entries of a data set; none where it is unknown."""

        def work(connection: Connection) -> list[Entry]:
            query = select(entries).where(entries.c.dataset == dataset).order_by(entries.c.seq.desc())
            return [tables.as_entry(row) for row in connection.execute(query.limit(most))]

        return self._database.run(work, write=False)

    def left_after(self, entry: Entry) -> dict[str, float]:
        """Return the epsilon and delta that remained after a charge made here."""
        found = account(self._totals[entry.dataset], entry, 0)
        return {"epsilon": found.left_epsilon, "delta": found.left_delta}

    def show(self, dataset: str | None = None) -> list[Account]:
        """Return total, spent and left of every data set, or of the one that is named."""

        def work(connection: Connection) -> list[Account]:
            tables.read_state(connection, self.name)
            counts = (
                select(entries.c.dataset, func.count())
                .group_by(entries.c.dataset)
                .order_by(entries.c.dataset)
            )
            if dataset is not None:
                counts = counts.where(entries.c.dataset == dataset)
            found = [
                account(*tables.first_and_last(connection, self.name, name), count - 1)
                for name, count in connection.execute(counts).all()
            ]
            if dataset is not None and not found:
                raise tables.unknown(connection, self.name, dataset)
            return found

        return self._database.run(work, write=False)

    def log(self, dataset: str | None = None) -> list[Entry]:
        """Return every entry, or those of the data set that is named, oldest first."""

        def work(connection: Connection) -> list[Entry]:
            tables.read_state(connection, self.name)
            query = select(entries).order_by(entries.c.seq)
            if dataset is not None:
                query = query.where(entries.c.dataset == dataset)
            found = [tables.as_entry(row) for row in connection.execute(query)]
            if dataset is not None and not found:
                raise tables.unknown(connection, self.name, dataset)
            return found

        return self._database.run(work, write=False)

    def verify(self, head: str | None = None) -> Verification:
        """Check the whole chain of entries: every hash, sum and total.

        Parameters
        ----------
        head : str or None, default None
            A hash of the last entry that was noted earlier, elsewhere; it must still be in the chain.

        Returns
        -------
        Verification
            Whether all is well, and what is not.
        """

        def work(connection: Connection) -> Verification:
            now = tables.read_state(connection, self.name)
            chain = map(tables.as_entry, connection.execute(select(entries).order_by(entries.c.seq)))
            start = genesis(now.identity, now.format)
            return check_chain(chain, start, now.entries, now.head, head)

        return self._database.run(work, write=False)


def _time() -> str:
    """Return the present time in UTC, as text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
