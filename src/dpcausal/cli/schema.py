"""``dpcausal schema DATA``: a draft of a schema file on standard output."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def schema(
        data: str = typer.Argument(help="A .csv, .tsv, .parquet, .arrow or .feather file."),
    ) -> None:
        """Draft a schema file from the data, on standard output.

        The draft shows levels and bounds read from rows: it is not private until a person has checked every
        line against public knowledge.

        [bold]Examples[/bold]

        dpcausal schema patients.csv > schema.toml

        dpcausal schema patients.parquet > schema.toml
        """
        from dpcausal.data.draft import draft  # late: pyarrow, which other commands do without

        typer.echo(draft(data), nl=False)
