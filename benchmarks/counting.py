"""Tables per second: ours beside numpy, pandas, polars, DuckDB and pgmpy, on the same data in the same run.

    python benchmarks/counting.py [--quick|--toy] [--alarm alarm.bif] [--calibrate]

Every rival starts from data already loaded in the form it likes best (coded small integers). Ours starts from coded
columns too: its figure includes packing and compression; a second row adds coding from an Arrow table of
strings. Compile time is excluded: kernels are compiled on other data first (numba caches them on disk). A slow
rival is timed on fewer tables, the number is printed. pgmpy is a rival only where it is installed
(``pip install -r benchmarks/requirements.txt``); a rival that is missing is named.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
import pyarrow as pa

import dpcausal as dc
from dpcausal.counts.memory import MemoryCounts
from dpcausal.counts.protocol import Jobs
from dpcausal.counts.rows import COSTS, Rows, processors

Request = tuple[str, ...]


def best(run: Callable[[], Any], repeat: int = 5) -> float:
    """Shortest of several runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def random_data(n: int, sizes: Sequence[int], seed: int) -> dc.Dataset:
    """Independent uniform levels: the hardest case for compression."""
    rng = np.random.default_rng(seed)
    schema = dc.Schema({f"c{i}": dc.Categorical(list(range(k))) for i, k in enumerate(sizes)})
    return dc.Dataset(
        schema, n, {f"c{i}": rng.integers(0, k, n, dtype=np.uint8) for i, k in enumerate(sizes)}
    )


def conditional_requests(names: Sequence[str], most: int, count: int, seed: int) -> list[Request]:
    """``count`` random (x, y, given) with given of size 0 to ``most``."""
    rng = np.random.default_rng(seed)
    return [
        tuple(str(name) for name in rng.permutation(names)[: 2 + rng.integers(0, most + 1)])
        for _ in range(count)
    ]


def all_requests(names: Sequence[str], most: int) -> list[Request]:
    """Every unordered pair given every subset of size 0 to ``most`` of the others."""
    found = []
    for x, y in itertools.combinations(names, 2):
        rest = [name for name in names if name not in (x, y)]
        found += [(x, y, *given) for k in range(most + 1) for given in itertools.combinations(rest, k)]
    return found


def rivals(data: dc.Dataset) -> dict[str, Callable[[Request], Any]]:
    """One function per rival: a table from its own favourite form of the data."""
    import duckdb
    import pandas as pd
    import polars as pl

    codes, sizes = data.codes, {name: column.size for name, column in data.schema.items()}

    def bincount(request: Request, kind: type[np.integer[Any]]) -> Any:
        code = codes[request[0]].astype(kind)
        cells = sizes[request[0]]
        for name in request[1:]:
            code = code * kind(sizes[name]) + codes[name]
            cells *= sizes[name]
        return np.bincount(code, minlength=cells)

    frame = pd.DataFrame({name: pd.Categorical.from_codes(codes[name], range(sizes[name])) for name in codes})
    small = pd.DataFrame(dict(codes))
    polar = pl.DataFrame(dict(codes))
    connection = duckdb.connect(config={"threads": processors()})
    connection.register("arrow", pa.table(dict(codes)))
    connection.execute("CREATE TABLE data AS SELECT * FROM arrow")

    def sql(request: Request) -> Any:
        names = ", ".join(request)
        return connection.execute(f"SELECT {names}, count(*) FROM data GROUP BY {names}").fetchnumpy()

    found: dict[str, Callable[[Request], Any]] = {
        "numpy bincount, 16-bit codes": lambda request: bincount(request, np.uint16),
        "numpy bincount, 64-bit codes": lambda request: bincount(request, np.int64),
        "pandas crosstab": lambda request: pd.crosstab(small[request[0]], [small[c] for c in request[1:]]),
        "pandas groupby": lambda request: frame.groupby(list(request), observed=False).size(),
        "polars group_by": lambda request: polar.group_by(request).len(),
        f"DuckDB GROUP BY, {processors()} threads": sql,
    }
    try:
        from pgmpy.base import DAG  # noqa: F401  (so that a broken install shows here)
        from pgmpy.estimators import BaseEstimator

        estimator = BaseEstimator(small)
        found["pgmpy state_counts"] = lambda request: estimator.state_counts(
            request[0], parents=list(request[1:])
        )
    except ImportError:
        print("pgmpy is not installed: left out")
    return found


def compare(label: str, data: dc.Dataset, requests: list[Request], seconds: float) -> float:
    """Print tables per second for everyone; the ratio of ours to the best rival."""
    print(f"\n{label}: {data.n:,} rows x {len(data.columns)} columns, {len(requests):,} tables")
    rates: dict[str, float] = {}
    for name, count in rivals(data).items():
        count(requests[0])
        done, start = 0, time.perf_counter()
        while done < len(requests) and (done < 3 or time.perf_counter() - start < seconds):
            count(requests[done])
            done += 1
        rates[name] = done / (time.perf_counter() - start)
        print(f"  {name:42} {rates[name]:14,.1f} tables/s   (timed on {done:,})", flush=True)
    rival = max(rates.values())
    levels = {name: np.array([str(i) for i in range(c.size)]) for name, c in data.schema.items()}
    strings = pa.table({n: pa.DictionaryArray.from_arrays(data.codes[n], levels[n]) for n in data.columns})
    again = MemoryCounts(data)
    again.tables(requests)

    def mine(name: str, run: Callable[[], Any]) -> float:
        seconds = best(run)
        rate = len(requests) / seconds
        print(f"  {name:42} {rate:14,.1f} tables/s   ({seconds * 1e3:.1f} ms)", flush=True)
        return rate

    ours = mine("dpcausal, compression included", lambda: MemoryCounts(data).tables(requests))
    coded = mine(
        "dpcausal, coding from Arrow strings too",
        lambda: MemoryCounts(dc.read(strings, data.schema)).tables(requests),
    )
    mine("dpcausal, asked again", lambda: again.tables(requests))
    ratio = ours / rival
    print(f"  ours / best rival: {ratio:,.0f} times; with coding {coded / rival:,.0f} times")
    return ratio


@nb.njit(nogil=True)
def _read_memory(words: Any) -> Any:
    total = nb.uint64(0)
    for i in range(words.shape[0]):
        total += words[i]
    return total


def read_limit() -> float:
    """GB/s of one core reading a 512 MB array."""
    words = np.ones(64_000_000, np.uint64)
    _read_memory(words)
    return float(words.nbytes / best(lambda: _read_memory(words)) / 1e9)


def single_tables(n: int) -> None:
    """One table on one core, beside the memory-read limit."""
    limit = read_limit()
    print(f"\nOne table, {n:,} binary rows, one core; this core reads memory at {limit:.1f} GB/s")
    data = random_data(n, (2,) * 40, seed=5)
    counts = MemoryCounts(data, threads=1)
    for k in (2, 4, 6):
        columns = list(data.columns[:k])
        first = best(lambda columns=columns: MemoryCounts(data, threads=1).table(columns), 2)  # type: ignore[misc]
        counts.table(columns)
        again = best(lambda columns=columns: counts.table(columns), 7)  # type: ignore[misc]
        print(
            f"  {k} columns: {again / n * 1e9:.3f} ns per row (first time {first / n * 1e9:.2f});"
            f" limit {k / limit:.2f}"
        )


def calibrate() -> None:
    """Print the constants of ``dpcausal.counts.rows.KernelCosts`` as measured on this machine."""
    n = 1 << 20
    data = random_data(n, (3,) * 12, seed=6)
    sizes = np.full(12, 3, np.int64)
    rows = Rows(tuple(data.codes[name] for name in data.columns), sizes)
    weighted = Rows(rows.columns, sizes, np.ones(n, np.int64))

    def per_row(target: Rows, k: int) -> float:
        jobs = Jobs.of([range(k)], sizes)
        target.count(jobs, 1, 0)
        return best(lambda: target.count(jobs, 1, 0)) / n * 1e9

    two, six = per_row(rows, 2), per_row(rows, 6)
    stage = (six - two) / 4
    print(f"stage = {stage:.3f} (now {COSTS.stage})\ncount = {two - 2 * stage:.3f} (now {COSTS.count})")
    print(f"count_weighted = {per_row(weighted, 6) - 6 * stage:.3f} (now {COSTS.count_weighted})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--toy", action="store_true", help="a thousandth: only to see that it runs")
    parser.add_argument("--alarm", type=Path, help="a .bif file; without it an alarm-sized random table")
    parser.add_argument("--calibrate", action="store_true")
    options = parser.parse_args()
    print(
        f"{platform.machine()}, {processors()} cores, Python {platform.python_version()}, numba {nb.__version__}"
    )
    if options.calibrate:
        calibrate()
        return
    scale, seconds = (1000, 0.01) if options.toy else (10, 1.0) if options.quick else (1, 6.0)
    warm = dc.networks.load("asia").sample(20_000, seed=0)
    MemoryCounts(warm).tables(all_requests(warm.columns, 2))
    wide = random_data(20_000, (2, 3, 4) * 12, seed=0)
    for _ in range(3):
        MemoryCounts(wide).tables(conditional_requests(wide.columns, 2, 200, seed=0))
    asia = dc.networks.load("asia")
    data = asia.sample(1_000_000 // scale, seed=1)
    compare("asia, every pair given 0 to 3 others", data, all_requests(data.columns, 3), seconds)
    large = asia.sample(10_000_000 // scale, seed=2)
    thousand = conditional_requests(large.columns, 3, 1000, seed=3)
    once = best(lambda: MemoryCounts(large).tables(thousand), 7)
    print(f"\nasia, {large.n:,} rows: 1,000 tables in {once * 1e3:.1f} ms, compression included")
    if options.alarm:
        data = dc.networks.read_bif(options.alarm).sample(100_000 // scale, seed=4)
        label = options.alarm.stem
    else:
        sizes = np.random.default_rng(7).integers(2, 5, 37).tolist()
        data, label = random_data(100_000 // scale, sizes, seed=4), "alarm-sized random table"
    triples = [
        request[:3] for request in conditional_requests(data.columns, 2, 4000, seed=8) if len(request) > 2
    ]
    compare(f"{label}, 1,000 random triples", data, triples[:1000], seconds)
    single_tables(10_000_000 // scale)


if __name__ == "__main__":
    main()
