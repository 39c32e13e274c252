"""Ledgers that can't be opened or written: one clear line, no password in it, nothing charged."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpcausal.core.errors import LedgerError
from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.connection import parse


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "no scheme"),
        ("ledger.db", "did you mean sqlite:///ledger.db?"),
        ("ledger", "use sqlite:///file.db or postgresql://"),
        ("mysql://user:hunter2@host/db", "unknown ledger URL scheme 'mysql'"),
        ("postgresql+asyncpg://user:hunter2@host/db", "unknown ledger URL scheme"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite://host/file.db", "needs a file"),
        ("sqlite:///file.db?mode=memory", "needs a file"),
        ("postgresql://user:hun@ter2@host/db", "write %40"),
        ("postgresql://user:hunter2@host:port/db", "can't be read"),
        ("user:hunter2@host/ledger.db", "no scheme: use"),
        ("host=h password=hunter2.db", "no scheme: use"),
        ("postgresql:/user:hunter2://host/db", "unknown ledger URL scheme: use"),
    ],
)
def test_unusable_urls(url: str, said: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(url)
    assert said in str(caught.value)
    assert "ter2" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.exit_code == 2


def test_postgres_spellings() -> None:
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert parse(f"{scheme}://u@h/d").drivername == "postgresql+psycopg"


def test_unreachable_server_fails_at_once_without_the_password() -> None:
    with pytest.raises(LedgerError, match="can't be reached") as caught:
        Ledger.open("postgresql://user:hunter2@127.0.0.1:1/db?password=hunter2")
    assert "hunter2" not in str(caught.value)
    assert "postgresql://user@127.0.0.1:1/db" in str(caught.value)


@pytest.mark.postgres
def test_wrong_password_and_missing_database(postgres_url: str) -> None:
    from sqlalchemy.engine import make_url

    url = make_url(postgres_url)
    for wrong in (url.set(password="hunter2"), url.set(database="no_such_database")):
        with pytest.raises(LedgerError) as caught:
            Ledger.open(wrong.render_as_string(hide_password=False))
        assert "hunter2" not in str(caught.value)
        assert str(url.password) not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_missing_psycopg_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from dpcausal.privacy.ledger import Ledger\n"
        "from dpcausal.core.errors import LedgerError\n"
        "try:\n    Ledger.open('postgresql://u:hunter2@h/d')\n"
        "except LedgerError as error:\n    sys.stdout.write(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("pip install 'dpcausal[postgres]'")


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger.open(f"sqlite:///{tmp_path}/none.db")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LedgerError, match="can't be made"):
        Ledger.open(f"sqlite:///{tmp_path}/none/ledger.db", create=True)
    with pytest.raises(LedgerError):
        Ledger.open(f"sqlite:///{tmp_path}", create=True)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"name,age\nAda,36\n" * 100)
    for create in (False, True):
        with pytest.raises(LedgerError, match="not a database"):
            Ledger.open(f"sqlite:///{path}", create=create)
    assert path.read_bytes() == b"name,age\nAda,36\n" * 100


def test_a_database_that_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(LedgerError, match="holds no ledger"):
        Ledger.open(f"sqlite:///{path}")


def test_a_ledger_from_a_newer_version(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledger = Ledger.open(url, create=True)
    ledger.create("d", 1.0)
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("DROP TRIGGER dpcausal_ledger_update")
        connection.execute("UPDATE dpcausal_ledger SET format = 2")
    with pytest.raises(LedgerError, match="newer dpcausal \\(format 2, this one reads 1\\): upgrade"):
        Ledger.open(url)
    with pytest.raises(LedgerError, match="newer dpcausal"):
        ledger.charge("d", "r1", 0.1)  # it was opened before the upgrade


def test_a_ledger_without_its_state(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    Ledger.open(url, create=True)
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("DROP TRIGGER dpcausal_ledger_delete")
        connection.execute("DELETE FROM dpcausal_ledger")
    with pytest.raises(LedgerError, match="state row"):
        Ledger.open(url)


def test_new_files_are_for_their_owner_only(tmp_path: Path) -> None:
    Ledger.open(f"sqlite:///{tmp_path}/ledger.db", create=True)
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def _read_and_charge(url: str, answers: Any) -> None:
    if os.getuid() == 0:  # root may write read-only files
        os.setgid(65534)
        os.setuid(65534)
    ledger = Ledger.open(url)
    said = [ledger.show("d")[0].left_epsilon, ledger.verify().ok]
    try:
        ledger.charge("d", "r1", 0.1)
    except LedgerError as error:
        said.append(str(error))
    answers.put(said)


def test_a_read_only_file_can_be_read_and_not_charged(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if any("pytest" in part for part in folder.parts):
            folder.chmod(0o755)  # so that the unprivileged child gets here
    path = tmp_path / "ledger.db"
    ledger = Ledger.open(f"sqlite:///{path}", create=True)
    ledger.create("d", 1.0)
    path.chmod(0o444)
    path.with_name("ledger.db-journal").chmod(0o444)
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_read_and_charge, args=(f"sqlite:///{path}", answers))
    child.start()
    assert answers.get(timeout=30) == [1.0, True, f"the ledger {path} is read-only: nothing was charged"]
    child.join()
    assert len(ledger.log()) == 1


def test_a_busy_file_is_waited_for_then_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    ledger = Ledger.open(url, create=True, patience=0.2)
    ledger.create("d", 1.0)
    holder = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="is busy"):
        ledger.charge("d", "r1", 0.1)
    holder.execute("ROLLBACK")
    assert ledger.charge("d", "r1", 0.1).seq == 2
    holder.close()
