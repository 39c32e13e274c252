"""How each peer is called in ``peers_pc.py``: a function that runs its PC with G on data already in its own form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

import dpcausal as dc

Skeleton = frozenset[frozenset[str]]
Run = Callable[[], Skeleton]


def _frame(data: dc.Dataset, kind: Any) -> Any:
    import pandas

    return pandas.DataFrame({name: kind(data.codes[name]) for name in data.schema})


def pgmpy_skeleton(data: dc.Dataset, level: float, variant: str, *, aligned: bool = False) -> Run:
    """pgmpy's ``build_skeleton`` with its ``g_sq``.

    ``aligned``: no continuity correction, and no degree of freedom means independent, so that its test is ours.
    """
    from pgmpy.estimators import PC, CITests
    from pgmpy.global_vars import logger

    logger.setLevel("ERROR")
    frame = _frame(data, lambda codes: codes)  # bytes: fastest for it; categories take ten times longer
    search = PC(frame)
    plain = SimpleNamespace(
        chi2_contingency=partial(CITests.stats.chi2_contingency, correction=False), chi2=CITests.stats.chi2
    )

    def test(x: str, y: str, z: Any, **_: Any) -> bool:
        _, pvalue, dof = CITests.g_sq(x, y, z, data=frame, boolean=False)
        return dof == 0 or bool(pvalue > level)

    def run() -> Skeleton:
        shipped = CITests.stats
        CITests.stats = plain if aligned else shipped
        try:
            found, _ = search.build_skeleton(
                variant=variant,
                ci_test=test if aligned else CITests.g_sq,
                significance_level=level,
                n_jobs=1,
                show_progress=False,
            )
        finally:
            CITests.stats = shipped
        return frozenset(map(frozenset, found.edges()))

    return run


def causal_learn_skeleton(data: dc.Dataset, level: float) -> Run:
    """causal-learn's ``skeleton_discovery`` with ``gsq``, stable; making its test object is part of the work."""
    from causallearn.utils.cit import CIT
    from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery

    names = list(data.schema)
    rows = np.stack([data.codes[name] for name in names], axis=1).astype(np.int64)

    def run() -> Skeleton:
        found = skeleton_discovery(
            rows, level, CIT(rows, "gsq"), stable=True, show_progress=False, node_names=names
        )
        marks = np.argwhere(np.asarray(found.G.graph) != 0)
        return frozenset(frozenset((names[i], names[j])) for i, j in marks)

    return run


def pyagrum_skeleton(data: dc.Dataset, level: float) -> Run:
    """pyAgrum's PC (C++), G2, stable, one thread; a learner is loaded beforehand for every run."""
    import pyagrum as gum

    names = list(data.schema)
    gum.setNumberOfThreads(1)
    frame = _frame(data, lambda codes: codes.astype(np.int64))

    def load() -> Any:
        learner = gum.BNLearner(frame)
        learner.usePC()
        learner.useG2Test()
        learner.setPCAlpha(level)
        learner.setPCStable(True)
        return learner

    waiting = [load()]

    def run() -> Skeleton:
        learner = waiting.pop() if waiting else load()
        found = learner.learnPDAG()
        pairs = [*found.edges(), *found.arcs()]
        return frozenset(frozenset((names[a], names[b])) for a, b in pairs)

    run.prepare = lambda: waiting.append(load())  # type: ignore[attr-defined]
    return run
