"""Entry point of the ``dpcausal`` command: nothing is imported before an interrupt can be answered."""

from __future__ import annotations

import sys
from types import FrameType

INTERRUPTED = 130
SOON = 0.001  # seconds


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise ``KeyboardInterrupt``; within a callback of an import, where Python would ignore it, a moment later."""
    import signal

    code = None if frame is None else frame.f_code
    if code is not None and code.co_name == "cb" and "importlib" in code.co_filename:
        signal.setitimer(signal.ITIMER_REAL, SOON)
        return
    raise KeyboardInterrupt


def main() -> None:
    """Run one command and exit with its code."""
    try:
        import signal

        # what runs in the background of a script ignores interrupts, and goes on doing so; Windows has no timer
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler and hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, interrupt)
            signal.signal(signal.SIGINT, interrupt)
        from dpcausal.cli.app import run

        code = run()
        # done: an interrupt while Python ends would change the exit code
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
    except KeyboardInterrupt:
        sys.stderr.write("dpcausal: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)
