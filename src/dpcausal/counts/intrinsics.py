"""Two machine operations that numba does not offer: population count, and a column at an address.

Columns are passed as addresses so that one compiled kernel serves any number of columns, of one or two bytes
a row, without copying them into a matrix first.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


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
