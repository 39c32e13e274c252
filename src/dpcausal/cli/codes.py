"""Options of ``dpcausal discover`` for a long table of persons and codes, and how it is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dpcausal.cli.options import Charge, DeskCharge, Printing, path
from dpcausal.cli.rows import AtDesk, Here, Rows, place_of
from dpcausal.core.errors import InputError
from dpcausal.core.redact import file_name
from dpcausal.present.origin import Code, call_text

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


@dataclass(frozen=True, kw_only=True)
class Codes:
    """The options of a long table of persons and codes."""

    codes: CodesFile = None
    code: CodeName = None
    people: People = None

    def place_of(
        self, rows: Rows, charge: DeskCharge, printing: Printing, *, columns: Sequence[str],
        only_here: Mapping[str, Any],
    ) -> Here | AtDesk:  # fmt: skip
        """Return where the rows are; a long table is read from a file here."""
        given = {"--code": self.code, "--people": self.people}
        if self.codes is None:
            if any(given.values()):
                raise InputError("--code and --people go with --codes: a file that lists the codes to use")
            return place_of(rows, charge, printing, columns=columns, only_here=only_here)
        takes = ("the file", "--schema", "--unit", "--encoding", "--sheet", "--effect")
        others = {**rows.given(), **only_here, "--columns": columns, "--desk": charge.desk}
        for name, value in others.items():
            if value and name not in takes:
                raise InputError(f"{name} does not go with --codes")
        if rows.data is None:
            raise InputError("--codes needs a file: a long table of persons and codes")
        for name, value in {"--unit": rows.unit, **given}.items():
            if value is None:
                raise InputError(f"--codes needs {name}, too")
        return LongTable(self, rows, charge, printing)


class LongTable(Here):
    """A long table of persons and codes that this process reads."""

    def __init__(self, codes: Codes, rows: Rows, charge: Charge, printing: Printing) -> None:
        super().__init__(rows, charge, printing)
        self.codes = codes

    def refuse_undeclared(self, named: Iterable[str]) -> None:
        """Accept all names: codes are no columns of the file."""

    def python_lines(self) -> list[str]:
        """Return the line of Python that reads the same table, for a report."""
        rows, codes = self.rows, self.codes
        listed = Code(f"open({file_name(str(codes.codes))!r}).read().split()")
        people = str(codes.people)
        named: dict[str, Any] = {"unit": rows.unit, "code": codes.code}
        named |= {"encoding": rows.encoding, "sheet": rows.sheet}
        named["people"] = int(people) if people.isdecimal() else file_name(people)
        named["schema"] = rows.schema and rows.declared_in
        given = {name: value for name, value in named.items() if value is not None}
        return [f"data = {call_text('dc.read_codes', [rows.name, listed], given)}"]

    @cached_property
    def counted(self) -> CodeTable:
        """The table of persons and codes, ready for a question."""
        import dpcausal as dc
        from dpcausal.data.codes import codes_of_file

        rows, number = self.rows, str(self.codes.people).replace("_", "").replace(",", "")
        people = int(number) if number.isdecimal() else Path(str(self.codes.people))
        declared = None if rows.schema is None else dc.Schema.from_toml(rows.schema)
        if declared is not None and isinstance(people, int):
            raise InputError("--schema declares columns of persons: give --people a file that has them")
        return dc.read_codes(
            cast("Path", rows.data),
            codes_of_file(cast("Path", self.codes.codes)),
            unit=str(rows.unit),
            code=str(self.codes.code),
            people=people,
            schema=declared,
            encoding=rows.encoding,
            sheet=rows.sheet,
        )
