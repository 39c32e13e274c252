"""Copies of a process share no noise and can't spend one budget twice, whatever their process ids are.

A process that is number 1 and forks into a new PID namespace has a child that is number 1 too: containers do that. A
fork by foreign code (C, Rust) calls none of Python's hooks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("forking.py")
NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]


@cache
def no_namespaces() -> str | None:
    """Why no process namespace can be made here; None where it can."""
    try:
        tried = subprocess.run([*NAMESPACE, *NAMESPACE, "true"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"no process namespaces here: {error}"
    return None if tried.returncode == 0 else f"no process namespaces here: {tried.stderr.strip()}"


def copies(how: str) -> list[dict[str, object]]:
    """What a process and its copy say; the program forks ``how``: "plain", "foreign" or in a namespace."""
    within = [] if how in ("plain", "foreign") else NAMESPACE
    if within and (reason := no_namespaces()):
        pytest.skip(reason)
    run = subprocess.run(
        [*within, sys.executable, str(PROGRAM), how], capture_output=True, text=True, timeout=120, check=True
    )
    found: list[dict[str, object]] = [json.loads(line) for line in run.stdout.splitlines()]
    assert [one["who"] for one in found] == ["parent", "child"], run.stderr
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="forks into process namespaces are Linux's")
@pytest.mark.parametrize("how", ["plain", "foreign", "namespace", "foreign-namespace"])
def test_copies_share_no_noise_and_no_budget(how: str) -> None:
    parent, child = copies(how)
    assert (parent["pid"] == child["pid"]) == how.endswith("namespace")  # both are number 1 there
    assert (parent["charge"], parent["session"]) == ("allowed", "allowed")
    for guarded in ("charge", "session", "sieve"):
        assert child[guarded] == "refused", guarded
    assert child["own budget"] == "allowed"
    draws = [parent["draws"], child["draws"]]
    assert all(len(part) > 100 for part in draws)  # type: ignore[arg-type]
    # draws of scale 2^48 or 2^49: any two agree with a probability below 2^-48
    assert not set(draws[0]) & set(draws[1])  # type: ignore[call-overload]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_two_copies_of_one_memory_draw_differently() -> None:
    """What a restored snapshot does: the same memory goes on twice. Both copies are children of one process."""
    from dpcausal.privacy import noise

    noise.discrete_laplace(2.0**49)
    found = []
    for _ in range(2):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            drawn = [
                noise.discrete_laplace(2.0**49),
                noise.discrete_gaussian(2.0**49),
                noise.geometric(2.0**49),
            ]
            os.write(write, json.dumps(drawn).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            found.append(json.loads(pipe.read()))
        os.waitpid(pid, 0)
    assert len(found[0]) == 3
    assert not set(found[0]) & set(found[1])
