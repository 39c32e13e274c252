"""``dpcausal plan``: what can be learned at a budget, before any data is touched."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from dpcausal.cli.options import (
    AsJson,
    Columns,
    DatasetName,
    Delta,
    DeskUrl,
    Explain,
    OptionalSchema,
    Relation,
    SourceUrl,
    TableName,
    parse_names,
    parse_pair,
    path,
)
from dpcausal.cli.output import terminal_width, warn_weak
from dpcausal.cli.release_dir import writable_directory, write_texts
from dpcausal.cli.rows import NO_SCHEMA, Source, at_desk, table_of_rows
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown

PIPE_WIDTH = 110  # characters of a line where the output is no terminal

HELP = """Say what a budget will show, before any data is touched.

For every number of columns held fixed: whether a pair without a link can be
called absent, the smallest dependence w found 4 times in 5, and the epsilon
that finds a dependence you name. --full says what would be measured.
Only the schema is read: nothing is charged, whatever you try.

[bold]Examples[/bold]

dpcausal plan --schema schema.toml --rows 100000 --epsilon 1 --delta 1e-6

# few rows, levels as rare as 1 in 20: what does it take to find w = 0.2?
dpcausal plan --schema schema.toml --rows 5000 --epsilon 1 --delta 1e-6 \\
  --effect 0.2 --share 0.05

# two columns of your own
dpcausal plan --schema schema.toml --rows 100000 --epsilon 1 --delta 1e-6 \\
  --pair age,smoke

# fewer columns, as discover --columns would use them
dpcausal plan --schema schema.toml --rows 5000 --epsilon 1 --delta 1e-6 \\
  --columns age,smoke,bronc

# what is linked to one column: the budget goes to its tables
dpcausal plan --schema schema.toml --rows 5000 --epsilon 1 --delta 1e-6 \\
  --target smoke

# a picture and the numbers: plan/plan.png, plan/plan.json
dpcausal plan --schema schema.toml --rows 100000 --epsilon 0.1 \\
  --delta 1e-6 --neighbours add-remove --out plan"""


def run_plan(
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it may cost in all; less is safer.")],
    schema: OptionalSchema = None,
    rows: Annotated[
        int | None, typer.Option("--rows", help="How many rows there will be, about; or --source.")
    ] = None,
    source: SourceUrl = None,
    table: TableName = None,
    explain: Explain = False,
    delta: Delta = 0.0,
    neighbours: Relation = "replace-one",
    level: Annotated[float, typer.Option("--level", help="Size of each test.")] = 0.05,
    max_order: Annotated[
        int | None, typer.Option("--max-order", help="Largest conditioning set (default: 4, or all).")
    ] = None,
    effect: Annotated[
        float, typer.Option("--effect", help="The dependence w to be found: .1 weak, .3 medium, .5 strong.")
    ] = 0.1,
    share: Annotated[
        float | None,
        typer.Option("--share", help="Share of the rarest level of every column (default: all equal)."),
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option("--pair", help="Two columns to plan for, with a comma.", metavar="X,Y")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="The one column asked about, as in discover --target.")
    ] = None,
    columns: Columns = None,
    full: Annotated[bool, typer.Option("--full", help="Every column of the table, explained.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for plan.json and plan.png.", metavar="DIR", parser=path),
    ] = None,
    desk: DeskUrl = None,
    dataset: DatasetName = None,
    as_json: AsJson = False,
) -> None:
    """Print what a budget will show, as a table or JSON; write files to ``out`` where it is given."""
    from dpcausal.data.schema import Schema
    from dpcausal.planning.plan import plan

    if desk is not None:
        remote = at_desk(desk, dataset, {"--schema": schema, "--source": source, "--table": table})
        whole, rows = remote.schema, remote.rows if rows is None else rows
        neighbours = str(remote.facts["neighbours"])
    elif schema is None:
        raise InputError(NO_SCHEMA)
    else:
        whole = Schema.from_toml(schema)
    declared = Source().described(whole, parse_names("--columns", columns, "leave it out for all"))
    chosen = None if pair is None else parse_pair("--pair", ",".join(pair))
    if explain:
        if rows is not None:
            raise InputError("--explain prints what --source would be asked: with --rows nothing is")
        typer.echo(table_of_rows(source, table, declared, neighbours).explain_count())
        return
    if rows is None:
        rows = table_of_rows(source, table, declared, neighbours).n
    elif source is not None:
        raise InputError("give --rows or --source, not both")
    bars = not as_json and sys.stderr.isatty()
    with shown("planning (the first time on a machine compiles)", None, bars):
        found = plan(
            declared, rows, epsilon, delta, neighbours=neighbours, level=level,  # type: ignore[arg-type]
            max_order=max_order, effect=effect, share=share, pair=chosen, target=target,
        )  # fmt: skip
    if declared.is_draft:
        from dpcausal.data.read import DRAFT_WARNING, DraftSchema  # late: loads pyarrow

        warnings.warn(DRAFT_WARNING, DraftSchema, stacklevel=1)
    warn_weak(epsilon, delta, rows)
    if out is not None:
        with writable_directory(out):
            write_texts(out, {"plan.json": found.to_json()})
            found.draw(out / "plan.png")
    if as_json:
        typer.echo(found.to_json())
    else:
        typer.echo(found.summary(terminal_width() or PIPE_WIDTH, full=full))
    if out is not None and not as_json:
        typer.echo(f"Written to {out}")
