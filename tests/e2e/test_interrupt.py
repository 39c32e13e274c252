"""Ctrl-C at any moment leaves the ledger true: charged if and only if noise may have been drawn, and intact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.privacy.ledger import Ledger

SCHEMA = (
    '[columns.a]\ntype = "categorical"\nlevels = [0, 1]\n[columns.b]\ntype = "categorical"\nlevels = [0, 1]\n'
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 200)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    assert run(["ledger", "create", "--ledger", "sqlite:///l.db", "--dataset", "d", "--epsilon", "10"]) == 0
    return tmp_path


COMMAND = "discover data.csv --schema schema.toml --epsilon 1 --out out --ledger sqlite:///l.db --dataset d"


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "releases"),
    [
        ("dpcausal.data.read.coded", 0),  # while rows are read
        ("dpcausal.privacy.ledger.store.Ledger.charge", 0),  # before the charge
        ("dpcausal.privacy.noise._draw", 1),  # after the charge, before or in the noise
        ("dpcausal.discovery.discover.orient", 1),  # after the noise
        ("dpcausal.report.page.render", 1),  # while files are written
    ],
)
def test_the_ledger_is_true_wherever_it_is_hit(
    where: str,
    releases: int,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    monkeypatch.setattr(where, interrupted)
    assert run(COMMAND.split()) == 130
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "dpcausal: interrupted\n")
    monkeypatch.undo()
    ledger = Ledger.open(f"sqlite:///{place}/l.db")
    (account,) = ledger.show("d")
    assert (account.releases, account.spent_epsilon) == (releases, float(releases))
    assert ledger.verify().ok


def test_a_real_signal_between_charge_and_noise(place: Path) -> None:
    program = (
        "import sys, time\n"
        "from dpcausal.privacy import noise\n"
        "def slow(*_):\n"
        "    print('drawing', flush=True)\n"
        "    time.sleep(60)\n"
        "noise._draw = slow\n"
        "from dpcausal.cli.app import run\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, *COMMAND.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    assert child.stdout
    assert child.stdout.readline() == "drawing\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (130, "", "dpcausal: interrupted\n")
    ledger = Ledger.open("sqlite:///l.db")
    assert ledger.show("d")[0].releases == 1
    assert ledger.verify().ok
    assert not (place / "out" / "graph.json").exists()
