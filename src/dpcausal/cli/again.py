"""``dpcausal again``: another graph from what ``discover`` released, with other knowledge, at no cost."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.cli.options import GraphOptions, Printing, ShowOpen, given, path, spread
from dpcausal.cli.release_dir import print_graph, writable_directory
from dpcausal.cli.usage import typed_command
from dpcausal.core.errors import InputError
from dpcausal.core.redact import file_name

if TYPE_CHECKING:
    from dpcausal.graphs.graph import Graph

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


def earlier_graph(release: Path) -> Graph | None:
    """Return the graph that lies beside a release, as it was shown; None where it can't be read."""
    from dpcausal.graphs.doubts import read_graph, undirected_at

    folder = release if release.is_dir() else release.parent
    try:
        graph, doubts = read_graph(folder / "graph.json")
    except (InputError, OSError, UnicodeDecodeError):
        return None
    return graph if graph.kind == "pag" else undirected_at(graph, doubts.contradicted)


@spread
def run_again(
    release: Annotated[
        Path,
        typer.Argument(
            help="What discover wrote: the directory, or its release.json.", parser=path, metavar="DIR"
        ),
    ],
    graph: GraphOptions,
    printing: Printing,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Directory to write to; nothing is written without it.", metavar="DIR", parser=path
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Drop tiers, required and forbidden edges of the first run.")
    ] = False,
    level: Annotated[float | None, typer.Option("--level", help="Size of each test.")] = None,
    latent: Annotated[
        bool | None,
        typer.Option("--latent/--no-latent", help="Whether common causes may be hidden (a PAG)."),
    ] = None,
    show_open: ShowOpen = False,
) -> None:
    """Search a release again; write files to ``out`` where it is given, and print a summary or JSON."""
    from dpcausal.discovery.release import load_release
    from dpcausal.present.graph_words import changes_line
    from dpcausal.present.origin import Origin, python_text

    forgotten: dict[str, Any] = {"tiers": [], "required": [], "forbidden": []} if forget else {}
    asked = forgotten | graph.asked() | given(level=level, latent=latent)
    loaded, shown = load_release(release), file_name(str(release))
    before = None if printing.as_json else earlier_graph(release)
    call = python_text(f"dc.load_release({shown!r}).discover", [], asked)
    origin = Origin(f"release {loaded.id}", typed_command(), call)
    with nullcontext() if out is None else writable_directory(out):
        result = loaded.discover(**asked, progress=printing.bars)
        changes = [] if before is None else [changes_line(before, result.shown, shown)]
        print_graph(result, out, origin, printing, show_open=show_open, changes=changes)
