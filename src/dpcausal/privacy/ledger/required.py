"""A ledger that is mandatory for a file: set by the custodian, checked before rows are counted.

Two settings make it so. ``DPCAUSAL_LEDGER_REQUIRED`` in the environment holds for every file: ``1`` asks for some
ledger, an address for that one. A ``.dpcausal.toml`` beside the data holds for the files in its folder::

    [ledger]
    required = true
    url = "sqlite:///budget.db"  # optional: this one, a relative path from here
    dataset = "cohort"           # optional: under this name

Of a glob each folder that holds a file counts, and of a link the folder of the file itself, too.

A release without privacy can't be entered into a ledger, so that it is refused there, too. A setting that can't be read
refuses everything: it was written by somebody who wanted a ledger. Whoever may read the file can copy it elsewhere; a
person who may not is served by a desk.
"""

from __future__ import annotations

import os
import tomllib
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

from dpcausal.core.errors import InputError
from dpcausal.core.redact import ledger_name
from dpcausal.core.spelling import spelled

VARIABLE = "DPCAUSAL_LEDGER_REQUIRED"
SETTINGS = ".dpcausal.toml"
_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")

Address = tuple[str, str, int, str]  # kind of database, host, port, database or file


class Requirement(NamedTuple):
    """What a setting asks for."""

    setting: str  # the variable or the file that says so
    url: str | None = None  # the ledger, None for any
    dataset: str | None = None  # the data set there, None for any


def address(url: str, folder: Path | None = None) -> Address:
    """Return the normalised address of a ledger, equal for all spellings of it."""
    from dpcausal.privacy.ledger.connection import parse  # late: SQLAlchemy only where a ledger is named

    parsed = parse(url)
    database = str(parsed.database)
    if parsed.get_backend_name() == "sqlite":
        database = str(((folder or Path.cwd()) / database).resolve())
    return parsed.get_backend_name(), parsed.host or "localhost", parsed.port or 0, database


def requirements(file: Path | None) -> list[Requirement]:
    """Return the ledgers that the environment, and settings beside ``file``, require."""
    found = []
    word = os.environ.get(VARIABLE, "").strip()
    if word.lower() not in _NO:
        found.append(Requirement(VARIABLE, None if word.lower() in _YES else word))
    if file is not None:
        found += [one for folder in folders_of(Path(file)) for one in _beside(folder / SETTINGS)]
    return list(dict.fromkeys(found))


def folders_of(file: Path) -> list[Path]:
    """Return the folders in which a file lies: of a glob those of all that match it, of a link both ends.

    >>> [folder.as_posix() for folder in folders_of(Path("/no/such/file.csv"))]
    ['/no/such']
    """
    found = [] if file.exists() or not has_magic(str(file)) else glob(str(file), recursive=True)
    there = list(map(Path, found)) or [file]
    return sorted({folder for one in there for folder in (one.absolute().parent, one.resolve().parent)})


def _beside(path: Path) -> list[Requirement]:
    """Return the requirement in a settings file; nothing where there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"{SETTINGS} beside the data can't be read: nothing is released until it can"
        ) from None
    try:
        ledger = tomllib.loads(text).get("ledger", {})
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{SETTINGS} beside the data is no TOML: {error}") from None
    if not isinstance(ledger, dict) or not isinstance(ledger.get("required", True), bool):
        raise InputError(f"{SETTINGS} beside the data: [ledger] takes required = true, url and dataset")
    for name in ("url", "dataset"):
        if not isinstance(ledger.get(name, ""), str):
            raise InputError(f"{SETTINGS} beside the data: {name} must be a text")
    if not ledger or not ledger.get("required", True):
        return []
    url = ledger.get("url") or None
    if url is not None:
        kind, _, _, where = address(url, path.parent)
        url = f"sqlite:///{where}" if kind == "sqlite" else url
    return [Requirement(SETTINGS, url, ledger.get("dataset") or None)]


def refuse_missing_ledger(file: Path | None, ledger: Any, dataset: str | None) -> None:
    """Raise ``InputError`` where a setting asks for a ledger and ``ledger`` is none, or another one.

    ``ledger`` is an address, an object with an ``address``, or None; one without an address is refused where a certain
    ledger is asked for.
    """
    for asked in requirements(file):
        name = "this" if file is None else Path(file).name
        if ledger is None:
            where = ledger_name(asked.url) if asked.url else "URL"
            named = asked.dataset or "NAME"
            how = spelled(f"--ledger {where} --dataset {named}", f"ledger={where!r}, dataset={named!r}")
            raise InputError(f"{name} needs a ledger ({asked.setting} says so): ask with {how}")
        here = address(ledger) if isinstance(ledger, str) else getattr(ledger, "address", None)
        if asked.url is not None and here != address(asked.url):
            raise InputError(
                f"{name} is charged to {ledger_name(asked.url)} only ({asked.setting} says so), not to another ledger"
            )
        if asked.dataset not in (None, dataset):
            raise InputError(
                f"{name} is charged to the data set {asked.dataset!r} only ({asked.setting} says so), not {dataset!r}"
            )
