"""``dpcausal test``: one test of conditional independence.

``--model`` names how one column depends on others, for crt. Such a file of a law is TOML or JSON, and public: of
numbers it holds the coefficients of a linear law, of levels a table.

    sd = 2.0                 given = ["sex"]
    intercept = 1.5          probabilities = [[0.9, 0.1], [0.2, 0.8]]   # a row for each level of sex, in declared order
    [slopes]
    age = 0.3
"""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
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
    AnswerOptions,
    DeskCharge,
    Explain,
    Printing,
    parse_names,
    path,
    spread,
)
from dpcausal.cli.output import warn_weak_answer
from dpcausal.cli.rows import Rows, answered, place_of
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.citests.crt_models import LinearGaussian, TableModel
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


FORMS = "sd, slopes and intercept of a linear law, or given and probabilities of a table"


def law_of(
    law: Path | None,
    public: Path | None,
    schema: Schema,
    column: str,
    given: Sequence[str],
    rows: Path | None,
) -> LinearGaussian | TableModel | None:
    """Return the law that --model or --model-from names; None where neither does."""
    if law is not None and public is not None:
        raise InputError("--model and --model-from both say how x depends on z: give one of them")
    if law is not None:
        return read_law(law)
    if public is not None:
        return fitted_law(public, schema, column, given, rows)
    return None


def read_law(path: Path) -> LinearGaussian | TableModel:
    """Return the law that a TOML or JSON file holds."""
    from dpcausal.citests.crt_models import LinearGaussian, TableModel

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"can't read the law {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        found: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise InputError(
            f"{path.name} is no {'JSON' if path.suffix == '.json' else 'TOML'}: {error}"
        ) from None
    names = set(found) if isinstance(found, dict) else set()
    try:
        if "sd" in names and names <= {"sd", "slopes", "intercept"}:
            slopes = {name: float(slope) for name, slope in found.get("slopes", {}).items()}
            return LinearGaussian(float(found.get("intercept", 0.0)), slopes, float(found["sd"]))
        if "probabilities" in names and names <= {"given", "probabilities"}:
            return TableModel(tuple(found.get("given", ())), found["probabilities"])
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError):
        pass
    raise InputError(f"{path.name} must hold {FORMS}, as numbers")


def fitted_law(
    public: Path, schema: Schema, column: str, given: Sequence[str], rows: Path | None
) -> LinearGaussian | TableModel:
    """Return the law fitted to a public sample: linear for numbers, frequencies for levels. Not private.

    Refuses the file that is tested: fitted on its own rows a law is a release without noise.
    """
    import dpcausal as dc

    if rows is not None and public.exists() and rows.exists() and public.samefile(rows):
        raise InputError(
            "--model-from names the file that is tested: fit the law on a public sample, of other people"
        )
    sample = dc.read(public, schema.select([column, *given]))
    kind = dc.LinearGaussian if isinstance(schema[column], dc.Numeric) else dc.TableModel
    return kind.fit(sample, column, tuple(given))


@dataclass(frozen=True, kw_only=True)
class CITestAnswer(AnswerOptions):
    """What the answer of a test may cost, and what its forecast takes."""

    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Pay although a strong dependence would be found in under 20% of cases; else that is refused.",
        ),
    ] = False
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast",
            help="Only say which test it will be and how often it finds a dependence, from public numbers; free.",
        ),
    ] = False
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            help="With --forecast: the share of rows in the rarest level of x and of y, a public guess (all equal).",
        ),
    ] = None


@spread
def run_test(
    x: Annotated[str, typer.Option("--x", help="A column; gcm takes several, with commas.")],
    y: Annotated[str, typer.Option("--y", help="Another column; gcm takes several, with commas.")],
    rows: Rows,
    charge: DeskCharge,
    printing: Printing,
    answer: CITestAnswer,
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
    level: Annotated[
        float,
        typer.Option("--level", help="Size of the test: its chance of a false finding, not a confidence."),
    ] = 0.05,
    methods: Annotated[bool, help_methods(choices)] = False,
) -> None:
    """Run one test; print the result, and write it to files in ``out`` where that is given."""
    from dpcausal.citests.base import Question

    number = answer.rows_ahead
    only_here = {"--no-privacy": answer.no_privacy, "--explain": explain, "--rows": number}
    place = place_of(rows, charge, printing, free=answer.forecast, number=number, only_here=only_here)
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
        **answer.asked(),
        "method": method,
        "level": level,
        **parse_options(option, types_of_test(method), method),
    }
    if not answer.forecast:
        asked["anyway"] = answer.anyway
    if model is not None or model_from is not None:
        if method != "crt":
            raise InputError("--model and --model-from go with --method crt")
        column = asked.get("resample") or (sides[0] if isinstance(sides[0], str) else sides[0][0])
        asked["model"] = law_of(model, model_from, place.schema, column, names, rows.data)
    found = answered(place, "ci_test", (*sides, names), asked, answer, charge, printing)
    if found is not None:
        warn_ordered_missing(found, place.schema)
        warn_weak_answer(found.privacy, place, printing.as_json)
