"""The options that commands share: each declared once, and groups of them as values (``spread``)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.discovery.knowledge import Edge


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which the fields of option groups are options of its own.

    A group is a parameter whose type is a dataclass; the command receives the group as one value.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for name, given in signature(command).parameters.items():
        if name not in groups:
            options.append(given.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(groups[name], include_extras=True)
        options += [
            Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=types[one.name])
            for one in fields(groups[name])
        ]

    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{one.name: values.pop(one.name) for one in fields(kind)})
        command(**values)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    run.__doc__ = command.__doc__
    return run


def path(text: str | Path) -> Path:
    """Return a path; refuse an empty one.

    >>> path("out").name
    'out'
    """
    if not str(text).strip():
        raise typer.BadParameter("it is empty; name a file or a directory")
    return Path(text)


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
DeskUrl = Annotated[
    str | None, typer.Option("--desk", help="A custodian's desk; DPCAUSAL_TOKEN.", metavar="URL")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
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


@dataclass(frozen=True, kw_only=True)
class Printing:
    """How an answer is printed."""

    full: Annotated[
        bool,
        typer.Option("--full", help="Print everything: every pair, the method, the whole privacy statement."),
    ] = False
    as_json: AsJson = False

    @property
    def bars(self) -> bool:
        """Whether progress bars are shown."""
        return not self.as_json and sys.stderr.isatty()


@dataclass(frozen=True, kw_only=True)
class Charge:
    """Which ledger is charged, and what its entry says of who asks."""

    ledger: LedgerUrl = None
    dataset: DatasetName = None
    person: Annotated[
        str | None, typer.Option("--person", help="Who asks; kept in the ledger.", metavar="NAME")
    ] = None
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="What for; kept in the ledger.", metavar="TEXT")
    ] = None


@dataclass(frozen=True, kw_only=True)
class DeskCharge(Charge):
    """The same, or the desk that keeps the ledger."""

    desk: DeskUrl = None


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """What one answer may cost, where it is written, and whether only its forecast is wanted.

    Each command describes ``anyway``, ``forecast`` and ``share`` in its own words.
    """

    epsilon: Epsilon = None
    delta: Delta = 0.0
    neighbours: Relation = "replace-one"
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Also write answer.json and privacy.json here; earlier ones are kept, in DIR/earlier-1 and so on.",
            metavar="DIR",
            parser=path,
        ),
    ] = None
    no_privacy: Annotated[bool, typer.Option("--no-privacy", help="The classical answer, not private.")] = (
        False
    )
    anyway: bool = False
    forecast: bool = False
    rows_ahead: Annotated[
        int | None,
        typer.Option("--rows", help="With --forecast, and without a file: how many rows there will be."),
    ] = None
    share: float | None = None

    def asked(self) -> dict[str, Any]:
        """Return what it may cost, by the names of the Python arguments; no epsilon where none was given."""
        if self.no_privacy and self.epsilon is not None:
            raise InputError("give either --epsilon or --no-privacy, not both")
        cost = {"epsilon": self.epsilon} if self.no_privacy or self.epsilon is not None else {}
        return {**cost, "delta": self.delta, "neighbours": self.neighbours}


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """What is known beforehand of a graph, and how its edges are decided and directed."""

    tiers: Annotated[
        list[str] | None,
        typer.Option(
            "--tiers",
            help="Columns in order of time: 'a,b;c' puts a and b before c. No arrow points back; between a and b it "
            "may point either way.",
        ),
    ] = None
    required: Annotated[
        list[str] | None, typer.Option("--required", help="An arrow a:b, or an edge a--b.")
    ] = None
    forbidden: Annotated[
        list[str] | None, typer.Option("--forbidden", help="An arrow a:b, or an edge a--b.")
    ] = None
    max_order: Annotated[int | None, typer.Option("--max-order", help="Most columns held fixed at once.")] = (
        None
    )
    direction_level: Annotated[
        float | None,
        typer.Option("--direction-level", help="Least chance of an arrow (0.8)."),
    ] = None
    confidence: Annotated[
        int | None,
        typer.Option("--confidence", help="How many repeats show how often an edge is found again; no cost."),
    ] = None

    def asked(self) -> dict[str, Any]:
        """Return the options that were given, by the names of the Python arguments."""
        return given(
            tiers=parse_tiers(self.tiers) or None,
            required=parse_edges("--required", self.required) or None,
            forbidden=parse_edges("--forbidden", self.forbidden) or None,
            max_order=self.max_order,
            direction_level=self.direction_level,
            confidence=self.confidence,
        )


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None: the options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def option_name(name: str) -> str:
    """Return an option as it is written on the command line.

    >>> option_name("rows_per_unit")
    '--rows-per-unit'
    """
    return f"--{name.replace('_', '-')}"


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


def parse_pair(option: str, text: str, form: str = " with a comma", more: str = "") -> tuple[str, str]:
    """Parse two names with a comma between them; ``form`` and ``more`` are for the error.

    >>> parse_pair("--pair", "age, sex")
    ('age', 'sex')
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(f"{option} takes two columns{form}, not {text!r}{more}")
    return names[0], names[1]


def parse_effects(texts: list[str] | None, reserve: float | None) -> list[tuple[str, str]]:
    """Parse (treatment, outcome) pairs of --effect.

    >>> parse_effects(["a, b"], None), parse_effects(None, None)
    ([('a', 'b')], [])
    """
    found = [
        parse_pair("--effect", text, ", treatment,outcome", "; repeat it for more") for text in texts or []
    ]
    if not found and reserve is not None:
        raise InputError("--reserve is the share of the budget kept for --effect treatment,outcome: name one")
    return found
