"""Our tests on the same batches: by ``fast.py``, or by ``dc.ci_test`` (one call a data set, seeded: not private)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import dpcausal as dc
from gcm import fast
from gcm.design import Z_BOUND, Batch, Values, mean_of_x
from gcm.published import LEVEL, Flags
from gcm.runs import Scene, Test

OURS_GCM = "ours: gcm"
OURS_GCM_BINS = "ours: gcm, variant bins"
OURS_CRT = "ours: crt"
OURS_CRT_RANK = "ours: crt, rank released"
OURS_KENDALL = "ours: kendall, public bins"


def schema(batch: Batch) -> dc.Schema:
    """Public bounds: those the published tests get, and four standard deviations for Z."""
    columns = {f"z{j + 1}": dc.Numeric(-Z_BOUND, Z_BOUND) for j in range(batch.z.shape[1])}
    return dc.Schema(
        x=dc.Numeric(-batch.bound_x, batch.bound_x), y=dc.Numeric(-batch.bound_y, batch.bound_y), **columns
    )


def datasets(batch: Batch, most: int | None = None) -> list[Any]:
    """One data set a repetition."""
    given = {f"z{j + 1}": batch.z[:, j] for j in range(batch.z.shape[1])}
    shape = schema(batch)
    return [
        dc.read({"x": batch.x[:, r], "y": batch.y[:, r], **given}, shape)
        for r in range(batch.x.shape[1])[:most]
    ]


def pvalues(scene: Scene, method: str, **options: Any) -> tuple[Flags, list[float | None]]:
    """(which repetitions reject, p-values where one is released)."""
    batch = scene.batch
    given = [f"z{j + 1}" for j in range(batch.z.shape[1])]
    with dc.testing.seeded(scene.seed):
        found = [
            dc.ci_test(
                data, "x", "y", given, method=method, epsilon=batch.cell.epsilon, level=LEVEL, **options
            )
            for data in datasets(batch)
        ]
    return np.array([not test.independent for test in found]), [test.pvalue for test in found]


def gcm(scene: Scene) -> Flags:
    """The default."""
    return fast.gcm_batch(scene.batch, scene.points.deal(scene.batch.cell.epsilon), scene.rng) <= LEVEL


def gcm_bins(scene: Scene) -> Flags:
    """Covariance within public bins."""
    return pvalues(scene, "gcm", variant="bins")[0]


def crt_options(scene: Scene, **options: Any) -> dict[str, Any]:
    """The law of X given Z, which these tests are told."""
    cell = scene.batch.cell

    def draw(z: Mapping[str, Values], generator: np.random.Generator) -> Values:
        first = z["z1"]
        return mean_of_x(first[:, None], cell.s, cell.shape) + generator.standard_normal(len(first))

    return {"model": draw, **options}


def crt(scene: Scene) -> Flags:
    """The default: a decision, 199 copies; as many as the cell asks for where that is not 19."""
    copies = scene.batch.cell.copies
    found = crt_statistics(scene, 199 if copies == 19 else copies)
    return fast.crt_decisions(found, scene.batch.cell.epsilon, scene.rng)


def crt_rank(scene: Scene) -> Flags:
    """A rank, with the copies of the cell."""
    return crt_pvalues(scene) <= LEVEL


def crt_pvalues(scene: Scene) -> Values:
    """p-values of the rank."""
    found = crt_statistics(scene, scene.batch.cell.copies)
    return fast.crt_rank_pvalues(found, scene.batch.cell.epsilon, scene.rng)


def crt_statistics(scene: Scene, copies: int) -> Values:
    """T of the real column and of the copies."""
    return fast.crt_statistics(scene.batch, copies, scene.rng, datasets(scene.batch, 1)[0])


def kendall(scene: Scene) -> Flags:
    """Z through public bins."""
    return pvalues(scene, "kendall")[0]


TESTS: dict[str, Test] = {
    OURS_GCM: gcm,
    OURS_GCM_BINS: gcm_bins,
    OURS_CRT: crt,
    OURS_CRT_RANK: crt_rank,
    OURS_KENDALL: kendall,
}


def ours(*names: str) -> dict[str, Test]:
    """Some of them."""
    return {name: TESTS[name] for name in names}
