"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    Delta,
    DeskCharge,
    Epsilon,
    Explain,
    NoPrivacy,
    Printing,
    Relation,
    epsilon_of,
    parse_names,
    path,
    spread,
)
from dpcausal.cli.output import print_forecast, silence_draft_warning, warn_weak_answer
from dpcausal.cli.release_dir import print_answer_of
from dpcausal.cli.rows import Rows, place_of, refuse_given
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.citests.result import CITestResult
    from dpcausal.data.schema import Schema

HELP = """Test whether two columns are independent given others, under differential privacy.

Without --epsilon nothing is computed: say --no-privacy for the classical
answer.

[bold]Examples[/bold]

# charged to a ledger; kept in files: DIR/answer.json and DIR/privacy.json
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --given age,sex --epsilon 0.5 --ledger sqlite:///budget.db \\
  --dataset cohort --out answer

# an option of the test; several columns at once, with gcm
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc,sex \\
  --given age --method gcm --option parts=20 --epsilon 1

# crt, with the distribution of x given the rest; --model-from fits it to public rows
dpcausal test patients.csv --schema schema.toml --x fev --y bronc \\
  --given age --method crt --model law.toml --epsilon 1

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
    from dpcausal.present.schema import note_words

    if not issubclass(class_named(found.method), RankTest):
        return
    asked = [name for side in (found.x, found.y) for name in ([side] if isinstance(side, str) else side)]
    for missing in ordered_missing_levels({name: schema[name] for name in asked}):
        warnings.warn(note_words(missing), UserWarning, stacklevel=1)


@spread
def run_test(
    x: Annotated[str, typer.Option("--x", help="A column; gcm takes several, with commas.")],
    y: Annotated[str, typer.Option("--y", help="Another column; gcm takes several, with commas.")],
    rows: Rows,
    charge: DeskCharge,
    printing: Printing,
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
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            help="With --forecast: the share of rows in the rarest level of x and of y, a public guess (all equal).",
        ),
    ] = None,
    methods: Annotated[bool, help_methods(choices)] = False,
) -> None:
    """Run one test; print the result, and write it to files in ``out`` where that is given."""
    from dpcausal.citests.base import Question

    only_here = {"--no-privacy": no_privacy, "--explain": explain, "--rows": number}
    place = place_of(rows, charge, printing, free=forecast, number=number, only_here=only_here)
    names = parse_names("--given", given, "leave it out to condition on none")
    sides = parse_side("--x", x, place.schema), parse_side("--y", y, place.schema)
    place.refuse_undeclared(
        [*(name for side in sides for name in ([side] if isinstance(side, str) else side)), *names]
    )
    if explain:
        question = Question.of(place.schema, *sides, names)
        typer.echo(
            rows.explained(place.schema, [(*question.given, *question.x_columns, *question.y_columns)])
        )
        return
    asked: dict[str, Any] = {
        **epsilon_of(epsilon, no_privacy),
        "method": method,
        "delta": delta,
        "level": level,
        "neighbours": neighbours,
        **parse_options(option, types_of_test(method), method),
    }
    if model is not None or model_from is not None:
        if method != "crt":
            raise InputError("--model and --model-from go with --method crt")
        column = asked.get("resample") or (sides[0] if isinstance(sides[0], str) else sides[0][0])
        asked["model"] = law_of(model, model_from, place.schema, column, names, rows.data)
    if not no_privacy and not printing.as_json:
        silence_draft_warning()
    if not forecast:
        refuse_given({"--share": share}, "{}: only with --forecast")
    else:
        asked |= {} if share is None else {"share": share}
        print_forecast(place.forecast("ci_test", *sides, names, **asked), charge, printing.as_json)
        return
    found = print_answer_of(
        lambda: place.ask("ci_test", *sides, names, anyway=anyway, **asked), out, printing
    )
    warn_ordered_missing(found, place.schema)
    warn_weak_answer(found.privacy, place, printing.as_json)
