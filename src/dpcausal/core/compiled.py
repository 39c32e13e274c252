"""Compiled kernels: one decorator over numba, and whether a kernel has still to be compiled.

Kernels that call each other must be in one file: numba notices a changed callee only there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

COMPILING_ONCE = " (compiling, once)"


def jit(**options: Any) -> Callable[[F], F]:
    """Return a decorator that compiles a function to machine code that runs without the interpreter lock.

    A function is compiled when it is first called, and the result is stored on disk for later processes, unless no
    folder for it can be written to. ``options`` are those of ``numba.njit`` besides ``nogil`` and ``cache``.

    >>> jit()(lambda x: 2 * x).py_func(21)
    42
    """

    def decorate(function: F) -> F:
        try:
            return cast(F, numba.njit(nogil=True, cache=True, **options)(function))
        except RuntimeError:  # no such folder
            return cast(F, numba.njit(nogil=True, **options)(function))

    return decorate


def _is_compiled(kernel: Any) -> bool:
    """Return whether a kernel is compiled, in this process or on disk; True where numba does not report it."""
    try:
        return bool(kernel.signatures) or Path(kernel._cache._cache_file._index_path).exists()
    except AttributeError:
        return True


def compile_note(*kernels: Any) -> str:
    """Return a remark for a progress bar where some kernel has still to be compiled, else an empty string.

    It says something about this machine, not about any row; nothing else may depend on it.
    """
    return "" if all(map(_is_compiled, kernels)) else COMPILING_ONCE
