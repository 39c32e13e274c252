"""causal-learn's ``pc`` (and its other searches by CI test) on a private oracle.

causal-learn takes a test by name and makes it from a class registered under that name; the class is called with the
numbers of two columns and of a set, and gives a p-value. Ours asks the oracle. The array handed to their loop
holds zeros: it only says how many columns there are, so no part of their code ever sees a row (their own base class
hashes the rows; it is not used for that).

    oracle = PrivateOracle(data, epsilon=10.0, delta=1e-6, questions=120, level=0.01)
    found = causal_learn.pc(oracle)        # their CausalGraph
    oracle.privacy                         # what it cost

Their stable loop asks about every set of every edge, from both ends and without stopping at the first that separates:
several times as many questions as ours for the same skeleton.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcausal.adapters.oracle import PrivateOracle
from dpcausal.core.errors import InputError

NAME = "dpcausal"


def placeholder(oracle: PrivateOracle) -> NDArray[np.float64]:
    """Return an array of zeros with as many columns as the oracle (and rows, or causal-learn warns)."""
    d = len(oracle.columns)
    return np.zeros((d, d))


def register(oracle: PrivateOracle, name: str = NAME) -> str:
    """Register the oracle with causal-learn under a name, to be used as ``indep_test``; return the name.

    Raises
    ------
    InputError
        If causal-learn is not installed, or is too old to take a test of one's own.
    """
    base, add = _causal_learn_api()

    class OracleTest(base):  # type: ignore[misc, valid-type]
        """Columns by number, answers by the oracle."""

        def __init__(self, data: Any = None, **_: Any) -> None:
            self.method = name
            self.data = data
            self.sample_size, self.num_features = placeholder(oracle).shape
            self.pvalue_cache: dict[str, Any] = {}

        def __call__(self, x: int, y: int, condition_set: Iterable[int] | None = None, *_: Any) -> float:
            columns = oracle.columns
            given = [columns[int(i)] for i in condition_set or ()]
            return oracle.pvalue(columns[int(x)], columns[int(y)], given)

    add(name, OracleTest)
    return name


def pc(oracle: PrivateOracle, **options: Any) -> Any:
    """Run causal-learn's ``pc`` on an oracle, at the oracle's level.

    Parameters
    ----------
    oracle : PrivateOracle
        What answers, and what is charged.
    **options
        Options of causal-learn's ``pc``.

    Returns
    -------
    causallearn.graph.GraphClass.CausalGraph

    Raises
    ------
    InputError
        If causal-learn is not installed, or ``alpha`` is not the oracle's level.
    """
    level = options.pop("alpha", oracle.level)
    if level != oracle.level:
        raise InputError(f"the oracle answers at level {oracle.level:g}: alpha can't be {level!r}")
    indep_test = register(oracle)
    from causallearn.search.ConstraintBased.PC import pc as their_pc

    options = {"show_progress": False, "node_names": list(oracle.columns), **options}
    return their_pc(placeholder(oracle), alpha=level, indep_test=indep_test, **options)


def skeleton(found: Any) -> frozenset[frozenset[str]]:
    """Return the unordered pairs of names that are adjacent in a CausalGraph of causal-learn."""
    names = [node.get_name() for node in found.G.nodes]
    marks = np.asarray(found.G.graph)
    return frozenset(frozenset((names[i], names[j])) for i, j in np.argwhere(marks != 0) if i < j)


def _causal_learn_api() -> tuple[Any, Any]:
    """Return causal-learn's base class of tests and its register function; refuse unknown versions."""
    try:
        from causallearn.utils import cit
    except ImportError:
        raise InputError("causal-learn is not installed: pip install causal-learn") from None
    if not hasattr(cit, "register_ci_test"):
        raise InputError("this causal-learn is too old to take a test of one's own: 0.1.4 or later is needed")
    return cit.CIT_Base, cit.register_ci_test
