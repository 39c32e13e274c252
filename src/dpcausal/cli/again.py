"""``dpcausal again``: another graph from what ``discover`` released, with other knowledge, at no cost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.discover import print_release, result_text, write
from dpcausal.cli.options import (
    AsJson,
    Confidence,
    DirectionLevel,
    Forbidden,
    Full,
    MaxOrder,
    Required,
    ShowOpen,
    Tiers,
    option_words,
    parse_edges,
    parse_tiers,
    path,
)
from dpcausal.cli.output import print_answer
from dpcausal.cli.release_dir import writable_directory
from dpcausal.core.redact import file_name

if TYPE_CHECKING:
    from dpcausal.discovery.result import DiscoveryResult

HELP = """Search a release again with other background knowledge, free.

DIR is what discover --out wrote: its release.json holds the noisy tables
or moments that were paid for (methods measured, moments and codes). The same
search runs on them once more: no row is read, nothing is charged and no
noise is drawn. Only what was measured then is used, so that some pairs may
stay open. An option that is left out is as in the first run.

[bold]Examples[/bold]

# all there is to say of the first run, in the terminal
dpcausal again first --full

# the order of time, which the first run did not know
dpcausal again first --tiers "age,sex;smoke,bronc" --out second

# an edge that a reviewer calls impossible; larger sets are not asked about
dpcausal again first --forbidden age--sex --max-order 1 --out third

# without what the first run declared; common causes may be hidden
dpcausal again first --forget --latent --out fourth

# an effect, free as well
dpcausal effect --release second --treatment smoke --outcome bronc"""


def read_earlier_pairs(release: Path) -> str:
    """Return the text of the pairs.csv that lies beside a release; empty where it can't be read."""
    folder = release if release.is_dir() else release.parent
    try:
        return (folder / "pairs.csv").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def describe_changes(before: str, result: DiscoveryResult, name: str) -> list[str]:
    """Return one line that compares the edges with those of an earlier pairs.csv; none where there is no such file."""
    from dpcausal.present.files import pairs_csv
    from dpcausal.present.graph_words import changes_line, edges_in, is_pairs

    if not is_pairs(before):
        return []
    return [changes_line(edges_in(before), edges_in(pairs_csv(result)), name)]


def run_again(
    release: Annotated[
        Path,
        typer.Argument(
            help="What discover wrote: the directory, or its release.json.", parser=path, metavar="DIR"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Directory to write to; nothing is written without it.", metavar="DIR", parser=path
        ),
    ] = None,
    tiers: Tiers = None,
    required: Required = None,
    forbidden: Forbidden = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Drop tiers, required and forbidden edges of the first run.")
    ] = False,
    max_order: MaxOrder = None,
    level: Annotated[float | None, typer.Option("--level", help="Size of each test.")] = None,
    latent: Annotated[
        bool | None,
        typer.Option("--latent/--no-latent", help="Whether common causes may be hidden (a PAG)."),
    ] = None,
    direction_level: DirectionLevel = None,
    confidence: Confidence = None,
    show_open: ShowOpen = False,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """Search a release again; write files to ``out`` where it is given, and print a summary or JSON."""
    from dpcausal.discovery.release import load_release
    from dpcausal.present.files import AgainOrigin
    from dpcausal.present.graph_words import NOTHING_WRITTEN

    none: list[Any] | None = [] if forget else None
    options: dict[str, Any] = {
        "tiers": none if tiers is None else parse_tiers(tiers),
        "required": none if required is None else parse_edges("--required", required),
        "forbidden": none if forbidden is None else parse_edges("--forbidden", forbidden),
        "max_order": max_order,
        "level": level,
        "latent": latent,
        "direction_level": direction_level,
        "confidence": confidence,
    }
    loaded = load_release(release)
    texts = {"tiers": tiers, "required": required, "forbidden": forbidden}
    given = {name: value for name, value in options.items() if value is not None}
    typed = {name: value for name, value in given.items() if texts.get(name, ()) is not None}
    words = [*(["--forget"] if forget else []), *option_words(typed, texts)]
    shown = file_name(str(release))
    bars = not as_json and sys.stderr.isatty()
    before, where = read_earlier_pairs(release), None
    if out is None:
        result = loaded.discover(**options, progress=bars)
    else:
        origin = AgainOrigin(
            f"release {loaded.id}",
            "",
            ["dpcausal", "again", shown, *words, "--out", file_name(str(out))],
            given,
            release=shown,
        )
        with writable_directory(out):
            result = loaded.discover(**options, progress=bars)
            where = write(result, out, origin, show_open=show_open)
    changed = [] if as_json else describe_changes(before, result, shown)
    text = result_text(result, [], [], as_json, show_open=show_open, full=full)
    text = "\n".join([text, *changed])
    if where is not None:
        print_release(result, text, where, full=full, as_json=as_json)
    elif as_json:
        typer.echo(text)
    else:
        print_answer(f"{text}\n{NOTHING_WRITTEN}")
