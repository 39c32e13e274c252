"""Ledger under fire: processes race to spend one budget while others are killed with -9 at random moments.

    python benchmarks/ledger_fire.py                              SQLite
    .ci/run .venv/bin/python benchmarks/ledger_fire.py            SQLite and PostgreSQL
    options: --processes 32 --kills 300 --charges 3000 --tiny 100000 --json

A worker charges, and only after ``charge`` returned writes the release id to a file: that is its "released answer".
Half of the kills go to whoever holds the ledger's write lock, up to two charges' time later, the rest to anyone.
When a budget is spent the next data set is opened, until all kills are done and the last budget is spent too.

Checked at the end: no data set over its total (exact decimals), every released id in the ledger, each once, the hash
chain whole; then one row is edited behind the triggers and ``verify`` must find it.

On PostgreSQL all of it again with a role that may only charge (``CHARGER``, as in ``docs/guides/ledger.md``), which
then tries all that it must not do. A forged entry it can append, since it may append: ``verify`` must find that.

Then ``--tiny`` charges of one part in so many of a budget: the ledger's sums against sums of fractions, the charge
after the last refused. Sums of doubles are shown beside them. ``--kills 0`` does these alone.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError

from dpcausal.core.errors import BudgetError, LedgerError
from dpcausal.privacy.ledger import Ledger, tables

COSTS = ("0.01", "0.02", "0.03")
REFUSALS = 3  # in a row, before a worker gives up on a spent budget
fork = multiprocessing.get_context("fork")


def worker(url: str, dataset: str, log: str, index: int, holder: Any) -> None:
    """Charge until the budget refuses; note every step in ``log`` with one appending write each."""
    lines = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    choose = random.Random(uuid.uuid4().int)
    plain = tables.lock

    def lock(*arguments: Any) -> Any:
        now = plain(*arguments)
        holder.value = index
        return now

    tables.lock = lock
    ledger, refused = Ledger.open(url, patience=120), 0
    while refused < REFUSALS:
        release, cost = uuid.uuid4().hex, choose.choice(COSTS)
        os.write(lines, f"tried {release} {cost}\n".encode())
        try:
            ledger.charge(dataset, release, float(cost))
            if holder.value == index:
                holder.value = -1
            os.write(lines, f"released {release} {cost}\n".encode())
            refused = 0
        except BudgetError:
            os.write(lines, f"refused {release} {cost}\n".encode())
            refused += 1


def race(
    url: str, dataset: str, log: str, processes: int, kills: int, wait: float, choose: random.Random
) -> tuple[int, int]:
    """One budget raced for to its end; (kills, kills of the process inside a transaction)."""
    holder = fork.Value("i", -1, lock=False)

    def start(index: int) -> Any:
        process = fork.Process(target=worker, args=(url, dataset, log, index, holder))
        process.start()
        return process

    living = {index: start(index) for index in range(processes)}
    done = inside = 0
    while living:
        time.sleep(choose.uniform(0, 0.05))
        living = {index: process for index, process in living.items() if process.exitcode is None}
        if not living or done >= kills:
            continue
        victim = choose.choice(sorted(living))
        if choose.random() < 0.5:
            victim = wait_for_holder(holder, living, victim)
            time.sleep(choose.uniform(0, wait))
        inside += holder.value == victim
        os.kill(living[victim].pid, signal.SIGKILL)
        living[victim].join()
        done += 1
        living[victim] = start(victim)
    return done, inside


def wait_for_holder(holder: Any, living: dict[int, Any], otherwise: int) -> int:
    """Who took the write lock next, within a moment; ``otherwise`` if nobody living did."""
    holder.value = -1
    for _ in range(300):
        if holder.value in living:
            return int(holder.value)
        time.sleep(0.0002)
    return otherwise


def tampered(url: str) -> bool:
    """Edit one charge behind the triggers, as a thief with the database's own rights could; was it found?"""
    engine = create_engine(make_url(url.replace("postgresql://", "postgresql+psycopg://")))
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.execute(text("DROP TRIGGER dpcausal_entries_update"))
        else:
            connection.execute(text("ALTER TABLE dpcausal_entries DISABLE TRIGGER ALL"))
        connection.execute(text("UPDATE dpcausal_entries SET epsilon = '0.001' WHERE seq = 7"))
    engine.dispose()
    return not Ledger.open(url).verify().ok


# what the owner of the ledger grants; the first is for the whole server
CHARGER = """
CREATE ROLE {role} LOGIN PASSWORD '{password}';
GRANT USAGE ON SCHEMA public TO {role};
GRANT SELECT, INSERT ON dpcausal_entries TO {role};
GRANT SELECT, UPDATE ON dpcausal_ledger TO {role};
ALTER TABLE dpcausal_entries ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_may_read ON dpcausal_entries FOR SELECT USING (true);
CREATE POLICY {role}_may_charge ON dpcausal_entries FOR INSERT TO {role} WITH CHECK (kind = 'charge')
"""
FORBIDDEN = {
    "change an entry": "UPDATE dpcausal_entries SET epsilon = '0' WHERE seq = 2",
    "delete an entry": "DELETE FROM dpcausal_entries WHERE seq = 2",
    "empty the table": "TRUNCATE dpcausal_entries",
    "drop the table": "DROP TABLE dpcausal_entries",
    "disable the triggers": "ALTER TABLE dpcausal_entries DISABLE TRIGGER ALL",
    "drop a trigger": "DROP TRIGGER dpcausal_entries_change ON dpcausal_entries",
    "skip the triggers": "SET session_replication_role = replica",
    "switch off the policy": "ALTER TABLE dpcausal_entries DISABLE ROW LEVEL SECURITY",
    "set the state back": "UPDATE dpcausal_ledger SET entries = entries - 1",
    "exchange the identity": "UPDATE dpcausal_ledger SET entries = entries + 1, identity = 'x'",
    "delete the state": "DELETE FROM dpcausal_ledger",
    "replace the trigger's function": "CREATE OR REPLACE FUNCTION dpcausal_append_only() RETURNS trigger LANGUAGE "
    "plpgsql AS $$ BEGIN RETURN NEW; END $$",
}


@contextmanager
def charger(url: str) -> Iterator[str]:
    """The URL of a new role that may only charge the ledger at ``url``, dropped afterwards."""
    owner = make_url(url.replace("postgresql://", "postgresql+psycopg://"))
    role, password = f"charger_{uuid.uuid4().hex[:12]}", uuid.uuid4().hex
    engine = create_engine(owner, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in CHARGER.format(role=role, password=password).split(";"):
            connection.execute(text(statement))
    login = owner.set(drivername="postgresql", username=role, password=password)
    try:
        yield login.render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP OWNED BY {role}"))
            connection.execute(text(f"DROP ROLE {role}"))
        engine.dispose()


def attempts(url: str, owner: Ledger) -> dict[str, str]:
    """What a role that may only charge was refused; a forged entry is appended last, and must be found."""
    engine = create_engine(make_url(url.replace("postgresql://", "postgresql+psycopg://")))
    said: dict[str, str] = {}

    def tried(what: str, statement: str) -> None:
        try:
            with engine.begin() as connection:
                connection.execute(text(statement))
            said[what] = "DONE"
        except DBAPIError as error:
            said[what] = f"refused: {' '.join(str(error.orig).split())[:60]}"

    for what, statement in FORBIDDEN.items():
        tried(what, statement)
    try:
        Ledger.open(url).create("one more budget", 1e6)
        said["open a new budget"] = "DONE"
    except LedgerError as error:
        said["open a new budget"] = "refused: " + str(error).rpartition("failed: ")[2][:60]
    before = owner.verify().ok
    columns = "kind, dataset, release, time, epsilon, delta, note, previous, hash"
    tried(
        "forge an entry that has nothing spent",
        f"INSERT INTO dpcausal_entries (seq, spent_epsilon, spent_delta, {columns}) SELECT seq + 1, '0', '0', kind, "
        "dataset, 'forged', time, epsilon, delta, note, hash, hash FROM dpcausal_entries "
        "WHERE seq = (SELECT max(seq) FROM dpcausal_entries)",
    )
    found = before and not owner.verify().ok
    said["forge an entry that has nothing spent"] += f"; verify {'finds it' if found else 'DOES NOT FIND IT'}"
    engine.dispose()
    return said


def fire(url: str, processes: int, kills: int, charges: int, charging: str | None = None) -> dict[str, Any]:
    """Run until ``kills`` processes died and the last budget, of about ``charges`` charges, is spent.

    ``charging`` is the URL that the racing processes use, if not ``url``.
    """
    choose, started = random.Random(20240607), time.monotonic()
    total = Decimal("0.02") * charges
    ledger = Ledger.open(url, create=True, patience=120)
    ledger.create("latency", 1e6)
    latency = []
    for _ in range(100):
        begin = time.perf_counter()
        ledger.charge("latency", uuid.uuid4().hex, 0.1)
        latency.append(1000 * (time.perf_counter() - begin))
    wait = 2 * statistics.median(latency) / 1000
    killed = inside = budgets = 0
    with tempfile.TemporaryDirectory() as folder:
        log = str(Path(folder) / "log")
        while killed < kills:
            dataset = f"fire-{budgets}"
            ledger.create(dataset, float(total))
            more = race(charging or url, dataset, log, processes, kills - killed, wait, choose)
            killed, inside, budgets = killed + more[0], inside + more[1], budgets + 1
        said = [line.split() for line in Path(log).read_text().splitlines()]
    charged = {e.release: e for e in ledger.log() if e.kind == "charge" and e.dataset != "latency"}
    released = [release for word, release, _ in said if word == "released"]
    spent: dict[str, Decimal] = {}
    for entry in charged.values():
        spent[entry.dataset] = spent.get(entry.dataset, Decimal(0)) + Decimal(entry.epsilon)
    result = {
        "processes": processes,
        "budgets raced for": budgets,
        "charges tried": sum(word == "tried" for word, *_ in said),
        "charges accepted": len(charged),
        "charges refused": sum(word == "refused" for word, *_ in said),
        "answers released": len(released),
        "charged, killed before release": len(charged) - len(set(released)),
        "kills": killed,
        "kills inside a transaction": inside,
        "budgets passed": sum(amount > total for amount in spent.values()),
        "least left of a spent budget": str(min(total - amount for amount in spent.values())),
        "released without charge": len(set(released) - set(charged)),
        "released twice": len(released) - len(set(released)),
        "chain holds": ledger.verify().ok,
        "seconds": round(time.monotonic() - started, 1),
        "ms per charge, alone, median": round(statistics.median(latency), 2),
        "ms per charge, alone, worst": round(max(latency), 2),
    }
    if charging is not None:
        return result
    return result | {"edited row found": tampered(url)}


def tiny(url: str, charges: int) -> dict[str, Any]:
    """Spend a budget in so many equal parts, with a small delta of many digits each; compare with exact sums."""
    choose, started = random.Random(7), time.monotonic()
    ledger = Ledger.open(url, create=True, patience=120)
    ledger.create("tiny", 1.0, 0.5)
    epsilon, exact, plain = Fraction(1, charges), [Fraction(0), Fraction(0)], [0.0, 0.0]
    cost = float(epsilon)
    if Fraction(repr(cost)) != epsilon:
        raise SystemExit("--tiny must be a power of ten, so that its parts are decimals")
    accepted = 0
    for i in range(charges):
        delta = choose.uniform(1e-15, 1e-9)
        ledger.charge("tiny", f"tiny-{i}", cost, delta)
        exact = [exact[0] + epsilon, exact[1] + Fraction(repr(delta))]
        plain = [plain[0] + cost, plain[1] + delta]
        accepted += 1
    try:
        ledger.charge("tiny", "one-too-many", cost, 0.0)
        refused = False
    except BudgetError:
        refused = True
    last = ledger.log("tiny")[-1]
    spent = Fraction(last.spent_epsilon), Fraction(last.spent_delta)
    return {
        "tiny charges accepted": accepted,
        "the next one refused": refused,
        "sum of epsilon is the exact one": spent[0] == exact[0] == 1,
        "sum of delta is the exact one": spent[1] == exact[1],
        "off by, if doubles were added: epsilon": f"{float(Fraction(plain[0]) - exact[0]):.2e}",
        "off by, if doubles were added: delta": f"{float(Fraction(plain[1]) - exact[1]):.2e}",
        "digits of the sum of delta": len(last.spent_delta),
        "chain of them holds": ledger.verify().ok,
        "ms per tiny charge": round(1000 * (time.monotonic() - started) / charges, 2),
    }


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """The URL of a new, empty PostgreSQL database, dropped afterwards."""
    url = make_url(server.replace("postgresql://", "postgresql+psycopg://"))
    name = f"fire_{uuid.uuid4().hex[:12]}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    finally:
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        engine.dispose()


def print_table(results: dict[str, dict[str, Any]]) -> None:
    """Print a column for each result."""
    if not results:
        return
    print("| | " + " | ".join(results) + " |\n|---|" + "---|" * len(results))
    for row in dict.fromkeys(row for result in results.values() for row in result):
        print(f"| {row} | " + " | ".join(str(result.get(row, "")) for result in results.values()) + " |")
    print(flush=True)


def raced_well(result: dict[str, Any]) -> bool:
    """Whether nothing was spent or released that must not be."""
    nothing = ("budgets passed", "released without charge", "released twice")
    return not any(result[row] for row in nothing) and all(
        result.get(row, True) for row in ("chain holds", "edited row found")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Ledger under fire")
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--charges", type=int, default=3000, help="about how many charges one budget allows")
    parser.add_argument("--tiny", type=int, default=0, help="tiny charges against exact sums; a power of ten")
    parser.add_argument("--engines", default="sqlite,postgresql")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    small: dict[str, dict[str, Any]] = {}
    refused: dict[str, dict[str, Any]] = {}
    sizes = (options.processes, options.kills, options.charges)
    if "sqlite" in options.engines:
        with tempfile.TemporaryDirectory() as folder:
            if options.kills:
                results["sqlite"] = fire(f"sqlite:///{folder}/ledger.db", *sizes)
            if options.tiny:
                small["sqlite"] = tiny(f"sqlite:///{folder}/tiny.db", options.tiny)
    server = os.environ.get("DPCAUSAL_TEST_POSTGRES")
    if server and "postgresql" in options.engines and options.kills:
        with fresh_database(server) as url:
            results["postgresql"] = fire(url, *sizes)
        with fresh_database(server) as url:
            owner = Ledger.open(url, create=True)
            with charger(url) as login:
                results["postgresql, by a role that may only charge"] = fire(url, *sizes, charging=login)
                refused["a role that may only charge"] = attempts(login, owner)
    if server and "postgresql" in options.engines and options.tiny:
        with fresh_database(server) as url:
            small["postgresql"] = tiny(url, options.tiny)
    if options.json:
        print(
            json.dumps(
                results | ({"tiny": small} if small else {}) | ({"refused": refused} if refused else {})
            )
        )
    else:
        for table in (results, refused, small):
            print_table(table)
    good = all(raced_well(result) for result in results.values())
    good &= all(
        result["the next one refused"]
        and result["sum of epsilon is the exact one"]
        and result["sum of delta is the exact one"]
        and result["chain of them holds"]
        for result in small.values()
    )
    good &= not any(
        "DONE" in said and "finds it" not in said for r in refused.values() for said in r.values()
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
