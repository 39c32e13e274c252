"""Entry point of the ``dpcausal`` command: nothing is imported before an interrupt can be answered."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run one command and exit with its code."""
    try:
        import signal

        from dpcausal.cli.app import run

        code = run()
        # done: an interrupt while Python ends would change the exit code
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        sys.stderr.write("dpcausal: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)
