"""Files and directories from the command line: an empty text would mean the current directory, so it is refused.

The command that asks ``discover`` for the same again, for its report.

Tables on standard output, whatever the width: no number is ever cut.

Where the numbers and a little of each text do not fit side by side, every row becomes a few lines of its own.

What a refused command line is told: what was wrong, what was given, the nearest that exists, what can be done.

A budget that promises little, or an unchecked schema, is told once: in the answer, or else on standard error.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperCommand

from dpcausal.cli.method_options import default_word
from dpcausal.core.errors import BeforeCharge, InputError, did_you_mean
from dpcausal.core.redact import file_name, ledger_name
from dpcausal.core.statement import weak_limits
from dpcausal.privacy.budget import charged_for

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.present.files import Origin


def say(text: str) -> None:
    """Print an answer; in a terminal, lines are broken between words: those of a table within their last column."""

    if sys.stdout.isatty():
        wide = shutil.get_terminal_size().columns
        text = "\n".join(broken(line, wide) for line in text.split("\n"))
    typer.echo(text)


def broken(line: str, wide: int) -> str:
    """Return a line of a text in lines of this width, broken between words; a table's last column goes on beneath it.

    >>> print(broken("  a -> b  95% or more  direction not decided; a weak hint", 50))
      a -> b  95% or more  direction not decided; a
                           weak hint
    """

    start = line.rstrip().rfind("  ") + 2 if line.startswith(" ") else 0
    if len(line) <= wide or (start and wide - start < LEAST_LEFT):
        return line
    rows = textwrap.wrap(line[start:], wide - start, break_long_words=False, break_on_hyphens=False)
    return "\n".join([line[:start] + rows[0], *(" " * start + row for row in rows[1:])])


LEAST_LEFT = 20  # letters: a last column with less room is kept whole


def path(text: str | Path) -> Path:
    """The path, unless it is empty.

    >>> path("out").name
    'out'
    """
    if not str(text).strip():
        raise typer.BadParameter("it is empty; name a file or a directory")
    return Path(text)


def names_of(option: str, texts: Sequence[str] | None, instead: str = "leave it out for none") -> list[str]:
    """Return the columns that a list option names: with commas, by repeating it, or both.

    >>> names_of("--given", ["age, sex", "bmi"]), names_of("--given", None)
    (['age', 'sex', 'bmi'], [])
    """
    names = [name.strip() for text in texts or [] for name in text.split(",") if name.strip()]
    if texts and not names:
        raise InputError(f"{option} names no column: {','.join(texts)!r}; {instead}")
    return names


def epsilon_words(epsilon: float | None) -> str:
    """Return what to do where a test or an effect has neither ``--epsilon`` nor ``--no-privacy``, or both.

    >>> epsilon_words(0.2)
    'give either --epsilon or --no-privacy, not both'
    """
    if epsilon is not None:
        return "give either --epsilon or --no-privacy, not both"
    return (
        "give an --epsilon: --epsilon 0.2 is a start (a fifth of a budget of 1; a graph takes about half); "
        "--no-privacy gives the classical answer, which is not private"
    )


# in help, before all others
FIRST: tuple[str, ...] = (
    "data",
    "x",
    "y",
    "given",
    "treatment",
    "outcome",
    "adjust",
    "schema",
    "epsilon",
    "delta",
    "tiers",
    "target",
)
FIRST += ("method", "ledger", "dataset", "out", "columns")
# the others in panels of their own, on a page with many: where the rows are, what is printed, and the rest
PANELS = {
    "Rows": ("source", "table", "explain", "encoding", "sheet"),
    "More on the question and the method": (),
    "Output": ("show_open", "full", "as_json", "methods", "help"),
}
MANY_OPTIONS = 16


def panel_of(name: str) -> str | None:
    """Return the panel of a help page that an option stands in; None for the first one.

    >>> panel_of("epsilon"), panel_of("sheet"), panel_of("max_order")
    (None, 'Rows', 'More on the question and the method')
    """
    if name in FIRST:
        return None
    return next((panel for panel, names in PANELS.items() if name in names), list(PANELS)[1])


def method_named(words: Sequence[str]) -> str | None:
    """Return what --method names among the words of a command, for help that is read before other options are.

    >>> method_named(["--method", "pc"]), method_named(["--method=pc", "--help"]), method_named(["--help"])
    ('pc', 'pc', None)
    """
    for place, word in enumerate(words):
        if word == "--method" and place + 1 < len(words):
            return words[place + 1]
        if word.startswith("--method="):
            return word.partition("=")[2]
    return None


class Command(TyperCommand):
    """Refuses an option that takes one value and is given twice: the ledger is charged for one question only."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page, the options that most people need first and the others in panels."""
        places = [*FIRST, *(name for names in PANELS.values() for name in names)]
        panels: list[str | None] = [None, *PANELS]

        def rank(one: Any) -> tuple[int, int]:
            return panels.index(panel_of(one.name)), places.index(one.name) if one.name in places else len(
                places
            )

        self.params.sort(key=rank)
        if len(self.params) >= MANY_OPTIONS:
            for one in self.params:
                if panel_of(one.name) is not None:
                    one.rich_help_panel = panel_of(one.name)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of one command."""
        ctx.meta["words"] = list(args)
        for option in self.params:
            names = [name for name in option.opts if name.startswith("--")]
            if getattr(option, "multiple", False) or getattr(option, "is_flag", False):
                continue
            count = sum(word.partition("=")[0] in names for word in args)
            if count > 1:
                raise InputError(f"{names[0]} is given {count} times, and takes one value: give it once")
        return super().parse_args(ctx, args)


USUAL = {"delta": 0.0, "method": "auto", "level": 0.05, "neighbours": "replace-one"}


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
Delta = Annotated[
    float, typer.Option("--delta", help="Probability with which the promise may fail; far below 1/rows.")
]
Relation = Annotated[
    str,
    typer.Option(
        "--neighbours",
        help="What one row may change: replace-one (its values; the number of rows is public) or add-remove (whether "
        "it is there; their number is protected, too).",
        autocompletion=lambda: ["replace-one", "add-remove"],
    ),
]
LedgerUrl = Annotated[str | None, typer.Option("--ledger", help="Charge this ledger first.")]
DatasetName = Annotated[str | None, typer.Option("--dataset", help="Name of the data set there.")]
Full = Annotated[
    bool,
    typer.Option("--full", help="Print everything: every pair, the method, the whole privacy statement."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def origin_of(
    data: Path | str,
    schema: Path,
    out: Path,
    options: Mapping[str, Any],
    texts: Mapping[str, list[str]],
    of_method: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    table: str | None = None,
    connected: bool = False,
) -> Origin:
    """``options`` by their names in Python; ``texts``, how those were written that take more than a word.

    ``of_method``: options of the method, which the command takes as ``--option NAME=VALUE``. ``reading``: how the file
    is written, and the columns where only some are used. ``table``: of an engine or a DuckDB file. ``connected``: given
    by ``--source``. What is as usual is left out.

    >>> found = origin_of(Path("p.csv"), Path("s.toml"), Path("out"), {"epsilon": 1.0, "delta": 0.0}, {})
    >>> found.shell()
    'dpcausal discover p.csv --schema s.toml --epsilon 1 --out out'
    """
    from dpcausal.present.files import Origin, number

    given = {name: value for name, value in options.items() if value not in (None, [], USUAL.get(name))}
    if "ledger" in given:
        given["ledger"] = ledger_name(str(given["ledger"]))
    declared = file_name(str(schema))
    text = str(data)
    if text.startswith("duckdb:///"):
        text, connected = text.removeprefix("duckdb:///"), False  # such a file goes without --source
    rows = ledger_name(text) if "://" in text else file_name(text)
    place = [*(["--source"] if connected else []), rows, *(["--table", table] if table else [])]
    words = ["dpcausal", "discover", *place, "--schema", declared]
    told = {name: value for name, value in (reading or {}).items() if value}
    for name, value in told.items():
        words += [f"--{name}", value if isinstance(value, str) else ",".join(value)]
    for name, value in given.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
            continue
        for text in texts.get(name, [number(value) if isinstance(value, float) else str(value)]):
            words += ["--" + name.replace("_", "-"), text]
    for name, value in (of_method or {}).items():
        words += ["--option", f"{name}={default_word(value)}"]
    arguments = {"epsilon": None, **given, **(of_method or {})}
    return Origin(
        rows, declared, [*words, "--out", file_name(str(out))], arguments, told, table or "", connected
    )


MIN_COLUMN_WIDTH = 12  # width below which a column of text is not squeezed
SAMPLE = 10_000  # wider than any table


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    left: Collection[str] = (),
    wraps: Collection[str] = (),
    console: Console | None = None,
) -> None:
    """Print ``rows`` below ``heads``; columns in ``left`` are text, those in ``wraps`` may take several lines."""

    console = console or Console(highlight=False)
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    for head in heads:
        side: Literal["left", "right"] = "left" if head in left else "right"
        table.add_column(head, justify=side, no_wrap=head not in wraps, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    natural = console.measure(table, options=console.options.update_width(SAMPLE)).maximum
    slack = sum(
        max(_wide([head, *(row[k] for row in rows)]) - MIN_COLUMN_WIDTH, 0)
        for k, head in enumerate(heads)
        if head in wraps
    )
    if natural - slack <= console.width:
        console.print(table)
    else:
        _print_stacked(heads, rows, title, console)


def _wide(texts: Sequence[str]) -> int:
    return max(cell_len(line) for text in texts for line in text.split("\n"))


def _print_stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str, console: Console) -> None:
    if title:
        console.print(title, style="italic", markup=False)
    for row in rows:
        told = [f"{' '.join(head.split())} {cell}" for head, cell in zip(heads, row, strict=True) if cell]
        console.print(told[0], markup=False, overflow="fold")
        for line in told[1:]:
            console.print(f"  {line}", markup=False, overflow="fold")


_NO_NUMBER = re.compile(r"Invalid value for '(--[\w-]+)'.*(?:valid (?:number|integer|float)|not a valid)")
_NO_COMMAND = re.compile(r"No such command '(.*?)'\.")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.*)\)")
_TAKES = {  # option -> what to do about a word too many after it
    "--given": "--given takes columns with commas and no blanks: --given {commas}",
    "--pair": "--pair takes two columns with a comma and no blanks: --pair {commas}",
    "--tiers": "--tiers takes one text in quotes, commas within a tier and semicolons between: --tiers 'a,b;c'",
    "--required": "repeat --required for every edge",
    "--forbidden": "repeat --forbidden for every edge",
    "--x": "--x takes one column; a name that holds blanks goes in quotes, and further columns to --given a,b",
    "--y": "--y takes one column; a name that holds blanks goes in quotes, and further columns to --given a,b",
}


def _no_number(message: str, words: list[str]) -> str | None:
    """The message with what was given, where a number was wanted; a comma gets a remark.

    >>> wanted = "Invalid value for '--epsilon': Input should be a valid number"
    >>> _no_number(wanted, ["test", "--epsilon", "0,5"])
    "--epsilon must be a number, not '0,5'; write it with a point and without separators: 0.5, 1000"
    >>> _no_number(wanted.replace("number", "integer").replace("epsilon", "rows"), ["plan", "--rows", "8,000"])
    "--rows must be a whole number, not '8,000'; write it without separators: 8000"
    """
    found = _NO_NUMBER.match(message)
    given = [value for name, value in pairwise(words) if found and name == found[1]]
    given += [word.partition("=")[2] for word in words if found and word.startswith(f"{found[1]}=")]
    if not found or not given:
        return None
    whole = "integer" in message
    digits = re.sub("[,._' ]", "", given[-1])
    remark = ""
    if whole and digits.isdecimal() and re.fullmatch(r"\d{1,3}([,._' ]\d{3})+", given[-1]):
        remark = f"; write it without separators: {digits}"
    elif not whole and "," in given[-1]:
        remark = "; write it with a point and without separators: 0.5, 1000"
    return f"{found[1]} must be {'a whole number' if whole else 'a number'}, not {given[-1]!r}{remark}"


def _too_many(message: str, words: list[str]) -> str | None:
    """The message for a word too many, with what the option before it takes.

    >>> _too_many("Got unexpected extra argument(s) (sex)", ["test", "p.csv", "--given", "age", "sex"])
    'Got unexpected extra argument (sex); --given takes columns with commas and no blanks: --given age,sex'
    """
    found = _EXTRA.match(message)
    if not found:
        return None
    last = found[1].split()[-1] if found[1].split() else ""
    at = max((i for i, word in enumerate(words) if word == last), default=len(words))
    start = max((i for i in range(at) if words[i].startswith("--")), default=0)
    option, _, inside = words[start].partition("=")
    values = [*([inside] if inside else []), *words[start + 1 : at + 1]]
    if option not in _TAKES:
        return None
    commas = ",".join(name for value in values for name in value.split(",") if name)
    plural = "s" if len(found[1].split()) > 1 else ""
    return f"Got unexpected extra argument{plural} ({found[1]}); {_TAKES[option].format(commas=commas)}"


def _hint(message: str) -> str:
    """What to do about a usage error, where a command of ours helps.

    >>> _hint("Missing option '--schema'.")
    ' Draft one with: dpcausal schema FILE > schema.toml'
    """
    lacks_schema = message.startswith("Missing option '--schema'")
    return " Draft one with: dpcausal schema FILE > schema.toml" if lacks_schema else ""


def _with_nearest(error: Any) -> str:
    """The message of a usage error; for a command or an option that is not there, with the nearest that is."""
    said: str = error.format_message()
    command = error.ctx.command if getattr(error, "ctx", None) is not None else None
    if type(error).__name__ == "NoSuchOption" and command is not None:
        options = [
            name.lstrip("-") for option in command.params for name in option.opts if name.startswith("--")
        ]
        hint = did_you_mean(error.option_name.lstrip("-"), options).replace('"', '"--', 1)
        return f"No such option: {error.option_name}{hint}"
    if (found := _NO_COMMAND.match(said)) and command is not None:
        hint = did_you_mean(found[1], command.commands)
        return f"No such command {found[1]!r}{hint or '; there are ' + ', '.join(command.commands)}"
    return said


def usage_words(error: Any, words: list[str]) -> str:
    """One line for a usage error of the command line ``words``."""
    said = _with_nearest(error)
    return _no_number(said, words) or _too_many(said, words) or f"{said}{_hint(said)}"


LARGE_DELTA = 1e-4  # what suits at most 10,000 rows


class WeakPromise(UserWarning):
    """The budget is so large that little is promised."""


def warn_weak(
    epsilon: float | None, delta: float, rows: int | None = None, said: PrivacyStatement | None = None
) -> None:
    """Warn by what was asked for, which a ledger is charged, even if less was needed; ``rows`` where public.

    ``said``: the statement whose words were printed; what it says of epsilon or delta is not said again.
    """
    from dpcausal.present.statement import limit_words

    told = {limit.kind for limit in said.weak} if said is not None else set()
    for limit in weak_limits(epsilon, delta, rows):
        if limit.kind not in told:
            warnings.warn(limit_words(limit), WeakPromise, stacklevel=2)


@contextmanager
def charging(data: Path | None) -> Iterator[None]:
    """Note the file's name in the ledger; what the ledger knows of this charge is told at once, before it is made.

    That is other budgets of the file or data set, also where no ledger is named, and entries that asked the same.
    """

    with charged_for(data), warnings.catch_warnings():
        later = warnings.showwarning

        def at_once(message: Warning | str, category: type[Warning], *more: Any) -> None:
            if issubclass(category, BeforeCharge):
                typer.echo(f"dpcausal: {message}", err=True)
            else:
                later(message, category, *more)

        warnings.showwarning = at_once  # type: ignore[assignment]
        warnings.simplefilter("always", BeforeCharge)
        yield


def draft_is_told() -> None:
    """From here on no warning of an unchecked schema: the answer will print it."""
    from dpcausal.data.read import DraftSchema

    warnings.filterwarnings("ignore", category=DraftSchema)


def warn_large_delta(delta: float) -> None:
    """Warn where the number of rows is not known (a ledger's total) and delta would be small for few tables only."""
    if delta > LARGE_DELTA:
        from dpcausal.present.statement import WEAK

        warnings.warn(
            f"{WEAK}delta {delta:g} is the chance with which all releases together may tell everything of a row: keep "
            "it well below one over the number of rows (for 10,000 rows, well below 0.0001).",
            WeakPromise,
            stacklevel=2,
        )
