"""Compiled kernels: one decorator over numba, which is imported when a kernel is first called.

``jit`` compiles a function to machine code without the interpreter lock and keeps the result on disk. Importing numba
takes longer than many commands do, so a decorated function stays a thin wrapper until its first call (unless numba is
loaded already), and small work is done without it: ``plainly`` and ``can_wait`` below. Kernels that call each other
must be in one file: numba notices a changed callee only there.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

COMPILING_ONCE = " (compiling, once)"


FEW_CELLS = 512  # a loop over so many takes a few milliseconds without being compiled


FEW_ROWS = 4096  # a merge sort of so many takes a tenth of a second without being compiled
FEW_CALLS = 3072  # that numpy may do in a kernel's place: three quarters of a second, as loading numba takes
PLAIN_IN_ALL = (
    65_536  # cells or rows of all calls that a kernel runs as it stands: about a second, as loading numba
)


def few_cells(table: Any, *_: Any) -> bool:
    """Return whether a table is so small that it need not be compiled for: by its shape, which is public."""
    return bool(table.size <= FEW_CELLS)


def few_rows(rows: Any, *_: Any) -> bool:
    """Return whether there are so few rows that it need not be compiled for."""
    return bool(len(rows) <= FEW_ROWS)


class Late:
    """A global name of kernels that only numba can make: made when a kernel that mentions it is compiled."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def made(self) -> Any:
        """What stands for the name in compiled code."""
        return self._make()


def _loaded() -> Any:
    import numba as loaded

    return loaded


numba: Any = Late(_loaded)  # for kernels that name its types


class Kernel:
    """A function that is compiled by numba when it is first called.

    Parameters
    ----------
    function
        The Python function. Other kernels that it calls by their global name are compiled with it.
    options
        Options of ``numba.njit`` besides ``nogil`` and ``cache``.
    plainly
        For which arguments the function is run as it stands, as long as it is not compiled: loading numba takes longer
        than a loop over few cells. It must look at shapes alone, which are public. Once the first arguments of such
        calls have had ``PLAIN_IN_ALL`` elements together, it is compiled all the same.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        options: dict[str, Any],
        plainly: Callable[..., bool] | None = None,
    ) -> None:
        self.py_func, self._options, self._plainly = function, options, plainly
        self.waited, self._done_plainly = 0, 0
        update_wrapper(self, function)

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher; compiled for the types of a call when that call is made."""
        import numba

        scope = self.py_func.__globals__
        for name in _global_names(self.py_func.__code__):
            called = scope.get(name)
            if isinstance(called, Kernel) and called is not self:
                scope[name] = called.dispatcher
            elif isinstance(called, Late):
                scope[name] = called.made
        return numba.njit(nogil=True, cache=True, **self._options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        if getattr(_running, "plainly", False):  # called by a kernel that runs as it stands
            return self.py_func(*arguments)
        loaded = "numba" in sys.modules or self._done_plainly >= PLAIN_IN_ALL
        if self._plainly is None or loaded or not self._plainly(*arguments):
            return self.dispatcher(*arguments)
        self._done_plainly += arguments[0].size
        _running.plainly = True
        try:
            return self.py_func(*arguments)
        finally:
            _running.plainly = False


_running = threading.local()


def can_wait(kernel: Any) -> bool:
    """Return whether numpy had better do this call: numba is not loaded, and there were ``FEW_CALLS`` at most.

    Who asks has a function in numpy with the same value, and calls it where this says so.
    """
    if "numba" in sys.modules or not isinstance(kernel, Kernel) or kernel.waited >= FEW_CALLS:
        return False
    kernel.waited += 1
    return True


def _is_compiled(kernel: Any) -> bool:
    """Whether it is loaded, or kept from an earlier run; True where nobody can tell without loading numba."""
    if isinstance(kernel, Kernel) and "numba" not in sys.modules:
        source = Path(kernel.py_func.__code__.co_filename)
        folder, name = source.parent / "__pycache__", f"{source.stem}.{kernel.py_func.__qualname__}-*.nbi"
        elsewhere = "NUMBA_CACHE_DIR" in os.environ or not os.access(source.parent, os.W_OK)
        return elsewhere or any(folder.glob(name))
    dispatcher = kernel.dispatcher if isinstance(kernel, Kernel) else kernel
    try:
        return bool(dispatcher.signatures) or Path(dispatcher._cache._cache_file._index_path).exists()
    except AttributeError:
        return True


def _global_names(code: CodeType) -> set[str]:
    """Every global name that ``code`` and the functions within it mention."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_global_names, inner))


def jit(*, plainly: Any = None, **options: Any) -> Callable[[F], F]:
    """Return a decorator that makes a function a ``Kernel``; ``plainly`` as there.

    >>> Kernel(lambda x: 2 * x, {}).py_func(21)
    42
    """

    def decorate(function: F) -> F:
        kernel = Kernel(function, options, plainly)
        return cast(F, kernel.dispatcher if "numba" in sys.modules else kernel)

    return decorate


def compile_note(*kernels: Any) -> str:
    """Return a remark for a progress bar where some kernel has still to be compiled, else an empty string.

    It says something about this machine, not about any row; nothing else may depend on it.
    """
    return "" if all(map(_is_compiled, kernels)) else COMPILING_ONCE
