"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.method_options import (
    Choice,
    MethodsCommand,
    Options,
    help_methods,
    parse_options,
    types_of_test,
)
from dpcausal.cli.options import (
    AnswerDir,
    AsJson,
    DatasetName,
    Delta,
    Encoding,
    Epsilon,
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


def choices() -> dict[str, Choice]:
    """Return every test with its own description and options; loading them takes a moment."""
    from dpcausal.citests.base import CITest
    from dpcausal.citests.registry import TESTS, described_tests

    found = {}
    for name, does in described_tests().items():
        types = types_of_test(name) if name in TESTS else {}
        options = TESTS[name].options() if name in TESTS else []
        found[name] = Choice(
            does,
            tuple(
                (
                    option.name,
                    option.default.name if isinstance(option.default, CITest) else option.default,
                    option.line,
                    types[option.name],
                )
                for option in options
            ),
        )
    return found


def help_text() -> str:
    """Return the help page, made from what every test says about itself."""
    from dpcausal.citests.registry import TESTS

    def by(how: str) -> str:
        *names, last = (name for name, test in TESTS.items() if test.info.numeric_given == how)
        return f"{', '.join(names)} and {last}" if names else last

    return HELP.format(
        methods="\n".join(f"{name}: {one.does}" for name, one in choices().items()),
        strata=by("strata"),
        regression=by("regression"),
        bins=by("declared-bins"),
    )


class TestCommand(MethodsCommand):
    """The command with its tests."""

    __test__ = False  # not a test case, whatever its name
    choices, page = staticmethod(choices), staticmethod(help_text)


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
        typer.Option(
            "--method", help="One of the tests named above.", autocompletion=lambda: list(choices())
        ),
    ] = "auto",
    option: Options = None,
    epsilon: Epsilon = None,
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
    methods: Annotated[bool, help_methods(choices)] = False,
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
