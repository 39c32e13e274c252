"""One pass over the bytes of a .bim file: where lines end, and whether all have the plain form."""

from __future__ import annotations

from typing import Any

import numba as nb

_JIT = {"nogil": True, "cache": True}
TAB, NEWLINE, RETURN, BLANK, MINUS, ZERO, NINE = 9, 10, 13, 32, 45, 48, 57


@nb.njit(**_JIT)
def find_lines(text: Any, ends: Any) -> bool:
    """Fill ``ends`` with the places of all line breaks.

    True if every line has six columns by tabs, none empty, no blank, and a whole number as the fourth.
    """
    column, width, k, plain = 0, 0, 0, True
    for i in range(text.shape[0]):
        c = text[i]
        if c > BLANK:
            if column == 3 and (c < ZERO or c > NINE) and (c != MINUS or width > 0):
                plain = False
            width += 1
        elif c == TAB:
            plain &= width > 0
            column, width = column + 1, 0
        elif c == NEWLINE:
            plain &= column == 5 and width > 0
            ends[k] = i
            k, column, width = k + 1, 0, 0
        else:
            plain = False
    return plain
