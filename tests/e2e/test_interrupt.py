"""Ctrl-C at any moment leaves the ledger true: charged if and only if noise may have been drawn, and intact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.privacy.ledger import Ledger

pytestmark = pytest.mark.long_file

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

CHARGED = "; epsilon 1 of d had been charged and stays charged"


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "releases"),
    [
        ("dpcausal.data.read.coded_chunks", 0),  # while rows are read
        ("dpcausal.privacy.ledger.store.Ledger.charge", 0),  # before the charge
        ("dpcausal.privacy.noise._draw", 1),  # after the charge, before or in the noise
        ("dpcausal.discovery.result_of_search._orient", 1),  # after the noise
        ("dpcausal.present.page.render", 1),  # while files are written
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
    more = CHARGED if releases else ""
    assert (said.out, said.err) == ("", f"dpcausal: interrupted{more}\n")
    monkeypatch.undo()
    ledger = Ledger.open(f"sqlite:///{place}/l.db")
    (account,) = ledger.show("d")
    assert (account.releases, account.spent_epsilon) == (releases, float(releases))
    assert ledger.verify().ok


def _listen_to_interrupts() -> None:
    """A shell script starts what it puts in the background with Ctrl-C ignored; a terminal does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def signalled(program: str, words: str, said: str, delay: float) -> tuple[int, str, str]:
    """Run ``program``; ``delay`` seconds after it has printed the line ``said`` comes Ctrl-C. (code, out, err)."""
    child = subprocess.Popen(
        [sys.executable, "-c", program, *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=_listen_to_interrupts,
    )
    assert child.stdout
    assert child.stdout.readline() == f"{said}\n"
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err


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
    assert signalled(program, COMMAND, "drawing", 0.0) == (130, "", f"dpcausal: interrupted{CHARGED}\n")
    ledger = Ledger.open("sqlite:///l.db")
    assert ledger.show("d")[0].releases == 1
    assert ledger.verify().ok
    assert not (place / "out" / "graph.json").exists()


@pytest.mark.parametrize("delay", [0.06, 0.15, 0.3])
def test_a_signal_while_the_command_starts(delay: float, place: Path) -> None:
    """The interpreter itself needs some 20 ms, in which an interrupt is Python's; from then on it is ours."""
    code, _, err = signalled(
        "from dpcausal.cli.start import main; print(flush=True); main()", "--help", "", delay
    )
    ended = [(0, "")] if delay > 0.1 else []  # by then a fast machine may have shown the help
    assert (code, err) in [(130, "dpcausal: interrupted\n"), *ended]


def test_a_signal_is_not_lost_where_python_would_print_it_and_go_on() -> None:
    """An exception in the callback of a weak reference is printed, and that is all; imports have such a callback."""
    program = (
        "import signal, time, weakref\n"
        "from dpcausal.cli.start import interrupt\n"
        "signal.signal(signal.SIGALRM, interrupt)\n"
        "signal.signal(signal.SIGINT, interrupt)\n"
        "place = {'signal': signal}\n"
        "text = 'def cb(gone): signal.raise_signal(signal.SIGINT)'\n"
        "exec(compile(text, '<frozen importlib._bootstrap>', 'exec'), place)\n"
        "class Lock: pass\n"
        "lock = Lock()\n"
        "held = weakref.ref(lock, place['cb'])\n"
        "try:\n"
        "    del lock\n"
        "    time.sleep(20)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_an_interrupt_that_compiled_code_wraps(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What CPython makes of a kernel that returns with KeyboardInterrupt set: a SystemError with it as its cause."""

    def kernel(*_: object, **__: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    capsys.readouterr()
    monkeypatch.setattr("dpcausal.discovery.result_of_search._orient", kernel)
    assert run(COMMAND.split()) == 130
    assert capsys.readouterr().err == f"dpcausal: interrupted{CHARGED}\n"


@pytest.mark.slow
def test_signals_while_kernels_run(place: Path) -> None:
    """Real signals, at moments spread over a search repeated many times."""
    columns = "abcdef"
    (place / "wide.csv").write_text(
        ",".join(columns) + "\n" + "0,1,1,0,1,0\n1,0,1,1,0,1\n1,1,0,0,0,1\n" * 300
    )
    (place / "wide.toml").write_text(
        "".join(f'[columns.{name}]\ntype = "categorical"\nlevels = [0, 1]\n' for name in columns)
    )
    program = (
        "import sys\n"
        "from dpcausal.discovery.measured import method as measured\n"
        "real = measured.found_again\n"
        "def told(*args):\n"
        "    print('repeating', flush=True)\n"
        "    return real(*args)\n"
        "measured.found_again = told\n"
        "from dpcausal.cli.start import main\n"
        "main()\n"
    )
    words = "discover wide.csv --schema wide.toml --epsilon 1 --delta 1e-6 --out out --confidence 10000"
    ended = []
    for delay in (0.01, 0.05, 0.1, 0.17, 0.26, 0.38):
        code, _, err = signalled(program, words, "repeating", delay)
        ended.append((code, err.splitlines()[-1]))
    assert ended == [(130, "dpcausal: interrupted")] * 6
