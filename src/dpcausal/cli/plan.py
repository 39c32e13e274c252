"""``dpcausal plan``: what can be learned at a budget, before any data is touched."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from dpcausal.cli.paths import path

HELP = """Say what a budget will show, before any data is touched.

For every order (number of columns conditioned on): whether it can be tested
at all, the smallest dependence w found 4 times in 5, how much of the scatter
is noise, and the epsilon that would be enough for a dependence you name.
Only the schema is read: nothing is charged, whatever you try.

[bold]Examples[/bold]

dpcausal plan --schema schema.toml --rows 100000 --epsilon 1 --delta 1e-6

# few rows, levels as rare as 1 in 20: what does it take to find w = 0.2?
dpcausal plan --schema schema.toml --rows 5000 --epsilon 1 \\
  --effect 0.2 --share 0.05

# a picture and the numbers: plan/plan.png, plan/plan.json
dpcausal plan --schema schema.toml --rows 100000 --epsilon 0.1 \\
  --neighbours add-remove --out plan"""


def register(app: typer.Typer) -> None:
    """Add the ``plan`` command to ``app``."""
    app.command("plan", help=HELP)(run_plan)


def run_plan(
    schema: Annotated[
        Path, typer.Option("--schema", help="The schema file (see dpcausal schema).", parser=path)
    ],
    rows: Annotated[int, typer.Option("--rows", help="How many rows there will be, about.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What it may cost in all; less is safer.")],
    delta: Annotated[
        float, typer.Option("--delta", help="How probably the promise may fail; below 1/rows.")
    ] = 0.0,
    neighbours: Annotated[
        str,
        typer.Option(
            "--neighbours",
            help="What one row may do: replace-one (say anything else) or add-remove (be missing).",
            autocompletion=lambda: ["replace-one", "add-remove"],
        ),
    ] = "replace-one",
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
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory for plan.json and plan.png.", metavar="DIR", parser=path),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Plan; the table or the JSON object goes to standard output."""
    from dpcausal.cli.release_dir import prepared, write_texts
    from dpcausal.cli.weak import warn_weak
    from dpcausal.data.scan import DRAFT, DraftSchema
    from dpcausal.data.schema import Schema
    from dpcausal.planning.plan import plan

    declared = Schema.from_toml(schema)
    found = plan(
        declared, rows, epsilon, delta, neighbours=neighbours, level=level, max_order=max_order, effect=effect,
        share=share,
    )  # fmt: skip
    if declared.draft:
        warnings.warn(DRAFT, DraftSchema, stacklevel=1)
    warn_weak(epsilon, delta, rows)
    if out is not None:
        with prepared(out):
            write_texts(out, {"plan.json": found.to_json()})
            found.draw(out / "plan.png")
    if as_json:
        typer.echo(found.to_json())
    elif sys.stdout.isatty():
        from rich.console import Console

        from dpcausal.planning.words import show

        show(found, Console())
    else:
        typer.echo(found.summary())
    if out is not None and not as_json:
        typer.echo(f"Written to {out}")
