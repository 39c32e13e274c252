"""Whether kernels were compiled on this machine before: numba does so once, and keeps the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ONCE = " (compiling, once)"


def compiled(*kernels: Any) -> bool:
    """Whether all of these are loaded, or kept from an earlier run; True where numba does not tell.

    Only for what a user is told: nothing else may depend on it.
    """
    try:
        return all(
            kernel.signatures or Path(kernel._cache._cache_file._index_path).exists() for kernel in kernels
        )
    except AttributeError:
        return True


def note(*kernels: Any) -> str:
    """A remark for a progress bar, where some kernel has still to be compiled."""
    return "" if compiled(*kernels) else ONCE
