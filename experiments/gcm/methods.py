"""The tests of the figures by name: as published, the paper's rivals, and the classical ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gcm import published, rivals
from gcm.runs import Scene, Test


def _ridge(scene: Scene, reading: str) -> float:
    return published.ridge(scene.batch.cell.n, reading)


def priv_gcm(scene: Scene) -> published.Flags:
    """Algorithm 1 with lambda = 10."""
    return published.priv_gcm(scene.batch, scene.points.fits, _ridge(scene, "analysed"), scene.rng)


def priv_gcm_at(epsilon: float) -> Test:
    """Algorithm 1, lambda = 10, at this epsilon whatever that of the cell is."""

    def test(scene: Scene) -> published.Flags:
        batch = replace(scene.batch, cell=replace(scene.batch.cell, epsilon=epsilon))
        return published.priv_gcm(batch, scene.points.fits, _ridge(scene, "analysed"), scene.rng)

    return test


def priv_gcm_pictured(scene: Scene) -> published.Flags:
    """Algorithm 1 with sklearn's alpha = 10 and the noise of lambda = 10: not private."""
    return published.priv_gcm(scene.batch, scene.points.fits, _ridge(scene, "pictured"), scene.rng)


def gcm_pictured(scene: Scene) -> published.Flags:
    """Classical, alpha = 10."""
    return published.gcm(scene.batch, scene.points.fits, _ridge(scene, "pictured"))


def gcm_analysed(scene: Scene) -> published.Flags:
    """Classical, lambda = 10."""
    return published.gcm(scene.batch, scene.points.fits, _ridge(scene, "analysed"))


def priv_crt(scene: Scene) -> published.Flags:
    """Algorithm 2."""
    statistics = published.crt_statistics(scene.batch, scene.points.fits, scene.rng)
    pvalues = published.priv_crt_pvalues(statistics, scene.batch.cell.epsilon, scene.rng)
    return np.asarray(pvalues <= published.LEVEL)


def crt(scene: Scene) -> published.Flags:
    """The classical CRT."""
    statistics = published.crt_statistics(scene.batch, scene.points.fits, scene.rng)
    return np.asarray(published.crt_pvalues(statistics) <= published.LEVEL)


def kendall(scene: Scene) -> published.Flags:
    """Private Kendall after k-means."""
    return rivals.private_kendall(scene.batch, scene.points.labels, scene.rng)


def tests_of_tests(scene: Scene) -> published.Flags:
    """PrivToT over the classical GCM."""
    return rivals.test_of_tests(scene.batch, scene.points.parts, scene.rng)


PRIV_GCM = "PrivGCM as published (λ = 10)"
PRIV_CRT = "PrivCRT as published (λ = 10)"
PRIV_GCM_PICTURED = "PrivGCM, ridge 10 and noise of λ = 10 (not private)"
GCM = "GCM, no privacy (ridge 10)"
GCM_10N = "GCM, no privacy (ridge 5 n, i.e. λ = 10)"
CRT = "CRT, no privacy"
KENDALL = "private Kendall on k-means (not private)"
TOT = "PrivToT over GCM, 10 parts"

PRIV_GCM_AT = {epsilon: f"{PRIV_GCM}, epsilon {epsilon:g}" for epsilon in (4.0, 8.0)}

TESTS: dict[str, Test] = {
    PRIV_GCM: priv_gcm,
    PRIV_GCM_PICTURED: priv_gcm_pictured,
    PRIV_CRT: priv_crt,
    GCM: gcm_pictured,
    GCM_10N: gcm_analysed,
    CRT: crt,
    KENDALL: kendall,
    TOT: tests_of_tests,
    **{name: priv_gcm_at(epsilon) for epsilon, name in PRIV_GCM_AT.items()},
}


def named(*names: str) -> dict[str, Test]:
    """Some of them."""
    return {name: TESTS[name] for name in names}
