"""``dpcausal discover``: a causal graph from a file, written to a directory with its privacy statement."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dpcausal.cli.codes import CodeName, CodesFile, People, read_code_files
from dpcausal.cli.desk import DeskUrl, at_desk
from dpcausal.cli.method_options import (
    Choice,
    MethodsCommand,
    Options,
    default_word,
    help_methods,
    parse_options,
    types_of,
)
from dpcausal.cli.options import (
    AsJson,
    Columns,
    Confidence,
    DatasetName,
    Delta,
    DirectionLevel,
    Encoding,
    Epsilon,
    Explain,
    Forbidden,
    Full,
    LedgerUrl,
    MaxOrder,
    OptionalFile,
    OptionalSchema,
    OrderBy,
    Person,
    Purpose,
    Relation,
    Required,
    RowsPerUnit,
    Sheet,
    ShowOpen,
    SourceUrl,
    TableName,
    Tiers,
    UnitColumn,
    explained,
    option_words,
    parse_edges,
    parse_effects,
    parse_names,
    parse_tiers,
    path,
    restrict_schema,
    rows_of,
)
from dpcausal.cli.output import print_answer, silence_draft_warning, warn_before_charge, warn_weak_answer
from dpcausal.cli.release_dir import Place, choose_folder, report_place, writable_directory, write_texts
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.core.redact import file_name, ledger_name

if TYPE_CHECKING:
    from dpcausal.data.schema import Schema
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.present.files import Origin

HELP = """Learn a causal graph under differential privacy.

An edge has an arrow where one direction is likely enough. Pairs that could not
be decided are open, and no edges.

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

# exactly what dpcausal plan --out plans said would be measured
dpcausal discover patients.csv --schema schema.toml \\
  --plan plans/plan.json --out graph

# a long table of persons and codes (diagnoses, drugs): links among hundreds
dpcausal discover codes.csv --codes codes.txt --unit pid --code icd10 \\
  --people persons.csv --epsilon 1 --delta 1e-6 --out graph

# not private, to compare with
dpcausal discover patients.csv --schema schema.toml --method pc --out exact

[bold]What it writes[/bold]

DIR gets report.html, privacy.json, the graph (graph.svg, .json, .dot,
.graphml; for R graph.dagitty and arcs.csv), pairs.csv (every pair: found,
hint, absent or open) and registry.yaml, a draft for OpenDP's registry.
release.json (measured, moments) is for dpcausal again and effect --release,
both free. An earlier release is kept in DIR/earlier-1 and so on.

[bold]Methods[/bold] (dpcausal discover --help-methods: with their options)

{methods}"""

AUTO = "codes for --codes, moments where most columns hold numbers and rows are many, else measured"


def choices() -> dict[str, Choice]:
    """Return the description and the options of every method, by name."""
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
    """Return the help page, which lists all methods."""
    return HELP.format(methods="\n".join(f"{name}: {one.does}" for name, one in choices().items()))


class DiscoverCommand(MethodsCommand):
    """``dpcausal discover``, whose help lists all methods."""

    choices, page = staticmethod(choices), staticmethod(page)


def result_text(
    result: DiscoveryResult,
    effect_texts: list[str],
    effects: list[dict[str, Any]],
    as_json: bool,
    *,
    show_open: bool,
    full: bool,
) -> str:
    """Return what is printed: a summary and a text for each effect, or one JSON object."""
    if not as_json:
        effects_head = ["", "EFFECTS"] if full and effect_texts else []
        return "\n".join([result.summary(open=show_open, full=full), *effects_head, *effect_texts])
    if not effects:
        return result.to_json()
    return json.dumps({**result.to_dict(), "effects": effects}, indent=2, ensure_ascii=False, allow_nan=False)


def write(
    result: DiscoveryResult,
    out: Path,
    origin: Origin | None,
    *,
    show_open: bool = False,
    effects: list[dict[str, Any]] | None = None,
) -> Place:
    """Write the statement, the graph in all formats, effects and the report; return where they were written."""
    from dpcausal.present.files import file_texts
    from dpcausal.present.page import write as write_page

    where = choose_folder(out)
    more = {"effects.json": json.dumps(effects, indent=2, ensure_ascii=False)} if effects else {}
    write_texts(
        where.folder,
        {**file_texts(result, open=show_open, data="" if origin is None else origin.data), **more},
    )
    write_page(result, where.folder / "report.html", origin=origin, open=show_open)
    return where


def with_effects(
    result: DiscoveryResult, asked: Sequence[tuple[str, str]]
) -> tuple[DiscoveryResult, list[str], list[dict[str, Any]]]:
    """Estimate effects after a search; return the result with the statement of both, their texts and plain data.

    Each effect takes an equal part of the reserved share, or is free where none was reserved. Where the graph shows
    that there is no effect, nothing is spent.
    """
    from dpcausal.present.effect import answer_words, assumes_lines

    texts, data = [], []
    for treatment, outcome in asked:
        try:
            found = result.effect(treatment, outcome)
        except DpcausalError as error:  # the graph is paid for: it is not to be lost
            texts.append(f"Effect of {treatment} on {outcome}: none estimated: {error}.")
            data.append({"treatment": treatment, "outcome": outcome, "estimate": None, "why": str(error)})
            continue
        result = replace(result, privacy=found.privacy)
        texts.append("\n".join([answer_words(found), *assumes_lines(found)]))
        data.append({name: value for name, value in found.to_dict().items() if name != "privacy"})
    return result, texts, data


USUAL = {"delta": 0.0, "method": "auto", "level": 0.05, "neighbours": "replace-one"}


def origin_of(
    data: Path | str,
    table: str | None,
    connected: bool,
    schema: Path | None,
    out: Path,
    options: Mapping[str, Any],
    texts: Mapping[str, list[str] | None],
    of_method: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> Origin:
    """Return how a result was made, for its report: the command, and the arguments of the same call in Python.

    ``options`` by their names in Python; ``texts``, how those were written that take more than a word.

    ``of_method``: options of the method, which the command takes as ``--option NAME=VALUE``. ``reading``: how the file
    is written, and the columns where only some are used. ``table``: of an engine or a DuckDB file. ``connected``: given
    by ``--source``. What is as usual is left out.

    >>> found = origin_of("p.csv", None, False, Path("s.toml"), Path("out"), {"epsilon": 1.0, "delta": 0.0}, {}, {}, {})
    >>> found.shell()
    'dpcausal discover p.csv --schema s.toml --epsilon 1 --out out'
    """
    from dpcausal.present.files import Origin

    given = {name: value for name, value in options.items() if value not in (None, [], USUAL.get(name))}
    given |= {"ledger": ledger_name(str(given["ledger"]))} if "ledger" in given else {}
    given |= {"plan": file_name(str(given["plan"]))} if "plan" in given else {}
    declared = "" if schema is None else file_name(str(schema))
    text = str(data)
    if text.startswith("duckdb:///"):
        text, connected = text.removeprefix("duckdb:///"), False  # such a file goes without --source
    rows = ledger_name(text) if "://" in text else file_name(text)
    where = [*(["--source"] if connected else []), rows, *(["--table", table] if table else [])]
    words = ["dpcausal", "discover", *where, *(["--schema", declared] if declared else [])]
    reading = {name: value for name, value in reading.items() if value}
    reading |= {name: file_name(str(reading[name])) for name in ("codes", "people") if name in reading}
    for name, value in reading.items():
        words += [f"--{name}", value if isinstance(value, str) else ",".join(value)]
    words += option_words(given, texts)
    for name, value in of_method.items():
        words += ["--option", f"{name}={default_word(value)}"]
    classical = {"epsilon": None} if "epsilon" in options else {}
    arguments = {**classical, **given, **of_method}
    words += ["--out", file_name(str(out))]
    return Origin(rows, declared, words, arguments, reading, table or "", connected)


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


def print_release(result: DiscoveryResult, text: str, where: Place, *, full: bool, as_json: bool) -> None:
    """Print a result and where it was written; raise ``InputError`` where it could not be written to ``--out``."""
    if as_json:
        typer.echo(text)
    else:
        from dpcausal.present.graph_words import written_words  # loaded by the text above

        files_head = "\n\nFILES" if full else ""
        print_answer(f"{text}{files_head}\n{written_words(result, str(where.folder), full=full)}")
    report_place(where, as_json)


def run_discover(
    schema: OptionalSchema = None,
    data: OptionalFile = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Directory to write to.", metavar="DIR", parser=path),
    ] = None,
    source: SourceUrl = None,
    table: TableName = None,
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
    max_order: MaxOrder = None,
    neighbours: Relation = "replace-one",
    required: Required = None,
    forbidden: Forbidden = None,
    tiers: Tiers = None,
    ledger: LedgerUrl = None,
    dataset: DatasetName = None,
    person: Person = None,
    purpose: Purpose = None,
    desk: DeskUrl = None,
    direction_level: DirectionLevel = None,
    confidence: Confidence = None,
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
    codes: CodesFile = None,
    unit: UnitColumn = None,
    code: CodeName = None,
    people: People = None,
    rows_per_unit: RowsPerUnit = None,
    order_by: OrderBy = None,
    columns: Columns = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    full: Full = False,
    as_json: AsJson = False,
    methods: Annotated[bool, help_methods(choices)] = False,
) -> None:
    """Learn a graph; write files to ``out`` and print a summary or JSON."""
    import dpcausal as dc

    if schema is None and codes is None and desk is None:
        raise InputError("Missing option '--schema'. Draft one with: dpcausal schema FILE > schema.toml")
    if out is None and not explain:
        raise InputError("Missing option '--out'.")
    of_method = parse_options(option, types_of(method, option), method) if option else {}
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "method": method,
        "level": level,
        "neighbours": neighbours,
        "max_order": max_order,
        "required": parse_edges("--required", required),
        "forbidden": parse_edges("--forbidden", forbidden),
        "tiers": parse_tiers(tiers),
        "ledger": ledger,
        "dataset": dataset,
        "direction_level": direction_level,
        "confidence": confidence,
        "target": target,
        "latent": latent or None,
        "effect": parse_effects(effect, reserve),
        "reserve": reserve,
        "plan": plan,
        "anyway": anyway or None,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    for name in asked.keys() & of_method:
        raise InputError(f"give {name} once: as --{name} or as --option {name}=...")
    if method == "pc":
        asked.setdefault("epsilon", None)
    bars = not as_json and sys.stderr.isatty()
    if desk is not None and out is not None:
        unused = {
            "the file": data, "--source": source, "--table": table, "--schema": schema, "--ledger": ledger,
            "--person": person, "--plan": plan, "--effect": effect, "--columns": columns, "--encoding": encoding,
            "--sheet": sheet, "--explain": explain,
        }  # fmt: skip
        remote = at_desk(desk, dataset, unused, purpose)
        sent = {name: value for name, value in {**asked, **of_method}.items() if value not in (None, [])}
        sent = {
            name: value for name, value in sent.items() if name not in ("dataset", "neighbours", "effect")
        }
        with writable_directory(out):
            found_there = remote.discover(purpose=str(purpose), progress=bars, **{"epsilon": None, **sent})
            where = write(found_there, out, None, show_open=show_open)
        text = result_text(found_there, [], [], as_json, show_open=show_open, full=full)
        print_release(found_there, text, where, full=full, as_json=as_json)
        return
    chosen = parse_names("--columns", columns, "leave it out for all")
    named = columns_named({**asked, **of_method})
    if codes is None and (code is not None or people is not None):
        raise InputError("--code and --people go with --codes: a file that lists the codes to use")
    of_codes = {"codes": codes, "unit": unit, "code": code, "people": people}
    declared = None
    if schema is not None and codes is None:
        whole = dc.Schema.from_toml(schema).with_unit(unit, rows_per_unit, order_by)
        declared = restrict_schema(whole, chosen, encoding, sheet, data, named)
    if declared is not None and (out is None or explain):
        harmonics = harmonics_asked({**asked, **of_method}, declared)
        typer.echo(explained(data, source, table, declared, harmonics=harmonics))
        return
    if method != "pc" and not as_json:
        silence_draft_warning()
    if declared is None:
        others = {
            "--source": source,
            "--table": table,
            "--explain": explain,
            "--columns": chosen,
            "--plan": plan,
            "--rows-per-unit": rows_per_unit,
            "--order-by": order_by,
        }
        reads = {**of_codes, "encoding": encoding, "sheet": sheet}
        rows: Any = read_code_files(data, cast("Path", codes), reads, schema, others)
    else:
        rows = rows_of(data, source, table, declared, bars)
    assert out is not None  # only an explanation goes without
    with writable_directory(out):
        with warn_before_charge(data, ledger, person, purpose):
            result = dc.discover(rows, progress=bars, **asked, **of_method)
        result, effect_texts, found = with_effects(result, asked["effect"])
        text = result_text(result, effect_texts, found, as_json, show_open=show_open, full=full)
        texts = {"required": required, "forbidden": forbidden, "tiers": tiers, "effect": effect}
        reading: dict[str, Any] = {**of_codes, "columns": chosen, "encoding": encoding, "sheet": sheet}
        reading |= {"rows_per_unit": rows_per_unit, "order_by": order_by}
        origin_of_rows = (data or source or "", table, data is None)
        origin = origin_of(*origin_of_rows, schema, out, asked, texts, of_method, reading)
        try:
            where = write(result, out, origin, show_open=show_open, effects=found)
        except InputError:  # paid for: not to be lost
            typer.echo(text)
            raise
    print_release(result, text, where, full=full, as_json=as_json)
    warn_weak_answer(result.privacy, rows, as_json)
