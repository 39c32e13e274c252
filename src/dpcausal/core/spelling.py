"""How an option is spelled to the reader: as on the command line, as an argument in Python, or as a field of a form.

Texts that name an option use ``spelled``, also errors of lower packages; where whole clauses differ, ``worded``. The
command line declares around each command that it is the reader. A page that anybody may read shows both spellings, and
so does a desk that is asked through its interface; on a desk's own pages the fields of its forms are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal

Reader = Literal["python", "command", "desk", "form", "page"]
_READER: ContextVar[Reader] = ContextVar("reader", default="python")
_FIELDS: ContextVar[Mapping[str, str]] = ContextVar("fields")  # argument in Python -> its field in a form
_TYPED = re.compile(
    r"|True|[\d.e+-]+|\{[^}]*\}|'[^']*'|\"[^\"]*\"|\[.*\]|\(.*\)"
)  # values that a field can take


def spelled(command: str, python: str) -> str:
    """Return the spelling of an option for the reader: that of the command line, or of Python.

    >>> spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "tiers=[['a'], ['b']]"
    >>> with for_command_line():
    ...     spelled("--tiers 'a;b'", "tiers=[['a'], ['b']]")
    "--tiers 'a;b'"
    >>> with for_everyone():
    ...     spelled("--anyway", "anyway=True")
    '--anyway (in Python anyway=True)'
    """
    reader = _READER.get()
    if reader == "form":
        return _in_form(python, _FIELDS.get())
    if reader in ("desk", "page"):
        return f"{command} (in Python {python})"
    return command if reader == "command" else python


def _in_form(python: str, fields: Mapping[str, str]) -> str:
    """Return arguments in Python as fields of a form with what goes in; those that it lacks as Python.

    >>> _in_form("compare=('no', 'yes')", {"compare": 'the field "Compare"'})
    'no, yes in the field "Compare"'
    >>> _in_form("share=0.05", {}), _in_form("anyway=True", {"anyway": 'the box "Anyway"'})
    ('share=0.05 (in Python)', 'the box "Anyway"')
    >>> _in_form("outcome=dc.Survival(...)", {"outcome": 'the field "Outcome"'})
    'outcome=dc.Survival(...) (in Python)'
    """
    given = re.findall(r"(\w+)=(.*?)(?:, (?=\w+=)|$)", python) if re.match(r"\w+=", python) else []
    if not given or any(name not in fields or not _TYPED.fullmatch(value) for name, value in given):
        return f"{python} (in Python)"
    return " and ".join(
        fields[name] if value in ("", "True", "[...]") else f"{_typed(value)} in {fields[name]}"
        for name, value in given
    )


def _typed(value: str) -> str:
    """Return a value in Python as it is typed in a field.

    >>> _typed("[]"), _typed("'age'"), _typed("0.5"), _typed("[['a'], ['b', 'c']]")
    ('nothing', 'age', '0.5', 'a; b, c')
    """
    plain = re.sub(r"[\[\]()'\"]", "", re.sub(r"\], *\[", "; ", value)).rstrip(",")
    return plain or "nothing"


def worded(command: str, python: str, desk: str) -> str:
    """Return the clause for the reader where whole clauses differ and not the spelling of an option alone.

    >>> worded("name the file", "give data=", "the custodian has the rows")
    'give data='
    """
    reader = _READER.get()
    if reader in ("desk", "form"):
        return desk
    return command if reader == "command" else python


def asks() -> bool:
    """Return whether the text is read by the caller, who can follow advice.

    >>> with for_everyone():
    ...     asks()
    False
    """
    return _READER.get() != "page"


@contextmanager
def _for(reader: Reader) -> Iterator[None]:
    """Spell options for this reader within the block."""
    token = _READER.set(reader)
    try:
        yield
    finally:
        _READER.reset(token)


def for_command_line() -> AbstractContextManager[None]:
    """Spell options as on the command line within the block."""
    return _for("command")


def for_everyone() -> AbstractContextManager[None]:
    """Spell options in both ways within the block, for a page that others read."""
    return _for("page")


def for_desk() -> AbstractContextManager[None]:
    """Spell options in both ways within the block, for a caller who asks a desk in Python or by a command.

    >>> with for_desk():
    ...     asks(), spelled("--anyway", "anyway=True")
    (True, '--anyway (in Python anyway=True)')
    """
    return _for("desk")


@contextmanager
def for_form(fields: Mapping[str, str]) -> Iterator[None]:
    """Name options within the block as the fields of a form, by their arguments in Python, for a reader of its page.

    >>> with for_form({"anyway": 'the box "Anyway"'}):
    ...     spelled("--anyway", "anyway=True"), spelled("--full", "summary(full=True)")
    ('the box "Anyway"', 'summary(full=True) (in Python)')
    """
    named = _FIELDS.set(fields)
    try:
        with _for("form"):
            yield
    finally:
        _FIELDS.reset(named)
