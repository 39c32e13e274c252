"""The directory of a release: made before anything is charged, given back if nothing came of it, never written over.

What stands there from an earlier run was paid for with budget that does not come back, so its files move to
``earlier-1``, ``earlier-2``, ... (the first free number) before new ones are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dpcausal.core.errors import InputError

FILES = (
    "privacy.json",
    "graph.json",
    "graph.dot",
    "graph.graphml",
    "report.html",
    "hits.tsv",
    "hits.png",
)  # of discover and of gwas


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


def keep_earlier(out: Path) -> Path | None:
    """Move an earlier release in ``out`` to a directory of its own and say which; None if there is none."""
    found = [out / name for name in FILES if (out / name).exists()]
    if not found:
        return None
    number = 1
    while (kept := out / f"earlier-{number}").exists():
        number += 1
    try:
        kept.mkdir()
        for file in found:
            file.rename(kept / file.name)
    except OSError as error:
        raise InputError(
            f"can't keep the earlier release in {str(out)!r}: {error.strerror or error}"
        ) from None
    return kept


def kept_words(kept: Path) -> str:
    """The line that says so."""
    return f"An earlier release stood there: it is kept in {kept}"


def write_texts(out: Path, files: Mapping[str, str]) -> None:
    """Text files by name, each ended by a line feed."""
    for name, text in files.items():
        try:
            (out / name).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"can't write {str(out / name)!r}: {error.strerror or error}") from None
