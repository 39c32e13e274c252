"""What a careless or dishonest hand can do to a ledger, and that it is refused or found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from dpcausal.core.errors import LedgerError
from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.chain import check_chain
from dpcausal.privacy.ledger.tables import entries


@pytest.fixture
def ledger(ledger_url: str) -> Ledger:
    """Two data sets; five charges in turn."""
    opened = Ledger.open(ledger_url, create=True)
    opened.create("d", 1.0, 1e-6)
    opened.create("e", 1.0)
    for index in range(5):
        opened.charge("de"[index % 2], f"r{index}", 0.1)
    return opened


@pytest.fixture
def engine(ledger_url: str) -> Iterator[Engine]:
    made = create_engine(ledger_url.replace("postgresql://", "postgresql+psycopg://"))
    yield made
    made.dispose()


def disarm(engine: Engine) -> None:
    """Take the triggers away, as the owner of the database can."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            for name in connection.execute(text(query)).scalars().all():
                connection.execute(text(f"DROP TRIGGER {name}"))
        else:
            for table in ("dpcausal_entries", "dpcausal_ledger"):
                connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER ALL"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpcausal_entries SET epsilon = '0.01' WHERE seq = 4",
        "DELETE FROM dpcausal_entries WHERE seq = 7",
        "DELETE FROM dpcausal_ledger",
        "UPDATE dpcausal_ledger SET entries = 3",
        "UPDATE dpcausal_ledger SET identity = 'x', entries = entries + 1",
        "UPDATE dpcausal_ledger SET format = 9, entries = entries + 1",
    ],
)
def test_triggers_refuse_changes(ledger: Ledger, engine: Engine, statement: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"), engine.begin() as connection:
        connection.execute(text(statement))
    assert ledger.verify().ok
    assert ledger.verify().entries == 7


@pytest.mark.postgres
def test_triggers_refuse_truncation(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url, create=True)
    ledger.create("d", 1.0)
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    for table in ("dpcausal_entries", "dpcausal_ledger"):
        with pytest.raises(DatabaseError, match="append-only"), engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {table}"))
    engine.dispose()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE dpcausal_entries SET epsilon = '0.01' WHERE seq = 4", "entry 4: was edited"),
        ("UPDATE dpcausal_entries SET time = '2000-01-01' WHERE seq = 7", "entry 7: was edited"),
        ("UPDATE dpcausal_entries SET note = '{}' WHERE seq = 3", "entry 3: was edited"),
        ("UPDATE dpcausal_entries SET spent_epsilon = '0' WHERE seq = 7", "entry 7: was edited"),
        ("UPDATE dpcausal_entries SET epsilon = '100' WHERE seq = 1", "entry 1: was edited"),
        ("UPDATE dpcausal_entries SET hash = 'abc' WHERE seq = 7", "entry 7: was edited"),
        ("UPDATE dpcausal_entries SET previous = 'abc' WHERE seq = 5", "entry 5: does not follow"),
        ("DELETE FROM dpcausal_entries WHERE seq = 4", "entry 4: numbered 5"),
        ("DELETE FROM dpcausal_entries WHERE seq = 7", "6 entries are there, 7 were recorded"),
        ("DELETE FROM dpcausal_entries WHERE dataset = 'e'", "entry 2: numbered 3"),
        ("DELETE FROM dpcausal_entries", "0 entries are there, 7 were recorded"),
        ("UPDATE dpcausal_ledger SET head = 'abc'", "not the one recorded as last"),
        ("UPDATE dpcausal_ledger SET identity = 'abc'", "entry 1: does not follow"),
    ],
)
def test_verify_finds(ledger: Ledger, engine: Engine, statement: str, found: str) -> None:
    disarm(engine)
    with engine.begin() as connection:
        connection.execute(text(statement))
    verification = ledger.verify()
    assert not verification.ok
    assert found in "; ".join(verification.faults)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dpcausal_entries SET epsilon = '100' WHERE seq = 1",
        "UPDATE dpcausal_entries SET spent_epsilon = '0' WHERE seq = 7",
        "DELETE FROM dpcausal_entries WHERE seq = 7",
        "UPDATE dpcausal_ledger SET head = 'abc'",
    ],
)
def test_nothing_is_charged_on_rows_that_were_altered(ledger: Ledger, engine: Engine, statement: str) -> None:
    disarm(engine)
    with engine.begin() as connection:
        connection.execute(text(statement))
    before = len(ledger.log())
    with pytest.raises(LedgerError, match="was altered"):
        ledger.charge("d", "after", 0.1)
    assert len(ledger.log()) == before


def test_two_entries_exchanged_are_found(ledger: Ledger, engine: Engine) -> None:
    disarm(engine)
    with engine.begin() as connection:
        for old, new in ((4, 99), (6, 4), (99, 6)):
            connection.execute(text(f"UPDATE dpcausal_entries SET seq = {new} WHERE seq = {old}"))
    assert "entry 4: does not follow" in ledger.verify().faults[0]


def rewrite(
    ledger: Ledger, engine: Engine, change: Callable[[dict[str, str]], dict[str, str]], seq: int
) -> None:
    """The clever thief: change an entry, then all hashes after it, then the head."""
    disarm(engine)
    chain = ledger.log()
    previous = chain[seq - 2].hash
    with engine.begin() as connection:
        for entry in chain[seq - 1 :]:
            fields = asdict(entry) | {"previous": previous}
            new = replace(entry, **(change(fields) if entry.seq == seq else fields)).sealed()
            connection.execute(entries.update().where(entries.c.seq == new.seq).values(asdict(new)))
            previous = new.hash
        connection.execute(text("UPDATE dpcausal_ledger SET head = :head"), {"head": previous})


def test_rewritten_amounts_must_still_add_up(ledger: Ledger, engine: Engine) -> None:
    rewrite(ledger, engine, lambda fields: fields | {"epsilon": "0.01"}, seq=3)
    assert ledger.verify().faults == ("entry 3: its sums are not the sums of the charges",)


@pytest.mark.parametrize("amount", ["abc", "-1", "nan"])
def test_rewritten_amounts_must_be_numbers(ledger: Ledger, engine: Engine, amount: str) -> None:
    rewrite(ledger, engine, lambda fields: fields | {"epsilon": amount, "spent_epsilon": amount}, seq=3)
    assert ledger.verify().faults == ("entry 3: holds an amount that is no number",)


def test_a_chain_rewritten_in_whole_is_found_only_by_a_noted_head(ledger: Ledger, engine: Engine) -> None:
    noted = ledger.verify().head
    assert ledger.verify(noted).ok
    rewrite(ledger, engine, lambda fields: fields | {"time": "2000-01-01"}, seq=3)
    assert ledger.verify().ok  # the limit that chain.py states
    (fault,) = ledger.verify(noted).faults
    assert fault.startswith("the head noted earlier is not in the chain: an older copy was restored")


def test_a_noted_head_stays_good_as_the_chain_grows(ledger: Ledger) -> None:
    noted = ledger.verify().head
    ledger.charge("d", "later", 0.1)
    assert ledger.verify(noted).ok
    assert not ledger.verify("0" * 64).ok


def test_overspent_chains_are_found_even_when_sealed(ledger: Ledger) -> None:
    chain = ledger.log()
    last = chain[-1]
    spent = replace(last, epsilon="5", spent_epsilon="5.2").sealed()
    found = check_chain([*chain[:-1], spent], chain[0].previous, 7, spent.hash)
    assert found.faults == ("entry 7: passes the total of its data set",)
    again = replace(chain[0], seq=8, previous=last.hash).sealed()
    found = check_chain([*chain, again], chain[0].previous, 8, again.hash)
    assert found.faults == ("entry 8: creates a data set that exists already",)
    stray = replace(last, seq=8, dataset="f", previous=last.hash).sealed()
    found = check_chain([*chain, stray], chain[0].previous, 8, stray.hash)
    assert found.faults == ("entry 8: charges a data set that was never created",)


def test_a_rest_of_nothing_a_second_rest_and_an_unknown_kind_are_found_even_when_sealed(
    ledger: Ledger,
) -> None:
    ledger.charge("d", "both", 0.1, note={"part": [1, 0.5]})
    ledger.take_rest("d", "both", "x", 0.1, note={"part": [2, 0.5]})
    assert ledger.verify().ok
    chain = ledger.log()
    start, rest = chain[0].previous, chain[-1]
    stray = "spends the rest of no charge for two rounds, or spends it again"
    for change, fault in (
        ({"release": "rest:r0"}, stray),  # a charge for one round
        ({"release": "rest:nobody"}, stray),
        ({"dataset": "e", "spent_epsilon": "0.2"}, stray),  # of another data set
        ({"kind": "gift"}, "is of a kind that no ledger has"),
    ):
        forged = replace(rest, **change).sealed()
        found = check_chain([*chain[:-1], forged], start, len(chain), forged.hash)
        assert found.faults == (f"entry {rest.seq}: {fault}",)
    again = replace(rest, seq=rest.seq + 1, previous=rest.hash).sealed()
    found = check_chain([*chain, again], start, again.seq, again.hash)
    assert found.faults == (f"entry {again.seq}: {stray}",)
