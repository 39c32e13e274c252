"""Where the rows of a question are: in a file, at a --source, in a long table of codes, or at a custodian's desk.

A file that is named by itself is read into memory. ``--source FILE`` leaves its rows where they are: DuckDB counts
them, out of core. The user decides by this option, since the two do not answer the same questions: a test on the values
of rows needs rows in memory. The size of a file decides nothing. It follows from the number of rows, which add-remove
protects, and in a file of text from how long their cells are.

``Here`` and ``AtDesk`` answer the same questions by ``ask`` and ``forecast``, so that a command asks in one way. The
token of a desk is in ``DPCAUSAL_TOKEN``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dpcausal.cli.options import (
    AnswerOptions,
    Charge,
    DeskCharge,
    Encoding,
    OptionalFile,
    OptionalSchema,
    Printing,
    Sheet,
    SourceUrl,
    TableName,
    given,
    option_name,
    path,
)
from dpcausal.cli.output import print_forecast, silence_draft_warning, warn_before_charge
from dpcausal.cli.release_dir import print_answer_of
from dpcausal.core.errors import InputError, SchemaError, no_columns
from dpcausal.core.progress import shown
from dpcausal.core.redact import file_name, ledger_name
from dpcausal.present.origin import Code, call_text

if TYPE_CHECKING:
    from dpcausal.counts.engine import EngineCounts
    from dpcausal.counts.stream import StreamCounts
    from dpcausal.data.codes import CodeTable
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.schema import Schema
    from dpcausal.desk.client import RemoteDataset, RemoteRequest

NO_SCHEMA = "Missing option '--schema'. Draft one with: dpcausal schema FILE > schema.toml"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file or a table, and how it is written."""

    data: OptionalFile = None
    source: SourceUrl = None
    table: TableName = None
    encoding: Encoding = None
    sheet: Sheet = None

    def given(self) -> dict[str, Any]:
        """Return the options about the source that were given, by their names."""
        named = given(**{one.name: getattr(self, one.name) for one in fields(self)})
        return {"the file" if name == "data" else option_name(name): named[name] for name in named}

    @property
    def address(self) -> str:
        """The file or the --source; raises ``InputError`` for both, or neither."""
        if self.data is not None and self.source is not None:
            raise InputError(f"give a file or --source, not both: {self.data}")
        if self.data is None and self.source is None:
            raise InputError("name a file with the rows, or --source URL and --table T")
        return str(self.data or self.source)

    def described(self, schema: Schema, columns: Sequence[str] = ()) -> Schema:
        """Return the schema, limited to these columns if any are named, with encoding and sheet as given.

        Undeclared columns of the file are ignored without a warning: ``schema --check`` names them.
        """
        warnings.filterwarnings("ignore", message=".* not in the schema, ignored$", category=UserWarning)
        whole = schema.with_format(encoding=self.encoding, sheet=self.sheet)
        refuse_undeclared(whole, columns, self.data)
        return whole.select(dict.fromkeys(columns)) if columns else whole

    def read(self, schema: Schema, bars: bool) -> Dataset | StreamCounts | EngineCounts:
        """Read the rows of a file into memory, or connect to a source that counts them."""
        import dpcausal as dc
        from dpcausal.counts.connect import is_database

        where = self.address
        if self.data is None or is_database(self.data):
            return dc.connect(where, schema, self.table)
        if self.table is not None:
            raise InputError("--table goes with --source or a .duckdb file; this file is one table")
        return dc.read(self.data, schema, progress=bars)

    def explained(
        self, schema: Schema, requests: list[tuple[str, ...]] | None = None, harmonics: int | None = None
    ) -> str:
        """Return the SQL that would be sent to a source; only names and types of columns are read.

        ``requests`` are the tables that are asked for; with ``harmonics`` it is the SQL of ``moments``.
        """
        from dpcausal.counts.connect import open_counts
        from dpcausal.discovery import moments

        counts = open_counts(self.address, schema, self.table, count=False)
        return counts.explain(requests) if harmonics is None else moments.explained(counts, harmonics)


@dataclass(frozen=True, kw_only=True)
class Rows(Source):
    """A file or a table with its schema, and how many rows of a person are used."""

    schema: OptionalSchema = None
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            help="The column with a person's id, where a person may have several rows: persons are protected.",
        ),
    ] = None
    rows_per_unit: Annotated[
        int | None, typer.Option("--rows-per-unit", help="How many rows of a person are used at most (1).")
    ] = None
    order_by: Annotated[
        str | None,
        typer.Option(
            "--order-by",
            help="Which: first, last, or those with the largest values of this column; else by chance.",
        ),
    ] = None

    def declared(self, columns: Sequence[str] = ()) -> Schema:
        """Return the schema of the rows, of these columns (of all where none is named)."""
        from dpcausal.data.schema import Schema

        if self.schema is None:
            raise InputError(NO_SCHEMA)
        whole = Schema.from_toml(self.schema).with_unit(self.unit, self.rows_per_unit, self.order_by)
        return self.described(whole, columns)

    @property
    def name(self) -> str:
        """What the rows are called where others may read it."""
        where = str(self.source or self.data or "").removeprefix("duckdb:///")
        return ledger_name(where) if "://" in where else file_name(where)

    @property
    def declared_in(self) -> Code:
        """The Python code that reads the schema, by the name of its file."""
        return Code(call_text("dc.Schema.from_toml", [file_name(str(self.schema))], {}))


def refuse_given(options: Mapping[str, Any], why: str) -> None:
    """Raise ``InputError`` if any of these options was given; ``why`` has {} in place of their names."""
    if given := [name for name, value in options.items() if value]:
        raise InputError(why.format(", ".join(given)))


class Here:
    """Rows that this process reads."""

    def __init__(
        self, rows: Rows, charge: Charge, printing: Printing, *, columns: Sequence[str] = (),
        number: int | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.charge, self.printing, self.number = rows, charge, printing, number
        self.columns = columns

    @cached_property
    def schema(self) -> Schema:
        """The declared columns that are used."""
        return self.rows.declared(self.columns)

    @cached_property
    def counted(self) -> Any:
        """The rows, read or connected to at first use."""
        return self.rows.read(self.schema, self.printing.bars)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.counted.n)

    def python_lines(self) -> list[str]:
        """Return the lines of Python that open the same rows, for a report."""
        from dpcausal.counts.connect import DATABASES

        rows, lines, schema = self.rows, [], self.rows.declared_in
        written = given(encoding=rows.encoding, sheet=rows.sheet)
        persons = given(unit=rows.unit, rows_per_unit=rows.rows_per_unit, order_by=rows.order_by)
        if self.columns:
            lines, schema = [f"schema = {schema}.select({list(self.columns)!r})"], Code("schema")
        if rows.source is None and rows.table is None and not rows.name.lower().endswith(DATABASES):
            opened = call_text("dc.read", [rows.name, schema], written | persons)
        else:
            format_ = Code(f"{schema}{call_text('.with_format', [], written)}" if written else schema)
            table = [] if rows.table is None else [rows.table]
            opened = call_text("dc.connect", [rows.name, format_, *table], persons)
        return [*lines, f"data = {opened}"]

    def refuse_undeclared(self, named: Iterable[str]) -> None:
        """Raise ``SchemaError`` for columns that the file has and the schema, or --columns, leave out."""
        whole, names = self.rows.declared(), list(dict.fromkeys(named))
        refuse_undeclared(whole, names, self.rows.data)
        if left := [name for name in names if name in whole and name not in self.schema]:
            raise SchemaError(f"{_these(left)} in the schema but not in --columns: add {_them(left)} there")

    def ask(self, what: str, *values: Any, **asked: Any) -> Any:
        """Call ``dc.discover``, ``dc.ci_test`` or ``dc.effect`` on the rows, charged to the ledger."""
        import dpcausal as dc

        rows, bars = self.counted, self.printing.bars
        asked |= {"ledger": self.charge.ledger, "dataset": self.charge.dataset}
        with warn_before_charge(self.rows.data, self.charge):
            if what == "discover":
                return dc.discover(rows, progress=bars, **asked)
            with shown({"ci_test": "testing", "effect": "measuring"}[what], None, bars):
                return getattr(dc, what)(rows, *values, **asked)

    def forecast(self, what: str, *values: Any, **asked: Any) -> Any:
        """Return the forecast of a question, from the rows or, without any, from their number."""
        import dpcausal as dc

        known = self.rows.data is not None or self.rows.source is not None
        rows = self.counted if known else self.schema
        return getattr(dc, f"forecast_{what}")(rows, *values, rows=self.number, **asked)


class AtDesk:
    """Rows at a custodian's desk, which knows how the tables are neighbours."""

    def __init__(self, remote: RemoteDataset, purpose: str | None, bars: bool) -> None:
        self.remote = remote
        remote.on_request = _say_where
        self.more: dict[str, Any] = {"purpose": purpose, "progress": bars}
        self.schema, self.n = remote.schema, remote.n

    def refuse_undeclared(self, named: Iterable[str]) -> None:
        """Accept all names: the file is at the desk, which refuses by itself."""

    def ask(self, what: str, *values: Any, **asked: Any) -> Any:
        """Send a question to the desk, wait, and return its answer."""
        if what == "effect" and not isinstance(values[1], str):
            raise InputError(
                "a desk takes --outcome: a follow-up (--time, --event) is asked where the rows are"
            )
        return getattr(self.remote, what)(*values, **self.more, **self._sent(asked))

    def forecast(self, what: str, *values: Any, **asked: Any) -> Any:
        """Return the forecast of a question, computed on this machine."""
        return getattr(self.remote, f"forecast_{what}")(*values, **self._sent(asked))

    @staticmethod
    def _sent(asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a question as the desk expects them: with epsilon, without neighbours."""
        sent = {"epsilon": None, **asked}
        sent.pop("neighbours", None)
        return sent


def _say_where(request: RemoteRequest) -> None:
    """Print on standard error where a question can be found again, so that it need not be asked twice."""
    state = "waits for approval" if request.state == "waiting" else "is approved and charged"
    where = f"{request.desk.url}/requests/{request.id}"
    typer.echo(f"dpcausal: the question {state}; Ctrl-C ends the wait, not the question: {where}", err=True)


def at_desk(
    url: str, dataset: str | None, unused: Mapping[str, Any], purpose: str | None = "free"
) -> RemoteDataset:
    """Return the data set at a desk; refuse options that go with a file here, by their names in ``unused``."""
    refuse_given(unused, "with --desk the custodian has the rows: leave out {}")
    if dataset is None:
        raise InputError("name the data set at the desk: --dataset NAME")
    if not purpose:
        raise InputError("a desk records what a question is for: --purpose TEXT")
    from dpcausal.desk.client import remote

    return remote(url)[dataset]


def place_of(
    rows: Rows, charge: DeskCharge, printing: Printing, *, free: bool = False, columns: Sequence[str] = (),
    number: int | None = None, only_here: Mapping[str, Any],
) -> Here | AtDesk:  # fmt: skip
    """Return where questions about the rows are answered: here, or at a desk.

    ``free``: the question is a forecast, so a desk needs no purpose. ``columns``: those to use. ``number``: how many
    rows there will be, for a forecast without any. ``only_here``: other options that a desk does not take.
    """
    if number is not None and not (free and rows.data is None and rows.source is None):
        raise InputError(
            "--rows goes with --forecast and without a file or --source, not both: rows are counted there"
        )
    if charge.desk is None:
        return Here(rows, charge, printing, columns=columns, number=number)
    unused = {**rows.given(), "--ledger": charge.ledger, "--person": charge.person, **only_here}
    remote = at_desk(charge.desk, charge.dataset, unused, "free" if free else charge.purpose)
    return AtDesk(remote, charge.purpose, printing.bars)


def answered(
    place: Here | AtDesk, what: str, values: Sequence[Any], asked: Mapping[str, Any], options: AnswerOptions,
    charge: Charge, printing: Printing,
) -> Any:  # fmt: skip
    """Ask a question, print its answer, write its files and return it; print a forecast where only that is wanted.

    ``what``: the function of the library, to which ``values`` and ``asked`` are passed. A forecast returns None.
    """
    if not options.no_privacy and not printing.as_json:
        silence_draft_warning()
    if options.forecast:
        found = place.forecast(what, *values, **asked, **given(share=options.share))
        print_forecast(found, charge, printing.as_json)
        return None
    refuse_given({"--share": options.share}, "{}: only with --forecast")
    return print_answer_of(lambda: place.ask(what, *values, **asked), options.out, printing)


def refuse_undeclared(schema: Schema, named: Iterable[str], data: Path | None) -> None:
    """Raise ``SchemaError`` for named columns that the file has and the schema does not declare.

    Names of columns are public. Without a file that can be opened, nothing is refused here.
    """
    names = [name for name in dict.fromkeys(named) if name not in schema]
    if not names or data is None:
        return
    from dpcausal.data.sources import open_source

    try:
        there = open_source(data, list(schema), format=schema.format).names
    except InputError:
        return
    found = [name for name in names if name in there]
    if not found:
        return
    unknown = [name for name in names if name not in there]
    also = f"; {no_columns(unknown, schema)}" if unknown else ""
    raise SchemaError(
        f"{_these(found)} in {data.name} but not in the schema: declare {_them(found)} there{also}"
    )


def _these(names: list[str]) -> str:
    """Return the names of columns with their verb, for an error.

    >>> _these(["a"]), _these(["a", "b"])
    ('column "a" is', 'columns "a", "b" are')
    """
    listed = ", ".join(f'"{name}"' for name in names)
    return f"column {listed} is" if len(names) == 1 else f"columns {listed} are"


def _them(names: list[str]) -> str:
    """Return the pronoun for these names: "it" for one, else "them"."""
    return "it" if len(names) == 1 else "them"


def table_of_rows(
    source: str | None, table: str | None, schema: Schema, neighbours: str
) -> StreamCounts | EngineCounts:
    """Return a table that can count its rows; refuse any relation but replace-one, where their number is not public."""
    from dpcausal.counts.connect import open_counts

    if source is None:
        raise InputError("say how many rows there will be: --rows N, or --source URL and --table T")
    if neighbours != "replace-one":
        raise InputError(f"under {neighbours} the number of rows is protected: give --rows, a guess")
    return open_counts(source, schema, table, count=False)


# ---- a long table of persons and codes


@dataclass(frozen=True, kw_only=True)
class Codes:
    """The options of a long table of persons and codes."""

    codes: Annotated[
        Path | None,
        typer.Option(
            "--codes",
            help="The file is a long table of persons and codes: use the codes that this file lists, one a line "
            "(E11* is every code that begins with E11).",
            metavar="FILE",
            parser=path,
        ),
    ] = None
    code: Annotated[
        str | None, typer.Option("--code", help="Column with the code, with --codes.", metavar="COLUMN")
    ] = None
    people: Annotated[
        str | None,
        typer.Option(
            "--people",
            help="With --codes: how many persons there are, or a file with a row for each.",
            metavar="N|FILE",
        ),
    ] = None

    def place_of(
        self, rows: Rows, charge: DeskCharge, printing: Printing, *, columns: Sequence[str],
        only_here: Mapping[str, Any],
    ) -> Here | AtDesk:  # fmt: skip
        """Return where the rows are; a long table is read from a file here."""
        own = {"--code": self.code, "--people": self.people}
        if self.codes is None:
            if any(own.values()):
                raise InputError("--code and --people go with --codes: a file that lists the codes to use")
            return place_of(rows, charge, printing, columns=columns, only_here=only_here)
        takes = ("the file", "--schema", "--unit", "--encoding", "--sheet", "--effect")
        others = {**rows.given(), **only_here, "--columns": columns, "--desk": charge.desk}
        for name, value in others.items():
            if value and name not in takes:
                raise InputError(f"{name} does not go with --codes")
        if rows.data is None:
            raise InputError("--codes needs a file: a long table of persons and codes")
        for name, value in {"--unit": rows.unit, **own}.items():
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
        return [f"data = {call_text('dc.read_codes', [rows.name, listed], given(**named))}"]

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
