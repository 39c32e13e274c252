"""Whether the counting kernels were compiled on this machine before: numba does so once, and keeps the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def compiled() -> bool:
    """Whether a compiled kernel is kept, or loaded; True where numba does not tell. Only for what a user is told."""
    from dpcausal.counts.kernels.staged import count_jobs

    kernel: Any = count_jobs
    try:
        return bool(kernel.signatures) or Path(kernel._cache._cache_file._index_path).exists()
    except AttributeError:
        return True
