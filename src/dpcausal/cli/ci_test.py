"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.file_options import Encoding, Sheet, refuse_undeclared, restricted
from dpcausal.cli.method_options import Options, default_word, parse_options, takes, types_of_test, words_only
from dpcausal.cli.options import (
    AsJson,
    Command,
    DatasetName,
    Delta,
    Full,
    LedgerUrl,
    Relation,
    SchemaFile,
    charging,
    draft_is_told,
    epsilon_words,
    method_named,
    names_of,
    path,
    say,
    warn_weak,
)
from dpcausal.cli.release_dir import Place, place, prepared, tell_place, write_texts
from dpcausal.cli.source_options import Explain, OptionalFile, SourceUrl, TableName, explained, rows_of
from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown
from dpcausal.privacy.accounting.composition import check_total

if TYPE_CHECKING:
    from dpcausal.citests.base import Question
    from dpcausal.data.schema import Schema

HELP = """Test whether two columns are independent given others, under differential privacy.

Without --epsilon nothing is computed: say --no-privacy for the classical
answer.

[bold]Examples[/bold]

dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5

# given others, with a test of your choice
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --given age,sex --method kendall --epsilon 0.5

# an option of the test; several columns at once, with gcm
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc,sex \\
  --given age --method gcm --option parts=20 --epsilon 1

# charged to a ledger; one JSON object for a script
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --ledger sqlite:///budget.db --dataset cohort --json

# kept in files: DIR/answer.json and DIR/privacy.json
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --out answer

# which test it will be and what it will find, before anything is charged
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --forecast

# not private, to compare with
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --no-privacy

[bold]Methods[/bold] (dpcausal test --help-methods: with their options)

{methods}

Numeric --given columns: {strata} cut them into many strata
(of about equal counts, measured privately), {regression} regresses on them as
numbers; neither uses the bins of the schema. {bins} do."""


def method_names() -> list[str]:
    """Return every name that --method takes; loading the tests takes a moment."""
    from dpcausal.citests.registry import described_tests

    return list(described_tests())


def help_text() -> str:
    """Return the help page, made from what every test says about itself."""
    from dpcausal.citests.registry import TESTS, described_tests

    def by(how: str) -> str:
        *names, last = (name for name, test in TESTS.items() if test.info.numeric_given == how)
        return f"{', '.join(names)} and {last}" if names else last

    return HELP.format(
        methods="\n".join(f"{name}: {words}" for name, words in described_tests().items()),
        strata=by("strata"),
        regression=by("regression"),
        bins=by("declared-bins"),
    )


def described(name: str, words: str) -> str:
    """Return what a test does, and a line for each of its options: default, meaning, what it takes."""
    from dpcausal.citests.base import CITest
    from dpcausal.citests.registry import TESTS

    lines = [f"{name}: {words}"]
    if name in TESTS:
        types = types_of_test(name)
        for option in TESTS[name].options():
            default = option.default.name if isinstance(option.default, CITest) else option.default
            shown = default_word(default) or "none"
            kind = "" if words_only(types[option.name]) else f" ({takes(types[option.name])})"
            lines.append(f"  {option.name}={shown}: {option.line}{kind}")
    return "\n".join(lines)


def help_methods(value: bool) -> None:
    """Print every test with its options, and stop."""
    from dpcausal.citests.registry import described_tests

    if value:
        typer.echo("\n\n".join(described(name, words) for name, words in described_tests().items()))
        raise typer.Exit


class TestCommand(Command):
    """Lists the tests when help is asked for."""

    __test__ = False  # not a test case, whatever its name

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        self.help = help_text()
        super().format_help(ctx, formatter)
        from dpcausal.citests.registry import described_tests

        name, known = method_named(ctx.meta.get("words", ())), described_tests()
        if name in known:
            typer.echo(f"--option takes, for {described(name, known[name])}")


def register(app: typer.Typer) -> None:
    """Add the ``test`` command to ``app``."""
    app.command("test", cls=TestCommand, help=HELP.partition("\n")[0])(run_test)


@contextmanager
def in_options() -> Iterator[None]:
    """Say what would help a test that can show nothing in the words of the command line."""
    from dpcausal.core.look import Hopeless

    try:
        yield
    except Hopeless as error:
        from dpcausal.present.planning import look_words

        raise InputError(look_words(error.look)) from None


def side_of(option: str, text: str, declared: Schema) -> str | list[str]:
    """Return the column that --x or --y names, or several where commas are between names of columns."""
    if text in declared or "," not in text:
        return text
    return names_of(option, [text])


def asked_columns(question: Question) -> tuple[str, ...]:
    """Return the columns that a question is about, without those it holds fixed."""
    return (*question.x_columns, *question.y_columns)


def run_test(
    schema: SchemaFile,
    x: Annotated[str, typer.Option("--x", help="A column; gcm takes several, with commas.")],
    y: Annotated[str, typer.Option("--y", help="Another column; gcm takes several, with commas.")],
    data: OptionalFile = None,
    source: SourceUrl = None,
    table: TableName = None,
    explain: Explain = False,
    given: Annotated[
        list[str] | None, typer.Option("--given", help="Columns to condition on: with commas, or repeat it.")
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", help="One of the tests named above.", autocompletion=method_names),
    ] = "auto",
    option: Options = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="What it may cost; less is safer.")
    ] = None,
    delta: Delta = 0.0,
    level: Annotated[
        float,
        typer.Option("--level", help="Size of the test: its chance of a false finding, not a confidence."),
    ] = 0.05,
    neighbours: Relation = "replace-one",
    ledger: LedgerUrl = None,
    dataset: DatasetName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Also write answer.json and privacy.json here; earlier ones are kept, in DIR/earlier-1 and so on.",
            metavar="DIR",
            parser=path,
        ),
    ] = None,
    no_privacy: Annotated[
        bool, typer.Option("--no-privacy", help="The classical answer, not private.")
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Pay although a strong dependence would be found in under 20% of cases; else that is refused.",
        ),
    ] = False,
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast",
            help="Only say which test it will be and how often it finds a dependence, from public numbers; free.",
        ),
    ] = False,
    number: Annotated[
        int | None,
        typer.Option("--rows", help="With --forecast, and without a file: how many rows there will be."),
    ] = None,
    full: Full = False,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
    methods: Annotated[
        bool,
        typer.Option(
            "--help-methods", help="List the tests with their options.", is_eager=True, callback=help_methods
        ),
    ] = False,
) -> None:
    """Run it; the result goes to standard output, and to files in DIR where one is given."""
    import dpcausal as dc
    from dpcausal.citests.base import Question
    from dpcausal.citests.rank import RankTest
    from dpcausal.citests.registry import class_named
    from dpcausal.data.check import ordered_missing_levels
    from dpcausal.data.schema import line_of_column
    from dpcausal.present.schema import ordered_missing_words

    if (epsilon is None) != no_privacy and not (explain and epsilon is None):
        raise InputError(epsilon_words(epsilon))
    if no_privacy and (delta or ledger is not None):
        raise InputError("--no-privacy charges nothing: it goes with no --delta and no --ledger")
    names = names_of("--given", given, "leave it out to condition on none")
    declared = restricted(dc.Schema.from_toml(schema), [], encoding, sheet)
    of_x, of_y = side_of("--x", x, declared), side_of("--y", y, declared)
    sides = [[side] if isinstance(side, str) else side for side in (of_x, of_y)]
    refuse_undeclared(declared, [*sides[0], *sides[1], *names], data)
    question = Question.of(declared, of_x, of_y, names)  # before a large file is read
    options = parse_options(option, types_of_test(method), method) if option else {}
    try:
        question.refuse_one_level(declared)
    except InputError as error:
        asked = (*question.x_columns, *question.y_columns)
        single = next(name for name in asked if declared[name].size == 1)
        raise InputError(f"{line_of_column(schema, single)}: {error}") from None
    checked_level(level)
    if epsilon is not None:
        check_total(epsilon, delta)
    if epsilon is not None and not as_json:
        draft_is_told()
    bars = not as_json and sys.stderr.isatty()
    if forecast or number is not None:
        if epsilon is None:
            raise InputError("--forecast says what noise will do: it needs --epsilon")
        if not forecast:
            raise InputError("--rows goes with --forecast: a test counts the rows itself")
        if number is not None and (data is not None or source is not None):
            raise InputError(
                "give a file or --source, or --rows, not both: a forecast counts the rows of a file"
            )
        if number is None and data is None and source is None:
            raise InputError("--forecast needs the number of rows: name the file, or say --rows N")
        ahead = dc.forecast_ci_test(
            declared if number is not None else rows_of(data, source, table, declared, bars),
            of_x,
            of_y,
            names,
            rows=number,
            method=method,  # type: ignore[arg-type]
            epsilon=epsilon,
            delta=delta,
            level=level,
            neighbours=neighbours,  # type: ignore[arg-type]
            **options,
        )
        from dpcausal.planning.look import left_in_ledger  # a test needs nothing of a plan

        ahead = replace(ahead, left=left_in_ledger(ledger, dataset))
        if as_json:
            typer.echo(ahead.to_json())
        else:
            say(ahead.summary())
        return
    if explain:
        typer.echo(explained(data, source, table, declared, [(*question.given, *asked_columns(question))]))
        return
    rows = rows_of(data, source, table, declared, bars)
    where: Place | None = None
    with nullcontext() if out is None else prepared(out):
        with (
            charging(data),
            in_options(),
            shown("testing", None, bars),
        ):  # one test: there is nothing to count
            found = dc.ci_test(
                rows,
                of_x,
                of_y,
                names,
                method=method,  # type: ignore[arg-type]  # a text from the command line: ci_test checks it
                epsilon=epsilon,
                delta=delta,
                level=level,
                neighbours=neighbours,  # type: ignore[arg-type]
                ledger=ledger,
                dataset=dataset,
                anyway=anyway,
                **options,
            )
        if out is not None:
            try:
                where = place(out)
                files = {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
                write_texts(where.folder, files)
            except InputError:  # paid for: not to be lost
                typer.echo(found.to_json() if as_json else found.summary(full=full))
                raise
    if issubclass(class_named(found.method), RankTest):
        asked = (*question.x_columns, *question.y_columns)
        for missing in ordered_missing_levels({name: declared[name] for name in asked}):
            warnings.warn(ordered_missing_words(missing), UserWarning, stacklevel=1)
    public = None if neighbours == "add-remove" else rows.n
    warn_weak(epsilon, delta, public, None if as_json else found.privacy)
    if as_json:
        typer.echo(found.to_json())
    else:
        say(found.summary(full=full))
    if where is not None:
        tell_place(where, as_json)
