"""Take out of addresses and paths what is nobody's business: folders, logins, passwords.

All that the package shows of a ledger's address is made here. An address is shown only in parts that can be
nothing else: a host, a port, the name of a database. Where a part can be read in two ways, all of it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import quote, quote_plus, unquote, unquote_plus

_SQLITE = "sqlite:///"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.]*")
_HOST = r"(\[[0-9A-Fa-f:.]+\]|[\w.-]*)(:[0-9]+)?"
_PLACE = re.compile(rf"{_HOST}(,{_HOST})*(/[\w.-]*)?")  # hosts, ports and a database
_USER = re.compile(r"[\w.-]+")
_SECRET_OPTION = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE)
_PAIR = re.compile(r"""([\w%]+)\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&;]*)""")
HIDDEN = "..."
MIN_PART = 3  # letters of a part of a secret that is taken out by itself


def file_name(path: str) -> str:
    """Return a path that is safe to show: as given, or only the last part of an absolute one.

    >>> file_name("data/p.csv"), file_name("/home/me/p.csv")
    ('data/p.csv', 'p.csv')
    """
    whole = PurePath(path)
    return whole.name if whole.is_absolute() and whole.name else path


def ledger_name(url: str, *, user: bool = False) -> str:
    """Return a ledger's address without login, options and folders; with ``user`` the name in the login remains.

    Options (after ``?``) are left out because a password may be one. Where an ``@`` comes after a ``?`` either may be
    part of a password, and all of the address is left out. So is what is no host, port and database, and an address
    without a scheme.

    >>> ledger_name("postgresql://me:p@ss@host/db?password=x"), ledger_name("sqlite:////home/me/b.db")
    ('postgresql://...@host/db', 'sqlite:///b.db')
    >>> ledger_name("postgresql://me:p?w@host/db"), ledger_name("postgresql://host/db")
    ('postgresql://...', 'postgresql://host/db')
    >>> ledger_name("me:pw@host/db"), ledger_name("host=h password=pw"), ledger_name("postgresql://me:pw")
    ('...', '...', 'postgresql://...')
    >>> ledger_name("postgresql://me:pw@host/db", user=True)
    'postgresql://me@host/db'
    """
    scheme, mark, rest = url.partition("://")
    if not mark or not _SCHEME.fullmatch(scheme):
        return HIDDEN
    if url.startswith(_SQLITE) and "?" not in url:
        return _SQLITE + file_name(url.removeprefix(_SQLITE))
    plain, mark, options = rest.replace("#", "?").partition("?")
    login, at, place = plain.rpartition("@")
    if (mark and "@" in options) or not _PLACE.fullmatch(place):
        return f"{scheme}://{HIDDEN}"
    if not at:
        return f"{scheme}://{place}"
    name = login.partition(":")[0]
    return f"{scheme}://{name if user and _USER.fullmatch(name) else HIDDEN}@{place}"


NOT_SHOWN = ("--person", "--purpose")  # who asked and why is in the ledger


def shown_words(words: Iterable[str]) -> list[str]:
    """Return the words of a command as a report may show them: without folders, logins, who asked and why.

    >>> shown_words(["discover", "/home/me/p.csv", "--purpose", "a trial", "--ledger=sqlite:////home/me/b.db"])
    ['discover', 'p.csv', '--ledger=sqlite:///b.db']
    """
    found: list[str] = []
    option = ""
    for word in words:
        name, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        about = name or option  # the option that a value belongs to
        option = "" if equals or not name else name
        if about in NOT_SHOWN:
            continue
        if name and not equals:
            found.append(name)
            continue
        value = value.removeprefix("duckdb:///")  # a file
        address = about == "--ledger" or "://" in value
        found.append(name + equals + (ledger_name(value) if address else file_name(value)))
    return found


def without_secrets(text: str, url: str) -> str:
    """Return a driver's error line with every password of the address removed, however it is spelled.

    >>> without_secrets("no login with p/w", "postgresql://me:p%2Fw@host/db")
    'no login with ***'
    """
    found: set[str] = set()
    for secret in _secrets(url):
        spelled = {secret, unquote(secret), unquote_plus(secret)}
        spelled |= {form(word) for word in spelled for form in (lambda w: quote(w, safe=""), quote_plus)}
        parts = {part for word in spelled for part in word.split("@") if len(part) >= MIN_PART}
        found |= spelled | parts
    for secret in sorted(filter(None, found), key=lambda word: (-len(word), word)):  # the longest first
        text = text.replace(secret, "***")
    return text


def _secrets(url: str) -> set[str]:
    """Return every part of an address that may be a password: in the login, or an option so named."""
    rest = url.partition("://")[2] or url
    found = set()
    for login in {rest.rpartition("@")[0], rest.partition("?")[0].rpartition("@")[0]}:
        found.add(login.partition(":")[2])
    for name, value in _PAIR.findall(rest):
        if _SECRET_OPTION.search(unquote(name)):
            found.add(value.strip("'"))
    return found
