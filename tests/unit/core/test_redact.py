"""No part of a password in what is shown of a ledger's address, however the address is written."""

from __future__ import annotations

import pytest

from dpcausal.core.errors import LedgerError
from dpcausal.core.redact import ledger_name, without_secrets
from dpcausal.privacy.ledger.connection import Database, parse

SECRET = "Hunter2"
ADDRESSES = [
    "postgresql://ada:abc@Hunter2@host/db",
    "postgresql://ada:Hunter2/abc@host/db",
    "postgresql://ada:abc/x@Hunter2@host/db",
    "postgresql://ada:abc?Hunter2@host/db",
    "postgresql://ada:abc#Hunter2@host/db",
    "postgresql://ada:Hunter2",  # no host
    "postgresql://ada:Hunter2/db",
    "postgresql://host?password=abc@Hunter2",
    "postgresql://host/db?password=abc@Hunter2",
    "postgresql://ada@host/db?password=abc@Hunter2",
    "postgresql://host/db?sslpassword=abc@Hunter2",
    "postgresql://host/db?user=ada;password=Hunter2",
    "postgresql://host/db password=Hunter2",
    "postgresql://host/db;password=Hunter2",
    "postgresql://host/db%20password%3DHunter2",
    "postgresql://host=h password=Hunter2",
    "host=h user=ada password=Hunter2",
    "host=h password='abc Hunter2'",
    "ada:Hunter2@host/db",
    "sqlite:///l.db?password=abc@Hunter2",
    "sqlite:////home/ada/l.db?key=Hunter2",
    "mysql://ada:Hunter2@host/db",
]


@pytest.mark.parametrize("url", ADDRESSES)
@pytest.mark.parametrize("user", [False, True])
def test_no_part_of_a_password_is_shown(url: str, user: bool) -> None:
    shown = ledger_name(url, user=user)
    assert SECRET not in shown
    assert "abc" not in shown
    assert "/home" not in shown
    assert ledger_name(shown, user=user) == shown


@pytest.mark.parametrize("url", ADDRESSES)
def test_no_part_of_a_password_is_in_an_error(url: str) -> None:
    """``?password=abc@Hunter2`` was read as a login at the host Hunter2, and the error named both."""
    try:
        name = Database(url).name
    except LedgerError as error:
        name = f"{error} {error.__cause__ or ''}"
    assert SECRET not in name
    assert "abc" not in name
    assert "\n" not in name


@pytest.mark.parametrize(
    "url", ["postgresql://host?password=abc@Hunter2", "postgresql://ada:abc/x@Hunter2@host/db"]
)
def test_an_address_that_can_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(LedgerError, match="write %40"):
        parse(url)


def test_what_is_no_secret_is_shown() -> None:
    assert ledger_name("postgresql://ada:x@host:5432/db?sslmode=require") == "postgresql://...@host:5432/db"
    assert ledger_name("postgresql://ada:x@host:5432/db", user=True) == "postgresql://ada@host:5432/db"
    assert ledger_name("postgresql://h1:1,h2:2/db") == "postgresql://h1:1,h2:2/db"
    assert ledger_name("postgresql://[::1]:5432/db") == "postgresql://[::1]:5432/db"
    assert ledger_name("sqlite:///l.db") == "sqlite:///l.db"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("postgresql://u:Hun%2Fter2@h/d", "Hun/ter2 and Hun%2Fter2"),
        ("postgresql://u@h/d?password=Hun%40ter2&PASSWORD=two22", "Hun@ter2 Hun%40ter2 two22 ter2"),
        ("postgresql://u@h/d?sslpassword=a+b", "a+b and a b"),
        ("postgresql://u@h/d?pass%77ord=Hunter2", "Hunter2"),
        ("postgresql://u@h/d?passfile=Hunter2", "Hunter2"),
        ("host=h password='one two' user=u", "one two"),
    ],
)
def test_a_driver_s_line_loses_every_spelling_of_a_password(url: str, line: str) -> None:
    said = without_secrets(line, url)
    assert set(said.replace("and", "").split()) == {"***"}
    assert without_secrets("port 1 of host", url) == "port 1 of host"
