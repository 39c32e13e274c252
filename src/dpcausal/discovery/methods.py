"""Methods of ``dc.discover`` by name."""

from __future__ import annotations

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.discovery import curate, em_pc, measured, moments, pc, priv_pc, svt_pc, tests
from dpcausal.discovery.search import Method

METHODS: dict[str, Method] = {
    driver.METHOD.name: driver.METHOD
    for driver in (measured, pc, priv_pc, svt_pc, em_pc, curate, tests, moments)
}


def method_named(name: str) -> Method:
    """Return the method of that name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    if name not in METHODS:
        known = ", ".join(["auto", *METHODS])
        raise InputError(f"no method is called {name!r}{did_you_mean(name, METHODS)}; there are {known}")
    return METHODS[name]
