"""Write Bayesian networks to .bif files that ``bif`` and other programs read."""

from __future__ import annotations

import os
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.networks.network import Network, Variable

_PLAIN = re.compile(r"[^\W]([^\s,;{}()\[\]|\"\\/])*")


def write_bif(network: Network, path: str | os.PathLike[str]) -> None:
    """Write ``network`` to ``path``. ``InputError`` when the file can't be written."""
    try:
        Path(path).write_text(format_bif(network), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {path}: {error}") from None


def format_bif(network: Network) -> str:
    """The .bif text of ``network``: probabilities with all their digits, one row per configuration of
    parents.

    Names with blanks or punctuation are quoted. Whether levels are ordered has no place in the format and
    is lost.

    >>> from dpcausal.networks import load
    >>> print(format_bif(load("asia")).split("probability")[-1], end="")
     ( dysp | bronc, either ) {
      (yes, yes) 0.9, 0.1;
      (yes, no) 0.8, 0.2;
      (no, yes) 0.7, 0.3;
      (no, no) 0.1, 0.9;
    }
    """
    lines = [f"network {_name(network.name)} {{", "}"]
    for variable in network:
        levels = ", ".join(map(_name, variable.levels))
        lines += [
            f"variable {_name(variable.name)} {{",
            f"  type discrete [ {variable.size} ] {{ {levels} }};",
            "}",
        ]
    for variable in network:
        given = f" | {', '.join(map(_name, variable.parents))}" if variable.parents else ""
        lines += [f"probability ( {_name(variable.name)}{given} ) {{", *_rows(network, variable), "}"]
    return "\n".join(lines) + "\n"


def _rows(network: Network, variable: Variable) -> list[str]:
    rows = variable.table.reshape(-1, variable.size).tolist()
    if not variable.parents:
        return [f"  table {', '.join(map(repr, rows[0]))};"]
    settings = product(*(network[parent].levels for parent in variable.parents))
    return [
        f"  ({', '.join(map(_name, levels))}) {', '.join(map(repr, row))};"
        for levels, row in zip(settings, rows, strict=True)
    ]


def _name(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
