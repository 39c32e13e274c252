"""``dpcausal discover``: a causal graph from a file, written to a directory with its privacy statement."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.effects_asked import effects_json, parse_effects, with_effects
from dpcausal.cli.file_options import Columns, Encoding, Sheet, restricted
from dpcausal.cli.method_options import Options, default_word, parse_options, takes, types_of
from dpcausal.cli.options import (
    AsJson,
    Command,
    DatasetName,
    Delta,
    Full,
    LedgerUrl,
    Relation,
    SchemaFile,
    charging,
    draft_is_told,
    method_named,
    names_of,
    origin_of,
    path,
    say,
    warn_weak,
)
from dpcausal.cli.release_dir import Place, kept_words, place, prepared, write_texts
from dpcausal.cli.source_options import Explain, OptionalFile, SourceUrl, TableName, explained, rows_of
from dpcausal.core.arguments import checked_level
from dpcausal.core.errors import InputError, no_columns
from dpcausal.privacy.accounting.composition import check_total

if TYPE_CHECKING:
    from dpcausal.discovery.knowledge import Edge
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.present.files import Origin

HELP = """Learn a causal graph under differential privacy.

It has arrows where the data decide a direction and plain edges where they do
not. Pairs that could not be decided are listed as open, and are no edges.

[bold]Examples[/bold]

# --tiers: what comes before what in time, so that no arrow points back
dpcausal discover patients.csv --schema schema.toml \\
  --tiers "age,sex;smoke;bronc" --epsilon 0.5 --delta 1e-6 --out graph

# charged to a ledger before any noise is drawn; one JSON object for a script
dpcausal discover patients.csv --schema schema.toml \\
  --tiers "age,sex;smoke;bronc" --epsilon 0.5 --delta 1e-6 --out graph \\
  --ledger sqlite:///budget.db --dataset cohort --json

# only what is linked to one column: less noise, more columns
dpcausal discover patients.csv --schema schema.toml \\
  --target bronc --epsilon 0.5 --delta 1e-6 --out graph

# then how large an effect is, with noise of its own; the total covers both
dpcausal discover patients.csv --schema schema.toml \\
  --epsilon 1 --delta 1e-6 --effect smoke,bronc --reserve 0.3 --out graph

# not private, to compare with
dpcausal discover patients.csv --schema schema.toml --method pc \\
  --out classical

[bold]What it writes[/bold]

DIR gets report.html, privacy.json, the graph (graph.svg, .json, .dot,
.graphml; for R graph.dagitty and arcs.csv), pairs.csv (every pair: found,
hint, absent or open) and registry.yaml, a draft for OpenDP's registry.
release.json (measured, moments) is for dpcausal again and effect --release,
both free. An earlier release is kept in DIR/earlier-1 and so on.

[bold]Methods[/bold] (dpcausal discover --help-methods: with their options)

{methods}"""

AUTO = "moments where most columns hold numbers and rows are many, else measured"


def described_methods() -> dict[str, str]:
    """Return every method with its own description; loading them takes a moment."""
    from dpcausal.discovery.discover import METHODS

    return {"auto": AUTO, **{name: method.description for name, method in METHODS.items()}}


def described_with_options() -> list[str]:
    """Return a paragraph a method: what it does, then a line for each option that --option takes."""
    from dpcausal.discovery.discover import METHODS

    found = [f"auto: {AUTO}"]
    for name, method in METHODS.items():
        types = method.option_types
        lines = [
            f"  {option}={default_word(default)}: {method.option_lines[option]} ({takes(types[option])})"
            for option, default in method.options.items()
        ]
        found.append("\n".join([f"{name}: {method.description}", *lines]))
    return found


class DiscoverCommand(Command):
    """Lists the methods when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page."""
        listed = "\n".join(f"{name}: {does}" for name, does in described_methods().items())
        self.help = HELP.format(methods=listed)
        super().format_help(ctx, formatter)
        name = method_named(ctx.meta.get("words", ()))
        for paragraph in described_with_options():
            if name is not None and paragraph.startswith(f"{name}:"):
                typer.echo(f"--option takes, for {paragraph}")


def help_methods(value: bool) -> None:
    """Print every method with its options, and stop."""
    if value:
        typer.echo("\n\n".join(described_with_options()))
        raise typer.Exit


def register(app: typer.Typer) -> None:
    """Add the ``discover`` command to ``app``."""
    app.command("discover", cls=DiscoverCommand, help=HELP.partition("\n")[0])(run_discover)


def parse_edges(option: str, texts: list[str]) -> list[Edge]:
    """``a:b`` is the arrow a -> b, ``a--b`` the edge either way round.

    >>> parse_edges("--required", ["a:b", "c--d"]) == [("a", "b"), frozenset({"c", "d"})]
    True
    """
    edges: list[Edge] = []
    for text in texts:
        ends = text.split("--") if "--" in text else text.split(":")
        if len(ends) != 2 or not all(end.strip() for end in ends):
            raise InputError(
                f"{option} takes a:b (an arrow) or a--b (an edge either way round), not {text!r}"
            )
        a, b = (end.strip() for end in ends)
        edges.append(frozenset((a, b)) if "--" in text and a != b else (a, b))
    return edges


def parse_tiers(texts: list[str] | None) -> list[list[str]]:
    """``a,b;c`` is the tier a, b before the tier c, and so is ``a,b`` and then ``c`` where the option is repeated.

    >>> parse_tiers(["a, b; c"]), parse_tiers(["a", "b,c"]), parse_tiers(None)
    ([['a', 'b'], ['c']], [['a'], ['b', 'c']], [])
    """
    if texts is None:
        return []
    text = ";".join(texts)
    tiers = [[name.strip() for name in tier.split(",") if name.strip()] for tier in text.split(";")]
    if not any(tiers):
        raise InputError(f"--tiers names no column: {text!r}; it takes 'a,b;c': a and b before c")
    return [tier for tier in tiers if tier]


def shown_result(
    result: DiscoveryResult,
    told: list[str],
    effects: list[dict[str, Any]],
    as_json: bool,
    *,
    show_open: bool,
    full: bool,
) -> str:
    """What goes to standard output: a summary and a text for each effect, or one JSON object."""
    if not as_json:
        effects_head = ["", "EFFECTS"] if full and told else []
        return "\n".join([result.summary(open=show_open, full=full), *effects_head, *told])
    if not effects:
        return result.to_json()
    return json.dumps({**result.to_dict(), "effects": effects}, indent=2, ensure_ascii=False, allow_nan=False)


def write(
    result: DiscoveryResult,
    out: Path,
    origin: Origin,
    *,
    show_open: bool = False,
    effects: list[dict[str, Any]] | None = None,
) -> Place:
    """The privacy statement, the graph in all its formats, effects and the report; where they went."""
    from dpcausal.present.files import file_texts
    from dpcausal.present.page import write as write_page

    where = place(out)
    more = {"effects.json": effects_json(effects)} if effects else {}
    write_texts(where.folder, {**file_texts(result, open=show_open, data=origin.data), **more})
    write_page(result, where.folder / "report.html", origin=origin, open=show_open)
    return where


def run_discover(
    schema: SchemaFile,
    data: OptionalFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Directory to write to; --explain needs none.", metavar="DIR", parser=path
        ),
    ] = None,
    source: SourceUrl = None,
    table: TableName = None,
    explain: Explain = False,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="What it may cost in all; less is safer.")
    ] = None,
    delta: Delta = 0.0,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="One of the methods named above.",
            autocompletion=lambda: list(described_methods()),
        ),
    ] = "auto",
    level: Annotated[
        float,
        typer.Option("--level", help="Level of each test: how often it shows a link where there is none."),
    ] = 0.05,
    max_order: Annotated[
        int | None, typer.Option("--max-order", help="Most columns held fixed at once.")
    ] = None,
    neighbours: Relation = "replace-one",
    required: Annotated[
        list[str] | None, typer.Option("--required", help="An arrow a:b, or an edge a--b; repeat it.")
    ] = None,
    forbidden: Annotated[
        list[str] | None, typer.Option("--forbidden", help="An arrow a:b, or an edge a--b; repeat it.")
    ] = None,
    tiers: Annotated[
        list[str] | None,
        typer.Option(
            "--tiers",
            help="Columns in order of time: 'a,b;c' puts a and b before c. No arrow points back; between a and b it "
            "may go either way.",
        ),
    ] = None,
    ledger: LedgerUrl = None,
    dataset: DatasetName = None,
    confidence: Annotated[
        int | None,
        typer.Option("--confidence", help="How many repeats tell how often an edge is found again; no cost."),
    ] = None,
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
    option: Options = None,
    show_open: Annotated[
        bool,
        typer.Option(
            "--show-open", help="Show pairs that could not be decided, too: listed, and drawn faint."
        ),
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option(
            "--anyway",
            help="Pay although a strong link would be found in under 20% of cases; else that is refused.",
        ),
    ] = False,
    columns: Columns = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    full: Full = False,
    as_json: AsJson = False,
    methods: Annotated[
        bool,
        typer.Option(
            "--help-methods",
            help="List the methods with their options.",
            is_eager=True,
            callback=help_methods,
        ),
    ] = False,
) -> None:
    """Run it; files go to DIR, a summary or the JSON object to standard output."""
    import dpcausal as dc
    from dpcausal.discovery.discover import discover, method_named
    from dpcausal.discovery.knowledge import Knowledge
    from dpcausal.discovery.reserve import checked_effects, checked_reserve
    from dpcausal.planning.measurement import mostly_numbers

    if out is None and not explain:
        raise InputError("Missing option '--out'.")
    if epsilon is None and method != "pc" and not explain:
        raise InputError(
            "give an --epsilon: --epsilon 0.5 is a start (half of a budget of 1); without privacy there is --method pc"
        )
    if epsilon is None and not explain and (delta or ledger is not None):
        raise InputError("--method pc charges nothing: it goes with no --delta and no --ledger")
    if method != "auto":
        method_named(method)
    if confidence is not None and confidence < 0:
        raise InputError(f"--confidence takes a number of repeats, zero or above, not {confidence}")
    if confidence and method not in ("auto", "measured", "moments"):
        raise InputError(f"--confidence goes with --method measured or moments, not with {method}")
    checked_level(level)
    of_method = parse_options(option or [], types_of(method, option or []), method) if option else {}
    for name, value in (("confidence", confidence), ("target", target)):
        if value is not None and name in of_method:
            raise InputError(f"give {name} once: as --{name} or as --option {name}=...")
    confidence, target = of_method.pop("confidence", confidence), of_method.pop("target", target)
    effects = parse_effects(effect or [], reserve)
    if effects and epsilon is None:
        raise InputError(
            "--effect after --method pc: ask dpcausal effect --graph, there is no budget to share"
        )
    if epsilon is not None:
        check_total(epsilon, delta)  # before a large file is read
    kept = checked_reserve(reserve, epsilon, effects)
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "method": method,
        "level": level,
        "neighbours": neighbours,
        "max_order": max_order,
        "required": parse_edges("--required", required or []),
        "forbidden": parse_edges("--forbidden", forbidden or []),
        "tiers": parse_tiers(tiers),
        "ledger": ledger,
        "dataset": dataset,
        "reserve": kept or None,
        "effect": effects,
    }
    chosen = names_of("--columns", columns, "leave it out for all")
    # names come before anything is said about the budget
    groups = (options["required"], options["forbidden"], options["tiers"], effects)
    named = [name for group in groups for part in group for name in sorted(part)]
    named += [] if target is None else [target]
    declared = restricted(dc.Schema.from_toml(schema), chosen, encoding, sheet, data, named)
    checked_effects(effects, declared)
    Knowledge.of(tuple(declared), options["required"], options["forbidden"], options["tiers"])
    if target is not None and target not in declared:
        raise InputError(no_columns([target], declared))
    numeric = [name for name, column in declared.items() if isinstance(column, dc.Numeric)]
    if epsilon is not None and not as_json:
        draft_is_told()
    tables = method == "measured" or (
        method == "auto" and (target is not None or not mostly_numbers(tuple(declared), numeric))
    )
    if target is not None and not tables:
        raise InputError(f"--target goes with --method measured, not with {method}")
    if confidence is not None and (tables or method in ("auto", "moments")):
        options["confidence"] = confidence
    if target is not None:
        options["target"] = target
    if latent:
        options["latent"] = True
    bars = not as_json and sys.stderr.isatty()
    if explain:
        by_moments = method == "moments" or (method == "auto" and not tables)
        given = of_method.get("harmonics")
        harmonics = None if not by_moments else 1 if given is None else given
        typer.echo(explained(data, source, table, declared, harmonics=harmonics))
        return
    assert out is not None
    rows = rows_of(data, source, table, declared, bars)
    texts = {
        "required": required or [],
        "forbidden": forbidden or [],
        "tiers": tiers or [],
        "effect": effect or [],
    }
    with prepared(out):
        asked = {**options, "reserve": kept}
        with charging(data):
            result = discover(rows, progress=bars, anyway=anyway, **asked, **of_method)
        result, told, found = with_effects(result, effects)
        try:
            where = write(
                result,
                out,
                origin_of(
                    data or source or "",
                    schema,
                    out,
                    options,
                    texts,
                    of_method,
                    {"columns": chosen, "encoding": encoding, "sheet": sheet},
                    table,
                    connected=data is None,
                ),
                show_open=show_open,
                effects=found,
            )
        except InputError:  # paid for: not to be lost
            typer.echo(shown_result(result, told, found, as_json, show_open=show_open, full=full))
            raise
    text = shown_result(result, told, found, as_json, show_open=show_open, full=full)
    files_head = "\n\nFILES" if full else ""
    if as_json:
        typer.echo(text)
    else:
        from dpcausal.present.graph_words import written_words  # loaded by the text above

        say(f"{text}{files_head}\n{written_words(result, str(where.folder), full=full)}")
    if where.fault:
        raise InputError(where.fault)
    public = None if neighbours == "add-remove" else rows.n
    warn_weak(epsilon, delta, public, None if as_json else result.privacy)
    if where.kept is not None:
        typer.echo(kept_words(where.kept), err=as_json)
