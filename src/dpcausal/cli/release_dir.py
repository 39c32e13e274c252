"""The directory of a release: made before anything is charged, removed if nothing came of it, never written over.

An earlier release there was paid for with budget that does not come back, so its files move to ``earlier-1``,
``earlier-2``, ... (the first free number) before new ones are written. The new ones are paid for by then, too: where
the earlier can't be moved they are written to ``new-1``, ... beside them, and the command fails, since a script would
else take the earlier release for the new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from dpcausal.cli.output import print_answer
from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.cli.options import Printing
    from dpcausal.core.statement import PrivacyStatement
    from dpcausal.discovery.result import DiscoveryResult
    from dpcausal.present.origin import Origin


class Answer(Protocol):
    """The result of a test or an effect."""

    @property
    def privacy(self) -> PrivacyStatement:
        """The privacy statement of the answer."""

    def to_json(self) -> str:
        """Return the answer as JSON."""

    def summary(self, *, full: bool = ...) -> str:
        """Return the answer as text; all of it with ``full``."""


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
def writable_directory(out: Path) -> Iterator[Path]:
    """Make a directory and check that it can be written to; remove it if an error leaves it empty."""
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
    """Remove folders, the deepest first, up to the first that is not empty."""
    for folder in folders:  # the deepest first
        try:
            folder.rmdir()
        except OSError:
            return


@dataclass(frozen=True)
class Place:
    """Where a release is written, where an earlier one was moved, and why it could not be written to --out."""

    folder: Path
    earlier: Path | None = None
    fault: str = ""


def choose_folder(out: Path) -> Place:
    """Make room for a release in ``out``: move an earlier one away, or choose a new folder inside."""
    try:
        return Place(out, move_earlier_release(out))
    except OSError as error:
        why = f"can't move the earlier release in {str(out)!r}: {error.strerror or error}"
    folder = _first_free(out, "new")
    try:
        folder.mkdir()
    except OSError:
        raise InputError(why) from None
    return Place(folder, None, f"{why}; it is unchanged, and the new release, paid for, is in {folder}")


def move_earlier_release(out: Path) -> Path | None:
    """Move the files of an earlier release, all or none, to a new folder; return it, None if there was none."""
    found = [out / name for name in FILES if (out / name).exists()]
    if not found:
        return None
    folder = _first_free(out, "earlier")
    folder.mkdir()
    moved: list[Path] = []
    try:
        for file in found:
            file.rename(folder / file.name)
            moved.append(file)
    except OSError:
        with suppress(OSError):
            for file in moved:
                (folder / file.name).rename(file)
            folder.rmdir()
        raise
    return folder


def _first_free(out: Path, name: str) -> Path:
    """Return the first of the folders NAME-1, NAME-2, ... that does not exist."""
    number = 1
    while (folder := out / f"{name}-{number}").exists():
        number += 1
    return folder


def report_place(where: Place, as_json: bool) -> None:
    """Print where an earlier release was moved; raise ``InputError`` where the new one is not in --out."""
    if where.fault:
        raise InputError(where.fault)
    if where.earlier is not None:
        typer.echo(f"The earlier release is kept in {where.earlier}", err=as_json)


def write_texts(out: Path, files: Mapping[str, str]) -> None:
    """Write text files, each ended by a line feed."""
    for name, text in files.items():
        try:
            (out / name).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"can't write {str(out / name)!r}: {error.strerror or error}") from None


def deliver(text: str, out: Path | None, write: Callable[[Path], None]) -> Place | None:
    """Write a release to ``out``, if given; if that fails, print its text first, since it is paid for."""
    if out is None:
        return None
    try:
        where = choose_folder(out)
        write(where.folder)
    except (InputError, OSError) as error:
        typer.echo(text)
        raise InputError(str(error)) from None
    return where


def print_answer_of(ask: Callable[[], A], out: Path | None, printing: Printing) -> A:
    """Call ``ask``, print its answer and write it to ``out``, which is checked beforehand."""
    with nullcontext() if out is None else writable_directory(out):
        found = ask()
        text = found.to_json() if printing.as_json else found.summary(full=printing.full)
        where = deliver(text, out, lambda folder: _write_answer(found, folder))
    if printing.as_json:
        typer.echo(text)
    else:
        print_answer(text if where is None else f"{text}\nWritten to {where.folder}")
    if where is not None:
        report_place(where, printing.as_json)
    return found


def _write_answer(found: Answer, folder: Path) -> None:
    """Write the files of an answer to a folder: statement, answer, and a page if it has survival curves."""
    files = {"privacy.json": found.privacy.to_json(), "answer.json": found.to_json()}
    if getattr(found, "curves", None) is not None:
        from dpcausal.present.curves import effect_page

        files["report.html"] = effect_page(found)
    write_texts(folder, files)


@dataclass(frozen=True)
class EffectsAsked:
    """Effects that were estimated after a search: their texts, and plain data."""

    texts: Sequence[str] = ()
    data: Sequence[Mapping[str, Any]] = ()


NO_EFFECTS = EffectsAsked()


def print_graph(
    result: DiscoveryResult,
    out: Path | None,
    origin: Origin | None,
    printing: Printing,
    *,
    show_open: bool = False,
    effects: EffectsAsked = NO_EFFECTS,
    changes: Sequence[str] = (),
) -> Place | None:
    """Print a graph, and write it to ``out`` where that is given; return where it was written.

    ``changes`` are lines about an earlier graph. Raises ``InputError`` where it could not be written to ``out``.
    """
    from dpcausal.present.graph_words import NOTHING_WRITTEN, written_words

    if not printing.as_json:
        head = ["", "EFFECTS"] if printing.full and effects.texts else []
        summary = result.summary(open=show_open, full=printing.full)
        text = "\n".join([summary, *head, *effects.texts, *changes])
    elif effects.data:
        together = {**result.to_dict(), "effects": effects.data}
        text = json.dumps(together, indent=2, ensure_ascii=False, allow_nan=False)
    else:
        text = result.to_json()
    where = deliver(text, out, lambda folder: _write_graph(result, folder, origin, show_open, effects))
    if printing.as_json:
        typer.echo(text)
    elif where is None:
        print_answer(f"{text}\n{NOTHING_WRITTEN}")
    else:
        head = ["", "FILES"] if printing.full else []
        print_answer("\n".join([text, *head, written_words(result, str(where.folder), full=printing.full)]))
    if where is not None:
        report_place(where, printing.as_json)
    return where


def _write_graph(
    result: DiscoveryResult, folder: Path, origin: Origin | None, show_open: bool, effects: EffectsAsked
) -> None:
    """Write the files of a discovery to a folder: graph, statement, report and, if asked, effects."""
    from dpcausal.present.files import file_texts
    from dpcausal.present.page import write

    texts = file_texts(result, open=show_open, data="" if origin is None else origin.data)
    if effects.data:
        texts["effects.json"] = json.dumps(effects.data, indent=2, ensure_ascii=False)
    write_texts(folder, texts)
    write(result, folder / "report.html", origin=origin, open=show_open)
