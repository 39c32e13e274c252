"""Many at once for the last of a budget, and workers that are killed at any moment."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dpcausal.core.errors import BudgetError
from dpcausal.desk import request as states
from dpcausal.desk import store, worker
from dpcausal.desk.store import Desk, Person
from dpcausal.desk.worker import work

from .conftest import TEST, ask, settings

RACERS = 32


def test_many_analysts_race_for_the_last_of_a_budget(make_desk, ledger_url, tmp_path):
    """Of 32 who ask for 0.3 of 1.0 at once, three are charged, and the others are told that there is no budget."""
    names = [f"a{k}" for k in range(RACERS)]
    people = [{"name": name, "role": "analyst"} for name in names] + [{"name": "carol", "role": "custodian"}]
    desk = make_desk(ledger_url, persons=people)
    begin, told = threading.Barrier(RACERS), []

    def race(name: str) -> None:
        mine = Desk.open(settings(tmp_path, ledger_url, persons=people))
        mine.rehearse(Person(name, "analyst"), "cohort", "ci_test", TEST)
        begin.wait()
        try:
            mine.ask(Person(name, "analyst"), "cohort", "ci_test", TEST, purpose="first")
            told.append("charged")
        except BudgetError:
            told.append("refused")

    racers = [threading.Thread(target=race, args=(name,)) for name in names]
    for one in racers:
        one.start()
    for one in racers:
        one.join()
    assert Counter(told) == {"charged": 3, "refused": RACERS - 3}
    account = desk.ledger.show("cohort")[0]
    assert (account.releases, account.spent_epsilon) == (3, pytest.approx(0.9))
    assert desk.ledger.verify().ok


def test_two_custodians_charge_a_request_once(make_desk, tmp_path):
    desk = make_desk(approvals=1)
    asked, begin = ask(desk), threading.Barrier(2)

    def approve(name: str) -> None:
        mine = Desk.open(settings(tmp_path, approvals=1))
        begin.wait()
        try:
            mine.decide(Person(name, "custodian"), asked.id, "approve", "fits")
        except store.Conflict:
            return

    both = [threading.Thread(target=approve, args=(name,)) for name in ("carol", "carl")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert desk.ledger.show("cohort")[0].releases == 1


def kill_workers(desk: Desk, jobs: int, kills: int, monkeypatch, tmp_path) -> Counter[str]:
    """Ask, and kill workers at random moments; check that no draw is free or made twice, and return the ends."""
    monkeypatch.setattr(store, "LEASE", 0.3)
    monkeypatch.setattr(worker, "LEASE", 0.3)
    monkeypatch.setattr(store, "MOST_ATTEMPTS", 10_000)
    drawn, allow = tmp_path / "drawn", Desk.begin_drawing

    def noted(self, request, lease):
        entry = allow(self, request, lease)
        with drawn.open("a") as file:  # a draw that was allowed
            file.write(f"{request}\n")
        return entry

    monkeypatch.setattr(Desk, "begin_drawing", noted)
    asked = [ask(desk, epsilon=0.001).id for _ in range(jobs)]
    chance, fork = random.Random(7), multiprocessing.get_context("fork")
    for _ in range(kills):
        process = fork.Process(target=work, args=(desk,), kwargs={"pause": 0.01})
        process.start()
        time.sleep(chance.uniform(0.0, 0.6))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    deadline = time.monotonic() + 60
    while any(desk.request(one).state not in states.ENDS for one in asked) and time.monotonic() < deadline:
        work(desk, until_empty=True)
        time.sleep(0.1)
    ends = Counter(desk.request(one).state for one in asked)
    draws = Counter(drawn.read_text().split())
    assert set(draws.values()) == {1}  # no second draw for one charge
    assert (
        ends[states.FAILED] <= kills
    )  # a job fails by a kill after its draw alone; before it, it is not lost
    assert set(draws) <= {entry.release for entry in desk.ledger.log("cohort")}  # every draw was charged
    assert set(ends) <= {states.DONE, states.FAILED}
    assert ends[states.DONE] + ends[states.FAILED] == jobs == desk.ledger.show("cohort")[0].releases
    for one in asked:
        ended = desk.request(one)
        assert bool(desk.files(ended, now=ended.visible)) == (ended.state == states.DONE)
    assert desk.ledger.verify().ok
    return ends


def test_workers_killed_at_random_moments(make_desk, monkeypatch, tmp_path):
    ends = kill_workers(make_desk(), 6, 5, monkeypatch, tmp_path)
    assert ends[states.DONE] > 0


@pytest.mark.slow
def test_workers_killed_two_hundred_times(make_desk, ledger_url, monkeypatch, tmp_path):
    ends = kill_workers(make_desk(ledger_url), 80, 200, monkeypatch, tmp_path)
    assert ends[states.DONE] > 0


@contextmanager
def own_server(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Start a PostgreSQL server; yield the address of its database and what restarts it as after a crash."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("no PostgreSQL on this machine")
    as_server = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if as_server:
        shutil.chown(folder, "postgres")
    flags = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories=''"

    def run(program: str, *words: str) -> None:
        command = [*as_server, str(found[-1].with_name(program)), "-D", str(folder / "data"), *words]
        subprocess.run(command, check=True, capture_output=True, timeout=120, cwd="/")

    def ctl(*words: str) -> None:
        run("pg_ctl", "-w", "-t", "60", "-l", str(folder / "log"), "-o", flags, *words)

    run("initdb", "-U", "desk", "-A", "trust")
    ctl("start")
    try:
        yield f"postgresql://desk@127.0.0.1:{port}/postgres", lambda: ctl("restart", "-m", "immediate")
    finally:
        run("pg_ctl", "stop", "-m", "immediate")


@pytest.mark.slow
def test_a_server_that_restarts_while_workers_are_killed(make_desk, monkeypatch, tmp_path):
    """No charge and no draw is lost or made twice by a database that goes down in between."""
    with tempfile.TemporaryDirectory() as folder, own_server(Path(folder)) as (url, restart):
        going, restarts = [True], []

        def restarting() -> None:
            while going[0]:
                time.sleep(3.0)
                restart()
                restarts.append(1)

        desk = make_desk(url)
        other = threading.Thread(target=restarting)
        other.start()
        try:
            ends = kill_workers(desk, 12, 20, monkeypatch, tmp_path)
        finally:
            going[0] = False
            other.join()
        assert restarts
        assert ends[states.DONE] > 0
