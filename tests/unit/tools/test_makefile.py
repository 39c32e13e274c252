"""What ``make install`` leaves a newcomer with."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_install_ends_with_what_to_do_next() -> None:
    """A dry run, into a directory that is not there: every step is listed, none is taken."""
    command = ["make", "--dry-run", "--no-print-directory", "install", "VENV=nowhere"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == 'echo "done: source nowhere/bin/activate, then dpcausal --help"'
    assert not (ROOT / "nowhere").exists()
