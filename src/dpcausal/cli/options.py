"""The options that commands share, and the schema and the rows that they name.

A file that is named by itself is read into memory. ``--source FILE`` leaves its rows where they are: DuckDB counts
them, out of core. The user decides by this option, since the two do not answer the same questions: a test on the values
of rows needs rows in memory. The size of a file decides nothing. It follows from the number of rows, which add-remove
protects, and in a file of text from how long their cells are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.core.errors import InputError, SchemaError, no_columns

if TYPE_CHECKING:
    from dpcausal.counts.engine import EngineCounts
    from dpcausal.counts.stream import StreamCounts
    from dpcausal.data.dataset import Dataset
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.knowledge import Edge


def path(text: str | Path) -> Path:
    """Return a path; refuse an empty one.

    >>> path("out").name
    'out'
    """
    if not str(text).strip():
        raise typer.BadParameter("it is empty; name a file or a directory")
    return Path(text)


DataFile = Annotated[
    Path,
    typer.Argument(
        help="A .csv, .tsv, .parquet, .arrow, .xlsx, .sav, .dta, .sas7bdat or .rds file.", parser=path
    ),
]
SchemaFile = Annotated[
    Path, typer.Option("--schema", help="The schema file (see dpcausal schema).", parser=path)
]
OptionalSchema = Annotated[
    Path | None, typer.Option("--schema", help="The schema file (see dpcausal schema).", parser=path)
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="What it may cost in all; less is safer.")]
Delta = Annotated[
    float, typer.Option("--delta", help="Probability with which the promise may fail; far below 1/rows.")
]
Relation = Annotated[
    str,
    typer.Option(
        "--neighbours",
        help="What one row may change: replace-one (its values; the number of rows is public) or add-remove (whether "
        "it is there; their number is protected).",
        autocompletion=lambda: ["replace-one", "add-remove"],
    ),
]
LedgerUrl = Annotated[str | None, typer.Option("--ledger", help="Charge this ledger first.")]
DatasetName = Annotated[str | None, typer.Option("--dataset", help="Name of the data set there.")]
Person = Annotated[str | None, typer.Option("--person", help="Who asks; kept in the ledger.", metavar="NAME")]
Purpose = Annotated[
    str | None, typer.Option("--purpose", help="What for; kept in the ledger.", metavar="TEXT")
]
Full = Annotated[
    bool,
    typer.Option("--full", help="Print everything: every pair, the method, the whole privacy statement."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
NoPrivacy = Annotated[bool, typer.Option("--no-privacy", help="The classical answer, not private.")]
AnswerDir = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Also write answer.json and privacy.json here; earlier ones are kept, in DIR/earlier-1 and so on.",
        metavar="DIR",
        parser=path,
    ),
]
Required = Annotated[list[str] | None, typer.Option("--required", help="An arrow a:b, or an edge a--b.")]
Forbidden = Annotated[list[str] | None, typer.Option("--forbidden", help="An arrow a:b, or an edge a--b.")]
Tiers = Annotated[
    list[str] | None,
    typer.Option(
        "--tiers",
        help="Columns in order of time: 'a,b;c' puts a and b before c. No arrow points back; between a and b it may "
        "point either way.",
    ),
]
DirectionLevel = Annotated[
    float | None,
    typer.Option("--direction-level", help="Least chance of an arrow (0.8)."),
]
Confidence = Annotated[
    int | None,
    typer.Option("--confidence", help="How many repeats show how often an edge is found again; no cost."),
]
MaxOrder = Annotated[int | None, typer.Option("--max-order", help="Most columns held fixed at once.")]
ShowOpen = Annotated[
    bool,
    typer.Option("--show-open", help="Show pairs that could not be decided, too: listed, and drawn faint."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encoding of a text file, such as latin-1 or cp850; else as the schema says, or UTF-8.",
        autocompletion=lambda: ["utf-8", "latin-1", "windows-1252", "iso-8859-15", "cp850"],
    ),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of a workbook; else as the schema says, or the first.")
]
UnitColumn = Annotated[
    str | None,
    typer.Option(
        "--unit",
        help="The column with a person's id, where a person may have several rows: persons are protected.",
    ),
]
RowsPerUnit = Annotated[
    int | None, typer.Option("--rows-per-unit", help="How many rows of a person are used at most (1).")
]
OrderBy = Annotated[
    str | None,
    typer.Option(
        "--order-by",
        help="Which: first, last, or those with the largest values of this column; else by chance.",
    ),
]
Columns = Annotated[list[str] | None, typer.Option("--columns", help="Only these columns, with commas.")]
OptionalFile = Annotated[
    Path | None,
    typer.Argument(
        help="A .csv, .tsv, .parquet, .arrow, .xlsx, .sav, .dta, .sas7bdat or .rds file; a .duckdb file; or --source.",
        parser=path,
        show_default=False,
    ),
]
SourceUrl = Annotated[
    str | None,
    typer.Option(
        "--source",
        help="Instead of a file: postgresql://..., spark://..., FILE.duckdb, or a FILE too large for memory.",
        metavar="URL",
    ),
]
TableName = Annotated[str | None, typer.Option("--table", help="The table there: T, or SCHEMA.T.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print the SQL, and send none of it.")]


def parse_names(
    option: str, texts: Sequence[str] | None, instead: str = "leave it out for none"
) -> list[str]:
    """Parse the names of columns of an option that takes commas and may be repeated.

    >>> parse_names("--given", ["age, sex", "bmi"]), parse_names("--given", None)
    (['age', 'sex', 'bmi'], [])
    """
    names = [name.strip() for text in texts or [] for name in text.split(",") if name.strip()]
    if texts and not names:
        raise InputError(f"{option} names no column: {','.join(texts)!r}; {instead}")
    return names


def parse_edges(option: str, texts: list[str] | None) -> list[Edge]:
    """Parse edges: ``a:b`` is the arrow a -> b, ``a--b`` an edge in either direction.

    >>> parse_edges("--required", ["a:b", "c--d"]) == [("a", "b"), frozenset({"c", "d"})]
    True
    """
    edges: list[Edge] = []
    for text in texts or []:
        ends = text.split("--") if "--" in text else text.split(":")
        if len(ends) != 2 or not all(end.strip() for end in ends):
            raise InputError(
                f"{option} takes a:b (an arrow) or a--b (an edge either way round), not {text!r}"
            )
        a, b = (end.strip() for end in ends)
        edges.append(frozenset((a, b)) if "--" in text and a != b else (a, b))
    return edges


def parse_tiers(texts: list[str] | None) -> list[list[str]]:
    """Parse tiers: ``a,b;c`` is the tier a, b before the tier c; a repeated option adds later tiers.

    >>> parse_tiers(["a, b; c"]), parse_tiers(["a", "b,c"]), parse_tiers(None)
    ([['a', 'b'], ['c']], [['a'], ['b', 'c']], [])
    """
    if texts is None:
        return []
    text = ";".join(texts)
    tiers = [[name.strip() for name in tier.split(",") if name.strip()] for tier in text.split(";")]
    if not any(tiers):
        raise InputError(f"--tiers names no column: {text!r}; it takes 'a,b;c': a and b before c")
    return [tier for tier in tiers if tier]


def parse_effects(texts: list[str] | None, reserve: float | None) -> list[tuple[str, str]]:
    """Parse (treatment, outcome) pairs of --effect.

    >>> parse_effects(["a, b"], None), parse_effects(None, None)
    ([('a', 'b')], [])
    """
    found = []
    for text in texts or []:
        ends = [name.strip() for name in text.split(",")]
        if len(ends) != 2 or not all(ends):
            raise InputError(
                f"--effect takes two columns, treatment,outcome, not {text!r}; repeat it for more"
            )
        found.append((ends[0], ends[1]))
    if not found and reserve is not None:
        raise InputError("--reserve is the share of the budget kept for --effect treatment,outcome: name one")
    return found


def option_words(given: Mapping[str, Any], texts: Mapping[str, list[str] | None]) -> list[str]:
    """Return options as words of a command line; ``texts`` has those that the user wrote in a form of its own.

    >>> option_words({"max_order": 2, "latent": True, "tiers": [["a"], ["b"]]}, {"tiers": ["a;b"]})
    ['--max-order', '2', '--latent', '--tiers', 'a;b']
    """
    from dpcausal.present.files import number

    words = []
    for name, value in given.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
            continue
        for text in texts.get(name) or [number(value) if isinstance(value, float) else str(value)]:
            words += [f"--{option}", text]
    return words


def epsilon_of(epsilon: float | None, no_privacy: bool) -> dict[str, float | None]:
    """Return ``epsilon`` as a keyword argument: None for --no-privacy, and no argument where neither option is given.

    >>> epsilon_of(0.5, False), epsilon_of(None, True), epsilon_of(None, False)
    ({'epsilon': 0.5}, {'epsilon': None}, {})
    """
    if no_privacy and epsilon is not None:
        raise InputError("give either --epsilon or --no-privacy, not both")
    return {"epsilon": epsilon} if no_privacy or epsilon is not None else {}


def restrict_schema(
    schema: Schema,
    columns: list[str],
    encoding: str | None,
    sheet: str | None,
    data: Path | None = None,
    asked: Iterable[str] = (),
) -> Schema:
    """Return the schema with the named columns only (all where none is named), encoding and sheet.

    Undeclared columns of the file are ignored without a warning: ``schema --check`` names them. Raises ``SchemaError``
    for a name that is not in the schema; of ``asked``, which other options name, only for those that the file has or
    that ``columns`` leave out.
    """
    warnings.filterwarnings("ignore", message=".* not in the schema, ignored$", category=UserWarning)
    whole = schema.with_format(encoding=encoding, sheet=sheet)
    refuse_undeclared(whole, [*columns, *asked], data)
    if not columns:
        return whole
    part = whole.select(dict.fromkeys(columns))
    left = [name for name in dict.fromkeys(asked) if name in whole and name not in part]
    if left:
        raise SchemaError(f"{_these(left)} in the schema but not in --columns: add {_them(left)} there")
    return part


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
    """List columns with their verb, for an error.

    >>> _these(["a"]), _these(["a", "b"])
    ('column "a" is', 'columns "a", "b" are')
    """
    listed = ", ".join(f'"{name}"' for name in names)
    return f"column {listed} is" if len(names) == 1 else f"columns {listed} are"


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def source_of_rows(data: Path | None, source: str | None) -> str:
    """Return the file or the --source with the rows; raise ``InputError`` for both, or neither."""
    if data is not None and source is not None:
        raise InputError(f"give a file or --source, not both: {data}")
    if data is None and source is None:
        raise InputError("name a file with the rows, or --source URL and --table T")
    return str(data) if source is None else source


def rows_of(
    data: Path | None, source: str | None, table: str | None, schema: Schema, bars: bool
) -> Dataset | StreamCounts | EngineCounts:
    """Read the rows of a file into memory, or connect to a source that counts them."""
    import dpcausal as dc
    from dpcausal.counts.connect import is_database

    where = source_of_rows(data, source)
    if data is None:
        return dc.connect(where, schema, table)
    if is_database(data):
        return dc.connect(data, schema, table)
    if table is not None:
        raise InputError("--table goes with --source or a .duckdb file; this file is one table")
    return dc.read(data, schema, progress=bars)


def count_rows_at(source: str | None, table: str | None, schema: Schema, neighbours: str) -> int:
    """Return the number of rows of a table; refuse under any relation but replace-one, where it is not public."""
    return _table_of_rows(source, table, schema, neighbours).n


def explain_row_count(source: str | None, table: str | None, schema: Schema, neighbours: str) -> str:
    """Return the SQL that ``count_rows_at`` would send."""
    return _table_of_rows(source, table, schema, neighbours).explain_count()


def _table_of_rows(
    source: str | None, table: str | None, schema: Schema, neighbours: str
) -> StreamCounts | EngineCounts:
    from dpcausal.counts.connect import open_counts

    if source is None:
        raise InputError("say how many rows there will be: --rows N, or --source URL and --table T")
    if neighbours != "replace-one":
        raise InputError(f"under {neighbours} the number of rows is protected: give --rows, a guess")
    return open_counts(source, schema, table, count=False)


def explained(
    data: Path | None,
    source: str | None,
    table: str | None,
    schema: Schema,
    requests: list[tuple[str, ...]] | None = None,
    harmonics: int | None = None,
) -> str:
    """Return the SQL that would be sent to a source; only names and types of columns are read.

    ``requests`` are the tables that are asked for; with ``harmonics`` it is the SQL of ``moments``.
    """
    from dpcausal.counts.connect import open_counts
    from dpcausal.discovery import moments

    counts = open_counts(source_of_rows(data, source), schema, table, count=False)
    return counts.explain(requests) if harmonics is None else moments.explained(counts, harmonics)
