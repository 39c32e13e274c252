"""``dpcausal effect``: how much a treatment changes an outcome, other columns held fixed."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dpcausal.cli.effect_free import graph_is_told, refuse_paid, run_free, without_none
from dpcausal.cli.file_options import Encoding, Sheet, refuse_undeclared, restricted
from dpcausal.cli.options import (
    AsJson,
    Command,
    DatasetName,
    Delta,
    Full,
    LedgerUrl,
    OptionalSchema,
    Relation,
    charging,
    draft_is_told,
    epsilon_words,
    names_of,
    path,
    say,
    warn_weak,
)
from dpcausal.cli.release_dir import Place, place, prepared, tell_place, write_texts
from dpcausal.cli.source_options import OptionalFile, SourceUrl, TableName, rows_of
from dpcausal.core.errors import InputError
from dpcausal.core.progress import shown
from dpcausal.privacy.accounting.composition import check_total

HELP = """Estimate the effect of a treatment on an outcome, other columns held fixed, under differential privacy.

Prints the effect with an interval that holds sampling and privacy noise, what it
rests on, what it cost and what is left in the ledger. Two levels are taken in
declared order: the effect is second minus first. Where the interval is expected
to say nothing, the command refuses, and nothing is charged.

[bold]Examples[/bold]

dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome bronc --adjust age,sex --epsilon 1

# how wide the interval will be, before anything is charged
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome bronc --adjust age,sex --epsilon 1 --forecast

# what to hold fixed, from a graph that discover wrote
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome bronc --graph graph.json --epsilon 1

# from the tables that discover released, at no cost
dpcausal effect --release first --treatment smoke --outcome bronc --adjust age

# a number by a cut; nothing held fixed, as in a randomised trial
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome fev --event "< 80" --adjust none --epsilon 1

# a ratio, of the levels that you name; charged to a ledger; kept in files
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome bronc --adjust age --estimand "risk ratio" --compare no,yes \\
  --event yes --epsilon 1 --ledger sqlite:///budget.db --dataset cohort \\
  --out answer"""


def register(app: typer.Typer) -> None:
    """Add the ``effect`` command to ``app``."""
    app.command("effect", cls=Command, help=HELP)(run_effect)


def run_effect(
    treatment: Annotated[str, typer.Option("--treatment", help="The column whose effect is asked.")],
    outcome: Annotated[str, typer.Option("--outcome", help="The column that it may change.")],
    data: OptionalFile = None,
    schema: OptionalSchema = None,
    release: Annotated[
        Path | None,
        typer.Option(
            "--release",
            help="What discover wrote: answer from its tables, free, without a file or an epsilon.",
            parser=path,
            metavar="DIR",
        ),
    ] = None,
    source: SourceUrl = None,
    table: TableName = None,
    adjust: Annotated[
        list[str] | None,
        typer.Option(
            "--adjust",
            help="Columns to hold fixed: with commas, or repeat it; none for nothing. Without it, what the graph says "
            "(--graph, or that of --release); without a graph nothing: right in a randomised trial only.",
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            "--graph", help="A graph.json that says what to hold fixed.", parser=path, metavar="FILE"
        ),
    ] = None,
    estimand: Annotated[
        str,
        typer.Option(
            "--estimand",
            help="auto, risk difference, risk ratio, odds ratio or mean difference.",
            autocompletion=lambda: ["risk-difference", "risk-ratio", "odds-ratio", "mean-difference"],
        ),
    ] = "auto",
    compare: Annotated[
        str | None, typer.Option("--compare", help="Two levels of the treatment: from,to.", metavar="A,B")
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            "--event", help='The level of the outcome whose risk is meant; of a number, a cut: ">= 400".'
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, table (strata) or regression (many columns).",
            autocompletion=lambda: ["auto", "table", "regression"],
        ),
    ] = "auto",
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="What it may cost; less is safer.")
    ] = None,
    delta: Delta = 0.0,
    level: Annotated[
        float, typer.Option("--level", help="Confidence of the interval, not the level of a test.")
    ] = 0.95,
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
            "--anyway", help="Go on where nothing could be said, or the graph warns; else refused, unpaid."
        ),
    ] = False,
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast", help="Only say how wide the interval will be, from public numbers; costs nothing."
        ),
    ] = False,
    full: Full = False,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Estimate it; a few lines go to standard output, and files to DIR where one is given."""
    import dpcausal as dc
    from dpcausal.effects.effect import checked_confidence
    from dpcausal.effects.question import effect_question, schema_with_cut
    from dpcausal.graphs.doubts import read_graph
    from dpcausal.planning.look import left_in_ledger

    names = None if adjust is None else names_of("--adjust", adjust, "--adjust none holds nothing fixed")
    two = None if compare is None else [name.strip() for name in compare.split(",")]
    if release is not None:
        paid = {
            "the file": data,
            "--source": source,
            "--schema": schema,
            "--graph": graph,
            "--epsilon": epsilon,
        }
        more = {"--delta": delta, "--ledger": ledger, "--no-privacy": no_privacy, "--forecast": forecast}
        refuse_paid({**paid, **more})
        question = {"estimand": estimand, "compare": two, "event": event, "level": level, "anyway": anyway}
        run_free(release, treatment, outcome, names, question, out, full=full, as_json=as_json)
        return
    if schema is None:
        raise InputError("Missing option '--schema'. Draft one with: dpcausal schema FILE > schema.toml")
    if (epsilon is None) != no_privacy:
        raise InputError(epsilon_words(epsilon))
    if no_privacy and (delta or ledger is not None):
        raise InputError("--no-privacy charges nothing: it goes with no --delta and no --ledger")
    declared = restricted(dc.Schema.from_toml(schema), [], encoding, sheet)
    names = without_none(names, declared)
    refuse_undeclared(declared, [treatment, outcome, *(names or ())], data)
    asked_of = declared if source is not None else schema_with_cut(declared, outcome, event)
    # before a large file is read
    effect_question(
        asked_of, treatment, outcome, names or (), estimand=estimand, compare=two, event=event, values=True
    )
    checked_confidence(level)
    if epsilon is not None:
        check_total(epsilon, delta)
        if not as_json:
            draft_is_told()
    elif forecast:
        raise InputError("--forecast says what noise will do: it needs --epsilon")
    if graph is not None:
        read_graph(graph)  # before a large file is read
    bars = not as_json and sys.stderr.isatty()
    rows = rows_of(data, source, table, declared, bars)
    asked: dict[str, Any] = {
        "adjust": names,
        "graph": graph,
        "epsilon": epsilon,
        "delta": delta,
        "estimand": estimand,
        "compare": two,
        "event": event,
        "method": method,
        "level": level,
        "neighbours": neighbours,
    }
    if forecast:
        ahead = replace(
            dc.forecast_effect(rows, treatment, outcome, **asked, anyway=anyway),
            left=left_in_ledger(ledger, dataset),
        )
        if as_json:
            typer.echo(ahead.to_json())
        else:
            say(ahead.summary())
        return
    if not as_json:
        graph_is_told()
    where: Place | None = None
    with nullcontext() if out is None else prepared(out):
        with charging(data), shown("measuring", None, bars):
            found = dc.effect(
                rows,
                treatment,
                outcome,
                **asked,
                ledger=ledger,
                dataset=dataset,
                anyway=anyway,
            )
        if out is not None:
            try:
                where = place(out)
                files = {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
                write_texts(where.folder, files)
            except InputError:  # paid for: not to be lost
                typer.echo(found.to_json() if as_json else found.summary(full=full))
                raise
    public = None if neighbours == "add-remove" else rows.n
    warn_weak(epsilon, delta, public, None if as_json else found.privacy)
    if as_json:
        typer.echo(found.to_json())
    else:
        say(found.summary(full=full))
    if where is not None:
        tell_place(where, as_json)
