"""``dpcausal effect --release DIR``: an effect from the tables or moments that a discovery released, at no cost."""

from __future__ import annotations

import warnings
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import typer

from dpcausal.cli.options import say
from dpcausal.cli.release_dir import place, prepared, tell_place, write_texts
from dpcausal.core.errors import InputError


def refuse_paid(given: Mapping[str, Any]) -> None:
    """Refuse options, by name, that only a table measured now has a use for: those that are set."""
    named = [name for name, value in given.items() if value]
    if named:
        raise InputError(
            f"--release takes everything from what was released, free: leave out {', '.join(named)}"
        )


def without_none(adjust: list[str] | None, columns: Container[str]) -> list[str] | None:
    """Return the columns to hold fixed: none of them for the word "none", unless a column is called so.

    >>> without_none(["none"], ["age"]), without_none(["none"], ["none"]), without_none(None, [])
    ([], ['none'], None)
    """
    return [] if adjust == ["none"] and "none" not in columns else adjust


def graph_is_told() -> None:
    """From here on no warning of what the graph says against a question: the answer will print it."""
    from dpcausal.effects.effect import AdjustsForDescendant, LeavesBackDoorOpen

    for kind in (AdjustsForDescendant, LeavesBackDoorOpen):
        warnings.filterwarnings("ignore", category=kind)


def run_free(
    release: Path,
    treatment: str,
    outcome: str,
    adjust: list[str] | None,
    question: Mapping[str, Any],
    out: Path | None,
    *,
    full: bool,
    as_json: bool,
) -> None:
    """Answer from what is in ``release``, with what its graph says to hold fixed; print it, and write it to DIR."""
    from dpcausal.discovery.release import load_release

    kept = load_release(release)
    if not as_json:
        graph_is_told()
    found = kept.effect(treatment, outcome, adjust=without_none(adjust, kept.schema), **question)
    if as_json:
        typer.echo(found.to_json())
    else:
        say(found.summary(full=full))
    if out is not None:
        with prepared(out):
            where = place(out)
            write_texts(
                where.folder, {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
            )
        tell_place(where, as_json)
