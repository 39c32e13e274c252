"""A process that copies itself, and what both copies can do; one line of JSON from each (see test_processes.py).

python forking.py plain|foreign|namespace|foreign-namespace
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

from dpcausal.core.errors import DpcausalError
from dpcausal.privacy import noise
from dpcausal.privacy.budget import Budget
from dpcausal.privacy.events import PureEvent
from dpcausal.privacy.mechanisms import SieveAndExamine, SparseVector

WIDE = 2.0**49
EVENT = PureEvent(label="", neighbours="replace-one", mechanism="any", cost=1.0)
NEW_PID_NAMESPACE = 0x20000000


def draws(scale: float) -> list[int]:
    return [
        *(noise.discrete_laplace(scale) for _ in range(30)),
        *(noise.discrete_gaussian(scale) for _ in range(30)),
        *(noise.geometric(scale) for _ in range(30)),
        *noise.discrete_laplace(scale, 300).tolist(),
        *noise.discrete_gaussian(scale, 300).tolist(),
    ]


def tried(work: object) -> str:
    try:
        work()  # type: ignore[operator]
    except DpcausalError:
        return "refused"
    return "allowed"


def main(how: str) -> None:
    libc = ctypes.PyDLL(None, use_errno=True)
    budget = Budget(1.0)
    session = SparseVector(sensitivity=1.0, epsilon=1.0, positives=5).start(0.0)
    sieve = SieveAndExamine(sensitivity=1.0, epsilon_sieve=1.0, epsilon_examine=1.0, hits=5).start(0.0)
    draws(WIDE)  # whatever is kept for later is kept now
    if how.endswith("namespace") and libc.unshare(NEW_PID_NAMESPACE):
        sys.exit(f"unshare: {os.strerror(ctypes.get_errno())}")
    read, write = os.pipe()
    copied = libc.fork() if how.startswith("foreign") else os.fork()
    if copied:
        os.close(write)
        os.waitpid(copied, 0)
    said = {
        "who": "parent" if copied else "child",
        "pid": os.getpid(),
        "charge": tried(lambda: budget.charge(EVENT)),
        "session": tried(lambda: session.ask(0.0)),
        "sieve": tried(lambda: sieve.ask(0.0, lambda: 0.0)),
        "own budget": tried(lambda: Budget(1.0).charge(EVENT)),
        "draws": [*draws(WIDE / 2), *draws(WIDE)],  # at a scale that is new, and at one with a past
    }
    if copied:
        with os.fdopen(read) as pipe:
            sys.stdout.write(f"{json.dumps(said)}\n{pipe.read()}\n")
    else:
        with os.fdopen(write, "w") as pipe:
            pipe.write(json.dumps(said))
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
