"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

HELP = """Test whether two columns are independent given others, under differential privacy.

Without --epsilon nothing is computed: say --no-privacy for the classical
answer.

Numeric --given columns: kendall and spearman cut them into many strata of
equal width between their bounds, gcm regresses on them as numbers; neither
uses the bins of the schema. chi2, g, measured and test-of-tests do.

[bold]Examples[/bold]

dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5

# given others, with a test of your choice
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --given age,sex --method kendall --epsilon 0.5

# charged to a ledger; one JSON object for a script
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --ledger sqlite:///budget.db --dataset cohort --json

# not private, to compare with
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --no-privacy"""

METHODS = (
    "auto",
    "kendall",
    "spearman",
    "chi2",
    "g",
    "measured",
    "unit-circle",
    "gcm",
    "crt",
    "test-of-tests",
)


def register(app: typer.Typer) -> None:
    """Add the ``test`` command to ``app``."""
    app.command("test", help=HELP)(run_test)


def run_test(
    data: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet, .arrow or .feather file.")],
    schema: Annotated[Path, typer.Option("--schema", help="The schema file (see dpcausal schema).")],
    x: Annotated[str, typer.Option("--x", help="A column.")],
    y: Annotated[str, typer.Option("--y", help="Another column.")],
    given: Annotated[str, typer.Option("--given", help="Columns to condition on, with commas.")] = "",
    method: Annotated[
        str,
        typer.Option(
            "--method", help="auto, kendall, spearman, chi2, g, ...", autocompletion=lambda: list(METHODS)
        ),
    ] = "auto",
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="What the test may cost.")] = None,
    delta: Annotated[float, typer.Option("--delta", help="0 for pure differential privacy.")] = 0.0,
    level: Annotated[float, typer.Option("--level", help="Size of the test.")] = 0.05,
    neighbours: Annotated[
        str, typer.Option("--neighbours", help="replace-one or add-remove.")
    ] = "replace-one",
    ledger: Annotated[str | None, typer.Option("--ledger", help="Charge this ledger first.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data set there.")] = None,
    no_privacy: Annotated[
        bool, typer.Option("--no-privacy", help="The classical answer, not private.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run it; the result goes to standard output."""
    import dpcausal as dc
    from dpcausal.citests.question import Question
    from dpcausal.cli.numeric_given import how_given
    from dpcausal.cli.weak import warn_weak
    from dpcausal.core.arguments import checked_level
    from dpcausal.core.errors import InputError
    from dpcausal.core.progress import shown
    from dpcausal.privacy.accounting.filter import check_total

    if (epsilon is None) != no_privacy:
        raise InputError("give either --epsilon or --no-privacy")
    declared = dc.Schema.from_toml(schema)
    names = [name.strip() for name in given.split(",") if name.strip()]
    question = Question.of(declared, x, y, names)  # before a large file is read
    checked_level(level)
    if epsilon is not None:
        check_total(epsilon, delta)
    bars = not as_json and sys.stderr.isatty()
    rows = dc.read(data, declared, progress=bars)
    with shown("testing", None, bars):  # one test: there is nothing to count
        found = dc.ci_test(
            rows,
            x,
            y,
            names,
            method=method,
            epsilon=epsilon,
            delta=delta,
            level=level,
            neighbours=neighbours,
            ledger=ledger,
            dataset=dataset,
        )
    public_n = None if neighbours == "add-remove" and not no_privacy else rows.n
    warn_weak(epsilon, delta, public_n)
    how = how_given(found.method, question, rows, public_n)
    if how and "declared bins" not in found.why:
        found = replace(found, why=f"{found.why}; {how}")
    typer.echo(found.to_json() if as_json else found.summary())
