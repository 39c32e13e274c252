"""What small inputs are computed by before numba is loaded gives the same as the compiled kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dpcausal.counts.protocol import Jobs
from dpcausal.counts.rows import Rows
from dpcausal.stats.kendall import kendall_terms
from dpcausal.stats.value_ranks import rank_statistics, ranked

SIZES = np.array([2, 3, 5, 300], np.int64)
WANTED = [(), (0,), (3,), (1, 0), (0, 1, 2), (2, 3)]


@pytest.mark.parametrize("rows", [0, 1, 2000])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_are_the_same(rows: int, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    columns = tuple(
        rng.integers(0, size, rows).astype(np.uint8 if size <= 256 else np.uint16) for size in SIZES.tolist()
    )
    weight = rng.integers(1, 9, rows) if weighted else np.empty(0, np.int64)
    held = Rows(columns, SIZES, weight)
    jobs = Jobs.of(WANTED, SIZES)
    import numba  # noqa: F401  # from here on the kernels are taken

    assert not held.is_quick(jobs)
    assert held.count_plainly(jobs).tolist() == held.count(jobs, 1, 0.0).tolist()


PLAIN = """
import sys
import numpy as np
from dpcausal.stats.kendall import kendall_terms
blocks = np.random.default_rng(5).integers(0, 40, (6, 3, 4))
value, variance = kendall_terms(blocks)
from dpcausal.stats.value_ranks import rank_statistics, ranked
rng = np.random.default_rng(6)
x, y, block = rng.integers(0, 90, 3000), rng.standard_normal(3000), np.sort(rng.integers(0, 40, 3000))
found = np.concatenate(rank_statistics(ranked(x), ranked(y), block, 40), axis=None)
assert "numba" not in sys.modules
print(value.tobytes().hex(), variance.tobytes().hex(), found.tobytes().hex())
"""


def test_a_kernel_that_runs_as_it_stands_gives_the_same_bits() -> None:
    done = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True)
    import numba  # noqa: F401

    blocks = np.random.default_rng(5).integers(0, 40, (6, 3, 4))
    value, variance = kendall_terms(blocks)
    rng = np.random.default_rng(6)
    x, y, block = rng.integers(0, 90, 3000), rng.standard_normal(3000), np.sort(rng.integers(0, 40, 3000))
    found = np.concatenate(rank_statistics(ranked(x), ranked(y), block, 40), axis=None)
    assert found.shape == (4,)
    assert done.stdout.split() == [value.tobytes().hex(), variance.tobytes().hex(), found.tobytes().hex()]


MANY = """
import sys
import numpy as np
from dpcausal.core.compiled import PLAIN_IN_ALL
from dpcausal.stats.kendall import kendall_terms
blocks = np.random.default_rng(5).integers(0, 40, (64, 2, 4))
for done in range(0, PLAIN_IN_ALL, blocks.size):
    first = kendall_terms(blocks)
    assert "numba" not in sys.modules, done
last = kendall_terms(blocks)
assert "numba" in sys.modules
print(all(a.tobytes() == b.tobytes() for a, b in zip(first, last)))
"""


def test_a_kernel_is_compiled_after_much_work() -> None:
    """Thousands of small questions do not run as slowly as the first few."""
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
