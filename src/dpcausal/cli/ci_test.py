"""``dpcausal test``: one test of conditional independence."""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dpcausal.cli.options import path
from dpcausal.cli.release_dir import Place, place, prepared, tell_place, write_texts

HELP = """Test whether two columns are independent given others, under differential privacy.

Without --epsilon nothing is computed: say --no-privacy for the classical
answer.

[bold]Methods[/bold]

{methods}

Numeric --given columns: kendall and spearman cut them into many strata
(groups of equal width between their bounds), gcm regresses on them as
numbers; neither uses the bins of the schema. chi2, g, measured and
test-of-tests do.

[bold]Examples[/bold]

dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5

# given others, with a test of your choice
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --given age,sex --method kendall --epsilon 0.5

# charged to a ledger; one JSON object for a script
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --ledger sqlite:///budget.db --dataset cohort --json

# kept in files: DIR/answer.json and DIR/privacy.json
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --epsilon 0.5 --out answer

# not private, to compare with
dpcausal test patients.csv --schema schema.toml --x smoke --y bronc \\
  --no-privacy"""

WORDS = {
    "auto": "by the columns: kendall, gcm or measured",
    "kendall": "do x and y rise together (rank correlation)? For numbers and ordered levels",
    "spearman": "the same by Spearman's ranks",
    "chi2": "Pearson's test on parts of the rows; the median p-value, with noise",
    "g": "the same with the likelihood ratio",
    "measured": "a test on the table of counts, with noise in every cell",
    "unit-circle": "two groups and a yes/no outcome; who is in which group is public",
    "gcm": "do x and y go together after regression on what is given? For numbers",
    "crt": "x against made-up copies of x from a model you know (in Python)",
    "test-of-tests": "how many parts of the rows reject, with noise",
}
METHODS = tuple(WORDS)


def register(app: typer.Typer) -> None:
    """Add the ``test`` command to ``app``."""
    listed = "\n".join(f"{name}: {words}" for name, words in WORDS.items())
    app.command("test", help=HELP.format(methods=listed))(run_test)


def run_test(
    data: Annotated[
        Path, typer.Argument(help="A .csv, .tsv, .parquet, .arrow or .feather file.", parser=path)
    ],
    schema: Annotated[
        Path, typer.Option("--schema", help="The schema file (see dpcausal schema).", parser=path)
    ],
    x: Annotated[str, typer.Option("--x", help="A column.")],
    y: Annotated[str, typer.Option("--y", help="Another column.")],
    given: Annotated[
        str | None, typer.Option("--given", help="Columns to condition on, with commas.")
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", help="One of the methods above.", autocompletion=lambda: list(METHODS)),
    ] = "auto",
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="What it may cost; less is safer.")
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", help="How probably the promise may fail; below 1/rows.")
    ] = 0.0,
    level: Annotated[float, typer.Option("--level", help="Size of the test.")] = 0.05,
    neighbours: Annotated[
        str,
        typer.Option(
            "--neighbours",
            help="What one row may do: replace-one (say anything else) or add-remove (be missing).",
            autocompletion=lambda: ["replace-one", "add-remove"],
        ),
    ] = "replace-one",
    ledger: Annotated[str | None, typer.Option("--ledger", help="Charge this ledger first.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data set there.")] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run it; the result goes to standard output, and to files in DIR where one is given."""
    import dpcausal as dc
    from dpcausal.citests.base import Question
    from dpcausal.cli.options import draft_is_told, warn_weak
    from dpcausal.core.arguments import checked_level
    from dpcausal.core.errors import InputError
    from dpcausal.core.progress import shown
    from dpcausal.data.draft import order_remarks
    from dpcausal.data.schema import place_of
    from dpcausal.privacy.accounting.filter import check_total

    if (epsilon is None) != no_privacy:
        raise InputError("give either --epsilon or --no-privacy")
    if no_privacy and (delta or ledger is not None):
        raise InputError("--no-privacy charges nothing: it goes with no --delta and no --ledger")
    names = [name.strip() for name in (given or "").split(",") if name.strip()]
    if given is not None and not names:
        raise InputError(f"--given names no column: {given!r}; leave it out to condition on none")
    declared = dc.Schema.from_toml(schema)
    question = Question.of(declared, x, y, names)  # before a large file is read
    try:
        question.refuse_one_level(declared)
    except InputError as error:
        single = next(name for name in (question.x, question.y) if declared[name].size == 1)
        raise InputError(f"{place_of(schema, single)}: {error}") from None
    checked_level(level)
    if epsilon is not None:
        check_total(epsilon, delta)
    if epsilon is not None and not as_json:
        draft_is_told()
    bars = not as_json and sys.stderr.isatty()
    rows = dc.read(data, declared, progress=bars)
    where: Place | None = None
    with nullcontext() if out is None else prepared(out):
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
        if out is not None:
            try:
                where = place(out)
                files = {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
                write_texts(where.folder, files)
            except InputError:  # paid for: not to be lost
                typer.echo(found.to_json() if as_json else found.summary())
                raise
    if found.method in ("kendall", "spearman"):
        for line in order_remarks({name: declared[name] for name in (x, y)}):
            warnings.warn(line, UserWarning, stacklevel=1)
    public = None if neighbours == "add-remove" else rows.n
    warn_weak(epsilon, delta, public, None if as_json else found.privacy)
    typer.echo(found.to_json() if as_json else found.summary())
    if where is not None:
        tell_place(where, as_json)
