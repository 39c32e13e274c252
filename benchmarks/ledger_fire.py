"""Ledger under fire: processes race to spend one budget while others are killed with -9 at random moments.

    python benchmarks/ledger_fire.py                              SQLite
    .ci/run .venv/bin/python benchmarks/ledger_fire.py            SQLite and PostgreSQL
    options: --processes 32 --kills 300 --charges 3000 --json

A worker charges, and only after ``charge`` returned writes the release id to a file: that is its "released answer".
Half of the kills go to whoever holds the ledger's write lock, up to two charges' time later, the rest to anyone.
When a budget is spent the next data set is opened, until all kills are done and the last budget is spent too.

Checked at the end: no data set over its total (exact decimals), every released id in the ledger, each once, the hash
chain whole; then one row is edited behind the triggers and ``verify`` must find it.
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
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from dpcausal.core.errors import BudgetError
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


def fire(url: str, processes: int, kills: int, charges: int) -> dict[str, Any]:
    """Run until ``kills`` processes died and the last budget, of about ``charges`` charges, is spent."""
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
            more = race(url, dataset, log, processes, kills - killed, wait, choose)
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
    return result | {"edited row found": tampered(url)}


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


def main() -> int:
    parser = argparse.ArgumentParser(description="Ledger under fire")
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--charges", type=int, default=3000, help="about how many charges one budget allows")
    parser.add_argument("--engines", default="sqlite,postgresql")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    sizes = (options.processes, options.kills, options.charges)
    if "sqlite" in options.engines:
        with tempfile.TemporaryDirectory() as folder:
            results["sqlite"] = fire(f"sqlite:///{folder}/ledger.db", *sizes)
    server = os.environ.get("DPCAUSAL_TEST_POSTGRES")
    if server and "postgresql" in options.engines:
        with fresh_database(server) as url:
            results["postgresql"] = fire(url, *sizes)
    if options.json:
        print(json.dumps(results))
    else:
        print("| | " + " | ".join(results) + " |\n|---|" + "---|" * len(results))
        for row in next(iter(results.values())):
            print(f"| {row} | " + " | ".join(str(result[row]) for result in results.values()) + " |")
    good = all(
        r["budgets passed"] == r["released without charge"] == r["released twice"] == 0
        and r["chain holds"]
        and r["edited row found"]
        for r in results.values()
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
