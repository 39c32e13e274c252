"""The command that asks ``discover`` for the same again, for its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpcausal.report.origin import Origin, file_name, ledger_name, number

USUAL = {"delta": 0.0, "method": "auto", "level": 0.05, "neighbours": "replace-one", "confidence": 0}


def origin_of(
    data: Path, schema: Path, out: Path, options: Mapping[str, Any], texts: Mapping[str, list[str]]
) -> Origin:
    """``options`` by their names in Python; ``texts``, how those were written that take more than a word.

    What is as usual is left out.

    >>> found = origin_of(Path("p.csv"), Path("s.toml"), Path("out"), {"epsilon": 1.0, "delta": 0.0}, {})
    >>> found.shell()
    'dpcausal discover p.csv --schema s.toml --epsilon 1 --out out'
    """
    given = {name: value for name, value in options.items() if value not in (None, [], USUAL.get(name))}
    if "ledger" in given:
        given["ledger"] = ledger_name(str(given["ledger"]))
    rows, declared = file_name(str(data)), file_name(str(schema))
    words = ["dpcausal", "discover", rows, "--schema", declared]
    for name, value in given.items():
        for text in texts.get(name, [number(value) if isinstance(value, float) else str(value)]):
            words += ["--" + name.replace("_", "-"), text]
    arguments = {"epsilon": None, **given}
    return Origin(rows, declared, [*words, "--out", file_name(str(out))], arguments)
