"""Options of ``dpcausal discover`` for a long table of persons and codes, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.options import path
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.data.codes import CodeTable

CodesFile = Annotated[
    Path | None,
    typer.Option(
        "--codes",
        help="The file is a long table of persons and codes: use the codes that this file lists, one a line "
        "(E11* is every code that begins with E11).",
        metavar="FILE",
        parser=path,
    ),
]
CodeName = Annotated[
    str | None, typer.Option("--code", help="Column with the code, with --codes.", metavar="COLUMN")
]
People = Annotated[
    str | None,
    typer.Option(
        "--people",
        help="With --codes: how many persons there are, or a file with a row for each.",
        metavar="N|FILE",
    ),
]


def read_code_files(
    data: Path | None, codes: Path, given: Mapping[str, Any], schema: Path | None, others: Mapping[str, Any]
) -> CodeTable:
    """Read a long table as the options say; refuse options that do not go with it.

    ``given`` are ``unit``, ``code`` and ``people``, ``encoding`` and ``sheet``; ``others``: options by their names
    that can't go with codes.
    """
    import dpcausal as dc
    from dpcausal.data.codes import codes_of_file

    for name, value in others.items():
        if value:
            raise InputError(f"{name} does not go with --codes")
    if data is None:
        raise InputError("--codes needs a file: a long table of persons and codes")
    for name in ("unit", "code", "people"):
        if given[name] is None:
            raise InputError(f"--codes needs --{name}, too")
    number = given["people"].replace("_", "").replace(",", "")
    people = int(number) if number.isdecimal() else Path(given["people"])
    declared = None if schema is None else dc.Schema.from_toml(schema)
    if declared is not None and isinstance(people, int):
        raise InputError("--schema declares columns of persons: give --people a file that has them")
    return dc.read_codes(
        data,
        codes_of_file(codes),
        unit=given["unit"],
        code=given["code"],
        people=people,
        schema=declared,
        encoding=given["encoding"],
        sheet=given["sheet"],
    )
