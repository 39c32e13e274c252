"""``dpcausal discover``: a causal graph from a file, written to a directory with its privacy statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.effect import columns_to_adjust
from dpcausal.cli.method_options import (
    Choice,
    MethodsCommand,
    Options,
    help_methods,
    parse_options,
    types_of,
)
from dpcausal.cli.options import (
    Columns,
    Delta,
    DeskCharge,
    Epsilon,
    Explain,
    GraphOptions,
    Printing,
    Relation,
    ShowOpen,
    given,
    parse_effects,
    parse_names,
    path,
    spread,
)
from dpcausal.cli.output import silence_draft_warning, warn_weak_answer
from dpcausal.cli.release_dir import EffectsAsked, print_graph, writable_directory
from dpcausal.cli.rows import Codes, Here, Rows
from dpcausal.cli.usage import typed_command
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.redact import file_name
from dpcausal.present.origin import Code, Origin, call_text, python_text

if TYPE_CHECKING:
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.result import DiscoveryResult

HELP = """Learn a causal graph under differential privacy.

An edge has an arrow where one direction is likely enough. Pairs that could not
be decided are open, and no edges.

[bold]Examples[/bold]

# --tiers: what comes before what in time, so that no arrow points back;
# the ledger is charged before any noise is drawn
dpcausal discover patients.csv --schema schema.toml \\
  --tiers "age,sex;smoke;bronc" --epsilon 0.5 --delta 1e-6 --out graph \\
  --ledger sqlite:///budget.db --dataset cohort

# only what is linked to one column: less noise, more columns
dpcausal discover patients.csv --schema schema.toml \\
  --target bronc --epsilon 0.5 --delta 1e-6 --out graph

# then how large an effect is, with noise of its own; the total covers both
dpcausal discover patients.csv --schema schema.toml \\
  --epsilon 1 --delta 1e-6 --effect smoke,bronc --reserve 0.3 --out graph

# a long table of persons and codes (diagnoses, drugs): links among hundreds
dpcausal discover codes.csv --codes codes.txt --unit pid --code icd10 \\
  --people persons.csv --epsilon 1 --delta 1e-6 --out graph

# not private, to compare with
dpcausal discover patients.csv --schema schema.toml --method pc --out exact

[bold]What it writes[/bold]

DIR gets report.html, privacy.json, the graph (graph.svg, .json, .dot,
.graphml, .dagitty, arcs.csv), pairs.csv (every pair), registry.yaml (for
OpenDP's registry) and release.json (measured, moments), for dpcausal again and
effect --release, both free. An earlier release is kept in DIR/earlier-1.

[bold]Methods[/bold] (dpcausal discover --help-methods: with their options)

{methods}"""

AUTO = "codes for --codes, moments where most columns hold numbers and rows are many, else measured"


def choices() -> dict[str, Choice]:
    """Return the description and the options of every method of discovery, by name."""
    from dpcausal.discovery.discover import METHODS

    return {
        "auto": Choice(AUTO),
        **{
            name: Choice(
                method.description,
                tuple(
                    (option, default, method.option_lines[option], method.option_types[option])
                    for option, default in method.options.items()
                ),
            )
            for name, method in METHODS.items()
        },
    }


def page() -> str:
    """Return the text of the help page of ``discover``, which lists all methods."""
    return HELP.format(methods="\n".join(f"{name}: {one.does}" for name, one in choices().items()))


class DiscoverCommand(MethodsCommand):
    """``dpcausal discover``, whose help lists all methods."""

    choices, page = staticmethod(choices), staticmethod(page)


def with_effects(
    result: DiscoveryResult, asked: Sequence[tuple[str, str]], adjust: Sequence[str] | None, *, anyway: bool
) -> tuple[DiscoveryResult, EffectsAsked]:
    """Estimate effects after a search; return the result with the statement of both, and the effects.

    Each effect takes an equal part of the reserved share, or is free where none was reserved. ``adjust`` None: the
    graph says what to hold fixed, and where it shows that there is no effect, nothing is spent.
    """
    from dpcausal.present.effect import answer_words, assumes_lines

    texts, data = [], []
    for treatment, outcome in asked:
        try:
            found = result.effect(treatment, outcome, adjust=adjust, anyway=anyway)
        except DpcausalError as error:  # the graph is paid for: it is not to be lost
            texts.append(f"Effect of {treatment} on {outcome}: none estimated: {error}.")
            data.append({"treatment": treatment, "outcome": outcome, "estimate": None, "why": str(error)})
            continue
        result = replace(result, privacy=found.privacy)
        texts.append("\n".join([answer_words(found), *assumes_lines(found)]))
        data.append({name: value for name, value in found.to_dict().items() if name != "privacy"})
    return result, EffectsAsked(texts, data)


def refuse_held(held: Sequence[str], asked: Sequence[tuple[str, str]], schema: Schema) -> None:
    """Refuse columns to hold fixed that are not declared, or are a treatment or an outcome that is asked about.

    That is before the search is paid for: an effect that can't be asked afterwards would lose its share.
    """
    for name in held:
        if name not in schema:
            raise InputError(f"--adjust {name}: no column of the schema has that name")
        pair = next((pair for pair in asked if name in pair), None)
        if pair is not None:
            raise InputError(f"--adjust {name}: it is itself a column of --effect {','.join(pair)}")


USUAL = {"delta": 0.0, "method": "auto", "level": 0.05, "neighbours": "replace-one"}


def origin_of(
    place: Here, asked: Mapping[str, Any], of_method: Mapping[str, Any], adjust: Sequence[str] | None = None
) -> Origin:
    """Return how a result was made, for its report.

    ``asked``: the arguments in Python, of which what is as usual is left out; ``of_method``: the method that was used
    and its options; ``adjust``: what its effects hold fixed.
    """
    named = {name: value for name, value in asked.items() if value not in (None, [], USUAL.get(name))}
    named |= {"plan": file_name(str(named["plan"]))} if "plan" in named else {}
    fixed = {} if adjust is None else {"adjust": list(adjust)}
    effects = [f"print({call_text('result.effect', pair, fixed)})" for pair in asked.get("effect", ())]
    named = {"epsilon": None, **named} if "epsilon" in asked else named
    call = python_text("dc.discover", [Code("data")], {**named, **of_method}, place.python_lines(), effects)
    return Origin(place.rows.name, typed_command(), call)


def columns_named(asked: Mapping[str, Any]) -> list[str]:
    """Return the columns that the arguments of ``discover`` name.

    >>> columns_named({"tiers": [["b", "a"]], "required": [("c", "d")], "target": "e"})
    ['c', 'd', 'a', 'b', 'e']
    """
    groups = (asked.get(name, ()) for name in ("required", "forbidden", "tiers", "effect"))
    named = [name for group in groups for part in group for name in sorted(part)]
    return [*named, *([] if asked.get("target") is None else [asked["target"]])]


def harmonics_asked(asked: Mapping[str, Any], schema: Schema) -> int | None:
    """Return the number of harmonics that ``moments`` would use; None where another method would be run."""
    from dpcausal.data.columns import Numeric
    from dpcausal.planning.measurement_plan import mostly_numbers

    numeric = [name for name, column in schema.items() if isinstance(column, Numeric)]
    auto = asked["method"] == "auto" and asked.get("target") is None
    if asked["method"] != "moments" and not (auto and mostly_numbers(tuple(schema), numeric)):
        return None
    return 1 if asked.get("harmonics") is None else int(asked["harmonics"])


@spread
def run_discover(
    rows: Rows,
    codes: Codes,
    graph: GraphOptions,
    charge: DeskCharge,
    printing: Printing,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory to write to.", metavar="DIR", parser=path),
    ] = None,
    explain: Explain = False,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="One of the methods named above.",
            autocompletion=lambda: list(choices()),
        ),
    ] = "auto",
    level: Annotated[
        float,
        typer.Option("--level", help="Level of each test: how often it shows a link where there is none."),
    ] = 0.05,
    neighbours: Relation = "replace-one",
    target: Annotated[
        str | None,
        typer.Option("--target", help="Only what is directly linked to this column; less noise."),
    ] = None,
    latent: Annotated[
        bool,
        typer.Option(
            "--latent",
            help="Allow for common causes that are not in the table (FCI); edges have marks at both ends.",
        ),
    ] = False,
    effect: Annotated[
        list[str] | None,
        typer.Option(
            "--effect", help="Then estimate the effect of A on B, out of --reserve; repeat it.", metavar="A,B"
        ),
    ] = None,
    reserve: Annotated[
        float | None,
        typer.Option("--reserve", help="Share of the budget that the search leaves for --effect (0.3)."),
    ] = None,
    adjust: Annotated[
        list[str] | None,
        typer.Option(
            "--adjust",
            help="With --effect: columns to hold fixed, whatever the graph says; none for nothing. Without it, what "
            "the graph says.",
            metavar="A,B",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            help="A plan.json of dpcausal plan: measure exactly that.",
            metavar="FILE",
            parser=path,
        ),
    ] = None,
    option: Options = None,
    show_open: ShowOpen = False,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Pay although a strong link would be found in under 20% of cases; else that is refused.",
        ),
    ] = False,
    columns: Columns = None,
    methods: Annotated[bool, help_methods(choices)] = False,
) -> None:
    """Learn a graph; write files to ``out`` and print a summary or JSON."""
    of_method = parse_options(option, types_of(method, option), method)
    asked = given(
        epsilon=epsilon, delta=delta, method=method, level=level, neighbours=neighbours, **graph.asked(),
        target=target, latent=latent or None, effect=parse_effects(effect, reserve) or None, reserve=reserve,
        plan=plan, anyway=anyway or None,
    )  # fmt: skip
    for name in asked.keys() & of_method:
        raise InputError(f"give {name} once: as --{name} or as --option {name}=...")
    if method == "pc":
        asked.setdefault("epsilon", None)
    elif not printing.as_json:
        silence_draft_warning()
    chosen = parse_names("--columns", columns, "leave it out for all")
    only_here = {"--plan": plan, "--effect": effect, "--columns": columns, "--explain": explain}
    held = None if adjust is None else parse_names("--adjust", adjust, "--adjust none holds nothing fixed")
    if held is not None and not effect:
        raise InputError("--adjust: only with --effect treatment,outcome, whose effect it is for")
    place = codes.place_of(rows, charge, printing, columns=chosen, only_here=only_here)
    place.refuse_undeclared([*columns_named({**asked, **of_method}), *(held or ())])
    if held:
        held = columns_to_adjust(held, place.schema) or []
        refuse_held(held, asked["effect"], place.schema)
    if explain:
        typer.echo(
            rows.explained(place.schema, harmonics=harmonics_asked({**asked, **of_method}, place.schema))
        )
        return
    if out is None:
        raise InputError("Missing option '--out'.")
    with writable_directory(out):
        found = place.ask("discover", **asked, **of_method)
        result, effects = with_effects(found, asked.get("effect", ()), held, anyway=anyway)
        origin = None
        if isinstance(place, Here):
            known = {**asked, "ledger": charge.ledger, "dataset": charge.dataset}
            origin = origin_of(place, known, {**of_method, "method": result.method}, held)
        print_graph(result, out, origin, printing, show_open=show_open, effects=effects)
    warn_weak_answer(result.privacy, place, printing.as_json)
