"""pgmpy's ``PC`` on a private oracle.

pgmpy takes any callable as its test and calls it with two names, a set of names, the data and a level; it wants
True for independent. ``ci_test(oracle)`` is that callable. The data frame handed to ``PC`` has the names of the
columns and no row. In one process only: a budget can't be sent to another (``n_jobs=1``).

    oracle = PrivateOracle(data, epsilon=10.0, delta=1e-6, questions=120, level=0.01)
    found = pgmpy.pc(oracle, return_type="pdag")
    oracle.privacy

What pgmpy 1.0.0 calls "stable" draws sets from neighbours as they are now, not from those at the start of an order;
"parallel" draws them from the start of the order. Both ask a set again when it lies in the neighbours of both ends;
here that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dpcausal.adapters.oracle import PrivateOracle
from dpcausal.core.errors import InputError


def ci_test(oracle: PrivateOracle) -> Callable[..., bool]:
    """Return a test in pgmpy's form: ``test(X, Y, Z, data=..., significance_level=..., **rest) -> bool``."""

    def test(x: str, y: str, z: Iterable[str] = (), data: Any = None, **rest: Any) -> bool:
        del data  # the oracle has its own
        level = rest.get("significance_level", oracle.level)
        if level != oracle.level:
            raise InputError(
                f"the oracle answers at level {oracle.level:g}: significance_level can't be {level!r}"
            )
        return oracle.ask(x, y, tuple(z)).independent

    return test


def pc(oracle: PrivateOracle, **options: Any) -> Any:
    """Run pgmpy's ``PC(...).estimate`` on an oracle, at the oracle's level.

    Parameters
    ----------
    oracle : PrivateOracle
        What answers, and what is charged.
    **options
        Options of ``estimate``; the variant is "stable" unless said otherwise.

    Returns
    -------
    object
        What ``estimate`` returns.

    Raises
    ------
    InputError
        If pgmpy is not installed, ``n_jobs`` is not 1, or ``significance_level`` is not the oracle's level.
    """
    try:
        import pandas
        from pgmpy.estimators import PC
    except ImportError:
        raise InputError("pgmpy is not installed: pip install pgmpy") from None
    if options.pop("n_jobs", 1) != 1:
        raise InputError("a budget can't be shared between processes: n_jobs must be 1")
    options = {"variant": "stable", "show_progress": False, "significance_level": oracle.level, **options}
    empty = pandas.DataFrame({name: pandas.Series(dtype=object) for name in oracle.columns})
    return PC(data=empty).estimate(ci_test=ci_test(oracle), n_jobs=1, **options)
