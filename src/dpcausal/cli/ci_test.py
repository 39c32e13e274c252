"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.desk import DeskUrl, at_desk
from dpcausal.cli.law_file import law_of
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
    OptionalSchema,
    OrderBy,
    Person,
    Purpose,
    Relation,
    RowsPerUnit,
    Sheet,
    SourceUrl,
    TableName,
    UnitColumn,
    epsilon_of,
    explained,
    parse_names,
    path,
    restrict_schema,
    rows_of,
)
from dpcausal.cli.output import print_forecast, silence_draft_warning, warn_before_charge, warn_weak_answer
from dpcausal.cli.release_dir import print_answer_of
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

# crt, with the distribution of x given the rest; --model-from fits it to public rows
dpcausal test patients.csv --schema schema.toml --x fev --y bronc \\
  --given age --method crt --model law.toml --epsilon 1

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
    """Return the description and the options of every test, by name."""
    from dpcausal.citests.registry import TESTS, described_tests

    found = {}
    for name, does in described_tests().items():
        types = types_of_test(name) if name in TESTS else {}
        options = TESTS[name].options() if name in TESTS else ()
        found[name] = Choice(does, tuple((*option, types[option.name]) for option in options))
    return found


def help_text() -> str:
    """Return the help page, made from the descriptions of all tests."""
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
    """``dpcausal test``, whose help lists all tests."""

    __test__ = False  # not a test case, whatever its name
    choices, page = staticmethod(choices), staticmethod(help_text)


def parse_side(option: str, text: str, declared: Schema) -> str | list[str]:
    """Return the one column, or the several columns with commas between them, that --x or --y names."""
    if text in declared or "," not in text:
        return text
    return parse_names(option, [text])


def warn_ordered_missing(found: CITestResult, schema: Schema) -> None:
    """Warn where a rank test treated a level for missing values as a position of the order."""
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
    x: Annotated[str, typer.Option("--x", help="A column; gcm takes several, with commas.")],
    y: Annotated[str, typer.Option("--y", help="Another column; gcm takes several, with commas.")],
    schema: OptionalSchema = None,
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
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            help="For crt: a file with the distribution of x (TOML or JSON).",
            parser=path,
        ),
    ] = None,
    model_from: Annotated[
        Path | None,
        typer.Option("--model-from", help="For crt: public rows to fit it to.", parser=path),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    level: Annotated[
        float,
        typer.Option("--level", help="Size of the test: its chance of a false finding, not a confidence."),
    ] = 0.05,
    neighbours: Relation = "replace-one",
    ledger: LedgerUrl = None,
    dataset: DatasetName = None,
    person: Person = None,
    purpose: Purpose = None,
    desk: DeskUrl = None,
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
    unit: UnitColumn = None,
    rows_per_unit: RowsPerUnit = None,
    order_by: OrderBy = None,
    full: Full = False,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
    methods: Annotated[bool, help_methods(choices)] = False,
) -> None:
    """Run one test; print the result, and write it to files in ``out`` where that is given."""
    import dpcausal as dc
    from dpcausal.citests.base import Question

    if number is not None and (not forecast or data is not None or source is not None):
        raise InputError(
            "--rows goes with --forecast and without a file or --source, not both: rows are counted there"
        )
    remote = None
    if desk is not None:
        unused = {
            "the file": data, "--source": source, "--table": table, "--schema": schema, "--ledger": ledger,
            "--person": person, "--encoding": encoding, "--sheet": sheet, "--no-privacy": no_privacy,
            "--explain": explain, "--rows": number,
        }  # fmt: skip
        remote = at_desk(desk, dataset, unused, "free" if forecast else purpose)
        whole, number = remote.schema, remote.rows
    elif schema is None:
        raise InputError("Missing option '--schema'. Draft one with: dpcausal schema FILE > schema.toml")
    else:
        whole = dc.Schema.from_toml(schema).with_unit(unit, rows_per_unit, order_by)
    names = parse_names("--given", given, "leave it out to condition on none")
    sides = parse_side("--x", x, whole), parse_side("--y", y, whole)
    named = [name for side in sides for name in ([side] if isinstance(side, str) else side)]
    declared = restrict_schema(whole, [], encoding, sheet, data, [*named, *names])
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
    if model is not None or model_from is not None:
        if method != "crt":
            raise InputError("--model and --model-from go with --method crt")
        column = asked.get("resample") or (sides[0] if isinstance(sides[0], str) else sides[0][0])
        asked["model"] = law_of(model, model_from, declared, column, names, data)
    if not no_privacy and not as_json:
        silence_draft_warning()
    bars = not as_json and sys.stderr.isatty()
    if forecast:
        known = data is not None or source is not None
        rows = rows_of(data, source, table, declared, bars) if known else declared
        ahead = dc.forecast_ci_test(rows, *sides, names, rows=number, **asked)
        print_forecast(ahead, ledger, dataset, as_json)
        return
    counted: Any = rows_of(data, source, table, declared, bars) if remote is None else remote
    if remote is not None:
        del asked["neighbours"]
        asked |= {"epsilon": epsilon, "anyway": anyway, "purpose": purpose, "progress": bars}

    def tested() -> CITestResult:
        if remote is not None:
            return remote.ci_test(*sides, names, **asked)
        with (
            warn_before_charge(data, ledger, person, purpose),
            shown("testing", None, bars),
        ):  # one test: there is nothing to count
            return dc.ci_test(counted, *sides, names, ledger=ledger, dataset=dataset, anyway=anyway, **asked)

    found = print_answer_of(tested, out, full=full, as_json=as_json)
    warn_ordered_missing(found, declared)
    warn_weak_answer(found.privacy, counted, as_json)
