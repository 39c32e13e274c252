"""What a draw of noise costs: microseconds by itself and in an array of 100,000, OpenDP's own calls beside it.

Processor time, so that other work on the machine does not count. Bytes are read from the operating system for every
call; nothing is drawn beforehand, so a scalar costs what it costs.

    python benchmarks/noise.py [--scales 0.3 1 10.3 4096.5 1125899906842624]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import opendp.prelude as dp

from dpcausal.privacy import noise
from dpcausal.testing import seeded

REPEATS = 5
SCALES = (0.3, 1.0, 10.3, 4096.5, 2.0**50)
SCALARS, ARRAY = 20_000, 100_000


def seconds(work: Callable[[], object]) -> float:
    """Median processor time of ``work``."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def opendp_scalar(kind: str, scale: float) -> Callable[[int], object]:
    """OpenDP's measurement on one integer."""
    dp.enable_features("contrib")
    domain = dp.atom_domain(T="i64")
    if kind == "laplace":
        return dp.m.make_laplace(domain, dp.absolute_distance(T="i64"), scale=scale)  # type: ignore[no-any-return]
    return dp.m.make_gaussian(domain, dp.absolute_distance(T="f64"), scale=scale)  # type: ignore[no-any-return]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scales", type=float, nargs="+", default=SCALES)
    asked = parser.parse_args()
    draws = {
        "laplace": noise.discrete_laplace,
        "geometric": noise.geometric,
        "gaussian": noise.discrete_gaussian,
    }
    print(
        "| noise | scale | by itself | in an array | seeded, in an array | OpenDP, by itself |\n|"
        + "---|" * 6
    )
    for kind, draw in draws.items():
        for scale in asked.scales:
            draw(scale)

            def scalars(draw: Callable[..., object] = draw, scale: float = scale) -> None:
                for _ in range(SCALARS):
                    draw(scale)

            def array(draw: Callable[..., object] = draw, scale: float = scale) -> None:
                draw(scale, ARRAY)

            scalar, array_time = seconds(scalars) / SCALARS, seconds(array)
            with seeded(1):
                fast = seconds(array) / ARRAY
            raw = float("nan")
            if kind != "geometric":
                single = opendp_scalar(kind, scale)
                raw = seconds(lambda single=single: [single(0) for _ in range(500)]) / 500  # type: ignore[misc]
            opendp = "" if kind == "geometric" else f"{raw * 1e6:.1f}"
            print(
                f"| {kind} | {scale:.4g} | {scalar * 1e6:.1f} | {array_time / ARRAY * 1e6:.2f} | {fast * 1e6:.2f} "
                f"| {opendp} |",
                flush=True,
            )
    cauchy = seconds(lambda: [noise.discrete_cauchy(20.5) for _ in range(5_000)]) / 5_000
    print(f"| cauchy | 20.5 | {cauchy * 1e6:.1f} | | | |")
    fresh = seconds(lambda: noise.discrete_laplace(3.0 + time.perf_counter()))
    print(f"\na single draw at a fresh scale: {fresh * 1e6:.0f} us")


if __name__ == "__main__":
    main()
