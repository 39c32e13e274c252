"""The directory of a release: made before anything is charged, removed if nothing came of it, never written over.

An earlier release there was paid for with budget that does not come back, so its files move to ``earlier-1``,
``earlier-2``, ... (the first free number) before new ones are written. The new ones are paid for by then, too: where
the earlier can't be moved they are written to ``new-1``, ... beside them, and the command fails, since a script would
else take the earlier release for the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from dpcausal.cli.output import say
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.core.statement import PrivacyStatement


class Answer(Protocol):
    """What a test or an effect returns."""

    @property
    def privacy(self) -> PrivacyStatement: ...
    def to_json(self) -> str: ...
    def summary(self, *, full: bool = ...) -> str: ...


A = TypeVar("A", bound=Answer)

FILES = (
    "privacy.json",
    "graph.json",
    "graph.dot",
    "graph.graphml",
    "graph.svg",
    "graph.dagitty",
    "arcs.csv",
    "pairs.csv",
    "registry.yaml",
    "release.json",
    "effects.json",
    "report.html",
    "hits.tsv",
    "hits.png",
    "answer.json",
)  # of discover, of gwas and of test


@contextmanager
def prepared(out: Path) -> Iterator[Path]:
    """The directory, made and found to be writable; those made here go again if an error leaves them empty."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".dpcausal"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        _remove_empty(made)
        raise InputError(f"can't write to the directory {str(out)!r}: {error.strerror or error}") from None
    try:
        yield out
    except BaseException:
        _remove_empty(made)
        raise


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:  # the deepest first
        try:
            folder.rmdir()
        except OSError:
            return


@dataclass(frozen=True)
class Place:
    """Where the files of a release go: ``folder``; ``kept``, where an earlier one went; ``fault``, why not to DIR."""

    folder: Path
    kept: Path | None = None
    fault: str = ""


def place(out: Path) -> Place:
    """``out`` itself, its earlier release moved away; or a new directory in it, where that can't be done."""
    try:
        return Place(out, keep_earlier(out))
    except OSError as error:
        why = f"can't move the earlier release in {str(out)!r}: {error.strerror or error}"
    folder = _first_free(out, "new")
    try:
        folder.mkdir()
    except OSError:
        raise InputError(why) from None
    return Place(folder, None, f"{why}; it is unchanged, and the new release, paid for, is in {folder}")


def keep_earlier(out: Path) -> Path | None:
    """Move an earlier release in ``out`` to a directory of its own, all of it or nothing; None if there is none."""
    found = [out / name for name in FILES if (out / name).exists()]
    if not found:
        return None
    kept = _first_free(out, "earlier")
    kept.mkdir()
    moved: list[Path] = []
    try:
        for file in found:
            file.rename(kept / file.name)
            moved.append(file)
    except OSError:
        with suppress(OSError):
            for file in moved:
                (kept / file.name).rename(file)
            kept.rmdir()
        raise
    return kept


def _first_free(out: Path, name: str) -> Path:
    number = 1
    while (folder := out / f"{name}-{number}").exists():
        number += 1
    return folder


def tell_place(where: Place, as_json: bool) -> None:
    """Say where an earlier release went; that the new one did not go to DIR itself is an error."""
    if where.fault:
        raise InputError(where.fault)
    if where.kept is not None:
        typer.echo(f"The earlier release is kept in {where.kept}", err=as_json)


def write_texts(out: Path, files: Mapping[str, str]) -> None:
    """Text files by name, each ended by a line feed."""
    for name, text in files.items():
        try:
            (out / name).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"can't write {str(out / name)!r}: {error.strerror or error}") from None


def answered(ask: Callable[[], A], out: Path | None, *, full: bool, as_json: bool) -> A:
    """Ask for an answer and print it; where DIR is given it is made first, and gets answer.json and privacy.json."""
    where = None
    with nullcontext() if out is None else prepared(out):
        found = ask()
        text = found.to_json() if as_json else found.summary(full=full)
        if out is not None:
            try:
                where = place(out)
                files = {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
                write_texts(where.folder, files)
            except InputError:  # paid for: not to be lost
                typer.echo(text)
                raise
    if as_json:
        typer.echo(text)
    else:
        say(text)
    if where is not None:
        if not as_json:
            typer.echo(f"Written to {where.folder}")
        tell_place(where, as_json)
    return found
