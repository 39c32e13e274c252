"""Compiled kernels: a decorator over numba, whether a kernel is compiled, and two machine operations that numba lacks.

Columns are passed to kernels as addresses, so that one compiled kernel serves any number of columns of one or two bytes
a row without copying them into a matrix.

Kernels that call each other must be in one file: numba notices a changed callee only there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits of a 64-bit word (LLVM ``ctpop``)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """Return an integer address as a pointer, for ``numba.carray``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.uint64), generate
