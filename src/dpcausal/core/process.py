"""Which process this is: a random token that no copy of the process has.

A process id does not tell: a process that is number 1 and forks into a new PID namespace has a child that is number 1
too. The token is 16 bytes of ``os.urandom``. It is renewed by Python's hook after a fork, and lies in a page that the
kernel empties in every forked child (``MADV_WIPEONFORK``, Linux 4.14 and newer), so that a fork by foreign code, which
calls no hook, renews it too. Where there is no such page (macOS), the process id is compared, too.

**Not seen**: a snapshot of a virtual machine or container that is restored twice. The memory is then the same in every
byte; only a ledger can tell. Noise is read anew from the operating system for every release, so copies do not share it.
"""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import suppress

_SIZE = 16
_WIPE_ON_FORK = 18  # MADV_WIPEONFORK of Linux; Python has no name for it
_EMPTY = bytes(_SIZE)


def _page() -> mmap.mmap | bytearray:
    """Return memory for the process's token that the kernel empties in a forked child, where it can."""
    if sys.platform == "linux":
        page = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError):  # an older kernel: the hook and the process id remain
            page.madvise(_WIPE_ON_FORK)
        return page
    return bytearray(_SIZE)


_memory = _page()


def _renew() -> None:
    """Draw a new token for this process."""
    _memory[:_SIZE] = os.urandom(_SIZE)


def token() -> tuple[int, bytes]:
    """Return a value that identifies this process and changes in every fork of it.

    >>> token() == token()
    True
    """
    if _memory[:_SIZE] == _EMPTY:  # the first call, or the first after a fork by foreign code
        _renew()
    return os.getpid(), bytes(_memory[:_SIZE])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
