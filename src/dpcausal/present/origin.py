"""Where a result came from: the user's own files, the command, and the same call in Python, for "how to reproduce".

A report is made to be shown, so ``core.redact`` takes out folders, who logs in to a ledger with what password, and who
asked.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpcausal.core.redact import ledger_name, shown_words


@dataclass(frozen=True)
class Origin:
    """Where a result came from: what its data are called, the command as it was typed, and the same in Python."""

    data: str
    command: Sequence[str]
    python: str

    def shell(self) -> str:
        """The command that made a result, without secrets.

        >>> Origin("my p.csv", ["dpcausal", "discover", "my p.csv"], "").shell()
        "dpcausal discover 'my p.csv'"
        """
        return shlex.join(shown_words(self.command))


def python_text(
    call: str,
    values: Sequence[Any],
    named: Mapping[str, Any],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> str:
    """Return Python code that makes a result again and writes its report.

    >>> print(python_text("dc.load_release('out').discover", [], {"tiers": [["a"], ["b"]]}))
    import dpcausal as dc
    <BLANKLINE>
    result = dc.load_release('out').discover(tiers=[['a'], ['b']])
    result.report("report.html")
    """
    lines = [*before, f"result = {call_text(call, values, named)}", *after, 'result.report("report.html")']
    return "\n".join(["import dpcausal as dc", "", *lines])


def call_text(call: str, values: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return a call as Python code; a ledger's address is shown without login.

    >>> call_text("dc.read", ["p.csv", Code("schema")], {"sheet": "first"})
    "dc.read('p.csv', schema, sheet='first')"
    """
    shown = {
        name: ledger_name(value) if name == "ledger" and isinstance(value, str) else value
        for name, value in named.items()
    }
    return f"{call}({', '.join([*map(literal, values), *(f'{k}={literal(v)}' for k, v in shown.items())])})"


class Code(str):
    """An expression of Python, not a text."""

    __slots__ = ()


def literal(value: Any) -> str:
    """Return a value as Python code, sets in order and numbers short.

    >>> literal([("a", "b"), frozenset({"d", "c"})]), literal(1e-6)
    ("[('a', 'b'), frozenset({'c', 'd'})]", '1e-06')
    """
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, frozenset):
        return "frozenset({" + ", ".join(map(repr, sorted(value))) + "})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return number(value) if isinstance(value, float) else repr(value)


def number(value: float) -> str:
    """Return a number as the shortest text that reads back as the same number.

    >>> number(1.0), number(1e-6), number(0.1234567)
    ('1', '1e-06', '0.1234567')
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
