"""Where a report's data came from: the user's own files and call, for "how to reproduce".

A report is made to be shown. ``file_name`` and ``ledger_name`` take out what is nobody's business: the folders of an
absolute path, and who logs in to a ledger with what password.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpcausal.core.redact import ledger_name


@dataclass(frozen=True)
class Origin:
    """The files as they may be shown, the words of the command, and its arguments by their names in Python.

    ``reading`` has the arguments of ``dc.read``, and ``columns`` where only some of them were used.
    """

    data: str
    schema: str
    command: Sequence[str]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    table: str = ""  # on an engine; ``data`` is its address then
    connected: bool = False  # counted where it is, by ``dc.connect``

    def shell(self) -> str:
        """The command.

        >>> Origin("my p.csv", "s.toml", ["dpcausal", "discover", "my p.csv"]).shell()
        "dpcausal discover 'my p.csv'"
        """
        return shlex.join(ledger_name(word) if "://" in word else word for word in self.command)

    def python(self, method: str) -> str:
        """The same call in Python, with the method that was really used.

        >>> found = Origin("p.csv", "s.toml", [], {"epsilon": 1.0}, {"columns": ["a", "b"], "encoding": "latin-1"})
        >>> print("\\n".join(found.python("measured").splitlines()[2:4]))
        schema = dc.Schema.from_toml('s.toml').select(['a', 'b'])
        data = dc.read('p.csv', schema, encoding='latin-1')
        >>> print(Origin("clinic.duckdb", "s.toml", []).python("measured").splitlines()[2])
        data = dc.connect('clinic.duckdb', dc.Schema.from_toml('s.toml'))
        >>> print(Origin("p.csv", "s.toml", [], reading={"encoding": "latin-1"}, connected=True).python("measured"))
        import dpcausal as dc
        <BLANKLINE>
        data = dc.connect('p.csv', dc.Schema.from_toml('s.toml').with_format(encoding='latin-1'))
        result = dc.discover(data, method='measured')
        result.report("report.html")
        """
        named = {**self.arguments, "method": method}
        if isinstance(ledger := named.get("ledger"), str):
            named["ledger"] = ledger_name(ledger)
        given = ", ".join(f"{name}={literal(value)}" for name, value in named.items())
        schema = f"dc.Schema.from_toml({self.schema!r})"
        reading = [f"{name}={value!r}" for name, value in self.reading.items() if name != "columns"]
        first = ""
        if "columns" in self.reading:
            first, schema = f"schema = {schema}.select({self.reading['columns']!r})\n", "schema"
        if self.connected or self.table or self.data.lower().endswith((".duckdb", ".ddb")):
            format_ = f".with_format({', '.join(reading)})" if reading else ""
            table = f", {self.table!r}" if self.table else ""
            opened = f"dc.connect({self.data!r}, {schema}{format_}{table})"
        else:
            opened = f"dc.read({', '.join([repr(self.data), schema, *reading])})"
        return (
            "import dpcausal as dc\n\n"
            f"{first}data = {opened}\n"
            f"result = dc.discover(data, {given})\n"
            + "".join(f"print(result.effect({a!r}, {b!r}))\n" for a, b in self.arguments.get("effect", ()))
            + 'result.report("report.html")'
        )


@dataclass(frozen=True)
class AgainOrigin(Origin):
    """Of a graph that was computed from a release: its file stands where data and schema do."""

    release: str = ""

    def python(self, method: str) -> str:
        """The same call in Python; the release knows the method.

        >>> print(AgainOrigin("", "", [], {"tiers": [["a"], ["b"]]}, release="out").python("measured"))
        import dpcausal as dc
        <BLANKLINE>
        result = dc.load_release('out').discover(tiers=[['a'], ['b']])
        result.report("report.html")
        """
        given = ", ".join(f"{name}={literal(value)}" for name, value in self.arguments.items())
        return (
            "import dpcausal as dc\n\n"
            f"result = dc.load_release({self.release!r}).discover({given})\n"
            'result.report("report.html")'
        )


def literal(value: Any) -> str:
    """As Python writes it, sets in order and numbers short.

    >>> literal([("a", "b"), frozenset({"d", "c"})]), literal(1e-6)
    ("[('a', 'b'), frozenset({'c', 'd'})]", '1e-06')
    """
    if isinstance(value, frozenset):
        return "frozenset({" + ", ".join(map(repr, sorted(value))) + "})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return number(value) if isinstance(value, float) else repr(value)


def number(value: float) -> str:
    """As short as it can be and still the same number.

    >>> number(1.0), number(1e-6), number(0.1234567)
    ('1', '1e-06', '0.1234567')
    """
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)
