"""PrivCRT as printed (Definition 3.4, Algorithm 2) beside our rank with a kernel: two tests that share a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpcausal.stats.crt import crt_sensitivity
from dpcausal.stats.published import crt_bound
from gcm.design import Cell, draw, draw_z
from gcm.methods import priv_crt
from gcm.ours import crt_options, pvalues
from gcm.published import LAMBDA, LEVEL
from gcm.runs import Points, Scene
from priv_pc.runs import finish, table

ROWS, BETAS = 1000, (0.0, 0.25, 0.5, 1.0)
OURS: dict[str, dict[str, Any]] = {
    'ci_test(..., variant="paper")': {"variant": "paper"},
    'ci_test(..., score="kernel", release="rank")': {
        "score": "kernel",
        "release": "rank",
        "strength": LAMBDA,
    },
}


def scene(beta: float, reps: int) -> Scene:
    """Some data sets with n = 1,000, d = 1, s = 2, epsilon = 2 and 19 copies, as in figure 3."""
    rng = np.random.default_rng([23, int(100 * beta)])
    batch = draw(Cell("", beta, ROWS, beta=beta), draw_z(ROWS, 1, rng), reps, rng)
    return Scene(batch, Points(batch.z, 1), rng, 5)


def called(beta: float, reps: int, options: dict[str, Any]) -> float:
    """Share of rejections of ``ci_test``."""
    at = scene(beta, reps)
    model = {key: value for key, value in crt_options(at).items() if key in ("model", "resample")}
    return float(pvalues(at, "crt", **model, copies=19, bandwidth=1 / 16, **options)[0].mean())


def main(quick: bool, out: Path) -> None:
    """Compute and print; gcm-crt-printed.md in ``out``."""
    reps, calls, name = (200, 20, "gcm-crt-printed-quick") if quick else (2000, 100, "gcm-crt-printed")
    rows = [["Algorithm 2, all at once", *(f"{priv_crt(scene(beta, reps)).mean():.3f}" for beta in BETAS)]]
    for label, options in OURS.items():
        rows.append([f"`{label}`", *(f"{called(beta, calls, options):.3f}" for beta in BETAS)])
    lines = [
        "# PrivCRT as printed",
        "",
        f"Share of rejections at level {LEVEL:g} by beta; n = {ROWS:,}, d = 1, s = 2, epsilon 2, lambda {LAMBDA:g}, 19 "
        f"copies; {reps:,} data sets in the first row, {calls} in the others. As printed, x less its mean is over "
        f'its bound, T has a sign, and the sensitivity is {crt_bound(LAMBDA):.2f} (Lemma C.1). With `score="kernel"` x '
        "less its mean is in standard deviations, cut at one, T is an absolute value, and the sensitivity is "
        f"{crt_sensitivity('replace-one', 'kernel', LAMBDA):.2f}: another test. Made by `dpcausal reproduce "
        f"gcm-crt-printed{' --quick' if quick else ''}`.",
        "",
        *table(["", *(f"beta {beta:g}" for beta in BETAS)], rows),
    ]
    finish(out, name, lines)
