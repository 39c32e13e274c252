"""The adapters against small stand-ins that call as causal-learn 0.1.4 and pgmpy 1.0 do.

``benchmarks/adapters.py`` runs them against the real packages, in an environment that has them.
"""

from __future__ import annotations

import sys
from itertools import combinations
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.adapters import PrivateOracle, causal_learn, pgmpy
from dpcausal.core.errors import InputError

DATA = dc.networks.load("cancer").sample(20_000, seed=3)


def module(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> None:
    """Put a module of that name, and its parents, where imports find it."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:i]), made := ModuleType(".".join(parts[:i])))
        if i > 1:
            setattr(sys.modules[".".join(parts[: i - 1])], parts[i - 1], made)
    for key, value in content.items():
        setattr(sys.modules[name], key, value)


class Base:
    """As their CIT_Base: reads the rows when made."""

    def __init__(self, data: Any, **_: Any) -> None:
        raise AssertionError("the rows are not for this class")


@pytest.fixture
def causallearn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A ``pc`` that asks about every set from both ends, without early stop, by number of column."""
    registered: dict[str, Any] = {}
    seen: dict[str, Any] = {"registered": registered}

    def pc(data: Any, alpha: float, indep_test: str, node_names: list[str], **rest: Any) -> Any:
        assert type(data) is np.ndarray
        assert not data.any()
        seen.update(rest, alpha=alpha)
        test = registered[indep_test](data, **{})
        d = data.shape[1]
        marks = -(np.ones((d, d), int) - np.eye(d, dtype=int))
        for depth in range(d - 1):
            gone = []
            for x in range(d):
                near = np.flatnonzero(marks[x])
                for y in near:
                    sets = combinations(near[near != y], depth)
                    gone += [(x, y) for given in sets if test.method and test(x, y, given) > alpha]
            for x, y in gone:
                marks[x, y] = marks[y, x] = 0
        nodes = [SimpleNamespace(get_name=lambda name=name: name) for name in node_names]
        return SimpleNamespace(G=SimpleNamespace(nodes=nodes, graph=marks))

    def register_ci_test(name: str, test_class: Any) -> None:
        assert issubclass(test_class, Base)
        registered[name] = test_class

    module(monkeypatch, "causallearn.utils.cit", CIT_Base=Base, register_ci_test=register_ci_test)
    # a second branch of the same package
    utils = sys.modules["causallearn.utils"]
    module(monkeypatch, "causallearn.search.ConstraintBased.PC", pc=pc)
    monkeypatch.setitem(sys.modules, "causallearn.utils", utils)
    sys.modules["causallearn"].utils = utils  # type: ignore[attr-defined]
    return seen


def test_causal_learn_finds_our_skeleton(causallearn: dict[str, Any]) -> None:
    exact = PrivateOracle(DATA, epsilon=None, method="g", level=0.01)
    found = causal_learn.skeleton(causal_learn.pc(exact, stable=True))
    assert found == dc.discover(DATA, epsilon=None, method="pc", level=0.01).graph.skeleton
    assert exact.calls > exact.charged > 0
    assert (causallearn["alpha"], causallearn["stable"], causallearn["show_progress"]) == (0.01, True, False)


def test_causal_learn_private_and_charged_once(causallearn: dict[str, Any]) -> None:
    oracle = PrivateOracle(DATA, epsilon=20.0, delta=1e-6, questions=100, level=0.01)
    causal_learn.pc(oracle)
    assert len(oracle.privacy.events) == oracle.charged < oracle.calls
    assert len({event["label"] for event in oracle.privacy.events}) == oracle.charged


def test_out_of_budget_keeps_edges(causallearn: dict[str, Any]) -> None:
    oracle = PrivateOracle(DATA, epsilon=20.0, questions=1, level=0.01)
    found = causal_learn.skeleton(causal_learn.pc(oracle))
    assert oracle.charged == 1
    assert len(found) >= 9  # of ten pairs, one was tested
    assert oracle.refused


def test_causal_learn_level_is_the_oracles(causallearn: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="alpha can't be"):
        causal_learn.pc(PrivateOracle(DATA, epsilon=None), alpha=0.2)


class FakePC:
    """As pgmpy's: names of columns from a frame, the test called by keyword for all but the names."""

    def __init__(self, data: Any) -> None:
        assert len(data) == 0
        self.columns = list(data.columns)

    def estimate(self, *, ci_test: Any, significance_level: float, n_jobs: int, **rest: Any) -> Any:
        assert n_jobs == 1
        edges = set(map(frozenset, combinations(self.columns, 2)))
        near = {x: {y for y in self.columns if y != x} for x in self.columns}
        for order in range(len(self.columns) - 1):
            start = {x: sorted(near[x]) for x in near}
            for edge in sorted(edges, key=sorted):
                u, v = sorted(edge)
                sides = [[z for z in start[end] if z not in edge] for end in (u, v)]
                for given in [s for side in sides for s in combinations(side, order)]:
                    if ci_test(
                        u, v, given, data=None, independencies=None, significance_level=significance_level
                    ):
                        edges.discard(edge)
                        near[u].discard(v)
                        near[v].discard(u)
                        break
        return edges, rest


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "pgmpy.estimators", PC=FakePC)


@pytest.mark.usefixtures("peers")
def test_pgmpy_finds_our_skeleton() -> None:
    exact = PrivateOracle(DATA, epsilon=None, method="g", level=0.01)
    found, rest = pgmpy.pc(exact, return_type="skeleton")
    assert found == dc.discover(DATA, epsilon=None, method="pc", level=0.01).graph.skeleton
    assert rest == {"variant": "stable", "show_progress": False, "return_type": "skeleton"}


@pytest.mark.usefixtures("peers")
def test_pgmpy_private_and_charged_once() -> None:
    oracle = PrivateOracle(DATA, epsilon=20.0, delta=1e-6, questions=100, level=0.01)
    pgmpy.pc(oracle)
    assert len(oracle.privacy.events) == oracle.charged <= oracle.calls


@pytest.mark.usefixtures("peers")
def test_pgmpy_one_process_and_one_level() -> None:
    oracle = PrivateOracle(DATA, epsilon=None)
    with pytest.raises(InputError, match="n_jobs must be 1"):
        pgmpy.pc(oracle, n_jobs=-1)
    with pytest.raises(InputError, match="significance_level can't be"):
        pgmpy.pc(oracle, significance_level=0.01)


@pytest.mark.parametrize(("adapter", "name"), [(causal_learn, "causallearn"), (pgmpy, "pgmpy")])
def test_without_the_peer_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, adapter: Any, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match="not installed"):
        adapter.pc(PrivateOracle(DATA, epsilon=None))
