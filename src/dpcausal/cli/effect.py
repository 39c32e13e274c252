"""``dpcausal effect``: how much a treatment changes an outcome, other columns held fixed."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.options import AnswerOptions, DeskCharge, Printing, given, parse_names, path, spread
from dpcausal.cli.output import silence_graph_warnings, warn_weak_answer
from dpcausal.cli.release_dir import print_answer_of
from dpcausal.cli.rows import Rows, answered, place_of, refuse_given
from dpcausal.core.errors import InputError

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

# an event in the course of time: risks by year 5, censored rows counted as such
dpcausal effect trial.csv --schema trial.toml --treatment drug \\
  --time futime --event status --horizon 5 --adjust age,sex --epsilon 1

# a ratio, of a number by a cut; charged to a ledger; kept in files
dpcausal effect patients.csv --schema schema.toml --treatment smoke \\
  --outcome fev --event "< 80" --adjust age --estimand "risk ratio" \\
  --epsilon 1 --ledger sqlite:///budget.db --dataset cohort --out answer"""


def columns_to_adjust(adjust: list[str] | None, columns: Container[str]) -> list[str] | None:
    """Return the columns to adjust for: no column for the word "none", unless a column has that name.

    >>> columns_to_adjust(["none"], ["age"]), columns_to_adjust(["none"], ["none"]), columns_to_adjust(None, [])
    ([], ['none'], None)
    """
    return [] if adjust == ["none"] and "none" not in columns else adjust


def numbers(option: str, texts: list[str]) -> list[float]:
    """Parse the numbers of an option, with commas or repeated; raise ``InputError`` for anything else.

    >>> numbers("--cuts", ["1,2.5", "4"])
    [1.0, 2.5, 4.0]
    """
    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} must be numbers with commas between them: {', '.join(texts)}") from None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the treatment may change: a column, or an event in the course of a follow-up."""

    outcome: Annotated[str | None, typer.Option("--outcome", help="The column that it may change.")] = None
    event: Annotated[
        str | None,
        typer.Option(
            "--event",
            help='The level of the outcome whose risk is meant; of a number, a cut: ">= 400". With --time, the column '
            "that says what ended the follow-up: its first level means censored, its second the event, others compete.",
        ),
    ] = None
    time: Annotated[
        str | None, typer.Option("--time", help="The column of follow-up times, instead of --outcome.")
    ] = None
    horizon: Annotated[
        float | None, typer.Option("--horizon", help="The time by which the risk of the event is meant.")
    ] = None
    cuts: Annotated[
        list[str] | None,
        typer.Option(
            "--cuts",
            help="Where the life table is cut before the horizon: with commas, or repeat it.",
            metavar="A,B",
        ),
    ] = None
    event_level: Annotated[
        str | None, typer.Option("--event-level", help="The level of --event that is meant, with --time.")
    ] = None
    censored: Annotated[
        str | None, typer.Option("--censored", help="The level of --event that means censored, with --time.")
    ] = None

    def asked(self) -> tuple[str | dc.Survival, str | None]:
        """Return the outcome and the level of it that is the event."""
        from dpcausal.effects.survival import Survival

        if self.time is None:
            with_time = {"--horizon": self.horizon, "--cuts": self.cuts, "--event-level": self.event_level}
            with_time["--censored"] = self.censored
            refuse_given(with_time, "{}: only with --time, the column of follow-up times")
            if self.outcome is None:
                raise InputError(
                    "Missing option '--outcome', or --time, --event and --horizon for a follow-up"
                )
            return self.outcome, self.event
        if self.outcome is not None:
            raise InputError("--outcome is a column by itself; with --time the outcome is that of --event")
        if self.event is None or self.horizon is None:
            raise InputError("--time needs --event, the column of the status, and --horizon")
        cuts = None if self.cuts is None else numbers("--cuts", self.cuts)
        event, censored = self.event_level, self.censored
        return Survival(self.time, self.event, self.horizon, cuts, event_level=event, censored=censored), None

    @property
    def columns(self) -> list[str]:
        """The columns that are named."""
        named = [self.outcome] if self.time is None else [self.time, self.event]
        return [name for name in named if name is not None]


@dataclass(frozen=True, kw_only=True)
class EffectAnswer(AnswerOptions):
    """What an effect may cost, and what its forecast takes."""

    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway", help="Go on where nothing could be said, or the graph warns; else refused, unpaid."
        ),
    ] = False
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast", help="Only say how wide the interval will be, from public numbers; costs nothing."
        ),
    ] = False
    share: Annotated[
        float | None,
        typer.Option(
            "--share", help="With --forecast: the share of rows with the treatment, a public guess."
        ),
    ] = None


@spread
def run_effect(
    treatment: Annotated[str, typer.Option("--treatment", help="The column whose effect is asked.")],
    outcome: Outcome,
    rows: Rows,
    charge: DeskCharge,
    printing: Printing,
    answer: EffectAnswer,
    release: Annotated[
        Path | None,
        typer.Option(
            "--release",
            help="What discover wrote: answer from its tables, free, without a file or an epsilon.",
            parser=path,
            metavar="DIR",
        ),
    ] = None,
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
    level: Annotated[
        float, typer.Option("--level", help="Confidence of the interval, not the level of a test.")
    ] = 0.95,
) -> None:
    """Estimate an effect; print it, and write it to files in ``out`` where that is given."""
    import dpcausal as dc

    about, event = outcome.asked()
    names = None if adjust is None else parse_names("--adjust", adjust, "--adjust none holds nothing fixed")
    levels = None if compare is None else [name.strip() for name in compare.split(",")]
    asked: dict[str, Any] = {
        "estimand": estimand, "population": population, "level": level, "anyway": answer.anyway,
        **given(event=event, compare=levels),
    }  # fmt: skip
    if (
        not printing.as_json and not answer.forecast
    ):  # the answer prints what the graph says against the question
        silence_graph_warnings()
    if release is not None:
        others = {
            **rows.given(),
            "--graph": graph,
            "--epsilon": answer.epsilon,
            "--delta": answer.delta,
            "--ledger": charge.ledger,
            "--desk": charge.desk,
            "--no-privacy": answer.no_privacy,
            "--forecast": answer.forecast,
            "--rows": answer.rows_ahead,
        }
        refuse_given(others, "--release takes everything from what was released, free: leave out {}")
        if not isinstance(about, str):
            raise InputError("no search releases the table of a follow-up: name the file and an --epsilon")
        loaded = dc.load_release(release)
        asked |= {"adjust": columns_to_adjust(names, loaded.schema)}
        print_answer_of(lambda: loaded.effect(treatment, about, **asked), answer.out, printing)
        return
    number = answer.rows_ahead
    only_here = {"--no-privacy": answer.no_privacy, "--graph": graph, "--rows": number}
    place = place_of(rows, charge, printing, free=answer.forecast, number=number, only_here=only_here)
    place.refuse_undeclared([treatment, *outcome.columns, *(columns_to_adjust(names, ()) or ())])
    held = columns_to_adjust(names, place.schema)
    asked |= {**answer.asked(), "method": method, **given(adjust=held, graph=graph)}
    found = answered(place, "effect", (treatment, about), asked, answer, charge, printing)
    if found is not None:
        warn_weak_answer(found.privacy, place, printing.as_json)
