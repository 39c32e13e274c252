"""Many at once for the last of a budget, and workers that are killed at any moment."""

from __future__ import annotations

import json
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
from contextlib import ExitStack, contextmanager
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from dpcausal.core.errors import BudgetError, LedgerError
from dpcausal.desk import questions as states
from dpcausal.desk import store, tables, worker
from dpcausal.desk.pages import COOKIE, STATES
from dpcausal.desk.server import create_app
from dpcausal.desk.store import Desk, Person
from dpcausal.desk.worker import work

from .conftest import TEST, ask, at, settings

RACERS = 32
FORK = multiprocessing.get_context("fork")


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


@pytest.fixture
def draws(monkeypatch, tmp_path) -> Callable[[], Counter[str]]:
    """Leases end soon, and every draw that is allowed is written down; return how many there were of each request."""
    monkeypatch.setattr(store, "LEASE", 0.3)
    monkeypatch.setattr(worker, "LEASE", 0.3)
    monkeypatch.setattr(store, "MOST_ATTEMPTS", 10_000)
    drawn, allow = tmp_path / "drawn", Desk.begin_drawing

    def noted(self, request, lease):
        entry = allow(self, request, lease)
        with drawn.open("a") as file:
            file.write(f"{request}\n")
        return entry

    monkeypatch.setattr(Desk, "begin_drawing", noted)
    return lambda: Counter(drawn.read_text().split())


def kill_workers(desk: Desk, kills: int) -> None:
    """Start workers and kill each at a random moment."""
    chance = random.Random(7)
    for _ in range(kills):
        process = FORK.Process(target=work, args=(desk,), kwargs={"pause": 0.01})
        process.start()
        time.sleep(chance.uniform(0.0, 0.6))
        os.kill(process.pid, signal.SIGKILL)
        process.join()


def ends_of(desk: Desk, asked: list[str], draws: Counter[str]) -> Counter[str]:
    """Let a worker do what is left; check that no draw is free or made twice, and return how requests ended."""
    deadline = time.monotonic() + 60
    while any(desk.request(one).state not in states.ENDS for one in asked) and time.monotonic() < deadline:
        work(desk, until_empty=True)
        time.sleep(0.1)
    drawn = draws()
    assert set(drawn.values()) == {1}  # no second draw for one charge
    assert set(drawn) <= {entry.release for entry in desk.ledger.log("cohort")}  # every draw was charged
    ends = Counter(desk.request(one).state for one in asked)
    assert set(ends) <= {states.DONE, states.FAILED}
    assert ends.total() == desk.ledger.show("cohort")[0].releases
    for one in asked:
        ended = desk.request(one)
        assert bool(at(desk, ended.visible).files(ended)) == (ended.state == states.DONE)
    assert desk.ledger.verify().ok
    return ends


def test_workers_killed_at_random_moments(make_desk, draws):
    desk, kills = make_desk(), 5
    asked = [ask(desk, epsilon=0.001).id for _ in range(6)]
    kill_workers(desk, kills)
    ends = ends_of(desk, asked, draws)
    assert ends[states.DONE] > 0
    assert ends[states.FAILED] <= kills  # by a kill after the draw alone; before it, a job is not lost


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


@contextmanager
def restarted(restart: Callable[[], None] | None) -> Iterator[list[float]]:
    """Restart a server, if there is one, every few seconds until the end of the block; yield when that was done."""
    going, times = [True], []

    def restarting() -> None:
        while going[0] and restart is not None:
            time.sleep(3.0)
            restart()
            times.append(time.monotonic())

    other = threading.Thread(target=restarting)
    other.start()
    try:
        yield times
    finally:
        going[0] = False
        other.join()


def ask_in_turn(desk: Desk, name: str, begin, told: Path) -> None:
    """Ask again and again, with pauses, for what there may be no budget for; write down what became of it."""
    chance, answers = random.Random(name), []
    begin.wait()
    for k in range(EACH):
        while True:
            try:
                answers.append(
                    desk.ask(
                        Person(name, "analyst"), "cohort", "ci_test", {**TEST, "epsilon": COST}, purpose="to see",
                        key=f"{name}-{k:08d}",
                    ).id
                )  # fmt: skip
            except BudgetError:
                answers.append("refused")
            except LedgerError:  # the server is down: the key makes it one request, however often it is sent
                time.sleep(0.2)
                continue
            break
        time.sleep(chance.uniform(0.0, 15.0))
    told.write_text(json.dumps(answers))


EACH, COST, AFFORDED = 4, 0.001, 80  # questions of each racer, epsilon of one, and how many the total allows
KILLS = 200


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_all_of_it_at_once(make_desk, draws, tmp_path, engine):
    """32 analysts race for a budget while workers are killed two hundred times and the database's server restarts."""
    names = [f"a{k}" for k in range(RACERS)]
    people = [{"name": name, "role": "analyst"} for name in names] + [{"name": "carol", "role": "custodian"}]
    with ExitStack() as stack:
        url, restart = "sqlite:///desk.db", None
        if engine == "postgresql":
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            url, restart = stack.enter_context(own_server(Path(folder)))
        desk = make_desk(url, persons=people, epsilon=AFFORDED * COST)
        begin = FORK.Barrier(RACERS)
        racers = [
            FORK.Process(target=ask_in_turn, args=(desk, name, begin, tmp_path / name)) for name in names
        ]
        for one in racers:
            one.start()
        with restarted(restart) as restarts:
            kill_workers(desk, KILLS)
            for one in racers:
                one.join(120)
        assert bool(restarts) == (engine == "postgresql")
        told = {name: json.loads((tmp_path / name).read_text()) for name in names}
        asked = [one for answers in told.values() for one in answers if one != "refused"]
        assert len(set(asked)) == len(asked) == AFFORDED
        account = desk.ledger.show("cohort")[0]
        assert account.left_epsilon == 0  # all of it, and never more
        assert ends_of(desk, asked, draws)[states.DONE] > 0
        desk.run(lambda connection: connection.execute(update(tables.requests).values(visible=0.0)))
        explained_by_pages(desk, told)


def explained_by_pages(desk: Desk, told: dict[str, list[str]]) -> None:
    """Check that everybody reads how each request ended and what that means, and who got none reads why."""
    with TestClient(create_app(desk)) as browser:
        for name, answers in told.items():
            browser.cookies.set(COOKIE, desk.issue(name, "session"))
            for one in set(answers) - {"refused"}:
                text = unescape(browser.get(f"/requests/{one}").text)
                state = desk.request(one).state
                assert f'<span class="state {state}">{state}</span> {STATES[state]}' in text
            bearer = {"Authorization": f"Bearer {desk.issue(name, 'token')}"}
            question = {"command": "ci_test", "arguments": {**TEST, "epsilon": COST}, "purpose": "to see"}
            late = browser.post("/api/datasets/cohort/requests", headers=bearer, json=question)
            assert late.status_code == 409
            assert late.json() == {
                "error": "the budget of data set 'cohort' does not allow it",
                "kind": "budget",
            }
