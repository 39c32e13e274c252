"""tools/page_numbers.py: a number that drifted is seen, and every entry names what exists."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from dpcausal.cli.reproduce import FIGURES

ROOT = Path(__file__).resolve().parents[3]


def load() -> Any:
    spec = importlib.util.spec_from_file_location("page_numbers", ROOT / "tools" / "page_numbers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["page_numbers"] = module
    spec.loader.exec_module(module)
    return module


NUMBERS = load()
PAGE = "# A page\n\nWords.\n\n## Level\n\n| n | share |\n|---|---|\n| 10 | 0.05 |\n| 20 | 0.06 |\n\nMore.\n"
ENTRY = NUMBERS.Entry("docs/page.md", "## Level", ("x.py",))


def test_a_table_that_a_command_prints_agrees() -> None:
    assert NUMBERS.drifted(PAGE, "hello\n| n | share |\n|---|---|\n|10|0.05|\n| 20 |  0.06 |\n", ENTRY) == []


@pytest.mark.parametrize(
    "printed", ["", "| 10 | 0.05 |\n", "| 10 | 0.05 |\n| 20 | 0.07 |\n", "| 10 | 0.06 |\n| 20 | 0.06 |\n"]
)
def test_a_number_that_drifted_is_seen(printed: str) -> None:
    assert NUMBERS.drifted(PAGE, printed, ENTRY)


def test_a_text_must_be_in_both() -> None:
    entry = NUMBERS.Entry("docs/page.md", "## Level", ("x.py",), text="p = 0.05")
    assert NUMBERS.drifted("so p =\n0.05 here", "p = 0.05", entry) == []
    assert NUMBERS.drifted("so p = 0.05", "p = 0.06", entry)
    assert NUMBERS.drifted("so p = 0.06", "p = 0.05", entry)


def test_a_page_without_the_line_or_the_table_is_an_error() -> None:
    with pytest.raises(LookupError, match="no line"):
        NUMBERS.table_below(PAGE, "## Power")
    with pytest.raises(LookupError, match="no table"):
        NUMBERS.table_below("## Level\n\nWords.\n", "## Level")


def test_every_entry_has_its_table_and_its_command() -> None:
    assert len(NUMBERS.entries()) >= 6
    for entry in NUMBERS.entries():
        page = (ROOT / entry.page).read_text(encoding="utf-8")
        assert entry.text in page
        assert len(NUMBERS.table_below(page, entry.below)) > 1, entry.name
        if entry.command[:3] == ("-m", "dpcausal", "reproduce"):
            assert entry.command[3] in FIGURES
        else:
            assert (ROOT / entry.command[0]).is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry", [one for one in NUMBERS.entries() if not one.long], ids=lambda entry: entry.name
)
def test_the_page_has_what_the_command_prints(entry: Any) -> None:
    page = (ROOT / entry.page).read_text(encoding="utf-8")
    assert NUMBERS.drifted(page, NUMBERS.printed_by(entry.command), entry) == []
