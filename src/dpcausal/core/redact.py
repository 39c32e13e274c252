"""Take out of addresses and paths what is nobody's business: folders, logins, passwords."""

from __future__ import annotations

import re
from pathlib import PurePath

_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.]*")


def file_name(path: str) -> str:
    """A path as given; of an absolute one the last part.

    >>> file_name("data/p.csv"), file_name("/home/me/p.csv")
    ('data/p.csv', 'p.csv')
    """
    whole = PurePath(path)
    return whole.name if whole.is_absolute() and whole.name else path


def ledger_name(url: str) -> str:
    """A ledger's address without login, options and folders.

    Options (after ``?``) go because a password may be one. Where an ``@`` comes after a ``?`` either may be part of a
    password, and all of the address goes. So does one without a scheme, which is no address. A name is its own name.

    >>> ledger_name("postgresql://me:p@ss@host/db?password=x"), ledger_name("sqlite:////home/me/b.db")
    ('postgresql://...@host/db', 'sqlite:///b.db')
    >>> ledger_name("postgresql://me:p?w@host/db"), ledger_name("postgresql://host/db")
    ('postgresql://...', 'postgresql://host/db')
    >>> ledger_name("me:pw@host/db"), ledger_name("host=h password=pw")
    ('...', '...')
    """
    scheme, mark, rest = url.partition("://")
    if not mark or not _SCHEME.fullmatch(scheme):
        return "..."
    if url.startswith(_SQLITE) and "?" not in url:
        return _SQLITE + file_name(url.removeprefix(_SQLITE))
    plain, mark, options = rest.replace("#", "?").partition("?")
    if mark and "@" in options:
        return f"{scheme}://..."
    _, login, place = plain.rpartition("@")
    return f"{scheme}://...@{place}" if login else f"{scheme}://{plain}"
