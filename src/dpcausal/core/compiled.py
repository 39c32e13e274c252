"""Compiled kernels: one decorator over numba, which is imported when a kernel is first called.

``jit`` compiles a function to machine code without the interpreter lock and keeps the result on disk. Importing numba
takes longer than many commands do, so a decorated function stays a thin wrapper until its first call (unless numba is
loaded already). Kernels that
call each other must be in one file: numba notices a changed callee only there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from pathlib import Path
from types import CodeType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

COMPILING_ONCE = " (compiling, once)"


class Kernel:
    """A function that is compiled by numba when it is first called.

    Parameters
    ----------
    function
        The Python function. Other kernels that it calls by their global name are compiled with it.
    options
        Options of ``numba.njit`` besides ``nogil`` and ``cache``.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options
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
        return numba.njit(nogil=True, cache=True, **self._options)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


def _is_compiled(dispatcher: Any) -> bool:
    """Whether it is loaded, or kept from an earlier run; True where numba does not tell."""
    try:
        return bool(dispatcher.signatures) or Path(dispatcher._cache._cache_file._index_path).exists()
    except AttributeError:
        return True


def _global_names(code: CodeType) -> set[str]:
    """Every global name that ``code`` and the functions within it mention."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_global_names, inner))


def jit(**options: Any) -> Callable[[F], F]:
    """Return a decorator that makes a function a ``Kernel``.

    >>> Kernel(lambda x: 2 * x, {}).py_func(21)
    42
    """

    def decorate(function: F) -> F:
        kernel = Kernel(function, options)
        return cast(F, kernel.dispatcher if "numba" in sys.modules else kernel)

    return decorate


def compile_note(*kernels: Any) -> str:
    """Return a remark for a progress bar where some kernel has still to be compiled, else an empty string.

    It says something about this machine, not about any row; nothing else may depend on it.
    """
    dispatchers = [kernel.dispatcher if isinstance(kernel, Kernel) else kernel for kernel in kernels]
    return "" if all(map(_is_compiled, dispatchers)) else COMPILING_ONCE
