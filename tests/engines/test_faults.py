"""An engine that dies in the middle: the right answer or one clear line, and a ledger that says what was charged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_boundary import SCHEMA, chain, charges

import dpcausal as dc
from dpcausal.counts import engine
from engine_tables import Loader

SCRIPT = Path(__file__).with_name("cluster.py")
EDGES = ["ab", "bc", "cd"]


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("DPCAUSAL_TEST_ENGINES"), reason="spark is left out (make test-engines)"
)
@pytest.mark.parametrize("killed", [0, 1, 2])
def test_a_spark_worker_is_killed(tmp_path: Path, killed: int) -> None:
    """With one of two workers left the answer is the same, charged once. With none there is one line, uncharged."""
    pq.write_table(chain(200_000), tmp_path / "rows.parquet", row_group_size=10_000)
    command = [sys.executable, str(SCRIPT), str(tmp_path / "rows.parquet"), "--kill", str(killed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    said = json.loads(done.stdout.splitlines()[-1])
    if killed < 2:
        assert said == {"n": 200_000, "edges": EDGES, "charged": [2.0]}
    else:
        assert said["class"] == "NoWorkers"
        assert said["error"].startswith("no worker")
        assert said["error"].endswith("; nothing was charged")
        assert "\n" not in said["error"]
        assert said["charged"] == []


# ---- PostgreSQL


def server_programs() -> Path | None:
    """Return the folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Server:
    """A PostgreSQL of our own, which can be stopped and started."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self._folder, self._programs = folder, programs
        from cluster import free_port

        self._port = free_port()
        self._run("initdb", "-D", str(folder / "data"), "-U", "me", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.url = f"postgresql://me@127.0.0.1:{self._port}/postgres"
        self.start()

    def _run(self, program: str, *words: str) -> None:
        as_server = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*as_server, str(self._programs / program), *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def start(self) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self._port} -c unix_socket_directories="
        log = str(self._folder / "data" / "server.log")
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-l", log, "-w", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "-w", "stop")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    programs = server_programs()
    if not os.environ.get("DPCAUSAL_TEST_ENGINES") or programs is None:
        pytest.skip("postgres is left out (make test-engines)")
    folder = Path("/tmp") / f"dpcausal_server_{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    made = Server(folder, programs)
    with psycopg.connect(made.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE patients (a text, b text, c text, d text)")
        cursor = connection.cursor()
        with cursor.copy("COPY patients FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in chain().itercolumns()), strict=True):
                copy.write_row(row)
    yield made
    made.stop()
    shutil.rmtree(folder)


def before_query(monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None]) -> None:
    """Do something just before the query of that number is sent."""
    fetch, sent = engine.fetch, []

    def watched(expression: Any) -> Any:
        sent.append(1)
        if len(sent) == number:
            act()
        return fetch(expression)

    monkeypatch.setattr(engine, "fetch", watched)


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    made = dc.Ledger.open(f"sqlite:///{tmp_path}/budget.db", create=True)
    made.create("cohort", 5.0, 1e-5)
    return made


def test_postgres_is_restarted_in_the_middle(
    server: Server, ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The query is sent again on a new connection: one charge, the right graph."""
    counts = dc.connect(server.url, SCHEMA, "patients")

    def restart() -> None:
        server.stop()
        server.start()

    before_query(monkeypatch, 2, restart)
    found = dc.discover(counts, epsilon=2.0, delta=1e-6, ledger=ledger, dataset="cohort", confidence=0)
    assert sorted("".join(sorted(pair)) for pair in found.graph.skeleton) == EDGES
    assert charges(ledger) == [2.0]


def test_postgres_stays_away(server: Server, ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = dc.connect(server.url, SCHEMA, "patients")
    monkeypatch.setattr(engine, "RETRY_SECONDS", (0.1, 0.1))
    before_query(monkeypatch, 2, server.stop)
    try:
        with pytest.raises(dc.EngineError) as caught:
            dc.discover(counts, epsilon=2.0, delta=1e-6, ledger=ledger, dataset="cohort")
    finally:
        server.start()
    assert str(caught.value).startswith("PostgreSQL ")
    assert str(caught.value).endswith("; nothing was charged")
    assert charges(ledger) == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM patients WHERE ctid = (SELECT min(ctid) FROM patients)",
        "ALTER TABLE patients RENAME COLUMN d TO e",
    ],
)
def test_a_table_of_postgres_is_altered_between_two_queries(
    server: Server, ledger: dc.Ledger, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM patients")
        counts = dc.connect(server.url, SCHEMA, "patients")
        before_query(monkeypatch, 2, lambda: connection.execute(change.encode()) and None)
        with pytest.raises(dc.EngineError, match="nothing was charged"):
            dc.discover(counts, epsilon=2.0, delta=1e-6, ledger=ledger, dataset="cohort")
        connection.execute("DROP TABLE patients")
        connection.execute("ALTER TABLE kept RENAME TO patients")
    assert charges(ledger) == []


def test_a_spark_file_is_replaced_between_two_queries(
    load_on: Callable[[str], Loader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = load_on("spark")
    path = tmp_path / "rows.parquet"
    pq.write_table(chain(), path)
    counts = dc.connect(load.backend.read_parquet(str(path), table_name="replaced"), SCHEMA)
    assert counts.n == 2000
    shorter: pa.Table = chain(100)
    path.unlink()
    pq.write_table(shorter, path)
    with pytest.raises(dc.EngineError) as caught:
        dc.discover(counts, epsilon=2.0, delta=1e-6)
    assert str(caught.value).endswith("nothing was charged")
    assert "\n" not in str(caught.value)
