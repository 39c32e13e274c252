"""Entries, each sealed with a hash over itself and the one before, and the check of the whole chain.

**Formula.** hash_k = SHA-256(canonical JSON of entry k with hash_(k-1) in it); hash_0 = SHA-256 of the ledger's
identity. Data sets, their totals and all charges of a ledger share one chain, and the ledger keeps the number of
entries and the last hash beside it.

**What the check finds**: an entry edited, taken out, put in or moved; a total edited; a data set taken away; a
tail cut off; a sum that is not the sum of its charges; a total passed.
**What it can't find**: someone with write access who rewrites all hashes from some entry on *and* the record of
the last one. Note ``head`` somewhere else now and then, and give it to ``verify``: a chain rewritten since then
does not hold it any more.

``Account`` is what the entries of a data set come to. Its releases have one relation and their epsilons and deltas add
up, so all of them together are (spent epsilon, spent delta)-DP for it (``store.py``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from dpcausal.core.errors import BudgetError, InputError
from dpcausal.privacy.accounting.composition import ZERO, add, exact, fits, left_of
from dpcausal.privacy.ledger.asker import NAMES as ASKER_NAMES
from dpcausal.privacy.ledger.asker import NOBODY, Asker

CREATE, CHARGE, REST = "create", "charge", "rest"


class Cap(NamedTuple):
    """The most that one release may cost, as exact decimals in text; None: as much as the total."""

    epsilon: str | None = None
    delta: str | None = None

    def passed_by(self, epsilon: float | str, delta: float | str) -> str | None:
        """Return the name of the first amount above the cap; None if both are within."""
        for unit, cost, most in (("epsilon", epsilon, self.epsilon), ("delta", delta, self.delta)):
            if most is not None and not fits(exact(cost), exact(most)):
                return unit
        return None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the ledger. Amounts are exact decimals as text.

    ``kind`` is ``create`` (``epsilon`` and ``delta`` are the data set's total), ``charge`` (they are the cost) or
    ``rest`` (they are 0: the second of two rounds spends what the first was charged for and left);
    ``spent_epsilon`` and ``spent_delta`` are the data set's sums including this entry.
    """

    seq: int
    kind: str
    dataset: str
    release: str
    time: str
    epsilon: str
    delta: str
    spent_epsilon: str
    spent_delta: str
    note: str
    previous: str
    hash: str = ""

    def sealed(self) -> Entry:
        """Return this entry with its hash computed."""
        fields = asdict(self)
        del fields["hash"]
        return replace(self, hash=hashlib.sha256(canonical(fields).encode()).hexdigest())

    def intact(self) -> bool:
        """Return whether the hash matches the content."""
        try:
            return self.hash == self.sealed().hash
        except (TypeError, ValueError):  # something in a column that JSON can't hold
            return False

    def records_same_charge(self, other: Entry) -> bool:
        """Return whether both entries record one release with one cost, whatever their time and place in the chain."""

        def content(entry: Entry) -> tuple[object, ...]:
            amounts = exact(entry.epsilon), exact(entry.delta)
            return (entry.kind, entry.dataset, entry.release, *amounts, entry.note)

        return content(self) == content(other)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON; the note as an object."""
        return asdict(self) | {"note": json.loads(self.note)}

    def rest_of(self) -> str:
        """Return the release whose charge this spends the rest of; empty if it spends none."""
        return self.release.removeprefix(f"{REST}:") if self.kind == REST else ""

    def for_two_rounds(self) -> bool:
        """Return whether this is the charge for two rounds that the first of them made."""
        try:
            note = json.loads(self.note)
        except (TypeError, ValueError):  # from another hand
            return False
        part = note.get("part") if isinstance(note, dict) else None
        return self.kind == CHARGE and isinstance(part, list) and part[:1] == [1]

    @property
    def asker(self) -> Asker:
        """Who asked and what for; nobody in entries that do not say."""
        try:
            note = json.loads(self.note)
            return Asker(**{name: note[name] for name in ASKER_NAMES if note.get(name) is not None})
        except (
            ValueError,
            TypeError,
            AttributeError,
            InputError,
        ):  # written by something else; ``verify`` says so
            return NOBODY

    @property
    def person(self) -> str | None:
        """Who asked."""
        return self.asker.person

    @property
    def purpose(self) -> str | None:
        """What it was asked for."""
        return self.asker.purpose

    @property
    def project(self) -> str | None:
        """In which project it was asked."""
        return self.asker.project

    def cap(self) -> Cap:
        """Return the cap on one release, from the entry that created the data set."""
        limits = self.to_dict()["note"].get("cap") or {}
        return Cap(limits.get("epsilon"), limits.get("delta"))


@dataclass(frozen=True)
class Verification:
    """What ``verify`` found: ``faults`` is empty when the chain holds."""

    entries: int
    head: str
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


def rest_is_spent(first: str) -> BudgetError:
    """Return the error for a second draw on one charge."""
    return BudgetError(
        f"the rest of {first} was spent already, and can't be spent twice, even if nothing came of it: charge another"
    )


def canonical(value: Mapping[str, Any]) -> str:
    """Return JSON in canonical form: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def genesis(identity: str, version: int) -> str:
    """Return the hash that precedes the first entry."""
    return hashlib.sha256(f"dpcausal ledger {version} {identity}".encode()).hexdigest()


def check_chain(
    entries: Iterable[Entry], start: str, count: int, head: str, noted: str | None = None
) -> Verification:
    """Verify the hash chain from ``start`` against the recorded ``count`` and ``head``, and an earlier head ``noted``.

    Stops at the first broken entry: what comes after can't be trusted anyway. **Cost** O(entries), one pass.
    """
    previous, seen = start, 0
    totals: dict[str, Entry] = {}
    last: dict[str, Entry] = {}
    found = noted in (None, start)
    rests: set[tuple[str, str]] = set()  # data set and release of charges for two rounds whose rest is left
    for entry in entries:
        fault = _fault(entry, seen + 1, previous, totals.get(entry.dataset), last.get(entry.dataset), rests)
        if fault:
            return Verification(seen, previous, (f"entry {seen + 1}: {fault}",))
        if entry.kind == CREATE:
            totals[entry.dataset] = entry
        if entry.for_two_rounds():
            rests.add((entry.dataset, entry.release))
        rests.discard((entry.dataset, entry.rest_of()))
        last[entry.dataset] = entry
        previous, seen = entry.hash, seen + 1
        found = found or entry.hash == noted
    faults = []
    if seen != count:
        faults.append(f"{seen} entries are there, {count} were recorded")
    if previous != head:
        faults.append("the last entry is not the one recorded as last")
    if not found:
        faults.append(
            "the head noted earlier is not in the chain: an older copy was restored, or it is another chain"
        )
    return Verification(seen, previous, tuple(faults))


def _fault(
    entry: Entry,
    seq: int,
    previous: str,
    total: Entry | None,
    last: Entry | None,
    rests: set[tuple[str, str]],
) -> str | None:
    """Return what is wrong with one entry, given those before it; None if nothing."""
    if entry.seq != seq:
        return f"numbered {entry.seq}: an entry was taken out, put in or moved"
    if entry.previous != previous:
        return "does not follow the entry before it"
    if not entry.intact():
        return "was edited: its hash does not fit its content"
    if entry.kind not in (CREATE, CHARGE, REST):
        return "is of a kind that no ledger has"
    if entry.kind == CREATE:
        return None if total is None else "creates a data set that exists already"
    if total is None or last is None:
        return "charges a data set that was never created"
    try:
        spent = exact(entry.spent_epsilon), exact(entry.spent_delta)
        sums = (
            add(exact(last.spent_epsilon), exact(entry.epsilon)),
            add(exact(last.spent_delta), exact(entry.delta)),
        )
        if sums != spent:
            return "its sums are not the sums of the charges"
        if not (fits(sums[0], exact(total.epsilon)) and fits(sums[1], exact(total.delta))):
            return "passes the total of its data set"
        if total.cap().passed_by(entry.epsilon, entry.delta):
            return "passes the cap of its data set for one release"
        free = exact(entry.epsilon) == exact(entry.delta) == ZERO
        if entry.kind == REST and not (free and (entry.dataset, entry.rest_of()) in rests):
            return "spends the rest of no charge for two rounds, or spends it again"
    except (InputError, ValueError, TypeError, AttributeError):  # the latter from a note that is no object
        return "holds an amount that is no number"
    return None


def first_entry(
    dataset: str, epsilon: float, delta: float, note: str, seq: int, previous: str, time: str
) -> Entry:
    """Return the entry that creates a data set with its total."""
    zero = str(ZERO)
    return Entry(
        seq=seq,
        kind=CREATE,
        dataset=dataset,
        release=f"{CREATE}:{dataset}",
        time=time,
        epsilon=str(exact(epsilon)),
        delta=str(exact(delta)),
        spent_epsilon=zero,
        spent_delta=zero,
        note=note,
        previous=previous,
    ).sealed()


@dataclass(frozen=True)
class Account:
    """A data set's total, what was spent of it and what is left."""

    dataset: str
    neighbours: str
    epsilon: float
    delta: float
    spent_epsilon: float
    spent_delta: float
    left_epsilon: float
    left_delta: float
    releases: int
    created: str
    cap_epsilon: float | None = None  # of one release; None: as much as the total
    cap_delta: float | None = None

    def left_text(self) -> str:
        """Return what remains of the budget, for an error message."""
        return f"epsilon {self.left_epsilon:.6g}, delta {self.left_delta:.6g}"


def account(total: Entry, last: Entry, releases: int) -> Account:
    """Return the account of a data set after the entry ``last``."""
    cap, most = (exact(total.epsilon), exact(total.delta)), total.cap()
    spent = exact(last.spent_epsilon), exact(last.spent_delta)
    return Account(
        dataset=total.dataset,
        neighbours=str(total.to_dict()["note"]["neighbours"]),
        epsilon=float(cap[0]),
        delta=float(cap[1]),
        spent_epsilon=float(spent[0]),
        spent_delta=float(spent[1]),
        left_epsilon=float(left_of(spent[0], cap[0])),
        left_delta=float(left_of(spent[1], cap[1])),
        releases=releases,
        created=total.time,
        cap_epsilon=None if most.epsilon is None else float(exact(most.epsilon)),
        cap_delta=None if most.delta is None else float(exact(most.delta)),
    )
