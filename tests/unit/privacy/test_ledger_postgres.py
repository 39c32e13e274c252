"""PostgreSQL going away in the middle: before the commit, after it, and for good."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from dpcausal.core.errors import LedgerError
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.ledger import Ledger

pytestmark = pytest.mark.postgres


class Wire:
    """A TCP proxy that can cut the line when the client says COMMIT, before or after passing it on."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.cut: str | None = None  # "before" or "after": once; "dead": refuse everybody
        self.cuts = 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            if self.cut == "dead":
                client.close()
                continue
            upstream = socket.create_connection(self.target)
            threading.Thread(target=self._pump, args=(client, upstream, True), daemon=True).start()
            threading.Thread(target=self._pump, args=(upstream, client, False), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, from_client: bool) -> None:
        try:
            while data := source.recv(65536):
                if from_client and b"COMMIT" in data and self.cut:
                    self.cuts += 1
                    moment, self.cut = self.cut, "dead" if self.cut == "dead" else None
                    if moment == "after":
                        source.shutdown(socket.SHUT_RDWR)  # the client never hears the answer
                        sink.sendall(data)
                        time.sleep(0.3)  # the server commits
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.server.close()


@pytest.fixture
def wire(postgres_url: str) -> Iterator[Wire]:
    url = make_url(postgres_url)
    made = Wire(str(url.host), int(url.port or 5432))
    yield made
    made.close()


def through(postgres_url: str, wire: Wire) -> str:
    url = make_url(postgres_url).set(host="127.0.0.1", port=wire.port)
    return url.render_as_string(hide_password=False)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_line_cut_at_commit_charges_once(postgres_url: str, wire: Wire, moment: str) -> None:
    direct = Ledger.open(postgres_url, create=True)
    direct.create("d", 1.0)
    ledger = Ledger.open(through(postgres_url, wire), patience=20)
    wire.cut = moment
    entry = ledger.charge("d", "r1", 0.6)
    assert wire.cuts == 1
    assert direct.log("d")[1:] == [entry]
    assert direct.show("d")[0].left_epsilon == 0.4
    assert direct.verify().ok


def test_a_server_gone_for_good_releases_nothing(postgres_url: str, wire: Wire) -> None:
    direct = Ledger.open(postgres_url, create=True)
    direct.create("d", 1.0)
    ledger = Ledger.open(through(postgres_url, wire), patience=0.5)
    budget = Budget(0.6, ledger=ledger, dataset="d")
    event = PureEvent(label="x", neighbours="replace-one", mechanism="m", cost=0.6)
    wire.cut = "dead"
    with pytest.raises(LedgerError, match="can't be reached") as caught:
        budget.charge(event)
    assert str(make_url(postgres_url).password) not in str(caught.value)
    assert budget.events == ()
    wire.cut = None
    budget.charge(event)  # the same budget, the same release id: one charge in all
    assert direct.show("d")[0].releases == 1
    assert direct.verify().ok


def test_backends_terminated_again_and_again(postgres_url: str) -> None:
    """Another session kills our backends while charges go on; each charge lands exactly once."""
    name = f"victim_{uuid.uuid4().hex[:12]}"
    url = make_url(postgres_url).update_query_dict({"application_name": name})
    ledger = Ledger.open(url.render_as_string(hide_password=False), create=True, patience=30)
    ledger.create("d", 100.0)
    engine = create_engine(
        make_url(postgres_url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
    )
    stop, killed = threading.Event(), [0]
    query = text(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = :name"
    )

    def terminate() -> None:
        ends = time.monotonic() + 10  # on a busy machine no charge would get through else
        with engine.connect() as connection:
            while not stop.wait(0.02) and killed[0] < 100 and time.monotonic() < ends:
                killed[0] += connection.execute(query, {"name": name}).scalar_one()

    thread = threading.Thread(target=terminate)
    thread.start()
    try:
        entries = [ledger.charge("d", f"r{index}", 0.5) for index in range(60)]
    finally:
        stop.set()
        thread.join()
    assert killed[0] >= 5
    assert [entry.release for entry in ledger.log("d")[1:]] == [entry.release for entry in entries]
    assert ledger.show("d")[0].spent_epsilon == 30.0
    assert ledger.verify().ok
    engine.dispose()


def test_the_commit_is_durable_and_serialisable(postgres_url: str) -> None:
    ledger = Ledger.open(postgres_url, create=True)
    seen = ledger._database.run(
        lambda connection: [
            connection.exec_driver_sql(f"SHOW {name}").scalar_one()
            for name in ("transaction_isolation", "synchronous_commit")
        ],
        write=True,
    )
    assert seen == ["serializable", "on"]


def sessions(url: str, name: str) -> int:
    """How many sessions of ``name`` the server has."""
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    query = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
    with engine.connect() as connection:
        found = connection.execute(query, {"name": name}).scalar_one()
    engine.dispose()
    return int(found)


def test_a_ledger_nobody_holds_hangs_up(postgres_url: str) -> None:
    name = f"gone_{uuid.uuid4().hex[:12]}"
    url = make_url(postgres_url).update_query_dict({"application_name": name})
    ledger = Ledger.open(url.render_as_string(hide_password=False), create=True)
    ledger.create("d", 1.0)
    child = os.fork()
    if not child:  # a child that lets go must not end the parent's session
        del ledger
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    ledger.charge("d", "r", 0.5)
    assert sessions(postgres_url, name) == 1
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        del ledger
        gc.collect()
    assert not [one for one in seen if issubclass(one.category, ResourceWarning)]
    deadline = time.monotonic() + 10
    while sessions(postgres_url, name) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert sessions(postgres_url, name) == 0
