"""A data set whose name looks like another's would have a second budget: it is refused unless the user says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.core.errors import LedgerError
from dpcausal.privacy.ledger import Ledger
from dpcausal.privacy.ledger.beside import lookalike

ALIKE = [
    ("d", "D"),
    ("cohort", "Cohort"),
    ("data", "d\N{CYRILLIC SMALL LETTER A}ta"),
    ("COHORT", "C\N{GREEK CAPITAL LETTER OMICRON}HORT"),
    ("COHORT", "\N{CYRILLIC CAPITAL LETTER ES}OHORT"),
    ("data", "\N{FULLWIDTH LATIN SMALL LETTER D}ata"),
    ("file", "\N{LATIN SMALL LIGATURE FI}le"),
    ("cafe", "caf\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"),
    ("cohort 1", "cohort-1"),
    ("cohort_1", "cohort1"),
    ("my data", "my  data"),
    ("my data", "my\N{NO-BREAK SPACE}data"),
    ("a-b", "a\N{EN DASH}b"),
    ("trial1", "triall"),
    ("ILL", "lll"),
    ("vol0", "volO"),
    ("strasse", "stra\N{LATIN SMALL LETTER SHARP S}e"),
]
APART = [
    ("cohort 1", "cohort 2"),
    ("1-11", "11-1"),
    ("d", "e"),
    ("a", "ab"),
    ("2020", "2021"),
    ("x.1.2", "x.12"),
]


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_names_that_look_alike(one: str, two: str) -> None:
    assert lookalike(one, [two]) == two
    assert lookalike(two, [one]) == one


@pytest.mark.parametrize(("one", "two"), APART)
def test_names_that_do_not(one: str, two: str) -> None:
    assert lookalike(one, [two]) is None
    assert lookalike(one, [one]) is None


def test_a_second_budget_under_a_name_that_looks_alike_is_refused(ledger_url: str) -> None:
    ledger = Ledger.open(ledger_url, create=True)
    ledger.create("d", 1.0)
    for name in ("D", "\N{CYRILLIC SMALL LETTER KOMI DE}"):
        with pytest.raises(LedgerError, match="looks like") as caught:
            ledger.create(name, 1.0)
        assert "'d'" in str(caught.value)
        assert ascii(name) in str(caught.value)
        assert "\n" not in str(caught.value)
    assert [account.dataset for account in ledger.show()] == ["d"]
    ledger.create("D", 2.0, similar_name=True)
    assert {account.dataset: account.epsilon for account in ledger.show()} == {"d": 1.0, "D": 2.0}
    with pytest.raises(LedgerError, match="already"):
        ledger.create("D", 2.0, similar_name=True)


def test_a_charge_under_such_a_name_gets_a_hint(ledger_url: str) -> None:
    ledger = Ledger.open(ledger_url, create=True)
    ledger.create("data", 1.0)
    with pytest.raises(LedgerError, match=r"mean 'data'"):
        ledger.charge("d\N{CYRILLIC SMALL LETTER A}ta", "r", 0.5)


def test_the_command_refuses_and_takes_the_word_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ledger", "create", "--ledger", f"sqlite:///{tmp_path}/l.db", "--epsilon", "1", "--dataset"]
    assert run([*words, "d"]) == 0
    capsys.readouterr()
    assert run([*words, "D"]) == 2
    seen = capsys.readouterr()
    assert "--similar-name" in seen.err
    assert seen.err.count("\n") == 1
    assert run([*words, "D", "--similar-name"]) == 0


def test_a_ledger_shows_where_it_is_and_no_password(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}", create=True)
    assert repr(ledger) == f"Ledger({ledger.name!r})"
    assert "budget.db" in repr(ledger)
