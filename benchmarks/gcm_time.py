"""Time and memory of gcm, every case in a process of its own (peak memory is a process's): for ``private_gcm.py``.

    factor    n = 10,000: the kernel ridge variants and the default against LAPACK's dpotrf on the matrix that the
              former factor, same process, in turn, the least of three of each; by the clock and by CPU time, which
              a busy machine moves less
    exact     n = 20,000: ``moments`` by the exact fit
    features  n = 1,000,000: ``moments`` through Fourier features, d = 1 and 5
    others    the same n for ``parts`` and ``bins``

Run as ``python benchmarks/gcm_time.py CASE N``; OPENBLAS_NUM_THREADS says how many threads.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

import dpcausal as dc
from dpcausal.citests.gcm_ridge import DEFAULT_BANDWIDTH, DEFAULT_LAMBDA
from dpcausal.regression.kernel import Kernel


def rows(n: int, d: int) -> dc.Dataset:
    """Waves of z in x and y."""
    rng = np.random.default_rng(n + d)
    z = np.clip(rng.normal(0, 2, (n, d)), -10, 10)
    x = np.sin(z[:, 0]) + rng.normal(size=n)
    values = {"x": x, "y": rng.normal(size=n) - np.sin(z[:, 0])} | {f"z{j}": z[:, j] for j in range(d)}
    schema = dc.Schema({name: dc.Numeric(-5, 5) if name in "xy" else dc.Numeric(-10, 10) for name in values})
    return dc.Dataset(schema, n, {name: np.zeros(n, np.uint8) for name in schema}, values)


Seconds = NDArray[np.float64]  # by the clock, of the CPU


def clocks() -> Seconds:
    """Now."""
    return np.array([time.perf_counter(), time.process_time()])


def asked(data: dc.Dataset, d: int, variant: str) -> Seconds:
    """One private test."""
    start = clocks()
    names = [f"z{j}" for j in range(d)]
    dc.ci_test(data, "x", "y", names, method="gcm", epsilon=1.0, anyway=True, variant=variant)
    return clocks() - start


def factor(n: int) -> None:
    """dpotrf, the kernel ridge variants and the default in turn."""
    data = rows(n, 1)
    least = {name: np.full(2, np.inf) for name in ("dpotrf", "moments", "residuals", "parts")}
    for _ in range(3):
        z = (data.values["z0"][:, None] + 10) / 20
        matrix = np.asfortranarray(Kernel(DEFAULT_BANDWIDTH).block(z, z))  # numbers near zero would be slow
        matrix[np.diag_indices(n)] += n * DEFAULT_LAMBDA / 2
        start = clocks()
        info = lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)[1]
        least["dpotrf"] = np.minimum(least["dpotrf"], clocks() - start)
        assert info == 0
        del matrix
        for variant in ("moments", "residuals", "parts"):
            least[variant] = np.minimum(least[variant], asked(data, 1, variant))
    for name, took in least.items():
        ratio = took / least["dpotrf"]
        print(f"  {name}: {took[0]:.2f} s, {took[1]:.2f} CPU s: {ratio[0]:.2f} and {ratio[1]:.2f} of dpotrf")


def one(case: str, n: int) -> None:
    """Run one case here."""
    small = rows(200, 1)
    for variant in ("parts", "bins", "moments"):
        asked(small, 1, variant)  # imports, compiled loops
    print(f"{case}, n={n}, {os.environ.get('OPENBLAS_NUM_THREADS', 'all')} threads", flush=True)
    if case == "factor":
        factor(n)
    else:
        variants = ("parts", "bins") if case == "others" else ("moments",)
        for d in (1,) if case == "exact" else (1, 5):
            data = rows(n, d)
            for variant in variants:
                took, cpu = asked(data, d, variant)
                print(f"  {variant}, d={d}: {took:.1f} s, {cpu:.1f} CPU s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  peak memory of the process: {peak:.2f} GiB", flush=True)


def timing(quick: bool) -> None:
    """Every case, with one thread and with two."""
    cases = {"factor": 10_000, "exact": 20_000, "features": 1_000_000, "others": 1_000_000}
    for case, n in cases.items():
        for threads in ("1", "2"):
            size = n // 10 if quick else n
            subprocess.run(
                [sys.executable, str(Path(__file__)), case, str(size)],
                check=True,
                env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            )


def main() -> None:
    """Run the case and size that were given."""
    one(sys.argv[1], int(sys.argv[2]))


if __name__ == "__main__":
    main()
