"""``dpcausal protocol``, ``contribute`` and ``pool``: one graph from several sites, of which no row leaves any."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dpcausal.cli.options import (
    AsJson,
    Charge,
    Columns,
    DatasetName,
    Delta,
    GraphOptions,
    LedgerUrl,
    OptionalSchema,
    Printing,
    Relation,
    ShowOpen,
    given,
    parse_names,
    path,
    spread,
)
from dpcausal.cli.output import silence_draft_warning, warn_before_charge, warn_weak, warn_weak_answer
from dpcausal.cli.release_dir import print_graph, writable_directory, write_texts
from dpcausal.cli.rows import Source
from dpcausal.cli.usage import typed_command
from dpcausal.core.errors import InputError
from dpcausal.core.redact import file_name

PROTOCOL_HELP = """Agree on what several sites measure, before any row is read.

The file says which columns and pairs every site counts, with how much noise,
and what each is asked to charge, in words for a board of ethics ("words").

[bold]Examples[/bold]

dpcausal protocol --schema schema.toml --rows 1000,800,1500 \\
  --epsilon 1 --delta 1e-6 > protocol.json

# two rounds share the charge: the first shows all sites together which levels to
# merge where there are too many, else which pairs to measure again
dpcausal protocol --schema schema.toml --rows 1000,800,1500 \\
  --epsilon 1 --delta 1e-6 --rounds 2 > protocol.json

# a person may be in the rows of several sites: epsilons then add up
dpcausal protocol --schema schema.toml --rows 1000,800 --epsilon 0.5 \\
  --delta 1e-6 --persons several-sites > protocol.json"""

CONTRIBUTE_HELP = """Measure what a protocol asks of your site; the folder alone travels.

SITE gets release.json (noisy tables), privacy.json (what they cost) and
contribution.json (which protocol and site). It is charged before any noise is
drawn. dpcausal again SITE searches your own part by itself, free.

[bold]Examples[/bold]

dpcausal contribute patients.csv --protocol protocol.json --out site_a \\
  --ledger sqlite:///budget.db --dataset cohort

# your site lacks a column of the protocol
dpcausal contribute patients.csv --protocol protocol.json --out site_b \\
  --columns age,sex,smoke,bronc

# it tells fewer bins or levels apart: own.toml has fewer bins, or levels whose
# aliases are those of the protocol
dpcausal contribute patients.csv --protocol protocol.json --out site_c \\
  --schema own.toml

# the second round, with what the first left of its charge
dpcausal contribute patients.csv --protocol protocol-2.json --site site_a \\
  --rest-of site_a --out site_a-2 \\
  --ledger sqlite:///budget.db --dataset cohort"""

POOL_HELP = """Learn one graph from what several sites contributed, free.

No row is read, and nothing is charged. Links are asked about inside each site
and added up, so that sites with other margins make none. A folder that was
changed, is there twice or followed another protocol is refused.

[bold]Examples[/bold]

dpcausal pool north south east --out graph --tiers "age,sex;smoke;bronc"

# after the first of two rounds DIR also gets protocol-2.json; after both:
dpcausal pool north south east north-2 south-2 --out final

# other background knowledge, or an effect, free as well
dpcausal again graph --latent --out other
dpcausal effect --release graph --treatment smoke --outcome bronc"""


def run_protocol(
    schema: Annotated[
        Path, typer.Option("--schema", help="The schema file (see dpcausal schema).", parser=path)
    ],
    rows: Annotated[
        list[str], typer.Option("--rows", help="Rows of each site, about, with commas.", metavar="N,N")
    ],
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="What each site is asked to charge in all; less is safer.")
    ],
    delta: Delta = 0.0,
    neighbours: Relation = "replace-one",
    level: Annotated[float, typer.Option("--level", help="Size of each test.")] = 0.05,
    rounds: Annotated[
        int,
        typer.Option("--rounds", help="1, or 2: the second measures what the first shows to be worth it."),
    ] = 1,
    persons: Annotated[
        str,
        typer.Option(
            "--persons",
            help="one-site: each person is in the rows of one site; or several-sites.",
            autocompletion=lambda: ["one-site", "several-sites"],
        ),
    ] = "one-site",
    columns: Columns = None,
) -> None:
    """Print a protocol as JSON, and what it says in words on standard error where that is a terminal."""
    import dpcausal as dc

    names = parse_names("--columns", columns, "leave it out for all")
    declared = Source().described(dc.Schema.from_toml(schema), names)
    found = dc.protocol(
        declared, parse_rows(rows), epsilon, delta, neighbours=neighbours, level=level,  # type: ignore[arg-type]
        persons=persons, rounds=rounds,  # type: ignore[arg-type]
    )  # fmt: skip
    warn_weak(epsilon, delta, max(found.rows))
    typer.echo(found.to_json())
    if sys.stderr.isatty() and not sys.stdout.isatty():
        typer.echo(found.summary(), err=True)


def parse_rows(texts: list[str]) -> list[int]:
    """Return the rows of each site.

    >>> parse_rows(["1000,800", "1500"])
    [1000, 800, 1500]
    """
    words = [word.strip() for text in texts for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise InputError(f"--rows takes whole numbers with commas, such as 1000,800, not {','.join(texts)!r}")
    return [int(word) for word in words]


@spread
def run_contribute(
    rows: Source,
    protocol: Annotated[
        Path, typer.Option("--protocol", help="The file that dpcausal protocol wrote.", parser=path)
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Folder to write, which travels.", metavar="SITE", parser=path)
    ],
    site: Annotated[
        str | None, typer.Option("--site", help="Name of your site; else that of the folder.")
    ] = None,
    ledger: LedgerUrl = None,
    dataset: DatasetName = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Charged for all rounds, if not as the protocol asks.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="Charged for all rounds, if not as the protocol asks.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option("--neighbours", help="Of your site, if not as the protocol has it.")
    ] = None,
    rest_of: Annotated[
        Path | None,
        typer.Option(
            "--rest-of", help="Second round: the folder of your first.", metavar="SITE", parser=path
        ),
    ] = None,
    schema: OptionalSchema = None,
    columns: Columns = None,
    as_json: AsJson = False,
) -> None:
    """Measure what a protocol asks of a site; write the folder and print what it cost."""
    import dpcausal as dc
    from dpcausal.sites.contribute import checked_site, refuse_used
    from dpcausal.sites.protocol import load_protocol

    asked = load_protocol(protocol)
    refuse_used(out)
    name = checked_site(out.resolve().name if site is None else site)
    names = parse_names("--columns", columns, "leave it out for all")
    own = asked.schema if schema is None else dc.Schema.from_toml(schema)
    whole = rows.described(own, names)
    declared = whole.select([one for one in asked.schema if one in whole])
    if not as_json:
        silence_draft_warning()
    bars = Printing(as_json=as_json).bars
    counted = rows.read(declared, bars)
    with writable_directory(out):
        with warn_before_charge(rows.data, Charge()):
            found = dc.contribute(
                counted, asked, name, epsilon=epsilon, delta=delta, neighbours=neighbours,  # type: ignore[arg-type]
                rest_of=rest_of, ledger=ledger, dataset=dataset, progress=bars,
            )  # fmt: skip
        found.save(out)
    if as_json:
        data_of = {
            "site": found.site,
            "protocol": asked.id,
            "id": found.id,
            "privacy": found.privacy.to_dict(),
        }
        typer.echo(json.dumps(data_of, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        typer.echo(f"{found.summary()}\nWritten to {out}, which alone goes to whoever pools")
    warn_weak_answer(found.privacy, counted, as_json)


@spread
def run_pool(
    graph: GraphOptions,
    printing: Printing,
    sites: Annotated[
        list[Path],
        typer.Argument(
            help="Folders that dpcausal contribute wrote, of all rounds.", parser=path, metavar="SITE"
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Directory to write to.", metavar="DIR", parser=path)],
    level: Annotated[float | None, typer.Option("--level", help="Size of each test.")] = None,
    latent: Annotated[
        bool, typer.Option("--latent", help="Allow for common causes that are not in the table (a PAG).")
    ] = False,
    show_open: ShowOpen = False,
) -> None:
    """Learn one graph from contributions; write files to ``out`` and print a summary or JSON."""
    from dpcausal.present.origin import Origin, python_text
    from dpcausal.sites.contribute import load_contribution
    from dpcausal.sites.pool import next_protocol, pool

    asked = graph.asked() | given(level=level, latent=latent or None)
    contributions = [load_contribution(folder) for folder in sites]
    names = ", ".join(dict.fromkeys(one.site for one in contributions))
    with writable_directory(out):
        result = pool(contributions, progress=printing.bars, **asked)
        call = python_text("dc.pool", [[file_name(str(folder)) for folder in sites]], asked)
        origin = Origin(names, typed_command(), call)
        where = print_graph(result, out, origin, printing, show_open=show_open)
    further = next_protocol(contributions)
    if where is not None and further is not None:
        write_texts(where.folder, {"protocol-2.json": further.to_json()})
        if not printing.as_json:
            typer.echo(f"The second round: {where.folder / 'protocol-2.json'} goes to every site")
