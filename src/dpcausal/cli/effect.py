"""``dpcausal effect``: how much a treatment changes an outcome, other columns held fixed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.desk import DeskUrl, at_desk
from dpcausal.cli.options import (
    AnswerDir,
    AsJson,
    DatasetName,
    Delta,
    Encoding,
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
    import dpcausal as dc

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

# an event in the course of time: risks by year 5, censored rows counted as such
dpcausal effect trial.csv --schema trial.toml --treatment drug \\
  --time futime --event status --horizon 5 --adjust age,sex --epsilon 1

# a ratio, of the levels that you name; charged to a ledger; kept in files
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome bronc --adjust age --estimand "risk ratio" --compare no,yes \\
  --event yes --epsilon 1 --ledger sqlite:///budget.db --dataset cohort \\
  --out answer"""


def columns_to_adjust(adjust: list[str] | None, columns: Container[str]) -> list[str] | None:
    """Return the columns to adjust for: no column for the word "none", unless a column has that name.

    >>> columns_to_adjust(["none"], ["age"]), columns_to_adjust(["none"], ["none"]), columns_to_adjust(None, [])
    ([], ['none'], None)
    """
    return [] if adjust == ["none"] and "none" not in columns else adjust


def _follow_up(
    time: str | None, event: str | None, outcome: str | None, named: dict[str, Any]
) -> dc.Survival | None:
    """Return the follow-up that options describe; None where the outcome is a column."""
    import dpcausal as dc

    if time is None:
        if unused := [name for name, value in named.items() if value is not None]:
            raise InputError(f"{', '.join(unused)}: only with --time, the column of follow-up times")
        return None
    if outcome is not None:
        raise InputError("--outcome is a column by itself; with --time the outcome is that of --event")
    if event is None or named["--horizon"] is None:
        raise InputError("--time needs --event, the column of the status, and --horizon")
    return dc.Survival(
        time,
        event,
        named["--horizon"],
        None if named["--cuts"] is None else numbers("--cuts", named["--cuts"]),
        event_level=named["--event-level"],
        censored=named["--censored"],
    )


def numbers(option: str, texts: list[str]) -> list[float]:
    """Return the numbers that an option lists, with commas or repeated; raise ``InputError`` for anything else.

    >>> numbers("--cuts", ["1,2.5", "4"])
    [1.0, 2.5, 4.0]
    """
    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} must be numbers with commas between them: {', '.join(texts)}") from None


def run_effect(
    treatment: Annotated[str, typer.Option("--treatment", help="The column whose effect is asked.")],
    outcome: Annotated[str | None, typer.Option("--outcome", help="The column that it may change.")] = None,
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
            "--event",
            help='The level of the outcome whose risk is meant; of a number, a cut: ">= 400". With --time, the column '
            "that says what ended the follow-up: its first level means censored, its second the event, others compete.",
        ),
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="The column of follow-up times, instead of --outcome.")
    ] = None,
    horizon: Annotated[
        float | None, typer.Option("--horizon", help="The time by which the risk of the event is meant.")
    ] = None,
    cuts: Annotated[
        list[str] | None,
        typer.Option(
            "--cuts",
            help="Where the life table is cut before the horizon: with commas, or repeat it.",
            metavar="A,B",
        ),
    ] = None,
    event_level: Annotated[
        str | None, typer.Option("--event-level", help="The level of --event that is meant, with --time.")
    ] = None,
    censored: Annotated[
        str | None, typer.Option("--censored", help="The level of --event that means censored, with --time.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="auto, table (strata) or regression (many columns).",
            autocompletion=lambda: ["auto", "table", "regression"],
        ),
    ] = "auto",
    population: Annotated[
        str,
        typer.Option(
            "--population",
            help="Whose effect: auto, all, exposed (those treated) or overlap (where both are common).",
            autocompletion=lambda: ["auto", "all", "exposed", "overlap"],
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
    person: Person = None,
    purpose: Purpose = None,
    desk: DeskUrl = None,
    out: AnswerDir = None,
    no_privacy: NoPrivacy = False,
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
    unit: UnitColumn = None,
    rows_per_unit: RowsPerUnit = None,
    order_by: OrderBy = None,
    full: Full = False,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Estimate an effect; print it, and write it to files in ``out`` where that is given."""
    import dpcausal as dc

    survival = {"--horizon": horizon, "--cuts": cuts, "--event-level": event_level, "--censored": censored}
    followed = _follow_up(time, event, outcome, survival)
    event = event if followed is None else None
    if followed is None and outcome is None:
        raise InputError("Missing option '--outcome', or --time, --event and --horizon for a follow-up")
    about: Any = outcome if followed is None else followed
    asked: dict[str, Any] = {
        "estimand": estimand,
        "compare": None if compare is None else [name.strip() for name in compare.split(",")],
        "event": event,
        "population": population,
        "level": level,
        "anyway": anyway,
    }
    names = None if adjust is None else parse_names("--adjust", adjust, "--adjust none holds nothing fixed")
    if not as_json and not forecast:  # the answer prints what the graph says against the question
        for kind in (dc.AdjustsForDescendant, dc.LeavesBackDoorOpen):
            warnings.filterwarnings("ignore", category=kind)
    if release is not None:
        named = {"the file": data, "--source": source, "--schema": schema, "--graph": graph}
        charged = {"--epsilon": epsilon, "--delta": delta, "--ledger": ledger, "--no-privacy": no_privacy}
        unused = [name for name, value in {**named, **charged, "--forecast": forecast}.items() if value]
        if unused:
            raise InputError(
                f"--release takes everything from what was released, free: leave out {', '.join(unused)}"
            )
        if followed is not None:
            raise InputError("no search releases the table of a follow-up: name the file and an --epsilon")
        loaded = dc.load_release(release)
        asked["adjust"] = columns_to_adjust(names, loaded.schema)
        print_answer_of(lambda: loaded.effect(treatment, about, **asked), out, full=full, as_json=as_json)
        return
    if desk is not None:
        local = {
            "the file": data, "--source": source, "--table": table, "--schema": schema, "--ledger": ledger,
            "--person": person, "--encoding": encoding, "--sheet": sheet, "--no-privacy": no_privacy,
            "--graph": graph,
        }  # fmt: skip
        if outcome is None:
            raise InputError(
                "a desk takes --outcome: a follow-up (--time, --event) is asked where the rows are"
            )
        remote = at_desk(desk, dataset, local, "free" if forecast else purpose)
        asked |= {"epsilon": epsilon, "delta": delta, "method": method}
        asked["adjust"] = columns_to_adjust(names, remote.schema)
        sent = {name: value for name, value in asked.items() if value is not None or name == "epsilon"}
        if forecast:
            print_forecast(remote.forecast_effect(treatment, outcome, **sent), None, None, as_json)
            return
        sent |= {"purpose": str(purpose), "progress": not as_json and sys.stderr.isatty()}
        print_answer_of(lambda: remote.effect(treatment, outcome, **sent), out, full=full, as_json=as_json)
        return
    if schema is None:
        raise InputError("Missing option '--schema'. Draft one with: dpcausal schema FILE > schema.toml")
    whole = dc.Schema.from_toml(schema).with_unit(unit, rows_per_unit, order_by)
    asked |= {
        **epsilon_of(epsilon, no_privacy),
        "adjust": columns_to_adjust(names, whole),
        "graph": graph,
        "delta": delta,
        "method": method,
        "neighbours": neighbours,
    }
    columns = [about] if followed is None else [followed.time, followed.event]
    declared = restrict_schema(
        whole, [], encoding, sheet, data, [treatment, *columns, *(asked["adjust"] or ())]
    )
    if not no_privacy and not as_json:
        silence_draft_warning()
    bars = not as_json and sys.stderr.isatty()
    rows = rows_of(data, source, table, declared, bars)
    if forecast:
        print_forecast(dc.forecast_effect(rows, treatment, about, **asked), ledger, dataset, as_json)
        return

    def measured() -> dc.EffectResult:
        with warn_before_charge(data, ledger, person, purpose), shown("measuring", None, bars):
            return dc.effect(rows, treatment, about, **asked, ledger=ledger, dataset=dataset)

    found = print_answer_of(measured, out, full=full, as_json=as_json)
    warn_weak_answer(found.privacy, rows, as_json)
