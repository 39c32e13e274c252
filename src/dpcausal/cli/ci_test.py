"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.method_options import Options, default_word, parse_options, takes, types_of_test, words_only
from dpcausal.cli.options import (
    AnswerDir,
    AsJson,
    DatasetName,
    Delta,
    Encoding,
    Explain,
    Full,
    LedgerUrl,
    NoPrivacy,
    OptionalFile,
    Relation,
    SchemaFile,
    Sheet,
    SourceUrl,
    TableName,
    epsilon_of,
    explained,
    names_of,
    restricted,
    rows_of,
)
from dpcausal.cli.output import charging, draft_is_told, say, warn_weak_answer
from dpcausal.cli.release_dir import answered
from dpcausal.cli.usage import Command, method_named
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown

if TYPE_CHECKING:
    from dpcausal.citests.result import CITestResult
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


def side_of(option: str, text: str, declared: Schema) -> str | list[str]:
    """Return the column that --x or --y names, or several where commas are between names of columns."""
    if text in declared or "," not in text:
        return text
    return names_of(option, [text])


def warn_ordered_missing(found: CITestResult, schema: Schema) -> None:
    """Warn where a test by ranks took a level that stands for missing values in its place among the others."""
    from dpcausal.citests.rank import RankTest
    from dpcausal.citests.registry import class_named
    from dpcausal.data.check import ordered_missing_levels
    from dpcausal.present.schema import ordered_missing_words

    if not issubclass(class_named(found.method), RankTest):
        return
    asked = [name for side in (found.x, found.y) for name in ([side] if isinstance(side, str) else side)]
    for missing in ordered_missing_levels({name: schema[name] for name in asked}):
        warnings.warn(ordered_missing_words(missing), UserWarning, stacklevel=1)


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
    out: AnswerDir = None,
    no_privacy: NoPrivacy = False,
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

    if number is not None and (not forecast or data is not None or source is not None):
        raise InputError(
            "--rows goes with --forecast and without a file or --source, not both: rows are counted there"
        )
    whole = dc.Schema.from_toml(schema)
    names = names_of("--given", given, "leave it out to condition on none")
    sides = side_of("--x", x, whole), side_of("--y", y, whole)
    named = [name for side in sides for name in ([side] if isinstance(side, str) else side)]
    declared = restricted(whole, [], encoding, sheet, data, [*named, *names])
    if explain:
        question = Question.of(declared, *sides, names)
        columns = (*question.given, *question.x_columns, *question.y_columns)
        typer.echo(explained(data, source, table, declared, [columns]))
        return
    asked: dict[str, Any] = {
        **epsilon_of(epsilon, no_privacy),
        "method": method,
        "delta": delta,
        "level": level,
        "neighbours": neighbours,
        **(parse_options(option, types_of_test(method), method) if option else {}),
    }
    if not no_privacy and not as_json:
        draft_is_told()
    bars = not as_json and sys.stderr.isatty()
    if forecast:
        from dpcausal.privacy.budget import left_in_ledger  # a test needs nothing of a plan

        known = data is not None or source is not None
        rows = rows_of(data, source, table, declared, bars) if known else declared
        ahead = dc.forecast_ci_test(rows, *sides, names, rows=number, **asked)
        ahead = replace(ahead, left=left_in_ledger(ledger, dataset))
        if as_json:
            typer.echo(ahead.to_json())
        else:
            say(ahead.summary())
        return
    counted = rows_of(data, source, table, declared, bars)

    def tested() -> CITestResult:
        with charging(data), shown("testing", None, bars):  # one test: there is nothing to count
            return dc.ci_test(counted, *sides, names, ledger=ledger, dataset=dataset, anyway=anyway, **asked)

    found = answered(tested, out, full=full, as_json=as_json)
    warn_ordered_missing(found, declared)
    warn_weak_answer(found.privacy, counted, as_json)
