"""A ledger is one file when nobody writes to it; a journal in use is never touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.connection import remove_idle_journal

CHARGE = """
import sys
from dpcausal.privacy.ledger import Ledger
Ledger.open(sys.argv[1]).charge("d", "r1", 0.25)
"""


def test_a_process_that_charged_leaves_one_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    command = "import sys; from dpcausal.cli.app import run; sys.exit(run(sys.argv[1:]))"
    words = ["ledger", "create", "--ledger", url, "--dataset", "d", "--epsilon", "1"]
    subprocess.run([sys.executable, "-c", command, *words], check=True, capture_output=True)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    subprocess.run([sys.executable, "-c", CHARGE, url], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    (account,) = Ledger.open(url).show("d")
    assert account.spent_epsilon == 0.25
    assert Ledger.open(url).verify().ok


def test_a_journal_in_use_stays_and_still_rolls_back(tmp_path: Path) -> None:
    """A writer has spilled half of a transaction into the file: without its journal the ledger would be damaged."""
    path = tmp_path / "budget.db"
    ledger = Ledger.open(f"sqlite:///{path}", create=True)
    ledger.create("d", 1.0)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode=PERSIST")
    writer.execute("PRAGMA cache_size=1")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("CREATE TABLE odd (text)")
    writer.executemany("INSERT INTO odd VALUES (?)", [("x" * 500,)] * 200)
    journal = path.with_name("budget.db-journal")
    before = journal.read_bytes()
    assert any(before[:8])  # its header says that it is needed
    remove_idle_journal(path)
    assert journal.read_bytes() == before
    writer.execute("ROLLBACK")
    writer.close()
    assert ledger.verify().ok
    remove_idle_journal(path)
    assert not journal.exists()
    assert ledger.charge("d", "r1", 0.5).seq == 2


def test_tidying_makes_no_file_and_no_noise(tmp_path: Path) -> None:
    remove_idle_journal(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("this is no database" * 100)
    remove_idle_journal(tmp_path / "text.db")
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]
