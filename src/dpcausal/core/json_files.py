"""Files that this package writes for itself as one JSON object: plans, protocols, releases, contributions.

Each has a ``format``, and an ``id`` made from its content, so that what was damaged or edited is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpcausal.core.errors import DpcausalError, InputError


def save_text(path: str | os.PathLike[str], text: str) -> str:
    """Write a text to a file and return its path.

    Raises
    ------
    InputError
        If it can't be written.
    """
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {os.fspath(path)!r}: {error.strerror or error}") from None
    return os.fspath(path)


def read_json(path: str | os.PathLike[str], kind: str) -> Any:
    """Return the content of a JSON file that should hold a ``kind``, such as a plan or a release.

    Raises
    ------
    InputError
        If there is no such file, or it is not JSON.
    """
    name = os.fspath(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"can't read the {kind} {name!r}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{name!r} is damaged, or no {kind}: not JSON in UTF-8{where}") from None


def check_kind(
    data: Any, name: str, kind: str, *, has: Collection[str], newest: int, written_by: str
) -> None:
    """Refuse plain data that is not a ``kind`` with these keys, or has a format newer than ``newest``."""
    if not isinstance(data, dict) or not set(has) <= data.keys():
        raise InputError(f"{name!r} is no {kind}: {written_by} writes one")
    if isinstance(data.get("format"), int) and data["format"] > newest:
        raise InputError(f"{name!r} is a {kind} of format {data['format']}: written by a newer version")


@contextmanager
def refuse_damaged(name: str) -> Iterator[None]:
    """Within the block, turn errors in the content of a file into one that says it is damaged."""
    try:
        yield
    except (DpcausalError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{name!r} is damaged or was changed: {why}") from None
