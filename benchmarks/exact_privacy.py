"""Claim against exact worst loss, for every mechanism and every known-broken variant.

python benchmarks/exact_privacy.py
"""

from __future__ import annotations

import math

import numpy as np

from dpcausal.audit import exact
from dpcausal.audit.broken import BROKEN
from dpcausal.audit.targets import SHIPPED
from dpcausal.privacy.mechanisms import INTEGERS, SparseVector
from dpcausal.privacy.mechanisms.sparse_vector import Scales

GRID = 20  # steps per unit of sensitivity in the margin table


def success(noise: str, scales: Scales, margin: int, decoys: int) -> float:
    """P(every decoy is below and the true query above), decoys ``margin`` steps below it, best public threshold."""
    z, weights = exact.thresholds(noise, scales, [margin])
    kept = weights > 1e-9
    z, weights = z[kept], weights[kept]
    return max(
        float(
            (
                weights
                * exact.misses(noise, scales.query, z + threshold) ** decoys
                * exact.reaches(noise, scales.query, z + threshold - margin)
            ).sum()
        )
        for threshold in range(-5 * GRID, margin + 15 * GRID, GRID // 2)
    )


def margin_for(noise: str, monotone: bool, decoys: int = 100, wanted: float = 0.9) -> float:
    """The gap between the true query and the decoys, in sensitivities, for that probability at epsilon = 1."""
    kind = "geometric" if noise == "geometric" else "laplace"
    unit = SparseVector(sensitivity=1.0, epsilon=1.0, noise=kind, monotone=monotone, grid=INTEGERS).scales
    scales = Scales(unit.threshold * GRID, unit.query * GRID)
    low, high = 1.0, 60.0
    while high - low > 0.05:
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if success(noise, scales, round(middle * GRID), decoys) >= wanted
            else (middle, high)
        )
    return high


def main() -> None:
    print(f"{'mechanism':30} {'case':>14} {'claim':>7} {'exact':>14} {'ratio':>8}")
    for name, make in SHIPPED.items():
        for epsilon in (0.25, 1.0, 3.0):
            target = make(epsilon)
            real = target.real()
            case = f"epsilon {epsilon:g}" + (" d 1e-6" if target.delta else "")
            print(f"{name:30} {case:>14} {target.claim:7.3f} {real:14.9f} {real / target.claim:8.5f}")
    print("\nknown-broken variants at epsilon = 1")
    for name, make in BROKEN.items():
        target = make(1.0)
        real = target.real()
        ratio = real / target.claim if math.isfinite(real) else math.inf
        caught = "sampling catches it" if target.catchable else "sampling misses it at 100,000 trials"
        print(f"{name:30} {'':>14} {target.claim:7.3f} {real:14.6f} {ratio:8.3f}  {caught}")
    print(
        "\nsparse vector, epsilon = 1, one positive, 100 decoys: gap for 90% success (best public threshold)"
    )
    for monotone in (False, True):
        gaps = {noise: margin_for(noise, monotone) for noise in ("geometric", "laplace")}
        row = "  ".join(f"{noise} {gap:.1f} (half {gap / 2:.1f})" for noise, gap in gaps.items())
        print(
            f"{'monotone' if monotone else 'general':10} {row}  ratio {gaps['geometric'] / gaps['laplace']:.3f}"
        )
    assert np.isfinite(gaps["geometric"])


if __name__ == "__main__":
    main()
